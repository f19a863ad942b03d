// Contacts as penalties: stiffness against overlap, damping while it grows, regularised friction. Twin:
// crates/vbd/src/contact.rs.

//#use descent/touching.wgsl

struct Penalty {
    // Damping over the step's length: what a growing overlap adds to the force, per force [1].
    damping: f32,
    // Displacement within a step at which friction reaches Coulomb's [m].
    reach: f32,
    // Growth of the stiffness with the overlap [N/m^2].
    beta: f32,
    // Whether it grows.
    grows: u32,
}

@group(0) @binding(13) var<uniform> law: Penalty;

// Pressure of all points (negative).
fn pressure(k: vec4<f32>, gap: vec4<f32>, start: vec4<f32>) -> vec4<f32> {
    let zero = vec4<f32>(0.0);
    // Damping acts while the overlap grows.
    let closing = smaller4(keep4(gap - start), zero);
    let force = keep4(k * keep4(gap + law.damping * closing));
    return select(zero, force, is_below_zero(gap));
}

fn resistance(k: vec4<f32>, gap: vec4<f32>, start: vec4<f32>) -> vec4<f32> {
    let zero = vec4<f32>(0.0);
    let closing = smaller4(keep4(gap - start), zero);
    let damped = select(k, keep4(k + k * law.damping), is_below_zero(closing));
    return select(zero, damped, is_below_zero(gap));
}

// Secant stiffness of friction at a displacement of this size: mu N f1(s)/s with f1 = 2 s/r - (s/r)^2 up to the
// reach r and one beyond.
fn drag(bound: vec4<f32>, size: vec4<f32>) -> vec4<f32> {
    let reach = vec4<f32>(law.reach);
    let sticking = keep4(bound * keep4(2.0 - size / reach)) / reach;
    return select(bound / size, sticking, reach > size);
}

fn penalty(p: u32, value: array<vec4<f32>, 3>) -> Push {
    let k = patches[p].stiffness[0];
    let start = patches[p].start[0];
    let force = pressure(k, value[0], start);
    let size = sqrt(keep4(value[1] * value[1] + value[2] * value[2]));
    let pull = drag(-(patches[p].friction * patches[p].lambda[0]), size);
    let zero = vec4<f32>(0.0);
    return Push(
        array<vec4<f32>, 3>(force, keep4(pull * value[1]), keep4(pull * value[2])),
        resistance(k, value[0], start),
        pull,
        zero,
        array<vec4<f32>, 2>(zero, zero),
    );
}

fn add_touch(b: ptr<function, Block>, p: u32, is_b: bool) {
    add_patch(b, p, is_b, penalty(p, patch_value(p)));
}

// Remembers the pressure of every point, which bounds friction in the next sweep, and lets the stiffness grow with
// the overlap: k <- min(k + beta d, k_max).
@compute @workgroup_size(THREADS)
fn update(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if p >= extent.patches {
        return;
    }
    let gap = patch_value(p)[0];
    let k = patches[p].stiffness[0];
    // Lanes without a point have no stiffness, so they press nothing.
    patches[p].lambda[0] = pressure(k, gap, patches[p].start[0]);
    if law.grows != 0u {
        let depth = larger4(-gap, vec4<f32>(0.0));
        let full = vec4<f32>(backings[p].ramp.y);
        let grown = smaller4(keep4(k + law.beta * depth), full);
        let used = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(patches[p].state & 7u);
        patches[p].stiffness[0] = select(k, grown, used);
    }
}

// The greatest stiffness of a point, and what a ramp starts with and keeps from step to step.
struct Start {
    // Negative where the scale rules [N/m].
    stiffness: f32,
    // In units of mass [1/s^2].
    scale: f32,
    k_start: f32,
    gamma: f32,
}

@group(0) @binding(15) var<uniform> begin: Start;

@compute @workgroup_size(THREADS)
fn warm_start(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    if p >= extent.patches {
        return;
    }
    let found = backings[p].ramp;
    let full = select(begin.stiffness, begin.scale * found.x, begin.stiffness < 0.0);
    backings[p].ramp = vec4<f32>(0.0, full, 0.0, 0.0);
    var k = vec4<f32>(full);
    if law.grows != 0u {
        k = smaller4(larger4(patches[p].stiffness[0] * begin.gamma, vec4<f32>(begin.k_start)), vec4<f32>(full));
    }
    let used = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(patches[p].state & 7u);
    patches[p].stiffness[0] = select(vec4<f32>(0.0), k, used);
    // Friction has no memory: it opposes the displacement within the step.
    patches[p].start[1] = vec4<f32>(0.0);
    patches[p].start[2] = vec4<f32>(0.0);
    patches[p].friction = vec4<f32>(found.z);
}
