//! Bodies where only one can be, and ties that give way.

use super::*;

/// A judge that is shown the same two boxes with one overlap after another.
fn shown(start: Option<Intrusion>, evidence: &[Evidence<'_>]) -> Judge {
    let mut scene = chain(1, 1.0, 1.0, Vec3::x());
    scene.gravity = Vec3::zeros();
    scene.bodies[0].name = "plate".to_owned();
    let state = scene.initial_state();
    let mut judge = Judge::new(&scene, &state).beginning_with(start);
    evidence.iter().for_each(|evidence| judge.observe(&state, evidence));
    judge
}

fn overlap(share: f64) -> Option<Intrusion> {
    Some(Intrusion { bodies: [0, 1], depth_m: 0.1 * share, share })
}

#[test]
fn more_than_half_of_the_thinner_body_inside_is_penetrating() {
    let seen = |share| Evidence { overlap: overlap(share), ..Evidence::default() };
    assert_label(&shown(None, &[seen(0.49)]), Label::Ok);
    let judge = shown(None, &[seen(0.6), seen(0.1)]);
    assert_label(&judge, Label::Penetrating);
    assert!(judge.reason().contains("body `plate` and body 1 are 6.000e-2 m inside each other"));
    // A scene that begins so is not the solver's fault, until it gets worse.
    assert_label(&shown(overlap(0.6), &[seen(0.7)]), Label::Ok);
    assert_label(&shown(overlap(0.6), &[seen(1.2)]), Label::Penetrating);
}

#[test]
fn whoever_went_through_another_is_penetrating() {
    let judge = shown(None, &[Evidence { passed: Some([1, 0]), ..Evidence::default() }]);
    assert_label(&judge, Label::Penetrating);
    assert_eq!(judge.reason(), "body 1 went through body `plate`");
}

#[test]
fn surfaces_that_meet_break_a_promise() {
    let meeting = Evidence { broken_promises: 3, ..Evidence::default() };
    let judge = shown(None, &[Evidence::default(), meeting]);
    assert_label(&judge, Label::Intersecting);
    assert_eq!(judge.reason(), "3 pairs of triangles meet at 0.000 s");
    // Whoever is deep inside another is worse.
    let deep = Evidence { overlap: overlap(0.6), ..meeting };
    assert_label(&shown(None, &[meeting, deep]), Label::Penetrating);
}

#[test]
fn what_hangs_on_something_soft_falls_only_beyond_what_its_load_can_stretch() {
    let scene = |compliance: f64| {
        let mut scene = tied_particle(Vec3::new(1.0, 0.0, 0.0), false);
        scene.joints[0].compliance_linear = compliance;
        scene
    };
    // In 3 s it falls by 44 m. A kilogram stretches 1e-3 m/N by a few centimetres, 10 m/N by more than it falls.
    assert_label(&judged(&scene(1e-3), 180, fall, None), Label::Falling);
    assert_label(&judged(&scene(10.0), 180, fall, None), Label::Ok);
    let spring = |stiffness: f64| {
        let kind = SpringKind::Linear {
            anchor_a: Vec3::zeros(),
            anchor_b: Vec3::zeros(),
            rest_length: 1.0,
        };
        let (a, b) = (Endpoint::World, Endpoint::Particle(0));
        let spring = Spring { name: String::new(), kind, a, b, stiffness, damping: 0.0 };
        Scene { joints: Vec::new(), springs: vec![spring], ..scene(0.0) }
    };
    assert_label(&judged(&spring(1e3), 180, fall, None), Label::Falling);
    assert_label(&judged(&spring(0.1), 180, fall, None), Label::Ok);
}
