// Bodies: lit and shadowed colour, normal with darkness of edges, and number.

//#use draw/place.wgsl
//#use draw/shade.wgsl

@group(0) @binding(3) var sun_depths: texture_depth_2d;

struct Seen {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    // On which side of the cut it is.
    @location(2) side: f32,
    @location(3) @interpolate(flat) kind: u32,
    @location(4) @interpolate(flat) instance: u32,
}

struct Sample {
    @location(0) colour: vec4<f32>,
    @location(1) normal: vec4<f32>,
    @location(2) number: u32,
}

@vertex
fn corner(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> Seen {
    let drawable = drawables[instance];
    let corner = corners[vertex];
    let at = place(drawable, corner.position);
    let side = dot(drawable.cut.xyz, corner.position) - drawable.cut.w;
    let normal = place_normal(drawable, corner.normal);
    return Seen(view.clip * vec4<f32>(at, 1.0), at, normal, side, corner.kind, instance);
}

@fragment
fn sample(seen: Seen) -> Sample {
    let drawable = drawables[seen.instance];
    let to_eye = view.eye.xyz - view.eye.w * seen.place;
    let towards = normalize(seen.normal);
    let over = seen.kind == 2u && dot(towards, to_eye) < 0.0;
    let normal = select(towards, -towards, over);
    let facing = dot(normal, view.sun.xyz);
    // Looked up beside the surface, so that it casts no shadow on itself: by what a filter of three texels spans,
    // more where the sun grazes it.
    let beside = seen.place + normal * view.sun.w * (1.0 + 2.0 * sqrt(max(0.0, 1.0 - facing * facing)));
    let reached = sunlight(view, sun_depths, beside);
    let dark = lambert(view, 0.0, true);
    let light = mix(dark, lambert(view, facing, seen.kind != 1u), reached);
    let colour = unpacked(select(drawable.colour, drawable.cut_colour, seen.side > 0.0));
    return Sample(
        vec4<f32>(lit(colour, light), 1.0),
        vec4<f32>(0.5 * normal + 0.5, drawable.outline),
        drawable.number,
    );
}
