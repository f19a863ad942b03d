//! Stiffness and multipliers: their start in each step and their update after each sweep.

use taut_descent::{Definition, ElementKind, SweepElement, System};
use taut_math::{Number, Real, V3};
use taut_model::{Owner, Role};

use crate::settings::{Resolved, Scheme};

/// What governs the stiffness and multiplier of one element, for the current step length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ramp<R> {
    /// Stiffness of a cold start, and the least ever [N/m or N m/rad].
    pub(crate) start: R,
    /// Greatest stiffness: the material's for soft rows.
    pub(crate) cap: R,
    /// Growth per error.
    pub(crate) beta: R,
    /// Further growth per error and force: what scales the ramp with the load.
    pub(crate) load: R,
    /// Share of the force that the multiplier takes over: one for hard rows, zero for rows without
    /// a multiplier.
    pub(crate) share: R,
    /// Whether error at the step's start is kept by `alpha`.
    pub(crate) regularised: bool,
    /// Whether the rows of a block share one stiffness.
    pub(crate) isotropic: bool,
    /// Whether the stiffness stays as it is within a step.
    pub(crate) fixed: bool,
}

impl<R: Real> Ramp<R> {
    /// The constants of an element for steps of length `h` in a scene with frames of length `frame` [s].
    pub(crate) fn new(definition: &Definition, settings: &Resolved, h: f64, frame: f64) -> Self {
        let unit = definition.effective_mass / (h * h);
        let material = definition.stiffness_in(h);
        let hard = definition.is_hard();
        let angular = definition.is_angular();
        let regularised = hard && matches!(definition.role, Role::Lock | Role::Limit { .. });
        let isotropic = settings.isotropic;
        // A ramp only has to start somewhere, at the pace of the frame; a fixed penalty has to match
        // the inertia that it meets in each step.
        let pace = if settings.scheme == Scheme::Series { h } else { frame };
        let hanging = if angular { 0.0 } else { definition.supported_mass / (pace * pace) };
        if settings.scheme == Scheme::Series {
            let rho = (settings.rho_scale * unit).max(settings.carried_scale * hanging);
            let rho = if hard { rho } else { rho.max(9.0 * material) };
            let share = if hard { 1.0 } else { material / (material + rho) };
            let k = R::of(share * rho);
            // A hard row's penalty follows the load that it carried in the last step.
            let load = if hard { settings.load_scale / definition.length } else { 0.0 };
            return Self {
                start: k,
                cap: if hard { R::of(f64::INFINITY) } else { k },
                beta: R::ZERO,
                load: R::of(load),
                share: R::of(share),
                regularised,
                isotropic,
                fixed: true,
            };
        }
        let cap = settings.k_max.unwrap_or(settings.k_max_scale * unit).min(material);
        let scaled = (settings.k_start_scale * unit).max(settings.carried_scale * hanging);
        let is_spring = matches!(definition.owner, Owner::Spring(_));
        let damps = matches!(definition.role, Role::Damp { .. });
        // What a damper takes in this step no later step makes up for, so it does not grow into it.
        let start = if damps || is_spring && !settings.spring_ramp {
            cap
        } else {
            settings.k_start.unwrap_or(scaled).min(cap)
        };
        let absolute = if angular { settings.beta_angular } else { settings.beta };
        let beta = absolute.unwrap_or(settings.beta_scale * unit / definition.length);
        Self {
            start: R::of(start),
            cap: R::of(cap),
            beta: R::of(beta),
            load: R::of(settings.load_scale / definition.length.powi(2)),
            share: if hard { R::ONE } else { R::ZERO },
            regularised,
            isotropic,
            fixed: false,
        }
    }

    /// Eq. 19: what is kept of the last step's stiffness and multiplier.
    pub(crate) fn warm_start(&self, element: &mut SweepElement<R>, gamma: R, retain: R) {
        element.lambda = element.lambda * retain;
        element.stiffness = if self.fixed {
            V3([self.bounded(self.start + self.load * element.lambda.norm()); 3])
        } else {
            element.stiffness.each(|k| self.bounded(k * gamma))
        };
    }

    /// The force of an element after the last update: its multiplier where that took over all of it.
    pub(crate) fn force(&self, system: &System<R>, index: usize) -> V3<R> {
        if self.share == R::ONE {
            system.elements[index].lambda
        } else {
            system.penalty_force(index)
        }
    }

    fn bounded(&self, k: R) -> R {
        k.max(self.start).min(self.cap)
    }

    /// Eq. 11, 12 and 16, with bounds as in section 3.2: the stiffness grows only where the force is
    /// inside its bounds.
    #[inline]
    pub(crate) fn update(&self, element: &mut SweepElement<R>, value: V3<R>) {
        let free = element.stiffness.scale(value) + element.lambda;
        if matches!(element.kind, ElementKind::Row(_)) {
            let force = free.0[0].max(element.lower).min(element.upper);
            element.lambda.0[0] = force * self.share;
            if force == free.0[0] && !self.fixed {
                let rate = self.beta + self.load * force.abs();
                let k = element.stiffness.0[0] + rate * value.0[0].abs();
                element.stiffness.0[0] = self.bounded(k);
            }
            return;
        }
        element.lambda = free * self.share;
        if self.fixed {
            return;
        }
        let growth = if self.isotropic { V3([value.norm(); 3]) } else { value.each(Number::abs) };
        let rate = self.beta + self.load * free.norm();
        let grown = element.stiffness + growth * rate;
        element.stiffness = grown.each(|k| self.bounded(k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp() -> Ramp<f64> {
        Ramp {
            start: 1.0,
            cap: 100.0,
            beta: 10.0,
            load: 0.0,
            share: 1.0,
            regularised: true,
            isotropic: true,
            fixed: false,
        }
    }

    fn element(kind: ElementKind) -> SweepElement<f64> {
        SweepElement {
            kind,
            active: true,
            curvature: true,
            rescaled: false,
            nodes: [0, 1],
            incidences: [0, 1],
            lambda: V3::ZERO,
            stiffness: V3([4.0; 3]),
            offset: V3::ZERO,
            shift: V3::ZERO,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            counted: 0.0,
            lever: 1.0,
        }
    }

    #[test]
    fn multiplier_takes_over_the_force_and_stiffness_grows_with_the_error() {
        let mut e = element(ElementKind::Point);
        ramp().update(&mut e, V3([3.0, 0.0, 4.0]));
        assert_eq!(e.lambda, V3([12.0, 0.0, 16.0]));
        assert_eq!(e.stiffness, V3([54.0; 3]));
        ramp().update(&mut e, V3([30.0, 0.0, 40.0]));
        assert_eq!(e.stiffness, V3([100.0; 3]), "capped");
    }

    #[test]
    fn stiffness_does_not_grow_against_a_bound() {
        let mut e = element(ElementKind::Row(taut_core::constraint::RowKind::Distance));
        e.upper = 5.0;
        ramp().update(&mut e, V3([3.0, 0.0, 0.0]));
        assert_eq!((e.lambda.0[0], e.stiffness.0[0]), (5.0, 4.0));
    }

    #[test]
    fn rows_without_a_multiplier_keep_none() {
        let mut e = element(ElementKind::Point);
        Ramp { share: 0.0, ..ramp() }.update(&mut e, V3([1.0, 0.0, 0.0]));
        assert_eq!(e.lambda, V3::ZERO);
    }
}
