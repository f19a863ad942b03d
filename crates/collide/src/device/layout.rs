//! Structures as `shaders/collide/types.wgsl` has them.

use bytemuck::{Pod, Zeroable};

/// Where a body is and how it moves: a [`Placement`](crate::Placement) in single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Pose {
    /// Centre of mass [m].
    pub position: [f32; 3],
    /// Unused.
    pub pad_0: u32,
    /// Body to world, scalar part last.
    pub rotation: [f32; 4],
    /// Velocity of the centre of mass [m/s].
    pub velocity: [f32; 3],
    /// Unused.
    pub pad_1: u32,
    /// Angular velocity in world axes [rad/s].
    pub omega: [f32; 3],
    /// Unused.
    pub pad_2: u32,
}

/// How much an answer holds, and whether there was room for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Counts {
    /// Manifolds of the answer; none where it is short of room.
    pub manifolds: u32,
    /// Not zero where the answer had no room: then it is no answer.
    pub short: u32,
    /// Pairs of bodies that are close.
    pub pairs_needed: u32,
    /// Manifolds that there are, as far as all pairs had room.
    pub manifolds_needed: u32,
    /// Triangles that are close to bodies, as far as all pairs had room.
    pub triangles_needed: u32,
    /// Unused.
    pub pad_0: u32,
    /// Unused.
    pub pad_1: u32,
    /// Unused.
    pub pad_2: u32,
}

/// Up to four contacts of one pair of bodies that share a normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Manifold {
    /// The body with the lower index in the scene.
    pub a: u32,
    /// The other body.
    pub b: u32,
    /// How many points there are, at least one.
    pub count: u32,
    /// Unused.
    pub pad_0: u32,
    /// Unit vector from B to A, in the world.
    pub normal: [f32; 3],
    /// Coefficient of static friction of the pair [1].
    pub friction_static: f32,
    /// Coefficient of dynamic friction of the pair [1].
    pub friction_dynamic: f32,
    /// Restitution of the pair [1].
    pub restitution: f32,
    /// Unused.
    pub pad_1: u32,
    /// Unused.
    pub pad_2: u32,
}

/// What of a contact belongs to A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Near {
    /// Point on A's surface, in A's coordinates [m].
    pub anchor: [f32; 3],
    /// `normal . (xA - xB)` [m]; negative where the bodies overlap.
    pub gap: f32,
}

/// What of a contact belongs to B, and what it continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Far {
    /// Point on B's surface, in B's coordinates [m].
    pub anchor: [f32; 3],
    /// The point of the answer before this one that this one continues, or [`NONE`](crate::NONE).
    pub previous: u32,
}

#[cfg(test)]
mod tests {
    use taut_gpu::assert_layout;

    use super::*;

    #[test]
    #[rustfmt::skip]
    fn structures_are_those_of_the_shaders() {
        const FILE: &str = "collide/types.wgsl";
        assert_layout!(FILE, Pose { position, pad_0, rotation, velocity, pad_1, omega, pad_2 });
        assert_layout!(FILE, Counts {
            manifolds, short, pairs_needed, manifolds_needed, triangles_needed, pad_0, pad_1, pad_2
        });
        assert_layout!(FILE, Manifold {
            a, b, count, pad_0, normal, friction_static, friction_dynamic, restitution, pad_1, pad_2
        });
        assert_layout!(FILE, Near { anchor, gap });
        assert_layout!(FILE, Far { anchor, previous });
    }
}
