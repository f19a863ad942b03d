//! Features of one body that come near a box on their way.

use taut_core::{Mat3, Vec3};

use super::AffineSweep;
use crate::{broad::Bounds, surface_pair::SearchedSurface, surface_tree::SurfaceTree};

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
    /// Those whose boxes, grown by `pad` [m], reach into a shared one. Surfaces of more than `many` triangles are asked
    /// by their trees, all others feature by feature, which gives the same.
    pub(super) fn new(
        own: &SearchedSurface,
        swept: &SweptTree<'_>,
        (pad, many): (f64, usize),
        shared: &SweptBox,
    ) -> Self {
        let mut out = Self::default();
        let mesh = &own.surface;
        let bounds = |v: u32| {
            let x = &mesh.vertices[v as usize];
            let (from, to) = (swept.sweep.point(0.0, x), swept.sweep.point(1.0, x));
            let low = from.inf(&to).add_scalar(-pad);
            [low.into(), from.sup(&to).add_scalar(pad).into()]
        };
        let mut keep = |list: usize, n: u32, corners: SweptBox| {
            if overlap(&corners, shared) {
                [&mut out.vertices, &mut out.edges, &mut out.triangles][list].push((n, corners));
            }
        };
        let Some(trees) = own.trees(many) else {
            let boxes: Vec<SweptBox> = (0..mesh.vertices.len() as u32).map(bounds).collect();
            (0..).zip(&boxes).for_each(|(n, corners)| keep(0, n, *corners));
            for (n, ends) in (0..).zip(&mesh.edges) {
                let [a, b] = ends.map(|v| &boxes[v as usize]);
                keep(1, n, around(a, b));
            }
            for (n, ends) in (0..).zip(&mesh.triangles) {
                let [a, b, c] = ends.map(|v| &boxes[v as usize]);
                keep(2, n, around(&around(a, b), c));
            }
            return out;
        };
        for (kind, tree) in trees.iter().enumerate() {
            let mut found = swept.reaching(tree, pad, shared);
            found.sort_unstable();
            for n in found {
                let corners = match kind {
                    0 => bounds(n),
                    1 => {
                        let [a, b] = mesh.edges[n as usize].map(bounds);
                        around(&a, &b)
                    }
                    _ => {
                        let [a, b, c] = mesh.triangles[n as usize].map(bounds);
                        around(&around(&a, &b), &c)
                    }
                };
                keep(kind, n, corners);
            }
        }
        out
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

    /// Features whose boxes, grown by `pad` [m], may reach into a box on the way.
    fn reaching(&self, tree: &SurfaceTree, pad: f64, [from, to]: &SweptBox) -> Vec<u32> {
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
        tree.features_where(meets).collect()
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

pub(super) fn common(a: &SweptBox, b: &SweptBox) -> SweptBox {
    [std::array::from_fn(|k| a[0][k].max(b[0][k])), std::array::from_fn(|k| a[1][k].min(b[1][k]))]
}

#[inline]
pub(super) fn overlap(a: &SweptBox, b: &SweptBox) -> bool {
    (0..3).all(|k| a[0][k] <= b[1][k] && b[0][k] <= a[1][k])
}
