//! The dual system `D lambda = b` of all joint rows (Eq. 26 to 28), and the ways to solve it.

pub(crate) mod blocks;
mod direct;
pub(crate) mod order;
mod tree;

use crate::settings::Dual;
use blocks::Blocks;
use direct::Direct;
use order::{Link, Order, Shape, couplings};
use tree::Elimination;

/// More joints than this that close loops leave a complement that is better not kept dense.
const CLOSURES_MAX: usize = 24;

/// How a dual system is solved.
enum Engine {
    /// By elimination in the order of the elements.
    Elimination(Elimination),
    /// By a sparse factorisation in an order of its own.
    Direct(Box<Direct>),
}

/// The dual system of a scene.
pub(crate) struct DualSystem {
    /// The matrix; its factor once solved, where that is made in place.
    pub(crate) blocks: Blocks,
    engine: Engine,
}

/// Chooses by the graph.
pub(crate) fn choose(wanted: Dual, order: &Order) -> Result<Dual, String> {
    let chosen = match (wanted, order.shape) {
        (Dual::Auto, Shape::Chains) => Dual::Thomas,
        (Dual::Auto, Shape::Trees) => Dual::Tree,
        (Dual::Auto, Shape::Graph) if order.closures <= CLOSURES_MAX => Dual::Schur,
        (Dual::Auto, Shape::Graph) => Dual::Direct,
        (Dual::Thomas, Shape::Trees | Shape::Graph) => {
            return Err("`dual: thomas` needs joints that form chains".to_owned());
        }
        (Dual::Tree, Shape::Graph) => {
            return Err("`dual: tree` needs joints without loops".to_owned());
        }
        (wanted, _) => wanted,
    };
    Ok(chosen)
}

impl DualSystem {
    /// The system of elements of these sizes between `nodes` nodes, in the order of elimination.
    pub(crate) fn new(
        chosen: Dual,
        nodes: usize,
        links: &[Link],
        sizes: &[u8],
    ) -> Result<Self, String> {
        let pattern = couplings(nodes, links);
        let (blocks, engine) = match chosen {
            Dual::Direct => {
                let blocks = Blocks::new(sizes, &pattern);
                let direct = Direct::new(&blocks)?;
                (blocks, Engine::Direct(Box::new(direct)))
            }
            _ => {
                let blocks = Blocks::new(sizes, &tree::fill(&pattern));
                let elimination = Elimination::new(&blocks);
                (blocks, Engine::Elimination(elimination))
            }
        };
        Ok(Self { blocks, engine })
    }

    /// Replaces `rhs` by the multipliers. The matrix may be overwritten.
    pub(crate) fn solve(&mut self, rhs: &mut [f64]) {
        match &mut self.engine {
            Engine::Elimination(elimination) => {
                elimination.factorise(&mut self.blocks);
                tree::solve(&self.blocks, rhs);
            }
            Engine::Direct(direct) => direct.solve(&self.blocks, rhs),
        }
    }

    /// Replaces another `rhs`, the matrix being that of the last [`DualSystem::solve`].
    pub(crate) fn solve_again(&mut self, rhs: &mut [f64]) {
        match &mut self.engine {
            Engine::Elimination(_) => tree::solve(&self.blocks, rhs),
            Engine::Direct(direct) => direct.solve_again(rhs),
        }
    }
}
