//! Which features of a pair are nearest, and the nearest points as weights of the four vertices.

use taut_math::V3;

use super::careful::CarefulCross;

/// The features that the nearest points of a pair lie on; numbers count from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairKind {
    /// The point and a vertex of the triangle.
    PointVertex(u8),
    /// The point and the inside of an edge: 0 from `t0` to `t1`, 1 from `t1` to `t2`, 2 from `t2` to `t0`.
    PointEdge(u8),
    /// The point and the inside of the triangle.
    PointFace,
    /// An end of the first edge and one of the second.
    EndEnd(u8, u8),
    /// An end of the first edge and the inside of the second.
    EndLine(u8),
    /// The inside of the first edge and an end of the second.
    LineEnd(u8),
    /// The insides of both edges.
    LineLine,
}

impl PairKind {
    /// The name in files of pairs, which is that of the IPC Toolkit.
    pub fn name(self) -> &'static str {
        match self {
            Self::PointVertex(i) => ["P_T0", "P_T1", "P_T2"][usize::from(i)],
            Self::PointEdge(i) => ["P_E0", "P_E1", "P_E2"][usize::from(i)],
            Self::PointFace => "P_T",
            Self::EndEnd(i, j) => {
                [["EA0_EB0", "EA0_EB1"], ["EA1_EB0", "EA1_EB1"]][usize::from(i)][usize::from(j)]
            }
            Self::EndLine(i) => ["EA0_EB", "EA1_EB"][usize::from(i)],
            Self::LineEnd(j) => ["EA_EB0", "EA_EB1"][usize::from(j)],
            Self::LineLine => "EA_EB",
        }
    }

    /// How the weights change with the free parameters of the nearest points, `dγ/dβ`, and how many of those
    /// there are; rows beyond are zero.
    ///
    /// They sum to zero, and `E = Σ dγ_i/dβ x_i` is the direction in which the parameter moves the offset.
    pub(crate) fn slopes(self) -> ([[f64; 4]; 2], usize) {
        const O: [f64; 4] = [0.0; 4];
        const EDGES: [[f64; 4]; 3] =
            [[0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 1.0, -1.0], [0.0, -1.0, 0.0, 1.0]];
        const FIRST: [f64; 4] = [-1.0, 1.0, 0.0, 0.0];
        const SECOND: [f64; 4] = [0.0, 0.0, 1.0, -1.0];
        match self {
            Self::PointVertex(_) | Self::EndEnd(..) => ([O, O], 0),
            Self::PointEdge(i) => ([EDGES[usize::from(i)], O], 1),
            Self::PointFace => ([EDGES[0], [0.0, 1.0, 0.0, -1.0]], 2),
            Self::EndLine(_) => ([SECOND, O], 1),
            Self::LineEnd(_) => ([FIRST, O], 1),
            Self::LineLine => ([FIRST, SECOND], 2),
        }
    }
}

/// The nearest points of a pair of features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// The features that they lie on. Where several attain the least distance it is any of them.
    pub kind: PairKind,
    /// Square of the distance [m²].
    pub squared: f64,
    /// Weights `γ` of the four vertices, which sum to zero: one nearest point is given by those of the first
    /// feature, the other by those of the second, with signs turned.
    pub weights: [f64; 4],
    /// `r = Σ γ_i x_i` [m], from the second feature to the first.
    pub offset: V3<f64>,
}

/// Where the squared sine between two edges of a triangle is below this, their cross product has lost half
/// of its digits or more and is computed again with care.
const SLENDER: f64 = 1e-12;
/// A triangle whose squared sine is no more than this has no face: its thickness is that of rounding.
const FLAT: f64 = 1.0 / (1_u128 << 100) as f64;
/// Edges with a squared sine of no more than this have no kind of their own, after the IPC Toolkit.
const PARALLEL: f64 = 2.5e-16;
/// Where the squared distance is below this share of that between two vertices, half of the digits of the distance have
/// been lost, and its height over the plane is computed again with care.
const CLOSE: f64 = 1e-14;

/// Nearest points of a point and a triangle: `p, t0, t1, t2`.
///
/// Edges of no length count as their ends and a triangle of no area as its edges.
#[inline]
pub fn point_triangle(points: &[V3<f64>; 4]) -> Proximity {
    let [p, a, b, c] = *points;
    let (e1, e2, w) = (b - a, c - a, p - a);
    let scale = e1.dot(e1) * e2.dot(e2);
    let mut n = e1.cross(e2);
    let mut nn = n.dot(n);
    if nn < SLENDER * scale {
        n = CarefulCross::new(a, b, a, c).rounded();
        nn = n.dot(n);
    }
    // Only sides that the point sees are nearest. Distances cannot tell, where it is over a corner.
    let mut seen = [true; 3];
    if nn > FLAT * scale {
        let inverse = 1.0 / nn;
        let s = w.cross(e2).dot(n) * inverse;
        let t = e1.cross(w).dot(n) * inverse;
        seen = [t < 0.0, s + t > 1.0, s < 0.0];
        if seen == [false; 3] {
            let near = w - e1 * s - e2 * t;
            let mut height = n.dot(near);
            if height * height * inverse < CLOSE * w.dot(w) {
                height = CarefulCross::new(a, b, a, c).volume(a, p);
            }
            let weights = [1.0, -(1.0 - s - t), -s, -t];
            return across(PairKind::PointFace, weights, n, inverse, height);
        }
    }
    nearest_side(points, seen)
}

/// The nearest point on those sides of a triangle that a point sees, of which there is one at least.
#[inline(always)]
fn nearest_side(points: &[V3<f64>; 4], seen: [bool; 3]) -> Proximity {
    let [p, a, b, c] = *points;
    let sides = [(a, b), (b, c), (c, a)].map(|(from, to)| SegmentFoot::of(p, from, to));
    let squared = |i: usize| if seen[i] { sides[i].squared } else { f64::INFINITY };
    let mut edge = 0;
    for i in 1..3 {
        if squared(i) < squared(edge) {
            edge = i;
        }
    }
    // At a corner the other side that ends there may have its foot so little inside that the distances are equal.
    let corner = if sides[edge].share == 0.0 { [2, 0, 1] } else { [1, 2, 0] }[edge];
    if !sides[edge].is_inside() && seen[corner] && sides[corner].is_inside() {
        edge = corner;
    }
    let (from, to, foot) = (edge, [1, 2, 0][edge], sides[edge]);
    let mut weights = [1.0, 0.0, 0.0, 0.0];
    weights[1 + from] = -(1.0 - foot.share);
    weights[1 + to] = -foot.share;
    let kind = if foot.share == 0.0 {
        PairKind::PointVertex(from as u8)
    } else if foot.share == 1.0 {
        PairKind::PointVertex(to as u8)
    } else {
        PairKind::PointEdge(edge as u8)
    };
    Proximity { kind, squared: foot.squared, weights, offset: foot.offset }
}

/// Nearest points of two edges: `a0, a1, b0, b1`.
///
/// An edge of no length counts as its ends. Where two edges are parallel the kind is not unique, and is one
/// with an end.
#[inline]
pub fn edge_edge(points: &[V3<f64>; 4]) -> Proximity {
    let [a0, a1, b0, b1] = *points;
    let (u, v) = (a1 - a0, b1 - b0);
    let scale = u.dot(u) * v.dot(v);
    let n = u.cross(v);
    let nn = n.dot(n);
    if nn > PARALLEL * scale {
        return skew_edges(points, n, nn);
    }
    parallel_edges(points, nn > FLAT * scale)
}

#[inline(always)]
fn skew_edges(points: &[V3<f64>; 4], n: V3<f64>, nn: f64) -> Proximity {
    let [a0, a1, b0, b1] = *points;
    let (u, v, w) = (a1 - a0, b1 - b0, a0 - b0);
    // Vector products instead of the normal equations, which lose the square of the sine.
    let inverse = 1.0 / nn;
    let s = v.cross(w).dot(n) * inverse;
    let t = u.cross(w).dot(n) * inverse;
    // Only an end beyond which the lines are nearest is nearest itself.
    let seen = [s < 0.0, s > 1.0, t < 0.0, t > 1.0];
    if seen == [false; 4] {
        let near = w + u * s - v * t;
        let mut height = n.dot(near);
        if height * height * inverse < CLOSE * w.dot(w) {
            height = CarefulCross::new(a0, a1, b0, b1).volume(b0, a0);
        }
        let weights = [1.0 - s, s, -(1.0 - t), -t];
        return across(PairKind::LineLine, weights, n, inverse, height);
    }
    ends_of_edges(points, seen)
}

/// The offset along `n`, the vector product of two directions, of which `height` is `n·r`.
///
/// The height is best taken of what is left between the points, not of an offset between vertices: an error in the
/// direction of `n` then counts by its square.
#[inline(always)]
fn across(kind: PairKind, weights: [f64; 4], n: V3<f64>, inverse: f64, height: f64) -> Proximity {
    let offset = n * (height * inverse);
    Proximity { kind, squared: height * height * inverse, weights, offset }
}

/// The least of the distances between an end of an edge and the other edge, of those ends that count: `a0, a1, b0, b1`.
fn ends_of_edges(points: &[V3<f64>; 4], seen: [bool; 4]) -> Proximity {
    let [a0, a1, b0, b1] = *points;
    let feet = [
        SegmentFoot::of(a0, b0, b1),
        SegmentFoot::of(a1, b0, b1),
        SegmentFoot::of(b0, a0, a1),
        SegmentFoot::of(b1, a0, a1),
    ];
    let squared = |i: usize| if seen[i] { feet[i].squared } else { f64::INFINITY };
    let mut best = 0;
    for i in 1..4 {
        if squared(i) < squared(best) {
            best = i;
        }
    }
    // At two ends the other of the two may have its foot so little inside that the distances are equal.
    let other = 2 - best / 2 * 2 + usize::from(feet[best].share == 1.0);
    if !feet[best].is_inside() && seen[other] && feet[other].is_inside() {
        best = other;
    }
    let (foot, end) = (feet[best], best % 2);
    let at_end = !foot.is_inside();
    let (i, j) = (end as u8, u8::from(foot.share == 1.0));
    let mut weights = [0.0; 4];
    let (kind, offset) = if best < 2 {
        weights[end] = 1.0;
        (weights[2], weights[3]) = (-(1.0 - foot.share), -foot.share);
        (if at_end { PairKind::EndEnd(i, j) } else { PairKind::EndLine(i) }, foot.offset)
    } else {
        weights[2 + end] = -1.0;
        (weights[0], weights[1]) = (1.0 - foot.share, foot.share);
        (if at_end { PairKind::EndEnd(j, i) } else { PairKind::LineEnd(i) }, -foot.offset)
    };
    Proximity { kind, squared: foot.squared, weights, offset }
}

/// Edges too nearly parallel for a kind of their own. Where they cross they are nearer than their ends are, which
/// continuous collision must not miss, so that a point inside of both is tried; it keeps the kind of the ends.
#[cold]
fn parallel_edges(points: &[V3<f64>; 4], may_cross: bool) -> Proximity {
    let ends = ends_of_edges(points, [true; 4]);
    if !may_cross {
        return ends;
    }
    let [a0, a1, b0, b1] = *points;
    let (u, v) = (a1 - a0, b1 - b0);
    let n = u.cross(v);
    let s = (v.cross(a0 - b0).dot(n) / n.dot(n)).clamp(0.0, 1.0);
    // Whatever the error of `s`, feet in turn give points that belong together.
    let second = SegmentFoot::of(a0 + u * s, b0, b1);
    let first = SegmentFoot::of(b0 + v * second.share, a0, a1);
    if first.squared >= ends.squared || !first.is_inside() {
        return ends;
    }
    let (s, t) = (first.share, second.share);
    let kind = match ends.kind {
        PairKind::EndEnd(i, _) => PairKind::EndLine(i),
        kind => kind,
    };
    let weights = [1.0 - s, s, -(1.0 - t), -t];
    Proximity { kind, squared: first.squared, weights, offset: -first.offset }
}

/// The point of a segment that is nearest to a point.
#[derive(Clone, Copy)]
struct SegmentFoot {
    squared: f64,
    /// 0 at the start of the segment, 1 at its end, and exactly so only there.
    share: f64,
    /// From the foot to the point.
    offset: V3<f64>,
}

impl SegmentFoot {
    #[inline(always)]
    fn is_inside(&self) -> bool {
        self.share > 0.0 && self.share < 1.0
    }

    #[inline(always)]
    fn of(p: V3<f64>, a: V3<f64>, b: V3<f64>) -> Self {
        let (e, w) = (b - a, p - a);
        // Not a number for a segment of no length, which the comparisons take for its start.
        let share = w.dot(e) / e.dot(e);
        let (share, offset) = if share > 0.0 {
            if share < 1.0 { (share, w - e * share) } else { (1.0, p - b) }
        } else {
            (0.0, w)
        };
        Self { squared: offset.dot(offset), share, offset }
    }
}

/// Height of a point over a half-space whose surface is `n·x = place` [m]; `n` has unit length and points out.
#[inline]
pub fn height(point: V3<f64>, n: V3<f64>, place: f64) -> f64 {
    n.dot(point) - place
}
