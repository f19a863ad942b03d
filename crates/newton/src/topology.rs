//! Which unknowns and rows a scene has, and where their derivatives lie in the matrix.

use taut_core::{
    Mat3, Placement, Scene, Vec3,
    constraint::{Evaluation, Geometry, Hessian, Pose, RowKind, locked_rows},
    energy::{ENDS_MAX, Energy},
    scene::{Endpoint, SpringKind},
};
use taut_math::V3;
use taut_model::{Element, Form, Model, NodeKind, Owner, Role, Unit};

use crate::{
    iterate::pose,
    law::Law,
    linear::{ABSENT, Slot, SparseSystem},
};

/// A body, a particle or the world: what rows act on.
#[derive(Clone, Debug)]
pub(crate) struct TopologyNode {
    /// First of its unknowns.
    pub(crate) dof: usize,
    /// How many unknowns: six for a dynamic body, three for a particle, none for what forces do not move.
    pub(crate) extent: usize,
    /// Mass [kg].
    pub(crate) mass: f64,
    /// Inertia in body axes [kg m^2].
    pub(crate) inertia: Mat3,
    /// Smallest principal moment [kg m^2]: scaled by it, an angle counts fully about every axis.
    pub(crate) moment: f64,
    /// Whether it moves at constant velocity whatever the forces.
    pub(crate) kinematic: bool,
    /// First slot of its diagonal block, stored by rows.
    pub(crate) slots: usize,
}

/// A coordinate of two nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coordinate {
    /// Its function of two poses.
    pub(crate) kind: RowKind,
    /// Nodes A and B.
    pub(crate) nodes: [usize; 2],
    /// Anchors and bases.
    pub(crate) geometry: Geometry,
}

impl Coordinate {
    /// Its value and gradient where nodes are at `poses`.
    pub(crate) fn evaluate(&self, poses: &[Pose]) -> Evaluation {
        let [a, b] = self.nodes.map(|n| &poses[n]);
        self.kind.evaluate(&self.geometry, a, b)
    }

    /// Its second derivatives there.
    pub(crate) fn hessian(&self, poses: &[Pose]) -> Hessian {
        let [a, b] = self.nodes.map(|n| &poses[n]);
        self.kind.hessian(&self.geometry, a, b)
    }
}

/// One row with a multiplier.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The joint it belongs to.
    pub(crate) joint: usize,
    /// What it holds.
    pub(crate) coordinate: Coordinate,
    /// What its multiplier obeys.
    pub(crate) law: Law,
    /// The unknown that is its multiplier.
    pub(crate) dof: usize,
    /// First slot: its diagonal entry, then twelve pairs of gradient entries `(row, column)`, then
    /// the 144 Hessian entries.
    pub(crate) slots: usize,
}

/// One row of a spring's energy.
#[derive(Clone, Debug)]
pub(crate) struct SpringRow {
    /// What it stretches.
    pub(crate) coordinate: Coordinate,
    /// Stiffness [N/m or N m/rad]; of a damper that of the step.
    pub(crate) stiffness: f64,
    /// Value without force [m or rad]; of a damper that at the start of the step.
    pub(crate) rest: f64,
    /// Damping [N s/m or N m s/rad]; zero of a spring.
    pub(crate) damping: f64,
    /// First of its 144 Hessian slots.
    pub(crate) slots: usize,
}

/// An energy of points.
#[derive(Clone, Debug)]
pub(crate) struct EnergyBlocks {
    /// Its function of its points.
    pub(crate) energy: Energy<f64>,
    /// The node that each point is fixed to.
    pub(crate) nodes: [usize; ENDS_MAX],
    /// Where on it [m].
    pub(crate) anchors: [Vec3; ENDS_MAX],
    /// First slot of its blocks: all pairs of ends, a block per pair, by rows.
    pub(crate) slots: usize,
}

impl EnergyBlocks {
    /// The entries that its blocks write, in the order of their slots.
    fn entries<'a>(
        &'a self,
        nodes: &'a [TopologyNode],
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let ends = || self.nodes[..self.energy.ends()].iter().map(|&n| &nodes[n]);
        let unknowns = |node: &TopologyNode| node.dof..node.dof + node.extent;
        let pairs = ends().flat_map(move |a| ends().map(move |b| (unknowns(a), unknowns(b))));
        pairs.flat_map(|(rows, columns)| {
            rows.flat_map(move |r| columns.clone().map(move |c| (r, c)))
        })
    }
}

/// What takes part in a point of contact: a body, and another or the corners of a triangle.
pub(crate) const PARTS: usize = 4;
/// Unknowns of so many bodies.
pub(crate) const UNKNOWNS: usize = 6 * PARTS;
/// Stands for no node.
pub(crate) const NOBODY: usize = usize::MAX;

/// Where a point of contact has its equations and unknowns in the matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactUnknowns {
    /// What takes part; [`NOBODY`] beyond.
    pub(crate) nodes: [usize; PARTS],
    /// First of its three unknowns and equations.
    pub(crate) dof: usize,
    /// First slot: nine of its own block by rows, then for each of its three components a pair
    /// `(row, column)` for each of [`UNKNOWNS`].
    pub(crate) slots: usize,
}

/// The unknowns and equations of a scene, numbered once.
pub(crate) struct Topology {
    /// Bodies, then particles, then the world.
    pub(crate) nodes: Vec<TopologyNode>,
    /// Joint rows that move anything.
    pub(crate) rows: Vec<Row>,
    /// Spring rows that move anything.
    pub(crate) springs: Vec<SpringRow>,
    /// Energies of points that move anything.
    pub(crate) elastics: Vec<EnergyBlocks>,
    /// Points of contact of the step.
    pub(crate) contacts: Vec<ContactUnknowns>,
    /// Slots of all blocks.
    pub(crate) slots: Vec<Slot>,
    /// How many unknowns there are, multipliers included.
    pub(crate) size: usize,
}

impl Topology {
    /// Numbers a scene and analyses the pattern of its matrix. Locked rows have at least the
    /// compliance `least` [m/N or rad/(N m)].
    pub(crate) fn new(scene: &Scene, least: f64) -> Result<(Self, SparseSystem), String> {
        let model = Model::new(scene);
        let nodes = nodes(&model);
        let size = nodes.iter().map(|n| n.extent).sum();
        let elastics = elastics(scene, &model, &nodes);
        let (contacts, slots) = (Vec::new(), Vec::new());
        let (rows, springs) = (Vec::new(), Vec::new());
        let mut this = Self { nodes, rows, springs, elastics, contacts, slots, size };
        model.units.iter().for_each(|unit| this.add(&model, unit, least));
        let system = this.analyse()?;
        Ok((this, system))
    }

    /// Numbers points of contact between these nodes and analyses the pattern anew; `None` where they are
    /// those of the step before.
    pub(crate) fn touch(
        &mut self,
        pairs: impl ExactSizeIterator<Item = [usize; PARTS]> + Clone,
    ) -> Option<Result<SparseSystem, String>> {
        if self.contacts.iter().map(|contact| contact.nodes).eq(pairs.clone()) {
            return None;
        }
        let first = self.size - 3 * self.contacts.len();
        self.size = first + 3 * pairs.len();
        self.contacts.clear();
        let unknowns = |(i, nodes)| ContactUnknowns { nodes, dof: first + 3 * i, slots: 0 };
        self.contacts.extend(pairs.enumerate().map(unknowns));
        Some(self.analyse())
    }

    /// Numbers the rows of a joint or spring unless it holds only what forces do not move. Locked rows have
    /// at least the compliance `least`.
    fn add(&mut self, model: &Model, unit: &Unit, least: f64) {
        let elements = model.elements_of(unit);
        let [a, b] = model.pair_of(&elements[0]);
        let nodes = [a, b].map(|end| end.node as usize);
        if nodes.iter().all(|&n| self.nodes[n].extent == 0) {
            return;
        }
        let (anchor_a, anchor_b, basis_a, basis_b) = (a.anchor, b.anchor, a.basis, b.basis);
        let geometry = Geometry { anchor_a, anchor_b, basis_a, basis_b };
        for element in elements {
            for kind in element.form.kinds() {
                let coordinate = Coordinate { kind, nodes, geometry };
                match unit.owner {
                    Owner::Joint(joint) => {
                        let Some(law) = law(element, elements, least) else { continue };
                        let (joint, dof) = (joint as usize, self.size);
                        self.rows.push(Row { joint, coordinate, law, dof, slots: 0 });
                        self.size += 1;
                    }
                    Owner::Spring(_) => {
                        let (stiffness, rest) = (element.softness.stiffness(), element.target);
                        let damping = match element.role {
                            Role::Damp { damping } => damping,
                            _ => 0.0,
                        };
                        let slots = 0;
                        self.springs.push(SpringRow {
                            coordinate,
                            stiffness,
                            rest,
                            damping,
                            slots,
                        });
                    }
                }
            }
        }
    }

    /// Has dampers resist what changes in a step of length `h` [s] from `start`.
    pub(crate) fn damp(&mut self, start: &[Placement], h: f64) {
        for row in self.springs.iter_mut().filter(|row| row.damping > 0.0) {
            let Coordinate { kind, nodes, geometry } = &mut row.coordinate;
            let [a, b] = nodes.map(|n| &start[n]);
            row.stiffness = row.damping / h;
            if let RowKind::Turn(_) = kind {
                geometry.basis_b = b.rotation.inverse() * a.rotation * geometry.basis_a;
                row.rest = 0.0;
            } else {
                row.rest = kind.evaluate(geometry, &pose(a), &pose(b)).value;
            }
        }
        for elastic in self.elastics.iter_mut().filter(|one| one.energy.resists_rates()) {
            let mut x = [V3::ZERO; ENDS_MAX];
            for (x, (&node, anchor)) in x.iter_mut().zip(elastic.nodes.iter().zip(&elastic.anchors))
            {
                *x = V3::of(&(start[node].position + start[node].rotation * anchor));
            }
            elastic.energy.begin(&x, h);
        }
    }

    fn analyse(&mut self) -> Result<SparseSystem, String> {
        let entries = self.place_blocks();
        let present: Vec<(usize, usize)> = entries.iter().filter_map(|&e| e).collect();
        let (system, found) = SparseSystem::new(self.size, &present)?;
        let mut found = found.into_iter();
        let slot = |entry: &Option<_>| entry.and_then(|_| found.next()).unwrap_or(ABSENT);
        self.slots = entries.iter().map(slot).collect();
        Ok(system)
    }

    /// How many unknowns are displacements and rotations; they come first.
    pub(crate) fn primal(&self) -> usize {
        self.size - self.rows.len() - 3 * self.contacts.len()
    }

    /// The unknown behind component `k` of `(pA, tA, pB, tB, ..)`.
    pub(crate) fn unknown<const N: usize>(&self, nodes: [usize; N], k: usize) -> Option<usize> {
        let node = self.nodes.get(nodes[k / 6])?;
        (k % 6 < node.extent).then_some(node.dof + k % 6)
    }

    /// Lays the blocks one after the other and lists the entries they write.
    fn place_blocks(&mut self) -> Vec<Option<(usize, usize)>> {
        let mut entries = Vec::new();
        for node in &mut self.nodes {
            node.slots = entries.len();
            for i in 0..node.extent {
                entries.extend((0..node.extent).map(|j| Some((node.dof + i, node.dof + j))));
            }
        }
        for r in 0..self.rows.len() {
            let Row { coordinate: Coordinate { kind, nodes, .. }, dof, .. } = self.rows[r];
            self.rows[r].slots = entries.len();
            entries.push(Some((dof, dof)));
            for k in 0..12 {
                let unknown = self.unknown(nodes, k).filter(|_| k % 6 >= 3 || !kind.is_angular());
                entries.push(unknown.map(|u| (dof, u)));
                entries.push(unknown.map(|u| (u, dof)));
            }
            self.place_hessian(&mut entries, nodes, |k, l| curved(kind, k, l));
        }
        for s in 0..self.springs.len() {
            let Coordinate { kind, nodes, .. } = self.springs[s].coordinate;
            self.springs[s].slots = entries.len();
            let angular = kind.is_angular();
            let touched = |k: usize| k % 6 >= 3 || !angular;
            self.place_hessian(&mut entries, nodes, |k, l| touched(k) && touched(l));
        }
        for elastic in &mut self.elastics {
            elastic.slots = entries.len();
            entries.extend(elastic.entries(&self.nodes).map(Some));
        }
        for c in 0..self.contacts.len() {
            let ContactUnknowns { nodes, dof, .. } = self.contacts[c];
            self.contacts[c].slots = entries.len();
            for i in 0..3 {
                entries.extend((0..3).map(|j| Some((dof + i, dof + j))));
            }
            for i in 0..3 {
                for k in 0..UNKNOWNS {
                    let unknown = self.unknown(nodes, k);
                    entries.push(unknown.map(|u| (dof + i, u)));
                    entries.push(unknown.map(|u| (u, dof + i)));
                }
            }
        }
        entries
    }

    fn place_hessian(
        &self,
        entries: &mut Vec<Option<(usize, usize)>>,
        nodes: [usize; 2],
        present: impl Fn(usize, usize) -> bool,
    ) {
        for k in 0..12 {
            for l in 0..12 {
                let pair = self.unknown(nodes, k).zip(self.unknown(nodes, l));
                entries.push(pair.filter(|_| present(k, l)));
            }
        }
    }
}

/// Whether a row's Hessian can have an entry there. A point row couples nothing across its bodies,
/// which keeps the matrix of a chain of ball joints narrow.
fn curved(kind: RowKind, k: usize, l: usize) -> bool {
    let turning = k % 6 >= 3 && l % 6 >= 3;
    match kind {
        RowKind::Point(_) => turning && k / 6 == l / 6,
        RowKind::Dot(..) | RowKind::Twist(_) | RowKind::Turn(_) | RowKind::Angle => turning,
        RowKind::Slide(_) | RowKind::Distance => true,
    }
}

fn nodes(model: &Model) -> Vec<TopologyNode> {
    let mut dof = 0;
    let node = |node: &taut_model::Node| {
        let extent = match node.kind {
            NodeKind::Body => 6,
            NodeKind::Particle => 3,
            NodeKind::Driven | NodeKind::Held => 0,
        };
        let first = dof;
        dof += extent;
        TopologyNode {
            dof: first,
            extent,
            mass: node.mass,
            inertia: node.inertia,
            moment: lightest(&node.inertia),
            kinematic: node.kind == NodeKind::Driven,
            slots: 0,
        }
    };
    model.nodes.iter().map(node).collect()
}

fn lightest(inertia: &Mat3) -> f64 {
    let moments = inertia.symmetric_eigenvalues();
    // A thin rod may have a moment of zero, which no scale can be made of.
    moments.min().max(1e-9 * moments.max())
}

/// What the rows of an element of a joint obey; none that drive a distance.
fn law(element: &Element, unit: &[Element], least: f64) -> Option<Law> {
    let range = |other: &Element| match other.role {
        Role::Limit { lower, upper } => Some([lower, upper]),
        _ => None,
    };
    match element.role {
        Role::Lock => {
            let compliance = element.softness.compliance().max(least);
            Some(Law::Locked { target: element.target, compliance })
        }
        Role::Limit { lower, upper } => Some(Law::Limit { lower, upper }),
        Role::Damp { damping } => Some(Law::Damped { damping }),
        Role::Motor { speed, max_effort } => {
            let everywhere = [f64::NEG_INFINITY, f64::INFINITY];
            let range = unit.iter().find_map(range).unwrap_or(everywhere);
            let driven = element.form != Form::Row(RowKind::Distance);
            driven.then_some(Law::Motor { speed, max_effort, range })
        }
        Role::Store => None,
    }
}

fn elastics(scene: &Scene, model: &Model, nodes: &[TopologyNode]) -> Vec<EnergyBlocks> {
    let all = scene.energies().chain(scene.dampings());
    let elastics = all.map(|(energy, anchors)| EnergyBlocks {
        energy,
        nodes: anchors.map(|anchor| model.slots.of(anchor.end) as usize),
        anchors: anchors.map(|anchor| anchor.local),
        slots: 0,
    });
    elastics.filter(|elastic| elastic.nodes.iter().any(|&n| nodes[n].extent > 0)).collect()
}

/// More dynamic bodies than this, where they may touch, take too long.
const BODIES_MAX: usize = 300;

/// Why the solver does not take a scene, if it does not.
pub(crate) fn unsupported(scene: &Scene) -> Option<String> {
    unsupported_contacts(scene).or_else(|| unsupported_rows(scene))
}

fn unsupported_contacts(scene: &Scene) -> Option<String> {
    scene.contacts?;
    let bodies = scene.bodies.iter().filter(|body| body.is_dynamic()).count();
    let particles = scene.particles.iter().filter(|p| p.mass > 0.0 && p.touch.is_some()).count();
    if bodies + particles / 3 > BODIES_MAX && particles > 0 {
        return Some(format!(
            "{bodies} bodies and {particles} particles may touch, and contacts of more than {BODIES_MAX} bodies, \
             or thrice as many particles, take too long to solve exactly"
        ));
    }
    if bodies > BODIES_MAX {
        return Some(format!(
            "{bodies} bodies may touch, and contacts of more than {BODIES_MAX} take too long to solve exactly"
        ));
    }
    None
}

fn unsupported_rows(scene: &Scene) -> Option<String> {
    let particle = |e| matches!(e, Endpoint::Particle(_));
    let turning = scene.joints.iter().find(|joint| {
        let rotates = locked_rows(joint).any(|(kind, _)| kind.is_angular() || slides(kind));
        rotates && (particle(joint.a) || particle(joint.b))
    });
    if let Some(joint) = turning {
        return Some(format!("joint `{}` locks the rotation of a particle", joint.name));
    }
    let angular = scene.springs.iter().find(|spring| {
        matches!(spring.kind, SpringKind::Angular { .. })
            && (particle(spring.a) || particle(spring.b))
    });
    angular.map(|spring| format!("spring `{}` turns a particle", spring.name))
}

fn slides(kind: RowKind) -> bool {
    matches!(kind, RowKind::Slide(_))
}
