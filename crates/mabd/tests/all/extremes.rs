//! Joints, forces and spins beyond what scenes usually ask for, against closed forms.

use taut_core::{Scene, State, load::load_str, metrics};
use taut_fixtures::{Run, coordinate};
use taut_mabd::BACKEND;

fn scene(lists: &str) -> Scene {
    load_str(&format!("({lists})"), "test", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

fn end(scene: &Scene, settings: &str, steps: u32) -> State {
    Run::new(&BACKEND, scene, settings, 10).end(steps)
}

/// A chain of `links` hinged bars that turn by no more than a tenth, of which the last one has this mass; alone, or
/// beside a ball that lies on the ground.
fn stiff_chain(links: usize, mass: f64, beside_ball: bool) -> Scene {
    let (mut bodies, mut joints) = (String::new(), String::new());
    if beside_ball {
        bodies += "body(name: \"ground\", shape: half_space, motion: static),
            body(name: \"ball\", shape: sphere(radius: 0.1), position: (0, -3, 0.1), mass: 1),";
    }
    for i in 0..links {
        let (at, mass) = (0.4 * i as f64, if i + 1 == links { mass } else { 1.0 });
        let before = if i == 0 { "world".to_owned() } else { format!("l{}", i - 1) };
        bodies += &format!(
            "body(name: \"l{i}\", shape: box(size: (0.4, 0.05, 0.1)), mass: {mass:?}, position: ({}, 0, 5)),",
            at + 0.2
        );
        joints += &format!(
            "hinge(a: \"{before}\", b: \"l{i}\", at: ({at:?}, 0, 5), axis: (0, 1, 0), limit: (-0.1, 0.1)),"
        );
    }
    scene(&format!("dt: 0.01, contacts: {beside_ball}, bodies: [{bodies}], joints: [{joints}]"))
}

/// Links that fall into their limits come to rest at them; a limit that lets go is not held at the other end.
#[test]
fn limits_of_a_chain_stop_it() {
    for (links, mass, beside_ball) in [
        (2, 1.0, false),
        (2, 100.0, false),
        (5, 10.0, false),
        (10, 100.0, false),
        (10, 100.0, true),
    ] {
        let scene = stiff_chain(links, mass, beside_ball);
        let mut run = Run::new(&BACKEND, &scene, "()", 10);
        let start = metrics::energy(&scene, &run.state).total_j();
        for step in 0..300 {
            let state = run.step();
            let gained = metrics::energy(&scene, state).total_j() - start;
            assert!(gained < 1e-6 * mass, "{links} links, {mass} kg: {gained} J in step {step}");
            for joint in &scene.joints {
                let open = coordinate(joint, state).abs() - 0.1;
                assert!(open < 2e-2, "{links} links, {mass} kg: {open} rad in step {step}");
            }
        }
        let still = metrics::energy(&scene, &run.state).kinetic_j;
        assert!(still < 1e-6 * mass, "{links} links, {mass} kg: {still} J at rest");
    }
}

/// An angular spring pulls back from a degree before half a turn as from anywhere else. Closer to it what the row tells
/// of frames changes more by their strain than by their rotation.
#[test]
fn angular_springs_turn_back_up_to_half_a_turn() {
    for degrees in [90.0, 174.0, 176.0, 179.0] {
        let scene = scene(&format!(
            "dt: 0.001, gravity: (0, 0, 0), contacts: false,
            bodies: [body(name: \"a\", shape: box(size: (1, 0.1, 0.2)), mass: 20)],
            springs: [angular(a: \"world\", b: \"a\", stiffness: 1,
                basis_a: axis_angle(axis: (0, 0, 1), degrees: {degrees:?}))]"
        ));
        let angle: f64 = f64::to_radians(degrees);
        let (inertia, time) = (20.0 / 12.0 * (1.0 + 0.01), 0.1);
        let expected = angle * (1.0 / inertia) * time;
        let spin = end(&scene, "()", 100).bodies[0].omega().z;
        assert!((spin / expected - 1.0).abs() < 5e-3, "{degrees} degrees: {spin}, {expected}");
    }
}

/// A joint may have a limit, a motor and a damper at once, in every way of solving.
#[test]
fn joints_take_limit_motor_and_damper_together() {
    for kind in ["hinge", "prismatic", "cylindrical"] {
        for way in ["()", "(dual: cg)", "(dual: direct)", "(dual: schur)"] {
            let scene = scene(&format!(
                "dt: 0.005, gravity: (0, 0, 0), contacts: false,
                bodies: [body(name: \"a\", shape: box(size: (1, 1, 1)), mass: 6)],
                joints: [{kind}(a: \"world\", b: \"a\", at: (0, 0, 0), axis: (0, 1, 0), limit: (-1, 1),
                    motor: (speed: 1, max_effort: 1e4), damping: 1)]"
            ));
            let state = end(&scene, way, 100);
            let reached = coordinate(&scene.joints[0], &state);
            assert!((reached - 0.5).abs() < 1e-3, "{kind} {way}: {reached}");
        }
    }
}

/// A force turns a body that has no inertia along the way to where it acts.
#[test]
fn forces_turn_flat_bodies() {
    let scene = scene(
        "dt: 0.005, gravity: (0, 0, 0), contacts: false,
        bodies: [body(name: \"a\", shape: box(size: (1, 1, 1)), mass: 12, inertia: (1, 1, 2))],
        forces: [force(on: \"a\", at: (0, 0, 0.5), force: (1, 0, 0))]",
    );
    let state = end(&scene, "()", 100);
    assert!((state.bodies[0].omega().y - 0.25).abs() < 1e-3, "{}", state.bodies[0].omega());
    assert!((state.bodies[0].velocity.x - 0.5 / 12.0).abs() < 1e-12);
}

/// What a torque gives does not depend on how far a body turns within a step.
#[test]
fn torques_give_their_impulse_to_fast_bodies() {
    for omega in [1.0, 20.0, 60.0, 100.0, 150.0] {
        let scene = scene(&format!(
            "dt: 0.01, gravity: (0, 0, 0), contacts: false,
            bodies: [body(name: \"a\", shape: box(size: (1, 1, 0.1)), mass: 6, omega: (0, 0, {omega:?}))],
            forces: [torque(on: \"a\", torque: (0, 0, 5))]"
        ));
        let spin = end(&scene, "(spin: arc)", 10).bodies[0].omega().z;
        let share = (spin - omega) / 0.5;
        assert!((share - 1.0).abs() < 0.02, "{omega} rad/s: {share}");
    }
}

/// However fast a free body turns about any axis, arcs keep its energy.
#[test]
fn arcs_keep_the_energy_of_any_spin() {
    for omega in [50.0, 100.0, 150.0, 400.0] {
        let scene = scene(&format!(
            "dt: 0.01, gravity: (0, 0, 0), contacts: false,
            bodies: [body(name: \"a\", shape: box(size: (1, 0.5, 0.2)), mass: 100,
                omega: (1.5, {omega:?}, 0))]"
        ));
        let mut run = Run::new(&BACKEND, &scene, "(spin: arc)", 1);
        let start = metrics::energy(&scene, &run.state).total_j();
        for step in 0..300 {
            let gained = metrics::energy(&scene, run.step()).total_j() / start - 1.0;
            assert!(gained.abs() < 1e-6, "{omega} rad/s: {gained:e} in step {step}");
        }
    }
}
