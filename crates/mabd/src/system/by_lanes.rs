//! Graphs that are solved four bodies at a time.

use taut_core::Mat3;
use taut_math::LANES;

use crate::{
    chain::Chains,
    dual::{lines::Lines, order::Link},
    free::SolveTask,
    graph::BallGraph,
    joint::JointElement,
    node::Nodes,
    settings::{Dual, MabdSettings, Polar},
    trees::Trees,
};

/// Graphs that are solved four bodies at a time.
pub(super) enum ByLanes {
    Chains(Box<Chains>),
    Trees(Box<Trees>),
    Graph(Box<BallGraph>),
}

/// The elements of a scene in the order in which their solver wants them.
pub(super) struct Arranged<'a> {
    pub(super) elements: &'a [JointElement],
    /// Their dynamic nodes.
    pub(super) links: &'a [Link],
    /// Compliance of every row.
    pub(super) compliance: &'a [f64],
    pub(super) lines: &'a Lines,
    pub(super) has_loops: bool,
    /// Least softness of a body, in units of its inertia over `h^2` [1].
    pub(super) softness_min: f64,
}

impl ByLanes {
    /// Those that elements form; `None` where they form others.
    pub(super) fn new(
        chosen: Dual,
        all: &Arranged<'_>,
        settings: &MabdSettings,
        nodes: &mut Nodes,
    ) -> Option<Self> {
        let (elements, compliance) = (all.elements, all.compliance);
        if settings.polar == Polar::Exact {
            let found = match chosen {
                Dual::Thomas if elements.iter().all(JointElement::is_point) => {
                    Chains::new(elements, compliance, nodes).map(|all| Self::Chains(Box::new(all)))
                }
                Dual::Tree => {
                    Trees::new(elements, compliance, nodes).map(|all| Self::Trees(Box::new(all)))
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        let graph = BallGraph::new(
            (chosen, all.has_loops),
            (elements, all.links),
            (compliance, all.softness_min),
            all.lines,
            settings,
            nodes,
        );
        graph.map(|all| Self::Graph(Box::new(all)))
    }

    pub(super) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        match self {
            Self::Chains(chains) => chains.solve(nodes, task),
            Self::Trees(trees) => trees.solve(nodes, task),
            Self::Graph(graph) => graph.solve(nodes, task),
        }
    }

    pub(super) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        match self {
            Self::Chains(chains) => chains.set_active(active, compliance),
            Self::Trees(trees) => trees.set_active(active, compliance),
            Self::Graph(graph) => graph.set_active(active, compliance),
        }
    }

    pub(super) fn read(&self, lambda: &mut [f64]) {
        match self {
            Self::Chains(chains) => chains.read(lambda),
            Self::Trees(trees) => trees.read(lambda),
            Self::Graph(graph) => graph.read(lambda),
        }
    }

    pub(super) fn strain(&self) -> f64 {
        match self {
            Self::Chains(chains) => chains.strain(),
            Self::Trees(trees) => trees.strain(),
            Self::Graph(graph) => graph.strain(),
        }
    }

    /// Forgets all multipliers.
    pub(super) fn forget(&mut self) {
        if let Self::Graph(graph) = self {
            graph.forget();
        }
    }

    /// The rotation of a node in the last solve, where it is not that of the start of the step.
    pub(super) fn rotation(&self, node: usize) -> Option<Mat3> {
        let Self::Graph(graph) = self else { return None };
        let rotation = graph.rotation(node / LANES)?;
        Some(rotation.map(|column| column.map(|entry| entry.0[node % LANES])).into())
    }

    /// Whether a sparse factorisation solves the system now.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self, Self::Graph(graph) if graph.is_direct())
    }
}
