//! Iterations made of solving along lines: conjugate gradients, and block Gauss-Seidel.
//!
//! Lines of the first colour share no node, so all of them together are solved exactly. Conjugate
//! gradients run on the other elements alone, on their Schur complement `S = D_CC - D_CT D_TT^-1 D_TC`,
//! preconditioned by a symmetric sweep over their own lines. In a net these are rows and columns, and
//! the residual of the columns is that of all rows, since what is eliminated is exact.

use super::{
    blocks::{
        DualBlocks, invert, subtract_outer, subtract_times, subtract_transposed, times_symmetric,
    },
    lines::Lines,
};

/// A block that couples an element to another.
#[derive(Clone, Copy, Debug)]
struct Coupling {
    element: u32,
    at: u32,
    /// Whether the block is stored for the other order.
    transposed: bool,
}

/// The factors along all lines, and room for the iterations.
pub(crate) struct LineSolver {
    lines: Lines,
    /// Elements of the first colour; they come first.
    split: usize,
    /// Scalar rows before `split`.
    split_row: usize,
    /// For each element its couplings, those to the first colour first.
    first: Vec<u32>,
    second: Vec<u32>,
    couplings: Vec<Coupling>,
    /// Inverse of each eliminated diagonal block, and the factor to the next element of its line.
    inverses: Vec<f64>,
    inverse_at: Vec<u32>,
    factors: Vec<f64>,
    factor_at: Vec<u32>,
    scale: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    relaxed: Vec<f64>,
    tolerance: f64,
    iterations_max: u32,
}

impl LineSolver {
    /// Prepares for matrices with the pattern of `blocks`, whose elements are in the order of `lines`.
    pub(crate) fn new(
        blocks: &DualBlocks,
        lines: &Lines,
        tolerance: f64,
        iterations_max: u32,
    ) -> Self {
        let count = blocks.count();
        let split = lines.starts[lines.first_colour] as usize;
        let mut near: Vec<Vec<Coupling>> = vec![Vec::new(); count];
        for column in 0..count {
            for below in blocks.below(column) {
                let (row, at) = (below.row, below.at);
                near[row as usize].push(Coupling { element: column as u32, at, transposed: false });
                near[column].push(Coupling { element: row, at, transposed: true });
            }
        }
        let (mut first, mut second, mut couplings) = (vec![0], Vec::new(), Vec::new());
        for mut near in near {
            near.sort_by_key(|coupling| coupling.element);
            let before = near.iter().filter(|c| (c.element as usize) < split).count();
            second.push((couplings.len() + before) as u32);
            couplings.extend(near);
            first.push(couplings.len() as u32);
        }
        let (mut inverse_at, mut factor_at, mut factors) = (vec![0], Vec::new(), 0);
        for e in 0..count {
            let n = blocks.size(e);
            inverse_at.push(inverse_at[e] + (n * n) as u32);
            factor_at.push(factors);
            factors += if e + 1 < count { (n * blocks.size(e + 1)) as u32 } else { 0 };
        }
        let rows = blocks.rows();
        let zeros = || vec![0.0; rows];
        Self {
            split,
            split_row: blocks.first[split] as usize,
            lines: lines.clone(),
            first,
            second,
            couplings,
            inverses: vec![0.0; inverse_at[count] as usize],
            inverse_at,
            factors: vec![0.0; factors as usize],
            factor_at,
            scale: zeros(),
            residual: zeros(),
            direction: zeros(),
            image: zeros(),
            relaxed: zeros(),
            tolerance,
            iterations_max,
        }
    }

    /// Factorises the blocks along every line.
    fn factorise(&mut self, blocks: &DualBlocks) {
        for line in 0..self.lines.starts.len() - 1 {
            let [start, end] = [line, line + 1].map(|l| self.lines.starts[l] as usize);
            for e in start..end {
                let (n, first) = (blocks.size(e), blocks.first[e] as usize);
                let (at, own) = (self.inverse_at[e] as usize, blocks.diagonal[e] as usize);
                let (done, rest) = self.inverses.split_at_mut(at);
                let block = &mut rest[..n * n];
                block.copy_from_slice(&blocks.values[own..own + n * n]);
                for k in 0..n {
                    self.scale[first + k] = block[k * n + k];
                }
                if e > start {
                    let m = blocks.size(e - 1);
                    let across = blocks.find(e as u32, e - 1).unwrap_or(0) as usize;
                    let across = &blocks.values[across..across + n * m];
                    let factor = self.factor_at[e - 1] as usize;
                    let factor = &mut self.factors[factor..factor + n * m];
                    let inverse = &done[at - m * m..];
                    times_symmetric(factor, across, inverse, m);
                    subtract_outer(block, factor, across, m);
                }
                invert(block, &self.scale[first..first + n]);
            }
        }
    }

    /// Replaces `x` by the solution along one line.
    fn solve_line(&self, blocks: &DualBlocks, line: usize, x: &mut [f64]) {
        let [start, end] = [line, line + 1].map(|l| self.lines.starts[l] as usize);
        for e in start + 1..end {
            let (n, m, first) = (blocks.size(e), blocks.size(e - 1), blocks.first[e] as usize);
            let factor = self.factor_at[e - 1] as usize;
            let (head, tail) = x.split_at_mut(first);
            let factor = &self.factors[factor..factor + n * m];
            subtract_times(&mut tail[..n], factor, &head[first - m..]);
        }
        for e in (start..end).rev() {
            let (n, first) = (blocks.size(e), blocks.first[e] as usize);
            let at = self.inverse_at[e] as usize;
            let (head, tail) = x.split_at_mut(first + n);
            let own = &mut head[first..];
            let mut sum = [0.0; super::blocks::ROWS_MAX];
            subtract_times(&mut sum[..n], &self.inverses[at..at + n * n], own);
            for (own, sum) in own.iter_mut().zip(&sum) {
                *own = -sum;
            }
            if e + 1 < end {
                let m = blocks.size(e + 1);
                let factor = self.factor_at[e] as usize;
                subtract_transposed(own, &self.factors[factor..factor + n * m], &tail[..m]);
            }
        }
    }

    /// Solves along all lines of the first colour.
    fn solve_first(&self, blocks: &DualBlocks, x: &mut [f64]) {
        for line in 0..self.lines.first_colour {
            self.solve_line(blocks, line, x);
        }
    }

    /// Subtracts from the rows of an element what couples it to others: those of the first colour, or
    /// the others.
    #[inline(always)]
    fn subtract_couplings(
        &self,
        blocks: &DualBlocks,
        e: usize,
        firsts: bool,
        x: &[f64],
        out: &mut [f64],
    ) {
        let n = blocks.size(e);
        let range =
            if firsts { self.first[e]..self.second[e] } else { self.second[e]..self.first[e + 1] };
        for coupling in &self.couplings[range.start as usize..range.end as usize] {
            let other = coupling.element as usize;
            let (m, row, at) =
                (blocks.size(other), blocks.first[other] as usize, coupling.at as usize);
            let block = &blocks.values[at..at + n * m];
            if coupling.transposed {
                subtract_transposed(out, block, &x[row..row + m]);
            } else {
                subtract_times(out, block, &x[row..row + m]);
            }
        }
    }

    /// `x -= D_TC p` for the first colour's rows of `x`, `p` being of the others.
    fn subtract_across(&self, blocks: &DualBlocks, p: &[f64], x: &mut [f64]) {
        for e in 0..self.split {
            let (first, n) = (blocks.first[e] as usize, blocks.size(e));
            self.subtract_couplings(blocks, e, false, p, &mut x[first..first + n]);
        }
    }

    /// Takes `D` times the others' rows of `p` away from `q`: its first rows are solved for, and from its
    /// others `S p` is subtracted, or, if they held a right-hand side, its remainder is left there.
    fn reduce(&self, blocks: &DualBlocks, p: &[f64], q: &mut [f64]) {
        self.subtract_across(blocks, p, q);
        let (room, out) = q.split_at_mut(self.split_row);
        self.solve_first(blocks, room);
        for e in self.split..blocks.count() {
            let (first, n) = (blocks.first[e] as usize, blocks.size(e));
            let out = &mut out[first - self.split_row..][..n];
            let own = blocks.diagonal[e] as usize;
            subtract_times(out, &blocks.values[own..own + n * n], &p[first..first + n]);
            self.subtract_couplings(blocks, e, false, p, out);
            self.subtract_couplings(blocks, e, true, room, out);
        }
    }

    /// `z = M^-1 r` on the others' rows: forwards and backwards along their lines.
    fn precondition(&self, blocks: &DualBlocks, r: &[f64], z: &mut [f64]) {
        let split = self.split_row;
        z[split..].copy_from_slice(&r[split..]);
        let lines = self.lines.first_colour..self.lines.starts.len() - 1;
        for line in lines {
            self.solve_line(blocks, line, z);
        }
    }

    /// Conjugate gradients from `guess`; the solution replaces `b`. Tells how many iterations it took, or `None`
    /// where they did not reach the tolerance.
    pub(crate) fn gradients(
        &mut self,
        blocks: &DualBlocks,
        b: &mut [f64],
        guess: &[f64],
    ) -> Option<u32> {
        self.factorise(blocks);
        let split = self.split_row;
        let take = |v: &mut Vec<f64>| std::mem::take(v);
        let (mut r, mut p) = (take(&mut self.residual), take(&mut self.direction));
        let (mut q, mut z) = (take(&mut self.image), take(&mut self.relaxed));
        let mut x = take(&mut self.scale);
        x[split..].copy_from_slice(&guess[split..]);
        r.copy_from_slice(b);
        self.reduce(blocks, &x, &mut r);
        let mut used = 0;
        self.precondition(blocks, &r, &mut z);
        p[split..].copy_from_slice(&z[split..]);
        let mut product = dot(&r[split..], &z[split..]);
        while largest(&r[split..]) > self.tolerance && used < self.iterations_max {
            used += 1;
            q.fill(0.0);
            self.reduce(blocks, &p, &mut q);
            let curvature = -dot(&p[split..], &q[split..]);
            if curvature <= 0.0 || !curvature.is_finite() {
                break;
            }
            let length = product / curvature;
            for i in split..x.len() {
                x[i] += length * p[i];
                r[i] += length * q[i];
            }
            self.precondition(blocks, &r, &mut z);
            let next = dot(&r[split..], &z[split..]);
            let share = next / product;
            for i in split..p.len() {
                p[i] = z[i] + share * p[i];
            }
            product = next;
        }
        let converged = largest(&r[split..]) <= self.tolerance;
        b[split..].copy_from_slice(&x[split..]);
        self.subtract_across(blocks, &x, b);
        self.solve_first(blocks, &mut b[..split]);
        (self.residual, self.direction) = (r, p);
        (self.image, self.relaxed) = (q, z);
        self.scale = x;
        converged.then_some(used)
    }

    /// Block Gauss-Seidel from `guess` along all lines, forwards and backwards; the solution replaces
    /// `b`. Tells how many sweeps it took.
    pub(crate) fn sweeps(&mut self, blocks: &DualBlocks, b: &mut [f64], guess: &[f64]) -> u32 {
        self.factorise(blocks);
        let mut x = std::mem::take(&mut self.scale);
        let mut r = std::mem::take(&mut self.residual);
        x.copy_from_slice(guess);
        let lines = self.lines.starts.len() - 1;
        let mut used = 0;
        while used < self.iterations_max {
            used += 1;
            let mut worst = 0.0_f64;
            for line in (0..lines).chain((0..lines).rev()) {
                worst = worst.max(self.relax(blocks, line, b, &mut x, &mut r));
            }
            if worst <= self.tolerance {
                break;
            }
        }
        b.copy_from_slice(&x);
        (self.scale, self.residual) = (x, r);
        used
    }

    /// Solves one line exactly, the others held; tells its largest residual before.
    fn relax(
        &self,
        blocks: &DualBlocks,
        line: usize,
        b: &[f64],
        x: &mut [f64],
        r: &mut [f64],
    ) -> f64 {
        let [start, end] = [line, line + 1].map(|l| self.lines.starts[l] as usize);
        let rows = blocks.first[start] as usize..blocks.first[end] as usize;
        r[rows.clone()].copy_from_slice(&b[rows.clone()]);
        for e in start..end {
            let (first, n) = (blocks.first[e] as usize, blocks.size(e));
            let out = &mut r[first..first + n];
            let own = blocks.diagonal[e] as usize;
            subtract_times(out, &blocks.values[own..own + n * n], &x[first..first + n]);
            self.subtract_couplings(blocks, e, true, x, out);
            self.subtract_couplings(blocks, e, false, x, out);
        }
        let worst = largest(&r[rows.clone()]);
        self.solve_line(blocks, line, r);
        for row in rows {
            x[row] += r[row];
        }
        worst
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums, so that none waits for another.
    let mut sums = [0.0; 4];
    let (mut i, n) = (0, a.len());
    while i + 4 <= n {
        for k in 0..4 {
            sums[k] += a[i + k] * b[i + k];
        }
        i += 4;
    }
    while i < n {
        sums[0] += a[i] * b[i];
        i += 1;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Largest magnitude.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, &b| if b.abs() <= a { a } else { b.abs() })
}
