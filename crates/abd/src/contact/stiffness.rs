//! The stiffness of the barrier, from masses and lengths alone ([I], supplement; [R] section 6).

use taut_core::{Scene, Vec3};
use taut_ipc::barrier::barrier;

use crate::{StiffnessRule, body::AffineBody};

/// The distance at which the least stiffness resists is this share of the length of bodies [1].
const CLOSE: f64 = 1e-8;
/// Below this share the stiffness is raised while distances fall [1].
const CLOSED: f64 = 1e-9;
/// `1e11` of [I], its scale of the least stiffness.
const SCALE: f64 = 1e11;
/// Largest stiffness over the least.
const RANGE: f64 = 100.0;
/// `-2 b'(D) d / d_hat^3` at half of the barrier's reach.
const HALFWAY: f64 = 4.33;

/// The rule and what it has come to.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// Dynamic mass for each vertex [kg].
    vertex_mass: f64,
    /// Median size of dynamic bodies [m].
    length: f64,
    d_hat: f64,
    rule: StiffnessRule,
    /// Lets the heaviest body rest on one pair at half of the barrier's reach [J/m^4].
    bearing: f64,
    kappa: f64,
    most: f64,
}

impl Stiffness {
    pub(super) fn new(
        scene: &Scene,
        bodies: &[AffineBody],
        vertices: usize,
        length: f64,
        (d_hat, rule): (f64, StiffnessRule),
    ) -> Self {
        let masses = || bodies.iter().filter(|node| node.drive.is_none()).map(|node| node.mass);
        let (mass, heaviest) = (masses().sum::<f64>(), masses().fold(0.0, f64::max));
        let weight = heaviest * Vec3::norm(&scene.gravity);
        Self {
            vertex_mass: mass / vertices.max(1) as f64,
            length,
            d_hat,
            rule,
            bearing: weight / (HALFWAY * d_hat.powi(3)),
            kappa: 0.0,
            most: 0.0,
        }
    }

    pub(super) fn forget(&mut self) {
        self.kappa = 0.0;
    }

    /// `kappa` in force [J/m^4].
    pub(super) fn kappa(&self) -> f64 {
        self.kappa
    }

    /// The least for a step [J/m^4].
    fn least(&self, dt: f64) -> f64 {
        let close = (CLOSE * self.length).min(0.5 * self.d_hat);
        let square = close * close;
        let curvature = barrier(square, self.d_hat * self.d_hat).curvature;
        let inertia = SCALE * self.vertex_mass / (4.0 * square * curvature * dt * dt);
        inertia.max(self.bearing)
    }

    /// What friction starts with: the stiffness of the step before, in a first step the least.
    pub(super) fn lagged(&self, dt: f64) -> f64 {
        if self.kappa > 0.0 { self.kappa } else { self.least(dt) }
    }

    /// Whether it is found from the forces at the start of a step.
    pub(super) fn is_balanced(&self) -> bool {
        self.rule == StiffnessRule::Balanced
    }

    /// Takes the least for a step of `dt` [s].
    pub(super) fn begin(&mut self, dt: f64) {
        self.kappa = self.least(dt);
        self.most = RANGE * self.kappa;
    }

    /// Balances the gradient `own` of the barrier with `others`, within its range.
    pub(super) fn balance(&mut self, own: &[f64], others: &[f64], dt: f64) {
        self.begin(dt);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let square = dot(own, own);
        let balance = if square > 0.0 { -dot(own, others) / square } else { 0.0 };
        // Not a number where sums overflow.
        if balance > self.kappa {
            self.kappa = balance.min(self.most);
        }
    }

    /// Doubles the stiffness where the least distance is all but nothing and falls.
    pub(super) fn raise(&mut self, before: f64, now: f64) {
        let closed = CLOSED * self.length;
        if before < closed && now < before {
            self.kappa = (2.0 * self.kappa).min(self.most);
        }
    }
}
