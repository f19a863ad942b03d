//! What holds for every energy: derivatives, invariance, and the functions that follow from them.

use super::*;
use crate::{Quat, Vec3};

/// Four corners in general position [m], the first three counter-clockwise seen from the last.
pub(super) fn tetrahedron() -> [Vec3; 4] {
    [
        Vec3::new(0.1, 0.2, 0.3),
        Vec3::new(1.0, 0.4, 0.2),
        Vec3::new(0.3, 1.2, 0.6),
        Vec3::new(0.4, 0.3, 1.1),
    ]
}

/// Places as an energy takes them [m].
pub(super) fn points(x: [Vec3; 4]) -> Points<f64> {
    x.map(|x| V3::of(&x))
}

/// Checks an energy with its points at rest: at rest, stretched and bent, and turned inside out.
pub(super) fn check(energy: &Energy<f64>, rest: &Points<f64>) {
    let shifts = [[0.3, -0.2, 0.1], [-0.1, 0.4, 0.2], [0.2, 0.1, -0.5], [-0.3, 0.2, 0.4]];
    for share in [0.0, 0.3, -0.6, -3.0] {
        let mut x = *rest;
        x.iter_mut().zip(shifts).for_each(|(point, shift)| *point += V3(shift) * share);
        gradients_of_rows_match_differences(energy, &x);
        second_derivatives_of_rows_match_differences(energy, &x);
        forces_and_blocks_are_derivatives_of_the_energy(energy, &x);
        the_system_of_one_point_is_its_force_and_a_positive_block(energy, &x);
        rigid_motion_only_turns_forces(energy, &x);
        single_precision_is_the_same_energy(energy, &x);
    }
    rigid_motion_from_rest_costs_nothing(energy, rest);
    compliance_is_the_inverse_of_stiffness(energy, rest);
}

/// Central difference of `f` along coordinate `c` of point `i`.
fn slope<T: std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>>(
    x: &Points<f64>,
    i: usize,
    c: usize,
    f: impl Fn(&Points<f64>) -> T,
) -> T {
    let at = |step: f64| {
        let mut x = *x;
        x[i].0[c] += step;
        f(&x)
    };
    (at(1e-5) - at(-1e-5)) * (0.5 / 1e-5)
}

fn near(found: f64, expected: f64, scale: f64, what: &str) {
    let bound = 1e-7 * (1.0 + scale + expected.abs());
    assert!((found - expected).abs() < bound, "{what}: {found} {expected}");
}

/// A turn and a shift [m].
fn rigid_motion() -> (Quat, Vec3) {
    (Quat::from_scaled_axis(Vec3::new(0.8, -1.9, 0.4)), Vec3::new(3.0, -2.0, 5.0))
}

/// The largest entry of the stiffness, which errors of forces are compared with.
fn scale(energy: &Energy<f64>, x: &Points<f64>) -> f64 {
    energy.stiffness(&energy.rows(x)).as_flattened().iter().fold(0.0, |most, k| k.abs().max(most))
}

fn gradients_of_rows_match_differences(energy: &Energy<f64>, x: &Points<f64>) {
    let rows = energy.rows(x);
    for (r, gradient) in rows.gradient.iter().enumerate() {
        for (i, end) in gradient.iter().enumerate() {
            for (c, &slope_found) in end.0.iter().enumerate() {
                let difference = slope(x, i, c, |x| energy.rows(x).value[r]);
                near(slope_found, difference, 0.0, "gradient");
            }
        }
    }
}

fn second_derivatives_of_rows_match_differences(energy: &Energy<f64>, x: &Points<f64>) {
    let weights = [0.7, -1.3, 0.4, 0.2, -0.6, 1.1];
    for i in 0..energy.ends() {
        let weighted = |x: &Points<f64>| {
            let rows = energy.rows(x);
            let parts = rows.gradient.iter().zip(weights).map(|(g, w)| g[i] * w);
            parts.fold(V3::ZERO, |sum, part| sum + part)
        };
        for j in 0..energy.ends() {
            let curvature = energy.curvature(x, &weights, i, j);
            for c in 0..3 {
                let difference = slope(x, j, c, weighted);
                for r in 0..3 {
                    near(curvature.0[r].0[c], difference.0[r], 0.0, "curvature");
                }
            }
        }
    }
}

fn forces_and_blocks_are_derivatives_of_the_energy(energy: &Energy<f64>, x: &Points<f64>) {
    let scale = scale(energy, x);
    for i in 0..energy.ends() {
        let force = energy.force(x, i);
        for c in 0..3 {
            near(force.0[c], -slope(x, i, c, |x| energy.energy(x)), scale, "force");
            for j in 0..energy.ends() {
                let block = energy.block(x, j, i, 1.0);
                let difference = slope(x, i, c, |x| energy.force(x, j));
                for r in 0..3 {
                    near(block.0[r].0[c], -difference.0[r], scale, "block");
                }
            }
        }
    }
}

fn the_system_of_one_point_is_its_force_and_a_positive_block(
    energy: &Energy<f64>,
    x: &Points<f64>,
) {
    for i in 0..energy.ends() {
        let (force, block) = energy.vertex(x, i);
        assert_eq!(force, energy.force(x, i));
        let dense = crate::Mat3::from_fn(|r, c| block.0[r].0[c]);
        let eigenvalues = dense.symmetric_eigenvalues();
        assert!(eigenvalues.min() > -1e-12 * eigenvalues.max(), "{eigenvalues:?}");
        // No softer than the exact one, so that a step of this point overshoots nowhere.
        let exact = energy.block(x, i, i, 1.0);
        let exact = crate::Mat3::from_fn(|r, c| exact.0[r].0[c]);
        let excess = (dense - exact).symmetric_eigenvalues();
        let size = exact.norm().max(dense.norm());
        assert!(excess.min() > -1e-12 * size, "{dense} {exact}");
    }
}

fn rigid_motion_only_turns_forces(energy: &Energy<f64>, x: &Points<f64>) {
    let (turn, shift) = rigid_motion();
    let scale = scale(energy, x);
    let moved = x.map(|point| V3::of(&(turn * point.to_f64() + shift)));
    near(energy.energy(&moved), energy.energy(x), scale, "energy");
    let (mut sum, mut moment) = (Vec3::zeros(), Vec3::zeros());
    for i in 0..energy.ends() {
        let force = energy.force(x, i).to_f64();
        let turned = energy.force(&moved, i).to_f64();
        assert!((turned - turn * force).norm() < 1e-12 * (1.0 + scale + force.norm()));
        sum += force;
        moment += x[i].to_f64().cross(&force);
    }
    assert!(sum.norm().max(moment.norm()) < 1e-12 * (1.0 + scale), "{sum} {moment}");
}

fn rigid_motion_from_rest_costs_nothing(energy: &Energy<f64>, rest: &Points<f64>) {
    let (turn, shift) = rigid_motion();
    let moved = rest.map(|point| V3::of(&(turn * point.to_f64() + shift)));
    assert!(energy.energy(&moved).abs() < 1e-26 * scale(energy, rest).max(1.0));
    (0..energy.ends()).for_each(|i| assert!(energy.force(&moved, i).norm() < 1e-12));
}

fn compliance_is_the_inverse_of_stiffness(energy: &Energy<f64>, rest: &Points<f64>) {
    let stiffness = energy.stiffness(&energy.rows(rest));
    // None where the energy is no quadratic.
    let Some(compliance) = energy.compliance() else { return };
    for (r, row) in stiffness.iter().enumerate().take(energy.size()) {
        for s in 0..energy.size() {
            let product: f64 = row.iter().zip(&compliance).map(|(k, inverse)| k * inverse[s]).sum();
            assert!((product - f64::from(u8::from(r == s))).abs() < 1e-14);
        }
    }
}

fn single_precision_is_the_same_energy(energy: &Energy<f64>, x: &Points<f64>) {
    let rounded = energy.lower::<f32>().energy(&x.map(|point| V3(point.0.map(|c| c as f32))));
    assert!((f64::from(rounded) - energy.energy(x)).abs() < 1e-5 * (1.0 + energy.energy(x)));
}
