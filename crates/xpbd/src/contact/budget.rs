//! What friction may exert at the points of one patch.
//!
//! One sweep loads the points of a patch unevenly, so that most of them could not hold their share of what
//! the patch as a whole holds easily. Points are therefore taken to be loaded evenly, one of them may
//! hold as much as two, and together they stay within Coulomb's cone over the sum of their loads.

use taut_math::{V3, Wide};

use super::lanes::{pick, positive};

/// A patch's friction in each lane, as multipliers in the position pass and as impulses in the velocity pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget<W> {
    /// Static and dynamic friction of the whole patch.
    whole: [W; 2],
    /// The same of a single point that holds or slides.
    single: [W; 2],
    /// What all points have been given.
    pub(super) spent: V3<W>,
}

impl<W: Wide> Budget<W> {
    /// The budget of a patch of `count` points under the load `load`.
    #[inline(always)]
    pub(super) fn new(friction: [W; 2], load: W, count: W, spent: V3<W>) -> Self {
        let whole = [friction[0] * load, friction[1] * load];
        let holding = (W::TWO / count).min(W::ONE);
        Self { whole, single: [whole[0] * holding, whole[1] / count], spent }
    }

    /// One where a point sticks, since static friction may give it `new`, which stops it, instead of `old`.
    #[inline(always)]
    pub(super) fn grip(&self, old: V3<W>, new: V3<W>) -> W {
        let spent = self.spent + (new - old);
        let beyond = excess(new, self.single[0]).max(excess(spent, self.whole[0]));
        pick(beyond, W::ZERO, W::ONE)
    }

    /// How much of `more` static friction may add to `new`, which it may give instead of `old`, where `on` asks.
    #[inline(always)]
    pub(super) fn part(&self, on: W, old: V3<W>, new: V3<W>, more: V3<W>) -> W {
        let alone = within(on, new, more, self.single[0]);
        alone.min(within(on, self.spent + (new - old), more, self.whole[0]))
    }

    /// How much of `more` friction may add to what a point has been `given`, where `on` asks.
    #[inline(always)]
    pub(super) fn share(&self, on: W, sticks: W, given: V3<W>, more: V3<W>) -> W {
        let of = |kinds: [W; 2]| pick(sticks, kinds[0], kinds[1]);
        let alone = within(on, given, more, of(self.single));
        alone.min(within(on, self.spent, more, of(self.whole)))
    }
}

/// By how much the square of a vector is above that of a bound that is not negative.
#[inline(always)]
fn excess<W: Wide>(v: V3<W>, bound: W) -> W {
    v.dot(v) - bound * bound
}

/// The largest `t` in [0, 1] with `|start + t way| <= bound`; zero where there is none. Only lanes that are `on` are
/// asked for; a root and divisions are spared where none of them is beyond its bound.
#[inline(always)]
fn within<W: Wide>(on: W, start: V3<W>, way: V3<W>, bound: W) -> W {
    let beyond = positive(excess(start + way, bound)) * on;
    if !beyond.any_above(W::ZERO) {
        return W::ONE;
    }
    let (a, b, c) = (way.dot(way), start.dot(way), excess(start, bound));
    let root = (b * b - a * c).max(W::ZERO).sqrt();
    pick(beyond, ((root - b) / a).max(W::ZERO).min(W::ONE), W::ONE)
}

#[cfg(test)]
mod tests {
    use taut_math::{Number, Real};

    use super::*;

    type Four = <f64 as Real>::Wide;

    #[test]
    fn a_patch_stays_within_its_cone_and_a_point_within_two_shares() {
        let (zero, one, four) = (Four::of(0.0), Four::of(1.0), Four::of);
        let mut budget = Budget::new([four(0.5), four(0.4)], four(8.0), four(4.0), V3::ZERO);
        let x = |x: f64| V3([four(x), zero, zero]);
        let sticks = |budget: &Budget<Four>, old, new| budget.grip(old, new) == one;
        assert!(sticks(&budget, V3::ZERO, x(2.0)) && !sticks(&budget, V3::ZERO, x(2.1)));
        budget.spent = x(3.0);
        assert!(sticks(&budget, x(1.0), x(2.0)), "the patch holds 4 N");
        assert!(!sticks(&budget, V3::ZERO, x(1.1)));
        assert!((budget.part(one, x(1.0), x(1.5), x(2.0)).lane(3) - 0.25).abs() < 1e-12);
        budget.spent = V3::ZERO;
        let slides = budget.share(one, zero, V3::ZERO, x(-8.0)).lane(0);
        assert!((slides - 0.1).abs() < 1e-12, "0.8 N of it");
        assert_eq!(budget.share(one, one, V3::ZERO, x(1.5)), one);
        budget.spent = x(5.0);
        assert_eq!(budget.share(one, zero, V3::ZERO, x(0.5)), zero, "already too much");
    }

    #[test]
    fn lanes_do_not_mind_each_other() {
        let lanes = |lanes: [f64; 4]| Four::from_lanes(lanes);
        let on = lanes([1.0, 1.0, 0.0, 1.0]);
        let way = V3([lanes([1.0, 4.0, 9.0, 2.0]), Four::of(0.0), Four::of(0.0)]);
        assert_eq!(within(on, V3::ZERO, way, Four::of(2.0)), lanes([1.0, 0.5, 1.0, 1.0]));
    }
}
