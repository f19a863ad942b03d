//! Conditions that hold lane by lane: one where they do, zero elsewhere.

use taut_math::{Number, Sym3, V3};

/// One where `x` is above zero.
#[inline(always)]
pub(super) fn positive<N: Number>(x: N) -> N {
    x.where_above(N::ZERO, N::ONE, N::ZERO)
}

/// `yes` where `on` is above zero, else `no`.
#[inline(always)]
pub(super) fn pick<N: Number>(on: N, yes: N, no: N) -> N {
    on.where_above(N::ZERO, yes, no)
}

/// The same for vectors.
#[inline(always)]
pub(super) fn pick_vector<N: Number>(on: N, yes: V3<N>, no: V3<N>) -> V3<N> {
    let part = |i: usize| pick(on, yes.0[i], no.0[i]);
    V3([part(0), part(1), part(2)])
}

/// The same for symmetric matrices.
#[inline(always)]
pub(super) fn pick_matrix<N: Number>(on: N, yes: Sym3<N>, no: Sym3<N>) -> Sym3<N> {
    let entry = |i: usize| pick(on, yes.0[i], no.0[i]);
    Sym3([entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)])
}

/// Sum of the sizes of all components: above zero for every vector but zero, however small.
#[inline(always)]
pub(super) fn size<N: Number>(v: V3<N>) -> N {
    v.0[0].abs() + v.0[1].abs() + v.0[2].abs()
}
