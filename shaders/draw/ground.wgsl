// Shadows on planes, of which nothing else is seen.

//#use draw/screen.wgsl
//#use draw/shade.wgsl

@group(0) @binding(0) var<uniform> view: Optics;
@group(0) @binding(3) var sun_depths: texture_depth_2d;
// Unit normals, and how far along them the planes are from the camera's target [m].
@group(0) @binding(4) var<storage, read> planes: array<vec4<f32>>;

struct Seen {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) plane: u32,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Seen {
    return Seen(screen(vertex), instance);
}

@fragment
fn sample(seen: Seen) -> @location(0) vec4<f32> {
    let plane = planes[seen.plane];
    let steps = seen.position.xy - 0.5 * view.size.xy;
    let offset = steps.x * view.step_right.xyz + steps.y * view.step_down.xyz;
    let origin = select(offset, view.eye.xyz, view.eye.w > 0.0);
    let along = select(view.forward.xyz, view.forward.xyz + offset, view.eye.w > 0.0);
    let closing = dot(plane.xyz, along);
    let distance = (plane.w - dot(plane.xyz, origin)) / closing;
    // From above only, and in front of the eye.
    if closing > -1e-6 || (view.eye.w > 0.0 && distance <= 0.0) {
        return vec4<f32>(0.0);
    }
    let at = origin + distance * along + plane.xyz * view.sun.w;
    let shadow = 1.0 - sunlight(view, sun_depths, at);
    return vec4<f32>(0.0, 0.0, 0.0, view.light.w * shadow);
}
