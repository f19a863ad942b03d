//! Features of one body that come near a box on their way.

use taut_core::{Mat3, Vec3};

use super::AffineSweep;
use crate::{Surface, SurfaceTree, broad::Bounds};

/// Boxes of a tree's nodes grow by this share of the numbers that they are computed from [1], more than those and
/// the boxes of single features are rounded by.
const SLACK: f64 = 1e-12;

/// A box as its lowest and highest corner [m].
pub(super) type SweptBox = [[f64; 3]; 2];

/// Features of one body with their boxes, in their order.
#[derive(Default)]
pub(super) struct NearFeatures {
    pub(super) vertices: Vec<(u32, SweptBox)>,
    pub(super) edges: Vec<(u32, SweptBox)>,
    pub(super) triangles: Vec<(u32, SweptBox)>,
}

impl NearFeatures {
    /// Those of a surface whose boxes, grown by `pad` [m], reach into a shared one.
    pub(super) fn of_all(
        mesh: &Surface,
        swept: &SweptTree<'_>,
        pad: f64,
        shared: &SweptBox,
    ) -> Self {
        let boxes: Vec<SweptBox> = mesh.vertices.iter().map(|x| swept.grown(x, pad)).collect();
        let mut out = Self::default();
        for (n, corners) in (0..).zip(&boxes) {
            keep(&mut out.vertices, n, *corners, shared);
        }
        for (n, ends) in (0..).zip(&mesh.edges) {
            keep(&mut out.edges, n, around_all(&boxes, *ends), shared);
        }
        for (n, ends) in (0..).zip(&mesh.triangles) {
            keep(&mut out.triangles, n, around_all(&boxes, *ends), shared);
        }
        out
    }

    /// The same, from the tree of the triangles and from the edges of each: what is near belongs to triangles that are.
    pub(super) fn by_tree(
        mesh: &Surface,
        (tree, sides): (&SurfaceTree, &[[u32; 3]]),
        swept: &SweptTree<'_>,
        pad: f64,
        shared: &SweptBox,
    ) -> Self {
        let mut triangles = Marks::none_of(mesh.triangles.len());
        swept.reaching(tree, pad, shared, |n| triangles.set(n));
        let [mut vertices, mut edges] = [mesh.vertices.len(), mesh.edges.len()].map(Marks::none_of);
        for n in triangles.each() {
            mesh.triangles[n as usize].iter().for_each(|v| vertices.set(*v));
            sides[n as usize].iter().for_each(|e| edges.set(*e));
        }
        let mut out = Self::default();
        // Boxes of vertices, each found once, and where it is among them.
        let mut boxes: Vec<SweptBox> = Vec::new();
        let mut place = vec![u32::MAX; mesh.vertices.len()];
        for v in vertices.each() {
            place[v as usize] = boxes.len() as u32;
            let corners = swept.grown(&mesh.vertices[v as usize], pad);
            keep(&mut out.vertices, v, corners, shared);
            boxes.push(corners);
        }
        for n in edges.each() {
            let ends = mesh.edges[n as usize].map(|v| place[v as usize]);
            keep(&mut out.edges, n, around_all(&boxes, ends), shared);
        }
        for n in triangles.each() {
            let ends = mesh.triangles[n as usize].map(|v| place[v as usize]);
            keep(&mut out.triangles, n, around_all(&boxes, ends), shared);
        }
        out
    }
}

/// Some of the features of a surface, told in their order.
struct Marks(Vec<u64>);

impl Marks {
    fn none_of(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, n: u32) {
        self.0[n as usize / 64] |= 1 << (n % 64);
    }

    fn each(&self) -> impl Iterator<Item = u32> {
        let of_word = |(first, word): (u32, &u64)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let words = std::iter::successors(Some(*word).filter(|word| *word != 0), rest);
            words.map(move |word| first + word.trailing_zeros())
        };
        (0..).step_by(64).zip(&self.0).flat_map(of_word)
    }
}

/// The edges of each triangle.
pub(super) fn sides(mesh: &Surface) -> Vec<[u32; 3]> {
    let edge = |a: u32, b: u32| {
        let ends = [a.min(b), a.max(b)];
        mesh.edges.partition_point(|other| *other < ends) as u32
    };
    mesh.triangles.iter().map(|&[a, b, c]| [edge(a, b), edge(b, c), edge(c, a)]).collect()
}

fn keep(list: &mut Vec<(u32, SweptBox)>, n: u32, corners: SweptBox, shared: &SweptBox) {
    if overlap(&corners, shared) {
        list.push((n, corners));
    }
}

/// A motion under which trees that rest in body coordinates are asked.
pub(super) struct SweptTree<'a> {
    sweep: &'a AffineSweep,
    /// Frame, its absolute value and position at both ends of the motion.
    ends: [(Mat3, Mat3, Vec3); 2],
    /// What covers rounding [m].
    slack: f64,
}

impl<'a> SweptTree<'a> {
    /// For a body with this box around it, in its coordinates.
    pub(super) fn new(sweep: &'a AffineSweep, rest: &Bounds) -> Self {
        let end = |share: f64| {
            let frame = sweep.frame + sweep.frame_move * share;
            (frame, frame.abs(), sweep.position + sweep.position_move * share)
        };
        let far = rest.middle.abs() + rest.half;
        let reach = (sweep.frame.abs() + sweep.frame_move.abs()) * far;
        let places = sweep.position.amax() + sweep.position_move.amax();
        let slack = SLACK * (reach.amax() + places);
        Self { sweep, ends: [end(0.0), end(1.0)], slack }
    }

    /// The box around a point of the body on its way, grown by `pad` [m].
    fn grown(&self, x: &Vec3, pad: f64) -> SweptBox {
        let (from, to) = (self.sweep.point(0.0, x), self.sweep.point(1.0, x));
        let low = from.inf(&to).add_scalar(-pad);
        [low.into(), from.sup(&to).add_scalar(pad).into()]
    }

    /// Tells features whose boxes, grown by `pad` [m], may reach into a box on the way.
    fn reaching(&self, tree: &SurfaceTree, pad: f64, [from, to]: &SweptBox, tell: impl FnMut(u32)) {
        let (from, to) = (Vec3::from(*from), Vec3::from(*to));
        let pad = pad + self.slack;
        let meets = |low: &Vec3, high: &Vec3| {
            let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
            let [a, b] = self.ends.each_ref().map(|(frame, stretch, position)| {
                let (centre, reach) = (frame * middle + position, stretch * half);
                (centre - reach, centre + reach)
            });
            let (low, high) = (a.0.inf(&b.0).add_scalar(-pad), a.1.sup(&b.1).add_scalar(pad));
            (0..3).all(|k| low[k] <= to[k] && from[k] <= high[k])
        };
        tree.features_where(meets).for_each(tell);
    }

    /// Features that may be no higher than `reach` [m] over a plane, by its normal and a point of it, at either end.
    pub(super) fn below(
        &self,
        tree: &SurfaceTree,
        [normal, place]: [&Vec3; 2],
        reach: f64,
    ) -> Vec<u32> {
        let rows = self
            .ends
            .each_ref()
            .map(|(frame, _, position)| (frame.tr_mul(normal), normal.dot(&(position - place))));
        let slack = SLACK * place.amax() + self.slack;
        let dips = |low: &Vec3, high: &Vec3| {
            let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
            let least =
                rows.iter().map(|(row, height)| height + row.dot(&middle) - row.abs().dot(&half));
            least.fold(f64::INFINITY, f64::min) <= reach + 4.0 * slack
        };
        tree.features_where(dips).collect()
    }
}

pub(super) fn corners(bounds: &Bounds) -> SweptBox {
    [(bounds.middle - bounds.half).into(), (bounds.middle + bounds.half).into()]
}

fn around(a: &SweptBox, b: &SweptBox) -> SweptBox {
    [std::array::from_fn(|k| a[0][k].min(b[0][k])), std::array::from_fn(|k| a[1][k].max(b[1][k]))]
}

fn around_all<const N: usize>(boxes: &[SweptBox], which: [u32; N]) -> SweptBox {
    let nothing = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    which.iter().fold(nothing, |all, &v| around(&all, &boxes[v as usize]))
}

pub(super) fn common(a: &SweptBox, b: &SweptBox) -> SweptBox {
    [std::array::from_fn(|k| a[0][k].max(b[0][k])), std::array::from_fn(|k| a[1][k].min(b[1][k]))]
}

#[inline]
pub(super) fn overlap(a: &SweptBox, b: &SweptBox) -> bool {
    (0..3).all(|k| a[0][k] <= b[1][k] && b[0][k] <= a[1][k])
}
