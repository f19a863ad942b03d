//! Bodies that touch, which an incremental potential keeps apart.

use taut_abd::BACKEND;
use taut_core::{
    Quat, Scene, State, Vec3,
    metrics::energy,
    scene::{Body, Contacts, Motion},
};
use taut_fixtures::{Run, cube, floor, on_threads, plane, refusal, rubbing, tilted, touching};

const GRAVITY: f64 = 9.81;
const D_HAT: f64 = 1e-3;
/// Newton iterations a step may take.
const BUDGET: u32 = 200;

fn scene(gravity: f64, dt: f64, bodies: Vec<Body>) -> Scene {
    let contacts = Some(Contacts { margin: D_HAT, ..Contacts::default() });
    Scene { contacts, dt, ..touching(gravity, bodies) }
}

fn run(scene: &Scene, settings: &str) -> Run {
    Run::new(&BACKEND, scene, settings, BUDGET)
}

fn momentum(scene: &Scene, state: &State) -> Vec3 {
    let bodies = scene.bodies.iter().zip(&state.bodies);
    bodies.filter(|(body, _)| body.is_dynamic()).map(|(body, s)| s.velocity * body.mass).sum()
}

/// Two cubes that fly into each other, corner first.
fn collision(dt: f64) -> Scene {
    let turned = |x: f64, speed: f64| Body {
        rotation: Quat::from_scaled_axis(Vec3::new(0.4, 0.7, -0.3)),
        velocity: Vec3::x() * speed,
        ..cube(0.0).at(Vec3::new(x, 0.1 * x, 0.05 * x))
    };
    scene(0.0, dt, vec![turned(-1.2, 2.0), turned(1.2, -1.0)])
}

#[test]
fn a_collision_keeps_momentum_and_gains_no_energy() {
    let scene = collision(0.01);
    let mut run = run(&scene, "()");
    let mut before = run.step().clone();
    let speed = |state: &State| state.bodies.iter().map(|b| b.velocity.norm_squared()).sum::<f64>();
    let mut most = speed(&before);
    for _ in 0..100 {
        let state = run.step();
        let off = (momentum(&scene, state) - momentum(&scene, &before)).norm();
        assert!(off < 1e-9, "{off:e}");
        before.clone_from(state);
        most = most.max(speed(state));
    }
    assert!(before.bodies[0].velocity.x < 1.0, "they have met");
    assert!(most <= 5.0 + 1e-9, "{most}");
}

#[test]
fn any_number_of_threads_gives_equal_bits() {
    let mut bodies = vec![floor(0.5)];
    bodies.extend((0..8).map(|i| {
        let at = Vec3::new(0.2 * f64::from(i % 2), 1.1 * f64::from(i / 4), 0.0);
        let up = cube(0.502 + 1.002 * f64::from(i % 4));
        rubbing(Body { position: up.position + at, ..up }, 0.5, 0.5)
    }));
    let scene = scene(GRAVITY, 0.01, bodies);
    let after = |threads| on_threads(threads, || run(&scene, "()").end(20).hash());
    assert_eq!(after(1), after(2));
}

#[test]
fn a_cube_rests_within_reach_of_the_barrier_on_boxes_and_half_spaces() {
    for ground in [floor(0.5), plane(0.5)] {
        let scene = scene(GRAVITY, 0.01, vec![ground, rubbing(cube(0.505), 0.5, 0.5)]);
        let state = run(&scene, "()").end(200);
        let gap = state.bodies[1].position.z - 0.5;
        assert!(gap > 0.0 && gap < D_HAT, "{gap:e}");
        assert!(state.bodies[1].velocity.norm() < 1e-6);
    }
}

/// At tan = 0.5 it speeds up with 0.49 by what gravity is more than friction, and creeps with 0.51 at no more than the
/// speed below which friction is smooth.
#[test]
fn a_slope_holds_a_cube_by_its_coefficient() {
    let slope = 0.5_f64.atan();
    let down = Vec3::new(slope.cos(), 0.0, -slope.sin());
    for ground in [floor, plane] {
        // It lands first, in steps that stop it.
        let speeds = |friction: f64| {
            let cube = rubbing(cube(0.5009), friction, friction);
            let scene = scene(GRAVITY, 0.01, vec![ground(friction), cube]);
            let mut run = run(&tilted(scene, slope.to_degrees()), "()");
            [100, 100].map(|steps| stepped(&mut run, steps).bodies[1].velocity.dot(&down))
        };
        let expected = GRAVITY * (slope.sin() - 0.49 * slope.cos());
        let ([before, after], [_, creeps]) = (speeds(0.49), speeds(0.51));
        let gained = after - before;
        assert!((gained / expected - 1.0).abs() < 0.02, "{gained} {expected}");
        assert!(creeps < 2e-3 * 3_f64.sqrt(), "{creeps}");
    }
}

/// A plate of 4 mm that flies 10 m a step at a wall of 4 mm.
#[test]
fn nothing_tunnels() {
    let plate = |x: f64| Body::solid_box(Vec3::new(0.004, 1.0, 1.0), 1000.0).at(Vec3::x() * x);
    for dt in [0.1, 0.01, 0.001] {
        let bullet = Body { velocity: Vec3::x() * 1000.0, ..plate(-0.5) };
        let scene = scene(0.0, dt, vec![plate(0.0).fixed(), bullet]);
        let mut run = run(&scene, "()");
        for _ in 0..5 {
            let state = run.step();
            assert!(state.bodies[1].position.x < 0.0, "{dt}");
        }
    }
}

#[test]
fn a_driven_body_pushes_what_gives_way_and_stops_at_what_does_not() {
    let pusher = Body {
        motion: Motion::Kinematic,
        velocity: Vec3::x() * 0.5,
        ..cube(0.0).at(Vec3::x() * -1.1)
    };
    let free = scene(0.0, 0.01, vec![pusher.clone(), cube(0.0)]);
    let state = run(&free, "()").end(100);
    let [driver, pushed] = [0, 1].map(|i| state.bodies[i].position.x);
    assert!((driver + 0.6).abs() < 1e-5, "{driver}");
    assert!(pushed - driver > 1.0 && pushed > 0.4, "{pushed}");

    // The cube is crushed against a wall, and then holds up what would go through both.
    let mut held = free;
    held.bodies[0].velocity *= 10.0;
    held.bodies.push(cube(0.0).at(Vec3::x() * 1.1).fixed());
    let state = Run::new(&BACKEND, &held, "()", 30).end(30);
    let face = |body: usize, side: f64| state.bodies[body].point(&(Vec3::x() * (0.5 * side))).x;
    // What is crushed may turn inside out; it still meets neither.
    let [driver, near, far] = [face(0, 1.0), face(1, -1.0), face(1, 1.0)];
    assert!(driver < near.min(far) && near.max(far) < 0.6, "{driver} {near} {far}");
    assert!(driver < 0.7, "it lags behind 0.9");
}

#[test]
fn surfaces_that_touch_at_the_start_are_refused_by_name() {
    let named = |name: &str, body: Body| Body { name: name.to_owned(), ..body };
    let touching =
        scene(GRAVITY, 0.01, vec![named("ground", floor(0.5)), named("crate", cube(0.5))]);
    let reason = refusal(&BACKEND, &touching);
    assert!(reason.contains("\"ground\" and \"crate\""), "{reason}");
    let apart = scene(GRAVITY, 0.01, vec![floor(0.5), cube(0.501)]);
    assert!(run(&apart, "()").end(1).bodies[1].position.z > 0.5);
}

/// A stack of three cubes that lands.
fn stack() -> Scene {
    let mut bodies = vec![floor(0.5)];
    bodies.extend((0..3).map(|i| rubbing(cube(0.502 + 1.002 * f64::from(i)), 0.5, 0.5)));
    scene(GRAVITY, 0.01, bodies)
}

fn stepped(run: &mut Run, steps: u32) -> State {
    (1..steps).for_each(|_| {
        run.step();
    });
    run.step().clone()
}

#[test]
fn where_a_step_begins_changes_how_long_it_takes_and_not_where_it_ends() {
    let scene = stack();
    let [(near, few), (far, many)] = ["adaptive", "inertia"].map(|guess| {
        let mut run = run(&scene, &format!("(first_guess: {guess}, speed_tolerance: 1e-7)"));
        let state = stepped(&mut run, 100);
        (state, run.solver.report().newton_iterations.unwrap())
    });
    for (a, b) in near.bodies.iter().zip(&far.bodies) {
        assert!((a.position - b.position).norm() < 1e-6, "{} {}", a.position, b.position);
    }
    assert!(2 * few < many, "{few} {many}");
}

/// What lands, slides and comes to rest, step after step to far below what ends a step.
#[test]
fn a_kept_factor_changes_how_much_is_factorised_and_not_where_steps_end() {
    let mut scene = stack();
    // Askew, so that no two ways to fall are as good as each other.
    for (i, body) in scene.bodies.iter_mut().enumerate().skip(1) {
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.0, 0.0, 0.1 * i as f64));
        body.position.x = 0.03 * i as f64;
    }
    scene.bodies[3].velocity = Vec3::new(0.3, 0.1, 0.0);
    let [(anew, many), (kept, few)] = ["fresh", "kept"].map(|hessian| {
        let mut run = run(&scene, &format!("(hessian: {hessian}, speed_tolerance: 1e-7)"));
        let state = stepped(&mut run, 150);
        let report = run.solver.report();
        assert_eq!(report.unconverged_steps, Some(0), "{hessian}");
        (state, report.factorisations.unwrap())
    });
    let slid = anew.bodies[3].position.x - scene.bodies[3].position.x;
    assert!(slid > 0.005, "{slid}");
    for (a, b) in anew.bodies.iter().zip(&kept.bodies) {
        assert!((a.position - b.position).norm() < 1e-6, "{} {}", a.position, b.position);
    }
    assert!(2 * few < many, "{few} {many}");
}

/// A system of steps of another length is not taken for that of this one, nor what was learned before a load.
#[test]
fn a_factor_is_not_kept_beyond_what_it_is_of() {
    let scene = stack();
    let mut twice = run(&scene, "(hessian: kept)");
    let first = stepped(&mut twice, 30).hash();
    twice.solver.load(&scene.initial_state()).unwrap();
    assert_eq!(stepped(&mut twice, 30).hash(), first);
    let before = twice.solver.report().factorisations;
    twice.step.dt *= 0.5;
    twice.step();
    assert!(twice.solver.report().factorisations > before);
}

#[test]
fn no_energy_comes_in_with_the_least_stiffness() {
    let scene = stack();
    let mut run = run(&scene, "(stiffness: least, speed_tolerance: 1e-7)");
    let total = |state: &State, stored: f64| energy(&scene, state).total_j() + stored;
    let mut before = total(&scene.initial_state(), 0.0);
    for step in 0..150 {
        let state = run.step().clone();
        let now = total(&state, run.solver.report().stored_energy_j.unwrap());
        assert!(now <= before + 1e-9 * before.abs(), "step {step}: {before} to {now}");
        before = now;
    }
}

/// A tower that has come to rest takes no part in what others take their iterations for, until they meet it.
#[test]
fn a_tower_does_not_feel_what_it_does_not_meet() {
    let mut bodies = stack().bodies;
    let high = cube(4.0);
    let aside = |x: f64, turn: f64| Body {
        rotation: Quat::from_scaled_axis(Vec3::new(0.4, turn, -0.3)),
        ..high.clone().at(Vec3::new(x, 0.1, 9.0))
    };
    // They meet after the tower has come to rest, and fall on it last.
    bodies.push(Body { velocity: Vec3::new(1.0, 0.0, -1.0), ..aside(-1.2, 0.7) });
    bodies.push(Body { velocity: Vec3::new(-1.5, 0.0, -1.0), ..aside(0.9, -0.2) });
    let watched = scene(GRAVITY, 0.01, bodies);
    let [mut alone, mut watched] = [stack(), watched].map(|scene| run(&scene, "()"));
    let mut off = 0.0_f64;
    let (mut met, mut felt) = (false, false);
    for _ in 0..130 {
        let (a, b) = (alone.step().clone(), watched.step().clone());
        let falling = b.bodies[5].position.z > 6.0;
        let way = |i: usize| (a.bodies[i].position - b.bodies[i].position).norm();
        let most = (1..4).map(way).fold(0.0, f64::max);
        met |= falling && b.bodies[4].velocity.x < 0.5;
        felt |= most > 1e-3;
        if falling {
            off = off.max(most);
        }
    }
    assert!(met && felt, "{met} {felt}");
    // A step ends where the next Newton step would be shorter than this.
    assert!(off < 1e-3 * D_HAT, "{off:e}");
}

#[test]
fn a_report_tells_what_steps_took() {
    let scene = stack();
    let mut short = Run::new(&BACKEND, &scene, "()", 1);
    stepped(&mut short, 20);
    let report = short.solver.report();
    assert_eq!(report.newton_iterations, Some(20));
    assert!(report.unconverged_steps > Some(0), "{report:?}");
    assert!(report.active_pairs > Some(0) && report.active_pairs <= report.candidates);
    assert!(report.kappa_j_m4 > Some(0.0) && report.stored_energy_j > Some(0.0), "{report:?}");
    short.solver.load(&scene.initial_state()).unwrap();
    let report = short.solver.report();
    assert_eq!((report.newton_iterations, report.unconverged_steps), (Some(0), Some(0)));
}

/// Friction with the normal forces of the step's end: what lands and slides at once is held back in that step already.
#[test]
fn renewed_friction_acts_in_the_step_of_the_impact() {
    let speed = |lags: u32| {
        let slider = Body { velocity: Vec3::new(3.0, 0.0, -3.0), ..cube(0.52) };
        let scene = scene(GRAVITY, 0.01, vec![floor(0.5), rubbing(slider, 0.5, 0.5)]);
        let mut run = run(&scene, &format!("(friction_lags: {lags})"));
        let first = stepped(&mut run, 1).bodies[1].velocity;
        (first, run.solver.report().unconverged_steps)
    };
    let [(one, _), (many, unconverged)] = [speed(1), speed(20)];
    assert!((one.x - 3.0).abs() < 1e-3, "{one}");
    // Coulomb's law takes half of the impulse that slows the fall.
    let slowed = many.z + 3.0 + GRAVITY * 0.01;
    assert!(slowed > 1.0 && (many.x - (3.0 - 0.5 * slowed)).abs() < 0.02, "{many}");
    assert_eq!(unconverged, Some(0));
}

#[test]
fn a_thick_barrier_and_a_second_coefficient_are_warned_of() {
    let fine = scene(GRAVITY, 0.01, vec![floor(0.5), rubbing(cube(0.502), 0.5, 0.5)]);
    assert!(run(&fine, "()").solver.warnings().is_empty());
    let odd = scene(GRAVITY, 0.01, vec![floor(0.5), rubbing(cube(0.9), 0.6, 0.5)]);
    let [thick, rough] = &run(&odd, "(d_hat: 0.3)").solver.warnings()[..] else { panic!("two") };
    assert!(thick.contains("a fifth of") && thick.contains("1.000e0 m thick"), "{thick}");
    assert!(rough.contains("0.5, and 0.6 at rest"), "{rough}");
}
