//! Energies between particles that are quadratic in their places, of flat folds and ties: what they pull a node with is a
//! sum over its neighbours, `f_i = sum_j k_ij (x_j - x_i)`, and `sum_j k_ij` its second derivative, both the same in every
//! state.
//!
//! A node of a sheet is in twelve folds, but has eighteen neighbours in all, so that their shares are added up beforehand.

use taut_core::energy::{ENDS_MAX, WeightedSum};
use taut_math::{Number, Real, V3, Wide};
use taut_model::Csr;

use crate::{block::Block, spot::Spot};

/// A sum and the nodes of its points.
pub(crate) type SumOnNodes = (WeightedSum<f64>, [u32; ENDS_MAX]);

/// What one neighbour adds.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbour<R> {
    node: u32,
    /// `k_ij` [N/m].
    stiffness: R,
}

/// The neighbours of all nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stencils<R> {
    neighbours: Csr<Neighbour<R>>,
    /// `sum_j k_ij` of each node [N/m].
    stiffness: Vec<R>,
}

impl<R: Real> Stencils<R> {
    /// Those of sums over particles with these nodes, of which there are `nodes`.
    pub(crate) fn new(nodes: usize, sums: &[SumOnNodes]) -> Self {
        let pairs = sums.iter().flat_map(|(sum, ends)| {
            let pair = move |i: usize, j: usize| (ends[i], ends[j], -sum.coupling(i, j));
            let others = |i: usize| (0..ENDS_MAX).filter(move |&j| j != i);
            (0..ENDS_MAX).flat_map(move |i| others(i).map(move |j| pair(i, j)))
        });
        let mut pairs: Vec<(u32, u32, f64)> = pairs.collect();
        // Stable: what is added up comes in the order of the scene.
        pairs.sort_by_key(|&(node, other, _)| (node, other));
        let (mut stiffness, mut shared) = (vec![0.0; nodes], Vec::<(u32, u32, f64)>::new());
        for (node, other, share) in pairs {
            stiffness[node as usize] += share;
            match shared.last_mut() {
                Some((n, o, sum)) if (*n, *o) == (node, other) => *sum += share,
                _ => shared.push((node, other, share)),
            }
        }
        let neighbours = shared.iter().map(|&(node, other, stiffness)| {
            (node, Neighbour { node: other, stiffness: R::of(stiffness) })
        });
        Self {
            neighbours: Csr::new(nodes, neighbours),
            stiffness: stiffness.into_iter().map(R::of).collect(),
        }
    }

    /// Whether a node has any.
    pub(crate) fn any(&self, node: u32) -> bool {
        !self.neighbours.of(node as usize).is_empty()
    }

    /// Adds what the neighbours of a node pull it with.
    #[inline(always)]
    pub(crate) fn add_to(&self, block: &mut Block<R>, node: u32, spots: &[Spot<R>]) {
        let neighbours = self.neighbours.of(node as usize);
        if neighbours.is_empty() {
            return;
        }
        let (own, mut force) = (&spots[node as usize], R::Wide::ZERO);
        for one in neighbours {
            force += own.to(&spots[one.node as usize]) * R::Wide::splat(one.stiffness);
        }
        let [x, y, z, _] = force.lanes();
        block.fl += V3([x, y, z]);
        let stiffness = self.stiffness[node as usize];
        block.ll.0[..3].iter_mut().for_each(|entry| *entry += stiffness);
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Vec3,
        energy::{Points, RowEnergy},
    };

    use super::*;

    /// A strip of triangles: two folds over edges that share a node, and three nodes of each in both.
    fn strip() -> (Vec<SumOnNodes>, [Vec3; 5]) {
        let places = [[0.0, 0.0], [1.0, 0.1], [0.4, 0.9], [0.6, -1.1], [1.5, 1.0]]
            .map(|[x, y]| Vec3::new(x, y, 0.0));
        let folds = [[0, 1, 2, 3], [1, 2, 4, 0]].map(|nodes: [u32; ENDS_MAX]| {
            let rest = nodes.map(|n| places[n as usize]);
            (WeightedSum::bending(&rest, 3.0).unwrap(), nodes)
        });
        (folds.to_vec(), places)
    }

    #[test]
    fn neighbours_pull_as_all_folds_together() {
        let (folds, places) = strip();
        let stencils = Stencils::<f64>::new(6, &folds);
        let spots: Vec<Spot<f64>> = (0..6)
            .map(|n| {
                let mut spot = Spot::default();
                spot.put_place(places.get(n).map_or(V3::ZERO, V3::of));
                spot.put_step(V3([0.1, -0.3, 0.7]) * ((3 * n) % 4) as f64);
                spot
            })
            .collect();
        for node in 0..5 {
            let mut found = Block::default();
            stencils.add_to(&mut found, node, &spots);
            let (mut force, mut stiffness) = (V3::ZERO, 0.0);
            for (sum, nodes) in &folds {
                let Some(i) = nodes.iter().position(|&n| n == node) else { continue };
                let x: Points<f64> = nodes.map(|n| {
                    let spot = &spots[n as usize];
                    spot.place() + spot.step()
                });
                let (pull, block) = sum.vertex(&x, i);
                force += pull;
                stiffness += block.0[0].0[0];
            }
            assert!((found.fl - force).norm() < 1e-12 * force.norm(), "{node}");
            for (c, &entry) in found.ll.0.iter().enumerate() {
                let expected = if c < 3 { stiffness } else { 0.0 };
                assert!((entry - expected).abs() < 1e-12 * stiffness, "{node}");
            }
        }
        assert!(!stencils.any(5) && stencils.neighbours.of(1).len() == 4);
    }
}
