//! The core of a capsule: a segment.

use taut_core::Vec3;

use super::{LEVEL, Solid, line, side};
use crate::{
    feature::Feature,
    nearest::{Nearest, direction},
    transform::Transform,
};

/// From `-half` to `half` on z [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) half: f64,
}

impl Solid for Segment {
    fn support(&self, direction: &Vec3) -> Vec3 {
        Vec3::new(0.0, 0.0, side(direction.z, self.half))
    }

    fn meet(&self, place: &Transform, _direction: &Vec3, feature: &mut Feature) {
        feature.axis_line(place, self.half, &Vec3::zeros());
    }

    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        let local = place.unturn(direction);
        let along = Vec3::new(0.0, 0.0, self.half);
        (local.z.abs() <= LEVEL).then(|| (line(place, Vec3::zeros(), along), 0))
    }

    fn edges(&self, mut visit: impl FnMut([Vec3; 2], u32)) {
        visit([Vec3::new(0.0, 0.0, -self.half), Vec3::new(0.0, 0.0, self.half)], 0);
    }

    fn nearest(&self, point: &Vec3) -> Nearest {
        let on = Vec3::new(0.0, 0.0, point.z.clamp(-self.half, self.half));
        Nearest::outside(point, on, Vec3::x())
    }

    /// Beside the axis, only what is across it counts.
    fn rounded(&self, place: &Transform, core: &Vec3, towards: &Vec3, round: f64) -> Vec3 {
        let axis = place.axis(2);
        let (along, at) = (axis.dot(towards), axis.dot(&(core - place.position)));
        // The outer half of either end is a sphere.
        if at * along > 0.0 && at.abs() >= self.half * (1.0 - 1e-9) {
            return core + towards * round;
        }
        let (across, _) = direction(&(towards - axis * along), *towards);
        core + across * round
    }

    fn reach(&self, _half: &Vec3) -> f64 {
        self.half
    }

    fn tight(&self, place: &Transform) -> Option<Vec3> {
        Some(place.axis(2).abs() * self.half)
    }
}
