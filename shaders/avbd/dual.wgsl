// Stiffness and multipliers: their start in each step and their update after each sweep. Twin:
// crates/avbd/src/dual.rs.

//#use descent/rows.wgsl

const ISOTROPIC: u32 = 1u;
const FIXED_STIFFNESS: u32 = 2u;

struct Ramp {
    start: f32,
    cap: f32,
    beta: f32,
    load: f32,
    share: f32,
    flags: u32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(6) var<storage, read> ramps: array<Ramp>;

fn bounded(r: Ramp, k: f32) -> f32 {
    return smaller(larger(k, r.start), r.cap);
}

// Eq. 19: what is kept of the last step's stiffness and multiplier.
@compute @workgroup_size(THREADS)
fn warm_start(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let e = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if e >= constants.elements {
        return;
    }
    let r = ramps[e];
    let lambda = keep(elements[e].lambda * constants.retain);
    elements[e].lambda = lambda;
    if (r.flags & FIXED_STIFFNESS) != 0u {
        elements[e].stiffness = vec3<f32>(bounded(r, r.start + r.load * norm3(lambda)));
        return;
    }
    let k = keep(elements[e].stiffness * constants.gamma);
    elements[e].stiffness = vec3<f32>(bounded(r, k.x), bounded(r, k.y), bounded(r, k.z));
}

// Eq. 11, 12 and 16: the multiplier takes over the force, and the stiffness grows with the error.
@compute @workgroup_size(THREADS)
fn update(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let e = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if e >= constants.elements || (elements[e].flags & ACTIVE) == 0u {
        return;
    }
    let r = ramps[e];
    let value = keep(value_of(e));
    let k = elements[e].stiffness;
    let free = keep(k * value + elements[e].lambda);
    let grows = (r.flags & FIXED_STIFFNESS) == 0u;
    if elements[e].kind != POINT && !is_rotation(elements[e].kind) {
        let force = smaller(larger(free.x, elements[e].lower), elements[e].upper);
        elements[e].lambda.x = force * r.share;
        if force == free.x && grows {
            let rate = keep1(r.beta + r.load * abs(force));
            elements[e].stiffness.x = bounded(r, k.x + rate * abs(value.x));
        }
        return;
    }
    elements[e].lambda = free * r.share;
    if grows {
        let growth = select(abs(value), vec3<f32>(norm3(value)), (r.flags & ISOTROPIC) != 0u);
        let rate = keep1(r.beta + r.load * norm3(free));
        let grown = k + growth * rate;
        elements[e].stiffness = vec3<f32>(bounded(r, grown.x), bounded(r, grown.y), bounded(r, grown.z));
    }
}
