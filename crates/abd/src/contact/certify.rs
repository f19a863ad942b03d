//! Whether surfaces intersect, exactly, for those who do not take the search along lines at its word.

use super::BarrierContact;

impl BarrierContact {
    /// Two bodies whose surfaces have a common point where they are, if any.
    pub(crate) fn intersecting(&self) -> Option<[u32; 2]> {
        let mut pairs = self.candidates.bodies.iter().copied();
        pairs.find(|&pair| self.search.intersect(&self.sweeps, pair))
    }
}
