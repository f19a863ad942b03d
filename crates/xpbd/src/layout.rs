//! Joints and springs flattened into the elements that a sweep corrects, and their colours.

use taut_core::constraint::RowKind;
use taut_math::{Q4, Real, V3};
use taut_model::{ColourOf, Colouring, Form, Model, Order, Owner, Role, narrow, priority};

use crate::colours::Schedule;

/// What a correction reads of every element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedElement<R> {
    pub(crate) form: Form,
    /// Whether its multiplier is bounded, as those of limits and motors.
    pub(crate) bounded: bool,
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
pub(crate) struct ElementFrame<R> {
    /// Joint basis on A, joint to body.
    pub(crate) basis_a: Q4<R>,
    /// Joint basis on B, joint to body.
    pub(crate) basis_b: Q4<R>,
    pub(crate) role: Role,
}

/// A joint or spring: elements corrected in sequence on the same two bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairUnit {
    /// Places of A and B among the poses.
    pub(crate) slots: [u32; 2],
    /// First element and one past the last.
    pub(crate) elements: [u32; 2],
    /// Whether it exerts anything: false once broken.
    pub(crate) active: bool,
}

/// An element whose `rest` changes from step to step: a motor's, which aims at it, or the limit of an angle, which
/// counts full turns from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovingTarget {
    pub(crate) unit: u32,
    pub(crate) element: u32,
    /// The row that it drives.
    pub(crate) row: RowKind,
    /// [m/s or rad/s]; zero for a limit.
    pub(crate) speed: f64,
}

/// An element that resists what changes in a step or sub-step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairDamper<R> {
    pub(crate) unit: u32,
    pub(crate) element: u32,
    /// The row whose change it resists; none where that is a rotation.
    pub(crate) row: Option<RowKind>,
    /// [m/(N s) or rad/(N m s)]
    pub(crate) inverse: R,
}

/// All units of a scene in the order of a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Corrections<R> {
    pub(crate) units: Vec<PairUnit>,
    pub(crate) elements: Vec<PackedElement<R>>,
    pub(crate) frames: Vec<ElementFrame<R>>,
    /// How a sweep visits the units.
    pub(crate) schedule: Schedule,
    /// Unit of each joint of the scene.
    pub(crate) joints: Vec<u32>,
    pub(crate) targets: Vec<MovingTarget>,
    pub(crate) dampers: Vec<PairDamper<R>>,
}

/// Lays out the joints and springs of a scene in the given order.
pub(crate) fn lower<R: Real>(model: &Model, order: Order) -> Corrections<R> {
    let mut sequence: Vec<u32> = (0..narrow(model.units.len())).collect();
    let mut schedule = Schedule::serial();
    match order {
        Order::Coloured => {
            let mut colouring = Colouring::default();
            let colours = colouring.colour(&model.graph(), ColourOf::Units, priority);
            let colour = |&unit: &u32| colours[unit as usize];
            sequence.sort_by_key(colour);
            schedule.rebuild(sequence.iter().map(colour));
        }
        Order::Creation => {}
        Order::ReverseCreation => sequence.reverse(),
    }
    let joints = model.units.iter().filter(|unit| matches!(unit.owner, Owner::Joint(_)));
    let mut corrections = Corrections {
        units: vec![],
        elements: vec![],
        frames: vec![],
        schedule,
        joints: vec![0; joints.count()],
        targets: vec![],
        dampers: vec![],
    };
    for unit in sequence {
        corrections.push(model, unit);
    }
    corrections
}

/// The row whose change a damper resists; none of a rotation.
fn damped_row(form: Form) -> Option<RowKind> {
    match form {
        Form::Row(row) => Some(row),
        _ => None,
    }
}

/// Nodes of A and B of a unit.
fn slots(model: &Model, unit: u32) -> [u32; 2] {
    let ends = model.ends_of_unit(&model.units[unit as usize]);
    [ends[0].node, ends[1].node]
}

impl<R: Real> Corrections<R> {
    /// Makes broken joints let go and all others hold.
    pub(crate) fn let_go(&mut self, broken: &[bool]) {
        for (&unit, &broken) in self.joints.iter().zip(broken) {
            self.units[unit as usize].active = !broken;
        }
    }

    /// Counts angles from half a turn either way again.
    pub(crate) fn forget_turns(&mut self) {
        let angle = |damper: &&PairDamper<R>| damper.row == Some(RowKind::Angle);
        let dampers = self.dampers.iter().filter(angle).map(|damper| damper.element);
        for element in self.targets.iter().map(|target| target.element).chain(dampers) {
            self.elements[element as usize].rest = R::ZERO;
        }
    }

    fn push(&mut self, model: &Model, unit: u32) {
        let (place, first) = (narrow(self.units.len()), narrow(self.elements.len()));
        let one = &model.units[unit as usize];
        for element in model.turning_first(one).filter(|element| element.exerts()) {
            let moving = match (element.form, element.role) {
                (Form::Row(row), Role::Motor { speed, .. }) => Some((row, speed)),
                (Form::Row(row @ RowKind::Angle), Role::Limit { .. }) => Some((row, 0.0)),
                _ => None,
            };
            if let Some((row, speed)) = moving {
                let element = narrow(self.elements.len());
                self.targets.push(MovingTarget { unit: place, element, row, speed });
            }
            if let Role::Damp { damping } = element.role {
                let (row, inverse) = (damped_row(element.form), R::of(1.0 / damping));
                let element = narrow(self.elements.len());
                self.dampers.push(PairDamper { unit: place, element, row, inverse });
            }
            let [a, b] = model.pair_of(element);
            self.elements.push(PackedElement {
                form: element.form,
                bounded: matches!(element.role, Role::Limit { .. } | Role::Motor { .. }),
                anchor_a: V3::of(&a.anchor),
                anchor_b: V3::of(&b.anchor),
                rest: R::of(element.target),
                compliance: R::of(element.softness.compliance()),
            });
            let (basis_a, basis_b) = (Q4::of(&a.basis), Q4::of(&b.basis));
            self.frames.push(ElementFrame { basis_a, basis_b, role: element.role });
        }
        if let Owner::Joint(joint) = one.owner {
            self.joints[joint as usize] = place;
        }
        let elements = [first, narrow(self.elements.len())];
        self.units.push(PairUnit { slots: slots(model, unit), elements, active: true });
    }
}
