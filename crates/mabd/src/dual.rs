//! The dual system `D lambda = b` of all joint rows (Eq. 26 to 28), and the ways to solve it.

pub(crate) mod blocks;
mod cg;
pub(crate) mod degree;
pub(crate) mod direct;
pub(crate) mod dissection;
mod fronts;
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
    /// Where joints close loops, so that rows may be redundant.
    check: Option<Box<ResidualCheck>>,
}

/// The check of what came out of an engine that redundant rows can mislead, and the one that takes over.
struct ResidualCheck {
    /// Largest residual that passes [m or rad].
    tolerance: f64,
    /// Matrix and right-hand side before they were overwritten.
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    rest: Vec<f64>,
    /// Once it was needed.
    direct: Option<Box<Direct>>,
    /// Whether it has taken over since the last load.
    taken_over: bool,
}

impl ResidualCheck {
    fn new(tolerance: f64) -> Self {
        let (matrix, rhs, rest) = Default::default();
        Self { tolerance, matrix, rhs, rest, direct: None, taken_over: false }
    }

    fn keep(&mut self, matrix: Option<&[f64]>, rhs: &[f64]) {
        self.matrix.clear();
        self.matrix.extend_from_slice(matrix.unwrap_or_default());
        self.rhs.clear();
        self.rhs.extend_from_slice(rhs);
    }

    /// Gives `blocks` back what it had before an engine overwrote it.
    fn restore(&self, blocks: &mut DualBlocks) {
        if !self.matrix.is_empty() {
            blocks.values.copy_from_slice(&self.matrix);
        }
    }

    /// Whether multipliers solve the system.
    fn passes(&mut self, blocks: &DualBlocks, multipliers: &[f64]) -> bool {
        self.rest.clear();
        self.rest.extend_from_slice(&self.rhs);
        blocks.subtract_product(multipliers, &mut self.rest);
        self.rest.iter().all(|rest| rest.abs() <= self.tolerance)
    }

    /// Solves by a sparse factorisation, from now on.
    fn take_over(&mut self, blocks: &DualBlocks, rhs: &mut [f64]) {
        let direct = self.direct.get_or_insert_with(|| Box::new(Direct::new(blocks)));
        direct.solve(blocks, rhs);
        self.taken_over = true;
    }
}

/// Chooses by the graph; hard rows may be `redundant` wherever bodies are.
pub(crate) fn choose(
    wanted: Dual,
    order: &EliminationOrder,
    redundant: bool,
) -> Result<Dual, String> {
    let chosen = match (wanted, order.shape) {
        (Dual::Auto, _) if redundant && order.elements.len() <= DIRECT_MAX => Dual::Direct,
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
    /// iterative solvers, of `lines`; what comes out is checked where they form `loops`.
    pub(crate) fn new(
        (chosen, loops): (Dual, bool),
        nodes: usize,
        links: &[Link],
        sizes: &[u8],
        lines: &Lines,
        settings: &MabdSettings,
    ) -> Self {
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
                let direct = Direct::new(&blocks);
                (blocks, Engine::Direct(Box::new(direct)))
            }
            _ => {
                let blocks = DualBlocks::new(sizes, &tree::fill(&pattern));
                let elimination = Elimination::new(&blocks);
                (blocks, Engine::Elimination(elimination))
            }
        };
        let check = loops.then(|| Box::new(ResidualCheck::new(settings.tolerance)));
        Self { blocks, engine, check }
    }

    /// Whether a sparse factorisation solves the system now.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.engine, Engine::Direct(_))
            || self.check.as_ref().is_some_and(|check| check.taken_over)
    }

    /// Begins again with the engine that was chosen.
    pub(crate) fn forget(&mut self) {
        if let Some(check) = &mut self.check {
            check.taken_over = false;
        }
    }

    /// Replaces `rhs` by the multipliers, which may be near `guess`. The matrix may be overwritten.
    pub(crate) fn solve(&mut self, rhs: &mut [f64], guess: &[f64]) {
        let blocks = &mut self.blocks;
        let mut check = self.check.as_deref_mut();
        if let Some(check) = check.as_mut().filter(|check| check.taken_over) {
            return check.take_over(blocks, rhs);
        }
        match &mut self.engine {
            Engine::Gradients(lines) => {
                if let Some(check) = &mut check {
                    check.keep(None, rhs);
                }
                let converged = lines.gradients(blocks, rhs, guess).is_some();
                if let Some(check) = check.filter(|_| !converged) {
                    rhs.copy_from_slice(&check.rhs);
                    check.take_over(blocks, rhs);
                }
            }
            Engine::Sweeps(lines) => {
                lines.sweeps(blocks, rhs, guess);
            }
            Engine::Elimination(elimination) => {
                if let Some(check) = &mut check {
                    check.keep(Some(&blocks.values), rhs);
                }
                elimination.factorise(blocks);
                tree::solve(blocks, rhs);
                if let Some(check) = check {
                    check.restore(blocks);
                    if !check.passes(blocks, rhs) {
                        rhs.copy_from_slice(&check.rhs);
                        check.take_over(blocks, rhs);
                    }
                }
            }
            Engine::Direct(direct) => direct.solve(blocks, rhs),
        }
    }

    /// Replaces `rhs` by multipliers of least size, where a sparse factorisation solves the system, see
    /// [`Direct::solve_least`]. Whether it did.
    pub(crate) fn solve_least(&mut self, rhs: &mut [f64], noise: f64) -> bool {
        let direct = match (&mut self.engine, self.check.as_deref_mut()) {
            (Engine::Direct(direct), _) => Some(direct),
            (_, Some(ResidualCheck { direct: Some(direct), taken_over: true, .. })) => Some(direct),
            _ => None,
        };
        direct.is_some_and(|direct| direct.solve_least(&self.blocks, rhs, noise))
    }
}

#[cfg(test)]
#[path = "dual_tests.rs"]
mod tests;
