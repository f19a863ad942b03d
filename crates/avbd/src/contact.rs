//! Contacts with Coulomb friction: forces within the cone, their stiffness, and the dual update.

use rayon::prelude::*;
use taut_descent::{
    ContactLaw, ContactStore, Patch, PatchMemory, Push,
    node::SweepNode,
    patch::{PatchRows, lane},
};
use taut_math::{Number, Real, V3, Wide};

use crate::settings::{ContactHessian, ContactStyle, Resolved, Scheme};

/// The official 3D demo lets bodies rest this deep in each other [m], so that they keep touching.
const DEMO_MARGIN: f64 = 0.01;
/// The official 3D demo takes a point for sticking when it moved less than this in a step [m].
const DEMO_STICK: f64 = 1e-5;
/// Friction below this, squared [N^2], has no direction.
const SQUARE_MIN: f64 = 1e-30;
/// Patches per task in the dual update.
const GRAIN: usize = 256;

/// Forces `F = K C + lambda` (Eq. 9), pressure not negative, friction within the cone (section 3.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone {
    pub(crate) hessian: ContactHessian,
    /// A point that has not pressed in the step has no stiffness where its gap is larger than this [m].
    pub(crate) open: f64,
}

/// The same with arms that follow the current rotation, as in the official 3D demo.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DemoCone(pub(crate) Cone);

/// Forces of a patch and where the cone ends.
struct Bounded<R: Real> {
    /// What the rows ask for [N].
    asked: PatchRows<R>,
    /// What they get [N].
    force: PatchRows<R>,
    /// Squared size of the friction asked for [N^2].
    square: R::Wide,
    /// Share of that friction that the cone lets through, in [0, 1].
    share: R::Wide,
}

/// Bounds the force that the rows ask for.
#[inline(always)]
fn bounded<R: Real>(patch: &Patch<R>, value: &PatchRows<R>) -> Bounded<R> {
    let ask = |c: usize| patch.stiffness[c] * value[c] + patch.lambda[c];
    let asked = [ask(0), ask(1), ask(2)];
    let pressure = asked[0].min(R::Wide::ZERO);
    let square = asked[1] * asked[1] + asked[2] * asked[2];
    let (bound, size) = (-(patch.friction * pressure), square.sqrt());
    // Nothing over nothing is not chosen.
    let share = size.where_above(bound, bound / size, R::Wide::splat(R::ONE));
    Bounded { asked, force: [pressure, asked[1] * share, asked[2] * share], square, share }
}

/// The gap of points whose `load` is zero, minus something of the others.
#[inline(always)]
fn unloaded_gap<R: Real>(load: R::Wide, value: &PatchRows<R>) -> R::Wide {
    R::Wide::ZERO.where_above(load, load, value[0])
}

impl Cone {
    #[inline(always)]
    fn forces<R: Real>(&self, patch: &Patch<R>, value: &PatchRows<R>) -> Push<R> {
        let Bounded { asked, force, square, share } = bounded(patch, value);
        let zero = R::Wide::ZERO;
        let open = R::Wide::splat(R::of(self.open));
        let unless_open = |load, k| unloaded_gap::<R>(load, value).where_above(open, zero, k);
        // What was thrown out would go in deeper with every iteration if nothing resisted its return.
        let normal = unless_open(patch.pressed, patch.stiffness[0]);
        let [ku, kv] = [1, 2].map(|c| unless_open(patch.lambda[0], patch.stiffness[c]));
        let one = R::Wide::splat(R::ONE);
        match self.hessian {
            ContactHessian::SlipDirection => {
                // K = k (I - d d^T) + k share d d^T with d the direction of the friction asked for.
                let least = R::Wide::splat(R::of(SQUARE_MIN));
                Push {
                    force,
                    normal,
                    tangent: ku,
                    has_extra: one.any_above(share),
                    extra: ku * (share - one) / square.max(least),
                    direction: [asked[1], asked[2]],
                }
            }
            ContactHessian::Full | ContactHessian::Rescaled => {
                let kept = if self.hessian == ContactHessian::Full { one } else { share };
                // The two tangents may have grown apart where each ramps for itself.
                Push {
                    force,
                    normal,
                    tangent: ku * kept,
                    has_extra: true,
                    extra: (kv - ku) * kept,
                    direction: [zero, one],
                }
            }
        }
    }
}

impl<R: Real> ContactLaw<R> for Cone {
    #[inline(always)]
    fn idles(&self, patch: &Patch<R>, value: &PatchRows<R>) -> bool {
        let gap = unloaded_gap::<R>(patch.pressed, value);
        !R::Wide::splat(R::of(self.open)).any_above(gap)
    }

    #[inline(always)]
    fn push(&self, patch: &Patch<R>, value: &PatchRows<R>) -> Push<R> {
        self.forces(patch, value)
    }
}

impl<R: Real> ContactLaw<R> for DemoCone {
    const ARMS_TURN: bool = true;

    fn push(&self, patch: &Patch<R>, value: &PatchRows<R>) -> Push<R> {
        self.0.forces(patch, value)
    }
}

/// What governs stiffness and multipliers of a scene's contacts.
#[derive(Clone, Debug)]
pub(crate) struct ContactRamps<R> {
    settings: Resolved,
    /// Length of a step [s].
    h: f64,
    /// Length of a frame [s].
    frame: f64,
    /// One per patch of the current step.
    ramps: Vec<ContactRamp<R>>,
}

/// The same for one patch.
#[derive(Clone, Copy, Debug)]
struct ContactRamp<R> {
    start: R,
    cap: R,
    beta: R,
    load: R,
}

impl<R: Real> ContactRamps<R> {
    /// For steps of length `h` in a scene with frames of length `frame` [s].
    pub(crate) fn new(settings: Resolved, h: f64, frame: f64) -> Self {
        Self { settings, h, frame, ramps: vec![] }
    }

    fn of(&self, memory: &PatchMemory<R>) -> ContactRamp<R> {
        let s = &self.settings;
        let unit = memory.effective_mass / (self.h * self.h);
        if s.scheme == Scheme::Series {
            let rho = R::of(s.rho_scale * unit);
            return ContactRamp { start: rho, cap: rho, beta: R::ZERO, load: R::ZERO };
        }
        let cap = s.k_max.unwrap_or(s.k_max_scale * unit);
        let resting = s.carried_scale * memory.supported_mass / (self.frame * self.frame);
        let scaled = (s.k_start_scale * unit).max(resting);
        ContactRamp {
            start: R::of(s.k_start.unwrap_or(scaled).min(cap)),
            cap: R::of(cap),
            beta: R::of(s.beta.unwrap_or(s.beta_scale * unit / memory.length)),
            load: R::of(s.load_scale / memory.length.powi(2)),
        }
    }

    /// Least and greatest stiffness of each patch, and its growth per error and per error and force.
    #[cfg(feature = "gpu")]
    pub(crate) fn limits(&self) -> impl Iterator<Item = [R; 4]> {
        self.ramps.iter().map(|ramp| [ramp.start, ramp.cap, ramp.beta, ramp.load])
    }

    /// Lines 5 and 6 of Algorithm 1 for contacts.
    pub(crate) fn warm_start(&mut self, contacts: &mut ContactStore<R>, gamma: R, retain: R) {
        self.ramps.clear();
        for (patch, memory) in contacts.patches.iter_mut().zip(&contacts.memories) {
            let ramp = self.of(memory);
            self.ramps.push(ramp);
            patch.pressed = patch.lambda[0];
            for c in 0..3 {
                patch.lambda[c] = patch.lambda[c] * R::Wide::splat(retain);
                for i in 0..patch.count as usize {
                    let kept = patch.stiffness[c].lane(i) * gamma;
                    patch.stiffness[c].put(i, kept.max(ramp.start).min(ramp.cap));
                }
            }
        }
    }

    /// Eq. 18 for contacts: a share `alpha` of overlap and drift is left for later steps. A gap that is
    /// still open is not an error and counts whole.
    pub(crate) fn regularise(&self, contacts: &mut ContactStore<R>, alpha: f64) {
        let part = R::Wide::splat(R::of(1.0 - alpha));
        let demo = self.settings.contacts == ContactStyle::Demo3d;
        let zero = R::Wide::ZERO;
        for (patch, memory) in contacts.patches.iter_mut().zip(&contacts.memories) {
            let gap = R::Wide::from_lanes(memory.gap);
            patch.start[0] = if demo {
                (gap + R::Wide::splat(R::of(DEMO_MARGIN))) * part
            } else {
                gap.where_above(zero, gap, gap * part)
            };
            patch.start[1] = R::Wide::from_lanes(memory.drift[0]) * part;
            patch.start[2] = R::Wide::from_lanes(memory.drift[1]) * part;
        }
    }

    /// The dual update of all patches, after a sweep.
    pub(crate) fn update(&self, contacts: &mut ContactStore<R>, nodes: &[SweepNode<R>]) {
        let demo = self.settings.contacts == ContactStyle::Demo3d;
        let one = |(patch, ramp): (&mut Patch<R>, &ContactRamp<R>)| {
            let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
            if demo {
                ramp.update_as_demo(patch, &patch.turned(a, b).value(a, b));
            } else {
                ramp.update(patch, &patch.value(a, b));
            }
        };
        if rayon::current_num_threads() > 1 && contacts.patches.len() > GRAIN {
            let patches = contacts.patches.par_iter_mut().with_min_len(GRAIN);
            patches.zip(&self.ramps).for_each(one);
        } else {
            contacts.patches.iter_mut().zip(&self.ramps).for_each(one);
        }
    }
}

impl<R: Real> ContactRamp<R> {
    /// Eq. 11 and 12 within the cone: stiffness grows only where no bound holds the force back. Lanes
    /// without a point press nothing, so nothing of them grows.
    #[inline(always)]
    fn update(&self, patch: &mut Patch<R>, value: &PatchRows<R>) {
        let found = bounded(patch, value);
        let [pressure, pull_u, pull_v] = found.force;
        let (zero, one) = (R::Wide::ZERO, R::Wide::splat(R::ONE));
        let (beta, load) = (R::Wide::splat(self.beta), R::Wide::splat(self.load));
        let cap = R::Wide::splat(self.cap);
        let [k, ku, _] = patch.stiffness;
        let grown = (k + (beta - load * pressure) * value[0].abs()).min(cap);
        patch.stiffness[0] = zero.where_above(pressure, grown, k);
        let slip = (value[1] * value[1] + value[2] * value[2]).sqrt();
        let pull = (pull_u * pull_u + pull_v * pull_v).sqrt();
        let grown = (ku + (beta + load * pull) * slip).min(cap);
        let held = one.where_above(found.share, ku, grown);
        let across = zero.where_above(pressure, held, ku);
        (patch.stiffness[1], patch.stiffness[2]) = (across, across);
        patch.pressed = zero.where_above(pressure, pressure, patch.pressed);
        patch.lambda = found.force;
        let (share, pressure) = (found.share.lanes(), pressure.lanes());
        for ((sticks, share), pressure) in patch.sticks.iter_mut().zip(share).zip(pressure) {
            *sticks = share == R::ONE && pressure < R::ZERO;
        }
    }

    /// The same as the official 3D demo does it: each tangent ramps for itself, also without pressure.
    fn update_as_demo(&self, patch: &mut Patch<R>, value: &PatchRows<R>) {
        let found = bounded(patch, value);
        for i in 0..patch.count as usize {
            let (c, k) = (lane::<R>(value, i), lane::<R>(&patch.stiffness, i));
            let grown = k + c.each(R::abs) * self.beta;
            let grown = grown.each(|k| k.min(self.cap));
            if found.force[0].lane(i) < R::ZERO {
                patch.stiffness[0].put(i, grown.0[0]);
            }
            if found.share.lane(i) == R::ONE {
                patch.stiffness[1].put(i, grown.0[1]);
                patch.stiffness[2].put(i, grown.0[2]);
                let slip = V3([R::ZERO, c.0[1], c.0[2]]).norm();
                patch.sticks[i] = slip < R::of(DEMO_STICK);
            }
        }
        patch.lambda = found.force;
    }
}

/// Adds to each sticking point's drift what the step dragged it along.
pub(crate) fn follow_drift<R: Real>(contacts: &mut ContactStore<R>, nodes: &[SweepNode<R>]) {
    for (patch, memory) in contacts.patches.iter().zip(&mut contacts.memories) {
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let value = patch.value(a, b);
        for (c, drift) in memory.drift.iter_mut().enumerate() {
            let dragged = (value[c + 1] - patch.start[c + 1]).lanes();
            for ((drift, dragged), sticks) in drift.iter_mut().zip(dragged).zip(patch.sticks) {
                *drift = if sticks { *drift + dragged } else { R::ZERO };
            }
        }
    }
}
