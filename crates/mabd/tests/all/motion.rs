//! Bodies by themselves: maps of steady spin, momentum and orders of convergence.

use taut_core::{
    Quat, Scene, State, Step, TimeFormula, Vec3, metrics,
    scene::{AppliedForce, Body, Elasticity, Endpoint, ForceKind, Joint, JointKind, Motion, Motor},
};
use taut_fixtures::{Run, bar_on, empty, file};
use taut_mabd::BACKEND;

fn path(scene: &Scene, settings: &str, steps: u32, iterations: u32) -> Vec<State> {
    Run::new(&BACKEND, scene, settings, iterations).path(steps)
}

/// A cube that spins about z at `omega` [rad/s].
fn spinning(omega: f64, dt: f64) -> Scene {
    let mut scene = Scene { dt, ..empty(0.0) };
    let mut body = Body::solid_box(Vec3::repeat(1.0), 1000.0);
    body.omega = Vec3::new(0.0, 0.0, omega);
    scene.bodies.push(body);
    scene
}

fn turns(states: &[State]) -> Vec<f64> {
    let angle = |pair: &[State]| {
        let [before, after] = [&pair[0], &pair[1]].map(|s| s.bodies[0].rotation());
        before.angle_to(&after)
    };
    states.windows(2).map(angle).collect()
}

#[test]
fn one_linearised_step_keeps_steady_spin() {
    let scene = spinning(3.0, 0.02);
    for settings in ["()", "(polar: newton_schulz)"] {
        let states = path(&scene, settings, 2000, 1);
        let spin = |s: &State| metrics::momentum(&scene, s).angular_kg_m2_s.z;
        let last = states.last().unwrap();
        // A single step of Newton and Schulz is wrong by three eighths of the fourth power of 0.06.
        let allowed = if settings == "()" { 1e-10 } else { 2e-2 };
        let lost = 1.0 - spin(last) / spin(&states[0]);
        assert!(lost.abs() < allowed, "{settings}: {lost:e}");
        if settings == "()" {
            // Each step turns by the same angle, a little less than at first: frames stretch in
            // the first steps, and take a share `(omega h)^2 / 2` of the spin for it.
            let turns = turns(&states);
            assert!(turns[10..].iter().all(|turn| (turn - turns[10]).abs() < 1e-9));
            assert!((turns[10].tan() / 0.06 - 1.0 + 0.06_f64.powi(2) / 2.0).abs() < 1e-4);
        }
    }
}

/// Along the arc a body turns by its spin, however fast, without stretch and without losing any.
#[test]
fn an_arc_keeps_fast_spin_and_shape() {
    let scene = spinning(30.0, 0.02);
    let states = path(&scene, "(spin: arc)", 500, 1);
    let spin = |s: &State| metrics::momentum(&scene, s).angular_kg_m2_s.z;
    assert!((spin(&states[500]) / spin(&states[0]) - 1.0).abs() < 1e-10);
    assert!(turns(&states).iter().all(|turn| (turn - 0.6).abs() < 1e-10));
    assert!(states.iter().all(|state| metrics::stretch_max(&scene, state) < 1e-10));
}

/// A step that the watchdog divides begins from where it began, not from where an arc led.
#[test]
fn arcs_close_joints_through_a_snap() {
    let scene = file("heavy-end-chain", &[]);
    for state in path(&scene, "(spin: arc)", 150, 1) {
        let error = metrics::joint_errors(&scene, &state).max_m;
        assert!(error < 1e-9, "{error:e}");
        assert!(metrics::stretch_max(&scene, &state) < 0.05);
    }
}

#[test]
fn projecting_and_iterating_damp_spin_as_their_maps_say() {
    let scene = spinning(6.0, 0.02);
    type Map = fn(f64) -> f64;
    let variants: [(&str, u32, Map); 2] = [
        ("(integrator: projected)", 1, |angle| angle.sin().atan()),
        ("(integrator: implicit_euler)", 12, |angle| (angle.sin() / (2.0 - angle.cos())).atan()),
    ];
    for (settings, iterations, map) in variants {
        let turns = turns(&path(&scene, settings, 200, iterations));
        for pair in turns.windows(2) {
            assert!((pair[1] - map(pair[0])).abs() < 1e-9, "{settings}: {pair:?}");
        }
        assert!(turns[199] < 0.99 * turns[0], "{settings}");
    }
}

/// A box in tumbling motion, free.
fn tumbling(dt: f64) -> Scene {
    let mut scene = Scene { dt, ..empty(0.0) };
    let mut body = Body::solid_box(Vec3::new(1.0, 0.6, 0.3), 100.0);
    (body.omega, body.velocity) = (Vec3::new(0.4, 1.5, 0.7), Vec3::new(0.3, -0.2, 0.1));
    scene.bodies.push(body);
    scene
}

#[test]
fn momentum_is_exact_and_angular_momentum_of_second_order() {
    let drift = |dt: f64| {
        let scene = tumbling(dt);
        let states = path(&scene, "()", (4.0 / dt).round() as u32, 1);
        let [start, end] =
            [&states[0], states.last().unwrap()].map(|s| metrics::momentum(&scene, s));
        assert!((end.linear_kg_m_s - start.linear_kg_m_s).norm() < 1e-10);
        (end.angular_kg_m2_s - start.angular_kg_m2_s).norm()
    };
    let ratio = drift(0.02) / drift(0.01);
    assert!((ratio - 4.0).abs() < 0.3, "{ratio}");
}

/// A torque sets a cube spinning, which turns by an angle within the first half of a step that the tangent follows, but
/// not by what it does within the second: that alone is halved, and the step is what three of these lengths make.
#[test]
fn a_step_is_divided_where_it_has_to_be() {
    let dt = 0.1;
    let mut scene = spinning(0.0, dt);
    let inertia = scene.bodies[0].inertia.m33;
    let torque = [0.0, 0.0, 0.6 * inertia / (dt * dt)].map(TimeFormula::constant);
    let kind = ForceKind::Torque { body: 0, torque };
    scene.forces.push(AppliedForce { name: "spin".into(), kind });
    let mut whole = Run::new(&BACKEND, &scene, "()", 1);
    let divided = whole.step().clone();
    // The whole step, its first half, the second, and the quarters of this.
    assert_eq!(whole.solver.report().iterations_used, Some(5));
    let mut parts = Run::new(&BACKEND, &scene, "()", 1);
    for share in [0.5, 0.25, 0.25] {
        parts.solver.begin_step(Step { dt: share * dt, iterations: 1 }).unwrap();
        parts.solver.iterate().unwrap();
        parts.solver.end_step().unwrap();
        assert_eq!(parts.solver.report().iterations_used, Some(1));
    }
    let state = parts.steps(0);
    assert!((divided.bodies[0].frame - state.bodies[0].frame).norm() < 1e-14);
    assert!((divided.bodies[0].frame_rate - state.bodies[0].frame_rate).norm() < 1e-12);
}

/// A bar swings so fast that steps are divided: its joint and its weight are all that changes its momentum.
#[test]
fn a_joint_exerts_on_average_what_moves_its_body() {
    let mut scene = bar_on(9.81, JointKind::Ball, Vec3::new(1.0, 0.1, 0.1), 1000.0);
    let omega = Vec3::new(0.0, 0.0, 40.0);
    let body = &mut scene.bodies[0];
    (body.omega, body.velocity) = (omega, omega.cross(&body.position));
    let mass = body.mass;
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    let mut before = run.state.bodies[0].velocity;
    for step in 0..10 {
        let velocity = run.step().bodies[0].velocity;
        assert!(run.solver.report().iterations_used > Some(1));
        let force = run.forces().joint_force[0];
        let expected = (velocity - before) * (mass / scene.dt) + Vec3::z() * (9.81 * mass);
        let error = (force - expected).norm() / expected.norm();
        assert!(error < 1e-9, "{error:e} in step {step}");
        before = velocity;
    }
}

/// A motor at rest holds a cube to a table that turns so fast that steps are divided: it acts from where the table is when
/// each part starts.
#[test]
fn a_motor_holds_to_what_turns_in_divided_steps() {
    let mut scene = spinning(30.0, 0.02);
    let mut table = scene.bodies[0].clone();
    table.motion = Motion::Kinematic;
    scene.bodies.push(table);
    let mut hinge = Joint::new(JointKind::Hinge, Endpoint::Body(1), Endpoint::Body(0));
    let upwards = Quat::from_scaled_axis(Vec3::y() * (-0.25 * std::f64::consts::TAU));
    (hinge.basis_a, hinge.basis_b) = (upwards, upwards);
    hinge.motor = Some(Motor { speed: 0.0, max_effort: 1e9 });
    scene.joints.push(hinge);
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    for step in 0..20 {
        let state = run.step();
        let [cube, table] = [0, 1].map(|body| state.bodies[body].rotation());
        assert!(run.solver.report().iterations_used > Some(1));
        // Each of four parts takes the tangent of its turn, and turns by a third of the angle's cube less.
        let lost = 4.0 * 0.15_f64.powi(3) / 3.0 * f64::from(step + 1);
        let apart = cube.angle_to(&table);
        assert!(apart < lost, "{apart} rad in step {step}");
    }
}

#[test]
fn elastic_bodies_tend_to_rigid_ones() {
    let rigid = path(&tumbling(1e-3), "()", 1000, 1);
    let mut scene = tumbling(1e-3);
    scene.bodies[0].elasticity = Some(Elasticity { young: 1e9, poisson: 0.3 });
    let elastic = path(&scene, "()", 1000, 1);
    let [a, b] = [&rigid, &elastic].map(|states| states.last().unwrap().bodies[0]);
    assert!(a.rotation().angle_to(&b.rotation()) < 1e-5);
    assert!((a.frame - b.frame).norm() < 1e-5);
}

#[test]
fn the_second_order_formula_converges_twice_as_fast() {
    // Against the same at a small step: second order leaves a quarter when the step halves.
    let end = |settings: &str, dt: f64| {
        let scene = file("rod-pendulum", &[("dt", dt)]);
        let states = path(&scene, settings, (0.5 / dt).round() as u32, 6);
        states.last().unwrap().bodies[0].position
    };
    let order = |settings: &str| {
        let exact = end(settings, 1e-4);
        let error = |dt| (end(settings, dt) - exact).norm();
        (error(0.01) / error(0.005)).log2()
    };
    let (first, second) = (order("(integrator: implicit_euler)"), order("(integrator: bdf2)"));
    assert!((first - 1.0).abs() < 0.1, "{first}");
    assert!(second > 1.8, "{second}");
}

/// Mean error of the force of the rod pendulum's hinge against that of its angle, over the weight [1].
fn hinge_error(dt: f64) -> f64 {
    let scene = file("rod-pendulum", &[("dt", dt)]);
    let body = &scene.bodies[0];
    let (weight, arm) = (body.mass * 9.81, 0.5);
    let rate = weight * arm / (body.inertia.m22 + body.mass * arm * arm);
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    let mut sum = 0.0;
    for _ in 0..scene.steps {
        let x = run.step().bodies[0].frame.column(0).into_owned();
        let (sine, cosine) = (-x.z, x.x);
        // theta'^2 = 2 rate sin(theta), theta'' = rate cos(theta).
        let along = weight * sine + body.mass * arm * 2.0 * rate * sine;
        let across = weight * cosine - body.mass * arm * rate * cosine;
        sum += (run.forces().joint_force[0].norm() - along.hypot(across)).abs() / weight;
    }
    sum / f64::from(scene.steps)
}

/// Beside the angle the paper's Figure 10 shows the force of the hinge.
#[test]
fn the_hinge_of_a_rod_pendulum_pulls_as_its_angle_asks() {
    let [coarse, fine] = [1e-2, 1e-3].map(hinge_error);
    assert!(coarse < 0.05, "{coarse} of the weight");
    assert!((coarse / fine - 10.0).abs() < 1.0, "{coarse} and {fine} are not of the first order");
}
