//! Contacts as penalties: stiffness against overlap, damping while it grows, regularised friction.

use taut_descent::{
    ContactLaw, ContactStore, Patch, PatchMemory, Push, node::SweepNode, patch::PatchRows,
};
use taut_math::{Number, Real, Wide};

use crate::settings::VbdSettings;

/// Energy `k/2 d^2` of an overlap `d`, and a friction that grows with the displacement up to Coulomb's.
///
/// Friction is bounded by the pressure after the sweep before (Chen et al. 2024 take IPC's friction,
/// which lags), kept where the patch has its multiplier. Bounded by the current pressure a block would
/// stop or tip over: the first sweeps press it into the ground with many times its weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Penalty<R> {
    /// Damping over the step's length: what a growing overlap adds to the force, per force [1].
    pub(crate) damping: R,
    /// Displacement within a step at which friction reaches Coulomb's [m].
    pub(crate) reach: R,
}

impl<R: Real> Penalty<R> {
    pub(crate) fn new(settings: &VbdSettings, h: f64) -> Self {
        Self {
            damping: R::of(settings.contact_damping / h),
            reach: R::of(settings.friction_speed * h),
        }
    }

    /// Pressure of all points (negative) and their stiffness; rigid document, "Contact force and Hessian".
    #[inline(always)]
    fn pressure(&self, k: R::Wide, gap: R::Wide, start: R::Wide) -> (R::Wide, R::Wide) {
        let zero = R::Wide::ZERO;
        let damping = R::Wide::splat(self.damping);
        // Damping acts while the overlap grows.
        let closing = (gap - start).min(zero);
        let damped = zero.where_above(closing, k + k * damping, k);
        let force = k * (gap + damping * closing);
        (zero.where_above(gap, force, zero), zero.where_above(gap, damped, zero))
    }

    /// Secant stiffness of friction at a displacement of this size: `mu N f1(s)/s` with
    /// `f1 = 2 s/r - (s/r)^2` up to the reach `r` and one beyond (Chen et al. 2024, section 3.7).
    #[inline(always)]
    fn drag(&self, bound: R::Wide, size: R::Wide) -> R::Wide {
        let (reach, two) = (R::Wide::splat(self.reach), R::Wide::splat(R::TWO));
        let sticking = bound * (two - size / reach) / reach;
        reach.where_above(size, sticking, bound / size)
    }
}

impl<R: Real> ContactLaw<R> for Penalty<R> {
    #[inline(always)]
    fn push(&self, patch: &Patch<R>, value: &PatchRows<R>) -> Push<R> {
        let [gap, u, v] = *value;
        let (force, normal) = self.pressure(patch.stiffness[0], gap, patch.start[0]);
        let drag = self.drag(-(patch.friction * patch.lambda[0]), (u * u + v * v).sqrt());
        Push { force: [force, drag * u, drag * v], normal, tangent: drag, ..Push::NONE }
    }
}

/// Greatest stiffness of a patch's points [N/m].
///
/// A penalty is a property of the material, so it follows the frame and not the substep.
pub(crate) fn full_stiffness<R: Real>(
    memory: &PatchMemory<R>,
    settings: &VbdSettings,
    frame_s: f64,
) -> R {
    let scaled = settings.contact_stiffness_scale * memory.effective_mass / (frame_s * frame_s);
    R::of(settings.contact_stiffness.unwrap_or(scaled))
}

/// Sets the stiffness of the step's contacts: the full one, or what the ramp has kept of it.
pub(crate) fn prepare<R: Real>(contacts: &mut ContactStore<R>, settings: &VbdSettings, frame: f64) {
    for (patch, memory) in contacts.patches.iter_mut().zip(&contacts.memories) {
        let full = full_stiffness(memory, settings, frame);
        for i in 0..patch.count as usize {
            let stiffness = match settings.ramp {
                Some(ramp) => {
                    let kept = patch.stiffness[0].lane(i) * R::of(ramp.gamma);
                    kept.max(R::of(ramp.k_start)).min(full)
                }
                None => full,
            };
            patch.stiffness[0].put(i, stiffness);
        }
        // Friction has no memory: it opposes the displacement within the step.
        (patch.start[1], patch.start[2]) = (R::Wide::ZERO, R::Wide::ZERO);
        patch.friction = R::Wide::splat(R::of(memory.friction_dynamic));
    }
}

/// Remembers the pressure of every point, which bounds friction in the next sweep.
pub(crate) fn remember<R: Real>(
    contacts: &mut ContactStore<R>,
    nodes: &[SweepNode<R>],
    penalty: &Penalty<R>,
) {
    for patch in &mut contacts.patches {
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let gap = patch.value(a, b)[0];
        // Lanes without a point have no stiffness, so they press nothing.
        patch.lambda[0] = penalty.pressure(patch.stiffness[0], gap, patch.start[0]).0;
    }
}

/// The rigid document's dual update for contacts: `k <- min(k + beta d, k_max)`.
pub(crate) fn grow<R: Real>(
    contacts: &mut ContactStore<R>,
    nodes: &[SweepNode<R>],
    settings: &VbdSettings,
    frame: f64,
    beta: R,
) {
    for (patch, memory) in contacts.patches.iter_mut().zip(&contacts.memories) {
        let full = full_stiffness(memory, settings, frame);
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let value = patch.value(a, b);
        for i in 0..patch.count as usize {
            let depth = (-value[0].lane(i)).max(R::ZERO);
            patch.stiffness[0].put(i, (patch.stiffness[0].lane(i) + beta * depth).min(full));
        }
    }
}
