//! The kernels of a step, one body or joint at a time. The shaders of `shaders/jacobi` repeat them operation
//! for operation, so that both give the same bits in single precision.

use taut_core::Vec3;
use taut_math::{M3, Q4, Real, Sym3, V3};
use taut_model::{Node, NodeKind, Pose, Velocity, free_omega};

use crate::settings::JacobiSettings;

/// How hard it is to move a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mass<R> {
    pub(crate) kind: NodeKind,
    /// Inverse mass [1/kg]; zero for what forces do not move.
    pub(crate) inverse_mass: R,
    /// Inertia in body axes [kg m^2], and its inverse.
    pub(crate) inertia: Sym3<R>,
    pub(crate) inverse_inertia: Sym3<R>,
}

/// A ball joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BallJoint<R> {
    /// Nodes A and B.
    pub(crate) nodes: [u32; 2],
    /// Anchors in their coordinates [m].
    pub(crate) anchors: [V3<R>; 2],
    /// Whether it holds; a broken one exerts nothing.
    pub(crate) active: bool,
}

impl<R: Real> Mass<R> {
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            kind: node.kind,
            inverse_mass: R::of(node.inverse_mass()),
            inertia: Sym3::of(&node.inertia),
            inverse_inertia: Sym3::of(&node.inverse_inertia),
        }
    }
}

/// What a joint needs in the iterations of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prepared<R> {
    /// From the centres of mass to the anchors, in world axes [m].
    pub(crate) arms: [V3<R>; 2],
    /// Inverse of its block of the Delassus matrix [kg].
    pub(crate) inverse: Sym3<R>,
    /// Velocity that would take away the error to be corrected [m/s].
    pub(crate) bias: V3<R>,
}

/// What is the same for all in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepConstants<R> {
    pub(crate) gravity: V3<R>,
    /// Length of the step [s].
    pub(crate) h: R,
    /// Share of each correction that is taken, over the length of the step [1/s].
    pub(crate) rate: R,
    /// Share of the error to be taken away, over the length of the step [1/s].
    pub(crate) drift: R,
    pub(crate) gyroscopic: bool,
}

impl<R: Real> StepConstants<R> {
    pub(crate) fn new(gravity: &Vec3, settings: &JacobiSettings, dt: f64) -> Self {
        Self {
            gravity: V3::of(gravity),
            h: R::of(dt),
            rate: R::of(settings.relaxation / dt),
            drift: R::of(settings.share() / dt),
            gyroscopic: settings.gyroscopic,
        }
    }
}

/// `compute_inertia` and `compute_free_velocity`: the inverse inertia in world axes, and `V*`.
pub(crate) fn free<R: Real>(
    mass: &Mass<R>,
    pose: &Pose<R>,
    velocity: &Velocity<R>,
    constants: &StepConstants<R>,
) -> (Sym3<R>, Velocity<R>) {
    if mass.kind != NodeKind::Body {
        return (Sym3::ZERO, *velocity);
    }
    let turned = pose.rotation.matrix();
    let linear = velocity.linear + constants.gravity * constants.h;
    let angular = if constants.gyroscopic {
        free_omega(velocity.angular, &mass.inertia.rotated(&turned), constants.h)
    } else {
        velocity.angular
    };
    (mass.inverse_inertia.rotated(&turned), Velocity { linear, angular })
}

/// `compute_jacobian_and_delassus`: `A_ll = J_l M^-1 J_l^T` inverted. A broken joint gets none.
pub(crate) fn prepare<R: Real>(
    joint: &BallJoint<R>,
    poses: [&Pose<R>; 2],
    masses: [&Mass<R>; 2],
    inertias: [&Sym3<R>; 2],
    drift: R,
) -> Prepared<R> {
    let arms =
        [poses[0].rotation.rotate(joint.anchors[0]), poses[1].rotation.rotate(joint.anchors[1])];
    if !joint.active {
        return Prepared { arms, inverse: Sym3::ZERO, bias: V3::ZERO };
    }
    let mass = masses[0].inverse_mass + masses[1].inverse_mass;
    // [r]x I^-1 [r]x^T of both sides.
    let levers =
        inertias[0].rotated(&M3::skew(arms[0])).plus(inertias[1].rotated(&M3::skew(arms[1])));
    let block = Sym3::diagonal(V3([mass; 3])).plus(levers);
    let apart = (poses[0].position - poses[1].position) + (arms[0] - arms[1]);
    Prepared { arms, inverse: inverse(&block), bias: apart * drift }
}

/// Inverse by cofactors; zero where there is none, as between two bodies that nothing moves.
fn inverse<R: Real>(s: &Sym3<R>) -> Sym3<R> {
    let [xx, yy, zz, xy, xz, yz] = s.0;
    let c00 = yy * zz - yz * yz;
    let c01 = xz * yz - xy * zz;
    let c02 = xy * yz - xz * yy;
    let determinant = xx * c00 + xy * c01 + xz * c02;
    if determinant > R::ZERO {
        let cofactors =
            Sym3([c00, xx * zz - xz * xz, xx * yy - xy * xy, c01, c02, xy * xz - xx * yz]);
        cofactors.times(R::ONE / determinant)
    } else {
        Sym3::ZERO
    }
}

/// `update_multipliers`: `lambda += A_ll^-1 (J_l V + bias) / h`.
pub(crate) fn multiplier<R: Real>(
    prepared: &Prepared<R>,
    lambda: V3<R>,
    velocities: [&Velocity<R>; 2],
    rate: R,
) -> V3<R> {
    let [a, b] = velocities;
    let [arm_a, arm_b] = prepared.arms;
    let closing = (a.linear - b.linear) + (a.angular.cross(arm_a) - b.angular.cross(arm_b));
    lambda + prepared.inverse.apply(closing + prepared.bias) * rate
}

/// `update_velocities`: `V = V* - h M^-1 J^T lambda`, summed over the joints of one body in their order.
pub(crate) fn velocity<R: Real>(
    mass: &Mass<R>,
    free: &Velocity<R>,
    inertia: &Sym3<R>,
    ends: &[u32],
    prepared: &[Prepared<R>],
    multipliers: &[V3<R>],
    h: R,
) -> Velocity<R> {
    let (mut force, mut torque) = (V3::ZERO, V3::ZERO);
    for &end in ends {
        let (joint, side) = ((end / 2) as usize, (end % 2) as usize);
        let lambda = multipliers[joint];
        // On A it acts along -lambda, on B along lambda.
        let push = if side == 0 { -lambda } else { lambda };
        force += push;
        torque += prepared[joint].arms[side].cross(push);
    }
    Velocity {
        linear: free.linear + force * (h * mass.inverse_mass),
        angular: free.angular + inertia.apply(torque) * h,
    }
}

/// `compute_positions`: where a node gets within the step that has this pose at its start, and these velocities
/// then and solved. `turn` is that of a driven body.
pub(crate) fn moved<R: Real>(
    kind: NodeKind,
    pose: &Pose<R>,
    [start, solved]: [&Velocity<R>; 2],
    turn: impl FnOnce() -> Q4<R>,
    h: R,
) -> (Pose<R>, Velocity<R>) {
    let Pose { position, rotation } = *pose;
    match kind {
        NodeKind::Held => (*pose, *start),
        NodeKind::Driven => {
            let rotation = turn().times(rotation).normalised();
            (Pose { position: position + start.linear * h, rotation }, *start)
        }
        NodeKind::Body | NodeKind::Particle => {
            let rotation = rotation.advanced(solved.angular * h);
            (Pose { position: position + solved.linear * h, rotation }, *solved)
        }
    }
}
