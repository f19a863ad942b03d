//! Bodies with a motion of their own, which contacts may hold up.
//!
//! Among contacts a driven body is one of the unknowns and held to where it is to be by `k/2 |q - q_target|_M^2 / h^2`
//! ([R] section 5, without its multipliers). Where it falls behind, `k` is doubled, up to a bound: what is in its way
//! for good stops it, and it goes on from there in the next step.

use taut_core::{
    BodyState, Mat3, Scene,
    scene::{Body, Motion},
};

use super::{AffineBody, Vec12, carried, joined, split};
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
    // Where there is none, any mass leads to the same.
    let heaviest = dynamic.map(|body| body.mass).reduce(f64::max).unwrap_or(1.0);
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

    /// Sets where it is to be at the end of a step: that time and the step's length [s]. What was held up on its last way
    /// goes on from where it is, `now`.
    pub(crate) fn begin(
        &mut self,
        scene: &Scene,
        body: usize,
        times: [f64; 2],
        now: &Vec12,
    ) -> Vec12 {
        if !self.arrived {
            let (frame, position) = split(now);
            (self.goal.frame, self.goal.position) = (frame, position);
        }
        self.goal = carried(scene, body, &self.goal, times);
        (self.strength, self.arrived) = (STRENGTH[0], false);
        joined(&self.goal.frame, &self.goal.position)
    }

    /// The velocity of a body that is not held up.
    pub(crate) fn rate(&self) -> Option<Vec12> {
        self.arrived.then(|| joined(&self.goal.frame_rate, &self.goal.velocity))
    }
}

/// Takes note of which driven bodies are where they are to be, but for a share of their way or `enough` [m].
pub(crate) fn find_arrived(bodies: &mut [AffineBody], enough: f64) {
    for node in bodies {
        let Some(drive) = &mut node.drive else { continue };
        let (way, left) = (node.target - node.start, node.target - node.now);
        drive.arrived = left.norm() <= (1.0 - PROGRESS) * way.norm() + enough;
    }
}

/// Whether every driven body has arrived or is held up; those that have not are held harder from now on.
pub(crate) fn drives_are_done(bodies: &mut [AffineBody], enough: f64) -> bool {
    find_arrived(bodies, enough);
    let mut done = true;
    for drive in bodies.iter_mut().filter_map(|node| node.drive.as_mut()) {
        if !drive.arrived && drive.strength < STRENGTH[1] {
            drive.strength *= 2.0;
            done = false;
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use taut_core::Vec3;

    use super::*;

    #[test]
    fn what_was_held_up_goes_on_from_where_it_is() {
        let body = Body {
            motion: Motion::Kinematic,
            velocity: Vec3::x(),
            ..Body::solid_box(Vec3::repeat(1.0), 1.0)
        };
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        let goes = |share: f64| {
            let mut bodies = driven_bodies(&scene, &AbdSettings::default());
            let mut ends = [0.0; 2];
            for (end, time) in ends.iter_mut().zip([1.0, 2.0]) {
                let node = &mut bodies[0];
                if time == 1.0 {
                    node.now = joined(&Mat3::identity(), &Vec3::zeros());
                    node.drive.as_mut().unwrap().load(&scene.initial_state().bodies[0]);
                }
                let now = node.now;
                let target = node.drive.as_mut().unwrap().begin(&scene, 0, [time, 1.0], &now);
                (node.start, node.target) = (now, target);
                node.now = now + (target - now) * share;
                find_arrived(&mut bodies, 0.0);
                *end = split(&bodies[0].target).1.x;
            }
            ends
        };
        assert_eq!(goes(0.5), [1.0, 1.5]);
        // What it is short of after an iteration more or less is not lost.
        assert_eq!(goes(0.9995), [1.0, 2.0]);
    }
}
