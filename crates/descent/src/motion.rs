//! How a node moves within a step without constraints, and what velocity its motion means.

use taut_math::{Q4, Real, V3};
use taut_model::{NodeKind, Rotation, driven_turn, free_omega};

use crate::{
    node::{Base, SweepNode},
    options::{InitialGuess, Options},
};

/// Sets where inertia and gravity alone take a node in a step of length `h` [s], and where iterations start.
pub(crate) fn predict<R: Real>(
    node: &mut SweepNode<R>,
    base: &Base<R>,
    gravity: V3<R>,
    h: R,
    how: &Options,
) {
    if node.kind == NodeKind::Held {
        return;
    }
    let coast = base.velocity * h;
    let fall = gravity * (h * h);
    if node.kind == NodeKind::Driven {
        node.step = coast;
        node.turn = driven_turn(base.omega.to_f64() * h.to_f64());
        return;
    }
    let scale = R::ONE / (h * h);
    node.mass = base.mass * scale;
    node.target_step = coast + fall;
    node.step = match how.start {
        InitialGuess::Target => node.target_step,
        InitialGuess::Adaptive => coast + fall * followed(base, gravity, h),
    };
    if node.kind == NodeKind::Body {
        let inertia = base.inertia_in(how.frame);
        let omega = if how.gyroscopic { free_omega(base.omega, &inertia, h) } else { base.omega };
        node.inertia = inertia.times(scale);
        node.target_turn = Q4::IDENTITY.advanced(omega * h);
        node.turn = node.target_turn;
    }
}

/// The share of gravity that the body's last acceleration followed, in [0, 1].
///
/// A falling body starts from its target, a resting one from where it is.
fn followed<R: Real>(base: &Base<R>, gravity: V3<R>, h: R) -> R {
    let size = gravity.norm();
    let share = (base.velocity - base.previous_velocity).dot(gravity) / (h * size * size);
    // Without gravity the share is not a number, and there is nothing to follow.
    if share > R::ZERO { share.min(R::ONE) } else { R::ZERO }
}

/// Velocity and angular velocity that led through the motion since the step's start (BDF1).
pub(crate) fn rates<R: Real>(node: &SweepNode<R>, h: R, rotation: Rotation) -> (V3<R>, V3<R>) {
    let inverse = R::ONE / h;
    let turn = match rotation {
        Rotation::Published => node.turn.v * R::TWO,
        Rotation::Cayley => {
            // Beyond a quarter turn a step resolves no rate; the tangent must not run off there.
            let quarter = R::of(std::f64::consts::FRAC_1_SQRT_2);
            let w = node.turn.w;
            let sign = if w < R::ZERO { -R::ONE } else { R::ONE };
            node.turn.v * (R::TWO * sign / w.abs().max(quarter))
        }
    };
    (node.step * inverse, turn * inverse)
}
