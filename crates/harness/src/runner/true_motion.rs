//! The motion that equations and not steps decide, extrapolated from runs of ever shorter steps.
//!
//! The end of a run of a one-step method is, where motion is smooth, a power series in the length `h` of its steps.
//! Levels of `1, 2, 4, ..` steps per frame therefore give, by Neville's scheme at `h = 0`, orders one, two, three and
//! so on (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.9; for implicit Euler and joints,
//! Hairer, Lubich and Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods, 6).
//! Impacts and stops end the series: there no order is better than the first, and the estimate below says so.

use taut_core::{BodyState, Mat3, ParticleState, Scene, State, Vec3, metrics};

/// A trajectory nearer to the truth than any run that it is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrueMotion {
    /// States after each frame, index 0 the initial one.
    pub states: Vec<State>,
    /// How far each may be from the truth, in the measure of `distance_to_motion_m` [m]. Never falls with time.
    pub error_m: Vec<f64>,
    /// Steps per frame of the runs that it is made of.
    pub substeps: Vec<u32>,
}

impl TrueMotion {
    /// Of runs of `scene` with so many steps per frame, coarsest first, at least two.
    ///
    /// Of each order the change that the finest run brought is its error. At each frame the order is taken whose
    /// largest change until then is smallest.
    pub(super) fn of(scene: &Scene, levels: &[(u32, Vec<State>)]) -> Self {
        let frames = levels.iter().map(|(_, states)| states.len()).min().unwrap_or(0);
        let (finest, orders) = (levels.len() - 1, levels.len() - 1);
        let mut worst = vec![0.0_f64; orders];
        let mut motion = Self {
            substeps: levels.iter().map(|(substeps, _)| *substeps).collect(),
            ..Self::default()
        };
        for frame in 0..frames {
            let extrapolated = |last: usize, order: usize| {
                let used = &levels[last - order..=last];
                let weights = weights_at_zero(used.iter().map(|(n, _)| 1.0 / f64::from(*n)));
                combined(&weights, used.iter().map(|(_, states)| &states[frame]))
            };
            let mut best: Option<(f64, State)> = None;
            for (order, worst) in worst.iter_mut().enumerate() {
                let (new, old) = (extrapolated(finest, order), extrapolated(finest - 1, order));
                let change = metrics::pose_distance_rms_m(scene, &new, &old).unwrap_or(0.0);
                // What is not a number is no small change.
                *worst = if change.is_finite() { worst.max(change) } else { f64::INFINITY };
                if best.as_ref().is_none_or(|(error, _)| *worst < *error) {
                    best = Some((*worst, new));
                }
            }
            let (error, state) = best.expect("two levels have one order");
            motion.states.push(state);
            motion.error_m.push(error);
        }
        motion
    }

    /// The largest error of all frames [m].
    pub fn error_max_m(&self) -> f64 {
        self.error_m.last().copied().unwrap_or(0.0)
    }

    /// The longest way from the start, in the same measure [m].
    pub(super) fn way_max_m(&self, scene: &Scene) -> f64 {
        let start = scene.initial_state();
        let way = |state| metrics::pose_distance_rms_m(scene, state, &start).unwrap_or(0.0);
        self.states.iter().map(way).fold(0.0, f64::max)
    }
}

/// Weights of values at these places by which their interpolating polynomial is found at zero.
fn weights_at_zero(places: impl Iterator<Item = f64>) -> Vec<f64> {
    let places: Vec<f64> = places.collect();
    let weight = |i: usize| {
        let others = places.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, other)| other / (other - places[i])).product()
    };
    (0..places.len()).map(weight).collect()
}

/// The weighted sum of states; frames are brought back to rotations.
fn combined<'a>(weights: &[f64], states: impl Iterator<Item = &'a State>) -> State {
    let mut sum = State::default();
    for (weight, state) in weights.iter().zip(states) {
        if sum.bodies.is_empty() && sum.particles.is_empty() {
            let still = BodyState {
                position: Vec3::zeros(),
                frame: Mat3::zeros(),
                velocity: Vec3::zeros(),
                frame_rate: Mat3::zeros(),
            };
            sum.bodies = vec![still; state.bodies.len()];
            sum.particles = vec![ParticleState::default(); state.particles.len()];
        }
        // That of the finest run: time is the same, and what has broken there has broken.
        (sum.time_s, sum.broken) = (state.time_s, state.broken.clone());
        for (own, other) in sum.bodies.iter_mut().zip(&state.bodies) {
            own.position += other.position * *weight;
            own.frame += other.frame * *weight;
            own.velocity += other.velocity * *weight;
            own.frame_rate += other.frame_rate * *weight;
        }
        for (own, other) in sum.particles.iter_mut().zip(&state.particles) {
            own.position += other.position * *weight;
            own.velocity += other.velocity * *weight;
        }
    }
    for body in &mut sum.bodies {
        let omega = body.omega();
        *body = BodyState::rigid(body.position, body.rotation(), body.velocity, omega);
    }
    sum
}

#[cfg(test)]
mod tests {
    use taut_core::Quat;

    use super::*;

    #[test]
    fn a_polynomial_is_found_at_zero() {
        let places = [1.0, 0.5, 0.25, 0.125];
        let weights = weights_at_zero(places.into_iter());
        let value = |h: f64| 3.0 - 2.0 * h + 5.0 * h * h - h.powi(3);
        let found: f64 = weights.iter().zip(places).map(|(w, h)| w * value(h)).sum();
        assert!((found - 3.0).abs() < 1e-13, "{found}");
    }

    #[test]
    fn turns_are_extrapolated_as_turns() {
        let at = |angle: f64| {
            let rotation = Quat::from_scaled_axis(Vec3::z() * angle);
            let spin = Vec3::z() * (2.0 + angle);
            let body = BodyState::rigid(Vec3::zeros(), rotation, Vec3::zeros(), spin);
            State { bodies: vec![body], ..State::default() }
        };
        // An error of h, h/2 and h/4 in the angle.
        let states = [at(1.4), at(1.2), at(1.1)];
        let weights = weights_at_zero([1.0, 0.5, 0.25].into_iter());
        let body = combined(&weights, states.iter()).bodies[0];
        assert!((body.rotation().angle() - 1.0).abs() < 2e-3, "{}", body.rotation().angle());
        assert!((body.omega().z - 3.0).abs() < 2e-2, "{}", body.omega());
        let turned = body.frame.transpose() * body.frame - Mat3::identity();
        assert!(turned.norm() < 1e-14);
    }
}
