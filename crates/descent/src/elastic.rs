//! Energies of points: a third list of incidences, beside those of elements and of contacts.
//!
//! A point fixed to a body is where its lever ends, so that a force `f` with second derivative `h` acts on the
//! body as `(f, r x f)` with the blocks `h`, `[r] h` and `[r] h [r]^T`.

use taut_core::energy::{ENDS_MAX, Energy, Points, SheetCorner, SolidCorner};
use taut_math::{M3, Real, Sym3, V3};
use taut_model::{Csr, ElasticElement, Model, NodeKind, narrow};

use crate::{
    block::Block,
    corners::{CornerBatches, is_kept_by_corners},
    node::{Base, NodeLayout, SweepNode},
    spot::Spot,
    stencil::Stencils,
};

/// One energy with its points.
#[derive(Clone, Debug)]
struct SweepEnergy<R> {
    energy: Energy<R>,
    /// Node of each point.
    nodes: [u32; ENDS_MAX],
    /// Each point in the coordinates of its body [m].
    anchors: Points<R>,
    /// The points at the step's start, seen from the first one [m]: an energy knows no place, and far from
    /// the origin this keeps its digits.
    start: Points<R>,
    /// World-axis levers at the step's start [m].
    arms: Points<R>,
}

/// One energy between particles alone: what is read of it at each of its corners is half as long.
#[derive(Clone, Debug)]
struct Cloud<R> {
    energy: Energy<R>,
    /// Node of each point.
    nodes: [u32; ENDS_MAX],
}

/// All energies of a scene.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweepEnergies<R: Real> {
    list: Vec<SweepEnergy<R>>,
    /// Those between particles alone, counted after the others.
    clouds: Vec<Cloud<R>>,
    /// Energy and number of the point, node by node.
    ends: Csr<(u32, u32)>,
    /// Corners of neo-Hookean tetrahedra between particles, which are in no other list.
    solids: CornerBatches<SolidCorner<R::Wide>, 3>,
    /// The same of membranes.
    sheets: CornerBatches<SheetCorner<R::Wide>, 2>,
    /// Flat folds and ties between particles, which are in no other list.
    stencils: Stencils<R>,
    /// Where each node is. Empty without energies.
    spots: Vec<Spot<R>>,
    /// By which each energy counts, those with a list of their own excepted; empty where all count whole.
    scales: Vec<R>,
    /// Number of each of those energies in the model.
    order: Vec<u32>,
}

impl<R: Real> SweepEnergies<R> {
    /// All energies of a model; if `scaled` each has a factor, one at first.
    pub(crate) fn new(model: &Model, layout: &NodeLayout, scaled: bool) -> Self {
        let lowered = |one: &ElasticElement| {
            // Ends that it does not have are points of the world.
            let mut all = [(layout.node_of[model.slots.world() as usize], V3::ZERO); ENDS_MAX];
            for (k, end) in model.points_of(one).iter().enumerate() {
                all[k] = (layout.node_of[end.node as usize], V3::of(&end.anchor));
            }
            SweepEnergy {
                energy: one.energy.lower(),
                nodes: all.map(|(node, _)| node),
                anchors: all.map(|(_, anchor)| anchor),
                start: [V3::ZERO; ENDS_MAX],
                arms: [V3::ZERO; ENDS_MAX],
            }
        };
        let particles = model.slots.bodies..model.slots.world();
        let is_cloud = |one: &ElasticElement| {
            model.points_of(one).iter().all(|end| particles.contains(&end.node))
        };
        let (mut list, mut clouds, mut kept, mut sums) = (vec![], vec![], vec![], vec![]);
        let (mut order, mut cloud_order) = (vec![], vec![]);
        for (i, one) in (0..).zip(&model.energies) {
            let all = lowered(one);
            if !is_cloud(one) {
                list.push(all);
                order.push(i);
                continue;
            }
            let SweepEnergy { energy, nodes, .. } = all;
            let cloud = Cloud { energy, nodes };
            match one.energy {
                Energy::WeightedSum(sum) if !scaled => sums.push((sum, nodes)),
                _ if is_kept_by_corners(&cloud.energy) && !scaled => kept.push(cloud),
                _ => {
                    clouds.push(cloud);
                    cloud_order.push(i);
                }
            }
        }
        order.append(&mut cloud_order);
        let kept = kept.iter().map(|one| (&one.energy, &one.nodes));
        let solids = CornerBatches::new::<R>(layout.len(), kept.clone());
        let sheets = CornerBatches::new::<R>(layout.len(), kept);
        let stencils = Stencils::new(layout.len(), &sums);
        let nodes = list.iter().map(|one| (one.nodes, one.energy.ends()));
        let nodes = nodes.chain(clouds.iter().map(|one| (one.nodes, one.energy.ends())));
        let ends = nodes.enumerate().flat_map(|(e, (nodes, count))| {
            let own = nodes.into_iter().zip(0..).take(count);
            own.map(move |(node, i)| (node, (narrow(e), i)))
        });
        let ends = Csr::new(layout.len(), ends);
        let any = !model.energies.is_empty();
        let spots = vec![Spot::default(); if any { layout.len() } else { 0 }];
        let scales = vec![R::ONE; if scaled { order.len() } else { 0 }];
        Self { list, clouds, ends, solids, sheets, stencils, spots, scales, order }
    }

    /// Whether any acts on a node.
    pub(crate) fn any(&self, node: u32) -> bool {
        let alone = !self.ends.of(node as usize).is_empty();
        alone || self.solids.any(node) || self.sheets.any(node) || self.stencils.any(node)
    }

    /// Finds all points at the start of a step of length `h` [s].
    pub(crate) fn begin(&mut self, bases: &[Base<R>], h: R) {
        for one in &mut self.list {
            let bases = one.nodes.map(|n| &bases[n as usize]);
            for (k, base) in bases.into_iter().enumerate() {
                one.arms[k] = base.rotation.rotate(one.anchors[k]);
                one.start[k] = (base.position - bases[0].position) + (one.arms[k] - one.arms[0]);
            }
            one.energy.begin(&one.start, h);
        }
        for (spot, base) in self.spots.iter_mut().zip(bases) {
            spot.put_place(base.position);
        }
        for one in self.clouds.iter_mut().filter(|one| one.energy.resists_rates()) {
            let places = one.nodes.map(|n| bases[n as usize].position);
            one.energy.begin(&places.map(|place| place - places[0]), h);
        }
    }

    /// Takes over how far all nodes have moved, before a sweep.
    pub(crate) fn look(&mut self, nodes: &[SweepNode<R>]) {
        for (spot, node) in self.spots.iter_mut().zip(nodes) {
            spot.put_step(node.step);
        }
    }

    /// Takes over how far a node has moved.
    #[inline]
    pub(crate) fn follow(&mut self, n: usize, node: &SweepNode<R>) {
        if let Some(spot) = self.spots.get_mut(n) {
            spot.put_step(node.step);
        }
    }

    /// Adds what energies pull with at a node's points. `other` gives the nodes that stand still.
    #[inline(never)]
    pub(crate) fn add_to<'a>(
        &self,
        block: &mut Block<R>,
        node: &'a SweepNode<R>,
        other: &impl Fn(u32) -> &'a SweepNode<R>,
    ) where
        R: 'a,
    {
        self.solids.add_to(block, node.own, &self.spots);
        self.sheets.add_to(block, node.own, &self.spots);
        self.stencils.add_to(block, node.own, &self.spots);
        for &(e, i) in self.ends.of(node.own as usize) {
            let (e, i) = (e as usize, i as usize);
            let Some(one) = self.list.get(e) else {
                let one = &self.clouds[e - self.list.len()];
                let origin = self.spots[one.nodes[0] as usize].place();
                let x = one.nodes.map(|n| {
                    let spot = self.spots[n as usize];
                    (spot.place() - origin) + spot.step()
                });
                let (force, stiffness) = one.energy.vertex(&x, i);
                let scale = self.scale(e);
                block.ll = block.ll.plus(symmetric(&stiffness).times(scale));
                block.fl += force * scale;
                continue;
            };
            let mut x = one.start;
            for (k, point) in x.iter_mut().enumerate().take(one.energy.ends()) {
                let moved = if one.nodes[k] == one.nodes[i] { node } else { other(one.nodes[k]) };
                *point += moved.step;
                if moved.kind != NodeKind::Particle {
                    *point += moved.turn.displacement(one.arms[k]);
                }
            }
            let (force, stiffness) = one.energy.vertex(&x, i);
            let scale = self.scale(e);
            let (force, stiffness) = (force * scale, symmetric(&stiffness).times(scale));
            if node.kind == NodeKind::Particle {
                block.ll = block.ll.plus(stiffness);
                block.fl += force;
            } else {
                let arm = one.arms[i] + node.turn.displacement(one.arms[i]);
                block.add_pull(&stiffness, arm, force);
            }
        }
    }
}

impl<R: Real> SweepEnergies<R> {
    /// By which an energy counts.
    #[inline]
    fn scale(&self, e: usize) -> R {
        self.scales.get(e).copied().unwrap_or(R::ONE)
    }

    /// The points of an energy where its nodes are.
    fn points(&self, e: usize, nodes: &[SweepNode<R>]) -> Points<R> {
        let Some(one) = self.list.get(e) else {
            let one = &self.clouds[e - self.list.len()];
            let origin = self.spots[one.nodes[0] as usize].place();
            let at = |n: u32| (self.spots[n as usize].place() - origin) + nodes[n as usize].step;
            return one.nodes.map(at);
        };
        let mut x = one.start;
        for (k, point) in x.iter_mut().enumerate().take(one.energy.ends()) {
            let node = &nodes[one.nodes[k] as usize];
            *point += node.step;
            if node.kind != NodeKind::Particle {
                *point += node.turn.displacement(one.arms[k]);
            }
        }
        x
    }

    /// Sets the factors of all energies from their numbers in the model, the norms of their principal strains, if
    /// these are asked for, and the factors before.
    pub(crate) fn rescale(
        &mut self,
        nodes: &[SweepNode<R>],
        strained: bool,
        factor: impl Fn(usize, R, R) -> R,
    ) {
        for e in 0..self.scales.len() {
            let strain = if strained { self.strain(e, nodes) } else { R::ZERO };
            self.scales[e] = factor(self.order[e] as usize, strain, self.scales[e]);
        }
    }

    /// Norm of the principal strains of an energy; zero of what has none.
    fn strain(&self, e: usize, nodes: &[SweepNode<R>]) -> R {
        let x = self.points(e, nodes);
        let energy = match self.list.get(e) {
            Some(one) => &one.energy,
            None => &self.clouds[e - self.list.len()].energy,
        };
        let stretches = energy.principal_stretches(&x).unwrap_or([R::ONE; 3]);
        V3(stretches.map(|stretch| stretch - R::ONE)).norm()
    }

    /// Forgets all factors.
    pub(crate) fn forget(&mut self) {
        self.scales.fill(R::ZERO);
    }
}

/// The upper triangle of a symmetric matrix.
fn symmetric<R: Real>(M3([xs, ys, zs]): &M3<R>) -> Sym3<R> {
    Sym3([xs.0[0], ys.0[1], zs.0[2], xs.0[1], xs.0[2], ys.0[2]])
}
