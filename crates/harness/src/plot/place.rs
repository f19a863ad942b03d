//! Where names go: beside the ends of lines, and near marks where they cover least.

use super::list::{Pixel, PixelBox};

/// Heights for names at line ends, from the heights where the lines end: as near to these as names of height `row`
/// allow without touching, inside `low..=high` [px].
///
/// The least sum of squared moves under that order constraint is found by pooling: with `z_i = t_i - i row` the
/// constraint is that `z` rises, and neighbours out of order share their mean.
pub(super) fn spread_out(targets: &[f64], row: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]).then(a.cmp(&b)));
    // Blocks of names that touch: sum of z, and how many.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (i, &name) in order.iter().enumerate() {
        blocks.push((targets[name] - i as f64 * row, 1));
        while let [.., (a, n), (b, m)] = blocks[..] {
            if a / n as f64 <= b / m as f64 {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            blocks.push((a + b, n + m));
        }
    }
    let means =
        blocks.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    let last = high - (targets.len().saturating_sub(1)) as f64 * row;
    let mut heights = vec![0.0; targets.len()];
    for ((i, &name), mean) in order.iter().enumerate().zip(means) {
        heights[name] = mean.min(last).max(low) + i as f64 * row;
    }
    heights
}

/// Edge of a cell of [`Cover`] [px].
const CELL: f64 = 4.0;
/// Cost of a pixel of distance.
const AWAY: f64 = 0.2;

/// What of a panel lines and names cover, in cells.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    within: PixelBox,
    columns: usize,
    covered: Vec<bool>,
    names: Vec<PixelBox>,
}

impl Cover {
    pub(super) fn new(within: PixelBox) -> Self {
        let cells = |length: f64| (length / CELL).ceil().max(1.0) as usize;
        let (columns, rows) =
            (cells(within.right - within.left), cells(within.bottom - within.top));
        Self { within, columns, covered: vec![false; columns * rows], names: Vec::new() }
    }

    /// Marks the cells under a line.
    pub(super) fn line(&mut self, points: &[Pixel]) {
        for pair in points.windows(2) {
            let length = (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
            let count = (length / (CELL / 2.0)).ceil().max(1.0) as usize;
            for i in 0..=count {
                let t = i as f64 / count as f64;
                let (x, y) = (
                    pair[0].0 + t * (pair[1].0 - pair[0].0),
                    pair[0].1 + t * (pair[1].1 - pair[0].1),
                );
                if let Some(cell) = self.cell((x, y)) {
                    self.covered[cell] = true;
                }
            }
        }
    }

    /// Keeps others off a place.
    pub(super) fn name(&mut self, bounds: PixelBox) {
        self.names.push(bounds);
    }

    /// Whether a name is there already.
    pub(super) fn takes(&self, bounds: &PixelBox) -> bool {
        self.names.iter().any(|name| name.overlaps(bounds))
    }

    fn cell(&self, (x, y): Pixel) -> Option<usize> {
        let column = ((x - self.within.left) / CELL).floor();
        let row = ((y - self.within.top) / CELL).floor();
        if column < 0.0 || row < 0.0 || column as usize >= self.columns {
            return None;
        }
        let cell = row as usize * self.columns + column as usize;
        (cell < self.covered.len()).then_some(cell)
    }

    /// The share of the cells under a rectangle that lines cover.
    pub(super) fn share(&self, bounds: &PixelBox) -> f64 {
        let (mut covered, mut all) = (0.0_f64, 0.0_f64);
        let mut y = bounds.top + CELL / 2.0;
        while y < bounds.bottom {
            let mut x = bounds.left + CELL / 2.0;
            while x < bounds.right {
                all += 1.0;
                covered += f64::from(u8::from(self.cell((x, y)).is_some_and(|c| self.covered[c])));
                x += CELL;
            }
            y += CELL;
        }
        covered / all.max(1.0)
    }

    /// The cheapest place for a rectangle of a size beside a point: its bounds. It stays inside and off other names,
    /// and may be nowhere.
    pub(super) fn beside(&self, at: Pixel, (width, height): (f64, f64)) -> Option<PixelBox> {
        let mut best: Option<(f64, PixelBox)> = None;
        for distance in [14.0, 26.0, 40.0, 60.0] {
            for (dx, dy) in DIRECTIONS {
                let (x, y) = (at.0 + dx * distance, at.1 + dy * distance);
                // The side of the name that is nearest to the point.
                let left = x - width * (1.0 - dx.signum() * f64::from(u8::from(dx != 0.0))) / 2.0;
                let top = y - height * (1.0 - dy.signum() * f64::from(u8::from(dy != 0.0))) / 2.0;
                let bounds = PixelBox { left, top, right: left + width, bottom: top + height };
                let inside = self.within.contains((bounds.left, bounds.top))
                    && self.within.contains((bounds.right, bounds.bottom));
                if !inside || self.takes(&bounds) {
                    continue;
                }
                let cells = width * height / (CELL * CELL);
                let cost = self.share(&bounds) * cells + AWAY * distance;
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, bounds));
                }
            }
        }
        best.map(|(_, bounds)| bounds)
    }
}

/// Where a name may be seen from its mark, in the order in which ties are decided.
const DIRECTIONS: [(f64, f64); 8] = [
    (1.0, 0.0),
    (0.7, -0.7),
    (0.7, 0.7),
    (0.0, -1.0),
    (0.0, 1.0),
    (-1.0, 0.0),
    (-0.7, -0.7),
    (-0.7, 0.7),
];

/// The place of a cross nearest to where it belongs, within `ends`, that leaves room for those there are, so that runs
/// of equal cost stand side by side; where there is none, where it belongs.
pub(super) fn free_place(at: f64, ends: [f64; 2], taken: &[f64]) -> f64 {
    const APART: f64 = 9.5;
    let at = at.clamp(ends[0], ends[1]);
    let steps = ((ends[1] - ends[0]) / APART) as u32;
    let places = (0..=steps).flat_map(|k| [1.0, -1.0].map(|side| at + side * f64::from(k) * APART));
    let free = |x: &f64| {
        let inside = (ends[0]..=ends[1]).contains(x);
        inside && taken.iter().all(|other| (other - x).abs() >= APART - 0.5)
    };
    places.into_iter().find(free).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_where_there_is_room() {
        assert_eq!(spread_out(&[10.0, 50.0], 15.0, (0.0, 100.0)), [10.0, 50.0]);
    }

    #[test]
    fn names_that_would_touch_share_the_way() {
        // Three lines end at 50: names at 35, 50, 65, in the order given.
        assert_eq!(spread_out(&[50.0, 50.0, 50.0], 15.0, (0.0, 100.0)), [35.0, 50.0, 65.0]);
        // At the lower edge all have to move up.
        assert_eq!(spread_out(&[99.0, 100.0], 15.0, (0.0, 100.0)), [85.0, 100.0]);
        assert_eq!(spread_out(&[60.0, 20.0], 15.0, (0.0, 100.0)), [60.0, 20.0]);
    }

    #[test]
    fn a_name_avoids_lines_and_names() {
        let within = PixelBox { left: 0.0, top: 0.0, right: 200.0, bottom: 100.0 };
        let mut cover = Cover::new(within);
        cover.line(&[(100.0, 50.0), (200.0, 50.0)]);
        let first = cover.beside((100.0, 50.0), (40.0, 12.0)).unwrap();
        assert!(cover.share(&first) == 0.0, "{first:?}");
        cover.name(first);
        let second = cover.beside((100.0, 50.0), (40.0, 12.0)).unwrap();
        assert!(!second.overlaps(&first));
        assert!(cover.beside((100.0, 50.0), (400.0, 12.0)).is_none());
    }

    #[test]
    fn crosses_of_equal_cost_stand_side_by_side() {
        for at in [0.0, 40.0, 100.0, 130.0] {
            let mut taken = Vec::new();
            for _ in 0..11 {
                let x = free_place(at, [0.0, 100.0], &taken);
                assert!((0.0..=100.0).contains(&x));
                assert!(taken.iter().all(|other: &f64| (other - x).abs() >= 9.0), "{taken:?} {x}");
                taken.push(x);
            }
            // Beyond that they cover each other.
            (0..20).for_each(|_| taken.push(free_place(at, [0.0, 100.0], &taken)));
        }
    }
}
