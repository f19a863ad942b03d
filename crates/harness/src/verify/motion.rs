//! What moves, what does not, and what is conserved.

use taut_core::{Quat, Scene, State, metrics};

use super::{
    Property,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "static_bodies_stay", scene: "rope", test: static_bodies_stay },
    Property {
        name: "kinematic_bodies_follow",
        scene: "carrier",
        test: |s| follows(s, &scenes::carrier()),
    },
    Property {
        name: "kinematic_bodies_follow",
        scene: "carried",
        test: |s| follows(s, &scenes::carried()),
    },
    Property { name: "linear_momentum", scene: "free-pair", test: linear_momentum },
    Property { name: "angular_momentum", scene: "free-pair", test: angular_momentum },
    Property { name: "masses_scale", scene: "chain", test: masses_scale },
];

/// Not by a single bit, while a rope pulls at its held first link.
fn static_bodies_stay(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("rope", &[("links", 6.0)]);
    let (start, end) = (scene.initial_state(), subject.end(&scene, Plan::new(60, 10))?);
    for (i, body) in scene.bodies.iter().enumerate().filter(|(_, body)| !body.is_dynamic()) {
        let (before, after) = (&start.bodies[i], &end.bodies[i]);
        let stays = after.position == before.position
            && (after.frame - before.frame).norm() < 1e-12
            && after.velocity.norm() == 0.0
            && after.frame_rate.norm() == 0.0;
        ensure(stays, || format!("static `{}` has moved", body.name))?;
    }
    Ok(())
}

/// With constant velocity and angular velocity, whatever hangs on them, and what hangs comes along.
fn follows(subject: &Subject<'_>, scene: &Scene) -> Result<(), Stop> {
    let plan = Plan::new(60, 20);
    let end = subject.end(scene, plan)?;
    let (carrier, state) = (&scene.bodies[0], &end.bodies[0]);
    let t = f64::from(plan.frames) * scene.dt;
    let off = (state.position - carrier.position - carrier.velocity * t).norm();
    let allowed = |part, common| subject.allowed_part("kinematic_bodies_follow", part, common);
    ensure(off < allowed("place", 1e-9), || format!("it is {off:.2e} m off after {t} s"))?;
    let rotation = Quat::from_scaled_axis(carrier.omega * t) * carrier.rotation;
    let off = state.rotation().angle_to(&rotation);
    ensure(off < allowed("turn", 1e-9), || format!("it is turned {off:.2e} rad off after {t} s"))?;
    let off = (state.velocity - carrier.velocity).norm() + (state.omega() - carrier.omega).norm();
    ensure(off < allowed("velocity", 1e-9), || {
        format!("its velocities are {off:.2e} m/s or rad/s off")
    })?;
    let error = metrics::joint_errors(scene, &end).max_m;
    ensure(error < 0.05, || format!("its load is {error:.2e} m off its anchor"))
}

/// Joints alone move no centre of mass: momentum is kept once they have converged.
fn linear_momentum(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::free_pair();
    let path = subject.path(&scene, Plan::new(60, 200))?;
    let scale: f64 = scene.bodies.iter().map(|b| b.mass * b.velocity.norm()).sum();
    let linear = |state: &State| metrics::momentum(&scene, state).linear_kg_m_s;
    let start = linear(&path[0]);
    let drift = path.iter().map(|state| (linear(state) - start).norm()).fold(0.0, f64::max);
    let allowed = subject.allowed("linear_momentum", 1e-6);
    ensure(drift < allowed * scale, || format!("{:.2e} of it appears from nowhere", drift / scale))
}

/// Nor do they turn anything: what integrators of first order lose vanishes with the step.
fn angular_momentum(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::free_pair();
    let path = subject.path(&scene, Plan::new(60, 50).substeps(2))?;
    let angular = |state: &State| metrics::momentum(&scene, state).angular_kg_m2_s;
    let start = angular(&path[0]);
    let drift = path.iter().map(|state| (angular(state) - start).norm()).fold(0.0, f64::max);
    let drift = drift / start.norm();
    ensure(drift < subject.allowed("angular_momentum", 0.02), || {
        format!("{drift:.2e} of it appears from nowhere")
    })
}

/// Masses a thousandfold, and all stiffness with them, change no trajectory.
///
/// By a power of two, so that no rounding is different for a motion to amplify.
fn masses_scale(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::chain(6);
    let heavy = scenes::heavier(scene.clone(), 1024.0);
    let plan = Plan::new(30, 10);
    let (light, heavy) = (subject.end(&scene, plan)?, subject.end(&heavy, plan)?);
    let distance = farthest(&scene, &light, &heavy);
    ensure(distance < 1e-9, || format!("they change it by {distance:.2e} m"))
}

fn farthest(scene: &Scene, a: &State, b: &State) -> f64 {
    let bodies = a.bodies.iter().zip(&b.bodies).take(scene.bodies.len());
    bodies.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max)
}
