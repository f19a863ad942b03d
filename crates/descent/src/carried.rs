//! How much mass hangs on each joint: a guess of its load before anything has moved.
//!
//! The joints are followed breadth first from whatever is held in place (or, where nothing is, from
//! the heaviest node). Each node hands its mass and what it carries itself to the joints that lead
//! back, in equal shares. On trees this is exact: the mass beyond the joint.

use std::collections::VecDeque;

use crate::element::{Definition, Role};

/// Mass that each element carries [kg]; zero for springs and for joints between equals.
///
/// `masses` are the nodes' masses, zero for fixed ones, and `ends` the nodes of each element.
pub fn carried_masses(masses: &[f64], definitions: &[Definition], ends: &[[u32; 2]]) -> Vec<f64> {
    let joints: Vec<(usize, usize, usize)> = definitions
        .iter()
        .zip(ends)
        .enumerate()
        .filter(|(_, (definition, _))| definition.role == Role::Lock && definition.is_hard())
        .map(|(index, (_, &[a, b]))| (index, a as usize, b as usize))
        .collect();
    let neighbours = adjacency(masses.len(), &joints);
    let (depth, order) = depths(masses, &neighbours);
    let mut load = masses.to_vec();
    let mut carried = vec![0.0; definitions.len()];
    for &node in order.iter().rev() {
        let back = || neighbours[node].iter().filter(|&&(other, _)| depth[other] < depth[node]);
        let mut parents: Vec<usize> = back().map(|&(other, _)| other).collect();
        parents.sort_unstable();
        parents.dedup();
        let share = load[node] / parents.len().max(1) as f64;
        // Several elements of one joint, such as a point and a twist, carry the same mass.
        back().for_each(|&(_, element)| carried[element] = share);
        parents.into_iter().for_each(|other| load[other] += share);
    }
    carried
}

/// For each node, its neighbours and the elements that lead to them.
fn adjacency(nodes: usize, joints: &[(usize, usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    let mut neighbours = vec![vec![]; nodes];
    for &(element, a, b) in joints {
        neighbours[a].push((b, element));
        neighbours[b].push((a, element));
    }
    neighbours
}

/// Distance of each node from what holds it, and the moving nodes in the order they were reached.
fn depths(masses: &[f64], neighbours: &[Vec<(usize, usize)>]) -> (Vec<u32>, Vec<usize>) {
    let mut depth = vec![u32::MAX; masses.len()];
    let mut order = vec![];
    let mut queue = VecDeque::new();
    let mut visit = |starts: &mut dyn Iterator<Item = usize>, depth: &mut Vec<u32>| {
        for start in starts {
            depth[start] = 0;
            queue.push_back(start);
        }
        while let Some(node) = queue.pop_front() {
            if masses[node] > 0.0 {
                order.push(node);
            }
            for &(other, _) in &neighbours[node] {
                if depth[other] == u32::MAX {
                    depth[other] = depth[node] + 1;
                    queue.push_back(other);
                }
            }
        }
    };
    visit(&mut (0..masses.len()).filter(|&n| masses[n] == 0.0), &mut depth);
    let mut heaviest: Vec<usize> = (0..masses.len()).filter(|&n| masses[n] > 0.0).collect();
    heaviest.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]).then(a.cmp(&b)));
    for node in heaviest {
        if depth[node] == u32::MAX {
            visit(&mut std::iter::once(node), &mut depth);
        }
    }
    (depth, order)
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Scene, Vec3,
        scene::{Body, Endpoint, Joint, JointKind},
    };

    use super::*;
    use crate::element::{AngularRows, definitions};

    fn carried(masses: &[f64], joints: &[[usize; 2]]) -> Vec<f64> {
        let mut scene = Scene::default();
        for &mass in masses {
            let body = Body::solid_box(Vec3::repeat(1.0), mass);
            scene.bodies.push(if mass == 0.0 { body.fixed() } else { body });
        }
        scene.joints = joints
            .iter()
            .map(|&[a, b]| Joint::new(JointKind::Ball, Endpoint::Body(a), Endpoint::Body(b)))
            .collect();
        let narrow = |i: usize| u32::try_from(i).unwrap();
        let ends: Vec<[u32; 2]> = joints.iter().map(|&[a, b]| [narrow(a), narrow(b)]).collect();
        carried_masses(masses, &definitions(&scene, AngularRows::RestPose), &ends)
    }

    #[test]
    fn a_hanging_chain_carries_what_is_below() {
        assert_eq!(carried(&[0.0, 1.0, 2.0, 50.0], &[[0, 1], [1, 2], [2, 3]]), [53.0, 52.0, 50.0]);
    }

    #[test]
    fn a_free_chain_hangs_on_its_heaviest_body() {
        assert_eq!(carried(&[30.0, 1.0, 1.0, 40.0], &[[0, 1], [1, 2], [2, 3]]), [30.0, 31.0, 32.0]);
    }

    #[test]
    fn two_ropes_share_a_load() {
        let joints = [[0, 1], [0, 2], [1, 3], [2, 3]];
        assert_eq!(carried(&[0.0, 1.0, 1.0, 10.0], &joints), [6.0, 6.0, 5.0, 5.0]);
    }
}
