//! What groups of bodies tell their joints on the way to the roots, and hear from them on the way back.

use taut_math::{Fused, LANES, Number, Wide};

use crate::lane::{M, Square, ZERO3, less_rows};

/// Four places, and which of the lanes there.
pub(super) type Lanes<'a, T> = [(&'a T, usize); LANES];

/// What is known of four nodes or joints, `of` telling where for groups: in place if they are one, else gathered into `room`.
/// What gathers is not to be inlined: compilers would then take all numbers apart that it may have put together.
#[inline(always)]
pub(super) fn together<'a, T>(
    nodes: &[u32; LANES],
    of: impl Fn(usize) -> &'a T,
    room: &'a mut T,
    gather: impl FnOnce(&mut T, Lanes<'a, T>),
) -> &'a T {
    let first = nodes[0];
    if first.is_multiple_of(LANES as u32) && *nodes == [first, first + 1, first + 2, first + 3] {
        return of(first as usize / LANES);
    }
    gather(room, nodes.map(|node| (of(node as usize / LANES), node as usize % LANES)));
    room
}

/// Gathers a matrix.
#[inline(never)]
pub(super) fn gather_matrix(to: &mut M, from: Lanes<'_, M>) {
    for (j, column) in to.iter_mut().enumerate() {
        for (i, entry) in column.iter_mut().enumerate() {
            *entry = Fused::gather(|k| from[k].0[j][i].0[from[k].1]);
        }
    }
}

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

    /// Becomes what four bodies show, but for their frames.
    #[inline(never)]
    pub(super) fn gather(&mut self, from: Lanes<'_, Self>) {
        for i in 0..N {
            for j in 0..=i {
                self.own[i][j] = Fused::gather(|k| from[k].0.own[i][j].0[from[k].1]);
            }
            self.scale[i] = Fused::gather(|k| from[k].0.scale[i].0[from[k].1]);
            self.tip[i] = Fused::gather(|k| from[k].0.tip[i].0[from[k].1]);
        }
    }
}

/// The multipliers of the joints to children in one place.
#[derive(Clone, Copy)]
pub(super) struct ChildReply<const N: usize> {
    /// Where the own joint exerts nothing.
    pub(super) alone: [Fused; N],
    /// By how much they are less under unit multipliers of the own joint, by rows of these.
    pub(super) own: Square<N>,
}

impl<const N: usize> ChildReply<N> {
    pub(super) const NONE: Self = Self { alone: [Fused::ZERO; N], own: [[Fused::ZERO; N]; N] };

    /// The multipliers under those of the own joint.
    #[inline(always)]
    pub(super) fn under(&self, own: &[Fused; N]) -> [Fused; N] {
        less_rows(own, &self.own, self.alone)
    }
}

/// The multipliers of a joint, and the load of its springs on the child's frame in world axes.
#[derive(Clone, Copy)]
pub(super) struct DownMessage<const N: usize> {
    pub(super) multipliers: [Fused; N],
    pub(super) load: M,
}

impl<const N: usize> DownMessage<N> {
    pub(super) const NONE: Self = Self { multipliers: [Fused::ZERO; N], load: [ZERO3; 3] };

    /// Becomes those of four joints.
    #[inline(never)]
    pub(super) fn gather(&mut self, from: Lanes<'_, Self>) {
        for i in 0..N {
            self.multipliers[i] = Fused::gather(|k| from[k].0.multipliers[i].0[from[k].1]);
        }
        if N > 3 {
            gather_matrix(&mut self.load, from.map(|(message, lane)| (&message.load, lane)));
        }
    }
}

/// Messages of two depths that follow each other.
pub(super) type UpPair<const N: usize> = [Vec<UpMessage<N>>; 2];
pub(super) type DownPair<const N: usize> = [Vec<DownMessage<N>>; 2];
