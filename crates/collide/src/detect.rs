//! From placements to contacts: broad phase, filters, narrow phase, matching.

use std::time::Instant;

use rayon::prelude::*;
use taut_core::{
    ContactForce, Placement, Scene, Stage, StageTime, Vec3,
    scene::{Body, Contacts, Endpoint, Motion},
};

use crate::{
    broad::{Bounds, BroadPhase, HalfSpace},
    contact::ContactList,
    matching,
    narrow::{PairSide, Rules, Scratch, Surface},
    shape::BodyGeometry,
    transform::Transform,
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

/// Finds the contacts of one scene's bodies.
#[derive(Clone, Debug)]
pub struct ContactSet {
    contacts: Contacts,
    style: Style,
    bodies: Vec<BodyGeometry>,
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
}

/// What of a body decides with whom it touches, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    motion: Motion,
    group: Option<u32>,
    friction: [f64; 2],
    restitution: f64,
}

impl Traits {
    pub(crate) fn of(body: &Body) -> Self {
        Self {
            motion: body.motion,
            group: body.group,
            friction: [body.material.friction_static, body.material.friction_dynamic],
            restitution: body.material.restitution,
        }
    }

    /// Whether bodies touch where they meet, unless a joint keeps them from it.
    pub(crate) fn may_touch(&self, other: &Self) -> bool {
        let moves = self.motion == Motion::Dynamic || other.motion == Motion::Dynamic;
        moves && (self.group.is_none() || self.group != other.group)
    }
}

/// Buffers of one thread's share.
#[derive(Debug, Default)]
struct Chunk {
    scratch: Scratch,
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
        Some(Self {
            contacts: scene.contacts?,
            style,
            bodies: scene.bodies.iter().map(|body| BodyGeometry::new(&body.shape)).collect(),
            traits: scene.bodies.iter().map(Traits::of).collect(),
            joined: joined(scene, style),
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
    /// the next `dt` seconds. `broken` are the joints that no longer keep their bodies from touching.
    pub fn detect(
        &mut self,
        placements: impl IntoIterator<Item = Placement>,
        broken: &[bool],
        dt: f64,
    ) -> &ContactList {
        let start = Instant::now();
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
        let bodies = &self.bodies;
        let near = |[a, b]: [u32; 2]| {
            let size = bodies[a as usize].size.min(bodies[b as usize].size);
            if demo { 0.0 } else { size }
        };
        matching::continue_from(&self.before, &mut self.list, &mut self.taken, near);
        self.spent_s += start.elapsed().as_secs_f64();
        &self.list
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
        let traits = &self.traits;
        let allowed = |a: u32, b: u32| traits[a as usize].may_touch(&traits[b as usize]);
        let close = self.broad.update(&self.bounds, &self.planes, allowed);
        self.pairs.clear();
        let mut joined = self.joined.iter().peekable();
        for &pair in close {
            let mut held = false;
            while let Some((other, joint)) = joined.next_if(|(other, _)| *other <= pair) {
                let whole = joint.is_none_or(|j| !broken.get(j as usize).is_some_and(|&b| b));
                held |= *other == pair && whole;
            }
            if !held {
                self.pairs.push(pair);
            }
        }
    }

    /// Fills `list` with the contacts of `pairs`. Every pair is treated alone, so that it does not
    /// matter which thread does.
    fn find_contacts(&mut self, rules: &Rules) {
        let (bodies, places) = (&self.bodies, &self.places);
        let (placements, traits) = (&self.placements, &self.traits);
        let side = |i: u32| {
            let k = i as usize;
            PairSide { index: i, body: &bodies[k], place: &places[k], motion: &placements[k] }
        };
        let work = |chunk: &mut Chunk, pairs: &[[u32; 2]]| {
            chunk.list.clear();
            for &[low, high] in pairs {
                let [a, b] = if rules.demo { [high, low] } else { [low, high] };
                let surface = surface(&traits[a as usize], &traits[b as usize]);
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
    let pair = |a: Endpoint, b: Endpoint| match (a, b) {
        (Endpoint::Body(a), Endpoint::Body(b)) => Some([a.min(b) as u32, a.max(b) as u32]),
        _ => None,
    };
    let joints = (0..).zip(&scene.joints);
    let joints = joints.filter_map(|(i, j)| Some((pair(j.a, j.b)?, Some(i))));
    let springs = scene.springs.iter().filter(|_| style == Style::Demo3d);
    let springs = springs.filter_map(|s| Some((pair(s.a, s.b)?, None)));
    let mut joined: Vec<_> = joints.chain(springs).collect();
    joined.sort_unstable();
    joined
}

/// A box around a body with half the margin, and around where it may be within the step.
fn swept(body: &BodyGeometry, place: &Transform, motion: &Placement, rules: &Rules) -> Bounds {
    if body.is_plane() || body.pieces.is_empty() {
        return Bounds { middle: Vec3::repeat(f64::NAN), half: Vec3::zeros() };
    }
    let (middle, half) = body.bounds(place);
    let step = motion.velocity * (rules.dt * 0.5);
    // No point turns farther than along a circle about the centre of mass.
    let turn = motion.omega.norm() * rules.dt * body.reach;
    let rounding = ROUNDING * (1.0 + middle.amax());
    let pad = rules.margin * 0.5 + turn.min(2.0 * body.reach) + rounding;
    Bounds { middle: middle + step, half: (half + step.abs()).add_scalar(pad) }
}

/// Coefficients of a pair.
fn surface(a: &Traits, b: &Traits) -> Surface {
    Surface {
        friction: [0, 1].map(|k| (a.friction[k] * b.friction[k]).sqrt()),
        restitution: a.restitution.max(b.restitution),
    }
}
