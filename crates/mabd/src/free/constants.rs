//! What does not change about four bodies, but with the length of steps.

use std::collections::BTreeMap;

use taut_core::Vec3;

use crate::{
    body::BodyKind,
    lane::{LANES, Lanes, V, ZERO3},
    local::LocalInverse,
};

/// The constants of four bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupConstants {
    pub(crate) mass: Lanes,
    pub(crate) second: V,
    pub(crate) softness: Lanes,
    pub(crate) ratio: Lanes,
    pub(crate) left: V,
    pub(crate) right: V,
    pub(crate) rigid: bool,
    /// Whether all anchors lie on the first axis.
    pub(crate) axial: bool,
    /// Inertia over the squared step, the local inverse that goes with it, and `h^2 / m`.
    pub(crate) inertia: V,
    pub(crate) local: LocalInverse<Lanes>,
    pub(crate) reach: Lanes,
}

/// Kind of a body and where its joints are.
pub(crate) type Anchored = (BodyKind, Vec3, Vec3);

impl GroupConstants {
    fn new(links: &[Anchored; LANES]) -> Self {
        let lanes =
            |value: &dyn Fn(&Anchored) -> f64| Lanes(std::array::from_fn(|k| value(&links[k])));
        let vector = |value: &dyn Fn(&Anchored) -> Vec3| -> [Lanes; 3] {
            std::array::from_fn(|i| lanes(&|link| value(link)[i]))
        };
        Self {
            mass: lanes(&|link| link.0.mass),
            second: vector(&|link| link.0.second),
            softness: lanes(&|link| link.0.softness),
            ratio: lanes(&|link| link.0.ratio),
            left: vector(&|link| link.1),
            right: vector(&|link| link.2),
            axial: links.iter().all(|(_, x, y)| x.yz() == y.yz() && x.yz().norm() == 0.0),
            rigid: links.iter().all(|link| link.0.softness == 0.0),
            inertia: ZERO3,
            local: LocalInverse::NONE,
            reach: Lanes::ZERO,
        }
    }

    /// The number of the constants of these bodies in a list that holds equal ones once.
    pub(crate) fn number(
        links: &[Anchored; LANES],
        known: &mut BTreeMap<Vec<u64>, u32>,
        list: &mut Vec<Self>,
    ) -> u32 {
        let key: Vec<u64> = links.iter().flat_map(bits).collect();
        let next = list.len() as u32;
        let index = *known.entry(key).or_insert(next);
        if index == next {
            list.push(Self::new(links));
        }
        index
    }

    pub(crate) fn set_step(&mut self, h: f64) {
        let square = Lanes::splat(h * h);
        let [s1, s2, s3] = self.second;
        self.inertia = [s1 / square, s2 / square, s3 / square];
        self.local = LocalInverse::new(self.softness, self.ratio, self.rigid, self.inertia);
        self.reach = square / self.mass;
    }
}

fn bits((kind, left, right): &Anchored) -> impl Iterator<Item = u64> {
    let scalars = [kind.mass, kind.softness, kind.ratio];
    let vectors = [kind.second, *left, *right];
    scalars.into_iter().chain(vectors.into_iter().flat_map(<[f64; 3]>::from)).map(f64::to_bits)
}
