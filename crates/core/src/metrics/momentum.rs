//! Linear and angular momentum of what is free of the world.

use crate::{Scene, State, Vec3, math::axial, metrics::energy::second_moment, scene::Endpoint};

/// Sums over everything that forces move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Total mass [kg].
    pub mass_kg: f64,
    /// Linear momentum [kg m/s].
    pub linear_kg_m_s: Vec3,
    /// Angular momentum about the common centre of mass, in world axes [kg m^2/s].
    pub angular_kg_m2_s: Vec3,
}

impl Momentum {
    /// Change since `start`, `elapsed_s` earlier, that gravity does not explain: linear [kg m/s] and angular
    /// [kg m^2/s]; the angular one is about the common centre of mass, where uniform gravity has no torque.
    pub fn drift_since(&self, start: &Self, gravity: &Vec3, elapsed_s: f64) -> [f64; 2] {
        let impulse = gravity * (self.mass_kg * elapsed_s);
        let linear = self.linear_kg_m_s - start.linear_kg_m_s - impulse;
        let angular = self.angular_kg_m2_s - start.angular_kg_m2_s;
        [linear.norm(), angular.norm()]
    }
}

/// Momenta of `state`.
pub fn momentum(scene: &Scene, state: &State) -> Momentum {
    let bodies = scene.bodies.iter().zip(&state.bodies).filter(|(b, _)| b.is_dynamic());
    let particles = scene.particles.iter().zip(&state.particles).filter(|(p, _)| p.mass > 0.0);
    let points = || {
        let bodies = bodies.clone().map(|(b, s)| (b.mass, s.position, s.velocity));
        bodies.chain(particles.clone().map(|(p, s)| (p.mass, s.position, s.velocity)))
    };
    let mut sum = Momentum::default();
    let mut moment = Vec3::zeros();
    for (mass, position, velocity) in points() {
        sum.mass_kg += mass;
        sum.linear_kg_m_s += velocity * mass;
        moment += position * mass;
    }
    if sum.mass_kg == 0.0 {
        return sum;
    }
    let (centre, drift) = (moment / sum.mass_kg, sum.linear_kg_m_s / sum.mass_kg);
    for (mass, position, velocity) in points() {
        sum.angular_kg_m2_s += (position - centre).cross(&(velocity - drift)) * mass;
    }
    for (body, s) in bodies.clone() {
        // Integral of (F x) x (Fdot x) over the body.
        let spin = s.frame_rate * second_moment(&body.inertia) * s.frame.transpose();
        sum.angular_kg_m2_s += axial(&spin) * 2.0;
    }
    sum
}

/// Whether gravity is the only outer force: none is applied, and nothing is attached to the world or can touch it.
pub fn is_free(scene: &Scene) -> bool {
    let holds = |a: Endpoint, b: Endpoint| scene.is_dynamic(a) != scene.is_dynamic(b);
    let attached = scene.joints.iter().any(|j| holds(j.a, j.b))
        || scene.springs.iter().any(|s| holds(s.a, s.b))
        || scene.energies().any(|(energy, anchors)| {
            anchors[..energy.ends()].windows(2).any(|pair| holds(pair[0].end, pair[1].end))
        });
    let has_dynamic =
        scene.bodies.iter().any(|b| b.is_dynamic()) || scene.particles.iter().any(|p| p.mass > 0.0);
    let may_touch = scene.contacts.is_some() && scene.bodies.iter().any(|b| !b.is_dynamic());
    has_dynamic && !attached && !may_touch && scene.forces.is_empty()
}
