//! Elimination along the joints (Eq. 36 to 41), between passes over bodies.
//!
//! With `D_j` the block of joint `j` and `O_j` the one that couples it to the next,
//! `K_j = D_j^-1 O_j`, `y_j = D_j^-1 b_j`, `D_(j+1) -= O_j^T K_j`, `b_(j+1) -= O_j^T y_j`, and back
//! `lambda_j = y_j - K_j lambda_(j+1)`. Rows are those of the left body's point minus the right one's.

use taut_core::Vec3;

use super::{BLOCK, Chains, Task, local::Alone};
use crate::{
    dual::blocks::invert_three,
    lane::{LANES, Lanes, add, group, plus},
    node::Nodes,
};

/// What a joint takes over from the body before it: 3x3 blocks by rows.
struct Carry {
    block: [f64; 9],
    point: [f64; 3],
    /// Diagonal of the block before anything was eliminated.
    scale: [f64; 3],
}

impl Carry {
    const NONE: Self = Self { block: [0.0; 9], point: [0.0; 3], scale: [0.0; 3] };
}

/// Blocks and points of the bodies of one block: left with left, right with right (upper triangles),
/// left with right, left point, right point.
type Passed = [[Lanes; 27]; BLOCK];

#[inline(always)]
fn at<const N: usize>(passed: &[Lanes; 27], first: usize, k: usize) -> [f64; N] {
    let mut out = [0.0; N];
    for c in 0..N {
        out[c] = passed[first + c].0[k];
    }
    out
}

#[inline(always)]
fn full([a, b, c, d, e, f]: [f64; 6]) -> [f64; 9] {
    [a, b, c, b, d, e, c, e, f]
}

/// Eliminates all joints, from the first body to the last.
#[inline(always)]
pub(super) fn forward(chains: &mut Chains, nodes: &Nodes, task: &Task<'_>) {
    let groups = nodes.start.groups.len();
    let mut passed: Passed = [[Lanes::ZERO; 27]; BLOCK];
    let (mut chain, mut carry) = (0, held(chains, nodes, 0));
    for first in (0..groups).step_by(BLOCK) {
        let last = groups.min(first + BLOCK);
        for index in first..last {
            pass(chains, nodes, task, index, &mut passed[index - first]);
        }
        for node in first * LANES..nodes.count().min(last * LANES) {
            let (body, k) = (&passed[node / LANES - first], node % LANES);
            let joint = node + chain;
            let own = full(at(body, 0, k));
            let mut block = carry.block;
            for c in 0..9 {
                block[c] += own[c];
            }
            let [s1, s2, s3] = carry.scale;
            let scale = [s1 + own[0], s2 + own[4], s3 + own[8]];
            let ([p1, p2, p3], left) = (carry.point, at::<3>(body, 21, k));
            let gap = [p1 - left[0], p2 - left[1], p3 - left[2]];
            // The coupling is minus the block between the two anchors.
            let mut coupling: [f64; 9] = at(body, 12, k);
            for entry in &mut coupling {
                *entry = -*entry;
            }
            let (factor, answer) = eliminate(chains, joint, (block, scale), gap, &coupling);
            let right = full(at(body, 6, k));
            let point: [f64; 3] = at(body, 24, k);
            carry.scale = [right[0], right[4], right[8]];
            // O^T K and O^T y.
            for i in 0..3 {
                for j in 0..3 {
                    let product = coupling[i] * factor[j]
                        + coupling[3 + i] * factor[3 + j]
                        + coupling[6 + i] * factor[6 + j];
                    carry.block[3 * i + j] = right[3 * i + j] - product;
                }
                let product = coupling[i] * answer[0]
                    + coupling[3 + i] * answer[1]
                    + coupling[6 + i] * answer[2];
                carry.point[i] = point[i] - product;
            }
            if chains.ends[chain] as usize == node + 1 {
                close(chains, nodes, &carry, joint + 1);
                chain += 1;
                carry = held(chains, nodes, joint + 2);
            }
        }
    }
}

/// What a group of bodies passes on.
#[inline(always)]
fn pass(chains: &Chains, nodes: &Nodes, task: &Task<'_>, index: usize, passed: &mut [Lanes; 27]) {
    let constants = &chains.constants[chains.group_of[index] as usize];
    let alone = Alone::new(nodes, constants, task, index);
    alone.pass(constants, passed);
}

/// `D^-1 O` and `D^-1 b` of a joint, which are kept.
#[inline(always)]
fn eliminate(
    chains: &mut Chains,
    joint: usize,
    (mut block, mut scale): ([f64; 9], [f64; 3]),
    gap: [f64; 3],
    coupling: &[f64; 9],
) -> ([f64; 9], [f64; 3]) {
    let (mut factor, mut answer) = ([0.0; 9], [0.0; 3]);
    if let Some(slot) = chains.slots[joint].filter(|_| !chains.broken[joint]) {
        for i in 0..3 {
            block[4 * i] += slot.compliance;
            scale[i] += slot.compliance;
        }
        invert_three(&mut block, &scale);
        for i in 0..3 {
            for j in 0..3 {
                factor[3 * i + j] = block[3 * i] * coupling[j]
                    + block[3 * i + 1] * coupling[3 + j]
                    + block[3 * i + 2] * coupling[6 + j];
            }
            answer[i] =
                block[3 * i] * gap[0] + block[3 * i + 1] * gap[1] + block[3 * i + 2] * gap[2];
        }
    }
    (chains.factors[joint], chains.forces[joint]) = (factor, answer);
    (factor, answer)
}

/// What the left end of a chain hangs on.
#[inline(always)]
fn held(chains: &Chains, nodes: &Nodes, joint: usize) -> Carry {
    let Some((node, anchor)) = chains.held.get(&(joint as u32)) else { return Carry::NONE };
    let place = nodes.place(*node);
    let point: Vec3 = place.frame * anchor + place.origin;
    Carry { point: point.into(), ..Carry::NONE }
}

/// The joint right of the last body.
#[inline(always)]
fn close(chains: &mut Chains, nodes: &Nodes, carry: &Carry, joint: usize) {
    let end = held(chains, nodes, joint);
    let ([p1, p2, p3], [q1, q2, q3]) = (carry.point, end.point);
    let gap = [p1 - q1, p2 - q2, p3 - q3];
    eliminate(chains, joint, (carry.block, carry.scale), gap, &[0.0; 9]);
}

/// Finds the multipliers from the last joint to the first and moves the bodies.
#[inline(always)]
pub(super) fn backward(chains: &mut Chains, nodes: &mut Nodes, task: &Task<'_>) {
    let groups = nodes.start.groups.len();
    let mut chain = chains.ends.len();
    for index in (0..groups).rev() {
        // Forces on the left and the right of each body.
        let mut forces = [[Lanes::ZERO; 3]; 2];
        for node in (index * LANES..nodes.count().min((index + 1) * LANES)).rev() {
            if chain > 0 && chains.ends[chain - 1] as usize == node + 1 {
                chain -= 1;
            }
            let joint = node + chain;
            let next = chains.forces[joint + 1];
            let factor = &chains.factors[joint];
            let force = &mut chains.forces[joint];
            for i in 0..3 {
                force[i] -= factor[3 * i] * next[0]
                    + factor[3 * i + 1] * next[1]
                    + factor[3 * i + 2] * next[2];
                forces[0][i].0[node % LANES] = -force[i];
                forces[1][i].0[node % LANES] = next[i];
            }
        }
        let constants = &chains.constants[chains.group_of[index] as usize];
        let alone = Alone::new(nodes, constants, task, index);
        let (frame, origin, load) = alone.under(constants, forces);
        nodes.tension[index] = [-load[0], -load[1], -load[2]];
        if !task.probes {
            let moved = &nodes.moved.groups[index];
            let (before, shift) = (crate::lane::frame(moved), crate::lane::origin(moved));
            nodes.moved.groups[index] = group(plus(before, frame), add(shift, origin));
        }
    }
}
