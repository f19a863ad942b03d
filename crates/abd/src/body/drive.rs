//! Bodies with a motion of their own, which contacts may hold up.
//!
//! Among contacts a driven body is one of the unknowns and held to where it is to be by `k/2 |q - q_target|_M^2 / h^2`
//! ([R] section 5, without its multipliers). Where it falls behind, `k` is doubled, up to a bound: what is in its way
//! for good stops it, and it goes on from there in the next step.

use taut_core::{
    BodyState, Mat3, Scene,
    scene::{Body, Motion},
};

use super::{AffineBody, Vec12, carried, joined};
use crate::AbdSettings;

/// `k` when a step begins, and its bound [1].
const STRENGTH: [f64; 2] = [1e3, 1e8];
/// Share of its way that a body which is not held up makes.
const PROGRESS: f64 = 0.999;

/// What drives a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyDrive {
    /// Where it is to be at the end of the step.
    goal: BodyState,
    /// `k`.
    strength: f64,
    arrived: bool,
}

/// The driven bodies of a scene, as unknowns that are as heavy as the heaviest that they may push.
pub(crate) fn driven_bodies(scene: &Scene, settings: &AbdSettings) -> Vec<AffineBody> {
    let dynamic = scene.bodies.iter().filter(|body| body.is_dynamic());
    let heaviest = dynamic.map(|body| body.mass).fold(0.0, f64::max);
    let bodies = scene.bodies.iter().enumerate();
    let kinematic = bodies.filter(|(_, body)| body.motion == Motion::Kinematic);
    kinematic.map(|(i, body)| driven_body(i, body, heaviest, settings)).collect()
}

fn driven_body(index: usize, body: &Body, mass: f64, settings: &AbdSettings) -> AffineBody {
    let extent = body.shape.extent();
    let goal = BodyState::rigid(body.position, body.rotation, body.velocity, body.omega);
    AffineBody {
        mass,
        second: Mat3::from_diagonal(&extent.component_mul(&extent)) * (mass / 12.0),
        // As much stiffer than what it pushes as it is held harder.
        stiffness: STRENGTH[0] * mass * settings.wave_speed * settings.wave_speed,
        drive: Some(BodyDrive { goal, strength: STRENGTH[0], arrived: true }),
        ..AffineBody::new(index, body, settings)
    }
}

impl BodyDrive {
    pub(crate) fn strength(&self) -> f64 {
        self.strength
    }

    /// Forgets where it was to be.
    pub(crate) fn load(&mut self, state: &BodyState) {
        (self.goal, self.arrived) = (*state, true);
    }

    /// Sets where it is to be at the end of a step: that time and the step's length [s].
    pub(crate) fn begin(&mut self, scene: &Scene, body: usize, times: [f64; 2]) -> Vec12 {
        self.goal = carried(scene, body, &self.goal, times);
        (self.strength, self.arrived) = (STRENGTH[0], false);
        joined(&self.goal.frame, &self.goal.position)
    }

    /// The velocity of a body that is not held up.
    pub(crate) fn rate(&self) -> Option<Vec12> {
        self.arrived.then(|| joined(&self.goal.frame_rate, &self.goal.velocity))
    }
}

/// Whether every driven body is where it is to be or is held up; those that are not are held harder from now on.
pub(crate) fn drives_are_done(bodies: &mut [AffineBody]) -> bool {
    let mut done = true;
    for node in bodies {
        let Some(drive) = &mut node.drive else { continue };
        let (way, left) = (node.target - node.start, node.target - node.now);
        drive.arrived = left.norm() <= (1.0 - PROGRESS) * way.norm();
        if !drive.arrived && drive.strength < STRENGTH[1] {
            drive.strength *= 2.0;
            done = false;
        }
    }
    done
}
