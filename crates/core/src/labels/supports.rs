//! How fast kinematic bodies can move what they carry.

use super::{dynamic_nodes, node_position};
use crate::{
    Scene, State, Vec3,
    scene::{Body, Motion},
};

/// The kinematic bodies of a scene and how far from their centres they have carried anything.
#[derive(Clone, Debug)]
pub(super) struct Supports {
    carriers: Vec<Carrier>,
    /// What forces move, counted bodies first, with the farthest point of its shape from its centre [m]; none where no
    /// carrier turns.
    nodes: Vec<(usize, f64)>,
}

#[derive(Clone, Debug)]
struct Carrier {
    body: usize,
    /// What it does where it follows a path.
    path: Option<Followed>,
    /// Farthest point of its shape from its centre [m].
    radius_m: f64,
    /// Which nodes hang on it by joints and springs, directly or not; unknown where it does not turn.
    attached: Vec<bool>,
    /// Farthest that anything within its reach has been from its centre [m].
    reach_m: f64,
}

/// How a body has moved along its path so far.
#[derive(Clone, Copy, Debug, Default)]
struct Followed {
    time_s: f64,
    /// Velocity [m/s] and angular velocity [rad/s] at that time.
    rates: [Vec3; 2],
    /// Largest speed [m/s] and rate [rad/s], and largest change of either per second.
    most: [f64; 2],
    change: [f64; 2],
}

impl Followed {
    fn begin(scene: &Scene, body: usize) -> Option<Self> {
        let follows = scene.drives.iter().any(|drive| drive.body == body);
        let Body { velocity, omega, .. } = scene.bodies[body];
        follows.then(|| Self { rates: [velocity, omega], ..Self::default() })
    }

    fn follow(&mut self, state: &State, body: usize) {
        let now = [state.bodies[body].velocity, state.bodies[body].omega()];
        let passed = state.time_s - self.time_s;
        for (k, now) in now.into_iter().enumerate() {
            self.most[k] = self.most[k].max(now.norm());
            if passed > 0.0 {
                self.change[k] = self.change[k].max((now - self.rates[k]).norm() / passed);
            }
            self.rates[k] = now;
        }
        self.time_s = state.time_s;
    }
}

impl Supports {
    /// Those of `scene`; `size_m` is within the reach of each.
    pub(super) fn new(scene: &Scene, size_m: f64) -> Self {
        let kinematic = scene.bodies.iter().enumerate();
        let kinematic = kinematic.filter(|(_, body)| body.motion == Motion::Kinematic);
        let carrier = |(body, found): (usize, &Body)| Carrier {
            body,
            radius_m: radius_m(scene, body),
            path: Followed::begin(scene, body),
            attached: if turns(scene, body, found) { attached(scene, body) } else { Vec::new() },
            reach_m: size_m,
        };
        let carriers: Vec<Carrier> = kinematic.map(carrier).collect();
        let radius = |node| scene.bodies.get(node).map_or(0.0, |_| radius_m(scene, node));
        let turning = |carrier: &Carrier| turns(scene, carrier.body, &scene.bodies[carrier.body]);
        let nodes = if carriers.iter().any(turning) {
            dynamic_nodes(scene).into_iter().map(|node| (node, radius(node))).collect()
        } else {
            Vec::new()
        };
        Self { carriers, nodes }
    }

    /// Largest speed at which any of them can move a point that it has carried so far [m/s]. Those that follow paths
    /// count with the largest speeds that they have had, and with what has changed these since [m/s^2].
    pub(super) fn speed(&mut self, scene: &Scene, state: &State) -> f64 {
        let Self { carriers, nodes } = self;
        let speed = |carrier: &mut Carrier| {
            let body = &scene.bodies[carrier.body];
            if turns(scene, carrier.body, body) {
                carrier.follow(nodes, state);
            }
            if let Some(path) = &mut carrier.path {
                path.follow(state, carrier.body);
                return path.most[0] + path.most[1] * carrier.reach_m;
            }
            body.velocity.norm() + body.omega.norm() * carrier.reach_m
        };
        carriers.iter_mut().map(speed).fold(0.0, f64::max)
    }

    /// Largest acceleration that any of them has had at a point that it carries [m/s^2]: none at constant velocities.
    pub(super) fn acceleration(&self) -> f64 {
        let of = |carrier: &Carrier| {
            let Followed { most, change, .. } = carrier.path?;
            Some(change[0] + (change[1] + most[1] * most[1]) * carrier.reach_m)
        };
        self.carriers.iter().filter_map(of).fold(0.0, f64::max)
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

fn turns(scene: &Scene, index: usize, body: &Body) -> bool {
    body.omega.norm() > 0.0 || scene.drives.iter().any(|drive| drive.body == index)
}

/// Farthest point of a body's shape from its centre, at most [m].
fn radius_m(scene: &Scene, body: usize) -> f64 {
    let (low, high) = scene.bodies[body].shape.bounds();
    low.abs().sup(&high.abs()).norm()
}

/// Which nodes are joined to a body, directly or through others.
fn attached(scene: &Scene, body: usize) -> Vec<bool> {
    let mut neighbours = vec![Vec::new(); scene.bodies.len() + scene.particles.len()];
    let joints = scene.joints.iter().map(|joint| [joint.a, joint.b]);
    for ends in joints.chain(scene.springs.iter().map(|spring| [spring.a, spring.b])) {
        if let [Some(a), Some(b)] = ends.map(|end| scene.node(end)) {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    let mut reached = vec![false; neighbours.len()];
    reached[body] = true;
    let mut open = vec![body];
    while let Some(node) = open.pop() {
        for &next in &neighbours[node] {
            if !reached[next] {
                reached[next] = true;
                open.push(next);
            }
        }
    }
    reached
}
