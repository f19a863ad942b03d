//! Round shapes, as surfaces of revolution about z with [`FACETS`] sides.

use std::f64::consts::{FRAC_PI_2, TAU};

use taut_core::Vec3;

use super::{FACETS, Polyhedron};

/// Rings of a hemisphere between equator and pole.
const RINGS: u32 = 5;

/// A profile of rings, as radius and height [m] from below upwards, closed by flat ends or by poles (radius zero).
fn revolved(profile: &[(f64, f64)]) -> Polyhedron {
    let mut vertices = Vec::new();
    let mut rings: Vec<Vec<u32>> = Vec::new();
    for &(radius, z) in profile {
        let start = vertices.len() as u32;
        if radius == 0.0 {
            vertices.push(Vec3::new(0.0, 0.0, z));
            rings.push(vec![start]);
            continue;
        }
        let point = |i: u32| {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(FACETS)).sin_cos();
            Vec3::new(radius * cos, radius * sin, z)
        };
        vertices.extend((0..FACETS).map(point));
        rings.push((start..start + FACETS).collect());
    }
    let mut faces = Vec::new();
    if let Some(lowest) = rings.first().filter(|ring| ring.len() > 1) {
        faces.push(lowest.iter().rev().copied().collect());
    }
    for pair in rings.windows(2) {
        let at = |ring: &[u32], i: u32| ring[i as usize % ring.len()];
        for i in 0..FACETS {
            let (low, high) = (&pair[0], &pair[1]);
            let mut face = vec![at(low, i), at(low, i + 1), at(high, i + 1), at(high, i)];
            face.dedup();
            if face.first() == face.last() {
                face.pop();
            }
            faces.push(face);
        }
    }
    if let Some(highest) = rings.last().filter(|ring| ring.len() > 1) {
        faces.push(highest.clone());
    }
    Polyhedron::new(vertices, faces, false)
}

/// A cylinder along z; its sides are smooth, its ends flat.
pub(super) fn cylinder(radius: f64, half_length: f64) -> Polyhedron {
    let solid = revolved(&[(radius, -half_length), (radius, half_length)]);
    solid.smoothed(|face, point| {
        let side = face.normal.z.abs() < 0.5;
        side.then(|| Vec3::new(point.x, point.y, 0.0) / radius)
    })
}

/// A cylinder along z with hemispheres at its ends.
pub(super) fn capsule(radius: f64, half_length: f64) -> Polyhedron {
    let ring = |i: u32| {
        let (sin, cos) = (FRAC_PI_2 * f64::from(i) / f64::from(RINGS)).sin_cos();
        (if i == RINGS { 0.0 } else { radius * cos }, radius * sin + half_length)
    };
    let upper: Vec<(f64, f64)> = (0..=RINGS).map(ring).collect();
    let lower = upper.iter().rev().map(|&(r, z)| (r, -z));
    // The two equators of a ball are one ring.
    let skipped = usize::from(half_length == 0.0);
    let profile: Vec<(f64, f64)> = lower.chain(upper.iter().skip(skipped).copied()).collect();
    let solid = revolved(&profile);
    solid.smoothed(move |_, point| {
        let core = Vec3::new(0.0, 0.0, point.z.clamp(-half_length, half_length));
        Some((point - core) / radius)
    })
}

/// A sphere.
pub(super) fn ball(radius: f64) -> Polyhedron {
    Polyhedron { ball: Some(radius), ..capsule(radius, 0.0) }
}
