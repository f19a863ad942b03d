//! Which contact of the list before each contact continues.

use crate::contact::{Contact, ContactList, NONE};

/// Points that carry no known feature continue the nearest old one within this share of the pair's
/// size: features flicker where faces are parallel, but the point stays where it is.
pub(crate) const NEAR: f64 = 0.05;
/// Least cosine between the normals of contacts that continue each other without a common feature.
const ALIKE: f64 = 0.7;

/// Fills in `previous`. Both lists are sorted by pair, so one pass over both is enough; `near` gives
/// the size [m] of a pair for the nearest-point fallback, or zero for none.
pub(crate) fn continue_from(
    before: &ContactList,
    list: &mut ContactList,
    taken: &mut Vec<bool>,
    near: impl Fn([u32; 2]) -> f64,
) {
    taken.clear();
    taken.resize(before.contacts.len(), false);
    let key = |contact: &Contact| {
        let [a, b] = contact.nodes();
        [a.min(b), a.max(b)]
    };
    let old = &before.contacts;
    let mut first = 0;
    for group in list.contacts.chunk_by_mut(|x, y| key(x) == key(y)) {
        let pair = key(&group[0]);
        while first < old.len() && key(&old[first]) < pair {
            first += 1;
        }
        let mut last = first;
        while last < old.len() && key(&old[last]) == pair {
            last += 1;
        }
        let (candidates, taken) = (&old[first..last], &mut taken[first..last]);
        if !candidates.is_empty() {
            by_feature(group, candidates, taken, first);
            by_distance(group, candidates, taken, first, NEAR * near(group[0].nodes()));
        }
        first = last;
    }
}

fn by_feature(group: &mut [Contact], old: &[Contact], taken: &mut [bool], first: usize) {
    for (place, contact) in group.iter_mut().enumerate() {
        // Contacts mostly keep their order, so the same place is tried first.
        let same = |i: &usize| !taken[*i] && old[*i].feature == contact.feature;
        let found = Some(place).filter(|i| *i < old.len() && same(i));
        if let Some(i) = found.or_else(|| (0..old.len()).find(same)) {
            taken[i] = true;
            contact.previous = (first + i) as u32;
        }
    }
}

fn by_distance(
    group: &mut [Contact],
    old: &[Contact],
    taken: &mut [bool],
    first: usize,
    near: f64,
) {
    for contact in group.iter_mut().filter(|c| c.previous == NONE) {
        let mut best = (None, near * near);
        for (i, candidate) in old.iter().enumerate().filter(|(i, _)| !taken[*i]) {
            let distance = (candidate.anchors()[0] - contact.anchors()[0]).norm_squared();
            if distance < best.1 && candidate.normal.dot(&contact.normal) > ALIKE {
                best = (Some(i), distance);
            }
        }
        if let Some(i) = best.0 {
            taken[i] = true;
            contact.previous = (first + i) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::Vec3;

    use super::*;
    use crate::contact::Site;

    fn contact(bodies: [u32; 2], feature: u64, x: f64) -> Contact {
        Contact {
            sites: [
                Site::Body { node: bodies[0], anchor: Vec3::new(x, 0.0, 0.0) },
                Site::Body { node: bodies[1], anchor: Vec3::zeros() },
            ],
            normal: Vec3::z(),
            gap: 0.0,
            feature,
            previous: NONE,
        }
    }

    fn previous(before: Vec<Contact>, now: Vec<Contact>) -> Vec<u32> {
        let before = ContactList { contacts: before, manifolds: vec![] };
        let mut list = ContactList { contacts: now, manifolds: vec![] };
        continue_from(&before, &mut list, &mut vec![], |_| 1.0);
        list.contacts.iter().map(|c| c.previous).collect()
    }

    #[test]
    fn features_find_each_other_whatever_comes_and_goes() {
        let before = vec![
            contact([0, 1], 7, 0.0),
            contact([0, 1], 8, 1.0),
            contact([0, 4], 7, 0.0),
            contact([2, 3], 7, 0.0),
        ];
        let now = vec![
            contact([0, 1], 8, 5.0),
            contact([0, 1], 7, 1.0),
            contact([0, 2], 7, 0.0),
            contact([2, 3], 9, 0.5),
            contact([2, 3], 7, 0.0),
        ];
        assert_eq!(previous(before, now), [1, 0, NONE, NONE, 3]);
    }

    #[test]
    fn strangers_take_the_nearest_that_is_left() {
        let before =
            vec![contact([0, 1], 1, 0.0), contact([0, 1], 2, 0.03), contact([0, 1], 3, 1.0)];
        let now = vec![contact([0, 1], 2, 0.03), contact([0, 1], 9, 0.02), contact([0, 1], 8, 1.2)];
        assert_eq!(previous(before, now), [1, 0, NONE]);
    }

    #[test]
    fn pairs_are_the_same_from_either_side() {
        let before = vec![contact([4, 0], 1, 0.0), contact([3, 2], 1, 0.0)];
        let now = vec![contact([3, 2], 1, 0.0)];
        assert_eq!(previous(before, now), [1]);
    }
}
