//! Equal bits for every number of threads.

use taut_core::{
    Scene, Vec3,
    energy::{Elasticity, FoldEnergy, Membrane, SolidEnergy, SolidModel, WeightedSum},
    scene::{
        Anchor, Body, Contacts, ElasticPart, Endpoint, Joint, JointKind, Limit, Motor, Particle,
        Tetrahedron,
    },
};
use taut_fixtures::{Run, empty, linear_spring, on_threads};
use taut_xpbd::BACKEND;

fn check(scene: &Scene, settings: &str, touching: usize) {
    let runs = [1, 2, 3].map(|threads| {
        on_threads(threads, || {
            let mut run = Run::new(&BACKEND, scene, settings, 4);
            assert!(run.steps(5).is_finite());
            let forces = run.forces();
            assert!(forces.contacts.len() >= touching, "{}", forces.contacts.len());
            (run.state.hash(), forces)
        })
    });
    assert!(runs[0] == runs[1] && runs[0] == runs[2], "{settings}");
}

/// A grid of bodies tied by ball joints along x and hinges and springs along y.
fn grid(side: usize) -> Scene {
    let mut scene = empty(9.81);
    for i in 0..side * side {
        let place = Vec3::new((i % side) as f64, (i / side) as f64, 0.0);
        let body = Body::solid_box(Vec3::new(0.8, 0.6, 0.1 + 0.01 * (i % 7) as f64), 500.0);
        let body = body.at(place);
        scene.bodies.push(if i == 0 { body.fixed() } else { body });
    }
    for i in 0..side * side {
        if i % side + 1 < side {
            let ball = Joint::new(JointKind::Ball, Endpoint::Body(i), Endpoint::Body(i + 1));
            scene.joints.push(ball.anchored(Vec3::x() * 0.5, Vec3::x() * -0.5));
        }
        if i + side < side * side {
            let (a, b) = (Endpoint::Body(i), Endpoint::Body(i + side));
            let mut hinge =
                Joint::new(JointKind::Hinge, a, b).anchored(Vec3::y() * 0.5, Vec3::y() * -0.5);
            hinge.compliance_linear = 1e-6;
            hinge.limit = Some(Limit { lower: -0.2, upper: 0.2 });
            hinge.motor = Some(Motor { speed: 1.0, max_effort: 1.0 });
            scene.joints.push(hinge);
            scene.springs.push(linear_spring(a, b, 0.9, 1e4));
        }
    }
    scene
}

#[test]
fn threads_do_not_change_a_bit() {
    let scene = grid(50);
    for settings in ["()", "(mode: iterations)", "(precision: f32)", "(order: creation)"] {
        check(&scene, settings, 0);
    }
}

/// Bricks laid loosely in a wide wall, more pairs of one colour than a thread takes at once.
fn bricks() -> Scene {
    let mut scene = Scene { contacts: Some(Contacts::default()), ..empty(9.81) };
    let floor = Body::solid_box(Vec3::new(2000.0, 100.0, 1.0), 1.0);
    scene.bodies.push(floor.fixed().at(Vec3::new(0.0, 0.0, -0.5)));
    for i in 0..1200 {
        let (column, row) = (i / 3, i % 3);
        let place = Vec3::new(1.02 * column as f64, 0.0, 0.26 + 0.51 * row as f64);
        let mut brick = Body::solid_box(Vec3::new(1.0, 0.5, 0.5), 100.0).at(place);
        brick.omega = Vec3::new(0.0, 0.1 * (i % 5) as f64, 0.0);
        scene.bodies.push(brick);
    }
    scene
}

#[test]
fn threads_do_not_change_a_bit_of_what_touches() {
    let scene = bricks();
    for settings in
        ["()", "(friction: published, mode: iterations)", "(precision: f32)", "(order: creation)"]
    {
        check(&scene, settings, 4001);
    }
}

/// Tetrahedra, triangles, folds and an edge of a body, each on particles of its own that are off their places.
fn separate_pieces() -> Scene {
    let mut scene = empty(9.81);
    scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 500.0));
    let material = Elasticity { young: 1e4, poisson: 0.3 };
    for k in 0..20_u8 {
        let size = 1.0 + 0.1 * f64::from(k);
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.9, 0.0], [0.3, -0.8, 0.0]];
        let mut rest = corners.map(|corner| Vec3::from(corner) * size);
        if k % 3 == 0 {
            rest[3] += Vec3::z() * size;
        }
        let first = scene.particles.len();
        for (i, corner) in (0..4).zip(rest) {
            let shift = Vec3::new(0.1, -0.2, 0.3) * f64::from(i % 3);
            scene.particles.push(Particle {
                name: String::new(),
                mass: 1.0 + size,
                position: corner + shift,
                velocity: Vec3::zeros(),
                touch: None,
            });
        }
        let (name, ends) = (String::new(), [0, 1, 2, 3].map(|i| Endpoint::Particle(first + i)));
        let [a, b, c, _] = ends;
        match k % 3 {
            0 => scene.tetrahedra.push(Tetrahedron {
                nodes: [0, 1, 2, 3].map(|i| first + i),
                energy: SolidEnergy::new(SolidModel::NeoHookean, &rest, material).unwrap(),
            }),
            1 => scene.triangles.push(ElasticPart {
                name,
                // One of them is on a body and goes alone.
                ends: [a, b, if k == 4 { Endpoint::Body(0) } else { c }].map(Anchor::from),
                energy: Membrane::new(&[rest[0], rest[1], rest[2]], 0.1, 1e4, 0.3).unwrap().into(),
            }),
            _ => scene.bends.push(ElasticPart {
                name,
                ends: ends.map(Anchor::from),
                energy: FoldEnergy::Quadratic(WeightedSum::bending(&rest, 100.0).unwrap()),
            }),
        }
    }
    scene
}

#[test]
fn energies_side_by_side_move_as_one_after_the_other() {
    let scene = separate_pieces();
    for precision in ["f32", "f64"] {
        let [together, alone] = ["coloured", "creation"].map(|order| {
            let settings = format!("(precision: {precision}, order: {order})");
            let mut run = Run::new(&BACKEND, &scene, &settings, 4);
            assert!(run.steps(5).is_finite());
            run.state.hash()
        });
        assert_eq!(together, alone, "{precision}");
    }
}
