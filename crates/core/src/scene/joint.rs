//! Joints between bodies, particles and the world.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::{Endpoint, Scene};
use crate::{
    error::SolverError,
    math::{Quat, Vec3},
    wire,
};

/// A joint between two endpoints. Its rows are defined in [`crate::constraint`].
///
/// The joint basis has its x axis along a hinge's or slider's axis. A universal joint keeps A's x
/// axis perpendicular to B's y axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// Which motions it locks.
    pub kind: JointKind,
    /// One side.
    pub a: Endpoint,
    /// The other side.
    pub b: Endpoint,
    /// Anchor on A, in A's coordinates [m].
    #[serde(with = "wire::numbers")]
    pub anchor_a: Vec3,
    /// Anchor on B, in B's coordinates [m].
    #[serde(with = "wire::numbers")]
    pub anchor_b: Vec3,
    /// Rotation of the joint basis on A: joint to A coordinates.
    #[serde(with = "wire::numbers")]
    pub basis_a: Quat,
    /// Rotation of the joint basis on B: joint to B coordinates.
    #[serde(with = "wire::numbers")]
    pub basis_b: Quat,
    /// Compliance of the rows that lock positions [m/N]; zero is hard.
    pub compliance_linear: f64,
    /// Compliance of the rows that lock rotations [rad/(N m)]; zero is hard.
    pub compliance_angular: f64,
    /// Bounds of the free coordinate: hinge angle [rad], slider displacement [m], or distance [m].
    pub limit: Option<Limit>,
    /// Drive of the free coordinate of a hinge or slider.
    pub motor: Option<Motor>,
    /// Damping of the free coordinate of a hinge or slider [N m s/rad or N s/m], as that of a [`super::Spring`].
    #[serde(default, skip_serializing_if = "wire::is_zero")]
    pub damping: f64,
    /// The joint breaks above this force [N]; infinite never.
    #[serde(with = "wire::upper_bound")]
    pub break_force: f64,
    /// The joint breaks above this torque [N m]; infinite never.
    #[serde(with = "wire::upper_bound")]
    pub break_torque: f64,
}

/// Which relative motions a joint locks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JointKind {
    /// The anchors coincide.
    Ball,
    /// The anchors coincide and the x axes of the bases stay parallel.
    Hinge,
    /// The anchors coincide and A's x axis stays perpendicular to B's y axis.
    Universal,
    /// B's anchor stays on the line through A's anchor along A's x axis; the bases stay parallel.
    Prismatic,
    /// B's anchor stays on the line through A's anchor along A's x axis; the x axes of the bases stay
    /// parallel.
    Cylindrical,
    /// The anchors coincide and the bases stay parallel.
    Fixed,
    /// The anchors keep a distance, or with a limit stay within its bounds.
    Distance {
        /// The distance kept where there is no limit [m].
        length: f64,
    },
}

impl JointKind {
    /// Whether it has a coordinate that motors drive, efforts push and dampers slow.
    pub fn is_driven(self) -> bool {
        matches!(self, Self::Hinge | Self::Prismatic | Self::Cylindrical)
    }
}

/// Bounds of a joint's free coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Smallest value allowed.
    #[serde(with = "wire::lower_bound")]
    pub lower: f64,
    /// Largest value allowed.
    #[serde(with = "wire::upper_bound")]
    pub upper: f64,
}

/// A drive that holds the rate of a joint's free coordinate with bounded effort.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Target rate of B relative to A [rad/s or m/s].
    pub speed: f64,
    /// Largest torque or force it may use [N m or N].
    pub max_effort: f64,
}

/// The motor that turns fastest.
///
/// A pose tells an angle up to full turns, so that a step in which a motor makes half a turn or more ends where one
/// the other way round would. Solvers whose rows are functions of poses refuse such a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FastestMotor {
    joint: String,
    /// Absolute target rate [rad/s]; zero where nothing turns.
    rate: f64,
}

impl FastestMotor {
    /// The one of `scene`.
    pub fn of(scene: &Scene) -> Self {
        let mut fastest = Self::default();
        for (i, joint) in scene.joints.iter().enumerate() {
            let turns = matches!(joint.kind, JointKind::Hinge);
            let rate = joint.motor.map_or(0.0, |motor| motor.speed.abs());
            if turns && rate > fastest.rate {
                let joint = match &*joint.name {
                    "" => format!("joint {i}"),
                    name => format!("joint `{name}`"),
                };
                fastest = Self { joint, rate };
            }
        }
        fastest
    }

    /// Whether a step of length `h` [s] is short enough.
    ///
    /// # Errors
    /// Names the motor, and how many steps would do.
    pub fn check(&self, h: f64) -> Result<(), SolverError> {
        let turn = self.rate * h;
        if turn < PI {
            return Ok(());
        }
        let joint = &self.joint;
        let steps = (turn / PI).floor() + 1.0;
        Err(SolverError::StepTooLong(format!(
            "the motor of {joint} makes {turn:.2} rad in a step of {h:.2e} s, and poses do not tell more than half a \
             turn: take {steps} times as many steps"
        )))
    }
}

impl Joint {
    /// A hard joint of the given kind, anchored at both origins, without limit, motor or break threshold.
    pub fn new(kind: JointKind, a: Endpoint, b: Endpoint) -> Self {
        Self {
            name: String::new(),
            kind,
            a,
            b,
            anchor_a: Vec3::zeros(),
            anchor_b: Vec3::zeros(),
            basis_a: Quat::identity(),
            basis_b: Quat::identity(),
            compliance_linear: 0.0,
            compliance_angular: 0.0,
            limit: None,
            motor: None,
            damping: 0.0,
            break_force: f64::INFINITY,
            break_torque: f64::INFINITY,
        }
    }

    /// Whether it lets go above some force or torque.
    pub fn can_break(&self) -> bool {
        self.break_force.is_finite() || self.break_torque.is_finite()
    }

    /// This joint with anchors in the coordinates of either side [m].
    #[must_use]
    pub fn anchored(mut self, anchor_a: Vec3, anchor_b: Vec3) -> Self {
        (self.anchor_a, self.anchor_b) = (anchor_a, anchor_b);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motor_makes_less_than_half_a_turn_in_a_step() {
        let mut hinge = Joint::new(JointKind::Hinge, Endpoint::World, Endpoint::Body(0));
        hinge.motor = Some(Motor { speed: -100.0, max_effort: 1.0 });
        let mut slider = Joint::new(JointKind::Prismatic, Endpoint::World, Endpoint::Body(0));
        slider.motor = Some(Motor { speed: 1e6, max_effort: 1.0 });
        let scene = Scene { joints: vec![slider, hinge], ..Scene::default() };
        let fastest = FastestMotor::of(&scene);
        assert!(fastest.check(0.03).is_ok());
        let told = fastest.check(0.1).expect_err("ten radians").to_string();
        assert!(told.contains("joint 1") && told.contains("take 4 times as many"), "{told}");
        assert!(FastestMotor::of(&Scene::default()).check(1e9).is_ok());
    }
}
