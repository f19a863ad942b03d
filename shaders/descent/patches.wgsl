// What is kept of contacts: patches of up to four points of two bodies that share a normal, by lanes. Twin:
// crates/descent/src/device/contact.rs.

//#use descent/types.wgsl

struct Patch {
    // Normal and two tangents.
    normal: vec3<f32>,
    node_a: u32,
    first_tangent: vec3<f32>,
    node_b: u32,
    second_tangent: vec3<f32>,
    // Points in use in the lowest bits, and from STICKS on one bit for each that holds without sliding.
    state: u32,
    arm_a: array<vec4<f32>, 3>,
    arm_b: array<vec4<f32>, 3>,
    start: array<vec4<f32>, 3>,
    lambda: array<vec4<f32>, 3>,
    pressed: vec4<f32>,
    // Along the normal, and along both tangents.
    stiffness: array<vec4<f32>, 2>,
    friction: vec4<f32>,
}

// What of a patch only the start and the end of a step and the dual update need.
struct Backing {
    gap: vec4<f32>,
    drift: array<vec4<f32>, 2>,
    // The method's bounds of the stiffness and how it grows.
    ramp: vec4<f32>,
}

// How many patches there are.
struct Extent {
    patches: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

@group(0) @binding(7) var<storage, read_write> patches: array<Patch>;
@group(0) @binding(8) var<storage, read_write> backings: array<Backing>;
// Ends of patches, node by node: twice the patch, plus one on side B.
@group(0) @binding(9) var<storage, read> ends: array<u32>;
@group(0) @binding(10) var<storage, read> end_starts: array<u32>;
// Nodes, colour by colour.
@group(0) @binding(11) var<storage, read> visit: array<u32>;
@group(0) @binding(12) var<uniform> extent: Extent;
// First place in `visit` of each colour, and one past the last.
@group(0) @binding(14) var<storage, read> colour_starts: array<u32>;

const STICKS: u32 = 4u;

fn is_below_zero(x: vec4<f32>) -> vec4<bool> {
    return vec4<f32>(0.0) > x;
}

fn keep4(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(nothing));
}

// Lane by lane as `Lanes::min` and `Lanes::max` choose.
fn smaller4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(b, a, a < b);
}

fn larger4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(b, a, a > b);
}
