//! Joints and springs as units of elements over nodes.

use std::ops::Range;

use taut_core::{
    Quat, Scene, Vec3,
    constraint::{self, Geometry, RowKind},
    energy::Energy,
    scene::{Endpoint, Joint, Spring},
};

use crate::{
    form::Form,
    graph::Graph,
    islands::Islands,
    narrow,
    node::{Node, Slots, nodes},
};

/// What an element stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// Rows that a joint locks.
    Lock,
    /// Bounds on a joint's free coordinate.
    Limit {
        /// Smallest value allowed [m or rad].
        lower: f64,
        /// Largest value allowed [m or rad].
        upper: f64,
    },
    /// A drive of a joint's free coordinate.
    Motor {
        /// Target rate [m/s or rad/s].
        speed: f64,
        /// Largest force [N or N m].
        max_effort: f64,
    },
    /// What stores energy and gives it back.
    Store,
    /// What resists change: a step of length `h` [s] sees rows of the stiffness `damping / h` that are at rest where
    /// they are when it starts. Rows of turns are those between bases that coincide then.
    Damp {
        /// [N s/m or N m s/rad]
        damping: f64,
    },
}

impl Role {
    /// Whether it is an energy of given stiffness, which nothing of a method's own makes softer or stiffer.
    pub fn is_material(self) -> bool {
        matches!(self, Self::Store | Self::Damp { .. })
    }
}

/// How an element gives way, as it was given: no reciprocal of a reciprocal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Softness {
    /// [N/m or N m/rad]
    Stiffness(f64),
    /// [m/N or rad/(N m)]; zero is hard.
    Compliance(f64),
}

impl Softness {
    /// [N/m or N m/rad]; infinite for what is hard.
    pub fn stiffness(self) -> f64 {
        match self {
            Self::Stiffness(stiffness) => stiffness,
            Self::Compliance(compliance) => 1.0 / compliance,
        }
    }

    /// [m/N or rad/(N m)]; zero for what is hard.
    pub fn compliance(self) -> f64 {
        match self {
            Self::Stiffness(stiffness) => 1.0 / stiffness,
            Self::Compliance(compliance) => compliance,
        }
    }

    /// Whether it does not give way at all.
    pub fn is_hard(self) -> bool {
        self.stiffness().is_infinite()
    }
}

/// Where an element holds one of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// The node.
    pub node: u32,
    /// Anchor in the node's own coordinates [m].
    pub anchor: Vec3,
    /// Joint basis: joint to the node's coordinates.
    pub basis: Quat,
}

/// Rows of one kind with one role.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// Its unit.
    pub unit: u32,
    /// How its rows are computed.
    pub form: Form,
    /// What it stands for.
    pub role: Role,
    /// What its rows are to be [m or rad]; zero for blocks, limits and motors.
    pub target: f64,
    /// How it gives way; limits and motors are hard, dampers have no stiffness of their own.
    pub softness: Softness,
    /// First of its ends in [`Model::ends`] and one past the last.
    pub ends: [u32; 2],
}

impl Element {
    /// Whether it holds its nodes together: rows that a joint locks and that do not give way.
    pub fn holds(&self) -> bool {
        self.role == Role::Lock && self.softness.is_hard()
    }

    /// Whether it ever exerts anything: a spring of no stiffness does not.
    pub fn exerts(&self) -> bool {
        self.softness.stiffness() > 0.0 || matches!(self.role, Role::Damp { .. })
    }
}

/// Whose unit it is, by index in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A joint.
    Joint(u32),
    /// A spring.
    Spring(u32),
}

/// The elements of one joint or spring, one after the other.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Whose elements they are.
    pub owner: Owner,
    /// Which they are: locks or springs, limit, motor, damper.
    pub elements: Range<u32>,
}

impl Unit {
    /// Which they are, as indices of a list.
    pub fn range(&self) -> Range<usize> {
        self.elements.start as usize..self.elements.end as usize
    }
}

/// An energy of points.
#[derive(Clone, Debug)]
pub struct ElasticElement {
    /// Its function of its points.
    pub energy: Energy<f64>,
    /// First of its points in [`Model::ends`] and one past the last; their bases mean nothing.
    pub ends: [u32; 2],
}

/// A scene as flat lists.
#[derive(Clone, Debug)]
pub struct Model {
    /// Where everything is among the nodes.
    pub slots: Slots,
    /// Bodies, particles and the world.
    pub nodes: Vec<Node>,
    /// Where elements hold their nodes. Elements of one unit share theirs.
    pub ends: Vec<End>,
    /// Joints' elements, then springs', in scene order.
    pub elements: Vec<Element>,
    /// Joints, then springs, in scene order, each with one element or more.
    pub units: Vec<Unit>,
    /// Energies of points, in scene order, then what damps their material.
    pub energies: Vec<ElasticElement>,
    /// Gravitational acceleration [m/s^2].
    pub gravity: Vec3,
}

impl Model {
    /// That of a scene.
    pub fn new(scene: &Scene) -> Self {
        let mut model = Self {
            slots: Slots::new(scene),
            nodes: nodes(scene),
            ends: vec![],
            elements: vec![],
            units: vec![],
            energies: vec![],
            gravity: scene.gravity,
        };
        for (index, joint) in (0..).zip(&scene.joints) {
            model.push_joint(index, joint);
        }
        for (index, spring) in (0..).zip(&scene.springs) {
            model.push_spring(index, spring);
        }
        model.push_energies(scene);
        model
    }

    /// The ends of an element.
    #[inline]
    pub fn ends_of(&self, element: &Element) -> &[End] {
        &self.ends[element.ends[0] as usize..element.ends[1] as usize]
    }

    /// The two ends of an element of a joint or spring.
    #[inline]
    pub fn pair_of(&self, element: &Element) -> [End; 2] {
        let first = element.ends[0] as usize;
        [self.ends[first], self.ends[first + 1]]
    }

    /// The elements of a unit: locks or springs, limit, motor, damper.
    pub fn elements_of(&self, unit: &Unit) -> &[Element] {
        &self.elements[unit.range()]
    }

    /// The ends of a unit, the same as of any of its elements.
    pub fn ends_of_unit(&self, unit: &Unit) -> &[End] {
        self.ends_of(&self.elements[unit.elements.start as usize])
    }

    /// The elements of a unit in the order in which they are best corrected one after the other: locked rotations,
    /// motor, limit, then the rest. Rotations come first since they move the anchors, and the last word of the free
    /// coordinate is the limit's: what it bounds is geometry, a motor only gives a rate.
    pub fn turning_first(&self, unit: &Unit) -> impl Iterator<Item = &Element> {
        let rank = |element: &Element| match element.role {
            Role::Lock | Role::Store if element.form.is_angular() => 0,
            Role::Motor { .. } | Role::Damp { .. } => 1,
            Role::Limit { .. } => 2,
            Role::Lock | Role::Store => 3,
        };
        let all = self.elements_of(unit);
        (0..4).flat_map(move |turn| all.iter().filter(move |element| rank(element) == turn))
    }

    /// The points of an energy.
    pub fn points_of(&self, element: &ElasticElement) -> &[End] {
        &self.ends[element.ends[0] as usize..element.ends[1] as usize]
    }

    /// All units, and after them all energies, over the nodes that they move.
    pub fn graph(&self) -> Graph {
        let units = self.units.iter().map(|unit| self.ends_of_unit(unit));
        self.over_nodes(units.chain(self.energy_ends()))
    }

    /// All energies over the nodes that they move.
    pub fn energy_graph(&self) -> Graph {
        self.over_nodes(self.energy_ends())
    }

    /// The nodes of elastic material that nothing holds, and of what joints and springs join to it.
    pub fn floating_material(&self) -> Vec<u32> {
        if self.energies.is_empty() {
            return Vec::new();
        }
        let mut islands = Islands::default();
        islands.start(self.nodes.len());
        let units = self.units.iter().map(|unit| self.ends_of_unit(unit));
        for ends in units.chain(self.energy_ends()) {
            ends.windows(2).for_each(|pair| islands.join(pair[0].node, pair[1].node));
        }
        let island_of = islands.settle();
        let (mut material, mut held) = (vec![false; island_of.len()], vec![false; island_of.len()]);
        for ends in self.energy_ends() {
            material[island_of[ends[0].node as usize] as usize] = true;
        }
        for (node, &island) in self.nodes.iter().zip(island_of) {
            held[island as usize] |= !node.moves();
        }
        let floats = |&node: &u32| {
            let island = island_of[node as usize] as usize;
            material[island] && !held[island]
        };
        (0..narrow(island_of.len())).filter(floats).collect()
    }

    fn energy_ends(&self) -> impl Iterator<Item = &[End]> {
        self.energies.iter().map(|one| self.points_of(one))
    }

    fn over_nodes<'a>(&'a self, all: impl Iterator<Item = &'a [End]>) -> Graph {
        let mut graph = Graph::default();
        let mut count = 0;
        let moving = |(unit, ends)| {
            count = unit as usize + 1;
            let nodes = <[End]>::iter(ends).map(|end| end.node);
            nodes.filter(|&n| self.nodes[n as usize].moves()).map(move |n| (unit, n))
        };
        let ends: Vec<(u32, u32)> = (0..).zip(all).flat_map(moving).collect();
        graph.fill(self.nodes.len(), count, ends.into_iter());
        graph
    }

    fn push_joint(&mut self, index: u32, joint: &Joint) {
        let (kinds, targets): (Vec<RowKind>, Vec<f64>) = constraint::locked_rows(joint).unzip();
        let ends = self.push_ends([joint.a, joint.b], &Geometry::from(joint));
        let first = self.elements.len();
        self.push_blocks(ends, (&kinds, &targets), Role::Lock, |form| {
            let angular = form.is_angular();
            let soft = if angular { joint.compliance_angular } else { joint.compliance_linear };
            Softness::Compliance(soft)
        });
        if let Some(free) = constraint::free_coordinate(joint.kind).map(Form::Row) {
            let limit = joint.limit.map(|l| Role::Limit { lower: l.lower, upper: l.upper });
            let motor =
                joint.motor.map(|m| Role::Motor { speed: m.speed, max_effort: m.max_effort });
            for role in limit.into_iter().chain(motor) {
                self.push(ends, free, role, 0.0, Softness::Compliance(0.0));
            }
            self.push_damper(ends, free, joint.damping);
        }
        self.close(Owner::Joint(index), first);
    }

    fn push_spring(&mut self, index: u32, spring: &Spring) {
        let (kinds, rests): (Vec<RowKind>, Vec<f64>) = constraint::spring_rows(spring).unzip();
        let ends = self.push_ends([spring.a, spring.b], &Geometry::from(spring));
        let first = self.elements.len();
        let softness = Softness::Stiffness(spring.stiffness);
        // A damper alone needs no spring of no stiffness.
        if spring.stiffness > 0.0 || spring.damping == 0.0 {
            self.push_blocks(ends, (&kinds, &rests), Role::Store, |_| softness);
        }
        for form in Form::gather(&kinds) {
            self.push_damper(ends, form, spring.damping);
        }
        self.close(Owner::Spring(index), first);
    }

    fn push_energies(&mut self, scene: &Scene) {
        for (energy, anchors) in scene.energies().chain(scene.dampings()) {
            let first = narrow(self.ends.len());
            let anchors = &anchors[..energy.ends()];
            self.ends.extend(anchors.iter().map(|anchor| End {
                node: self.slots.of(anchor.end),
                anchor: anchor.local,
                basis: Quat::identity(),
            }));
            self.energies.push(ElasticElement { energy, ends: [first, narrow(self.ends.len())] });
        }
    }

    fn push_ends(&mut self, of: [Endpoint; 2], geometry: &Geometry) -> [u32; 2] {
        let [a, b] = of.map(|endpoint| self.slots.of(endpoint));
        let first = narrow(self.ends.len());
        self.ends.push(End { node: a, anchor: geometry.anchor_a, basis: geometry.basis_a });
        self.ends.push(End { node: b, anchor: geometry.anchor_b, basis: geometry.basis_b });
        [first, first + 2]
    }

    /// One element for each block that the rows make.
    fn push_blocks(
        &mut self,
        ends: [u32; 2],
        (kinds, targets): (&[RowKind], &[f64]),
        role: Role,
        softness: impl Fn(Form) -> Softness,
    ) {
        let mut row = 0;
        for form in Form::gather(kinds) {
            self.push(ends, form, role, targets[row], softness(form));
            row += form.rows();
        }
    }

    fn push_damper(&mut self, ends: [u32; 2], form: Form, damping: f64) {
        if damping > 0.0 {
            self.push(ends, form, Role::Damp { damping }, 0.0, Softness::Stiffness(0.0));
        }
    }

    fn push(&mut self, ends: [u32; 2], form: Form, role: Role, target: f64, softness: Softness) {
        let unit = narrow(self.units.len());
        self.elements.push(Element { unit, form, role, target, softness, ends });
    }

    fn close(&mut self, owner: Owner, first: usize) {
        let elements = narrow(first)..narrow(self.elements.len());
        self.units.push(Unit { owner, elements });
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{
        energy::Membrane,
        scene::{Anchor, Body, ElasticPart, JointKind, Limit, Motor, Particle, SpringKind},
    };

    use super::*;

    fn scene() -> Scene {
        let mut scene = Scene::default();
        scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 2.0));
        scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 2.0).fixed());
        let (name, position, velocity) = (String::new(), Vec3::x(), Vec3::zeros());
        scene.particles.push(Particle { name, mass: 3.0, position, velocity, touch: None });
        let mut hinge = Joint::new(JointKind::Hinge, Endpoint::Body(0), Endpoint::World)
            .anchored(Vec3::x(), Vec3::y());
        hinge.compliance_angular = 1e-3;
        hinge.limit = Some(Limit { lower: -1.0, upper: 2.0 });
        hinge.motor = Some(Motor { speed: 3.0, max_effort: 4.0 });
        scene.joints.push(hinge);
        scene.springs.push(Spring {
            name: String::new(),
            kind: SpringKind::Linear { anchor_a: Vec3::x(), anchor_b: Vec3::x(), rest_length: 0.5 },
            a: Endpoint::Particle(0),
            b: Endpoint::Body(0),
            stiffness: 7.0,
            damping: 0.0,
        });
        scene
    }

    #[test]
    fn a_joint_becomes_locks_limit_and_motor() {
        let model = Model::new(&scene());
        let angle = Form::Row(RowKind::Angle);
        let forms = [Form::Point, Form::Axis, angle, angle, Form::Row(RowKind::Distance)];
        assert!(model.elements.iter().map(|e| e.form).eq(forms));
        let [point, axis, limit, motor, spring] = &model.elements[..] else { panic!() };
        assert!(point.holds() && !axis.holds() && axis.softness.compliance() == 1e-3);
        assert!(matches!(limit.role, Role::Limit { .. }) && limit.softness.is_hard());
        assert!(matches!(motor.role, Role::Motor { .. }) && motor.unit == 0);
        assert_eq!((spring.target, spring.role, spring.unit), (0.5, Role::Store, 1));
        assert_eq!(model.units[1].owner, Owner::Spring(0));
        let turned: Vec<_> =
            model.turning_first(&model.units[0]).map(|e| (e.form, e.role)).collect();
        let order = [axis, motor, limit, point].map(|e| (e.form, e.role));
        assert_eq!(turned, order);
    }

    #[test]
    fn dampers_come_last_and_springs_may_be_dampers_alone() {
        let mut scene = scene();
        scene.joints[0].damping = 0.5;
        scene.springs[0].damping = 2.0;
        let model = Model::new(&scene);
        assert_eq!(model.elements[4].role, Role::Damp { damping: 0.5 });
        let roles = |model: &Model| -> Vec<Role> {
            model.elements_of(&model.units[1]).iter().map(|e| e.role).collect()
        };
        assert_eq!(roles(&model), [Role::Store, Role::Damp { damping: 2.0 }]);
        scene.springs[0].stiffness = 0.0;
        assert_eq!(roles(&Model::new(&scene)), [Role::Damp { damping: 2.0 }]);
    }

    #[test]
    fn material_floats_with_what_is_joined_to_it_unless_anything_holds_it() {
        let mut scene = scene();
        let corner = |x: f64, mass: f64| Particle {
            mass,
            position: Vec3::new(x, x * x, 0.0),
            ..scene.particles[0].clone()
        };
        let more: Vec<Particle> =
            [0.0, 1.0, 2.0].map(|x| corner(x, 1.0)).into_iter().chain([corner(3.0, 0.0)]).collect();
        scene.particles.extend(more);
        let at = |i: usize| Anchor::from(Endpoint::Particle(i));
        let places = [0.0, 1.0, 2.0].map(|x| Vec3::new(x, x * x, 0.0));
        let energy = Membrane::new(&places, 1e-3, 1e5, 0.3).expect("a triangle").into();
        let ends = [1, 2, 3].map(at);
        scene.triangles.push(ElasticPart { name: String::new(), ends, energy });
        let floating = |scene: &Scene| Model::new(scene).floating_material();
        // Two bodies and four particles before the last, which is held; the first particle hangs from a body.
        assert_eq!(floating(&scene), [3, 4, 5]);
        let ball = |a: usize, b: Endpoint| Joint::new(JointKind::Ball, Endpoint::Particle(a), b);
        scene.joints.push(ball(3, Endpoint::Particle(0)));
        assert_eq!(floating(&scene), [0_u32; 0], "the body is hinged to the world");
        scene.joints.remove(0);
        assert_eq!(floating(&scene), [0, 2, 3, 4, 5]);
        scene.joints.push(ball(2, Endpoint::Particle(4)));
        assert_eq!(floating(&scene), [0_u32; 0]);
    }

    #[test]
    fn nodes_are_bodies_particles_and_the_world() {
        let model = Model::new(&scene());
        assert_eq!((model.slots.count(), model.nodes.len()), (4, 4));
        let moving: Vec<bool> = model.nodes.iter().map(Node::moves).collect();
        assert_eq!(moving, [true, false, true, false]);
        let [a, b] = model.pair_of(&model.elements[4]);
        assert_eq!((a.node, a.anchor, b.node, b.anchor), (2, Vec3::zeros(), 0, Vec3::x()));
        let graph = model.graph();
        assert_eq!((graph.nodes_of.of(0), graph.nodes_of.of(1)), (&[0][..], &[2, 0][..]));
        assert_eq!((graph.units_of.of(0), graph.units_of.of(2)), (&[0, 1][..], &[1][..]));
    }
}
