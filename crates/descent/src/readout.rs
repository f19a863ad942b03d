//! Forces of the elements: what joints report and when they break.

use taut_core::{Multipliers, Scene, Vec3};
use taut_math::{Real, V3};

use crate::{
    element::{ElementKind, Owner, Role},
    row::{Side, gradient},
    system::System,
};

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
    pub fn break_joints(&mut self, scene: &Scene, force: impl Fn(&Self, usize) -> V3<R>) {
        let mut index = 0;
        while let Some(owner) = self.definitions.get(index).map(|d| d.owner) {
            let first = index;
            let (mut linear, mut angular) = (R::ZERO, R::ZERO);
            while let Some(definition) = self.definitions.get(index).filter(|d| d.owner == owner) {
                if definition.role == Role::Lock && self.elements[index].active {
                    let pull = force(self, index) * R::of(definition.lever);
                    let total = if definition.is_angular() { &mut angular } else { &mut linear };
                    *total += pull.dot(pull);
                }
                index += 1;
            }
            if let Owner::Joint(j) = owner {
                let joint = &scene.joints[j];
                let bears = [R::of(joint.break_force), R::of(joint.break_torque)];
                if linear.sqrt() > bears[0] || angular.sqrt() > bears[1] {
                    self.broken[j] = true;
                    for element in &mut self.elements[first..index] {
                        (element.active, element.lambda) = (false, V3::ZERO);
                    }
                }
            }
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
                let (push, twist) = self.wrench_on_b(index, force(self, index));
                out.joint_force[j] += push.to_f64();
                out.joint_torque[j] += twist.to_f64();
            }
        }
    }

    /// Force and further torque on B of an element whose rows pull with `force`, in world axes.
    fn wrench_on_b(&self, index: usize, force: V3<R>) -> (V3<R>, V3<R>) {
        let element = &self.elements[index];
        let pair = self.pair(index);
        match element.kind {
            ElementKind::Point => (force, V3::ZERO),
            ElementKind::WorldTwist => (V3::ZERO, force * element.lever),
            ElementKind::Twist => {
                let [x, y, z] = pair.twist_gradients();
                let f = force.0;
                (V3::ZERO, -(x * f[0] + y * f[1] + z * f[2]))
            }
            ElementKind::Row(kind) => {
                let row = gradient(kind, &pair, Side::B);
                let push = row.linear * -force.0[0];
                (push, row.angular * -force.0[0] - pair.arm_b.cross(push))
            }
        }
    }
}
