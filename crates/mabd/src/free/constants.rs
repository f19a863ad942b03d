//! What does not change about four bodies, but with the length of steps.

use std::collections::BTreeMap;

use taut_core::Vec3;
use taut_math::{Fused, LANES, Number};

use crate::{
    body::BodyKind,
    lane::{V, ZERO3},
    local::LocalInverse,
};

/// The constants of four bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupConstants {
    pub(crate) mass: Fused,
    pub(crate) second: V,
    /// As it is stated, and as the solve takes it.
    stated: Fused,
    pub(crate) softness: Fused,
    pub(crate) ratio: Fused,
    pub(crate) rigid: bool,
    /// Inertia over the squared step, the local inverse that goes with it, and `h^2 / m`.
    pub(crate) inertia: V,
    pub(crate) local: LocalInverse<Fused>,
    pub(crate) reach: Fused,
}

/// Where the joints of four bodies are: of bodies that are alike, too, often not at the same places to the last bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupAnchors {
    pub(crate) left: V,
    pub(crate) right: V,
    /// Whether all of them lie on the first axis.
    pub(crate) axial: bool,
}

/// All that does not change about a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupKind<'a> {
    pub(crate) constants: &'a GroupConstants,
    pub(crate) anchors: &'a GroupAnchors,
}

/// Kind of a body and where its joints are.
pub(crate) type Anchored = (BodyKind, Vec3, Vec3);

impl GroupConstants {
    fn new(links: &[Anchored; LANES]) -> Self {
        let lanes =
            |value: &dyn Fn(&Anchored) -> f64| Fused(std::array::from_fn(|k| value(&links[k])));
        Self {
            mass: lanes(&|link| link.0.mass),
            second: vector(links, |link| link.0.second),
            stated: lanes(&|link| link.0.softness),
            softness: Fused::ZERO,
            ratio: lanes(&|link| link.0.ratio),
            rigid: false,
            inertia: ZERO3,
            local: LocalInverse::NONE,
            reach: Fused::ZERO,
        }
    }

    fn set_step(&mut self, h: f64, softness_min: f64) {
        let square = Fused::of(h * h);
        let [s1, s2, s3] = self.second;
        self.inertia = [s1 / square, s2 / square, s3 / square];
        let [s1, s2, s3] = self.inertia;
        let least = Fused::of(softness_min) / s1.max(s2).max(s3);
        self.softness = self.stated.max(least);
        self.rigid = self.softness.0 == [0.0; LANES];
        self.local = LocalInverse::new(self.softness, self.ratio, self.rigid, self.inertia);
        self.reach = square / self.mass;
    }
}

impl GroupAnchors {
    fn new(links: &[Anchored; LANES]) -> Self {
        Self {
            left: vector(links, |link| link.1),
            right: vector(links, |link| link.2),
            axial: links.iter().all(|(_, x, y)| x.yz() == y.yz() && x.yz().norm() == 0.0),
        }
    }
}

fn vector(links: &[Anchored; LANES], value: impl Fn(&Anchored) -> Vec3) -> V {
    std::array::from_fn(|i| Fused(std::array::from_fn(|k| value(&links[k])[i])))
}

/// The constants and the anchors of all bodies by groups, equal ones once.
#[derive(Default)]
pub(crate) struct GroupTable {
    /// Which constants and which anchors each group has.
    of: Vec<[u32; 2]>,
    constants: Vec<GroupConstants>,
    anchors: Vec<GroupAnchors>,
    /// For which length of steps [s] they are.
    h: f64,
}

impl GroupTable {
    /// Those of so many groups, `link` telling what is known of each node.
    pub(crate) fn new(groups: usize, link: impl Fn(usize) -> Anchored) -> Self {
        let (mut known, mut constants) = (BTreeMap::new(), Vec::new());
        let (mut places, mut anchors) = (BTreeMap::new(), Vec::new());
        let numbers = |group: usize| {
            let links: [Anchored; LANES] = std::array::from_fn(|k| link(LANES * group + k));
            let kind = links.iter().flat_map(kind_bits).collect::<Vec<u64>>();
            let place = links.iter().flat_map(anchor_bits).collect::<Vec<u64>>();
            let next = [constants.len() as u32, anchors.len() as u32];
            let of =
                [*known.entry(kind).or_insert(next[0]), *places.entry(place).or_insert(next[1])];
            if of[0] == next[0] {
                constants.push(GroupConstants::new(&links));
            }
            if of[1] == next[1] {
                anchors.push(GroupAnchors::new(&links));
            }
            of
        };
        let of = (0..groups).map(numbers).collect();
        Self { of, constants, anchors, h: f64::NAN }
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.of.len()
    }

    /// Those of all groups.
    pub(crate) fn all(&self) -> GroupKinds<'_> {
        GroupKinds { of: &self.of, constants: &self.constants, anchors: &self.anchors }
    }

    /// Those of a group.
    #[inline(always)]
    pub(crate) fn at(&self, group: usize) -> GroupKind<'_> {
        self.all().at(group)
    }

    /// Makes them those of steps of `h` [s], of bodies at least as soft as `softness_min` in units of their
    /// inertia over `h^2`.
    pub(crate) fn set_step(&mut self, h: f64, softness_min: f64) {
        if self.h != h {
            self.h = h;
            self.constants.iter_mut().for_each(|constants| constants.set_step(h, softness_min));
        }
    }
}

/// The constants and the anchors of consecutive groups.
#[derive(Clone, Copy)]
pub(crate) struct GroupKinds<'a> {
    of: &'a [[u32; 2]],
    constants: &'a [GroupConstants],
    anchors: &'a [GroupAnchors],
}

impl<'a> GroupKinds<'a> {
    /// How many groups there are.
    pub(crate) fn count(&self) -> usize {
        self.of.len()
    }

    /// Those of a group, counted from the first one.
    #[inline(always)]
    pub(crate) fn at(&self, group: usize) -> GroupKind<'a> {
        let [constants, anchors] = self.of[group];
        GroupKind {
            constants: &self.constants[constants as usize],
            anchors: &self.anchors[anchors as usize],
        }
    }

    /// Those of all groups in turn.
    #[inline(always)]
    pub(crate) fn each(self) -> impl Iterator<Item = GroupKind<'a>> {
        (0..self.count()).map(move |group| self.at(group))
    }

    /// Keeps the first `groups` and returns the others.
    pub(crate) fn split_off(&mut self, groups: usize) -> Self {
        Self { of: self.of.split_off(groups..).unwrap_or_default(), ..*self }
    }
}

fn kind_bits((kind, ..): &Anchored) -> impl Iterator<Item = u64> {
    let scalars = [kind.mass, kind.softness, kind.ratio];
    scalars.into_iter().chain(<[f64; 3]>::from(kind.second)).map(f64::to_bits)
}

fn anchor_bits((_, left, right): &Anchored) -> impl Iterator<Item = u64> {
    [*left, *right].into_iter().flat_map(<[f64; 3]>::from).map(f64::to_bits)
}
