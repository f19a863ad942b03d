//! Notices what falls freely although joints tie it to the world.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use super::{node_name, node_position, point, size_m};
use crate::{
    Scene, State, Vec3,
    metrics::energy,
    scene::{Endpoint, Joint, JointKind, Spring, SpringKind},
};

/// Time between the positions that are compared [s]; four such intervals make the half second.
const INTERVAL_S: f64 = 0.125;
/// Positions compared at a time.
const WINDOW: usize = 5;
/// An acceleration this close to gravity is a free fall [1].
const LIKENESS: f64 = 0.02;
/// Joints are overrun when something is this fraction beyond their reach [1].
const OVERRUN: f64 = 0.05;

/// The last half second of everything that is tied to the world.
#[derive(Clone, Debug)]
pub(super) struct FallWatch {
    tethers: Vec<Tether>,
    /// What may pull at compliant joints and springs.
    load: Load,
    broken: Vec<bool>,
    window: VecDeque<Snapshot>,
}

/// The joints and springs by which a node hangs on something that no force moves.
#[derive(Clone, Copy, Debug)]
struct Tether {
    node: usize,
    /// What the fixed end is on, and where.
    root: (Endpoint, Vec3),
    /// Farthest that the centre of mass can be from the fixed anchor while all of them hold [m].
    reach: f64,
}

/// What may pull at one compliant joint: everything that moves, after a fall over the whole scene.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Weight of everything that forces move [N].
    weight_n: f64,
    /// What may have to be stopped [J].
    energy_j: f64,
}

impl Load {
    fn new(scene: &Scene, initial: &State) -> Self {
        let bodies = scene.bodies.iter().filter(|body| body.is_dynamic()).map(|body| body.mass);
        let mass: f64 = bodies.chain(scene.particles.iter().map(|particle| particle.mass)).sum();
        let weight_n = mass * scene.gravity.norm();
        let start = energy(scene, initial);
        let energy_j = start.kinetic_j + start.elastic_j() + weight_n * size_m(scene, initial);
        Self { weight_n, energy_j }
    }

    /// How far it stretches something of this compliance [m/N] at most, `x^2 / 2 c = E + W x` [m].
    fn stretch_m(&self, compliance: f64) -> f64 {
        let rest = compliance * self.weight_n;
        rest + (rest * rest + 2.0 * compliance * self.energy_j).sqrt()
    }
}

/// Something that keeps two points from coming apart, and how far they may be.
struct Tying {
    ends: [(Endpoint, Vec3); 2],
    length_m: f64,
}

#[derive(Clone, Debug)]
struct Snapshot {
    time_s: f64,
    own: Vec<Vec3>,
    reference: Option<Vec<Vec3>>,
}

impl FallWatch {
    pub(super) fn new(scene: &Scene, initial: &State) -> Self {
        let load = Load::new(scene, initial);
        let mut watch = Self {
            tethers: tethers(scene, &initial.broken, &load),
            load,
            broken: initial.broken.clone(),
            window: VecDeque::with_capacity(WINDOW),
        };
        watch.push(initial, Some(initial));
        watch
    }

    /// Why something falls, if anything does.
    pub(super) fn observe(
        &mut self,
        scene: &Scene,
        state: &State,
        reference: Option<&State>,
    ) -> Option<String> {
        if scene.gravity == Vec3::zeros() {
            return None;
        }
        if self.broken != state.broken {
            self.broken.clone_from(&state.broken);
            self.tethers = tethers(scene, &self.broken, &self.load);
            self.window.clear();
        }
        // A rounding of time must not stretch the interval by a frame.
        let due = |last: &Snapshot| state.time_s - last.time_s >= INTERVAL_S * (1.0 - 1e-9);
        if !self.window.back().is_none_or(due) {
            return None;
        }
        self.push(state, reference);
        (self.window.len() == WINDOW).then(|| self.find(scene, state)).flatten()
    }

    fn push(&mut self, state: &State, reference: Option<&State>) {
        let recycled = match self.window.len() == WINDOW {
            true => self.window.pop_front(),
            false => None,
        };
        let places = |state: &State, mut into: Vec<Vec3>| {
            into.clear();
            into.extend(self.tethers.iter().map(|tether| node_position(state, tether.node)));
            into
        };
        let (own, old) = recycled.map_or_else(Default::default, |s| (s.own, s.reference));
        let snapshot = Snapshot {
            time_s: state.time_s,
            own: places(state, own),
            reference: reference.map(|reference| places(reference, old.unwrap_or_default())),
        };
        self.window.push_back(snapshot);
    }

    fn find(&self, scene: &Scene, state: &State) -> Option<String> {
        for (i, tether) in self.tethers.iter().enumerate() {
            if !self.falls(scene, LIKENESS, |snapshot| Some(snapshot.own[i])) {
                continue;
            }
            let root = point(state, tether.root);
            let beyond = (node_position(state, tether.node) - root).norm() - tether.reach;
            // Whether the reference falls too is asked with more tolerance: it need not fall as exactly.
            let falls_there =
                self.falls(scene, 2.0 * LIKENESS, |s| s.reference.as_ref().map(|r| r[i]));
            if beyond > OVERRUN * tether.reach && !falls_there {
                let name = node_name(scene, tether.node);
                let (from, to) = (self.window[0].time_s, state.time_s);
                return Some(format!(
                    "{name} fell freely from {from:.3} s to {to:.3} s, {beyond:.2} m beyond its joints"
                ));
            }
        }
        None
    }

    /// Whether second differences over the whole window are those of a free fall. They need no
    /// velocity, and are exact for the fall of any integrator with constant steps.
    fn falls(
        &self,
        scene: &Scene,
        likeness: f64,
        place: impl Fn(&Snapshot) -> Option<Vec3>,
    ) -> bool {
        (1..WINDOW - 1).all(|i| {
            let [before, here, after] = [i - 1, i, i + 1].map(|j| &self.window[j]);
            let (Some(p0), Some(p1), Some(p2)) = (place(before), place(here), place(after)) else {
                return false;
            };
            let (h0, h1) = (here.time_s - before.time_s, after.time_s - here.time_s);
            let acceleration = ((p2 - p1) / h1 - (p1 - p0) / h0) * (2.0 / (h0 + h1));
            (acceleration - scene.gravity).norm() < likeness * scene.gravity.norm()
        })
    }
}

/// Shortest paths over unbroken joints and springs from all that no force moves.
fn tethers(scene: &Scene, broken: &[bool], load: &Load) -> Vec<Tether> {
    let count = scene.bodies.len() + scene.particles.len();
    let mut links: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    let mut best: Vec<Option<Tether>> = vec![None; count];
    let mut queue = BinaryHeap::new();
    // Bits of non-negative floats are ordered as the floats are.
    let key = |reach: f64, node: usize| Reverse((reach.to_bits(), node));
    for tie in ties(scene, broken, load) {
        let nodes = tie.ends.map(|(end, _)| scene.node(end).filter(|_| scene.is_dynamic(end)));
        let arms = tie.ends.map(arm);
        match nodes {
            [Some(a), Some(b)] => {
                let length = arms[0] + tie.length_m + arms[1];
                links[a].push((b, length));
                links[b].push((a, length));
            }
            [None, Some(node)] | [Some(node), None] => {
                let side = usize::from(nodes[0].is_some());
                let reach = tie.length_m + arms[1 - side];
                let tether = Tether { node, root: tie.ends[side], reach };
                if best[node].is_none_or(|old| tether.reach < old.reach) {
                    best[node] = Some(tether);
                    queue.push(key(tether.reach, node));
                }
            }
            [None, None] => {}
        }
    }
    while let Some(Reverse((bits, node))) = queue.pop() {
        let Some(here) = best[node].filter(|t| t.reach.to_bits() == bits) else { continue };
        for &(next, length) in &links[node] {
            let reach = here.reach + length;
            if best[next].is_none_or(|old| reach < old.reach) {
                best[next] = Some(Tether { node: next, reach, ..here });
                queue.push(key(reach, next));
            }
        }
    }
    best.into_iter().flatten().collect()
}

/// What keeps points together in a scene.
fn ties(scene: &Scene, broken: &[bool], load: &Load) -> impl Iterator<Item = Tying> {
    let joints = scene.joints.iter().zip(broken).filter(|(_, broken)| !**broken);
    let joints = joints.filter_map(|(joint, _)| {
        let length_m = slack(joint)? + load.stretch_m(joint.compliance_linear);
        Some(Tying { ends: [(joint.a, joint.anchor_a), (joint.b, joint.anchor_b)], length_m })
    });
    joints.chain(scene.springs.iter().filter_map(|spring| spring_tie(spring, load)))
}

fn spring_tie(spring: &Spring, load: &Load) -> Option<Tying> {
    let SpringKind::Linear { anchor_a, anchor_b, rest_length } = spring.kind else { return None };
    let length_m = rest_length + load.stretch_m(1.0 / spring.stiffness);
    let tie = Tying { ends: [(spring.a, anchor_a), (spring.b, anchor_b)], length_m };
    length_m.is_finite().then_some(tie)
}

/// Distance of an anchor from the centre of mass [m].
fn arm((endpoint, anchor): (Endpoint, Vec3)) -> f64 {
    match endpoint {
        Endpoint::Body(_) => anchor.norm(),
        Endpoint::World | Endpoint::Particle(_) => 0.0,
    }
}

/// How far apart the anchors of a joint may be that does not give way [m]; `None` where nothing bounds it.
fn slack(joint: &Joint) -> Option<f64> {
    match joint.kind {
        JointKind::Ball | JointKind::Hinge | JointKind::Universal | JointKind::Fixed => Some(0.0),
        JointKind::Distance { length } => {
            Some(joint.limit.map_or(length, |l| l.upper)).filter(|length| length.is_finite())
        }
        JointKind::Prismatic | JointKind::Cylindrical => {
            joint.limit.map(|l| l.lower.abs().max(l.upper.abs()))
        }
    }
    .filter(|slack| slack.is_finite())
}
