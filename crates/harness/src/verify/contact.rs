//! Contacts: that they hold, rub and let go as Coulomb and Newton say, and that the promises of the
//! interface are kept with them.

use taut_core::{
    Multipliers, Scene, State, Vec3, metrics,
    scene::{Body, Contacts, Endpoint, Joint, JointKind},
};

use super::{
    Property, contract,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};
use crate::runner::advance;

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
        name: "threads_do_not_matter",
        scene: "pyramid",
        test: |s| contract::threads(s, &pyramid(12), Plan::new(12, 4)),
    },
    Property { name: "comes_to_rest", scene: "drop", test: comes_to_rest },
    Property { name: "every_shape_rests", scene: "shapes", test: every_shape_rests },
    Property { name: "friction_angle", scene: "incline", test: friction_angle },
    Property { name: "stopping_distance", scene: "friction-slide", test: stopping_distance },
    Property { name: "sliding_becomes_rolling", scene: "ball", test: sliding_becomes_rolling },
    Property { name: "restitution", scene: "drop", test: restitution },
    Property { name: "momentum_of_a_collision", scene: "colliding-pair", test: collision },
    Property { name: "pressure_carries_the_weight", scene: "stack", test: weight },
    Property { name: "a_stack_stands", scene: "stack", test: stack_stands },
    Property { name: "no_energy_is_gained", scene: "pyramid", test: no_energy_is_gained },
    Property { name: "nothing_creeps", scene: "pyramid", test: nothing_creeps },
    Property { name: "some_pairs_do_not_touch", scene: "overlapping-pair", test: filters },
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
        let deepest = g * landing * h + 0.01;
        ensure(z > -deepest, || format!("{:.2e} m deep at {t:.2} s", -z))?;
    }
    let cube = &path[path.len() - 1].bodies[1];
    let depth = 0.5 - cube.position.z;
    ensure(depth.abs() < 0.02, || format!("ends {depth:.2e} m deep"))?;
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

/// A block of friction 0.5 stays on a slope of 20 degrees, and slides down one of 30 degrees with
/// the acceleration `g (sin - mu cos)`.
fn friction_angle(subject: &Subject<'_>) -> Result<(), Stop> {
    let way = |degrees: f64| {
        let scene = embedded("incline", &[("angle", degrees)]);
        let end = subject.end(&scene, Plan::new(120, 20))?;
        Ok::<f64, Stop>((end.bodies[1].position - scene.bodies[1].position).norm())
    };
    let flat = way(20.0)?;
    ensure(flat < 5e-3, || format!("creeps {flat:.2e} m in 2 s on 20 degrees"))?;
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    let expected = 0.5 * 10.0 * (sin - 0.5 * cos) * 4.0;
    let steep = way(30.0)?;
    ensure((steep / expected - 1.0).abs() < 0.05, || {
        format!("slides {steep:.3} m in 2 s on 30 degrees instead of {expected:.3} m")
    })
}

/// Within one percent and half a frame's way, `v h/2`, by which step lengths differ, of the way that
/// implicit Euler and Coulomb's law give: the speed loses `mu g h` per step until the step that it
/// stops in.
fn stopping_distance(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("friction-slide", &[]);
    let end = subject.end(&scene, Plan::new(150, 20))?;
    for i in [0, 2, 6, 9] {
        let body = &scene.bodies[i + 1];
        let mu = (0.5 * body.material.friction_static).sqrt();
        let expected = implicit_euler_way(body.velocity.x, mu * 10.0, scene.dt);
        let off = end.bodies[i + 1].position.x - expected;
        let allowed = 0.01 * expected + 0.5 * body.velocity.x * scene.dt;
        ensure(off.abs() < allowed, || {
            format!("friction {mu:.3}: {off:+.3} m off {expected:.3} m, {allowed:.3} m are allowed")
        })?;
    }
    Ok(())
}

fn implicit_euler_way(speed: f64, deceleration: f64, h: f64) -> f64 {
    let speeds = std::iter::successors(Some(speed), |v| {
        let next = v - deceleration * h;
        (next > 0.0).then_some(next)
    });
    speeds.skip(1).map(|v| v * h).sum()
}

/// A ball thrown along the ground without spin ends rolling at 5/7 of its speed, whatever the
/// friction: its angular momentum about the ground is kept.
fn sliding_becomes_rolling(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = embedded("ground", &[("height", 1.0)]);
    scene.bodies[1].shape = taut_core::scene::Shape::Sphere { radius: 0.5 };
    scene.bodies[1].inertia = taut_core::Mat3::identity() * (0.4 * scene.bodies[1].mass * 0.25);
    scene.bodies[1].velocity = Vec3::new(2.1, 0.0, 0.0);
    let end = subject.end(&scene, Plan::new(60, 20))?;
    let ball = &end.bodies[1];
    let (speed, spin) = (ball.velocity.x, ball.omega().y);
    ensure((speed - 1.5).abs() < 0.03, || format!("rolls at {speed:.3} m/s instead of 1.5 m/s"))?;
    ensure((speed - 0.5 * spin).abs() < 0.03, || format!("slips: {speed:.3} m/s, {spin:.3} rad/s"))
}

/// Of a fall from a metre with restitution one half, a quarter of the height comes back.
fn restitution(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("drop", &[("height", 1.0), ("restitution", 0.5)]);
    let path = subject.path(&scene, Plan::new(60, 20))?;
    let heights: Vec<f64> = path.iter().map(|state| state.bodies[1].position.z - 0.5).collect();
    let landed = heights.windows(2).position(|pair| pair[1] > pair[0]);
    let Some(landed) = landed else {
        return Err(Stop::Fail("does not bounce".to_owned()));
    };
    let top = heights[landed..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Of the landing speed, and of the instant of landing, a frame each.
    ensure((top - 0.25).abs() < 0.08, || format!("bounces {top:.3} m high instead of 0.25 m"))
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
    let apart = |state: &State| state.bodies[1].position.x - state.bodies[0].position.x;
    let closest = path.iter().map(apart).fold(f64::INFINITY, f64::min);
    // Without contact they would be beside each other at the end.
    ensure(closest > 0.9, || format!("boxes of 1 m are {closest:.2} m apart"))?;
    let braked = 1.0 - path[path.len() - 1].bodies[0].velocity.x;
    ensure(braked > 0.3, || format!("one is braked by {braked:.2} m/s only"))?;
    // All momentum in motion, of 100 kg at 1 m/s and at 0.5 m/s, and its moment over a metre.
    let linear = (end.linear_kg_m_s - start.linear_kg_m_s).norm() / 150.0;
    ensure(linear < 1e-3, || format!("{linear:.2e} of the linear one appears from nowhere"))?;
    let angular = (end.angular_kg_m2_s - start.angular_kg_m2_s).norm() / 150.0;
    ensure(angular < 1e-2, || format!("{angular:.2e} of the angular one appears from nowhere"))
}

/// The contacts of a standing stack press on the ground with its whole weight, and none pulls or
/// rubs harder than friction allows; asked of backends that know their forces.
fn weight(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("stack", &[("n", 4.0), ("gap", 0.0)]);
    let mut solver = subject.build(&scene)?;
    for _ in 0..60 {
        advance(&mut *solver, Plan::new(1, 200).step(&scene))?;
    }
    let mut forces = Multipliers::default();
    if !solver.read_multipliers(&mut forces) || forces.contacts.is_empty() {
        return Err(Stop::Skip("does not know its contact forces".to_owned()));
    }
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

/// The path of a pyramid over two seconds in which it settles, and three more.
fn settling(subject: &Subject<'_>) -> Result<(Scene, Vec<State>), Stop> {
    let scene = embedded("pyramid", &[("n", 5.0), ("gap", 0.02)]);
    let path = subject.path(&scene, Plan::new(300, 10))?;
    let fallen = scene.bodies[15].position.z - path[120].bodies[15].position.z;
    ensure(fallen > 0.05, || format!("has fallen {fallen:.2e} m instead of 0.09 m"))?;
    Ok((scene, path))
}

/// A pyramid that has settled gains no energy, to a thousandth of what lifting its bricks took.
fn no_energy_is_gained(subject: &Subject<'_>) -> Result<(), Stop> {
    let (scene, path) = settling(subject)?;
    let energy = |state: &State| {
        let energy = metrics::energy(&scene, state);
        energy.kinetic_j + energy.gravity_j
    };
    let (lifted, settled) = (energy(&path[0]), energy(&path[120]));
    let gain = path[120..].iter().map(energy).fold(f64::NEG_INFINITY, f64::max) - settled;
    ensure(gain < 1e-3 * lifted, || format!("gains {:.2e} of its energy", gain / lifted))
}

/// A pyramid that has settled stands still, to a millimetre per second.
fn nothing_creeps(subject: &Subject<'_>) -> Result<(), Stop> {
    let (scene, path) = settling(subject)?;
    let moved = |i: usize| (path[300].bodies[i].position - path[240].bodies[i].position).norm();
    let creep = (0..scene.bodies.len()).map(moved).fold(0.0, f64::max);
    ensure(creep < 1e-3, || format!("creeps {creep:.2e} m in a second"))
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
    let end = subject.end(&pair, Plan::new(30, 10))?;
    ensure(farthest(&pair, &end) > 1e-3, || "bodies that overlap do not part".to_owned())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stopping_distances_are_the_published_ones() {
        let table = [3.079, 3.250, 3.453, 3.697, 3.999, 4.389, 4.917, 5.690, 6.988, 9.917];
        for (i, expected) in table.into_iter().enumerate() {
            let mu = (0.5 * (5.0 - 0.5 * i as f64)).sqrt();
            let way = implicit_euler_way(10.0, mu * 10.0, 1.0 / 60.0);
            assert!((way - expected).abs() < 6e-4, "{way} instead of {expected}");
        }
    }
}
