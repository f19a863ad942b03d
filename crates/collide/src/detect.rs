//! From placements to contacts: broad phase, filters, narrow phase, matching.

use std::time::Instant;

use rayon::prelude::*;
use taut_core::{
    ContactForce, Placement, Scene, Stage, StageTime, Vec3,
    scene::{Contacts, Endpoint},
};

use crate::{
    broad::{Bounds, BroadPhase, HalfSpace},
    contact::{Contact, ContactList, Manifold},
    face::{FaceScratch, FaceSide, TouchingFace, faces, side_of},
    matching::{self, MetContact},
    narrow::{PairSide, Rules, Scratch},
    shape::BodyGeometry,
    soft::{SoftContacts, SoftQuery},
    traits::{Traits, surface},
    transform::Transform,
    vertex::{FootScratch, TouchingBall},
};

/// How contacts between boxes are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As for every backend.
    #[default]
    Common,
    /// As in the official 3D demo of AVBD: A is the later body, up to eight points, none before the
    /// bodies touch, and none between bodies that a spring connects. For comparison with that program
    /// only.
    Demo3d,
}

/// Boxes are larger by this, for bodies that touch exactly [m, and share of the distance from the origin].
const ROUNDING: f64 = 1e-9;
/// Pairs that one thread treats at a time.
const CHUNK: usize = 128;

/// Finds the contacts of one scene's bodies, of its particles with bodies, and of particles with triangles of others.
#[derive(Clone, Debug)]
pub struct ContactSet {
    contacts: Contacts,
    style: Style,
    bodies: Vec<BodyGeometry>,
    /// Radius of each particle that touches [m]; empty where none does.
    radii: Vec<Option<f64>>,
    /// Triangles whose corners touch.
    faces: Vec<TouchingFace>,
    /// Of bodies, then of the particles where any touches, then of triangles.
    traits: Vec<Traits>,
    /// Sorted pairs that a joint or, in the demo's style, a spring keeps from touching, with the joint.
    joined: Vec<([u32; 2], Option<u32>)>,
    /// Where bodies were in the last query.
    placements: Vec<Placement>,
    places: Vec<Transform>,
    bounds: Vec<Bounds>,
    planes: Vec<HalfSpace>,
    broad: BroadPhase,
    pairs: Vec<[u32; 2]>,
    chunks: Vec<Chunk>,
    list: ContactList,
    before: ContactList,
    taken: Vec<bool>,
    /// Time spent since it was last asked for [s]. No answer depends on it.
    spent_s: f64,
    /// Contacts between particles and triangles of particles.
    soft: Option<SoftContacts>,
}

/// Buffers of one thread's share.
#[derive(Debug, Default)]
struct Chunk {
    scratch: Scratch,
    feet: FootScratch,
    over: FaceScratch,
    list: ContactList,
}

/// A copy starts with empty buffers: nothing in them outlives a query.
impl Clone for Chunk {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ContactSet {
    /// The contacts of a scene; none where it has none ever.
    pub fn new(scene: &Scene) -> Option<Self> {
        Self::in_style(scene, Style::Common)
    }

    /// The same, made in another style.
    pub fn in_style(scene: &Scene, style: Style) -> Option<Self> {
        let contacts = scene.contacts?;
        let soft = scene.touching_particles();
        let bodies = scene.bodies.iter().map(Traits::of);
        let mut traits: Vec<Traits> = bodies.chain(soft.iter().map(Traits::of_particle)).collect();
        let first = scene.bodies.len();
        let nodes = |corners: [usize; 3]| corners.map(|i| (first + i) as u32);
        let triangles: Vec<[u32; 3]> = scene.touching_triangles().into_iter().map(nodes).collect();
        let mut joined = kept_apart(scene, style, traits.len());
        let between = joined.clone();
        join_faces(&mut joined, &triangles, first, traits.len());
        let whole = |corners: &[u32; 3]| Traits::of_corners(corners.map(|n| &traits[n as usize]));
        let of_faces: Vec<Traits> = triangles.iter().map(whole).collect();
        traits.extend(of_faces);
        Some(Self {
            soft: SoftContacts::new(scene, &traits, &between),
            contacts,
            style,
            bodies: scene.bodies.iter().map(|body| BodyGeometry::new(&body.shape)).collect(),
            radii: soft.iter().map(|particle| Some(particle.touch?.radius)).collect(),
            faces: faces(&triangles),
            joined,
            traits,
            placements: vec![],
            places: vec![],
            bounds: vec![],
            planes: vec![],
            broad: BroadPhase::new(),
            pairs: vec![],
            chunks: vec![],
            list: ContactList::default(),
            before: ContactList::default(),
            taken: vec![],
            spent_s: 0.0,
        })
    }

    /// Forgets all answers, so that the next one continues none.
    pub fn forget(&mut self) {
        self.list.clear();
    }

    /// The last answer.
    pub fn list(&self) -> &ContactList {
        &self.list
    }

    /// Appends the time that was spent on finding contacts since the last call, for
    /// [`Solver::drain_times`](taut_core::Solver::drain_times).
    pub fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        let seconds = std::mem::take(&mut self.spent_s);
        out.push(StageTime { stage: Stage::Collide, pass: "detect", seconds });
    }

    /// Writes what the contacts of the last answer exert: `forces` on A in world axes [N], in the order of
    /// the list. The point is midway between the anchors.
    pub fn report(&self, forces: impl IntoIterator<Item = Vec3>, out: &mut Vec<ContactForce>) {
        self.list.report(&self.placements, forces, out);
    }

    /// The contacts of bodies in these placements, one per body of the scene, that may matter within
    /// the next `dt` seconds. Where particles touch, they follow, one per particle. `broken` are the joints that no
    /// longer keep their bodies from touching.
    pub fn detect(
        &mut self,
        placements: impl IntoIterator<Item = Placement>,
        broken: &[bool],
        dt: f64,
    ) -> &ContactList {
        let start = Instant::now();
        self.find(placements, broken, dt);
        self.continue_before();
        self.spent_s += start.elapsed().as_secs_f64();
        &self.list
    }

    /// Makes the last answer the one before, and finds a new one; what its contacts continue is not known yet.
    fn find(&mut self, placements: impl IntoIterator<Item = Placement>, broken: &[bool], dt: f64) {
        std::mem::swap(&mut self.list, &mut self.before);
        self.list.clear();
        self.placements.clear();
        self.placements.extend(placements);
        let contacts = self.contacts;
        let demo = self.style == Style::Demo3d;
        let rules = Rules {
            margin: if demo { 0.0 } else { contacts.margin },
            points_max: contacts.points_max as usize,
            dt: if demo { 0.0 } else { dt },
            demo,
        };
        self.find_pairs(broken, &rules);
        self.find_contacts(&rules);
        let Self { soft, list, placements, radii, bounds, before, .. } = self;
        if let Some(soft) = soft {
            let query = SoftQuery { placements, radii, bounds, broken, rules: &rules, before };
            soft.find(&query, list);
        }
    }

    /// Finds which contact of the answer before each contact continues.
    fn continue_before(&mut self) {
        let (bodies, radii, contacts) = (&self.bodies, &self.radii, self.contacts);
        let demo = self.style == Style::Demo3d;
        let near = |[a, b]: [u32; 2]| {
            let size = match bodies.get(b as usize) {
                Some(other) => bodies[a as usize].size.min(other.size),
                // On the next triangle of a surface a particle is where it was but for what it slid.
                None => {
                    let radius = radii.get(b as usize - bodies.len()).copied().flatten();
                    (radius.unwrap_or(0.0) + contacts.margin) / matching::NEAR
                }
            };
            if demo { 0.0 } else { size }
        };
        matching::continue_from(&self.before, &mut self.list, &mut self.taken, near);
    }

    /// Adds to the last answer what touches in other placements of the same step: what bodies come to there that move
    /// otherwise than it foresaw. `adds` is asked about each contact there, with the places of those in the answer that
    /// are at the same point of either body, and gives what there is to add. Where one is needed, `previous` tells where
    /// each contact was in the answer before, and nothing of those that are new.
    pub fn detect_more(
        &mut self,
        placements: impl IntoIterator<Item = Placement>,
        broken: &[bool],
        adds: impl FnMut(&Manifold, &Contact, &[u32]) -> Option<MetContact>,
    ) -> Option<&ContactList> {
        let start = Instant::now();
        let own = std::mem::take(&mut self.placements);
        self.find(placements, broken, 0.0);
        self.placements = own;
        self.spent_s += start.elapsed().as_secs_f64();
        let found = std::mem::take(&mut self.list);
        std::mem::swap(&mut self.list, &mut self.before);
        let size = |[a, b]: [u32; 2]| {
            let size = |node: u32| self.bodies.get(node as usize).map(|body| body.size);
            size(a).zip(size(b)).map_or(0.0, |(a, b)| a.min(b))
        };
        self.list = matching::joined(&self.list, &found, size, adds)?;
        Some(&self.list)
    }

    /// Fills `pairs` with those that may touch, sorted.
    fn find_pairs(&mut self, broken: &[bool], rules: &Rules) {
        self.places.clear();
        self.places.extend(self.placements.iter().map(Transform::from));
        self.bounds.clear();
        self.planes.clear();
        for (i, body) in self.bodies.iter().enumerate() {
            let (place, motion) = (&self.places[i], &self.placements[i]);
            if body.is_plane() {
                self.planes.push(HalfSpace {
                    body: i as u32,
                    centre: place.position,
                    normal: place.axis(2),
                    margin: rules.margin + ROUNDING + motion.velocity.norm() * rules.dt,
                    turn: motion.omega.norm() * rules.dt,
                });
            }
            self.bounds.push(swept(body, place, motion, rules));
        }
        let first = self.bodies.len();
        let balls = self.radii.iter().zip(self.placements[first..].iter());
        self.bounds.extend(balls.map(|(radius, motion)| around(*radius, motion, rules)));
        for face in &self.faces {
            let [a, b, c] = face.corners.map(|node| self.bounds[node as usize]);
            self.bounds.push(a.with(&b).with(&c));
        }
        let traits = &self.traits;
        // Particles come after the bodies; their own contacts are found apart.
        let allowed = |a: u32, b: u32| {
            (a as usize) < first && traits[a as usize].may_touch(&traits[b as usize])
        };
        let close = self.broad.update(&self.bounds, &self.planes, allowed);
        self.pairs.clear();
        not_held(close, &self.joined, broken, &mut self.pairs);
    }

    /// Fills `list` with the contacts of `pairs`. Every pair is treated alone, so that it does not
    /// matter which thread does.
    fn find_contacts(&mut self, rules: &Rules) {
        let (bodies, places, radii) = (&self.bodies, &self.places, &self.radii);
        let (faces, before) = (&self.faces, &self.before);
        let (placements, traits) = (&self.placements, &self.traits);
        let side = |i: u32| {
            let k = i as usize;
            PairSide { index: i, body: &bodies[k], place: &places[k], motion: &placements[k] }
        };
        let work = |chunk: &mut Chunk, pairs: &[[u32; 2]]| {
            chunk.list.clear();
            for &[low, high] in pairs {
                let surface = surface(&traits[low as usize], &traits[high as usize]);
                let radius = |node: u32| radii[node as usize - bodies.len()].unwrap_or(0.0);
                let soft = (high as usize).checked_sub(bodies.len());
                if let Some(place) = soft.filter(|&place| place < radii.len()) {
                    let (motion, radius) = (&placements[bodies.len() + place], radius(high));
                    let ball = TouchingBall { node: high, motion, radius };
                    chunk.feet.touch(side(low), &ball, rules, &surface, &mut chunk.list);
                    continue;
                }
                if let Some(place) = soft {
                    let face = &faces[place - radii.len()];
                    let (index, kept) = (high, kept_side(before, [low, high]));
                    let face = FaceSide { index, face, radii: face.corners.map(radius), kept };
                    let list = &mut chunk.list;
                    chunk.over.touch(side(low), &face, placements, rules, &surface, list);
                    continue;
                }
                let [a, b] = if rules.demo { [high, low] } else { [low, high] };
                chunk.scratch.touch(side(a), side(b), rules, &surface, &mut chunk.list);
            }
        };
        let parallel = rayon::current_num_threads() > 1 && self.pairs.len() > CHUNK;
        let size = if parallel { CHUNK } else { self.pairs.len().max(1) };
        let count = self.pairs.len().div_ceil(size);
        if self.chunks.len() < count {
            self.chunks.resize_with(count, Chunk::default);
        }
        let chunks = &mut self.chunks[..count];
        if parallel {
            chunks
                .par_iter_mut()
                .zip(self.pairs.par_chunks(size))
                .for_each(|(chunk, pairs)| work(chunk, pairs));
            chunks.iter().for_each(|chunk| self.list.append(&chunk.list));
        } else if let [chunk] = chunks {
            work(chunk, &self.pairs);
            std::mem::swap(&mut self.list, &mut chunk.list);
        }
    }
}

/// Sorted pairs of bodies that something keeps from touching, with the joint where it is one.
pub fn joined(scene: &Scene, style: Style) -> Vec<([u32; 2], Option<u32>)> {
    kept_apart(scene, style, scene.bodies.len())
}

/// Appends those of sorted pairs that no unbroken joint of a sorted list keeps from touching.
pub(crate) fn not_held(
    close: &[[u32; 2]],
    joined: &[([u32; 2], Option<u32>)],
    broken: &[bool],
    out: &mut Vec<[u32; 2]>,
) {
    let mut joined = joined.iter().peekable();
    for &pair in close {
        let mut held = false;
        while let Some((other, joint)) = joined.next_if(|(other, _)| *other <= pair) {
            let whole = joint.is_none_or(|j| !broken.get(j as usize).is_some_and(|&b| b));
            held |= *other == pair && whole;
        }
        if !held {
            out.push(pair);
        }
    }
}

/// The same of the first `count` bodies and particles.
pub(crate) fn kept_apart(
    scene: &Scene,
    style: Style,
    count: usize,
) -> Vec<([u32; 2], Option<u32>)> {
    let pair = |a: Endpoint, b: Endpoint| {
        let [a, b] = [scene.node(a)?, scene.node(b)?];
        (a.max(b) < count).then_some([a.min(b) as u32, a.max(b) as u32])
    };
    let joints = (0..).zip(&scene.joints);
    let joints = joints.filter_map(|(i, j)| Some((pair(j.a, j.b)?, Some(i))));
    let springs = scene.springs.iter().filter(|_| style == Style::Demo3d);
    let springs = springs.filter_map(|s| Some((pair(s.a, s.b)?, None)));
    let ties = scene.ties.iter().flat_map(|tie| {
        let [held, corners @ ..] = tie.ends;
        corners.into_iter().filter_map(move |corner| Some((pair(held.end, corner.end)?, None)))
    });
    let mut joined: Vec<_> = joints.chain(springs).chain(ties).collect();
    joined.sort_unstable();
    joined
}

/// Keeps triangles apart from the bodies that joints keep their corners apart from. Bodies are before `first`,
/// triangles from `last` on.
fn join_faces(
    joined: &mut Vec<([u32; 2], Option<u32>)>,
    triangles: &[[u32; 3]],
    first: usize,
    last: usize,
) {
    let with_particles: Vec<_> =
        joined.iter().filter(|([_, b], _)| *b as usize >= first).copied().collect();
    for ([body, particle], joint) in with_particles {
        let at = (0..).zip(triangles).filter(|(_, corners)| corners.contains(&particle));
        joined.extend(at.map(|(t, _): (u32, _)| ([body, last as u32 + t], joint)));
    }
    joined.sort_unstable();
}

/// On which side of a triangle a body was when the two last touched.
fn kept_side(before: &ContactList, pair: [u32; 2]) -> Option<bool> {
    let place = before.manifolds.partition_point(|manifold| manifold.owners < pair);
    let manifold = before.manifolds.get(place).filter(|manifold| manifold.owners == pair)?;
    before.contacts.get(manifold.range().start).map(side_of)
}

/// A box around a body with half the margin, and around where it may be within the step.
fn swept(body: &BodyGeometry, place: &Transform, motion: &Placement, rules: &Rules) -> Bounds {
    if body.is_plane() || body.pieces.is_empty() {
        return Bounds::nowhere();
    }
    let (middle, half) = body.bounds(place);
    let step = motion.velocity * (rules.dt * 0.5);
    // No point turns farther than along a circle about the centre of mass.
    let turn = motion.omega.norm() * rules.dt * body.reach;
    let rounding = ROUNDING * (1.0 + middle.amax());
    let pad = rules.margin * 0.5 + turn.min(2.0 * body.reach) + rounding;
    Bounds { middle: middle + step, half: (half + step.abs()).add_scalar(pad) }
}

/// The same of a particle of this radius, if it touches.
fn around(radius: Option<f64>, motion: &Placement, rules: &Rules) -> Bounds {
    let Some(radius) = radius else {
        return Bounds::nowhere();
    };
    let step = motion.velocity * (rules.dt * 0.5);
    let rounding = ROUNDING * (1.0 + motion.position.amax());
    let half = step.abs().add_scalar(radius + rules.margin * 0.5 + rounding);
    Bounds { middle: motion.position + step, half }
}
