//! A dynamic body as twelve numbers.

mod drive;

use nalgebra::SVector;
use taut_core::{BodyState, Mat3, Quat, Scene, Vec3, math::skew, scene::Body};

use crate::AbdSettings;
pub(crate) use drive::{BodyDrive, driven_bodies, drives_are_done, find_arrived};

/// Frame column by column, then position.
pub(crate) type Vec12 = SVector<f64, 12>;

/// A dynamic body, or one that is driven among contacts.
#[derive(Clone, Debug)]
pub(crate) struct AffineBody {
    /// Its index in the scene.
    pub(crate) body: usize,
    pub(crate) mass: f64,
    /// Integral of `x x^T` over its mass, in body axes [kg m^2].
    pub(crate) second: Mat3,
    /// `kappa V` [J].
    pub(crate) stiffness: f64,
    /// Length by which its position is judged [m].
    pub(crate) size: f64,
    pub(crate) now: Vec12,
    /// At the start of the step.
    pub(crate) start: Vec12,
    /// Where it would be without elasticity, joints and contacts.
    pub(crate) target: Vec12,
    pub(crate) rate: Vec12,
    /// Share of gravity that it followed in the step before, from 0 to 1 [1].
    pub(crate) follows: f64,
    /// What moves a body that forces do not.
    pub(crate) drive: Option<BodyDrive>,
}

impl AffineBody {
    pub(crate) fn new(index: usize, body: &Body, settings: &AbdSettings) -> Self {
        let second = second_of(body);
        let stiffness = match body.elasticity {
            // Uniaxial strain e costs E/2 e^2 in a linear solid without lateral contraction, 4 kappa e^2 here.
            Some(elasticity) => elasticity.young / 8.0 * body.shape.volume(),
            None => body.mass * settings.wave_speed * settings.wave_speed,
        };
        let size = body.shape.extent().max();
        let zero = Vec12::zeros();
        Self {
            body: index,
            mass: body.mass,
            second,
            stiffness,
            size,
            now: zero,
            start: zero,
            target: zero,
            rate: zero,
            follows: 1.0,
            drive: None,
        }
    }

    /// Ends a step of `h` [s] under gravity `g` [m/s^2].
    pub(crate) fn end(&mut self, h: f64, g: &Vec3) {
        let given = self.drive.as_ref().and_then(BodyDrive::rate);
        let rate = given.unwrap_or((self.now - self.start) / h);
        let gained: Vec3 = (rate - self.rate).fixed_rows::<3>(9).into();
        let whole = h * g.norm_squared();
        self.follows = if whole > 0.0 { (gained.dot(g) / whole).clamp(0.0, 1.0) } else { 1.0 };
        self.rate = rate;
    }

    /// By how much it is held harder to its target than its inertia holds it [1].
    pub(crate) fn hold(&self) -> f64 {
        self.drive.as_ref().map_or(1.0, BodyDrive::strength)
    }
}

/// Integral of `x x^T` over the mass of a body, in its own axes [kg m^2].
pub(crate) fn second_of(body: &Body) -> Mat3 {
    Mat3::identity() * (0.5 * body.inertia.trace()) - body.inertia
}

/// Frame and position.
pub(crate) fn split(q: &Vec12) -> (Mat3, Vec3) {
    (Mat3::from_column_slice(&q.as_slice()[..9]), q.fixed_rows::<3>(9).into())
}

pub(crate) fn joined(frame: &Mat3, position: &Vec3) -> Vec12 {
    Vec12::from_fn(|i, _| if i < 9 { frame[i] } else { position[i - 9] })
}

/// Where a body takes a point of its own [m].
pub(crate) fn point(q: &Vec12, local: &Vec3) -> Vec3 {
    let (frame, position) = split(q);
    position + frame * local
}

/// A driven body at `end_s` [s], a time `h` [s] later.
pub(crate) fn carried(
    scene: &Scene,
    body: usize,
    state: &BodyState,
    [end_s, h]: [f64; 2],
) -> BodyState {
    let path = scene.drives.iter().find(|drive| drive.body == body);
    let [velocity, omega] = match path {
        Some(path) => path.rates((state.position, state.rotation()), end_s, h),
        None => [scene.bodies[body].velocity, scene.bodies[body].omega],
    };
    let rotation = Quat::from_scaled_axis(omega * h) * state.rotation();
    let position = state.position + velocity * h;
    let frame = rotation.to_rotation_matrix().into_inner();
    BodyState { position, frame, velocity, frame_rate: skew(&omega) * frame }
}
