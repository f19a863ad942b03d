//! Elements of stars, which are eliminated before all fronts, four stars side by side.
//!
//! The joints of a hub of a net are coupled with each other, and each of them with the joint at the other end of its rod,
//! its tip: twelve rows with twelve below, in the same pattern everywhere. With fronts so small it takes longer to find where
//! numbers are than to calculate. What stars leave couples their tips as if these were the joints of one body.

mod factor;

use taut_math::{Fused, LANES};

use super::super::{blocks::DualBlocks, order::STAR};
use crate::{
    lane::pair,
    pages::Pages,
    simd::{self, Once},
};
use factor::{PAIRS, StarFactor, StarRows, UPDATE};

/// No element, and the place of what there is not.
const NONE: u32 = u32::MAX;

/// Rows of an element.
pub(super) const ROWS: usize = 3;

/// The most elements of a star.
const ELEMENTS: usize = *STAR.end();

/// Elements from the `first` one on, and the tips of these, [`NONE`] where one has none.
#[derive(Clone, Copy, Debug)]
struct Star {
    first: usize,
    count: usize,
    tips: [u32; ELEMENTS],
}

/// Four stars, by lanes; what there is not is [`NONE`].
#[derive(Clone, Debug)]
struct StarGroup {
    /// First values of the blocks of the matrix between elements, and of those between tips and their elements.
    own: [[u32; LANES]; PAIRS],
    tips: [[u32; LANES]; ELEMENTS],
    /// First rows of the elements and of the tips in the matrix; the latter in the order of elimination once
    /// they are placed.
    rows: [[u32; LANES]; ELEMENTS],
    tip_rows: [[u32; LANES]; ELEMENTS],
}

/// A block that a star leaves for two of its tips.
#[derive(Clone, Copy, Debug)]
pub(super) struct StarBlock {
    pub(super) row: u32,
    pub(super) column: u32,
    /// Its first number among the updates, by rows; the next one is [`LANES`] later.
    pub(super) at: u32,
}

/// The stars of a matrix.
#[derive(Default)]
pub(super) struct Stars {
    /// How many elements they have, the first ones of the matrix.
    pub(super) elements: usize,
    stars: Vec<Star>,
    groups: Vec<StarGroup>,
    factors: Pages<StarFactor>,
    /// What they leave for their tips, by four stars, block, number and lane.
    pub(super) updates: Pages<f64>,
    /// What solving forwards leaves.
    solutions: Vec<StarRows>,
}

impl Stars {
    /// Finds the stars that the elements of `blocks` begin with.
    pub(super) fn new(blocks: &DualBlocks) -> Self {
        let stars = find(blocks);
        let groups: Vec<_> = stars.chunks(LANES).map(|four| StarGroup::new(blocks, four)).collect();
        Self {
            elements: stars.last().map_or(0, |star| star.first + star.count),
            factors: Pages::zeroed(groups.len()),
            updates: Pages::zeroed(groups.len() * UPDATE),
            solutions: vec![Default::default(); groups.len()],
            stars,
            groups,
        }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.stars.len()
    }

    /// The blocks that they leave.
    pub(super) fn left(&self) -> impl Iterator<Item = StarBlock> {
        let pairs = || (0..ELEMENTS).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let of_star = move |(s, star): (usize, &Star)| {
            let (tips, first) = (star.tips, s / LANES * UPDATE + s % LANES);
            pairs().map(move |(i, j)| {
                let at = first + pair(i, j) * ROWS * ROWS * LANES;
                StarBlock { row: tips[i], column: tips[j], at: at as u32 }
            })
        };
        let all = self.stars.iter().enumerate().flat_map(of_star);
        all.filter(|block| block.row != NONE && block.column != NONE)
    }

    /// Tells where each row of the matrix comes in the `order` of elimination; rows of tips that there are not lie behind.
    pub(super) fn place(&mut self, rows: usize, order: &[u32]) {
        let mut places = vec![NONE; rows];
        order.iter().zip(0..).for_each(|(&row, place)| places[row as usize] = place);
        for row in self.groups.iter_mut().flat_map(|group| group.tip_rows.as_flattened_mut()) {
            *row = places.get(*row as usize).map_or(order.len() as u32, |&place| place);
        }
    }

    /// Eliminates the stars of `blocks` with diagonal entries raised by a share. Whether all pivots are positive.
    pub(super) fn eliminate(&mut self, blocks: &DualBlocks, raised: f64) -> bool {
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                let mut good = true;
                let updates = self.updates.chunks_exact_mut(UPDATE);
                let all = self.groups.iter().zip(&mut *self.factors).zip(updates);
                for ((group, factor), update) in all {
                    factor.gather(group, &blocks.values, Fused([1.0 + raised; LANES]));
                    good &= factor.factorise();
                    factor.leave(update);
                }
                good
            },
        )
    }

    /// Solves the rows of stars in `x`, and takes away from the others' `solution`, in the order of elimination and with
    /// room for a tip behind, what these make.
    pub(super) fn forwards(&mut self, x: &[f64], solution: &mut [f64]) {
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                let groups = self.groups.iter().zip(&*self.factors).zip(&mut self.solutions);
                for ((group, factor), own) in groups {
                    let mut left = Default::default();
                    *own = group.rows.map(|rows| gathered(x, rows));
                    factor.forwards(own, &mut left);
                    for (left, rows) in left.iter().zip(&group.tip_rows) {
                        for (lane, &row) in rows.iter().enumerate() {
                            let out = &mut solution[row as usize..][..ROWS];
                            for r in 0..ROWS {
                                out[r] += left[r].0[lane];
                            }
                        }
                    }
                }
            },
        );
    }

    /// Replaces the rows of stars in `x`, the `solution` of the others being known.
    pub(super) fn backwards(&self, x: &mut [f64], solution: &[f64]) {
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                let groups = self.groups.iter().zip(&*self.factors).zip(&self.solutions);
                for ((group, factor), own) in groups {
                    let mut own = *own;
                    let tips = group.tip_rows.map(|rows| gathered(solution, rows));
                    factor.backwards(&mut own, &tips);
                    for (own, rows) in own.iter().zip(&group.rows) {
                        for (lane, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE)
                        {
                            let out = &mut x[row as usize..][..ROWS];
                            for r in 0..ROWS {
                                out[r] = own[r].0[lane];
                            }
                        }
                    }
                }
            },
        );
    }
}

/// The rows of an element of each lane; zeros where there is none.
#[inline(always)]
fn gathered(x: &[f64], rows: [u32; LANES]) -> [Fused; ROWS] {
    let mut out = [Fused::default(); ROWS];
    for lane in 0..LANES {
        if rows[lane] != NONE {
            let x = &x[rows[lane] as usize..][..ROWS];
            for r in 0..ROWS {
                out[r].0[lane] = x[r];
            }
        }
    }
    out
}

/// All stars that elements begin with, up to the first one with a tip of another.
fn find(blocks: &DualBlocks) -> Vec<Star> {
    let mut stars: Vec<Star> = Vec::new();
    let mut is_tip = vec![false; blocks.count()];
    let mut first = 0;
    while let Some(star) = STAR.rev().find_map(|count| Star::at(blocks, first, count))
        && !is_tip[first..first + star.count].contains(&true)
    {
        for &tip in star.tips.iter().filter(|tip| **tip != NONE) {
            is_tip[tip as usize] = true;
        }
        first += star.count;
        stars.push(star);
    }
    stars
}

impl Star {
    /// The star of so many elements from `first` on, if that is what they are.
    fn at(blocks: &DualBlocks, first: usize, count: usize) -> Option<Self> {
        let end = first + count;
        if end > blocks.count() {
            return None;
        }
        let mut tips = [NONE; ELEMENTS];
        for (element, tip) in (first..end).zip(&mut tips) {
            let (own, others) = blocks.below(element).split_at_checked(end - 1 - element)?;
            let is_own =
                own.iter().zip(element + 1..).all(|(block, row)| block.row as usize == row);
            let sizes = others.iter().map(|block| blocks.size(block.row as usize));
            let fits = sizes.chain([blocks.size(element)]).all(|size| size == ROWS);
            if !is_own || !fits || others.len() > 1 {
                return None;
            }
            *tip = others.first().map_or(NONE, |block| block.row);
        }
        let is_twice = |i: usize| tips[i] != NONE && tips[..i].contains(&tips[i]);
        (!(0..count).any(is_twice)).then_some(Self { first, count, tips })
    }
}

impl StarGroup {
    fn new(blocks: &DualBlocks, stars: &[Star]) -> Self {
        let mut this = Self {
            own: [[NONE; LANES]; PAIRS],
            tips: [[NONE; LANES]; ELEMENTS],
            rows: [[NONE; LANES]; ELEMENTS],
            tip_rows: [[NONE; LANES]; ELEMENTS],
        };
        for (lane, star) in stars.iter().enumerate() {
            for i in 0..star.count {
                let (element, tip) = (star.first + i, star.tips[i]);
                for j in 0..i {
                    let at = blocks.find(element as u32, star.first + j);
                    this.own[pair(i, j)][lane] = at.unwrap_or(NONE);
                }
                this.own[pair(i, i)][lane] = blocks.diagonal[element];
                this.rows[i][lane] = blocks.first[element];
                this.tips[i][lane] = blocks.find(tip, element).unwrap_or(NONE);
                this.tip_rows[i][lane] =
                    if tip == NONE { NONE } else { blocks.first[tip as usize] };
            }
        }
        this
    }
}
