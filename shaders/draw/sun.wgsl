// What the sun sees: depths only.

//#use draw/place.wgsl

@vertex
fn corner(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
) -> @builtin(position) vec4<f32> {
    return view.sun_clip * vec4<f32>(place(drawables[instance], corners[vertex].position), 1.0);
}
