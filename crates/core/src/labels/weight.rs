//! Notices what stays where it is although nothing carries it.
//!
//! Where bodies touch, the state does not tell what they press. But a solver that reports its forces must account
//! for stillness by them: over a while, what rests has no force left on average.

use super::{dynamic_nodes, node_name, node_position, scale_m};
use crate::{
    ContactForce, Multipliers, Scene, State, Vec3,
    scene::{Endpoint, ForceKind},
};

/// Forces are averaged over this time [s].
const WINDOW_S: f64 = 0.25;
/// Whoever stays within this distance in a scene of 1 m and more is still [m]; in a smaller one, in shares of it.
const STILL_M: f64 = 1e-4;
/// Whoever is still while forces leave this share of what acts on it, its weight or what presses it, is frozen [1].
const UNCARRIED: f64 = 0.9;

/// Where everything was when the window began, and the forces since.
#[derive(Clone, Debug)]
pub(super) struct WeightWatch {
    /// The bodies and particles all of whose forces are reported: those on no spring and of no elastic material.
    nodes: Vec<usize>,
    still_m: f64,
    start_s: f64,
    frames: f64,
    /// By node.
    anchor: Vec<Vec3>,
    /// By node: whether it has been still since the window began.
    still: Vec<bool>,
    /// By node: sum of the forces over the frames [N].
    force: Vec<Vec3>,
    /// By node: sum of their magnitudes [N].
    pressed: Vec<f64>,
}

impl WeightWatch {
    pub(super) fn new(scene: &Scene, initial: &State) -> Self {
        let count = scene.bodies.len() + scene.particles.len();
        // Without contacts the load of everything is known from the state.
        let nodes = match scene.contacts {
            Some(_) => reported(scene),
            None => Vec::new(),
        };
        let mut watch = Self {
            nodes,
            still_m: STILL_M * scale_m(scene, initial),
            start_s: 0.0,
            frames: 0.0,
            anchor: vec![Vec3::zeros(); count],
            still: vec![true; count],
            force: vec![Vec3::zeros(); count],
            pressed: vec![0.0; count],
        };
        watch.restart(initial);
        watch
    }

    fn restart(&mut self, state: &State) {
        (self.start_s, self.frames) = (state.time_s, 0.0);
        for &node in &self.nodes {
            self.anchor[node] = node_position(state, node);
            self.still[node] = true;
            (self.force[node], self.pressed[node]) = (Vec3::zeros(), 0.0);
        }
    }

    /// Why something is frozen, if anything is.
    pub(super) fn observe(
        &mut self,
        scene: &Scene,
        state: &State,
        forces: Option<&Multipliers>,
    ) -> Option<String> {
        if self.nodes.is_empty() || scene.gravity == Vec3::zeros() {
            return None;
        }
        let Some(forces) = forces.filter(|f| f.joint_force.len() == scene.joints.len()) else {
            self.restart(state);
            return None;
        };
        self.add(scene, forces);
        for &node in &self.nodes {
            let moved = (node_position(state, node) - self.anchor[node]).norm();
            self.still[node] &= moved <= self.still_m;
        }
        if state.time_s - self.start_s < WINDOW_S * (1.0 - 1e-9) {
            return None;
        }
        let uncarried = |node: usize| {
            let weight = mass(scene, node) * scene.gravity;
            let left = (weight + self.force[node] / self.frames).norm();
            // Under a load of a thousand bodies a thousandth of it is as much as the body's weight.
            left / weight.norm().max(self.pressed[node] / self.frames)
        };
        let found = self.nodes.iter().find_map(|&node| {
            let share = if self.still[node] { uncarried(node) } else { 0.0 };
            (share > UNCARRIED).then_some((node, share))
        });
        let (from, to) = (self.start_s, state.time_s);
        self.restart(state);
        let (node, share) = found?;
        let (name, percent) = (node_name(scene, node), 100.0 * share);
        Some(format!(
            "{name} is still from {from:.3} s to {to:.3} s, and reported forces leave {percent:.0} % of its load"
        ))
    }

    fn add(&mut self, scene: &Scene, forces: &Multipliers) {
        self.frames += 1.0;
        for (joint, &force) in scene.joints.iter().zip(&forces.joint_force) {
            for (end, force) in [(joint.a, -force), (joint.b, force)] {
                if let Some(node) = scene.node(end) {
                    self.press(node, force);
                }
            }
        }
        for (node, force) in forces.contacts.iter().flat_map(ContactForce::acting) {
            self.press(node, force);
        }
    }

    fn press(&mut self, node: usize, force: Vec3) {
        self.force[node] += force;
        self.pressed[node] += force.norm();
    }
}

/// The nodes that forces move and that nothing else than gravity, joints and contacts acts on, no efforts either.
fn reported(scene: &Scene) -> Vec<usize> {
    let mut alone = vec![true; scene.bodies.len() + scene.particles.len()];
    let ends = scene.springs.iter().flat_map(|spring| [spring.a, spring.b]);
    let elastic = scene.energies().flat_map(|(energy, anchors)| {
        anchors.into_iter().take(energy.ends()).map(|anchor| anchor.end)
    });
    let applied = scene.forces.iter().filter_map(|force| match force.kind {
        ForceKind::Force { body, .. } => Some(Endpoint::Body(body)),
        ForceKind::Torque { .. } | ForceKind::Effort { .. } => None,
    });
    let pushed = scene.forces.iter().filter_map(|force| match force.kind {
        ForceKind::Effort { joint, .. } => Some(&scene.joints[joint]),
        ForceKind::Force { .. } | ForceKind::Torque { .. } => None,
    });
    let pushed = pushed.flat_map(|joint| [joint.a, joint.b]);
    for end in ends.chain(elastic).chain(applied).chain(pushed) {
        if let Some(node) = scene.node(end) {
            alone[node] = false;
        }
    }
    dynamic_nodes(scene).into_iter().filter(|&node| alone[node]).collect()
}

fn mass(scene: &Scene, node: usize) -> f64 {
    match node.checked_sub(scene.bodies.len()) {
        None => scene.bodies[node].mass,
        Some(i) => scene.particles[i].mass,
    }
}
