//! Bodies whose pose is a function of time and of nothing else.

use serde::{Deserialize, Serialize};

use crate::{
    formula::TimeFormula,
    math::{Quat, Vec3},
    wire,
};

/// How a kinematic body moves that does not just keep its velocities.
///
/// A step from any state to the time `t + h` sees the constant velocity and angular velocity that end exactly at the
/// pose of `t + h`, see [`Drive::rates`]: all that decides where the body is, is time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// The body, by its place in the scene; it is kinematic.
    pub body: usize,
    /// Where it is when.
    pub path: DrivePath,
}

/// Where a driven body is at any time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DrivePath {
    /// At a place and a rotation that depend on time.
    Along {
        /// Of the origin of the shape as written [m].
        position: [TimeFormula; 3],
        /// Body to world: one turn after the other, each about world axes.
        rotation: Vec<TimeTurn>,
        /// The centre of mass from that origin, in body coordinates [m].
        #[serde(with = "wire::numbers")]
        centre: Vec3,
    },
    /// At rest but for an interval, within which it keeps its velocities.
    During {
        /// When it starts to move [s].
        from_s: f64,
        /// When it stops [s].
        to_s: f64,
        /// Centre of mass before [m].
        #[serde(with = "wire::numbers")]
        position: Vec3,
        /// Body to world before.
        #[serde(with = "wire::numbers")]
        rotation: Quat,
        /// Of the centre of mass [m/s].
        #[serde(with = "wire::numbers")]
        velocity: Vec3,
        /// In world axes [rad/s].
        #[serde(with = "wire::numbers")]
        omega: Vec3,
    },
}

/// A rotation that depends on time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TimeTurn {
    /// About an axis through the origin, right-handed; none about an axis of no length.
    AxisAngle {
        /// In world coordinates, of any length.
        axis: [TimeFormula; 3],
        /// [degrees]
        degrees: TimeFormula,
    },
    /// x, y, z, w; of any length but zero.
    Quaternion([TimeFormula; 4]),
}

/// So much time after another a body is asked for its speed at that one [s].
const MOMENT_S: f64 = 1e-6;

impl TimeTurn {
    fn at(&self, time_s: f64) -> Quat {
        match self {
            Self::AxisAngle { axis, degrees } => {
                let axis = TimeFormula::vector(axis, time_s);
                let length = axis.norm();
                let turn = if length > 0.0 { axis / length } else { axis };
                Quat::from_scaled_axis(turn * degrees.at(time_s).to_radians())
            }
            Self::Quaternion(parts) => {
                let [x, y, z, w] = [0, 1, 2, 3].map(|i| parts[i].at(time_s));
                Quat::from_quaternion(nalgebra::Quaternion::new(w, x, y, z))
            }
        }
    }
}

impl DrivePath {
    /// Centre of mass [m] and rotation, body to world, at a time [s].
    pub fn pose(&self, time_s: f64) -> (Vec3, Quat) {
        match self {
            Self::Along { position, rotation, centre } => {
                let turn = |so_far: Quat, turn: &TimeTurn| turn.at(time_s) * so_far;
                let rotation = rotation.iter().fold(Quat::identity(), turn);
                (TimeFormula::vector(position, time_s) + rotation * centre, rotation)
            }
            Self::During { from_s, to_s, position, rotation, velocity, omega } => {
                let moved = time_s.clamp(*from_s, *to_s) - from_s;
                (position + velocity * moved, Quat::from_scaled_axis(omega * moved) * rotation)
            }
        }
    }

    /// Velocity of the centre of mass [m/s] and angular velocity in world axes [rad/s] just after a time [s].
    pub fn rates_at(&self, time_s: f64) -> [Vec3; 2] {
        rates(self.pose(time_s), self.pose(time_s + MOMENT_S), MOMENT_S)
    }
}

impl Drive {
    /// The constant velocity of the centre of mass [m/s] and angular velocity in world axes [rad/s] by which a body that
    /// is at `from` moves within `h` [s] to where it has to be at `end_s` [s], turning by less than half a turn.
    pub fn rates(&self, from: (Vec3, Quat), end_s: f64, h: f64) -> [Vec3; 2] {
        rates(from, self.path.pose(end_s), h)
    }
}

fn rates(from: (Vec3, Quat), to: (Vec3, Quat), h: f64) -> [Vec3; 2] {
    let turn = to.1 * from.1.inverse();
    [(to.0 - from.0) / h, turn.scaled_axis() / h]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_motion_over_a_step_ends_on_the_path() {
        let text = |text: &str| TimeFormula::parse(text).unwrap();
        let path = DrivePath::Along {
            position: [text("sin(3*t)"), text("0.5"), text("t^2")],
            rotation: vec![
                TimeTurn::AxisAngle {
                    axis: [text("0"), text("1"), text("t")],
                    degrees: text("90*t"),
                },
                TimeTurn::Quaternion([text("t"), text("0"), text("0"), text("1")]),
            ],
            centre: Vec3::new(0.1, 0.2, 0.3),
        };
        let drive = Drive { body: 0, path };
        let (h, mut at) = (0.05, drive.path.pose(0.0));
        for step in 1..=40 {
            let end_s = f64::from(step) * h;
            let [velocity, omega] = drive.rates(at, end_s, h);
            at = (at.0 + velocity * h, Quat::from_scaled_axis(omega * h) * at.1);
            let (position, rotation) = drive.path.pose(end_s);
            assert!((at.0 - position).norm() + at.1.angle_to(&rotation) < 1e-14, "{step}");
        }
    }

    #[test]
    fn what_moves_during_an_interval_rests_before_and_after() {
        let path = DrivePath::During {
            from_s: 1.0,
            to_s: 2.0,
            position: Vec3::x(),
            rotation: Quat::identity(),
            velocity: Vec3::y() * 3.0,
            omega: Vec3::z() * 0.5,
        };
        for (t, y, angle) in [(0.0, 0.0, 0.0), (1.5, 1.5, 0.25), (2.0, 3.0, 0.5), (9.0, 3.0, 0.5)] {
            let (position, rotation) = path.pose(t);
            assert_eq!(position, Vec3::new(1.0, y, 0.0));
            assert!((rotation.scaled_axis() - Vec3::z() * angle).norm() < 1e-15);
        }
        let speed = |t| path.rates_at(t)[0].y;
        assert_eq!((speed(0.5), speed(2.5)), (0.0, 0.0));
        assert!((speed(1.0) - 3.0).abs() < 1e-9);
    }
}
