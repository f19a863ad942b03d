//! Searches by trees against looking at all, and meetings against the probe.

use std::sync::Arc;

use taut_core::{
    Quat,
    scene::{Body, Contacts, Shape},
};

use super::*;

/// A torus about z of so many vertices around and along, as a body of 1 kg.
fn torus(around: u32, along: u32) -> Body {
    let place = |i: u32, j: u32| {
        let [u, v] = [(i, around), (j, along)]
            .map(|(k, n)| std::f64::consts::TAU * f64::from(k) / f64::from(n));
        let out = 1.0 + 0.25 * u.cos();
        Vec3::new(out * v.cos(), out * v.sin(), 0.25 * u.sin())
    };
    let at = |i: u32, j: u32| i % around + j % along * around;
    let places = (0..along).flat_map(|j| (0..around).map(move |i| (i, j)));
    let quad = |(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
        [[a, b, c], [a, c, d]]
    };
    let shape = Shape::Mesh {
        vertices: places.clone().map(|(i, j)| place(i, j)).collect(),
        triangles: places.flat_map(quad).collect::<Arc<[_]>>(),
        control: None,
    };
    Body { shape, ..Body::solid_box(Vec3::repeat(1.0), 1.0) }
}

/// Rings in each other, a ball, a capsule and a half-space, all near each other.
fn crowd() -> Scene {
    let turned = |axis: Vec3, angle: f64, body: Body| Body {
        rotation: Quat::from_scaled_axis(axis.normalize() * angle),
        ..body
    };
    let round = |shape: Shape| Body { shape, ..torus(3, 3) };
    let plane = round(Shape::HalfSpace).fixed().at(Vec3::new(0.0, 0.0, -1.3));
    let bodies = vec![
        torus(12, 24),
        turned(Vec3::x(), 1.4, torus(10, 20).at(Vec3::new(0.9, 0.1, 0.0))),
        turned(Vec3::new(1.0, 2.0, 0.5), 0.7, torus(9, 16).at(Vec3::new(-0.3, -0.2, 0.8))),
        round(Shape::Sphere { radius: 0.5 }).at(Vec3::new(0.0, 0.1, 0.1)),
        round(Shape::Capsule { radius: 0.3, half_length: 0.4 }).at(Vec3::new(1.4, 0.0, 0.2)),
        plane,
    ];
    Scene { bodies, contacts: Some(Contacts::default()), ..Scene::default() }
}

/// How bodies move in a round: turning, stretched and sheared.
fn sweeps(scene: &Scene, round: usize) -> Vec<AffineSweep> {
    let mut count = 7919 * round;
    let mut next = || {
        count = (count * 1103 + 12345) % 65536;
        count as f64 / 32768.0 - 1.0
    };
    let mut sweep = |body: &Body| {
        let still =
            AffineSweep::still(body.rotation.to_rotation_matrix().into_inner(), body.position);
        if !body.is_dynamic() {
            return still;
        }
        let frame = still.frame + Mat3::from_fn(|_, _| 0.1 * next());
        let frame_move = Mat3::from_fn(|_, _| 0.1 * next());
        let position_move = Vec3::from_fn(|_, _| 0.3 * next());
        AffineSweep { frame, frame_move, position_move, ..still }
    };
    scene.bodies.iter().map(&mut sweep).collect()
}

#[test]
fn trees_find_what_looking_at_all_finds_in_the_same_order() {
    let scene = crowd();
    let [mut by_tree, mut plain] =
        [0, usize::MAX].map(|many| FeatureSearch::with_trees(&scene, 24, many));
    assert!(by_tree.sides.iter().all(Option::is_some) && plain.sides.iter().all(Option::is_none));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (mut one, mut other) = (Candidates::default(), Candidates::default());
    let mut over_plane = 0;
    for round in 0..8 {
        let sweeps = sweeps(&scene, round);
        for reach in [1e-3, 0.1] {
            plain.find(&sweeps, &[], reach, &mut one);
            assert!(one.pairs.len() > 1000);
            over_plane += one.planes.len();
            by_tree.find(&sweeps, &[], reach, &mut other);
            assert!(one.pairs == other.pairs && one.planes == other.planes);
            pool.install(|| by_tree.find(&sweeps, &[], reach, &mut other));
            assert!(one.pairs == other.pairs && one.planes == other.planes);
        }
    }
    assert!(over_plane > 0);
}

#[test]
fn whether_surfaces_meet_is_that_of_the_probe() {
    let mut scene = crowd();
    let probe = |scene: &Scene| {
        let mut probe = crate::SurfaceProbe::new(scene).unwrap();
        probe.touching(&scene.initial_state(), 0.0, 99)
    };
    for shift in 0..6 {
        scene.bodies[3].position.x = 0.15 * f64::from(shift);
        let search = FeatureSearch::new(&scene, 24);
        let still = |body: &Body| {
            AffineSweep::still(body.rotation.to_rotation_matrix().into_inner(), body.position)
        };
        let sweeps: Vec<AffineSweep> = scene.bodies.iter().map(still).collect();
        let pairs = (0..5).flat_map(|a| (a + 1..6).map(move |b| [a, b]));
        let meeting: Vec<[u32; 2]> =
            pairs.filter(|&pair| search.intersect(&sweeps, pair)).collect();
        assert_eq!(meeting, probe(&scene));
    }
}
