//! Joints, limits, motors and springs as the elements a descent sweep works on.

use taut_core::{Quat, Scene, Vec3, constraint::RowKind};
use taut_math::{Q4, V3};
use taut_model::{Element, End, Form, Model, Node, NodeKind, Owner, Role};

/// How an element's rows are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// `xA - xB` in world axes: three rows.
    Point,
    /// Relative rotation as `2 vec(q)` in A's basis: three rows.
    Twist,
    /// Relative rotation as its rotation vector in A's basis: three rows.
    Turn,
    /// Difference of both rotations in world axes times a lever, without a rest pose, as in the
    /// official 3D demo: three rows.
    WorldTwist,
    /// One scalar row.
    Row(RowKind),
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
    /// Anchors and bases on A and B; their nodes are those of the model.
    pub ends: [End; 2],
    /// Value of the row at rest; zero for blocks.
    pub rest: f64,
    /// Material stiffness [N/m or N m/rad]; infinite for hard rows. Of a damper see [`Self::stiffness_in`].
    pub stiffness: f64,
    /// Lever of a [`ElementKind::WorldTwist`] [m^2]; one elsewhere.
    pub lever: f64,
    /// Mass [kg] or moment of inertia [kg m^2] that the rows move: both sides in series.
    pub effective_mass: f64,
    /// Mass that hangs on it [kg], see [`taut_model::Supported`]; zero where that means nothing.
    pub supported_mass: f64,
    /// Smallest extent of the two bodies [m], for rows measured in metres; one radian else.
    pub length: f64,
}

impl Definition {
    /// Whether the rows are held exactly rather than by a finite stiffness.
    pub fn is_hard(&self) -> bool {
        self.stiffness.is_infinite()
    }

    /// Material stiffness in steps of length `h` [s], in which dampers are springs [N/m or N m/rad].
    pub fn stiffness_in(&self, h: f64) -> f64 {
        match self.role {
            Role::Damp { damping } => damping / h,
            _ => self.stiffness,
        }
    }

    /// Whether it holds its nodes together: rows that a joint locks and that do not give way.
    pub fn holds(&self) -> bool {
        self.role == Role::Lock && self.is_hard()
    }

    /// Whether the rows are measured in radians.
    pub fn is_angular(&self) -> bool {
        match self.kind {
            ElementKind::Point => false,
            ElementKind::Twist | ElementKind::Turn | ElementKind::WorldTwist => true,
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
pub struct SweepElement<R> {
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
    /// An angle [rad], full turns included, when the step began: turns are counted from there.
    pub counted: R,
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

/// The elements of a model of a scene, in its order; rows that have no block here stand alone.
pub fn definitions(scene: &Scene, model: &Model, angular: AngularRows) -> Vec<Definition> {
    let mut out = Vec::with_capacity(model.elements.len());
    for element in &model.elements {
        match element.form {
            Form::Point => out.push(definition(scene, model, element, ElementKind::Point)),
            Form::Twist if angular == AngularRows::Demo3d && element.role == Role::Lock => {
                out.push(definition(scene, model, element, ElementKind::WorldTwist));
            }
            Form::Twist => out.push(definition(scene, model, element, ElementKind::Twist)),
            Form::Turn => out.push(definition(scene, model, element, ElementKind::Turn)),
            Form::Line | Form::Axis | Form::Row(_) => {
                let rows = element.form.kinds().map(ElementKind::Row);
                out.extend(rows.map(|kind| definition(scene, model, element, kind)));
            }
        }
    }
    out
}

fn definition(scene: &Scene, model: &Model, element: &Element, kind: ElementKind) -> Definition {
    let mut definition = Definition {
        owner: model.units[element.unit as usize].owner,
        role: element.role,
        kind,
        ends: model.pair_of(element),
        rest: element.target,
        stiffness: element.softness.stiffness(),
        lever: 1.0,
        effective_mass: 0.0,
        supported_mass: 0.0,
        length: 0.0,
    };
    let nodes = definition.ends.map(|end| &model.nodes[end.node as usize]);
    if kind == ElementKind::WorldTwist {
        // `|sizeA + sizeB|^2` with full extents, the demo's "torque arm"; the world has no size.
        definition.lever = (nodes[0].extent + nodes[1].extent).norm_squared();
        // Its rows are levered angles, so a given torsional stiffness counts lever^2 times.
        definition.stiffness /= definition.lever * definition.lever;
        definition.ends.iter_mut().for_each(|end| end.basis = Quat::identity());
    }
    fill_scales(&mut definition, nodes, || separation(scene, model, element));
    definition
}

fn fill_scales(definition: &mut Definition, nodes: [&Node; 2], separation: impl Fn() -> f64) {
    let angular = definition.is_angular();
    let inertia = |node: &Node| match node.kind {
        NodeKind::Body if angular => node.inertia.trace() / 3.0,
        NodeKind::Body => node.mass,
        NodeKind::Particle if !angular => node.mass,
        _ => 0.0,
    };
    let inverse = |m: f64| if m > 0.0 { 1.0 / m } else { 0.0 };
    definition.effective_mass = inverse(inverse(inertia(nodes[0])) + inverse(inertia(nodes[1])));
    let extent = |node: &Node| match node.kind {
        NodeKind::Body => node.extent.min(),
        _ => f64::INFINITY,
    };
    let smallest = extent(nodes[0]).min(extent(nodes[1]));
    definition.length = match (angular, smallest.is_finite()) {
        (true, _) => 1.0,
        (false, true) => smallest,
        // Between particles there is no body to give a length; what they are apart at first does.
        (false, false) => separation().max(1e-3),
    };
}

/// How far the two nodes of an element are from each other at first [m].
fn separation(scene: &Scene, model: &Model, element: &Element) -> f64 {
    let ends = model.pair_of(element);
    let place = |end: &End| -> Vec3 {
        let (bodies, node) = (scene.bodies.len(), end.node as usize);
        match end.node {
            world if world == model.slots.world() => ends[0].anchor,
            body if body < model.slots.bodies => scene.bodies[node].position,
            _ => scene.particles[node - bodies].position,
        }
    };
    (place(&ends[0]) - place(&ends[1])).norm()
}
