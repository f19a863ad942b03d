//! Faces, edges and corners of convex cores, as they lie in a common frame.

use std::f64::consts::FRAC_PI_4;

use taut_core::Vec3;

use crate::{hull::Hull, solid::Core, transform::Transform};

/// What a feature is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outline {
    /// One corner.
    #[default]
    Point,
    /// Two corners.
    Segment,
    /// A convex loop of corners, counterclockwise about the normal.
    Polygon,
    /// A disc; the corners are points on its rim.
    Disc,
}

/// One feature of a core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    /// What it is.
    pub(crate) outline: Outline,
    /// Corners [m].
    pub(crate) corners: Vec<Vec3>,
    /// A number for each corner that no other corner of the core has.
    pub(crate) ids: Vec<u32>,
    /// Outward unit normal of a polygon or disc.
    pub(crate) normal: Vec3,
    /// Centre of a disc [m].
    pub(crate) centre: Vec3,
    /// Radius of a disc [m].
    pub(crate) radius: f64,
}

/// Discs tilted by less have no lowest point on their rim: it would run around with the rounding [rad].
const TILT_MIN: f64 = 1e-4;
/// Points on the rim of a disc that are fixed to the body.
const RIM: u32 = 8;

impl Feature {
    fn clear(&mut self, outline: Outline) {
        self.outline = outline;
        self.corners.clear();
        self.ids.clear();
    }

    fn push(&mut self, corner: Vec3, id: u32) {
        self.corners.push(corner);
        self.ids.push(id);
    }

    /// Becomes the feature of a core that meets a plane coming from `direction` (of unit length) first,
    /// with everything that could touch when the plane tilts a little.
    pub(crate) fn support(&mut self, core: &Core, place: &Transform, direction: &Vec3) {
        let local = place.unturn(direction);
        match core {
            Core::Point => {
                self.clear(Outline::Point);
                self.push(place.position, 0);
            }
            Core::Segment { half } => self.axis_line(place, *half, &Vec3::zeros()),
            Core::Box { half } => {
                let axis = local.iamax();
                self.box_face(half, place, axis, local[axis] >= 0.0);
            }
            // A cylinder lies on its side or stands on an end, whichever is nearer.
            Core::Cylinder { radius, half } if local.z.abs() < 0.5 => {
                let across = Vec3::new(local.x, local.y, 0.0);
                self.axis_line(place, *half, &(across * (radius / across.norm())));
            }
            Core::Cylinder { radius, half } => {
                self.disc(*radius, *half, place, local.z >= 0.0, direction);
            }
            Core::Hull(hull) => self.hull_face(hull, place, hull.support_face(&local)),
            Core::Triangle(corners) => self.triangle(corners, place),
        }
    }

    /// Becomes the face of a core with this index, as counted by [`faces`]; `direction` is where the
    /// other body is.
    pub(crate) fn face(&mut self, core: &Core, place: &Transform, index: usize, direction: &Vec3) {
        match core {
            Core::Box { half } => self.box_face(half, place, index / 2, index.is_multiple_of(2)),
            Core::Cylinder { radius, half } => {
                self.disc(*radius, *half, place, index == 0, direction);
            }
            Core::Hull(hull) => self.hull_face(hull, place, index),
            Core::Triangle(corners) => self.triangle(corners, place),
            Core::Point | Core::Segment { .. } => self.support(core, place, direction),
        }
    }

    /// Becomes a line parallel to the local z axis, `across` from it.
    fn axis_line(&mut self, place: &Transform, half: f64, across: &Vec3) {
        self.clear(Outline::Segment);
        let along = Vec3::new(0.0, 0.0, half);
        self.push(place.point(&(across - along)), 0);
        self.push(place.point(&(across + along)), 1);
    }

    fn box_face(&mut self, half: &Vec3, place: &Transform, axis: usize, upper: bool) {
        self.clear(Outline::Polygon);
        let sign = if upper { 1.0 } else { -1.0 };
        self.normal = place.axis(axis) * sign;
        // Counterclockwise about the outward normal, which turns over for the lower face.
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (su, sv) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let mut corner = *half;
            corner[axis] *= sign;
            corner[u] *= su * sign;
            corner[v] *= sv;
            let id = (0..3).map(|k| u32::from(corner[k] > 0.0) << k).sum();
            self.push(place.point(&corner), id);
        }
    }

    fn disc(&mut self, radius: f64, half: f64, place: &Transform, upper: bool, direction: &Vec3) {
        self.clear(Outline::Disc);
        let z = if upper { half } else { -half };
        self.normal = place.axis(2) * z.signum();
        self.centre = place.point(&Vec3::new(0.0, 0.0, z));
        self.radius = radius;
        let across = direction - self.normal * self.normal.dot(direction);
        let tilt = across.norm();
        if tilt > TILT_MIN {
            self.push(self.centre + across * (radius / tilt), RIM);
        }
        for k in 0..RIM {
            let (sin, cos) = (f64::from(k) * FRAC_PI_4).sin_cos();
            self.push(place.point(&Vec3::new(radius * cos, radius * sin, z)), k);
        }
    }

    fn hull_face(&mut self, hull: &Hull, place: &Transform, index: usize) {
        self.clear(Outline::Polygon);
        let face = &hull.faces[index];
        self.normal = place.turn(&face.normal);
        for &corner in &face.corners {
            self.push(place.point(&hull.points[corner as usize]), corner);
        }
    }

    fn triangle(&mut self, corners: &[Vec3; 3], place: &Transform) {
        self.clear(Outline::Polygon);
        self.normal = place.turn(&normal(corners));
        for (corner, id) in corners.iter().zip(0..) {
            self.push(place.point(corner), id);
        }
    }
}

/// Unit normal of a triangle, on the side from which it runs counterclockwise.
pub(crate) fn normal(corners: &[Vec3; 3]) -> Vec3 {
    let [a, b, c] = corners;
    (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vec3::z)
}

/// Calls `visit` with the index, the local outward normal and the offset [m] of each flat face.
pub(crate) fn faces(core: &Core, mut visit: impl FnMut(usize, Vec3, f64)) {
    match core {
        Core::Point | Core::Segment { .. } => {}
        Core::Box { half } => {
            for i in 0..6 {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                visit(i, Vec3::ith(i / 2, sign), half[i / 2]);
            }
        }
        Core::Cylinder { half, .. } => {
            visit(0, Vec3::z(), *half);
            visit(1, -Vec3::z(), *half);
        }
        Core::Hull(hull) => {
            for (i, face) in hull.faces.iter().enumerate() {
                visit(i, face.normal, face.offset);
            }
        }
        Core::Triangle(corners) => {
            let normal = normal(corners);
            visit(0, normal, normal.dot(&corners[0]));
        }
    }
}

/// The straight line on the surface of a core that meets a plane coming from `direction` first, if
/// there is one within about three degrees of the plane: its ends [m] and a number for it.
pub(crate) fn edge(core: &Core, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
    const SLOPE: f64 = 0.05;
    let local = place.unturn(direction);
    let line = |middle: Vec3, along: Vec3, id| {
        Some(([place.point(&(middle - along)), place.point(&(middle + along))], id))
    };
    match core {
        Core::Point => None,
        Core::Segment { half } => {
            (local.z.abs() <= SLOPE).then(|| line(Vec3::zeros(), Vec3::new(0.0, 0.0, *half), 0))?
        }
        Core::Box { half } => {
            let axis = local.iamin();
            if local[axis].abs() > SLOPE {
                return None;
            }
            let mut middle = half.zip_map(&local, |h, d| if d < 0.0 { -h } else { h });
            middle[axis] = 0.0;
            let id = (0..3).map(|k| u32::from(middle[k] > 0.0) << k).sum::<u32>();
            line(middle, Vec3::ith(axis, half[axis]), id << 2 | axis as u32)
        }
        Core::Cylinder { radius, half } => {
            let across = Vec3::new(local.x, local.y, 0.0);
            let middle = across * (radius / across.norm());
            (local.z.abs() <= SLOPE).then(|| line(middle, Vec3::new(0.0, 0.0, *half), 0))?
        }
        Core::Hull(hull) => {
            let corners = hull.support_edge(&local)?;
            let [p, q] = corners.map(|c| hull.points[c as usize]);
            let level = (q - p).dot(&local).abs() <= SLOPE * (q - p).norm();
            let [low, high] = [corners[0].min(corners[1]), corners[0].max(corners[1])];
            level.then(|| ([place.point(&p), place.point(&q)], low << 16 | high))
        }
        Core::Triangle(corners) => {
            let ends = |k: usize| [corners[k], corners[(k + 1) % 3]];
            let height = |k: usize| {
                let [p, q] = ends(k);
                p.dot(&local) + q.dot(&local)
            };
            let best = (1..3).fold(0, |best, k| if height(k) > height(best) { k } else { best });
            let [p, q] = ends(best);
            let level = (q - p).dot(&local).abs() <= SLOPE * (q - p).norm();
            level.then(|| ([place.point(&p), place.point(&q)], best as u32))
        }
    }
}
