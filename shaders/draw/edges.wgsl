// Darkens where depth, normal or body change from one sample to the next.

//#use draw/screen.wgsl
//#use draw/types.wgsl

@group(0) @binding(0) var<uniform> view: Optics;
@group(0) @binding(1) var depths: texture_depth_2d;
@group(0) @binding(2) var normals: texture_2d<f32>;
@group(0) @binding(3) var numbers: texture_2d<u32>;

@vertex
fn corner(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4<f32> {
    return screen(vertex);
}

// Jumps of depth that are edges [samples], cosines between normals that are, and how dark the darkest are.
const JUMP: f32 = 2.0;
const TURN: f32 = 0.9;
const DARKNESS: f32 = 0.45;

// Distance along the direction of view from the depth in clip space [m].
fn distance_m(depth: f32) -> f32 {
    let near = view.size.z;
    let far = view.size.w;
    return near * far / (far - depth * (far - near));
}

// What a step of depth in clip space is in metres, at some depth.
fn metres(depth: f32) -> f32 {
    let near = view.size.z;
    let far = view.size.w;
    let away = distance_m(depth);
    return select(far - near, away * away * (far - near) / (near * far), view.eye.w > 0.0);
}

// Width of a sample at some depth [m].
fn sample_m(depth: f32) -> f32 {
    return length(view.step_right.xyz) * select(1.0, distance_m(depth), view.eye.w > 0.0);
}

@fragment
fn sample(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let last = vec2<i32>(view.size.xy) - 1;
    let here = vec2<i32>(position.xy);
    let depth = textureLoad(depths, here, 0);
    let normal = textureLoad(normals, here, 0);
    let number = textureLoad(numbers, here, 0).x;
    var dark = 0.0;
    for (var k = 0; k < 4; k++) {
        let way = vec2<i32>(k & 1, 1 - (k & 1)) * (1 - (k & 2));
        let there = clamp(here + way, vec2<i32>(0), last);
        let depth_there = textureLoad(depths, there, 0);
        let nearer = min(depth, depth_there);
        if nearer == 1.0 { continue; }
        // Depth in clip space is linear in the picture on any plane, so that a bend shows a jump.
        let opposite = textureLoad(depths, clamp(here - way, vec2<i32>(0), last), 0);
        let bend = depth_there - 2.0 * depth + opposite;
        // Of the two sides the one with the jump.
        let here_too = 2.0 * abs(depth_there - depth) > abs(bend);
        let jump = here_too && abs(bend) * metres(nearer) > JUMP * sample_m(nearer);
        let other = textureLoad(numbers, there, 0).x != number;
        let normal_there = textureLoad(normals, there, 0);
        let cosine = dot(2.0 * normal.xyz - 1.0, 2.0 * normal_there.xyz - 1.0);
        if other || jump || cosine < TURN {
            dark = max(dark, max(normal.w, normal_there.w));
        }
    }
    return vec4<f32>(0.0, 0.0, 0.0, DARKNESS * dark);
}
