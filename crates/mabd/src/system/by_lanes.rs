//! Graphs that are solved four bodies at a time.

use crate::{
    chain::Chains, free::SolveTask, joint::JointElement, node::Nodes, settings::Dual, trees::Trees,
};

/// Graphs that are solved four bodies at a time.
pub(super) enum ByLanes {
    Chains(Box<Chains>),
    Trees(Box<Trees>),
}

impl ByLanes {
    /// Those that elements form; `None` where they form others.
    pub(super) fn new(
        chosen: Dual,
        elements: &[JointElement],
        compliance: &[f64],
        nodes: &mut Nodes,
    ) -> Option<Self> {
        match chosen {
            Dual::Thomas if elements.iter().all(JointElement::is_point) => {
                let chains = Chains::new(elements, compliance, nodes)?;
                Some(Self::Chains(Box::new(chains)))
            }
            Dual::Tree => Some(Self::Trees(Box::new(Trees::new(elements, compliance, nodes)?))),
            _ => None,
        }
    }

    pub(super) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        match self {
            Self::Chains(chains) => chains.solve(nodes, task),
            Self::Trees(trees) => trees.solve(nodes, task),
        }
    }

    pub(super) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        match self {
            Self::Chains(chains) => chains.set_active(active, compliance),
            Self::Trees(trees) => trees.set_active(active, compliance),
        }
    }

    pub(super) fn read(&self, lambda: &mut [f64]) {
        match self {
            Self::Chains(chains) => chains.read(lambda),
            Self::Trees(trees) => trees.read(lambda),
        }
    }

    pub(super) fn strain(&self) -> f64 {
        match self {
            Self::Chains(chains) => chains.strain(),
            Self::Trees(trees) => trees.strain(),
        }
    }
}
