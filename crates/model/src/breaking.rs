//! Which joints are broken.

use taut_core::Scene;

use crate::wrench::{Strength, breakable};

/// What joints bear, and which of them are broken.
#[derive(Clone, Debug)]
pub struct BrokenJoints {
    bears: Vec<Strength<f64>>,
    broken: Vec<bool>,
    can_break: bool,
}

impl BrokenJoints {
    /// All joints of a scene whole.
    pub fn new(scene: &Scene) -> Self {
        Self {
            bears: scene.joints.iter().map(Strength::of).collect(),
            broken: vec![false; scene.joints.len()],
            can_break: breakable(scene),
        }
    }

    /// Whether any joint can break.
    pub fn can_break(&self) -> bool {
        self.can_break
    }

    /// Which joints are broken.
    pub fn broken(&self) -> &[bool] {
        &self.broken
    }

    /// Takes over which joints are broken.
    pub fn load(&mut self, broken: &[bool]) {
        self.broken.copy_from_slice(broken);
    }

    /// Breaks the joints that these forces [N] and torques [N m] are too much for; returns whether there are any.
    pub fn overload(&mut self, loads: impl Iterator<Item = [f64; 2]>) -> bool {
        let mut any = false;
        let joints = self.bears.iter().zip(&mut self.broken);
        for ([force, torque], (bears, broken)) in loads.zip(joints) {
            if bears.fails(force, torque) {
                (any, *broken) = (true, true);
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use taut_core::scene::{Endpoint, Joint, JointKind};

    use super::*;

    #[test]
    fn a_joint_breaks_of_force_or_torque() {
        let mut scene = Scene::default();
        let whole = Joint::new(JointKind::Fixed, Endpoint::World, Endpoint::World);
        scene.joints = vec![whole.clone(); 3];
        assert!(!BrokenJoints::new(&scene).can_break());
        (scene.joints[0].break_force, scene.joints[1].break_torque) = (2.0, 2.0);
        let mut breaking = BrokenJoints::new(&scene);
        assert!(breaking.can_break());
        assert!(breaking.overload([[2.0, 9.0]; 3].into_iter()));
        assert_eq!(breaking.broken(), [false, true, false]);
        breaking.load(&[false; 3]);
        assert!(breaking.overload([[2.1, 0.0]; 3].into_iter()));
        assert_eq!(breaking.broken(), [true, false, false]);
        assert!(!breaking.overload([[0.0; 2]; 3].into_iter()));
    }
}
