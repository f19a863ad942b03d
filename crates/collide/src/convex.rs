//! Contacts of any two convex solids: an axis from flat faces and from the closest points, then the
//! overlap of the features that meet along it.
//!
//! The closest points come from parry's GJK, and where the cores overlap from its EPA. Neither is
//! exact for curved surfaces or when cores barely touch, so every flat face of either solid is tried
//! as an axis too, and the better one is kept: of all axes the true one separates the most.

use parry3d_f64::{
    math::{Pose, Rot3, Vector},
    query::{
        epa::EPA,
        gjk::{self, CsoPoint, GJKResult, VoronoiSimplex},
    },
    shape::SupportMap,
};
use taut_core::{Mat3, Vec3};

use crate::{
    feature::Feature,
    name::{name, sort},
    nearest::direction,
    region::{Point, overlap},
    round::side_by_side,
    solid::{Core, RoundedSolid, Solid},
    transform::Transform,
};

/// Buffers that are used again.
#[derive(Default)]
pub(crate) struct ConvexBuffers {
    simplex: VoronoiSimplex,
    epa: EPA,
    pub(crate) a: Feature,
    pub(crate) b: Feature,
}

impl std::fmt::Debug for ConvexBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConvexBuffers").finish_non_exhaustive()
    }
}

/// Faces are preferred by this share of the smaller size where both cores are solid.
const FACE_BIAS: f64 = 2e-3;
/// Cores that are closer than this share of the size have no direction between them worth trusting.
const TOUCHING: f64 = 1e-7;
/// How many times as deep as the overlap of features the deepest points of solids must be to be added.
const DEEPER: f64 = 1.02;
/// Rounding, as a share of the size.
const ROUNDING: f64 = 1e-10;

/// Two convex solids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolidPair<'a> {
    /// Their geometry.
    pub(crate) solid: [&'a RoundedSolid; 2],
    /// Their places.
    pub(crate) place: [&'a Transform; 2],
}

/// Closest points of two cores, or where they overlap the points that are deepest in the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closest {
    a: Vec3,
    pub(crate) b: Vec3,
    /// Unit vector from B to A.
    pub(crate) normal: Vec3,
    /// `normal . (a - b)` [m].
    pub(crate) distance: f64,
}

/// A face of solid `side` as an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceAxis {
    side: usize,
    index: usize,
    /// Unit vector from B to A.
    pub(crate) normal: Vec3,
    /// Distance of the cores along it [m].
    pub(crate) separation: f64,
}

/// Which axis to use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SeparatingAxis {
    /// The normal of a face.
    Face(FaceAxis),
    /// The direction between the closest points.
    Closest(Closest),
}

struct Support<'a>(&'a Core);

impl SupportMap for Support<'_> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        glam(&self.0.support(&Vec3::new(direction.x, direction.y, direction.z)))
    }
}

fn glam(v: &Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn nalgebra(v: Vector) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn pose(place: &Transform) -> Pose {
    let columns = |m: &Mat3| [0, 1, 2].map(|i| glam(&m.column(i).into()));
    let [x, y, z] = columns(&place.rotation);
    let rotation = Rot3::from_mat3(&parry3d_f64::math::Mat3::from_cols(x, y, z));
    Pose::from_parts(glam(&place.position), rotation)
}

impl SolidPair<'_> {
    pub(crate) fn size(&self) -> f64 {
        self.solid[0].size.min(self.solid[1].size)
    }

    fn round(&self) -> f64 {
        self.solid[0].round + self.solid[1].round
    }

    /// Appends the points of contact closer than `reach` [m]; the normal, unless there are none.
    pub(crate) fn touch(
        &self,
        reach: f64,
        buffers: &mut ConvexBuffers,
        points: &mut Vec<Point>,
    ) -> Option<Vec3> {
        let closest = self.closest(reach, buffers)?;
        let face = self.best_face(closest.as_ref(), |_, _| true);
        let axis = self.choose(face, closest)?;
        let first = points.len();
        let normal = match &axis {
            SeparatingAxis::Face(face) => {
                self.on_face(face, buffers, points);
                if points.len() == first {
                    self.beside_face(face, closest.as_ref(), points)
                } else {
                    self.deepen(face, closest.as_ref(), first, points);
                    face.normal
                }
            }
            SeparatingAxis::Closest(closest) => {
                self.along(closest, points);
                closest.normal
            }
        };
        self.round_off(&normal, reach, first, points);
        (points.len() > first).then_some(normal)
    }

    /// The face axis where there is one that is as good as the closest points.
    pub(crate) fn choose(
        &self,
        face: Option<FaceAxis>,
        closest: Option<Closest>,
    ) -> Option<SeparatingAxis> {
        match (face, closest) {
            (Some(face), Some(closest)) => {
                let solid = self.solid.iter().all(|s| s.round == 0.0);
                let share = if solid { FACE_BIAS } else { ROUNDING };
                let bias = (share * self.size()).max(share * face.separation.abs());
                let better = closest.distance > face.separation + bias;
                Some(if better {
                    SeparatingAxis::Closest(closest)
                } else {
                    SeparatingAxis::Face(face)
                })
            }
            (Some(face), None) => Some(SeparatingAxis::Face(face)),
            (None, Some(closest)) => Some(SeparatingAxis::Closest(closest)),
            (None, None) => None,
        }
    }

    /// Closest points of the cores. The outer option is none where the solids are farther apart than
    /// `reach`, the inner one where there is no telling.
    pub(crate) fn closest(
        &self,
        reach: f64,
        buffers: &mut ConvexBuffers,
    ) -> Option<Option<Closest>> {
        let [place_a, place_b] = self.place;
        let (a, b) = (Support(&self.solid[0].core), Support(&self.solid[1].core));
        let relative = pose(&place_a.relative(place_b));
        let start = direction(&-nalgebra(relative.translation), Vec3::x()).0;
        let simplex = &mut buffers.simplex;
        simplex.reset(CsoPoint::from_shapes(&relative, &a, &b, glam(&start)));
        let reach = reach + self.round();
        let found = match gjk::closest_points(&relative, &a, &b, reach, true, simplex) {
            GJKResult::NoIntersection(_) => return None,
            GJKResult::ClosestPoints(on_a, on_b, _) => {
                let (normal, distance) = direction(&nalgebra(on_a - on_b), Vec3::zeros());
                (distance > TOUCHING * self.size())
                    .then(|| [nalgebra(on_a), nalgebra(on_b), normal])
            }
            GJKResult::Intersection | GJKResult::Proximity(_) => {
                let found = buffers.epa.closest_points(&relative, &a, &b, simplex);
                found.map(|(a, b, normal)| [nalgebra(a), nalgebra(b), -nalgebra(normal)])
            }
        };
        let closest = found.and_then(|[on_a, on_b, normal]| {
            let normal = place_a.turn(&normal.try_normalize(1e-9)?);
            let distance = self.separation(&normal);
            let finite = distance.is_finite() && normal.iter().all(|x| x.is_finite());
            let (a, b) = (place_a.point(&on_a), place_a.point(&on_b));
            finite.then_some(Closest { a, b, normal, distance })
        });
        Some(match closest {
            Some(closest) if closest.distance <= 0.0 && self.is_curved() => {
                Some(self.refine(closest, &relative, simplex))
            }
            None if self.is_curved() => Some(self.refine(self.guess(), &relative, simplex)),
            _ => closest,
        })
    }

    /// A start for cores that are known to touch and nothing else: the better of the directions in which
    /// either centre is nearest to the surface of the other core. Flat faces do not stand in for a curved
    /// surface, whose own normals they need not have.
    fn guess(&self) -> Closest {
        let [from_a, from_b] = [0, 1].map(|side| {
            let (place, other) = (self.place[side], self.place[1 - side]);
            let found = self.solid[side].core.nearest(&place.local(&other.position));
            let outward = place.turn(&found.normal);
            let normal = if side == 0 { -outward } else { outward };
            let (a, b) = (self.support(0, &-normal), self.support(1, &normal));
            Closest { a, b, normal, distance: normal.dot(&(a - b)) }
        });
        if from_b.distance > from_a.distance { from_b } else { from_a }
    }

    /// Better closest points of overlapping cores. EPA takes facets for curved surfaces and gives up
    /// early; drawn apart along its normal, the cores tell GJK a better one. With surfaces of
    /// curvature radius `r` that overlap by `d`, each round leaves `d / r` of the error.
    fn refine(&self, first: Closest, relative: &Pose, simplex: &mut VoronoiSimplex) -> Closest {
        const ROUNDS: usize = 6;
        /// How far the cores are drawn apart, as a share of the size.
        const APART: f64 = 0.02;
        let place = self.place[0];
        let (a, b) = (Support(&self.solid[0].core), Support(&self.solid[1].core));
        let mut best = first;
        for round in 0..ROUNDS {
            let shift = best.normal * (APART * self.size() - best.distance);
            let away = glam(&-place.unturn(&best.normal));
            let mut drawn = *relative;
            drawn.translation -= glam(&place.unturn(&shift));
            simplex.reset(CsoPoint::from_shapes(&drawn, &a, &b, away));
            let found = gjk::closest_points(&drawn, &a, &b, f64::MAX, true, simplex);
            let GJKResult::ClosestPoints(on_a, on_b, _) = found else { break };
            let (a, b) = (place.point(&nalgebra(on_a)), place.point(&nalgebra(on_b)));
            let (normal, _) = direction(&(a - b), best.normal);
            let distance = self.separation(&normal);
            // The first round is taken for its points even where the normal was exact.
            let gain = distance - best.distance;
            if round > 0 && gain <= ROUNDING * self.size() {
                break;
            }
            if gain < -TOUCHING * self.size() {
                break;
            }
            best = Closest { a, b: b + shift, normal, distance };
        }
        best
    }

    /// Distance of the cores along a normal from B to A [m].
    fn separation(&self, normal: &Vec3) -> f64 {
        normal.dot(&(self.support(0, &-normal) - self.support(1, normal)))
    }

    /// The face of either core along which they are farthest apart, of those that `admit` takes by
    /// their side and normal. Faces that look away from the closest points are not tried.
    pub(crate) fn best_face(
        &self,
        closest: Option<&Closest>,
        admit: impl Fn(usize, &Vec3) -> bool,
    ) -> Option<FaceAxis> {
        let mut best: Option<FaceAxis> = None;
        for side in 0..2 {
            let place = self.place[side];
            // The normal of A's faces points away from B, and that of contact to A.
            let sign = if side == 0 { -1.0 } else { 1.0 };
            self.solid[side].core.faces(|index, local, offset| {
                let outward = place.turn(&local);
                let normal = outward * sign;
                if closest.is_some_and(|c| c.distance > 0.0 && c.normal.dot(&normal) < 0.0) {
                    return;
                }
                let low = self.support(1 - side, &-outward);
                let separation = outward.dot(&(low - place.position)) - offset;
                // The first of equals, so that rounding does not decide.
                let bar = best.map_or(f64::NEG_INFINITY, |b| b.separation + 1e-9 * self.size());
                if separation > bar && admit(side, &normal) {
                    best = Some(FaceAxis { side, index, normal, separation });
                }
            });
        }
        best
    }

    /// Appends the overlap of a face and of what comes to meet it.
    pub(crate) fn on_face(
        &self,
        face: &FaceAxis,
        buffers: &mut ConvexBuffers,
        points: &mut Vec<Point>,
    ) {
        let FaceAxis { side, index, normal, .. } = face;
        let outward = if *side == 0 { -normal } else { *normal };
        let ConvexBuffers { a, b, .. } = buffers;
        let (reference, incident) =
            if *side == 0 { (&mut *a, &mut *b) } else { (&mut *b, &mut *a) };
        self.solid[*side].core.face(self.place[*side], *index, &outward, reference);
        let other = 1 - side;
        self.solid[other].core.meet(self.place[other], &-outward, incident);
        overlap(normal, self.size(), a, b, points);
    }

    /// Adds the deepest points where the overlap of features is much shallower than they: the feature that
    /// meets a face is one face of a hull or one line of a cylinder, beside which the body can reach deeper.
    fn deepen(
        &self,
        face: &FaceAxis,
        closest: Option<&Closest>,
        first: usize,
        points: &mut Vec<Point>,
    ) {
        let Some(closest) = closest.filter(|c| c.distance < 0.0 && self.round() == 0.0) else {
            return;
        };
        let least = points[first..].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        let (a, b) = (self.snapped(0, closest.a), self.snapped(1, closest.b));
        let gap = face.normal.dot(&(a - b));
        if gap < least * DEEPER - TOUCHING * self.size() {
            points.push(Point { a, b, gap, id: name(sort::CLOSEST, 0, 0) });
        }
    }

    /// What there is where a face and the incident feature pass each other: the closest points, or
    /// where nothing is known of those the deepest point and the surface nearest to where it would
    /// leave through the face.
    fn beside_face(
        &self,
        face: &FaceAxis,
        closest: Option<&Closest>,
        points: &mut Vec<Point>,
    ) -> Vec3 {
        if let Some(closest) = closest {
            self.along(closest, points);
            return closest.normal;
        }
        let (side, normal) = (1 - face.side, face.normal);
        let deepest = self.support(side, &if side == 0 { -normal } else { normal });
        let step = normal * face.separation;
        let left = if side == 0 { deepest - step } else { deepest + step };
        let left = self.on_surface(face.side, &left);
        let (a, b) = if side == 0 { (deepest, left) } else { (left, deepest) };
        points.push(Point { a, b, gap: normal.dot(&(a - b)), id: name(sort::CLOSEST, 1, 0) });
        normal
    }

    /// Appends the closest points, or the ends of what two parallel edges share.
    pub(crate) fn along(&self, closest: &Closest, points: &mut Vec<Point>) {
        let Closest { normal, .. } = closest;
        let [core_a, core_b] = self.solid.map(|s| &s.core);
        let edges = (core_a.edge(self.place[0], &-normal), core_b.edge(self.place[1], normal));
        if let (Some((a, id_a)), Some((b, id_b))) = edges
            && let Some(lines) = side_by_side(&a, &b, normal)
        {
            for ([a, b], end) in lines.into_iter().zip(0..) {
                let id = name(sort::LINE + end, id_a, id_b);
                points.push(Point { a, b, gap: normal.dot(&(a - b)), id });
            }
            return;
        }
        let (a, b) = (self.snapped(0, closest.a), self.snapped(1, closest.b));
        let id = name(sort::CLOSEST, 0, 0);
        points.push(Point { a, b, gap: normal.dot(&(a - b)), id });
    }

    /// A point near the surface of a core, moved onto it where either core is curved: then it is known
    /// to the accuracy of an iteration only.
    fn snapped(&self, side: usize, point: Vec3) -> Vec3 {
        if self.is_curved() { self.on_surface(side, &point) } else { point }
    }

    fn on_surface(&self, side: usize, point: &Vec3) -> Vec3 {
        let place = self.place[side];
        place.point(&self.solid[side].core.nearest(&place.local(point)).surface)
    }

    /// Whether a core has a surface that is not made of faces.
    fn is_curved(&self) -> bool {
        self.solid.iter().any(|solid| solid.core.is_curved())
    }

    /// The point of a core that is farthest along a direction.
    fn support(&self, side: usize, direction: &Vec3) -> Vec3 {
        let place = self.place[side];
        place.point(&self.solid[side].core.support(&place.unturn(direction)))
    }

    /// From cores to rounded surfaces, without the points beyond `reach`.
    pub(crate) fn round_off(
        &self,
        normal: &Vec3,
        reach: f64,
        first: usize,
        points: &mut Vec<Point>,
    ) {
        let [a, b] = self.solid;
        let mut kept = first;
        for i in first..points.len() {
            let mut point = points[i];
            if self.round() > 0.0 {
                point.a = a.surface(self.place[0], &point.a, &-normal);
                point.b = b.surface(self.place[1], &point.b, normal);
                point.gap = normal.dot(&(point.a - point.b));
            }
            if point.gap <= reach {
                points[kept] = point;
                kept += 1;
            }
        }
        points.truncate(kept);
    }
}
