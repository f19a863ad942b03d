//! Up to four pairs of bodies that touch and share nothing that moves, one per lane.

use taut_math::{LANES, Q4, Real, Sym3, V3};

/// Ends of the pairs of a batch: A of every lane, then B.
pub(super) const ENDS: usize = 2 * LANES;

/// Up to four pairs. A lane without one has the world at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct TouchBatch<R: Real> {
    pub(super) slots: [[u32; LANES]; 2],
    /// First patch and one past the last.
    pub(super) patches: [u32; 2],
    /// First point and one past the last.
    pub(super) points: [u32; 2],
    /// Where the inertia of either side is not the same about every axis.
    pub(super) uneven: [Uneven<R::Wide>; 2],
    /// Whether a pair may bounce.
    pub(super) bounces: bool,
    /// Inverse masses [1/kg].
    pub(super) inverse_mass: [R::Wide; 2],
    /// Inverse inertia in body axes [1/(kg m^2)].
    pub(super) inverse_inertia: [Sym3<R::Wide>; 2],
    /// Centres when the contacts were found [m].
    pub(super) origins: [V3<R::Wide>; 2],
    /// Where a body may roll.
    pub(super) rolling: Option<Rolling<R::Wide>>,
}

/// In which lanes inertia turns with its body. Where it does not it is left as it is, so that a pair's result does not
/// depend on which others are beside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Uneven<W> {
    Nowhere,
    Everywhere,
    /// Where that is one.
    Where(W),
}

/// What follows bodies that may roll.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rolling<W> {
    /// One where the body on either side may, which turns its material away from the point.
    pub(super) round: [W; 2],
    /// Rotations when the contacts were found.
    pub(super) origins: [Q4<W>; 2],
}

/// What the points of a patch of each lane share: a patch of one pair has one normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct TouchPatch<W> {
    /// Unit vector from B to A; zero where a lane has no such patch.
    pub(super) normal: V3<W>,
    /// Static and dynamic coefficients of friction.
    pub(super) friction: [W; 2],
    pub(super) restitution: W,
    /// First point and one past the last.
    pub(super) points: [u32; 2],
}
