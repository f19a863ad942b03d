//! Cloth and solids against closed forms: the reference first, and every method that takes them after it.
//!
//! Linear elements are stiffer than what they stand for, by a factor of the mesh that other programs find
//! alike; tests of bending ask for that factor, so that a solver is neither blamed nor excused by its mesh.

use taut_core::{
    Scene, State, Vec3,
    load::load_str,
    metrics::{self, material_strain},
};

use crate::begin;

fn load(text: &str) -> Scene {
    load_str(&format!("(contacts: false, {text})"), "solids.ron", &[])
        .unwrap_or_else(|error| panic!("{error}"))
        .scene
}

/// The equilibrium, by steps of `dt` [s] that are long beside the slowest period, so that what is left of the
/// motion falls by that ratio in each.
fn at_rest(scene: &Scene, dt: f64) -> State {
    // By how much an unbalanced force would move a free node in such a step, far more than it moves this one.
    let settings = "(tolerance: 1e-8, max_newton: 100)";
    let speed = |s: &State| s.particles.iter().map(|p| p.velocity.norm()).fold(0.0, f64::max);
    let mut run = begin("newton", settings, scene, 1);
    run.step.dt = dt;
    let mut fastest = 0.0_f64;
    for _ in 0..60 {
        // A step that goes on from the last one's forecasts may be led to another equilibrium.
        let state = run.step().clone();
        run.load(&state);
        fastest = fastest.max(speed(&state));
        if speed(&state) <= 1e-7 * fastest {
            return run.end(1);
        }
    }
    panic!("it still moves by {} m/s of {fastest}", speed(&run.state));
}

fn node(scene: &Scene, name: &str) -> usize {
    scene.particles.iter().position(|particle| particle.name == name).expect(name)
}

#[test]
fn a_boundary_moved_affinely_moves_all_within_it_alike() {
    let map = taut_core::Mat3::new(1.1, 0.2, -0.1, 0.05, 0.9, 0.15, -0.05, 0.1, 1.2);
    for split in ["five", "six"] {
        for model in ["neo_hookean", "neo_hookean_log", "stvk", "corotated"] {
            let mut scene = load(&format!(
                "gravity: (0, 0, 0), particles: [solid(name: \"b\", shape: lattice(size: (1, 1, 1), counts: (3, 3, 3)),
                    split: {split}, density: 1000, elastic: (model: {model}, young: 1e6, poisson: 0.3))]"
            ));
            let rest: Vec<Vec3> = scene.particles.iter().map(|p| p.position).collect();
            for (k, particle) in scene.particles.iter_mut().enumerate() {
                let outer = particle.position.amax() > 0.49;
                let noise = |a: f64| 0.03 * (a * (k as f64 + 1.0)).sin();
                particle.position = map * particle.position;
                if outer {
                    particle.mass = 0.0;
                } else {
                    particle.position += Vec3::new(noise(12.9), noise(78.2), noise(37.7));
                }
            }
            let state = at_rest(&scene, 50.0);
            for (found, rest) in state.particles.iter().zip(rest) {
                let off = (found.position - map * rest).norm();
                assert!(off < 1e-10, "{split} {model}: {off:e}");
            }
        }
    }
}

#[test]
fn a_bar_hangs_as_long_as_its_weight_pulls_it() {
    // Without lateral contraction, rho g L^2 / (2 E) to first order in the load.
    let stretch = |model: &str, young: f64| {
        let scene = load(&format!(
            "gravity: (0, 0, -10), particles: [solid(name: \"b\", shape: lattice(size: (0.2, 0.2, 1), counts: (2, 2, 10)),
                density: 1000, held: [last_z], elastic: (model: {model}, young: {young}, poisson: 0))]"
        ));
        let state = at_rest(&scene, 0.05);
        let foot = node(&scene, "b[1,1,0]");
        scene.particles[foot].position.z - state.particles[foot].position.z
    };
    for model in ["stvk", "corotated", "neo_hookean", "neo_hookean_log"] {
        let [soft, stiff] =
            [1e6, 2e6].map(|young| stretch(model, young) / (1000.0 * 10.0 / (2.0 * young)));
        assert!((soft - 1.0).abs() < 0.01, "{model}: {soft}");
        // What is left is of second order and halves with the load, but for a thousandth of the mesh.
        assert!((2.0 * stiff - soft - 1.0).abs() < 0.002, "{model}: {soft} {stiff}");
    }
}

/// Deflection of a cantilever's end over that of Timoshenko's beam.
fn cantilever(n: u32, split: &str, poisson: f64) -> f64 {
    // A load under which the tip sinks by 1e-4 of the length: linear theory.
    let (sag, height) = (1e-4, 0.1);
    let young = 1.5 * 1000.0 * 10.0 / (height * height * sag);
    let scene = load(&format!(
        "gravity: (0, 0, -10), particles: [solid(name: \"b\", shape: lattice(size: (1, {height}, {height}),
            counts: ({}, {n}, {n})), split: {split}, density: 1000, held: [first_x],
            elastic: (model: stvk, young: {young}, poisson: {poisson}))]",
        10 * n
    ));
    let state = at_rest(&scene, 0.05);
    let end = scene.particles.iter().zip(&state.particles).filter(|(p, _)| p.position.x > 0.4999);
    let sunk: Vec<f64> = end.map(|(p, s)| p.position.z - s.position.z).collect();
    let mean = sunk.iter().sum::<f64>() / sunk.len() as f64;
    let shear_share = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    let shear = young / (2.0 * (1.0 + poisson));
    let shearing = 1000.0 * 10.0 * 0.5 / (shear_share * shear);
    mean / (sag + shearing)
}

#[test]
fn a_cantilever_sinks_as_far_as_its_mesh_lets_it() {
    // Static linear elasticity on lattices of 10 n x n x n cells.
    for (split, poisson, factors) in [
        ("five", 0.0, [0.324, 0.642]),
        ("five", 0.3, [0.352, 0.671]),
        ("five", 0.45, [0.3184, 0.624]),
        ("six", 0.0, [0.245, 0.550]),
        ("six", 0.3, [0.221, 0.504]),
        ("six", 0.45, [0.111, 0.298]),
    ] {
        let found = [1, 2].map(|n| cantilever(n, split, poisson));
        for (found, factor) in found.iter().zip(factors) {
            assert!((found / factor - 1.0).abs() < 0.01, "{split} {poisson}: {found} {factor}");
        }
    }
}

#[test]
fn a_bar_rings_at_its_frequency_and_loses_what_implicit_steps_take() {
    // Fixed-free, omega = pi/(2 L) sqrt(E / rho); a step turns the phase by atan(omega h) and shrinks the
    // amplitude by (1 + omega^2 h^2)^(-1/2).
    let (young, density, n) = (1e6_f64, 1000.0, 20);
    let mut scene = load(&format!(
        "gravity: (0, 0, 0), particles: [solid(name: \"b\", shape: lattice(size: (1, 0.1, 0.1), counts: ({n}, 1, 1)),
            density: {density}, held: [first_x], elastic: (model: stvk, young: {young}, poisson: 0))]"
    ));
    let quarter = std::f64::consts::FRAC_PI_2;
    let omega = quarter * (young / density).sqrt();
    let amplitude = 1e-6;
    for particle in &mut scene.particles {
        particle.position.x += amplitude * (quarter * (particle.position.x + 0.5)).sin();
    }
    // A phase of atan(omega h) in each of 50 steps, 2.5 periods.
    let h = (0.1 * std::f64::consts::PI).tan() / omega;
    scene.dt = h;
    let tip = node(&scene, &format!("b[{n},0,0]"));
    let shrink = 1.0 / (1.0 + (omega * h).powi(2)).sqrt();
    let turn = (omega * h).atan();
    let mut worst: f64 = 0.0;
    let path = begin("newton", "(tolerance: 1e-14)", &scene, 1).path(50);
    for (k, state) in (0..).zip(&path).skip(1) {
        let found = (state.particles[tip].position.x - 0.5) / amplitude;
        // Implicit Euler from rest: Re((1 - i omega h)^-k).
        let expected = shrink.powi(k) * (turn * f64::from(k)).cos();
        worst = worst.max((found - expected).abs() / shrink.powi(k));
    }
    assert!(worst < 0.03, "{worst}");
}

#[test]
fn a_strip_of_cloth_hangs_in_a_catenary() {
    // Of length 1.2 between points 1 apart: sinh(1/(2a))*2a = 1.2 gives a = 0.46954 and a sag of 0.29234.
    let mut sags = vec![];
    for n in [10, 20] {
        let scene = load(&format!(
            "gravity: (0, 0, -10), particles: [cloth(name: \"s\", counts: ({}, 2), start: (0, 0, 0),
                along: ({}, 0, 0), across: (0, 0.05, 0), density: 200, thickness: 1e-3,
                membrane: (young: 1e9, poisson: 0), held: [first_x, last_x])]",
            n + 1,
            1.2 / f64::from(n)
        ));
        let mut scene = scene;
        // Brought together, sagging somewhere near.
        for particle in &mut scene.particles {
            let s = particle.position.x / 1.2;
            particle.position.x = s;
            particle.position.z = -0.28 * (1.0 - (2.0 * s - 1.0).powi(2));
        }
        let state = at_rest(&scene, 3.0);
        let lowest = state.particles.iter().map(|p| -p.position.z).fold(0.0, f64::max);
        sags.push(lowest / 0.29234);
    }
    // Of second order in the length of a cell.
    let errors = [sags[0] - 1.0, sags[1] - 1.0];
    assert!(errors[1].abs() < 0.005 && (errors[0] / errors[1] - 4.0).abs() < 0.5, "{sags:?}");
}

/// Deflection of the middle of a clamped plate's free edge over `q L^4 / (8 D)`, on cells whose triangles have
/// equal sides. The plate is so wide that its middle bends to a cylinder: the model curls a free strip up as a
/// plate of Poisson's ratio -1/3 does.
fn plate(n: u32) -> f64 {
    let pitch = 1.0 / f64::from(n);
    let across = pitch * 0.75_f64.sqrt();
    let rows = 4 * n + 1;
    let (weight, sag) = (200.0 * 1e-3 * 10.0, 1e-3);
    let rigidity = weight / (8.0 * sag);
    // The first two columns are the clamp, and odd rows lie half a cell further.
    let scene = load(&format!(
        "gravity: (0, 0, -10), particles: [cloth(name: \"s\", counts: ({}, {rows}), start: (-{pitch}, 0, 0),
            along: ({pitch}, 0, 0), across: (0, {across}, 0), pattern: equilateral, density: 200, thickness: 1e-3,
            membrane: (young: 1e8, poisson: 0), bending: (rigidity: {rigidity}),
            held: [inside(box(centre: (-{pitch}, 0, 0), size: ({}, 100, 100)))])]",
        n + 2,
        3.02 * pitch
    ));
    let state = at_rest(&scene, 1.0);
    let end = node(&scene, &format!("s[{},{}]", n + 1, rows / 4 * 2 + 1));
    // Odd rows are held to half a cell and end there.
    -state.particles[end].position.z / sag
}

#[test]
fn a_strip_bends_under_its_weight_as_a_plate() {
    let found = [6, 12].map(plate);
    // The rim has no edges to fold, an error of first order in the pitch.
    assert!((2.0 * found[1] - found[0] - 1.0).abs() < 0.02 && found[1] < found[0], "{found:?}");
}

/// Where a node of this number and place at rest starts.
type Placing = dyn Fn(usize, Vec3) -> Vec3;

/// A cube of 4 x 4 x 4 cells in some state, its shape at rest in the energies.
fn cube(model: &str, viscosity: f64, place: impl Fn(usize, Vec3) -> Vec3) -> (Scene, Vec<Vec3>) {
    let mut scene = load(&format!(
        "gravity: (0, 0, 0), dt: \"1/60\", particles: [solid(name: \"b\", shape: lattice(size: (1, 1, 1), counts: (4, 4, 4)),
            density: 1000, elastic: (model: {model}, young: 1e5, poisson: 0.3), damping: {viscosity})]"
    ));
    let rest = scene.particles.iter().map(|p| p.position).collect();
    for (k, particle) in scene.particles.iter_mut().enumerate() {
        particle.position = place(k, particle.position);
    }
    (scene, rest)
}

/// Largest error of the distance of any two nodes [m].
fn shape_error(state: &State, rest: &[Vec3]) -> f64 {
    let mut worst = 0.0_f64;
    for (a, x) in state.particles.iter().zip(rest) {
        for (b, y) in state.particles.iter().zip(rest) {
            worst = worst.max(((a.position - b.position).norm() - (x - y).norm()).abs());
        }
    }
    worst
}

fn noise(k: usize) -> Vec3 {
    let one = |a: f64| (a * (k as f64 + 1.0)).sin() * 43758.5453;
    Vec3::new(one(12.9), one(78.2), one(37.7)).map(|x| 2.0 * (x - x.floor()) - 1.0)
}

#[test]
fn a_cube_recovers_from_being_flat_or_inside_out() {
    let flat = |k: usize, x: Vec3| Vec3::new(x.x, x.y, 0.0) + noise(k) * 1e-3;
    let far = |_: usize, x: Vec3| if x.min() > 0.49 { Vec3::repeat(-1.0) } else { x };
    let mirrored = |k: usize, x: Vec3| Vec3::new(x.x, x.y, -x.z) + noise(k) * 1e-3;
    let random = |k: usize, _: Vec3| noise(k) * 0.5;
    let starts: [(&str, &Placing); 4] =
        [("flat", &flat), ("far", &far), ("mirrored", &mirrored), ("random", &random)];
    const VISCOSITY: f64 = 200.0;
    // The form with the logarithm recovers, too; from one start is enough.
    let logarithmic = ("neo_hookean_log", starts[1]);
    let all = starts.map(|start| ("neo_hookean", start)).into_iter().chain([logarithmic]);
    for (model, (what, place)) in all {
        let (scene, rest) = cube(model, VISCOSITY, place);
        let mut run = begin("vbd-cpu", "()", &scene, 40);
        // Implicit Euler makes a spin of what is so far from rest, and spin strains.
        for _ in 0..4 {
            let mut state = run.steps(50).clone();
            state.particles.iter_mut().for_each(|particle| particle.velocity = Vec3::zeros());
            run.load(&state);
        }
        let state = run.state;
        let (error, strain) =
            (shape_error(&state, &rest), material_strain(&scene, &state).unwrap());
        assert!(strain.inverted == 0 && error < 1e-6, "{model} {what}: {error:e} {strain:?}");
    }
    // Nothing in a Green's strain tells a mirrored solid from one that is not.
    let (scene, _) = cube("stvk", VISCOSITY, mirrored);
    let strain = material_strain(&scene, &begin("vbd-cpu", "()", &scene, 40).end(100)).unwrap();
    assert_eq!(strain.inverted, scene.tetrahedra.len());
}

#[test]
fn vertex_block_descent_never_raises_its_objective() {
    // One corner of neo-Hookean material has an exact minimum, also where the cube is crumpled.
    for (roughness, dt) in [(0.02, 1.0 / 30.0), (0.3, 1.0 / 30.0), (0.3, 1.0)] {
        let (mut scene, _) = cube("neo_hookean", 0.0, |k, x| x + noise(k) * roughness);
        scene.gravity = Vec3::new(0.0, 0.0, -10.0);
        scene.dt = dt;
        let before = scene.initial_state();
        let mut last = f64::INFINITY;
        for iterations in 1..20 {
            let state = begin("vbd-cpu", "()", &scene, iterations).end(1);
            let now = metrics::objective_j(&scene, &before, &state, dt).unwrap();
            assert!(now <= last + 1e-9 * last.abs(), "{iterations} iterations: {now} after {last}");
            last = now;
        }
    }
}
