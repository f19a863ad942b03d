//! Contacts of bodies with triangles of particles, such as cloth: corners of bodies over a triangle, and edges of
//! bodies over its edges. Its corners are particles, which find contacts by themselves.
//!
//! A triangle pushes from both sides. A body is on the side on which all of it is; where the triangle's plane cuts
//! it, it is on the side on which it was when the two last touched, or else on that of its middle.

mod rigid_mesh;

use taut_core::{Placement, Vec3};

use crate::{
    contact::{Contact, ContactList, NONE, Site},
    feature::Feature,
    name::{mix, name, sort},
    narrow::{PairSide, Rubbing, Rules},
    nearest::crossing,
    shape::Kind,
    solid::{self, RoundedSolid, Solid},
    transform::Transform,
};
use rigid_mesh::MetTriangle;

/// Points outside a triangle by that share of its size still count as over it.
const SLACK: f64 = 1e-9;
/// An edge of a body counts where it is the lowest there is, up to that share of the body's size.
const LOWEST: f64 = 1e-6;
/// An edge of a triangle counts where the triangles beside it rise above it by no more than that [sine]. They do where
/// a sheet lies over an edge of a body in folds.
const RISE: f64 = 0.25;
/// A solid that is through a triangle may be as far beside that point as it is deep, times that.
const ASLANT: f64 = 0.02;
/// An edge that is through another is the way out of the solid if it is at most as many times as long as the shortest.
const SHORTEST: f64 = 2.0;
/// A normal that leans farther from a triangle's than that has no side by it [cosine].
const UPRIGHT: f64 = 0.05;

/// A triangle of particles, with what is beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchingFace {
    /// Its particles, as the scene counts bodies and particles.
    pub(crate) corners: [u32; 3],
    /// Whether an edge, from corner `k` on, is this triangle's to look after: of two that share it, one does.
    owned: [bool; 3],
    /// The corner of the other triangle at that edge that is not on it, or [`NONE`].
    across: [u32; 3],
}

/// Triangles from the numbers of their corners.
pub(crate) fn faces(triangles: &[[u32; 3]]) -> Vec<TouchingFace> {
    let whole = |&corners: &[u32; 3]| TouchingFace { corners, owned: [true; 3], across: [NONE; 3] };
    let mut faces: Vec<TouchingFace> = triangles.iter().map(whole).collect();
    let edge = |t: usize, k: usize| {
        let [a, b] = [triangles[t][k], triangles[t][(k + 1) % 3]];
        [a.min(b), a.max(b)]
    };
    let mut edges: Vec<(usize, usize)> =
        (0..triangles.len()).flat_map(|t| (0..3).map(move |k| (t, k))).collect();
    edges.sort_unstable_by_key(|&(t, k)| (edge(t, k), t, k));
    for group in edges.chunk_by(|a, b| edge(a.0, a.1) == edge(b.0, b.1)) {
        for &(t, k) in &group[1..] {
            faces[t].owned[k] = false;
        }
        if let &[(t, k), (u, l)] = group {
            faces[t].across[k] = triangles[u][(l + 2) % 3];
            faces[u].across[l] = triangles[t][(k + 2) % 3];
        }
    }
    faces
}

/// A triangle as the partner of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceSide<'a> {
    /// Its number, after all bodies and particles.
    pub(crate) index: u32,
    pub(crate) face: &'a TouchingFace,
    /// Half its thickness at the corners [m].
    pub(crate) radii: [f64; 3],
    /// The side on which a body was when they last touched, see [`side_of`].
    pub(crate) kept: Option<bool>,
}

/// The side that a contact with a triangle is on: whether its front.
pub(crate) fn side_of(contact: &Contact) -> bool {
    contact.feature & 1 == 1
}

/// A triangle in the frame of a pair, turned so that its normal points to the body's side.
struct Turned {
    corners: [Vec3; 3],
    /// Towards the body.
    up: Vec3,
}

/// A point of contact, in the frame of the pair.
#[derive(Clone, Copy, Debug)]
struct FacePoint {
    /// Unit vector from the triangle to the body.
    up: Vec3,
    gap: f64,
    weights: [f64; 3],
    id: u64,
}

/// Buffers that are used again; nothing in them outlives a pair.
#[derive(Debug, Default)]
pub(crate) struct FaceScratch {
    feature: Feature,
    points: Vec<FacePoint>,
    /// Of a surface: its triangles near to that of particles, and their corners that were looked at.
    triangles: Vec<u32>,
    seen: Vec<Vec3>,
}

impl FaceScratch {
    /// Appends the contacts of a body, which is A, and a triangle whose corners are in `placements`.
    pub(crate) fn touch(
        &mut self,
        body: PairSide<'_>,
        side: &FaceSide<'_>,
        placements: &[Placement],
        rules: &Rules,
        surface: &Rubbing,
        list: &mut ContactList,
    ) {
        let place = Transform { position: Vec3::zeros(), ..*body.place };
        let seen = |node: u32| placements[node as usize].position - body.place.position;
        let corners = side.face.corners.map(seen);
        let moving = side.face.corners.map(|node| placements[node as usize].velocity);
        let speed = |at: &Vec3| body.motion.velocity + body.motion.omega.cross(at);
        let fastest = [0, 1, 2].map(|k| (speed(&corners[k]) - moving[k]).norm());
        let reach = rules.margin + fastest.into_iter().fold(0.0, f64::max) * rules.dt;
        self.points.clear();
        for (i, piece) in body.body.pieces.iter().enumerate() {
            let own = piece.placed(&place);
            let across = side.face.across.map(|node| (node != NONE).then(|| seen(node)));
            match &piece.kind {
                // The corners alone tell all of a half-space.
                Kind::Plane => {}
                Kind::Solid(solid) => {
                    let middle = place.point(&piece.middle);
                    self.meet(i, (solid, &own), &middle, side, &corners, &across, reach);
                }
                Kind::Mesh(mesh) => {
                    let facing = MetTriangle { side, corners: &corners, across: &across, reach };
                    let first = self.points.len();
                    self.over_mesh(mesh, &own, &facing);
                    for point in &mut self.points[first..] {
                        point.id = mix(i as u64 + 1, point.id) & !1;
                    }
                }
            }
        }
        for point in &self.points {
            let weigh = |of: &[Vec3; 3]| {
                of[0] * point.weights[0] + of[1] * point.weights[1] + of[2] * point.weights[2]
            };
            let on = weigh(&corners);
            let closing = point.up.dot(&(weigh(&moving) - speed(&on))).max(0.0);
            if point.gap > rules.margin + closing * rules.dt {
                continue;
            }
            let (corners, weights) = (side.face.corners, point.weights);
            let sites = [
                Site::Body { node: body.index, anchor: place.local(&on) },
                Site::Triangle { face: side.index, corners, weights },
            ];
            surface.add_point(list, sites, point.up, point.gap, point.id);
        }
    }

    /// Finds the points of one solid that are closer than `reach` [m]; `across` are the corners beside the edges.
    #[allow(clippy::too_many_arguments, reason = "a pair is two sides and what is between them")]
    fn meet(
        &mut self,
        piece: usize,
        (solid, own): (&RoundedSolid, &Transform),
        middle: &Vec3,
        side: &FaceSide<'_>,
        corners: &[Vec3; 3],
        across: &[Option<Vec3>; 3],
        reach: f64,
    ) {
        let normal = solid::normal(corners);
        let height = |p: &Vec3| normal.dot(&(p - corners[0]));
        let extreme = |along: &Vec3| height(&own.point(&solid.core.support(&own.unturn(along))));
        let (low, high) = (extreme(&-normal) - solid.round, extreme(&normal) + solid.round);
        let thick = side.radii.into_iter().fold(0.0, f64::max);
        if low > reach + thick || high < -reach - thick {
            return;
        }
        let front = match (low >= 0.0, high <= 0.0) {
            (true, _) => true,
            (_, true) => false,
            _ => side.kept.unwrap_or(height(middle) >= 0.0),
        };
        let up = if front { normal } else { -normal };
        let turned = Turned { corners: *corners, up };
        let first = self.points.len();
        self.over_face((solid, own), &turned, side, reach);
        self.over_edges((solid, own), &turned, side, across, reach);
        for point in &mut self.points[first..] {
            point.id = mix(piece as u64 + 1, point.id) & !1 | u64::from(front);
        }
    }

    /// Corners of a solid, or of where it is round, straight over the triangle.
    fn over_face(
        &mut self,
        (solid, own): (&RoundedSolid, &Transform),
        turned: &Turned,
        side: &FaceSide<'_>,
        reach: f64,
    ) {
        let Turned { corners, up } = turned;
        solid.core.meet(own, &-up, &mut self.feature);
        for (corner, &id) in self.feature.corners.iter().zip(&self.feature.ids) {
            let height = up.dot(&(corner - corners[0]));
            let under = corner - up * height;
            let Some(weights) = barycentric(corners, &under) else { continue };
            let thick: f64 = weights.iter().zip(side.radii).map(|(w, r)| w * r).sum();
            let gap = height - solid.round - thick;
            // A corner that has gone through has taken the solid with it; one beside a hanging triangle has not.
            let inside = || {
                solid.core.nearest(&own.local(&under)).distance
                    <= solid.round + thick - ASLANT * height
            };
            if gap <= reach && (height >= 0.0 || inside()) {
                let id = name(sort::CORNER_A, id, 0);
                self.points.push(FacePoint { up: *up, gap, weights, id });
            }
        }
    }

    /// Edges of a solid over those edges of the triangle that it looks after.
    fn over_edges(
        &mut self,
        (solid, own): (&RoundedSolid, &Transform),
        turned: &Turned,
        side: &FaceSide<'_>,
        across: &[Option<Vec3>; 3],
        reach: f64,
    ) {
        for k in (0..3).filter(|&k| side.face.owned[k]) {
            let [i, j] = [k, (k + 1) % 3];
            let ends = [turned.corners[i], turned.corners[j]];
            let beside = [Some(turned.corners[(k + 2) % 3]), across[k]];
            let thick = 0.5 * (side.radii[i] + side.radii[j]);
            let points = &mut self.points;
            solid.core.edges(|[p, q], id| {
                let edge = [own.point(&p), own.point(&q)];
                let Some((up, apart, t)) = cross(&edge, &ends, turned) else { return };
                let gap = apart - solid.round - thick;
                let lowest = solid.core.support(&own.unturn(&-up));
                let above = up.dot(&(edge[0] - own.point(&lowest)));
                let rises = |corner: &Vec3| {
                    let way = corner - ends[0];
                    up.dot(&way) > RISE * way.norm()
                };
                // The same, and it is there that the solid is left by the shortest way.
                let inside = || {
                    let at = ends[0] + (ends[1] - ends[0]) * t;
                    let depth = solid.round - solid.core.nearest(&own.local(&at)).distance;
                    -apart <= thick + SHORTEST * depth.max(0.0)
                };
                let valid = gap <= reach && (apart >= 0.0 || inside());
                if valid && above <= LOWEST * solid.size && !beside.iter().flatten().any(rises) {
                    let mut weights = [0.0; 3];
                    (weights[i], weights[j]) = (1.0 - t, t);
                    let id = name(sort::CROSSING, id, k as u32);
                    points.push(FacePoint { up, gap, weights, id });
                }
            });
        }
    }
}

/// Where an edge of a body and one of a triangle are nearest to each other, between their ends: the direction from
/// the triangle to the body, how far the body's is along it [m], and the share of the way along the triangle's.
fn cross(edge: &[Vec3; 2], ends: &[Vec3; 2], turned: &Turned) -> Option<(Vec3, f64, f64)> {
    let (u, v) = (edge[1] - edge[0], ends[1] - ends[0]);
    let (up, t) = if u.norm() == 0.0 {
        // The middle of a sphere.
        let t = v.dot(&(edge[0] - ends[0])) / v.norm_squared();
        let up = (edge[0] - ends[0] - v * t).try_normalize(0.0)?;
        (up, (t > 0.0 && t < 1.0).then_some(t)?)
    } else {
        let (normal, [_, t]) = crossing(edge, ends)?;
        (normal, t)
    };
    let apart = up.dot(&(edge[0] - ends[0]));
    let upright = up.dot(&turned.up);
    let turn_over = if upright.abs() > UPRIGHT { upright < 0.0 } else { apart < 0.0 };
    Some(if turn_over { (-up, -apart, t) } else { (up, apart, t) })
}

/// Weights of the corners of a triangle that give a point in its plane, if it is inside.
pub(crate) fn barycentric(corners: &[Vec3; 3], point: &Vec3) -> Option<[f64; 3]> {
    let [a, b, c] = corners;
    let normal = (b - a).cross(&(c - a));
    let square = normal.norm_squared();
    let share = |p: &Vec3, q: &Vec3| (q - p).cross(&(point - p)).dot(&normal) / square;
    let weights = [share(b, c), share(c, a), share(a, b)];
    if !weights.iter().all(|&weight| weight >= -SLACK) {
        return None;
    }
    let sum: f64 = weights.iter().map(|weight| weight.max(0.0)).sum();
    Some(weights.map(|weight| weight.max(0.0) / sum))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nearest::segments;

    #[test]
    fn an_edge_has_one_keeper_and_knows_both_sides() {
        let found = faces(&[[0, 1, 2], [2, 1, 3], [7, 8, 9]]);
        assert_eq!(found[0].owned, [true; 3]);
        assert_eq!(found[0].across, [NONE, 3, NONE]);
        assert_eq!(found[1].owned, [false, true, true]);
        assert_eq!(found[1].across, [0, NONE, NONE]);
        assert_eq!(found[2].across, [NONE; 3]);
    }

    fn points() -> impl Strategy<Value = [Vec3; 4]> {
        let point = || [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(Vec3::from);
        [point(), point(), point(), point()]
    }

    proptest! {
        /// The distance along the normal is that of the two edges, however far they are from each other.
        #[test]
        fn edges_cross_where_they_are_closest(p in points()) {
            let (edge, ends) = ([p[0], p[1]], [p[2], p[3]]);
            let turned = Turned { corners: [p[2], p[3], Vec3::zeros()], up: Vec3::z() };
            if let Some((_, apart, _)) = cross(&edge, &ends, &turned) {
                let [on, at] = segments(&edge, &ends);
                prop_assert!((apart.abs() - (on - at).norm()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn weights_give_the_point_back() {
        let corners = [Vec3::zeros(), Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 3.0, 1.0)];
        let given = [0.2, 0.5, 0.3];
        let point = corners[0] * given[0] + corners[1] * given[1] + corners[2] * given[2];
        let found = barycentric(&corners, &point).expect("inside");
        assert!(found.iter().zip(given).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(barycentric(&corners, &Vec3::new(1.5, 3.0, 1.0)).is_none());
    }
}
