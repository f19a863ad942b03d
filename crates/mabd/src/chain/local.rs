//! Eight bodies alone: what `System::respond` and `Local` do for one, for exact polar factors.

use taut_core::{Mat3, Vec3};

use super::{Constants, Task};
use crate::{
    lane::{
        LANES, Lanes, M, V, ZERO3, add, conjugate, dot, frame, minus, nine, origin, plus, product,
        scale, sub, three, times, transposed_product, transposed_times,
    },
    node::Nodes,
    polar,
};

/// The inverse of `S' + K` in each lane; see `body::Local`.
#[derive(Clone, Copy)]
pub(super) struct LocalLanes {
    own: [Lanes; 6],
    mirrored: [Lanes; 3],
    diagonal: Option<[Lanes; 6]>,
}

/// What eight bodies do by themselves.
#[derive(Clone, Copy)]
pub(super) struct Alone {
    pub(super) rotation: M,
    pub(super) local: LocalLanes,
    /// Increment without joints, its frame co-rotated.
    pub(super) frame: M,
    pub(super) origin: V,
    /// Where they are in the current iterate.
    pub(super) at: M,
    pub(super) centre: V,
    /// `h^2 / m`.
    pub(super) reach: Lanes,
}

impl LocalLanes {
    #[inline(always)]
    fn new(constants: &Constants, s: V) -> Self {
        let soft = constants.softness;
        let pair = |i: usize, j: usize| {
            let inverse = Lanes::ONE / (soft * s[i] * s[j] + s[i] + s[j]);
            [(soft * s[i] + Lanes::ONE) * inverse, (soft * s[j] + Lanes::ONE) * inverse, -inverse]
        };
        let ([a12, a21, b12], [a13, a31, b13], [a23, a32, b23]) =
            (pair(0, 1), pair(0, 2), pair(1, 2));
        let diagonal = (!constants.rigid).then(|| {
            let e = three(|i| Lanes::ONE / (soft * s[i] + Lanes::splat(2.0)));
            let shared = constants.ratio / (Lanes::ONE + constants.ratio * (e[0] + e[1] + e[2]));
            let entry = |i: usize, j: usize| -(soft * shared * e[i] * e[j]);
            [
                soft * e[0] + entry(0, 0),
                soft * e[1] + entry(1, 1),
                soft * e[2] + entry(2, 2),
                entry(0, 1),
                entry(0, 2),
                entry(1, 2),
            ]
        });
        Self { own: [a12, a21, a13, a31, a23, a32], mirrored: [b12, b13, b23], diagonal }
    }

    #[inline(always)]
    pub(super) fn apply(&self, r: M) -> M {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let (r11, r22, r33) = (r[0][0], r[1][1], r[2][2]);
        let along = match self.diagonal {
            None => ZERO3,
            Some([d1, d2, d3, d12, d13, d23]) => [
                d1 * r11 + d12 * r22 + d13 * r33,
                d12 * r11 + d2 * r22 + d23 * r33,
                d13 * r11 + d23 * r22 + d3 * r33,
            ],
        };
        // By columns: entry `ij` of the matrix is `[j][i]`.
        [
            [along[0], a21 * r[0][1] + b12 * r[1][0], a31 * r[0][2] + b13 * r[2][0]],
            [a12 * r[1][0] + b12 * r[0][1], along[1], a32 * r[1][2] + b23 * r[2][1]],
            [a13 * r[2][0] + b13 * r[0][2], a23 * r[2][1] + b23 * r[1][2], along[2]],
        ]
    }

    /// The same for a load on the first column alone.
    #[inline(always)]
    fn apply_first(&self, r: V) -> M {
        let ([_, a21, _, a31, _, _], [b12, b13, _]) = (self.own, self.mirrored);
        let along = match self.diagonal {
            None => ZERO3,
            Some([d1, _, _, d12, d13, _]) => [d1 * r[0], d12 * r[0], d13 * r[0]],
        };
        let zero = Lanes::ZERO;
        [
            [along[0], a21 * r[1], a31 * r[2]],
            [b12 * r[1], along[1], zero],
            [b13 * r[2], zero, along[2]],
        ]
    }

    /// The diagonal of [`LocalLanes::between`] for unit anchors along the first axis.
    #[inline(always)]
    fn along_first(&self) -> V {
        [self.diagonal.map_or(Lanes::ZERO, |d| d[0]), self.own[1], self.own[3]]
    }

    #[inline(always)]
    fn between(&self, x: V, y: V) -> M {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let (p1, p2, p3) = (x[0] * y[0], x[1] * y[1], x[2] * y[2]);
        let rigid = [
            [a12 * p2 + a13 * p3, b12 * x[0] * y[1], b13 * x[0] * y[2]],
            [b12 * x[1] * y[0], a21 * p1 + a23 * p3, b23 * x[1] * y[2]],
            [b13 * x[2] * y[0], b23 * x[2] * y[1], a31 * p1 + a32 * p2],
        ];
        let Some([d1, d2, d3, d12, d13, d23]) = self.diagonal else { return rigid };
        let elastic = [
            [d1 * p1, d12 * x[1] * y[0], d13 * x[2] * y[0]],
            [d12 * x[0] * y[1], d2 * p2, d23 * x[2] * y[1]],
            [d13 * x[0] * y[2], d23 * x[1] * y[2], d3 * p3],
        ];
        plus(rigid, elastic)
    }
}

impl Alone {
    /// The group of bodies `group` by itself.
    #[inline(always)]
    pub(super) fn new(nodes: &Nodes, constants: &Constants, task: &Task<'_>, group: usize) -> Self {
        let (start, moved) = (&nodes.start.groups[group], &nodes.moved.groups[group]);
        let (shift, at) = (frame(moved), plus(frame(start), frame(moved)));
        let rotation = rotation(at);
        let square = Lanes::splat(task.h * task.h);
        let [s1, s2, s3] = constants.second;
        let inertia = [s1 / square, s2 / square, s3 / square];
        let stiff = match task.geometric {
            None => inertia,
            Some(share) => three(|i| {
                let excess = nodes.tension[group][i] - Lanes::splat(share) * inertia[i];
                inertia[i] + excess.max(Lanes::ZERO)
            }),
        };
        let local = LocalLanes::new(constants, stiff);
        let (aim_frame, aim_origin) = aim(nodes, task, group);
        let left = minus(aim_frame, shift);
        let columns = |m: M, s: V| [scale(m[0], s[0]), scale(m[1], s[1]), scale(m[2], s[2])];
        let push = columns(left, inertia);
        let ([r1, r2, r3], [f1, f2, f3]) = (rotation, at);
        let stretch =
            [dot(r1, f1), dot(r2, f1), dot(r3, f1), dot(r2, f2), dot(r3, f2), dot(r3, f3)];
        let sigma = full(six(|c| {
            let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
            one - stretch[c]
        }));
        let held = columns(sigma, stiff);
        let turned = transposed_product(rotation, push);
        let fall: Vec3 = task.gravity * (task.h * task.h);
        let fall = three(|i| Lanes::splat(fall[i]));
        Self {
            rotation,
            local,
            frame: plus(sigma, local.apply(minus(turned, held))),
            origin: add(sub(aim_origin, origin(moved)), fall),
            at,
            centre: add(origin(start), origin(moved)),
            reach: square / constants.mass,
        }
    }

    /// What the bodies pass on to the joints at their left and right: the upper triangles of what unit
    /// forces do at either point, in world axes, by rows what forces at the right do at the left, and
    /// where the points would go without joints.
    #[inline(always)]
    pub(super) fn pass(&self, constants: &Constants, passed: &mut [Lanes; 27]) {
        let (x, y) = (constants.left, constants.right);
        let reach = self.reach;
        let grounded = |s: S| [s[0] + reach, s[1], s[2], s[3] + reach, s[4], s[5] + reach];
        if !constants.axial {
            let upper = |m: M| grounded([m[0][0], m[1][0], m[2][0], m[1][1], m[2][1], m[2][2]]);
            let between = |x: V, y: V| conjugate(self.rotation, self.local.between(x, y));
            passed[..6].copy_from_slice(&upper(between(x, x)));
            passed[6..12].copy_from_slice(&upper(between(y, y)));
            let m = between(x, y);
            for i in 0..3 {
                for j in 0..3 {
                    passed[12 + 3 * i + j] = if i == j { m[j][i] + reach } else { m[j][i] };
                }
            }
            passed[21..24].copy_from_slice(&self.tip(x));
            passed[24..].copy_from_slice(&self.tip(y));
            return;
        }
        // Along the first axis all three blocks are multiples of one.
        let [a, b, c] = self.rotation;
        let [d, e, f] = self.local.along_first();
        let (u, v, w) = (scale(a, d), scale(b, e), scale(c, f));
        let entry = |i: usize, j: usize| u[i] * a[j] + v[i] * b[j] + w[i] * c[j];
        let unit = [entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)];
        let times = |factor: Lanes| grounded(six(|k| unit[k] * factor));
        passed[..6].copy_from_slice(&times(x[0] * x[0]));
        passed[6..12].copy_from_slice(&times(y[0] * y[0]));
        let [m11, m12, m13, m22, m23, m33] = times(x[0] * y[0]);
        passed[12..21].copy_from_slice(&[m11, m12, m13, m12, m22, m23, m13, m23, m33]);
        let axis = add(self.at[0], self::times(self.rotation, self.frame[0]));
        let middle = add(self.centre, self.origin);
        passed[21..24].copy_from_slice(&add(scale(axis, x[0]), middle));
        passed[24..].copy_from_slice(&add(scale(axis, y[0]), middle));
    }

    /// Where a point of the bodies would go without joints.
    #[inline(always)]
    fn tip(&self, anchor: V) -> V {
        let increment = add(times(self.rotation, times(self.frame, anchor)), self.origin);
        add(add(times(self.at, anchor), self.centre), increment)
    }

    /// Increments under forces at the two joints, and the diagonal of the co-rotated load.
    #[inline(always)]
    pub(super) fn under(&self, constants: &Constants, forces: [V; 2]) -> (M, V, V) {
        let f = transposed_times(self.rotation, forces[0]);
        let g = transposed_times(self.rotation, forces[1]);
        let (x, y) = (constants.left, constants.right);
        let sum = scale(add(forces[0], forces[1]), self.reach);
        let origin = sub(self.origin, sum);
        if constants.axial {
            let load = add(scale(f, x[0]), scale(g, y[0]));
            let turned = minus(self.frame, self.local.apply_first(load));
            let diagonal = [load[0], Lanes::ZERO, Lanes::ZERO];
            return (product(self.rotation, turned), origin, diagonal);
        }
        let load = nine(|i, j| f[i] * x[j] + g[i] * y[j]);
        let turned = minus(self.frame, self.local.apply(load));
        let diagonal = [load[0][0], load[1][1], load[2][2]];
        (product(self.rotation, turned), origin, diagonal)
    }
}

/// Where free motion leads, as a displacement since the start of the step; see `System::aim`.
#[inline(always)]
fn aim(nodes: &Nodes, task: &Task<'_>, group: usize) -> (M, V) {
    let rate = &nodes.rate.groups[group];
    let h = Lanes::splat(task.h);
    let Some([moved, slower]) = task.before else {
        return (nine(|i, j| rate[3 * j + i] * h), scale(origin(rate), h));
    };
    let (moved, slower) = (&moved.groups[group], &slower.groups[group]);
    let (third, more) = (Lanes::splat(1.0 / 3.0), Lanes::splat(4.0 / 3.0));
    let aim = |c: usize| (rate[c] * more - slower[c] * third) * h + moved[c] * third;
    (nine(|i, j| aim(3 * j + i)), three(|i| aim(9 + i)))
}

/// Polar factors: see `polar::exact`, whose series and steps these are, in every lane as many as the
/// most strained one needs.
#[inline(always)]
fn rotation(at: M) -> M {
    let strain = strain(at);
    let [e11, e21, e31, e22, e32, e33] = strain;
    let aside = e21 * e21 + e31 * e31 + e32 * e32;
    let squared = e11 * e11 + e22 * e22 + e33 * e33 + aside + aside;
    let worst = squared.largest();
    if worst >= 0.01 {
        return scalar_rotation(at);
    }
    let square = symmetric_product(strain, strain);
    let inner = six(|c| {
        let one = Lanes::splat(if DIAGONAL[c] { 0.375 } else { 0.0 });
        one - strain[c] * Lanes::splat(0.3125) + square[c] * Lanes::splat(35.0 / 128.0)
    });
    let outer = symmetric_product(square, inner);
    let series = six(|c| {
        let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
        one - strain[c] * Lanes::splat(0.5) + outer[c]
    });
    let mut rotation = product(at, full(series));
    let mut left = worst * worst * worst.sqrt();
    while left > 1e-17 {
        let strain = self::strain(rotation);
        let correction = six(|c| {
            let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
            one - strain[c] * Lanes::splat(0.5)
        });
        rotation = product(rotation, full(correction));
        left *= left;
    }
    rotation
}

/// A symmetric matrix per lane: 11, 21, 31, 22, 32, 33.
type S = [Lanes; 6];

const DIAGONAL: [bool; 6] = [true, false, false, true, false, true];

#[inline(always)]
fn six(entry: impl Fn(usize) -> Lanes) -> S {
    [entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)]
}

#[inline(always)]
fn full([a, b, c, d, e, f]: S) -> M {
    [[a, b, c], [b, d, e], [c, e, f]]
}

/// `A^T A - 1`.
#[inline(always)]
fn strain([a, b, c]: M) -> S {
    let one = Lanes::ONE;
    [dot(a, a) - one, dot(b, a), dot(c, a), dot(b, b) - one, dot(c, b), dot(c, c) - one]
}

/// The product of two symmetric matrices that commute.
#[inline(always)]
fn symmetric_product(a: S, b: S) -> S {
    let ([a11, a21, a31, a22, a32, a33], [b11, b21, b31, b22, b32, b33]) = (a, b);
    [
        a11 * b11 + a21 * b21 + a31 * b31,
        a21 * b11 + a22 * b21 + a32 * b31,
        a31 * b11 + a32 * b21 + a33 * b31,
        a21 * b21 + a22 * b22 + a32 * b32,
        a31 * b21 + a32 * b22 + a33 * b32,
        a31 * b31 + a32 * b32 + a33 * b33,
    ]
}

#[cold]
#[inline(never)]
fn scalar_rotation(at: M) -> M {
    let mut rotation = at;
    for k in 0..LANES {
        let exact = polar::exact(&Mat3::from_fn(|i, j| at[j][i].0[k]));
        for (j, column) in rotation.iter_mut().enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                entry.0[k] = exact[(i, j)];
            }
        }
    }
    rotation
}
