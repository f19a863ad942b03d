//! Graphs of ball joints: bodies four at a time, their joints by one dual system.
//!
//! Nodes are put into groups of four that have equally many joints, in the order in which these are eliminated, so that
//! what a group adds to lies close together. What bodies do by themselves is found twice, before and after the dual
//! system is solved: to keep it would take longer than to find it again.

mod ends;

use taut_core::Vec3;
use taut_math::{Fused, LANES, Number};

use crate::{
    dual::{DualSystem, lines::Lines, order::Link},
    free::{FreeResponse, GroupTable, SolveTask},
    joint::JointElement,
    lane::{M, V, ZERO3, add, onto, plus, product, scale, sub, transposed, transposed_times},
    node::{BodyGroups, Nodes},
    polar::blockwise,
    settings::{Dual, MabdSettings, Polar},
    simd::{self, Once},
};
use ends::{ADDS, GraphEnds, GroupEnd, HeldEnd};

/// The ball joints of a graph, ready to be solved.
pub(crate) struct BallGraph {
    dual: DualSystem,
    ends: GraphEnds,
    constants: GroupTable,
    polar: Polar,
    /// Least softness of a body, in units of its inertia over `h^2` [1].
    softness_min: f64,
    /// Whether entries of the matrix need be cleared, else each is set before it is added to.
    clears: bool,
    /// Multipliers of the last solve, and the right-hand side.
    lambda: Vec<f64>,
    rhs: Vec<f64>,
    /// Rotations in the last solve, where iterations go on from each other; else those of the start of the step.
    rotations: Vec<M>,
    /// Largest squared norm of a strain after the last solve.
    strain: f64,
}

impl BallGraph {
    /// The graph of `elements` in their order, all of them ball joints; `None` where they are others. Puts the nodes
    /// into its order.
    pub(crate) fn new(
        (chosen, has_loops): (Dual, bool),
        (elements, links): (&[JointElement], &[Link]),
        (compliance, softness_min): (&[f64], f64),
        lines: &Lines,
        settings: &MabdSettings,
        nodes: &mut Nodes,
    ) -> Option<Self> {
        if !elements.iter().all(JointElement::is_point) {
            return None;
        }
        let count = nodes.count();
        let sizes = vec![3; elements.len()];
        let dual = DualSystem::new((chosen, has_loops), count, links, &sizes, lines, settings);
        let (order, ends) = GraphEnds::new(elements, count, &dual.blocks);
        nodes.rearrange(&order);
        let groups = order.len() / LANES;
        let zero = Vec3::zeros();
        let mut this = Self {
            constants: GroupTable::new(groups, |node| (*nodes.kind(node), zero, zero)),
            polar: settings.polar,
            softness_min,
            clears: !ends.covers(&dual.blocks),
            lambda: vec![0.0; compliance.len()],
            rhs: vec![0.0; compliance.len()],
            rotations: vec![[ZERO3; 3]; if settings.integrator.is_linear() { 0 } else { groups }],
            strain: f64::INFINITY,
            dual,
            ends,
        };
        this.set_active(&vec![true; elements.len()], compliance);
        Some(this)
    }

    /// Lets broken elements go; `compliance` is that of every row.
    pub(crate) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        self.ends.set_active(active, compliance);
    }

    /// Forgets all multipliers.
    pub(crate) fn forget(&mut self) {
        self.lambda.fill(0.0);
        self.dual.forget();
    }

    /// Writes the multipliers of the last solve, element by element.
    pub(crate) fn read(&self, lambda: &mut [f64]) {
        lambda.copy_from_slice(&self.lambda);
    }

    /// Largest squared norm of `A^T A - 1` that the last solve left.
    pub(crate) fn strain(&self) -> f64 {
        self.strain
    }

    /// Rotations of a group in the last solve, by columns, where they are not those of the start of the step.
    pub(crate) fn rotation(&self, group: usize) -> Option<&M> {
        self.rotations.get(group)
    }

    /// Whether a sparse factorisation solves the system now.
    pub(crate) fn is_direct(&self) -> bool {
        self.dual.is_direct()
    }

    /// One linearised solve of everything.
    pub(crate) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        self.constants.set_step(task.h, self.softness_min);
        let (mut bodies, held) = nodes.bodies(task.before);
        self.rhs.fill(0.0);
        for HeldEnd { element, node, anchor, sign } in &self.ends.held {
            let tip = held[*node as usize].point(anchor) * *sign;
            self.rhs[3 * element..3 * element + 3].copy_from_slice(tip.as_slice());
        }
        if self.clears {
            self.dual.blocks.values.fill(0.0);
        }
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                self.assemble(&bodies, task);
            },
        );
        self.dual.solve(&mut self.rhs, &self.lambda);
        std::mem::swap(&mut self.lambda, &mut self.rhs);
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                self.advance(&mut bodies, task);
            },
        );
        if task.resumes {
            std::mem::swap(&mut nodes.rate, &mut nodes.moved);
        }
    }

    /// Fills the dual matrix, `R W R^T` for every pair of joints of a body and `h^2/m`, and its right-hand side, the
    /// distance of anchors where bodies would go alone.
    #[inline(always)]
    fn assemble(&mut self, bodies: &BodyGroups<'_>, task: &SolveTask<'_>) {
        let values = &mut self.dual.blocks.values;
        let mut units = AxisUnits::NONE;
        for group in 0..self.constants.groups() {
            let constants = self.constants.at(group).constants;
            let free = FreeResponse::new(bodies, constants, task, group, self.polar);
            units.find(&free, self.ends.axes(group));
            let (ends, pairs) = (&self.ends, self.ends.at(group));
            match units.count {
                1 => units.add_pairs::<1>(ends, pairs, constants.reach, values),
                2 => units.add_pairs::<2>(ends, pairs, constants.reach, values),
                _ => units.add_pairs::<3>(ends, pairs, constants.reach, values),
            }
            for end in pairs.0 {
                let tip = scale(free.tip(self.ends.anchor(end)), end.sign());
                for (k, &element) in end.elements.iter().enumerate() {
                    let row = 3 * element as usize;
                    for (rhs, tip) in self.rhs[row..row + 3].iter_mut().zip(&tip) {
                        *rhs += tip.0[k];
                    }
                }
            }
        }
        for (&at, softness) in self.dual.blocks.diagonal.iter().zip(&self.ends.softness) {
            for (k, softness) in softness.iter().enumerate() {
                values[at as usize + 4 * k] += softness;
            }
        }
    }

    /// Moves bodies as the multipliers want it.
    #[inline(always)]
    fn advance(&mut self, bodies: &mut BodyGroups<'_>, task: &SolveTask<'_>) {
        let mut worst = [Fused::ZERO; 2];
        for group in 0..self.constants.groups() {
            let constants = self.constants.at(group).constants;
            let free = FreeResponse::new(bodies, constants, task, group, self.polar);
            let (mut load, mut sum) = ([ZERO3; 3], ZERO3);
            for end in self.ends.at(group).0 {
                let force = scale(forces(&self.lambda, end), end.sign());
                let turned = transposed_times(free.rotation, force);
                let [x, y, z] = self.ends.anchor(end);
                load = plus(load, [scale(turned, x), scale(turned, y), scale(turned, z)]);
                sum = add(sum, force);
            }
            let under = free.local.apply(load);
            let frame = [0, 1, 2].map(|c| sub(free.frame[c], under[c]));
            let turned = match self.polar {
                Polar::Exact | Polar::NewtonSchulz => product(free.rotation, frame),
                Polar::Blockwise => blockwise(free.at, frame),
            };
            let shift = sub(free.origin, scale(sum, constants.reach));
            let diagonal = [load[0][0], load[1][1], load[2][2]];
            free.finish((bodies, group), task, (turned, shift), diagonal, &mut worst);
            if let Some(rotation) = self.rotations.get_mut(group) {
                *rotation = free.rotation;
            }
        }
        let [most, sum] = worst;
        self.strain = if sum.largest().is_finite() { most.largest() } else { f64::INFINITY };
    }
}

/// What unit forces at unit lengths along the axes of four bodies do to points there, relative to the origin. Of what joints do
/// to each other these are the parts.
struct AxisUnits {
    /// By the axes of the point and the force, of those axes that joints of the group are on or between.
    blocks: [[M; 3]; 3],
    axes: [usize; 3],
    count: usize,
}

impl AxisUnits {
    const NONE: Self = Self { blocks: [[[ZERO3; 3]; 3]; 3], axes: [0; 3], count: 0 };

    /// Finds them for these axes.
    #[inline(always)]
    fn find(&mut self, free: &FreeResponse, used: [bool; 3]) {
        self.count = 0;
        for a in (0..3).filter(|&a| used[a]) {
            self.blocks[a][a] = free.along(a);
            for &b in &self.axes[..self.count] {
                self.blocks[a][b] = free.across(a, b);
                self.blocks[b][a] = transposed(self.blocks[a][b]);
            }
            self.axes[self.count] = a;
            self.count += 1;
        }
    }

    /// `sign` times what a unit force at `y` does to the point `x`, where there are so many axes.
    #[inline(always)]
    fn between<const AXES: usize>(&self, x: V, y: V, sign: Fused) -> M {
        let mut sum = [ZERO3; 3];
        for &i in &self.axes[..AXES] {
            let arm = x[i] * sign;
            for &j in &self.axes[..AXES] {
                let (amount, unit) = (arm * y[j], &self.blocks[i][j]);
                sum = [0, 1, 2].map(|c| onto(unit[c], amount, sum[c]));
            }
        }
        sum
    }

    /// Fills the blocks of the matrix of all pairs of ends of a group. Compilers take the lanes of a block apart as soon as it
    /// is made in one of several ways, so that each number of axes has this by itself.
    #[inline(always)]
    fn add_pairs<const AXES: usize>(
        &self,
        all: &GraphEnds,
        (ends, mut pairs): (&[GroupEnd], &[[u32; LANES]]),
        reach: Fused,
        values: &mut [f64],
    ) {
        for (i, end) in ends.iter().enumerate() {
            let (anchor, own_sign) = (all.anchor(end), end.sign());
            for other in &ends[..=i] {
                let sign = own_sign * other.sign();
                let mut block = self.between::<AXES>(anchor, all.anchor(other), sign);
                // Added after turning, else a rotation that is not quite one would open the joints.
                for (c, column) in block.iter_mut().enumerate() {
                    column[c] = reach.times_plus(sign, column[c]);
                }
                let Some((slots, rest)) = pairs.split_first() else { return };
                pairs = rest;
                for (k, &slot) in slots.iter().enumerate() {
                    put(values, slot, k, &block);
                }
            }
        }
    }
}

/// Sets a block of the matrix to one lane of `block`, or adds that.
#[inline(always)]
fn put(values: &mut [f64], slot: u32, k: usize, block: &M) {
    let at = (slot & !ADDS) as usize;
    let target = &mut values[at..at + 9];
    if slot & ADDS == 0 {
        for i in 0..3 {
            for j in 0..3 {
                target[3 * i + j] = block[j][i].0[k];
            }
        }
    } else {
        for i in 0..3 {
            for j in 0..3 {
                target[3 * i + j] += block[j][i].0[k];
            }
        }
    }
}

/// Multipliers at the joint of each lane.
#[inline(always)]
fn forces(lambda: &[f64], end: &GroupEnd) -> V {
    let [a, b, c, d] = end.elements.map(|element| &lambda[3 * element as usize..][..3]);
    [0, 1, 2].map(|i| Fused([a[i], b[i], c[i], d[i]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::conjugate;

    #[test]
    fn pairs_of_joints_are_made_of_what_axes_do() {
        let lanes = |x: f64| Fused([x, 1.5 * x, -x, 0.7 * x]);
        for used in [[true, false, false], [false, true, true], [true, false, true], [true; 3]] {
            for rigid in [true, false] {
                let free = FreeResponse::example(rigid);
                let mut units = AxisUnits::NONE;
                units.find(&free, used);
                let place = |by: f64| {
                    [0, 1, 2].map(|i| if used[i] { lanes(by + i as f64) } else { Fused::ZERO })
                };
                let (x, y, sign) = (place(0.3), place(-1.7), Fused([1.0, -1.0, 0.0, 1.0]));
                let found = match units.count {
                    1 => units.between::<1>(x, y, sign),
                    2 => units.between::<2>(x, y, sign),
                    _ => units.between::<3>(x, y, sign),
                };
                let expected = conjugate(free.rotation, free.local.between(x, y));
                for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
                    let apart = (*found - *expected * sign).abs();
                    assert!(apart.all_below(Fused::of(1e-13)), "{used:?}: {found:?} {expected:?}");
                }
            }
        }
    }
}
