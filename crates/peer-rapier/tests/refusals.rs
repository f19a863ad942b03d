//! What the engine cannot do is refused with its reason, alike in both precisions.

use std::sync::Arc;

use taut_core::{
    Backend, Scene, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Limit, Shape},
};
use taut_fixtures::{cube, empty, plane, touching};
use taut_peer_rapier::{BACKEND_F32, BACKEND_F64};

fn refusal(scene: &Scene) -> String {
    let [double, single] =
        [&BACKEND_F64, &BACKEND_F32].map(|backend| taut_fixtures::refusal(backend, scene));
    assert_eq!(double, single);
    double
}

#[test]
fn refusals_name_their_reason() {
    let joined = |kind| {
        let joint = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
        Scene { joints: vec![joint], bodies: vec![cube(0.0)], ..empty(10.0) }
    };
    assert!(refusal(&joined(JointKind::Universal)).contains("universal"));
    let mut rod = joined(JointKind::Distance { length: 1.0 });
    assert!(refusal(&rod).contains("from below"));
    rod.joints[0].limit = Some(Limit { lower: 0.0, upper: 1.0 });
    assert!(BACKEND_F64.supports(&rod).is_ok());
    let mut ball = joined(JointKind::Ball);
    ball.joints[0].compliance_linear = 1e-6;
    assert!(refusal(&ball).contains("compliant"));
    ball.joints[0].compliance_linear = 0.0;
    ball.joints[0].break_force = 10.0;
    assert!(refusal(&ball).contains("break"));
    let mut slippery = touching(10.0, vec![plane(0.5), cube(0.5)]);
    slippery.bodies[1].material.friction_dynamic = 0.3;
    assert!(refusal(&slippery).contains("friction"));
    let bare =
        Shape::Mesh { vertices: Arc::new([Vec3::zeros()]), triangles: Arc::new([]), control: None };
    let bare = Body { shape: bare, ..plane(0.5) };
    let reason = refusal(&touching(10.0, vec![plane(0.5), bare]));
    assert!(reason.starts_with("body 1"), "{reason}");
    let crowd = (0..33).map(|i| Body { group: Some(i), ..cube(0.0) }).collect();
    assert!(refusal(&touching(10.0, crowd)).contains("groups"));
}
