//! Bodies that already overlap at the start of a scene, by the collision query that all backends use.

use std::collections::BTreeMap;

use taut_collide::ContactSet;
use taut_core::{Placement, Quat, Scene, Vec3, scene::Contacts};

/// Shallower overlaps are taken for neighbours that touch [m].
const DEPTH_MIN: f64 = 1e-6;
/// So many are spelled out; the rest is counted.
const LISTED_MAX: usize = 8;

/// One line for each pair that starts inside each other although nothing joins the bodies.
pub(crate) fn warnings(scene: &Scene) -> Vec<String> {
    let pairs = overlaps(scene);
    let name = |index: u32| {
        let index = index as usize;
        let (bodies, particles) = (scene.bodies.len(), scene.particles.len());
        let (list, i, name) = match index {
            i if i < bodies => ("bodies", i, scene.bodies[i].name.as_str()),
            i if i < bodies + particles => {
                ("particles", i - bodies, scene.particles[i - bodies].name.as_str())
            }
            i => ("touching triangles", i - bodies - particles, ""),
        };
        if name.is_empty() { format!("{list}[{i}]") } else { format!("`{name}`") }
    };
    let line = |(&[a, b], depth): (&[u32; 2], &f64)| {
        format!("{} and {} overlap by {depth:.3e} m at the start", name(a), name(b))
    };
    let mut lines: Vec<String> = pairs.iter().take(LISTED_MAX).map(line).collect();
    if pairs.len() > LISTED_MAX {
        lines.push(format!("{} more overlaps at the start", pairs.len() - LISTED_MAX));
    }
    lines
}

/// The greatest depth of each pair [m], sorted by pair.
fn overlaps(scene: &Scene) -> BTreeMap<[u32; 2], f64> {
    let mut pairs = BTreeMap::new();
    let Some(contacts) = scene.contacts else { return pairs };
    // Nothing moves and nothing is near: only what overlaps is left.
    let still = Scene { contacts: Some(Contacts { margin: 0.0, ..contacts }), ..scene.clone() };
    let broken = vec![false; scene.joints.len()];
    let Some(mut set) = ContactSet::new(&still) else { return pairs };
    let particles = scene.particles.iter().map(|particle| still_at(particle.position));
    let places = scene.bodies.iter().map(at_rest).chain(particles);
    for contact in &set.detect(places, &broken, scene.dt).contacts {
        let [a, b] = contact.nodes();
        if -contact.gap > DEPTH_MIN {
            let depth = pairs.entry([a.min(b), a.max(b)]).or_insert(0.0_f64);
            *depth = depth.max(-contact.gap);
        }
    }
    pairs
}

fn at_rest(body: &taut_core::scene::Body) -> Placement {
    Placement { rotation: body.rotation, ..still_at(body.position) }
}

fn still_at(position: Vec3) -> Placement {
    let (rotation, still) = (Quat::identity(), Vec3::zeros());
    Placement { position, rotation, velocity: still, omega: still }
}

#[cfg(test)]
mod tests {
    use taut_core::load::load_str;

    use super::*;

    fn said(text: &str) -> Vec<String> {
        warnings(&load_str(text, "test", &[]).expect("a good scene").scene)
    }

    #[test]
    fn only_bodies_that_overlap_are_named() {
        let text = "(bodies: [
            body(name: \"floor\", shape: box(size: (9, 9, 1)), motion: static),
            body(name: \"wall\", shape: box(size: (1, 9, 9)), motion: static, position: (4, 0, 0)),
            body(name: \"sunk\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.9)),
            body(name: \"free\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 3, 3)),
            body(name: \"laid\", shape: box(size: (1, 1, 1)), density: 1, position: (2, 0, 1)),
        ])";
        assert_eq!(said(text), ["`floor` and `sunk` overlap by 1.000e-1 m at the start"]);
        assert!(said(&text.replace("(bodies", "(contacts: false, bodies")).is_empty());
    }

    #[test]
    fn near_bodies_do_not_overlap() {
        // Turned by 45 degrees, the boxes' bounds overlap but not the boxes.
        let text = "(bodies: [
            body(name: \"ground\", shape: half_space, motion: static, position: (0, 0, -2)),
            body(name: \"a\", shape: box(size: (4, 0.1, 0.1)), density: 1,
                rotation: axis_angle(axis: (0, 1, 0), degrees: 45)),
            body(name: \"b\", shape: box(size: (4, 0.1, 0.1)), density: 1, position: (0.5, 0, 0),
                rotation: axis_angle(axis: (0, 1, 0), degrees: 45)),
        ])";
        assert!(said(text).is_empty());
        assert_eq!(said(&text.replace("(0.5, 0, 0)", "(0.05, 0, 0)")).len(), 1);
    }

    #[test]
    fn many_overlaps_are_counted() {
        let text = "(bodies: [repeat(count: 12, bodies: [
            body(shape: sphere(radius: 1), density: 1, position: (\"1.5*i\", 0, 0)),
        ])])";
        let said = said(text);
        assert_eq!(said.len(), LISTED_MAX + 1);
        assert_eq!(said[0], "bodies[0] and bodies[1] overlap by 5.000e-1 m at the start");
        assert_eq!(said[LISTED_MAX], "3 more overlaps at the start");
    }
}
