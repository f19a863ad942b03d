//! Affine maps, one by one and four side by side.

use taut_core::{Mat3, Vec3};
use taut_math::{Fused, LANES, Number};

use crate::{
    lane::{M, V},
    pages::Pages,
};

/// A frame and an origin; also their increments and rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Affine {
    /// Columns are the body's axes.
    pub(crate) frame: Mat3,
    /// The centre of mass.
    pub(crate) origin: Vec3,
}

impl Affine {
    pub(crate) const ZERO: Self = Self { frame: ZERO3, origin: Vec3::new(0.0, 0.0, 0.0) };

    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self, factor: f64) -> Self {
        Self {
            frame: self.frame + other.frame * factor,
            origin: self.origin + other.origin * factor,
        }
    }

    /// Sum of the products of all entries.
    #[inline(always)]
    pub(crate) fn dot(&self, other: &Self) -> f64 {
        let (f, g) = (self.frame.as_slice(), other.frame.as_slice());
        let (o, p) = (&self.origin, &other.origin);
        // Four sums, which compilers put side by side.
        let mut sums = [f[8] * g[8], o.x * p.x, o.y * p.y, o.z * p.z];
        for k in 0..4 {
            sums[k] += f[k] * g[k] + f[k + 4] * g[k + 4];
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Where a point of the body is [m].
    #[inline(always)]
    pub(crate) fn point(&self, anchor: &Vec3) -> Vec3 {
        self.frame * anchor + self.origin
    }

    #[inline(always)]
    pub(crate) fn times(&self, factor: f64) -> Self {
        Self { frame: self.frame * factor, origin: self.origin * factor }
    }
}

const ZERO3: Mat3 = Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);

/// Affine maps of consecutive nodes, four side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affines {
    /// By columns of the frame, then the origin. What is left over in the last group stands still.
    pub(crate) groups: Pages<[Fused; 12]>,
}

impl Affines {
    /// So many places, all zero but that left-over ones have the frame `rest`.
    pub(crate) fn new(count: usize, rest: f64) -> Self {
        let mut this = Self { groups: Pages::zeroed(count.div_ceil(LANES)) };
        for node in count..this.groups.len() * LANES {
            let place = Affine { frame: Mat3::from_diagonal_element(rest), origin: Vec3::zeros() };
            this.set(node, &place);
        }
        this
    }

    #[inline(always)]
    pub(crate) fn get(&self, node: usize) -> Affine {
        place(&self.groups[node / LANES], node % LANES)
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, node: usize, place: &Affine) {
        let (group, k) = (&mut self.groups[node / LANES], node % LANES);
        for (to, from) in group.iter_mut().zip(place.frame.iter().chain(place.origin.iter())) {
            to.0[k] = *from;
        }
    }

    /// Sets everything to zero.
    pub(crate) fn clear(&mut self) {
        self.groups.fill([Fused::ZERO; 12]);
    }
}

/// The place in one lane of a group.
#[inline(always)]
pub(crate) fn place(group: &[Fused; 12], k: usize) -> Affine {
    Affine {
        frame: Mat3::from_fn(|i, j| group[3 * j + i].0[k]),
        origin: Vec3::new(group[9].0[k], group[10].0[k], group[11].0[k]),
    }
}

/// The frame of a group.
#[inline(always)]
pub(crate) fn frame(group: &[Fused; 12]) -> M {
    let [a, b, c, d, e, f, g, h, i, ..] = *group;
    [[a, b, c], [d, e, f], [g, h, i]]
}

/// The origin of a group.
#[inline(always)]
pub(crate) fn origin(group: &[Fused; 12]) -> V {
    [group[9], group[10], group[11]]
}

/// Makes a group of its frame and origin where it is: made elsewhere first, it is copied by wider reads, which have to wait
/// until it has been written.
#[inline(always)]
pub(crate) fn put(group: &mut [Fused; 12], frame: M, origin: V) {
    for (to, from) in group.iter_mut().zip(frame.as_flattened().iter().chain(&origin)) {
        *to = *from;
    }
}
