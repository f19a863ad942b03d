// Penalties that grow with the violation: their start in each step and their growth after each sweep. Twins:
// `Vbd::prepare` and `Vbd::grow` in crates/vbd/src/method.rs.

//#use descent/rows.wgsl

struct Ramp {
    start: f32,
    full: f32,
    // Zero for springs, which have no ramp.
    grows: u32,
    beta: f32,
}

@group(0) @binding(6) var<storage, read> ramps: array<Ramp>;

@compute @workgroup_size(THREADS)
fn warm_start(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let e = thread_index(group, groups, THREADS, local);
    if e >= constants.elements {
        return;
    }
    let r = ramps[e];
    if r.grows != 0u {
        let kept = elements[e].stiffness.x * constants.gamma;
        elements[e].stiffness = vec3<f32>(smaller(larger(kept, r.start), r.full));
    }
}

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
    if r.grows != 0u {
        let violation = norm3(value_of(e));
        elements[e].stiffness = vec3<f32>(smaller(keep1(elements[e].stiffness.x + r.beta * violation), r.full));
    }
}
