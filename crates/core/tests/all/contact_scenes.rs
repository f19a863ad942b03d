//! The scenes with contact: sizes, places and thresholds are those of their sources.

use std::path::PathBuf;

use taut_core::{
    Scene, Vec3,
    load::{load_file, load_str},
    scene::{Endpoint, Motion, Shape},
};

fn load(name: &str, overrides: &[(&str, f64)]) -> Scene {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let overrides: Vec<(String, f64)> =
        overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = load_file(&folder.join(format!("{name}.ron")), &overrides);
    loaded.unwrap_or_else(|error| panic!("{error}")).scene
}

fn place(scene: &Scene, body: usize) -> [f64; 3] {
    scene.bodies[body].position.into()
}

fn near(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
    let apart = (Vec3::from(found) - Vec3::from(expected)).norm();
    assert!(apart < tolerance, "{found:?} instead of {expected:?}");
}

/// Bodies and joints.
fn counts(name: &str, overrides: &[(&str, f64)]) -> [usize; 2] {
    let scene = load(name, overrides);
    [scene.bodies.len(), scene.joints.len()]
}

/// The demo's ground has its centre at this height and is 100 x 100 x 1 m, body 0.
fn demo_ground(scene: &Scene, z: f64) {
    let ground = &scene.bodies[0];
    assert_eq!(ground.motion, Motion::Static);
    assert_eq!(ground.shape, Shape::Box { half: Vec3::new(50.0, 50.0, 0.5) });
    assert_eq!(ground.position, Vec3::new(0.0, 0.0, z));
    assert_eq!(ground.material.friction_static, 0.5);
    assert_eq!((scene.gravity.z, scene.dt, scene.steps), (-10.0, 1.0 / 60.0, 300));
}

#[test]
fn the_demo_scenes_are_those_of_the_demo() {
    let ground = load("ground", &[]);
    demo_ground(&ground, 0.0);
    assert_eq!((place(&ground, 1), ground.bodies[1].mass), ([0.0, 0.0, 4.0], 1.0));

    let stack = load("stack", &[]);
    demo_ground(&stack, 0.0);
    assert_eq!(stack.bodies.len(), 11);
    for i in 0..10 {
        assert_eq!(place(&stack, i + 1), [0.0, 0.0, 1.5 * i as f64 + 1.0]);
    }

    let ratio = load("stack-ratio", &[]);
    demo_ground(&ratio, 0.0);
    let masses: Vec<f64> = ratio.bodies[1..].iter().map(|body| body.mass).collect();
    assert_eq!(masses, [1.0, 8.0, 64.0, 512.0]);
    assert_eq!(place(&ratio, 4), [0.0, 0.0, 0.5 + 7.0 + 4.0]);

    let pyramid = load("pyramid", &[]);
    demo_ground(&pyramid, -0.5);
    assert_eq!(pyramid.bodies.len(), 137);
    let mut body = 1;
    for y in 0..16 {
        for x in 0..16 - y {
            let (x, y) = (f64::from(x), f64::from(y));
            near(place(&pyramid, body), [1.01 * x + 0.5 * y - 8.0, 0.0, 0.85 * y + 0.5], 1e-14);
            body += 1;
        }
    }

    let bridge = load("bridge", &[]);
    demo_ground(&bridge, 0.0);
    assert_eq!([bridge.bodies.len(), bridge.joints.len()], [91, 78]);
    assert_eq!(place(&bridge, 1), [-20.0, 0.0, 10.0]);
    assert!(!bridge.bodies[1].is_dynamic() && !bridge.bodies[40].is_dynamic());
    // Columns of five, x outermost.
    assert_eq!(place(&bridge, 41), [-5.0, 0.0, 12.0]);
    assert_eq!(place(&bridge, 45), [-5.0, 0.0, 16.0]);
    assert_eq!(place(&bridge, 90), [4.0, 0.0, 16.0]);
    assert_eq!(bridge.joints[0].anchor_a, Vec3::new(0.5, 2.0, 0.0));
    assert_eq!(bridge.joints[77].anchor_b, Vec3::new(-0.5, -2.0, 0.0));
    assert_eq!([bridge.joints[77].a, bridge.joints[77].b], [39, 40].map(Endpoint::Body));
}

#[test]
fn the_beam_of_the_demo_breaks_at_its_torque() {
    let scene = load("breakable", &[]);
    demo_ground(&scene, 0.0);
    assert_eq!([scene.bodies.len(), scene.joints.len()], [19, 10]);
    assert_eq!(place(&scene, 1), [-5.0, 0.0, 6.0]);
    assert_eq!(place(&scene, 12), [-5.0, 0.0, 2.5]);
    assert_eq!(place(&scene, 13), [5.0, 0.0, 2.5]);
    assert_eq!(place(&scene, 14), [0.0, 0.0, 8.0]);
    assert_eq!(place(&scene, 18), [0.0, 0.0, 16.0]);
    assert!(scene.joints.iter().all(|j| j.break_torque == 810.0 && j.break_force.is_infinite()));
}

#[test]
fn friction_scenes_are_those_of_the_demo_in_any_direction() {
    let scene = load("friction-slide", &[]);
    demo_ground(&scene, 0.0);
    // Of the pair with the ground, rounded as in the published table.
    let table = [1.581, 1.5, 1.414, 1.323, 1.225, 1.118, 1.0, 0.866, 0.707, 0.5, 0.0];
    for (i, expected) in table.into_iter().enumerate() {
        assert_eq!(place(&scene, i + 1), [0.0, 2.0 * i as f64 - 30.0, 0.75]);
        assert_eq!(scene.bodies[i + 1].velocity, Vec3::new(10.0, 0.0, 0.0));
        let pair = (0.5 * scene.bodies[i + 1].material.friction_static).sqrt();
        assert!((pair - expected).abs() < 6e-4, "{pair} instead of {expected}");
    }
    let across = load("friction-slide", &[("direction", 90.0)]);
    near(across.bodies[5].velocity.into(), [0.0, 10.0, 0.0], 1e-14);
    assert_eq!(place(&across, 5), place(&scene, 5));
    // The whole scene turned is the same scene.
    let turned = load("friction-slide", &[("yaw", 37.0), ("direction", 20.0)]);
    let turn = turned.bodies[0].rotation;
    let still = load("friction-slide", &[("direction", 20.0)]);
    for (a, b) in still.bodies.iter().zip(&turned.bodies) {
        near((turn * a.position).into(), b.position.into(), 1e-13);
        near((turn * a.velocity).into(), b.velocity.into(), 1e-13);
        assert!((turn * a.rotation).angle_to(&b.rotation) < 1e-7);
    }

    let ramp = load("friction-ramp", &[]);
    demo_ground(&ramp, 0.0);
    let (c, s) = (0.75_f64.sqrt(), 0.5);
    for i in 0..11 {
        let y = 2.0 * i as f64 - 10.0;
        near(place(&ramp, i + 2), [-12.0 * c + 1.05 * s, y, 3.0 + 12.0 * s + 1.05 * c], 1e-13);
        assert_eq!(ramp.bodies[i + 2].material.friction_static, 0.25 + 0.025 * i as f64);
    }
}

#[test]
fn the_block_lies_flush_on_the_incline() {
    for angle in [0.0, 20.0, 30.0] {
        for direction in [0.0, 45.0] {
            let scene = load("incline", &[("angle", angle), ("direction", direction)]);
            let [slope, block] = [&scene.bodies[0], &scene.bodies[1]];
            let normal = slope.rotation * Vec3::z();
            assert!((normal.dot(&block.position) - 0.75).abs() < 1e-15);
            assert!((block.rotation * Vec3::z() - normal).norm() < 1e-15);
            assert!((normal.z - f64::to_radians(angle).cos()).abs() < 1e-15);
        }
    }
}

#[test]
fn stacks_and_pyramids_can_be_laid_at_rest() {
    let stack = load("stack", &[("n", 20.0), ("gap", 0.0), ("yaw", 37.0)]);
    assert_eq!(stack.bodies.len(), 21);
    for (i, body) in stack.bodies[1..].iter().enumerate() {
        assert_eq!(body.position, Vec3::new(0.0, 0.0, i as f64 + 1.0));
    }
    let pyramid = load("pyramid", &[("n", 32.0), ("gap", 0.0)]);
    assert_eq!(pyramid.bodies.len(), 1 + 32 * 33 / 2);
    assert_eq!(place(&pyramid, 1), [-16.0, 0.0, 0.25]);
    assert_eq!(place(&pyramid, 32 * 33 / 2)[2], 0.25 + 0.5 * 31.0);
    let ratio = load("stack-ratio", &[("n", 6.0)]);
    assert_eq!((place(&ratio, 6)[2], ratio.bodies[6].mass), (47.5, 32768.0));
    let top = load("heavy-top", &[]);
    assert_eq!((place(&top, 11), top.bodies[11].mass), ([0.0, 0.0, 11.5], 1000.0));
    let large = load("pyramid44", &[]);
    assert_eq!(large.bodies.len(), 991);
    assert_eq!(place(&large, 990)[2], 43.5);
    near(place(&large, 990), [0.0, 0.0, 43.5], 1e-12);
}

#[test]
fn the_large_scenes_have_the_sizes_of_their_figures() {
    assert_eq!(counts("ring", &[("balls", 0.0)]), [521, 0]);
    let sized = |radius, courses, tier, rows| {
        let set = [("radius", radius), ("courses", courses), ("tier", tier), ("rows", rows)];
        load("ring", &set).bodies.len() - 2
    };
    assert_eq!(sized(12.0, 20.0, 2.0, 10.0), 9_130);
    assert_eq!(sized(40.0, 20.0, 2.0, 10.0), 28_112);
    assert_eq!(sized(80.0, 40.0, 4.0, 10.0), 110_440);
    assert_eq!(counts("gables", &[("balls", 0.0)]), [3_721, 0]);
    assert_eq!(counts("columns", &[("n", 22.0)]), [4_841, 0]);
    assert_eq!(counts("pile", &[]), [1_015, 0]);
    assert_eq!(counts("pile", &[("n", 32.0)]), [16_385, 0]);
    assert_eq!(counts("card-tower", &[("balls", 0.0)]), [41, 0]);
    assert_eq!(counts("chain-mail", &[]), [762, 0]);
    assert_eq!(counts("chain-mail-plates", &[]), [402, 760]);
    assert_eq!(counts("jointed-drop", &[]), [345, 684]);
    let full = [("n", 64.0), ("blocks", 600.0), ("side", 8.0), ("cloth", 100.0)];
    assert_eq!(counts("jointed-drop", &full), [34_097, 71_064]);
    assert_eq!(counts("wall", &[]), [604, 1_180]);
    assert_eq!(counts("two-heavy-balls-beam", &[]), [54, 51]);
}

#[test]
fn the_wall_is_welded_to_the_ground_and_to_itself() {
    let scene = load("wall", &[]);
    let (to_ground, inside): (Vec<_>, Vec<_>) =
        scene.joints.iter().partition(|joint| joint.a == Endpoint::Body(0));
    assert_eq!((to_ground.len(), inside.len()), (30, 1_150));
    assert!(inside.iter().all(|joint| joint.break_torque == 300.0));
    assert!(to_ground.iter().all(|joint| joint.break_torque.is_infinite()));
    let balls: Vec<[f64; 3]> = (601..604).map(|i| place(&scene, i)).collect();
    assert_eq!(balls, [[-9.4, -12.0, 6.3], [0.0, -12.0, 6.3], [9.4, -12.0, 6.3]]);
}

#[test]
fn the_pile_is_random_and_always_the_same() {
    let [one, two, other] = [0.0, 0.0, 7.0].map(|seed| load("pile", &[("seed", seed)]));
    assert_eq!(one, two);
    assert_ne!(one, other);
    let sides: Vec<f64> = one.bodies[1..]
        .iter()
        .flat_map(|body| match body.shape {
            Shape::Box { half } => [2.0 * half.x, 2.0 * half.y, 2.0 * half.z],
            _ => panic!("a pile of boxes"),
        })
        .collect();
    assert!(sides.iter().all(|side| (0.5..1.2).contains(side)));
    let mean = sides.iter().sum::<f64>() / sides.len() as f64;
    // Four standard deviations of the mean of 3042 even numbers.
    assert!((mean - 0.85).abs() < 4.0 * 0.7 / (12.0 * 3042.0_f64).sqrt(), "{mean}");
    // An evenly distributed rotation takes z to any height alike.
    let heights: f64 = one.bodies[1..].iter().map(|b| (b.rotation * Vec3::z()).z).sum();
    assert!((heights / 1014.0).abs() < 4.0 / (3.0 * 1014.0_f64).sqrt(), "{heights}");
}

#[test]
fn the_ball_reaches_the_cards_when_it_should() {
    let scene = load("card-tower", &[]);
    let ball = scene.bodies.last().unwrap();
    let reach = |body: &taut_core::scene::Body| {
        body.position.x - body.shape.support(&(body.rotation.inverse() * -Vec3::x()))
    };
    let tower = scene.bodies[1..41].iter().map(reach).fold(f64::INFINITY, f64::min);
    let way = tower - (ball.position.x + 0.05);
    assert!((way / ball.velocity.x - 5.0).abs() < 1e-12);
}

#[test]
fn contact_fields_are_read() {
    let text = "(contacts: (margin: \"1/100\", points_max: 3), bodies: [
        body(name: \"plane\", shape: half_space, motion: static, friction: (0.6, \"0.4\"), position: (0, 0, 1)),
        body(name: \"hill\", shape: mesh(
            vertices: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, \"2*1\")], triangles: [(0, 1, 2), (0, \"1+2\", 1)],
        ), motion: kinematic, velocity: (0, 0, 1)),
        body(shape: sphere(radius: 1), mass: 1, restitution: 0.5, group: 3),
    ])";
    let scene = load_str(text, "test", &[]).unwrap().scene;
    let contacts = scene.contacts.unwrap();
    assert_eq!((contacts.margin, contacts.points_max), (0.01, 3));
    let [plane, hill, ball] = &scene.bodies[..] else { panic!("three bodies") };
    assert_eq!(plane.shape, Shape::HalfSpace);
    let material = plane.material;
    assert_eq!([material.friction_static, material.friction_dynamic], [0.6, 0.4]);
    // A surface stays where it was written: it has no centre of mass to be moved to.
    assert_eq!((plane.position.z, hill.position, hill.mass), (1.0, Vec3::zeros(), 0.0));
    let Shape::Mesh { vertices, triangles, .. } = &hill.shape else { panic!("a mesh") };
    assert_eq!((vertices[3].z, &triangles[..]), (2.0, &[[0, 1, 2], [0, 3, 1]][..]));
    assert_eq!((ball.material.restitution, ball.group), (0.5, Some(3)));
    let plain = load_str("(bodies: [body(shape: sphere(radius: 1), mass: 1)])", "test", &[]);
    let contacts = plain.unwrap().scene.contacts.unwrap();
    assert_eq!((contacts.margin, contacts.points_max), (0.01, 4));
}
