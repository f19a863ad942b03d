//! How far hard joints are from holding: anchors through the real frame, angles by the polar factor.

use std::f64::consts::TAU;

use crate::{
    Scene, State, Vec3,
    constraint::{Geometry, Pose, RowKind},
    scene::{Endpoint, Joint, JointKind, Limit},
};

/// Errors of all hard joints that have not broken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointError {
    /// Largest distance from where the joint allows [m].
    pub max_m: f64,
    /// The largest share that such a distance is of its joint's own size, from centre to centre of what it joins [1].
    pub share_max: f64,
    /// Root mean square of the same distances over the joints [m].
    pub rms_m: f64,
    /// Largest angle from where the joint allows, angular limits included [rad].
    pub angle_max_rad: f64,
}

/// Which errors of joints count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Of what locks or bounds positions, without compliance.
    pub linear: bool,
    /// Of what locks or bounds angles, without compliance.
    pub angular: bool,
}

/// Which errors any joint of `scene` has.
pub fn measured_joints(scene: &Scene) -> Measured {
    let of_joints = || scene.joints.iter().map(|joint| measured(scene, joint));
    Measured { linear: of_joints().any(|m| m.linear), angular: of_joints().any(|m| m.angular) }
}

/// Which errors of `joint` count: hard rows between endpoints of which forces move at least one.
pub(crate) fn measured(scene: &Scene, joint: &Joint) -> Measured {
    let moves = scene.is_dynamic(joint.a) || scene.is_dynamic(joint.b);
    let locks_angle = !matches!(joint.kind, JointKind::Ball | JointKind::Distance { .. });
    Measured {
        linear: moves && joint.compliance_linear == 0.0,
        angular: moves && locks_angle && joint.compliance_angular == 0.0,
    }
}

/// Errors over all joints of `scene`; zero where no joint counts.
pub fn joint_errors(scene: &Scene, state: &State) -> JointError {
    let mut error = JointError::default();
    let (mut sum, mut count) = (0.0, 0_usize);
    for (joint, _) in scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken) {
        let measured = measured(scene, joint);
        if measured.linear {
            let distance = linear_error_m(joint, state);
            error.max_m = error.max_m.max(distance);
            error.share_max = error.share_max.max(distance / size_m(scene, joint));
            sum += distance * distance;
            count += 1;
        }
        if measured.angular {
            error.angle_max_rad = error.angle_max_rad.max(angle_error_rad(joint, state));
        }
    }
    error.rms_m = (sum / count.max(1) as f64).sqrt();
    error
}

/// Distance between the centres of what a joint joins as it is meant to be, or their radii of gyration where that is
/// larger [m].
fn size_m(scene: &Scene, joint: &Joint) -> f64 {
    let end = |(endpoint, anchor): (Endpoint, Vec3)| match endpoint {
        Endpoint::Body(i) if scene.bodies[i].is_dynamic() => {
            let body = &scene.bodies[i];
            [anchor.norm(), (body.inertia.trace() / (2.0 * body.mass)).sqrt()]
        }
        _ => [0.0; 2],
    };
    let [a, b] = [(joint.a, joint.anchor_a), (joint.b, joint.anchor_b)].map(end);
    let length = match joint.kind {
        JointKind::Distance { length } => {
            let longest = joint.limit.map(|limit| limit.upper).filter(|upper| upper.is_finite());
            longest.unwrap_or(length)
        }
        _ => 0.0,
    };
    let least = 1e-6; // Of two points without a distance.
    (a[0] + b[0] + length).max(a[1] + b[1]).max(least)
}

/// World positions of the anchors of A and B [m], stretched with an affine body.
pub fn anchors(joint: &Joint, state: &State) -> [Vec3; 2] {
    [(joint.a, joint.anchor_a), (joint.b, joint.anchor_b)].map(
        |(endpoint, anchor)| match endpoint {
            Endpoint::World => anchor,
            Endpoint::Body(i) => state.bodies[i].point(&anchor),
            Endpoint::Particle(i) => state.particles[i].position,
        },
    )
}

/// How far one joint of `scene` is from the positions that it allows [m]; `None` where that does not count.
pub fn joint_error_m(scene: &Scene, joint: &Joint, state: &State) -> Option<f64> {
    measured(scene, joint).linear.then(|| linear_error_m(joint, state))
}

/// Distance from the positions that the joint allows [m].
fn linear_error_m(joint: &Joint, state: &State) -> f64 {
    let [a, b] = anchors(joint, state);
    let offset = b - a;
    match joint.kind {
        JointKind::Ball | JointKind::Hinge | JointKind::Universal | JointKind::Fixed => {
            offset.norm()
        }
        JointKind::Prismatic | JointKind::Cylindrical => {
            let axis = slide_axis(joint, state);
            let slide = axis.dot(&offset);
            let across = (offset - axis * slide).norm();
            across.hypot(joint.limit.map_or(0.0, |limit| beyond(limit, slide)))
        }
        JointKind::Distance { length } => match joint.limit {
            Some(limit) => beyond(limit, offset.norm()),
            None => (offset.norm() - length).abs(),
        },
    }
}

/// Direction along which B slides, in world axes.
fn slide_axis(joint: &Joint, state: &State) -> Vec3 {
    let local = joint.basis_a * Vec3::x();
    let axis = match joint.a {
        Endpoint::Body(i) => state.bodies[i].frame * local,
        Endpoint::World | Endpoint::Particle(_) => local,
    };
    axis.try_normalize(0.0).unwrap_or(local)
}

/// How far a value is outside its bounds.
fn beyond(limit: Limit, value: f64) -> f64 {
    (limit.lower - value).max(value - limit.upper).max(0.0)
}

/// How far an angle, of which full turns are not known, is at least outside of its bounds [rad].
fn turned_beyond(limit: Limit, turn: f64) -> f64 {
    let turns = |bound: f64| ((bound - turn) / TAU).floor();
    // The last before a bound and the first behind it.
    [limit.lower, limit.upper]
        .into_iter()
        .filter(|bound| bound.is_finite())
        .flat_map(|bound| [turns(bound), turns(bound) + 1.0])
        .map(|turns| beyond(limit, turn + TAU * turns))
        .fold(beyond(limit, turn), f64::min)
}

/// Angle from the orientations that the joint allows [rad].
fn angle_error_rad(joint: &Joint, state: &State) -> f64 {
    let (a, b) = (Pose::of(joint.a, state), Pose::of(joint.b, state));
    let (basis_a, basis_b) = (a.rotation * joint.basis_a, b.rotation * joint.basis_b);
    let (x_a, x_b) = (basis_a * Vec3::x(), basis_b * Vec3::x());
    match joint.kind {
        JointKind::Ball | JointKind::Distance { .. } => 0.0,
        JointKind::Hinge => {
            let turn = RowKind::Angle.evaluate(&Geometry::from(joint), &a, &b).value;
            angle_between(&x_a, &x_b)
                .max(joint.limit.map_or(0.0, |limit| turned_beyond(limit, turn)))
        }
        JointKind::Cylindrical => angle_between(&x_a, &x_b),
        // Deviation from square, from sine and cosine so that it is exact near zero.
        JointKind::Universal => {
            let y_b = basis_b * Vec3::y();
            x_a.dot(&y_b).abs().atan2(x_a.cross(&y_b).norm())
        }
        JointKind::Prismatic | JointKind::Fixed => basis_a.angle_to(&basis_b),
    }
}

/// Angle between two vectors, exact near zero and near a half turn [rad].
fn angle_between(u: &Vec3, v: &Vec3) -> f64 {
    u.cross(v).norm().atan2(u.dot(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_beyond_half_a_turn_is_kept_where_any_number_of_turns_keeps_it() {
        let limit = Limit { lower: -1.0, upper: 5.0 };
        // 3.2 rad is told as 3.2 - 2 pi.
        assert_eq!(turned_beyond(limit, 3.2 - TAU), 0.0);
        assert!((turned_beyond(limit, -1.1) - 0.1).abs() < 1e-12, "5.18 is no nearer");
        assert!((turned_beyond(limit, 5.1 - TAU) - 0.1).abs() < 1e-12);
        let once = Limit { lower: 10.0, upper: f64::INFINITY };
        assert_eq!(turned_beyond(once, 0.0), 0.0);
        assert!((turned_beyond(Limit { lower: 0.0, upper: 1.0 }, 1.5) - 0.5).abs() < 1e-12);
    }
}
