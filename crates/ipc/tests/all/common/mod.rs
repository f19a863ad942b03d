//! Random pairs, the same in every run.

#![allow(dead_code, reason = "each test uses some of it")]

use taut_math::V3;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in -1..1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Uniform in 0..1.
    pub(crate) fn share(&mut self) -> f64 {
        0.5 + 0.5 * self.next()
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize % count
    }

    pub(crate) fn point(&mut self, size: f64) -> V3<f64> {
        V3([self.next() * size, self.next() * size, self.next() * size])
    }

    pub(crate) fn points(&mut self, size: f64) -> [V3<f64>; 4] {
        [0; 4].map(|_| self.point(size))
    }

    /// Edges `a0, a1, b0, b1` that cross at a distance, with the sine between them.
    pub(crate) fn crossing(&mut self, sine: f64, height: f64) -> [V3<f64>; 4] {
        let u = unit(self.point(1.0));
        let n = unit(u.cross(self.point(1.0)));
        let side = n.cross(u);
        let v = (u * (1.0 - sine * sine).sqrt() + side * sine) * (0.5 + self.share());
        let (s, t) = (0.1 + 0.8 * self.share(), 0.1 + 0.8 * self.share());
        let a = self.point(1.0);
        let b = a + u * s - v * t + n * height;
        [a, a + u, b, b + v]
    }

    /// A point over the inside of a triangle, `p, t0, t1, t2`.
    pub(crate) fn over(&mut self, height: f64) -> [V3<f64>; 4] {
        let [a, b, c, _] = self.points(1.0);
        let n = unit((b - a).cross(c - a));
        let (s, t) = (0.1 + 0.3 * self.share(), 0.1 + 0.3 * self.share());
        [a + (b - a) * s + (c - a) * t + n * height, a, b, c]
    }
}

pub(crate) fn unit(v: V3<f64>) -> V3<f64> {
    v * (1.0 / v.norm())
}

/// Four points as twelve numbers, one of them moved.
pub(crate) fn moved(points: &[V3<f64>; 4], i: usize, by: f64) -> [V3<f64>; 4] {
    let mut points = *points;
    points[i / 3].0[i % 3] += by;
    points
}

pub(crate) fn largest<const N: usize>(h: &[[f64; N]; N]) -> f64 {
    h.iter().flatten().fold(0.0, |a, b| a.max(b.abs()))
}
