//! Which contacts are solved together: colours over patches, so that the four patches of a batch share
//! nothing that moves.

use taut_collide::ContactList;
use taut_math::LANES;
use taut_model::{ColourOf, Colouring, Graph};

use crate::settings::ContactOrder;

/// At most this many points of one manifold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LanePatch {
    pub(super) manifold: u32,
    /// First of its contacts in the list.
    pub(super) first: u32,
    pub(super) count: u32,
    colour: u32,
}

/// Points in a patch: what a manifold holds by default.
pub(super) const POINTS: usize = 4;

/// Groups of patches, remade for every list.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    patches: Vec<LanePatch>,
    sorted: Vec<LanePatch>,
    graph: Graph,
    colouring: Colouring,
    starts: Vec<u32>,
}

impl Groups {
    /// Sorts the patches of `list` into groups of up to [`LANES`] and hands each group to `each`.
    pub(super) fn make(
        &mut self,
        list: &ContactList,
        order: ContactOrder,
        moves: impl Fn(usize) -> bool,
        mut each: impl FnMut(&[LanePatch]),
    ) {
        self.split(list);
        match order {
            ContactOrder::List => self.patches.chunks(1).for_each(each),
            ContactOrder::Coloured => {
                let colours = self.colour(list, moves);
                self.sort(colours);
                for colour in self.sorted.chunk_by(|p, q| p.colour == q.colour) {
                    colour.chunks(LANES).for_each(&mut each);
                }
            }
        }
    }

    fn split(&mut self, list: &ContactList) {
        self.patches.clear();
        for (manifold, m) in (0..).zip(&list.manifolds) {
            for first in m.contacts.clone().step_by(POINTS) {
                let count = (m.contacts.end - first).min(POINTS as u32);
                self.patches.push(LanePatch { manifold, first, count, colour: 0 });
            }
        }
    }

    /// Gives each patch, in the order of the list, the first colour that is free at both bodies;
    /// returns how many colours there are.
    fn colour(&mut self, list: &ContactList, moves: impl Fn(usize) -> bool) -> u32 {
        let Self { patches, graph, colouring, .. } = self;
        let bodies = |patch: &LanePatch| list.manifolds[patch.manifold as usize].owners;
        let ends = (0..).zip(&*patches).flat_map(|(i, patch)| bodies(patch).map(|body| (i, body)));
        let moving = ends.filter(|&(_, body)| moves(body as usize));
        graph.fill(moving_end(list), patches.len(), moving);
        let colours = colouring.colour(graph, ColourOf::Units, |_| 0);
        for (patch, &colour) in patches.iter_mut().zip(colours) {
            patch.colour = colour;
        }
        colours.iter().max().map_or(0, |&last| last + 1)
    }

    /// By colour, those with most points first, else as listed.
    fn sort(&mut self, colours: u32) {
        let key = |p: &LanePatch| p.colour as usize * POINTS + POINTS - p.count as usize;
        self.starts.clear();
        self.starts.resize(colours as usize * POINTS + 1, 0);
        self.patches.iter().for_each(|p| self.starts[key(p) + 1] += 1);
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.sorted.clone_from(&self.patches);
        for patch in &self.patches {
            let place = &mut self.starts[key(patch)];
            self.sorted[*place as usize] = *patch;
            *place += 1;
        }
    }
}

/// One past the largest body index in the list.
fn moving_end(list: &ContactList) -> usize {
    list.manifolds.iter().flat_map(|m| m.owners).max().map_or(0, |b| b as usize + 1)
}

#[cfg(test)]
mod tests {
    use taut_collide::Manifold;
    use taut_core::Vec3;

    use super::*;

    fn list(pairs: &[([u32; 2], u32)]) -> ContactList {
        let mut end = 0;
        let manifolds = pairs.iter().map(|&(bodies, count)| {
            let contacts = end..end + count;
            end = contacts.end;
            Manifold {
                owners: bodies,
                normal: Vec3::z(),
                contacts,
                friction: [0.5; 2],
                restitution: 0.0,
            }
        });
        ContactList { manifolds: manifolds.collect(), contacts: vec![] }
    }

    fn groups(list: &ContactList) -> Vec<Vec<LanePatch>> {
        let mut out = vec![];
        // Body 0 does not move.
        Groups::default().make(list, ContactOrder::Coloured, |b| b > 0, |g| out.push(g.to_vec()));
        out
    }

    #[test]
    fn no_group_moves_a_body_twice_and_no_contact_is_lost() {
        let mut pairs = vec![];
        for i in 1..40 {
            pairs.push(([0, i], 1 + i % 7));
            pairs.push(([i, i + 1], 4));
            pairs.push(([i, i + 7], 2));
        }
        let list = list(&pairs);
        let groups = groups(&list);
        let mut seen = vec![false; list.manifolds.last().unwrap().contacts.end as usize];
        for group in &groups {
            assert!(group.len() <= LANES);
            let bodies = group.iter().flat_map(|p| list.manifolds[p.manifold as usize].owners);
            let mut moving: Vec<_> = bodies.filter(|&b| b > 0).collect();
            let count = moving.len();
            moving.sort_unstable();
            moving.dedup();
            assert_eq!(moving.len(), count);
            for contact in group.iter().flat_map(|p| p.first..p.first + p.count) {
                assert!(!std::mem::replace(&mut seen[contact as usize], true));
            }
        }
        assert!(seen.into_iter().all(|s| s));
    }

    #[test]
    fn a_body_with_more_neighbours_than_colours_is_still_served() {
        let pairs: Vec<_> = (2..400).map(|i| ([1, i], 4)).collect();
        let groups = groups(&list(&pairs));
        assert_eq!(groups.len(), pairs.len());
    }
}
