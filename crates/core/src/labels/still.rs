//! Notices what does not move, and asks whether it should.

use super::{
    dynamic_nodes, gyration_m,
    load::{accelerations, soft_frequencies},
    node_name, node_position, scale_m,
};
use crate::{Quat, Scene, State, Vec3, applied::AppliedForces};

/// Whoever stays within this distance does not move, for its centre and for points at its radius of gyration, in a
/// scene of 1 m and more [m]; in a smaller one, in shares of its size.
const STILL_M: f64 = 1e-4;
/// Whoever does not move but should have come this far is frozen; as above [m].
const OWED_M: f64 = 0.2;
/// Stillness of this length is worth a look at the load [s].
const PATIENCE_S: f64 = 0.05;

/// Where everything was when it last moved.
#[derive(Clone, Debug)]
pub(super) struct StillWatch {
    nodes: Vec<TrackedNode>,
    /// Size of the scene, at most 1 [m].
    scale_m: f64,
    start_s: f64,
    next_look_s: f64,
    suspicion: Option<Suspicion>,
    /// How long a load may be taken as constant before soft springs turn the motion round [s].
    steady_s: f64,
    /// Whether nothing but the state decides the load.
    steady: bool,
}

#[derive(Clone, Debug)]
struct TrackedNode {
    index: usize,
    /// Radius of gyration: what an angle is worth [m].
    gyration_m: f64,
    anchor: Vec3,
    turn: Quat,
    since_s: f64,
    has_moved: bool,
}

/// What moves everything, found at a time when something was still; confirmed only if it stays still.
#[derive(Clone, Debug)]
struct Suspicion {
    time_s: f64,
    /// By node [m/s].
    speed: Vec<f64>,
    /// By node [m/s^2]; `None` where contact forces or the time, which are not in the state, leave it unknown.
    acceleration: Option<Vec<f64>>,
}

impl TrackedNode {
    fn new(scene: &Scene, initial: &State, index: usize) -> Self {
        Self {
            index,
            gyration_m: gyration_m(scene, index),
            anchor: node_position(initial, index),
            turn: node_rotation(initial, index),
            since_s: initial.time_s,
            has_moved: false,
        }
    }

    /// How far it is from where it last moved to [m], turns counted.
    fn distance_m(&self, state: &State) -> f64 {
        let angle = self.turn.angle_to(&node_rotation(state, self.index));
        (node_position(state, self.index) - self.anchor).norm() + self.gyration_m * angle
    }

    /// How fast it says that it moves [m/s], turns counted.
    fn speed(&self, state: &State) -> f64 {
        match self.index.checked_sub(state.bodies.len()) {
            None => {
                let body = &state.bodies[self.index];
                body.velocity.norm() + self.gyration_m * body.omega().norm()
            }
            Some(i) => state.particles[i].velocity.norm(),
        }
    }
}

impl StillWatch {
    pub(super) fn new(scene: &Scene, initial: &State) -> Self {
        let nodes = dynamic_nodes(scene);
        Self {
            nodes: nodes.into_iter().map(|i| TrackedNode::new(scene, initial, i)).collect(),
            scale_m: scale_m(scene, initial),
            start_s: initial.time_s,
            next_look_s: initial.time_s + PATIENCE_S,
            suspicion: None,
            steady: scene.drives.is_empty() && AppliedForces::of(scene).are_constant(),
            steady_s: std::f64::consts::PI / soft_frequencies(scene).fold(0.0, f64::max),
        }
    }

    /// Why something is frozen, if anything is.
    pub(super) fn observe(
        &mut self,
        scene: &Scene,
        state: &State,
        reference: Option<&State>,
    ) -> Option<String> {
        let now = state.time_s;
        for node in &mut self.nodes {
            if node.distance_m(state) > STILL_M * self.scale_m {
                node.anchor = node_position(state, node.index);
                node.turn = node_rotation(state, node.index);
                (node.since_s, node.has_moved) = (now, true);
            }
        }
        let by_reference = reference.and_then(|reference| self.behind(reference));
        let (node, owed, judge) = match by_reference {
            Some((node, owed)) => (node, owed, "the reference"),
            None => self.in_motion(scene, state)?,
        };
        let name = node_name(scene, node);
        Some(format!("{name} is still at {now:.3} s where {judge} says {owed:.2} m"))
    }

    fn owed_m(&self) -> f64 {
        OWED_M * self.scale_m
    }

    /// A node that never moved although it did in the reference, and how far.
    fn behind(&self, reference: &State) -> Option<(usize, f64)> {
        let unmoved = self.nodes.iter().filter(|node| !node.has_moved);
        unmoved
            .map(|node| (node.index, node.distance_m(reference)))
            .find(|&(_, owed)| owed > self.owed_m())
    }

    /// A node that stays still although its own velocity, or its load, should have moved it: how far, and by what.
    fn in_motion(&mut self, scene: &Scene, state: &State) -> Option<(usize, f64, &'static str)> {
        let now = state.time_s;
        let Some(suspicion) = &self.suspicion else {
            if now >= self.next_look_s && self.nodes.iter().any(|n| now - n.since_s >= PATIENCE_S) {
                // Looks grow rarer, since each may cost as much as many steps.
                self.next_look_s = (now + PATIENCE_S).max(2.0 * now - self.start_s);
                self.suspicion = Some(self.suspect(scene, state));
            }
            return None;
        };
        let still = || self.nodes.iter().filter(|node| node.since_s <= suspicion.time_s);
        let lasted = now - suspicion.time_s;
        let by_speed = |node: &TrackedNode, speed: &[f64]| speed[node.index] * lasted;
        let steady = lasted.min(self.steady_s);
        let by_load = |node: &TrackedNode, acceleration: &[f64]| {
            0.5 * acceleration[node.index] * steady.powi(2)
        };
        let load = suspicion.acceleration.as_deref();
        let owes = |node: &TrackedNode| {
            by_speed(node, &suspicion.speed) > self.owed_m()
                || load.is_some_and(|load| by_load(node, load) > self.owed_m())
        };
        if !still().any(owes) {
            let may = |node: &TrackedNode| {
                suspicion.speed[node.index] > 0.0 || load.is_some_and(|load| load[node.index] > 0.0)
            };
            if !still().any(may) {
                self.suspicion = None;
            }
            return None;
        }
        // Whoever was held until a moment ago owes nothing yet: the load must still be there.
        let present = self.suspect(scene, state);
        let found = still().find_map(|node| {
            let owed = by_speed(node, &suspicion.speed).min(by_speed(node, &present.speed));
            if owed > self.owed_m() {
                return Some((node.index, owed, "its own velocity"));
            }
            let owed = by_load(node, load?).min(by_load(node, present.acceleration.as_deref()?));
            (owed > self.owed_m()).then_some((node.index, owed, "its unbalanced load"))
        });
        self.suspicion = None;
        found
    }

    fn suspect(&self, scene: &Scene, state: &State) -> Suspicion {
        let mut speed = vec![0.0; scene.bodies.len() + scene.particles.len()];
        self.nodes.iter().for_each(|node| speed[node.index] = node.speed(state));
        let acceleration = match scene.contacts {
            None if self.steady => accelerations(scene, state),
            _ => None,
        };
        Suspicion { time_s: state.time_s, speed, acceleration }
    }
}

/// Rotation of a node, counted bodies first; none of a particle.
fn node_rotation(state: &State, node: usize) -> Quat {
    state.bodies.get(node).map_or_else(Quat::identity, |body| body.rotation())
}
