//! Particles that touch bodies, across methods: what the closed forms say, and where the reference is.

use taut::backends;
use taut_collide::metrics::Probe;
use taut_core::{
    Needs, Quat, Scene, State, Vec3,
    energy::{Membrane, SheetEnergy},
    metrics,
    scene::{
        Anchor, Body, Contacts, ElasticPart, Endpoint, Joint, JointKind, Material, Particle, Shape,
        Skin,
    },
};
use taut_fixtures::on_threads;

use crate::begin;

/// Backends whose particles touch, with settings and iterations by which they are near the reference.
const TAKERS: [(&str, &str, u32); 5] = [
    ("newton", "()", 1),
    ("vbd-cpu", "()", 40),
    ("avbd-cpu", "()", 40),
    ("xpbd-cpu", "()", 20),
    ("mabd-cpu", "()", 20),
];

const G: f64 = 10.0;
const DT: f64 = 1.0 / 60.0;

/// A particle of a given friction, one millimetre thick.
fn dot(mass: f64, position: Vec3, friction: f64) -> Particle {
    let material =
        Material { friction_static: friction, friction_dynamic: friction, restitution: 0.0 };
    let touch = Some(Skin { radius: 1e-3, material, group: None });
    Particle { name: String::new(), mass, position, velocity: Vec3::zeros(), touch }
}

fn ground(shape: Shape, friction: f64) -> Body {
    let mut body = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
    body.shape = shape;
    (body.material.friction_static, body.material.friction_dynamic) = (friction, friction);
    body
}

fn scene(gravity: f64, bodies: Vec<Body>, particles: Vec<Particle>) -> Scene {
    Scene {
        gravity: Vec3::new(0.0, 0.0, -gravity),
        dt: DT,
        contacts: Some(Contacts::default()),
        bodies,
        particles,
        ..Scene::default()
    }
}

fn square_mesh() -> Shape {
    let corner = |x: f64, y: f64| Vec3::new(x, y, 0.0);
    let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    Shape::Mesh {
        vertices: corners.into(),
        triangles: [[0, 1, 2], [0, 2, 3]].into(),
        control: None,
    }
}

/// What a particle can rest on, with where it does.
fn supports() -> [(&'static str, Shape, Vec3); 5] {
    [
        ("half-space", Shape::HalfSpace, Vec3::new(0.3, 0.2, 0.0)),
        ("box", Shape::Box { half: Vec3::new(1.0, 1.0, 0.5) }, Vec3::new(0.3, 0.2, 0.5)),
        ("sphere", Shape::Sphere { radius: 0.5 }, Vec3::new(0.0, 0.0, 0.5)),
        ("mesh", square_mesh(), Vec3::new(0.3, 0.2, 0.0)),
        ("edge of a mesh", square_mesh(), Vec3::new(0.25, 0.25, 0.0)),
    ]
}

#[test]
fn a_particle_rests_where_the_reference_does_and_presses_with_its_weight() {
    for (what, shape, place) in supports() {
        let above = place + Vec3::z() * 0.003;
        let scene = scene(G, vec![ground(shape, 0.5)], vec![dot(2.0, above, 0.5)]);
        for (backend, settings, iterations) in TAKERS {
            let mut run = begin(backend, settings, &scene, iterations);
            let end = run.steps(240).particles[0];
            let off = (end.position - place - Vec3::z() * 1e-3).norm();
            assert!(off < 1e-3, "{backend} on a {what}: {off:e} m off");
            assert!(end.velocity.norm() < 1e-4, "{backend} on a {what}: {:?}", end.velocity);
            let forces = run.forces().contacts;
            assert!(forces.iter().all(|c| c.bodies == [0, 1]), "{backend} on a {what}");
            let force = -forces.iter().map(|c| c.force).sum::<Vec3>();
            let wrong = (force - Vec3::z() * 2.0 * G).norm();
            assert!(wrong < 1e-3 * 2.0 * G, "{backend} on a {what}: {force:?}");
        }
    }
}

/// A half-space that falls towards +x at `slope`, and a particle on it.
fn incline(slope: f64, friction: f64) -> (Scene, Vec3) {
    let angle = slope.atan();
    let turn = Quat::from_axis_angle(&Vec3::y_axis(), angle);
    let mut plane = ground(Shape::HalfSpace, friction);
    plane.rotation = turn;
    let start = turn * (Vec3::z() * 1e-3);
    (scene(G, vec![plane], vec![dot(2.0, start, friction)]), turn * Vec3::x())
}

#[test]
fn friction_holds_below_its_angle_and_slides_above() {
    let slope = 0.4_f64;
    let (sine, cosine) = (slope.atan().sin(), slope.atan().cos());
    for (backend, settings, iterations) in TAKERS {
        let (scene, down) = incline(slope, 0.44);
        let start = scene.particles[0].position;
        let mut run = begin(backend, settings, &scene, iterations);
        let slid = |state: &State| (state.particles[0].position - start).dot(&down);
        let (early, late) = (slid(run.steps(60)), slid(run.steps(60)));
        // Regularised friction creeps.
        assert!(late - early < 1e-2 && late.abs() < 0.02, "{backend} creeps {early:e}, {late:e} m");
        let (scene, _) = incline(slope, 0.3);
        let end = slid(begin(backend, settings, &scene, iterations).steps(60));
        let expected = 0.5 * G * (sine - 0.3 * cosine) * (1.0 + DT);
        assert!((end / expected - 1.0).abs() < 0.03, "{backend}: {end} of {expected} m");
    }
}

#[test]
fn a_particle_thrown_onto_a_moving_box_keeps_all_momentum() {
    let mut target = Body::solid_box(Vec3::new(1.0, 0.8, 0.6), 10.0);
    target.velocity = Vec3::new(-0.5, 0.0, 0.2);
    let mut thrown = dot(1.0, Vec3::new(-1.0, 0.2, 0.1), 0.5);
    thrown.velocity = Vec3::new(2.0, 0.3, 0.0);
    let scene = scene(0.0, vec![target], vec![thrown]);
    let momentum = |state: &State| metrics::momentum(&scene, state);
    for (backend, settings, iterations) in TAKERS {
        let start = momentum(&scene.initial_state());
        // A sweep of penalties moves one side at a time, and comes to rest slowly.
        let enough = if backend == "vbd-cpu" { 2000 } else { 4 * iterations };
        let mut run = begin(backend, settings, &scene, enough);
        let end = run.steps(60).clone();
        assert!(end.bodies[0].velocity.x > -0.3, "{backend}: it is not hit");
        let moved = momentum(&end);
        let linear = (moved.linear_kg_m_s - start.linear_kg_m_s).norm();
        let angular = (moved.angular_kg_m2_s - start.angular_kg_m2_s).norm();
        let exact = backend == "newton";
        assert!(linear < if exact { 1e-12 } else { 1e-5 }, "{backend}: linear {linear:e}");
        assert!(angular < if exact { 1e-8 } else { 1e-2 }, "{backend}: angular {angular:e}");
    }
}

/// A sheet of `n` by `n` particles over a middle of this height [m], `pitch` [m] apart.
fn sheet(n: usize, pitch: f64, height: f64) -> (Vec<Particle>, Vec<ElasticPart<SheetEnergy, 3>>) {
    let half = 0.5 * pitch * (n - 1) as f64;
    let place =
        |i: usize| Vec3::new((i / n) as f64 * pitch - half, (i % n) as f64 * pitch - half, height);
    let mut particles: Vec<Particle> = (0..n * n).map(|i| dot(0.01, place(i), 0.5)).collect();
    // Bodies alone are asked about here.
    particles.iter_mut().filter_map(|p| p.touch.as_mut()).for_each(|skin| skin.group = Some(1));
    let mut triangles = vec![];
    for cell in (0..n * n).filter(|i| i / n + 1 < n && i % n + 1 < n) {
        for three in [[cell, cell + n, cell + 1], [cell + n + 1, cell + 1, cell + n]] {
            triangles.push(ElasticPart {
                name: String::new(),
                ends: three.map(|i| Anchor::from(Endpoint::Particle(i))),
                energy: Membrane::new(&three.map(place), 1e-3, 1e5, 0.3)
                    .expect("a triangle")
                    .into(),
            });
        }
    }
    (particles, triangles)
}

/// A sheet that falls over a box and a ball, which are fixed.
fn draped(n: usize, pitch: f64) -> Scene {
    let stone = ground(Shape::Box { half: Vec3::new(0.15, 0.15, 0.1) }, 0.5);
    let ball = ground(Shape::Sphere { radius: 0.12 }, 0.5).at(Vec3::new(0.3, 0.1, 0.0));
    let (particles, triangles) = sheet(n, pitch, 0.15);
    Scene { triangles, ..scene(G, vec![stone, ball], particles) }
}

/// Depth of the deepest overlap of a state [m].
fn depth(scene: &Scene, state: &State) -> f64 {
    Probe::new(scene).measure(state).penetration_max_m
}

#[test]
fn a_sheet_falls_over_a_box_and_a_ball_and_stays_outside() {
    for (backend, settings, iterations) in TAKERS {
        let (n, pitch) = if backend == "newton" { (7, 0.1) } else { (13, 0.05) };
        let scene = draped(n, pitch);
        let alone = Scene { triangles: vec![], ..scene.clone() };
        let mut run = begin(backend, settings, &scene, iterations);
        let [mut corners, mut faces] = [0.0_f64; 2];
        for _ in 0..30 {
            let state = run.steps(2);
            (corners, faces) = (corners.max(depth(&alone, state)), depth(&scene, state));
        }
        // Penalties give way under the load: those of M-ABD by `g h^2 / 1000` for each particle that one carries, up to
        // a row and a column of them.
        let allowed = match backend {
            "vbd-cpu" => 5e-3,
            "mabd-cpu" => 26.0 * G * DT * DT * 1e-3,
            _ => 1e-5,
        };
        assert!(corners < allowed, "{backend}: {corners:e} m deep");
        // A triangle may lie across an edge of the box that its corners are beside.
        assert!(faces < 0.1 * pitch, "{backend}: {faces:e} m cut off");
        let highest = run.state.particles.iter().map(|p| p.position.z).fold(-1.0, f64::max);
        assert!(highest > 0.1, "{backend}: nothing carries it");
    }
}

/// A sheet of two triangles, a metre square and held at its corners, with a body `height` over its middle.
fn coarse(mut body: Body, height: f64, speed: f64) -> Scene {
    let (mut particles, triangles) = sheet(2, 1.0, 0.0);
    particles.iter_mut().for_each(|corner| corner.mass = 0.0);
    // Off the diagonal, on which the two meet.
    body.position = Vec3::new(0.1, 0.15, height);
    body.velocity.z = speed;
    Scene { triangles, ..scene(G, vec![body], particles) }
}

/// A cube that stands on a corner.
fn on_its_corner() -> Body {
    let mut cube = Body::solid_box(Vec3::repeat(0.2), 100.0);
    let tilt = Quat::rotation_between(&Vec3::repeat(-1.0), &-Vec3::z()).expect("not opposite");
    cube.rotation = tilt;
    cube
}

#[test]
fn a_body_dropped_on_the_middle_of_a_coarse_sheet_does_not_pass() {
    let mut ball = Body::solid_box(Vec3::repeat(0.2), 100.0);
    ball.shape = Shape::Sphere { radius: 0.1 };
    let mut rod = Body::solid_box(Vec3::new(0.1, 0.1, 0.5), 100.0);
    rod.shape = Shape::Capsule { radius: 0.05, half_length: 0.2 };
    rod.rotation = Quat::from_axis_angle(&Vec3::y_axis(), 1.2);
    // Longer than the sheet: only its edges can be held by those of the sheet.
    let mut beam = Body::solid_box(Vec3::new(0.1, 2.0, 0.1), 100.0);
    beam.rotation = Quat::from_axis_angle(&Vec3::y_axis(), std::f64::consts::FRAC_PI_4);
    let cube = Body::solid_box(Vec3::repeat(0.2), 100.0);
    let bodies =
        [("cube", cube), ("corner", on_its_corner()), ("ball", ball), ("rod", rod), ("beam", beam)];
    for (what, body) in bodies {
        for (backend, settings, iterations) in TAKERS {
            let scene = coarse(body.clone(), 0.4, -1.0);
            let mut run = begin(backend, settings, &scene, iterations);
            let mut lowest = f64::INFINITY;
            for _ in 0..60 {
                lowest = lowest.min(run.steps(1).bodies[0].position.z);
            }
            assert!(lowest < 0.25, "{backend}: the {what} has not landed, {lowest}");
            assert!(lowest > 0.04, "{backend}: the {what} sinks to {lowest} m");
        }
    }
}

#[test]
fn a_sheet_pushes_from_below_as_well() {
    for (backend, settings, iterations) in TAKERS {
        let mut scene = coarse(on_its_corner(), -0.4, 3.0);
        scene.gravity = Vec3::zeros();
        let mut run = begin(backend, settings, &scene, iterations);
        for _ in 0..30 {
            let highest = run.steps(1).bodies[0].position.z;
            assert!(highest < -0.09, "{backend}: it rises to {highest} m");
        }
    }
}

#[test]
fn a_cube_on_a_sheet_is_carried_by_it() {
    for (backend, settings, iterations) in TAKERS {
        let scene = coarse(Body::solid_box(Vec3::repeat(0.2), 100.0), 0.11, 0.0);
        let mut run = begin(backend, settings, &scene, iterations);
        run.steps(120);
        let depth = depth(&scene, &run.state);
        assert!(depth < 1e-3, "{backend}: {depth:e} m deep");
        let forces = run.forces().contacts;
        let lift: f64 = forces.iter().map(|c| c.force.z).sum();
        assert!((lift / 8.0 - 1.0).abs() < 0.01, "{backend}: {lift} N of 8 N");
        // What acts is shared among bodies and corners, and adds up to nothing.
        let rest: Vec3 = forces.iter().flat_map(|c| c.acting()).map(|(_, force)| force).sum();
        assert!(rest.norm() < 1e-12, "{backend}: {rest:?}");
    }
}

#[test]
fn threads_do_not_matter_and_scenes_repeat() {
    let scene = draped(40, 0.02);
    let on = |threads: usize, backend: &'static str| {
        on_threads(threads, || begin(backend, "()", &scene, 4).steps(12).hash())
    };
    for backend in ["vbd-cpu", "avbd-cpu", "xpbd-cpu", "mabd-cpu"] {
        let first = on(1, backend);
        assert_eq!(first, on(1, backend), "{backend} again");
        assert_eq!(first, on(2, backend), "{backend} on two threads");
    }
}

#[test]
fn groups_and_joints_keep_a_particle_from_touching() {
    let inside = Vec3::new(0.4, 0.0, 0.0);
    let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
    let mut grouped = scene(0.0, vec![cube.clone()], vec![dot(1.0, inside, 0.5)]);
    let free = grouped.clone();
    grouped.bodies[0].group = Some(1);
    grouped.particles[0].touch.as_mut().expect("it touches").group = Some(1);
    let mut joined = free.clone();
    let joint = Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Particle(0));
    joined.joints.push(joint.anchored(inside, Vec3::zeros()));
    for (backend, settings, iterations) in TAKERS {
        let moved = |scene: &Scene| {
            let end = begin(backend, settings, scene, iterations).steps(30).particles[0];
            (end.position - inside).norm()
        };
        assert!(moved(&grouped) < 1e-9, "{backend}: of one group");
        assert!(moved(&joined) < 1e-9, "{backend}: joined");
        assert!(moved(&free) > 0.01, "{backend}: it stays inside");
    }
}

#[test]
fn who_has_no_such_contacts_refuses_by_the_word() {
    let mut particle = dot(1.0, Vec3::z(), 0.5);
    "dust".clone_into(&mut particle.name);
    let scene = scene(G, vec![ground(Shape::HalfSpace, 0.5)], vec![particle]);
    for backend in backends::table().iter() {
        let name = &*backend.info().name;
        let takes = backend.takes().covers(Needs::TOUCHING_PARTICLES);
        let listed = name == "null" || TAKERS.iter().any(|(taker, ..)| *taker == name);
        assert_eq!(takes, listed, "{name}");
        let answer = backend.supports(&scene);
        assert_eq!(answer.is_ok(), takes, "{name}: {answer:?}");
        if backend.takes().covers(Needs::CONTACTS.with(Needs::PARTICLES)) && !takes {
            let words = answer.expect_err("refused").0;
            assert_eq!(words, "takes no particles that touch, such as particle `dust`", "{name}");
        }
    }
}
