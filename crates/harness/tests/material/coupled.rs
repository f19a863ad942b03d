//! Elastic material beside affine bodies in one solve, against the reference.
//!
//! Where nothing touches, both solve the same equations of implicit Euler. Contacts are hard in one and stiff in the
//! other, and an affine body turns along a chord where a rigid one turns along an arc: both tell how far apart they may be.

use taut_core::{Scene, State, load::load_str};

use crate::begin;

/// A scene of these entries in which things touch, or not.
fn load(contacts: &str, text: &str) -> Scene {
    let text = format!("(contacts: {contacts}, gravity: (0, 0, -10), dt: 0.01, {text})");
    load_str(&text, "material.ron", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

/// Largest distance of any body or particle from where it is in another state [m].
fn apart(a: &State, b: &State) -> f64 {
    let bodies = a.bodies.iter().zip(&b.bodies).map(|(a, b)| (a.position - b.position).norm());
    let particles = a.particles.iter().zip(&b.particles);
    bodies
        .chain(particles.map(|(a, b)| (a.position - b.position).norm()))
        .fold(0.0, |most, one| if one > most || one.is_nan() { one } else { most })
}

/// Largest distance from the reference at any of the first `steps` [m].
fn off(scene: &Scene, settings: &str, iterations: u32, steps: u32) -> f64 {
    let mut run = begin("mabd-cpu", settings, scene, iterations);
    let mut reference = begin("newton", "()", scene, 1);
    let each = (0..steps).map(|_| apart(run.step(), reference.step()));
    each.fold(0.0, |most: f64, one| if one > most || one.is_nan() { one } else { most })
}

const EXACT: &str = "(elastic_tolerance: 1e-11)";

#[test]
fn what_hangs_moves_as_in_the_reference() {
    for model in ["neo_hookean", "neo_hookean_log", "stvk", "corotated"] {
        let scene = load(
            "false",
            &format!(
                "particles: [solid(name: \"c\", shape: lattice(size: (0.4, 0.2, 0.2), counts: (4, 2, 2)), position: (0.2, 0, 0),
                density: 800, held: [first_x], elastic: (model: {model}, young: 1e5, poisson: 0.3))]"
            ),
        );
        let off = off(&scene, EXACT, 60, 30);
        assert!(off < 1e-8, "{model}: {off:e} m");
    }
    let sheet = load(
        "false",
        "particles: [cloth(name: \"s\", counts: (6, 6), start: (0, 0, 0), along: (0.1, 0, 0), across: (0, 0.1, 0),
        density: 300, thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3), bending: (), held: [corners])]",
    );
    let off = off(&sheet, EXACT, 200, 30);
    assert!(off < 1e-8, "a sheet: {off:e} m");
}

#[test]
fn what_hangs_on_a_joint_of_a_body_moves_as_in_the_reference() {
    // The body does not turn, so that chord and arc are one.
    let scene = load(
        "false",
        "bodies: [body(name: \"b\", shape: box(size: (0.3, 0.3, 0.1)), density: 500, position: (0, 0, 0.5))],
        particles: [solid(name: \"c\", shape: lattice(size: (0.2, 0.2, 0.4), counts: (2, 2, 4)), position: (0, 0, 0.2),
            density: 800, held: [first_z], elastic: (young: 1e5, poisson: 0.3))],
        joints: [ball(a: \"b\", b: \"c[1,1,4]\", at: (0, 0, 0.4))]",
    );
    let off = off(&scene, EXACT, 60, 20);
    assert!(off < 1e-8, "{off:e} m");
}

#[test]
fn a_soft_cube_falls_on_a_plate_as_in_the_reference() {
    let scene = load(
        "(margin: 0.01)",
        "bodies: [body(name: \"plate\", shape: box(size: (2, 2, 0.1)), motion: static, position: (0, 0, -0.05))],
        particles: [solid(name: \"c\", shape: lattice(size: (0.2, 0.2, 0.2), counts: (2, 2, 2)), position: (0, 0, 0.12),
            density: 500, friction: 0, group: 1, elastic: (young: 1e5, poisson: 0.3))]",
    );
    // What a contact gives way falls as its stiffness grows, and what rests sinks by less than layers times g h^2 / 1000.
    let settings =
        |scale: f64| format!("(elastic_tolerance: 1e-11, contact_stiffness_scale: {scale})");
    let [soft, stiff] = [1e3, 1e6].map(|scale| off(&scene, &settings(scale), 100, 40));
    assert!(soft < 1e-4 && stiff < 2e-3 * soft, "{soft:e} m, {stiff:e} m");
}

#[test]
fn a_soft_ball_falls_on_a_net_as_in_the_reference() {
    // Hung on springs: a taut net of rigid links has no finite forces.
    let scene = load(
        "(margin: 0.01)",
        "springs: [
            linear(a: \"world\", b: \"net_hub[0,0]\", anchor_a: (-0.1, -0.1, 0.3), stiffness: 100),
            linear(a: \"world\", b: \"net_hub[2,0]\", anchor_a: (0.1, -0.1, 0.3), stiffness: 100),
            linear(a: \"world\", b: \"net_hub[0,2]\", anchor_a: (-0.1, 0.1, 0.3), stiffness: 100),
            linear(a: \"world\", b: \"net_hub[2,2]\", anchor_a: (0.1, 0.1, 0.3), stiffness: 100)],
        bodies: [net(name: \"net\", n: 3, start: (-0.1, -0.1, 0), spacing: 0.1, socket: 0.02, pinned: nothing,
            hub: (shape: sphere(radius: 0.02), density: 2000, group: 1, friction: 0),
            rod: (shape: box(size: (0.06, 0.03, 0.03)), density: 2000, group: 1, friction: 0))],
        particles: [solid(name: \"ball\", shape: sphere(radius: 0.06, spacing: 0.04), position: (0, 0, 0.09),
            density: 100, friction: 0, group: 2, elastic: (young: 1e4, poisson: 0.3))]",
    );
    let settings = "(elastic_tolerance: 1e-10, contact_stiffness_scale: 1e5)";
    let off = off(&scene, settings, 200, 12);
    assert!(off < 1e-3, "{off:e} m");
}
