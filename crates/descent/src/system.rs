//! The state of a descent solver between and within steps.

use taut_core::{BodyState, ParticleState, Scene, SolverError, State, scene::Drive};
use taut_math::{Q4, Real, V3};
use taut_model::{
    Csr, Model, NodeKind, Owner, Pair, Pulls, Role, Side, Strength, Supported, breakable, counted,
    driven_rates, gradient, narrow, placement,
};

use crate::{
    bound::MotionBounds,
    contacts::ContactStore,
    elastic::SweepEnergies,
    element::{Bases, Definition, ElementKind, SweepElement, definitions},
    motion::{predict, rates},
    node::{Acted, Base, Incidence, NodeLayout, SweepNode, load_bases},
    options::Options,
};

/// Nodes, incidences and elements of a scene, with the motion of the current step.
#[derive(Clone, Debug)]
pub struct System<R: Real> {
    /// Nodes, by colour, fixed ones last.
    pub nodes: Vec<SweepNode<R>>,
    /// Ends of elements, node by node.
    pub incidences: Vec<Incidence<R>>,
    /// What couples the nodes.
    pub elements: Vec<SweepElement<R>>,
    /// Joint bases at the step's start, one per element.
    pub bases: Vec<Bases<R>>,
    /// Unregularised values of the rows at the step's start, one per element.
    pub start_values: Vec<V3<R>>,
    /// What the elements stand for.
    pub definitions: Vec<Definition>,
    /// Where things are among the nodes.
    pub layout: NodeLayout,
    /// Contacts, in a scene that has any.
    pub contacts: Option<ContactStore<R>>,
    pub(crate) energies: SweepEnergies<R>,
    /// Where the method asks for it, how far particles may move.
    pub(crate) bounds: Option<MotionBounds<R>>,
    pub(crate) motions: Vec<(V3<R>, V3<R>)>,
    pub(crate) nodes_base: Vec<Base<R>>,
    pub(crate) anchors: Vec<V3<R>>,
    pub(crate) local_bases: Vec<Bases<R>>,
    pub(crate) broken: Vec<bool>,
    /// What each joint bears, in a scene where any can break.
    pub(crate) strengths: Vec<Strength<R>>,
    pub(crate) gravity: V3<R>,
    pub(crate) pulls: Pulls<R>,
    drives: Vec<Drive>,
    pub(crate) options: Options,
    pub(crate) time_s: f64,
    pub(crate) h: R,
    pub(crate) within_step: bool,
}

impl<R: Real> System<R> {
    /// Lays out a scene at its initial state.
    pub fn new(scene: &Scene, options: Options) -> Self {
        let model = Model::new(scene);
        let definitions = definitions(scene, &model, options.angular);
        let layout = NodeLayout::new(&model, options.order);
        let (nodes, nodes_base) = make_nodes(scene, &model, &layout);
        let basis =
            |d: &Definition| Bases { a: Q4::of(&d.ends[0].basis), b: Q4::of(&d.ends[1].basis) };
        let breaking = if breakable(scene) { &scene.joints[..] } else { &[] };
        let mut system = Self {
            contacts: ContactStore::new(scene, &model, &layout, &definitions, &options),
            energies: SweepEnergies::new(&model, &layout, options.scaled_energies),
            bounds: options.bound.then(|| MotionBounds::new(scene)).flatten(),
            motions: vec![],
            nodes,
            nodes_base,
            incidences: vec![],
            elements: definitions.iter().map(|d| make_element(d, &layout)).collect(),
            bases: vec![Bases { a: Q4::IDENTITY, b: Q4::IDENTITY }; definitions.len()],
            local_bases: definitions.iter().map(basis).collect(),
            start_values: vec![V3::ZERO; definitions.len()],
            anchors: vec![],
            definitions,
            layout,
            broken: vec![false; scene.joints.len()],
            strengths: breaking.iter().map(Strength::of).collect(),
            gravity: V3::of(&scene.gravity),
            pulls: Pulls::of(scene),
            drives: scene.drives.clone(),
            options,
            time_s: 0.0,
            h: R::ONE,
            within_step: false,
        };
        system.connect();
        system.weigh();
        system
    }

    /// Finds how much mass hangs on each element that holds its nodes together.
    fn weigh(&mut self) {
        let masses: Vec<f64> = self.nodes_base.iter().map(|base| base.mass.to_f64()).collect();
        let held = || self.definitions.iter().zip(&self.elements).filter(|(d, _)| d.holds());
        let links: Vec<[u32; 2]> = held().map(|(_, element)| element.nodes).collect();
        let mut supported = Supported::default();
        let loads = supported.over(&masses, &links);
        let held = self.definitions.iter_mut().filter(|d| d.holds());
        held.zip(loads).for_each(|(definition, &mass)| definition.supported_mass = mass);
    }

    /// Stores the ends of all elements with their nodes, in element order.
    fn connect(&mut self) {
        let sides = |(e, element): (u32, &SweepElement<R>)| {
            let [a, b] = element.nodes;
            [(a, 2 * e), (b, 2 * e + 1)]
        };
        let ends = Csr::new(self.nodes.len(), (0..).zip(&self.elements).flat_map(sides));
        for (node, range) in self.nodes.iter_mut().zip(ends.starts().windows(2)) {
            node.incidences = [range[0], range[1]];
        }
        for (place, &end) in (0..).zip(ends.members()) {
            self.elements[end as usize / 2].incidences[end as usize % 2] = place;
        }
        for &end in ends.members() {
            let (index, mine) = (end as usize / 2, end as usize % 2);
            let (element, other) = (&self.elements[index], 1 - mine);
            self.anchors.push(V3::of(&self.definitions[index].ends[mine].anchor));
            self.incidences.push(Incidence {
                element: narrow(index),
                other: element.nodes[other],
                twin: element.incidences[other],
                is_b: mine == 1,
                arm: V3::ZERO,
                arm_change: V3::ZERO,
            });
        }
        for (n, node) in (0..).zip(&mut self.nodes) {
            node.own = n;
            let (first, last) = node.range();
            let own = &self.incidences[first..last];
            let kinds = || own.iter().map(|i| self.elements[i.element as usize].kind);
            node.acted = if self.energies.any(n) {
                Acted::ByEnergies
            } else if kinds().all(|kind| kind == ElementKind::Point) && self.options.isotropic {
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
        load_bases(&mut self.nodes_base, &self.layout, state, fall_in_step(scene));
        self.pulls.forget();
        self.broken.clone_from(&state.broken);
        self.time_s = state.time_s;
        self.within_step = false;
        for element in &mut self.elements {
            (element.lambda, element.stiffness) = (V3::ZERO, V3::ZERO);
            element.counted = R::ZERO;
        }
        self.energies.forget();
        if let Some(contacts) = &mut self.contacts {
            contacts.forget();
        }
        Ok(())
    }

    /// Finds contacts, sets inertial targets and starting points, and measures all rows at the step's
    /// start.
    pub fn begin(&mut self, dt: f64) {
        for drive in &self.drives {
            let base = &mut self.nodes_base[self.layout.bodies()[drive.body] as usize];
            let rates = driven_rates(drive, &base.pose(), self.time_s + dt, dt);
            (base.velocity, base.omega) = (rates.linear, rates.angular);
        }
        if let Some(contacts) = &mut self.contacts {
            contacts.follow(&self.nodes_base, &self.layout, &self.broken, dt);
        }
        self.h = R::of(dt);
        self.within_step = true;
        for (node, base) in self.nodes.iter_mut().zip(&self.nodes_base) {
            predict(node, base, self.gravity, self.h, &self.options);
        }
        self.begin_pulls();
        let (bases, bodies) = (&self.nodes_base, self.layout.bodies());
        let pose = |body: usize| bases[bodies[body] as usize].pose();
        self.pulls.apply(self.time_s + 0.5 * dt, &self.broken, pose);
        for (body, wrench) in self.pulls.iter() {
            let n = self.layout.bodies()[body] as usize;
            let base = self.nodes_base[n].kicked(&wrench, self.h, self.options.frame);
            predict(&mut self.nodes[n], &base, self.gravity, self.h, &self.options);
        }
        if let Some(bounds) = &mut self.bounds {
            bounds.begin(&mut self.nodes, &self.nodes_base, &self.layout);
        }
        if let Some(contacts) = &self.contacts {
            contacts.mount(&mut self.nodes);
        }
        for (node, base) in self.nodes.iter().zip(&self.nodes_base) {
            let (first, last) = node.range();
            for (i, incidence) in (first..last).zip(&mut self.incidences[first..last]) {
                incidence.arm = base.rotation.rotate(self.anchors[i]);
                incidence.arm_change = node.turn.displacement(incidence.arm);
            }
        }
        for index in 0..self.elements.len() {
            self.measure_start(index);
        }
        self.energies.begin(&self.nodes_base, self.h);
    }

    /// Sets the factors by which energies count: of each from its number among those of the scene and what damps them,
    /// the norm of its principal strains, if `strained`, else zero, and its factor before, zero after a load.
    pub fn scale_energies(&mut self, factor: impl Fn(usize, R, R) -> R, strained: bool) {
        self.energies.rescale(&self.nodes, strained, factor);
    }

    /// Whether anything touches a node in this step.
    pub fn touches(&self, node: usize) -> bool {
        self.contacts.as_ref().is_some_and(|contacts| !contacts.ends(node).is_empty())
    }

    /// Finds what the pulls come to in the step that starts.
    pub(crate) fn begin_pulls(&mut self) {
        let (nodes, bases, bodies) = (&self.nodes, &self.nodes_base, self.layout.bodies());
        self.pulls.begin(|body| {
            let n = *bodies.get(body)? as usize;
            (nodes[n].kind == NodeKind::Body).then(|| bases[n].position)
        });
    }

    fn measure_start(&mut self, index: usize) {
        let element = &mut self.elements[index];
        let definition = &self.definitions[index];
        element.active = match definition.owner {
            Owner::Joint(j) => !self.broken[j as usize],
            Owner::Spring(_) => true,
        };
        let [a, b] = element.nodes.map(|n| &self.nodes_base[n as usize]);
        let [arm_a, arm_b] = element.incidences.map(|i| self.incidences[i as usize].arm);
        element.offset = (a.position - b.position) + (arm_a - arm_b);
        let local = &self.local_bases[index];
        let mut bases = Bases { a: a.rotation.times(local.a), b: b.rotation.times(local.b) };
        if element.kind == ElementKind::Turn && matches!(definition.role, Role::Damp { .. }) {
            bases.b = bases.a;
        }
        self.bases[index] = bases;
        let pair =
            Pair { arm_a, arm_b, offset: element.offset, basis_a: bases.a, basis_b: bases.b };
        self.start_values[index] = match element.kind {
            ElementKind::Point => element.offset,
            ElementKind::Twist => pair.relative().1 * R::TWO,
            ElementKind::Turn => pair.turn(),
            ElementKind::WorldTwist => {
                a.rotation.times(b.rotation.conjugate()).v * (R::TWO * element.lever)
            }
            ElementKind::Row(kind) => {
                let value = gradient(kind, &pair, Side::A).value;
                let value = counted(kind, value, element.counted);
                element.counted = value;
                V3([value - R::of(definition.rest), R::ZERO, R::ZERO])
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
            Role::Damp { .. } => element.shift.0[0] = start.0[0],
            Role::Lock | Role::Store => match element.kind {
                ElementKind::Point => element.offset = start * (R::ONE - kept),
                ElementKind::Twist | ElementKind::Turn | ElementKind::WorldTwist => {
                    element.shift = start * kept;
                }
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
    fn ends(&self, element: &SweepElement<R>) -> (&SweepNode<R>, &SweepNode<R>) {
        let [a, b] = element.nodes;
        (&self.nodes[a as usize], &self.nodes[b as usize])
    }

    #[inline]
    fn arms(&self, element: &SweepElement<R>) -> (&Incidence<R>, &Incidence<R>) {
        let [a, b] = element.incidences;
        (&self.incidences[a as usize], &self.incidences[b as usize])
    }

    #[inline]
    fn offset(&self, element: &SweepElement<R>) -> V3<R> {
        let (a, b) = self.ends(element);
        let (ia, ib) = self.arms(element);
        element.offset + ((a.step - b.step) + (ia.arm_change - ib.arm_change))
    }

    pub(crate) fn pair(&self, index: usize) -> Pair<R> {
        let element = &self.elements[index];
        let (a, b) = self.ends(element);
        let (ia, ib) = self.arms(element);
        Pair {
            arm_a: ia.arm + ia.arm_change,
            arm_b: ib.arm + ib.arm_change,
            offset: self.offset(element),
            basis_a: a.turn.times(self.bases[index].a),
            basis_b: b.turn.times(self.bases[index].b),
        }
    }

    /// Derives velocities from the motion since the step's start (BDF1).
    pub fn derive_velocities(&mut self) {
        for (node, base) in self.nodes.iter().zip(&mut self.nodes_base) {
            if matches!(node.kind, NodeKind::Body | NodeKind::Particle) {
                base.previous_velocity = base.velocity;
                (base.velocity, base.omega) = rates(node, self.h, self.options.rotation);
            }
        }
    }

    /// Moves the nodes to where the iterations left them and leaves the step.
    pub fn commit(&mut self, dt: f64) {
        for (node, base) in self.nodes.iter_mut().zip(&mut self.nodes_base) {
            if node.kind == NodeKind::Held {
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

    /// Copies the current iterate, with the velocities that [`Self::derive_velocities`] would set.
    pub fn read(&self, out: &mut State) {
        out.time_s = self.time_s + if self.within_step { self.h.to_f64() } else { 0.0 };
        let placement = |&n: &u32| {
            let base = self.current(n as usize);
            placement(&base.pose(), &base.rates())
        };
        out.bodies.clear();
        out.bodies.extend(
            self.layout
                .bodies()
                .iter()
                .map(placement)
                .map(|p| BodyState::rigid(p.position, p.rotation, p.velocity, p.omega)),
        );
        out.particles.clear();
        out.particles.extend(
            self.layout
                .particles()
                .iter()
                .map(placement)
                .map(|p| ParticleState { position: p.position, velocity: p.velocity }),
        );
        out.broken.clone_from(&self.broken);
    }

    /// Where a node is at the current iterate, and how it moves.
    fn current(&self, n: usize) -> Base<R> {
        let (node, mut base) = (&self.nodes[n], self.nodes_base[n]);
        if self.within_step && node.kind != NodeKind::Held {
            base.position += node.step;
            base.rotation = node.turn.times(base.rotation).normalised();
            if node.kind != NodeKind::Driven {
                (base.velocity, base.omega) = rates(node, self.h, self.options.rotation);
            }
        }
        base
    }
}

/// Current value of an element's rows without any shift.
#[inline]
pub(crate) fn value_of<R: Real>(element: &SweepElement<R>, pair: &Pair<R>) -> V3<R> {
    match element.kind {
        ElementKind::Point => pair.offset,
        ElementKind::Twist => pair.relative().1 * R::TWO,
        ElementKind::Turn => pair.turn(),
        ElementKind::WorldTwist => {
            // Without a rest pose the bases are the bodies' own rotations.
            pair.basis_a.times(pair.basis_b.conjugate()).v * (R::TWO * element.lever)
        }
        ElementKind::Row(kind) => {
            let value = gradient(kind, pair, Side::A).value;
            let value = counted(kind, value, element.counted);
            V3([value, R::ZERO, R::ZERO])
        }
    }
}

/// What gravity adds to a velocity in a step of the scene [m/s].
fn fall_in_step<R: Real>(scene: &Scene) -> V3<R> {
    V3::of(&(scene.gravity * scene.dt))
}

fn make_nodes<R: Real>(
    scene: &Scene,
    model: &Model,
    layout: &NodeLayout,
) -> (Vec<SweepNode<R>>, Vec<Base<R>>) {
    let mut nodes = vec![SweepNode::RESTING; layout.len()];
    let mut bases = vec![Base::resting(); layout.len()];
    for (node, &n) in model.nodes.iter().zip(&layout.node_of) {
        (nodes[n as usize].kind, bases[n as usize]) = (node.kind, Base::of(node));
    }
    load_bases(&mut bases, layout, &scene.initial_state(), fall_in_step(scene));
    (nodes, bases)
}

fn make_element<R: Real>(definition: &Definition, layout: &NodeLayout) -> SweepElement<R> {
    SweepElement {
        kind: definition.kind,
        active: true,
        curvature: true,
        rescaled: false,
        nodes: layout.pair(&definition.ends),
        incidences: [0, 0],
        lambda: V3::ZERO,
        stiffness: V3::ZERO,
        offset: V3::ZERO,
        shift: V3::ZERO,
        lower: R::of(f64::NEG_INFINITY),
        upper: R::of(f64::INFINITY),
        counted: R::ZERO,
        lever: R::of(definition.lever),
    }
}
