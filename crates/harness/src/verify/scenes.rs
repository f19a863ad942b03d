//! Scenes of the suite: files of the project, embedded, and a few built here.

use taut_core::{
    Quat, Scene, Vec3, load,
    scene::{Body, Endpoint, Joint, JointKind, Motion, Spring, SpringKind},
};

/// Length of a frame in scenes built here [s].
pub(super) const DT: f64 = 1.0 / 60.0;
/// Gravity in scenes built here [m/s^2].
pub(super) const G: f64 = 10.0;

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every scene file of the suite.
        const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../scenes/", $name, ".ron")))),*];
    };
}

embedded!(
    "bar-pendulum",
    "drop",
    "free-fall",
    "friction-slide",
    "incline",
    "joint-zoo",
    "pyramid",
    "rod-pendulum",
    "rope",
    "shapes",
    "stack",
    "two-springs",
);

/// An embedded scene with some parameters replaced.
///
/// # Panics
/// When the file is not embedded or not valid: both are mistakes of this crate.
pub(super) fn embedded(name: &str, overrides: &[(&str, f64)]) -> Scene {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name).expect("an embedded scene");
    let overrides: Vec<_> = overrides.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    match load::load_str(text, name, &overrides) {
        Ok(loaded) => loaded.scene,
        Err(error) => panic!("embedded scene: {error}"),
    }
}

/// Nothing, under gravity along -z [m/s^2].
pub(super) fn empty(gravity: f64) -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -gravity), dt: DT, steps: 60, ..Scene::default() }
}

/// A cube of 1 m and 100 kg.
pub(super) fn cube() -> Body {
    Body::solid_box(Vec3::repeat(1.0), 100.0)
}

/// Two tumbling boxes on one ball joint, free of the world.
pub(super) fn free_pair() -> Scene {
    let mut scene = empty(0.0);
    for side in [-1.0, 1.0] {
        let mut body = Body::solid_box(Vec3::new(1.0, 0.6, 0.4), 100.0);
        body.position = Vec3::new(side, 0.0, 0.0);
        body.velocity = Vec3::new(0.0, side, 0.3);
        body.omega = Vec3::new(0.5, 0.0, 1.0);
        scene.bodies.push(body);
    }
    let reach = Vec3::new(1.0, 0.0, 0.0);
    let joint = Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1));
    scene.joints.push(joint.anchored(reach, -reach));
    scene
}

/// A hanging cube, held by a joint of the given kind at its centre that breaks above `force` [N].
pub(super) fn hanging(kind: JointKind, force: f64) -> Scene {
    let mut scene = empty(G);
    scene.bodies.push(cube());
    let mut joint = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
    joint.break_force = force;
    scene.joints.push(joint);
    scene
}

/// A joint that holds a body's centre at the origin of the world.
pub(super) fn held(kind: JointKind, body: usize) -> Joint {
    Joint::new(kind, Endpoint::World, Endpoint::Body(body))
}

/// A level bar of 1 m and 1 kg along x whose end at the origin a joint of any kind holds in the world.
pub(super) fn bar(kind: JointKind) -> Scene {
    let half = Vec3::new(0.5, 0.0, 0.0);
    let mut scene = empty(G);
    scene.bodies.push(Body::solid_box(Vec3::new(1.0, 0.2, 0.1), 50.0).at(half));
    scene.joints.push(held(kind, 0).anchored(Vec3::zeros(), -half));
    scene
}

/// The same on a hinge about y: positive angles lower its free end.
pub(super) fn hinged_bar(gravity: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -gravity), ..bar(JointKind::Hinge) };
    // A hinge turns about x of its basis.
    let basis = Quat::from_scaled_axis(Vec3::z() * std::f64::consts::FRAC_PI_2);
    (scene.joints[0].basis_a, scene.joints[0].basis_b) = (basis, basis);
    scene
}

/// Two unlike bodies, apart and turned against each other, with one joint that is far from closed.
pub(super) fn apart(kind: JointKind) -> Scene {
    let mut scene = empty(0.0);
    for i in [0.0, 1.0] {
        let mut body = Body::solid_box(Vec3::new(0.4, 0.6, 1.0 + i), 100.0);
        body.position = Vec3::new(0.9, 0.3, -0.5) * i;
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.8 * i, 0.2, 0.7 - i));
        scene.bodies.push(body);
    }
    let joint = Joint::new(kind, Endpoint::Body(0), Endpoint::Body(1));
    scene.joints.push(joint.anchored(Vec3::new(0.2, 0.4, 0.2), Vec3::new(-0.3, 0.1, 0.5)));
    scene
}

/// A carrier that moves and turns as prescribed.
pub(super) fn carrier() -> Scene {
    let mut scene = empty(G);
    let mut carrier = cube();
    (carrier.motion, carrier.mass, carrier.inertia) = (Motion::Kinematic, 0.0, Default::default());
    carrier.velocity = Vec3::new(0.5, 0.0, 0.25);
    carrier.omega = Vec3::new(0.0, 0.0, 1.0);
    carrier.rotation = Quat::from_scaled_axis(Vec3::new(0.2, 0.1, 0.0));
    scene.bodies.push(carrier);
    scene
}

/// The same, and a link that hangs on it.
pub(super) fn carried() -> Scene {
    let mut scene = carrier();
    scene.bodies.push(cube().at(Vec3::new(0.0, 0.0, -1.0)));
    let joint = Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1));
    let down = scene.bodies[0].rotation.inverse() * Vec3::new(0.0, 0.0, -0.5);
    scene.joints.push(joint.anchored(down, Vec3::new(0.0, 0.0, 0.5)));
    scene
}

/// A cube that hangs on a spring of 1 N/m per kg and is released 0.5 m below its rest, without gravity.
pub(super) fn oscillator() -> Scene {
    let mut scene = empty(0.0);
    scene.bodies.push(cube().at(Vec3::new(0.0, 0.0, -2.5)));
    let (anchor_a, anchor_b) = (Vec3::zeros(), Vec3::zeros());
    scene.springs.push(Spring {
        name: String::new(),
        kind: SpringKind::Linear { anchor_a, anchor_b, rest_length: 2.0 },
        a: Endpoint::World,
        b: Endpoint::Body(0),
        stiffness: scene.bodies[0].mass,
        damping: 0.0,
    });
    scene
}

/// A cube on a hinge and an angular spring about the same axis, turned by an angle [rad] and released.
pub(super) fn torsion(angle: f64) -> Scene {
    let mut scene = empty(0.0);
    let mut body = cube();
    body.rotation = Quat::from_scaled_axis(Vec3::new(angle, 0.0, 0.0));
    let stiffness = 4.0 * body.inertia.m11;
    scene.bodies.push(body);
    let (a, b) = (Endpoint::World, Endpoint::Body(0));
    scene.joints.push(Joint::new(JointKind::Hinge, a, b));
    let kind = SpringKind::Angular { basis_a: Quat::identity(), basis_b: Quat::identity() };
    scene.springs.push(Spring { name: String::new(), kind, a, b, stiffness, damping: 0.0 });
    scene
}

/// A level chain of `links` boxes of 1 m from the origin.
pub(super) fn chain(links: usize) -> Scene {
    chains(1, links)
}

/// Level chains of `links` boxes of 1 m each, side by side.
pub(super) fn chains(count: usize, links: usize) -> Scene {
    let mut scene = empty(G);
    let half = Vec3::new(0.5, 0.0, 0.0);
    for c in 0..count {
        let start = Vec3::new(0.0, c as f64, 0.0);
        for i in 0..links {
            let at = start + half * (2 * i + 1) as f64;
            scene.bodies.push(Body::solid_box(Vec3::new(1.0, 0.2, 0.2), 100.0).at(at));
            let b = scene.bodies.len() - 1;
            let (a, anchor) = match i {
                0 => (Endpoint::World, start),
                _ => (Endpoint::Body(b - 1), half),
            };
            let joint = Joint::new(JointKind::Ball, a, Endpoint::Body(b));
            scene.joints.push(joint.anchored(anchor, -half));
        }
    }
    scene
}

/// `scene` with all masses, and with them all forces, `factor` times as large.
pub(super) fn heavier(mut scene: Scene, factor: f64) -> Scene {
    for body in &mut scene.bodies {
        body.mass *= factor;
        body.inertia *= factor;
    }
    scene.particles.iter_mut().for_each(|particle| particle.mass *= factor);
    scene.springs.iter_mut().for_each(|spring| spring.stiffness *= factor);
    for joint in &mut scene.joints {
        joint.compliance_linear /= factor;
        joint.compliance_angular /= factor;
    }
    scene
}
