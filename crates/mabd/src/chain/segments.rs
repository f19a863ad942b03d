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

use pulp::{Simd, WithSimd};
use taut_core::Vec3;
use taut_math::{Fused, LANES, Number};

use super::{
    Chains, Pin,
    span::{Pins, Span},
};
use crate::{
    affine::Affine,
    algebra::{
        RowMatrix, S, apply, apply_transposed, difference, inverse, less, product, sum,
        symmetric_times, times, transpose,
    },
    free::{FreeResponse, GroupKind, Passed, SolveTask, StretchEnd},
    lane::{V, ZERO3, add, sub},
    node::BodyGroups,
    settings::Polar,
    simd::Once,
};

/// Eliminates the joint between what ends in `carry` and `next`; tells its `N` and `y`.
#[inline(always)]
fn eliminate<T: Number>(
    carry: &mut StretchEnd<T>,
    next: &Passed<T>,
    compliance: T,
) -> (S<T>, RowMatrix<T>, [T; 3]) {
    let mut block = carry.own;
    for (entry, left) in block.iter_mut().zip(next.left.own) {
        *entry += left;
    }
    let mut scale = sum(carry.scale, next.left.scale);
    for (k, c) in [0, 3, 5].into_iter().enumerate() {
        block[c] += compliance;
        scale[k] += compliance;
    }
    let inverse = inverse(block, scale);
    let reply = symmetric_times(&inverse, &next.across);
    let answer = times(&inverse, difference(carry.tip, next.left.tip));
    carry.own = less(&next.right.own, &next.across, &reply);
    carry.scale = next.right.scale;
    carry.tip = sum(next.right.tip, apply_transposed(&next.across, answer));
    (inverse, reply, answer)
}

/// Joins a stretch to the body after it.
#[inline(never)]
fn join<W: Simd>(
    simd: W,
    (whole, carry): (&mut Passed<Fused>, &mut StretchEnd<Fused>),
    next: &Passed<Fused>,
    compliance: Fused,
) {
    let once = Once;
    simd.vectorize(
        #[inline(always)]
        || {
            once.spend();
            let (inverse, reply, answer) = eliminate(carry, next, compliance);
            // By columns of the transposed: `D^-1 W_lr^T`.
            let back = transpose(&whole.across);
            let pull = symmetric_times(&inverse, &back);
            whole.left.own = less(&whole.left.own, &back, &pull);
            whole.left.tip = difference(whole.left.tip, apply(&whole.across, answer));
            whole.across = product(&whole.across, &reply);
        },
    );
}

/// What a group of bodies does by itself, if that is asked for, and passes on to its joints.
#[inline(never)]
fn show<W: Simd>(
    simd: W,
    (bodies, task): (&BodyGroups<'_>, &SolveTask<'_>),
    kind: GroupKind<'_>,
    group: usize,
    free: Option<&mut FreeResponse>,
    ends: &mut Passed<Fused>,
) {
    let once = Once;
    simd.vectorize(
        #[inline(always)]
        || {
            once.spend();
            let found = FreeResponse::new(bodies, kind.constants, task, group, Polar::Exact);
            found.pass(kind, ends);
            if let Some(free) = free {
                *free = found;
            }
        },
    );
}

/// Takes what the pins of a group hold away from its bodies; `next_pin` is the first that is not before the group.
#[inline(always)]
fn hold_all(pins: &mut Pins<'_>, group: usize, next_pin: &mut usize, ends: &mut Passed<Fused>) {
    while pins.group(*next_pin) == Some(group) {
        hold(&mut pins.list[*next_pin], pins.held, ends);
        *next_pin += 1;
    }
}

/// Eliminates the joint between what ends in `carry` and a group, of which the rest is kept.
#[inline(never)]
fn advance<W: Simd>(
    simd: W,
    carry: &mut StretchEnd<Fused>,
    next: &Passed<Fused>,
    compliance: Fused,
    (reply, answer): (&mut RowMatrix<Fused>, &mut V),
) {
    let once = Once;
    simd.vectorize(
        #[inline(always)]
        || {
            once.spend();
            (_, *reply, *answer) = eliminate(carry, next, compliance);
        },
    );
}

/// Moves a group under the forces at its ends.
///
/// Its body and its kind are handed over one by one: as a pair they are copied in memory, by reads that have to wait
/// until what was written there in smaller pieces has left the processor.
#[inline(never)]
fn move_group<W: Simd>(
    simd: W,
    (bodies, group): (&mut BodyGroups<'_>, usize),
    free: &FreeResponse,
    kind: GroupKind<'_>,
    task: &SolveTask<'_>,
    ends: &[V; 2],
    worst: &mut [Fused; 2],
) {
    let once = Once;
    simd.vectorize(
        #[inline(always)]
        || {
            once.spend();
            let (turned, shift, load) = free.under(kind, *ends);
            free.finish((bodies, group), task, (turned, shift), load, worst);
        },
    );
}

/// Takes the degrees of freedom that a pin holds away from its body.
#[inline(never)]
fn hold(pin: &mut Pin, held: &[Affine], all: &mut Passed<Fused>) {
    let k = pin.node as usize % LANES;
    let mut ends = all.lane(k);
    let place = &held[pin.held as usize];
    let target: Vec3 = place.frame * pin.anchor + place.origin;
    let (own, other) = if pin.at_right {
        (&mut ends.right, &mut ends.left)
    } else {
        (&mut ends.left, &mut ends.right)
    };
    // How forces at the other end move this one.
    let between = if pin.at_right { transpose(&ends.across) } else { ends.across };
    let (mut block, mut scale) = (own.own, own.scale);
    for (k, c) in [0, 3, 5].into_iter().enumerate() {
        block[c] += pin.compliance;
        scale[k] += pin.compliance;
    }
    let inverse = inverse(block, scale);
    let [a, b, c, d, e, f] = own.own;
    let whole = [a, b, c, b, d, e, c, e, f];
    pin.own = symmetric_times(&inverse, &whole);
    pin.between = symmetric_times(&inverse, &between);
    pin.answer = times(&inverse, difference(own.tip, target.into()));
    own.own = less(&own.own, &whole, &pin.own);
    own.tip = difference(own.tip, apply(&whole, pin.answer));
    other.own = less(&other.own, &between, &pin.between);
    other.tip = difference(other.tip, apply_transposed(&between, pin.answer));
    let mut crossed = product(&whole, &pin.between);
    for c in 0..9 {
        crossed[c] = between[c] - crossed[c];
    }
    ends.across = if pin.at_right { transpose(&crossed) } else { crossed };
    all.put_lane(k, &ends);
}

/// Reduces every segment to the stretch that it is.
pub(super) struct Reduce<'a, 'b> {
    pub(super) span: Span<'a>,
    pub(super) task: &'a SolveTask<'b>,
}

impl WithSimd for Reduce<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<W: Simd>(self, simd: W) {
        let Self { span, task } = self;
        let Span { length, bodies, kinds, mut pins, passed, kept, .. } = span;
        let (mut unkept, mut whole, mut pin) = (Passed::NONE, Passed::NONE, 0);
        let mut carry = whole.right;
        for (group, kind) in kinds.each().enumerate() {
            let (free, next) = match passed.get_mut(group) {
                Some(ends) => (Some(&mut kept[group].free), ends),
                None => (None, &mut unkept),
            };
            show(simd, (&bodies, task), kind, group, free, next);
            hold_all(&mut pins, group, &mut pin, next);
            if group % length == 0 {
                whole = *next;
                carry = whole.right;
            } else {
                join(simd, (&mut whole, &mut carry), next, span.compliance[group]);
            }
            if (group + 1) % length == 0 {
                whole.right = carry;
                let first = group / length * LANES;
                for (k, segment) in span.segments[first..first + LANES].iter_mut().enumerate() {
                    *segment = whole.lane(k);
                }
            }
        }
    }
}

/// Finds the multipliers between segments.
pub(super) fn couple(chains: &mut Chains) {
    let Chains { segments, replies, edges, compliance, length, .. } = chains;
    let mut carry = segments[0].right;
    edges[0] = [0.0; 3];
    for s in 1..segments.len() {
        let softness = compliance[s / LANES * *length].0[s % LANES];
        let (_, reply, answer) = eliminate(&mut carry, &segments[s], softness);
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
    pub(super) span: Span<'a>,
    pub(super) task: &'a SolveTask<'b>,
}

impl WithSimd for Substitute<'_, '_> {
    type Output = [Fused; 2];

    #[inline(always)]
    fn with_simd<W: Simd>(self, simd: W) -> [Fused; 2] {
        let Self { mut span, task } = self;
        let (mut worst, mut pin) = ([Fused::ZERO; 2], 0);
        for block in 0..span.blocks() {
            let first = block * span.length;
            let first_pin = pin;
            forward(simd, &mut span, task, block, &mut pin);
            let mut next_pin = pin;
            let mut forces = edges(&span.edges[block * LANES + 1..]);
            for group in (first..first + span.length).rev() {
                let kept = &span.kept[group - first];
                let own = if group == first {
                    edges(&span.edges[block * LANES..])
                } else {
                    add(kept.answer, apply(&kept.reply, forces))
                };
                span.forces[group] = own;
                // Pulls at the right, pushes at the left.
                let mut ends = [sub(ZERO3, own), forces];
                while next_pin > first_pin && span.pins.group(next_pin - 1) == Some(group) {
                    next_pin -= 1;
                    span.pins.list[next_pin].push(&mut ends);
                }
                let kind = span.kinds.at(group);
                let free = &span.kept[group - first].free;
                let at = (&mut span.bodies, group);
                move_group(simd, at, free, kind, task, &ends, &mut worst);
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
    span: &mut Span<'_>,
    task: &SolveTask<'_>,
    block: usize,
    pin: &mut usize,
) {
    let Span { length, bodies, kinds, compliance, pins, passed, kept, edges, .. } = span;
    let first = block * *length;
    let mut unkept = Passed::NONE;
    let mut carry = unkept.right;
    for (group, kept) in (first..).zip(&mut kept[..*length]) {
        let next = if let Some(ends) = passed.get(group) {
            *pin = pins.list.len();
            ends
        } else {
            let free = Some(&mut kept.free);
            show(simd, (bodies, task), kinds.at(group), group, free, &mut unkept);
            hold_all(pins, group, pin, &mut unkept);
            &unkept
        };
        if group == first {
            carry = next.right;
            let pushed = self::edges(&edges[block * LANES..]);
            carry.tip = sum(carry.tip, apply_transposed(&next.across, pushed));
        } else {
            let kept = (&mut kept.reply, &mut kept.answer);
            advance(simd, &mut carry, next, compliance[group], kept);
        }
    }
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
