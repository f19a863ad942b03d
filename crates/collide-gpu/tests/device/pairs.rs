//! Pairs of bodies without meshes: ten thousand per kind, half of them random and half degenerate.

use taut_collide_gpu::Room;
use taut_core::{Quat, Scene, Vec3, scene::Shape};
use taut_gpu::Gpu;

use crate::{
    common::{body, scene},
    compare::{Random, against, compare, detector, plain, query, rounded, shape},
};

/// Pairs of two kinds of shapes, in cells of their own: half of them random, half degenerate.
fn pairs(kinds: [usize; 2], count: usize, random: &mut Random) -> Scene {
    let side = (count as f64).cbrt().ceil() as usize;
    let mut bodies = vec![];
    for k in 0..count {
        let cell = [k % side, k / side % side, k / side / side];
        let cell = Vec3::from(cell.map(|x| (x as f64 - side as f64 / 2.0) * 8.0));
        let odd = k % 2 == 1;
        for (which, &kind) in kinds.iter().enumerate() {
            let shape = if odd { plain(kind) } else { shape(kind, random) };
            let mut body = body(shape);
            body.position = cell;
            if odd {
                // Quarters of metres and eighths of turns.
                let offset =
                    Vec3::new(1.0, 1.0, 1.0).map(|x| x * (random.below(9) as f64 - 4.0) * 0.25);
                body.position += offset * which as f64;
                let angle = |random: &mut Random| {
                    (random.below(3) as f64)
                        * std::f64::consts::FRAC_PI_4
                        * (random.below(3) as f64)
                };
                body.rotation =
                    Quat::from_euler_angles(angle(random), angle(random), angle(random));
            } else {
                body.position += random.vector(1.0) * which as f64;
                body.rotation = Quat::from_scaled_axis(random.vector(3.0));
                body.velocity = random.vector(1.0);
                body.omega = random.vector(2.0);
            }
            bodies.push(body);
        }
    }
    scene(bodies)
}

fn check_pairs(kinds: [usize; 2], count: usize) {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = pairs(kinds, count, &mut Random(kinds[0] as u64 * 977 + kinds[1] as u64 + 1));
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let mut detector = detector(&gpu, &scene, Room::of(&scene));
    let ours = query(&gpu, &mut detector, &placements);
    let neighbours = (0..count as u32).map(|k| [2 * k, 2 * k + 1]);
    let tally = compare(&scene, &placements, &ours, neighbours);
    println!("{kinds:?}: {tally:?}");
    assert!(tally.touching > count / 10, "{tally:?}");
    assert_eq!(tally.different, 0, "{tally:?}");
    assert!(tally.within_rounding < count / 20, "{tally:?}");
    assert!(tally.level < count / 100 && tally.reordered < count / 100, "{tally:?}");
}

#[test]
fn boxes_are_as_on_the_cpu() {
    check_pairs([0, 0], 10_000);
}

#[test]
fn spheres_are_as_on_the_cpu() {
    check_pairs([1, 1], 10_000);
    check_pairs([1, 0], 10_000);
    check_pairs([0, 1], 10_000);
    check_pairs([1, 2], 10_000);
    check_pairs([2, 1], 10_000);
}

#[test]
fn capsules_are_as_on_the_cpu() {
    check_pairs([2, 2], 10_000);
}

#[test]
fn capsules_and_boxes_are_as_on_the_cpu() {
    check_pairs([2, 0], 10_000);
    check_pairs([0, 2], 10_000);
}

/// One half-space, and everything that can lie on it.
#[test]
fn half_spaces_are_as_on_the_cpu() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(5);
    for first in [true, false] {
        let count = 10_000;
        let mut bodies = vec![];
        for k in 0..count {
            let mut body = body(if k % 2 == 0 { shape(k % 3, &mut random) } else { plain(k % 3) });
            // Far enough from each other that only the half-space is near.
            let cell =
                Vec3::new((k % 100) as f64 * 4.0 - 200.0, (k / 100) as f64 * 4.0 - 200.0, 0.0);
            body.position = cell + random.vector(0.4);
            body.rotation = Quat::from_scaled_axis(random.vector(3.0));
            if k % 2 == 1 {
                body.position.z = random.below(5) as f64 * 0.25 - 0.25;
                body.rotation = Quat::from_euler_angles(random.below(4) as f64 * 0.25, 0.0, 0.5);
            } else {
                (body.velocity, body.omega) = (random.vector(1.0), random.vector(2.0));
            }
            bodies.push(body);
        }
        let mut plane = body(Shape::HalfSpace).fixed();
        plane.rotation = Quat::from_scaled_axis(Vec3::new(1e-3, 2e-3, 0.0));
        let tally = against(&gpu, plane, first, bodies);
        println!("half-space: {tally:?}");
        assert!(tally.touching > 3000 && tally.different == 0, "{tally:?}");
        assert!(tally.within_rounding < 500, "{tally:?}");
    }
}
