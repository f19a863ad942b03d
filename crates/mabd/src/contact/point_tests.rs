//! The energy behind the rounds of contacts.

use taut_collide::frame;
use taut_math::V3;

use super::*;

/// A point of contact that presses as stiffly as `FULL`, and sticks so as `GRIP`.
fn contact_point(reached: Vec3, pressure: f64) -> ContactPoint {
    let mut point = ContactPoint {
        axes: frame(V3([0.6, 0.0, 0.8])).map(V3::to_f64),
        friction: [MU; 2],
        full: FULL,
        grip: GRIP,
        reached,
        tried: reached,
        ..ContactPoint::NONE
    };
    point.choose(pressure);
    point
}

const FULL: f64 = 3e4;
const GRIP: f64 = 1e4;
const MU: f64 = 0.5;
const PRESSURE: f64 = 20.0;
/// Pressing and sticking, pressing and sliding, apart but sliding by the pressure of the round before.
const PLACES: [[f64; 3]; 4] =
    [[-2e-3, 3e-4, -4e-4], [-2e-3, 3e-3, -4e-3], [-1e-5, -2e-3, 1e-3], [1e-3, 2e-3, 5e-3]];

/// `k/2 gap^2` where it presses, and of friction the integral of what it exerts.
fn energy(value: &Vec3) -> f64 {
    let (slip, bound) = (value.y.hypot(value.z), MU * PRESSURE);
    let stuck = bound / GRIP;
    let friction =
        if slip <= stuck { 0.5 * GRIP * slip * slip } else { bound * (slip - 0.5 * stuck) };
    0.5 * FULL * value.x.min(0.0).powi(2) + friction
}

#[test]
fn multipliers_are_the_gradient_of_a_convex_energy() {
    for place in PLACES.map(Vec3::from) {
        let force = contact_point(place, PRESSURE).law(&place, PRESSURE);
        for axis in 0..3 {
            let step = Vec3::ith(axis, 1e-8);
            let slope = (energy(&(place + step)) - energy(&(place - step))) / 2e-8;
            assert!((slope - force[axis]).abs() < 1e-6 * FULL * 1e-2, "{slope} {force}");
        }
        for other in PLACES.map(Vec3::from) {
            let rise = force.dot(&(other - place));
            assert!(energy(&other) - energy(&place) >= rise - 1e-12, "it is convex");
        }
    }
}

/// What a round solves for exerts what the energy does where the round starts, and is at least as stiff
/// in every direction: it lies above the energy's second order, so that its minimum is downhill.
#[test]
fn rows_of_a_round_touch_the_energy_and_are_as_stiff() {
    for place in PLACES.map(Vec3::from) {
        let point = contact_point(place, PRESSURE);
        let (exerted, law) = (point.exerted(), point.law(&place, PRESSURE));
        assert!((exerted - law).norm() < 1e-9, "{exerted} {law}");
        for direction in [Vec3::x(), Vec3::y(), Vec3::z(), Vec3::new(1.0, -2.0, 0.5)] {
            let step = direction.normalize() * 1e-7;
            let curvature = (point.law(&(place + step), PRESSURE)
                - point.law(&(place - step), PRESSURE))
            .dot(&step)
                / 2.0;
            let there = ContactPoint { tried: place + step, ..point };
            let model = (there.exerted() - exerted).dot(&step);
            assert!(model >= curvature - 1e-3 * FULL * step.norm_squared(), "{model} {curvature}");
        }
    }
}

/// Along a way between two linear solves everything but contacts pulls by what interpolates their
/// multipliers: its energy is quadratic, and both solves balance it.
#[test]
fn growth_is_the_slope_along_the_way() {
    let (start, end) = (Vec3::from(PLACES[0]), Vec3::from(PLACES[1]));
    let mut point = contact_point(start, PRESSURE);
    point.held = Vec3::new(-12.0, 2.0, -5.0);
    point.tried = end;
    let (way, exerted) = (end - start, point.exerted());
    let whole = |t: f64| {
        let rest = point.held * t + (exerted - point.held) * (0.5 * t * t);
        energy(&(start + way * t)) - rest.dot(&way)
    };
    for t in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let slope = (whole(t + 1e-6) - whole(t - 1e-6)) / 2e-6;
        let growth = point.growth(t);
        assert!((slope - growth).abs() < 1e-6 * growth.abs().max(1e-3), "{t}: {slope} {growth}");
    }
}
