//! Units over the nodes that they move, seen from both sides.

use crate::csr::Csr;

/// Which nodes each unit moves, and which units move each node.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Moving nodes of each unit, any number.
    pub nodes_of: Csr,
    /// Units of each node.
    pub units_of: Csr,
}

impl Graph {
    /// Takes over all `(unit, node)` whose node moves, of so many nodes and units.
    pub fn fill(
        &mut self,
        nodes: usize,
        units: usize,
        ends: impl Iterator<Item = (u32, u32)> + Clone,
    ) {
        self.units_of.fill(nodes, ends.clone().map(|(unit, node)| (node, unit)));
        self.nodes_of.fill(units, ends);
    }
}
