//! The rectangle of one pair of axes: where values are drawn, and what is cut off at it.

use super::{
    Curve, Panel, Reference,
    axis::Fitted,
    line::{clip_segment, thin},
    list::Pixel,
};

/// Share of its length that a vertical linear axis gets beyond its data at either end.
const ROOM: f64 = 0.05;

/// The rectangle of one pair of axes [px].
#[derive(Clone, Debug)]
pub(super) struct AxesFrame {
    pub(super) x: Fitted,
    pub(super) y: Fitted,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// Where a curve leaves the frame while its run is fine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exit {
    /// Where on the edge.
    pub(super) at: Pixel,
    /// Whether through the upper edge.
    pub(super) up: bool,
    /// The most extreme value beyond.
    pub(super) extreme: f64,
}

impl AxesFrame {
    /// Axes that show all of a panel, in a rectangle: left, top, right, bottom.
    pub(super) fn new(panel: &Panel, [left, top, right, bottom]: [f64; 4]) -> Self {
        let shown = |curve: &Curve| curve.shown();
        let points: Vec<(f64, f64)> = panel.curves.iter().flat_map(shown).collect();
        let failed = panel.curves.iter().flat_map(|c| &c.failed_at);
        let x = points.iter().map(|p| p.0).chain(failed.copied());
        Self {
            x: Fitted::new(&panel.x, 0.0, x),
            y: Fitted::new(&panel.y, ROOM, points.iter().map(|p| p.1)),
            left,
            right,
            top,
            bottom,
        }
    }

    /// Where a value is drawn; `None` for what an axis cannot show.
    pub(super) fn map(&self, (x, y): (f64, f64)) -> Option<Pixel> {
        // An exploded run leaves numbers whose differences would have no digits of the frame left.
        let fraction = |f: f64| f.clamp(-1e3, 1e3);
        let x = self.left + fraction(self.x.fraction(x)?) * (self.right - self.left);
        let y = self.bottom - fraction(self.y.fraction(y)?) * (self.bottom - self.top);
        Some((x, y))
    }

    /// Cuts a curve at the frame and at gaps, into unbroken runs of points.
    pub(super) fn clip(&self, points: &[(f64, f64)]) -> Vec<Vec<Pixel>> {
        let mut runs: Vec<Vec<Pixel>> = Vec::new();
        for pair in points.windows(2) {
            let (Some(a), Some(b)) = (self.map(pair[0]), self.map(pair[1])) else { continue };
            // A run that jumps from side to side of the frame would only blacken it.
            if !self.contains(a) && !self.contains(b) && points.len() > 2 {
                continue;
            }
            let Some((from, to)) = clip_segment(a, b, self.low(), self.high()) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs.iter().map(|run| thin(run)).collect()
    }

    /// Where a curve leaves the frame through its upper or lower edge.
    pub(super) fn exits(&self, points: &[(f64, f64)]) -> Vec<Exit> {
        let mut exits: Vec<Exit> = Vec::new();
        let mut outside = false;
        for pair in points.windows(2) {
            let (Some(a), Some(b)) = (self.map(pair[0]), self.map(pair[1])) else { continue };
            let (from, to) = (self.contains(a), self.contains(b));
            if from && !to {
                let cut = clip_segment(a, b, self.low(), self.high());
                let up = b.1 < self.top;
                if let Some((_, at)) = cut.filter(|_| up || b.1 > self.bottom) {
                    exits.push(Exit { at, up, extreme: pair[1].1 });
                    outside = true;
                }
            }
            outside &= !to;
            if let (true, Some(exit)) = (outside, exits.last_mut()) {
                let further = if exit.up { f64::max } else { f64::min };
                exit.extreme = further(exit.extreme, pair[1].1);
            }
        }
        exits
    }

    fn low(&self) -> Pixel {
        (self.left, self.top)
    }

    fn high(&self) -> Pixel {
        (self.right, self.bottom)
    }

    pub(super) fn contains(&self, point: Pixel) -> bool {
        let (low, high) = (self.low(), self.high());
        (low.0..=high.0).contains(&point.0) && (low.1..=high.1).contains(&point.1)
    }

    /// The point moved into the frame.
    pub(super) fn clamped(&self, (x, y): Pixel) -> Pixel {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }

    /// End points of a line to compare with.
    pub(super) fn reference_points(&self, reference: &Reference) -> Vec<(f64, f64)> {
        let ((x0, x1), (y0, y1)) = (self.x.ends(), self.y.ends());
        match *reference {
            Reference::Horizontal { value, .. } => vec![(x0, value), (x1, value)],
            Reference::Vertical { value, .. } => vec![(value, y0), (value, y1)],
            Reference::Slope { through, exponent, .. } => {
                let at = |x: f64| (x, through.1 * (x / through.0).powf(exponent));
                vec![at(x0), at(x1)]
            }
            Reference::Point { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Axis;

    fn frame() -> AxesFrame {
        let axis = Axis { range: Some((0.0, 10.0)), ..Axis::linear("", "") };
        let fitted = || Fitted::new(&axis, 0.0, std::iter::empty());
        AxesFrame { x: fitted(), y: fitted(), left: 0.0, right: 100.0, top: 0.0, bottom: 100.0 }
    }

    #[test]
    fn curves_are_cut_at_the_frame_and_at_gaps() {
        let curve = [(0.0, 5.0), (2.0, 15.0), (4.0, 5.0), (5.0, f64::NAN), (6.0, 5.0), (8.0, 5.0)];
        let runs = frame().clip(&curve);
        assert_eq!(runs.len(), 3);
        assert_eq!(runs[0], [(0.0, 50.0), (10.0, 0.0)]);
        assert_eq!(runs[1], [(30.0, 0.0), (40.0, 50.0)]);
        assert_eq!(runs[2], [(60.0, 50.0), (80.0, 50.0)]);
        let exit = Exit { at: (10.0, 0.0), up: true, extreme: 15.0 };
        assert_eq!(frame().exits(&curve), [exit]);
    }

    #[test]
    fn an_explosion_stays_inside_the_frame() {
        let curve: Vec<(f64, f64)> =
            (0..10).map(|i| (f64::from(i), 5.0 - (-100.0_f64).powi(8 * i))).collect();
        let inside = |p: &Pixel| (0.0..=100.0).contains(&p.0) && (0.0..=100.0).contains(&p.1);
        assert!(frame().clip(&curve).iter().flatten().all(inside));
    }
}
