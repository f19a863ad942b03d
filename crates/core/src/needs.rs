//! What a scene asks of a backend, as flags: a backend lists what it takes and refuses all else.
//!
//! A kind of element that is added later is a flag that no backend lists until its method has it, so
//! that nothing is ever left out of a simulation in silence.

use crate::{
    Scene, Unsupported,
    constraint::{RowKind, free_coordinate, locked_rows},
    energy::SheetEnergy,
    scene::{AppliedForce, Body, ForceKind, Joint, Motion, Particle, Shape, Spring, SpringKind},
};

/// A set of flags: what a scene needs, or what a backend takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs(u32);

/// Every flag with what it stands for, in the order in which a refusal looks for them.
const WORDS: &[(Needs, &str)] = &[
    (Needs::CONTACTS, "contacts"),
    (Needs::PARTICLES, "particles"),
    (Needs::DRIVEN, "driven bodies"),
    (Needs::RESTITUTION, "bodies that bounce"),
    (Needs::DYNAMIC_MESHES, "dynamic bodies that are meshes"),
    (Needs::POINTS, "joints that hold a point"),
    (Needs::SLIDES, "joints that slide"),
    (Needs::DOTS, "joints that hold one direction"),
    (Needs::TWISTS, "joints that hold all directions"),
    (Needs::DISTANCES, "joints that hold a distance"),
    (Needs::LIMITS, "joints with limits"),
    (Needs::MOTORS, "joints with motors"),
    (Needs::COMPLIANCE, "compliant joints"),
    (Needs::BREAKING, "joints that can break"),
    (Needs::SPRINGS, "springs between points"),
    (Needs::ANGULAR_SPRINGS, "angular springs"),
    (Needs::TRIANGLES, "elastic triangles"),
    (Needs::BENDING, "triangles that resist bending"),
    (Needs::TETRAHEDRA, "elastic tetrahedra"),
    (Needs::LOG_MEMBRANES, "triangles of neo-Hookean material"),
    (Needs::TIES, "points held to triangles"),
    (Needs::MATERIAL_DAMPING, "damped elastic material"),
    (Needs::TOUCHING_PARTICLES, "particles that touch"),
    (Needs::SOFT_CONTACTS, "particles that touch triangles of particles"),
    (Needs::PATHS, "bodies that follow a path in time"),
    (Needs::FORCES, "forces on bodies"),
    (Needs::EFFORTS, "efforts at joints"),
    (Needs::DAMPERS, "damped springs"),
    (Needs::JOINT_DAMPING, "damped joints"),
];

impl Needs {
    /// Bodies that nothing but gravity acts on.
    pub const NONE: Self = Self(0);
    /// Point masses.
    pub const PARTICLES: Self = Self(1);
    /// Bodies that move at a given velocity whatever the forces.
    pub const DRIVEN: Self = Self(1 << 1);
    /// Rows that hold two anchors together, [`RowKind::Point`].
    pub const POINTS: Self = Self(1 << 2);
    /// Rows that keep an anchor on a line, [`RowKind::Slide`].
    pub const SLIDES: Self = Self(1 << 3);
    /// Rows that hold axes square to each other, [`RowKind::Dot`].
    pub const DOTS: Self = Self(1 << 4);
    /// Rows that hold relative rotations, [`RowKind::Twist`].
    pub const TWISTS: Self = Self(1 << 5);
    /// Rows that hold or bound a distance, [`RowKind::Distance`].
    pub const DISTANCES: Self = Self(1 << 6);
    /// Bounds of a joint's free coordinate.
    pub const LIMITS: Self = Self(1 << 7);
    /// Drives of a joint's free coordinate.
    pub const MOTORS: Self = Self(1 << 8);
    /// Joints that give way by their load.
    pub const COMPLIANCE: Self = Self(1 << 9);
    /// Joints that break above a force or torque.
    pub const BREAKING: Self = Self(1 << 10);
    /// Springs between two points.
    pub const SPRINGS: Self = Self(1 << 11);
    /// Springs that resist relative rotation.
    pub const ANGULAR_SPRINGS: Self = Self(1 << 12);
    /// Contacts between bodies, with friction.
    pub const CONTACTS: Self = Self(1 << 13);
    /// Contacts that give back a share of the approach speed.
    pub const RESTITUTION: Self = Self(1 << 14);
    /// Triangles of thin elastic material.
    pub const TRIANGLES: Self = Self(1 << 15);
    /// Edges of triangles along which those resist being folded.
    pub const BENDING: Self = Self(1 << 16);
    /// Tetrahedra of solid elastic material.
    pub const TETRAHEDRA: Self = Self(1 << 17);
    /// Triangles whose energy is no quadratic form of rows.
    pub const LOG_MEMBRANES: Self = Self(1 << 18);
    /// Points that are held to places in triangles.
    pub const TIES: Self = Self(1 << 29);
    /// Triangles and tetrahedra that resist being strained fast.
    pub const MATERIAL_DAMPING: Self = Self(1 << 19);
    /// Particles that touch bodies.
    pub const TOUCHING_PARTICLES: Self = Self(1 << 20);
    /// Particles that touch triangles of others: cloth and solids that touch themselves and each other.
    pub const SOFT_CONTACTS: Self = Self(1 << 21);
    /// Dynamic bodies whose surface is a closed mesh.
    pub const DYNAMIC_MESHES: Self = Self(1 << 22);

    /// Driven bodies that do more than keep their velocities.
    pub const PATHS: Self = Self(1 << 24);
    /// Forces and torques that are applied to bodies.
    pub const FORCES: Self = Self(1 << 25);
    /// Efforts that are applied to a joint's free coordinate.
    pub const EFFORTS: Self = Self(1 << 26);
    /// Springs with damping.
    pub const DAMPERS: Self = Self(1 << 27);
    /// Damping of a joint's free coordinate.
    pub const JOINT_DAMPING: Self = Self(1 << 28);

    /// Joints of every kind, with all that one may have but damping.
    pub const JOINTS: Self = Self::POINTS
        .with(Self::SLIDES)
        .with(Self::DOTS)
        .with(Self::TWISTS)
        .with(Self::DISTANCES)
        .with(Self::LIMITS)
        .with(Self::MOTORS)
        .with(Self::COMPLIANCE)
        .with(Self::BREAKING);
    /// Energies of points that have a compliance, whatever they are.
    pub const ENERGIES: Self = Self::TRIANGLES
        .with(Self::BENDING)
        .with(Self::TETRAHEDRA)
        .with(Self::TIES)
        .with(Self::MATERIAL_DAMPING);
    /// Bodies and particles with joints, springs and contacts.
    pub const MULTIBODY: Self = Self::JOINTS
        .with(Self::PARTICLES)
        .with(Self::DRIVEN)
        .with(Self::SPRINGS)
        .with(Self::ANGULAR_SPRINGS)
        .with(Self::CONTACTS)
        .with(Self::RESTITUTION);
    /// What depends on time alone: paths, forces and efforts.
    pub const TIMED: Self = Self::PATHS.with(Self::FORCES).with(Self::EFFORTS);
    /// Damping, of springs and of joints.
    pub const DAMPING: Self = Self::DAMPERS.with(Self::JOINT_DAMPING);
    /// Whatever a scene may ever hold: for a backend that looks at none of it.
    pub const ALL: Self = Self(u32::MAX);

    /// These flags and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These flags but not `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether every flag of `other` is among these.
    pub const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Everything that `scene` asks of a backend.
    pub fn of(scene: &Scene) -> Self {
        elements(scene).fold(Self::NONE, |all, element| all.with(element.needs))
    }

    /// Refuses a scene that asks for more than these flags.
    ///
    /// # Errors
    /// Names the first element that does, and what of it is not taken.
    pub fn refuse(self, scene: &Scene) -> Result<(), Unsupported> {
        let Some(element) = elements(scene).find(|element| !self.covers(element.needs)) else {
            return Ok(());
        };
        let missing = element.needs.without(self);
        let named = WORDS.iter().find(|(flag, _)| missing.covers(*flag));
        let what = named.map_or("such elements", |(_, what)| what);
        Err(Unsupported(match (element.what, element.name) {
            ("", _) => format!("takes no {what}"),
            (kind, "") => format!("takes no {what}, such as {kind} {}", element.index),
            (kind, name) => format!("takes no {what}, such as {kind} `{name}`"),
        }))
    }
}

/// One element of a scene, and what it asks for.
struct Witness<'a> {
    needs: Needs,
    /// What it is called where it has no name; empty for what concerns the whole scene.
    what: &'static str,
    index: usize,
    name: &'a str,
}

/// The elements of a scene. A list that is added to [`Scene`] says here what it needs.
fn elements(scene: &Scene) -> impl Iterator<Item = Witness<'_>> {
    let Scene {
        name: _,
        about: _,
        gravity: _,
        dt: _,
        steps: _,
        contacts,
        watch: _,
        bodies,
        particles,
        joints,
        springs,
        triangles,
        bends,
        tetrahedra,
        ties,
        material_damping,
        drives,
        forces,
    } = scene;
    let touch = contacts.is_some();
    let drives = drives.iter().map(|d| (Needs::PATHS, scene.bodies[d.body].name.as_str()));
    let forces = forces.iter().map(|f| (of_force(f), f.name.as_str()));
    let soft = scene.touches_itself().then_some((Needs::SOFT_CONTACTS, ""));
    let contacts = contacts.iter().map(|_| (Needs::CONTACTS, ""));
    let bodies = bodies.iter().map(move |b| (of_body(b, touch), b.name.as_str()));
    let particles = particles.iter().map(move |p| (of_particle(p, touch), p.name.as_str()));
    let joints = joints.iter().map(|j| (of_joint(j), j.name.as_str()));
    let springs = springs.iter().map(|s| (of_spring(s), s.name.as_str()));
    let triangles = triangles.iter().map(|t| (of_sheet(&t.energy), t.name.as_str()));
    let ties = ties.iter().map(|t| (Needs::TIES, t.name.as_str()));
    let damped = material_damping.iter().map(|_| (Needs::MATERIAL_DAMPING, ""));
    let bends = bends.iter().map(|b| (Needs::BENDING, b.name.as_str()));
    let tetrahedra = tetrahedra.iter().map(|_| (Needs::TETRAHEDRA, ""));
    listed("", contacts)
        .chain(listed("body", bodies))
        .chain(listed("particle", particles))
        .chain(listed("", soft.into_iter()))
        .chain(listed("joint", joints))
        .chain(listed("spring", springs))
        .chain(listed("triangle", triangles))
        .chain(listed("bend", bends))
        .chain(listed("tetrahedron", tetrahedra))
        .chain(listed("tie", ties))
        .chain(listed("element", damped))
        .chain(listed("driven body", drives))
        .chain(listed("force", forces))
}

fn listed<'a>(
    what: &'static str,
    list: impl Iterator<Item = (Needs, &'a str)>,
) -> impl Iterator<Item = Witness<'a>> {
    list.enumerate().map(move |(index, (needs, name))| Witness { needs, what, index, name })
}

fn given(flag: Needs, condition: bool) -> Needs {
    if condition { flag } else { Needs::NONE }
}

fn of_sheet(energy: &SheetEnergy) -> Needs {
    let log = matches!(energy, SheetEnergy::NeoHookean(_));
    Needs::TRIANGLES.with(given(Needs::LOG_MEMBRANES, log))
}

fn of_body(body: &Body, touch: bool) -> Needs {
    let bounces = touch && body.material.restitution > 0.0;
    let meshed = body.is_dynamic() && matches!(body.shape, Shape::Mesh { .. });
    given(Needs::DRIVEN, body.motion == Motion::Kinematic)
        .with(given(Needs::RESTITUTION, bounces))
        .with(given(Needs::DYNAMIC_MESHES, meshed))
}

fn of_particle(particle: &Particle, touch: bool) -> Needs {
    Needs::PARTICLES.with(given(Needs::TOUCHING_PARTICLES, touch && particle.touch.is_some()))
}

fn of_force(force: &AppliedForce) -> Needs {
    match force.kind {
        ForceKind::Force { .. } | ForceKind::Torque { .. } => Needs::FORCES,
        ForceKind::Effort { .. } => Needs::EFFORTS,
    }
}

fn of_joint(joint: &Joint) -> Needs {
    let held = locked_rows(joint).map(|(row, _)| row);
    let damped = joint.damping > 0.0;
    let bounded = joint.limit.is_some() || joint.motor.is_some() || damped;
    let rows = held.chain(free_coordinate(joint.kind).filter(|_| bounded));
    let compliant = joint.compliance_linear > 0.0 || joint.compliance_angular > 0.0;
    rows.fold(Needs::NONE, |all, row| all.with(of_row(row)))
        .with(given(Needs::LIMITS, joint.limit.is_some()))
        .with(given(Needs::MOTORS, joint.motor.is_some()))
        .with(given(Needs::JOINT_DAMPING, damped))
        .with(given(Needs::COMPLIANCE, compliant))
        .with(given(Needs::BREAKING, joint.can_break()))
}

fn of_row(row: RowKind) -> Needs {
    match row {
        RowKind::Point(_) => Needs::POINTS,
        RowKind::Slide(_) => Needs::SLIDES,
        RowKind::Dot(..) => Needs::DOTS,
        RowKind::Twist(_) => Needs::TWISTS,
        // Only an angular spring holds it.
        RowKind::Turn(_) => Needs::ANGULAR_SPRINGS,
        RowKind::Distance => Needs::DISTANCES,
        // Only a limit, a motor or a damper acts on it.
        RowKind::Angle => Needs::NONE,
    }
}

fn of_spring(spring: &Spring) -> Needs {
    let kind = match spring.kind {
        SpringKind::Linear { .. } => Needs::SPRINGS,
        SpringKind::Angular { .. } => Needs::ANGULAR_SPRINGS,
    };
    kind.with(given(Needs::DAMPERS, spring.damping > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Vec3,
        scene::{Contacts, Endpoint, JointKind, Limit},
    };

    fn refusal(takes: Needs, scene: &Scene) -> String {
        takes.refuse(scene).expect_err("it is refused").0
    }

    #[test]
    fn every_flag_has_words_and_is_a_flag_of_its_own() {
        let all = WORDS.iter().fold(Needs::NONE, |all, (flag, _)| {
            assert!(flag.0.is_power_of_two() && !all.covers(*flag), "{flag:?}");
            all.with(*flag)
        });
        assert!(all.covers(Needs::MULTIBODY));
    }

    #[test]
    fn what_is_not_listed_is_refused_by_its_first_witness() {
        let (world, body) = (Endpoint::World, Endpoint::Body(0));
        let mut hinge = Joint::new(JointKind::Hinge, world, body);
        let ball = Joint::new(JointKind::Ball, world, body);
        let mut scene = Scene {
            bodies: vec![Body::solid_box(Vec3::repeat(1.0), 1.0)],
            joints: vec![ball, hinge.clone()],
            ..Scene::default()
        };
        assert_eq!(Needs::of(&scene), Needs::POINTS.with(Needs::DOTS));
        assert_eq!(Needs::of(&scene).refuse(&scene), Ok(()));
        let words = "takes no joints that hold one direction, such as joint 1";
        assert_eq!(refusal(Needs::POINTS, &scene), words);
        hinge.limit = Some(Limit { lower: -1.0, upper: 1.0 });
        hinge.name = "door".to_owned();
        scene.joints[1] = hinge;
        let words = "takes no joints with limits, such as joint `door`";
        assert_eq!(refusal(Needs::JOINTS.without(Needs::LIMITS), &scene), words);
        scene.contacts = Some(Contacts::default());
        assert_eq!(refusal(Needs::JOINTS, &scene), "takes no contacts");
        // Without contacts nothing can bounce.
        scene.bodies[0].material.restitution = 0.5;
        assert!(Needs::of(&scene).covers(Needs::RESTITUTION));
        scene.contacts = None;
        assert!(!Needs::of(&scene).covers(Needs::RESTITUTION));
    }

    #[test]
    fn a_particle_touches_where_anything_does() {
        let touch = Some(crate::scene::Skin::default());
        let (name, position) = ("dust".to_owned(), Vec3::zeros());
        let dust = Particle { name, mass: 1.0, position, velocity: position, touch };
        let mut scene = Scene { particles: vec![dust], ..Scene::default() };
        assert_eq!(Needs::of(&scene), Needs::PARTICLES);
        scene.contacts = Some(Contacts::default());
        let words = "takes no particles that touch, such as particle `dust`";
        assert_eq!(refusal(Needs::MULTIBODY, &scene), words);
    }

    #[test]
    fn only_a_mesh_that_forces_move_is_asked_for() {
        let shape = Shape::Mesh { vertices: [].into(), triangles: [].into(), control: None };
        let name = "gear".to_owned();
        let gear = Body { shape, name, ..Body::solid_box(Vec3::repeat(1.0), 1.0) };
        let scene = |body: Body| Scene { bodies: vec![body], ..Scene::default() };
        assert_eq!(Needs::of(&scene(gear.clone().fixed())), Needs::NONE);
        let words = "takes no dynamic bodies that are meshes, such as body `gear`";
        assert_eq!(refusal(Needs::MULTIBODY, &scene(gear)), words);
    }

    #[test]
    fn a_bounded_distance_needs_its_row() {
        let kind = JointKind::Distance { length: 1.0 };
        let mut joint = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
        assert_eq!(of_joint(&joint), Needs::DISTANCES);
        joint.limit = Some(Limit { lower: 0.0, upper: 1.0 });
        assert_eq!(of_joint(&joint), Needs::DISTANCES.with(Needs::LIMITS));
    }
}
