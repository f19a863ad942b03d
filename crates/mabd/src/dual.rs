//! The dual system `D lambda = b` of all joint rows (Eq. 26 to 28), and the ways to solve it.

pub(crate) mod blocks;
mod cg;
pub(crate) mod direct;
pub(crate) mod dissection;
pub(crate) mod lines;
pub(crate) mod order;
mod tree;

use crate::settings::{Dual, MabdSettings};
use blocks::DualBlocks;
use cg::LineSolver;
use direct::Direct;
use lines::Lines;
use order::{EliminationOrder, GraphShape, Link, couplings};
use tree::Elimination;

/// More joints than this that close loops leave a complement that is better not kept dense.
const CLOSURES_MAX: usize = 24;

/// More elements than this are iterated on. Below, factorising is the safer choice: a net of rigid
/// bodies that is pinned at its corners starts out singular, and gradients take hundreds of iterations.
const DIRECT_MAX: usize = 200_000;

/// How a dual system is solved.
enum Engine {
    /// By elimination in the order of the elements.
    Elimination(Elimination),
    /// By conjugate gradients, or by sweeps, along lines.
    Gradients(Box<LineSolver>),
    Sweeps(Box<LineSolver>),
    /// By a sparse factorisation in an order of its own.
    Direct(Box<Direct>),
}

/// The dual system of a scene.
pub(crate) struct DualSystem {
    /// The matrix; its factor once solved, where that is made in place.
    pub(crate) blocks: DualBlocks,
    engine: Engine,
}

/// Chooses by the graph.
pub(crate) fn choose(wanted: Dual, order: &EliminationOrder) -> Result<Dual, String> {
    let chosen = match (wanted, order.shape) {
        (Dual::Auto, GraphShape::Chains) => Dual::Thomas,
        (Dual::Auto, GraphShape::Trees) => Dual::Tree,
        (Dual::Auto, GraphShape::Graph) if order.closures <= CLOSURES_MAX => Dual::Schur,
        (Dual::Auto, GraphShape::Graph) if order.elements.len() <= DIRECT_MAX => Dual::Direct,
        (Dual::Auto, GraphShape::Graph) => Dual::Cg,
        (Dual::Thomas, GraphShape::Trees | GraphShape::Graph) => {
            return Err("`dual: thomas` needs joints that form chains".to_owned());
        }
        (Dual::Tree, GraphShape::Graph) => {
            return Err("`dual: tree` needs joints without loops".to_owned());
        }
        (Dual::AbaPrinted, GraphShape::Graph) => {
            return Err("`dual: aba_printed` needs joints without loops".to_owned());
        }
        (wanted, _) => wanted,
    };
    Ok(chosen)
}

impl DualSystem {
    /// The system of elements of these sizes between `nodes` nodes, in the order of elimination or, for
    /// iterative solvers, of `lines`.
    pub(crate) fn new(
        chosen: Dual,
        nodes: usize,
        links: &[Link],
        sizes: &[u8],
        lines: &Lines,
        settings: &MabdSettings,
    ) -> Result<Self, String> {
        let pattern = couplings(nodes, links);
        let (blocks, engine) = match chosen {
            Dual::Cg | Dual::Sweeps => {
                let blocks = DualBlocks::new(sizes, &pattern);
                let (tolerance, most) = (settings.tolerance, settings.dual_iterations);
                let solver = Box::new(LineSolver::new(&blocks, lines, tolerance, most));
                let gradients = chosen == Dual::Cg;
                let engine = if gradients { Engine::Gradients } else { Engine::Sweeps };
                (blocks, engine(solver))
            }
            Dual::Direct => {
                let blocks = DualBlocks::new(sizes, &pattern);
                let direct = Direct::new(&blocks)?;
                (blocks, Engine::Direct(Box::new(direct)))
            }
            _ => {
                let blocks = DualBlocks::new(sizes, &tree::fill(&pattern));
                let elimination = Elimination::new(&blocks);
                (blocks, Engine::Elimination(elimination))
            }
        };
        Ok(Self { blocks, engine })
    }

    /// Replaces `rhs` by the multipliers, which may be near `guess`. The matrix may be overwritten.
    pub(crate) fn solve(&mut self, rhs: &mut [f64], guess: &[f64]) {
        match &mut self.engine {
            Engine::Gradients(lines) => {
                lines.gradients(&self.blocks, rhs, guess);
            }
            Engine::Sweeps(lines) => {
                lines.sweeps(&self.blocks, rhs, guess);
            }
            Engine::Elimination(elimination) => {
                elimination.factorise(&mut self.blocks);
                tree::solve(&self.blocks, rhs);
            }
            Engine::Direct(direct) => direct.solve(&self.blocks, rhs),
        }
    }
}

#[cfg(test)]
#[path = "dual_tests.rs"]
mod tests;
