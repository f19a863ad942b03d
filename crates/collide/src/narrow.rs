//! From a pair of bodies that are close to its contacts.

use taut_core::{Placement, Vec3};

use crate::{
    boxes,
    contact::{Contact, ContactList, Manifold, NONE, Site},
    convex, demo3d,
    mesh::Mesh,
    name::mix,
    plane,
    reduce::reduce,
    region::Point,
    round,
    shape::{BodyGeometry, BodyPiece, Kind},
    solid::{Core, Cuboid, RoundedSolid, Segment},
    transform::Transform,
};

/// Patches whose normals differ by less are one [1 - cosine]; about a milliradian.
const SAME_NORMAL: f64 = 5e-7;
/// Points of different pieces closer than this share of the size are one.
const SAME_POINT: f64 = 1e-4;

/// What holds for all pairs of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Bodies closer than this are in contact [m].
    pub(crate) margin: f64,
    /// At most so many points per patch.
    pub(crate) points_max: usize,
    /// How far ahead to look [s].
    pub(crate) dt: f64,
    /// Whether boxes are treated as in the 3D demo.
    pub(crate) demo: bool,
}

/// One body of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairSide<'a> {
    pub(crate) index: u32,
    pub(crate) body: &'a BodyGeometry,
    pub(crate) place: &'a Transform,
    pub(crate) motion: &'a Placement,
}

/// What a pair's surfaces are like, as a manifold has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rubbing {
    pub(crate) friction: [f64; 2],
    pub(crate) restitution: f64,
}

impl Rubbing {
    /// Appends a contact between two sites that is a manifold by itself.
    pub(crate) fn add_point(
        &self,
        list: &mut ContactList,
        sites: [Site; 2],
        normal: Vec3,
        gap: f64,
        feature: u64,
    ) {
        let first = list.contacts.len() as u32;
        list.contacts.push(Contact { sites, normal, gap, feature, previous: NONE });
        list.manifolds.push(Manifold {
            owners: [sites[0].node(), sites[1].node()],
            normal,
            contacts: first..first + 1,
            friction: self.friction,
            restitution: self.restitution,
        });
    }
}

/// Consecutive points with one normal.
#[derive(Clone, Debug)]
struct PointRun {
    normal: Vec3,
    end: usize,
    /// The first patch with this normal.
    first: usize,
}

/// Buffers that are used again; nothing in them outlives a pair.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    points: Vec<Point>,
    patches: Vec<PointRun>,
    joined: Vec<PointRun>,
    merged: Vec<Point>,
    places: [Vec<Transform>; 2],
    triangles: Vec<u32>,
    buffers: convex::ConvexBuffers,
}

impl Scratch {
    /// Appends the contacts of a pair. The pair is treated with world axes and A's position as origin,
    /// so that precision does not depend on where it is.
    pub(crate) fn touch(
        &mut self,
        a: PairSide<'_>,
        b: PairSide<'_>,
        rules: &Rules,
        surface: &Rubbing,
        list: &mut ContactList,
    ) {
        self.points.clear();
        self.patches.clear();
        // Written once, where they stay: copies would wait for what was written in smaller pieces.
        let mut places = [*a.place, *b.place];
        places[1].position = b.place.position - a.place.position;
        places[0].position = Vec3::zeros();
        let reach = rules.margin + approach(&a, &b) * rules.dt;
        if rules.demo
            && let (Some(half_a), Some(half_b)) = (only_box(a.body), only_box(b.body))
        {
            let pair = boxes::BoxPair { half: [half_a, half_b], place: places.each_ref() };
            if let Some(normal) = demo3d::touch(&pair, &mut self.points) {
                self.close(normal);
                self.emit(&a, &b, &places, usize::MAX, surface, list);
            }
            return;
        }
        self.pieces(&a, &b, &places, reach);
        self.drop_distant(&a, &b, &places[1], rules);
        self.merge(a.body.size.min(b.body.size));
        self.emit(&a, &b, &places, rules.points_max, surface, list);
    }

    /// Ends a patch.
    fn close(&mut self, normal: Vec3) {
        let first = self.patches.len();
        self.patches.push(PointRun { normal, end: self.points.len(), first });
    }

    /// Contacts of all pieces of either body.
    fn pieces(&mut self, a: &PairSide<'_>, b: &PairSide<'_>, places: &[Transform; 2], reach: f64) {
        if let ([piece_a], [piece_b]) = (&a.body.pieces[..], &b.body.pieces[..]) {
            let [mut own_a, mut own_b] = [None; 2];
            let place_a = piece_a.placed_in(&places[0], &mut own_a);
            let place_b = piece_b.placed_in(&places[1], &mut own_b);
            self.piece((piece_a, place_a), (piece_b, place_b), 0, reach);
            return;
        }
        for (side, body) in [a.body, b.body].into_iter().enumerate() {
            self.places[side].clear();
            let placed = body.pieces.iter().map(|piece| piece.placed(&places[side]));
            self.places[side].extend(placed);
        }
        for (i, piece_a) in a.body.pieces.iter().enumerate() {
            let middle_a = places[0].point(&piece_a.middle);
            for (j, piece_b) in b.body.pieces.iter().enumerate() {
                let middle_b = places[1].point(&piece_b.middle);
                let near = piece_a.reach + piece_b.reach + reach;
                if (middle_a - middle_b).norm_squared() > near * near {
                    continue;
                }
                let (place_a, place_b) = (self.places[0][i], self.places[1][j]);
                let salt = mix(i as u64 + 1, j as u64 + 1);
                self.piece((piece_a, &place_a), (piece_b, &place_b), salt, reach);
            }
        }
    }

    /// Contacts of a piece of A with one of B. `salt` tells the pieces apart in the names of features.
    fn piece(
        &mut self,
        a: (&BodyPiece, &Transform),
        b: (&BodyPiece, &Transform),
        salt: u64,
        reach: f64,
    ) {
        let first = self.points.len();
        match (&a.0.kind, &b.0.kind) {
            (Kind::Solid(solid_a), Kind::Solid(solid_b)) => {
                if let Some(normal) = self.solids((solid_a, a.1), (solid_b, b.1), reach) {
                    self.close(normal);
                }
            }
            (Kind::Solid(solid), Kind::Plane) => {
                let up = plane::over(solid, a.1, b.1, reach, &mut self.buffers.a, &mut self.points);
                self.close(up);
            }
            (Kind::Plane, Kind::Solid(solid)) => {
                let up = plane::over(solid, b.1, a.1, reach, &mut self.buffers.a, &mut self.points);
                flip(&mut self.points[first..]);
                self.close(-up);
            }
            (Kind::Solid(solid), Kind::Mesh(mesh)) => {
                self.mesh(mesh, (solid, a.1), b.1, reach, false);
            }
            (Kind::Mesh(mesh), Kind::Solid(solid)) => {
                self.mesh(mesh, (solid, b.1), a.1, reach, true);
            }
            (Kind::Plane | Kind::Mesh(_), Kind::Plane | Kind::Mesh(_)) => {}
        }
        if salt != 0 {
            self.points[first..].iter_mut().for_each(|p| p.id = mix(salt, p.id));
        }
    }

    /// Contacts of two solids, by the most direct way there is.
    fn solids(
        &mut self,
        (a, place_a): (&RoundedSolid, &Transform),
        (b, place_b): (&RoundedSolid, &Transform),
        reach: f64,
    ) -> Option<Vec3> {
        match (&a.core, &b.core) {
            (Core::Cuboid(Cuboid { half: half_a }), Core::Cuboid(Cuboid { half: half_b })) => {
                let pair = boxes::BoxPair { half: [half_a, half_b], place: [place_a, place_b] };
                let best = pair.separate(reach)?;
                let first = self.points.len();
                pair.touch(&best, reach, &mut self.points);
                if self.points.len() > first {
                    return Some(best.normal);
                }
            }
            (Core::Centre(_), _) => {
                let (normal, point) = round::sphere(&place_a.position, a.round, b, place_b);
                self.points.extend((point.gap <= reach).then_some(point));
                return Some(normal);
            }
            (_, Core::Centre(_)) => {
                let (normal, mut point) = round::sphere(&place_b.position, b.round, a, place_a);
                flip(std::slice::from_mut(&mut point));
                self.points.extend((point.gap <= reach).then_some(point));
                return Some(-normal);
            }
            (Core::Segment(Segment { half: half_a }), Core::Segment(Segment { half: half_b })) => {
                let half = [*half_a, *half_b];
                let (a, b) = ((a, place_a), (b, place_b));
                return Some(round::capsules(a, b, half, &mut self.points));
            }
            _ => {}
        }
        let pair = convex::SolidPair { solid: [a, b], place: [place_a, place_b] };
        pair.touch(reach, &mut self.buffers, &mut self.points)
    }

    /// Contacts of a solid with all triangles that are near.
    fn mesh(
        &mut self,
        mesh: &Mesh,
        (solid, place): (&RoundedSolid, &Transform),
        own: &Transform,
        reach: f64,
        flipped: bool,
    ) {
        mesh.near(solid, place, own, reach, &mut self.triangles);
        for k in 0..self.triangles.len() {
            let (index, first) = (self.triangles[k], self.points.len());
            let found =
                mesh.touch(index, (solid, place), own, reach, &mut self.buffers, &mut self.points);
            let Some(normal) = found else { continue };
            let points = &mut self.points[first..];
            points.iter_mut().for_each(|p| p.id = mix(u64::from(index), p.id));
            if flipped {
                flip(points);
            }
            self.close(if flipped { -normal } else { normal });
        }
    }

    /// Drops the points that the step cannot bring into touch: those farther than the margin and what
    /// they approach along the normal.
    fn drop_distant(
        &mut self,
        a: &PairSide<'_>,
        b: &PairSide<'_>,
        place_b: &Transform,
        rules: &Rules,
    ) {
        let (mut from, mut kept) = (0, 0);
        for patch in &mut self.patches {
            for i in from..patch.end {
                let point = self.points[i];
                let speed_a = a.motion.velocity + a.motion.omega.cross(&point.a);
                let arm_b = point.b - place_b.position;
                let speed_b = b.motion.velocity + b.motion.omega.cross(&arm_b);
                let closing = patch.normal.dot(&(speed_b - speed_a)).max(0.0);
                if point.gap <= rules.margin + closing * rules.dt {
                    self.points[kept] = point;
                    kept += 1;
                }
            }
            from = patch.end;
            patch.end = kept;
        }
        self.points.truncate(kept);
    }

    /// Joins patches with equal normals into the first of them, which pieces and triangles that form
    /// one surface give.
    fn merge(&mut self, size: f64) {
        if self.patches.len() < 2 {
            return;
        }
        for i in 1..self.patches.len() {
            let normal = self.patches[i].normal;
            let alike = |&j: &usize| {
                let patch = &self.patches[j];
                patch.first == j && 1.0 - patch.normal.dot(&normal) < SAME_NORMAL
            };
            self.patches[i].first = (0..i).find(alike).unwrap_or(i);
        }
        self.merged.clear();
        self.joined.clear();
        let (patches, points) = (&self.patches, &self.points);
        for (i, &PointRun { normal, .. }) in
            patches.iter().enumerate().filter(|(i, p)| p.first == *i)
        {
            let begin = self.merged.len();
            for j in (i..patches.len()).filter(|&j| patches[j].first == i) {
                let start = if j == 0 { 0 } else { patches[j - 1].end };
                for point in &points[start..patches[j].end] {
                    let apart = |p: &Point| (p.a - point.a).norm() > SAME_POINT * size;
                    if self.merged[begin..].iter().all(apart) {
                        let gap = normal.dot(&(point.a - point.b));
                        self.merged.push(Point { gap, ..*point });
                    }
                }
            }
            let first = self.joined.len();
            self.joined.push(PointRun { normal, end: self.merged.len(), first });
        }
        std::mem::swap(&mut self.points, &mut self.merged);
        std::mem::swap(&mut self.patches, &mut self.joined);
    }

    /// Reduces each patch and appends it to the list.
    fn emit(
        &mut self,
        a: &PairSide<'_>,
        b: &PairSide<'_>,
        places: &[Transform; 2],
        points_max: usize,
        surface: &Rubbing,
        list: &mut ContactList,
    ) {
        let size = a.body.size.min(b.body.size);
        // Fixed to A, and along no edge of anything usual.
        let forward = places[0].turn(&Vec3::new(0.62, 0.55, 0.56));
        let mut start = 0;
        for patch in &self.patches {
            let normal = patch.normal;
            let points = &mut self.points[start..patch.end];
            let count = reduce(points, &normal, &forward, size, points_max);
            start = patch.end;
            if count == 0 {
                continue;
            }
            let first = list.contacts.len() as u32;
            list.contacts.extend(points[..count].iter().map(|point| Contact {
                sites: [
                    Site::Body { node: a.index, anchor: places[0].local(&point.a) },
                    Site::Body { node: b.index, anchor: places[1].local(&point.b) },
                ],
                normal,
                gap: point.gap,
                feature: point.id,
                previous: NONE,
            }));
            list.manifolds.push(Manifold {
                owners: [a.index, b.index],
                normal,
                contacts: first..first + count as u32,
                friction: surface.friction,
                restitution: surface.restitution,
            });
        }
    }
}

/// By how much two bodies can approach each other in a second, at most [m/s].
fn approach(a: &PairSide<'_>, b: &PairSide<'_>) -> f64 {
    let (speed_a, speed_b) = (a.motion.omega.norm(), b.motion.omega.norm());
    let apart = || (a.place.position - b.place.position).norm();
    // No point of an infinite body is of interest beyond the far side of the other.
    let turn = |speed: f64, own: f64, other: f64| {
        let arm = if own.is_finite() { own } else { apart() + other };
        if speed > 0.0 { speed * arm } else { 0.0 }
    };
    (a.motion.velocity - b.motion.velocity).norm()
        + turn(speed_a, a.body.reach, b.body.reach)
        + turn(speed_b, b.body.reach, a.body.reach)
}

/// Half extents of a body that is one box.
fn only_box(body: &BodyGeometry) -> Option<&Vec3> {
    match &body.pieces[..] {
        [
            BodyPiece {
                kind: Kind::Solid(RoundedSolid { core: Core::Cuboid(Cuboid { half }), .. }),
                at_origin: true,
                ..
            },
        ] => Some(half),
        _ => None,
    }
}

/// Takes A for B.
fn flip(points: &mut [Point]) {
    for point in points {
        std::mem::swap(&mut point.a, &mut point.b);
    }
}
