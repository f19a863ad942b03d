//! Contacts as penalties: stiffness against overlap, damping while it grows, regularised friction.

#![expect(clippy::needless_range_loop, reason = "lanes are indexed alike across many arrays")]

use taut_core::Scene;
use taut_descent::{
    ContactLaw, LANES, Patch, Push, Real, Touch,
    node::Node,
    patch::{Lanes, Rows, lane},
};

use crate::settings::VbdSettings;

/// Energy `k/2 d^2` of an overlap `d`, and a friction that grows with the displacement up to Coulomb's.
///
/// Friction is bounded by the pressure after the sweep before (Chen et al. 2024 take IPC's friction,
/// which lags), kept where the patch has its multiplier. Bounded by the current pressure a block would
/// stop or tip over: the first sweeps press it into the ground with many times its weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Penalty<R> {
    /// Damping over the step's length: what a growing overlap adds to the force, per force [1].
    damping: R,
    /// Displacement within a step at which friction reaches Coulomb's [m].
    reach: R,
}

impl<R: Real> Penalty<R> {
    pub(crate) fn new(settings: &VbdSettings, h: f64) -> Self {
        Self {
            damping: R::of(settings.contact_damping / h),
            reach: R::of(settings.friction_speed * h),
        }
    }

    /// Pressure of one point (negative) and its stiffness; rigid document, "Contact force and Hessian".
    #[inline(always)]
    fn pressure(&self, k: R, gap: R, start: R) -> (R, R) {
        if gap >= R::ZERO {
            return (R::ZERO, R::ZERO);
        }
        let closing = gap - start;
        if closing < R::ZERO {
            (k * (gap + self.damping * closing), k * (R::ONE + self.damping))
        } else {
            (k * gap, k)
        }
    }

    /// Secant stiffness of friction at a displacement of this size: `mu N f1(s)/s` with
    /// `f1 = 2 s/r - (s/r)^2` up to the reach `r` and one beyond (Chen et al. 2024, section 3.7).
    #[inline(always)]
    fn drag(&self, bound: R, size: R) -> R {
        if size < self.reach {
            bound * (R::TWO - size / self.reach) / self.reach
        } else {
            bound / size
        }
    }

    /// Force of one point at the current iterate, normal first [N].
    pub(crate) fn force(&self, patch: &Patch<R>, value: &Rows<R>, i: usize) -> [R; 3] {
        let push = self.push(patch, value);
        [push.force[0][i], push.force[1][i], push.force[2][i]]
    }
}

impl<R: Real> ContactLaw<R> for Penalty<R> {
    #[inline(always)]
    fn push(&self, patch: &Patch<R>, value: &Rows<R>) -> Push<R> {
        let mut push = Push::NONE;
        for i in 0..LANES {
            let (gap, u, v) = (value[0][i], value[1][i], value[2][i]);
            let (force, k) = self.pressure(patch.stiffness[0][i], gap, patch.start[0][i]);
            let size = (u * u + v * v).sqrt();
            let drag = self.drag(patch.friction[i] * -patch.lambda[0][i], size);
            push.force[0][i] = force;
            push.force[1][i] = drag * u;
            push.force[2][i] = drag * v;
            push.normal[i] = k;
            push.tangent[i] = drag;
        }
        push
    }
}

/// Sets the stiffness of the step's contacts: the full one, or what the ramp has kept of it.
pub(crate) fn prepare<R: Real>(touch: &mut Touch<R>, scene: &Scene, settings: &VbdSettings) {
    let frame = scene.dt * scene.dt;
    for (patch, backing) in touch.patches.iter_mut().zip(&touch.backings) {
        let scaled = settings.contact_stiffness_scale * backing.effective_mass / frame;
        let full = R::of(settings.contact_stiffness.unwrap_or(scaled));
        let old: Lanes<R> = patch.stiffness[0];
        for i in 0..patch.count as usize {
            patch.stiffness[0][i] = match settings.ramp {
                Some(ramp) => (old[i] * R::of(ramp.gamma)).max(R::of(ramp.k_start)).min(full),
                None => full,
            };
            // Friction has no memory: it opposes the displacement within the step.
            (patch.start[1][i], patch.start[2][i]) = (R::ZERO, R::ZERO);
            patch.friction[i] = R::of(backing.friction_dynamic);
        }
    }
}

/// Remembers the pressure of every point, which bounds friction in the next sweep.
pub(crate) fn remember<R: Real>(touch: &mut Touch<R>, nodes: &[Node<R>], penalty: &Penalty<R>) {
    for patch in &mut touch.patches {
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let gap = patch.value(a, b)[0];
        for i in 0..patch.count as usize {
            let (force, _) = penalty.pressure(patch.stiffness[0][i], gap[i], patch.start[0][i]);
            patch.lambda[0][i] = force;
        }
    }
}

/// The rigid document's dual update for contacts: `k <- min(k + beta d, k_max)`.
pub(crate) fn grow<R: Real>(
    touch: &mut Touch<R>,
    nodes: &[Node<R>],
    scene: &Scene,
    settings: &VbdSettings,
    beta: R,
) {
    let frame = scene.dt * scene.dt;
    for (patch, backing) in touch.patches.iter_mut().zip(&touch.backings) {
        let scaled = settings.contact_stiffness_scale * backing.effective_mass / frame;
        let full = R::of(settings.contact_stiffness.unwrap_or(scaled));
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let value = patch.value(a, b);
        for i in 0..patch.count as usize {
            let depth = (-lane(&value, i).0[0]).max(R::ZERO);
            patch.stiffness[0][i] = (patch.stiffness[0][i] + beta * depth).min(full);
        }
    }
}
