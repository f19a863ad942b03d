//! Contacts: that they hold and let go as Newton says, and that the promises of the interface are kept
//! with them.

use taut_core::{
    Quat, Scene, State, Vec3, metrics,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Material, Particle, Shape, Skin},
};

use super::{
    Property, contract,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property {
        name: "equal_runs",
        scene: "pyramid",
        test: |s| contract::equal_runs(s, &pyramid(4), PLAN),
    },
    Property {
        name: "reads_are_neutral",
        scene: "pyramid",
        test: |s| contract::neutral_reads(s, &pyramid(4), PLAN),
    },
    Property {
        name: "load_resets",
        scene: "pyramid",
        test: |s| contract::load_resets(s, &pyramid(4), PLAN),
    },
    Property {
        name: "last_reads_are_ends",
        scene: "pyramid",
        test: |s| contract::last_reads(s, &pyramid(4), PLAN),
    },
    Property {
        name: "threads_do_not_matter",
        scene: "pyramid",
        test: |s| contract::threads(s, &pyramid(12), Plan::new(12, 4)),
    },
    Property { name: "comes_to_rest", scene: "drop", test: comes_to_rest },
    Property { name: "every_shape_rests", scene: "shapes", test: every_shape_rests },
    Property { name: "restitution", scene: "drop", test: restitution },
    Property { name: "bounces_level", scene: "drop", test: bounces_level },
    Property { name: "momentum_of_a_collision", scene: "colliding-pair", test: collision },
    Property { name: "pressure_carries_the_weight", scene: "stack", test: weight },
    Property { name: "a_stack_stands", scene: "stack", test: stack_stands },
    Property { name: "a_pyramid_settles", scene: "pyramid", test: pyramid_settles },
    Property { name: "some_pairs_do_not_touch", scene: "overlapping-pair", test: filters },
    Property { name: "particles_rest_and_slide", scene: "particles-on-ramp", test: particles },
];

/// Long enough for the dropped pyramid to land: it falls 0.07 m in 0.12 s.
const PLAN: Plan = Plan { frames: 24, substeps: 1, iterations: 5 };

/// Bricks in `n` rows, a little apart, so that all of them land.
fn pyramid(n: u32) -> Scene {
    embedded("pyramid", &[("n", f64::from(n)), ("gap", 0.1)])
}

/// A cube falls a metre as if free, is stopped by the plane and stays.
fn comes_to_rest(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("drop", &[("height", 1.0)]);
    let path = subject.path(&scene, Plan::new(180, 10))?;
    let (g, h) = (scene.gravity.norm(), scene.dt);
    let landing = (2.0_f64 / g).sqrt();
    for (frame, state) in path.iter().enumerate() {
        let (t, z) = (frame as f64 * h, state.bodies[1].position.z - 0.5);
        if t < landing - 2.0 * h {
            // Of first order in time.
            let off = (z - 1.0 + 0.5 * g * t * t).abs();
            ensure(off < 0.51 * g * t * h + 1e-3, || {
                format!("{off:.2e} m off a free fall at {t:.2} s")
            })?;
        }
        // Who does not look ahead finds the ground a frame's way too late.
        let deepest = subject.allowed_part("comes_to_rest", "deepest", g * landing * h + 0.01);
        ensure(z > -deepest, || format!("{:.2e} m deep at {t:.2} s", -z))?;
    }
    let cube = &path[path.len() - 1].bodies[1];
    let depth = 0.5 - cube.position.z;
    ensure(depth.abs() < subject.allowed("comes_to_rest", 0.02), || {
        format!("ends {depth:.2e} m deep")
    })?;
    ensure(cube.velocity.norm() < 0.01, || format!("still moves: {:.2e} m/s", cube.velocity.norm()))
}

/// Every shape, on a plane and across the edges of a mesh, ends with its lowest point on its surface.
fn every_shape_rests(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("shapes", &[]);
    let end = subject.end(&scene, Plan::new(120, 10))?;
    for (body, state) in scene.bodies.iter().zip(&end.bodies).filter(|(b, _)| b.is_dynamic()) {
        let surface = if body.position.y > 2.0 { 0.5 } else { 0.0 };
        let down = state.rotation().inverse() * -Vec3::z();
        let gap = state.position.z - body.shape.support(&down) - surface;
        ensure(gap.abs() < 0.02, || format!("`{}` ends {gap:.2e} m above its surface", body.name))?;
        let speed = state.velocity.norm();
        ensure(speed < 0.02, || format!("`{}` still moves: {speed:.2e} m/s", body.name))?;
    }
    Ok(())
}

/// Of a fall from a metre, the square of the restitution comes back.
fn restitution(subject: &Subject<'_>) -> Result<(), Stop> {
    for restitution in [0.3, 0.5, 0.8_f64] {
        let scene = embedded("drop", &[("height", 1.0), ("restitution", restitution)]);
        let path = subject.path(&scene, Plan::new(60, 20))?;
        let heights: Vec<f64> = path.iter().map(|s| s.bodies[1].position.z - 0.5).collect();
        let landed = heights.windows(2).position(|pair| pair[1] > pair[0]);
        let Some(landed) = landed else {
            return Err(Stop::Fail("does not bounce".to_owned()));
        };
        let top = heights[landed..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let expected = restitution * restitution;
        // Of the landing speed, and of the instant of landing, a frame each.
        ensure((top - expected).abs() < 0.16 * restitution, || {
            format!("bounces {top:.3} m high instead of {expected:.3} m")
        })?;
    }
    Ok(())
}

/// A cube that lands flat bounces without turning, to a hundredth of its speed of 4.5 m/s.
fn bounces_level(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("drop", &[("height", 1.0), ("restitution", 0.5)]);
    let path = subject.path(&scene, Plan::new(60, 10))?;
    let lowest = path.iter().map(|s| s.bodies[1].position.z).fold(f64::INFINITY, f64::min);
    ensure(lowest < 0.7, || format!("does not land: it falls to {lowest:.3} m only"))?;
    let spin = path.iter().map(|s| s.bodies[1].omega().norm()).fold(0.0, f64::max);
    ensure(spin < 0.05, || format!("turns at {spin:.2e} rad/s"))
}

/// Two boxes hit each other off centre, free of the world: both momenta stay.
fn collision(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = touching(0.0);
    for (x, speed) in [(-0.7, 1.0), (0.7, -0.5)] {
        let mut body = scenes::cube().at(Vec3::new(x, 0.2 * x, 0.1 * x));
        body.velocity = Vec3::new(speed, 0.0, 0.0);
        scene.bodies.push(body);
    }
    let path = subject.path(&scene, Plan::new(60, 100))?;
    let of = |state: &State| metrics::momentum(&scene, state);
    let (start, end) = (of(&path[0]), of(&path[path.len() - 1]));
    let kinetic = |state: &State| metrics::energy(&scene, state).kinetic_j;
    let gained = kinetic(&path[path.len() - 1]) / kinetic(&path[0]) - 1.0;
    ensure(gained < 0.0, || format!("they gain {gained:.2e} of their energy"))?;
    let apart = |state: &State| state.bodies[1].position.x - state.bodies[0].position.x;
    let closest = path.iter().map(apart).fold(f64::INFINITY, f64::min);
    // Without contact they would be beside each other at the end.
    ensure(closest > 0.9, || format!("boxes of 1 m are {closest:.2} m apart"))?;
    let braked = 1.0 - path[path.len() - 1].bodies[0].velocity.x;
    ensure(braked > 0.3, || format!("one is braked by {braked:.2} m/s only"))?;
    // All momentum in motion, of 100 kg at 1 m/s and at 0.5 m/s, and its moment over a metre.
    let linear = (end.linear_kg_m_s - start.linear_kg_m_s).norm() / 150.0;
    let [allowed_linear, allowed_angular] = [("linear", 1e-3), ("angular", 1e-2)]
        .map(|(part, common)| subject.allowed_part("momentum_of_a_collision", part, common));
    ensure(linear < allowed_linear, || {
        format!("{linear:.2e} of the linear one appears from nowhere")
    })?;
    let angular = (end.angular_kg_m2_s - start.angular_kg_m2_s).norm() / 150.0;
    ensure(angular < allowed_angular, || {
        format!("{angular:.2e} of the angular one appears from nowhere")
    })
}

/// The contacts of a standing stack press on the ground with its whole weight, and none pulls or
/// rubs harder than friction allows; asked of backends that know their forces.
fn weight(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("stack", &[("n", 4.0), ("gap", 0.0)]);
    let (_, forces) = subject.loaded(&scene, Plan::new(60, 200))?;
    let Some(forces) = forces.filter(|forces| !forces.contacts.is_empty()) else {
        return Err(Stop::Skip("does not know its contact forces".to_owned()));
    };
    let mut carried = 0.0;
    for contact in &forces.contacts {
        let pressure = contact.force.dot(&contact.normal);
        let friction = (contact.force - contact.normal * pressure).norm();
        let allowed = contact.friction[0].max(contact.friction[1]) * pressure;
        ensure(pressure > -1e-6, || format!("a contact pulls by {:.2e} N", -pressure))?;
        ensure(friction < allowed + 1e-6, || {
            format!("a contact rubs by {friction:.3e} N, {allowed:.3e} N are possible")
        })?;
        match contact.bodies {
            [0, _] => carried -= contact.force.z,
            [_, 0] => carried += contact.force.z,
            _ => {}
        }
    }
    let expected: f64 = scene.bodies.iter().map(|b| b.mass * 10.0).sum();
    ensure((carried / expected - 1.0).abs() < 0.01, || {
        format!("the ground carries {carried:.3} N of {expected} N")
    })
}

/// Four cubes that fall 5 cm onto each other are a stack after two seconds: upright, at rest, no
/// deeper in each other than 2 % of a cube.
fn stack_stands(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("stack", &[("n", 4.0), ("gap", 0.05)]);
    let end = subject.end(&scene, Plan::new(120, 20))?;
    let mut below = 0.5;
    for state in &end.bodies[1..] {
        let gap = state.position.z - 0.5 - below;
        ensure((-0.02..0.01).contains(&gap), || format!("a cube is {gap:.2e} m above the next"))?;
        let aside = state.position.xy().norm();
        ensure(aside < 0.02, || format!("a cube is {aside:.2e} m aside"))?;
        ensure(state.velocity.norm() < 0.02, || {
            format!("a cube moves by {:.2e} m/s", state.velocity.norm())
        })?;
        below = state.position.z + 0.5;
    }
    Ok(())
}

/// A pyramid that has had two seconds to settle gains no energy in three more, to a thousandth of what lifting
/// its bricks took, and stands still, to a millimetre per second.
fn pyramid_settles(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("pyramid", &[("n", 5.0), ("gap", 0.02)]);
    let path = subject.path(&scene, Plan::new(300, 10))?;
    let fallen = scene.bodies[15].position.z - path[120].bodies[15].position.z;
    ensure(fallen > 0.05, || format!("has fallen {fallen:.2e} m instead of 0.09 m"))?;
    let energy = |state: &State| {
        let energy = metrics::energy(&scene, state);
        energy.kinetic_j + energy.gravity_j
    };
    let (lifted, settled) = (energy(&path[0]), energy(&path[120]));
    let gain = path[120..].iter().map(energy).fold(f64::NEG_INFINITY, f64::max) - settled;
    ensure(gain < 1e-3 * lifted, || format!("gains {:.2e} of its energy", gain / lifted))?;
    let moved = |i: usize| (path[300].bodies[i].position - path[240].bodies[i].position).norm();
    let creep = (0..scene.bodies.len()).map(moved).fold(0.0, f64::max);
    ensure(creep < 1e-3, || format!("creeps {creep:.2e} m in a second"))
}

/// Of two particles on a ramp, 3 mm above it at first, the rough one stays and the smooth one slides by
/// `(g sin a - mu g cos a) t^2 / 2`; neither sinks in.
fn particles(subject: &Subject<'_>) -> Result<(), Stop> {
    let (slope, thickness) = (0.4_f64, 1e-3);
    let turn = Quat::from_axis_angle(&Vec3::y_axis(), slope.atan());
    let mut ramp = scenes::cube().fixed();
    (ramp.shape, ramp.rotation) = (Shape::HalfSpace, turn);
    let mut scene = touching(scenes::G);
    for (place, friction) in [(0.0, 0.5), (1.0, 0.2)] {
        // A pair uses the geometric mean.
        let friction = friction * friction / 0.5;
        let material =
            Material { friction_static: friction, friction_dynamic: friction, restitution: 0.0 };
        let touch = Some(Skin { radius: thickness, material, group: None });
        let position = turn * Vec3::new(0.0, place, thickness + 3e-3);
        let (name, velocity) = (String::new(), Vec3::zeros());
        scene.particles.push(Particle { name, mass: 2.0, position, velocity, touch });
    }
    scene.bodies.push(ramp);
    let end = subject.end(&scene, Plan::new(60, 20))?;
    let [rough, smooth] =
        [0, 1].map(|i| turn.inverse() * (end.particles[i].position - scene.particles[i].position));
    ensure(rough.x.abs() < 0.02, || format!("the rough one slides {:.2e} m", rough.x))?;
    let (sine, cosine) = (slope.atan().sin(), slope.atan().cos());
    let expected = 0.5 * scenes::G * (sine - 0.2 * cosine);
    ensure((smooth.x / expected - 1.0).abs() < 0.1, || {
        format!("the smooth one slides {:.3} m instead of {expected:.3} m", smooth.x)
    })?;
    for (name, moved) in [("rough", rough), ("smooth", smooth)] {
        let height = moved.z + 3e-3;
        ensure(height.abs() < 2e-3, || format!("the {name} one ends {height:.2e} m off the ramp"))?;
    }
    Ok(())
}

/// Bodies of one group, and bodies that a joint connects, may overlap and feel nothing of it.
fn filters(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut pair = touching(0.0);
    pair.bodies = vec![scenes::cube(), scenes::cube().at(Vec3::new(0.5, 0.1, 0.0))];
    let mut grouped = pair.clone();
    grouped.bodies.iter_mut().for_each(|body: &mut Body| body.group = Some(1));
    let mut joined = pair.clone();
    let joint = Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1));
    joined.joints.push(joint.anchored(Vec3::new(0.25, 0.05, 0.0), Vec3::new(-0.25, -0.05, 0.0)));
    for (name, scene) in [("of one group", &grouped), ("joined", &joined)] {
        let end = subject.end(scene, Plan::new(30, 10))?;
        let moved = farthest(scene, &end);
        ensure(moved < 1e-6, || format!("bodies {name} push each other {moved:.2e} m apart"))?;
    }
    for groups in [[None, None], [Some(1), None], [Some(1), Some(2)]] {
        pair.bodies.iter_mut().zip(groups).for_each(|(body, group)| body.group = group);
        let end = subject.end(&pair, Plan::new(30, 10))?;
        ensure(farthest(&pair, &end) > 1e-3, || {
            format!("bodies of groups {groups:?} overlap and do not part")
        })?;
    }
    // What has broken does not join any more.
    let mut start = joined.initial_state();
    start.broken.fill(true);
    let end = subject.end_from(&joined, &start, Plan::new(30, 10))?;
    ensure(farthest(&joined, &end) > 1e-3, || "a broken joint still keeps a pair apart".to_owned())
}

fn farthest(scene: &Scene, end: &State) -> f64 {
    let moved = scene.bodies.iter().zip(&end.bodies);
    moved.map(|(body, state)| (state.position - body.position).norm()).fold(0.0, f64::max)
}

fn touching(gravity: f64) -> Scene {
    Scene { contacts: Some(Contacts::default()), ..scenes::empty(gravity) }
}
