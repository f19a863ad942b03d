//! Fewer points for one patch of contact: the deepest, and those that span the largest area.

use taut_core::Vec3;

use crate::region::Point;

/// Points deeper than the others by less than this share of the size are not preferred: which of them
/// is deepest changes with the rounding, and what is learned of a point is lost with it.
const LEVEL: f64 = 1e-3;
/// By how much a later candidate must be better, so that ties go to the first.
const TIE: f64 = 1.0 + 1e-6;

/// Moves the points to keep to the front, in their order, and says how many they are. `forward` is
/// any direction that moves with the bodies: it breaks ties; `size` [m] scales tolerances.
pub(crate) fn reduce(
    points: &mut [Point],
    normal: &Vec3,
    forward: &Vec3,
    size: f64,
    max: usize,
) -> usize {
    if points.len() <= max || max == 0 {
        return points.len().min(max);
    }
    let flat = |a: &Point, b: &Point| {
        let between = a.a - b.a;
        between - normal * normal.dot(&between)
    };
    let deepest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    let level = if max == 1 { 0.0 } else { LEVEL * size };
    best(points, 0, |p| {
        (p.gap <= deepest + level).then(|| p.a.dot(forward) - points[0].a.dot(forward))
    })
    .into_iter()
    .for_each(|i| points[..=i].rotate_right(1));
    let mut kept = 1;
    while kept < max {
        let (front, rest) = points.split_at(kept);
        let distance = |p: &Point| {
            front.iter().map(|q| flat(p, q).norm_squared()).fold(f64::INFINITY, f64::min)
        };
        let next = match front {
            [a, b] => {
                let area = |p: &Point| flat(p, a).cross(&flat(p, b)).norm();
                best(rest, 0, |p| Some(area(p)))
            }
            [a, b, c] => {
                // What a fourth corner adds is the triangle beyond the edge that it is outside of.
                let turn = flat(b, a).cross(&flat(c, a)).dot(normal).signum();
                let beyond = |p: &Point, q: &Point, r: &Point| {
                    -flat(q, p).cross(&flat(r, p)).dot(normal) * turn
                };
                let added = |p: &Point| beyond(p, a, b).max(beyond(p, b, c)).max(beyond(p, c, a));
                best(rest, 0, |p| Some(added(p)))
            }
            _ => best(rest, 0, |p| Some(distance(p))),
        };
        let Some(next) = next else { break };
        points[kept..=kept + next].rotate_right(1);
        kept += 1;
    }
    kept
}

/// The first index with the highest score, of those that have one.
fn best(points: &[Point], first: usize, score: impl Fn(&Point) -> Option<f64>) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (i, point) in points.iter().enumerate().skip(first) {
        let Some(score) = score(point) else { continue };
        let better = best.is_none_or(|(_, highest)| {
            score > highest && (score > highest * TIE || highest <= 0.0)
        });
        if better {
            best = Some((i, score));
        }
    }
    best.map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[(f64, f64, f64)]) -> Vec<Point> {
        let point = |&(x, y, gap): &(f64, f64, f64)| {
            let b = Vec3::new(x, y, 0.0);
            Point { a: b + Vec3::z() * gap, b, gap, id: 0 }
        };
        list.iter().map(point).collect()
    }

    fn kept(list: &[(f64, f64, f64)], max: usize) -> Vec<(f64, f64)> {
        let mut points = points(list);
        let count = reduce(&mut points, &Vec3::z(), &Vec3::new(0.8, 0.6, 0.0), 1.0, max);
        points[..count].iter().map(|p| (p.a.x, p.a.y)).collect()
    }

    #[test]
    fn corners_stay_and_what_is_between_them_goes() {
        let square = [
            (0.0, 0.0, 0.0),
            (0.5, 0.1, 0.0),
            (1.0, 0.0, 0.0),
            (1.0, 1.0, 0.0),
            (0.5, 0.9, 0.0),
            (0.0, 1.0, 0.0),
        ];
        let mut corners = kept(&square, 4);
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(corners, [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]);
    }

    #[test]
    fn the_deepest_stays() {
        let mut list: Vec<_> = (0..8)
            .map(|k| {
                let angle = f64::from(k) * std::f64::consts::FRAC_PI_4;
                (angle.cos(), angle.sin(), 0.0)
            })
            .collect();
        list.insert(3, (0.1, 0.2, -0.05));
        for max in 1..=5 {
            let left = kept(&list, max);
            assert_eq!((left.len(), left[0]), (max, (0.1, 0.2)));
        }
    }

    #[test]
    fn rounding_does_not_change_the_choice() {
        let octagon = |noise: f64| -> Vec<_> {
            (0..8)
                .map(|k| {
                    let angle = f64::from(k) * std::f64::consts::FRAC_PI_4;
                    (angle.cos(), angle.sin(), if k % 2 == 0 { noise } else { -noise })
                })
                .collect()
        };
        assert_eq!(kept(&octagon(1e-9), 4), kept(&octagon(-1e-9), 4));
    }
}
