//! Forces of the elements: what joints report and when they break.

use taut_core::{Multipliers, Vec3};
use taut_math::{Real, V3};
use taut_model::{Form, Owner, Role, Wrench, narrow};

use crate::{element::ElementKind, system::System};

impl<R: Real> System<R> {
    /// `k C + lambda` of an element at the current iterate, within its bounds.
    pub fn penalty_force(&self, index: usize) -> V3<R> {
        let element = &self.elements[index];
        let free = element.stiffness.scale(self.value(index)) + element.lambda;
        match element.kind {
            ElementKind::Row(_) => {
                V3([free.0[0].max(element.lower).min(element.upper), R::ZERO, R::ZERO])
            }
            _ => free,
        }
    }

    /// Breaks the joints whose locked rows pull harder than they bear; from now on they exert nothing.
    ///
    /// `force` gives the row forces of an element.
    pub fn break_joints(&mut self, force: impl Fn(&Self, usize) -> V3<R>) {
        let mut first = 0;
        for joint in 0..self.strengths.len() {
            let owner = Owner::Joint(narrow(joint));
            let own = self.definitions[first..].iter().take_while(|d| d.owner == owner);
            let last = first + own.count();
            let (mut linear, mut angular) = (R::ZERO, R::ZERO);
            for (index, definition) in (first..).zip(&self.definitions[first..last]) {
                if definition.role == Role::Lock && self.elements[index].active {
                    let pull = force(self, index) * R::of(definition.lever);
                    let total = if definition.is_angular() { &mut angular } else { &mut linear };
                    *total += pull.dot(pull);
                }
            }
            if self.strengths[joint].fails(linear.sqrt(), angular.sqrt()) {
                self.broken[joint] = true;
                for element in &mut self.elements[first..last] {
                    (element.active, element.lambda) = (false, V3::ZERO);
                }
            }
            first = last;
        }
    }

    /// Sums the forces of each joint's elements on its B side, in world axes.
    pub fn read_multipliers(&self, out: &mut Multipliers, force: impl Fn(&Self, usize) -> V3<R>) {
        for list in [&mut out.joint_force, &mut out.joint_torque] {
            list.clear();
            list.resize(self.broken.len(), Vec3::zeros());
        }
        for (index, definition) in self.definitions.iter().enumerate() {
            if let (Owner::Joint(j), true) = (definition.owner, self.elements[index].active) {
                let wrench = self.wrench_on_b(index, force(self, index));
                out.joint_force[j as usize] += wrench.force.to_f64();
                out.joint_torque[j as usize] += wrench.torque.to_f64();
            }
        }
    }

    /// What an element whose rows pull with `force` exerts on B, in world axes.
    fn wrench_on_b(&self, index: usize, force: V3<R>) -> Wrench<R> {
        let element = &self.elements[index];
        let form = match element.kind {
            ElementKind::WorldTwist => {
                return Wrench { force: V3::ZERO, torque: force * element.lever };
            }
            ElementKind::Point => Form::Point,
            ElementKind::Twist => Form::Twist,
            ElementKind::Turn => Form::Turn,
            ElementKind::Row(kind) => Form::Row(kind),
        };
        Wrench::on_b(form, &self.pair(index), force)
    }
}
