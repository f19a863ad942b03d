//! What became of a run, in one word: the verdict that small errors alone cannot give.
//!
//! A solver may report a separation of 1e-14 m and be 80 m off, or an error of zero because nothing
//! moves any more. The labels catch both from the trajectory itself:
//!
//! - `intersecting`: triangles of the surfaces of two bodies have a common point, in a run whose backend promises
//!   that none ever do.
//! - `penetrating`: more than half of the thinner of two bodies is inside the other, or the centre of one went
//!   through the other between two states.
//! - `diverged`: a number is not finite.
//! - `exploded`: kinetic plus gravitational energy has grown by more than the scene could supply.
//!   No passive system gains any, so the bound is generous: see [`Judge`].
//! - `frozen`: something neither moves by 1e-4 m nor turns by as much at its radius of gyration, while the
//!   reference, its own velocity, or the acceleration that its unbalanced load gives it says more than 0.2 m; in
//!   scenes smaller than 1 m both in shares of their size. Or it is still while the forces that the solver itself
//!   reports leave most of its load uncarried. A true equilibrium is not frozen.
//! - `falling`: something that joints or springs tie to the world moved for 0.5 s as if they did not, and is
//!   beyond their reach, to which what is compliant adds as much as the load can stretch it. At first every swing is
//!   nearly a fall; only the reach tells them apart.

mod fall;
mod load;
mod still;
mod supports;
mod weight;

use std::fmt;

use crate::{
    Multipliers, Scene, State, Vec3,
    metrics::{anchors, energy, forces_work_j, joint_errors, motion_energy_j},
    scene::{Body, Endpoint, JointKind, SpringKind},
};

/// The verdict on a run, from harmless to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// None of the others.
    #[default]
    Ok,
    /// Surfaces of bodies meet although the backend promised that none do.
    Intersecting,
    /// A body is inside another, or went through it.
    Penetrating,
    /// Something jointed to the world falls as if it were not.
    Falling,
    /// Something does not move that should.
    Frozen,
    /// Energy came from nowhere.
    Exploded,
    /// A number is not finite.
    Diverged,
}

impl Label {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Intersecting => "intersecting",
            Self::Penetrating => "penetrating",
            Self::Falling => "falling",
            Self::Frozen => "frozen",
            Self::Exploded => "exploded",
            Self::Diverged => "diverged",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Two bodies inside each other, as a collision query of the state finds them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intrusion {
    /// Their indices.
    pub bodies: [usize; 2],
    /// How far apart they would have to be moved [m].
    pub depth_m: f64,
    /// The depth as a share of the smallest extent of the smaller body [1].
    pub share: f64,
}

/// What is known of a state besides its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// Those that the solver reports of the step to it.
    pub forces: Option<&'a Multipliers>,
    /// A trusted solution at the same time.
    pub reference: Option<&'a State>,
    /// The two bodies of the largest share.
    pub overlap: Option<Intrusion>,
    /// A body whose centre went through another since the last state, and that other.
    pub passed: Option<[usize; 2]>,
    /// How many pairs of triangles of two bodies have a common point, where the backend promises that none do; else
    /// zero.
    pub broken_promises: usize,
}

/// Of two bodies inside each other, more than this share of the thinner one [1].
const PENETRATING: f64 = 0.5;

/// Watches one run, state by state, and labels it.
///
/// A run is `exploded` when kinetic plus gravitational energy exceeds that of the start by more than
/// the sum of: the energy it started with in motion and in springs; the work of gravity on the whole
/// mass over the size of the scene; what motors can have supplied, and kinematic bodies at the speed of what
/// they have carried farthest out, those on paths at their largest speed and acceleration; the work of applied forces;
/// what closing the initial joint error within one frame gives; and a tenth of
/// the work gravity has done.
#[derive(Clone, Debug)]
pub struct Judge {
    scene: Scene,
    budget: EnergyBudget,
    still: still::StillWatch,
    fall: fall::FallWatch,
    weight: weight::WeightWatch,
    /// Largest overlap that the scene itself begins with, in shares as in [`Intrusion`] [1].
    start_share: f64,
    label: Label,
    reason: String,
    failed_at_s: Option<f64>,
}

/// The energy a run starts with, and what may be added.
#[derive(Clone, Debug)]
struct EnergyBudget {
    /// Of the last state.
    time_s: f64,
    /// Kinetic plus gravitational [J].
    motion_j: f64,
    gravity_j: f64,
    /// What may be gained at once [J].
    allowance_j: f64,
    /// What motors may supply per second [W].
    motor_w: f64,
    supports: supports::Supports,
    /// The last state, in scenes with forces from outside.
    before: Option<State>,
    /// Of everything that forces move [kg].
    mass: f64,
    /// What motors and moving supports may have supplied until now [J].
    supplied_j: f64,
}

impl Judge {
    /// A judge of runs of `scene` that start at `initial`.
    pub fn new(scene: &Scene, initial: &State) -> Self {
        Self {
            scene: scene.clone(),
            budget: EnergyBudget::new(scene, initial),
            still: still::StillWatch::new(scene, initial),
            fall: fall::FallWatch::new(scene, initial),
            weight: weight::WeightWatch::new(scene, initial),
            start_share: 0.0,
            label: Label::Ok,
            reason: String::new(),
            failed_at_s: None,
        }
    }

    /// The same of a scene in which bodies begin inside each other, which is nobody's fault.
    #[must_use]
    pub fn beginning_with(self, overlap: Option<Intrusion>) -> Self {
        Self { start_share: overlap.map_or(0.0, |overlap| overlap.share), ..self }
    }

    /// Takes note of the next state, and of what else is known of it.
    ///
    /// Call it at least ten times per second of simulated time.
    pub fn observe(&mut self, state: &State, evidence: &Evidence<'_>) {
        let &Evidence { forces, reference, .. } = evidence;
        if self.label == Label::Diverged {
            return;
        }
        if !state.is_finite() {
            self.raise(Label::Diverged, format!("not finite at {:.3} s", state.time_s), state);
            return;
        }
        if evidence.broken_promises > 0 {
            let count = evidence.broken_promises;
            let reason = format!("{count} pairs of triangles meet at {:.3} s", state.time_s);
            self.raise(Label::Intersecting, reason, state);
        }
        if let Some(reason) = self.penetration(evidence) {
            self.raise(Label::Penetrating, reason, state);
        }
        if let Some(reason) = self.budget.explosion(&self.scene, state) {
            self.raise(Label::Exploded, reason, state);
        }
        if let Some(reason) = self.still.observe(&self.scene, state, reference) {
            self.raise(Label::Frozen, reason, state);
        }
        if let Some(reason) = self.weight.observe(&self.scene, state, forces) {
            self.raise(Label::Frozen, reason, state);
        }
        if let Some(reason) = self.fall.observe(&self.scene, state, reference) {
            self.raise(Label::Falling, reason, state);
        }
    }

    /// The worst label earned so far.
    pub fn label(&self) -> Label {
        self.label
    }

    /// Why, for people; empty where the label is `ok`.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// When the run was first found to be anything but `ok` [s].
    pub fn failed_at_s(&self) -> Option<f64> {
        self.failed_at_s
    }

    /// Why two bodies are where only one can be.
    fn penetration(&self, evidence: &Evidence<'_>) -> Option<String> {
        let name = |body| node_name(&self.scene, body);
        if let Some([mover, through]) = evidence.passed {
            return Some(format!("{} went through {}", name(mover), name(through)));
        }
        let Intrusion { bodies: [a, b], depth_m, share } = evidence.overlap?;
        let percent = 100.0 * share;
        (share > PENETRATING + self.start_share).then(|| {
            format!(
                "{} and {} are {depth_m:.3e} m inside each other, {percent:.0} % of the thinner one",
                name(a),
                name(b)
            )
        })
    }

    /// Keeps the worst label, with the reason for which it was first given.
    fn raise(&mut self, label: Label, reason: String, state: &State) {
        self.failed_at_s = self.failed_at_s.or(Some(state.time_s));
        if label > self.label {
            (self.label, self.reason) = (label, reason);
        }
    }
}

impl EnergyBudget {
    /// What forces have put in since the last state; what they take out is no gain either [J].
    fn pushed_j(&mut self, scene: &Scene, state: &State) -> f64 {
        let Some(before) = &mut self.before else { return 0.0 };
        let pushed = forces_work_j(scene, before, state);
        before.clone_from(state);
        pushed.max(0.0)
    }

    fn new(scene: &Scene, initial: &State) -> Self {
        let energy = energy(scene, initial);
        let bodies = scene.bodies.iter().filter(|b| b.is_dynamic()).map(|b| b.mass);
        let mass: f64 = bodies.chain(scene.particles.iter().map(|p| p.mass)).sum();
        let size = size_m(scene, initial);
        // Even a point falls a little before its fall can excuse its integrator's error.
        let first_fall = 0.5 * scene.gravity.norm() * (10.0 * scene.dt).powi(2);
        let dropped = mass * scene.gravity.norm() * (size + first_fall);
        let supplied = energy.kinetic_j + energy.elastic_j() + dropped;
        // Nothing at rest without forces may cross its own size within ten seconds.
        let least = 0.5 * mass * (0.1 * size).powi(2);
        let closing = 0.5 * mass * (joint_errors(scene, initial).max_m / scene.dt).powi(2);
        let motors = scene.joints.iter().filter_map(|joint| joint.motor);
        let motor_w: f64 = motors.map(|m| m.max_effort * m.speed.abs()).sum();
        Self {
            time_s: initial.time_s,
            motion_j: energy.kinetic_j + energy.gravity_j,
            gravity_j: energy.gravity_j,
            allowance_j: supplied.max(least) + closing,
            motor_w,
            before: (!scene.forces.is_empty()).then(|| initial.clone()),
            supports: supports::Supports::new(scene, size),
            mass,
            supplied_j: 0.0,
        }
    }

    /// Why the energy of `state` cannot be.
    fn explosion(&mut self, scene: &Scene, state: &State) -> Option<String> {
        // A support moving at u can throw what it carries to 2 u, and lifts or drags it at u.
        let speed = self.supports.speed(scene, state);
        let thrown = 0.5 * self.mass * (2.0 * speed).powi(2);
        let weight_n = self.mass * (scene.gravity.norm() + self.supports.acceleration());
        let power_w = self.motor_w + weight_n * speed;
        self.supplied_j += power_w * (state.time_s - self.time_s).max(0.0);
        self.supplied_j += self.pushed_j(scene, state);
        self.time_s = state.time_s;
        let [kinetic_j, gravity_j] = motion_energy_j(scene, state);
        let gain = kinetic_j + gravity_j - self.motion_j;
        // An integrator's relative error of a long fall is not an explosion.
        let fallen = 0.1 * (self.gravity_j - gravity_j).max(0.0);
        let bound = self.allowance_j + thrown + self.supplied_j + fallen;
        // Written so that an energy that overflows to infinity or NaN is caught too.
        let fine = gain <= bound;
        (!fine).then(|| {
            format!(
                "gained {gain:.3e} J by {:.3} s, at most {bound:.3e} J are possible",
                state.time_s
            )
        })
    }
}

/// Diagonal of the box around all that moves and all that it is attached to [m], at least the largest body's own
/// extent and the longest rope or spring.
pub fn size_m(scene: &Scene, state: &State) -> f64 {
    let mut least = Vec3::repeat(f64::INFINITY);
    let mut most = Vec3::repeat(f64::NEG_INFINITY);
    let mut own = 0.0_f64;
    let mut include = |p: &Vec3| (least, most) = (least.inf(p), most.sup(p));
    for (body, s) in scene.bodies.iter().zip(&state.bodies).filter(|(b, _)| b.is_dynamic()) {
        include(&s.position);
        // A sphere of this radius of gyration has twice that extent.
        own = own.max(2.0 * body_gyration_m(body));
    }
    state.particles.iter().for_each(|p| include(&p.position));
    for joint in &scene.joints {
        anchors(joint, state).iter().for_each(&mut include);
        if let JointKind::Distance { length } = joint.kind {
            own = own.max(length);
        }
    }
    for spring in &scene.springs {
        if let SpringKind::Linear { anchor_a, anchor_b, rest_length } = spring.kind {
            own = own.max(rest_length);
            [(spring.a, anchor_a), (spring.b, anchor_b)]
                .iter()
                .for_each(|end| include(&point(state, *end)));
        }
    }
    let diagonal = (most - least).norm();
    if diagonal.is_finite() { own.max(diagonal) } else { own }
}

/// Where an anchor is in the world [m].
fn point(state: &State, (endpoint, anchor): (Endpoint, Vec3)) -> Vec3 {
    match endpoint {
        Endpoint::World => anchor,
        Endpoint::Body(i) => state.bodies[i].point(&anchor),
        Endpoint::Particle(i) => state.particles[i].position,
    }
}

/// Size of a scene, at most 1 [m]; a single point has none, and counts as if it had.
fn scale_m(scene: &Scene, state: &State) -> f64 {
    let size = size_m(scene, state);
    if size > 0.0 { size.min(1.0) } else { 1.0 }
}

/// Root of the mean square distance of a body's mass from its centre [m].
fn body_gyration_m(body: &Body) -> f64 {
    (body.inertia.trace() / (2.0 * body.mass)).sqrt()
}

/// Radius of gyration of a node, counted bodies first; zero of a particle [m].
fn gyration_m(scene: &Scene, node: usize) -> f64 {
    scene.bodies.get(node).filter(|body| body.is_dynamic()).map_or(0.0, body_gyration_m)
}

/// How a body or particle, counted bodies first, is called in a reason.
fn node_name(scene: &Scene, node: usize) -> String {
    let (kind, index, name) = match node.checked_sub(scene.bodies.len()) {
        None => ("body", node, &scene.bodies[node].name),
        Some(i) => ("particle", i, &scene.particles[i].name),
    };
    if name.is_empty() { format!("{kind} {index}") } else { format!("{kind} `{name}`") }
}

/// Position of a node, counted bodies first [m].
fn node_position(state: &State, node: usize) -> Vec3 {
    match node.checked_sub(state.bodies.len()) {
        None => state.bodies[node].position,
        Some(i) => state.particles[i].position,
    }
}

/// The nodes that forces move: bodies first, then particles.
fn dynamic_nodes(scene: &Scene) -> Vec<usize> {
    let bodies = scene.bodies.iter().enumerate().filter(|(_, b)| b.is_dynamic()).map(|(i, _)| i);
    let particles = scene.particles.iter().enumerate().filter(|(_, p)| p.mass > 0.0);
    bodies.chain(particles.map(|(i, _)| scene.bodies.len() + i)).collect()
}

#[cfg(test)]
mod tests;
