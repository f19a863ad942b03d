//! Elastic elements against the bar that they are a mesh of.

use std::f64::consts::{FRAC_PI_2, PI};

use taut_core::Scene;

use super::{
    Property,
    analytic::falls,
    subject::{Plan, Stop, Subject, ensure},
    timed,
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "material_rings", scene: "bar-of-tetrahedra", test: |s| rings(s, &BAR) },
    Property { name: "material_rings", scene: "strip-of-triangles", test: |s| rings(s, &STRIP) },
    Property { name: "material_falls", scene: "block", test: |s| drops(s, BLOCK) },
    Property { name: "material_falls", scene: "sheet", test: |s| drops(s, SHEET) },
];

/// A metre of material of 1 MPa and 1000 kg/m^3 that does not contract sideways, held at `x = 0`.
struct RingingBar {
    particles: &'static str,
    tip: usize,
}

const BAR: RingingBar = RingingBar {
    particles: "solid(name: \"b\", shape: lattice(size: (1, 0.1, 0.1), counts: (8, 1, 1)), position: (0.5, 0, 0),
        density: 1000, held: [first_x], elastic: (young: 1e6, poisson: 0))",
    tip: 4 * 8,
};

const STRIP: RingingBar = RingingBar {
    particles: "cloth(name: \"s\", counts: (9, 2), start: (0, 0, 0), along: (0.125, 0, 0), across: (0, 0.1, 0),
        density: 1000, thickness: 0.1, held: [first_x], membrane: (young: 1e6, poisson: 0))",
    tip: 2 * 8,
};

/// Free material of 10 MPa: what joins its particles is 10,000 times as stiff as what moves them.
const BLOCK: &str =
    "solid(name: \"b\", shape: lattice(size: (0.4, 0.3, 0.2), counts: (4, 3, 2)), density: 1000,
    elastic: (young: 1e7, poisson: 0.3))";
const SHEET: &str =
    "cloth(name: \"s\", counts: (6, 5), start: (0, 0, 0), along: (0.1, 0, 0), across: (0, 0.1, 0),
    density: 1000, thickness: 0.001, membrane: (young: 1e7, poisson: 0.3))";

/// Frames of half a period.
const FRAMES: u32 = 100;
/// How far the end is pulled at the start [m].
const AMPLITUDE: f64 = 1e-3;

/// The lowest mode of a bar that is held at one end, `omega = pi/(2 L) sqrt(E / rho)`.
fn scene(mesh: &RingingBar) -> Scene {
    let mut scene = timed::scene(&format!("particles: [{}]", mesh.particles));
    let omega = FRAC_PI_2 * (1e6_f64 / 1000.0).sqrt();
    scene.dt = PI / omega / f64::from(FRAMES);
    for particle in &mut scene.particles {
        particle.position.x += AMPLITUDE * (FRAC_PI_2 * particle.position.x).sin();
    }
    scene
}

/// After half a period the end is as far on the other side, but for what steps of first order take from the
/// amplitude, `omega^2 h^2 / 2` in each, and for the mesh.
fn rings(subject: &Subject<'_>, mesh: &RingingBar) -> Result<(), Stop> {
    let scene = scene(mesh);
    let plan = Plan::new(FRAMES, 10);
    let end = subject.end(&scene, plan)?;
    let found = (end.particles[mesh.tip].position.x - 1.0) / AMPLITUDE;
    let step = PI / f64::from(FRAMES) * subject.integrated(&scene, plan)? / scene.dt;
    let kept = (1.0 + step * step).powf(-0.5 * PI / step.max(1e-9));
    let allowed = subject.allowed("material_rings", 0.03);
    ensure((found + kept).abs() < allowed, || {
        format!("is at {found:.4} of its amplitude after half a period, {:.4} expected", -kept)
    })
}

/// Material that nothing holds falls as one particle does, and keeps its shape.
fn drops(subject: &Subject<'_>, particles: &str) -> Result<(), Stop> {
    let mut scene = timed::scene(&format!("particles: [{particles}]"));
    scene.gravity.z = -9.81;
    let plan = Plan::new(60, 4);
    let end = subject.end(&scene, plan)?;
    for (particle, state) in scene.particles.iter().zip(&end.particles) {
        let start = (particle.position, particle.velocity);
        falls(subject, &scene, plan, start, (state.position, state.velocity))?;
    }
    Ok(())
}
