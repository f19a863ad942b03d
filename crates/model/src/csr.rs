//! What belongs to nodes, units or islands, side by side.

/// Members by the number of the group they belong to, those of a group in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Csr<T = u32> {
    /// Where each group begins, and twice the end.
    first: Vec<u32>,
    members: Vec<T>,
}

impl<T: Copy + Default> Csr<T> {
    /// Groups what comes with the number of its group, of `count`; the room there is, is used again.
    pub fn fill(&mut self, count: usize, all: impl Iterator<Item = (u32, T)> + Clone) {
        self.first.clear();
        self.first.resize(count + 2, 0);
        for (group, _) in all.clone() {
            self.first[group as usize + 2] += 1;
        }
        for i in 2..self.first.len() {
            self.first[i] += self.first[i - 1];
        }
        self.members.clear();
        self.members.resize(self.first[count + 1] as usize, T::default());
        for (group, member) in all {
            let at = &mut self.first[group as usize + 1];
            self.members[*at as usize] = member;
            *at += 1;
        }
    }

    /// Groups what comes with the number of its group, of `count`.
    pub fn new(count: usize, all: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut this = Self::default();
        this.fill(count, all);
        this
    }

    /// The members of a group.
    #[inline(always)]
    pub fn of(&self, group: usize) -> &[T] {
        &self.members[self.first[group] as usize..self.first[group + 1] as usize]
    }

    /// The members of a group, to be put in another order.
    #[inline]
    pub fn of_mut(&mut self, group: usize) -> &mut [T] {
        &mut self.members[self.first[group] as usize..self.first[group + 1] as usize]
    }

    /// All members, group by group.
    pub fn members(&self) -> &[T] {
        &self.members
    }

    /// How many members there are before those of each group, and how many in all.
    pub fn starts(&self) -> &[u32] {
        &self.first[..self.first.len().saturating_sub(1)]
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.first.len().saturating_sub(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_within_a_group() {
        let mut csr = Csr::new(3, [(2, 'a'), (0, 'b'), (2, 'c')].into_iter());
        assert_eq!((csr.of(0), csr.of(1), csr.of(2)), (&['b'][..], &[][..], &['a', 'c'][..]));
        assert_eq!((csr.starts(), csr.count()), (&[0, 1, 1, 3][..], 3));
        csr.fill(1, [(0, 'd')].into_iter());
        assert_eq!((csr.members(), csr.starts()), (&['d'][..], &[0, 1][..]));
    }
}
