//! The spines of round bodies: the points and segments around which spheres, capsules and cylinders are swept.
//!
//! A body that turns about its spine moves its surface past itself. A point that is fixed to the surface goes round
//! with it, and where it goes the gap is no longer told; the point of the spine behind it stays, and the gap is its
//! distance less the radius. A normal through the spine has the same arm about both, so that forces are the same.
//! Rims and faces of a cylinder have no spine behind them, but are as round: there the point stays, and the body spins on
//! below it.

use taut_core::{Mat3, Quat, Scene, Vec3, math::polar_rotation, scene::Shape};
use taut_model::Csr;

/// How far from a spine the point behind a contact may lie to be on it, in radii [1].
const ON_SPINE: f64 = 1e-6;

/// One spine, in body coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spine {
    middle: Vec3,
    /// From the middle to an end; zero where it is a point [m].
    half: Vec3,
    radius: f64,
    /// Whether its ends are cut off flat, so that it is round across the spine only.
    flat: bool,
    /// Whether the body is nothing else.
    whole: bool,
}

impl Spine {
    /// That of a shape with its origin at `middle` [m]; none where it is not round, or made of several.
    fn of(shape: &Shape, middle: Vec3, rotation: Quat) -> Option<Self> {
        let (radius, half, flat) = match *shape {
            Shape::Sphere { radius } => (radius, 0.0, false),
            Shape::Capsule { radius, half_length } => (radius, half_length, false),
            Shape::Cylinder { radius, half_length } => (radius, half_length, true),
            _ => return None,
        };
        Some(Self { middle, half: rotation * (Vec3::z() * half), radius, flat, whole: true })
    }

    /// Where a spine lies behind a point of a surface, if it does in the direction `inwards` [m].
    fn behind(&self, anchor: &Vec3, inwards: &Vec3) -> Option<Vec3> {
        if self.flat && inwards.dot(&self.half).abs() > ON_SPINE * self.half.norm() {
            return None;
        }
        let point = anchor + inwards * self.radius;
        let from = point - self.middle;
        let length = self.half.norm_squared();
        let share = if length > 0.0 { from.dot(&self.half) / length } else { 0.0 };
        let aside = from - self.half * share.clamp(-1.0, 1.0);
        (aside.norm() <= ON_SPINE * self.radius).then_some(point)
    }
}

/// How a body may turn and take up the same room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Roundness {
    /// Not at all.
    Not,
    /// About an axis: a point of it [m], and its direction.
    About([Vec3; 2]),
    /// As a ball does.
    Any,
}

/// The spines of all bodies of a scene.
#[derive(Default)]
pub(super) struct Spines {
    of: Csr<Spine>,
}

impl Spines {
    pub(super) fn new(scene: &Scene) -> Self {
        let spines = (0..).zip(&scene.bodies).flat_map(|(body, of)| {
            let parts = match &of.shape {
                Shape::Compound { parts } => &parts[..],
                _ => &[],
            };
            let alone = Spine::of(&of.shape, Vec3::zeros(), Quat::identity());
            let whole = parts.len() == 1;
            let parts = parts.iter().filter_map(move |p| {
                let spine = Spine::of(&p.shape, p.position, p.rotation)?;
                Some(Spine { whole, ..spine })
            });
            alone.into_iter().chain(parts).map(move |spine| (body, spine))
        });
        Self { of: Csr::new(scene.bodies.len(), spines) }
    }

    /// Whether any of a body's parts is round.
    pub(super) fn has(&self, body: u32) -> bool {
        !self.of.of(body as usize).is_empty()
    }

    /// How a body may turn and be where it was, in body coordinates.
    pub(super) fn roundness(&self, body: u32) -> Roundness {
        match self.of.of(body as usize) {
            [Spine { middle, half, whole: true, .. }] => half
                .try_normalize(0.0)
                .map_or(Roundness::Any, |along| Roundness::About([*middle, along])),
            _ => Roundness::Not,
        }
    }

    /// The point of a spine of a body behind a point of its surface [m], both in body coordinates, as is the unit vector
    /// `inwards`.
    pub(super) fn behind(&self, body: u32, anchor: &Vec3, inwards: &Vec3) -> Option<Vec3> {
        self.of.of(body as usize).iter().find_map(|spine| spine.behind(anchor, inwards))
    }
}

/// A point of a body's rim or face that stays where it is while the body spins about its axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rim {
    /// The contact, and the side of it.
    pub(super) point: u32,
    pub(super) side: u8,
    pub(super) node: u32,
    /// The point when it was found, a point of the axis and its direction, in principal coordinates [m].
    pub(super) found: Vec3,
    pub(super) axis: [Vec3; 2],
    /// How the body was turned then.
    pub(super) rotation: Quat,
}

impl Rim {
    /// Where the point lies on the body in a `frame` of it, in principal coordinates [m].
    pub(super) fn core(&self, frame: &Mat3) -> Vec3 {
        let turn = self.rotation.inverse() * polar_rotation(frame);
        let [middle, along] = self.axis;
        let spin = 2.0 * turn.imag().dot(&along).atan2(turn.scalar());
        middle + Quat::from_scaled_axis(along * -spin) * (self.found - middle)
    }
}
