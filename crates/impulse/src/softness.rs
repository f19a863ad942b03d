//! Soft constraints: damped springs integrated implicitly, stated by frequency and damping ratio.
//!
//! After Catto, Soft Constraints, GDC 2011, in the form of his Solver2D (2024), which needs no mass:
//! with `w = 2 pi hertz`, `a1 = 2 zeta + h w`, `a2 = h w a1`, `a3 = 1 / (1 + a2)` a row changes its
//! impulse by `-a2 a3 m (J v + w / a1 C) - a3 lambda`, `m = (J M^-1 J^T)^-1`.

use taut_math::Real;

use crate::settings::{ImpulseSettings, Stabilisation};

/// How strongly a row pulls against its error of position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftSpring<R> {
    /// Speed asked for per unit of error [1/s].
    pub(crate) rate: R,
    /// Factor on the effective mass [1].
    pub(crate) mass: R,
    /// Share of the accumulated impulse that is given up [1].
    pub(crate) impulse: R,
    /// Overlap that nothing pulls against [m].
    pub(crate) slop: R,
}

/// The softness of everything hard in one step or sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftSprings<R> {
    pub(crate) joint: SoftSpring<R>,
    pub(crate) contact: SoftSpring<R>,
}

impl<R: Real> SoftSpring<R> {
    fn spring(hertz: f64, damping: f64, h: f64) -> Self {
        let omega = std::f64::consts::TAU * hertz;
        let a1 = 2.0 * damping + h * omega;
        let a2 = h * omega * a1;
        let a3 = 1.0 / (1.0 + a2);
        Self { rate: R::of(omega / a1), mass: R::of(a2 * a3), impulse: R::of(a3), slop: R::ZERO }
    }

    /// A rigid row that asks for the speed `rate` times what the error has beyond `slop`.
    fn speed(rate: f64, slop: f64) -> Self {
        Self { rate: R::of(rate), mass: R::ONE, impulse: R::ZERO, slop: R::of(slop) }
    }
}

impl<R: Real> SoftSprings<R> {
    /// For sub-steps of `h` seconds under `gravity` [m/s^2].
    pub(crate) fn new(settings: &ImpulseSettings, h: f64, gravity: f64) -> Self {
        let most = hertz_max(settings.relax) / h;
        let one = |stabilisation, hertz: f64, damping, slop: f64| match stabilisation {
            Stabilisation::Soft => SoftSpring::spring(hertz.min(most), damping, h),
            Stabilisation::Baumgarte => SoftSpring::speed(settings.baumgarte / h, slop),
        };
        let slop = settings.slop * gravity * h * h;
        let contact = settings.contact_stabilisation.unwrap_or_default();
        Self {
            joint: one(
                settings.joint_stabilisation,
                settings.joint_hertz,
                settings.joint_damping,
                0.0,
            ),
            contact: one(contact, settings.contact_hertz, settings.contact_damping, slop),
        }
    }
}

/// The stiffest stable spring, in cycles per sub-step, if each is followed by `relax` sweeps.
///
/// A motion that one sweep hardly changes, such as the swaying of a heap, sees its rows as a
/// controller: per sub-step a sweep adds minus its speed `u` to the impulse `lambda`, the bias adds minus
/// its error `y` and gives some `lambda` up. For a small share `e` of what a converged solve would do,
/// `y' = u`, `u' = e lambda`, `lambda' = -(relax + a2 a3) u - a2 a3 (h w / a1) y - a3 lambda`, which
/// is stable (Routh) if `a3 (relax + a2 a3) > a2 a3 h w / a1`, that is `(h w)^2 < relax + a2 a3`. Stiffer
/// springs sway by themselves, whatever their damping; four fifths of that bound leave some room.
fn hertz_max(relax: u32) -> f64 {
    (0.8 * (1.0 + f64::from(relax))).sqrt() / std::f64::consts::TAU
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One mass on one row: the soft impulse is that of the implicit Euler step of its spring,
    /// `m (v' - v) = -h (k (x + h v') + c v')` with `k = m w^2`, `c = 2 m zeta w`.
    #[test]
    fn a_soft_row_is_an_implicit_spring() {
        let (m, h, x, v) = (2.5_f64, 0.01, 0.3, -1.0);
        let (hertz, zeta) = (7.0, 0.6);
        let omega = std::f64::consts::TAU * hertz;
        let (k, c) = (m * omega * omega, 2.0 * m * zeta * omega);
        let exact = (m * v - h * k * x) / (m + h * c + h * h * k);

        let soft = SoftSpring::<f64>::spring(hertz, zeta, h);
        let (mut v, mut lambda) = (v, 0.0);
        // The accumulated form converges to it from any warm start.
        for _ in 0..400 {
            let change = -soft.mass * m * (v + soft.rate * x) - soft.impulse * lambda;
            lambda += change;
            v += change / m;
        }
        assert!((v - exact).abs() < 1e-12, "{v} for {exact}");
    }

    #[test]
    fn stiffness_follows_the_rate_unless_bounded() {
        let bounded = ImpulseSettings { contact_hertz: 30.0, ..ImpulseSettings::default() };
        let free = ImpulseSettings::default();
        let at = |settings, h| SoftSprings::<f64>::new(settings, h, 10.0).contact;
        assert_eq!(at(&bounded, 1.0 / 60.0), at(&free, 1.0 / 60.0));
        assert_eq!(at(&bounded, 1e-3), SoftSpring::spring(30.0, free.contact_damping, 1e-3));
        assert!(at(&free, 1e-3).rate > at(&bounded, 1e-3).rate);
    }

    /// Largest growth per sub-step of a motion of which a sweep takes the share `share`, by powers of
    /// the map of `(y, u, lambda)`: warm start, biased sweep, motion, relaxation.
    fn growth(soft: &SoftSpring<f64>, relax: u32, share: f64) -> f64 {
        let (mut y, mut u, mut lambda) = (1.0_f64, 0.3, -0.2);
        let (mut logarithm, count) = (0.0, 200_000);
        for k in 0..count {
            u += share * lambda;
            let change = -soft.mass * (u + soft.rate * y) - soft.impulse * lambda;
            (u, lambda) = (u + share * change, lambda + change);
            y += u;
            for _ in 0..relax {
                (u, lambda) = (u - share * u, lambda - u);
            }
            let size = (y * y + u * u + lambda * lambda).sqrt();
            (y, u, lambda) = (y / size, u / size, lambda / size);
            logarithm += if k < count / 2 { 0.0 } else { size.ln() };
        }
        (logarithm / f64::from(count / 2)).exp()
    }

    #[test]
    fn the_stiffest_springs_do_not_sway_by_themselves() {
        for relax in [0, 1, 2, 4] {
            for damping in [0.5, 1.0, 2.0] {
                for share in [1.0, 0.3, 0.1, 0.03, 0.01, 0.003] {
                    let soft = SoftSpring::spring(hertz_max(relax), damping, 1.0);
                    let grown = growth(&soft, relax, share);
                    assert!(grown < 1.0, "{relax} {damping} {share}: {grown}");
                }
                let soft = SoftSpring::spring(1.3 * hertz_max(relax), damping, 1.0);
                assert!(
                    growth(&soft, relax, 0.003) > 1.0,
                    "{relax} {damping}: the bound is needed"
                );
            }
        }
    }
}
