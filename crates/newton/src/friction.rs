//! What the force of a point of contact obeys: Signorini's condition and Coulomb's cone.
//!
//! Everything is in the contact's own axes, normal first, and in metres: `reach` is the force times
//! `rho = h^2 / m`, with `m` the mass that the contact feels along its normal, and `way = (g, d)`
//! holds the gap at the end of the step and the tangential displacement of A's point against B's in it.

use nalgebra::Vector2;
use taut_core::{Mat3, Vec3};

/// The equation of one point and its slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reaction {
    /// What must vanish [m].
    pub(crate) error: Vec3,
    /// Derivative with respect to the way.
    pub(crate) by_way: Mat3,
    /// Derivative with respect to the reach.
    pub(crate) by_reach: Mat3,
}

impl Reaction {
    /// The larger of the normal and the tangential error [m].
    pub(crate) fn size(&self) -> f64 {
        self.error.x.abs().max(self.error.yz().norm())
    }
}

/// The natural maps `l - max(0, l - g)` and `t - P(t - d)` with `P` the projection onto the disc of
/// radius `mu l`, for `(l, t) = reach`. They vanish exactly where the surfaces do not overlap, push only
/// where they touch, and friction opposes sliding at the edge of the cone (Alart and Curnier 1991).
pub(crate) fn natural(reach: &Vec3, way: &Vec3, friction: f64) -> Reaction {
    let mut by_way = Mat3::zeros();
    let mut by_reach = Mat3::zeros();
    let mut error = *reach;
    if reach.x > way.x {
        error.x = way.x;
        by_way[(0, 0)] = 1.0;
    } else {
        by_reach[(0, 0)] = 1.0;
    }
    let radius = friction * reach.x.max(0.0);
    let wished = reach.yz() - way.yz();
    let size = wished.norm();
    if size < radius {
        (error.y, error.z) = (way.y, way.z);
        (by_way[(1, 1)], by_way[(2, 2)]) = (1.0, 1.0);
    } else {
        (by_reach[(1, 1)], by_reach[(2, 2)]) = (1.0, 1.0);
        if radius > 0.0 {
            let along = wished / size;
            let across = (Mat2::identity() - along * along.transpose()) * (radius / size);
            for i in 0..2 {
                error[1 + i] -= radius * along[i];
                by_reach[(1 + i, 0)] = -friction * along[i];
                for j in 0..2 {
                    by_reach[(1 + i, 1 + j)] -= across[(i, j)];
                    by_way[(1 + i, 1 + j)] = across[(i, j)];
                }
            }
        }
    }
    Reaction { error, by_way, by_reach }
}

type Mat2 = nalgebra::Matrix2<f64>;

/// Projection of `reach` onto Coulomb's cone `|t| <= mu l`.
pub(crate) fn into_cone(reach: &Vec3, friction: f64) -> Vec3 {
    let size = reach.yz().norm();
    if size <= friction * reach.x {
        return *reach;
    }
    if friction * size <= -reach.x {
        return Vec3::zeros();
    }
    let normal = (reach.x + friction * size) / (1.0 + friction * friction);
    let share = if size > 0.0 { friction * normal / size } else { 0.0 };
    Vec3::new(normal, reach.y * share, reach.z * share)
}

/// A smooth map whose zeros tend to those of [`natural`] as `width` [m] tends to zero.
///
/// With de Saxce's change of variables the conditions are those of complementary vectors in a cone,
/// `(l, t / mu)` and `(g + mu |d|, mu d)`, whose natural map has the projection onto the cone. Here the
/// projection is smoothed in its eigenvalues by `(x + sqrt(x^2 + 4 width^2)) / 2` (Fukushima, Luo,
/// Tseng 2002), so that its zeros are inside the cone, in the middle of all forces that hold.
pub(crate) fn smooth(reach: &Vec3, way: &Vec3, friction: f64, width: f64) -> Reaction {
    if friction <= 0.0 {
        return smooth_normal(reach, way, width);
    }
    let scale = Vec3::new(1.0, friction, friction);
    let slip = way.yz();
    let length = (slip.norm_squared() + width * width).sqrt();
    let lift = slip * (friction / length);
    let x = reach.component_div(&scale);
    let y = Vec3::new(way.x + friction * (length - width), friction * slip.x, friction * slip.y);
    let mut dy = Mat3::from_diagonal(&scale);
    (dy[(0, 1)], dy[(0, 2)]) = (lift.x, lift.y);
    let (projection, slope) = project(&(x - y), width);
    let left = Mat3::from_diagonal(&scale);
    let right = Mat3::from_diagonal(&scale.map(|s| 1.0 / s));
    Reaction {
        error: (x - projection).component_mul(&scale),
        by_way: left * slope * dy,
        by_reach: left * (Mat3::identity() - slope) * right,
    }
}

fn smooth_normal(reach: &Vec3, way: &Vec3, width: f64) -> Reaction {
    let (value, slope) = positive(reach.x - way.x, width);
    let mut by_reach = Mat3::identity();
    by_reach[(0, 0)] = 1.0 - slope;
    let mut by_way = Mat3::zeros();
    by_way[(0, 0)] = slope;
    Reaction { error: Vec3::new(reach.x - value, reach.y, reach.z), by_way, by_reach }
}

/// The smoothed positive part of `x` and its derivative.
fn positive(x: f64, width: f64) -> (f64, f64) {
    let root = (x * x + 4.0 * width * width).sqrt();
    // The form without cancellation on either side.
    let value = if x > 0.0 { 0.5 * (x + root) } else { 2.0 * width * width / (root - x) };
    (value, value / root)
}

/// Smoothed projection onto the cone `|t| <= l` and its derivative.
fn project(z: &Vec3, width: f64) -> (Vec3, Mat3) {
    let t = z.yz();
    let size = t.norm();
    let along: Vector2<f64> = if size > 0.0 { t / size } else { Vector2::new(1.0, 0.0) };
    let (low, low_slope) = positive(z.x - size, width);
    let (high, high_slope) = positive(z.x + size, width);
    let (mean, half) = (0.5 * (low_slope + high_slope), 0.5 * (high_slope - low_slope));
    let secant = if size > 0.0 { (high - low) / (2.0 * size) } else { mean };
    let tangential = along * (0.5 * (high - low));
    let mut slope = Mat3::zeros();
    slope[(0, 0)] = mean;
    for i in 0..2 {
        slope[(0, 1 + i)] = half * along[i];
        slope[(1 + i, 0)] = half * along[i];
        for j in 0..2 {
            let parallel = along[i] * along[j];
            let across = if i == j { 1.0 - parallel } else { -parallel };
            slope[(1 + i, 1 + j)] = mean * parallel + secant * across;
        }
    }
    (Vec3::new(0.5 * (low + high), tangential.x, tangential.y), slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MU: f64 = 0.5;

    fn error(reach: [f64; 3], way: [f64; 3]) -> f64 {
        natural(&Vec3::from(reach), &Vec3::from(way), MU).size()
    }

    #[test]
    fn natural_maps_vanish_where_coulomb_says() {
        assert_eq!(error([0.0, 0.0, 0.0], [0.3, 1.0, -2.0]), 0.0, "apart, without force");
        assert_eq!(error([2.0, 0.3, 0.4], [0.0, 0.0, 0.0]), 0.0, "sticking");
        assert!(error([2.0, -0.6, 0.8], [0.0, 0.6, -0.8]) < 1e-15, "sliding against friction");
        assert!(error([2.0, 0.6, -0.8], [0.0, 0.6, -0.8]) > 0.1, "friction does not push");
        assert!(error([2.0, -0.3, 0.4], [0.0, 0.6, -0.8]) > 0.1, "sliding takes all friction");
        assert!(error([2.0, 1.0, 1.0], [0.0, 0.0, 0.0]) > 0.1, "beyond the cone");
        assert!(error([-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]) > 0.1, "no pull");
        assert!(error([1.0, 0.0, 0.0], [0.1, 0.0, 0.0]) > 0.05, "no force at a distance");
        assert!(error([0.0, 0.0, 0.0], [-0.1, 0.0, 0.0]) > 0.05, "no overlap");
    }

    #[test]
    fn the_smooth_map_tends_to_the_same_zeros() {
        let points = [
            ([0.0, 0.0, 0.0], [0.3, 1.0, -2.0]),
            ([2.0, 0.3, 0.4], [0.0, 0.0, 0.0]),
            ([2.0, -0.6, 0.8], [0.0, 0.6, -0.8]),
        ];
        for (reach, way) in points {
            let size = smooth(&Vec3::from(reach), &Vec3::from(way), MU, 1e-9).size();
            assert!(size < 3e-9, "{reach:?} {way:?}: {size:e}");
        }
    }

    #[test]
    fn slopes_match_central_differences() {
        let samples = [
            ([1.0, 0.2, -0.1], [-0.3, 0.05, 0.1]),
            ([1.0, 0.9, -0.4], [-0.3, -0.7, 0.3]),
            ([-0.4, 0.3, 0.2], [0.3, 0.1, 0.4]),
            ([0.5, 0.0, 0.3], [0.1, 0.2, 0.4]),
        ];
        // Width zero stands for the natural maps.
        let map = |reach: &Vec3, way: &Vec3, mu: f64, width: f64| match width {
            0.0 => natural(reach, way, mu),
            _ => smooth(reach, way, mu, width),
        };
        for (reach, way) in samples.map(|(r, w)| (Vec3::from(r), Vec3::from(w))) {
            for width in [0.0, 1e-3, 0.1] {
                for mu in [0.0, 0.3, 1.5] {
                    let error = |reach: Vec3, way: Vec3| map(&reach, &way, mu, width).error;
                    let exact = map(&reach, &way, mu, width);
                    for i in 0..3 {
                        let step = Vec3::ith(i, 1e-7);
                        let by_reach = error(reach + step, way) - error(reach - step, way);
                        let by_way = error(reach, way + step) - error(reach, way - step);
                        for (difference, column) in
                            [(by_reach, exact.by_reach.column(i)), (by_way, exact.by_way.column(i))]
                        {
                            let off = (difference / 2e-7 - column).norm();
                            assert!(off < 1e-6, "{width} {mu} {reach:?} {way:?}: {off:e}");
                        }
                    }
                }
            }
        }
    }
}
