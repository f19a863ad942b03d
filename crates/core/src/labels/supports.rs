//! How fast kinematic bodies can move what they carry.

use super::{dynamic_nodes, node, node_position};
use crate::{
    Scene, State,
    scene::{Endpoint, Motion},
};

/// The kinematic bodies of a scene and how far from their centres they have carried anything.
#[derive(Clone, Debug)]
pub(super) struct Supports {
    supports: Vec<Carrier>,
    /// What forces move, counted bodies first, with the farthest point of its shape from its centre [m].
    nodes: Vec<(usize, f64)>,
}

#[derive(Clone, Debug)]
struct Carrier {
    body: usize,
    /// Farthest point of its shape from its centre [m].
    radius_m: f64,
    /// Which nodes hang on it by joints and springs, directly or not.
    attached: Vec<bool>,
    /// Farthest that anything within its reach has been from its centre [m].
    reach_m: f64,
}

impl Supports {
    /// Those of `scene`; `size_m` is within the reach of each.
    pub(super) fn new(scene: &Scene, size_m: f64) -> Self {
        let kinematic = scene.bodies.iter().enumerate();
        let kinematic = kinematic.filter(|(_, body)| body.motion == Motion::Kinematic);
        let support = |(body, _)| Carrier {
            body,
            radius_m: radius_m(scene, body),
            attached: attached(scene, body),
            reach_m: size_m,
        };
        let radius = |node| scene.bodies.get(node).map_or(0.0, |_| radius_m(scene, node));
        Self {
            supports: kinematic.map(support).collect(),
            nodes: dynamic_nodes(scene).into_iter().map(|node| (node, radius(node))).collect(),
        }
    }

    /// Largest speed at which any of them can move a point that it has carried so far [m/s].
    pub(super) fn speed(&mut self, scene: &Scene, state: &State) -> f64 {
        let Self { supports, nodes } = self;
        let speed = |support: &mut Carrier| {
            let body = &scene.bodies[support.body];
            let turning = body.omega.norm();
            if turning > 0.0 {
                support.follow(nodes, state);
            }
            body.velocity.norm() + turning * support.reach_m
        };
        supports.iter_mut().map(speed).fold(0.0, f64::max)
    }
}

impl Carrier {
    /// Takes note of what is within reach: what hangs on it, and what is so near that they may touch.
    fn follow(&mut self, nodes: &[(usize, f64)], state: &State) {
        let centre = state.bodies[self.body].position;
        for &(node, radius_m) in nodes {
            let distance = (node_position(state, node) - centre).norm();
            if self.attached[node] || distance <= self.radius_m + radius_m {
                self.reach_m = self.reach_m.max(distance + radius_m);
            }
        }
    }
}

/// Farthest point of a body's shape from its centre, at most [m].
fn radius_m(scene: &Scene, body: usize) -> f64 {
    let (low, high) = scene.bodies[body].shape.bounds();
    low.abs().sup(&high.abs()).norm()
}

/// Which nodes are joined to a body, directly or through others that move.
fn attached(scene: &Scene, body: usize) -> Vec<bool> {
    let pairs = scene.joints.iter().map(|joint| [joint.a, joint.b]);
    let pairs: Vec<[Endpoint; 2]> =
        pairs.chain(scene.springs.iter().map(|spring| [spring.a, spring.b])).collect();
    let mut reached = vec![false; scene.bodies.len() + scene.particles.len()];
    reached[body] = true;
    loop {
        let mut grown = false;
        for [a, b] in &pairs {
            let (Some(a), Some(b)) = (node(scene, *a), node(scene, *b)) else { continue };
            if reached[a] != reached[b] {
                (reached[a], reached[b], grown) = (true, true, true);
            }
        }
        if !grown {
            return reached;
        }
    }
}
