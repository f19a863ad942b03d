//! What friction may exert at the points of one patch.
//!
//! One sweep loads the points of a patch unevenly, so that most of them could not hold their share of what
//! the patch as a whole holds easily. Points are therefore taken to be loaded evenly, one of them may
//! hold as much as two, and together they stay within Coulomb's cone over the sum of their loads.

use taut_collide::Grip;
use taut_math::{Real, V3};

/// A patch's friction, as multipliers in the position pass and as impulses in the velocity pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget<R> {
    /// Static and dynamic friction of the whole patch, by grip.
    whole: [R; 2],
    /// The same of a single point that holds or slides.
    single: [R; 2],
    /// What all points have been given.
    pub(super) spent: V3<R>,
}

impl<R: Real> Budget<R> {
    /// The budget of a patch of `count` points under the load `load`.
    pub(super) fn new(friction: [R; 2], load: R, count: R, spent: V3<R>) -> Self {
        let whole = friction.map(|mu| mu * load);
        let holding = (R::TWO / count).min(R::ONE);
        Self { whole, single: [whole[0] * holding, whole[1] / count], spent }
    }

    /// A point sticks where static friction may give it `new`, which stops it, instead of `old`.
    pub(super) fn grip(&self, old: V3<R>, new: V3<R>) -> Grip {
        let spent = self.spent + (new - old);
        if is_within(new, self.single[0]) && is_within(spent, self.whole[0]) {
            Grip::Sticks
        } else {
            Grip::Slides
        }
    }

    /// How much of `more` static friction may add to `new`, which it may give instead of `old`.
    pub(super) fn part(&self, old: V3<R>, new: V3<R>, more: V3<R>) -> R {
        let alone = within(new, more, self.single[0]);
        alone.min(within(self.spent + (new - old), more, self.whole[0]))
    }

    /// How much of `more` friction may add to what a point has been `given`.
    pub(super) fn share(&self, grip: Grip, given: V3<R>, more: V3<R>) -> R {
        let kind = grip as usize;
        let alone = within(given, more, self.single[kind]);
        alone.min(within(self.spent, more, self.whole[kind]))
    }
}

/// Whether a vector is no longer than a bound that is not negative.
#[inline(always)]
fn is_within<R: Real>(v: V3<R>, bound: R) -> bool {
    v.dot(v) <= bound * bound
}

/// The largest `t` in [0, 1] with `|start + t way| <= bound`; zero where there is none.
fn within<R: Real>(start: V3<R>, way: V3<R>, bound: R) -> R {
    if is_within(start + way, bound) {
        return R::ONE;
    }
    let (a, b, c) = (way.dot(way), start.dot(way), start.dot(start) - bound * bound);
    let root = (b * b - a * c).max(R::ZERO).sqrt();
    ((root - b) / a).max(R::ZERO).min(R::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_stays_within_its_cone_and_a_point_within_two_shares() {
        let mut budget = Budget::new([0.5, 0.4], 8.0, 4.0, V3::ZERO);
        let x = |x: f64| V3([x, 0.0, 0.0]);
        let sticks = |budget: &Budget<f64>, old, new| budget.grip(old, new) == Grip::Sticks;
        assert!(sticks(&budget, V3::ZERO, x(2.0)) && !sticks(&budget, V3::ZERO, x(2.1)));
        budget.spent = x(3.0);
        assert!(sticks(&budget, x(1.0), x(2.0)), "the patch holds 4 N");
        assert!(!sticks(&budget, V3::ZERO, x(1.1)));
        assert!((budget.part(x(1.0), x(1.5), x(2.0)) - 0.25).abs() < 1e-12);
        budget.spent = V3::ZERO;
        assert!((budget.share(Grip::Slides, V3::ZERO, x(-8.0)) - 0.1).abs() < 1e-12, "0.8 N of it");
        assert_eq!(budget.share(Grip::Sticks, V3::ZERO, x(1.5)), 1.0);
        budget.spent = x(5.0);
        assert_eq!(budget.share(Grip::Slides, V3::ZERO, x(0.5)), 0.0, "already too much");
    }
}
