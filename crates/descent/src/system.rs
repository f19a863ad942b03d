//! The state of a descent solver between and within steps.

use taut_collide::Style;
use taut_core::{BuildError, Quat, Scene, SolverError, State, state::ParticleState};
use taut_math::{Q4, Real, V3};

use crate::{
    carried::carried_masses,
    element::{AngularRows, Bases, Definition, Element, ElementKind, Owner, Role, definitions},
    node::{Acted, Base, Incidence, Layout, Node, NodeKind, Order, body_state, load_bases, narrow},
    row::{Pair, Side, gradient},
    touch::Touch,
};

/// What a method chooses: how bodies move without constraints and how constraints are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// In which order nodes are visited.
    pub order: Order,
    /// Which rows lock relative rotations.
    pub angular: AngularRows,
    /// Whether the three rows of a point always share one stiffness.
    pub isotropic: bool,
    /// How rotation vectors and rotations are exchanged.
    pub rotation: Rotation,
    /// In which axes the inertia tensor is used.
    pub frame: InertiaFrame,
    /// Whether the inertial target includes the gyroscopic torque.
    pub gyroscopic: bool,
    /// Where iterations start.
    pub start: Start,
    /// How contacts are made.
    pub contacts: Style,
    /// Partial sums over the elements and contacts of a node that has twice as many of them or more; 1 sums one
    /// after the other. See [`Self::check_lanes`].
    pub lanes_per_body: u32,
}

impl Model {
    /// Refuses numbers of lanes that do not halve down to one within a workgroup.
    ///
    /// # Errors
    /// Says what they may be.
    pub fn check_lanes(lanes: u32) -> Result<(), BuildError> {
        if lanes.is_power_of_two() && lanes <= LANES_MAX {
            return Ok(());
        }
        let text = format!("lanes_per_body must be a power of two up to {LANES_MAX}, not {lanes}");
        Err(BuildError::Settings(text))
    }
}

/// Invocations of the smallest workgroup.
const LANES_MAX: u32 = 64;

/// How rotation vectors and rotations are exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rotation {
    /// As published (Eq. 20, 21): `q + (0,w) q / 2` normalised one way, `2 vec(q q'^-1)` the other,
    /// which are not inverse to each other, so that free spin decays.
    Published,
    /// The Cayley map both ways, `2 vec(q)/scalar(q)`: free spin is kept exactly.
    #[default]
    Cayley,
}

/// In which axes the inertia tensor is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InertiaFrame {
    /// Rotated to the world at the step's start.
    #[default]
    World,
    /// The body-axis tensor taken for a world-axis one, as in the official 3D demo; wrong for turned bodies.
    Body,
}

/// Where the iterations of a step start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// At the inertial target.
    Target,
    /// With as much of gravity as the body followed in the last step (VBD's adaptive initialisation).
    #[default]
    Adaptive,
}

/// Nodes, incidences and elements of a scene, with the motion of the current step.
#[derive(Clone, Debug)]
pub struct System<R: Real> {
    /// Nodes, by colour, fixed ones last.
    pub nodes: Vec<Node<R>>,
    /// Ends of elements, node by node.
    pub incidences: Vec<Incidence<R>>,
    /// What couples the nodes.
    pub elements: Vec<Element<R>>,
    /// Joint bases at the step's start, one per element.
    pub bases: Vec<Bases<R>>,
    /// Unregularised values of the rows at the step's start, one per element.
    pub start_values: Vec<V3<R>>,
    /// What the elements stand for.
    pub definitions: Vec<Definition>,
    /// Where things are among the nodes.
    pub layout: Layout,
    /// Contacts, in a scene that has any.
    pub touch: Option<Touch<R>>,
    pub(crate) motions: Vec<(V3<R>, V3<R>)>,
    pub(crate) nodes_base: Vec<Base<R>>,
    pub(crate) anchors: Vec<V3<R>>,
    pub(crate) local_bases: Vec<Bases<R>>,
    pub(crate) broken: Vec<bool>,
    pub(crate) gravity: V3<R>,
    pub(crate) model: Model,
    pub(crate) time_s: f64,
    pub(crate) h: R,
    pub(crate) within_step: bool,
}

impl<R: Real> System<R> {
    /// Lays out a scene at its initial state.
    pub fn new(scene: &Scene, model: Model) -> Self {
        let definitions = definitions(scene, model.angular);
        let layout = Layout::new(scene, &definitions, model.order);
        let (nodes, nodes_base) = make_nodes(scene, &layout);
        let elements: Vec<Element<R>> =
            definitions.iter().map(|d| make_element(d, &layout)).collect();
        let mut system = Self {
            touch: Touch::new(scene, &layout, &definitions, model.order, model.contacts),
            motions: vec![],
            nodes,
            nodes_base,
            incidences: vec![],
            elements,
            bases: vec![Bases { a: Q4::IDENTITY, b: Q4::IDENTITY }; definitions.len()],
            local_bases: definitions
                .iter()
                .map(|d| Bases { a: Q4::of(&d.geometry.basis_a), b: Q4::of(&d.geometry.basis_b) })
                .collect(),
            start_values: vec![V3::ZERO; definitions.len()],
            anchors: vec![],
            definitions,
            layout,
            broken: vec![false; scene.joints.len()],
            gravity: V3::of(&scene.gravity),
            model,
            time_s: 0.0,
            h: R::ONE,
            within_step: false,
        };
        system.connect();
        system.weigh();
        system
    }

    fn weigh(&mut self) {
        let masses: Vec<f64> = self.nodes_base.iter().map(|base| base.mass.to_f64()).collect();
        let ends: Vec<[u32; 2]> = self.elements.iter().map(|element| element.nodes).collect();
        let carried = carried_masses(&masses, &self.definitions, &ends);
        for (definition, mass) in self.definitions.iter_mut().zip(carried) {
            definition.carried_mass = mass;
        }
    }

    /// Stores the ends of all elements with their nodes, in element order.
    fn connect(&mut self) {
        let mut ends: Vec<(u32, u32, Side)> = vec![];
        for (index, element) in self.elements.iter().enumerate() {
            ends.push((element.nodes[0], narrow(index), Side::A));
            ends.push((element.nodes[1], narrow(index), Side::B));
        }
        ends.sort_by_key(|&(node, element, side)| (node, element, side.index()));
        let mut place = 0;
        for (n, node) in self.nodes.iter_mut().enumerate() {
            let first = place;
            while let Some(&(_, element, side)) = ends.get(place).filter(|end| end.0 as usize == n)
            {
                self.elements[element as usize].incidences[side.index()] = narrow(place);
                place += 1;
            }
            node.incidences = [narrow(first), narrow(place)];
        }
        for &(node, element, side) in &ends {
            let (e, definition) =
                (&self.elements[element as usize], &self.definitions[element as usize]);
            let (mine, other) = (side.index(), 1 - side.index());
            debug_assert_eq!(e.nodes[mine], node);
            let arms = [definition.geometry.anchor_a, definition.geometry.anchor_b];
            self.anchors.push(V3::of(&arms[mine]));
            self.incidences.push(Incidence {
                element,
                other: e.nodes[other],
                twin: e.incidences[other],
                is_b: side == Side::B,
                arm: V3::ZERO,
                sway: V3::ZERO,
            });
        }
        for node in &mut self.nodes {
            let own = &self.incidences[node.incidences[0] as usize..node.incidences[1] as usize];
            let kinds = || own.iter().map(|i| self.elements[i.element as usize].kind);
            node.acted = if kinds().all(|kind| kind == ElementKind::Point) && self.model.isotropic {
                Acted::ByPoints
            } else if kinds().all(|kind| !matches!(kind, ElementKind::Row(_))) {
                Acted::ByBlocks
            } else {
                Acted::ByAny
            };
        }
    }

    /// Replaces positions, velocities and broken joints, and forgets the step before.
    ///
    /// # Errors
    /// When the state does not fit the scene.
    pub fn load(&mut self, scene: &Scene, state: &State) -> Result<(), SolverError> {
        state.check_fits(scene)?;
        load_bases(&mut self.nodes_base, &self.layout, state);
        self.broken.clone_from(&state.broken);
        self.time_s = state.time_s;
        self.within_step = false;
        for element in &mut self.elements {
            (element.lambda, element.stiffness) = (V3::ZERO, V3::ZERO);
        }
        if let Some(touch) = &mut self.touch {
            touch.forget();
        }
        Ok(())
    }

    /// Finds contacts, sets inertial targets and starting points, and measures all rows at the step's
    /// start.
    pub fn begin(&mut self, dt: f64) {
        if let Some(touch) = &mut self.touch {
            touch.detect(&self.nodes_base, &self.layout, &self.broken, dt);
        }
        self.h = R::of(dt);
        self.within_step = true;
        for (node, base) in self.nodes.iter_mut().zip(&self.nodes_base) {
            predict(node, base, self.gravity, self.h, &self.model);
        }
        for (node, base) in self.nodes.iter().zip(&self.nodes_base) {
            for i in node.incidences[0] as usize..node.incidences[1] as usize {
                let incidence = &mut self.incidences[i];
                incidence.arm = base.rotation.rotate(self.anchors[i]);
                incidence.sway = node.turn.displacement(incidence.arm);
            }
        }
        for index in 0..self.elements.len() {
            self.measure_start(index);
        }
    }

    fn measure_start(&mut self, index: usize) {
        let element = &mut self.elements[index];
        let definition = &self.definitions[index];
        element.active = match definition.owner {
            Owner::Joint(j) => !self.broken[j],
            Owner::Spring(_) => true,
        };
        let [a, b] = element.nodes.map(|n| &self.nodes_base[n as usize]);
        let [arm_a, arm_b] = element.incidences.map(|i| self.incidences[i as usize].arm);
        element.offset = (a.position - b.position) + (arm_a - arm_b);
        let local = &self.local_bases[index];
        let bases = Bases { a: a.rotation.times(local.a), b: b.rotation.times(local.b) };
        self.bases[index] = bases;
        let pair =
            Pair { arm_a, arm_b, offset: element.offset, basis_a: bases.a, basis_b: bases.b };
        self.start_values[index] = match element.kind {
            ElementKind::Point => element.offset,
            ElementKind::Twist => pair.relative().1 * R::TWO,
            ElementKind::WorldTwist => {
                a.rotation.times(b.rotation.conjugate()).v * (R::TWO * element.lever)
            }
            ElementKind::Row(kind) => {
                let value = gradient(kind, &pair, Side::A).value - R::of(definition.rest);
                V3([value, R::ZERO, R::ZERO])
            }
        };
    }

    /// Sets what the rows of an element aim at in this step, and their bounds: a share `kept` of the
    /// error at the step's start is left uncorrected. A limit becomes a one-sided row at the nearer
    /// bound, a motor a row at the coordinate it wants to reach, with its effort for bounds.
    pub fn aim(&mut self, index: usize, kept: R) {
        let start = self.start_values[index];
        let definition = &self.definitions[index];
        let element = &mut self.elements[index];
        match definition.role {
            Role::Limit { lower, upper } => {
                let (lower, upper) = (R::of(lower), R::of(upper));
                let value = start.0[0];
                // The nearer bound is the one that can be reached in this step.
                let above = upper - value < value - lower;
                let bound = if above { upper } else { lower };
                let violated = if above { value > upper } else { value < lower };
                let excess = if violated { (value - bound) * kept } else { R::ZERO };
                element.shift.0[0] = bound + excess;
                let free = R::of(f64::INFINITY);
                let (least, greatest) = if above { (R::ZERO, free) } else { (-free, R::ZERO) };
                (element.lower, element.upper) = (least, greatest);
                element.lambda.0[0] = element.lambda.0[0].max(least).min(greatest);
            }
            Role::Motor { speed, max_effort } => {
                element.shift.0[0] = start.0[0] + R::of(speed) * self.h;
                (element.lower, element.upper) = (R::of(-max_effort), R::of(max_effort));
            }
            Role::Lock | Role::Spring => match element.kind {
                ElementKind::Point => element.offset = start * (R::ONE - kept),
                ElementKind::Twist | ElementKind::WorldTwist => element.shift = start * kept,
                ElementKind::Row(_) => {
                    element.shift.0[0] = R::of(definition.rest) + start.0[0] * kept;
                }
            },
        }
    }

    /// The rows' current values less what is not to be corrected.
    #[inline]
    pub fn value(&self, index: usize) -> V3<R> {
        let element = &self.elements[index];
        if element.kind == ElementKind::Point {
            return self.offset(element);
        }
        value_of(element, &self.pair(index)) - element.shift
    }

    #[inline]
    fn ends(&self, element: &Element<R>) -> (&Node<R>, &Node<R>) {
        let [a, b] = element.nodes;
        (&self.nodes[a as usize], &self.nodes[b as usize])
    }

    #[inline]
    fn arms(&self, element: &Element<R>) -> (&Incidence<R>, &Incidence<R>) {
        let [a, b] = element.incidences;
        (&self.incidences[a as usize], &self.incidences[b as usize])
    }

    #[inline]
    fn offset(&self, element: &Element<R>) -> V3<R> {
        let (a, b) = self.ends(element);
        let (ia, ib) = self.arms(element);
        element.offset + ((a.step - b.step) + (ia.sway - ib.sway))
    }

    pub(crate) fn pair(&self, index: usize) -> Pair<R> {
        let element = &self.elements[index];
        let (a, b) = self.ends(element);
        let (ia, ib) = self.arms(element);
        Pair {
            arm_a: ia.arm + ia.sway,
            arm_b: ib.arm + ib.sway,
            offset: self.offset(element),
            basis_a: a.turn.times(self.bases[index].a),
            basis_b: b.turn.times(self.bases[index].b),
        }
    }

    /// Derives velocities from the motion since the step's start (BDF1).
    pub fn derive_velocities(&mut self) {
        for (node, base) in self.nodes.iter().zip(&mut self.nodes_base) {
            if node.kind != NodeKind::Fixed {
                base.previous_velocity = base.velocity;
                (base.velocity, base.omega) = rates(node, self.h, self.model.rotation);
            }
        }
    }

    /// Moves the nodes to where the iterations left them and leaves the step.
    pub fn commit(&mut self, dt: f64) {
        for (node, base) in self.nodes.iter_mut().zip(&mut self.nodes_base) {
            if node.kind == NodeKind::Fixed && !base.kinematic {
                continue;
            }
            base.position += node.step;
            base.rotation = node.turn.times(base.rotation).normalised();
        }
        self.time_s += dt;
        self.within_step = false;
    }

    /// Length of the current step [s].
    pub fn step_length(&self) -> R {
        self.h
    }

    /// Copies the current iterate, with the velocities that [`Self::finish`] would derive.
    pub fn read(&self, out: &mut State) {
        out.time_s = self.time_s + if self.within_step { self.h.to_f64() } else { 0.0 };
        out.bodies.clear();
        out.bodies.extend(self.layout.bodies.iter().map(|&n| {
            let (base, velocity, omega) = self.current(n as usize);
            body_state(&base, velocity, omega)
        }));
        out.particles.clear();
        out.particles.extend(self.layout.particles.iter().map(|&n| {
            let (base, velocity, _) = self.current(n as usize);
            ParticleState { position: base.position.to_f64(), velocity: velocity.to_f64() }
        }));
        out.broken.clone_from(&self.broken);
    }

    fn current(&self, n: usize) -> (Base<R>, V3<R>, V3<R>) {
        let (node, mut base) = (&self.nodes[n], self.nodes_base[n]);
        let moves = node.kind != NodeKind::Fixed || base.kinematic;
        if !self.within_step || !moves {
            return (base, base.velocity, base.omega);
        }
        let (velocity, omega) = rates(node, self.h, self.model.rotation);
        base.position += node.step;
        base.rotation = node.turn.times(base.rotation).normalised();
        if base.kinematic { (base, base.velocity, base.omega) } else { (base, velocity, omega) }
    }
}

/// Current value of an element's rows without any shift.
#[inline]
pub(crate) fn value_of<R: Real>(element: &Element<R>, pair: &Pair<R>) -> V3<R> {
    match element.kind {
        ElementKind::Point => pair.offset,
        ElementKind::Twist => pair.relative().1 * R::TWO,
        ElementKind::WorldTwist => {
            // Without a rest pose the bases are the bodies' own rotations.
            pair.basis_a.times(pair.basis_b.conjugate()).v * (R::TWO * element.lever)
        }
        ElementKind::Row(kind) => V3([gradient(kind, pair, Side::A).value, R::ZERO, R::ZERO]),
    }
}

fn make_nodes<R: Real>(scene: &Scene, layout: &Layout) -> (Vec<Node<R>>, Vec<Base<R>>) {
    let rest = Node {
        step: V3::ZERO,
        turn: Q4::IDENTITY,
        target_step: V3::ZERO,
        target_turn: Q4::IDENTITY,
        mass: R::ZERO,
        inertia: taut_math::Sym3::ZERO,
        incidences: [0, 0],
        kind: NodeKind::Fixed,
        acted: Acted::ByAny,
    };
    let mut nodes = vec![rest; layout.len()];
    let mut bases = vec![Base::resting(); layout.len()];
    for (body, &n) in scene.bodies.iter().zip(&layout.bodies) {
        bases[n as usize] = Base::of_body(body);
        if body.is_dynamic() {
            nodes[n as usize].kind = NodeKind::Body;
        }
    }
    for (particle, &n) in scene.particles.iter().zip(&layout.particles) {
        bases[n as usize].mass = R::of(particle.mass);
        if particle.mass > 0.0 {
            nodes[n as usize].kind = NodeKind::Particle;
        }
    }
    load_bases(&mut bases, layout, &scene.initial_state());
    (nodes, bases)
}

fn make_element<R: Real>(definition: &Definition, layout: &Layout) -> Element<R> {
    Element {
        kind: definition.kind,
        active: true,
        curvature: true,
        rescaled: false,
        nodes: [layout.node(definition.a), layout.node(definition.b)],
        incidences: [0, 0],
        lambda: V3::ZERO,
        stiffness: V3::ZERO,
        offset: V3::ZERO,
        shift: V3::ZERO,
        lower: R::of(f64::NEG_INFINITY),
        upper: R::of(f64::INFINITY),
        lever: R::of(definition.lever),
    }
}

fn predict<R: Real>(node: &mut Node<R>, base: &Base<R>, gravity: V3<R>, h: R, how: &Model) {
    if node.kind == NodeKind::Fixed && !base.kinematic {
        return;
    }
    let coast = base.velocity * h;
    let fall = gravity * (h * h);
    if base.kinematic {
        node.step = coast;
        // Prescribed motion is exact, whatever map the method uses for what it solves.
        let angle = base.omega.to_f64() * h.to_f64();
        node.turn = Q4::of(&Quat::from_scaled_axis(angle));
        return;
    }
    let scale = R::ONE / (h * h);
    node.mass = base.mass * scale;
    node.target_step = coast + fall;
    node.step = match how.start {
        Start::Target => node.target_step,
        Start::Adaptive => coast + fall * followed(base, gravity, h),
    };
    if node.kind == NodeKind::Body {
        let inertia = match how.frame {
            InertiaFrame::World => base.world_inertia(),
            InertiaFrame::Body => base.inertia,
        };
        let omega = if how.gyroscopic { base.free_omega(&inertia, h) } else { base.omega };
        node.inertia = inertia.times(scale);
        node.target_turn = Q4::IDENTITY.advanced(omega * h);
        node.turn = node.target_turn;
    }
}

/// The share of gravity that the body's last acceleration followed, in [0, 1].
///
/// A falling body starts from its target, a resting one from where it is.
fn followed<R: Real>(base: &Base<R>, gravity: V3<R>, h: R) -> R {
    let size = gravity.norm();
    let share = (base.velocity - base.previous_velocity).dot(gravity) / (h * size * size);
    // Without gravity the share is not a number, and there is nothing to follow.
    if share > R::ZERO { share.min(R::ONE) } else { R::ZERO }
}

fn rates<R: Real>(node: &Node<R>, h: R, rotation: Rotation) -> (V3<R>, V3<R>) {
    let inverse = R::ONE / h;
    let turn = match rotation {
        Rotation::Published => node.turn.v * R::TWO,
        Rotation::Cayley => {
            // Beyond a quarter turn a step resolves no rate; the tangent must not run off there.
            let quarter = R::of(std::f64::consts::FRAC_1_SQRT_2);
            let w = node.turn.w;
            let sign = if w < R::ZERO { -R::ONE } else { R::ONE };
            node.turn.v * (R::TWO * sign / w.abs().max(quarter))
        }
    };
    (node.step * inverse, turn * inverse)
}
