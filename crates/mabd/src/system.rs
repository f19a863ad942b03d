//! One linearised solve: bodies respond alone, joints are evaluated, their forces found, bodies moved.

mod aba;
mod assembly;
mod bounds;
mod contact_solve;
mod coupled;
mod points;

use taut_core::{Mat3, Multipliers, Scene, Vec3};

use crate::{
    affine::{Affine, Affines},
    body::{BodyKind, Local, Root},
    chain::Chains,
    contact::Contacts,
    dual::{
        self, DualSystem,
        dissection::dissect,
        lines::Lines,
        order::{EliminationOrder, Link},
    },
    free::SolveTask,
    joint::{Element, ElementView, RowLaw, elements},
    node::{NodeResponse, Nodes, torque},
    polar,
    settings::{Dual, Integrator, MabdSettings, Polar},
    trees::Trees,
};
use aba::Aba;
use assembly::NodeBlocks;
use bounds::Bound;
use contact_solve::Folds;
use coupled::Coupled;

/// No joint of the scene.
const NONE: u32 = u32::MAX;

/// Where free motion leads and how far a force reaches within the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepScheme {
    /// Length by which inertia is divided twice [s].
    pub(crate) h: f64,
    /// Two thirds of what the two-step formula adds, or nothing.
    pub(crate) two_step: bool,
}

/// Graphs that are solved four bodies at a time.
enum ByLanes {
    Chains(Box<Chains>),
    Trees(Box<Trees>),
}

impl ByLanes {
    /// Those that elements form; `None` where they form others.
    fn new(
        chosen: Dual,
        elements: &[Element],
        compliance: &[f64],
        nodes: &mut Nodes,
    ) -> Option<Self> {
        match chosen {
            Dual::Thomas if elements.iter().all(Element::is_point) => {
                let chains = Chains::new(elements, compliance, nodes)?;
                Some(Self::Chains(Box::new(chains)))
            }
            Dual::Tree => Some(Self::Trees(Box::new(Trees::new(elements, compliance, nodes)?))),
            _ => None,
        }
    }

    fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        match self {
            Self::Chains(chains) => chains.solve(nodes, task),
            Self::Trees(trees) => trees.solve(nodes, task),
        }
    }

    fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        match self {
            Self::Chains(chains) => chains.set_active(active, compliance),
            Self::Trees(trees) => trees.set_active(active, compliance),
        }
    }

    fn read(&self, lambda: &mut [f64]) {
        match self {
            Self::Chains(chains) => chains.read(lambda),
            Self::Trees(trees) => trees.read(lambda),
        }
    }

    fn strain(&self) -> f64 {
        match self {
            Self::Chains(chains) => chains.strain(),
            Self::Trees(trees) => trees.strain(),
        }
    }
}

/// All bodies and joints of a scene, and room for one solve.
pub(crate) struct System {
    pub(crate) nodes: Nodes,
    /// Displacements and rates of the step before, for the two-step formula.
    pub(crate) before: Option<[Affines; 2]>,
    /// In the order of elimination; empty where graphs are solved by lanes.
    elements: Vec<Element>,
    /// The joint of each element; [`NONE`] for springs.
    joint_of: Vec<u32>,
    by_lanes: Option<ByLanes>,
    /// Elements that have not broken.
    active: Vec<bool>,
    /// Whether a row takes part in the dual system; the others have a given multiplier.
    live: Vec<bool>,
    bounds: Vec<Bound>,
    /// Whether joints hold two points together and nothing else, and there are no rows but theirs, or what
    /// goes by lanes.
    points: bool,
    /// The elimination over bodies, where that is chosen.
    aba: Option<Box<Aba>>,
    /// Whether errors of hard rows are corrected.
    feedback: bool,
    chosen: Dual,
    incidence: NodeBlocks,
    pub(crate) dual: DualSystem,
    /// Value of each row beyond its target, compliance, and gradient of each row on both sides with
    /// frames co-rotated, and what its own unit multiplier moves.
    errors: Vec<f64>,
    compliance: Vec<f64>,
    gradients: Vec<[Affine; 2]>,
    replies: Vec<[Affine; 2]>,
    /// Multipliers of the last solve.
    lambda: Vec<f64>,
    rhs: Vec<f64>,
    pub(crate) contacts: Option<Box<Contacts>>,
    folds: Folds,
    coupled: Coupled,
    /// Those before.
    guess: Vec<f64>,
    gravity: Vec3,
    /// Least softness of a body, in units of its inertia over `h^2` [1].
    softness_min: f64,
    polar: Polar,
    geometric: Option<f64>,
}

/// The elements in the order in which their solver wants them.
fn arranged(
    chosen: Dual,
    order: EliminationOrder,
    elements: &[Element],
    links: &[Link],
    nodes: &Nodes,
) -> Lines {
    match chosen {
        Dual::Cg | Dual::Sweeps => {
            let anchors: Vec<[Vec3; 2]> = elements.iter().map(|e| e.anchors).collect();
            Lines::new(nodes.count(), links, &anchors)
        }
        Dual::Direct => {
            let point = |e: &Element| nodes.place(e.nodes[0]).point(&e.anchors[0]);
            let points: Vec<Vec3> = elements.iter().map(point).collect();
            Lines { elements: dissect(nodes.count(), links, &points), ..Lines::default() }
        }
        _ => Lines { elements: order.elements, ..Lines::default() },
    }
}

impl System {
    /// A system of a scene, or why there is none.
    pub(crate) fn new(scene: &Scene, settings: &MabdSettings) -> Result<Self, String> {
        let mut nodes = Nodes::new(scene)?;
        nodes.load(&scene.initial_state());
        let count = nodes.count();
        let unordered = elements(&scene.joints, &scene.springs, &nodes);
        let dynamic = |node: u32| Some(node).filter(|&n| (n as usize) < count);
        let links = |elements: &[Element]| -> Vec<Link> {
            elements.iter().map(|element| element.nodes.map(dynamic)).collect()
        };
        let order = EliminationOrder::new(count, &links(&unordered));
        let chosen = dual::choose(settings.dual, &order)?;
        let closes_loops = order.closures > 0;
        let lines = arranged(chosen, order, &unordered, &links(&unordered), &nodes);
        let mut slots: Vec<Option<Element>> = unordered.into_iter().map(Some).collect();
        let elements: Vec<Element> =
            lines.elements.iter().filter_map(|&e| slots[e as usize].take()).collect();
        let links = links(&elements);
        let contacts = Contacts::new(scene, settings.contact_stiffness_scale, count, &links);
        let compliance: Vec<f64> = elements.iter().flat_map(compliances).collect();
        let general = scene.contacts.is_some() || settings.is_general();
        let by_lanes = match (general, settings.polar) {
            (false, Polar::Exact) => ByLanes::new(chosen, &elements, &compliance, &mut nodes),
            _ => None,
        };
        let points = by_lanes.is_some() || !general && elements.iter().all(Element::is_point);
        let count = nodes.count();
        let joint_of: Vec<u32> = elements.iter().map(|e| e.joint.unwrap_or(NONE)).collect();
        let rows = compliance.len();
        let (elements, links) =
            if by_lanes.is_some() { (Vec::new(), Vec::new()) } else { (elements, links) };
        let sizes: Vec<u8> = elements.iter().map(|e| e.rows.len() as u8).collect();
        let dual = DualSystem::new(chosen, count, &links, &sizes, &lines, settings)?;
        if by_lanes.is_none() {
            nodes.make_room();
        }
        let aba = Aba::chosen(chosen, scene, &mut nodes, &links, &elements)?;
        let stored = if points { 0 } else { rows };
        Ok(Self {
            nodes,
            before: (settings.integrator == Integrator::Bdf2)
                .then(|| [0, 1].map(|_| Affines::new(count, 0.0))),
            active: vec![true; joint_of.len()],
            live: vec![true; stored],
            bounds: bounds::all(&elements, &dual.blocks),
            points,
            aba,
            feedback: settings.feedback,
            chosen,
            incidence: NodeBlocks::new(count, &links, &dual.blocks),
            dual,
            errors: vec![0.0; stored],
            guess: vec![0.0; stored],
            compliance,
            gradients: vec![[Affine::ZERO; 2]; stored],
            replies: vec![[Affine::ZERO; 2]; stored],
            lambda: vec![0.0; rows],
            rhs: vec![0.0; if by_lanes.is_some() { 0 } else { rows }],
            elements,
            joint_of,
            by_lanes,
            contacts: contacts.map(Box::new),
            folds: Folds::default(),
            coupled: Coupled::default(),
            gravity: scene.gravity,
            softness_min: if closes_loops { settings.rigid_softness } else { 0.0 },
            polar: settings.polar,
            geometric: settings.geometric.share(),
        })
    }

    /// The dual solver in use.
    pub(crate) fn chosen(&self) -> Dual {
        self.chosen
    }

    /// Whether tension enters the local inverses, so that a first solve must find it.
    pub(crate) fn needs_tension(&self) -> bool {
        self.geometric.is_some() && !self.joint_of.is_empty()
    }

    /// Finds the contacts of a step of `h` [s] that starts now, or tells why they cannot be solved for.
    pub(crate) fn detect(&mut self, broken: &[bool], h: f64) -> Result<(), String> {
        let Some(mut contacts) = self.contacts.take() else { return Ok(()) };
        contacts.detect(&self.nodes, broken, h);
        let done = self.prepare(&contacts);
        self.contacts = Some(contacts);
        done
    }

    /// Lets broken joints go and forgets all multipliers.
    pub(crate) fn reset(&mut self, broken: &[bool]) {
        self.set_broken(broken);
        self.lambda.fill(0.0);
        self.bounds.iter_mut().for_each(Bound::forget);
    }

    /// Lets broken joints go.
    pub(crate) fn set_broken(&mut self, broken: &[bool]) {
        for (active, &joint) in self.active.iter_mut().zip(&self.joint_of) {
            *active = joint == NONE || !broken[joint as usize];
        }
        if let Some(by_lanes) = &mut self.by_lanes {
            by_lanes.set_active(&self.active, &self.compliance);
        }
    }

    /// Whether a solve can go on from a step that has ended but was not committed.
    pub(crate) fn can_resume(&self) -> bool {
        self.by_lanes.is_some() && self.before.is_none()
    }

    /// Largest squared norm of `A^T A - 1` after the last solve, where that is known.
    pub(crate) fn strain(&self) -> Option<f64> {
        self.by_lanes.as_ref().map(ByLanes::strain)
    }

    /// One solve from the current iterate; the increments are applied unless it only `probes` for the
    /// tension. If it `resumes`, the displacements are those of a step of the same length that has
    /// ended: they are added to the start of the step and become the rates, in units of that length.
    pub(crate) fn solve(&mut self, scheme: &StepScheme, probes: bool, resumes: bool) {
        if let Some(by_lanes) = &mut self.by_lanes {
            let task = SolveTask {
                h: scheme.h,
                before: self.before.as_ref().filter(|_| scheme.two_step),
                gravity: self.gravity,
                geometric: self.geometric,
                probes,
                resumes,
            };
            by_lanes.solve(&mut self.nodes, &task);
            return;
        }
        match self.contacts.take() {
            Some(mut contacts) => {
                self.solve_contacts(&mut contacts, scheme);
                self.contacts = Some(contacts);
            }
            None => self.solve_without_contacts(scheme),
        }
        for node in 0..self.nodes.count() {
            let NodeResponse { rotation, load, .. } = self.nodes.responses[node];
            self.nodes.set_tension(node, &-load.frame.diagonal());
            if probes {
                continue;
            }
            let increment = self.folds.settled(&self.nodes, node, scheme.h);
            let mut moved = self.nodes.moved.get(node);
            moved.frame += self.turn_back(node, &rotation, &increment.frame);
            moved.origin += increment.origin;
            self.nodes.moved.set(node, &moved);
        }
    }

    /// Solves for bodies and joints; what comes out is left in the responses.
    fn solve_without_contacts(&mut self, scheme: &StepScheme) {
        for node in 0..self.nodes.count() {
            self.respond(node, scheme);
        }
        if self.points {
            self.assemble_points(scheme);
            self.gather_points_rhs();
            self.dual.solve(&mut self.rhs, &self.lambda);
            std::mem::swap(&mut self.lambda, &mut self.rhs);
            self.gather_points_loads();
        } else if let Some(mut aba) = self.aba.take() {
            self.solve_aba(&mut aba, scheme);
            self.aba = Some(aba);
        } else if !self.elements.is_empty() {
            self.evaluate(scheme);
            self.find_multipliers(scheme, Self::find_multipliers_once);
        }
    }

    /// From co-rotated to world increments.
    #[inline(always)]
    fn turn_back(&self, node: usize, rotation: &Mat3, local: &Mat3) -> Mat3 {
        match self.polar {
            Polar::Exact | Polar::NewtonSchulz => rotation * local,
            Polar::Blockwise => {
                let frame = self.nodes.place(node as u32).frame;
                blockwise(&frame, local)
            }
        }
    }

    /// Where free motion leads, as a displacement since the start of the step.
    #[inline(always)]
    fn aim(&self, node: usize, scheme: &StepScheme) -> Affine {
        let rate = self.nodes.rate.get(node);
        let Some([moved, slower]) = self.before.as_ref().filter(|_| scheme.two_step) else {
            return rate.times(scheme.h);
        };
        // q~ = (4 q_n - q_(n-1)) / 3 + 2 h / 3 (4 v_n - v_(n-1)) / 3.
        let speed = rate.times(4.0 / 3.0).plus(&slower.get(node), -1.0 / 3.0);
        speed.times(scheme.h).plus(&moved.get(node), 1.0 / 3.0)
    }

    /// Inertia over the squared step along the principal axes, with what tension adds [kg m^2/s^2].
    #[inline(always)]
    fn stiff(&self, node: usize, scheme: &StepScheme) -> Vec3 {
        let inertia = self.nodes.kind(node).inertia(scheme.h);
        match self.geometric {
            None => inertia,
            // Only what exceeds a share of the inertia, so that slow modes keep their energy.
            Some(share) => inertia.zip_map(&self.nodes.tension(node), |s, tension| {
                s + (tension - share * s).max(0.0)
            }),
        }
    }

    /// A body as soft as its solve takes it.
    #[inline(always)]
    fn softened(&self, node: usize, scheme: &StepScheme) -> BodyKind {
        let kind = self.nodes.kind(node);
        kind.softened(self.softness_min, &kind.inertia(scheme.h))
    }

    /// A root of the inverse of a body's local matrix.
    fn root(&self, node: usize, scheme: &StepScheme) -> Root {
        Root::new(&self.softened(node, scheme), &self.stiff(node, scheme), scheme.h)
    }

    /// How many columns that has.
    fn columns(&self, node: usize) -> usize {
        let kind = self.nodes.kind(node);
        Root::columns(&kind.softened(self.softness_min, &kind.second))
    }

    /// The body alone: its rotation, its local inverse and where it would go without joints.
    ///
    /// With the strain `sigma = 1 - sym(R^T A)` the elastic load is `K sigma`, so that the increment is
    /// `sigma + H^-1 (R^T r - S' sigma)`: nothing cancels however stiff the body is, and the limit of
    /// rigid ones is the same formula.
    #[inline(always)]
    fn respond(&mut self, node: usize, scheme: &StepScheme) {
        let (kind, moved) = (self.nodes.kind(node), self.nodes.moved.get(node));
        let frame = self.nodes.start.get(node).frame + moved.frame;
        let rotation = match self.polar {
            Polar::Exact => polar::exact(&frame),
            Polar::NewtonSchulz | Polar::Blockwise => polar::single(&frame),
        };
        let inertia = kind.inertia(scheme.h);
        let stiff = self.stiff(node, scheme);
        let local = Local::new(&self.softened(node, scheme), &stiff);
        let aim = self.aim(node, scheme);
        let left = aim.frame - moved.frame;
        let push = Mat3::from_columns(&[
            left.column(0) * inertia.x,
            left.column(1) * inertia.y,
            left.column(2) * inertia.z,
        ]);
        let (sigma, turned) = match self.polar {
            Polar::Blockwise => {
                let strain = frame.tr_mul(&frame) - Mat3::identity();
                (strain * -0.5, blockwise(&frame.transpose(), &push))
            }
            Polar::Exact | Polar::NewtonSchulz => {
                let stretch = rotation.tr_mul(&frame);
                let symmetric = (stretch + stretch.transpose()) * 0.5;
                (Mat3::identity() - symmetric, rotation.tr_mul(&push))
            }
        };
        let held = Mat3::from_columns(&[
            sigma.column(0) * stiff.x,
            sigma.column(1) * stiff.y,
            sigma.column(2) * stiff.z,
        ]);
        let fall = self.gravity * (scheme.h * scheme.h);
        let free = Affine {
            frame: sigma + local.apply(&(turned - held)),
            origin: aim.origin - moved.origin + fall,
        };
        self.nodes.responses[node] = NodeResponse { rotation, local, free, load: Affine::ZERO };
    }

    /// Values, gradients and replies of all rows.
    fn evaluate(&mut self, scheme: &StepScheme) {
        for (e, element) in self.elements.iter().enumerate() {
            let places = element.nodes.map(|node| self.nodes.place(node));
            let view = ElementView { places, anchors: &element.anchors, bases: &element.bases };
            let first = self.dual.blocks.first[e] as usize;
            for (k, row) in element.rows.iter().enumerate() {
                let gradient = view.evaluate(row.function);
                let at = first + k;
                let target = match row.law {
                    RowLaw::Held { target, .. } => target,
                    RowLaw::Limit(_) | RowLaw::Motor(_) => 0.0,
                };
                let hard = matches!(row.law, RowLaw::Held { compliance: 0.0, .. });
                let ignored = hard && !self.feedback;
                self.errors[at] = if ignored { 0.0 } else { gradient.value - target };
                for side in 0..2 {
                    let node = element.nodes[side] as usize;
                    let (frame, origin) = (gradient.frames[side], gradient.origins[side]);
                    let Some(response) = self.nodes.responses.get(node) else {
                        self.gradients[at][side] = Affine { frame, origin };
                        continue;
                    };
                    let gradient = Affine { frame: response.rotation.tr_mul(&frame), origin };
                    self.gradients[at][side] = gradient;
                    self.replies[at][side] =
                        self.folds.reply(&self.nodes, node, &gradient, scheme.h);
                }
            }
            let rows = first..first + element.rows.len();
            self.live[rows].fill(self.active[e]);
        }
        self.note_bounds();
    }

    /// Sums of `multiplier times gradient` at every node.
    fn gather_loads(&mut self) {
        for node in 0..self.nodes.count() {
            self.nodes.responses[node].load = self.gathered(node);
        }
    }

    /// Sum of `multiplier times gradient` at a node.
    #[inline(always)]
    fn gathered(&self, node: usize) -> Affine {
        let mut load = self.folds.load(node);
        for &(element, side) in self.incidence.at(node) {
            let first = self.dual.blocks.first[element as usize] as usize;
            for k in first..first + self.dual.blocks.size(element as usize) {
                load = load.plus(&self.gradients[k][side as usize], self.lambda[k]);
            }
        }
        load
    }

    /// By how much the linearised step changes a row.
    fn change(&self, element: usize, row: usize, scheme: &StepScheme) -> f64 {
        let mut value = 0.0;
        for (side, &node) in self.elements[element].nodes.iter().enumerate() {
            let node = node as usize;
            if node < self.nodes.count() {
                let increment = self.folds.increment(&self.nodes, node, scheme.h);
                value += self.gradients[row][side].dot(&increment);
            }
        }
        value
    }

    /// Forces and torques of the last solve on the B side of every joint.
    pub(crate) fn joint_forces(&mut self, joints: usize, out: &mut Multipliers) {
        out.joint_force.clear();
        out.joint_force.resize(joints, Vec3::zeros());
        out.joint_torque.clear();
        out.joint_torque.resize(joints, Vec3::zeros());
        if let Some(by_lanes) = &self.by_lanes {
            by_lanes.read(&mut self.lambda);
        }
        if self.points {
            let joints = self.joint_of.iter().enumerate().filter(|(_, joint)| **joint != NONE);
            for (e, &joint) in joints {
                let force = Vec3::from_column_slice(&self.lambda[3 * e..3 * e + 3]);
                out.joint_force[joint as usize] = force;
            }
            return;
        }
        for (e, element) in self.elements.iter().enumerate() {
            let Some(joint) = element.joint.map(|j| j as usize) else { continue };
            let first = self.dual.blocks.first[e] as usize;
            let mut load = Affine::ZERO;
            for k in first..first + element.rows.len() {
                load = load.plus(&self.gradients[k][1], self.lambda[k]);
            }
            let node = element.nodes[1];
            let place = self.nodes.place(node);
            let frame = match self.nodes.responses.get(node as usize) {
                Some(response) => response.rotation * load.frame,
                None => load.frame,
            };
            let force = -load.origin;
            let arm = place.frame * element.anchors[1];
            out.joint_force[joint] = force;
            out.joint_torque[joint] = -torque(&place.frame, &frame) - arm.cross(&force);
        }
    }
}

/// Compliance of each row of an element.
fn compliances(element: &Element) -> impl Iterator<Item = f64> {
    element.rows.iter().map(|row| match row.law {
        RowLaw::Held { compliance, .. } => compliance,
        RowLaw::Limit(_) | RowLaw::Motor(_) => 0.0,
    })
}

/// Turns each column by the frame and gives it back its length (Alg. 1).
#[inline(always)]
fn blockwise(frame: &Mat3, columns: &Mat3) -> Mat3 {
    let turned = frame * columns;
    let scale = |i: usize| {
        let (before, after) = (columns.column(i).norm(), turned.column(i).norm());
        if after > 0.0 { before / after } else { 0.0 }
    };
    Mat3::from_columns(&[
        turned.column(0) * scale(0),
        turned.column(1) * scale(1),
        turned.column(2) * scale(2),
    ])
}
