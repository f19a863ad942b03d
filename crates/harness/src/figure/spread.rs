//! Whether a change of curves means anything that move with their starts.
//!
//! Where a curve moves so much with a start that rounding cannot tell from its own that a band would be blind, the
//! figure is run from moved starts again, and an exact permutation test says whether the two samples differ.

use taut_core::Table;

use super::{
    Figure, PanelCurves,
    band::{CurveSpread, Measures},
    baseline::{self, Change, Shift},
};
use crate::plot::Scale;

/// A sample differs where chance alone would make it so less often.
const CHANCE: f64 = 0.01;
/// Smaller differences are not worth a word, however sure they are.
const EFFECT: f64 = 0.01;
/// What a curve that a moved start cuts short counts as.
const LOST: f64 = 10.0;

/// How the curves of moved starts differ from `own`, which are about to be recorded.
pub(super) fn spreads(
    table: &Table,
    figure: &Figure,
    own: &[PanelCurves],
    moved: &[Vec<PanelCurves>],
) -> Vec<CurveSpread> {
    let own = baseline::repeatable(table, figure, own);
    let compared: Vec<Vec<Shift>> =
        moved.iter().map(|curves| baseline::compare(table, figure, curves, &own, &[])).collect();
    let curves = own.iter().flat_map(|p| p.curves.iter().map(|curve| (p.panel, &curve.label)));
    let spread = |(panel, label): (usize, &String)| CurveSpread {
        panel,
        curve: label.clone(),
        starts: compared.iter().map(|shifts| found(shifts, panel, label)).collect(),
    };
    curves.map(spread).collect()
}

/// The measures of one curve; those of one that is not whole count as lost.
fn found(shifts: &[Shift], panel: usize, curve: &str) -> Measures {
    let shift = shifts.iter().find(|shift| shift.panel == panel && shift.curve == curve);
    match shift {
        Some(s) if !matches!(s.change, Change::Shorter | Change::Missing) => {
            [s.area, s.end, s.slope]
        }
        _ => [LOST; 3],
    }
}

/// Decides what became of curves whose bands would be blind, by runs from moved starts.
pub(super) fn settle(
    table: &Table,
    figure: &Figure,
    recorded: &[PanelCurves],
    spreads: &[CurveSpread],
    moved: &[Vec<PanelCurves>],
    shifts: &mut [Shift],
) {
    let now: Vec<Vec<Shift>> = moved
        .iter()
        .map(|curves| baseline::compare(table, figure, curves, recorded, &[]))
        .collect();
    for shift in shifts.iter_mut().filter(|shift| shift.change == Change::Unsettled) {
        let spread = spreads.iter().find(|s| s.panel == shift.panel && s.curve == shift.curve);
        let Some(spread) = spread else { continue };
        let mut then = spread.starts.clone();
        then.push([0.0; 3]);
        let mut here: Vec<Measures> =
            now.iter().map(|shifts| found(shifts, shift.panel, &shift.curve)).collect();
        here.push([shift.area, shift.end, shift.slope]);
        let log = figure.plot.panels[shift.panel].y.scale == Scale::Log;
        shift.change = verdict(&then, &here, log);
    }
}

/// Whether one sample of curves differs from another, and how.
fn verdict(then: &[Measures], now: &[Measures], log: bool) -> Change {
    let one = |k: usize| {
        let [then, now] = [then, now].map(|all| all.iter().map(|m| m[k]).collect::<Vec<f64>>());
        let [lower, higher] = chances(&then, &now);
        let by = mean(&now) - mean(&then);
        let sure = by.abs() >= EFFECT && (if by < 0.0 { lower } else { higher }) < CHANCE;
        sure.then_some(by < 0.0)
    };
    let lower: Vec<bool> = (0..3).filter_map(one).collect();
    match lower.as_slice() {
        [] => Change::Same,
        all if log && all.iter().all(|lower| *lower) => Change::Better,
        _ => Change::Worse,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// How often `now` would have a mean as low, and as high, as it has if all values came from one source: the shares
/// of all ways to choose as many of them [1].
fn chances(then: &[f64], now: &[f64]) -> [f64; 2] {
    let all: Vec<f64> = then.iter().chain(now).copied().collect();
    let observed: f64 = now.iter().sum();
    // Sums in another order differ by rounding.
    let slack = 1e-12 * all.iter().map(|x| x.abs()).sum::<f64>();
    let (mut lower, mut higher, mut ways) = (0_u64, 0_u64, 0_u64);
    choose(&all, now.len(), 0.0, &mut |sum| {
        ways += 1;
        lower += u64::from(sum <= observed + slack);
        higher += u64::from(sum >= observed - slack);
    });
    [lower as f64 / ways as f64, higher as f64 / ways as f64]
}

/// The sums of all choices of `count` values.
fn choose(values: &[f64], count: usize, sum: f64, each: &mut impl FnMut(f64)) {
    if count == 0 {
        each(sum);
    } else if let Some((first, rest)) = values.split_first().filter(|_| values.len() >= count) {
        choose(rest, count - 1, sum + first, each);
        choose(rest, count, sum, each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_shares_of_all_choices() {
        // Of the six ways to choose two of four, one has the largest sum.
        assert_eq!(chances(&[1.0, 2.0], &[3.0, 4.0]), [1.0, 1.0 / 6.0]);
        assert_eq!(chances(&[1.0, 1.0], &[1.0, 1.0]), [1.0, 1.0]);
    }

    #[test]
    fn samples_differ_where_chance_would_hardly_make_them() {
        let sample = |by: f64, wide: f64| -> Vec<Measures> {
            (0..9).map(|i| [by + wide * (f64::from(i) - 4.0) / 4.0, 0.0, 0.0]).collect()
        };
        assert_eq!(verdict(&sample(0.0, 0.2), &sample(0.0, 0.2), true), Change::Same);
        assert_eq!(verdict(&sample(0.0, 0.2), &sample(0.05, 0.2), true), Change::Same);
        assert_eq!(verdict(&sample(0.0, 0.2), &sample(0.3, 0.2), true), Change::Worse);
        assert_eq!(verdict(&sample(0.0, 0.2), &sample(-0.3, 0.2), true), Change::Better);
        assert_eq!(verdict(&sample(0.0, 0.2), &sample(-0.3, 0.2), false), Change::Worse);
        // Sure, but not worth a word.
        assert_eq!(verdict(&sample(0.0, 0.001), &sample(0.006, 0.001), true), Change::Same);
    }
}
