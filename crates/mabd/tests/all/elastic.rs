//! Elastic material between particles beside affine bodies: balance of forces, threads, loading, and what is refused.

use taut_core::{Scene, State, Vec3, load};
use taut_fixtures::{Run, build, file, on_threads, refusal};
use taut_mabd::BACKEND;

/// A scene of these entries, whose contacts are those of `contacts`.
fn scene(gravity: f64, contacts: &str, entries: &str) -> Scene {
    let text = format!(
        "(about: \"a test\", gravity: (0, 0, {gravity}), dt: 0.01, steps: 1, contacts: {contacts}, {entries})"
    );
    load::load_str(&text, "test.ron", &[]).expect("a scene").scene
}

const CUBE: &str = "solid(name: \"cube\", shape: lattice(size: (0.3, 0.3, 0.3), counts: (2, 2, 2)),
    position: (0, 0, 0.2), density: 500, velocity: (0.1, 0.2, -1), group: 1, elastic: (young: 1e5, poisson: 0.3))";

/// A soft cube that hits a free plate without gravity.
fn collision() -> Scene {
    let plate = "body(name: \"plate\", shape: box(size: (1, 1, 0.05)), density: 300, elasticity: (young: 1e7, poisson: 0.3))";
    scene(0.0, "true", &format!("bodies: [{plate}], particles: [{CUBE}]"))
}

/// Momentum of all that moves [kg m/s].
fn momentum(scene: &Scene, state: &State) -> Vec3 {
    let bodies = scene.bodies.iter().zip(&state.bodies).map(|(b, s)| s.velocity * b.mass);
    let particles = scene.particles.iter().zip(&state.particles).map(|(p, s)| s.velocity * p.mass);
    bodies.chain(particles).sum()
}

#[test]
fn contacts_of_material_keep_momentum_and_their_forces_balance() {
    let scene = collision();
    let mut run = Run::new(&BACKEND, &scene, "(elastic_tolerance: 1e-12)", 30);
    let before = momentum(&scene, &run.state);
    let mass: f64 = scene.particles.iter().map(|particle| particle.mass).sum();
    let mut largest = 0.0_f64;
    for step in 0..25 {
        let plate = run.state.bodies[0].velocity * scene.bodies[0].mass;
        run.step();
        let forces = run.forces().contacts;
        let pushed: Vec3 = forces.iter().map(|contact| contact.force).sum();
        let gained = run.state.bodies[0].velocity * scene.bodies[0].mass - plate;
        largest = largest.max(pushed.norm());
        let off = (pushed * scene.dt - gained).norm();
        assert!(off < 1e-9 * mass, "step {step}: the plate gains {gained} of {pushed}, {off:e}");
        let off = (momentum(&scene, &run.state) - before).norm();
        assert!(off < 1e-9 * mass, "step {step}: momentum changes by {off:e}");
    }
    assert!(largest > 100.0, "they never met: {largest}");
}

#[test]
fn a_step_is_solved_to_the_tolerance_and_then_changes_no_more() {
    let scene = collision();
    let mut run = Run::new(&BACKEND, &scene, "(elastic_tolerance: 1e-9)", 40);
    for _ in 0..12 {
        run.step();
        let used = run.solver.report().iterations_used.unwrap();
        assert!(used < 40, "{used} iterations");
    }
    let mut more = Run::new(&BACKEND, &scene, "(elastic_tolerance: 1e-9)", 60);
    assert!(run.state == *more.steps(12), "iterations go on");
}

#[test]
fn bits_do_not_depend_on_threads_nor_on_what_was_before() {
    let scene = file("figure-on-net", &[("drop", 0.05)]);
    let steps = |count: usize| on_threads(count, || Run::new(&BACKEND, &scene, "()", 7).end(25));
    let one = steps(1);
    assert!(one == steps(2), "threads change bits");
    let mut run = Run::new(&BACKEND, &scene, "()", 7);
    run.steps(10);
    let middle = run.state.clone();
    let again = run.steps(5).clone();
    run.steps(5);
    run.load(&middle);
    let mut fresh = Run::new(&BACKEND, &scene, "()", 7);
    fresh.load(&middle);
    let [a, b] = [run.steps(5).clone(), fresh.steps(5).clone()];
    assert!(a == b, "loading leaves something behind");
    assert!(again.bodies.iter().all(|body| body.position.norm().is_finite()));
}

#[test]
fn a_cloth_bears_a_body() {
    let sheet = "cloth(name: \"sheet\", counts: (7, 7), start: (-0.3, -0.3, 0), along: (0.1, 0, 0), across: (0, 0.1, 0),
        density: 300, thickness: 2e-3, membrane: (young: 1e6, poisson: 0.3), bending: (), held: [corners], group: 1)";
    let ball = "body(name: \"ball\", shape: sphere(radius: 0.1), density: 100, position: (0.01, 0.02, 0.105))";
    let scene = scene(-10.0, "true", &format!("bodies: [{ball}], particles: [{sheet}]"));
    let mut run = Run::new(&BACKEND, &scene, "()", 10);
    for _ in 0..150 {
        run.step();
        assert!(run.state.bodies[0].position.z > -0.15, "{}", run.state.bodies[0].position);
    }
    assert!(run.state.bodies[0].velocity.norm() < 1.0);
}

#[test]
fn a_cube_dropped_flat_recovers_from_an_impact_that_presses_it() {
    let fast = CUBE.replace("(0.1, 0.2, -1)", "(0, 0, -30)");
    let floor = "body(name: \"floor\", shape: box(size: (2, 2, 0.1)), motion: static)";
    let scene = scene(-10.0, "true", &format!("bodies: [{floor}], particles: [{fast}]"));
    let mut run = Run::new(&BACKEND, &scene, "()", 10);
    let mut least = f64::INFINITY;
    for _ in 0..40 {
        run.step();
        let strain = taut_core::metrics::material_strain(&scene, &run.state).unwrap();
        least = least.min(strain.volume_ratio_min.unwrap());
        assert!(run.state.particles.iter().all(|p| p.position.norm().is_finite()));
    }
    let strain = taut_core::metrics::material_strain(&scene, &run.state).unwrap();
    assert!(least < 0.7, "it was hardly pressed: {least}");
    assert_eq!(strain.inverted, 0);
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let sheet = "triangle(name: \"t\", nodes: (\"b\", \"p\", \"q\"), thickness: 1e-3, membrane: (young: 1e6, poisson: 0.3), density: 100)";
    let entries = format!(
        "bodies: [body(name: \"b\", shape: sphere(radius: 0.1), density: 100)],
        particles: [particle(name: \"p\", mass: 1, position: (1, 0, 0)), particle(name: \"q\", mass: 1, position: (0, 1, 0))],
        triangles: [{}]",
        sheet.replace(", density: 100)", ")")
    );
    let between = scene(0.0, "false", &entries);
    assert!(refusal(&BACKEND, &between).contains("only between particles"));
    let cube = scene(0.0, "false", &format!("bodies: [], particles: [{CUBE}]"));
    for (setting, word) in
        [("(integrator: projected)", "projected"), ("(dual: aba_printed)", "aba_printed")]
    {
        let why = build(&BACKEND, &cube, setting).err().expect("an error").to_string();
        assert!(why.contains(word), "{why}");
    }
}
