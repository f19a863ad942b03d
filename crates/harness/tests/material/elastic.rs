//! Energies of points across methods: one definition in the core, and every method that takes it ends a
//! step where the reference does. Methods that do not take it say so.

use taut::backends;
use taut_core::{
    Quat, Scene, State, Vec3,
    energy::{Membrane, SheetEnergy, WeightedSum},
    scene::{Anchor, Body, ElasticPart, Endpoint, Particle},
};

use crate::begin;

/// Which backends have energies of points.
const TAKERS: [&str; 6] = ["avbd-cpu", "vbd-cpu", "xpbd-cpu", "mabd-cpu", "newton", "null"];

fn particle(mass: f64, position: Vec3) -> Particle {
    let velocity = if mass > 0.0 { Vec3::new(0.3, 1.0, -0.5) } else { Vec3::zeros() };
    Particle { name: String::new(), mass, position, velocity, touch: None }
}

fn triangle(corners: [Anchor; 3], rest: &[Vec3; 3]) -> ElasticPart<SheetEnergy, 3> {
    let membrane = Membrane::new(rest, 1e-3, 1e5, 0.3).expect("a triangle");
    ElasticPart { name: "panel".to_owned(), ends: corners, energy: membrane.into() }
}

fn earth(dt: f64) -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -9.81), dt, ..Scene::default() }
}

/// Particles or bodies with what holds the first one to the shares of the others, at [N/m].
fn tie(ends: [Anchor; 4], shares: [f64; 3], stiffness: f64) -> ElasticPart<WeightedSum<f64>, 4> {
    let energy = WeightedSum::tie(shares, stiffness).expect("shares of a positive sum");
    ElasticPart { name: "tie".to_owned(), ends, energy }
}

/// A sheet of two triangles, one square metre, hung by an edge, stretched and folded where it swings; one of them carries
/// a particle.
fn hung(dt: f64) -> Scene {
    let rest = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let shifts =
        [Vec3::zeros(), Vec3::zeros(), Vec3::new(0.1, 0.0, 0.1), Vec3::new(0.0, 0.1, -0.1)];
    let masses = [0.0, 0.0, 0.2, 0.1];
    let places = rest.iter().zip(shifts).map(|(rest, shift)| rest + shift);
    let mut particles: Vec<Particle> =
        masses.into_iter().zip(places).map(|(m, place)| particle(m, place)).collect();
    particles.push(particle(0.05, Vec3::new(0.8, 0.6, 0.05)));
    let at = |i: usize| Anchor::from(Endpoint::Particle(i));
    let panel = |three: [usize; 3]| triangle(three.map(at), &three.map(|i| rest[i]));
    let four = [1, 2, 0, 3];
    let bend = ElasticPart {
        name: "fold".to_owned(),
        ends: four.map(at),
        // As stiff as makes it count beside the weight.
        energy: WeightedSum::bending(&four.map(|i| rest[i]), 2.0).expect("it is flat").into(),
    };
    Scene {
        particles,
        triangles: vec![panel([0, 1, 2]), panel([1, 3, 2])],
        bends: vec![bend],
        ties: vec![tie([4, 1, 3, 2].map(at), [0.3, 0.5, 0.2], 40.0)],
        ..earth(dt)
    }
}

/// Where the box hangs, off its centre [m].
const CORNER: Vec3 = Vec3::new(0.25, 0.0, 0.1);

/// A box of 1 kg that a triangle held by its other corners carries, and that swings in their plane with a particle that
/// is held to the triangle.
fn box_on_a_triangle(dt: f64) -> Scene {
    let rest = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.5, 0.0, -1.0)];
    let mut body = Body::solid_box(Vec3::new(0.5, 0.4, 0.2), 25.0);
    body.rotation = Quat::from_scaled_axis(Vec3::new(0.0, 0.4, 0.0));
    body.position = rest[2] - body.rotation * CORNER;
    let mut corners = [0, 1, 0].map(|i| Anchor::from(Endpoint::Particle(i)));
    corners[2] = Anchor { end: Endpoint::Body(0), local: CORNER };
    let [a, b, c] = corners;
    let held = Particle { velocity: Vec3::zeros(), ..particle(0.2, Vec3::new(0.5, 0.0, -0.5)) };
    Scene {
        bodies: vec![body],
        particles: vec![particle(0.0, rest[0]), particle(0.0, rest[1]), held],
        triangles: vec![triangle(corners, &rest)],
        ties: vec![tie([Anchor::from(Endpoint::Particle(2)), a, b, c], [0.2, 0.3, 0.5], 30.0)],
        ..earth(dt)
    }
}

fn run(backend: &str, settings: &str, scene: &Scene, iterations: u32, steps: u32) -> State {
    begin(backend, settings, scene, iterations).end(steps)
}

/// Largest distance of a particle or body corner of one state from that of the other [m].
fn apart(a: &State, b: &State) -> f64 {
    let particles = a.particles.iter().zip(&b.particles);
    let particles = particles.map(|(a, b)| (a.position - b.position).norm());
    let bodies = a.bodies.iter().zip(&b.bodies);
    let bodies = bodies.map(|(a, b)| (a.point(&CORNER) - b.point(&CORNER)).norm());
    particles.chain(bodies).fold(0.0, f64::max)
}

const REFERENCE: &str = "(tolerance: 1e-12)";

#[test]
fn block_descent_swings_triangles_as_the_reference_does() {
    let scene = hung(1.0 / 60.0);
    let reference = run("newton", REFERENCE, &scene, 1, 60);
    assert!(apart(&reference, &scene.initial_state()) > 0.5, "it hardly moved");
    for backend in ["vbd-cpu", "avbd-cpu"] {
        let error = apart(&run(backend, "()", &scene, 400, 60), &reference);
        assert!(error < 1e-9, "{backend}: {error:e}");
    }
}

#[test]
fn block_descent_rests_a_body_on_a_triangle_as_the_reference_does() {
    // Long steps of implicit Euler end at rest, whatever the map of rotations.
    let scene = box_on_a_triangle(0.2);
    let reference = run("newton", REFERENCE, &scene, 1, 200);
    assert!(reference.bodies[0].velocity.norm() < 1e-9, "{reference:?}");
    for backend in ["vbd-cpu", "avbd-cpu"] {
        let error = apart(&run(backend, "()", &scene, 100, 200), &reference);
        assert!(error < 1e-9, "{backend}: {error:e}");
    }
}

#[test]
fn affine_bodies_swing_triangles_as_the_reference_does() {
    let scene = hung(1.0 / 60.0);
    let reference = run("newton", REFERENCE, &scene, 1, 60);
    let found = run("mabd-cpu", "(elastic_tolerance: 1e-13)", &scene, 400, 60);
    let error = apart(&found, &reference);
    assert!(error < 1e-9, "{error:e}");
}

/// It hangs by its weight over the stiffness below its place, which is between corners that are held.
#[test]
fn a_particle_hangs_below_its_place_in_a_triangle() {
    let rest = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
    let shares = [0.5, 0.3, 0.2];
    let place: Vec3 = rest.iter().zip(shares).map(|(corner, share)| corner * share).sum();
    let at = |i: usize| Anchor::from(Endpoint::Particle(i));
    let mut particles: Vec<Particle> = rest.iter().map(|&corner| particle(0.0, corner)).collect();
    particles.push(particle(0.5, place));
    let scene = Scene {
        particles,
        triangles: vec![triangle([0, 1, 2].map(at), &rest)],
        ties: vec![tie([3, 0, 1, 2].map(at), shares, 200.0)],
        ..earth(0.2)
    };
    let expected = place - Vec3::z() * (0.5 * 9.81 / 200.0);
    for backend in TAKERS.into_iter().filter(|&name| name != "null") {
        let end = run(backend, "()", &scene, 50, 200);
        let off = (end.particles[3].position - expected).norm();
        assert!(off < 1e-9, "{backend}: {off:e}");
    }
}

#[test]
fn position_based_dynamics_tends_to_the_reference_with_the_step() {
    // What a sweep has pushed keeps its direction, an error of the squared correction per step.
    let settings = "(mode: iterations)";
    for scene in [hung(1e-4), box_on_a_triangle(1e-4)] {
        let reference = run("newton", REFERENCE, &scene, 1, 100);
        let error = apart(&run("xpbd-cpu", settings, &scene, 50, 100), &reference);
        assert!(error < 1e-7, "{error:e}");
    }
}

#[test]
fn who_has_no_energies_of_points_refuses_with_the_witness() {
    let panels = hung(1.0 / 60.0);
    let folds = Scene { triangles: Vec::new(), ..panels.clone() };
    let ties = Scene { bends: Vec::new(), ..folds.clone() };
    for (scene, witness) in
        [(panels, "triangle `panel`"), (folds, "bend `fold`"), (ties, "tie `tie`")]
    {
        refuses_all_but_takers(&scene, witness);
    }
}

fn refuses_all_but_takers(scene: &Scene, witness: &str) {
    for backend in backends::table().iter() {
        let name = &*backend.info().name;
        let answer = backend.supports(scene);
        if TAKERS.contains(&name) {
            assert_eq!(answer, Ok(()), "{name}");
            continue;
        }
        let reason = answer.expect_err(name).0;
        // Who takes no particles has said enough.
        let particles = !backend.takes().covers(taut_core::Needs::PARTICLES);
        assert!(particles || reason.contains(witness), "{name}: {reason}");
    }
}
