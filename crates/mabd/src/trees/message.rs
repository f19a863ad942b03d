//! What groups of bodies tell their joints on the way to the roots, and hear from them on the way back.

use taut_math::{Fused, LANES, Number, Wide};

use super::{block::Square, side::TurnRows};
use crate::lane::{M, ZERO3, matrix};

/// What a group of bodies shows to the joints to its parents.
#[derive(Clone, Copy)]
pub(super) struct UpMessage<const N: usize> {
    pub(super) own: Square<N>,
    /// Diagonal before anything was eliminated.
    pub(super) scale: [Fused; N],
    pub(super) tip: [Fused; N],
    /// Frames of the bodies; of springs only.
    pub(super) at: M,
}

impl<const N: usize> UpMessage<N> {
    pub(super) const NONE: Self = Self {
        own: [[Fused::ZERO; N]; N],
        scale: [Fused::ZERO; N],
        tip: [Fused::ZERO; N],
        at: [ZERO3; 3],
    };

    /// Becomes what four bodies show that are not side by side; `all` begins with group `base`.
    #[inline(always)]
    pub(super) fn gather(&mut self, all: &[Self], base: usize, nodes: &[u32; LANES]) {
        let from = nodes.map(|node| &all[node as usize / LANES - base]);
        let lane = nodes.map(|node| node as usize % LANES);
        for i in 0..N {
            for j in 0..=i {
                self.own[i][j] = Fused::gather(|k| from[k].own[i][j].0[lane[k]]);
            }
            self.scale[i] = Fused::gather(|k| from[k].scale[i].0[lane[k]]);
            self.tip[i] = Fused::gather(|k| from[k].tip[i].0[lane[k]]);
        }
    }
}

/// Rows of springs of four bodies that are not side by side; `all` begins with group `base`.
#[inline(always)]
pub(super) fn gather_turns(all: &[TurnRows], base: usize, nodes: &[u32; LANES]) -> TurnRows {
    let from = nodes.map(|node| &all[node as usize / LANES - base]);
    let lane = nodes.map(|node| node as usize % LANES);
    let bend = |i: usize| Fused::gather(|k| from[k].bend[i].0[lane[k]]);
    let turn = Fused::gather(|k| from[k].turn.0[lane[k]]);
    TurnRows { turn, bend: [bend(0), bend(1), bend(2)] }
}

/// Frames of four bodies that are not side by side; `all` begins with group `base`.
#[inline(always)]
pub(super) fn gather_frames<const N: usize>(
    all: &[UpMessage<N>],
    base: usize,
    nodes: &[u32; LANES],
) -> M {
    let from = nodes.map(|node| &all[node as usize / LANES - base].at);
    let lane = nodes.map(|node| node as usize % LANES);
    matrix(|i, j| Fused::gather(|k| from[k][j][i].0[lane[k]]))
}

/// The multipliers of a joint, and the load of its springs on the child's frame in world axes.
#[derive(Clone, Copy)]
pub(super) struct DownMessage<const N: usize> {
    pub(super) multipliers: [Fused; N],
    pub(super) load: M,
}

impl<const N: usize> DownMessage<N> {
    pub(super) const NONE: Self = Self { multipliers: [Fused::ZERO; N], load: [ZERO3; 3] };

    /// Those of four joints that are not side by side; `all` begins with the joints `base`.
    #[inline(always)]
    pub(super) fn gather(all: &[Self], base: usize, from: &[u32; LANES]) -> Self {
        let lane = from.map(|at| at as usize % LANES);
        // What hangs on nothing is pulled by nothing.
        let at = |at: u32| all.get((at as usize / LANES).wrapping_sub(base));
        let from = from.map(|joint| at(joint).unwrap_or(&Self::NONE));
        let mut out = Self::NONE;
        for i in 0..N {
            out.multipliers[i] = Fused::gather(|k| from[k].multipliers[i].0[lane[k]]);
        }
        if N > 3 {
            out.load = matrix(|i, j| Fused::gather(|k| from[k].load[j][i].0[lane[k]]));
        }
        out
    }
}

/// Messages of two depths that follow each other.
pub(super) type UpPair<const N: usize> = [Vec<UpMessage<N>>; 2];
pub(super) type DownPair<const N: usize> = [Vec<DownMessage<N>>; 2];
