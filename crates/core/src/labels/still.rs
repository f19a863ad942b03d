//! Notices what does not move, and asks whether it should.

use super::{
    dynamic_nodes,
    load::{accelerations, frequency, is_stiff},
    node_name, node_position,
};
use crate::{Scene, State, Vec3};

/// Whoever stays within this distance does not move [m].
const STILL_M: f64 = 1e-4;
/// Whoever does not move but should have come this far is frozen [m].
const OWED_M: f64 = 1.0;
/// Stillness of this length is worth a look at the load [s].
const PATIENCE_S: f64 = 0.25;

/// Where everything was when it last moved.
#[derive(Clone, Debug)]
pub(super) struct StillWatch {
    nodes: Vec<TrackedNode>,
    start_s: f64,
    next_look_s: f64,
    suspicion: Option<Suspicion>,
    /// How long a load may be taken as constant before soft springs turn the motion round [s].
    steady_s: f64,
}

#[derive(Clone, Debug)]
struct TrackedNode {
    index: usize,
    anchor: Vec3,
    since_s: f64,
    has_moved: bool,
}

/// Accelerations found at a time when something was still; confirmed only if it stays still.
#[derive(Clone, Debug)]
struct Suspicion {
    time_s: f64,
    acceleration: Vec<f64>,
}

impl StillWatch {
    pub(super) fn new(scene: &Scene, initial: &State) -> Self {
        let node = |index| TrackedNode {
            index,
            anchor: node_position(initial, index),
            since_s: initial.time_s,
            has_moved: false,
        };
        Self {
            nodes: dynamic_nodes(scene).into_iter().map(node).collect(),
            start_s: initial.time_s,
            next_look_s: initial.time_s + PATIENCE_S,
            suspicion: None,
            steady_s: std::f64::consts::PI / fastest_soft_spring(scene),
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
            let position = node_position(state, node.index);
            if (position - node.anchor).norm() > STILL_M {
                (node.anchor, node.since_s, node.has_moved) = (position, now, true);
            }
        }
        let by_reference = reference.and_then(|reference| self.behind(reference));
        let (node, owed, judge) = match by_reference {
            Some((node, owed)) => (node, owed, "the reference"),
            None => {
                let (node, owed) = self.loaded(scene, state)?;
                (node, owed, "its unbalanced load")
            }
        };
        let name = node_name(scene, node);
        Some(format!("{name} is still at {now:.3} s where {judge} says {owed:.2} m"))
    }

    /// A node that never moved although it did in the reference, and how far.
    fn behind(&self, reference: &State) -> Option<(usize, f64)> {
        let unmoved = self.nodes.iter().filter(|node| !node.has_moved);
        unmoved
            .map(|node| (node.index, (node_position(reference, node.index) - node.anchor).norm()))
            .find(|&(_, owed)| owed > OWED_M)
    }

    /// A node that stays still under a load that should have moved it, and how far.
    fn loaded(&mut self, scene: &Scene, state: &State) -> Option<(usize, f64)> {
        let now = state.time_s;
        // Contact forces are not in the state, so where there are any the load is unknown.
        if scene.contacts.is_some() {
            return None;
        }
        if let Some(suspicion) = &self.suspicion {
            let lasted = (now - suspicion.time_s).min(self.steady_s);
            let owed = |node: &TrackedNode, acceleration: &[f64]| {
                0.5 * acceleration[node.index] * lasted.powi(2)
            };
            let still = || self.nodes.iter().filter(|node| node.since_s <= suspicion.time_s);
            if !still().any(|node| suspicion.acceleration[node.index] > 0.0) {
                self.suspicion = None;
                return None;
            }
            if !still().any(|node| owed(node, &suspicion.acceleration) > OWED_M) {
                return None;
            }
            // Whoever was held until a moment ago owes nothing yet: the load must still be there.
            let present = accelerations(scene, state).unwrap_or_default();
            let frozen = still().filter(|_| !present.is_empty()).find_map(|node| {
                let owed = owed(node, &suspicion.acceleration).min(owed(node, &present));
                (owed > OWED_M).then_some((node.index, owed))
            });
            self.suspicion = None;
            return frozen;
        }
        if now >= self.next_look_s && self.nodes.iter().any(|n| now - n.since_s >= PATIENCE_S) {
            // Looks grow rarer, since each may cost as much as many steps.
            self.next_look_s = (now + PATIENCE_S).max(2.0 * now - self.start_s);
            self.suspicion = accelerations(scene, state)
                .map(|acceleration| Suspicion { time_s: now, acceleration });
        }
        None
    }
}

/// Largest frequency among the springs that are not stiff [rad/s].
fn fastest_soft_spring(scene: &Scene) -> f64 {
    let soft = scene.springs.iter().filter(|spring| !is_stiff(scene, spring));
    soft.map(|spring| frequency(scene, spring)).fold(0.0, f64::max)
}
