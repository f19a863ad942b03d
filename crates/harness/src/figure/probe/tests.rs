//! Probes on scenes small enough to reckon by hand.

use super::*;
use taut_core::scene::{Joint, JointKind, Particle};

fn scene() -> Scene {
    let particle = |name: &str, z: f64| Particle {
        name: name.to_owned(),
        mass: 1.0,
        position: Vec3::new(0.0, 0.0, z),
        velocity: Vec3::zeros(),
        touch: None,
    };
    let (zero, a, b) = (Vec3::zeros(), Endpoint::Particle(0), Endpoint::Particle(1));
    let kind = SpringKind::Linear { anchor_a: zero, anchor_b: zero, rest_length: 2.0 };
    let spring = Spring { name: String::new(), kind, a, b, stiffness: 1.0, damping: 0.0 };
    let joint = Joint { ..Joint::new(JointKind::Ball, a, b) };
    Scene {
        particles: vec![particle("top", 5.0), particle("low", 2.0)],
        springs: vec![spring],
        joints: vec![joint],
        ..Scene::default()
    }
}

fn measure(probe: ProbeSpec) -> Option<f64> {
    let (scene, name) = (scene(), "p_m".to_owned());
    let state = scene.initial_state();
    let mut moved = state.clone();
    moved.particles[1].position.x = 4.0;
    let probes = Probes::new(&scene, [(&name, &probe)]);
    probes.measure(&state, Some(&moved)).first().copied()
}

#[test]
fn probes_read_the_state() {
    let (low, top) = ("low".to_owned(), "top".to_owned());
    let coordinate = ProbeSpec::Coordinate { of: low.clone(), axis: WorldAxis::Z };
    assert_eq!(measure(coordinate), Some(2.0));
    let (a, b) = (low.clone(), top.clone());
    assert_eq!(measure(ProbeSpec::Distance { a, b }), Some(3.0));
    let (a, b) = (low, top);
    assert_eq!(measure(ProbeSpec::StretchMax { a: a.clone(), b: b.clone() }), Some(1.0));
    assert_eq!(measure(ProbeSpec::JointErrorMax { a, b }), Some(3.0));
    assert_eq!(measure(ProbeSpec::ReferenceDistance { prefix: String::new() }), Some(4.0));
}

#[test]
fn probes_of_groups_take_the_extreme() {
    let prefix = String::new();
    let lowest = ProbeSpec::CoordinateMin { prefix: prefix.clone(), axis: WorldAxis::Z };
    assert_eq!(measure(lowest), Some(2.0));
    let scene = Scene {
        bodies: (0..3)
            .map(|i| taut_core::scene::Body {
                name: format!("b[{i}]"),
                ..taut_core::scene::Body::solid_box(Vec3::repeat(1.0), 1.0)
                    .at(Vec3::x() * f64::from(i))
            })
            .collect(),
        ..scene()
    };
    let group = |name: &str| name.to_owned();
    let probes = [
        (group("travel_m"), ProbeSpec::TravelMax { prefix: group("b") }),
        (group("in_place"), ProbeSpec::InPlace { prefix: group("b"), within: 0.5 }),
        (
            group("apart_m"),
            ProbeSpec::NeighbourDistanceMax { a: group("b"), b: group("b"), within: 1.5 },
        ),
        (group("broken"), ProbeSpec::BrokenJoints { a: group("low"), b: group("top") }),
        (group("speed_m_s"), ProbeSpec::SpeedMax { prefix: group("b") }),
    ];
    let mut state = scene.initial_state();
    let measure = |state: &State| {
        Probes::new(&scene, probes.iter().map(|(n, p)| (n, p))).measure(state, None)
    };
    assert_eq!(measure(&state), [0.0, 3.0, 1.0, 0.0, 0.0]);
    state.bodies[2].position.x = 5.0;
    state.broken[0] = true;
    state.bodies[1].velocity.z = -2.0;
    assert_eq!(measure(&state), [3.0, 2.0, 4.0, 1.0, 2.0]);
    state.bodies[1].position.x = f64::NAN;
    assert!(measure(&state)[0].is_nan() && measure(&state)[2].is_nan());
    assert_eq!(measure(&state)[1], 1.0);
}

#[test]
fn probes_of_turning_bodies_read_their_axes() {
    let (tilt, spin, rate) = (0.3_f64, 7.0, 2.0);
    let lean = taut_core::Quat::from_scaled_axis(Vec3::y() * tilt);
    let body = taut_core::scene::Body {
        name: "top".to_owned(),
        rotation: lean,
        // Spinning about its own axis, which goes round the vertical.
        omega: lean * Vec3::z() * spin + Vec3::z() * rate,
        ..taut_core::scene::Body::solid_box(Vec3::repeat(1.0), 1.0)
    };
    let scene = Scene { bodies: vec![body], ..Scene::default() };
    let of = || "top".to_owned();
    let probes = [
        ProbeSpec::Tilt { of: of() },
        ProbeSpec::Precession { of: of() },
        ProbeSpec::Spin { of: of(), axis: WorldAxis::Z },
        ProbeSpec::Off(Box::new(ProbeSpec::Tilt { of: of() })),
    ];
    let name = String::new();
    let probes = Probes::new(&scene, probes.iter().map(|probe| (&name, probe)));
    let state = scene.initial_state();
    let mut upright = state.clone();
    upright.bodies[0].frame = taut_core::Mat3::identity();
    let found = probes.measure(&state, Some(&upright));
    let expected = [tilt, rate, spin + rate * tilt.cos(), tilt];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    assert!(probes.measure(&state, None)[3].is_nan());
}

#[test]
fn what_the_scene_does_not_have_is_left_out() {
    let (a, b) = ("low".to_owned(), "world".to_owned());
    assert_eq!(measure(ProbeSpec::StretchMax { a, b }), None);
}

#[test]
fn the_objective_of_the_first_step_is_least_at_the_reference() {
    let scene = Scene { joints: Vec::new(), dt: 0.1, ..scene() };
    let (name, probe) = ("gap_j".to_owned(), ProbeSpec::FirstStepGap());
    let gap = |state: &State, reference: &State| {
        Probes::new(&scene, [(&name, &probe)]).measure(state, Some(reference))[0]
    };
    let mut reference = scene.initial_state();
    reference.time_s = scene.dt;
    let mut away = reference.clone();
    away.particles[0].position.x += 0.1;
    assert!(gap(&reference, &reference).abs() < 1e-12);
    // 1 kg moved by 0.1 m in 0.1 s: 1/2 kg m^2/s^2, and a spring of 1 N/m that is stretched by a little more.
    let stretch = |d: f64| (d - 2.0).powi(2) / 2.0;
    let expected = 0.5 + stretch((9.0_f64 + 0.01).sqrt()) - stretch(3.0);
    assert!((gap(&away, &reference) - expected).abs() < 1e-12);
    reference.time_s = 2.0 * scene.dt;
    assert!(gap(&reference.clone(), &reference).is_nan());
}
