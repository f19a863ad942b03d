//! Elimination along the joints (Eq. 36 to 41) in segments, four of them side by side.
//!
//! A stretch of bodies shows the joints at its two ends what one body shows them: how far forces at
//! either end move both ends, and where these would go without ([`Passed`]). Two stretches with a joint
//! between them become one by eliminating that joint. So a first pass over all bodies reduces every
//! segment to such a stretch, block elimination over segments finds the multipliers between them, and
//! a second pass, in which each segment is a chain of its own under known forces at its ends, finds
//! those within and moves the bodies. What a body does by itself is found in both passes, which costs
//! less than to fetch it from memory, unless there is one block only.
//!
//! With `W` the response of a body, left and right, `D = W_rr(before) + W_ll + compliance` of a joint,
//! `N = D^-1 W_lr`, `y = D^-1 gap`: `W_rr -= W_lr^T N`, `tip_r += W_lr^T y`, and back
//! `lambda = y + N lambda(after)`. Rows are those of the left body's point minus the right one's.

use pulp::{NullaryFnOnce, Simd, WithSimd};
use taut_core::Vec3;

use super::{
    Chains, Pin,
    span::{Pins, Span},
};
use crate::{
    affine::{Affine, frame, group, origin},
    free::{FreeResponse, GroupConstants, PASSED, Passed, SolveTask, put},
    lane::{LANES, Lanes, Number, V, ZERO3, add, dot, plus, sub},
    node::BodyGroups,
};

/// A symmetric matrix: its upper triangle by rows.
pub(crate) type S<T> = [T; 6];
/// A matrix by rows.
type M<T> = [T; 9];

/// What is kept of a group of bodies while its segments are solved.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    free: FreeResponse,
    /// `N` and `y` of the joint at its left.
    reply: M<Lanes>,
    answer: V,
}

impl Kept {
    pub(super) const NONE: Self =
        Self { free: FreeResponse::NONE, reply: [Lanes::ZERO; 9], answer: ZERO3 };
}

/// The right end of what has been eliminated.
#[derive(Clone, Copy)]
struct RightEnd<T> {
    own: S<T>,
    /// Diagonal before anything was eliminated.
    scale: [T; 3],
    tip: [T; 3],
}

#[inline(always)]
fn part<T: Copy, const N: usize>(ends: &Passed<T>, first: usize) -> [T; N] {
    let mut out = [ends[first]; N];
    out.copy_from_slice(&ends[first..first + N]);
    out
}

#[inline(always)]
fn right<T: Copy>(ends: &Passed<T>) -> RightEnd<T> {
    RightEnd { own: part(ends, 6), scale: part(ends, 30), tip: part(ends, 24) }
}

/// The inverse of a symmetric matrix; see `blocks::invert_three`.
#[inline(always)]
pub(crate) fn inverse<T: Number>([b0, b3, b6, b4, b7, b8]: S<T>, scale: [T; 3], zero: T) -> S<T> {
    let p0 = b0.inverse_pivot(scale[0]);
    let (l10, l20) = (b3 * p0, b6 * p0);
    let p1 = l10.times_less(b3, b4).inverse_pivot(scale[1]);
    let c21 = l20.times_less(b3, b7);
    let l21 = c21 * p1;
    let p2 = l21.times_less(c21, l20.times_less(b6, b8)).inverse_pivot(scale[2]);
    let m20 = l10.times_plus(l21, zero - l20);
    let (i22, i12, i02) = (p2, zero - l21 * p2, m20 * p2);
    let i11 = l21.times_less(i12, p1);
    let i01 = l21.times_less(i02, zero - l10 * p1);
    let i00 = m20.times_plus(i02, (l10 * p1).times_plus(l10, p0));
    [i00, i01, i02, i11, i12, i22]
}

/// `s v`.
#[inline(always)]
pub(crate) fn times<T: Number>([a, b, c, d, e, f]: &S<T>, [x, y, z]: [T; 3]) -> [T; 3] {
    [
        c.times_plus(z, b.times_plus(y, *a * x)),
        e.times_plus(z, d.times_plus(y, *b * x)),
        f.times_plus(z, e.times_plus(y, *c * x)),
    ]
}

/// `m v`.
#[inline(always)]
fn apply<T: Number>(m: &M<T>, v: [T; 3]) -> [T; 3] {
    [
        m[2].times_plus(v[2], m[1].times_plus(v[1], m[0] * v[0])),
        m[5].times_plus(v[2], m[4].times_plus(v[1], m[3] * v[0])),
        m[8].times_plus(v[2], m[7].times_plus(v[1], m[6] * v[0])),
    ]
}

/// `m^T v`.
#[inline(always)]
fn apply_transposed<T: Number>(m: &M<T>, v: [T; 3]) -> [T; 3] {
    [
        m[6].times_plus(v[2], m[3].times_plus(v[1], m[0] * v[0])),
        m[7].times_plus(v[2], m[4].times_plus(v[1], m[1] * v[0])),
        m[8].times_plus(v[2], m[5].times_plus(v[1], m[2] * v[0])),
    ]
}

#[inline(always)]
fn columns<T: Copy>(a: [T; 3], b: [T; 3], c: [T; 3]) -> M<T> {
    [a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]]
}

#[inline(always)]
fn column<T: Copy>(m: &M<T>, j: usize) -> [T; 3] {
    [m[j], m[3 + j], m[6 + j]]
}

/// `s m`.
#[inline(always)]
fn symmetric_times<T: Number>(s: &S<T>, m: &M<T>) -> M<T> {
    columns(times(s, column(m, 0)), times(s, column(m, 1)), times(s, column(m, 2)))
}

/// `a b`.
#[inline(always)]
fn product<T: Number>(a: &M<T>, b: &M<T>) -> M<T> {
    columns(apply(a, column(b, 0)), apply(a, column(b, 1)), apply(a, column(b, 2)))
}

/// `s - a^T b`, which is known to be symmetric.
#[inline(always)]
fn less<T: Number>(s: &S<T>, a: &M<T>, b: &M<T>) -> S<T> {
    [
        a[6].times_less(b[6], a[3].times_less(b[3], a[0].times_less(b[0], s[0]))),
        a[6].times_less(b[7], a[3].times_less(b[4], a[0].times_less(b[1], s[1]))),
        a[6].times_less(b[8], a[3].times_less(b[5], a[0].times_less(b[2], s[2]))),
        a[7].times_less(b[7], a[4].times_less(b[4], a[1].times_less(b[1], s[3]))),
        a[7].times_less(b[8], a[4].times_less(b[5], a[1].times_less(b[2], s[4]))),
        a[8].times_less(b[8], a[5].times_less(b[5], a[2].times_less(b[2], s[5]))),
    ]
}

#[inline(always)]
fn transpose<T: Copy>(m: &M<T>) -> M<T> {
    [m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]]
}

#[inline(always)]
fn sum<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn difference<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Eliminates the joint between what ends in `carry` and `next`; tells its `N` and `y`.
#[inline(always)]
fn eliminate<T: Number>(
    carry: &mut RightEnd<T>,
    next: &Passed<T>,
    compliance: T,
    zero: T,
) -> (S<T>, M<T>, [T; 3]) {
    let left: S<T> = part(next, 0);
    let mut block = carry.own;
    for c in 0..6 {
        block[c] = block[c] + left[c];
    }
    let mut scale = sum(carry.scale, part(next, 27));
    for (k, c) in [0, 3, 5].into_iter().enumerate() {
        block[c] = block[c] + compliance;
        scale[k] = scale[k] + compliance;
    }
    let inverse = inverse(block, scale, zero);
    let between: M<T> = part(next, 12);
    let reply = symmetric_times(&inverse, &between);
    let answer = times(&inverse, difference(carry.tip, part(next, 21)));
    *carry = right(next);
    carry.own = less(&carry.own, &between, &reply);
    carry.tip = sum(carry.tip, apply_transposed(&between, answer));
    (inverse, reply, answer)
}

/// Joins a stretch to the body after it.
#[inline(always)]
fn join(
    whole: &mut Passed<Lanes>,
    carry: &mut RightEnd<Lanes>,
    next: &Passed<Lanes>,
    compliance: Lanes,
) {
    let (inverse, reply, answer) = eliminate(carry, next, compliance, Lanes::ZERO);
    let between: M<Lanes> = part(whole, 12);
    // By columns of the transposed: `D^-1 W_lr^T`.
    let back = transpose(&between);
    let pull = symmetric_times(&inverse, &back);
    let own = less(&part(whole, 0), &back, &pull);
    put(whole, 0, own);
    put(whole, 12, product(&between, &reply));
    put(whole, 21, difference(part(whole, 21), apply(&between, answer)));
}

/// What a group of bodies does by itself, and passes on to its joints. A function of its own, like the other
/// operations below: compilers take very long over all of them in one.
struct RespondAndPass<'a, 'b> {
    bodies: &'a BodyGroups<'b>,
    task: &'a SolveTask<'b>,
    constants: &'a GroupConstants,
    group: usize,
    free: &'a mut FreeResponse,
    ends: &'a mut Passed<Lanes>,
}

impl NullaryFnOnce for RespondAndPass<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let free = FreeResponse::new(self.bodies, self.constants, self.task, self.group);
        free.pass(self.constants, self.ends);
        *self.free = free;
    }
}

/// Shows a group of a part with its pins, `next_pin` being the first that is not before it.
#[inline(always)]
fn show<W: Simd>(
    simd: W,
    (bodies, task): (&BodyGroups<'_>, &SolveTask<'_>),
    constants: &GroupConstants,
    pins: &mut Pins<'_>,
    group: usize,
    next_pin: &mut usize,
    (free, ends): (&mut FreeResponse, &mut Passed<Lanes>),
) {
    simd.vectorize(RespondAndPass { bodies, task, constants, group, free, ends });
    while pins.group(*next_pin) == Some(group) {
        hold(&mut pins.list[*next_pin], pins.held, ends);
        *next_pin += 1;
    }
}

/// Takes the degrees of freedom that a pin holds away from its body.
#[inline(never)]
fn hold(pin: &mut Pin, held: &[Affine], all: &mut Passed<Lanes>) {
    let k = pin.node as usize % LANES;
    let mut ends = [0.0; PASSED];
    for c in 0..PASSED {
        ends[c] = all[c].0[k];
    }
    let place = &held[pin.held as usize];
    let target: Vec3 = place.frame * pin.anchor + place.origin;
    let (own, other, tips) = if pin.at_right { (6, 0, [24, 21]) } else { (0, 6, [21, 24]) };
    // How forces at the other end move this one.
    let between = if pin.at_right { transpose(&part(&ends, 12)) } else { part(&ends, 12) };
    let before: S<f64> = part(&ends, own);
    let mut block = before;
    let mut scale: [f64; 3] = part(&ends, if pin.at_right { 30 } else { 27 });
    for (k, c) in [0, 3, 5].into_iter().enumerate() {
        block[c] += pin.compliance;
        scale[k] += pin.compliance;
    }
    let inverse = inverse(block, scale, 0.0);
    let [a, b, c, d, e, f] = before;
    let whole = [a, b, c, b, d, e, c, e, f];
    pin.own = symmetric_times(&inverse, &whole);
    pin.between = symmetric_times(&inverse, &between);
    pin.answer = times(&inverse, difference(part(&ends, tips[0]), target.into()));
    let less_own = less(&before, &whole, &pin.own);
    let less_other = less(&part(&ends, other), &between, &pin.between);
    let mut crossed = product(&whole, &pin.between);
    for c in 0..9 {
        crossed[c] = between[c] - crossed[c];
    }
    let crossed = if pin.at_right { transpose(&crossed) } else { crossed };
    let tip: [f64; 3] = difference(part(&ends, tips[0]), apply(&whole, pin.answer));
    let far: [f64; 3] = difference(part(&ends, tips[1]), apply_transposed(&between, pin.answer));
    put(&mut ends, own, less_own);
    put(&mut ends, other, less_other);
    put(&mut ends, 12, crossed);
    put(&mut ends, tips[0], tip);
    put(&mut ends, tips[1], far);
    for c in 0..PASSED {
        all[c].0[k] = ends[c];
    }
}

struct Join<'a> {
    whole: &'a mut Passed<Lanes>,
    carry: &'a mut RightEnd<Lanes>,
    next: &'a Passed<Lanes>,
    compliance: Lanes,
}

impl NullaryFnOnce for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        join(self.whole, self.carry, self.next, self.compliance);
    }
}

struct EliminateJoint<'a> {
    carry: &'a mut RightEnd<Lanes>,
    next: &'a Passed<Lanes>,
    compliance: Lanes,
    kept: &'a mut Kept,
}

impl NullaryFnOnce for EliminateJoint<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (_, reply, answer) = eliminate(self.carry, self.next, self.compliance, Lanes::ZERO);
        (self.kept.reply, self.kept.answer) = (reply, answer);
    }
}

/// Reduces every segment to the stretch that it is.
pub(super) struct Reduce<'a, 'b> {
    pub(super) part: Span<'a>,
    pub(super) task: &'a SolveTask<'b>,
}

impl WithSimd for Reduce<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<W: Simd>(self, simd: W) {
        let Self { part, task } = self;
        let Span { length, bodies, constants, group_of, mut pins, passed, kept, .. } = part;
        let (mut unkept, mut whole, mut pin) = ([Lanes::ZERO; PASSED], [Lanes::ZERO; PASSED], 0);
        let mut free = FreeResponse::NONE;
        let mut carry = right(&whole);
        for (group, &kind) in group_of.iter().enumerate() {
            let (free, next) = match passed.get_mut(group) {
                Some(ends) => (&mut kept[group].free, ends),
                None => (&mut free, &mut unkept),
            };
            let constants = &constants[kind as usize];
            show(simd, (&bodies, task), constants, &mut pins, group, &mut pin, (free, next));
            if group % length == 0 {
                whole = *next;
                carry = right(&whole);
            } else {
                let (whole, carry) = (&mut whole, &mut carry);
                simd.vectorize(Join { whole, carry, next, compliance: part.compliance[group] });
            }
            if (group + 1) % length == 0 {
                put(&mut whole, 6, carry.own);
                put(&mut whole, 24, carry.tip);
                put(&mut whole, 30, carry.scale);
                let first = group / length * LANES;
                for (k, segment) in part.segments[first..first + LANES].iter_mut().enumerate() {
                    for c in 0..PASSED {
                        segment[c] = whole[c].0[k];
                    }
                }
            }
        }
    }
}

/// Finds the multipliers between segments.
pub(super) fn couple(chains: &mut Chains) {
    let Chains { segments, replies, edges, compliance, length, .. } = chains;
    let mut carry = right(&segments[0]);
    edges[0] = [0.0; 3];
    for s in 1..segments.len() {
        let softness = compliance[s / LANES * *length].0[s % LANES];
        let (_, reply, answer) = eliminate(&mut carry, &segments[s], softness, 0.0);
        (replies[s], edges[s]) = (reply, answer);
    }
    edges[segments.len()] = [0.0; 3];
    for s in (1..segments.len()).rev() {
        edges[s] = sum(edges[s], apply(&replies[s], edges[s + 1]));
    }
}

/// Solves every segment under the forces at its ends and moves the bodies; tells the largest squared
/// norm of a strain after that, and the sum of all.
pub(super) struct Substitute<'a, 'b> {
    pub(super) part: Span<'a>,
    pub(super) task: &'a SolveTask<'b>,
}

impl WithSimd for Substitute<'_, '_> {
    type Output = [Lanes; 2];

    #[inline(always)]
    fn with_simd<W: Simd>(self, simd: W) -> [Lanes; 2] {
        let Self { mut part, task } = self;
        let (mut worst, mut pin) = ([Lanes::ZERO; 2], 0);
        for block in 0..part.blocks() {
            let first = block * part.length;
            let first_pin = pin;
            forward(simd, &mut part, task, block, &mut pin);
            let mut next_pin = pin;
            let mut forces = edges(&part.edges[block * LANES + 1..]);
            for group in (first..first + part.length).rev() {
                let kept = &part.kept[group - first];
                let own = if group == first {
                    edges(&part.edges[block * LANES..])
                } else {
                    add(kept.answer, apply(&kept.reply, forces))
                };
                part.forces[group] = own;
                // Pulls at the right, pushes at the left.
                let mut ends = [sub(ZERO3, own), forces];
                while next_pin > first_pin && part.pins.group(next_pin - 1) == Some(group) {
                    next_pin -= 1;
                    part.pins.list[next_pin].push(&mut ends);
                }
                let constants = &part.constants[part.group_of[group] as usize];
                let (bodies, free) = (&mut part.bodies, &part.kept[group - first].free);
                let worst = &mut worst;
                simd.vectorize(Finish {
                    bodies,
                    task,
                    group,
                    free,
                    constants,
                    forces: ends,
                    worst,
                });
                forces = own;
            }
        }
        worst
    }
}

/// The multipliers at the left of four segments.
#[inline(always)]
fn edges(edges: &[[f64; 3]]) -> V {
    let mut forces = ZERO3;
    for (k, edge) in edges[..LANES].iter().enumerate() {
        for i in 0..3 {
            forces[i].0[k] = edge[i];
        }
    }
    forces
}

/// Eliminates the joints of a block of segments, which begin under known forces.
#[inline(always)]
fn forward<W: Simd>(
    simd: W,
    part: &mut Span<'_>,
    task: &SolveTask<'_>,
    block: usize,
    pin: &mut usize,
) {
    let Span { length, bodies, constants, group_of, compliance, pins, passed, kept, edges, .. } =
        part;
    let first = block * *length;
    let mut unkept = [Lanes::ZERO; PASSED];
    let mut carry = right(&unkept);
    for (group, kept) in (first..).zip(&mut kept[..*length]) {
        let next = if let Some(ends) = passed.get(group) {
            *pin = pins.list.len();
            ends
        } else {
            let constants = &constants[group_of[group] as usize];
            let room = (&mut kept.free, &mut unkept);
            show(simd, (bodies, task), constants, pins, group, pin, room);
            &unkept
        };
        if group == first {
            carry = right(next);
            let pushed = self::edges(&edges[block * LANES..]);
            carry.tip = sum(carry.tip, apply_transposed(&self::part(next, 12), pushed));
        } else {
            let (carry, compliance) = (&mut carry, compliance[group]);
            simd.vectorize(EliminateJoint { carry, next, compliance, kept });
        }
    }
}

/// Moves four bodies under the forces of their joints.
struct Finish<'a, 'b> {
    bodies: &'a mut BodyGroups<'b>,
    task: &'a SolveTask<'b>,
    group: usize,
    free: &'a FreeResponse,
    constants: &'a GroupConstants,
    forces: [V; 2],
    /// Largest squared norm of a strain, and the sum of all.
    worst: &'a mut [Lanes; 2],
}

impl NullaryFnOnce for Finish<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { bodies, task, group: index, free, constants, forces, worst } = self;
        let (turned, shift, load) = free.under(constants, forces);
        if task.geometric.is_some() {
            bodies.tension[index] = sub(ZERO3, load);
        }
        if task.probes {
            return;
        }
        if task.resumes {
            bodies.start[index] = group(free.at, free.centre);
            bodies.rate[index] = group(turned, shift);
        } else {
            let moved = &mut bodies.moved[index];
            let (before, from) = (frame(moved), origin(moved));
            *moved = group(plus(before, turned), add(from, shift));
        }
        let strain = squared_strain(plus(free.at, turned));
        *worst = [worst[0].max(strain), worst[1] + strain];
    }
}

/// Squared norm of `A^T A - 1`.
#[inline(always)]
pub(crate) fn squared_strain([a, b, c]: crate::lane::M) -> Lanes {
    let (one, aside) = (Lanes::ONE, [dot(a, b), dot(a, c), dot(b, c)]);
    let along = [dot(a, a) - one, dot(b, b) - one, dot(c, c) - one];
    let twice = dot(aside, aside);
    dot(along, along) + twice + twice
}

impl Pin {
    /// Adds its force to those at the left and the right end of its body.
    fn push(&mut self, ends: &mut [V; 2]) {
        let k = self.node as usize % LANES;
        let at = |end: &V| [end[0].0[k], end[1].0[k], end[2].0[k]];
        let (own, other) = (usize::from(self.at_right), usize::from(!self.at_right));
        let moved = sum(apply(&self.own, at(&ends[own])), apply(&self.between, at(&ends[other])));
        self.force = difference(self.answer, moved);
        for (end, force) in ends[own].iter_mut().zip(self.force) {
            end.0[k] += force;
        }
    }
}
