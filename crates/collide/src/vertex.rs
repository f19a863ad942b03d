//! Contacts of particles with bodies: the point of each surface that is nearest to a particle, and on which
//! side of it the particle is.
//!
//! A particle is a ball that does not turn. Its middle may be inside: convex bodies and half-spaces push it
//! out by the shortest way however deep it is, surfaces of triangles as far as it may have come in a step.

use taut_core::{Placement, Vec3};

use crate::{
    contact::{ContactList, Site},
    mesh::{Mesh, MeshFoot},
    name::{mix, name, sort},
    narrow::{PairSide, Rubbing, Rules},
    round,
    shape::{BodyPiece, Kind},
    solid::Solid,
    transform::Transform,
};

/// Feet on pieces closer than this share of the size to another piece are on the seam between them.
const SEAM: f64 = 1e-6;

/// A particle that touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchingBall<'a> {
    /// Its number among bodies and particles.
    pub(crate) node: u32,
    pub(crate) motion: &'a Placement,
    /// [m]
    pub(crate) radius: f64,
}

/// Where a particle is nearest to a piece of a body, seen from the body's position.
#[derive(Clone, Copy, Debug)]
struct Foot {
    /// Index of the piece.
    piece: usize,
    /// Unit vector from the surface to the particle, outward.
    up: Vec3,
    /// On the surface [m].
    on: Vec3,
    /// Distance between the surfaces [m].
    gap: f64,
    id: u64,
}

/// Buffers that are used again; nothing in them outlives a pair.
#[derive(Debug, Default)]
pub(crate) struct FootScratch {
    feet: Vec<Foot>,
    triangles: Vec<u32>,
    on_mesh: Vec<MeshFoot>,
}

impl FootScratch {
    /// Appends the contacts of a body, which is A, and a particle. They are found with world axes and the
    /// body's position as origin, as those of two bodies.
    pub(crate) fn touch(
        &mut self,
        body: PairSide<'_>,
        ball: &TouchingBall<'_>,
        rules: &Rules,
        surface: &Rubbing,
        list: &mut ContactList,
    ) {
        let place = Transform { position: Vec3::zeros(), ..*body.place };
        let centre = ball.motion.position - body.place.position;
        let closing =
            |at: &Vec3| body.motion.velocity + body.motion.omega.cross(at) - ball.motion.velocity;
        let reach = rules.margin + closing(&centre).norm() * rules.dt;
        self.feet.clear();
        for (i, piece) in body.body.pieces.iter().enumerate() {
            let near = piece.reach + ball.radius + reach;
            if (place.point(&piece.middle) - centre).norm_squared() <= near * near {
                self.stand_on(i, piece, &piece.placed(&place), &centre, ball.radius, reach);
            }
        }
        if body.body.pieces.len() > 1 {
            for foot in &mut self.feet {
                if let Some(way) = way_out(foot, &body, &place, &centre, ball.radius) {
                    *foot = way;
                }
            }
        }
        for (i, foot) in self.feet.iter().enumerate() {
            let approach = foot.up.dot(&closing(&centre)).max(0.0);
            let near = foot.gap <= rules.margin + approach * rules.dt;
            if !near || self.is_covered(i, &body, &place) {
                continue;
            }
            let anchor = place.local(&centre);
            let sites = [Site::Body { node: body.index, anchor }, Site::Vertex { node: ball.node }];
            surface.add_point(list, sites, -foot.up, foot.gap, foot.id);
        }
    }

    /// Finds the feet of a ball on one piece, up to `reach` [m] away.
    fn stand_on(
        &mut self,
        piece: usize,
        part: &BodyPiece,
        own: &Transform,
        centre: &Vec3,
        radius: f64,
        reach: f64,
    ) {
        let id = name(sort::CLOSEST, piece as u32, 0);
        match &part.kind {
            Kind::Plane => {
                let up = own.axis(2);
                let height = up.dot(&(centre - own.position));
                let (on, gap) = (centre - up * height, height - radius);
                self.feet.push(Foot { piece, up, on, gap, id });
            }
            Kind::Solid(solid) => {
                let (up, point) = round::sphere(centre, radius, solid, own);
                let foot = Foot { piece, up, on: point.b, gap: point.gap, id };
                self.feet.extend((point.gap <= reach).then_some(foot));
            }
            Kind::Mesh(mesh) => {
                let local = own.local(centre);
                mesh.feet(&local, radius + reach, &mut self.triangles, &mut self.on_mesh);
                self.feet.extend(self.on_mesh.iter().map(|foot| Foot {
                    piece,
                    up: own.turn(&foot.up),
                    on: own.point(&foot.on),
                    gap: foot.distance - radius,
                    id: mix(u64::from(foot.triangle), id),
                }));
            }
        }
    }

    /// Whether a foot is inside another solid piece that the ball is at least as close to: pieces side by side
    /// make one surface, and the ball must not catch on their seam.
    fn is_covered(&self, i: usize, body: &PairSide<'_>, place: &Transform) -> bool {
        let foot = &self.feet[i];
        let covers = |(j, other): (usize, &Foot)| {
            if other.piece == foot.piece || (other.gap, j) >= (foot.gap, i) {
                return false;
            }
            let piece = &body.body.pieces[other.piece];
            let Kind::Solid(solid) = &piece.kind else { return false };
            let inside = solid.core.nearest(&piece.placed(place).local(&foot.on));
            inside.distance <= solid.round + SEAM * solid.size
        };
        self.feet.len() > 1 && self.feet.iter().enumerate().any(covers)
    }
}

/// The shortest way out of a piece by a face that no other piece hides, for a ball whose middle is inside.
fn way_out(
    foot: &Foot,
    body: &PairSide<'_>,
    place: &Transform,
    centre: &Vec3,
    radius: f64,
) -> Option<Foot> {
    let pieces = &body.body.pieces;
    let Kind::Solid(solid) = &pieces[foot.piece].kind else { return None };
    if foot.gap + radius > 0.0 {
        return None;
    }
    let own = pieces[foot.piece].placed(place);
    let local = own.local(centre);
    let step = SEAM * solid.size;
    let mut best: Option<Foot> = None;
    solid.core.faces(|_, normal, offset| {
        let depth = offset - normal.dot(&local);
        if best.is_some_and(|best| -depth <= best.gap + radius) {
            return;
        }
        let (up, on) = (own.turn(&normal), own.point(&(local + normal * depth)));
        let beyond = on + up * step;
        let hidden = pieces.iter().enumerate().any(|(i, piece)| {
            let Kind::Solid(other) = &piece.kind else { return false };
            let found = other.core.nearest(&piece.placed(place).local(&beyond));
            i != foot.piece && found.distance < other.round
        });
        if !hidden {
            best = Some(Foot { up, on, gap: -depth - radius, ..*foot });
        }
    });
    best
}

impl Mesh {
    /// Finds where a local point is nearest to the surface, up to `reach` [m] from it: in front of it, or
    /// behind it where the surface is the nearest thing that faces that way.
    fn feet(&self, point: &Vec3, reach: f64, triangles: &mut Vec<u32>, feet: &mut Vec<MeshFoot>) {
        feet.clear();
        self.around(point, reach, triangles);
        feet.extend(triangles.iter().filter_map(|&t| self.foot(t, point, reach)));
        if feet.is_empty() {
            // Behind an edge that is bent inwards no triangle is straight above.
            let behind = triangles.iter().filter_map(|&t| self.edge_above(t, point, reach));
            let nearest = behind.max_by(|a, b| a.distance.total_cmp(&b.distance));
            feet.extend(nearest);
        }
        let opposed = |foot: &MeshFoot, other: &MeshFoot| {
            other.distance.abs() < foot.distance.abs() && other.up.dot(&foot.up) < 0.0
        };
        let mut kept = 0;
        for i in 0..feet.len() {
            let foot = feet[i];
            // What is nearer from the other side hides the back of a thin thing; triangles in one plane are one.
            let hidden = foot.distance < 0.0 && feet[i + 1..].iter().any(|o| opposed(&foot, o));
            let before = &feet[..kept];
            let hidden = hidden || foot.distance < 0.0 && before.iter().any(|o| opposed(&foot, o));
            if !hidden && !before.iter().any(|o| o.up.dot(&foot.up) > ALIKE) {
                feet[kept] = foot;
                kept += 1;
            }
        }
        feet.truncate(kept);
    }
}

/// Feet whose normals have at least this cosine are one.
const ALIKE: f64 = 1.0 - 5e-7;
