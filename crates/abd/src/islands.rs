//! Bodies that are coupled with each other, and with no others, settle by themselves.
//!
//! Joints and contacts that something may come near in an iteration couple bodies. An island whose Newton step is small
//! enough has settled: its bodies stay where they are, and cost nothing, until the step ends or something that has not
//! settled comes near. Beside a chain that swings, a heap at rest takes one iteration. Islands that have not settled go as far
//! along the direction as each can: where hundreds of bodies fly apart, no impact holds up what is not hit.

/// Which of the dynamic bodies are coupled, and which have settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestingIslands {
    /// A body of the same island for each body: the lowest one, but for while they are coupled.
    parent: Vec<u32>,
    settled: Vec<bool>,
    /// By their lowest bodies: whether something in the island keeps it awake.
    kept: Vec<bool>,
}

impl RestingIslands {
    /// So many bodies, none of them settled.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
            settled: vec![false; count],
            kept: vec![false; count],
        }
    }

    /// Whether a body has not settled.
    pub(crate) fn is_awake(&self, body: usize) -> bool {
        !self.settled[body]
    }

    /// How many have not settled.
    pub(crate) fn awake(&self) -> usize {
        self.settled.iter().filter(|settled| !**settled).count()
    }

    /// None has settled.
    pub(crate) fn wake(&mut self) {
        self.settled.fill(false);
    }

    /// Couples the bodies of each pair anew. What has settled keeps its islands and wakes where it is coupled with what
    /// has not.
    pub(crate) fn couple(&mut self, pairs: impl Iterator<Item = [usize; 2]>) {
        for (body, parent) in self.parent.iter_mut().enumerate() {
            if !self.settled[body] {
                *parent = body as u32;
            }
        }
        for pair in pairs {
            let [a, b] = pair.map(|body| self.climb(body));
            self.parent[a.max(b)] = a.min(b) as u32;
        }
        // The lowest body of an island comes first.
        for body in 0..self.parent.len() {
            self.parent[body] = self.parent[self.parent[body] as usize];
        }
        self.keep_awake(|_| true);
        for body in 0..self.parent.len() {
            self.settled[body] &= !self.is_kept(body);
        }
    }

    /// Keeps those islands awake that have a body which is to be.
    pub(crate) fn keep_awake(&mut self, is_to_be: impl Fn(usize) -> bool) {
        self.keep(|islands, body| islands.is_awake(body) && is_to_be(body));
    }

    /// Whether a body is in an island that is kept awake.
    pub(crate) fn is_kept(&self, body: usize) -> bool {
        self.kept[self.root(body)]
    }

    /// The lowest body of the island of a body.
    pub(crate) fn root(&self, body: usize) -> usize {
        self.parent[body] as usize
    }

    /// For each body the most of `values` in its island.
    pub(crate) fn most(&self, values: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(values.len(), 0.0);
        for (body, value) in values.iter().enumerate() {
            let root = self.root(body);
            out[root] = out[root].max(*value);
        }
        for body in 0..values.len() {
            out[body] = out[self.root(body)];
        }
    }

    /// Those islands settle of whose lowest bodies `has_settled` says so.
    pub(crate) fn settle(&mut self, has_settled: impl Fn(&Self, usize) -> bool) {
        for body in 0..self.parent.len() {
            let root = self.root(body);
            // Nothing that is asked about an island changes while its bodies settle.
            self.settled[body] |= has_settled(self, root);
        }
    }

    /// Marks the islands of those bodies of which `keeps` says so.
    fn keep(&mut self, keeps: impl Fn(&Self, usize) -> bool) {
        self.kept.fill(false);
        for body in 0..self.parent.len() {
            if keeps(self, body) {
                let root = self.root(body);
                self.kept[root] = true;
            }
        }
    }

    /// The lowest body known of an island, while islands are coupled.
    fn climb(&mut self, body: usize) -> usize {
        let mut at = body;
        while self.parent[at] as usize != at {
            let above = self.parent[self.parent[at] as usize];
            self.parent[at] = above;
            at = above as usize;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awake(islands: &RestingIslands) -> Vec<usize> {
        (0..islands.settled.len()).filter(|&body| islands.is_awake(body)).collect()
    }

    #[test]
    fn an_island_settles_whole_or_not_at_all() {
        let mut islands = RestingIslands::new(6);
        islands.couple([[0, 1], [4, 3]].into_iter());
        islands.keep_awake(|body| body == 4);
        assert_eq!([2, 3, 4, 5].map(|body| islands.is_kept(body)), [false, true, true, false]);
        islands.settle(|islands, root| !islands.is_kept(root));
        assert_eq!(awake(&islands), [3, 4]);
    }

    #[test]
    fn the_most_of_an_island_counts_for_all_of_it() {
        let mut islands = RestingIslands::new(5);
        islands.couple([[4, 1], [3, 4]].into_iter());
        assert_eq!([0, 1, 2, 3, 4].map(|body| islands.root(body)), [0, 1, 2, 1, 1]);
        let mut most = vec![9.0];
        islands.most(&[1.0, 0.5, 3.0, 2.0, 0.0], &mut most);
        assert_eq!(most, [1.0, 2.0, 3.0, 2.0, 2.0]);
    }

    #[test]
    fn what_has_settled_wakes_whole_when_it_is_met() {
        let mut islands = RestingIslands::new(6);
        islands.couple([[0, 1], [1, 2], [3, 4]].into_iter());
        islands.keep_awake(|body| body >= 3);
        islands.settle(|islands, root| !islands.is_kept(root));
        islands.couple([[3, 4]].into_iter());
        assert_eq!(awake(&islands), [3, 4, 5]);
        islands.couple([[5, 2]].into_iter());
        assert_eq!(awake(&islands), [0, 1, 2, 3, 4, 5], "3 and 4 never settled");
        islands.keep_awake(|body| body == 5);
        islands.settle(|islands, root| !islands.is_kept(root));
        assert_eq!(awake(&islands), [0, 1, 2, 5]);
    }
}
