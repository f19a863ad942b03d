//! Bodies over surfaces of triangles.

use taut_collide_gpu::Room;
use taut_core::{Quat, Vec3, scene::Shape};
use taut_gpu::Gpu;

use crate::{
    common::{body, scene, terrain},
    compare::{Random, against, compare, detector, plain, query, rounded, shape},
};

/// Bodies of one kind over a surface of triangles: a bumpy one, and a level one whose edges meet theirs exactly.
fn check_surface(kind: usize, first: bool) {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(kind as u64 + 40);
    for level in [false, true] {
        let bumps = |x: f64, y: f64| 0.3 * (1.7 * x).sin() * (1.3 * y).cos();
        let ground = terrain(16, 0.75, |x, y| if level { 0.0 } else { bumps(x, y) });
        let mut ground = body(ground).fixed();
        ground.position = Vec3::new(0.5, -0.25, 0.125);
        if !level {
            ground.rotation = Quat::from_scaled_axis(Vec3::new(0.1, -0.2, 0.3));
        }
        let count = 5000;
        let mut bodies = vec![];
        for _ in 0..count {
            let mut body = body(if level { plain(kind) } else { shape(kind, &mut random) });
            // They touch the surface only.
            body.group = Some(1);
            if level {
                let whole = |random: &mut Random| random.below(40) as f64 * 0.125 - 2.5;
                let turn =
                    |random: &mut Random| random.below(5) as f64 * std::f64::consts::FRAC_PI_4;
                body.rotation = Quat::from_euler_angles(turn(&mut random), 0.0, turn(&mut random));
                // Its lowest point touches, or is a little above or below.
                let (size, lowest) = match body.shape {
                    Shape::Box { half } => (half, 0.0),
                    Shape::Capsule { radius, half_length } => (Vec3::z() * half_length, radius),
                    _ => (Vec3::zeros(), 0.5),
                };
                let rows = body.rotation.to_rotation_matrix().into_inner().abs();
                let lowest = lowest + (rows * size).z + random.below(3) as f64 * 0.01 - 0.01;
                body.position = Vec3::new(whole(&mut random), whole(&mut random), 0.125 + lowest);
            } else {
                let at = random.vector(5.5);
                body.position = Vec3::new(at.x, at.y, at.z * 0.15 + 0.3);
                body.rotation = Quat::from_scaled_axis(random.vector(3.0));
                (body.velocity, body.omega) = (random.vector(0.3), random.vector(0.5));
            }
            bodies.push(body);
        }
        let tally = against(&gpu, ground, first, bodies);
        println!("surface, kind {kind}, level {level}: {tally:?}");
        assert!(tally.touching > 1500 && tally.different == 0, "{tally:?}");
        // Where edges meet exactly, rounding decides to which of two triangles a point belongs.
        assert!(level || tally.within_rounding < 50, "{tally:?}");
    }
}

#[test]
fn spheres_on_surfaces_are_as_on_the_cpu() {
    check_surface(1, true);
}

#[test]
fn capsules_on_surfaces_are_as_on_the_cpu() {
    check_surface(2, false);
}

#[test]
fn boxes_on_surfaces_are_as_on_the_cpu() {
    check_surface(0, true);
}

/// Each box lies on hundreds of triangles and has tens of patches, so that loops over all pairs of triangles
/// would not end on software Vulkan.
#[test]
fn large_boxes_lie_on_fine_surfaces() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(11);
    let fine = terrain(20, 0.3, |x, y| 0.02 * (3.0 * x).sin() * (2.0 * y).cos());
    let mut bodies = vec![body(fine).fixed()];
    let count = 100;
    for _ in 0..count {
        let half = Vec3::new(1.0 + random.unit(), 0.3 + random.unit(), 0.5);
        let mut body = body(Shape::Box { half });
        body.group = Some(1);
        let tilt = [0.04 * random.unit(), 0.04 * random.unit(), 3.0 * random.unit()];
        body.rotation = Quat::from_scaled_axis(tilt.into());
        body.position = random.vector(1.5);
        body.position.z = 0.5 + 0.05 * random.unit();
        bodies.push(body);
    }
    let scene = scene(bodies);
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let mut detector = detector(&gpu, &scene, Room::of(&scene));
    let ours = query(&gpu, &mut detector, &placements);
    let tally = compare(&scene, &placements, &ours, (0..count).map(|k| [0, k + 1]));
    println!("large boxes: {tally:?}");
    assert!(ours.manifolds.len() > 20 * tally.touching, "{}", ours.manifolds.len());
    // Of a box's many patches, any may be made by rounding; the whole box counts as different then.
    assert!(tally.different * 20 < tally.touching, "{tally:?}");
}
