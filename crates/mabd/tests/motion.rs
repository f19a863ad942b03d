//! Bodies by themselves and on a pivot: maps of steady spin, momentum, and motions with a known solution.

mod common;

use common::{advance, ball, build, empty, file, path, state};
use taut_core::{
    Mat3, Multipliers, Quat, State, Vec3, metrics,
    scene::{Body, Endpoint, Scene},
};

/// A cube that spins about z at `omega` [rad/s].
fn spinning(omega: f64, dt: f64) -> Scene {
    let mut scene = empty(dt, Vec3::zeros());
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
    let mut scene = empty(dt, Vec3::zeros());
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

#[test]
fn elastic_bodies_tend_to_rigid_ones() {
    let rigid = path(&tumbling(1e-3), "()", 1000, 1);
    let mut scene = tumbling(1e-3);
    scene.bodies[0].elasticity = Some(taut_core::scene::Elasticity { young: 1e9, poisson: 0.3 });
    let elastic = path(&scene, "()", 1000, 1);
    let [a, b] = [&rigid, &elastic].map(|states| states.last().unwrap().bodies[0]);
    assert!(a.rotation().angle_to(&b.rotation()) < 1e-5);
    assert!((a.frame - b.frame).norm() < 1e-5);
}

#[test]
fn the_second_order_formula_converges_twice_as_fast() {
    // Against the same at a small step: second order leaves a quarter when the step halves.
    let end = |settings: &str, dt: f64| {
        let scene = Scene { dt, ..pendulum() };
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

fn pendulum() -> Scene {
    file("rod-pendulum", &[])
}

#[test]
fn a_spin_about_the_intermediate_axis_flips_in_time() {
    let scene = file("t-handle", &[("dt", 1e-3), ("duration", 40.0)]);
    let mut solver = build(&scene, "()");
    let axis = |s: &State| {
        let momentum = metrics::momentum(&scene, s).angular_kg_m2_s;
        s.bodies[0].frame.column(1).dot(&momentum)
    };
    let mut before = state(&mut *solver);
    let mut flips = Vec::new();
    for _ in 0..scene.steps {
        advance(&mut *solver, scene.dt, 1);
        let after = state(&mut *solver);
        let (a, b) = (axis(&before), axis(&after));
        if a * b < 0.0 {
            flips.push(before.time_s + scene.dt * a / (a - b));
        }
        before = after;
    }
    for (found, expected) in flips.iter().zip([3.92, 11.78, 19.67, 27.58, 35.52]) {
        assert!((found - expected).abs() < 0.02, "{flips:?}");
    }
    assert_eq!(flips.len(), 5);
}

/// A thin disc on a pivot below its centre, tilted by 5 degrees.
fn top(dt: f64) -> Scene {
    let (r, l, tilt) = (0.1116_f64, 0.0249_f64, 5.0_f64.to_radians());
    let mut body = Body::solid_box(Vec3::repeat(0.1), 1000.0);
    body.mass = 1.0;
    let (spin, across) = (0.5 * r * r, 0.25 * r * r);
    body.inertia = Mat3::from_diagonal(&Vec3::new(across, across, spin));
    body.rotation = Quat::from_scaled_axis(Vec3::new(0.0, tilt, 0.0));
    body.position = body.rotation * Vec3::new(0.0, 0.0, l);
    body.omega = body.rotation * Vec3::new(0.0, 0.0, 10.0 * 1.0);
    let mut scene = empty(dt, Vec3::new(0.0, 0.0, -9.81));
    scene.bodies.push(body);
    let foot = Vec3::new(0.0, 0.0, -l);
    scene.joints.push(ball(Endpoint::World, Endpoint::Body(0), [Vec3::zeros(), foot]));
    scene
}

/// Tilt of the same top by fourth-order Runge-Kutta, after every millisecond [rad].
fn exact_tilts(scene: &Scene, steps: usize) -> Vec<f64> {
    let body = &scene.bodies[0];
    let l = body.position.norm();
    let arm = Vec3::new(0.0, 0.0, l);
    let inertia = body.inertia + (Mat3::identity() * (l * l) - arm * arm.transpose()) * body.mass;
    let inverse = inertia.try_inverse().unwrap();
    // Body angular velocity and the vertical in body axes.
    let slope = |(w, up): (Vec3, Vec3)| {
        let torque = arm.cross(&(up * (-9.81 * body.mass)));
        (inverse * (torque - w.cross(&(inertia * w))), up.cross(&w))
    };
    let add = |(a, b): (Vec3, Vec3), (c, d): (Vec3, Vec3), h: f64| (a + c * h, b + d * h);
    let mut at =
        (body.rotation.inverse() * body.omega, body.rotation.inverse() * Vec3::new(0.0, 0.0, 1.0));
    let (mut tilts, h) = (vec![at.1.z.acos()], 1e-4);
    for _ in 0..steps {
        for _ in 0..10 {
            let k1 = slope(at);
            let k2 = slope(add(at, k1, h / 2.0));
            let k3 = slope(add(at, k2, h / 2.0));
            let k4 = slope(add(at, k3, h));
            for (k, weight) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
                at = add(at, k, h * weight / 6.0);
            }
        }
        tilts.push(at.1.z.acos());
    }
    tilts
}

#[test]
fn a_heavy_top_follows_the_exact_motion() {
    let scene = top(1e-3);
    let exact = exact_tilts(&scene, 10_000);
    // It nods between 5 and 17.6 degrees, so that agreement is not that of two tops at rest.
    assert!((exact.iter().copied().fold(0.0, f64::max).to_degrees() - 17.6).abs() < 0.1);
    let states = path(&scene, "()", 10_000, 1);
    let tilt = |s: &State| (s.bodies[0].rotation() * Vec3::new(0.0, 0.0, 1.0)).z.acos();
    let square: f64 = states.iter().zip(&exact).map(|(s, e)| (tilt(s) - e).powi(2)).sum();
    let rmse = (square / exact.len() as f64).sqrt().to_degrees();
    assert!(rmse < 0.1, "{rmse} degrees");
}

#[test]
fn a_rod_pendulum_follows_the_exact_motion() {
    for (dt, allowed) in [(1e-2, 0.03), (1e-3, 0.003)] {
        let scene = file("rod-pendulum", &[("dt", dt)]);
        let states = path(&scene, "()", scene.steps, 1);
        // theta'' = 3 g / (2 l) cos(theta) below the horizontal, for the rod's own section.
        let body = &scene.bodies[0];
        let about = body.inertia.m22 + body.mass * 0.25;
        let rate = body.mass * 9.81 * 0.5 / about;
        let (mut at, mut worst, parts) = ([0.0_f64, 0.0], 0.0_f64, (dt / 1e-4).round() as u32);
        for s in &states[1..] {
            for _ in 0..parts {
                at = rk4(at, rate, 1e-4);
            }
            let x = s.bodies[0].frame.column(0).into_owned();
            // It swings up to the wrap of the angle.
            let off = (-x.z).atan2(x.x) - at[0];
            worst = worst.max(off.sin().atan2(off.cos()).abs());
        }
        assert!(worst < allowed, "{dt}: {worst} rad");
    }
}

/// Mean error of the force of the rod pendulum's hinge against that of its angle, over the weight [1].
fn hinge_error(dt: f64) -> f64 {
    let scene = file("rod-pendulum", &[("dt", dt)]);
    let body = &scene.bodies[0];
    let (weight, arm) = (body.mass * 9.81, 0.5);
    let rate = weight * arm / (body.inertia.m22 + body.mass * arm * arm);
    let (mut solver, mut forces) = (build(&scene, "()"), Multipliers::default());
    let mut sum = 0.0;
    for _ in 0..scene.steps {
        advance(&mut *solver, scene.dt, 1);
        assert!(solver.read_multipliers(&mut forces));
        let x = state(&mut *solver).bodies[0].frame.column(0).into_owned();
        let (sine, cosine) = (-x.z, x.x);
        // theta'^2 = 2 rate sin(theta), theta'' = rate cos(theta).
        let along = weight * sine + body.mass * arm * 2.0 * rate * sine;
        let across = weight * cosine - body.mass * arm * rate * cosine;
        sum += (forces.joint_force[0].norm() - along.hypot(across)).abs() / weight;
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

fn rk4([angle, speed]: [f64; 2], rate: f64, h: f64) -> [f64; 2] {
    let slope = |[angle, speed]: [f64; 2]| [speed, rate * angle.cos()];
    let add = |k: [f64; 2], h: f64| [angle + k[0] * h, speed + k[1] * h];
    let k1 = slope([angle, speed]);
    let k2 = slope(add(k1, h / 2.0));
    let k3 = slope(add(k2, h / 2.0));
    let k4 = slope(add(k3, h));
    [0, 1].map(|i| [angle, speed][i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}
