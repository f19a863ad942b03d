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
    let neighbours = Neighbours::new(n, edges);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| {
        let index = u32::try_from(i).expect("fewer than 2^32 nodes");
        (std::cmp::Reverse(priority(index)), i)
    });
    let mut colours = vec![u32::MAX; n];
    let mut taken = Vec::new();
    for i in order {
        taken.clear();
        taken.extend(neighbours.of(i).iter().map(|&j| colours[j]).filter(|&c| c != u32::MAX));
        taken.sort_unstable();
        taken.dedup();
        let free = (0..).zip(&taken).take_while(|(c, t)| c == *t).count();
        colours[i] = u32::try_from(free).expect("fewer colours than nodes");
    }
    colours
}

struct Neighbours {
    start: Vec<usize>,
    items: Vec<usize>,
}

impl Neighbours {
    fn new(n: usize, edges: &[(usize, usize)]) -> Self {
        let mut start = vec![0; n + 1];
        for &(a, b) in edges {
            start[a + 1] += 1;
            start[b + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut items = vec![0; edges.len() * 2];
        for &(a, b) in edges {
            for (from, to) in [(a, b), (b, a)] {
                items[next[from]] = to;
                next[from] += 1;
            }
        }
        Self { start, items }
    }

    fn of(&self, i: usize) -> &[usize] {
        &self.items[self.start[i]..self.start[i + 1]]
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
