//! Which bodies are close: a tree of fat boxes that remembers, and a tight test that decides.
//!
//! The tree is parry's bounding volume hierarchy. Bodies of all sizes cost it the same, which a grid
//! cannot say, and only those that leave their fat box cost anything at all: pairs of fat boxes are
//! kept from one query to the next, so bodies at rest pay for nothing but the tight test. The fat boxes
//! depend on the history, the pairs that pass the tight test do not.
//!
//! Half-spaces have no box. They are few, and each is tested against every body.

use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhLeafUpdateStatus, BvhWorkspace},
};
use taut_core::Vec3;

/// A box with world axes: its middle and half extents [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) middle: Vec3,
    pub(crate) half: Vec3,
}

/// A half-space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfSpace {
    /// Its index.
    pub(crate) body: u32,
    /// A point of its plane [m].
    pub(crate) centre: Vec3,
    /// Its outward unit normal.
    pub(crate) normal: Vec3,
    /// Boxes this close to it are of interest [m], and
    pub(crate) margin: f64,
    /// by how much that grows with the distance from its centre, where it turns.
    pub(crate) turn: f64,
}

/// Fat boxes are larger by this share of the mean half extent on each side.
const FAT: f64 = 0.1;
/// Bodies farther away than this are lost and touch nothing [m].
const FAR: f64 = 1e12;

/// Pairs of bodies that are close, over many queries.
#[derive(Clone)]
pub(crate) struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Sorted pairs whose fat boxes overlap.
    cached: Vec<[u32; 2]>,
    fresh: Vec<[u32; 2]>,
    merged: Vec<[u32; 2]>,
    /// Sorted pairs with half-spaces.
    flat: Vec<[u32; 2]>,
    pairs: Vec<[u32; 2]>,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("cached", &self.cached.len()).finish_non_exhaustive()
    }
}

impl Bounds {
    /// The box of one point.
    pub(crate) fn at(point: Vec3) -> Self {
        Self { middle: point, half: Vec3::zeros() }
    }

    /// The box of what touches nothing.
    pub(crate) fn nowhere() -> Self {
        Self::at(Vec3::repeat(f64::NAN))
    }

    /// The box around some points.
    pub(crate) fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for point in points {
            (low, high) = (low.inf(&point), high.sup(&point));
        }
        Self { middle: (low + high) * 0.5, half: (high - low) * 0.5 }
    }

    /// The box around two boxes; no box where one of them is none.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let low = (self.middle - self.half).inf(&(other.middle - other.half));
        let high = (self.middle + self.half).sup(&(other.middle + other.half));
        Self { middle: (low + high) * 0.5, half: (high - low) * 0.5 }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let apart = (self.middle - other.middle).abs() - (self.half + other.half);
        apart.x <= 0.0 && apart.y <= 0.0 && apart.z <= 0.0
    }

    /// Whether the box is where others are looked for.
    pub(crate) fn is_sane(&self) -> bool {
        self.middle.iter().chain(&self.half).all(|x| x.abs() < FAR)
    }

    fn to_parry(self) -> Aabb {
        let vector = |v: Vec3| Vector::new(v.x, v.y, v.z);
        Aabb::new(vector(self.middle - self.half), vector(self.middle + self.half))
    }
}

impl BroadPhase {
    pub(crate) fn new() -> Self {
        Self {
            tree: Bvh::new(),
            workspace: BvhWorkspace::default(),
            cached: vec![],
            fresh: vec![],
            merged: vec![],
            flat: vec![],
            pairs: vec![],
        }
    }

    /// The pairs of bodies whose boxes overlap or touch, lower index first, sorted. `allowed` says
    /// which pairs are of interest at all, which must not change between calls; boxes of half-spaces
    /// are ignored, and so are boxes with numbers that are not finite.
    pub(crate) fn update(
        &mut self,
        bounds: &[Bounds],
        planes: &[HalfSpace],
        allowed: impl Fn(u32, u32) -> bool,
    ) -> &[[u32; 2]] {
        let mut moved = false;
        for (i, bounds) in (0..).zip(bounds) {
            if bounds.is_sane() {
                let pad = FAT * bounds.half.sum() / 3.0;
                let status =
                    self.tree.insert_or_update_partially(bounds.to_parry(), i, pad.max(1e-6));
                moved |= status != BvhLeafUpdateStatus::Unchanged;
            }
        }
        if moved {
            self.refresh(&allowed);
        }
        self.pairs.clear();
        let close = |&&[a, b]: &&[u32; 2]| bounds[a as usize].overlaps(&bounds[b as usize]);
        self.pairs.extend(self.cached.iter().filter(close));
        if !planes.is_empty() {
            self.add_planes(bounds, planes, &allowed);
        }
        &self.pairs
    }

    /// Adds the pairs that bodies outside their former fat boxes form, drops those that came apart.
    #[inline(never)]
    fn refresh(&mut self, allowed: &impl Fn(u32, u32) -> bool) {
        self.tree.refit(&mut self.workspace);
        self.fresh.clear();
        let fresh = &mut self.fresh;
        self.tree.traverse_bvtt_single_tree::<true>(&mut self.workspace, &mut |a, b| {
            let pair = [a.min(b), a.max(b)];
            if allowed(pair[0], pair[1]) {
                fresh.push(pair);
            }
        });
        self.fresh.sort_unstable();
        let tree = &self.tree;
        let fat = |i: u32| tree.leaf_node(i);
        self.cached.retain(|&[a, b]| match (fat(a), fat(b)) {
            (Some(a), Some(b)) => a.intersects(b),
            _ => false,
        });
        union(&self.cached, &self.fresh, &mut self.merged);
        std::mem::swap(&mut self.cached, &mut self.merged);
        // Only now: optimising forgets what has changed.
        self.tree.optimize_incremental(&mut self.workspace);
    }

    fn add_planes(
        &mut self,
        bounds: &[Bounds],
        planes: &[HalfSpace],
        allowed: &impl Fn(u32, u32) -> bool,
    ) {
        self.flat.clear();
        for plane in planes {
            for (i, bounds) in (0..).zip(bounds) {
                let arm = bounds.middle - plane.centre;
                let height = plane.normal.dot(&arm) - plane.normal.abs().dot(&bounds.half);
                let turn = plane.turn * (arm.norm() + bounds.half.norm());
                let pair = [plane.body.min(i), plane.body.max(i)];
                let near = height <= plane.margin + turn && bounds.is_sane();
                if near && allowed(pair[0], pair[1]) {
                    self.flat.push(pair);
                }
            }
        }
        self.flat.sort_unstable();
        union(&self.pairs, &self.flat, &mut self.merged);
        std::mem::swap(&mut self.pairs, &mut self.merged);
    }
}

/// The union of two sorted lists.
fn union(a: &[[u32; 2]], b: &[[u32; 2]], out: &mut Vec<[u32; 2]>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let next = a[i].min(b[j]);
        i += usize::from(a[i] == next);
        while j < b.len() && b[j] == next {
            j += 1;
        }
        out.push(next);
    }
    out.extend_from_slice(&a[i..]);
    for &pair in &b[j..] {
        if out.last() != Some(&pair) {
            out.push(pair);
        }
    }
}
