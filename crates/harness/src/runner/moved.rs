//! Starts that rounding cannot tell apart, and how long runs from them stay together.

use std::ops::ControlFlow;

use taut_core::{BitHash, Scene, State, Vec3, labels};

use super::Observer;
use crate::{
    record::RunRow,
    ruler::{Moment, Sample},
};

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

/// So many bodies and particles tell the path of a scene that watches nothing.
const PLACES: usize = 64;
/// Paths have parted that are farther apart than this share of the scene's size.
const PARTED: f64 = 1e-3;

/// Where the bodies and particles that a scene watches are after each frame; of a scene that watches nothing, where
/// some are that are spread evenly over all.
#[derive(Clone, Debug)]
pub struct WatchedPath {
    nodes: Vec<usize>,
    size_m: f64,
    frames: Vec<Vec<Vec3>>,
}

impl WatchedPath {
    /// Will follow this scene.
    pub fn new(scene: &Scene) -> Self {
        let count = scene.bodies.len() + scene.particles.len();
        let nodes = match scene.watch.as_slice() {
            [] => (0..count).step_by(count.div_ceil(PLACES).max(1)).collect(),
            watched => watched.to_vec(),
        };
        let size_m = labels::size_m(scene, &scene.initial_state());
        Self { nodes, size_m, frames: Vec::new() }
    }

    /// Number of the first frame at which one of the others is farther from this path than 0.1 % of the scene's size,
    /// or has ended; `None` where all stay together.
    pub fn horizon(&self, others: &[Self]) -> Option<u32> {
        let apart = |frame: usize, other: &Self| match other.frames.get(frame) {
            Some(places) => {
                let pairs = self.frames[frame].iter().zip(places);
                // What is not a number is apart, too.
                !pairs.into_iter().all(|(a, b)| (a - b).norm() <= PARTED * self.size_m)
            }
            None => true,
        };
        let parted = |&frame: &usize| others.iter().any(|other| apart(frame, other));
        (0..self.frames.len()).find(parted).map(|frame| frame as u32 + 1)
    }

    fn places(&self, state: &State) -> Vec<Vec3> {
        let place = |&node: &usize| match node.checked_sub(state.bodies.len()) {
            None => state.bodies[node].position,
            Some(i) => state.particles[i].position,
        };
        self.nodes.iter().map(place).collect()
    }
}

impl Observer for WatchedPath {
    fn frame(&mut self, sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        if let Moment::Frame(_) = sample.moment {
            self.frames.push(self.places(sample.state));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_part_where_one_leaves_or_ends() {
        let path = |xs: &[f64]| WatchedPath {
            nodes: vec![0],
            size_m: 10.0,
            frames: xs.iter().map(|&x| vec![Vec3::new(x, 0.0, 0.0)]).collect(),
        };
        let own = path(&[0.0, 1.0, 2.0]);
        assert_eq!(own.horizon(&[path(&[0.009, 1.009, 2.009])]), None);
        assert_eq!(own.horizon(&[path(&[0.0, 1.0, 2.0]), path(&[0.0, 1.011, 2.0])]), Some(2));
        assert_eq!(own.horizon(&[path(&[0.0, 1.0])]), Some(3));
        assert_eq!(own.horizon(&[path(&[f64::NAN, 1.0, 2.0])]), Some(1));
    }

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
