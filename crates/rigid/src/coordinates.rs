//! The reduced coordinates of one body, how they advance and what motion they stand for.

use taut_core::{
    BodyState, Mat3, Pull, Quat, Vec3,
    scene::{Body, Motion},
};

use crate::{
    Integrator,
    mount::Mount,
    runge_kutta::{Top, Wheel},
};

/// Reduced coordinates of one body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinates {
    /// Static or kinematic: velocities never change.
    Prescribed { position: Vec3, rotation: Quat, velocity: Vec3, omega: Vec3 },
    /// Free: the centre of mass falls, the body turns about it.
    Falling { position: Vec3, velocity: Vec3, top: Top, rotation: Quat, momentum: Vec3 },
    /// Turning about a point at `pivot`.
    Pinned { pivot: Vec3, top: Top, rotation: Quat, momentum: Vec3 },
    /// Turning about an axis through `pivot`; `rotation` is that at angle zero.
    Hinged { pivot: Vec3, wheel: Wheel, rotation: Quat, angle: f64, rate: f64 },
}

/// What a pull comes to during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PullLoad {
    /// The body.
    pub(crate) body: usize,
    /// Of its centre of mass, were it free [m/s^2].
    acceleration: Vec3,
    /// About the point that it turns about [N m].
    torque: Vec3,
}

impl Coordinates {
    /// Coordinates of a body in a given state, under gravity `gravity` [m/s^2]. A state that violates the
    /// body's joint is brought onto it.
    pub(crate) fn new(
        body: &Body,
        mount: &Mount,
        state: &BodyState,
        broken: &[bool],
        gravity: &Vec3,
    ) -> Self {
        let (rotation, omega, velocity) = (state.rotation(), state.omega(), state.velocity);
        let weight = gravity * body.mass;
        match *mount {
            _ if body.motion == Motion::Kinematic => {
                Self::Prescribed { position: state.position, rotation, velocity, omega }
            }
            _ if body.motion == Motion::Static => {
                let still = Vec3::zeros();
                Self::Prescribed {
                    position: state.position,
                    rotation,
                    velocity: still,
                    omega: still,
                }
            }
            Mount::Ball { joint, pivot, anchor } if !broken[joint] => {
                let top = about(body, &-anchor, weight);
                Self::Pinned { pivot, top, rotation, momentum: top.momentum(&rotation, &omega) }
            }
            Mount::Hinge { joint, pivot, anchor, axis, axis_local } if !broken[joint] => {
                // The smallest turn that aligns the axes; none where the state obeys the joint.
                let along = rotation * axis_local;
                let axis = if along.dot(&axis) < 0.0 { -axis } else { axis };
                let aligning = Quat::rotation_between(&along, &axis).unwrap_or_default();
                let rotation = aligning * rotation;
                let local = rotation.inverse() * axis;
                let moment = local.dot(&(about(body, &-anchor, weight).inertia * local));
                let wheel = Wheel { moment, axis, lever: rotation * -anchor, weight };
                Self::Hinged { pivot, wheel, rotation, angle: 0.0, rate: axis.dot(&omega) }
            }
            _ => {
                let top = about(body, &Vec3::zeros(), Vec3::zeros());
                let momentum = top.momentum(&rotation, &omega);
                Self::Falling { position: state.position, velocity, top, rotation, momentum }
            }
        }
    }

    /// Advances by `h` [s].
    pub(crate) fn advance(&mut self, gravity: &Vec3, h: f64, by: Integrator) {
        match self {
            Self::Prescribed { position, rotation, velocity, omega } => {
                *position += *velocity * h;
                *rotation = Quat::from_scaled_axis(*omega * h) * *rotation;
                rotation.renormalize();
            }
            Self::Falling { position, velocity, top, rotation, momentum } => {
                fall(position, velocity, gravity, h, by);
                (*rotation, *momentum) = turn(top, rotation, momentum, h, by);
            }
            Self::Pinned { top, rotation, momentum, .. } => {
                (*rotation, *momentum) = turn(top, rotation, momentum, h, by);
            }
            Self::Hinged { wheel, angle, rate, .. } => {
                (*angle, *rate) = match by {
                    Integrator::Rk4 => wheel.advance(*angle, *rate, h),
                    Integrator::Implicit => wheel.implicit(*angle, *rate, h),
                    Integrator::Explicit => wheel.explicit(*angle, *rate, h),
                };
            }
        }
    }

    /// What a pull on this body of mass `mass` [kg] comes to; nothing where forces do not move it.
    pub(crate) fn load(&self, mass: f64, pull: &Pull) -> Option<PullLoad> {
        let about = match self {
            Self::Prescribed { .. } => return None,
            Self::Falling { position, .. } => position,
            Self::Pinned { pivot, .. } | Self::Hinged { pivot, .. } => pivot,
        };
        let (acceleration, torque) = (pull.force / mass, pull.torque(about));
        Some(PullLoad { body: pull.body, acceleration, torque })
    }

    /// Changes velocities by what a load does in `h` [s]. With half of it before and half of it after a step,
    /// a constant force leads along the exact parabola, and a constant torque is of second order.
    pub(crate) fn kick(&mut self, load: &PullLoad, h: f64) {
        match self {
            Self::Prescribed { .. } => {}
            Self::Falling { velocity, momentum, .. } => {
                *velocity += load.acceleration * h;
                *momentum += load.torque * h;
            }
            Self::Pinned { momentum, .. } => *momentum += load.torque * h,
            Self::Hinged { wheel, rate, .. } => {
                *rate += wheel.axis.dot(&load.torque) / wheel.moment * h;
            }
        }
    }

    /// The motion that the coordinates stand for.
    pub(crate) fn state(&self) -> BodyState {
        let about_pivot = |pivot: Vec3, rotation: Quat, omega: Vec3, lever: Vec3| {
            BodyState::rigid(pivot + lever, rotation, omega.cross(&lever), omega)
        };
        match *self {
            Self::Prescribed { position, rotation, velocity, omega } => {
                BodyState::rigid(position, rotation, velocity, omega)
            }
            Self::Falling { position, velocity, top, rotation, momentum } => {
                BodyState::rigid(position, rotation, velocity, top.omega(&rotation, &momentum))
            }
            Self::Pinned { pivot, top, rotation, momentum } => {
                let omega = top.omega(&rotation, &momentum);
                about_pivot(pivot, rotation, omega, rotation * top.lever)
            }
            Self::Hinged { pivot, wheel, rotation, angle, rate } => {
                let turn = wheel.rotation(angle);
                about_pivot(pivot, turn * rotation, wheel.axis * rate, turn * wheel.lever)
            }
        }
    }
}

/// Falls for a time `h` [s] under a constant acceleration.
pub(crate) fn fall(
    position: &mut Vec3,
    velocity: &mut Vec3,
    gravity: &Vec3,
    h: f64,
    by: Integrator,
) {
    match by {
        // The parabola, exactly.
        Integrator::Rk4 => {
            *position += *velocity * h + gravity * (0.5 * h * h);
            *velocity += gravity * h;
        }
        // The force does not depend on the pose, so both Euler methods agree.
        Integrator::Implicit | Integrator::Explicit => {
            *velocity += gravity * h;
            *position += *velocity * h;
        }
    }
}

fn turn(top: &Top, rotation: &Quat, momentum: &Vec3, h: f64, by: Integrator) -> (Quat, Vec3) {
    match by {
        Integrator::Rk4 => top.advance(rotation, momentum, h),
        Integrator::Implicit => top.implicit(rotation, momentum, h),
        Integrator::Explicit => top.explicit(rotation, momentum, h),
    }
}

/// A body turning about the point that `lever` leads from to its centre of mass, in body coordinates [m].
fn about(body: &Body, lever: &Vec3, weight: Vec3) -> Top {
    // Steiner's theorem.
    let shift = Mat3::identity() * lever.norm_squared() - lever * lever.transpose();
    let inertia = body.inertia + shift * body.mass;
    let inverse = inertia.try_inverse().unwrap_or_else(Mat3::zeros);
    Top { inertia, inverse, lever: *lever, weight }
}
