//! Which contact of the list before each contact continues.

use crate::{
    contact::{Contact, ContactList, Manifold, NONE},
    name::mix,
};

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
    let key = |contact: &Contact| sorted(contact.nodes());
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

/// What there is to add of a contact that bodies come to.
#[derive(Clone, Copy, Debug)]
pub struct MetContact {
    /// Its gap where bodies were in the answer that it is added to [m].
    pub gap: f64,
    /// Whether it must be added; others are only with one that must.
    pub is_needed: bool,
}

/// The contacts of a list, and those of another for which `adds` gives something, told the places in the first list of those
/// that are at the same point, see [`is_at`]; `size` gives that of a pair [m]. `previous` is the place in the first list.
/// None if none of the other is needed.
pub(crate) fn joined(
    kept: &ContactList,
    found: &ContactList,
    size: impl Fn([u32; 2]) -> f64,
    mut adds: impl FnMut(&Manifold, &Contact, &[u32]) -> Option<MetContact>,
) -> Option<ContactList> {
    let mut gaps = vec![None; found.contacts.len()];
    let mut needed = false;
    let mut at = Vec::new();
    for (known, more) in by_pair(&kept.manifolds, &found.manifolds) {
        for manifold in more {
            let near = NEAR * size(manifold.owners);
            for k in manifold.range() {
                let contact = &found.contacts[k];
                at.clear();
                let others = known.iter().flat_map(Manifold::range);
                let there = others.filter(|&k| is_at(contact, &kept.contacts[k], near));
                at.extend(there.map(|k| k as u32));
                let met = adds(manifold, contact, &at);
                gaps[k] = met.map(|met| met.gap);
                needed |= met.is_some_and(|met| met.is_needed);
            }
        }
    }
    needed.then(|| with_met(kept, found, &gaps))
}

/// The contacts of a list, and those of another that have a gap to be added with. `previous` is the place in the first list.
fn with_met(kept: &ContactList, found: &ContactList, gaps: &[Option<f64>]) -> ContactList {
    let mut out = ContactList::default();
    for (known, more) in by_pair(&kept.manifolds, &found.manifolds) {
        let first = out.contacts.len();
        for manifold in known {
            let contacts = manifold.range();
            let contacts = contacts.map(|k| Contact { previous: k as u32, ..kept.contacts[k] });
            push(&mut out, manifold, contacts);
        }
        let features: Vec<u64> = out.contacts[first..].iter().map(|c| c.feature).collect();
        for manifold in more {
            let added = manifold.range().filter_map(|k| {
                let (gap, contact) = (gaps[k]?, &found.contacts[k]);
                // Features are unique among the contacts of a pair.
                let is_taken = features.contains(&contact.feature);
                let feature = if is_taken {
                    mix(features.len() as u64, contact.feature)
                } else {
                    contact.feature
                };
                Some(Contact { previous: NONE, feature, gap, ..*contact })
            });
            push(&mut out, manifold, added);
        }
    }
    out
}

/// The manifolds of two lists, pair of owners by pair.
fn by_pair<'a>(
    mut first: &'a [Manifold],
    mut second: &'a [Manifold],
) -> impl Iterator<Item = (&'a [Manifold], &'a [Manifold])> {
    let key = |manifold: &Manifold| sorted(manifold.owners);
    std::iter::from_fn(move || {
        let pair = first.first().into_iter().chain(second.first()).map(key).min()?;
        let of_pair = |list: &[Manifold]| list.iter().take_while(|m| key(m) == pair).count();
        let ((a, rest_a), (b, rest_b)) =
            (first.split_at(of_pair(first)), second.split_at(of_pair(second)));
        (first, second) = (rest_a, rest_b);
        Some((a, b))
    })
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Whether two contacts of a pair are at the same point of either, within `near` [m]: what slides stays where it is on one
/// body, and the rim of a disc that spins does on the other.
fn is_at(contact: &Contact, other: &Contact, near: f64) -> bool {
    let mut pairs = contact.anchors().into_iter().zip(other.anchors());
    pairs.any(|(a, b)| (a - b).norm() <= near) && contact.normal.dot(&other.normal) > ALIKE
}

/// Appends contacts as a manifold like another, if there are any.
fn push(out: &mut ContactList, like: &Manifold, contacts: impl Iterator<Item = Contact>) {
    let first = out.contacts.len() as u32;
    out.contacts.extend(contacts);
    let contacts = first..out.contacts.len() as u32;
    if !contacts.is_empty() {
        out.manifolds.push(Manifold { contacts, ..like.clone() });
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

    fn list(contacts: Vec<Contact>) -> ContactList {
        let manifold = |(k, contact): (u32, &Contact)| Manifold {
            owners: contact.nodes(),
            normal: contact.normal,
            contacts: k..k + 1,
            friction: [0.0; 2],
            restitution: 0.0,
        };
        let manifolds = (0..).zip(&contacts).map(manifold).collect();
        ContactList { contacts, manifolds }
    }

    /// What is found once more is told where it was, at the same point of either body and also by another name; what is
    /// found elsewhere is new, also by the same name, and pairs stay sorted.
    #[test]
    fn lists_are_joined_without_what_both_have() {
        let at = |bodies: [u32; 2], feature: u64, [a, b]: [f64; 2]| {
            let mut contact = contact(bodies, feature, a);
            contact.sites[1] = Site::Body { node: bodies[1], anchor: Vec3::new(b, 0.0, 0.0) };
            contact
        };
        let kept = list(vec![at([1, 2], 7, [0.0; 2]), at([3, 4], 7, [0.0; 2])]);
        let found = list(vec![
            at([0, 9], 5, [0.0; 2]),
            at([1, 2], 8, [0.01, -0.5]),
            at([1, 2], 10, [0.5, -0.01]),
            at([1, 2], 7, [0.5; 2]),
            at([1, 2], 9, [0.7; 2]),
            at([3, 5], 1, [0.0; 2]),
        ]);
        let mut told = Vec::new();
        let adds = |_: &Manifold, contact: &Contact, there: &[u32]| {
            told.extend(there.iter().map(|k| (contact.feature, *k)));
            let met = MetContact { gap: 0.25, is_needed: contact.feature == 1 };
            (there.is_empty() && contact.feature != 9).then_some(met)
        };
        let all = joined(&kept, &found, |_| 1.0, adds).unwrap();
        assert_eq!(told, [(8, 0), (10, 0)]);
        let told: Vec<_> = all.contacts.iter().map(|c| (c.nodes(), c.previous, c.gap)).collect();
        let added = |nodes| (nodes, NONE, 0.25);
        let expected =
            [added([0, 9]), ([1, 2], 0, 0.0), added([1, 2]), ([3, 4], 1, 0.0), added([3, 5])];
        assert_eq!(told, expected);
        assert_eq!(all.contacts[0].feature, 5);
        assert_ne!(all.contacts[1].feature, all.contacts[2].feature);
        let ranges = all.manifolds.iter().map(Manifold::range);
        assert!(ranges.eq((0..5).map(|k| k..k + 1)));
        let idle =
            |_: &Manifold, _: &Contact, _: &[u32]| Some(MetContact { gap: 0.25, is_needed: false });
        assert!(joined(&kept, &found, |_| 1.0, idle).is_none());
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
