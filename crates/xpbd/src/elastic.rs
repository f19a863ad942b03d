//! Energies of points, all rows of one at once: `(G M^-1 G^T + a) dlambda = -(C + a lambda)`.
//!
//! This is Eq. 18 of Macklin et al. 2016 for as many rows as an energy has, with the inverse `K^-1` of its
//! stiffness for a compliance, `a = K^-1 / h^2`. As there, the direction of what an earlier sweep has pushed is
//! not turned with the gradients: where sweeps converge, rows are at `C = -a lambda` exactly, but the end of the
//! step differs from that of implicit Euler by `|dx|^2 / L`, the squared way of the corrections over the size of
//! the element. Energies are visited one by one in scene order.

use taut_core::{
    Scene,
    energy::{ENDS_MAX, Energy, PerRow, Points, ROWS_MAX},
};
use taut_math::{Real, V3};
use taut_model::{Pose, Slots};

use crate::{
    body::Weight,
    correct::{BodyEnd, Terms},
};

/// An energy with its points and multipliers.
#[derive(Clone, Debug)]
pub(crate) struct EnergyRows<R> {
    energy: Energy<R>,
    compliance: [PerRow<R>; ROWS_MAX],
    /// Place among the poses of what each point is fixed to.
    slots: [usize; ENDS_MAX],
    /// Each point in the coordinates of its body [m].
    anchors: Points<R>,
    /// Multiplier of each row, times `h^2`.
    lambda: PerRow<R>,
}

/// The energies of a scene that have a compliance, in its order.
pub(crate) fn elastics<R: Real>(scene: &Scene, slots: Slots) -> Vec<EnergyRows<R>> {
    let lowered = scene.energies().filter_map(|(energy, anchors)| {
        let energy = energy.lower();
        Some(EnergyRows {
            compliance: energy.compliance()?,
            energy,
            slots: anchors.map(|anchor| slots.of(anchor.end) as usize),
            anchors: anchors.map(|anchor| V3::of(&anchor.local)),
            lambda: [R::ZERO; ROWS_MAX],
        })
    });
    lowered.collect()
}

impl<R: Real> EnergyRows<R> {
    /// Corrects all rows.
    pub(crate) fn correct(
        &mut self,
        poses: &mut [Pose<R>],
        weights: &[Weight<R>],
        terms: &Terms<R>,
    ) {
        if terms.fresh {
            self.lambda = [R::ZERO; ROWS_MAX];
        }
        let (ends, count) = (self.energy.ends(), self.energy.size());
        let end =
            |k: usize| BodyEnd { pose: poses[self.slots[k]], weight: &weights[self.slots[k]] };
        let origin = end(0).pose.position;
        let (mut x, mut arms) = ([V3::ZERO; ENDS_MAX], [V3::ZERO; ENDS_MAX]);
        for (k, (x, arm)) in x.iter_mut().zip(&mut arms).enumerate().take(ends) {
            let pose = end(k).pose;
            *arm = pose.rotation.rotate(self.anchors[k]);
            *x = (pose.position - origin) + *arm;
        }
        let rows = self.energy.rows(&x);
        let mut matrix = self.compliance.map(|row| row.map(|a| a * terms.inverse_square));
        let mut change = [R::ZERO; ROWS_MAX];
        for ((change, row), &value) in change.iter_mut().zip(&matrix).zip(&rows.value).take(count) {
            *change = -value;
            for (&softness, &lambda) in row.iter().zip(&self.lambda).take(count) {
                *change += -(softness * lambda);
            }
        }
        // By how much a unit impulse along each row turns each body, in its own axes.
        let mut turns = [[V3::ZERO; ENDS_MAX]; ROWS_MAX];
        for (s, turns) in turns.iter_mut().enumerate().take(count) {
            for (k, turn) in turns.iter_mut().enumerate().take(ends) {
                let (end, along) = (end(k), rows.gradient[s][k]);
                *turn = end.under_torque(arms[k].cross(along)).turn;
                let turned = end.pose.rotation.rotate(*turn).cross(arms[k]);
                let moved = along * end.weight.inverse_mass + turned;
                for (row, gradient) in matrix.iter_mut().zip(&rows.gradient).take(count) {
                    row[s] += gradient[k].dot(moved);
                }
            }
        }
        solve(&mut matrix, &mut change, count);
        let change = change.map(|change| change * terms.relaxation);
        for (lambda, &change) in self.lambda.iter_mut().zip(&change) {
            *lambda += change;
        }
        for (k, &slot) in self.slots.iter().enumerate().take(ends) {
            let (mut push, mut turn) = (V3::ZERO, V3::ZERO);
            let along = rows.gradient.iter().zip(&turns).zip(&change).take(count);
            for ((gradient, turns), &change) in along {
                push += gradient[k] * change;
                turn += turns[k] * change;
            }
            let end = BodyEnd { pose: poses[slot], weight: &weights[slot] };
            poses[slot] = end.moved(push, turn).pose;
        }
    }
}

/// Replaces `right` by the solution of a positive definite system of so many rows.
fn solve<R: Real>(matrix: &mut [PerRow<R>; ROWS_MAX], right: &mut PerRow<R>, count: usize) {
    for p in 0..count {
        let (above, below) = matrix.split_at_mut(p + 1);
        let (pivot, first) = (&above[p], right[p]);
        for (row, right) in below.iter_mut().zip(&mut right[p + 1..]).take(count - p - 1) {
            let factor = row[p] / pivot[p];
            for (entry, &above) in row.iter_mut().zip(pivot).take(count).skip(p) {
                *entry += -(factor * above);
            }
            *right += -(factor * first);
        }
    }
    for r in (0..count).rev() {
        for s in r + 1..count {
            let below = right[s];
            right[r] += -(matrix[r][s] * below);
        }
        right[r] = right[r] / matrix[r][r];
    }
}
