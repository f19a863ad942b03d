//! A candidate for the end of a step.

use taut_core::{Placement, Quat, Vec3, constraint::Pose};

/// Where a placement is.
pub(crate) fn pose(placement: &Placement) -> Pose {
    Pose { position: placement.position, rotation: placement.rotation }
}

/// A candidate for the end of the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Iterate {
    /// Displacement of each node since the start [m].
    pub(crate) shift: Vec<Vec3>,
    /// Rotation of each node since the start.
    pub(crate) turn: Vec<Quat>,
    /// Multiplier of each row [N or N m].
    pub(crate) multipliers: Vec<f64>,
    /// Force of each point of contact on A, in its own axes [N].
    pub(crate) forces: Vec<Vec3>,
    /// The poses that follow.
    pub(crate) poses: Vec<Pose>,
}

impl Iterate {
    /// Brings the poses up to date with displacements and rotations.
    pub(crate) fn pose(&mut self, start: &[Placement]) {
        self.poses.clear();
        self.poses.extend(start.iter().zip(&self.shift).zip(&self.turn).map(
            |((s, shift), turn)| Pose { position: s.position + shift, rotation: turn * s.rotation },
        ));
    }
}
