//! What every block of rows keeps: how far it is off, how it resists, and what it has exerted.

use taut_math::{Real, Sym3, V3};
use taut_model::Softness;

use super::Pass;

/// State of up to three rows that are solved at once; rows that are not there stay zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockReaction<R> {
    /// [m/N or rad/(N m)]
    pub(super) compliance: R,
    /// Inverse of `J M^-1 J^T + compliance / h^2`.
    pub(super) mass: Sym3<R>,
    /// `compliance / h^2`.
    pub(super) softness: R,
    /// Values less what is aimed at, at the present pose.
    pub(super) value: V3<R>,
    /// The same at the start of the sub-step, to which compliant rows are held.
    held: V3<R>,
    /// Impulses so far; of a limit those of the lower and of the upper bound, neither negative.
    pub(super) lambda: V3<R>,
}

impl<R: Real> BlockReaction<R> {
    pub(super) fn new(softness: Softness) -> Self {
        Self {
            compliance: R::of(softness.compliance()),
            mass: Sym3::ZERO,
            softness: R::ZERO,
            value: V3::ZERO,
            held: V3::ZERO,
            lambda: V3::ZERO,
        }
    }

    /// Takes `J M^-1 J^T + compliance / h^2`; `mass` is zero in directions that do not resist.
    pub(super) fn resist(&mut self, resistance: &Sym3<R>) {
        let [x, y, z] = [0, 1, 2].map(|i| resistance.solve(V3::axis(i)).0);
        self.mass = Sym3([x[0], y[1], z[2], y[0], z[0], z[1]]);
    }

    /// Starts a sub-step at the present pose.
    pub(super) fn hold(&mut self) {
        self.held = self.value;
    }

    /// Adds the impulse that answers the rate `J v` of rows without bounds, and returns it.
    #[inline(always)]
    pub(super) fn answer(&mut self, rate: V3<R>, pass: &Pass<R>) -> V3<R> {
        let change = if self.compliance > R::ZERO {
            // The implicit spring: lambda = -h (C + h J v) / compliance.
            let wanted = rate + self.held * pass.inverse_h + self.lambda * self.softness;
            -self.mass.apply(wanted)
        } else if pass.bias {
            let soft = &pass.soft.joint;
            self.mass.apply(rate + self.value * soft.rate) * -soft.mass
                + self.lambda * -soft.impulse
        } else {
            -self.mass.apply(rate)
        };
        self.lambda += change;
        change
    }
}
