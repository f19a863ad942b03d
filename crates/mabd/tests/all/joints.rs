//! Chains and joints: exactness after one iteration, stability, and the ways to solve the dual.

use taut_core::{
    BodyState, Quat, Scene, State, Vec3,
    load::load_str,
    metrics,
    scene::{Body, Elasticity, Endpoint, Joint, JointKind},
};
use taut_fixtures::{KINDS, Run, build, empty, farthest, file};
use taut_mabd::BACKEND;

/// Links of 1 m along x from the origin, each hanging on the one before, the first on the world.
fn chain(links: usize, dt: f64) -> Scene {
    Scene { dt, ..taut_fixtures::chain(9.81, links, Vec3::new(1.0, 0.2, 0.3), 100.0) }
}

fn path(scene: &Scene, settings: &str, steps: u32) -> Vec<State> {
    Run::new(&BACKEND, scene, settings, 1).path(steps)
}

fn gap(scene: &Scene, state: &State) -> f64 {
    metrics::joint_errors(scene, state).max_m
}

#[test]
fn one_iteration_closes_the_joints_of_a_chain() {
    let scene = chain(30, 0.01);
    let mut apart = scene.initial_state();
    for (i, body) in apart.bodies.iter_mut().enumerate() {
        body.position += Vec3::new(0.01, -0.02, 0.015) * (i as f64 * 0.7).sin();
    }
    for settings in ["()", "(general: true)", "(geometric: none)", "(polar: newton_schulz)"] {
        let mut run = Run::new(&BACKEND, &scene, settings, 1);
        run.load(&apart);
        assert!(gap(&scene, &run.state) > 1e-3);
        let left = gap(&scene, run.step());
        assert!(left < 1e-12, "{settings}: {left:e}");
    }
}

#[test]
fn ball_joints_and_general_rows_agree() {
    for settings in ["", "geometric: none", "integrator: bdf2", "integrator: implicit_euler"] {
        let scene = chain(12, 0.01);
        let [fast, general] = ["", "general: true, "].map(|general| {
            Run::new(&BACKEND, &scene, &format!("({general}{settings})"), 2).path(50)
        });
        let distance = |(a, b): (&State, &State)| {
            a.bodies
                .iter()
                .zip(&b.bodies)
                .map(|(a, b)| (a.frame - b.frame).norm())
                .fold(0.0, f64::max)
        };
        let worst = fast.iter().zip(&general).map(distance).fold(0.0, f64::max);
        assert!(worst < 1e-9, "{settings}: {worst:e}");
    }
}

/// A chain over fixed turning points, every third of whose joints names its bodies the other way round.
fn pinned_chain() -> Scene {
    let mut scene = file("pulley", &[("links", 150.0), ("span", 20.0)]);
    for joint in scene.joints.iter_mut().step_by(3) {
        std::mem::swap(&mut joint.a, &mut joint.b);
        std::mem::swap(&mut joint.anchor_a, &mut joint.anchor_b);
    }
    scene
}

#[test]
fn pins_of_chains_hold_as_joints_of_trees_do() {
    let scene = pinned_chain();
    let run = |settings: &str| {
        let mut run = Run::new(&BACKEND, &scene, settings, 1);
        run.steps(20);
        let forces = run.forces();
        (run.state, forces)
    };
    let [(fast, pulls), (general, others)] = ["()", "(dual: tree)"].map(run);
    assert!(gap(&scene, &fast) < 1e-12);
    for (a, b) in fast.bodies.iter().zip(&general.bodies) {
        assert!((a.frame - b.frame).norm() < 1e-9 && (a.velocity - b.velocity).norm() < 1e-8);
    }
    let strongest = others.joint_force.iter().map(|force| force.norm()).fold(0.0, f64::max);
    for (a, b) in pulls.joint_force.iter().zip(&others.joint_force) {
        assert!((a - b).norm() < 1e-7 * strongest, "{a} {b}");
    }
}

#[test]
fn reading_between_steps_changes_nothing() {
    let scene = pinned_chain();
    let watched = path(&scene, "()", 10).pop().unwrap();
    assert_eq!(watched, Run::new(&BACKEND, &scene, "()", 1).end(10));
    // What is read can be loaded and read again.
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    run.load(&watched);
    assert_eq!(run.steps(0).bodies, watched.bodies);
}

/// Twenty links hang vertically under a load that makes `a = 12 h^2 tension / (m l)`, pushed slightly.
fn taut_chain(a: f64) -> Scene {
    let (links, dt) = (20, 0.01);
    let mut scene = chain(links, dt);
    let down = Quat::from_scaled_axis(Vec3::new(0.0, std::f64::consts::FRAC_PI_2, 0.0));
    for (i, body) in scene.bodies.iter_mut().enumerate() {
        body.rotation = down;
        body.position = Vec3::new(0.0, 0.0, -(i as f64) - 0.5);
        body.velocity = Vec3::new(1e-6 * (1.3 * i as f64).cos(), 0.0, 0.0);
    }
    // Without weight of the links, so that the tension is everywhere the same.
    let tension = a * scene.bodies[0].mass / (12.0 * dt * dt);
    scene.gravity = Vec3::new(0.0, 0.0, -1.0);
    let load = 1e4 * scene.bodies[0].mass * scene.bodies.len() as f64;
    let end = &mut scene.bodies[links - 1];
    end.mass += load;
    end.inertia *= 1.0 + load / 6.0;
    scene.gravity *= tension / load;
    scene
}

#[test]
fn without_geometric_stiffness_tension_is_limited() {
    let stretch = |a: f64, settings: &str| {
        let scene = taut_chain(a);
        let states = path(&scene, settings, 600);
        states.iter().map(|s| metrics::stretch_max(&scene, s)).fold(0.0, f64::max)
    };
    let literal = "(geometric: none, stretch_limit: inf)";
    assert!(stretch(3.6, literal) < 1e-6);
    // A maximum ignores what is not a number, so what diverges counts as it was before.
    assert!(stretch(4.6, literal) > 1e-3);
    assert!(stretch(4.6, "(stretch_limit: inf)") < 1e-6);
    assert!(stretch(50.0, "(stretch_limit: inf)") < 1e-6);
}

#[test]
fn a_pushed_hanging_chain_keeps_hanging() {
    let stretch = |settings: &str| {
        let mut scene = file("chain50-hang", &[]);
        for (i, body) in scene.bodies.iter_mut().enumerate() {
            body.velocity = Vec3::new(1e-6 * (1.3 * i as f64).cos(), 0.0, 0.0);
        }
        let states = path(&scene, settings, scene.steps);
        let aside = |s: &State| s.bodies.iter().map(|b| b.position.x.abs()).fold(0.0, f64::max);
        let stretched = states.iter().map(|s| metrics::stretch_max(&scene, s));
        // A maximum ignores what is not a number, so what diverges counts as it was before.
        [stretched.fold(0.0, f64::max), states.iter().map(aside).fold(0.0, f64::max)]
    };
    for settings in ["(geometric: diagonal(0))", "()"] {
        let [stretched, aside] = stretch(settings);
        assert!(stretched < 1e-9 && aside < 1e-5, "{settings}: {stretched:e}, {aside:e} m");
    }
    let [stretched, _] = stretch("(geometric: none, stretch_limit: inf)");
    assert!(stretched > 1.0, "as published: {stretched:e}");
}

/// Two boxes that tumble about each other on one joint of a kind.
fn pair(kind: JointKind) -> Scene {
    let mut scene = Scene { dt: 0.005, ..empty(0.0) };
    for side in [-0.5, 0.5] {
        let mut body = Body::solid_box(Vec3::new(0.5, 0.3, 0.2), 1000.0);
        body.omega = Vec3::new(1.0 + side, 0.5, 1.5 - side);
        body.velocity = body.omega.cross(&Vec3::new(side, 0.0, 0.0));
        scene.bodies.push(body.at(Vec3::new(side, 0.0, 0.0)));
    }
    let arm = Vec3::new(0.5, 0.0, 0.0);
    let joint = Joint::new(kind, Endpoint::Body(0), Endpoint::Body(1)).anchored(arm, -arm);
    scene.joints.push(joint);
    scene
}

#[test]
fn errors_on_the_right_hand_side_keep_joints_from_drifting() {
    for kind in KINDS.into_iter().filter(|kind| !matches!(kind, JointKind::Distance { .. })) {
        let scene = pair(kind);
        let worst = |states: &[State]| {
            let errors = states.iter().map(|s| metrics::joint_errors(&scene, s));
            errors.map(|e| e.max_m.max(e.angle_max_rad)).fold(0.0, f64::max)
        };
        let states = path(&scene, "()", 4000);
        let (early, late) = (worst(&states[..1000]), worst(&states[3000..]));
        // Rows that are not linear in frames are left at the square of the angle of a step, 1e-4 here.
        assert!(early < 1e-4, "{kind:?}: {early:e}");
        assert!(late < 1.2 * early + 1e-12, "{kind:?}: {early:e}, then {late:e}");
        if matches!(kind, JointKind::Universal | JointKind::Prismatic) {
            let without = worst(&path(&scene, "(feedback: false)", 4000)[3000..]);
            assert!(without > 10.0 * late, "{kind:?}: {without:e} and {late:e}");
        }
    }
}

/// A net that nothing holds, thrown about: pinned at its corners its level rows would be redundant.
fn free_net() -> Scene {
    let mut scene = file("net", &[("n", 4.0)]);
    scene.joints.retain(|joint| joint.a != Endpoint::World && joint.b != Endpoint::World);
    for (i, body) in scene.bodies.iter_mut().enumerate() {
        let i = i as f64;
        body.velocity = Vec3::new((1.3 * i).sin(), (2.1 * i).cos(), (0.7 * i).sin());
    }
    scene
}

#[test]
fn every_way_to_solve_the_dual_agrees() {
    let scenes = [
        ("chain50-swing", vec!["thomas", "tree", "schur", "direct"]),
        ("joint-zoo", vec!["tree", "schur", "direct", "cg"]),
        ("net", vec!["schur", "direct", "cg", "sweeps"]),
    ];
    for (name, solvers) in scenes {
        let scene = if name == "net" { free_net() } else { file(name, &[]) };
        let ends: Vec<State> = solvers
            .iter()
            .map(|dual| {
                let settings = format!("(dual: {dual}, tolerance: 1e-13)");
                Run::new(&BACKEND, &scene, &settings, 1).end(10)
            })
            .collect();
        for (end, dual) in ends.iter().zip(&solvers).skip(1) {
            let worst = farthest(end, &ends[0]);
            assert!(worst < 1e-8, "{name} {dual}: {worst:e}");
        }
    }
}

/// Pinned at its own size, a net of strictly rigid bodies could not move at all.
#[test]
fn a_taut_net_neither_opens_nor_stretches_nor_gains_energy() {
    for n in [3.0, 5.0, 12.0] {
        let scene = file("net", &[("n", n)]);
        let states = path(&scene, "()", 100);
        let start = metrics::energy(&scene, &states[0]).total_j();
        for state in &states {
            let (open, stretch) = (gap(&scene, state), metrics::stretch_max(&scene, state));
            let gain = metrics::energy(&scene, state).total_j() - start;
            assert!(open < 1e-9 && stretch < 1e-3 && gain <= 0.0, "{open:e} {stretch:e} {gain:e}");
        }
    }
}

#[test]
fn solvers_that_do_not_fit_the_graph_are_refused() {
    let refused = |name: &str, settings: &str| {
        build(&BACKEND, &file(name, &[]), settings).err().unwrap().to_string()
    };
    assert!(refused("net", "(dual: tree)").contains("without loops"));
    assert!(refused("net", "(dual: thomas)").contains("chains"));
    assert!(refused("net", "(dual: aba_printed)").contains("without loops"));
    assert!(refused("chain50-swing", "(dual: aba_printed)").contains("elastic bodies"));
}

#[test]
fn redundant_rows_change_nothing() {
    let scene = chain(6, 0.01);
    let mut doubled = scene.clone();
    for joint in scene.joints.iter().skip(1) {
        doubled.joints.push(joint.clone());
    }
    let plain = Run::new(&BACKEND, &scene, "()", 1).end(60);
    for dual in ["tree", "schur", "direct", "cg"] {
        let twice = Run::new(&BACKEND, &doubled, &format!("(dual: {dual})"), 1).end(60);
        let worst = farthest(&plain, &twice);
        assert!(worst < 1e-6, "{dual}: {worst:e}");
    }
}

/// Three bars between two fixed hinges with parallel axes, moving in their plane: three of the twenty rows
/// only repeat that they do.
const FOUR_BARS: &str = "(
    gravity: (0, 0, -9.81), dt: 0.01, steps: 100, contacts: false,
    bodies: [
        body(name: \"first\", shape: box(size: (0.1, 0.1, 1)), mass: 1, position: (0, 0, 0.5), velocity: (0.5, 0, 0), omega: (0, 1, 0)),
        body(name: \"coupler\", shape: box(size: (1, 0.1, 0.1)), mass: 1, position: (0.5, 0, 1), velocity: (1, 0, 0)),
        body(name: \"last\", shape: box(size: (0.1, 0.1, 1)), mass: 1, position: (1, 0, 0.5), velocity: (0.5, 0, 0), omega: (0, 1, 0)),
    ],
    joints: [
        hinge(a: \"world\", b: \"first\", at: (0, 0, 0), axis: (0, 1, 0)),
        hinge(a: \"first\", b: \"coupler\", at: (0, 0, 1), axis: (0, 1, 0)),
        hinge(a: \"coupler\", b: \"last\", at: (1, 0, 1), axis: (0, 1, 0)),
        hinge(a: \"last\", b: \"world\", at: (1, 0, 0), axis: (0, 1, 0)),
    ],
)";

#[test]
fn a_loop_of_hinges_holds_although_its_rows_are_redundant() {
    let scene = load_str(FOUR_BARS, "four-bars.ron", &[]).unwrap().scene;
    let ends: Vec<State> = ["auto", "direct", "cg"]
        .map(|dual| {
            let states = path(&scene, &format!("(dual: {dual})"), 100);
            for state in &states {
                let gap = gap(&scene, state);
                let stretch = metrics::stretch_max(&scene, state);
                assert!(gap < 1e-6 && stretch < 0.02, "{dual}: {gap:e} m, {stretch:e}");
                let aside = state.bodies.iter().map(|b| b.position.y.abs()).fold(0.0, f64::max);
                assert!(aside < 1e-9, "{dual}: {aside:e} m out of its plane");
            }
            states.last().unwrap().clone()
        })
        .into();
    let fallen = ends[0].bodies[1].position;
    assert!(fallen.z < 0.9, "it moves: {fallen}");
    for end in &ends[1..] {
        let off = (end.bodies[1].position - fallen).norm();
        // Each solver shares the load of redundant rows out in its own way.
        assert!(off < 1e-4, "{off:e} m");
    }
}

/// Greatest difference between one step of the elimination over bodies as printed and of the exact dual
/// solve, as a share of the greatest increment of velocity: a chain of five whose joints are turned by `bend`.
fn printed_departs(young: f64, bend: f64) -> f64 {
    let mut scene = chain(5, 0.01);
    for body in &mut scene.bodies {
        body.elasticity = Some(Elasticity { young, poisson: 0.3 });
    }
    let mut bent = scene.initial_state();
    let mut tip = Vec3::zeros();
    for (i, body) in bent.bodies.iter_mut().enumerate() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.0, bend * i as f64, 0.0));
        let half = turn * Vec3::new(0.5, 0.0, 0.0);
        *body = BodyState::rigid(tip + half, turn, Vec3::zeros(), Vec3::zeros());
        tip += half * 2.0;
    }
    let step = |dual: &str| {
        let settings = format!("(dual: {dual}, geometric: none, general: true)");
        let mut run = Run::new(&BACKEND, &scene, &settings, 1);
        run.load(&bent);
        let end = run.end(1);
        assert!(gap(&scene, &end) < 1e-9, "{dual} closes the joints");
        end
    };
    let (exact, printed) = (step("tree"), step("aba_printed"));
    let pairs = exact.bodies.iter().zip(&printed.bodies);
    let off = pairs.map(|(a, b)| (a.velocity - b.velocity).norm()).fold(0.0, f64::max);
    off / exact.bodies.iter().map(|b| b.velocity.norm()).fold(0.0, f64::max)
}

#[test]
fn the_elimination_over_bodies_as_printed_is_exact_for_stiff_unturned_chains_only() {
    let [stiff, soft, turned] =
        [(1e10, 0.0), (1e5, 0.0), (1e10, 0.1)].map(|(young, bend)| printed_departs(young, bend));
    assert!(stiff < 1e-6, "{stiff:e}");
    assert!(soft > 1e-3, "{soft:e}");
    // Links that take their children's frames for their own do not fall at all.
    assert!(turned > 0.9, "{turned:e}");
}

/// Every joint of the arm drives into a limit, and holds there whichever solver finds its multipliers.
#[test]
fn motors_stop_at_limits() {
    let scene = file("panda", &[]);
    let ends = ["tree", "direct"]
        .map(|dual| Run::new(&BACKEND, &scene, &format!("(dual: {dual})"), 1).end(200));
    assert!(farthest(&ends[0], &ends[1]) < 1e-3, "{:e}", farthest(&ends[0], &ends[1]));
    for body in &ends[0].bodies {
        assert!(body.velocity.norm() < 1e-2, "it has come to rest: {}", body.velocity);
    }
}
