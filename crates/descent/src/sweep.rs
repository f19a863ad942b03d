//! One primal sweep: every node takes a Newton step while its neighbours stand still (Eq. 4).

use rayon::prelude::*;
use taut_math::{Q4, Real, V3};
use taut_model::{NodeKind, Side, narrow};

use crate::{
    assemble::{Forces, Outside, View, Whole, assemble, newton_step, part_of, sum_in_lanes},
    block::Block,
    bound::MotionBounds,
    contacts::ContactStore,
    node::{Acted, Incidence, SweepNode},
    patch::{ContactLaw, Patch},
    system::System,
};

/// Nodes per task below which splitting a colour costs more than it gains.
const GRAIN: usize = 256;

impl<R: Real> System<R> {
    /// Moves every node once, colour by colour.
    ///
    /// Within a colour nodes do not see each other, so the result does not depend on the number of
    /// threads; a serial order has one colour and is never split.
    pub fn sweep(&mut self) {
        let threads = rayon::current_num_threads();
        self.energies.look(&self.nodes);
        for c in 1..self.layout.colours.len() {
            let (first, last) = (self.layout.colours[c - 1], self.layout.colours[c]);
            if self.layout.independent && threads > 1 && last - first > GRAIN {
                self.sweep_colour(first, last);
            } else {
                self.sweep_serially(first, last);
            }
            (first..last).for_each(|n| self.energies.follow(n, &self.nodes[n]));
        }
    }

    fn sweep_serially(&mut self, first: usize, last: usize) {
        for n in first..last {
            let forces = Forces::new(&self.elements, &self.bases, &self.energies, &self.options);
            let view = Whole { nodes: &self.nodes, incidences: &self.incidences };
            let node = &self.nodes[n];
            let (start, end) = node.range();
            let motion = newton_step(&view, node, &self.incidences[start..end], forces);
            advance(&mut self.nodes[n], &mut self.incidences[start..end], motion);
            if !self.layout.independent {
                self.energies.follow(n, &self.nodes[n]);
            }
        }
    }

    fn sweep_colour(&mut self, first: usize, last: usize) {
        let begin = self.nodes[first].incidences[0] as usize;
        let end =
            self.nodes[first..last].iter().map(|n| n.incidences[1]).max().unwrap_or(0) as usize;
        let end = end.max(begin);
        let (nodes_before, rest) = self.nodes.split_at_mut(first);
        let (nodes, nodes_after) = rest.split_at_mut(last - first);
        let (incidences_before, rest) = self.incidences.split_at_mut(begin);
        let (incidences, incidences_after) = rest.split_at_mut(end - begin);
        let view = Outside {
            nodes: [nodes_before, nodes_after],
            incidences: [incidences_before, incidences_after],
            cut: [last, end],
        };
        let forces = Forces::new(&self.elements, &self.bases, &self.energies, &self.options);
        sweep_split(&view, nodes, incidences, begin, forces);
    }
}

impl<R: Real> System<R> {
    /// Moves every node once, in the order that elements and contacts leave, with contact forces by `law`.
    ///
    /// The nodes of a colour do not see each other, so whether they move one by one or at once does not
    /// matter.
    pub fn sweep_touching(&mut self, law: &impl ContactLaw<R>) {
        if let Some(bounds) = &mut self.bounds {
            bounds.follow(&self.nodes, &self.nodes_base, &self.layout);
        }
        match &self.contacts {
            None => self.sweep(),
            Some(contacts) if contacts.has_riders() => self.sweep_patches::<true>(law),
            Some(_) => self.sweep_patches::<false>(law),
        }
    }

    /// The same where anything may touch; patches without triangles do not pay for those with.
    fn sweep_patches<const RIDDEN: bool>(&mut self, law: &impl ContactLaw<R>) {
        let Some(contacts) = &self.contacts else { return };
        self.energies.look(&self.nodes);
        let parallel = self.layout.independent && rayon::current_num_threads() > 1;
        let visits = &contacts.visits;
        for c in 1..visits.colours.len() {
            let visit = &visits.visit[visits.colours[c - 1]..visits.colours[c]];
            if parallel && visit.len() > GRAIN {
                let all = Everything {
                    nodes: &self.nodes,
                    incidences: &self.incidences,
                    forces: Forces::new(&self.elements, &self.bases, &self.energies, &self.options),
                    contacts,
                    bounds: self.bounds.as_ref(),
                };
                let step = |&n: &u32| all.newton_step::<RIDDEN, _>(n as usize, law);
                visit
                    .par_iter()
                    .with_min_len(GRAIN / 4)
                    .map(step)
                    .collect_into_vec(&mut self.motions);
                for (&n, &motion) in visit.iter().zip(&self.motions) {
                    let node = &mut self.nodes[n as usize];
                    let (start, end) = node.range();
                    advance(node, &mut self.incidences[start..end], motion);
                    self.energies.follow(n as usize, node);
                    if RIDDEN {
                        contacts.carry(&mut self.nodes, n);
                    }
                }
                continue;
            }
            for &n in visit {
                let all = Everything {
                    nodes: &self.nodes,
                    incidences: &self.incidences,
                    forces: Forces::new(&self.elements, &self.bases, &self.energies, &self.options),
                    contacts,
                    bounds: self.bounds.as_ref(),
                };
                let motion = all.newton_step::<RIDDEN, _>(n as usize, law);
                let node = &mut self.nodes[n as usize];
                let (start, end) = node.range();
                advance(node, &mut self.incidences[start..end], motion);
                self.energies.follow(n as usize, node);
                if RIDDEN {
                    contacts.carry(&mut self.nodes, n);
                }
            }
        }
    }
}

/// All that acts on a node of a scene with contacts.
struct Everything<'a, R: Real> {
    nodes: &'a [SweepNode<R>],
    incidences: &'a [Incidence<R>],
    forces: Forces<'a, R>,
    contacts: &'a ContactStore<R>,
    bounds: Option<&'a MotionBounds<R>>,
}

impl<R: Real> Everything<'_, R> {
    /// The Newton step of one node, its contacts included, as far as it may move.
    #[inline(always)]
    fn newton_step<const RIDDEN: bool, L: ContactLaw<R>>(
        &self,
        n: usize,
        law: &L,
    ) -> (V3<R>, V3<R>) {
        let (step, turn) = self.free_step::<RIDDEN, L>(n, law);
        (self.bounds.map_or(step, |bounds| bounds.bounded(n, step)), turn)
    }

    #[inline(always)]
    fn free_step<const RIDDEN: bool, L: ContactLaw<R>>(&self, n: usize, law: &L) -> (V3<R>, V3<R>) {
        let node = &self.nodes[n];
        let (start, end) = node.range();
        let view = Whole { nodes: self.nodes, incidences: self.incidences };
        let own = &self.incidences[start..end];
        let ends = self.contacts.ends(n);
        if ends.is_empty() {
            return newton_step(&view, node, own, self.forces);
        }
        let mut block = if self.forces.crowd(own.len() + ends.len()) {
            let lanes = self.forces.lanes;
            let part = |lane| {
                let mut block = part_of(&view, node, own, self.forces, lane);
                let shared = ends.iter().skip(lane).step_by(lanes);
                shared.for_each(|&end| self.add_contact::<RIDDEN, L>(&mut block, n, end, law));
                block
            };
            sum_in_lanes(lanes, 0, 1, &part)
        } else {
            let mut block = assemble(&view, node, own, self.forces);
            ends.iter().for_each(|&end| self.add_contact::<RIDDEN, L>(&mut block, n, end, law));
            block
        };
        if node.acted == Acted::ByEnergies {
            self.forces.energies.add_to(&mut block, node, &|n| view.node(n));
        }
        if node.kind == NodeKind::Particle {
            return (block.solve_translation(), V3::ZERO);
        }
        block.solve()
    }

    /// Adds the patch at one end of node `n`.
    #[inline(always)]
    fn add_contact<const RIDDEN: bool, L: ContactLaw<R>>(
        &self,
        block: &mut Block<R>,
        n: usize,
        end: u32,
        law: &L,
    ) {
        let patch = &self.contacts.patches[(end / 2) as usize];
        let side = if end.is_multiple_of(2) { Side::A } else { Side::B };
        let own = patch.nodes[side as usize];
        if RIDDEN && own as usize != n {
            return self.add_share(block, n, (patch, side), law);
        }
        let [a, b] = patch.nodes.map(|n| &self.nodes[n as usize]);
        if L::ARMS_TURN {
            let turned = patch.turned(a, b);
            turned.add_to(block, side, &law.push(&turned, &turned.value(a, b)));
        } else {
            let value = patch.value(a, b);
            if !law.idles(patch, &value) {
                patch.add_to(block, side, &law.push(patch, &value));
            }
        }
    }
}

impl<R: Real> Everything<'_, R> {
    /// Adds the share that corner `n` has in one side of a patch, which is a point of a triangle or an edge.
    #[inline(never)]
    fn add_share<L: ContactLaw<R>>(
        &self,
        block: &mut Block<R>,
        n: usize,
        (patch, side): (&Patch<R>, Side),
        law: &L,
    ) {
        let [a, b] = patch.nodes.map(|n| &self.nodes[n as usize]);
        let Some(rider) = self.contacts.rider(patch.nodes[side as usize]) else { return };
        let patch = if L::ARMS_TURN { &patch.turned(a, b) } else { patch };
        let value = patch.value(a, b);
        if !law.idles(patch, &value) {
            let mut whole = Block::default();
            patch.add_to(&mut whole, side, &law.push(patch, &value));
            rider.share(narrow(n), &whole, block);
        }
    }
}

/// Halves the nodes until a task is small; `base` is the index of the first incidence.
fn sweep_split<R: Real>(
    view: &impl View<R>,
    nodes: &mut [SweepNode<R>],
    incidences: &mut [Incidence<R>],
    base: usize,
    forces: Forces<'_, R>,
) {
    if nodes.len() <= GRAIN {
        for node in nodes {
            let (start, end) = node.range();
            let own = start - base..end - base;
            let motion = newton_step(view, node, &incidences[own.clone()], forces);
            advance(node, &mut incidences[own], motion);
        }
        return;
    }
    let (left, right) = nodes.split_at_mut(nodes.len() / 2);
    let cut = right[0].incidences[0] as usize;
    let (left_ends, right_ends) = incidences.split_at_mut(cut - base);
    rayon::join(
        || sweep_split(view, left, left_ends, base, forces),
        || sweep_split(view, right, right_ends, cut, forces),
    );
}

/// Applies a Newton step and refreshes the node's lever arms.
#[inline]
fn advance<R: Real>(node: &mut SweepNode<R>, own: &mut [Incidence<R>], motion: (V3<R>, V3<R>)) {
    node.step += motion.0;
    if node.kind == NodeKind::Body {
        node.turn = node.turn.advanced(motion.1);
        let turn: Q4<R> = node.turn;
        for incidence in own {
            incidence.arm_change = turn.displacement(incidence.arm);
        }
    }
}

#[cfg(test)]
mod tests;
