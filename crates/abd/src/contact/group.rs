//! What the contacts of one pair of bodies come to.

use std::ops::Range;

use taut_ipc::blocks::{BodyBlocks, body_gradients};

use super::NewtonSystem;
use crate::matrix::{BodyBlock, SIZE};

/// The candidates of a pair of bodies.
#[derive(Clone, Debug)]
pub(super) struct PairGroup {
    /// The lower one first; a half-space is second.
    pub(super) bodies: [u32; 2],
    /// Which they are, among pairs of features or among those with half-spaces.
    pub(super) range: Range<u32>,
    /// Which of those that something may hit are of these bodies.
    pub(super) in_way: Range<u32>,
    pub(super) is_plane: bool,
}

/// Derivatives by the coordinates of both bodies, without the stiffness.
#[derive(Clone, Debug)]
pub(super) struct GroupSum {
    pub(super) gradient: [[f64; SIZE]; 2],
    blocks: BodyBlocks,
    /// `sum b` [m^4].
    pub(super) value: f64,
    /// Least distance [m].
    pub(super) nearest: f64,
}

impl GroupSum {
    pub(super) const EMPTY: Self = Self {
        gradient: [[0.0; SIZE]; 2],
        blocks: BodyBlocks::ZERO,
        value: 0.0,
        nearest: f64::INFINITY,
    };

    /// Adds a pair by its four vertices, of which the first `FIRST` belong to one body. `turned` says that it is the
    /// group's second.
    pub(super) fn add_pair<const FIRST: usize>(
        &mut self,
        turned: bool,
        gradient: &[f64; SIZE],
        hessian: Option<&BodyBlock>,
        sites: &[[f64; 4]; 4],
    ) {
        let [first, second] = if turned { [1, 0] } else { [0, 1] };
        let forces = body_gradients::<FIRST>(gradient, sites);
        for (k, force) in [first, second].into_iter().zip(&forces) {
            self.gradient[k].iter_mut().zip(force).for_each(|(sum, x)| *sum += x);
        }
        let Some(hessian) = hessian else { return };
        self.blocks.add::<FIRST>(hessian, sites, turned);
    }

    /// Adds a point of the first body with the gradient by its position and the Hessian, if that is asked for.
    pub(super) fn add_point(
        &mut self,
        gradient: &[f64; 3],
        hessian: Option<&[[f64; 3]; 3]>,
        site: &[f64; 4],
    ) {
        for (k, weight) in site.iter().enumerate() {
            for (axis, force) in gradient.iter().enumerate() {
                self.gradient[0][3 * k + axis] += weight * force;
                let Some(hessian) = hessian else { continue };
                let row = &mut self.blocks.aa[3 * k + axis];
                for (l, other) in site.iter().enumerate() {
                    for (c, h) in hessian[axis].iter().enumerate() {
                        row[3 * l + c] += weight * other * h;
                    }
                }
            }
        }
    }

    /// Adds all, times a factor, to the rows of those bodies that are unknown.
    pub(super) fn add_to(
        &self,
        bodies: [Option<usize>; 2],
        factor: f64,
        system: &mut NewtonSystem<'_>,
    ) {
        for (body, own) in bodies.iter().zip(&self.gradient) {
            let Some(i) = *body else { continue };
            let rows = &mut system.gradient[i * SIZE..(i + 1) * SIZE];
            rows.iter_mut().zip(own).for_each(|(sum, x)| *sum += factor * x);
        }
        let Some(matrix) = &mut system.matrix else { return };
        let scaled = |block: &BodyBlock| block.map(|row| row.map(|x| factor * x));
        for (body, block) in bodies.iter().zip([&self.blocks.aa, &self.blocks.bb]) {
            if let Some(i) = *body {
                matrix.add_diagonal(i, &scaled(block));
            }
        }
        if let [Some(i), Some(j)] = bodies {
            matrix.add(i, j, &scaled(&self.blocks.ab));
        }
    }
}
