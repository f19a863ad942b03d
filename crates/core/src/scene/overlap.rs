//! Bodies that may already touch at the start, by their bounding boxes.

use std::collections::BTreeSet;

use super::{Endpoint, Scene, validate::label};
use crate::math::Vec3;

/// Larger scenes are not searched: their files come from generators that were checked when small.
const BODIES_MAX: usize = 20_000;
/// Boxes that share less than this depth are taken for neighbours that touch [m].
const DEPTH_MIN: f64 = 1e-6;

/// One line for each pair whose boxes overlap though nothing joins the bodies.
///
/// Boxes are aligned with the world axes, so a line means that the bodies may overlap, not that they do.
pub(super) fn overlaps(scene: &Scene) -> Vec<String> {
    if scene.bodies.len() > BODIES_MAX {
        let count = scene.bodies.len();
        return vec![format!("{count} bodies are too many to look for overlaps at the start")];
    }
    let boxes: Vec<[Vec3; 2]> = scene.bodies.iter().map(bounds).collect();
    let joined = joined(scene);
    // Sorted by lower ends, only boxes that begin before the current one ends can meet it; along the
    // scene's longest side those are fewest.
    let axis = longest_side(&boxes);
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| boxes[a][0][axis].total_cmp(&boxes[b][0][axis]).then(a.cmp(&b)));
    let mut pairs = Vec::new();
    for (place, &a) in order.iter().enumerate() {
        for &b in &order[place + 1..] {
            if boxes[b][0][axis] >= boxes[a][1][axis] {
                break;
            }
            let pair = (a.min(b), a.max(b));
            if may_touch(scene, pair) && !joined.contains(&pair) {
                let depth = depth(&boxes[a], &boxes[b]);
                if depth > DEPTH_MIN {
                    pairs.push((pair, depth));
                }
            }
        }
    }
    pairs.sort_by_key(|(pair, _)| *pair);
    let name = |i: usize| label("bodies", i, &scene.bodies[i].name);
    let line = |&((a, b), depth): &((usize, usize), f64)| {
        format!(
            "{} and {} may overlap at the start, their boxes by {depth:.3e} m",
            name(a),
            name(b)
        )
    };
    pairs.iter().map(line).collect()
}

fn may_touch(scene: &Scene, (a, b): (usize, usize)) -> bool {
    let (a, b) = (&scene.bodies[a], &scene.bodies[b]);
    let same_group = a.group.is_some() && a.group == b.group;
    (a.is_dynamic() || b.is_dynamic()) && !same_group
}

/// Pairs that a joint keeps from touching.
fn joined(scene: &Scene) -> BTreeSet<(usize, usize)> {
    let pair = |a, b| match (a, b) {
        (Endpoint::Body(a), Endpoint::Body(b)) => Some((a.min(b), a.max(b))),
        _ => None,
    };
    scene.joints.iter().filter_map(|joint| pair(joint.a, joint.b)).collect()
}

/// Lower and upper corner in world axes [m].
fn bounds(body: &super::Body) -> [Vec3; 2] {
    let reach = |axis: usize, sign: f64| {
        let direction = body.rotation.inverse() * (Vec3::ith(axis, sign));
        sign * body.shape.support(&direction)
    };
    [-1.0, 1.0]
        .map(|sign| body.position + Vec3::new(reach(0, sign), reach(1, sign), reach(2, sign)))
}

/// The axis along which the boxes' lower corners are spread widest.
fn longest_side(boxes: &[[Vec3; 2]]) -> usize {
    let lower = boxes.iter().map(|[lower, _]| *lower);
    match (lower.clone().reduce(|a, b| a.inf(&b)), lower.reduce(|a, b| a.sup(&b))) {
        (Some(least), Some(most)) => (most - least).imax(),
        _ => 0,
    }
}

/// The least overlap along any axis [m], negative where there is none.
fn depth(a: &[Vec3; 2], b: &[Vec3; 2]) -> f64 {
    (a[1].inf(&b[1]) - a[0].sup(&b[0])).min()
}
