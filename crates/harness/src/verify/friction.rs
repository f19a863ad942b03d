//! Friction and impacts in scenes of one or two bodies, whose closed forms say how they move.

use std::iter::successors;

use taut_core::{
    Iteration, Mat3, Quat, Scene, Vec3,
    scene::{Body, Contacts, Material, Motion, Shape},
};

use super::{
    Property,
    scenes::{self, G, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "friction_angle", scene: "incline", test: friction_angle },
    Property { name: "stopping_distance", scene: "friction-slide", test: stopping_distance },
    Property { name: "friction_has_no_direction", scene: "slider", test: every_direction },
    Property { name: "static_friction_holds_more", scene: "slope", test: static_and_dynamic },
    Property { name: "a_belt_takes_along", scene: "belt", test: belt },
    Property { name: "a_column_tips", scene: "slope", test: tipping },
    Property { name: "sliding_becomes_rolling", scene: "ball", test: sliding_becomes_rolling },
    Property { name: "equal_balls_exchange", scene: "two-balls", test: exchange },
    Property { name: "a_heavy_top_is_borne", scene: "stack", test: heavy_top },
];

/// A static floor, body 0, and what is on it, tilted together about y [degrees]; both coefficients are those
/// of every body.
fn on_floor(bodies: Vec<Body>, degrees: f64, friction: [f64; 2]) -> Scene {
    let floor = Body::solid_box(Vec3::new(200.0, 200.0, 1.0), 1.0).fixed();
    let mut scene = Scene { contacts: Some(Contacts::default()), ..scenes::empty(G) };
    scene.bodies = vec![floor.at(Vec3::z() * -0.5)];
    scene.bodies.extend(bodies);
    let turn = Quat::from_axis_angle(&Vec3::y_axis(), degrees.to_radians());
    for body in &mut scene.bodies {
        let [friction_static, friction_dynamic] = friction;
        body.material = Material { friction_static, friction_dynamic, restitution: 0.0 };
        (body.position, body.velocity) = (turn * body.position, turn * body.velocity);
        body.rotation = turn * body.rotation;
    }
    scene
}

/// A block that lies on the floor and moves at a velocity [m/s].
fn block(size: Vec3, velocity: Vec3) -> Body {
    Body { velocity, ..Body::solid_box(size, 100.0).at(Vec3::z() * (0.5 * size.z)) }
}

const FLAT: Vec3 = Vec3::new(1.0, 1.0, 0.4);

/// The way of body 1 down the slope [m].
fn way(subject: &Subject<'_>, scene: &Scene, frames: u32) -> Result<f64, Stop> {
    let (start, end) = (&scene.bodies[1], subject.end(scene, Plan::new(frames, 20))?);
    Ok((start.rotation.inverse() * (end.bodies[1].position - start.position)).x)
}

/// The way of symplectic Euler from a speed at an acceleration [m].
fn sped_up(speed: f64, acceleration: f64, frames: u32) -> f64 {
    let (h, n) = (scenes::DT, f64::from(frames));
    speed * h * n + acceleration * h * h * n * (n + 1.0) / 2.0
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
    let allowed = subject.allowed("friction_angle", 5e-3);
    ensure(flat < allowed, || format!("creeps {flat:.2e} m in 2 s on 20 degrees"))?;
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    let expected = 0.5 * 10.0 * (sin - 0.5 * cos) * 4.0;
    let steep = way(30.0)?;
    ensure((steep / expected - 1.0).abs() < 0.05, || {
        format!("slides {steep:.3} m in 2 s on 30 degrees instead of {expected:.3} m")
    })
}

/// Within one percent of the way that implicit Euler and Coulomb's law give at the backend's own steps, which are
/// parts of a frame where an iteration is one: the speed loses `mu g h` per step until the step that it stops in.
fn stopping_distance(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("friction-slide", &[]);
    let plan = Plan::new(150, 20);
    let parts = match subject.iteration(&scene)? {
        Iteration::Refine | Iteration::Rerun => 1,
        Iteration::Substep => plan.iterations,
    };
    let end = subject.end(&scene, plan)?;
    for i in [0, 2, 6, 9] {
        let body = &scene.bodies[i + 1];
        let mu = (0.5 * body.material.friction_static).sqrt();
        let step = scene.dt / f64::from(parts);
        let expected = implicit_euler_way(body.velocity.x, mu * 10.0, step);
        let off = end.bodies[i + 1].position.x - expected;
        let allowed = subject.allowed("stopping_distance", 0.01) * expected;
        ensure(off.abs() < allowed, || {
            format!("friction {mu:.3}: {off:+.3} m off {expected:.3} m, {allowed:.3} m are allowed")
        })?;
    }
    Ok(())
}

fn implicit_euler_way(speed: f64, deceleration: f64, h: f64) -> f64 {
    let speeds = successors(Some(speed), |v| {
        let next = v - deceleration * h;
        (next > 0.0).then_some(next)
    });
    speeds.skip(1).map(|v| v * h).sum()
}

/// A block slides as far in every direction, and straight on.
fn every_direction(subject: &Subject<'_>) -> Result<(), Stop> {
    let slide = |degrees: f64| {
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), degrees.to_radians());
        let scene = on_floor(vec![block(FLAT, turn * Vec3::x() * 5.0)], 0.0, [0.5; 2]);
        let end = subject.end(&scene, Plan::new(90, 20))?.bodies[1].position;
        Ok::<_, Stop>(turn.inverse() * end)
    };
    let straight = slide(0.0)?.x;
    let allowed = subject.allowed("friction_has_no_direction", 2e-3);
    for degrees in [30.0, 45.0, 71.0] {
        let end = slide(degrees)?;
        let off = (end.x / straight - 1.0).abs().max(end.y.abs() / straight);
        ensure(off < allowed, || {
            format!(
                "at {degrees} degrees {:.4} m and {:.4} m aside of {straight:.4} m",
                end.x, end.y
            )
        })?;
    }
    Ok(())
}

/// What rests is held by static friction; what slides goes on against dynamic friction.
fn static_and_dynamic(subject: &Subject<'_>) -> Result<(), Stop> {
    let thrown = |speed: f64| on_floor(vec![block(FLAT, Vec3::x() * speed)], 20.0, [0.5, 0.2]);
    let held = way(subject, &thrown(0.0), 60)?;
    ensure(held.abs() < 5e-3, || format!("what rests slides {held:.2e} m"))?;
    let slid = way(subject, &thrown(1.0), 60)?;
    let (sin, cos) = 20.0_f64.to_radians().sin_cos();
    let expected = sped_up(1.0, G * (sin - 0.2 * cos), 60);
    let allowed = subject.allowed("static_friction_holds_more", 0.03);
    ensure((slid / expected - 1.0).abs() < allowed, || {
        format!("what slides goes {slid:.4} m instead of {expected:.4} m")
    })
}

/// A moving floor pulls with `mu g` at what lies on it until that has its speed.
fn belt(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = on_floor(vec![block(FLAT, Vec3::zeros())], 0.0, [0.5; 2]);
    (scene.bodies[0].motion, scene.bodies[0].velocity) = (Motion::Kinematic, Vec3::x());
    let path = subject.path(&scene, Plan::new(60, 20))?;
    let (speed, expected) = (path[6].bodies[1].velocity.x, 0.5 * G * 6.0 * scene.dt);
    let allowed = subject.allowed("a_belt_takes_along", 0.06);
    ensure((speed / expected - 1.0).abs() < allowed, || {
        format!("after six frames it moves at {speed:.4} instead of {expected:.4} m/s")
    })?;
    let slip = (path[60].bodies[1].velocity - Vec3::x()).norm();
    ensure(slip < 0.01, || format!("after a second it slips at {slip:.2e} m/s"))
}

/// A column three times as high as wide tips at `tan(angle) = 1/3`, 18.4 degrees.
fn tipping(subject: &Subject<'_>) -> Result<(), Stop> {
    let turned = |degrees: f64| {
        let column = block(Vec3::new(1.0, 1.0, 3.0), Vec3::zeros());
        let scene = on_floor(vec![column], degrees, [1.0; 2]);
        let end = subject.end(&scene, Plan::new(90, 20))?.bodies[1].rotation();
        Ok::<f64, Stop>(end.angle_to(&scene.bodies[1].rotation))
    };
    let margin = subject.allowed("a_column_tips", 1.0);
    let (stands, falls) = (turned(18.43 - margin)?, turned(18.43 + margin)?);
    ensure(stands < 0.01, || format!("turns by {stands:.2e} rad where it should stand"))?;
    ensure(falls > 0.02, || format!("turns by {falls:.2e} rad only where it should fall"))
}

fn ball(x: f64, speed: f64) -> Body {
    let mut ball = block(Vec3::repeat(1.0), Vec3::x() * speed);
    (ball.shape, ball.position.x) = (Shape::Sphere { radius: 0.5 }, x);
    ball.inertia = Mat3::identity() * (0.4 * ball.mass * 0.25);
    ball
}

/// A ball thrown along the ground without spin ends rolling at 5/7 of its speed, whatever the
/// friction: its angular momentum about the ground is kept. Rolling, it keeps its speed.
fn sliding_becomes_rolling(subject: &Subject<'_>) -> Result<(), Stop> {
    for (thrown, spin) in [(2.1, 0.0), (1.5, 3.0)] {
        let mut scene = on_floor(vec![ball(0.0, thrown)], 0.0, [0.5; 2]);
        scene.bodies[1].omega.y = spin;
        let end = subject.end(&scene, Plan::new(60, 20))?;
        let ball = &end.bodies[1];
        let (speed, spin) = (ball.velocity.x, ball.omega().y);
        ensure((speed - 1.5).abs() < 0.03, || format!("rolls at {speed:.3} instead of 1.5 m/s"))?;
        ensure((speed - 0.5 * spin).abs() < 0.03, || {
            format!("slips: {speed:.3} m/s, {spin:.3} rad/s")
        })?;
        let sunk = 0.5 - ball.position.z;
        ensure(sunk.abs() < 5e-3, || format!("sinks by {sunk:.2e} m while it rolls"))?;
    }
    Ok(())
}

/// Of two equal balls that meet without loss, one goes on with the velocity of the other.
fn exchange(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = on_floor(vec![ball(0.0, 0.0), ball(-1.5, 2.0)], 0.0, [0.0; 2]);
    scene.bodies.remove(0);
    scene.gravity = Vec3::zeros();
    scene.bodies.iter_mut().for_each(|body| body.material.restitution = 1.0);
    let end = subject.end(&scene, Plan::new(40, 20))?;
    let [hit, thrown] = [0, 1].map(|i| end.bodies[i].velocity);
    let off = (hit - Vec3::x() * 2.0).norm().max(thrown.norm());
    let allowed = subject.allowed("equal_balls_exchange", 0.02);
    ensure(off < allowed, || format!("they part at {:.3} and {:.3} m/s", thrown.x, hit.x))
}

/// Four cubes bear a fifth one of a hundred times their mass, and stay where they are.
fn heavy_top(subject: &Subject<'_>) -> Result<(), Stop> {
    let cubes = (0..5).map(|i| {
        let mut cube = block(Vec3::repeat(1.0), Vec3::zeros());
        cube.position.z += f64::from(i);
        cube
    });
    let mut scene = on_floor(cubes.collect(), 0.0, [0.5; 2]);
    let top = &mut scene.bodies[5];
    (top.mass, top.inertia) = (top.mass * 100.0, top.inertia * 100.0);
    let end = subject.end(&scene, Plan::new(90, 20))?;
    let off = scene.bodies.iter().zip(&end.bodies).skip(1).map(|(b, s)| s.position - b.position);
    let off = off.map(|off| off.norm()).fold(0.0, f64::max);
    let allowed = subject.allowed("a_heavy_top_is_borne", 0.05);
    ensure(off < allowed, || format!("a cube is {off:.2e} m off its place"))
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
