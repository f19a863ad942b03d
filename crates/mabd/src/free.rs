//! Four bodies alone: what `System::respond` and `Local` do for one, for exact polar factors.

use std::collections::BTreeMap;

use taut_core::{Mat3, Vec3};

use crate::{
    affine::{Affines, frame, origin},
    body::BodyKind,
    lane::{
        LANES, Lanes, M, Number, V, ZERO3, add, conjugate, dot, minus, plus, product, scale, sub,
        times, transposed_product, transposed_times,
    },
    node::BodyGroups,
    polar,
};

/// The constants of four bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupConstants {
    pub(crate) mass: Lanes,
    pub(crate) second: V,
    pub(crate) softness: Lanes,
    pub(crate) ratio: Lanes,
    pub(crate) left: V,
    pub(crate) right: V,
    pub(crate) rigid: bool,
    /// Whether all anchors lie on the first axis.
    pub(crate) axial: bool,
    /// Inertia over the squared step, the local inverse that goes with it, and `h^2 / m`.
    pub(crate) inertia: V,
    pub(crate) local: LocalLanes,
    pub(crate) reach: Lanes,
}

/// Kind of a body and where its joints are.
pub(crate) type Anchored = (BodyKind, Vec3, Vec3);

/// Left with left, right with right (upper triangles), left with right by rows, left tip, right tip,
/// and the diagonals of the first two before anything was eliminated.
pub(crate) type Passed<T> = [T; PASSED];
pub(crate) const PASSED: usize = 33;

/// What a solve is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolveTask<'a> {
    /// Length by which inertia is divided twice [s].
    pub(crate) h: f64,
    /// Displacements and rates of the step before, where the two-step formula is used.
    pub(crate) before: Option<&'a [Affines; 2]>,
    pub(crate) gravity: Vec3,
    /// Share of the inertia that tension must exceed; `None` without geometric stiffness.
    pub(crate) geometric: Option<f64>,
    /// Only finds the tension.
    pub(crate) probes: bool,
    /// Whether the displacements are those of a step of the same length that has ended, which then
    /// become the rates, in that length.
    pub(crate) resumes: bool,
}

/// The inverse of `S' + K` in each lane; see `body::Local`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalLanes {
    own: [Lanes; 6],
    mirrored: [Lanes; 3],
    diagonal: Option<[Lanes; 6]>,
}

/// What four bodies do by themselves.
#[derive(Clone, Copy)]
pub(crate) struct FreeResponse {
    pub(crate) rotation: M,
    pub(crate) local: LocalLanes,
    /// Increment without joints, its frame co-rotated.
    pub(crate) frame: M,
    pub(crate) origin: V,
    /// Where they are in the current iterate.
    pub(crate) at: M,
    pub(crate) centre: V,
}

/// Entries of the inverse for two columns: of each with itself, and with its mirror image.
#[inline(always)]
fn pair(soft: Lanes, s: Lanes, t: Lanes) -> [Lanes; 3] {
    let inverse = Lanes::ONE / (soft * s * t + s + t);
    [(soft * s + Lanes::ONE) * inverse, (soft * t + Lanes::ONE) * inverse, -inverse]
}

impl GroupConstants {
    fn new(links: &[Anchored; LANES]) -> Self {
        let lanes =
            |value: &dyn Fn(&Anchored) -> f64| Lanes(std::array::from_fn(|k| value(&links[k])));
        let vector = |value: &dyn Fn(&Anchored) -> Vec3| -> [Lanes; 3] {
            std::array::from_fn(|i| lanes(&|link| value(link)[i]))
        };
        Self {
            mass: lanes(&|link| link.0.mass),
            second: vector(&|link| link.0.second),
            softness: lanes(&|link| link.0.softness),
            ratio: lanes(&|link| link.0.ratio),
            left: vector(&|link| link.1),
            right: vector(&|link| link.2),
            axial: links.iter().all(|(_, x, y)| x.yz() == y.yz() && x.yz().norm() == 0.0),
            rigid: links.iter().all(|link| link.0.softness == 0.0),
            inertia: ZERO3,
            local: LocalLanes::NONE,
            reach: Lanes::ZERO,
        }
    }

    /// The number of the constants of these bodies in a list that holds equal ones once.
    pub(crate) fn number(
        links: &[Anchored; LANES],
        known: &mut BTreeMap<Vec<u64>, u32>,
        list: &mut Vec<Self>,
    ) -> u32 {
        let key: Vec<u64> = links.iter().flat_map(bits).collect();
        let next = list.len() as u32;
        let index = *known.entry(key).or_insert(next);
        if index == next {
            list.push(Self::new(links));
        }
        index
    }

    pub(crate) fn set_step(&mut self, h: f64) {
        let square = Lanes::splat(h * h);
        let [s1, s2, s3] = self.second;
        self.inertia = [s1 / square, s2 / square, s3 / square];
        self.local = LocalLanes::new(self.softness, self.ratio, self.rigid, self.inertia);
        self.reach = square / self.mass;
    }
}

fn bits((kind, left, right): &Anchored) -> impl Iterator<Item = u64> {
    let scalars = [kind.mass, kind.softness, kind.ratio];
    let vectors = [kind.second, *left, *right];
    scalars.into_iter().chain(vectors.into_iter().flat_map(<[f64; 3]>::from)).map(f64::to_bits)
}

impl LocalLanes {
    pub(crate) const NONE: Self = Self { own: [Lanes::ZERO; 6], mirrored: ZERO3, diagonal: None };

    /// The inverse for inertias `s`; `rigid` where no body is soft.
    #[inline(always)]
    pub(crate) fn new(soft: Lanes, ratio: Lanes, rigid: bool, s: V) -> Self {
        let ([a12, a21, b12], [a13, a31, b13], [a23, a32, b23]) =
            (pair(soft, s[0], s[1]), pair(soft, s[0], s[2]), pair(soft, s[1], s[2]));
        let mut diagonal = None;
        if !rigid {
            let two = Lanes::splat(2.0);
            let e = [
                Lanes::ONE / (soft * s[0] + two),
                Lanes::ONE / (soft * s[1] + two),
                Lanes::ONE / (soft * s[2] + two),
            ];
            let shared = ratio / (Lanes::ONE + ratio * (e[0] + e[1] + e[2]));
            let less = soft * shared;
            diagonal = Some([
                soft * e[0] - less * e[0] * e[0],
                soft * e[1] - less * e[1] * e[1],
                soft * e[2] - less * e[2] * e[2],
                -(less * e[0] * e[1]),
                -(less * e[0] * e[2]),
                -(less * e[1] * e[2]),
            ]);
        }
        Self { own: [a12, a21, a13, a31, a23, a32], mirrored: [b12, b13, b23], diagonal }
    }

    #[inline(always)]
    pub(crate) fn apply(&self, r: M) -> M {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let (r11, r22, r33) = (r[0][0], r[1][1], r[2][2]);
        let along = match self.diagonal {
            None => ZERO3,
            Some([d1, d2, d3, d12, d13, d23]) => [
                d13.times_plus(r33, d12.times_plus(r22, d1 * r11)),
                d23.times_plus(r33, d2.times_plus(r22, d12 * r11)),
                d3.times_plus(r33, d23.times_plus(r22, d13 * r11)),
            ],
        };
        // By columns: entry `ij` of the matrix is `[j][i]`.
        [
            [
                along[0],
                a21.times_plus(r[0][1], b12 * r[1][0]),
                a31.times_plus(r[0][2], b13 * r[2][0]),
            ],
            [
                a12.times_plus(r[1][0], b12 * r[0][1]),
                along[1],
                a32.times_plus(r[1][2], b23 * r[2][1]),
            ],
            [
                a13.times_plus(r[2][0], b13 * r[0][2]),
                a23.times_plus(r[2][1], b23 * r[1][2]),
                along[2],
            ],
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
    pub(crate) fn between(&self, x: V, y: V) -> M {
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

impl FreeResponse {
    pub(crate) const NONE: Self = Self {
        rotation: [ZERO3; 3],
        local: LocalLanes::NONE,
        frame: [ZERO3; 3],
        origin: ZERO3,
        at: [ZERO3; 3],
        centre: ZERO3,
    };

    /// The group of bodies `group` by itself.
    #[inline(always)]
    pub(crate) fn new(
        bodies: &BodyGroups<'_>,
        constants: &GroupConstants,
        task: &SolveTask<'_>,
        group: usize,
    ) -> Self {
        let (start, moved) = (&bodies.start[group], &bodies.moved[group]);
        let (shift, at) = (frame(moved), plus(frame(start), frame(moved)));
        let centre = add(origin(start), origin(moved));
        let rotation = rotation(at);
        let (inertia, mut stiff, mut local) =
            (constants.inertia, constants.inertia, constants.local);
        if let Some(share) = task.geometric {
            let tension = &bodies.tension[group];
            let share = Lanes::splat(share);
            let most = [share * inertia[0], share * inertia[1], share * inertia[2]];
            if (0..3).any(|i| tension[i].exceeds(most[i])) {
                for i in 0..3 {
                    stiff[i] += (tension[i] - most[i]).max(Lanes::ZERO);
                }
                let GroupConstants { softness, ratio, rigid, .. } = constants;
                local = LocalLanes::new(*softness, *ratio, *rigid, stiff);
            }
        }
        let (left, way) = if task.resumes {
            // The last step goes on at the speed at which it came.
            (shift, origin(moved))
        } else {
            let (aim_frame, aim_origin) = aim(bodies, task, group);
            (minus(aim_frame, shift), sub(aim_origin, origin(moved)))
        };
        let push = columns(left, inertia);
        let ([r1, r2, r3], [f1, f2, f3]) = (rotation, at);
        let one = Lanes::ONE;
        let zero = Lanes::ZERO;
        let sigma = full([
            one - dot(r1, f1),
            zero - dot(r2, f1),
            zero - dot(r3, f1),
            one - dot(r2, f2),
            zero - dot(r3, f2),
            one - dot(r3, f3),
        ]);
        let held = columns(sigma, stiff);
        let turned = transposed_product(rotation, push);
        let fall: Vec3 = task.gravity * (task.h * task.h);
        let fall = [Lanes::splat(fall.x), Lanes::splat(fall.y), Lanes::splat(fall.z)];
        Self {
            rotation,
            local,
            frame: plus(sigma, local.apply(minus(turned, held))),
            origin: add(way, fall),
            at,
            centre,
        }
    }

    /// What the bodies pass on to the joints at their left and right: the upper triangles of what unit
    /// forces do at either point, in world axes, by rows what forces at the right do at the left, and
    /// where the points would go without joints.
    #[inline(always)]
    pub(crate) fn pass(&self, constants: &GroupConstants, passed: &mut Passed<Lanes>) {
        self.pass_blocks(constants, passed);
        for (scale, own) in [(27, 0), (28, 3), (29, 5), (30, 6), (31, 9), (32, 11)] {
            passed[scale] = passed[own];
        }
    }

    #[inline(always)]
    fn pass_blocks(&self, constants: &GroupConstants, passed: &mut Passed<Lanes>) {
        let (x, y) = (constants.left, constants.right);
        let reach = constants.reach;
        if !constants.axial {
            let own = conjugate(self.rotation, self.local.between(x, x));
            put(passed, 0, grounded(upper(own), reach));
            let own = conjugate(self.rotation, self.local.between(y, y));
            put(passed, 6, grounded(upper(own), reach));
            let [a, b, c] = conjugate(self.rotation, self.local.between(x, y));
            let rows =
                [a[0] + reach, b[0], c[0], a[1], b[1] + reach, c[1], a[2], b[2], c[2] + reach];
            put(passed, 12, rows);
            put(passed, 21, self.tip(x));
            put(passed, 24, self.tip(y));
            return;
        }
        // Along the first axis all three blocks are multiples of one.
        let [a, b, c] = self.rotation;
        let [d, e, f] = self.local.along_first();
        let (u, v, w) = (scale(a, d), scale(b, e), scale(c, f));
        let unit = [
            w[0].times_plus(c[0], v[0].times_plus(b[0], u[0] * a[0])),
            w[0].times_plus(c[1], v[0].times_plus(b[1], u[0] * a[1])),
            w[0].times_plus(c[2], v[0].times_plus(b[2], u[0] * a[2])),
            w[1].times_plus(c[1], v[1].times_plus(b[1], u[1] * a[1])),
            w[1].times_plus(c[2], v[1].times_plus(b[2], u[1] * a[2])),
            w[2].times_plus(c[2], v[2].times_plus(b[2], u[2] * a[2])),
        ];
        put(passed, 0, grounded(multiple(unit, x[0] * x[0]), reach));
        put(passed, 6, grounded(multiple(unit, y[0] * y[0]), reach));
        let [m11, m12, m13, m22, m23, m33] = grounded(multiple(unit, x[0] * y[0]), reach);
        put(passed, 12, [m11, m12, m13, m12, m22, m23, m13, m23, m33]);
        let axis = add(self.at[0], times(self.rotation, self.frame[0]));
        let middle = add(self.centre, self.origin);
        put(passed, 21, add(scale(axis, x[0]), middle));
        put(passed, 24, add(scale(axis, y[0]), middle));
    }

    /// Where a point of the bodies would go without joints.
    #[inline(always)]
    pub(crate) fn tip(&self, anchor: V) -> V {
        let increment = add(times(self.rotation, times(self.frame, anchor)), self.origin);
        add(add(times(self.at, anchor), self.centre), increment)
    }

    /// Increments under forces at the two joints, and the diagonal of the co-rotated load.
    #[inline(always)]
    pub(crate) fn under(&self, constants: &GroupConstants, forces: [V; 2]) -> (M, V, V) {
        let f = transposed_times(self.rotation, forces[0]);
        let g = transposed_times(self.rotation, forces[1]);
        let (x, y) = (constants.left, constants.right);
        let sum = scale(add(forces[0], forces[1]), constants.reach);
        let origin = sub(self.origin, sum);
        if constants.axial {
            let load = add(scale(f, x[0]), scale(g, y[0]));
            let turned = minus(self.frame, self.local.apply_first(load));
            let diagonal = [load[0], Lanes::ZERO, Lanes::ZERO];
            return (product(self.rotation, turned), origin, diagonal);
        }
        let load = [
            add(scale(f, x[0]), scale(g, y[0])),
            add(scale(f, x[1]), scale(g, y[1])),
            add(scale(f, x[2]), scale(g, y[2])),
        ];
        let turned = minus(self.frame, self.local.apply(load));
        let diagonal = [load[0][0], load[1][1], load[2][2]];
        (product(self.rotation, turned), origin, diagonal)
    }
}

/// Each column times its own factor.
#[inline(always)]
fn columns(m: M, s: V) -> M {
    [scale(m[0], s[0]), scale(m[1], s[1]), scale(m[2], s[2])]
}

/// Where free motion leads, as a displacement since the start of the step; see `System::aim`.
#[inline(always)]
fn aim(bodies: &BodyGroups<'_>, task: &SolveTask<'_>, group: usize) -> (M, V) {
    let rate = &bodies.rate[group];
    let h = Lanes::splat(task.h);
    let mut aim = *rate;
    if let Some([moved, slower]) = bodies.before {
        let (moved, slower) = (&moved[group], &slower[group]);
        let (third, more) = (Lanes::splat(1.0 / 3.0), Lanes::splat(4.0 / 3.0));
        for c in 0..12 {
            aim[c] = (rate[c] * more - slower[c] * third) * h + moved[c] * third;
        }
    } else {
        for entry in &mut aim {
            *entry = *entry * h;
        }
    }
    (frame(&aim), origin(&aim))
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
    let mut inner = strain;
    for c in 0..6 {
        let one = Lanes::splat(if DIAGONAL[c] { 0.375 } else { 0.0 });
        let less = strain[c].times_less(Lanes::splat(0.3125), one);
        inner[c] = square[c].times_plus(Lanes::splat(35.0 / 128.0), less);
    }
    let mut series = symmetric_product(square, inner);
    for c in 0..6 {
        let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
        series[c] = strain[c].times_less(Lanes::splat(0.5), one) + series[c];
    }
    let mut rotation = product(at, full(series));
    let mut left = worst * worst * worst.sqrt();
    while left > 1e-17 {
        let strain = self::strain(rotation);
        let mut correction = strain;
        for c in 0..6 {
            let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
            correction[c] = strain[c].times_less(Lanes::splat(0.5), one);
        }
        rotation = product(rotation, full(correction));
        left *= left;
    }
    rotation
}

/// A symmetric matrix per lane: 11, 21, 31, 22, 32, 33.
type S = [Lanes; 6];

const DIAGONAL: [bool; 6] = [true, false, false, true, false, true];

#[inline(always)]
fn multiple([a, b, c, d, e, f]: S, factor: Lanes) -> S {
    [a * factor, b * factor, c * factor, d * factor, e * factor, f * factor]
}

/// With `reach` on the diagonal, in the order of the upper triangle by rows.
#[inline(always)]
fn grounded([a, b, c, d, e, f]: S, reach: Lanes) -> S {
    [a + reach, b, c, d + reach, e, f + reach]
}

#[inline(always)]
fn upper([a, b, c]: M) -> S {
    [a[0], b[0], c[0], b[1], c[1], c[2]]
}

#[inline(always)]
pub(crate) fn put<T: Copy, const N: usize>(passed: &mut Passed<T>, first: usize, values: [T; N]) {
    for (to, from) in passed[first..first + N].iter_mut().zip(values) {
        *to = from;
    }
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
        a31.times_plus(b31, a21.times_plus(b21, a11 * b11)),
        a32.times_plus(b31, a22.times_plus(b21, a21 * b11)),
        a33.times_plus(b31, a32.times_plus(b21, a31 * b11)),
        a32.times_plus(b32, a22.times_plus(b22, a21 * b21)),
        a33.times_plus(b32, a32.times_plus(b22, a31 * b21)),
        a33.times_plus(b33, a32.times_plus(b32, a31 * b31)),
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
