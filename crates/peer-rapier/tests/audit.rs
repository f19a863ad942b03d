//! The engine holds what the scene says, and nothing of its own in silence.

use taut_core::{
    Scene, Vec3,
    scene::{Body, JointKind},
};
use taut_fixtures::{Run, build, cube, empty, file, pair};
use taut_peer_rapier::{BACKEND_F32, BACKEND_F64};

#[test]
fn scenes_are_compiled_as_they_are() {
    let mut scenes: Vec<Scene> =
        ["pyramid", "chain50-swing", "pile", "bridge"].map(|name| file(name, &[])).into();
    let kinds = [JointKind::Hinge, JointKind::Prismatic, JointKind::Cylindrical, JointKind::Fixed];
    scenes.extend(kinds.map(pair));
    for scene in scenes {
        for backend in [&BACKEND_F64, &BACKEND_F32] {
            let audit = build(backend, &scene, "()").unwrap().audit().unwrap();
            assert!(audit.deviations.is_empty() && audit.untold.is_empty(), "{audit:?}");
            assert_eq!(audit.laws.is_empty(), scene.joints.is_empty(), "{audit:?}");
        }
    }
}

#[test]
fn springs_are_no_joints_and_principal_axes_are_as_precise_as_numbers() {
    let scenes = ["two-springs", "shapes"].map(|name| file(name, &[]));
    for scene in &scenes {
        let double = build(&BACKEND_F64, scene, "()").unwrap().audit().unwrap();
        assert!(double.deviations.is_empty(), "{double:?}");
    }
    let single = build(&BACKEND_F32, &scenes[1], "()").unwrap().audit().unwrap().deviations;
    assert!(single.len() == 1 && single[0].contains("in single precision"), "{single:?}");
}

#[test]
fn speeds_have_no_bound() {
    let fast = Body { velocity: Vec3::new(1000.0, 0.0, 0.0), ..cube(0.0) };
    let scene = Scene { bodies: vec![fast], ..empty(0.0) };
    for backend in [&BACKEND_F64, &BACKEND_F32] {
        let mut run = Run::new(backend, &scene, "()", 4);
        let moved = run.step().bodies[0].position.x;
        assert!((moved - 1000.0 * scene.dt).abs() < 1e-3, "{moved} m");
    }
}
