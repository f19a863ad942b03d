//! Which nodes hang together: sets that are joined two by two.

/// Of each node, another of its island, or itself where it stands for all of them.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    of: Vec<u32>,
}

impl Islands {
    /// Takes each of so many nodes for an island of its own.
    pub fn start(&mut self, nodes: usize) {
        self.of.clear();
        self.of.extend((0..).take(nodes));
    }

    /// Takes over what others have joined; the room there is, is used again.
    pub fn start_from(&mut self, other: &Self) {
        self.of.clone_from(&other.of);
    }

    /// Makes one island of those of two nodes.
    pub fn join(&mut self, a: u32, b: u32) {
        let [a, b] = [self.root(a), self.root(b)];
        // The lower stands for both, which keeps paths short where neighbours are numbered in turn.
        self.of[a.max(b) as usize] = a.min(b);
    }

    /// The node that stands for each node's island, the lowest of it.
    pub fn settle(&mut self) -> &[u32] {
        // Nodes stand for none before them, so that those are told by then.
        for node in 0..self.of.len() {
            self.of[node] = self.of[self.of[node] as usize];
        }
        &self.of
    }

    /// What the last [`Self::settle`] found.
    #[inline]
    pub fn settled(&self) -> &[u32] {
        &self.of
    }

    fn root(&self, mut node: u32) -> u32 {
        while self.of[node as usize] != node {
            node = self.of[node as usize];
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_node_stands_for_its_island() {
        let (mut islands, mut more) = (Islands::default(), Islands::default());
        islands.start(6);
        for [a, b] in [[5, 3], [3, 1], [4, 2]] {
            islands.join(a, b);
        }
        assert_eq!(islands.settle(), [0, 1, 2, 1, 2, 1]);
        more.start_from(&islands);
        more.join(2, 0);
        assert_eq!(more.settle(), [0, 1, 0, 1, 0, 1]);
        assert_eq!(islands.settled(), [0, 1, 2, 1, 2, 1]);
    }
}
