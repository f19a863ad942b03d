//! Contacts with Coulomb friction: forces within the cone, their stiffness, and the dual update.

#![expect(clippy::needless_range_loop, reason = "lanes are indexed alike across many arrays")]

use taut_descent::{
    Backing, ContactLaw, LANES, Patch, Push, Real, Touch,
    math::V3,
    node::Node,
    patch::{Lanes, Rows, lane},
};

use crate::settings::{ContactHessian, ContactStyle, Resolved, Scheme};

/// The official 3D demo lets bodies rest this deep in each other [m], so that they keep touching.
const DEMO_MARGIN: f64 = 0.01;
/// The official 3D demo takes a point for sticking when it moved less than this in a step [m].
const DEMO_STICK: f64 = 1e-5;

/// Forces `F = K C + lambda` (Eq. 9), pressure not negative, friction within the cone (section 3.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone {
    pub(crate) hessian: ContactHessian,
    /// Whether a point without pressure keeps its stiffness.
    pub(crate) separating: bool,
}

/// The same with arms that follow the current rotation, as in the official 3D demo.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DemoCone(pub(crate) Cone);

/// Friction below this, squared [N^2], has no direction.
const SQUARE_MIN: f64 = 1e-30;

/// Share of a friction of this size that the cone lets through, in [0, 1].
#[inline(always)]
fn let_through<R: Real>(bound: R, size: R) -> R {
    let share = bound / size;
    if size > bound { share } else { R::ONE }
}

/// Force of one point: pressure and friction, and where the cone ends.
struct Point<R> {
    pressure: R,
    pull: [R; 2],
    /// Share of the unbounded friction that the cone lets through, in [0, 1].
    share: R,
}

/// Bounds the force that the rows ask for.
#[inline(always)]
fn bounded<R: Real>(asked: [R; 3], friction: R) -> Point<R> {
    let pressure = asked[0].min(R::ZERO);
    let size = (asked[1] * asked[1] + asked[2] * asked[2]).sqrt();
    let share = let_through(friction * -pressure, size);
    Point { pressure, pull: [asked[1] * share, asked[2] * share], share }
}

impl Cone {
    /// Lane by lane without branches, so that lanes share instructions.
    #[inline(always)]
    fn forces<R: Real>(&self, patch: &Patch<R>, value: &Rows<R>) -> Push<R> {
        let mut push = Push::NONE;
        let mut share = [R::ONE; LANES];
        let mut square = [R::ZERO; LANES];
        let mut asked = [[R::ZERO; LANES]; 3];
        for c in 0..3 {
            for i in 0..LANES {
                asked[c][i] = patch.stiffness[c][i] * value[c][i] + patch.lambda[c][i];
            }
        }
        for i in 0..LANES {
            let pressure = asked[0][i].min(R::ZERO);
            square[i] = asked[1][i] * asked[1][i] + asked[2][i] * asked[2][i];
            share[i] = let_through(patch.friction[i] * -pressure, square[i].sqrt());
            push.force[0][i] = pressure;
            push.force[1][i] = asked[1][i] * share[i];
            push.force[2][i] = asked[2][i] * share[i];
        }
        for i in 0..LANES {
            let k = patch.stiffness[0][i];
            let apart = if self.separating { k } else { R::ZERO };
            push.normal[i] = if push.force[0][i] < R::ZERO { k } else { apart };
        }
        self.stiffen(patch, &asked, &share, &square, &mut push);
        push
    }

    /// Stiffness along the tangents.
    #[inline(always)]
    fn stiffen<R: Real>(
        &self,
        patch: &Patch<R>,
        asked: &Rows<R>,
        share: &Lanes<R>,
        square: &Lanes<R>,
        push: &mut Push<R>,
    ) {
        let [_, ku, kv] = &patch.stiffness;
        push.tangent = *ku;
        match self.hessian {
            ContactHessian::SlipDirection => {
                // K = k (I - d d^T) + k share d d^T with d the direction of the friction asked for.
                let least = R::of(SQUARE_MIN);
                for i in 0..LANES {
                    push.extra[i] = ku[i] * (share[i] - R::ONE) / square[i].max(least);
                }
                push.has_extra = share.iter().any(|&share| share < R::ONE);
                push.direction = [asked[1], asked[2]];
            }
            ContactHessian::Full | ContactHessian::Rescaled => {
                if self.hessian == ContactHessian::Rescaled {
                    for i in 0..LANES {
                        push.tangent[i] = ku[i] * share[i];
                    }
                }
                // The two tangents may have grown apart where each ramps for itself.
                push.has_extra = ku != kv;
                push.direction[1] = [R::ONE; LANES];
                for i in 0..LANES {
                    push.extra[i] = push.tangent[i] / ku[i] * (kv[i] - ku[i]);
                }
            }
        }
    }
}

impl<R: Real> ContactLaw<R> for Cone {
    #[inline(always)]
    fn push(&self, patch: &Patch<R>, value: &Rows<R>) -> Push<R> {
        self.forces(patch, value)
    }
}

impl<R: Real> ContactLaw<R> for DemoCone {
    const ARMS_TURN: bool = true;

    fn push(&self, patch: &Patch<R>, value: &Rows<R>) -> Push<R> {
        self.0.forces(patch, value)
    }
}

/// What governs stiffness and multipliers of a scene's contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRamp {
    settings: Resolved,
    /// Length of a step [s].
    h: f64,
    /// Length of a frame [s].
    frame: f64,
}

/// The same for one patch.
#[derive(Clone, Copy, Debug)]
struct PatchRamp<R> {
    start: R,
    cap: R,
    beta: R,
    load: R,
}

impl ContactRamp {
    pub(crate) fn new(settings: Resolved, h: f64, frame: f64) -> Self {
        Self { settings, h, frame }
    }

    fn of<R: Real>(&self, backing: &Backing<R>) -> PatchRamp<R> {
        let s = &self.settings;
        let unit = backing.effective_mass / (self.h * self.h);
        if s.scheme == Scheme::Series {
            let rho = R::of(s.rho_scale * unit);
            return PatchRamp { start: rho, cap: rho, beta: R::ZERO, load: R::ZERO };
        }
        let cap = s.k_max.unwrap_or(s.k_max_scale * unit);
        let resting = s.carried_scale * backing.carried_mass / (self.frame * self.frame);
        let scaled = (s.k_start_scale * unit).max(resting);
        PatchRamp {
            start: R::of(s.k_start.unwrap_or(scaled).min(cap)),
            cap: R::of(cap),
            beta: R::of(s.beta.unwrap_or(s.beta_scale * unit / backing.length)),
            load: R::of(s.load_scale / backing.length.powi(2)),
        }
    }

    /// Lines 5 and 6 of Algorithm 1 for contacts.
    pub(crate) fn warm_start<R: Real>(&self, touch: &mut Touch<R>, gamma: R, retain: R) {
        for (patch, backing) in touch.patches.iter_mut().zip(&touch.backings) {
            let ramp = self.of(backing);
            for i in 0..patch.count as usize {
                for c in 0..3 {
                    patch.lambda[c][i] = patch.lambda[c][i] * retain;
                    let kept = patch.stiffness[c][i] * gamma;
                    patch.stiffness[c][i] = kept.max(ramp.start).min(ramp.cap);
                }
            }
        }
    }

    /// Eq. 18 for contacts: a share `alpha` of overlap and drift is left for later steps. A gap that is
    /// still open is not an error and counts whole.
    pub(crate) fn regularise<R: Real>(&self, touch: &mut Touch<R>, alpha: f64) {
        let part = R::of(1.0 - alpha);
        let demo = self.settings.contacts == ContactStyle::Demo3d;
        let rest = if demo { R::of(DEMO_MARGIN) } else { R::ZERO };
        for (patch, backing) in touch.patches.iter_mut().zip(&touch.backings) {
            for i in 0..patch.count as usize {
                let gap = backing.gap[i] + rest;
                patch.start[0][i] = if gap > R::ZERO && !demo { gap } else { gap * part };
                patch.start[1][i] = backing.drift[0][i] * part;
                patch.start[2][i] = backing.drift[1][i] * part;
            }
        }
    }

    /// Eq. 11 and 12 within the cone: stiffness grows only where no bound holds the force back.
    pub(crate) fn update<R: Real>(
        &self,
        patch: &mut Patch<R>,
        backing: &Backing<R>,
        nodes: &[Node<R>],
    ) {
        let ramp = self.of(backing);
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let demo = self.settings.contacts == ContactStyle::Demo3d;
        let value = if demo { patch.turned(a, b).value(a, b) } else { patch.value(a, b) };
        for i in 0..patch.count as usize {
            let (c, k, lambda) =
                (lane(&value, i), lane(&patch.stiffness, i), lane(&patch.lambda, i));
            let asked = k.scale(c) + lambda;
            let point = bounded(asked.0, patch.friction[i]);
            patch.lambda[0][i] = point.pressure;
            patch.lambda[1][i] = point.pull[0];
            patch.lambda[2][i] = point.pull[1];
            let inside = point.share == R::ONE && point.pressure < R::ZERO;
            if point.pressure < R::ZERO {
                let rate = ramp.beta + ramp.load * -point.pressure;
                patch.stiffness[0][i] = (k.0[0] + rate * c.0[0].abs()).min(ramp.cap);
            }
            let slip = (c.0[1] * c.0[1] + c.0[2] * c.0[2]).sqrt();
            if demo {
                if point.share == R::ONE {
                    patch.stiffness[1][i] = (k.0[1] + ramp.beta * c.0[1].abs()).min(ramp.cap);
                    patch.stiffness[2][i] = (k.0[2] + ramp.beta * c.0[2].abs()).min(ramp.cap);
                    patch.sticks[i] = slip < R::of(DEMO_STICK);
                }
                continue;
            }
            patch.sticks[i] = inside;
            if inside {
                let pull = V3([R::ZERO, point.pull[0], point.pull[1]]).norm();
                let grown = k.0[1] + (ramp.beta + ramp.load * pull) * slip;
                let grown = grown.min(ramp.cap);
                (patch.stiffness[1][i], patch.stiffness[2][i]) = (grown, grown);
            }
        }
    }
}

/// Adds to each sticking point's drift what the step dragged it along.
pub(crate) fn follow_drift<R: Real>(touch: &mut Touch<R>, nodes: &[Node<R>]) {
    for (patch, backing) in touch.patches.iter().zip(&mut touch.backings) {
        let [a, b] = patch.nodes.map(|n| &nodes[n as usize]);
        let value = patch.value(a, b);
        for i in 0..patch.count as usize {
            for c in 0..2 {
                let dragged = value[c + 1][i] - patch.start[c + 1][i];
                backing.drift[c][i] =
                    if patch.sticks[i] { backing.drift[c][i] + dragged } else { R::ZERO };
            }
        }
    }
}
