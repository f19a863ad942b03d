//! Dampers, applied forces and paths against closed forms, and the balance of what they put in and take out.

use std::f64::consts::TAU;

use taut_core::{Multipliers, Scene, State, Vec3, load::load_str, metrics};

use super::{
    Property,
    subject::{Plan, Stop, Subject, ensure},
};
use crate::runner::advance;

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "dampers_slow_oscillations", scene: "oscillator", test: oscillation },
    Property { name: "dampers_slow_joints", scene: "hinged-bar", test: joints_slow },
    Property { name: "forces_accelerate", scene: "pushed-box", test: forces },
    Property { name: "efforts_turn_hinges", scene: "hinged-bar", test: efforts },
    Property { name: "paths_are_followed", scene: "driven-box", test: paths },
    Property { name: "drives_balance", scene: "driven-pendulum", test: balance },
];

/// Steps per frame at which an integrator of first order is good for one or two percent here.
const SUBSTEPS: u32 = 32;

fn plan() -> Plan {
    Plan::new(60, 8).substeps(SUBSTEPS)
}

/// A scene without gravity and contacts, of 60 frames a second.
pub(super) fn scene(lists: &str) -> Scene {
    let text = format!("(gravity: (0, 0, 0), contacts: false, dt: \"1/60\", {lists})");
    match load_str(&text, "verify", &[]) {
        Ok(loaded) => loaded.scene,
        Err(error) => panic!("a scene of the suite: {error}"),
    }
}

/// A cube of 100 kg on a damped spring, drawn out by half a metre: `w = 10 rad/s`, `d = 1/s`.
pub(super) fn damped() -> Scene {
    scene(
        "bodies: [body(name: \"load\", shape: box(size: (1, 1, 1)), mass: 100, position: (0, 0, -2.5))],
        springs: [linear(a: \"world\", b: \"load\", stiffness: 1e4, damping: 200, rest_length: 2)]",
    )
}

/// A bar of 1 m and 3 kg on a hinge at its end, of which its moment of inertia is 1 kg m^2; what the joint has
/// besides, and the list of forces.
fn bar(joint: &str, forces: &str) -> Scene {
    scene(&format!(
        "bodies: [body(name: \"bar\", shape: box(size: (1, 0.1, 0.1)), mass: 3, position: (0.5, 0, 0), \
            inertia: (0.01, 0.25, 0.25), omega: (0, 0, 2), velocity: (0, 1, 0))],
        joints: [hinge(name: \"hinge\", a: \"world\", b: \"bar\", at: (0, 0, 0), axis: (0, 0, 1), {joint})],
        forces: [{forces}]"
    ))
}

/// A box that two forces and a torque act on.
pub(super) fn pushed() -> Scene {
    scene(
        "parameters: { \"push\": 300 },
        bodies: [body(name: \"box\", shape: box(size: (1, 0.6, 0.4)), mass: 100, inertia: (5, 8, 10))],
        forces: [
            force(name: \"swing\", on: \"box\", force: (\"push*sin(2*pi*t)\", 0, 0)),
            force(on: \"box\", force: (0, 0, 50)),
            torque(on: \"box\", torque: (0, 0, 20)),
        ]",
    )
}

/// A support that swings to and fro and turns, and one that moves for half a second.
pub(super) fn driven() -> Scene {
    scene(
        "bodies: [
            body(name: \"swing\", shape: box(size: (1, 1, 1)), motion: path(
                position: (\"sin(3*t)\", 0, \"t^2\"), rotation: axis_angle(axis: (0, 1, 0), degrees: \"90*t\"))),
            body(name: \"shift\", shape: box(size: (1, 1, 1)), motion: kinematic, during: (0.25, 0.75),
                position: (0, 5, 0), velocity: (2, 0, 0), omega: (0, 0, 1)),
            body(name: \"free\", shape: box(size: (1, 1, 1)), mass: 1, position: (0, -5, 0)),
        ]",
    )
}

/// A bar under gravity that hangs on a support which swings to and fro.
pub(super) fn driven_pendulum() -> Scene {
    let mut scene = scene(
        "bodies: [
            body(name: \"support\", shape: box(size: (0.1, 0.1, 0.1)), motion: path(
                position: (\"0.3*sin(4*t)\", 0, 0))),
            body(name: \"bar\", shape: box(size: (0.1, 0.1, 1)), mass: 3, position: (0, 0, -0.5), \
                velocity: (1.2, 0, 0)),
        ],
        joints: [ball(a: \"support\", b: \"bar\", at: (0, 0, 0))]",
    );
    scene.gravity = Vec3::new(0.0, 0.0, -super::scenes::G);
    scene
}

/// `x = A exp(-d t) (cos(v t) + d/v sin(v t))` with `v^2 = w^2 - d^2`, within 2 % of A; and what spins against the
/// world slows by `exp(-c t / I)`.
fn oscillation(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = damped();
    let allowed = subject.allowed("dampers_slow_oscillations", 0.02);
    let path = subject.path(&scene, plan())?;
    let (w, d, amplitude) = (10.0_f64, 1.0_f64, 0.5);
    let v = (w * w - d * d).sqrt();
    for (frame, state) in path.iter().enumerate() {
        let t = frame as f64 * scene.dt;
        let exact = amplitude * (-d * t).exp() * ((v * t).cos() + d / v * (v * t).sin());
        let off = (-state.bodies[0].position.z - 2.0 - exact).abs() / amplitude;
        ensure(off < allowed, || format!("{:.2} % of its swing off at {t:.3} s", 100.0 * off))?;
    }
    let spinning = self::scene(
        "bodies: [body(name: \"ball\", shape: sphere(radius: 0.5), mass: 10, omega: (1, 2, -2))],
        springs: [angular(a: \"world\", b: \"ball\", stiffness: 0, damping: 2)]",
    );
    let end = subject.end(&spinning, plan())?.bodies[0].omega();
    let exact = Vec3::new(1.0, 2.0, -2.0) * (-2.0_f64).exp();
    let off = (end - exact).norm() / exact.norm();
    ensure(off < allowed, || format!("it spins at {end:.4?} instead of {exact:.4?} rad/s"))
}

/// A hinge slows as `exp(-c t / I)`, and all that it loses is heat of its damper.
fn joints_slow(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = bar("damping: 2", "");
    let allowed = subject.allowed("dampers_slow_joints", 0.02);
    let path = subject.path(&scene, plan())?;
    let found = path[60].bodies[0].omega().z;
    let exact = 2.0 * (-2.0_f64).exp();
    ensure((found / exact - 1.0).abs() < allowed, || {
        format!("it turns at {found:.4} instead of {exact:.4} rad/s")
    })?;
    let energy = |state: &State| metrics::energy(&scene, state).total_j();
    let lost = energy(&path[0]) - energy(&path[60]);
    let heat: f64 = path
        .windows(2)
        .filter_map(|pair| metrics::work(&scene, &pair[0], &pair[1], None))
        .map(|work| work.dampers_j)
        .sum();
    ensure((heat / lost - 1.0).abs() < allowed, || format!("{heat:.4} J of heat for {lost:.4} J"))
}

/// `x = F/(m w) (t - sin(w t)/w)`, `z = F t^2 / 2 m`, and a turn by `T t^2 / 2 I`, within one percent; the work of
/// all is the energy.
fn forces(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = pushed();
    let allowed = subject.allowed("forces_accelerate", 0.01);
    let path = subject.path(&scene, plan())?;
    let body = path[60].bodies[0];
    let exact = Vec3::new(3.0 / TAU, 0.0, 0.25);
    let off = (body.position - exact).norm() / exact.norm();
    ensure(off < allowed, || format!("it is at {:.4?} instead of {exact:.4?} m", body.position))?;
    let (turn, exact) = (body.rotation().scaled_axis(), Vec3::z());
    ensure((turn - exact).norm() < allowed, || format!("it turns by {turn:.4?} of {exact:.4?}"))?;
    let energy = metrics::energy(&scene, &path[60]).total_j();
    let work: f64 = path
        .windows(2)
        .filter_map(|pair| metrics::work(&scene, &pair[0], &pair[1], None))
        .map(|work| work.forces_j)
        .sum();
    ensure((work / energy - 1.0).abs() < 2.0 * allowed, || {
        format!("{work:.4} J of work for {energy:.4} J")
    })
}

/// An effort turns its hinge by `e t^2 / 2 I` beside `w t`, forwards and backwards.
fn efforts(subject: &Subject<'_>) -> Result<(), Stop> {
    let allowed = subject.allowed("efforts_turn_hinges", 0.01);
    for effort in [1.0, -3.0] {
        let scene = bar("", &format!("effort(joint: \"hinge\", effort: {effort})"));
        let end = subject.end(&scene, plan())?.bodies[0];
        let (found, exact) = (end.rotation().scaled_axis().z, 2.0 + 0.5 * effort);
        ensure((found - exact).abs() < 2.0 * allowed, || {
            format!("an effort of {effort} N m turns it to {found:.4} of {exact} rad")
        })?;
        let (found, exact) = (end.omega().z, 2.0 + effort);
        ensure((found - exact).abs() < 2.0 * allowed, || {
            format!("at the end it turns at {found:.4} of {exact} rad/s")
        })?;
    }
    Ok(())
}

/// What follows a path is on it after every frame, whatever the steps; velocities are those by which it got there.
fn paths(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = driven();
    let allowed = subject.allowed("paths_are_followed", 1e-9);
    for substeps in [1, 3] {
        let mut before = scene.initial_state();
        for state in &subject.path(&scene, Plan::new(60, 4).substeps(substeps))?[1..] {
            for drive in &scene.drives {
                let body = state.bodies[drive.body];
                let (position, rotation) = drive.path.pose(state.time_s);
                let off = (body.position - position).norm() + body.rotation().angle_to(&rotation);
                ensure(off < allowed, || {
                    format!("body {} is {off:.2e} off at {:.3} s", drive.body, state.time_s)
                })?;
            }
            if substeps == 1 {
                let (now, was) = (state.bodies[1], before.bodies[1]);
                let mean = (now.position - was.position) / scene.dt;
                let integrated = subject.integrated(&scene, Plan::new(1, 4))? == scene.dt;
                let off = (now.velocity - mean).norm();
                ensure(!integrated || off < 1e3 * allowed, || format!("{off:.2e} m/s off"))?;
            }
            before.clone_from(state);
        }
    }
    Ok(())
}

/// What a drive gives through the joint that it moves is what its load gains, within 3 % of the largest that it gave.
fn balance(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = driven_pendulum();
    let allowed = subject.allowed("drives_balance", 0.03);
    let mut solver = subject.build(&scene)?;
    let (mut before, mut after) = (scene.initial_state(), State::default());
    let mut forces = Multipliers::default();
    let start = metrics::energy(&scene, &before).total_j();
    let (mut given, mut largest, mut worst) = (0.0, 0.0_f64, 0.0_f64);
    for _ in 0..plan().frames * plan().substeps {
        advance(&mut *solver, plan().step(&scene))?;
        solver.read(&mut after)?;
        if !solver.read_multipliers(&mut forces) {
            solver.check_capacity()?;
            return Err(Stop::Skip("it tells no forces".to_owned()));
        }
        let work = metrics::work(&scene, &before, &after, Some(&forces));
        given += work.map_or(f64::NAN, |work| work.drives_j);
        largest = largest.max(given.abs());
        worst = worst.max((metrics::energy(&scene, &after).total_j() - start - given).abs());
        std::mem::swap(&mut before, &mut after);
    }
    ensure(worst < allowed * largest, || {
        format!("{worst:.3} J are missing beside the {largest:.3} J that it was given")
    })
}
