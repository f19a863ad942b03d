//! What moves, what does not, and what is conserved.

use taut_core::{Quat, Scene, State, metrics};

use super::{
    Property,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "static_bodies_stay", scene: "rope", test: static_bodies_stay },
    Property { name: "kinematic_bodies_follow", scene: "carried", test: kinematic_bodies_follow },
    Property { name: "linear_momentum", scene: "free-pair", test: linear_momentum },
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
fn kinematic_bodies_follow(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::carried();
    let plan = Plan::new(60, 20);
    let end = subject.end(&scene, plan)?;
    let (carrier, state) = (&scene.bodies[0], &end.bodies[0]);
    let t = f64::from(plan.frames) * scene.dt;
    let off = (state.position - carrier.position - carrier.velocity * t).norm();
    ensure(off < 1e-6, || format!("it is {off:.2e} m off after {t} s"))?;
    let rotation = Quat::from_scaled_axis(carrier.omega * t) * carrier.rotation;
    let off = state.rotation().angle_to(&rotation);
    // First-order updates turn by (h w)^3 / 12 too little in each step: 2e-5 rad here.
    ensure(off < 1e-3, || format!("it is turned {off:.2e} rad off after {t} s"))?;
    let off = (state.velocity - carrier.velocity).norm() + (state.omega() - carrier.omega).norm();
    ensure(off < 1e-3, || format!("its velocities are {off:.2e} m/s or rad/s off"))?;
    let error = metrics::joint_errors(&scene, &end).max_m;
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
    ensure(drift < 1e-6 * scale, || format!("{:.2e} of it appears from nowhere", drift / scale))
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
