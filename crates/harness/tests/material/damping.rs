//! Damped material: what Kelvin and Voigt's law says of one mode, and what it must leave alone.

use taut_core::{
    Scene, Vec3,
    load::load_str,
    metrics::{self, WorkDone, momentum},
};
use taut_fixtures::Run;

use crate::begin;

/// What takes damped material.
const TAKE: [(&str, u32); 4] =
    [("newton", 1), ("vbd-cpu", 300), ("avbd-cpu", 300), ("xpbd-cpu:mode=iterations", 300)];

/// Share of a step's angular momentum that iterations which have not quite settled may leave.
const TURNING: f64 = 1e-6;

fn load(text: &str) -> Scene {
    load_str(&format!("(contacts: false, gravity: (0, 0, 0), {text})"), "damping.ron", &[])
        .unwrap_or_else(|error| panic!("{error}"))
        .scene
}

/// A run of a backend of the table, by its name, with iterations that are enough.
fn begin_with((name, iterations): (&str, u32), scene: &Scene) -> Run {
    let (name, settings) = match name.split_once(':') {
        Some((name, _)) => (name, "(mode: iterations)"),
        None => (name, "()"),
    };
    begin(name, settings, scene, iterations)
}

/// One step after the other of `x'' = -omega^2 (x + tau x')` by implicit Euler, from rest at one.
fn damped_mode(omega: f64, tau: f64, h: f64, steps: usize) -> Vec<f64> {
    let (mut x, mut v, mut path) = (1.0, 0.0, vec![1.0]);
    let square = omega * omega;
    for _ in 0..steps {
        let next = (x * (1.0 + square * h * tau) + h * v) / (1.0 + square * h * (h + tau));
        v = (next - x) / h;
        x = next;
        path.push(x);
    }
    path
}

#[test]
fn a_stretched_bar_loses_what_its_viscosity_takes() {
    // Fixed-free without lateral strain: sigma = E e + 2 eta e', so that tau = 2 eta / E.
    let (young, density, n) = (1e6_f64, 1000.0, 20);
    let quarter = std::f64::consts::FRAC_PI_2;
    let omega = quarter * (young / density).sqrt();
    for viscosity in [300.0, 3000.0] {
        let mut scene = load(&format!(
            "particles: [solid(name: \"b\", shape: lattice(size: (1, 0.1, 0.1), counts: ({n}, 1, 1)),
                density: {density}, held: [first_x], damping: {viscosity},
                elastic: (model: stvk, young: {young}, poisson: 0))]"
        ));
        let amplitude = 1e-6;
        for particle in &mut scene.particles {
            particle.position.x += amplitude * (quarter * (particle.position.x + 0.5)).sin();
        }
        scene.dt = 0.1 / omega;
        let name = format!("b[{n},0,0]");
        let tip = scene.particles.iter().position(|p| p.name == name).expect("it ends there");
        let expected = damped_mode(omega, 2.0 * viscosity / young, scene.dt, 100);
        let path = begin_with(("newton", 1), &scene).path(100);
        for (state, expected) in path.iter().zip(expected) {
            let found = (state.particles[tip].position.x - 0.5) / amplitude;
            assert!((found - expected).abs() < 0.02, "{viscosity}: {found} {expected}");
        }
    }
}

/// A sheet and a solid that spin, fly and are strained, damped as their period allows.
fn thrown() -> Scene {
    let mut scene = load(
        "dt: \"1/120\", particles: [
            cloth(name: \"s\", counts: (4, 4), start: (0, 0, 2), along: (0.1, 0, 0), across: (0, 0.1, 0),
                density: 200, thickness: 0.01, membrane: (young: 1e4, poisson: 0.3), bending: (), damping: 20),
            solid(name: \"b\", shape: lattice(size: (0.3, 0.3, 0.3), counts: (2, 2, 2)), density: 1000,
                elastic: (young: 1e4, poisson: 0.3), damping: 50)]",
    );
    for particle in &mut scene.particles {
        let x = particle.position;
        particle.velocity = Vec3::new(0.3, -0.2, 0.1) + Vec3::new(0.5, 1.0, -0.7).cross(&x);
        particle.velocity += Vec3::new(x.x, -0.5 * x.y, 0.0);
    }
    scene
}

#[test]
fn damping_changes_no_momentum_and_takes_energy() {
    let scene = thrown();
    for backend in TAKE {
        let states = begin_with(backend, &scene).path(20);
        let [before, after] = [&states[0], &states[20]].map(|state| momentum(&scene, state));
        let bound = 1e-10 * before.linear_kg_m_s.norm();
        let drift = (after.linear_kg_m_s - before.linear_kg_m_s).norm();
        assert!(drift < bound, "{backend:?}: {drift:e}");
        // Forces that turn with the material have no moment where the step ends.
        for pair in states.windows(2) {
            let pairs = pair[0].particles.iter().zip(&pair[1].particles).zip(&scene.particles);
            let moment = pairs
                .map(|((old, new), p)| p.mass * new.position.cross(&(new.velocity - old.velocity)));
            let moment: Vec3 = moment.sum();
            assert!(
                moment.norm() < TURNING * before.angular_kg_m2_s.norm(),
                "{backend:?} {moment}"
            );
        }
        let work = states.windows(2).fold(WorkDone::default(), |sum, pair| {
            let one = metrics::work(&scene, &pair[0], &pair[1], None);
            sum.plus(&one.expect("nothing is hidden"))
        });
        let energies = [&states[0], &states[20]].map(|s| metrics::energy(&scene, s).total_j());
        let lost = energies[0] - energies[1];
        assert!(
            work.dampers_j > 0.0 && lost >= work.dampers_j * 0.99,
            "{backend:?} {work:?} {lost}"
        );
    }
}

/// How far a method is from the reference after a twelfth of a second of the same steps [m].
fn off(backend: (&str, u32), dt: f64) -> f64 {
    let mut scene = thrown();
    scene.dt = dt;
    let steps = (1.0 / (12.0 * dt)).round() as u32;
    let [reference, state] = [TAKE[0], backend].map(|one| begin_with(one, &scene).end(steps));
    let off = state.particles.iter().zip(&reference.particles);
    off.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max)
}

#[test]
fn all_methods_come_to_the_same_damped_step() {
    for backend in &TAKE[1..3] {
        let found = off(*backend, 1.0 / 120.0);
        assert!(found < 1e-9, "{backend:?}: {found:e}");
    }
    // XPBD leaves out how rows turn within a step, an error that falls with the square of its ways.
    let found = [120.0, 240.0, 480.0].map(|rate| off(TAKE[3], 1.0 / rate));
    assert!(found[1] < 0.6 * found[0] && found[2] < 0.6 * found[1], "{found:?}");
}
