// What pictures are drawn from. Lengths are in metres in world axes, and count from the camera's target.

struct Optics {
    // To clip space, and to that of the sun, whose picture of depths shadows are looked up in.
    clip: mat4x4<f32>,
    sun_clip: mat4x4<f32>,
    // The eye; a point where the last component is 1, else the direction to it.
    eye: vec4<f32>,
    // What every pixel sees along: the direction at the middle, and what a step to the right and one down add to it.
    // In a view without perspective the steps move the point that is looked through instead.
    forward: vec4<f32>,
    step_right: vec4<f32>,
    step_down: vec4<f32>,
    // Unit vector to the sun, and width of a texel of its picture [m].
    sun: vec4<f32>,
    // Light where no sun is; what a face towards the eye gets from the sun; levels of light less one; darkness of
    // shadows on the ground.
    light: vec4<f32>,
    // Width and height of the picture [samples]; near and far end of depths [m].
    size: vec4<f32>,
}

struct MeshCorner {
    position: vec3<f32>,
    // 0: its face is flat; 1: it is round; 2: both sides of its face are seen.
    kind: u32,
    normal: vec3<f32>,
    unused: u32,
}

struct Drawable {
    // Rows of the affine map to the world.
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
    // Normal and offset of the plane beyond which it has the second colour.
    cut: vec4<f32>,
    colour: u32,
    cut_colour: u32,
    number: u32,
    // How dark its edges are, from 0 to 1.
    outline: f32,
}

struct Streak {
    // Ends, right and down from the upper left corner of the picture [samples], and depth in clip space.
    a: vec3<f32>,
    // Half of the width [samples].
    half_width: f32,
    b: vec3<f32>,
    colour: u32,
}
