//! Boxes, with their faces and edges.

use taut_core::Vec3;

use super::{LEVEL, Solid, line, side};
use crate::{
    feature::{Feature, Outline},
    nearest::Nearest,
    transform::Transform,
};

/// Half extents along the axes [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuboid {
    pub(crate) half: Vec3,
}

impl Cuboid {
    fn side(&self, place: &Transform, axis: usize, upper: bool, feature: &mut Feature) {
        feature.clear(Outline::Polygon);
        let sign = if upper { 1.0 } else { -1.0 };
        feature.normal = place.axis(axis) * sign;
        // Counterclockwise about the outward normal, which turns over for the lower face.
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (su, sv) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let mut corner = self.half;
            corner[axis] *= sign;
            corner[u] *= su * sign;
            corner[v] *= sv;
            let id = (0..3).map(|k| u32::from(corner[k] > 0.0) << k).sum();
            feature.push(place.point(&corner), id);
        }
    }
}

impl Solid for Cuboid {
    fn support(&self, direction: &Vec3) -> Vec3 {
        self.half.zip_map(direction, |extent, along| side(along, extent))
    }

    fn meet(&self, place: &Transform, direction: &Vec3, feature: &mut Feature) {
        let local = place.unturn(direction);
        let axis = local.iamax();
        self.side(place, axis, local[axis] >= 0.0, feature);
    }

    fn face(&self, place: &Transform, index: usize, _direction: &Vec3, feature: &mut Feature) {
        self.side(place, index / 2, index.is_multiple_of(2), feature);
    }

    fn faces(&self, mut visit: impl FnMut(usize, Vec3, f64)) {
        for i in 0..6 {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            visit(i, Vec3::ith(i / 2, sign), self.half[i / 2]);
        }
    }

    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        let local = place.unturn(direction);
        let axis = local.iamin();
        if local[axis].abs() > LEVEL {
            return None;
        }
        let mut middle = self.support(&local);
        middle[axis] = 0.0;
        let id = (0..3).map(|k| u32::from(middle[k] > 0.0) << k).sum::<u32>();
        Some((line(place, middle, Vec3::ith(axis, self.half[axis])), id << 2 | axis as u32))
    }

    fn edges(&self, mut visit: impl FnMut([Vec3; 2], u32)) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (su, sv) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
                let mut end = self.half;
                end[u] *= su;
                end[v] *= sv;
                let mut start = end;
                start[axis] = -end[axis];
                let id = (0..3).map(|k| u32::from(k != axis && end[k] > 0.0) << k).sum::<u32>();
                visit([start, end], id << 2 | axis as u32);
            }
        }
    }

    fn nearest(&self, point: &Vec3) -> Nearest {
        let half = &self.half;
        let clamped = point.zip_map(half, |x, h| x.clamp(-h, h));
        if clamped != *point {
            return Nearest::outside(point, clamped, Vec3::z());
        }
        let depth = half - point.abs();
        let axis = depth.imin();
        let sign = side(point[axis], 1.0);
        let mut surface = *point;
        surface[axis] = sign * half[axis];
        Nearest { surface, normal: Vec3::ith(axis, sign), distance: -depth[axis] }
    }
}
