//! What applies is measured, in order, and of the state at hand.

use taut_core::load::load_str;

use super::*;
use crate::record::metric;

const CUBE: &str = "(contacts: false, bodies: [body(shape: sphere(radius: 1), mass: 1)])";

fn scene(text: &str) -> Scene {
    load_str(text, "test", &[]).expect("a good scene").scene
}

fn measure(scene: &Scene, state: &State, reference: Option<&State>) -> Metrics {
    let facts = Facts::new(scene, &scene.initial_state());
    let sample = Sample::new(scene, &facts, state, Moment::Frame(1));
    Ruler::default().measure(&Sample { reference, ..sample })
}

#[test]
fn penetration_is_that_of_the_state_and_relative_to_the_smaller_body() {
    let scene = scene(
        "(contacts: (margin: 0.01), bodies: [
        body(name: \"ground\", shape: half_space, motion: static),
        body(name: \"low\", shape: box(size: (2, 2, 0.5)), density: 1, position: (0, 0, 0.24)),
        body(name: \"high\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.988)),
    ])",
    );
    let mut state = scene.initial_state();
    let value = |state: &State, name| metric(&measure(&scene, state, None), name);
    // 10 mm into the ground, half a metre thick; 2 mm into each other.
    assert!((value(&state, "penetration_max_m").unwrap() - 0.01).abs() < 1e-12);
    assert!((value(&state, "penetration_share_max").unwrap() - 0.02).abs() < 1e-12);
    assert_eq!(value(&state, "contact_count"), Some(8.0));
    // Speed makes no penetration.
    state.bodies[2].velocity.z = -100.0;
    assert!((value(&state, "penetration_max_m").unwrap() - 0.01).abs() < 1e-12);
    state.bodies[1].position.z = 0.25;
    state.bodies[2].position.z = 5.0;
    assert!(value(&state, "penetration_max_m").unwrap() < 1e-12);
}

#[test]
fn what_is_costly_is_measured_on_demand() {
    let scene = scene(
        "(contacts: (margin: 0.01), bodies: [
        body(shape: half_space, motion: static),
        body(shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.5)),
    ])",
    );
    let state = scene.initial_state();
    assert_eq!(metric(&measure(&scene, &state, None), "intersections"), None);
    let facts = Facts::new(&scene, &state);
    let sample = Sample::new(&scene, &facts, &state, Moment::Frame(1));
    let asked = Ruler::default().named_in("(y: (quantity: \"intersections\"), \"energy_j\")");
    assert_eq!(asked, ["intersections"]);
    let metrics = Ruler::default().asked_for(&asked).measure(&sample);
    assert_eq!(metric(&metrics, "intersections"), Some(10.0));
    assert_eq!(metric(&metrics, "distance_min_m"), None);
    let unknown = Ruler::default().know(&["intersection".to_owned()]).unwrap_err();
    assert_eq!(unknown.to_string(), "no metric `intersection`: did you mean `intersections`?");
}

#[test]
fn only_what_applies_is_measured() {
    let scene = scene(CUBE);
    let state = scene.initial_state();
    let names: Vec<_> = measure(&scene, &state, None).into_iter().map(|(name, _)| name).collect();
    let drifts = ["momentum_drift_linear_kg_m_s", "momentum_drift_angular_kg_m2_s"];
    assert_eq!(names[..3], ["stretch_max", "energy_j", "energy_drift_j"]);
    assert_eq!(names[3..], drifts);
}

#[test]
fn metrics_come_in_the_order_of_the_list() {
    let scene = scene("(bodies: [body(shape: sphere(radius: 1), mass: 1)])");
    let state = scene.initial_state();
    let ruler = Ruler::default();
    let place = |name: &str| ruler.names().position(|known| known == name).expect("known");
    let metrics = measure(&scene, &state, Some(&state));
    assert!(metrics.is_sorted_by_key(|(name, _)| place(name)), "{metrics:?}");
    let mut names: Vec<&str> = ruler.names().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ruler.names().count());
}

#[test]
fn a_metric_is_added_by_one_row() {
    let scene = scene(CUBE);
    let facts = Facts::new(&scene, &scene.initial_state());
    let height = Metric::new("height_m", Needs::NONE, |s| {
        s.state.bodies.first().map(|body| body.position.z)
    });
    let state = scene.initial_state();
    let sample = Sample::new(&scene, &facts, &state, Moment::Frame(1));
    let metrics = Ruler::default().with(height).measure(&sample);
    assert_eq!(metrics.last(), Some(&("height_m".into(), 0.0)));
    let touching = Metric::new("touching", Needs::CONTACTS, |_| Some(1.0));
    let metrics = Ruler::default().with(touching).measure(&sample);
    assert_eq!(metric(&metrics, "touching"), None);
}

#[test]
fn the_worst_of_least_values_is_the_least() {
    let values = [2.0, 0.5, 3.0, -0.1];
    assert_eq!(worst("distance_min_m", &values), -0.1);
    assert_eq!(worst("volume_ratio_min", &values[..3]), 0.5);
    assert_eq!(worst("joint_error_max_m", &[1.0, -2.0]), -2.0);
    assert_eq!(worst("energy_drift_j", &[]), 0.0);
    assert!(worst("step_share_min", &[1.0, f64::NAN, 0.1]).is_nan());
}
