//! Graph colouring by hashed priorities, the same on every device.
//!
//! Nodes are coloured greedily in the order of a hash of their index. That is what rounds of
//! "every uncoloured node whose priority beats its uncoloured neighbours takes the smallest free
//! colour" (Jones and Plassmann) arrive at, whatever runs in parallel, and unlike "the lower index
//! wins" it ends after a few rounds on lattices.

/// A finalising hash with good avalanche: neighbours get unrelated priorities.
pub fn priority(node: u32) -> u32 {
    let mut x = node.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Colours `0..n` so that no two neighbours share one; returns the colour of each node.
///
/// `edges` are pairs of distinct nodes; pairs may repeat.
pub fn colour(n: usize, edges: &[(usize, usize)]) -> Vec<u32> {
    let mut colouring = Colouring::new(n);
    colouring.colour(edges);
    colouring.colours
}

/// Colours graphs over the same nodes again and again.
#[derive(Clone, Debug)]
pub struct Colouring {
    /// Nodes by falling priority.
    order: Vec<usize>,
    colours: Vec<u32>,
    start: Vec<usize>,
    items: Vec<usize>,
    taken: Vec<u32>,
}

impl Colouring {
    /// For graphs of `n` nodes.
    pub fn new(n: usize) -> Self {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| {
            let index = u32::try_from(i).expect("fewer than 2^32 nodes");
            (std::cmp::Reverse(priority(index)), i)
        });
        Self { order, colours: vec![], start: vec![], items: vec![], taken: vec![] }
    }

    /// The colour of each node, as [`colour`].
    pub fn colour(&mut self, edges: &[(usize, usize)]) -> &[u32] {
        self.connect(edges);
        self.colours.clear();
        self.colours.resize(self.order.len(), u32::MAX);
        for &i in &self.order {
            let neighbours = &self.items[self.start[i]..self.start[i + 1]];
            self.taken.clear();
            let coloured = neighbours.iter().map(|&j| self.colours[j]);
            self.taken.extend(coloured.filter(|&c| c != u32::MAX));
            self.taken.sort_unstable();
            self.taken.dedup();
            let free = (0..).zip(&self.taken).take_while(|(c, t)| c == *t).count();
            self.colours[i] = u32::try_from(free).expect("fewer colours than nodes");
        }
        &self.colours
    }

    /// Sorts both ends of all edges by node.
    fn connect(&mut self, edges: &[(usize, usize)]) {
        let n = self.order.len();
        self.start.clear();
        self.start.resize(n + 1, 0);
        for &(a, b) in edges {
            self.start[a] += 1;
            self.start[b] += 1;
        }
        let mut total = 0;
        for start in &mut self.start {
            total += *start;
            *start = total;
        }
        self.items.clear();
        self.items.resize(edges.len() * 2, 0);
        // Filled from the back, so that each start ends up where its node's neighbours begin.
        for &(a, b) in edges.iter().rev() {
            for (from, to) in [(b, a), (a, b)] {
                self.start[from] -= 1;
                self.items[self.start[from]] = to;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_never_share_a_colour() {
        let side = 20;
        let mut edges = vec![];
        for i in 0..side * side {
            if i % side + 1 < side {
                edges.push((i, i + 1));
            }
            if i + side < side * side {
                edges.push((i, i + side));
            }
        }
        let colours = colour(side * side, &edges);
        assert!(edges.iter().all(|&(a, b)| colours[a] != colours[b]));
        assert!(colours.iter().all(|&c| c <= 4), "a lattice of degree four needs at most five");
    }

    #[test]
    fn lonely_nodes_take_the_first_colour() {
        assert_eq!(colour(3, &[]), [0, 0, 0]);
    }
}
