//! Pulls from outside, as changes of the rates that a solve starts from.

use taut_core::{
    Mat3, Pull, Quat, Scene, Vec3,
    applied::{Action, AppliedForces},
    constraint::Pose,
    math::{polar_rotation, skew},
    scene::Endpoint,
};

use crate::{affine::Affine, node::Nodes, polar::polar_matrix, system::StepScheme};

/// The pulls that are set, the forces of the scene, and what both come to in the step at hand.
#[derive(Debug, Default)]
pub(crate) struct Pulled {
    set: Vec<Pull>,
    applied: AppliedForces,
    /// How many of the loads pulls make; the rest is of the scene's forces.
    of_pulls: usize,
    loads: Vec<NodeLoad>,
    /// Rates of these nodes while loads are added to them.
    kept: Vec<Affine>,
}

/// What acts on a dynamic node.
#[derive(Clone, Copy, Debug)]
struct NodeLoad {
    node: usize,
    /// On frame and origin, `f X^T` and `f`.
    force: Affine,
    /// What turns it about its centre without straining it [N m].
    torque: Vec3,
}

impl NodeLoad {
    /// A force on a point. It turns a body that has no inertia along some axis, whose frame takes no load along that.
    fn of_force(nodes: &Nodes, node: usize, point: &Vec3, force: &Vec3) -> Self {
        let start = nodes.start.get(node);
        let arm = point - start.origin;
        let flat = nodes.kind(node).second.iter().any(|&s| s <= 0.0);
        let (frame, torque) = if flat {
            (Mat3::zeros(), arm.cross(force))
        } else {
            let back = start.frame.try_inverse().unwrap_or_else(|| start.frame.transpose());
            (force * (back * arm).transpose(), Vec3::zeros())
        };
        Self { node, force: Affine { frame, origin: *force }, torque }
    }

    /// Load on a frame about which a solve is linear: the force's and, for the torque, `[a] A S`, whose acceleration
    /// `[a] A` is that of a rigid body, `I a` being the torque.
    fn on_frame(&self, second: &Vec3, frame: &Mat3) -> Mat3 {
        if self.torque == Vec3::zeros() {
            return self.force.frame;
        }
        let rotation = polar_matrix(frame);
        let local = rotation.tr_mul(&self.torque);
        let about = second.map(|s| second.sum() - s);
        let turn = rotation * local.zip_map(&about, |t, i| if i > 0.0 { t / i } else { 0.0 });
        self.force.frame + skew(&turn) * frame * Mat3::from_diagonal(second)
    }
}

impl Pulled {
    /// No pulls, and the forces of a scene.
    pub(crate) fn of(scene: &Scene) -> Self {
        Self { applied: AppliedForces::of(scene), ..Self::default() }
    }

    /// Replaces the pulls; they count from the next step on.
    pub(crate) fn set(&mut self, pulls: &[Pull]) {
        self.set.clear();
        self.set.extend_from_slice(pulls);
    }

    /// Takes all of them away.
    pub(crate) fn forget(&mut self) {
        self.set.clear();
        self.loads.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.applied.is_empty()
    }

    /// Begins a step of nodes whose last step is committed.
    pub(crate) fn begin(&mut self, nodes: &Nodes) {
        self.loads.clear();
        let bodies = nodes.counts()[0];
        for pull in self.set.iter().filter(|pull| pull.body < bodies) {
            let node = nodes.node_of_body(pull.body) as usize;
            if node >= nodes.count() {
                continue;
            }
            self.loads.push(NodeLoad::of_force(nodes, node, &pull.point, &pull.force));
        }
        self.of_pulls = self.loads.len();
        self.kept.reserve(self.loads.len() + self.applied.most());
    }

    /// Adds the forces of the scene in a step or part of one whose middle is at `middle_s` [s].
    pub(crate) fn apply(&mut self, nodes: &Nodes, middle_s: f64, broken: &[bool]) {
        let Self { applied, loads, of_pulls, .. } = self;
        if applied.is_empty() {
            return;
        }
        loads.truncate(*of_pulls);
        let pose = |end| match end {
            Endpoint::Body(body) => {
                let node = nodes.node_of_body(body);
                let Affine { frame, origin } = nodes.at_start(node);
                let rotation = polar_rotation(&(frame * nodes.axes(node).transpose()));
                Pose { position: origin, rotation }
            }
            Endpoint::World | Endpoint::Particle(_) => {
                Pose { position: Vec3::zeros(), rotation: Quat::identity() }
            }
        };
        applied.each(middle_s, broken, pose, |action| {
            let Action { body, point, force, torque } = action;
            let node = nodes.node_of_body(body) as usize;
            if node < nodes.count() {
                let mut load = NodeLoad::of_force(nodes, node, &point, &force);
                load.torque += torque;
                loads.push(load);
            }
        });
    }

    /// Adds to the rates what moves a free node by `h^2 M^-1 f` in a solve under `scheme`.
    pub(crate) fn press(&mut self, nodes: &mut Nodes, scheme: &StepScheme) {
        // The two-step formula counts four thirds of a rate.
        let h = if scheme.two_step { scheme.h * 0.75 } else { scheme.h };
        for load in &self.loads {
            let (kind, rate) = (nodes.kind(load.node), nodes.rate.get(load.node));
            // What has no inertia along an axis is not moved along it by itself.
            let inverse = kind.second.map(|s| if s > 0.0 { 1.0 / s } else { 0.0 });
            let on_frame = load.on_frame(&kind.second, &nodes.place(load.node as u32).frame);
            let frame = on_frame * Mat3::from_diagonal(&inverse);
            let kick = Affine { frame, origin: load.force.origin / kind.mass };
            self.kept.push(rate);
            nodes.rate.set(load.node, &rate.plus(&kick, h));
        }
    }

    /// Takes back what [`Self::press`] has added.
    pub(crate) fn release(&mut self, nodes: &mut Nodes) {
        for load in self.loads.iter().rev() {
            if let Some(rate) = self.kept.pop() {
                nodes.rate.set(load.node, &rate);
            }
        }
    }
}
