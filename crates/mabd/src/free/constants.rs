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
    pub(crate) left: V,
    pub(crate) right: V,
    pub(crate) rigid: bool,
    /// Whether all anchors lie on the first axis.
    pub(crate) axial: bool,
    /// Inertia over the squared step, the local inverse that goes with it, and `h^2 / m`.
    pub(crate) inertia: V,
    pub(crate) local: LocalInverse<Fused>,
    pub(crate) reach: Fused,
}

/// Kind of a body and where its joints are.
pub(crate) type Anchored = (BodyKind, Vec3, Vec3);

impl GroupConstants {
    fn new(links: &[Anchored; LANES]) -> Self {
        let lanes =
            |value: &dyn Fn(&Anchored) -> f64| Fused(std::array::from_fn(|k| value(&links[k])));
        let vector = |value: &dyn Fn(&Anchored) -> Vec3| -> [Fused; 3] {
            std::array::from_fn(|i| lanes(&|link| value(link)[i]))
        };
        Self {
            mass: lanes(&|link| link.0.mass),
            second: vector(&|link| link.0.second),
            stated: lanes(&|link| link.0.softness),
            softness: Fused::ZERO,
            ratio: lanes(&|link| link.0.ratio),
            left: vector(&|link| link.1),
            right: vector(&|link| link.2),
            axial: links.iter().all(|(_, x, y)| x.yz() == y.yz() && x.yz().norm() == 0.0),
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

/// The constants of all bodies by groups, equal ones once.
#[derive(Default)]
pub(crate) struct GroupTable {
    /// Which constants each group has.
    pub(crate) of: Vec<u32>,
    pub(crate) list: Vec<GroupConstants>,
    /// For which length of steps [s] they are.
    h: f64,
}

impl GroupTable {
    /// Those of so many groups, `link` telling what is known of each node.
    pub(crate) fn new(groups: usize, link: impl Fn(usize) -> Anchored) -> Self {
        let (mut known, mut list) = (BTreeMap::new(), Vec::new());
        let number = |group: usize| {
            let links: [Anchored; LANES] = std::array::from_fn(|k| link(LANES * group + k));
            let next = list.len() as u32;
            let index =
                *known.entry(links.iter().flat_map(bits).collect::<Vec<u64>>()).or_insert(next);
            if index == next {
                list.push(GroupConstants::new(&links));
            }
            index
        };
        let of = (0..groups).map(number).collect();
        Self { of, list, h: f64::NAN }
    }

    /// Those of a group.
    #[inline(always)]
    pub(crate) fn at(&self, group: usize) -> &GroupConstants {
        &self.list[self.of[group] as usize]
    }

    /// Makes them those of steps of `h` [s], of bodies at least as soft as `softness_min` in units of their
    /// inertia over `h^2`.
    pub(crate) fn set_step(&mut self, h: f64, softness_min: f64) {
        if self.h != h {
            self.h = h;
            self.list.iter_mut().for_each(|constants| constants.set_step(h, softness_min));
        }
    }
}

fn bits((kind, left, right): &Anchored) -> impl Iterator<Item = u64> {
    let scalars = [kind.mass, kind.softness, kind.ratio];
    let vectors = [kind.second, *left, *right];
    scalars.into_iter().chain(vectors.into_iter().flat_map(<[f64; 3]>::from)).map(f64::to_bits)
}
