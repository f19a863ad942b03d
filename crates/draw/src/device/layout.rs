//! What shaders of `shaders/draw` read, laid out as they read it. Lengths are in metres in world axes, and count from
//! the camera's target.

use bytemuck::{Pod, Zeroable};

/// How everything is seen and lit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Optics {
    /// To clip space, by columns.
    pub(super) clip: [[f32; 4]; 4],
    /// To the clip space of the sun, by columns.
    pub(super) sun_clip: [[f32; 4]; 4],
    /// The eye, or the direction to it.
    pub(super) eye: [f32; 4],
    /// Direction of view.
    pub(super) forward: [f32; 4],
    /// What a sample to the right adds to it, or to the point that is looked through.
    pub(super) step_right: [f32; 4],
    /// The same for a sample down.
    pub(super) step_down: [f32; 4],
    /// Direction of the sun, and width of a texel of its picture.
    pub(super) sun: [f32; 4],
    /// Ambient light, cosine of a face towards the eye, levels less one, darkness of shadows on the ground.
    pub(super) light: [f32; 4],
    /// Width and height [samples], near and far end.
    pub(super) size: [f32; 4],
}

/// A corner of a triangle in the coordinates of its shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct MeshCorner {
    pub(super) position: [f32; 3],
    /// One of [`FLAT`], [`ROUND`] and [`SHEET`].
    pub(super) kind: u32,
    pub(super) normal: [f32; 3],
    pub(super) unused: u32,
}

/// Its face is flat, ...
pub(super) const FLAT: u32 = 0;
/// ... it is round, ...
pub(super) const ROUND: u32 = 1;
/// ... or it is flat and both of its sides are seen.
pub(super) const SHEET: u32 = 2;

/// An instance of a shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Drawable {
    /// Rows of the affine map to the world.
    pub(super) x: [f32; 4],
    pub(super) y: [f32; 4],
    pub(super) z: [f32; 4],
    /// Normal and offset of the plane beyond which it has its second colour.
    pub(super) cut: [f32; 4],
    pub(super) colour: u32,
    pub(super) cut_colour: u32,
    /// By which it is picked; 0 is nothing.
    pub(super) number: u32,
    /// How dark its edges are, from 0 to 1.
    pub(super) outline: f32,
}

/// A straight piece of a line, or a dot where its ends are one.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Streak {
    /// Right and down [samples], and depth in clip space.
    pub(super) a: [f32; 3],
    /// [samples]
    pub(super) half_width: f32,
    pub(super) b: [f32; 3],
    pub(super) colour: u32,
}

/// A colour as shaders unpack it.
pub(super) fn packed((r, g, b): crate::colour::Rgb) -> u32 {
    u32::from_le_bytes([r, g, b, 255])
}

#[cfg(test)]
mod tests {
    use taut_gpu::assert_layout;

    use super::*;

    const TYPES: &str = "draw/types.wgsl";

    #[test]
    fn structures_are_those_of_the_shaders() {
        assert_layout!(
            TYPES,
            Optics { clip, sun_clip, eye, forward, step_right, step_down, sun, light, size }
        );
        assert_layout!(TYPES, MeshCorner { position, kind, normal, unused });
        assert_layout!(TYPES, Drawable { x, y, z, cut, colour, cut_colour, number, outline });
        assert_layout!(TYPES, Streak { a, half_width, b, colour });
    }
}
