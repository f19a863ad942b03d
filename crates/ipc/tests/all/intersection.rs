//! Triangles on a coarse grid of whole numbers, where touching, coplanar and degenerate ones abound, against an exact
//! decision in integers.

use crate::common::Random;
use taut_ipc::intersect::{segment_meets_triangle, triangles_intersect};

type Whole = [i64; 3];

fn sub(a: Whole, b: Whole) -> Whole {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Whole, b: Whole) -> Whole {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Whole, b: Whole) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Two convex hulls have no common point if and only if the direction between their nearest points separates them, which
/// is one of these whatever features those lie on.
fn disjoint(a: &[Whole], b: &[Whole]) -> bool {
    let sides =
        |t: &[Whole]| (0..t.len()).map(|i| sub(t[(i + 1) % t.len()], t[i])).collect::<Vec<Whole>>();
    let (ea, eb) = (sides(a), sides(b));
    let mut axes: Vec<Whole> = a.iter().flat_map(|p| b.iter().map(|q| sub(*p, *q))).collect();
    let between = axes.clone();
    for e in ea.iter().chain(&eb) {
        axes.extend(between.iter().map(|w| cross(*e, cross(*w, *e))));
        axes.extend(ea.iter().chain(&eb).map(|f| cross(*e, *f)));
    }
    axes.iter().any(|axis| {
        let range = |t: &[Whole]| {
            let along = t.iter().map(|x| dot(*axis, *x));
            (along.clone().min().expect("a corner"), along.max().expect("a corner"))
        };
        let ((a_least, a_most), (b_least, b_most)) = (range(a), range(b));
        a_most < b_least || b_most < a_least
    })
}

fn corners<const N: usize>(random: &mut Random, size: usize, flat: bool) -> [Whole; N] {
    let mut number = || random.below(2 * size + 1) as i64 - size as i64;
    let plane = number() % 2;
    [0; N].map(|_| {
        let [x, y, z] = [number(), number(), number()];
        // In the plane z = x + y + c, which no axis is special to.
        if flat { [x, y, x + y + plane] } else { [x, y, z] }
    })
}

/// Scaled and moved by powers of two, so that nothing is rounded.
fn real(x: Whole, shift: f64) -> [f64; 3] {
    x.map(|c| (c as f64).mul_add(0.125, shift))
}

#[test]
fn triangles_on_a_grid() {
    let mut random = Random(1);
    let (mut touching, mut apart) = (0, 0);
    for i in 0..40_000 {
        let (size, flat) = (1 + i % 3, i % 2 == 0);
        let mut a: [Whole; 3] = corners(&mut random, size, flat);
        let mut b: [Whole; 3] = corners(&mut random, size, flat);
        match i % 11 {
            0 => a[1] = b[2],
            1 => (a[0], a[1]) = (b[1], b[0]),
            2 => a[2] = a[1],
            3 => b = [b[0]; 3],
            _ => {}
        }
        let shift = [0.0, 1024.0][i % 2];
        let known = !disjoint(&a, &b);
        let told = triangles_intersect(&a.map(|x| real(x, shift)), &b.map(|x| real(x, shift)));
        assert_eq!(told, known, "{a:?} {b:?}");
        let back = triangles_intersect(&b.map(|x| real(x, shift)), &a.map(|x| real(x, shift)));
        assert_eq!(back, known, "{b:?} {a:?}");
        if known { touching += 1 } else { apart += 1 }
    }
    assert!(touching > 10_000 && apart > 10_000, "{touching} {apart}");
}

#[test]
fn segments_on_a_grid() {
    let mut random = Random(2);
    for i in 0..20_000 {
        let a: [Whole; 2] = corners(&mut random, 2, i % 2 == 0);
        let b: [Whole; 3] = corners(&mut random, 2, i % 2 == 0);
        let told =
            segment_meets_triangle(real(a[0], 0.0), real(a[1], 0.0), &b.map(|x| real(x, 0.0)));
        assert_eq!(told, !disjoint(&a, &b), "{a:?} {b:?}");
    }
}

#[test]
fn one_unit_in_the_last_place_decides() {
    let t = [[0.1, 0.0, 0.3], [1.1, 0.0, 0.3], [0.1, 1.0, 0.3]];
    let over = |z: f64| [[0.3, 0.3, z], [0.5, 0.1, 2.0], [0.2, 0.4, 3.0]];
    assert!(triangles_intersect(&t, &over(0.3)));
    assert!(!triangles_intersect(&t, &over(0.3_f64.next_up())));
    assert!(triangles_intersect(&t, &over(0.3_f64.next_down())));
}

#[test]
fn what_is_not_a_number_does_not_panic() {
    let t = [[f64::NAN; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let _ = triangles_intersect(&t, &t);
}
