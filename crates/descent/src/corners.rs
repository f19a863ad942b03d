//! Corners of energies between particles, as many of one node at a time as there are lanes.
//!
//! What a corner calculates is little beside what it reads. So all that is read of a node's corners lies in one row,
//! and where the others are is read in whole registers that are turned into lanes afterwards.

use taut_core::energy::{CornerLanes, ENDS_MAX, Energy, SheetCorner, SolidCorner};
use taut_math::{LANES, M3, Number, Real, Sym3, V3, Wide};
use taut_model::{Csr, narrow};

use crate::{block::Block, spot::Spot};

/// One corner and the nodes of the others.
#[derive(Clone, Copy, Debug, Default)]
struct KeptCorner<C> {
    others: [u32; ENDS_MAX],
    corner: C,
}

/// Some corners of one node, a lane each.
#[derive(Clone, Copy, Debug)]
struct CornerBatch<C, const OTHERS: usize> {
    corners: C,
    /// Nodes of the others; the node itself in lanes without a corner.
    others: [[u32; LANES]; OTHERS],
    /// How many lanes have a corner, the first ones.
    count: u32,
}

impl<C: Default, const OTHERS: usize> Default for CornerBatch<C, OTHERS> {
    fn default() -> Self {
        Self { corners: C::default(), others: [[0; LANES]; OTHERS], count: 0 }
    }
}

/// All corners of one kind, node by node.
#[derive(Clone, Debug, Default)]
pub(crate) struct CornerBatches<C: Default, const OTHERS: usize> {
    batches: Csr<CornerBatch<C, OTHERS>>,
}

/// Whether corners know all that an energy between particles pulls with.
pub(crate) fn is_kept_by_corners<R: Real>(energy: &Energy<R>) -> bool {
    SolidCorner::of(energy, 0).is_some() || SheetCorner::of(energy, 0).is_some()
}

impl<C: Default + Copy, const OTHERS: usize> CornerBatches<C, OTHERS> {
    /// The corners of this kind, of energies with their nodes, of which there are `nodes`.
    pub(crate) fn new<'a, R: Real>(
        nodes: usize,
        energies: impl Iterator<Item = (&'a Energy<R>, &'a [u32; ENDS_MAX])> + Clone,
    ) -> Self
    where
        C: CornerLanes<R::Wide, OTHERS>,
    {
        let of_one = |(energy, nodes): (&'a Energy<R>, &'a [u32; ENDS_MAX])| {
            (0..energy.ends()).filter_map(move |i| {
                let mut others = [0; ENDS_MAX];
                for (other, j) in others.iter_mut().zip(C::others(i)) {
                    *other = nodes[j];
                }
                Some((nodes[i], KeptCorner { others, corner: C::of(energy, i)? }))
            })
        };
        let all = Csr::new(nodes, energies.flat_map(of_one));
        let batches = (0..narrow(nodes)).flat_map(|node| {
            let chunks = all.of(node as usize).chunks(LANES);
            chunks.map(move |chunk| (node, CornerBatch::of::<R>(node, chunk)))
        });
        Self { batches: Csr::new(nodes, batches) }
    }

    /// Whether a node has any.
    pub(crate) fn any(&self, node: u32) -> bool {
        !self.batches.of(node as usize).is_empty()
    }

    /// Adds what the corners of a node pull with.
    #[inline(always)]
    pub(crate) fn add_to<R: Real>(&self, block: &mut Block<R>, node: u32, spots: &[Spot<R>])
    where
        C: CornerLanes<R::Wide, OTHERS>,
    {
        let batches = self.batches.of(node as usize);
        if batches.is_empty() {
            return;
        }
        let (V3([fx, fy, fz]), Sym3([xx, yy, zz, xy, xz, yz])) = (block.fl, block.ll);
        let mut sums = [[fx, fy, fz, xx], [yy, zz, xy, xz]].map(R::Wide::from_lanes);
        let mut last = yz;
        for batch in batches {
            batch.add_to(node, spots, &mut sums, &mut last);
        }
        let [[fx, fy, fz, xx], [yy, zz, xy, xz]] = sums.map(R::Wide::lanes);
        block.fl = V3([fx, fy, fz]);
        block.ll = Sym3([xx, yy, zz, xy, xz, last]);
    }
}

impl<C, const OTHERS: usize> CornerBatch<C, OTHERS> {
    fn of<R: Real>(node: u32, chunk: &[KeptCorner<C::One>]) -> Self
    where
        C: CornerLanes<R::Wide, OTHERS>,
    {
        let mut corners = [C::One::default(); LANES];
        let mut others = [[node; LANES]; OTHERS];
        for (lane, one) in chunk.iter().enumerate() {
            corners[lane] = one.corner;
            (0..OTHERS).for_each(|k| others[k][lane] = one.others[k]);
        }
        let count = narrow(chunk.len());
        Self { corners: C::side_by_side(corners), others, count }
    }

    /// The edges to the others [m].
    #[inline(always)]
    fn edges<R: Real>(&self, node: u32, spots: &[Spot<R>]) -> [V3<R::Wide>; OTHERS] {
        let own = spots[node as usize];
        let mut edges = [V3::<R::Wide>::ZERO; OTHERS];
        for (edge, others) in edges.iter_mut().zip(&self.others) {
            let mut columns = [R::Wide::ZERO; LANES];
            for (column, &n) in columns.iter_mut().zip(others) {
                *column = own.to(&spots[n as usize]);
            }
            let [x, y, z, _] = R::Wide::transposed(columns);
            *edge = V3([x, y, z]);
        }
        edges
    }

    /// Adds forces and second derivatives to their sums, corner by corner.
    #[inline(always)]
    fn add_to<R: Real>(&self, node: u32, spots: &[Spot<R>], sums: &mut [R::Wide; 2], last: &mut R)
    where
        C: CornerLanes<R::Wide, OTHERS>,
    {
        let (V3([fx, fy, fz]), M3([xs, ys, zs])) = self.corners.systems(self.edges(node, spots));
        let first = R::Wide::transposed([fx, fy, fz, xs.0[0]]);
        let second = R::Wide::transposed([ys.0[1], zs.0[2], xs.0[1], xs.0[2]]);
        let third = ys.0[2].lanes();
        for lane in 0..self.count as usize {
            sums[0] += first[lane];
            sums[1] += second[lane];
            *last += third[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Vec3,
        energy::{Elasticity, Membrane, NeoHookean},
    };

    use super::*;

    /// An energy and its nodes.
    type OnNodes = (Energy<f64>, [u32; ENDS_MAX]);

    /// Five tetrahedra and two triangles around node 0, and the places of all nodes.
    fn fan() -> (Vec<OnNodes>, Vec<Spot<f64>>) {
        let place = |k: u32| {
            let (sine, cosine) = (1.1 * f64::from(k)).sin_cos();
            Vec3::new(cosine, sine, 0.2 * f64::from(k % 3))
        };
        let corners = |k: u32| [Vec3::zeros(), place(k), place(k + 1), Vec3::z() * 2.0];
        let material = Elasticity { young: 300.0, poisson: 0.3 };
        let mut energies = vec![];
        for k in 1..6 {
            let solid = NeoHookean::new(&corners(k), material).unwrap();
            energies.push((Energy::NeoHookean(solid), [0, k, k + 1, 7]));
            if k < 3 {
                let [a, b, c, _] = corners(k);
                let membrane = Membrane::new(&[a, b, c], 0.1, 300.0, 0.3).unwrap();
                energies.push((Energy::Membrane(membrane), [0, k, k + 1, 8]));
            }
        }
        let spot = |k: u32| {
            let mut spot = Spot::default();
            let rest = if k == 7 { Vec3::z() * 2.0 } else { place(k) * f64::from(k.min(1)) };
            spot.put_place(V3::of(&rest));
            spot.put_step(V3([0.1, -0.07, 0.05]) * f64::from(k % 4));
            spot
        };
        (energies, (0..9).map(spot).collect())
    }

    #[test]
    fn sums_in_lanes_are_those_of_one_corner_after_the_other() {
        let (energies, spots) = fan();
        let all = energies.iter().map(|(energy, nodes)| (energy, nodes));
        let solids: CornerBatches<SolidCorner<_>, 3> = CornerBatches::new::<f64>(9, all.clone());
        let sheets: CornerBatches<SheetCorner<_>, 2> = CornerBatches::new::<f64>(9, all);
        for node in 0..9_u32 {
            let (mut found, mut expected) = (Block::default(), Block::default());
            solids.add_to(&mut found, node, &spots);
            sheets.add_to(&mut found, node, &spots);
            let edge = |n: u32| {
                let [own, other] = [node, n].map(|n| &spots[n as usize]);
                (other.place() - own.place()) + (other.step() - own.step())
            };
            let mut add = |(force, M3([xs, ys, zs])): (V3<f64>, M3<f64>)| {
                let upper = [xs.0[0], ys.0[1], zs.0[2], xs.0[1], xs.0[2], ys.0[2]];
                expected.ll = expected.ll.plus(Sym3(upper));
                expected.fl += force;
            };
            let own = |nodes: &[u32; ENDS_MAX]| nodes.iter().position(|&n| n == node);
            for (energy, nodes) in &energies {
                let corner = own(nodes).and_then(|i| Some((i, SolidCorner::of(energy, i)?)));
                if let Some((i, corner)) = corner {
                    add(corner.system(SolidCorner::<f64>::others(i).map(|j| edge(nodes[j]))));
                }
            }
            for (energy, nodes) in &energies {
                let corner = own(nodes).filter(|&i| i < energy.ends());
                let corner = corner.and_then(|i| Some((i, SheetCorner::of(energy, i)?)));
                if let Some((i, corner)) = corner {
                    add(corner.system(SheetCorner::<f64>::others(i).map(|j| edge(nodes[j]))));
                }
            }
            assert_eq!(found.fl.0, expected.fl.0, "{node}");
            assert_eq!(found.ll.0, expected.ll.0, "{node}");
            assert_eq!(node == 8, found.fl == V3::ZERO);
        }
    }
}
