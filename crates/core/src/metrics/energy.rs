//! Mechanical energy, and the objective that an implicit Euler step minimises.

use nalgebra::SMatrix;

use crate::{
    Mat3, Scene, State, Vec3,
    constraint::{Geometry, Pose, RowKind, locked_rows, spring_rows},
    energy::Energy,
    scene::{Endpoint, Joint, Spring, points},
};

/// Mechanical energy of everything that forces move, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MechanicalEnergy {
    /// `m/2 |v|^2 + tr(Fdot S Fdot^T)/2` with `S` the second moment of the body's mass [J].
    pub kinetic_j: f64,
    /// `-m g . p`, zero at the origin [J].
    pub gravity_j: f64,
    /// Energy of the springs, angular ones included [J].
    pub springs_j: f64,
    /// `C^2 / (2 compliance)` of every compliant row of joints that have not broken [J].
    pub joints_j: f64,
    /// Energy of triangles and whatever else is elastic between points [J].
    pub material_j: f64,
}

impl MechanicalEnergy {
    /// Sum of all kinds [J].
    pub fn total_j(&self) -> f64 {
        self.kinetic_j + self.gravity_j + self.elastic_j()
    }

    /// What springs, compliant joints and elastic material store [J].
    pub fn elastic_j(&self) -> f64 {
        self.springs_j + self.joints_j + self.material_j
    }
}

/// Energy of `state`; static and kinematic bodies have none.
pub fn energy(scene: &Scene, state: &State) -> MechanicalEnergy {
    let [kinetic_j, gravity_j] = motion_energy_j(scene, state);
    let springs_j = scene.springs.iter().map(|spring| spring_j(spring, state)).sum();
    let whole = scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken);
    let joints_j = whole.map(|(joint, _)| joint_j(joint, state)).sum();
    let material_j = material_j(scene, state);
    MechanicalEnergy { kinetic_j, gravity_j, springs_j, joints_j, material_j }
}

/// Energy of all energies of points [J].
fn material_j(scene: &Scene, state: &State) -> f64 {
    scene.energies().map(|(energy, anchors)| energy.energy(&points(&anchors, state))).sum()
}

/// Kinetic and gravitational energy [J].
pub(crate) fn motion_energy_j(scene: &Scene, state: &State) -> [f64; 2] {
    let (mut kinetic_j, mut gravity_j) = (0.0, 0.0);
    for (body, s) in scene.bodies.iter().zip(&state.bodies).filter(|(b, _)| b.is_dynamic()) {
        let turning = weighted_square(&s.frame_rate, &second_moment(&body.inertia));
        kinetic_j += 0.5 * (body.mass * s.velocity.norm_squared() + turning);
        gravity_j -= body.mass * scene.gravity.dot(&s.position);
    }
    for (particle, s) in scene.particles.iter().zip(&state.particles) {
        kinetic_j += 0.5 * particle.mass * s.velocity.norm_squared();
        gravity_j -= particle.mass * scene.gravity.dot(&s.position);
    }
    [kinetic_j, gravity_j]
}

/// Second moment of a body's mass about its centre, from its inertia tensor: `tr(I)/2 - I` [kg m^2].
pub(crate) fn second_moment(inertia: &Mat3) -> Mat3 {
    Mat3::identity() * (0.5 * inertia.trace()) - inertia
}

/// `tr(M S M^T)`.
pub(crate) fn weighted_square(m: &Mat3, s: &Mat3) -> f64 {
    (m * s).dot(m)
}

/// Energy of one spring [J].
fn spring_j(spring: &Spring, state: &State) -> f64 {
    let (geometry, a, b) =
        (Geometry::from(spring), Pose::of(spring.a, state), Pose::of(spring.b, state));
    let square: f64 = spring_rows(spring)
        .map(|(row, rest)| match row {
            RowKind::Distance => distance(spring.a, spring.b, &geometry, state) - rest,
            _ => row.evaluate(&geometry, &a, &b).value - rest,
        })
        .map(|stretch| stretch * stretch)
        .sum();
    0.5 * spring.stiffness * square
}

/// Distance of two anchors through the real frames [m].
pub(crate) fn distance(a: Endpoint, b: Endpoint, geometry: &Geometry, state: &State) -> f64 {
    let place = |endpoint, anchor: &Vec3| match endpoint {
        Endpoint::World => *anchor,
        Endpoint::Body(i) => state.bodies[i].point(anchor),
        Endpoint::Particle(i) => state.particles[i].position,
    };
    (place(a, &geometry.anchor_a) - place(b, &geometry.anchor_b)).norm()
}

/// Energy in the compliant rows of one joint [J].
fn joint_j(joint: &Joint, state: &State) -> f64 {
    if joint.compliance_linear == 0.0 && joint.compliance_angular == 0.0 {
        return 0.0;
    }
    let (geometry, a, b) =
        (Geometry::from(joint), Pose::of(joint.a, state), Pose::of(joint.b, state));
    let row_j = |(row, target): (RowKind, f64)| {
        let compliance =
            if row.is_angular() { joint.compliance_angular } else { joint.compliance_linear };
        if compliance == 0.0 {
            return 0.0;
        }
        (row.evaluate(&geometry, &a, &b).value - target).powi(2) / (2.0 * compliance)
    };
    locked_rows(joint).map(row_j).sum()
}

/// The objective whose minimum is the implicit Euler step from `previous` to `state` [J].
///
/// `|x - y|_M^2 / (2 dt^2)` with `y` the free motion, plus the elastic energy; rotations enter as
/// frames, `tr((F - Y) S (F - Y)^T) / (2 dt^2)`, so that the gyroscopic torque is contained.
/// `None` where an unbroken joint has a hard row, a limit or a motor, or where bodies can touch: then
/// there is no such function; and where a spring or joint is damped or a force is applied, whose part is left out.
pub fn objective_j(scene: &Scene, previous: &State, state: &State, dt: f64) -> Option<f64> {
    let whole = || scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken);
    let damped = scene.springs.iter().any(|spring| spring.damping > 0.0);
    if damped || !scene.forces.is_empty() || scene.contacts.is_some() {
        return None;
    }
    if whole().any(|(joint, _)| !has_finite_stiffness(joint)) {
        return None;
    }
    let free =
        |position: Vec3, velocity: Vec3| position + velocity * dt + scene.gravity * (dt * dt);
    let mut inertial = 0.0;
    for ((body, old), new) in scene.bodies.iter().zip(&previous.bodies).zip(&state.bodies) {
        if body.is_dynamic() {
            let away = new.position - free(old.position, old.velocity);
            let turned: SMatrix<f64, 3, 3> = new.frame - (old.frame + old.frame_rate * dt);
            inertial += body.mass * away.norm_squared();
            inertial += weighted_square(&turned, &second_moment(&body.inertia));
        }
    }
    for ((particle, old), new) in
        scene.particles.iter().zip(&previous.particles).zip(&state.particles)
    {
        let away = new.position - free(old.position, old.velocity);
        inertial += particle.mass * away.norm_squared();
    }
    let springs: f64 = scene.springs.iter().map(|spring| spring_j(spring, state)).sum();
    let joints: f64 = whole().map(|(joint, _)| joint_j(joint, state)).sum();
    let material = material_j(scene, state) + damped_j(scene, previous, state, dt);
    Some(inertial / (2.0 * dt * dt) + springs + joints + material)
}

/// What the damping of material costs a step of `dt` [s] between two states [J]: half of its heat.
pub(crate) fn damped_j(scene: &Scene, previous: &State, state: &State, dt: f64) -> f64 {
    let one = |(mut energy, anchors): (Energy<f64>, _)| {
        energy.begin(&points(&anchors, previous), dt);
        energy.energy(&points(&anchors, state))
    };
    scene.dampings().map(one).sum()
}

/// How far [`objective_j`] of a step is above that of the reference's step from the same state [J].
pub fn objective_gap_j(
    scene: &Scene,
    previous: &State,
    state: &State,
    reference: &State,
    dt: f64,
) -> Option<f64> {
    let own = objective_j(scene, previous, state, dt)?;
    Some(own - objective_j(scene, previous, reference, dt)?)
}

fn has_finite_stiffness(joint: &Joint) -> bool {
    let soft = |(row, _): (RowKind, f64)| match row.is_angular() {
        true => joint.compliance_angular > 0.0,
        false => joint.compliance_linear > 0.0,
    };
    let plain = joint.limit.is_none() && joint.motor.is_none() && joint.damping == 0.0;
    plain && locked_rows(joint).all(soft)
}
