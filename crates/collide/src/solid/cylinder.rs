//! Cylinders, with the discs at their ends and lines on their sides.

use std::f64::consts::FRAC_PI_4;

use taut_core::Vec3;

use super::{LEVEL, Solid, line, side};
use crate::{
    feature::{Feature, Outline},
    nearest::{Nearest, direction},
    transform::Transform,
};

/// Discs tilted by less have no lowest point on their rim: it would run around with the rounding [rad].
const TILT_MIN: f64 = 1e-4;
/// Points on the rim of a disc that are fixed to the body.
const RIM: u32 = 8;

/// Along z, with half its length [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cylinder {
    pub(crate) radius: f64,
    pub(crate) half: f64,
}

impl Cylinder {
    fn disc(&self, place: &Transform, upper: bool, direction: &Vec3, feature: &mut Feature) {
        let Self { radius, half } = *self;
        feature.clear(Outline::Disc);
        let z = if upper { half } else { -half };
        feature.normal = place.axis(2) * z.signum();
        feature.centre = place.point(&Vec3::new(0.0, 0.0, z));
        feature.radius = radius;
        let across = direction - feature.normal * feature.normal.dot(direction);
        let tilt = across.norm();
        if tilt > TILT_MIN {
            feature.push(feature.centre + across * (radius / tilt), RIM);
        }
        for k in 0..RIM {
            let (sin, cos) = (f64::from(k) * FRAC_PI_4).sin_cos();
            feature.push(place.point(&Vec3::new(radius * cos, radius * sin, z)), k);
        }
    }

    /// The point of the rim that is farthest along a direction that is not z, at height zero.
    fn rim(&self, local: &Vec3) -> Vec3 {
        let across = Vec3::new(local.x, local.y, 0.0);
        across * (self.radius / across.norm())
    }
}

impl Solid for Cylinder {
    const CURVED: bool = true;

    fn support(&self, direction: &Vec3) -> Vec3 {
        let across = direction.x.hypot(direction.y);
        let scale = if across > 0.0 { self.radius / across } else { 0.0 };
        Vec3::new(direction.x * scale, direction.y * scale, side(direction.z, self.half))
    }

    /// It lies on its side or stands on an end, whichever is nearer.
    fn meet(&self, place: &Transform, direction: &Vec3, feature: &mut Feature) {
        let local = place.unturn(direction);
        if local.z.abs() < 0.5 {
            feature.axis_line(place, self.half, &self.rim(&local));
        } else {
            self.disc(place, local.z >= 0.0, direction, feature);
        }
    }

    fn face(&self, place: &Transform, index: usize, direction: &Vec3, feature: &mut Feature) {
        self.disc(place, index == 0, direction, feature);
    }

    fn faces(&self, mut visit: impl FnMut(usize, Vec3, f64)) {
        visit(0, Vec3::z(), self.half);
        visit(1, -Vec3::z(), self.half);
    }

    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        let local = place.unturn(direction);
        let along = Vec3::new(0.0, 0.0, self.half);
        (local.z.abs() <= LEVEL).then(|| (line(place, self.rim(&local), along), 0))
    }

    fn nearest(&self, point: &Vec3) -> Nearest {
        let Self { radius, half } = *self;
        let (out, across) = direction(&Vec3::new(point.x, point.y, 0.0), Vec3::x());
        let sign = side(point.z, 1.0);
        let (aside, above) = (across - radius, point.z.abs() - half);
        if aside > 0.0 || above > 0.0 {
            let on = out * across.min(radius) + Vec3::z() * point.z.clamp(-half, half);
            return Nearest::outside(point, on, Vec3::z() * sign);
        }
        if aside > above {
            let surface = out * radius + Vec3::z() * point.z;
            return Nearest { surface, normal: out, distance: aside };
        }
        let surface = Vec3::new(point.x, point.y, sign * half);
        Nearest { surface, normal: Vec3::z() * sign, distance: above }
    }

    fn reach(&self, _half: &Vec3) -> f64 {
        self.radius.hypot(self.half)
    }
}
