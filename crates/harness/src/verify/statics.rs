//! Loads at rest: what joints and springs give way, and what they carry.
//!
//! Bodies start where closed forms put them, at rest. With another stiffness, or a force of the wrong
//! sign, they would leave.

use taut_core::{
    Multipliers, Quat, Scene, Vec3,
    scene::{Body, Endpoint, JointKind, Spring, SpringKind},
};

use super::{
    Property,
    scenes::{self, G, bar, held},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "compliance_gives_way", scene: "weight", test: linear_compliance },
    Property { name: "compliance_gives_way", scene: "bar", test: angular_compliance },
    Property { name: "springs_bear", scene: "weight", test: springs_bear },
    Property { name: "joints_carry_the_load", scene: "bar", test: weld_carries },
    Property { name: "joints_carry_the_load", scene: "chain", test: chain_carries },
];

/// A second, in which what is not in balance swings at least once.
const PLAN: Plan = Plan { frames: 60, substeps: 1, iterations: 20 };

/// Mass times gravity times compliance, by which soft joints and springs give way here [m].
const SAG: f64 = 0.05;

/// A cube of 1 kg a little below the origin.
fn weight() -> Scene {
    let mut scene = scenes::empty(G);
    scene.bodies.push(Body::solid_box(Vec3::repeat(0.5), 8.0).at(Vec3::z() * -SAG));
    scene
}

/// The farthest that a body gets from where it starts may be a share of what it gives way by.
fn stays(subject: &Subject<'_>, check: &str, scene: &Scene, sag: f64) -> Result<(), Stop> {
    let path = subject.path(scene, PLAN)?;
    let start = scene.bodies[0].position;
    let off = path.iter().map(|s| (s.bodies[0].position - start).norm()).fold(0.0, f64::max);
    let allowed = subject.allowed(check, 0.02) * sag;
    ensure(off < allowed, || format!("leaves its balance by {off:.2e} m of {sag:.2e} m"))
}

/// Compliance times force, in a joint that holds a point and in one that holds a line.
fn linear_compliance(subject: &Subject<'_>) -> Result<(), Stop> {
    for kind in [JointKind::Ball, JointKind::Prismatic] {
        let mut scene = weight();
        scene.joints.push(held(kind, 0));
        scene.joints[0].compliance_linear = SAG / (scene.bodies[0].mass * G);
        stays(subject, "compliance_gives_way", &scene, SAG)
            .map_err(|stop| stop.about(&format!("{kind:?}")))?;
    }
    Ok(())
}

/// A level bar bends its joint until torques balance. `d/da` of the energy `k/2 row^2` is `k sin(a)` for a
/// weld, whose row is `2 vec(q)`, and `k sin(a) cos(a)` for the cosine of a hinge; the weight's moment is
/// `m g d cos(a)`.
fn angular_compliance(subject: &Subject<'_>) -> Result<(), Stop> {
    let ratio: f64 = 0.25;
    for (kind, balance) in [(JointKind::Fixed, ratio.atan()), (JointKind::Hinge, ratio.asin())] {
        let mut scene = bar(kind);
        let (body, joint) = (&mut scene.bodies[0], &mut scene.joints[0]);
        joint.compliance_angular = ratio / (body.mass * G * 0.5);
        if kind == JointKind::Hinge {
            // Upright, so that the weight bends it.
            joint.basis_a = Quat::from_axis_angle(&Vec3::y_axis(), -std::f64::consts::FRAC_PI_2);
            joint.basis_b = joint.basis_a;
        }
        let turn = Quat::from_axis_angle(&Vec3::y_axis(), balance);
        (body.rotation, body.position) = (turn, turn * body.position);
        stays(subject, "compliance_gives_way", &scene, 0.5 * balance)
            .map_err(|stop| stop.about(&format!("{kind:?}")))?;
    }
    Ok(())
}

/// A weight on a spring hangs below its rest length by weight over stiffness.
fn springs_bear(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = weight();
    let (anchor_a, anchor_b) = (Vec3::z(), Vec3::zeros());
    let kind = SpringKind::Linear { anchor_a, anchor_b, rest_length: 1.0 };
    let (a, b) = (Endpoint::World, Endpoint::Body(0));
    let stiffness = scene.bodies[0].mass * G / SAG;
    scene.springs.push(Spring { name: String::new(), kind, a, b, stiffness, damping: 0.0 });
    stays(subject, "springs_bear", &scene, SAG)
}

fn forces(subject: &Subject<'_>, scene: &Scene) -> Result<Multipliers, Stop> {
    let (_, forces) = subject.loaded(scene, Plan::new(60, 100))?;
    let forces = forces.ok_or_else(|| Stop::Skip("does not know its forces".to_owned()))?;
    let told = [forces.joint_force.len(), forces.joint_torque.len()];
    let joints = scene.joints.len();
    ensure(told == [joints; 2], || {
        format!("tells {told:?} forces and torques of {joints} joints")
    })?;
    Ok(forces)
}

/// A weld at the end of a level bar bears its weight, and the moment of that about its anchor.
fn weld_carries(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = bar(JointKind::Fixed);
    let forces = forces(subject, &scene)?;
    let expected = Vec3::z() * (scene.bodies[0].mass * G);
    let moment = scene.bodies[0].position.cross(&expected);
    let allowed = subject.allowed("joints_carry_the_load", 0.01);
    let off = (forces.joint_force[0] - expected).norm() / expected.norm();
    ensure(off < allowed, || format!("it pulls with {:.3?} N", forces.joint_force[0]))?;
    let off = (forces.joint_torque[0] - moment).norm() / moment.norm();
    ensure(off < allowed, || format!("it turns with {:.3?} N m", forces.joint_torque[0]))
}

/// The joints of a hanging chain pull with what hangs below each.
fn chain_carries(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = scenes::chain(4);
    let down = Quat::from_axis_angle(&Vec3::y_axis(), std::f64::consts::FRAC_PI_2);
    for body in &mut scene.bodies {
        (body.position, body.rotation) = (down * body.position, down);
    }
    let forces = forces(subject, &scene)?;
    let allowed = subject.allowed("joints_carry_the_load", 0.01);
    for (joint, force) in forces.joint_force.iter().enumerate() {
        let expected = Vec3::z() * ((4 - joint) as f64 * scene.bodies[0].mass * G);
        let off = (force - expected).norm() / expected.norm();
        ensure(off < allowed, || format!("joint {joint} pulls with {force:.3?} N"))?;
    }
    Ok(())
}
