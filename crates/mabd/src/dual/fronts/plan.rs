//! Which columns are eliminated together, and where their numbers go.

use std::ops::Range;

use taut_math::LANES;
use taut_model::Csr;

use super::{
    super::{
        blocks::DualBlocks,
        degree::{inverse, pattern},
        tree::fill,
    },
    dense::packed,
    stars::Stars,
};

/// What an update that is added up elsewhere, and a front as such, cost in products of numbers: the former moves
/// one number where products are summed in registers, the latter is what short loops lose. Where fewer fronts
/// cost less than the zeros that they store, they are joined.
const ADDED: f64 = 8.0;
const FRONT: f64 = 1000.0;

/// No other front.
pub(super) const NONE: u32 = u32::MAX;

/// A block of the matrix in a front.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Its first value, by rows, and how many rows and columns it has there.
    pub(super) at: u32,
    pub(super) size: [u8; 2],
    /// Whether its rows are columns of the front.
    pub(super) transposed: bool,
    /// Where its first row and column lie in the front.
    pub(super) row: u32,
    pub(super) column: u32,
}

/// Consecutive rows of an update whose places in the front that takes it are consecutive, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceRun {
    /// The first row, and how many there are.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Where the first one lies: among the columns of the other front, or `below` these.
    pub(super) place: u32,
    pub(super) below: bool,
}

/// Columns that are eliminated together.
#[derive(Clone, Debug)]
pub(super) struct Front {
    /// Scalar columns, in the order of elimination.
    pub(super) columns: Range<usize>,
    /// Its rows below, in `rows` of the plan, and the runs of these, in `runs`.
    pub(super) below: Range<usize>,
    pub(super) runs: Range<usize>,
    /// Rows of both, filled up to whole strips.
    pub(super) own: usize,
    pub(super) rest: usize,
    /// Its numbers in the factor, and where its update begins among those of its parity.
    pub(super) panel: Range<usize>,
    pub(super) update: usize,
    pub(super) parity: usize,
    /// Those whose updates it takes.
    pub(super) children: Range<usize>,
}

/// Columns in an order of elimination.
#[derive(Clone, Debug, Default)]
pub(super) struct FrontPlan {
    pub(super) fronts: Vec<Front>,
    /// Rows below the fronts, in the order of elimination, and where they lie in the front that takes the update.
    pub(super) rows: Vec<u32>,
    pub(super) runs: Vec<PlaceRun>,
    /// For each front its blocks of the matrix, and those that stars leave.
    pub(super) entries: Csr<Entry>,
    pub(super) left: Csr<Entry>,
    /// Children of all fronts.
    pub(super) children: Vec<u32>,
    /// For each row in the order of elimination that of the matrix.
    pub(super) order: Vec<u32>,
    /// How many numbers the factor, the columns of the widest front, the largest square of columns and the updates of
    /// either parity have, and the largest front rows.
    pub(super) numbers: usize,
    pub(super) widest: usize,
    pub(super) square: usize,
    pub(super) updates: [usize; 2],
    pub(super) largest: usize,
}

/// Elements from `start` to `end` in the order of elimination, and the later ones below.
struct FrontGroup {
    start: usize,
    end: usize,
    below: Vec<u32>,
    /// Scalar columns, and rows below.
    wide: f64,
    deep: f64,
}

impl FrontGroup {
    fn cost(wide: f64, deep: f64) -> f64 {
        // Products of the columns, and of the update.
        let products = wide * wide * (wide / 3.0 + deep) + wide * deep * deep;
        0.5 * (products + ADDED * deep * deep) + FRONT
    }

    /// Whether it is cheaper to eliminate its columns with those of the next group, which takes its update.
    fn joins(&self, next: &Self) -> bool {
        let apart = Self::cost(self.wide, self.deep) + Self::cost(next.wide, next.deep);
        Self::cost(self.wide + next.wide, next.deep) <= apart
    }
}

/// The elements so that each tree of what depends on what is contiguous: parents after their children.
fn postorder(filled: &[Vec<u32>]) -> Vec<u32> {
    let count = filled.len();
    let mut children = vec![Vec::new(); count + 1];
    for (e, rows) in filled.iter().enumerate() {
        children[rows.first().map_or(count, |&row| row as usize)].push(e as u32);
    }
    let mut order = Vec::with_capacity(count);
    let mut stack: Vec<(u32, usize)> = vec![(count as u32, 0)];
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&child) = children[*node as usize].get(*next) {
            *next += 1;
            stack.push((child, 0));
        } else {
            order.push(*node);
            stack.pop();
        }
    }
    order.pop();
    order
}

/// Groups of elements that are eliminated together.
fn groups(filled: &[Vec<u32>], sizes: &[usize]) -> Vec<FrontGroup> {
    let mut groups: Vec<FrontGroup> = Vec::new();
    for (e, rows) in filled.iter().enumerate() {
        let deep = rows.iter().map(|&row| sizes[row as usize]).sum::<usize>() as f64;
        let wide = sizes[e] as f64;
        let mut now = FrontGroup { start: e, end: e + 1, below: rows.clone(), wide, deep };
        while let Some(before) = groups.last()
            && before.below.first().is_some_and(|&row| (row as usize) < now.end)
            && before.joins(&now)
        {
            (now.start, now.wide) = (before.start, now.wide + before.wide);
            groups.pop();
        }
        groups.push(now);
    }
    groups
}

impl FrontPlan {
    /// Columns of `blocks` after those of `stars` by their `places` in an order, but for what that leaves open. Each front
    /// that `keeps` its update has a place of its own for it.
    pub(super) fn new(blocks: &DualBlocks, places: &[u32], stars: &Stars, keeps: bool) -> Self {
        let (count, before) = (places.len(), stars.elements as u32);
        let given = fill(&pattern(&edges(blocks, stars), places));
        let ordered = postorder(&given);
        // Where a place in the order comes to lie, and where an element does.
        let moved = inverse(&ordered);
        let position: Vec<u32> = places.iter().map(|&place| moved[place as usize]).collect();
        let order = inverse(&position);
        let rows = |place: &u32| -> Vec<u32> {
            let rows = given[*place as usize].iter();
            let mut rows: Vec<u32> = rows.map(|&row| moved[row as usize]).collect();
            rows.sort_unstable();
            rows
        };
        let filled: Vec<Vec<u32>> = ordered.iter().map(rows).collect();
        let sizes: Vec<usize> = order.iter().map(|&e| blocks.size((e + before) as usize)).collect();
        let mut starts = vec![0_usize];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let mut this = Self::default();
        for e in order.iter().map(|&e| e + before) {
            this.order.extend(blocks.first[e as usize]..blocks.first[e as usize + 1]);
        }
        let groups = groups(&filled, &sizes);
        let mut group_of = vec![0_u32; count];
        for (g, group) in (0..).zip(&groups) {
            group_of[group.start..group.end].fill(g);
        }
        let parents: Vec<u32> = groups
            .iter()
            .map(|group| group.below.first().map_or(NONE, |&row| group_of[row as usize]))
            .collect();
        this.add_fronts(&groups, &parents, &starts, keeps);
        this.find_runs(&parents);
        this.add_entries((blocks, stars), &position, &group_of, &starts);
        this
    }

    /// The fronts, with where their numbers lie.
    fn add_fronts(
        &mut self,
        groups: &[FrontGroup],
        parents: &[u32],
        starts: &[usize],
        keeps: bool,
    ) {
        let mut depth = vec![0_usize; groups.len()];
        let mut children = vec![Vec::new(); groups.len()];
        for (g, &parent) in parents.iter().enumerate().rev().filter(|(_, p)| **p != NONE) {
            depth[g] = depth[parent as usize] + 1;
        }
        for (g, &parent) in (0..).zip(parents).filter(|(_, p)| **p != NONE) {
            children[parent as usize].push(g);
        }
        // Updates wait for their parents in two stacks, so that a front never stands on what it takes.
        let mut tops = [0; 2];
        for (g, group) in groups.iter().enumerate() {
            let columns = starts[group.start]..starts[group.end];
            let below = self.rows.len();
            for &row in &group.below {
                self.rows.extend(starts[row as usize] as u32..starts[row as usize + 1] as u32);
            }
            let below = below..self.rows.len();
            let (own, rest) =
                (columns.len().next_multiple_of(LANES), below.len().next_multiple_of(LANES));
            let parity = depth[g] % 2;
            if let (Some(&first), false) = (children[g].first(), keeps) {
                tops[1 - parity] = self.fronts[first as usize].update;
            }
            let update = tops[parity];
            tops[parity] += rest * rest;
            self.updates[parity] = self.updates[parity].max(tops[parity]);
            self.largest = self.largest.max(own + rest);
            self.widest = self.widest.max((own + rest) * own);
            self.square = self.square.max(own * own);
            let panel = self.numbers..self.numbers + packed(own) + rest * own;
            self.numbers = panel.end;
            let first = self.children.len();
            self.children.append(&mut children[g]);
            self.fronts.push(Front {
                columns,
                below,
                runs: 0..0,
                own,
                rest,
                panel,
                update,
                parity,
                children: first..self.children.len(),
            });
        }
    }

    /// Where a row in the order of elimination lies in a front that has it.
    fn place(&self, front: &Front, row: usize) -> u32 {
        if front.columns.contains(&row) {
            (row - front.columns.start) as u32
        } else {
            let below = &self.rows[front.below.clone()];
            (front.own + below.partition_point(|&other| (other as usize) < row)) as u32
        }
    }

    /// Where updates go.
    fn find_runs(&mut self, parents: &[u32]) {
        for (g, &parent) in parents.iter().enumerate() {
            let start = self.runs.len();
            for (first, at) in (0..).zip(self.fronts[g].below.clone()) {
                let front = &self.fronts[parent as usize];
                let (place, own) = (self.place(front, self.rows[at] as usize), front.own as u32);
                let below = place >= own;
                let place = if below { place - own } else { place };
                match self.runs[start..].last_mut() {
                    Some(run) if (run.below, run.place + run.count) == (below, place) => {
                        run.count += 1;
                    }
                    _ => self.runs.push(PlaceRun { first, count: 1, place, below }),
                }
            }
            self.fronts[g].runs = start..self.runs.len();
        }
    }

    fn add_entries(
        &mut self,
        (blocks, stars): (&DualBlocks, &Stars),
        position: &[u32],
        group_of: &[u32],
        starts: &[usize],
    ) {
        let before = stars.elements;
        let fronts = &self.fronts;
        let entry = |at: u32, row: usize, column: usize| {
            let size = [row, column].map(|e| blocks.size(e) as u8);
            let [row, column] = [row, column].map(|e| position[e - before] as usize);
            let (low, high) = (row.max(column), row.min(column));
            let group = group_of[high];
            let front = &fronts[group as usize];
            let transposed = row < column;
            let [row, column] = [low, high].map(|e| self.place(front, starts[e]));
            (group, Entry { at, size, transposed, row, column })
        };
        let of_column = |column: usize| {
            let below = blocks.below(column).iter().map(move |b| (b.at, b.row as usize, column));
            std::iter::once((blocks.diagonal[column], column, column)).chain(below)
        };
        let own = (before..blocks.count()).flat_map(of_column);
        let left = stars.left().map(|b| (b.at, b.row as usize, b.column as usize));
        let own: Vec<_> = own.map(|(at, row, column)| entry(at, row, column)).collect();
        let left: Vec<_> = left.map(|(at, row, column)| entry(at, row, column)).collect();
        self.entries = Csr::new(fronts.len(), own.into_iter());
        self.left = Csr::new(self.fronts.len(), left.into_iter());
    }
}

/// The elements after those of stars that are coupled, in the matrix or by what stars leave, counted from there on.
fn edges(blocks: &DualBlocks, stars: &Stars) -> Vec<[u32; 2]> {
    let left = stars.left().map(|block| [block.row.min(block.column), block.row.max(block.column)]);
    let all = blocks.edges().into_iter().chain(left);
    let apart = all.filter(|[a, b]| *a >= stars.elements as u32 && a < b);
    let mut edges: Vec<[u32; 2]> =
        apart.map(|edge| edge.map(|e| e - stars.elements as u32)).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}
