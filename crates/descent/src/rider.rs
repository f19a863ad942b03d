//! Points of triangles and edges, as nodes that follow the corners: `x = sum w_k x_k`.
//!
//! A patch has two nodes, and so has one with a triangle: behind all nodes of the scene there is one more for
//! each such side of a patch of the step. What acts on it acts on the corners with their shares, `F_k = w_k F`, and their
//! blocks are `w_k^2 H`.

use taut_collide::Site;
use taut_math::{Real, Sym3, V3};

use crate::{block::Block, node::SweepNode};

/// A point of a triangle or an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rider<R> {
    /// Nodes of the corners; of an edge the last one is there twice, the second time without a share.
    corners: [u32; 3],
    /// The share of each; they sum up to one.
    weights: [R; 3],
    /// How many corners there are.
    count: usize,
}

impl<R: Real> Rider<R> {
    /// What a site of a contact rides on; `node` numbers bodies and particles. `None` of one that is a node itself.
    pub(crate) fn of(site: &Site, node: impl Fn(u32) -> u32) -> Option<Self> {
        let shares = site.corners()?;
        let (corners, weights) = (shares.map(|(n, _)| node(n)), shares.map(|(_, w)| R::of(w)));
        Some(Self { corners, weights, count: site.shares().count() })
    }

    /// Nodes of the corners.
    #[inline]
    pub(crate) fn corners(&self) -> &[u32] {
        &self.corners[..self.count]
    }

    /// Where the corners have taken it since the step's start [m].
    #[inline]
    fn step(&self, nodes: &[SweepNode<R>]) -> V3<R> {
        let [a, b, c] = self.corners.map(|n| nodes[n as usize].step);
        let [wa, wb, wc] = self.weights;
        a * wa + (b * wb + c * wc)
    }

    /// Adds to the block of a corner what acts on the point.
    #[inline]
    pub(crate) fn share(&self, corner: u32, whole: &Block<R>, block: &mut Block<R>) {
        for (&own, &weight) in self.corners().iter().zip(&self.weights) {
            if own == corner {
                let square = weight * weight;
                block.ll = block.ll.plus(Sym3(whole.ll.0.map(|entry| entry * square)));
                block.fl += whole.fl * weight;
            }
        }
    }
}

/// Makes the nodes behind the first `own` ones those of these riders, where their corners are.
pub(crate) fn mount<R: Real>(nodes: &mut Vec<SweepNode<R>>, own: usize, riders: &[Rider<R>]) {
    if nodes.len() == own && riders.is_empty() {
        return;
    }
    nodes.resize(own + riders.len(), SweepNode::RESTING);
    for (i, rider) in riders.iter().enumerate() {
        carry(nodes, own + i, rider);
    }
}

/// Takes a rider to where its corners are.
#[inline]
pub(crate) fn carry<R: Real>(nodes: &mut [SweepNode<R>], place: usize, rider: &Rider<R>) {
    nodes[place].step = rider.step(nodes);
}
