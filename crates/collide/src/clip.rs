//! A quadrilateral clipped to a rectangle (Sutherland and Hodgman), with names for its corners.

use taut_core::Vec3;

/// A corner of a polygon.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corner {
    /// Coordinates in the plane of the rectangle, and the height above it [m].
    pub(crate) at: Vec3,
    /// Which corner, or which two edges meet in it.
    pub(crate) id: u32,
    /// Which edge leads to the next corner: of the quadrilateral, or a side of the rectangle.
    edge: u32,
}

/// Edges from here on are sides of the rectangle.
const SIDES: u32 = 64;
/// What two edges meet in is told from a corner by this bit.
const MEETING: u32 = 1 << 16;

/// Up to eight corners: each of four sides adds one at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polygon {
    corners: [Corner; 8],
    count: usize,
}

impl Polygon {
    /// A quadrilateral from its corners in order, with a number below eight for each.
    pub(crate) fn new(quadrilateral: [(Vec3, u32); 4]) -> Self {
        let mut corners = [Corner::default(); 8];
        for (k, &(at, id)) in quadrilateral.iter().enumerate() {
            let next = quadrilateral[(k + 1) % 4].1;
            corners[k] = Corner { at, id, edge: id.min(next) << 3 | id.max(next) };
        }
        Self { corners, count: 4 }
    }

    /// Its corners.
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners[..self.count]
    }

    /// Keeps what is between `-half` and `half` along x (axis 0) or y (axis 1). Corners that are
    /// outside by no more than `slack` stay as they are.
    pub(crate) fn clip(&mut self, axis: usize, half: f64, slack: f64) {
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let beyond = |corner: &Corner| corner.at[axis] * sign - half;
            if self.corners().iter().all(|corner| beyond(corner) <= slack) {
                continue;
            }
            let label = SIDES + 2 * axis as u32 + side;
            let meet = |from: &Corner, to: &Corner| {
                let (start, end) = (beyond(from), beyond(to));
                // A corner inside by its slack only is where the edge ends, not where its line meets the side.
                let share = (start / (start - end)).clamp(0.0, 1.0);
                let at = from.at + (to.at - from.at) * share;
                let id = MEETING | from.edge.min(label) << 8 | from.edge.max(label);
                (at, id)
            };
            let old = *self;
            self.count = 0;
            for (k, from) in old.corners().iter().enumerate() {
                let to = &old.corners[(k + 1) % old.count];
                let (inside, next_inside) = (beyond(from) <= slack, beyond(to) <= slack);
                if inside {
                    self.push(*from);
                }
                if inside != next_inside {
                    let (at, id) = meet(from, to);
                    self.push(Corner { at, id, edge: if inside { label } else { from.edge } });
                }
            }
        }
    }

    fn push(&mut self, corner: Corner) {
        // Slack can let a thin polygon cross a side more often than twice.
        if self.count < self.corners.len() {
            self.corners[self.count] = corner;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f64, turn: f64) -> Polygon {
        let (sin, cos) = turn.sin_cos();
        let corner = |x: f64, y: f64| Vec3::new(cos * x - sin * y, sin * x + cos * y, x) * half;
        Polygon::new([
            (corner(1.0, 1.0), 0),
            (corner(-1.0, 1.0), 1),
            (corner(-1.0, -1.0), 2),
            (corner(1.0, -1.0), 3),
        ])
    }

    fn clipped(mut polygon: Polygon, half: [f64; 2]) -> Polygon {
        polygon.clip(0, half[0], 1e-9);
        polygon.clip(1, half[1], 1e-9);
        polygon
    }

    #[test]
    fn a_square_turned_by_an_eighth_becomes_an_octagon() {
        let octagon = clipped(square(1.0, std::f64::consts::FRAC_PI_4), [1.0, 1.0]);
        assert_eq!(octagon.corners().len(), 8);
        let mut ids: Vec<u32> = octagon.corners().iter().map(|c| c.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 8, "each corner has its own name");
        for corner in octagon.corners() {
            let (x, y) = (corner.at.x, corner.at.y);
            // The height is linear in the plane: that of the square's own x.
            assert!((corner.at.z - (x + y) * 0.5_f64.sqrt()).abs() < 1e-12);
            assert!((x.abs().max(y.abs()) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_squares_keep_their_corners() {
        let same = clipped(square(1.0, 1e-12), [1.0, 1.0]);
        assert_eq!(same.corners().iter().map(|c| c.id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn an_edge_along_a_side_within_the_slack_stays_as_long_as_it_is() {
        // Both ends are outside, one by less than the slack: the edge's line meets the side far away.
        let (half, slack) = (1.0, 1e-6);
        let at = |x: f64, y: f64| Vec3::new(x, y, 0.01 * y);
        let (less, more) = (half + 0.9 * slack, half + 1.1 * slack);
        for corners in [[less, more], [more, less]] {
            let mut polygon = Polygon::new([
                (at(corners[0], 0.5), 0),
                (at(0.0, 0.5), 1),
                (at(0.0, -0.5), 2),
                (at(corners[1], -0.5), 3),
            ]);
            polygon.clip(0, half, slack);
            assert!(polygon.corners().iter().all(|corner| corner.at.y.abs() <= 0.5));
            assert!(polygon.corners().iter().all(|corner| corner.at.z.abs() <= 0.005));
        }
    }

    #[test]
    fn inside_and_outside() {
        let inside = clipped(square(3.0, 0.3), [1.0, 0.5]);
        assert_eq!(inside.corners().len(), 4);
        assert!(inside.corners().iter().all(|c| c.id & MEETING != 0));
        let mut away = square(0.1, 0.0);
        away.corners.iter_mut().for_each(|c| c.at.x += 5.0);
        assert!(clipped(away, [1.0, 1.0]).corners().is_empty());
    }
}
