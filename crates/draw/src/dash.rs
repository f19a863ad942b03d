//! Dashes of lines in the plane of a picture.

/// The parts of a line's length that are drawn, as pairs of lengths from its start; a pattern of dash and gap repeats.
pub(crate) fn dashes(length: f64, pattern: &[f64]) -> Vec<(f64, f64)> {
    let period: f64 = pattern.iter().sum();
    if pattern.is_empty() || !(period > 0.0 && period.is_finite()) {
        return vec![(0.0, length)];
    }
    let mut drawn = Vec::new();
    let mut start = 0.0;
    for (index, part) in pattern.iter().cycle().enumerate() {
        if start >= length {
            break;
        }
        // An odd number of parts swaps dashes and gaps from one period to the next, as SVG has it.
        if index % 2 == 0 {
            drawn.push((start, (start + part).min(length)));
        }
        start += part;
    }
    drawn
}

/// The points of a line from one length to another; every point is at least two numbers, of which the first two are its
/// place in the picture.
pub(crate) fn part<const N: usize>(line: &[[f64; N]], from: f64, to: f64) -> Vec<[f64; N]> {
    let mut points = Vec::new();
    let mut start = 0.0;
    for pair in line.windows(2) {
        let length = distance(&pair[0], &pair[1]);
        let at = |s: f64| {
            let t = if length > 0.0 { ((s - start) / length).clamp(0.0, 1.0) } else { 0.0 };
            std::array::from_fn(|i| pair[0][i] + t * (pair[1][i] - pair[0][i]))
        };
        if start + length >= from && start <= to {
            if points.is_empty() {
                points.push(at(from));
            }
            points.push(at(to));
        }
        start += length;
    }
    points
}

/// Length of a line in the picture.
pub(crate) fn length<const N: usize>(line: &[[f64; N]]) -> f64 {
    line.windows(2).map(|pair| distance(&pair[0], &pair[1])).sum()
}

fn distance<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_repeat_and_end_with_the_line() {
        assert_eq!(dashes(10.0, &[3.0, 2.0]), [(0.0, 3.0), (5.0, 8.0)]);
        assert_eq!(dashes(6.0, &[3.0, 2.0]), [(0.0, 3.0), (5.0, 6.0)]);
        assert_eq!(dashes(6.0, &[]), [(0.0, 6.0)]);
        assert_eq!(dashes(6.0, &[0.0, 0.0]), [(0.0, 6.0)]);
    }

    #[test]
    fn parts_go_around_corners() {
        let line = [[0.0, 0.0, 1.0], [4.0, 0.0, 5.0], [4.0, 3.0, 5.0]];
        assert_eq!(length(&line), 7.0);
        assert_eq!(part(&line, 1.0, 3.0), [[1.0, 0.0, 2.0], [3.0, 0.0, 4.0]]);
        assert_eq!(part(&line, 3.0, 5.0), [[3.0, 0.0, 4.0], [4.0, 0.0, 5.0], [4.0, 1.0, 5.0]]);
    }
}
