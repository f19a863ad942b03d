//! Motions with a known solution.

use taut_core::{Scene, State};

use super::{
    Property,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "free_fall", scene: "free-fall", test: free_fall },
    Property { name: "pendulum_time", scene: "rod-pendulum", test: rod },
    Property { name: "pendulum_time", scene: "bar-pendulum", test: bar },
    Property { name: "spring_period", scene: "oscillator", test: spring },
    Property { name: "torsion_period", scene: "torsion", test: torsion },
];

/// Steps per frame at which an integrator of first order is good for one percent here.
const SUBSTEPS: u32 = 8;

/// Position after one second within the first-order error `g t h / 2`, at two step lengths, velocity
/// and spin as they should be, and the clock right.
fn free_fall(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("free-fall", &[]);
    let gravity = scene.gravity;
    for substeps in [1, SUBSTEPS] {
        let plan = Plan::new(60, 4).substeps(substeps);
        let end = subject.end(&scene, plan)?;
        let (t, h) = (60.0 * scene.dt, plan.step(&scene).dt);
        ensure((end.time_s - t).abs() < 1e-9, || format!("time is {} s after {t} s", end.time_s))?;
        for (body, state) in scene.bodies.iter().zip(&end.bodies) {
            let position = body.position + body.velocity * t + gravity * (0.5 * t * t);
            let off = (state.position - position).norm();
            let allowed = 0.51 * gravity.norm() * t * h + 1e-3;
            ensure(off < allowed, || {
                format!("`{}` is {off:.2e} m off at h = {h:.2e} s", body.name)
            })?;
            let velocity = body.velocity + gravity * t;
            let off = (state.velocity - velocity).norm();
            ensure(off < 1e-3 * velocity.norm(), || {
                format!("`{}` is {off:.2e} m/s too fast or slow", body.name)
            })?;
            let off = (state.omega() - body.omega).norm();
            // The published first-order update loses (h w)^2 / 8 of a spin per step.
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
        .map_err(|stop| match stop {
            Stop::Fail(found) => Stop::Fail(format!("yaw {yaw}, axes {axes}: {found}")),
            skip @ Stop::Skip(_) => skip,
        })?;
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

/// Quarter period pi/2 sqrt(I/k), here with k = 4 I; the energy is of 2 sin(angle/2), so that the
/// amplitude of 0.2 rad lengthens it by its square over sixteen.
fn torsion(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::torsion();
    let quarter = std::f64::consts::FRAC_PI_4 * (1.0 + 0.2 * 0.2 / 16.0);
    crosses_after(subject, &scene, quarter, |s| s.bodies[0].rotation().scaled_axis().x)
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
    use taut_core::Vec3;

    use super::*;

    #[test]
    fn the_quarter_swing_of_the_bar_is_the_published_one() {
        // 0.95743 s for a thin rod; 0.9575 s is that of the bar's own inertia.
        assert!((quarter_swing(4.0, 10.0) - 0.9575).abs() < 1e-4);
        assert_eq!(embedded("bar-pendulum", &[("yaw", 0.0)]).bodies[0].position, Vec3::x() * 2.0);
    }
}
