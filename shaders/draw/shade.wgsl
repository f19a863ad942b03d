// Light, shadow and colour; the tones are those of `crates/draw/src/colour.rs`.

//#use draw/types.wgsl

fn unpacked(colour: u32) -> vec3<f32> {
    return unpack4x8unorm(colour).xyz;
}

// Light on a face from the cosine between its normal and the sun; in levels where the face is flat.
fn lambert(view: Optics, facing: f32, flat_face: bool) -> f32 {
    let towards_eye = view.light.y;
    let above = clamp(facing, 0.0, 1.0) - towards_eye;
    let steps = view.light.z;
    let level = select(above, round(above * steps) / steps, flat_face);
    return 1.0 + (1.0 - view.light.x) * level / towards_eye;
}

// A colour under some light: darker below 1, mixed with white above.
fn lit(colour: vec3<f32>, light: f32) -> vec3<f32> {
    return select(mix(colour, vec3<f32>(1.0), light - 1.0), colour * light, light <= 1.0);
}

// Which part of the sun reaches a point, from 3 x 3 texels of the sun's picture.
fn sunlight(view: Optics, depths: texture_depth_2d, position: vec3<f32>) -> f32 {
    let seen = view.sun_clip * vec4<f32>(position, 1.0);
    let size = vec2<i32>(textureDimensions(depths));
    let texel = (seen.xy * vec2<f32>(0.5, -0.5) + 0.5) * vec2<f32>(size) - 0.5;
    let first = vec2<i32>(floor(texel));
    let part = texel - floor(texel);
    var sum = 0.0;
    // Three texels in each direction, of which the outer two count by how far they reach into the filter.
    for (var j = -1; j <= 2; j++) {
        for (var i = -1; i <= 2; i++) {
            let at = first + vec2<i32>(i, j);
            let inside = all(at >= vec2<i32>(0)) && all(at < size);
            let depth = textureLoad(depths, clamp(at, vec2<i32>(0), size - 1), 0);
            // Beyond the picture nothing casts a shadow, nor where it is empty, whose depth is 1.
            let reached = select(1.0, 0.0, inside && depth < min(seen.z, 1.0));
            let x = weight(i, part.x);
            let y = weight(j, part.y);
            sum += reached * x * y;
        }
    }
    return sum / 9.0;
}

fn weight(index: i32, part: f32) -> f32 {
    if index == -1 { return 1.0 - part; }
    if index == 2 { return part; }
    return 1.0;
}
