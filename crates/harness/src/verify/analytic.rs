//! Motions with a known solution.

use taut_core::{
    Scene, State, Vec3,
    scene::{Endpoint, Particle, Spring, SpringKind},
};

use super::{
    Property,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "free_fall", scene: "free-fall", test: free_fall },
    Property { name: "free_fall", scene: "particles", test: falling_particle },
    Property { name: "free_spin", scene: "free-fall", test: free_spin },
    Property { name: "pendulum_time", scene: "rod-pendulum", test: rod },
    Property { name: "pendulum_time", scene: "bar-pendulum", test: bar },
    Property { name: "spring_period", scene: "oscillator", test: spring },
    Property { name: "spring_period", scene: "particles", test: particles },
    Property { name: "torsion_period", scene: "torsion", test: torsion },
];

/// Steps per frame at which an integrator of first order is good for one percent here.
const SUBSTEPS: u32 = 8;

/// A body's position after one second is on the parabola, or where Euler's methods put it, with the step
/// of the backend: `g t h / 2` below; its velocity as it should be, and the clock right.
fn free_fall(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("free-fall", &[]);
    for substeps in [1, SUBSTEPS] {
        let plan = Plan::new(60, 4).substeps(substeps);
        let end = subject.end(&scene, plan)?;
        let t = 60.0 * scene.dt;
        ensure((end.time_s - t).abs() < 1e-9, || format!("time is {} s after {t} s", end.time_s))?;
        for (body, state) in scene.bodies.iter().zip(&end.bodies) {
            let found = (state.position, state.velocity);
            falls(subject, &scene, plan, (body.position, body.velocity), found)
                .map_err(|stop| stop.about(&body.name))?;
        }
    }
    Ok(())
}

/// The same of a particle, beside one that is held.
fn falling_particle(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = scenes::empty(9.81);
    let (position, velocity) = (Vec3::new(0.0, 2.0, 5.0), Vec3::new(1.0, -2.0, 3.0));
    for mass in [0.1, 0.0] {
        let name = String::new();
        scene.particles.push(Particle { name, mass, position, velocity, touch: None });
    }
    let plan = Plan::new(60, 4);
    let end = subject.end(&scene, plan)?;
    let [falling, held] = [&end.particles[0], &end.particles[1]];
    falls(subject, &scene, plan, (position, velocity), (falling.position, falling.velocity))?;
    ensure(held.position == position, || "a particle without mass has moved".to_owned())
}

/// Compares a position and a velocity after 60 frames with what those at the start lead to.
pub(super) fn falls(
    subject: &Subject<'_>,
    scene: &Scene,
    plan: Plan,
    (position, velocity): (Vec3, Vec3),
    found: (Vec3, Vec3),
) -> Result<(), Stop> {
    let t = 60.0 * scene.dt;
    let exact = position + velocity * t + scene.gravity * (0.5 * t * t);
    let h = subject.integrated(scene, plan)?;
    let euler = exact + scene.gravity * (0.5 * t * h);
    let allowed = subject.allowed("free_fall", 1e-7);
    let off = (found.0 - exact).norm().min((found.0 - euler).norm());
    ensure(off < allowed, || format!("{off:.2e} m off at h = {h:.2e} s"))?;
    let off = (found.1 - velocity - scene.gravity * t).norm();
    ensure(off < allowed, || format!("{off:.2e} m/s too fast or slow at h = {h:.2e} s"))
}

/// A ball keeps its spin, but for the (h w)^2 / 8 per step that the published first-order update loses.
fn free_spin(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("free-fall", &[]);
    for substeps in [1, SUBSTEPS] {
        let plan = Plan::new(60, 4).substeps(substeps);
        let end = subject.end(&scene, plan)?;
        let (t, h) = (60.0 * scene.dt, plan.step(&scene).dt);
        for (body, state) in scene.bodies.iter().zip(&end.bodies) {
            let off = (state.omega() - body.omega).norm();
            let allowed = 1e-3 + body.omega.norm().powi(3) * h * t / 8.0;
            ensure(off < allowed, || format!("`{}` spins {off:.2e} rad/s off", body.name))?;
        }
    }
    Ok(())
}

/// A rod of length l released level on a hinge passes below it after `sqrt(2 l / (3 g)) K(1/sqrt 2)`.
fn rod(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = Scene { dt: scenes::DT, ..embedded("rod-pendulum", &[]) };
    crosses_after(subject, &scene, quarter_swing(1.0, 9.81), |s| s.bodies[0].position.x)
}

/// The same for a bar on a ball joint, whatever its direction and whichever body axis lies along it.
fn bar(subject: &Subject<'_>) -> Result<(), Stop> {
    for (yaw, axes) in [(0.0, 0.0), (90.0, 0.0), (37.0, 1.0), (200.0, 2.0)] {
        let scene = embedded("bar-pendulum", &[("yaw", yaw), ("axes", axes)]);
        let direction = scene.bodies[0].position.normalize();
        crosses_after(subject, &scene, quarter_swing(4.0, 10.0), |s| {
            s.bodies[0].position.dot(&direction)
        })
        .map_err(|stop| stop.about(&format!("yaw {yaw}, axes {axes}")))?;
    }
    Ok(())
}

/// Quarter period of a thin rod from the level [s]: w^2 = 3 g / (2 l), amplitude a quarter turn.
fn quarter_swing(length: f64, gravity: f64) -> f64 {
    // K(k) for k = sin(pi/4).
    const COMPLETE_ELLIPTIC: f64 = 1.854_074_677_301_372;
    COMPLETE_ELLIPTIC / (1.5 * gravity / length).sqrt()
}

/// Quarter period pi/2 sqrt(m/k), here with k = m.
fn spring(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::oscillator();
    crosses_after(subject, &scene, std::f64::consts::FRAC_PI_2, |s| -2.0 - s.bodies[0].position.z)
}

/// Two particles on a spring swing against each other with half the mass of each, about where they were.
fn particles(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut scene = scenes::empty(0.0);
    for z in [0.0, 1.5] {
        let (name, position, velocity) = (String::new(), Vec3::z() * z, Vec3::zeros());
        scene.particles.push(Particle { name, mass: 2.0, position, velocity, touch: None });
    }
    let (anchor_a, anchor_b) = (Vec3::zeros(), Vec3::zeros());
    let kind = SpringKind::Linear { anchor_a, anchor_b, rest_length: 1.0 };
    let (a, b) = (Endpoint::Particle(0), Endpoint::Particle(1));
    scene.springs.push(Spring { name: String::new(), kind, a, b, stiffness: 10.0, damping: 0.0 });
    let ends = |s: &State| [0, 1].map(|i| s.particles[i].position.z);
    let quarter = std::f64::consts::FRAC_PI_2 / 10.0_f64.sqrt();
    crosses_after(subject, &scene, quarter, |s| ends(s)[1] - ends(s)[0] - 1.0)?;
    let middle = ends(&subject.end(&scene, Plan::new(20, 20))?).iter().sum::<f64>();
    let allowed = subject.allowed("spring_period", 1e-9);
    ensure((middle - 1.5).abs() < allowed, || {
        format!("their centre moves to {:.9} m", 0.5 * middle)
    })
}

/// Quarter period pi/2 sqrt(I/k), here with k = 4 I, whatever the amplitude: the torque grows with the angle.
fn torsion(subject: &Subject<'_>) -> Result<(), Stop> {
    for degrees in [10.0_f64, 60.0, 120.0] {
        let scene = scenes::torsion(degrees.to_radians());
        let quarter = std::f64::consts::FRAC_PI_4;
        crosses_after(subject, &scene, quarter, |s| s.bodies[0].rotation().scaled_axis().x)
            .map_err(|stop| stop.about(&format!("{degrees} degrees")))?;
    }
    Ok(())
}

/// Whether a coordinate that starts positive becomes negative after `expected` seconds, within one
/// percent, interpolated between frames.
fn crosses_after(
    subject: &Subject<'_>,
    scene: &Scene,
    expected: f64,
    coordinate: impl Fn(&State) -> f64,
) -> Result<(), Stop> {
    let frames = (1.5 * expected / scene.dt).ceil() as u32;
    let path = subject.path(scene, Plan::new(frames, 20).substeps(SUBSTEPS))?;
    let values: Vec<f64> = path.iter().map(coordinate).collect();
    let crossing = values.windows(2).enumerate().find(|(_, pair)| pair[1] <= 0.0);
    let Some((frame, pair)) = crossing else {
        return Err(Stop::Fail(format!(
            "does not turn within {:.2} s",
            f64::from(frames) * scene.dt
        )));
    };
    let time = scene.dt * (frame as f64 + pair[0] / (pair[0] - pair[1]));
    let error = time / expected - 1.0;
    ensure(error.abs() < 0.01, || {
        format!("passes after {time:.4} s, {:+.2} % from {expected:.4} s", 100.0 * error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quarter_swing_of_the_bar_is_the_published_one() {
        // 0.95743 s for a thin rod; 0.9575 s is that of the bar's own inertia.
        assert!((quarter_swing(4.0, 10.0) - 0.9575).abs() < 1e-4);
        assert_eq!(embedded("bar-pendulum", &[("yaw", 0.0)]).bodies[0].position, Vec3::x() * 2.0);
    }
}
