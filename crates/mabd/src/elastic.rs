//! Elastic material between particles: nodes of finite elements beside the affine bodies.
//!
//! What inertia and material do in a step of length `h` is the minimum of `sum m/(2 h^2) |x - x~|^2 + W(x)`, where `x~`
//! is where a node would go freely. A linear solve at `x_k` takes
//!
//! ```text
//! H_f = M/h^2 + K+(x_k),   r_f = M/h^2 (x~ - x_k) - dW/dx(x_k)
//! ```
//!
//! with the second derivatives `K+` of the energy made positive, element by element. Nodes stay in the systems of
//! islands (`system/coupled/material.rs`) beside the bodies that touch.

use taut_core::{
    Scene, Vec3,
    energy::{ENDS_MAX, Energy, Points},
    scene::{Endpoint, Particle},
};
use taut_math::{M3, V3};
use taut_model::{Csr, Model};

use crate::{affine::Affine, dual::order::Link, node::Nodes};

/// No place.
const NONE: u32 = u32::MAX;

/// Where a solve would leave less than this share of an element's volume, its island goes only as far as energy falls.
const VOLUME_MIN: f64 = 0.1;
/// Halvings of the way of such an island, and the share of the slope by which energy must fall (Armijo).
const HALVINGS: u32 = 10;
const DESCENT: f64 = 1e-4;

/// One piece of material.
#[derive(Clone, Debug)]
struct MaterialPiece {
    energy: Energy<f64>,
    /// Its points.
    at: [u32; ENDS_MAX],
    /// The blocks of its pairs of nodes, where the first comes no earlier than the second; [`NONE`] elsewhere.
    slots: [[u32; ENDS_MAX]; ENDS_MAX],
    /// Six times its volume at rest [m^3]; none of what has no volume.
    volume: Option<f64>,
}

impl MaterialPiece {
    fn points(&self, all: &[V3<f64>]) -> Points<f64> {
        let mut points = [V3::ZERO; ENDS_MAX];
        for (point, &at) in points.iter_mut().zip(&self.at).take(self.energy.ends()) {
            *point = all[at as usize];
        }
        points
    }

    /// Volume over that at rest [1].
    fn volume_ratio(&self, all: &[V3<f64>]) -> Option<f64> {
        let volume = self.volume?;
        let [a, b, c, d] = self.points(all);
        Some((b - a).dot((c - a).cross(d - a)) / volume)
    }
}

/// Six times the volume at rest of a solid: of a tetrahedron with unit edges along the axes the deformation is the
/// inverse of the edges at rest.
fn rest_volume(energy: &Energy<f64>) -> Option<f64> {
    let unit = [V3::ZERO, V3::axis(0), V3::axis(1), V3::axis(2)];
    let stretches = energy.principal_stretches(&unit).filter(|_| energy.ends() == 4)?;
    Some(1.0 / stretches.iter().product::<f64>())
}

/// How far the islands of a solve go.
#[derive(Clone, Debug, Default)]
struct IslandWays {
    /// By the node that stands for an island: how much of its way it goes, whether that is still sought, the energy
    /// where it starts, how that changes along the way at first, and how it is in the point tried [N m].
    share: Vec<f64>,
    seeks: Vec<bool>,
    start: Vec<f64>,
    slope: Vec<f64>,
    tried: Vec<f64>,
}

impl IslandWays {
    fn reset(&mut self) {
        self.share.fill(1.0);
        self.seeks.fill(false);
        for all in [&mut self.start, &mut self.slope, &mut self.tried] {
            all.fill(0.0);
        }
    }
}

/// The nodes of material and of particles that touch, and what acts between them.
#[derive(Clone, Debug)]
pub(crate) struct ElasticNodes {
    /// Dynamic nodes, ascending, their masses [kg], and the place of each dynamic node among them.
    nodes: Vec<u32>,
    mass: Vec<f64>,
    place: Vec<u32>,
    /// Points of what forces do not move; they are counted after the nodes.
    held: Vec<(u32, Vec3)>,
    pieces: Vec<MaterialPiece>,
    /// Places of each node and of those of a lower place that it is coupled to, and itself, and their blocks.
    couples: Vec<[u32; 2]>,
    coupled: Csr<(u32, u32)>,
    blocks: Vec<M3<f64>>,
    /// Where points are in the current iterate, and in one that is tried [m].
    points: Vec<V3<f64>>,
    tried: Vec<V3<f64>>,
    /// By place: how far the node would go freely [m], and the gradient of the energy [N].
    free: Vec<Vec3>,
    pulls: Vec<V3<f64>>,
    /// By place: what joints and contacts exert in the solve at hand [N].
    loads: Vec<Vec3>,
    ways: IslandWays,
}

/// Why material of a scene cannot be taken: where it is fixed to a body that forces move.
pub(crate) fn unsupported(scene: &Scene) -> Option<String> {
    let moves = |end| matches!(end, Endpoint::Body(_)) && scene.is_dynamic(end);
    let held = scene
        .energies()
        .find(|(energy, anchors)| anchors[..energy.ends()].iter().any(|anchor| moves(anchor.end)));
    held.map(|_| "takes no elastic material between bodies, only between particles".to_owned())
}

/// Whether a scene has elastic material or particles that touch.
pub(crate) fn is_in(scene: &Scene) -> bool {
    let touches = |particle: &Particle| particle.mass > 0.0 && particle.touch.is_some();
    scene.energies().next().is_some() || scene.touching_particles().iter().any(touches)
}

impl ElasticNodes {
    /// Those of a scene; none where nothing is elastic and no particle touches.
    pub(crate) fn new(scene: &Scene, model: &Model, nodes: &Nodes) -> Option<Self> {
        let count = nodes.count();
        let mut stays = vec![false; count];
        let ends = model.energies.iter().flat_map(|one| model.points_of(one));
        let touching = scene.touching_particles().iter().enumerate();
        let touching = touching.filter(|(_, particle)| particle.touch.is_some());
        let touching = touching.map(|(i, _)| (scene.bodies.len() + i) as u32);
        for slot in ends.map(|end| end.node).chain(touching) {
            if let Some(stays) = stays.get_mut(nodes.node_of(slot) as usize) {
                *stays = true;
            }
        }
        let kept: Vec<u32> =
            (0..).zip(&stays).filter(|(_, stays)| **stays).map(|(n, _)| n).collect();
        if kept.is_empty() {
            return None;
        }
        let mut place = vec![NONE; count];
        (0..).zip(&kept).for_each(|(at, &node)| place[node as usize] = at);
        let mut this = Self {
            mass: kept.iter().map(|&node| nodes.mass(node)).collect(),
            free: vec![Vec3::zeros(); kept.len()],
            pulls: vec![V3::ZERO; kept.len()],
            loads: vec![Vec3::zeros(); kept.len()],
            nodes: kept,
            place,
            held: Vec::new(),
            pieces: Vec::new(),
            couples: Vec::new(),
            coupled: Csr::default(),
            blocks: Vec::new(),
            points: Vec::new(),
            tried: Vec::new(),
            ways: IslandWays {
                share: vec![1.0; count],
                seeks: vec![false; count],
                start: vec![0.0; count],
                slope: vec![0.0; count],
                tried: vec![0.0; count],
            },
        };
        this.take_pieces(model, nodes);
        Some(this)
    }

    fn take_pieces(&mut self, model: &Model, nodes: &Nodes) {
        for element in &model.energies {
            let ends = model.points_of(element);
            let of = |end: &taut_model::End| nodes.node_of(end.node);
            if ends.iter().all(|end| of(end) as usize >= nodes.count()) {
                continue;
            }
            let mut at = [NONE; ENDS_MAX];
            for (at, end) in at.iter_mut().zip(ends) {
                let node = of(end);
                *at = match self.place.get(node as usize) {
                    Some(&place) => place,
                    None => {
                        let anchor = nodes.axes(node).tr_mul(&end.anchor);
                        self.held.push((node, anchor));
                        (self.nodes.len() + self.held.len() - 1) as u32
                    }
                };
            }
            let (energy, slots) = (element.energy, [[NONE; ENDS_MAX]; ENDS_MAX]);
            self.pieces.push(MaterialPiece { volume: rest_volume(&energy), energy, at, slots });
        }
        let count = self.nodes.len() as u32;
        let moving = |piece: &MaterialPiece| {
            let at = piece.at.into_iter().take(piece.energy.ends());
            at.filter(move |&at| at < count).collect::<Vec<u32>>()
        };
        let mut couples: Vec<[u32; 2]> = (0..count).map(|place| [place; 2]).collect();
        for places in self.pieces.iter().map(moving) {
            let earlier = |&a: &u32| places.iter().filter(move |&&b| b < a).map(move |&b| [a, b]);
            couples.extend(places.iter().flat_map(earlier));
        }
        couples.sort_unstable();
        couples.dedup();
        for piece in &mut self.pieces {
            let at = piece.at;
            for (i, row) in piece.slots.iter_mut().enumerate() {
                for (j, slot) in row.iter_mut().enumerate() {
                    // Points of what does not move, and those that an energy lacks, are of no pair.
                    let found = couples.binary_search(&[at[i], at[j]]);
                    *slot = found.map_or(NONE, |found| found as u32);
                }
            }
        }
        let pairs = (0..).zip(&couples);
        let pairs = pairs.map(|(pair, &[a, b])| (a, (pair, self.nodes[b as usize])));
        self.coupled = Csr::new(self.nodes.len(), pairs);
        self.blocks = vec![M3::ZERO; couples.len()];
        self.points = vec![V3::ZERO; self.nodes.len() + self.held.len()];
        self.tried = self.points.clone();
        self.couples = couples;
    }

    /// The pairs of nodes that material holds together.
    pub(crate) fn links(&self) -> impl Iterator<Item = Link> {
        self.couples.iter().map(|pair| pair.map(|place| Some(self.nodes[place as usize])))
    }

    /// The place of a dynamic node that stays in the systems of islands.
    #[inline(always)]
    pub(crate) fn place(&self, node: usize) -> Option<usize> {
        self.place.get(node).filter(|&&place| place != NONE).map(|&place| place as usize)
    }

    /// What the node of a place is coupled to, itself and nodes of lower places: the index of the pair, for
    /// [`Self::block`], and the node.
    pub(crate) fn coupled(&self, place: usize) -> &[(u32, u32)] {
        self.coupled.of(place)
    }

    /// Second derivatives of the energy between a pair of coupled nodes [N/m].
    #[inline(always)]
    pub(crate) fn block(&self, pair: u32) -> &M3<f64> {
        &self.blocks[pair as usize]
    }

    /// The residual `r_f` of a node under a step of `h` [s] [N].
    #[inline(always)]
    pub(crate) fn residual(&self, place: usize, h: f64) -> Vec3 {
        self.free[place] * (self.mass[place] / (h * h)) - self.pulls[place].to_f64()
    }

    /// Takes on where nodes are, and how far the nodes would go freely from there.
    pub(crate) fn evaluate(&mut self, nodes: &Nodes) {
        for (place, &node) in self.nodes.iter().enumerate() {
            self.points[place] = V3::of(&nodes.place(node).origin);
            self.free[place] = nodes.responses[node as usize].free.origin;
        }
        let held = self.points[self.nodes.len()..].iter_mut().zip(&self.held);
        for (point, (node, anchor)) in held {
            *point = V3::of(&nodes.place(*node).point(anchor));
        }
        // What is held does not move within an iteration.
        self.tried.copy_from_slice(&self.points);
        self.pulls.fill(V3::ZERO);
        self.blocks.fill(M3::ZERO);
        for piece in &self.pieces {
            let x = piece.points(&self.points);
            let blocks = piece.energy.blocks(&x, 0.0);
            for (i, (&at, row)) in piece.at.iter().zip(&piece.slots).enumerate() {
                if let Some(pull) = self.pulls.get_mut(at as usize) {
                    *pull = *pull - piece.energy.force(&x, i);
                }
                for (&slot, block) in row.iter().zip(&blocks[i]).filter(|(slot, _)| **slot != NONE)
                {
                    self.blocks[slot as usize] = self.blocks[slot as usize].plus(*block);
                }
            }
        }
    }

    /// How much of its way the island of each node that stands for one goes, nodes moving by `increments`: all of it
    /// unless an element would be pressed flat. None where all go to the end.
    ///
    /// Forces of joints and contacts are taken for constant, `f = H_f dx - r_f`, so that the energy falls at first by
    /// `dx . H_f dx`, whatever presses.
    pub(crate) fn shares(
        &mut self,
        increments: &[Affine],
        island_of: &[u32],
        h: f64,
    ) -> Option<&[f64]> {
        self.ways.reset();
        self.attempt(increments, island_of);
        let mut any = false;
        for piece in &self.pieces {
            // What is not finite is the watchdog's.
            if piece.volume_ratio(&self.tried).is_some_and(|ratio| ratio < VOLUME_MIN) {
                self.ways.seeks[root(piece, &self.nodes, island_of)] = true;
                any = true;
            }
        }
        if !any {
            return None;
        }
        self.find_loads(increments, island_of, h);
        self.measure(increments, island_of, h, 0.0);
        self.ways.start.copy_from_slice(&self.ways.tried);
        for _ in 0..HALVINGS {
            self.attempt(increments, island_of);
            self.measure(increments, island_of, h, 1.0);
            let ways = &mut self.ways;
            let mut open = false;
            for root in 0..ways.share.len() {
                if ways.seeks[root] {
                    let fall = DESCENT * ways.share[root] * ways.slope[root];
                    ways.seeks[root] = ways.tried[root] > ways.start[root] + fall;
                    if ways.seeks[root] {
                        ways.share[root] *= 0.5;
                        open = true;
                    }
                }
            }
            if !open {
                break;
            }
        }
        Some(&self.ways.share)
    }

    /// Puts the points where the shares of the ways lead.
    fn attempt(&mut self, increments: &[Affine], island_of: &[u32]) {
        for (place, &node) in self.nodes.iter().enumerate() {
            let share = self.ways.share[island_of[node as usize] as usize];
            let moved = V3::of(&increments[node as usize].origin);
            self.tried[place] = self.points[place] + moved * share;
        }
    }

    /// Finds what joints and contacts exert, and by how much energy changes at first.
    fn find_loads(&mut self, increments: &[Affine], island_of: &[u32], h: f64) {
        for (place, &node) in self.nodes.iter().enumerate() {
            let moved = increments[node as usize].origin;
            self.loads[place] = moved * (self.mass[place] / (h * h)) - self.residual(place, h);
        }
        for (&[a, b], block) in self.couples.iter().zip(&self.blocks) {
            let of = |place: u32| V3::of(&increments[self.nodes[place as usize] as usize].origin);
            self.loads[a as usize] += block.apply(of(b)).to_f64();
            if a != b {
                self.loads[b as usize] += block.apply_transposed(of(a)).to_f64();
            }
        }
        for (place, &node) in self.nodes.iter().enumerate() {
            let root = island_of[node as usize] as usize;
            let stiff = self.loads[place] + self.residual(place, h);
            self.ways.slope[root] -= increments[node as usize].origin.dot(&stiff);
        }
    }

    /// Sums energies of islands that seek, at `whole` of the points tried or at the start.
    fn measure(&mut self, increments: &[Affine], island_of: &[u32], h: f64, whole: f64) {
        let ways = &mut self.ways;
        ways.tried.fill(0.0);
        for (place, &node) in self.nodes.iter().enumerate() {
            let root = island_of[node as usize] as usize;
            let moved = increments[node as usize].origin * (ways.share[root] * whole);
            let inertia = 0.5 * self.mass[place] / (h * h);
            ways.tried[root] +=
                inertia * (moved - self.free[place]).norm_squared() - self.loads[place].dot(&moved);
        }
        let points = if whole > 0.0 { &self.tried } else { &self.points };
        for piece in &self.pieces {
            let root = root(piece, &self.nodes, island_of);
            if ways.seeks[root] {
                ways.tried[root] += piece.energy.energy(&piece.points(points));
            }
        }
    }
}

/// The node that stands for the island of a piece.
fn root(piece: &MaterialPiece, nodes: &[u32], island_of: &[u32]) -> usize {
    let mover = piece.at.iter().find_map(|&at| nodes.get(at as usize));
    mover.map_or(0, |&node| island_of[node as usize] as usize)
}
