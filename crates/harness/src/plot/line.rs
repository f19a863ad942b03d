//! Lines as lists of points: clipped, thinned and dashed.

use super::list::Pixel;

/// The part of a segment inside a box (Liang and Barsky 1984).
pub(super) fn clip_segment(a: Pixel, b: Pixel, low: Pixel, high: Pixel) -> Option<(Pixel, Pixel)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    let sides = [(-dx, a.0 - low.0), (dx, high.0 - a.0), (-dy, a.1 - low.1), (dy, high.1 - a.1)];
    for (rate, room) in sides {
        if rate == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if rate < 0.0 {
            start = start.max(room / rate);
        } else {
            end = end.min(room / rate);
        }
    }
    let at = |t: f64| if t == 0.0 { a } else { (a.0 + t * dx, a.1 + t * dy) };
    (start <= end).then(|| (at(start), if end == 1.0 { b } else { at(end) }))
}

/// Keeps first, lowest, highest and last point of each column of pixels, which look the same.
pub(super) fn thin(run: &[Pixel]) -> Vec<Pixel> {
    let column = |p: &Pixel| p.0.floor();
    let mut kept = Vec::with_capacity(run.len());
    for group in run.chunk_by(|a, b| column(a) == column(b)) {
        let by_y = |a: &&Pixel, b: &&Pixel| a.1.total_cmp(&b.1);
        let extremes = [group.iter().min_by(by_y), group.iter().max_by(by_y)];
        let wanted = |p: &&Pixel| {
            extremes.contains(&Some(*p)) || Some(*p) == group.first() || Some(*p) == group.last()
        };
        kept.extend(group.iter().filter(wanted).copied());
    }
    kept
}

/// The fewest of a line's points from which it is nowhere farther than `tolerance` [px] (Douglas and Peucker 1973).
pub(crate) fn simplified(run: &[Pixel], tolerance: f64) -> Vec<Pixel> {
    let mut kept = vec![false; run.len()];
    let mut open = vec![(0, run.len().saturating_sub(1))];
    while let Some((first, last)) = open.pop() {
        let (Some(&a), Some(&b)) = (run.get(first), run.get(last)) else { continue };
        (kept[first], kept[last]) = (true, true);
        let between = (first + 1..last).map(|i| (i, distance(run[i], a, b)));
        let farthest = between.max_by(|x, y| x.1.total_cmp(&y.1));
        if let Some((middle, _)) = farthest.filter(|(_, far)| *far > tolerance) {
            open.extend([(first, middle), (middle, last)]);
        }
    }
    run.iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// Of a point from a segment.
fn distance(p: Pixel, a: Pixel, b: Pixel) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let squared = dx * dx + dy * dy;
    let along = if squared > 0.0 { ((p.0 - a.0) * dx + (p.1 - a.1) * dy) / squared } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    (p.0 - a.0 - along * dx).hypot(p.1 - a.1 - along * dy)
}

/// Splits a line into its dashes; no pattern gives the line itself.
pub(super) fn dashes(run: &[Pixel], pattern: &[f64]) -> Vec<Vec<Pixel>> {
    let Some(&first) = run.first().filter(|_| !pattern.is_empty()) else {
        return vec![run.to_vec()];
    };
    let mut pieces = vec![vec![first]];
    let (mut place, mut left) = (0, pattern[0]);
    for pair in run.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            // Even places are drawn, odd ones are gaps.
            let drawn = place % 2 == 0;
            if length <= left {
                left -= length;
                if drawn && let Some(piece) = pieces.last_mut() {
                    piece.push(to);
                }
                break;
            }
            let t = left / length;
            from = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            match pieces.last_mut() {
                Some(piece) if drawn => piece.push(from),
                _ => pieces.push(vec![from]),
            }
            place = (place + 1) % pattern.len();
            left = pattern[place];
        }
    }
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_what_can_be_seen() {
        let line = [(0.0, 0.0), (1.0, 0.1), (2.0, -0.1), (3.0, 5.0), (4.0, 0.0)];
        assert_eq!(simplified(&line, 0.5), [(0.0, 0.0), (2.0, -0.1), (3.0, 5.0), (4.0, 0.0)]);
        assert_eq!(simplified(&line, 0.0), line);
        assert_eq!(simplified(&[(1.0, 2.0)], 0.5), [(1.0, 2.0)]);
        assert!(simplified(&[], 0.5).is_empty());
        let loop_back = [(0.0, 0.0), (9.0, 0.0), (0.0, 0.0)];
        assert_eq!(simplified(&loop_back, 0.5), loop_back);
    }

    #[test]
    fn dashes_are_as_long_as_their_pattern() {
        let pieces = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], &[2.0, 1.0]);
        assert_eq!(pieces[0], [(0.0, 0.0), (2.0, 0.0)]);
        assert_eq!(pieces[1][0], (3.0, 0.0));
        assert!(pieces.iter().flatten().all(|p| p.0 <= 10.0 && p.1 <= 10.0));
        assert_eq!(dashes(&[(0.0, 0.0), (1.0, 0.0)], &[]).len(), 1);
    }

    #[test]
    fn thinning_keeps_extremes() {
        let run: Vec<Pixel> = (0..100).map(|i| (0.5, f64::from((i * 37) % 100))).collect();
        let kept = thin(&run);
        assert!(kept.len() <= 4);
        assert!(kept.iter().any(|p| p.1 == 0.0) && kept.iter().any(|p| p.1 == 99.0));
    }
}
