//! Structures as `shaders/collide` has them: what is asked and answered, and what the stages share.

use bytemuck::{Pod, Zeroable};
use taut_core::Vec3;

/// As `HUGE` in the shaders, which need not know infinity.
const HUGE: f32 = 3e38;
/// Nodes of a tree that make one of the next level.
const ARITY: u32 = 4;

#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is the purpose")]
pub(crate) fn round(x: f64) -> f32 {
    x.clamp(-f64::from(HUGE), f64::from(HUGE)) as f32
}

pub(crate) fn vector(v: &Vec3) -> [f32; 3] {
    [round(v.x), round(v.y), round(v.z)]
}

/// Where a body is and how it moves: a [`Placement`](taut_core::Placement) in single precision.
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
    /// The point of the answer before this one that this one continues, or [`NONE`](taut_collide::NONE).
    pub previous: u32,
}

/// What holds for a whole query.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Task {
    pub(crate) bodies: u32,
    pub(crate) planes: u32,
    pub(crate) points_max: u32,
    pub(crate) pairs_room: u32,
    pub(crate) margin: f32,
    pub(crate) dt: f32,
    pub(crate) manifolds_room: u32,
    pub(crate) triangles_room: u32,
}

/// Shape and traits of a body.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Body {
    pub(crate) half: [f32; 3],
    pub(crate) round: f32,
    pub(crate) middle: [f32; 3],
    pub(crate) reach: f32,
    pub(crate) extent: [f32; 3],
    pub(crate) size: f32,
    pub(crate) kind: u32,
    pub(crate) dynamic: u32,
    pub(crate) group: u32,
    pub(crate) mesh: u32,
    pub(crate) joined_first: u32,
    pub(crate) joined_last: u32,
    pub(crate) friction_static: f32,
    pub(crate) friction_dynamic: f32,
    pub(crate) restitution: f32,
    pub(crate) rank: u32,
    pub(crate) triangle_count: u32,
    pub(crate) triangle_first: u32,
}

/// A box of the tree.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Node {
    pub(crate) low: [f32; 3],
    pub(crate) body: u32,
    pub(crate) high: [f32; 3],
    pub(crate) pad: u32,
}

/// Where the nodes of one level of the tree are.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Level {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) first_below: u32,
    pub(crate) count_below: u32,
}

/// Where the levels of a tree are, leaves first.
pub(crate) fn levels(leaves: usize) -> Vec<Level> {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut below = Level { count: narrow(leaves), ..Level::default() };
    let mut levels = vec![below];
    while below.count > 1 {
        below = Level {
            first: below.first + below.count,
            count: below.count.div_ceil(ARITY),
            first_below: below.first,
            count_below: below.count,
        };
        levels.push(below);
    }
    levels
}

/// A body that a joint keeps from touching.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Joined {
    pub(crate) other: u32,
    pub(crate) joint: u32,
}

/// A triangle of a surface: its first corner, the others as seen from there, what is across each edge away from
/// it, and sine and cosine of how far a normal may lean over each edge.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Triangle {
    pub(crate) origin: [f32; 3],
    pub(crate) sine_0: f32,
    pub(crate) b: [f32; 3],
    pub(crate) sine_1: f32,
    pub(crate) c: [f32; 3],
    pub(crate) sine_2: f32,
    pub(crate) outward_0: [f32; 3],
    pub(crate) cosine_0: f32,
    pub(crate) outward_1: [f32; 3],
    pub(crate) cosine_1: f32,
    pub(crate) outward_2: [f32; 3],
    pub(crate) cosine_2: f32,
}

/// What was found of a pair.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Found {
    pub(crate) normal: [f32; 3],
    pub(crate) count: u32,
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
