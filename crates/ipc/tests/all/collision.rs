//! Continuous collision: never late, apart on the whole way, and done in time.

use crate::common::{Random, unit};
use taut_ipc::{
    ccd::{
        Features, PairSweep, additive,
        additive::{StepRule, safe_share},
        cubic,
        curved::{RigidSweep, safe_share_of_arcs},
    },
    distance,
};
use taut_math::V3;

type Points = [V3<f64>; 4];

fn at(start: &Points, moves: &Points, t: f64) -> Points {
    [0, 1, 2, 3].map(|i| start[i] + moves[i] * t)
}

/// The first time in 0..1 at which the features touch, by signs of volumes on a fine grid; none where it sees none.
fn first_contact(features: Features, start: &Points, moves: &Points) -> Option<f64> {
    let volume = |x: &Points| (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0]));
    let touches = |x: &Points| {
        let kind = match features {
            Features::PointTriangle => distance::point_triangle(x),
            Features::EdgeEdge => distance::edge_edge(x),
        };
        kind.squared.sqrt() < 1e-9
    };
    const GRID: u32 = 400;
    for i in 0..GRID {
        let (mut from, mut to) = (f64::from(i) / 400.0, f64::from(i + 1) / 400.0);
        let sign = |t: f64| volume(&at(start, moves, t)) > 0.0;
        if sign(from) == sign(to) {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (from + to);
            if sign(middle) == sign(from) { from = middle } else { to = middle }
        }
        if touches(&at(start, moves, to)) {
            return Some(to);
        }
    }
    None
}

fn clear(features: Features, start: &Points, moves: &Points, until: f64) -> bool {
    (0..=50).all(|i| {
        let x = at(start, moves, until * f64::from(i) / 50.0);
        let near = match features {
            Features::PointTriangle => distance::point_triangle(&x),
            Features::EdgeEdge => distance::edge_edge(&x),
        };
        near.squared > 0.0
    })
}

/// Random motions of which a good part hit, between common and nearly flat ones, small and large.
fn motion(random: &mut Random, features: Features) -> (Points, Points) {
    let scale = 10_f64.powi(random.below(7) as i32 - 3);
    let flat = [1.0, 1.0, 1e-3, 1e-7][random.below(4)];
    let shared = scale * [0.0, 1.0, 100.0][random.below(3)];
    let common = random.point(shared);
    let mut start = random.points(1.0);
    if features == Features::EdgeEdge && random.below(3) == 0 {
        let sine = 10_f64.powi(-(random.below(9) as i32));
        start = random.crossing(sine, 0.1);
    }
    let moves = random.points(2.0);
    let squash = |v: V3<f64>| V3([v.0[0], v.0[1], v.0[2] * flat]) * scale;
    (start.map(squash), moves.map(|m| squash(m) + common))
}

#[test]
fn never_late() {
    let mut random = Random(1);
    for features in [Features::PointTriangle, Features::EdgeEdge] {
        let pick = |point: fn(&Points, &Points, f64) -> Option<f64>, edge| {
            if features == Features::PointTriangle { point } else { edge }
        };
        let methods = [
            ("additive", pick(additive::point_triangle, additive::edge_edge)),
            ("cubic", pick(cubic::point_triangle, cubic::edge_edge)),
        ];
        let (mut hits, mut missed) = (0, 0);
        for _ in 0..2000 {
            let (start, moves) = motion(&mut random, features);
            let exact = first_contact(features, &start, &moves);
            for (name, method) in methods {
                let told = method(&start, &moves, 1.0);
                let what =
                    format!("{name} {features:?}: {told:?} of {exact:?}, {start:?} {moves:?}");
                assert!(clear(features, &start, &moves, told.unwrap_or(1.0)), "{what}");
                if let Some(exact) = exact {
                    assert!(told.is_some_and(|told| 0.0 < told && told < exact), "{what}");
                    hits += 1;
                }
                missed += usize::from(exact.is_none() && told.is_none());
            }
        }
        assert!(hits > 150 && missed > 1000, "{hits} {missed}");
    }
}

#[test]
fn a_share_of_the_first_distance_is_left() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let (start, moves) = motion(&mut random, Features::PointTriangle);
        let before = distance::point_triangle(&start).squared.sqrt();
        for keep in [0.1, 0.01] {
            let rule = StepRule { keep, ..StepRule::default() };
            let sweep = PairSweep::new(Features::PointTriangle, &start, &moves);
            let t = safe_share(&sweep, 0.0, 1.0, rule).unwrap_or(1.0);
            let after = distance::point_triangle(&at(&start, &moves, t)).squared.sqrt();
            assert!(after > 0.999 * keep * before, "{after} of {before} at {t}");
        }
    }
}

#[test]
fn what_slides_along_or_leaves_is_free() {
    let mut random = Random(3);
    for height in [1e-3, 1e-7, 1e-11] {
        for _ in 0..50 {
            let start = random.over(height);
            let [_, a, b, c] = start;
            let n = unit((b - a).cross(c - a));
            let side = n.cross(random.point(1.0));
            for out in [0.0, 0.1] {
                let up = if n.dot(start[0] - a) > 0.0 { n * out } else { -n * out };
                // Exactly sideways only to rounding, which may not bring it nearer than it is.
                let moves = [side + up + n * 1e-3 * height, V3::ZERO, V3::ZERO, V3::ZERO];
                assert_eq!(additive::point_triangle(&start, &moves, 1.0), None, "{start:?}");
            }
        }
    }
}

#[test]
fn ends_of_the_range() {
    let start = [V3([0.2, 0.2, 1.0]), V3::ZERO, V3([1.0, 0.0, 0.0]), V3([0.0, 1.0, 0.0])];
    let fall = |way: f64| [V3([0.0, 0.0, -way]), V3::ZERO, V3::ZERO, V3::ZERO];
    let still = [V3([3.0, -5.0, 7.0]); 4];
    for method in [additive::point_triangle, cubic::point_triangle] {
        assert_eq!(method(&start, &still, 1.0), None, "all move alike");
        assert_eq!(method(&start, &fall(0.5), 1.0), None, "too short");
        assert!(method(&start, &fall(2.0), 1.0).is_some_and(|t| t > 0.4 && t < 0.5));
        assert_eq!(method(&start, &fall(2.0), 0.3), None, "cut off before");
        let mut touching = start;
        touching[0].0[2] = 0.0;
        assert_eq!(method(&touching, &fall(1.0), 1.0), Some(0.0));
        let unknown = fall(f64::NAN);
        assert_ne!(method(&start, &unknown, 1.0), Some(1.0), "it only has to end");
    }
    assert_eq!(additive::half_space(1.0, 1.0, 1.0, 1.0), None);
    assert_eq!(additive::half_space(1.0, -0.5, 1.0, 1.0), None);
    assert!(additive::half_space(1.0, -2.0, 1.0, 1.0).is_some_and(|t| t > 0.44 && t < 0.5));
}

/// A bar that turns by 60° passes over a point which the chords of its ends do not reach.
#[test]
fn straight_chords_of_a_turning_body_miss_what_its_arcs_hit() {
    let turn = std::f64::consts::FRAC_PI_3;
    let spin = RigidSweep { position: [V3::ZERO; 2], rotation: [V3::ZERO, V3([0.0, 0.0, turn])] };
    let rest = RigidSweep { position: [V3::ZERO; 2], rotation: [V3::ZERO; 2] };
    // At half of the turn the tip is 1 away from the axis along the arc, and cos(30°) along the chord.
    let (sine, cosine) = (0.5 * turn).sin_cos();
    let post = |z: f64| V3([0.95 * cosine, 0.95 * sine, z]);
    let corners = [V3([0.5, 0.0, 0.0]), V3([1.0, 0.0, 0.0]), post(-1.0), post(1.0)];
    let end = [0, 1].map(|i| spin.point(corners[i], 1.0));
    let moves = [end[0] - corners[0], end[1] - corners[1], V3::ZERO, V3::ZERO];
    assert_eq!(additive::edge_edge(&corners, &moves, 1.0), None);
    let told = safe_share_of_arcs(Features::EdgeEdge, &corners, &[spin, rest]);
    assert!(told.is_some_and(|t| t > 0.3 && t < 0.5), "{told:?}");
}

#[test]
fn arcs_are_never_late() {
    let mut random = Random(4);
    let mut hits = 0;
    for _ in 0..300 {
        let corners = random.points(1.0);
        let bodies = [0; 2].map(|_| RigidSweep {
            position: [random.point(1.0), random.point(1.0)],
            rotation: [random.point(2.0), random.point(2.0)],
        });
        let told = safe_share_of_arcs(Features::EdgeEdge, &corners, &bodies);
        let until = told.unwrap_or(1.0);
        let place = |t: f64| [0, 1, 2, 3].map(|i| bodies[usize::from(i > 1)].point(corners[i], t));
        let volume = |x: Points| (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) > 0.0;
        let first = distance::edge_edge(&place(0.0)).squared.sqrt();
        hits += usize::from(told.is_some());
        for i in 0..200 {
            let (from, to) = (f64::from(i) * until / 200.0, f64::from(i + 1) * until / 200.0);
            let least = distance::edge_edge(&place(to)).squared.sqrt();
            assert!(least > 0.01 * first, "{least} of {first} at {to}");
            // Features that pass through each other do so near to a sign change.
            if volume(place(from)) != volume(place(to)) {
                assert!(distance::edge_edge(&place(0.5 * (from + to))).squared > 0.0);
            }
        }
    }
    assert!(hits > 20, "{hits}");
}
