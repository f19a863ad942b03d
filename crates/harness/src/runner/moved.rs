//! Starts that rounding cannot tell apart.

use taut_core::{BitHash, Scene, Vec3};

/// Coordinates are moved by this many units in the last place.
const ULPS: f64 = 2.0;

/// The scene with every coordinate that forces move shifted by two units in the last place of the larger of its
/// body's size and its distance from the origin, up or down as the seed has it.
pub fn moved_start(scene: &Scene, seed: u32) -> Scene {
    let mut moved = scene.clone();
    let shift = |node: usize, position: &mut Vec3, size: f64| {
        let scale = position.norm().max(size);
        let step = ULPS * (scale.next_up() - scale);
        for axis in 0..3 {
            let mut hash = BitHash::default();
            hash.text(&format!("{seed} {node} {axis}"));
            // The lowest bit of this hash is that of the text's bytes; the highest are mixed.
            let up = hash.value() >> 63 == 1;
            position[axis] += if up { step } else { -step };
        }
    };
    for (i, body) in moved.bodies.iter_mut().enumerate().filter(|(_, body)| body.is_dynamic()) {
        // Twice the radius of gyration.
        let size = 2.0 * (body.inertia.trace() / (2.0 * body.mass)).sqrt();
        shift(i, &mut body.position, size);
    }
    let bodies = moved.bodies.len();
    for (i, particle) in moved.particles.iter_mut().enumerate().filter(|(_, p)| p.mass > 0.0) {
        shift(bodies + i, &mut particle.position, 0.0);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_differ_by_rounding_and_by_seed() {
        let text = "(contacts: false, bodies: [
            body(name: \"a\", shape: sphere(radius: 1), mass: 1, position: (3, 0, 0)),
            body(name: \"b\", shape: sphere(radius: 1), mass: 1, motion: static),
        ])";
        let scene = taut_core::load::load_str(text, "test", &[]).unwrap().scene;
        let starts: Vec<Scene> = (0..8).map(|seed| moved_start(&scene, seed)).collect();
        for start in &starts {
            let off = start.bodies[0].position - scene.bodies[0].position;
            assert!(off.iter().all(|x| x.abs() == 2.0 * (3.0_f64.next_up() - 3.0)), "{off}");
            assert_eq!(start.bodies[1].position, scene.bodies[1].position);
        }
        let unlike = |i: usize| starts[i].bodies[0].position != starts[0].bodies[0].position;
        assert!((1..8).any(unlike));
        assert_eq!(moved_start(&scene, 3).bodies[0].position, starts[3].bodies[0].position);
    }
}
