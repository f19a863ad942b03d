//! Energies of points in a step's equations: gradients, and blocks between all pairs of ends.
//!
//! An end fixed to a body is the point `p + r` with `r = R a`. A small motion moves it by `dp + dt x r`, so a
//! gradient `g` counts as `(g, r x g)`; as the lever turns, too, that torque changes by
//! `(dt x r) x g = (r g^T - (g.r) 1) dt` besides.

use taut_core::{
    Mat3, Vec3,
    constraint::Pose,
    energy::{ENDS_MAX, Points},
};
use taut_math::V3;

use crate::{
    linear::SparseSystem,
    topology::{EnergyBlocks, Topology},
};

/// What an energy pulls at one end with.
pub(crate) struct EndPull {
    /// First unknown of the end.
    pub(crate) dof: usize,
    /// Gradient of the energy [N].
    pub(crate) force: Vec3,
    /// The same about the centre of a body [N m].
    pub(crate) torque: Option<Vec3>,
    /// Size of what cancels in the force, rounding of places included [N].
    pub(crate) size: f64,
}

/// The points of an energy, and their levers from the centres of their bodies [m].
fn points(elastic: &EnergyBlocks, poses: &[Pose]) -> (Points<f64>, [Vec3; ENDS_MAX]) {
    let mut x = [V3::ZERO; ENDS_MAX];
    let mut arms = [Vec3::zeros(); ENDS_MAX];
    for (k, (&node, anchor)) in elastic.nodes.iter().zip(&elastic.anchors).enumerate() {
        arms[k] = poses[node].rotation * anchor;
        x[k] = V3::of(&(poses[node].position + arms[k]));
    }
    (x, arms)
}

/// The pull at every end that moves.
pub(crate) fn pulls<'a>(
    elastic: &'a EnergyBlocks,
    topology: &'a Topology,
    poses: &[Pose],
) -> impl Iterator<Item = EndPull> + 'a {
    let (energy, (x, arms)) = (&elastic.energy, points(elastic, poses));
    let rows = energy.rows(&x);
    let (tension, stiffness) = (energy.tension(&rows), energy.stiffness(&rows));
    let amax = |v: &V3<f64>| v.to_f64().amax();
    // What a row's value is a difference of.
    let reach = rows
        .gradient
        .map(|ends| ends.iter().zip(&x).map(|(gradient, x)| amax(gradient) * amax(x)).sum::<f64>());
    let parts = |r: usize| {
        let rounding = stiffness[r].iter().zip(&reach).map(|(k, reach)| k.abs() * reach);
        tension[r].abs() + rounding.sum::<f64>()
    };
    let sizes: Vec<f64> = (0..energy.size()).map(parts).collect();
    let moved = (0..energy.ends()).map(move |i| (i, &topology.nodes[elastic.nodes[i]]));
    moved.filter(|(_, node)| node.extent > 0).map(move |(i, node)| {
        let force = -energy.force(&x, i).to_f64();
        let torque = (node.extent == 6).then(|| arms[i].cross(&force));
        let terms = sizes.iter().zip(&rows.gradient).map(|(size, ends)| size * amax(&ends[i]));
        EndPull { dof: node.dof, force, torque, size: terms.fold(0.0, f64::max) }
    })
}

/// Energy [J].
pub(crate) fn energy(elastic: &EnergyBlocks, poses: &[Pose]) -> f64 {
    elastic.energy.energy(&points(elastic, poses).0)
}

/// Adds the derivatives of an energy's pulls, with a share `bent` of what its rows' curvature and the
/// turning of levers give.
pub(crate) fn assemble(
    elastic: &EnergyBlocks,
    topology: &Topology,
    poses: &[Pose],
    bent: f64,
    scale: &[f64],
    matrix: &mut SparseSystem,
) {
    let (energy, (x, arms)) = (&elastic.energy, points(elastic, poses));
    let mut slots = topology.slots[elastic.slots..].iter();
    let blocks = energy.blocks(&x, bent);
    let ends = || (0..energy.ends()).map(|i| (i, &topology.nodes[elastic.nodes[i]]));
    for (i, node) in ends() {
        let force = -energy.force(&x, i).to_f64();
        let turning = arms[i] * force.transpose() - Mat3::identity() * force.dot(&arms[i]);
        for (j, other) in ends() {
            let block = Mat3::from_fn(|r, c| blocks[i][j].0[r].0[c]);
            for k in 0..node.extent {
                for l in 0..other.extent {
                    let mut value = moved(k, &arms[i]).dot(&(block * moved(l, &arms[j])));
                    if i == j && k >= 3 && l >= 3 {
                        value += bent * turning[(k - 3, l - 3)];
                    }
                    let slot = slots.next().expect("one slot per entry");
                    matrix.add(*slot, value * scale[node.dof + k] * scale[other.dof + l]);
                }
            }
        }
    }
}

/// How a point at lever `arm` moves with unknown `k` of its node.
fn moved(k: usize, arm: &Vec3) -> Vec3 {
    let axis = |k| Vec3::ith_axis(k).into_inner();
    if k < 3 { axis(k) } else { axis(k - 3).cross(arm) }
}
