//! Trees of boxes over features of a surface, made once in rest coordinates.
//!
//! A body that moves takes its tree along: what is asked for is mapped back by the inverse of its frame, so that
//! nothing is built or refitted while bodies move or deform affinely.

use std::cell::Cell;

use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
};
use taut_core::{Mat3, Vec3};

use crate::{Surface, transform::times};

/// Boxes that are mapped back grow by this share of the numbers that they are computed from [1], which is more than
/// those are rounded by.
const SLACK: f64 = 1e-9;

/// Frames whose largest stretch is more than so many times the least [1] have no inverse that rounding leaves good.
const SINGULAR: f64 = 1e6;

/// A tree over the boxes of a list of features, in the coordinates in which these rest.
#[derive(Clone)]
pub struct SurfaceTree {
    tree: Bvh,
}

impl std::fmt::Debug for SurfaceTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SurfaceTree").field("leaves", &self.tree.leaf_count()).finish()
    }
}

impl SurfaceTree {
    /// A tree of boxes, each by its lowest and highest corner [m]; a feature's index is its place in the list.
    pub fn new(boxes: impl IntoIterator<Item = [Vec3; 2]>) -> Self {
        let boxes: Vec<Aabb> = boxes.into_iter().map(|[low, high]| aabb(&low, &high)).collect();
        Self { tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) }
    }

    /// A tree of the triangles of a surface.
    pub fn of_triangles(surface: &Surface) -> Self {
        Self::new(surface.triangles.iter().map(|corners| around(surface, corners)))
    }

    /// A tree of the edges of a surface.
    pub fn of_edges(surface: &Surface) -> Self {
        Self::new(surface.edges.iter().map(|ends| around(surface, ends)))
    }

    /// A tree of the vertices of a surface.
    pub fn of_vertices(surface: &Surface) -> Self {
        Self::new(surface.vertices.iter().map(|v| [*v, *v]))
    }

    /// Visits every feature whose box meets or touches the box from `low` to `high` [m], both in rest coordinates,
    /// in an order that is the same each time. Infinite corners ask for all.
    pub fn visit(&self, low: &Vec3, high: &Vec3, visit: impl FnMut(u32)) {
        self.tree.intersect_aabb(&aabb(low, high)).for_each(visit);
    }

    /// Features in boxes of which `meets` says that they may matter, by lowest and highest corner in rest coordinates
    /// [m]: of a box that does not, nothing inside does. The order is the same each time.
    pub fn features_where(
        &self,
        meets: impl Fn(&Vec3, &Vec3) -> bool,
    ) -> impl Iterator<Item = u32> {
        self.tree.leaves(move |node: &BvhNode| meets(&vector(node.mins()), &vector(node.maxs())))
    }

    /// Visits pairs of a feature of each tree whose boxes may be no farther apart than `reach` [m] in the world. The
    /// points of each are at `position + frame * rest`, as `frames` has them. The visit may lessen the reach.
    pub fn visit_pairs(
        &self,
        other: &Self,
        frames: [(&Vec3, &Mat3); 2],
        reach: &Cell<f64>,
        mut visit: impl FnMut(u32, u32),
    ) {
        let [(position, frame), (from, onto)] = frames;
        let back = sound_inverse(onto);
        let inverse = back.unwrap_or_else(Mat3::identity);
        let shape = inverse * frame;
        let (place, stretch) = (inverse * (position - from), shape.abs());
        // A sphere of one metre reaches so far along each rest axis.
        let rows = inverse.row_iter().map(|row| row.norm());
        let rows = Vec3::from_iterator(rows);
        let slack = SLACK * (position.amax() + from.amax());
        let close = |own: &BvhNode, theirs: &BvhNode| {
            let [low, high] = [own.mins(), own.maxs()].map(vector);
            let [least, most] = [theirs.mins(), theirs.maxs()].map(vector);
            let half = times(&stretch, &((high - low) * 0.5)) + (most - least) * 0.5;
            let apart = times(&shape, &((low + high) * 0.5)) + place - (least + most) * 0.5;
            let room = half + rows * (reach.get() + slack);
            let beyond = apart.abs() - room - half * SLACK;
            back.is_none() || !(beyond.x > 0.0 || beyond.y > 0.0 || beyond.z > 0.0)
        };
        for (i, j) in self.tree.leaf_pairs(&other.tree, close) {
            visit(i, j);
        }
    }
}

/// The inverse of a frame, where rounding leaves it good.
fn sound_inverse(frame: &Mat3) -> Option<Mat3> {
    let inverse = frame.try_inverse()?;
    (frame.norm() * inverse.norm() < SINGULAR).then_some(inverse)
}

/// The box with rest axes around a box with world axes from `low` to `high` [m], of a body whose points are at
/// `position + frame * rest`: its lowest and highest corner in rest coordinates [m].
///
/// The frame may stretch and shear. A frame that is singular, or so nearly that its inverse means nothing, gives a
/// box around everything, and so does a box with a corner that is not finite.
pub fn rest_box(position: &Vec3, frame: &Mat3, low: &Vec3, high: &Vec3) -> [Vec3; 2] {
    let everything = [Vec3::repeat(f64::NEG_INFINITY), Vec3::repeat(f64::INFINITY)];
    let Some(inverse) = sound_inverse(frame) else { return everything };
    let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let size = SLACK * (centre.amax() + position.amax() + half.amax());
    if !((low + high).sum().is_finite() && size.is_finite()) {
        return everything;
    }
    let middle = times(&inverse, &(centre - position));
    let reach = times(&inverse.abs(), &half.add_scalar(size));
    [middle - reach, middle + reach]
}

fn around<const N: usize>(surface: &Surface, corners: &[u32; N]) -> [Vec3; 2] {
    let none = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    let corner = |i: &u32| surface.vertices[*i as usize];
    corners.iter().map(corner).fold(none, |[low, high], v| [low.inf(&v), high.sup(&v)])
}

fn vector(v: Vector) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn aabb(low: &Vec3, high: &Vec3) -> Aabb {
    Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z))
}

#[cfg(test)]
mod tests {
    use taut_core::scene::Shape;

    use super::*;

    fn found(tree: &SurfaceTree, [low, high]: [Vec3; 2]) -> Vec<u32> {
        let mut found = vec![];
        tree.visit(&low, &high, |i| found.push(i));
        found.sort_unstable();
        found
    }

    #[test]
    fn whatever_a_moved_box_meets_is_found() {
        let surface = Surface::new(&Shape::Sphere { radius: 1.0 }, 24).unwrap();
        let tree = SurfaceTree::of_triangles(&surface);
        let frame = Mat3::new(0.9, 0.3, -0.1, -0.2, 1.1, 0.2, 0.4, 0.0, 0.7);
        let position = Vec3::new(3.0, -2.0, 5.0);
        let world = |i: &u32| position + frame * surface.vertices[*i as usize];
        for k in 0..50 {
            let turn = f64::from(k);
            let centre = position + Vec3::new(turn.cos(), turn.sin(), (2.0 * turn).sin()) * 0.8;
            let (low, high) = (centre.add_scalar(-0.2), centre.add_scalar(0.2));
            let some = found(&tree, rest_box(&position, &frame, &low, &high));
            assert!(some.len() < 250, "{} of 320", some.len());
            for (i, corners) in (0..).zip(&surface.triangles) {
                let inside = |i: &u32| world(i) >= low && world(i) <= high;
                if corners.iter().any(inside) {
                    assert!(some.contains(&i));
                }
            }
        }
    }

    #[test]
    fn touching_counts_and_flat_frames_give_all() {
        let surface = Surface::new(&Shape::Box { half: Vec3::repeat(0.5) }, 24).unwrap();
        let low = Vec3::new(0.5, -5.0, -5.0);
        for (tree, touched, all) in [
            (SurfaceTree::of_triangles(&surface), 10, 12),
            (SurfaceTree::of_edges(&surface), 13, 18),
            (SurfaceTree::of_vertices(&surface), 4, 8),
        ] {
            let high = Vec3::repeat(5.0);
            assert_eq!(found(&tree, [low, high]).len(), touched);
            assert!(found(&tree, [low.add_scalar(1e-9), high]).is_empty());
            let flat = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 1e-9));
            assert_eq!(found(&tree, rest_box(&Vec3::zeros(), &flat, &high, &high)).len(), all);
        }
        assert!(found(&SurfaceTree::new([]), [-low, low]).is_empty());
    }
}
