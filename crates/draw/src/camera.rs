//! Where a picture is seen from: cameras that fit motion, and the way from the world to pixels.

mod fit;

use std::f64::consts::FRAC_PI_2;

use serde::{Deserialize, Serialize};
use taut_core::Vec3;

pub use fit::{Facing, MARGIN, MotionReach};

use crate::flat::Pixel;

/// Vertical angle of view where none is asked for [deg].
pub const FOV_DEG: f64 = 30.0;
/// Direction of the eye from what it sees where motion is in no plane: from the x axis about z [deg].
pub const AZIMUTH_DEG: f64 = -60.0;
/// The same, above the xy plane [deg].
pub const ELEVATION_DEG: f64 = 20.0;

/// Where a picture is seen from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// What is in the middle of the picture [m].
    pub target_m: [f64; 3],
    /// Direction of the eye from there, from the x axis about z [deg].
    pub azimuth_deg: f64,
    /// The same, above the xy plane, within a quarter turn [deg].
    pub elevation_deg: f64,
    /// How depth is shown.
    pub projection: Projection,
}

/// How depth is shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Projection {
    /// Not at all.
    Orthographic {
        /// What the height of the picture is in the world [m].
        height_m: f64,
    },
    /// What is farther is smaller.
    Perspective {
        /// Vertical angle of view [deg].
        fov_deg: f64,
        /// From the eye to the target [m].
        distance_m: f64,
    },
}

/// A point as it is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenPoint {
    /// Where in the picture, from its upper left corner [px]; may be outside.
    pub at: Pixel,
    /// Distance along the direction of view [m]: from the eye in perspective, else from the target. Not positive where
    /// a point in perspective is behind the eye, and then `at` means nothing.
    pub depth: f64,
    /// Pixels per metre across the direction of view at this depth.
    pub scale: f64,
}

/// A camera made ready for a picture of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Point from which coordinates count [m].
    pub target: Vec3,
    /// To the right in the picture; of unit length, as the next two.
    pub right: Vec3,
    /// Upwards in the picture.
    pub up: Vec3,
    /// From what is seen to the eye.
    pub towards: Vec3,
    /// Width and height of the picture [px].
    pub size: (f64, f64),
    /// From the eye to the target [m]; `None` where depth is not shown.
    pub distance: Option<f64>,
    /// Pixels per metre at the depth of the target.
    pub scale: f64,
}

impl Camera {
    /// Unit vectors to the right, upwards and towards the eye.
    pub fn axes(&self) -> [Vec3; 3] {
        let (az, el) = (self.azimuth_deg.to_radians(), self.elevation_deg.to_radians());
        let el = el.clamp(-FRAC_PI_2, FRAC_PI_2);
        // Rounding would tilt the views along the axes by parts in 1e16, which pictures of equal bytes show.
        let exact = |x: f64| if x.abs() < 1e-15 { 0.0 } else { x };
        let (sin_az, cos_az) = (exact(az.sin()), exact(az.cos()));
        let (sin_el, cos_el) = (exact(el.sin()), exact(el.cos()));
        let towards = Vec3::new(cos_el * cos_az, cos_el * sin_az, sin_el);
        let right = Vec3::new(-sin_az, cos_az, 0.0);
        [right, towards.cross(&right), towards]
    }

    /// The camera whose eye is at `from` and looks at `at` [m] in perspective; `None` where they are one point.
    pub fn between(at: Vec3, from: Vec3, fov_deg: f64) -> Option<Self> {
        let offset = from - at;
        let distance_m = offset.norm();
        (distance_m.is_finite() && distance_m > 0.0).then(|| Self {
            target_m: at.into(),
            azimuth_deg: offset.y.atan2(offset.x).to_degrees(),
            elevation_deg: (offset.z / distance_m).clamp(-1.0, 1.0).asin().to_degrees(),
            projection: Projection::Perspective { fov_deg, distance_m },
        })
    }
}

impl Lens {
    /// For a picture of so many pixels.
    pub fn new(camera: &Camera, size: (f64, f64)) -> Self {
        let [right, up, towards] = camera.axes();
        let (distance, scale) = match camera.projection {
            Projection::Orthographic { height_m } => (None, size.1 / height_m),
            Projection::Perspective { fov_deg, distance_m } => {
                let half = (0.5 * fov_deg.to_radians()).tan();
                (Some(distance_m), 0.5 * size.1 / (half * distance_m))
            }
        };
        let target = Vec3::from(camera.target_m);
        Self { target, right, up, towards, size, distance, scale }
    }

    /// Where a point of the world [m] is seen.
    pub fn project(&self, point: &Vec3) -> SeenPoint {
        let offset = point - self.target;
        let back = -self.towards.dot(&offset);
        let (depth, scale) = match self.distance {
            None => (back, self.scale),
            Some(distance) => (distance + back, self.scale * distance / (distance + back)),
        };
        let at = (
            0.5 * self.size.0 + scale * self.right.dot(&offset),
            0.5 * self.size.1 - scale * self.up.dot(&offset),
        );
        SeenPoint { at, depth, scale }
    }

    /// Direction from a point of the world to the eye, not of unit length.
    pub fn to_eye(&self, point: &Vec3) -> Vec3 {
        match self.distance {
            None => self.towards,
            Some(distance) => self.target + self.towards * distance - point,
        }
    }

    /// Whether a face through a point with an outward normal is seen from its outside.
    pub fn sees(&self, point: &Vec3, normal: &Vec3) -> bool {
        // Faces seen edge-on to rounding are no area, and would flicker.
        let to_eye = self.to_eye(point);
        normal.dot(&to_eye) > 1e-9 * to_eye.norm()
    }

    /// Components of a direction of the world: right, up and towards the eye.
    pub fn turned(&self, direction: &Vec3) -> Vec3 {
        Vec3::new(self.right.dot(direction), self.up.dot(direction), self.towards.dot(direction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front() -> Camera {
        Camera {
            target_m: [1.0, 5.0, 2.0],
            azimuth_deg: -90.0,
            elevation_deg: 0.0,
            projection: Projection::Orthographic { height_m: 4.0 },
        }
    }

    #[test]
    fn a_view_along_y_has_x_to_the_right_and_z_up() {
        let lens = Lens::new(&front(), (200.0, 100.0));
        assert_eq!(lens.project(&Vec3::new(1.0, 5.0, 2.0)).at, (100.0, 50.0));
        let seen = lens.project(&Vec3::new(2.0, 7.0, 3.0));
        assert_eq!((seen.at, seen.depth, seen.scale), ((125.0, 25.0), 2.0, 25.0));
        assert!(lens.sees(&Vec3::zeros(), &-Vec3::y()) && !lens.sees(&Vec3::zeros(), &Vec3::x()));
    }

    #[test]
    fn what_is_farther_is_smaller() {
        let at = Vec3::new(1.0, 2.0, 3.0);
        let camera = Camera::between(at, at + Vec3::new(0.0, -10.0, 0.0), FOV_DEG).unwrap();
        let lens = Lens::new(&camera, (300.0, 200.0));
        let [near, far] = [0.0, 10.0].map(|y| lens.project(&(at + Vec3::new(1.0, y, 0.0))));
        let half = 100.0 / (15f64.to_radians().tan() * 10.0);
        assert!((near.at.0 - (150.0 + half)).abs() < 1e-9 && (near.depth - 10.0).abs() < 1e-9);
        assert!((far.at.0 - (150.0 + 0.5 * half)).abs() < 1e-9 && (far.depth - 20.0).abs() < 1e-9);
        assert!(lens.project(&(at + Vec3::new(0.0, -11.0, 0.0))).depth < 0.0);
        assert!(Camera::between(at, at, FOV_DEG).is_none());
    }

    #[test]
    fn axes_are_right_handed_everywhere() {
        for (azimuth_deg, elevation_deg) in
            [(0.0, 0.0), (-60.0, 20.0), (200.0, -50.0), (-90.0, 90.0)]
        {
            let camera = Camera { azimuth_deg, elevation_deg, ..front() };
            let [right, up, towards] = camera.axes();
            assert!((right.cross(&up) - towards).norm() < 1e-12);
            assert!(up.z >= -1e-12);
        }
    }
}
