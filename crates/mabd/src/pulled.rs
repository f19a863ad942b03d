//! Pulls from outside, as changes of the rates that a solve starts from.

use taut_core::{Mat3, Pull, Vec3};

use crate::{affine::Affine, node::Nodes, system::StepScheme};

/// The pulls that are set, and what they come to in the step at hand.
#[derive(Debug, Default)]
pub(crate) struct Pulled {
    set: Vec<Pull>,
    /// Dynamic nodes with the loads on their frames and origins, `f X^T` and `f`.
    loads: Vec<(usize, Affine)>,
    /// Rates of these nodes while loads are added to them.
    kept: Vec<Affine>,
}

impl Pulled {
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
        self.set.is_empty()
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
            let Affine { frame, origin } = nodes.start.get(node);
            let back = frame.try_inverse().unwrap_or_else(|| frame.transpose());
            let local: Vec3 = back * (pull.point - origin);
            let frame: Mat3 = pull.force * local.transpose();
            self.loads.push((node, Affine { frame, origin: pull.force }));
        }
        self.kept.reserve(self.loads.len());
    }

    /// Adds to the rates what moves a free node by `h^2 M^-1 f` in a solve under `scheme`.
    pub(crate) fn press(&mut self, nodes: &mut Nodes, scheme: &StepScheme) {
        // The two-step formula counts four thirds of a rate.
        let h = if scheme.two_step { scheme.h * 0.75 } else { scheme.h };
        for (node, load) in &self.loads {
            let (kind, rate) = (nodes.kind(*node), nodes.rate.get(*node));
            // What has no inertia along an axis is not moved along it by itself.
            let inverse = kind.second.map(|s| if s > 0.0 { 1.0 / s } else { 0.0 });
            let frame = load.frame * Mat3::from_diagonal(&inverse);
            let kick = Affine { frame, origin: load.origin / kind.mass };
            self.kept.push(rate);
            nodes.rate.set(*node, &rate.plus(&kick, h));
        }
    }

    /// Takes back what [`Self::press`] has added.
    pub(crate) fn release(&mut self, nodes: &mut Nodes) {
        for (node, _) in self.loads.iter().rev() {
            if let Some(rate) = self.kept.pop() {
                nodes.rate.set(*node, &rate);
            }
        }
    }
}
