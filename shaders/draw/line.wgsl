// Lines and dots of some width in the picture, with round ends.

//#use draw/types.wgsl

@group(0) @binding(0) var<uniform> view: Optics;
@group(0) @binding(1) var<storage, read> streaks: array<Streak>;

struct Seen {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) instance: u32,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Seen {
    let streak = streaks[instance];
    let along = streak.b.xy - streak.a.xy;
    let size = length(along);
    let unit = select(vec2<f32>(1.0, 0.0), along / size, size > 0.0);
    let across = vec2<f32>(-unit.y, unit.x);
    let end = vertex == 1u || vertex == 3u || vertex == 4u;
    let side = select(-1.0, 1.0, vertex == 2u || vertex == 4u || vertex == 5u);
    let reach = streak.half_width;
    let middle = select(streak.a.xy - unit * reach, streak.b.xy + unit * reach, end);
    let at = middle + side * reach * across;
    let clip = at / view.size.xy * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0);
    return Seen(vec4<f32>(clip, select(streak.a.z, streak.b.z, end), 1.0), instance);
}

@fragment
fn sample(seen: Seen) -> @location(0) vec4<f32> {
    let streak = streaks[seen.instance];
    let along = streak.b.xy - streak.a.xy;
    let at = seen.position.xy - streak.a.xy;
    let share = clamp(dot(at, along) / max(dot(along, along), 1e-12), 0.0, 1.0);
    if distance(at, share * along) > streak.half_width { discard; }
    return unpack4x8unorm(streak.colour);
}
