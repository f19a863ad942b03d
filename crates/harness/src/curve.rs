//! Integral measures of curves: how far one is from another, and how steep.

/// Mean difference, difference over the last tenth and of the slopes of `(x, old, new)`; `None` without points.
pub(crate) fn measures(pairs: &[(f64, f64, f64)]) -> Option<[f64; 3]> {
    let length = pairs.last()?.0 - pairs[0].0;
    Some([mean(pairs), end(pairs, length), slope_change(pairs, length)])
}

/// Mean of the difference by the trapezoidal rule.
fn mean(pairs: &[(f64, f64, f64)]) -> f64 {
    let off = |p: &(f64, f64, f64)| p.2 - p.1;
    let area: f64 =
        pairs.windows(2).map(|w| 0.5 * (off(&w[0]) + off(&w[1])) * (w[1].0 - w[0].0)).sum();
    let length = pairs.last().map_or(0.0, |p| p.0) - pairs[0].0;
    if length > 0.0 { area / length } else { off(&pairs[0]) }
}

/// Mean difference over the last tenth.
fn end(pairs: &[(f64, f64, f64)], length: f64) -> f64 {
    let from = pairs.last().map_or(0.0, |p| p.0) - 0.1 * length;
    let first = pairs.partition_point(|p| p.0 < from);
    mean(&pairs[first..])
}

fn slope_change(pairs: &[(f64, f64, f64)], length: f64) -> f64 {
    let line = |of: fn(&(f64, f64, f64)) -> f64| {
        fit_line(&pairs.iter().map(|p| (p.0, of(p))).collect::<Vec<_>>())
    };
    (line(|p| p.2) - line(|p| p.1)) * length
}

/// Slope of the least-squares line.
pub(crate) fn fit_line(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xx, mut xy) = (0.0, 0.0);
    for &(x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
    }
    if xx > 0.0 { xy / xx } else { 0.0 }
}
