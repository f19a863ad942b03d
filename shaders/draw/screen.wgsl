// One triangle that covers the picture.
fn screen(vertex: u32) -> vec4<f32> {
    let x = select(-1.0, 3.0, vertex == 1u);
    let y = select(-1.0, 3.0, vertex == 2u);
    return vec4<f32>(x, y, 0.0, 1.0);
}
