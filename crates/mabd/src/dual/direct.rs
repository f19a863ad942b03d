//! Sparse factorisation: the pattern is analysed once, values once per iteration.

use taut_model::Csr;

use super::{
    blocks::DualBlocks,
    degree::{inverse, least_degree, pattern},
    fronts::Fronts,
    tree::fill,
};

/// Shares by which diagonal entries are raised so that redundant rows keep a positive pivot, the next where
/// the one before was too small. Joints stay open by as much as this times what their forces would move.
const RAISED: [f64; 2] = [1e-15, 1e-13];

/// The same for a matrix that has both signs.
const RAISED_MIXED: f64 = 1e-14;

/// How often multipliers of least size are refined.
const REFINED: u32 = 3;

/// A factorisation and what solving with it takes.
pub(crate) struct Direct {
    fronts: Fronts,
    /// What multipliers of least size leave, and what is added to them.
    room: [Vec<f64>; 2],
}

impl Direct {
    /// Analyses the pattern of positive `blocks`, in their order or of least degree where that fills in less.
    pub(crate) fn new(blocks: &DualBlocks) -> Self {
        let edges = blocks.edges();
        let sizes: Vec<u8> = (0..blocks.count()).map(|e| blocks.size(e) as u8).collect();
        let none = Csr::new(sizes.len(), std::iter::empty());
        let least = inverse(&least_degree(&sizes, &edges, &none));
        let given: Vec<u32> = (0..sizes.len() as u32).collect();
        let [by_degree, as_given] = [&least, &given].map(|order| numbers(&sizes, &edges, order));
        let fronts = if as_given <= by_degree {
            Fronts::new(blocks)
        } else {
            Fronts::ordered(blocks, &least)
        };
        Self { fronts, room: Default::default() }
    }

    /// Analyses the pattern of `blocks` in their order, each scalar row having a pivot of this sign.
    pub(crate) fn mixed(blocks: &DualBlocks, signs: &[i8]) -> Self {
        Self { fronts: Fronts::signed(blocks, signs), room: Default::default() }
    }

    /// Factorises `blocks` and replaces `rhs` by the solution.
    pub(crate) fn solve(&mut self, blocks: &DualBlocks, rhs: &mut [f64]) {
        let done = if self.fronts.is_signed() {
            self.fronts.solve(blocks, RAISED_MIXED, rhs)
        } else {
            RAISED.into_iter().any(|raised| self.fronts.solve(blocks, raised, rhs))
        };
        if !done {
            // A matrix that is not positive is not finite, or will not be: the watchdog sees it.
            rhs.fill(f64::NAN);
        }
    }

    /// Adds to `x` the `change` that the last factorisation makes of the `rest` which it leaves.
    pub(crate) fn correct(&mut self, x: &mut [f64], rest: &[f64], change: &mut Vec<f64>) {
        change.clear();
        change.extend_from_slice(rest);
        self.fronts.substitute(change);
        x.iter_mut().zip(change).for_each(|(x, change)| *x += *change);
    }

    /// Replaces `rhs` by multipliers that are hardly larger than they need be to make up for it but for a share
    /// `noise` [1] of what each row's own multiplier moves: those of Tikhonov, refined [`REFINED`] times. What
    /// redundant rows contradict each other by makes no self-stress then. Whether there is a factorisation.
    pub(crate) fn solve_least(&mut self, blocks: &DualBlocks, rhs: &mut [f64], noise: f64) -> bool {
        if self.fronts.is_signed() {
            return false;
        }
        let [mut rest, mut change] = std::mem::take(&mut self.room);
        rest.clear();
        rest.extend_from_slice(rhs);
        change.clear();
        change.extend_from_slice(rhs);
        let done = self.fronts.solve(blocks, noise, &mut change);
        if done {
            rhs.copy_from_slice(&change);
            for _ in 0..REFINED {
                blocks.subtract_product(&change, &mut rest);
                self.correct(rhs, &rest, &mut change);
            }
        }
        self.room = [rest, change];
        done
    }
}

/// How many numbers the factor has of elements of such `sizes` that `edges` couple, each at its place in the order.
fn numbers(sizes: &[u8], edges: &[[u32; 2]], places: &[u32]) -> usize {
    let mut ordered = vec![0; sizes.len()];
    for (&place, &size) in places.iter().zip(sizes) {
        ordered[place as usize] = usize::from(size);
    }
    let rows = |later: &Vec<u32>| later.iter().map(|&row| ordered[row as usize]).sum::<usize>();
    let filled = fill(&pattern(edges, places));
    filled
        .iter()
        .zip(&ordered)
        .map(|(later, &size)| size * (size + 1) / 2 + size * rows(later))
        .sum()
}
