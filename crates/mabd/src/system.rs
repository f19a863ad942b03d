//! One linearised solve: bodies respond alone, joints are evaluated, their forces found, bodies moved.

mod aba;
mod assembly;
mod bounds;
mod by_lanes;
mod contact_solve;
mod coupled;
mod elastic_solve;
mod least;
mod respond;
mod rows;

use taut_core::{Mat3, Scene, Vec3};
use taut_model::Model;

use crate::{
    affine::{Affine, Affines},
    contact::{Begins, BoundedRow, StepContacts},
    dual::{
        self, DualSystem,
        dissection::dissect,
        lines::Lines,
        order::{EliminationOrder, Link, loops},
    },
    elastic::ElasticNodes,
    free::{GroupTable, SolveTask},
    joint::{JointElement, JointRow, RowLaw, elements},
    node::Nodes,
    settings::{Dual, Integrator, MabdSettings, Polar},
};
use aba::Aba;
use assembly::NodeBlocks;
use bounds::Bound;
use by_lanes::{Arranged, ByLanes};
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

/// All bodies and joints of a scene, and room for one solve.
pub(crate) struct System {
    pub(crate) nodes: Nodes,
    /// Displacements and rates of the step before, for the two-step formula.
    pub(crate) before: Option<[Affines; 2]>,
    /// In the order of elimination; empty where graphs are solved by lanes.
    elements: Vec<JointElement>,
    /// The nodes of each element, and the points that it holds together where that is all it does, in principal coordinates [m].
    ends: Vec<[u32; 2]>,
    points: Vec<Option<[Vec3; 2]>>,
    /// The joint of each element; [`NONE`] for springs.
    joint_of: Vec<u32>,
    by_lanes: Option<ByLanes>,
    /// Elements that have not broken.
    active: Vec<bool>,
    bounds: Vec<Bound>,
    /// Those of joints that have not broken, as they are beside contacts.
    bounded: Vec<BoundedRow>,
    /// Elements with dampers.
    damped: Vec<u32>,
    /// The elimination over bodies, where that is chosen.
    aba: Option<Box<Aba>>,
    /// Whether errors of hard rows are corrected.
    feedback: bool,
    /// Whether joints close loops, also through what does not move, and a step is one linear solve.
    seeks_least: bool,
    chosen: Dual,
    incidence: NodeBlocks,
    pub(crate) dual: DualSystem,
    rows: SystemRows,
    pub(crate) contacts: Option<Box<StepContacts>>,
    /// Whether the next solve begins with who pressed and slid in the one before.
    pub(crate) keeps_contacts: bool,
    /// Nodes that are in the next solve where they were in the one before, and as stiff, so that what it found of them and
    /// their joints still holds; none where all is found anew.
    pub(crate) stays: Vec<bool>,
    /// The stretch along tangents of turns [1] beyond which solves with contacts are left as they are, if they may be, and
    /// whether the last was.
    pub(crate) leaves_beyond: Option<f64>,
    pub(crate) is_left: bool,
    folds: Folds,
    coupled: Coupled,
    /// Where there is elastic material, or particles touch.
    elastic: Option<Box<ElasticNodes>>,
    /// How far the last solve with such material has moved anything, or how far joints were open before [m].
    latest_change: f64,
    physics: Physics,
    /// Empty where graphs are solved by lanes.
    constants: GroupTable,
}

/// The rows of all joints and springs in the current iterate.
struct SystemRows {
    /// Whether a row takes part in the dual system; the others have a given multiplier.
    live: Vec<bool>,
    /// Value of each row beyond its target, compliance, and gradient of each row on both sides with
    /// frames co-rotated, and what its own unit multiplier moves.
    errors: Vec<f64>,
    compliance: Vec<f64>,
    gradients: Vec<[Affine; 2]>,
    replies: Vec<[Affine; 2]>,
    /// Whether the rows of an element were found anew in the solve at hand.
    renewed: Vec<bool>,
    /// Multipliers of the last solve, and those before.
    lambda: Vec<f64>,
    guess: Vec<f64>,
    rhs: Vec<f64>,
    /// Multipliers of least size for the same motion, see `least.rs`; empty where they are those above.
    least: Vec<f64>,
}

impl SystemRows {
    /// Rows with these compliances; what is not stored where they go by lanes has no room.
    fn new(compliance: Vec<f64>, by_lanes: bool) -> Self {
        let rows = compliance.len();
        let stored = if by_lanes { 0 } else { rows };
        Self {
            live: vec![true; stored],
            errors: vec![0.0; stored],
            compliance,
            gradients: vec![[Affine::ZERO; 2]; stored],
            replies: vec![[Affine::ZERO; 2]; stored],
            renewed: Vec::new(),
            lambda: vec![0.0; rows],
            guess: vec![0.0; stored],
            rhs: vec![0.0; stored],
            least: Vec::new(),
        }
    }
}

/// What bodies do by themselves, beside their own constants.
struct Physics {
    gravity: Vec3,
    /// Least softness of a body, in units of its inertia over `h^2` [1].
    softness_min: f64,
    polar: Polar,
    /// Share of the inertia that tension must exceed; `None` without geometric stiffness.
    geometric: Option<f64>,
}

impl Physics {
    /// What a solve is asked for that neither probes nor resumes, given the step before.
    fn task<'a>(&self, scheme: &StepScheme, before: &'a Option<[Affines; 2]>) -> SolveTask<'a> {
        SolveTask {
            h: scheme.h,
            before: before.as_ref().filter(|_| scheme.two_step),
            gravity: self.gravity,
            geometric: self.geometric,
            probes: false,
            resumes: false,
        }
    }
}

/// The elements in the order in which their solver wants them.
fn arranged(
    chosen: Dual,
    order: EliminationOrder,
    elements: &[JointElement],
    links: &[Link],
    nodes: &Nodes,
) -> Lines {
    match chosen {
        Dual::Cg | Dual::Sweeps => {
            let anchors: Vec<[Vec3; 2]> = elements.iter().map(|e| e.anchors).collect();
            Lines::new(nodes.count(), links, &anchors)
        }
        Dual::Direct => {
            let point = |e: &JointElement| nodes.place(e.nodes[0]).point(&e.anchors[0]);
            let points: Vec<Vec3> = elements.iter().map(point).collect();
            Lines { elements: dissect(nodes.count(), links, &points), ..Lines::default() }
        }
        _ => Lines { elements: order.elements, ..Lines::default() },
    }
}

impl Physics {
    fn new(scene: &Scene, settings: &MabdSettings, softness_min: f64) -> Self {
        Self {
            gravity: scene.gravity,
            softness_min,
            polar: settings.polar,
            geometric: settings.geometric.share(),
        }
    }
}

impl System {
    /// A system of a scene, or why there is none.
    pub(crate) fn new(scene: &Scene, settings: &MabdSettings) -> Result<Self, String> {
        let mut nodes = Nodes::new(scene)?;
        nodes.load(&scene.initial_state());
        let count = nodes.count();
        let model = Model::new(scene);
        let unordered = elements(&model, &nodes);
        let elastic = ElasticNodes::new(scene, &model, &nodes).map(Box::new);
        let unordered_links = links_of(&unordered, count);
        let order = EliminationOrder::new(count, &unordered_links);
        let points = unordered.iter().all(JointElement::is_point);
        let has_loops = has_loops(count, &unordered_links, &unordered);
        let chosen = dual::choose(settings.dual, &order, has_loops && !points)?;
        let softness_min = if order.closures > 0 { settings.rigid_softness } else { 0.0 };
        let lines = arranged(chosen, order, &unordered, &unordered_links, &nodes);
        let elements = in_order(unordered, &lines.elements);
        let links = links_of(&elements, count);
        let contacts = step_contacts(scene, settings, count, (&links, elastic.as_deref()));
        let compliance: Vec<f64> = elements.iter().flat_map(compliances).collect();
        let general = contacts.is_some() || settings.is_general();
        let all = Arranged {
            elements: &elements,
            links: &links,
            compliance: &compliance,
            lines: &lines,
            has_loops,
            softness_min,
        };
        let by_lanes =
            if general { None } else { ByLanes::new(chosen, &all, settings, &mut nodes) };
        let count = nodes.count();
        let joint_of: Vec<u32> = elements.iter().map(|e| e.joint.unwrap_or(NONE)).collect();
        let (elements, links) =
            if by_lanes.is_some() { Default::default() } else { (elements, links) };
        let dual = dual_of(&elements, &links, (chosen, has_loops), count, &lines, settings);
        let constants =
            if by_lanes.is_some() { GroupTable::default() } else { respond::constants(&mut nodes) };
        let aba = Aba::chosen(chosen, scene, &mut nodes, &links, &elements)?;
        Ok(Self {
            nodes,
            before: (settings.integrator == Integrator::Bdf2)
                .then(|| [0, 1].map(|_| Affines::new(count, 0.0))),
            active: vec![true; joint_of.len()],
            bounds: bounds::all(&elements, &dual.blocks),
            bounded: Vec::new(),
            damped: damped(&elements),
            aba,
            feedback: settings.feedback,
            seeks_least: has_loops && settings.integrator.is_linear(),
            chosen,
            incidence: NodeBlocks::new(count, &links, &dual.blocks),
            dual,
            rows: SystemRows::new(compliance, by_lanes.is_some()),
            ends: elements.iter().map(|e| e.nodes).collect(),
            points: elements.iter().map(|e| e.is_point().then_some(e.anchors)).collect(),
            elements,
            joint_of,
            by_lanes,
            contacts: contacts.map(Box::new),
            keeps_contacts: false,
            stays: Vec::new(),
            leaves_beyond: None,
            is_left: false,
            folds: Folds::default(),
            coupled: Coupled::default(),
            elastic,
            latest_change: 0.0,
            physics: Physics::new(scene, settings, softness_min),
            constants,
        })
    }

    /// The dual solver in use.
    pub(crate) fn chosen(&self) -> Dual {
        let direct = match &self.by_lanes {
            Some(by_lanes) => by_lanes.is_direct(),
            None => self.dual.is_direct(),
        };
        if direct { Dual::Direct } else { self.chosen }
    }

    /// Whether tension enters the local inverses, so that a first solve must find it.
    pub(crate) fn needs_tension(&self) -> bool {
        self.physics.geometric.is_some() && !self.joint_of.is_empty()
    }

    /// Finds the contacts of a step of `h` [s], or of a part of one, that starts now.
    pub(crate) fn detect(&mut self, broken: &[bool], h: f64, begins: Begins) {
        let Some(mut contacts) = self.contacts.take() else { return };
        contacts.detect(&self.nodes, broken, h, begins);
        self.prepare(&contacts);
        self.contacts = Some(contacts);
    }

    /// Finds more contacts of the step at hand, see [`StepContacts::detect_more`].
    pub(crate) fn detect_more(&mut self, broken: &[bool], h: f64) -> bool {
        let Some(mut contacts) = self.contacts.take() else { return false };
        let meets = contacts.detect_more(&self.nodes, broken, h);
        if meets {
            self.prepare(&contacts);
        }
        self.contacts = Some(contacts);
        meets
    }

    /// Lets broken joints go and forgets all multipliers.
    pub(crate) fn reset(&mut self, broken: &[bool]) {
        self.is_left = false;
        self.stays.clear();
        self.set_broken(broken);
        self.rows.lambda.fill(0.0);
        self.rows.least.clear();
        self.dual.forget();
        if let Some(by_lanes) = &mut self.by_lanes {
            by_lanes.forget();
        }
        self.bounds.iter_mut().for_each(Bound::forget);
    }

    /// Lets broken joints go.
    pub(crate) fn set_broken(&mut self, broken: &[bool]) {
        for (active, &joint) in self.active.iter_mut().zip(&self.joint_of) {
            *active = joint == NONE || !broken[joint as usize];
        }
        if let Some(by_lanes) = &mut self.by_lanes {
            by_lanes.set_active(&self.active, &self.rows.compliance);
        }
    }

    /// Whether a solve can go on from a step that has ended but was not committed.
    pub(crate) fn can_resume(&self) -> bool {
        self.by_lanes.is_some() && self.before.is_none()
    }

    /// The rotation of a node in the last solve; `None` where it is that of the start of the step.
    pub(crate) fn rotation(&self, node: usize) -> Option<Mat3> {
        match &self.by_lanes {
            Some(by_lanes) => by_lanes.rotation(node),
            None => self.nodes.responses.get(node).map(|response| response.rotation),
        }
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
            let task = self.physics.task(scheme, &self.before);
            let task = SolveTask { probes, resumes, ..task };
            by_lanes.solve(&mut self.nodes, &task);
            return;
        }
        self.rows.least.clear();
        match self.contacts.take() {
            Some(mut contacts) => {
                self.solve_contacts(&mut contacts, scheme);
                self.hold_back(&contacts, scheme);
                self.contacts = Some(contacts);
            }
            None => self.solve_without_contacts(scheme),
        }
        for node in 0..self.nodes.count() {
            // A step that is solved again about turns tells which tension it wants.
            if self.leaves_beyond.is_none() {
                self.note_tension(node);
            }
            if probes {
                continue;
            }
            let rotation = self.nodes.responses[node].rotation;
            let increment = self.folds.settled(&self.nodes, node, scheme.h);
            let mut moved = self.nodes.moved.get(node);
            moved.frame += self.turn_back(node, &rotation, &increment.frame);
            moved.origin += increment.origin;
            self.nodes.moved.set(node, &moved);
        }
    }

    /// Has a node stiffen in the next solve as its tension in the last does.
    pub(crate) fn note_tension(&mut self, node: usize) {
        let load = self.least_load(node).unwrap_or(self.nodes.responses[node].load);
        self.nodes.set_tension(node, &-load.frame.diagonal());
    }

    /// Solves for bodies and joints; what comes out is left in the responses.
    fn solve_without_contacts(&mut self, scheme: &StepScheme) {
        self.respond(scheme);
        if let Some(mut aba) = self.aba.take() {
            self.solve_aba(&mut aba, scheme);
            self.aba = Some(aba);
        } else if !self.elements.is_empty() {
            self.evaluate(scheme);
            self.find_multipliers(scheme);
        }
    }
}

/// The nodes of elements, of which forces move the first `count`.
fn links_of(elements: &[JointElement], count: usize) -> Vec<Link> {
    let dynamic = |node: u32| Some(node).filter(|&n| (n as usize) < count);
    elements.iter().map(|element| element.nodes.map(dynamic)).collect()
}

/// Elements in another order.
fn in_order(unordered: Vec<JointElement>, order: &[u32]) -> Vec<JointElement> {
    let mut slots: Vec<Option<JointElement>> = unordered.into_iter().map(Some).collect();
    order.iter().filter_map(|&e| slots[e as usize].take()).collect()
}

/// The dual system of elements that do not go by lanes.
fn dual_of(
    elements: &[JointElement],
    links: &[Link],
    (chosen, has_loops): (Dual, bool),
    count: usize,
    lines: &Lines,
    settings: &MabdSettings,
) -> DualSystem {
    let sizes: Vec<u8> = elements.iter().map(|e| e.rows.len() as u8).collect();
    // Without elements any will do, and lines are not those of none.
    let chosen = if elements.is_empty() { Dual::Thomas } else { chosen };
    DualSystem::new((chosen, has_loops), count, links, &sizes, lines, settings)
}

/// The contacts of a scene, or its islands alone where there is elastic material.
fn step_contacts(
    scene: &Scene,
    settings: &MabdSettings,
    count: usize,
    (links, elastic): (&[Link], Option<&ElasticNodes>),
) -> Option<StepContacts> {
    let material = elastic.into_iter().flat_map(ElasticNodes::links);
    let links = links.iter().copied().chain(material);
    let needed = scene.contacts.is_some() || elastic.is_some();
    needed.then(|| StepContacts::new(scene, settings, count, links))
}

/// Whether elements without give close loops, also through what does not move.
fn has_loops(nodes: usize, links: &[Link], elements: &[JointElement]) -> bool {
    let hard = links.iter().zip(elements).filter(|(_, element)| element.is_hard());
    loops(nodes, hard.map(|(link, _)| *link)) > 0
}

/// The elements that have dampers.
fn damped(elements: &[JointElement]) -> Vec<u32> {
    let damps = |row: &JointRow| matches!(row.law, RowLaw::Damped { .. });
    let with = (0..).zip(elements).filter(|(_, element)| element.rows.iter().any(damps));
    with.map(|(e, _)| e).collect()
}

/// Compliance of each row of an element.
fn compliances(element: &JointElement) -> impl Iterator<Item = f64> {
    element.rows.iter().map(|row| match row.law {
        RowLaw::Held { compliance, .. } => compliance,
        // Of a step of one second.
        RowLaw::Damped { damping, .. } => 1.0 / damping,
        RowLaw::Limit(_) | RowLaw::Motor(_) => 0.0,
    })
}
