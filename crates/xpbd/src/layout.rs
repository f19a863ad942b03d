//! Joints and springs flattened into the elements that a sweep corrects, and their colours.

use taut_core::{
    Scene,
    constraint::{Geometry, RowKind, free_coordinate},
    scene::{Joint, JointKind, Spring, SpringKind},
};
use taut_math::{Q4, Real, V3};
use taut_model::Order;

use crate::{
    body::{Bodies, slot},
    colours::{Painter, Schedule, narrow},
};

/// What an element holds; the rows are those of [`RowKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Both anchors together: `Point(0..3)`.
    Point,
    /// Anchors at the distance `rest`: `Distance`.
    Distance,
    /// B's anchor on A's x axis: `Slide(1)`, `Slide(2)`.
    Line,
    /// Parallel x axes: `Dot(1, 0)`, `Dot(2, 0)`.
    Axis,
    /// Parallel bases: `Twist(0..3)`.
    Twist,
    /// A single row, locked, limited or driven.
    Row(RowKind),
}

/// What a correction reads of every element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<R> {
    pub(crate) kind: Kind,
    /// Anchor on A in its coordinates [m].
    pub(crate) anchor_a: V3<R>,
    /// Anchor on B in its coordinates [m].
    pub(crate) anchor_b: V3<R>,
    /// Value aimed at [m or rad]; for a motor the one of this step or sub-step.
    pub(crate) rest: R,
    /// Compliance [m/N or rad/(N m)].
    pub(crate) compliance: R,
}

/// What only rotations and bounded rows read of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<R> {
    /// Joint basis on A, joint to body.
    pub(crate) basis_a: Q4<R>,
    /// Joint basis on B, joint to body.
    pub(crate) basis_b: Q4<R>,
    pub(crate) role: Role<R>,
}

/// How the multiplier of a row is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role<R> {
    /// Not at all.
    Lock,
    /// Pushes inwards only [m or rad].
    Limit { lower: R, upper: R },
    /// By the effort [N or N m]; the speed is in m/s or rad/s.
    Motor { speed: R, max_effort: R },
}

/// A joint or spring: elements corrected in sequence on the same two bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    /// Places of A and B among the poses.
    pub(crate) slots: [u32; 2],
    /// First element and one past the last.
    pub(crate) elements: [u32; 2],
    /// Whether it exerts anything: false once broken.
    pub(crate) active: bool,
}

/// All units of a scene in the order of a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Layout<R> {
    pub(crate) units: Vec<Unit>,
    pub(crate) elements: Vec<Element<R>>,
    pub(crate) frames: Vec<Frame<R>>,
    /// How a sweep visits the units.
    pub(crate) schedule: Schedule,
    /// Unit of each joint of the scene.
    pub(crate) joints: Vec<u32>,
    /// `(unit, element)` of every motor.
    pub(crate) motors: Vec<(u32, u32)>,
}

struct Source<R> {
    slots: [usize; 2],
    elements: Vec<(Element<R>, Frame<R>)>,
    joint: Option<usize>,
}

impl<R: Real> Layout<R> {
    /// Lays out the joints and springs of `scene`.
    pub(crate) fn new(scene: &Scene, bodies: &Bodies<R>, order: Order) -> Self {
        let joints = scene.joints.iter().enumerate().map(|(i, j)| of_joint(scene, i, j));
        let springs = scene.springs.iter().map(|s| of_spring(scene, s));
        let mut sources: Vec<Source<R>> = joints.chain(springs).collect();
        let moves = |s: usize| bodies.weights[s].inverse_mass > R::ZERO;
        let mut schedule = Schedule::serial();
        match order {
            Order::Coloured => {
                let ends: Vec<_> = sources.iter().map(|s| s.slots.map(narrow)).collect();
                let mut painter = Painter::default();
                painter.paint(&ends, bodies.poses.len(), narrow, moves);
                let mut both: Vec<_> = painter.colours.into_iter().zip(sources).collect();
                both.sort_by_key(|&(colour, _)| colour);
                let colours: Vec<u32>;
                (colours, sources) = both.into_iter().unzip();
                let slots = |unit: usize| sources[unit].slots.map(narrow);
                schedule.rebuild(colours.into_iter(), slots, moves);
            }
            Order::Creation => {}
            Order::ReverseCreation => sources.reverse(),
        }
        let mut layout = Self {
            units: vec![],
            elements: vec![],
            frames: vec![],
            schedule,
            joints: vec![0; scene.joints.len()],
            motors: vec![],
        };
        for source in sources {
            layout.push(source);
        }
        layout
    }

    fn push(&mut self, source: Source<R>) {
        let unit = narrow(self.units.len());
        let first = narrow(self.elements.len());
        for (element, frame) in source.elements {
            if matches!(frame.role, Role::Motor { .. }) {
                self.motors.push((unit, narrow(self.elements.len())));
            }
            self.elements.push(element);
            self.frames.push(frame);
        }
        if let Some(joint) = source.joint {
            self.joints[joint] = unit;
        }
        let elements = [first, narrow(self.elements.len())];
        self.units.push(Unit { slots: source.slots.map(narrow), elements, active: true });
    }
}

/// The kinds of a joint's locked rows. Rotations come first: correcting them moves the anchors.
pub(crate) fn locks(joint: &Joint) -> &'static [Kind] {
    match joint.kind {
        JointKind::Ball => &[Kind::Point],
        JointKind::Hinge => &[Kind::Axis, Kind::Point],
        JointKind::Universal => &[Kind::Row(RowKind::Dot(0, 1)), Kind::Point],
        JointKind::Prismatic => &[Kind::Twist, Kind::Line],
        JointKind::Cylindrical => &[Kind::Axis, Kind::Line],
        JointKind::Fixed => &[Kind::Twist, Kind::Point],
        JointKind::Distance { .. } if joint.limit.is_none() => &[Kind::Distance],
        JointKind::Distance { .. } => &[],
    }
}

impl Kind {
    fn is_angular(self) -> bool {
        match self {
            Self::Point | Self::Distance | Self::Line => false,
            Self::Axis | Self::Twist => true,
            Self::Row(row) => row.is_angular(),
        }
    }
}

fn of_joint<R: Real>(scene: &Scene, index: usize, joint: &Joint) -> Source<R> {
    let make = |kind: Kind, role, rest, compliance| {
        element(&Geometry::from(joint), kind, role, rest, compliance)
    };
    let length = if let JointKind::Distance { length } = joint.kind { length } else { 0.0 };
    let lock = |&kind: &Kind| {
        let angular = kind.is_angular();
        let compliance = if angular { joint.compliance_angular } else { joint.compliance_linear };
        make(kind, Role::Lock, if kind == Kind::Distance { length } else { 0.0 }, compliance)
    };
    let (turns, points): (Vec<Kind>, Vec<Kind>) =
        locks(joint).iter().partition(|kind| kind.is_angular());
    let mut elements: Vec<_> = turns.iter().map(lock).collect();
    if let Some(free) = free_coordinate(joint.kind).map(Kind::Row) {
        // The last word is the limit's: what it bounds is geometry, a motor only gives a rate.
        elements.extend(joint.motor.map(|m| {
            let (speed, max_effort) = (R::of(m.speed), R::of(m.max_effort));
            make(free, Role::Motor { speed, max_effort }, 0.0, 0.0)
        }));
        elements.extend(joint.limit.map(|l| {
            let (lower, upper) = (R::of(l.lower), R::of(l.upper));
            make(free, Role::Limit { lower, upper }, 0.0, 0.0)
        }));
    }
    elements.extend(points.iter().map(lock));
    Source { slots: [joint.a, joint.b].map(|e| slot(scene, e)), elements, joint: Some(index) }
}

fn of_spring<R: Real>(scene: &Scene, spring: &Spring) -> Source<R> {
    let (kind, rest) = match spring.kind {
        SpringKind::Linear { rest_length, .. } => (Kind::Distance, rest_length),
        SpringKind::Angular { .. } => (Kind::Twist, 0.0),
    };
    let mut elements = vec![];
    if spring.stiffness > 0.0 {
        let compliance = 1.0 / spring.stiffness;
        elements.push(element(&Geometry::from(spring), kind, Role::Lock, rest, compliance));
    }
    Source { slots: [spring.a, spring.b].map(|e| slot(scene, e)), elements, joint: None }
}

fn element<R: Real>(
    geometry: &Geometry,
    kind: Kind,
    role: Role<R>,
    rest: f64,
    compliance: f64,
) -> (Element<R>, Frame<R>) {
    let element = Element {
        kind,
        anchor_a: V3::of(&geometry.anchor_a),
        anchor_b: V3::of(&geometry.anchor_b),
        rest: R::of(rest),
        compliance: R::of(compliance),
    };
    let (basis_a, basis_b) = (Q4::of(&geometry.basis_a), Q4::of(&geometry.basis_b));
    (element, Frame { basis_a, basis_b, role })
}
