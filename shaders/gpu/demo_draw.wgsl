// The least that can be drawn, for tests of what is around it: squares of one depth.

// Right and lower edge in clip space, whose left and upper ones are the image's; depth; red.
@group(0) @binding(0) var<storage, read> squares: array<vec4<f32>>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) colour: vec4<f32>,
    @location(1) @interpolate(flat) number: u32,
}

struct Pixel {
    @location(0) colour: vec4<f32>,
    @location(1) number: u32,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Corner {
    let square = squares[instance];
    let right = vertex == 1u || vertex == 3u || vertex == 4u;
    let lower = vertex == 2u || vertex == 4u || vertex == 5u;
    let x = select(-1.0, square.x, right);
    let y = select(1.0, square.y, lower);
    return Corner(vec4<f32>(x, y, square.z, 1.0), vec4<f32>(square.w, 0.0, 0.0, 0.5), instance);
}

@fragment
fn pixel(corner: Corner) -> Pixel {
    return Pixel(corner.colour, corner.number);
}
