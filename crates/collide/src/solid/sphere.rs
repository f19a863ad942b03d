//! The core of a sphere: its centre.

use taut_core::Vec3;

use super::Solid;
use crate::{
    feature::{Feature, Outline},
    nearest::Nearest,
    transform::Transform,
};

/// The origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Centre;

impl Solid for Centre {
    fn support(&self, _direction: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn meet(&self, place: &Transform, _direction: &Vec3, feature: &mut Feature) {
        feature.clear(Outline::Point);
        feature.push(place.position, 0);
    }

    fn edge(&self, _place: &Transform, _direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        None
    }

    fn edges(&self, mut visit: impl FnMut([Vec3; 2], u32)) {
        visit([Vec3::zeros(); 2], 0);
    }

    fn nearest(&self, point: &Vec3) -> Nearest {
        Nearest::outside(point, Vec3::zeros(), Vec3::z())
    }

    fn reach(&self, _half: &Vec3) -> f64 {
        0.0
    }

    fn tight(&self, _place: &Transform) -> Option<Vec3> {
        Some(Vec3::zeros())
    }
}
