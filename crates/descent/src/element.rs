//! Joints, limits, motors and springs as the elements a descent sweep works on.

use taut_core::{
    Scene,
    constraint::{self, Geometry, RowKind},
    scene::{Endpoint, Joint, Spring, SpringKind},
};
use taut_math::{Q4, V3};

/// How an element's rows are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// `xA - xB` in world axes: three rows.
    Point,
    /// Relative rotation as `2 vec(q)` in A's basis: three rows.
    Twist,
    /// Difference of both rotations in world axes times a lever, without a rest pose, as in the
    /// official 3D demo: three rows.
    WorldTwist,
    /// One scalar row.
    Row(RowKind),
}

/// What an element stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// Rows a joint locks.
    Lock,
    /// Bounds on a joint's free coordinate.
    Limit {
        /// Smallest value allowed.
        lower: f64,
        /// Largest value allowed.
        upper: f64,
    },
    /// A drive of a joint's free coordinate.
    Motor {
        /// Target rate [rad/s or m/s].
        speed: f64,
        /// Largest force [N or N m].
        max_effort: f64,
    },
    /// A spring's energy.
    Spring,
}

/// Whose element it is, by index in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A joint.
    Joint(usize),
    /// A spring.
    Spring(usize),
}

/// What stays the same from step to step.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Whose element this is.
    pub owner: Owner,
    /// What it stands for.
    pub role: Role,
    /// How its rows are computed.
    pub kind: ElementKind,
    /// One side.
    pub a: Endpoint,
    /// The other side.
    pub b: Endpoint,
    /// Anchors and bases.
    pub geometry: Geometry,
    /// Value of the row at rest; zero for blocks.
    pub rest: f64,
    /// Material stiffness [N/m or N m/rad]; infinite for hard rows.
    pub stiffness: f64,
    /// Lever of a [`ElementKind::WorldTwist`] [m^2]; one elsewhere.
    pub lever: f64,
    /// Mass [kg] or moment of inertia [kg m^2] that the rows move: both sides in series.
    pub effective_mass: f64,
    /// Mass that hangs on it [kg], see [`crate::carried`]; zero where that means nothing.
    pub carried_mass: f64,
    /// Smallest extent of the two bodies [m], for rows measured in metres; one radian else.
    pub length: f64,
}

impl Definition {
    /// Whether the rows are held exactly rather than by a finite stiffness.
    pub fn is_hard(&self) -> bool {
        self.stiffness.is_infinite()
    }

    /// Whether the rows are measured in radians.
    pub fn is_angular(&self) -> bool {
        match self.kind {
            ElementKind::Point => false,
            ElementKind::Twist | ElementKind::WorldTwist => true,
            ElementKind::Row(kind) => kind.is_angular(),
        }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        if matches!(self.kind, ElementKind::Row(_)) { 1 } else { 3 }
    }
}

/// What a sweep reads of an element. Row forces are `stiffness * value + lambda`.
#[derive(Clone, Copy, Debug)]
pub struct Element<R> {
    /// How its rows are computed.
    pub kind: ElementKind,
    /// Whether it exerts anything in this step.
    pub active: bool,
    /// Whether its second derivative is lumped into the blocks.
    pub curvature: bool,
    /// Whether a clamped row lowers its stiffness to what would just reach the bound (Eq. 14).
    pub rescaled: bool,
    /// Nodes of A and B.
    pub nodes: [u32; 2],
    /// Incidences of A and B.
    pub incidences: [u32; 2],
    /// Multiplier [N or N m].
    pub lambda: V3<R>,
    /// Penalty stiffness [N/m or N m/rad].
    pub stiffness: V3<R>,
    /// `xA - xB` at the step's start, or what of it is to be corrected for [`ElementKind::Point`] [m].
    pub offset: V3<R>,
    /// What is subtracted from the row's own value.
    pub shift: V3<R>,
    /// Least force of a scalar row.
    pub lower: R,
    /// Greatest force of a scalar row.
    pub upper: R,
    /// Lever of a [`ElementKind::WorldTwist`].
    pub lever: R,
}

/// Joint bases of an element at the step's start, joint to world.
#[derive(Clone, Copy, Debug)]
pub struct Bases<R> {
    /// On A.
    pub a: Q4<R>,
    /// On B.
    pub b: Q4<R>,
}

/// How joints that lock rotations are expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AngularRows {
    /// As in [`taut_core::constraint`], with a rest pose.
    RestPose,
    /// As in the official 3D demo: world axes, no rest pose, levered by the squared size of both bodies.
    Demo3d,
}

/// The elements of a scene, joints first, in creation order.
pub fn definitions(scene: &Scene, angular: AngularRows) -> Vec<Definition> {
    let mut out = Vec::with_capacity(scene.joints.len() + scene.springs.len());
    for (index, joint) in scene.joints.iter().enumerate() {
        push_joint(scene, index, joint, angular, &mut out);
    }
    for (index, spring) in scene.springs.iter().enumerate() {
        push_spring(scene, index, spring, &mut out);
    }
    out
}

fn push_joint(
    scene: &Scene,
    index: usize,
    joint: &Joint,
    angular: AngularRows,
    out: &mut Vec<Definition>,
) {
    let mut push = |kind, role, rest| {
        let mut definition = Definition {
            owner: Owner::Joint(index),
            role,
            kind,
            a: joint.a,
            b: joint.b,
            geometry: Geometry::from(joint),
            rest,
            stiffness: f64::INFINITY,
            lever: 1.0,
            effective_mass: 0.0,
            carried_mass: 0.0,
            length: 0.0,
        };
        let compliance = if definition.is_angular() {
            joint.compliance_angular
        } else {
            joint.compliance_linear
        };
        if role == Role::Lock {
            definition.stiffness = 1.0 / compliance;
        }
        if kind == ElementKind::WorldTwist {
            definition.lever = demo_lever(scene, joint);
            // Its rows are levered angles, so a given torsional stiffness counts lever^2 times.
            definition.stiffness /= definition.lever * definition.lever;
            definition.geometry.basis_a = taut_core::Quat::identity();
            definition.geometry.basis_b = taut_core::Quat::identity();
        }
        fill_scales(scene, &mut definition);
        out.push(definition);
    };
    for (kind, rest) in lock_elements(joint, angular) {
        push(kind, Role::Lock, rest);
    }
    if let Some(free) = constraint::free_coordinate(joint.kind) {
        if let Some(limit) = joint.limit {
            let role = Role::Limit { lower: limit.lower, upper: limit.upper };
            push(ElementKind::Row(free), role, 0.0);
        }
        if let Some(motor) = joint.motor {
            let role = Role::Motor { speed: motor.speed, max_effort: motor.max_effort };
            push(ElementKind::Row(free), role, 0.0);
        }
    }
}

/// Locked rows gathered into blocks of three where they belong together.
fn lock_elements(joint: &Joint, angular: AngularRows) -> Vec<(ElementKind, f64)> {
    let twist = match angular {
        AngularRows::RestPose => ElementKind::Twist,
        AngularRows::Demo3d => ElementKind::WorldTwist,
    };
    let mut out = vec![];
    for (row, target) in constraint::locked_rows(joint) {
        match row {
            RowKind::Point(0) => out.push((ElementKind::Point, target)),
            RowKind::Twist(0) => out.push((twist, target)),
            RowKind::Point(_) | RowKind::Twist(_) => {}
            single => out.push((ElementKind::Row(single), target)),
        }
    }
    out
}

fn push_spring(scene: &Scene, index: usize, spring: &Spring, out: &mut Vec<Definition>) {
    let (kind, rest) = match spring.kind {
        SpringKind::Linear { rest_length, .. } => {
            (ElementKind::Row(RowKind::Distance), rest_length)
        }
        SpringKind::Angular { .. } => (ElementKind::Twist, 0.0),
    };
    let mut definition = Definition {
        owner: Owner::Spring(index),
        role: Role::Spring,
        kind,
        a: spring.a,
        b: spring.b,
        geometry: Geometry::from(spring),
        rest,
        stiffness: spring.stiffness,
        lever: 1.0,
        effective_mass: 0.0,
        carried_mass: 0.0,
        length: 0.0,
    };
    fill_scales(scene, &mut definition);
    out.push(definition);
}

/// `|sizeA + sizeB|^2` with full extents, the demo's "torque arm"; the world has no size.
fn demo_lever(scene: &Scene, joint: &Joint) -> f64 {
    let size = |endpoint| match endpoint {
        Endpoint::Body(i) => scene.bodies[i].shape.extent(),
        Endpoint::World | Endpoint::Particle(_) => taut_core::Vec3::zeros(),
    };
    (size(joint.a) + size(joint.b)).norm_squared()
}

fn fill_scales(scene: &Scene, definition: &mut Definition) {
    let angular = definition.is_angular();
    let inertia = |endpoint| match endpoint {
        Endpoint::Body(i) if scene.bodies[i].is_dynamic() => {
            let body = &scene.bodies[i];
            if angular { body.inertia.trace() / 3.0 } else { body.mass }
        }
        Endpoint::Particle(i) if !angular => scene.particles[i].mass,
        _ => 0.0,
    };
    let inverse = |m: f64| if m > 0.0 { 1.0 / m } else { 0.0 };
    let sum = inverse(inertia(definition.a)) + inverse(inertia(definition.b));
    definition.effective_mass = inverse(sum);
    let extent = |endpoint| match endpoint {
        Endpoint::Body(i) if scene.bodies[i].is_dynamic() => scene.bodies[i].shape.extent().min(),
        _ => f64::INFINITY,
    };
    let smallest = extent(definition.a).min(extent(definition.b));
    // Between particles there is no body to give a length; what they are apart at first does.
    let apart = || separation(scene, definition).max(1e-3);
    definition.length = match (angular, smallest.is_finite()) {
        (true, _) => 1.0,
        (false, true) => smallest,
        (false, false) => apart(),
    };
}

fn separation(scene: &Scene, definition: &Definition) -> f64 {
    let place = |endpoint| match endpoint {
        Endpoint::World => definition.geometry.anchor_a,
        Endpoint::Body(i) => scene.bodies[i].position,
        Endpoint::Particle(i) => scene.particles[i].position,
    };
    (place(definition.a) - place(definition.b)).norm()
}
