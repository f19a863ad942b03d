//! Limits, ropes, motors, and joints that break at their strength.

use std::f64::consts::TAU;

use taut_core::{
    Scene, State, Vec3,
    constraint::{Geometry, Pose, free_coordinate},
    scene::{Endpoint, Joint, JointKind, Limit, Motor},
};

use super::{
    Property,
    scenes::{self, G, bar, held, hinged_bar},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "limits_hold_and_let_go", scene: "hinged-bar", test: limits },
    Property { name: "ropes_are_slack_or_taut", scene: "weight", test: rope },
    Property { name: "motors_turn", scene: "hinged-bar", test: motors_turn },
    Property { name: "motors_lift", scene: "hinged-bar", test: motors_lift },
    Property { name: "motors_meet_limits", scene: "hinged-bar", test: motors_meet_limits },
    Property { name: "turns_are_counted", scene: "hinged-bar", test: turns_are_counted },
    Property { name: "sliders_are_driven", scene: "slider", test: sliders },
    Property { name: "break_thresholds", scene: "bar", test: break_thresholds },
];

fn coordinate(scene: &Scene, state: &State) -> f64 {
    let joint = &scene.joints[0];
    let [a, b] = [joint.a, joint.b].map(|end| Pose::of(end, state));
    let row = free_coordinate(joint.kind).expect("hinges and sliders have one");
    row.evaluate(&Geometry::from(joint), &a, &b).value
}

/// A bar that falls onto a limit rests there, which takes the moment of its weight; thrown up it leaves
/// its limit at once, and meets the other.
fn limits(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = hinged_bar(G);
    scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.4 });
    let allowed = subject.allowed("limits_hold_and_let_go", 0.01);
    let plan = Plan::new(90, 20);
    for state in subject.path(&scene, plan)? {
        let angle = coordinate(&scene, &state);
        ensure(angle < 0.4 + 2.0 * allowed, || format!("it passes its limit: {angle:.4} rad"))?;
    }
    let (resting, forces) = subject.loaded(&scene, plan)?;
    let angle = coordinate(&scene, &resting);
    ensure((angle - 0.4).abs() < allowed, || format!("it rests at {angle:.4} of 0.4 rad"))?;
    let moment = scene.bodies[0].mass * G * 0.5 * 0.4_f64.cos();
    if let Some(forces) = forces {
        let torque = forces.joint_torque[0].y;
        ensure((torque / -moment - 1.0).abs() < 0.05, || {
            format!("its limit turns with {torque:.3} N m instead of {:.3} N m", -moment)
        })?;
    }
    let mut thrown = resting;
    let spin = Vec3::y() * -6.0;
    let body = &mut thrown.bodies[0];
    (body.velocity, body.frame_rate) =
        (spin.cross(&body.position), spin.cross_matrix() * body.frame);
    let path = subject.path_from(&scene, &thrown, Plan::new(18, 20))?;
    let angles: Vec<f64> = path.iter().map(|state| coordinate(&scene, state)).collect();
    // Three frames at 6 rad/s, of which its weight takes a tenth.
    ensure(angles[3] < 0.2, || format!("its limit holds it back: {:.4} rad", angles[3]))?;
    let highest = angles.iter().copied().fold(f64::INFINITY, f64::min);
    ensure((highest + 0.3).abs() < 0.02, || format!("it rises to {highest:.4} of -0.3 rad"))
}

/// A weight on a rope falls freely until that is taut, and then hangs on it.
fn rope(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = scenes::empty(G);
    scene.bodies.push(scenes::cube().at(Vec3::z() * -0.9));
    let kind = JointKind::Distance { length: 1.0 };
    scene.joints.push(Joint::new(kind, Endpoint::World, Endpoint::Body(0)));
    scene.joints[0].limit = Some(Limit { lower: 0.0, upper: 1.0 });
    let allowed = subject.allowed("ropes_are_slack_or_taut", 0.01);
    let (slack, forces) = subject.loaded(&scene, Plan::new(6, 20))?;
    let speed = slack.bodies[0].velocity.z;
    ensure((speed + G * 6.0 * scene.dt).abs() < 1e-3, || format!("it falls at {speed:.3} m/s"))?;
    let weight = scene.bodies[0].mass * G;
    if let Some(forces) = forces {
        let pull = forces.joint_force[0].norm();
        ensure(pull < 1e-3 * weight, || format!("a slack rope pulls with {pull:.2e} N"))?;
    }
    let (taut, forces) = subject.loaded(&scene, Plan::new(120, 20))?;
    let sunk = -1.0 - taut.bodies[0].position.z;
    ensure(sunk.abs() < allowed, || format!("it hangs {sunk:.2e} m below its rope"))?;
    if let Some(forces) = forces {
        let pull = forces.joint_force[0].z;
        ensure((pull / weight - 1.0).abs() < 0.02, || format!("its rope pulls with {pull:.3} N"))?;
    }
    Ok(())
}

/// The moment of inertia of the bar about its hinge [kg m^2].
fn about_hinge(scene: &Scene) -> f64 {
    let body = &scene.bodies[0];
    body.inertia.m22 + body.mass * body.position.norm_squared()
}

/// In a second, a strong motor has reached its speed and a weak one what its effort gives, forwards and
/// backwards.
fn motors_turn(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = hinged_bar(0.0);
    let inertia = about_hinge(&scene);
    let allowed = subject.allowed("motors_turn", 0.02);
    for (speed, max_effort, expected) in
        [(2.0, 20.0 * inertia, 2.0), (-2.0, 20.0 * inertia, -2.0), (2.0, 0.5 * inertia, 0.5)]
    {
        scene.joints[0].motor = Some(Motor { speed, max_effort });
        let found = subject.end(&scene, Plan::new(60, 20))?.bodies[0].omega().y;
        ensure((found / expected - 1.0).abs() < allowed, || {
            format!("it turns at {found:.4} instead of {expected} rad/s")
        })?;
    }
    Ok(())
}

/// Against a weight, a motor lifts with more effort than its moment, and yields with less.
fn motors_lift(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = hinged_bar(G);
    let moment = scene.bodies[0].mass * G * 0.5;
    let allowed = subject.allowed("motors_lift", 0.02);
    // On speed in the first step takes `I w / h` besides.
    let effort = 2.0 * moment + about_hinge(&scene) / scene.dt;
    scene.joints[0].motor = Some(Motor { speed: -1.0, max_effort: effort });
    let angle = coordinate(&scene, &subject.end(&scene, Plan::new(60, 20))?);
    ensure((angle + 1.0).abs() < allowed, || format!("it lifts by {:.4} of 1 rad", -angle))?;
    scene.joints[0].motor = Some(Motor { speed: -1.0, max_effort: 0.6 * moment });
    let angle = coordinate(&scene, &subject.end(&scene, Plan::new(20, 20))?);
    ensure(angle > 0.1, || format!("it holds more than its effort: {angle:.4} rad"))
}

/// A motor drives into a limit, holds there against a weight that pulls away from it, and yields where
/// that is more than its effort.
fn motors_meet_limits(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = hinged_bar(G);
    let moment = scene.bodies[0].mass * G * 0.5;
    let allowed = subject.allowed("motors_meet_limits", 0.01);
    for (share, held) in [(20.0, true), (6.0, true), (0.6, false)] {
        for speed in [-1.0, -20.0] {
            scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 3.0 });
            scene.joints[0].motor = Some(Motor { speed, max_effort: share * moment });
            let angle = coordinate(&scene, &subject.end(&scene, Plan::new(60, 20))?);
            ensure(((angle + 0.3).abs() < allowed) == held, || {
                format!("with {share} of its load at {speed} rad/s it is at {angle:.4} rad")
            })?;
        }
    }
    Ok(())
}

/// A motor keeps its speed where the angle that poses tell starts again from the other side, and a hinge that has
/// turned more than once stops at its limit, not at an angle that looks like it.
fn turns_are_counted(subject: &Subject<'_>) -> Result<(), Stop> {
    const SPEED: f64 = 10.0;
    let mut scene = hinged_bar(0.0);
    let max_effort = 100.0 * SPEED * about_hinge(&scene);
    let allowed = subject.allowed("turns_are_counted", 0.02);
    // It is half-way round after 19 of the first 22 steps.
    for (direction, steps) in [(1.0, 18), (1.0, 19), (1.0, 20), (1.0, 22), (-1.0, 19), (-1.0, 140)]
    {
        let speed = direction * SPEED;
        scene.joints[0].motor = Some(Motor { speed, max_effort });
        let found = subject.end(&scene, Plan::new(steps, 20))?.bodies[0].omega().y;
        ensure((found / speed - 1.0).abs() < allowed, || {
            format!("after {steps} steps it turns at {found:.4} instead of {speed} rad/s")
        })?;
    }
    scene.joints[0].limit = Some(Limit { lower: -8.0, upper: 10.0 });
    for (speed, bound) in [(SPEED, 10.0), (-SPEED, -8.0_f64)] {
        scene.joints[0].motor = Some(Motor { speed, max_effort });
        let angle = coordinate(&scene, &subject.end(&scene, Plan::new(120, 20))?);
        let off = (angle - bound).rem_euclid(TAU);
        ensure(off.min(TAU - off) < allowed, || {
            format!("driven to its limit of {bound} rad, it is at {angle:.4} rad after full turns")
        })?;
    }
    Ok(())
}

/// Sliders are driven with their effort and stopped at their limits; one of them lets its load turn.
fn sliders(subject: &Subject<'_>) -> Result<(), Stop> {
    let allowed = subject.allowed("sliders_are_driven", 0.02);
    for (kind, spin) in [(JointKind::Prismatic, 0.0), (JointKind::Cylindrical, 2.0)] {
        let mut scene = scenes::empty(0.0);
        scene.bodies.push(scenes::cube());
        // One stops this spin, the other leaves it.
        scene.bodies[0].omega = Vec3::x() * 2.0;
        let effort = 10.0 * scene.bodies[0].mass;
        scene.joints.push(held(kind, 0));
        scene.joints[0].motor = Some(Motor { speed: 1.0, max_effort: effort });
        scene.joints[0].limit = Some(Limit { lower: -1.0, upper: 0.5 });
        let about = |stop: Stop| stop.about(&format!("{kind:?}"));
        let speed = subject.end(&scene, Plan::new(3, 20)).map_err(about)?.bodies[0].velocity.x;
        let expected = 10.0 * 3.0 * scene.dt;
        ensure((speed / expected - 1.0).abs() < allowed, || {
            format!("{kind:?}: {speed:.4} instead of {expected:.4} m/s")
        })?;
        let body = subject.end(&scene, Plan::new(90, 20)).map_err(about)?.bodies[0];
        let x = body.position.x;
        ensure((x - 0.5).abs() < allowed, || format!("{kind:?}: stopped at {x:.4} of 0.5 m"))?;
        let turning = body.omega().x;
        let allowed = subject.allowed_part("sliders_are_driven", "spin", 1e-2);
        ensure((turning - spin).abs() < allowed, || {
            format!("{kind:?}: turns at {turning:.4} rad/s")
        })?;
    }
    Ok(())
}

/// A joint holds what is a little below its strength and breaks a little above, by force and by torque;
/// what it held falls freely from then on.
fn break_thresholds(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = bar(JointKind::Fixed);
    let weight = scene.bodies[0].mass * G;
    let margin = subject.allowed("break_thresholds", 0.1);
    for (share, breaks) in [(1.0 + margin, false), (1.0 - margin, true)] {
        for (force, torque) in
            [(share * weight, f64::INFINITY), (f64::INFINITY, share * weight * 0.5)]
        {
            (scene.joints[0].break_force, scene.joints[0].break_torque) = (force, torque);
            let path = subject.path(&scene, Plan::new(20, 50))?;
            let broken = path[20].broken[0];
            ensure(broken == breaks, || {
                format!("broken: {broken}, at {force:.3} N or {torque:.3} N m")
            })?;
            let step = path[20].bodies[0].velocity.z - path[19].bodies[0].velocity.z;
            let expected = if breaks { -G * scene.dt } else { 0.0 };
            ensure((step - expected).abs() < 1e-3, || {
                format!("gains {step:.2e} m/s in a frame at {force:.3} N or {torque:.3} N m")
            })?;
        }
    }
    Ok(())
}
