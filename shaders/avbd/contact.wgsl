// Contacts with Coulomb friction: the sweep, the dual update, and the drift of what sticks. Twin:
// crates/avbd/src/contact.rs.

//#use descent/touching.wgsl
//#use graph/carried.wgsl

const SLIP_DIRECTION: u32 = 0u;
const FULL: u32 = 1u;
const RESCALED_TANGENTS: u32 = 2u;

// Friction below this, squared, has no direction.
const SQUARE_MIN: f32 = 1e-30;

struct Cone {
    // A point that has not pressed in the step has no stiffness where its gap is larger than this [m].
    open: f32,
    hessian: u32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(13) var<uniform> law: Cone;

// Forces of a patch and where the cone ends.
struct Bounded {
    asked: array<vec4<f32>, 3>,
    force: array<vec4<f32>, 3>,
    square: vec4<f32>,
    share: vec4<f32>,
}

fn bounded(p: u32, value: array<vec4<f32>, 3>) -> Bounded {
    let k = patches[p].stiffness;
    let lambda = patches[p].lambda;
    let x = keep4(k[0] * value[0] + lambda[0]);
    let y = keep4(k[1] * value[1] + lambda[1]);
    let z = keep4(k[1] * value[2] + lambda[2]);
    let pressure = smaller4(x, vec4<f32>(0.0));
    let square = keep4(y * y + z * z);
    let bound = -(patches[p].friction * pressure);
    let size = sqrt(square);
    let share = select(vec4<f32>(1.0), bound / size, size > bound);
    return Bounded(
        array<vec4<f32>, 3>(x, y, z),
        array<vec4<f32>, 3>(pressure, keep4(y * share), keep4(z * share)),
        square,
        share,
    );
}

// The gap of points whose load is zero, minus something of the others.
fn unloaded_gap(load: vec4<f32>, gap: vec4<f32>) -> vec4<f32> {
    return select(gap, load, is_below_zero(load));
}

fn idles(p: u32, value: array<vec4<f32>, 3>) -> bool {
    return !any(vec4<f32>(law.open) > unloaded_gap(patches[p].pressed, value[0]));
}

fn cone(p: u32, value: array<vec4<f32>, 3>) -> Push {
    let found = bounded(p, value);
    let zero = vec4<f32>(0.0);
    let open = vec4<f32>(law.open);
    let k = patches[p].stiffness;
    // What was thrown out would go in deeper with every iteration if nothing resisted its return.
    let normal = select(k[0], zero, unloaded_gap(patches[p].pressed, value[0]) > open);
    let tangent = select(k[1], zero, unloaded_gap(patches[p].lambda[0], value[0]) > open);
    if law.hessian == SLIP_DIRECTION {
        // K = k (I - d d^T) + k share d d^T with d the direction of the friction asked for.
        let extra = keep4(tangent * keep4(found.share - 1.0)) / larger4(found.square, vec4<f32>(SQUARE_MIN));
        return Push(found.force, normal, tangent, extra, array<vec4<f32>, 2>(found.asked[1], found.asked[2]));
    }
    var kept = vec4<f32>(1.0);
    if law.hessian == RESCALED_TANGENTS {
        kept = found.share;
    }
    return Push(found.force, normal, keep4(tangent * kept), zero, array<vec4<f32>, 2>(zero, zero));
}

fn add_touch(b: ptr<function, Block>, p: u32, is_b: bool) {
    let value = patch_value(p);
    if !idles(p, value) {
        add_patch(b, p, is_b, cone(p, value));
    }
}

// Eq. 11 and 12 within the cone: stiffness grows only where no bound holds the force back. Lanes without a point
// press nothing, so nothing of them grows.
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
    let value = patch_value(p);
    let found = bounded(p, value);
    let presses = is_below_zero(found.force[0]);
    let ramp = backings[p].ramp;
    let beta = vec4<f32>(ramp.z);
    let load = vec4<f32>(ramp.w);
    let cap = vec4<f32>(ramp.y);
    let k = patches[p].stiffness;
    let rate = keep4(beta - load * found.force[0]);
    let deeper = smaller4(keep4(k[0] + rate * abs(value[0])), cap);
    let slip = sqrt(keep4(value[1] * value[1] + value[2] * value[2]));
    let pull = sqrt(keep4(found.force[1] * found.force[1] + found.force[2] * found.force[2]));
    let rate_across = keep4(beta + load * pull);
    let farther = smaller4(keep4(k[1] + rate_across * slip), cap);
    let slides = vec4<f32>(1.0) > found.share;
    patches[p].stiffness[0] = select(k[0], deeper, presses);
    patches[p].stiffness[1] = select(k[1], select(farther, k[1], slides), presses);
    patches[p].pressed = select(patches[p].pressed, found.force[0], presses);
    patches[p].lambda = found.force;
    let sticks = (found.share == vec4<f32>(1.0)) & presses;
    let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), sticks);
    patches[p].state = (patches[p].state & 7u) | ((bits.x | bits.y | bits.z | bits.w) << STICKS);
}

// Adds to each sticking point's drift what the step dragged it along.
@compute @workgroup_size(THREADS)
fn follow(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if p >= extent.patches {
        return;
    }
    let value = patch_value(p);
    let bits = vec4<u32>(patches[p].state >> STICKS);
    let sticks = (bits & vec4<u32>(1u, 2u, 4u, 8u)) != vec4<u32>(0u);
    for (var c = 0u; c < 2u; c++) {
        let dragged = keep4(value[c + 1u] - patches[p].start[c + 1u]);
        backings[p].drift[c] = select(vec4<f32>(0.0), backings[p].drift[c] + dragged, sticks);
    }
}

// For a last sweep that corrects all of the overlap and the drift (Eq. 18 with alpha = 0).
@compute @workgroup_size(THREADS)
fn stabilise(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    if p < extent.patches {
        patches[p].start[0] = backings[p].gap;
        patches[p].start[1] = backings[p].drift[0];
        patches[p].start[2] = backings[p].drift[1];
    }
}

// What stiffness starts with, and how it may grow; negative where a scale rules.
struct Start {
    k_start: f32,
    k_start_scale: f32,
    carried_scale: f32,
    k_max: f32,
    k_max_scale: f32,
    beta: f32,
    beta_scale: f32,
    load_scale: f32,
    // Negative where the stiffness grows.
    rho_scale: f32,
    // Inverse of the squared frame [1/s^2].
    pace: f32,
    // Share of the error at the step's start that is corrected.
    part: f32,
    pad: u32,
}

@group(0) @binding(15) var<uniform> begin: Start;
@group(0) @binding(16) var<storage, read> carry: array<Carry>;

// Mass that rests on a patch [kg].
fn carried(p: u32) -> f32 {
    let a = patches[p].node_a;
    let b = patches[p].node_b;
    var depth_a = 0u;
    var depth_b = 0u;
    if a < constants.moving {
        depth_a = carry[a].depth;
    }
    if b < constants.moving {
        depth_b = carry[b].depth;
    }
    if depth_a < depth_b {
        return carry[b].share;
    }
    if depth_b < depth_a {
        return carry[a].share;
    }
    return 0.0;
}

fn or_scaled(given: f32, scaled: f32) -> f32 {
    return select(given, scaled, given < 0.0);
}

// Least and greatest stiffness, growth per error, and per error and force. Twin: `ContactRamps::of`.
fn ramp_of(p: u32) -> vec4<f32> {
    let found = backings[p].ramp;
    let unit = found.x * constants.inverse_square;
    if begin.rho_scale >= 0.0 {
        let rho = begin.rho_scale * unit;
        return vec4<f32>(rho, rho, 0.0, 0.0);
    }
    let cap = or_scaled(begin.k_max, begin.k_max_scale * unit);
    let resting = begin.carried_scale * carried(p) * begin.pace;
    let least = or_scaled(begin.k_start, larger(begin.k_start_scale * unit, resting));
    let beta = or_scaled(begin.beta, begin.beta_scale * unit / found.y);
    return vec4<f32>(smaller(least, cap), cap, beta, begin.load_scale / (found.y * found.y));
}

// Lines 5 and 6 of Algorithm 1 for contacts, and Eq. 18: a share of overlap and drift is left for later steps. A
// gap that is still open is not an error and counts whole.
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
    let ramp = ramp_of(p);
    backings[p].ramp = ramp;
    let gap = backings[p].gap;
    patches[p].start[0] = select(gap * begin.part, gap, gap > vec4<f32>(0.0));
    patches[p].start[1] = backings[p].drift[0] * begin.part;
    patches[p].start[2] = backings[p].drift[1] * begin.part;
    patches[p].pressed = patches[p].lambda[0];
    for (var c = 0u; c < 3u; c++) {
        patches[p].lambda[c] = patches[p].lambda[c] * constants.retain;
    }
    let used = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(patches[p].state & 7u);
    for (var c = 0u; c < 2u; c++) {
        let kept = patches[p].stiffness[c] * constants.gamma;
        let bounded = smaller4(larger4(kept, vec4<f32>(ramp.x)), vec4<f32>(ramp.y));
        patches[p].stiffness[c] = select(vec4<f32>(0.0), bounded, used);
    }
}
