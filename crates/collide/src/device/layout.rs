//! Structures as `shaders/collide` has them: what is asked and answered, and what the stages share.

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

/// What holds for a whole query.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Task {
    pub(super) bodies: u32,
    pub(super) planes: u32,
    pub(super) points_max: u32,
    pub(super) pairs_room: u32,
    pub(super) margin: f32,
    pub(super) dt: f32,
    pub(super) manifolds_room: u32,
    pub(super) triangles_room: u32,
}

/// Shape and traits of a body.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Body {
    pub(super) half: [f32; 3],
    pub(super) round: f32,
    pub(super) middle: [f32; 3],
    pub(super) reach: f32,
    pub(super) extent: [f32; 3],
    pub(super) size: f32,
    pub(super) kind: u32,
    pub(super) dynamic: u32,
    pub(super) group: u32,
    pub(super) mesh: u32,
    pub(super) joined_first: u32,
    pub(super) joined_last: u32,
    pub(super) friction_static: f32,
    pub(super) friction_dynamic: f32,
    pub(super) restitution: f32,
    pub(super) rank: u32,
    pub(super) triangle_count: u32,
    pub(super) triangle_first: u32,
}

/// A box of the tree.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Node {
    pub(super) low: [f32; 3],
    pub(super) body: u32,
    pub(super) high: [f32; 3],
    pub(super) pad: u32,
}

/// Where the nodes of one level of the tree are.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Level {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) first_below: u32,
    pub(super) count_below: u32,
}

/// A body that a joint keeps from touching.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Joined {
    pub(super) other: u32,
    pub(super) joint: u32,
}

/// A triangle of a surface: its first corner, the others as seen from there, what is across each edge away from
/// it, and sine and cosine of how far a normal may lean over each edge.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Triangle {
    pub(super) origin: [f32; 3],
    pub(super) sine_0: f32,
    pub(super) b: [f32; 3],
    pub(super) sine_1: f32,
    pub(super) c: [f32; 3],
    pub(super) sine_2: f32,
    pub(super) outward_0: [f32; 3],
    pub(super) cosine_0: f32,
    pub(super) outward_1: [f32; 3],
    pub(super) cosine_1: f32,
    pub(super) outward_2: [f32; 3],
    pub(super) cosine_2: f32,
}

/// What was found of a pair.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Found {
    pub(super) normal: [f32; 3],
    pub(super) count: u32,
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
        const PAIRS: &str = "collide/pairs.wgsl";
        assert_layout!(PAIRS, Task {
            bodies, planes, points_max, pairs_room, margin, dt, manifolds_room, triangles_room
        });
        assert_layout!(PAIRS, Body {
            half, round, middle, reach, extent, size, kind, dynamic, group, mesh, joined_first, joined_last,
            friction_static, friction_dynamic, restitution, rank, triangle_count,
            triangle_first
        });
        assert_layout!(PAIRS, Node { low, body, high, pad });
        assert_layout!(PAIRS, Joined { other, joint });
        assert_layout!("collide/tree.wgsl", Level { first, count, first_below, count_below });
        assert_layout!("collide/mesh/touch.wgsl", Triangle {
            origin, sine_0, b, sine_1, c, sine_2, outward_0, cosine_0, outward_1, cosine_1, outward_2, cosine_2
        });
        assert_layout!("collide/answer.wgsl", Found { normal, count });
    }
}
