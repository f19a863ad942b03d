//! Half-spaces as grids of lines with round spacing.

use taut_core::Vec3;

use super::AffinePose;

/// Fewest lines of a grid in the direction in which it reaches farther.
pub const GRID_LINES_MIN: u32 = 8;
/// Most lines of a grid in a direction.
pub const GRID_LINES_MAX: u32 = 20;

/// Lines on the xy plane of a half-space over what points cover of it: pairs of ends in the world [m].
///
/// Their spacing is 1, 2 or 5 times a power of ten and their places are multiples of it, so that grids of several
/// pictures agree.
pub fn grid(pose: &AffinePose, points: &[Vec3]) -> Vec<[Vec3; 2]> {
    let Some(inverse) = pose.frame.try_inverse() else { return Vec::new() };
    let local: Vec<Vec3> = points.iter().map(|p| inverse * (p - pose.origin)).collect();
    let Some(first) = local.first() else { return Vec::new() };
    let (low, high) = local.iter().fold((*first, *first), |(l, h), p| (l.inf(p), h.sup(p)));
    let extent = (high - low).xy().max();
    if !(extent.is_finite() && extent > 0.0) {
        return Vec::new();
    }
    let spacing = spacing(extent);
    // Whole cells around the points.
    let range =
        |axis: usize| ((low[axis] / spacing).floor() as i64, (high[axis] / spacing).ceil() as i64);
    let (x, y) = (range(0), range(1));
    let at = |i: i64, j: i64| pose.point(&Vec3::new(i as f64 * spacing, j as f64 * spacing, 0.0));
    let along_y = (x.0..=x.1).map(|i| [at(i, y.0), at(i, y.1)]);
    let along_x = (y.0..=y.1).map(|j| [at(x.0, j), at(x.1, j)]);
    along_y.chain(along_x).collect()
}

/// The round length of which an extent has at least [`GRID_LINES_MIN`] and, with a cell more at either end, at most
/// [`GRID_LINES_MAX`].
fn spacing(extent: f64) -> f64 {
    let least = extent / f64::from(GRID_LINES_MAX - 3);
    let power = 10f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    round.into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_round_spacing_and_few_lines() {
        for extent in [0.013, 0.4, 0.99, 1.0, 3.7, 8.0, 84.0, 5e3] {
            let points =
                [Vec3::new(0.21 * extent, 0.0, 1.0), Vec3::new(1.21 * extent, extent, 2.0)];
            let lines = grid(&AffinePose::world(), &points).len();
            assert!((14..=42).contains(&lines), "{extent}: {lines}");
            let step = spacing(extent);
            let leading = step / 10f64.powf(step.log10().floor() + 1e-9_f64.floor());
            assert!([1.0, 2.0, 5.0, 10.0].iter().any(|r| (leading - r).abs() < 1e-9), "{step}");
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(grid(&AffinePose::world(), &[]).is_empty());
        assert!(grid(&AffinePose::world(), &[Vec3::repeat(f64::NAN)]).is_empty());
    }
}
