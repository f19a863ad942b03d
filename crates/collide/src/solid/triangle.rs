//! One triangle of a surface, as a solid of no volume.

use taut_core::Vec3;

use super::{LEVEL, Solid};
use crate::{
    feature::{Feature, Outline},
    nearest::{Nearest, on_polygon},
    transform::Transform,
};

/// Three corners, counterclockwise seen from outside [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet(pub(crate) [Vec3; 3]);

/// Unit normal of a triangle, on the side from which it runs counterclockwise.
pub(crate) fn normal(corners: &[Vec3; 3]) -> Vec3 {
    let [a, b, c] = corners;
    (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vec3::z)
}

impl Solid for Facet {
    fn support(&self, direction: &Vec3) -> Vec3 {
        let along = self.0.map(|corner| corner.dot(direction));
        let [a, b, c] = along;
        self.0[if a >= b && a >= c {
            0
        } else if b >= c {
            1
        } else {
            2
        }]
    }

    fn meet(&self, place: &Transform, _direction: &Vec3, feature: &mut Feature) {
        feature.clear(Outline::Polygon);
        feature.normal = place.turn(&normal(&self.0));
        for (corner, id) in self.0.iter().zip(0..) {
            feature.push(place.point(corner), id);
        }
    }

    fn faces(&self, mut visit: impl FnMut(usize, Vec3, f64)) {
        let normal = normal(&self.0);
        visit(0, normal, normal.dot(&self.0[0]));
    }

    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        let local = place.unturn(direction);
        let ends = |k: usize| [self.0[k], self.0[(k + 1) % 3]];
        let height = |k: usize| {
            let [p, q] = ends(k);
            p.dot(&local) + q.dot(&local)
        };
        let best = (1..3).fold(0, |best, k| if height(k) > height(best) { k } else { best });
        let [p, q] = ends(best);
        let level = (q - p).dot(&local).abs() <= LEVEL * (q - p).norm();
        level.then(|| ([place.point(&p), place.point(&q)], best as u32))
    }

    /// It has a surface on both sides, but its inside is everything straight below.
    fn nearest(&self, point: &Vec3) -> Nearest {
        let normal = normal(&self.0);
        let height = normal.dot(&(point - self.0[0]));
        let (on, inside) = on_polygon(&self.0, &normal, point);
        if inside {
            Nearest { surface: on, normal, distance: height }
        } else {
            Nearest::outside(point, on, normal)
        }
    }
}
