// One pixel from 2 x 2 samples.

//#use draw/screen.wgsl

@group(0) @binding(0) var colours: texture_2d<f32>;
@group(0) @binding(1) var numbers: texture_2d<u32>;

struct Pixel {
    @location(0) colour: vec4<f32>,
    @location(1) number: u32,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4<f32> {
    return screen(vertex);
}

@fragment
fn pixel(@builtin(position) position: vec4<f32>) -> Pixel {
    let first = 2 * vec2<i32>(position.xy);
    var sum = vec4<f32>(0.0);
    for (var k = 0; k < 4; k++) {
        sum += textureLoad(colours, first + vec2<i32>(k & 1, k >> 1u), 0);
    }
    return Pixel(0.25 * sum, textureLoad(numbers, first, 0).x);
}
