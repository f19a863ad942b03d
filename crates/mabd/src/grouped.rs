//! What belongs to nodes, elements or islands, side by side.

/// Members by the number of the group they belong to, those of a group in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grouped<T> {
    /// Where each group begins, and twice the end.
    first: Vec<u32>,
    members: Vec<T>,
}

impl<T: Copy + Default> Grouped<T> {
    /// Groups what comes with the number of its group, of `count`; the room there is, is used again.
    pub(crate) fn fill(&mut self, count: usize, all: impl Iterator<Item = (u32, T)> + Clone) {
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
    pub(crate) fn new(count: usize, all: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut this = Self::default();
        this.fill(count, all);
        this
    }

    /// The members of a group.
    #[inline(always)]
    pub(crate) fn of(&self, group: usize) -> &[T] {
        &self.members[self.first[group] as usize..self.first[group + 1] as usize]
    }

    /// How many members there are before those of each group.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.first[..self.first.len() - 1]
    }

    /// How many groups there are.
    pub(crate) fn count(&self) -> usize {
        self.first.len() - 2
    }
}
