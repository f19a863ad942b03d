//! Cholesky factorisation by fronts (Duff and Reid 1983): columns that are eliminated together stand in one dense
//! matrix with the rows that they reach, and what is left of these is handed on to the front that has them next.
//!
//! A matrix that is not positive is taken where it is known of each pivot which sign it has, as `L S L^T` with ones of
//! these signs in `S` (Vanderbei 1995): all is as for a positive one, but that of two factors one has signs.
//!
//! Matrices that have signs follow each other with few differences, as those of the contacts of an island do, and then
//! only the fronts are made anew whose blocks, or whose children, differ: the others come out the same to the last bit.
//!
//! The order should be one that fills in little; a general sparse factorisation spends most of its time beside the
//! products where fronts are as small as those of nets. The smallest of these, all of one pattern, are not fronts here but
//! [`stars`].

mod dense;
mod extend;
mod plan;
mod stars;

use pulp::{Simd, WithSimd};
use taut_math::{Fused, LANES, Number};

use super::blocks::DualBlocks;
use crate::{pages::Pages, simd};
use dense::{Rest, TILE, quads};
use extend::ChildUpdate;
use plan::{Front, FrontPlan};
use stars::Stars;

/// The least rows below a front where [`quads`] are faster: by a third where there are two hundred.
const QUADS_REST_MIN: usize = 72;

/// A factorisation, and room for making it.
pub(crate) struct Fronts {
    stars: Stars,
    plan: FrontPlan,
    /// Signs of the pivots in the order of elimination; empty where all are positive.
    signs: Vec<f64>,
    work: FrontWork,
}

/// What changes from one matrix to the next.
struct FrontWork {
    /// The columns of every front, in strips that end where their diagonals do.
    factor: Pages<f64>,
    /// Those of the front at hand with its own rows, in whole strips.
    square: Vec<f64>,
    /// What fronts leave for others, by the parity of their depth.
    updates: [Pages<f64>; 2],
    /// Values of the matrix before, of which fronts are kept; empty where none are. Which of them are made anew.
    before: Vec<f64>,
    renewed: Vec<bool>,
    /// The right-hand side in the order of elimination, that of one front, and room for sums.
    solution: Vec<f64>,
    local: Vec<f64>,
    sums: Vec<Fused>,
    /// Signs of the front at hand, none where all are positive, and its numbers with the signs of their columns.
    signs: Vec<f64>,
    signed: Vec<f64>,
    /// From how many rows below on fronts go by [`quads`], and the room of these.
    quads_rest_min: usize,
    room: Vec<f64>,
}

impl Fronts {
    /// Prepares for positive matrices with the pattern of `blocks` in their order, the stars first that they begin with.
    pub(crate) fn new(blocks: &DualBlocks) -> Self {
        let mut stars = Stars::new(blocks);
        let places = in_order(blocks.count() - stars.elements);
        let plan = FrontPlan::new(blocks, &places, &stars, false);
        stars.place(blocks.rows(), &plan.order);
        Self::planned(stars, plan, &[])
    }

    /// The same in another order, where each element has its place.
    pub(crate) fn ordered(blocks: &DualBlocks, places: &[u32]) -> Self {
        let stars = Stars::default();
        let plan = FrontPlan::new(blocks, places, &stars, false);
        Self::planned(stars, plan, &[])
    }

    /// Prepares for matrices with the pattern of `blocks` in their order, the pivot of each scalar row having this sign,
    /// all raised by the same share.
    pub(crate) fn signed(blocks: &DualBlocks, signs: &[i8]) -> Self {
        let stars = Stars::default();
        let plan = FrontPlan::new(blocks, &in_order(blocks.count()), &stars, true);
        Self::planned(stars, plan, signs)
    }

    fn planned(stars: Stars, plan: FrontPlan, signs: &[i8]) -> Self {
        let widest = if signs.is_empty() { 0 } else { plan.widest };
        let signs: Vec<f64> = if signs.is_empty() {
            Vec::new()
        } else {
            plan.order.iter().map(|&row| f64::from(signs[row as usize])).collect()
        };
        let work = FrontWork {
            factor: Pages::zeroed(plan.numbers),
            square: vec![0.0; plan.square],
            updates: plan.updates.map(Pages::zeroed),
            before: Vec::new(),
            renewed: vec![true; plan.fronts.len()],
            // With room behind for a tip that there is not.
            solution: vec![0.0; plan.order.len() + stars::ROWS],
            local: vec![0.0; plan.largest],
            sums: vec![Fused::ZERO; plan.largest],
            signs: Vec::with_capacity(plan.largest),
            signed: vec![0.0; widest],
            quads_rest_min: if quads::available() { QUADS_REST_MIN } else { usize::MAX },
            room: vec![0.0; plan.square.isqrt() * quads::ROWS],
        };
        Self { stars, plan, signs, work }
    }

    /// Whether pivots may be negative.
    pub(crate) fn is_signed(&self) -> bool {
        !self.signs.is_empty()
    }

    /// Factorises `blocks` with diagonal entries raised by a share, and replaces `x` by the solution. Where they
    /// are not positive `x` stays as it is, and the answer is no.
    pub(crate) fn solve(&mut self, blocks: &DualBlocks, raised: f64, x: &mut [f64]) -> bool {
        self.run(Some((blocks, raised)), x)
    }

    /// Replaces `x` by the solution under the last factorisation.
    pub(crate) fn substitute(&mut self, x: &mut [f64]) {
        self.run(None, x);
    }

    fn run(&mut self, matrix: Option<(&DualBlocks, f64)>, x: &mut [f64]) -> bool {
        let Self { stars, plan, signs, work } = self;
        for (solution, &row) in work.solution.iter_mut().zip(&plan.order) {
            *solution = x[row as usize];
        }
        if let Some((blocks, raised)) = matrix {
            if !signs.is_empty() {
                work.find_renewed(plan, blocks);
            }
            if !stars.eliminate(blocks, raised) {
                return false;
            }
        }
        work.solution[plan.order.len()..].fill(0.0);
        stars.forwards(x, &mut work.solution);
        let left = &stars.updates;
        let done = simd::dispatch(Solve { plan, signs, left, work, matrix });
        if done {
            for (solution, &row) in work.solution.iter().zip(&plan.order) {
                x[row as usize] = *solution;
            }
            stars.backwards(x, &work.solution);
        }
        done
    }
}

/// The places of so many elements that are in their order.
fn in_order(count: usize) -> Vec<u32> {
    (0..count as u32).collect()
}

/// One solution, of a new matrix where there is one.
struct Solve<'a> {
    plan: &'a FrontPlan,
    signs: &'a [f64],
    /// What stars leave.
    left: &'a [f64],
    work: &'a mut FrontWork,
    matrix: Option<(&'a DualBlocks, f64)>,
}

impl WithSimd for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> bool {
        for (at, front) in self.plan.fronts.iter().enumerate() {
            if let Some((blocks, raised)) = self.matrix
                && self.work.renewed[at]
                && !self.work.eliminate(self.plan, self.signs, at, (blocks, self.left), raised)
            {
                return false;
            }
            // At once, while the columns are still in the caches: reading them takes longest.
            self.work.substitute(self.plan, front, false);
        }
        for (solution, sign) in self.work.solution.iter_mut().zip(self.signs) {
            *solution *= sign;
        }
        for front in self.plan.fronts.iter().rev() {
            self.work.substitute(self.plan, front, true);
        }
        true
    }
}

impl FrontWork {
    /// Finds the fronts of which a block differs from the matrix before, or a child is made anew.
    fn find_renewed(&mut self, plan: &FrontPlan, blocks: &DualBlocks) {
        let is_first = self.before.is_empty();
        if is_first {
            self.before.resize(blocks.values.len(), 0.0);
        }
        for (at, front) in plan.fronts.iter().enumerate() {
            let mut children = plan.children[front.children.clone()].iter();
            let mut renewed = is_first || children.any(|&child| self.renewed[child as usize]);
            for entry in plan.entries.of(at) {
                let from = entry.at as usize;
                let values = from..from + entry.size.map(usize::from).iter().product::<usize>();
                let (now, before) = (&blocks.values[values.clone()], &mut self.before[values]);
                if now != before {
                    before.copy_from_slice(now);
                    renewed = true;
                }
            }
            self.renewed[at] = renewed;
        }
    }

    /// Sums a front up, factorises its columns and leaves its update. Whether there is a factor.
    #[inline(always)]
    fn eliminate(
        &mut self,
        plan: &FrontPlan,
        signs: &[f64],
        at: usize,
        (blocks, left): (&DualBlocks, &[f64]),
        raised: f64,
    ) -> bool {
        let front = &plan.fronts[at];
        let Front { own: wide, rest, .. } = *front;
        let length = wide * LANES;
        let [even, odd] = &mut self.updates;
        let (own, others) = if front.parity == 0 { (even, odd) } else { (odd, even) };
        let update = &mut own[front.update..front.update + rest * rest];
        let square = &mut self.square[..wide * wide];
        let (packed, below) = self.factor[front.panel.clone()].split_at_mut(dense::packed(wide));
        add_blocks(plan, at, (blocks, left), raised, (&mut *square, &mut *below));
        let children = plan.children[front.children.clone()].iter().map(|&child| {
            let child = &plan.fronts[child as usize];
            let numbers = &others[child.update..child.update + child.rest * child.rest];
            ChildUpdate { numbers, width: child.rest, runs: &plan.runs[child.runs.clone()] }
        });
        for child in children.clone() {
            child.add_to_columns((&mut *square, &mut *below), wide);
        }
        let (mut signed_square, mut signed) = (&mut [][..], &mut [][..]);
        if signs.is_empty() {
            if !dense::factorise(square, length) {
                return false;
            }
        } else {
            self.signs.clear();
            self.signs.extend_from_slice(&signs[front.columns.clone()]);
            self.signs.resize(wide, 1.0);
            (signed_square, signed) = self.signed.split_at_mut(wide * wide);
            dense::factorise_signed(square, &self.signs, signed_square);
        }
        dense::pack(square, length, packed);
        if rest > 0 {
            let rest = Rest {
                square: if signs.is_empty() { square } else { signed_square },
                length,
                signs: &self.signs,
                signed: &mut signed[..],
                below,
                update: &mut *update,
            };
            if front.rest >= self.quads_rest_min {
                quads::eliminate_rest(rest, &mut self.room);
            } else {
                dense::eliminate_rest(rest);
            }
            for child in children {
                child.add_to_update(update, front.rest);
            }
        }
        true
    }

    /// Solves one front, or its transpose.
    #[inline(always)]
    fn substitute(&mut self, plan: &FrontPlan, front: &Front, transposed: bool) {
        let Front { own: wide, rest, .. } = *front;
        let panel = &self.factor[front.panel.clone()];
        let x = &mut self.local[..wide + rest];
        let (own, others) = x.split_at_mut(wide);
        let (columns, rows) = (front.columns.clone(), &plan.rows[front.below.clone()]);
        let count = columns.len();
        own[count..].fill(0.0);
        own[..count].copy_from_slice(&self.solution[columns.clone()]);
        others[rows.len()..].fill(0.0);
        for (x, &row) in others.iter_mut().zip(rows) {
            *x = self.solution[row as usize];
        }
        if transposed {
            dense::backwards(panel, wide * LANES, x, &mut self.sums[..wide]);
        } else {
            dense::forwards(panel, wide * LANES, x);
            for (x, &row) in x[wide..].iter().zip(rows) {
                self.solution[row as usize] = *x;
            }
        }
        self.solution[columns].copy_from_slice(&x[..count]);
    }
}

/// Where a number lies in strips that have so many columns.
#[inline(always)]
fn index(row: usize, column: usize, columns: usize) -> usize {
    (row / LANES * columns + column) * LANES + row % LANES
}

/// The columns of a front, square and below, as the blocks of the matrix have them.
#[inline(always)]
fn add_blocks(
    plan: &FrontPlan,
    at: usize,
    (blocks, left): (&DualBlocks, &[f64]),
    raised: f64,
    (square, below): (&mut [f64], &mut [f64]),
) {
    let front = &plan.fronts[at];
    let wide = front.own;
    for i in 0..wide / LANES {
        square[i * wide * LANES..][..(i + 1) * TILE].fill(0.0);
    }
    below.fill(0.0);
    for entry in plan.entries.of(at) {
        match (entry.row as usize).checked_sub(wide) {
            Some(row) => add_block(blocks, entry, row, wide, below),
            None => add_block(blocks, entry, entry.row as usize, wide, square),
        }
    }
    for column in 0..wide {
        let at = index(column, column, wide);
        let filler = column >= front.columns.len();
        square[at] = if filler { 1.0 } else { square[at] * (1.0 + raised) };
    }
    for entry in plan.left.of(at) {
        match (entry.row as usize).checked_sub(wide) {
            Some(row) => add_square::<LANES>(left, entry, row, wide, below),
            None => add_square::<LANES>(left, entry, entry.row as usize, wide, square),
        }
    }
}

/// Adds a block of the matrix to strips from a row of theirs on, of one on the diagonal the lower triangle.
#[inline(always)]
fn add_block(
    blocks: &DualBlocks,
    entry: &plan::Entry,
    row: usize,
    wide: usize,
    strips: &mut [f64],
) {
    let [m, n] = entry.size.map(usize::from);
    let values = &blocks.values[entry.at as usize..entry.at as usize + m * n];
    if [m, n] == [3; 2] {
        return add_square::<1>(&blocks.values, entry, row, wide, strips);
    }
    let column = entry.column as usize;
    let is_diagonal = entry.row == entry.column;
    for (i, values) in values.chunks_exact(n).enumerate() {
        for (j, value) in values.iter().enumerate() {
            let (i, j) = if entry.transposed { (j, i) } else { (i, j) };
            if !is_diagonal || i >= j {
                strips[index(row + i, column + j, wide)] += *value;
            }
        }
    }
}

/// The same for a block of three rows and columns whose numbers are so far `APART`. What it leaves beyond the diagonal is
/// not read.
#[inline(always)]
fn add_square<const APART: usize>(
    values: &[f64],
    entry: &plan::Entry,
    row: usize,
    wide: usize,
    strips: &mut [f64],
) {
    let values = &values[entry.at as usize..][..8 * APART + 1];
    for i in 0..3 {
        let target = &mut strips[index(row + i, entry.column as usize, wide)..][..2 * LANES + 1];
        let by = if entry.transposed { [i, 3 + i, 6 + i] } else { [3 * i, 3 * i + 1, 3 * i + 2] };
        for j in 0..3 {
            target[j * LANES] += values[by[j] * APART];
        }
    }
}

#[cfg(test)]
mod tests;
