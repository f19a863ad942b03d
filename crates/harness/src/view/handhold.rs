//! How the pointer pulls at a body.

use taut_core::{Pull, Scene, State, Vec3};

/// Stiffness of a pull [N/m].
const PULL_STIFFNESS: f64 = 5000.0;
/// The most that a pull may be stiff, in units of the body's mass over the squared frame [1]: what acts on the place of
/// a frame before must be soft.
const PULL_SOFTNESS: f64 = 0.1;

/// A point of a body that is drawn towards a point of the world by a spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Handhold {
    /// The body.
    pub(crate) body: usize,
    /// The point in its coordinates [m].
    pub(crate) local: Vec3,
    /// Where it is to go [m].
    pub(crate) target: Vec3,
}

impl Handhold {
    /// The pull during the frame that starts at a state.
    pub(crate) fn pull(&self, scene: &Scene, state: &State) -> Pull {
        let point = state.bodies[self.body].point(&self.local);
        let softest = PULL_SOFTNESS * scene.bodies[self.body].mass / (scene.dt * scene.dt);
        let force = (self.target - point) * PULL_STIFFNESS.min(softest);
        Pull { body: self.body, point, force }
    }
}
