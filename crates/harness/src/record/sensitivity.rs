//! How far results move when a start moves by rounding errors: what is within that says nothing.

use serde::Serialize;

use super::{Frame, RunRow, metric, metric_names};
use crate::curve::measures;

/// Smaller values count as this in decades: rounding errors are not worth a comparison.
const FLOOR: f64 = 1e-12;

/// The spread of a row over starts that rounding cannot tell apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sensitivity {
    /// How many moved starts were run.
    pub starts: u32,
    /// How the moved runs ended, by label, in the order of first occurrence.
    pub ends: Vec<(String, u32)>,
    /// By metric: how far its curves are from the unmoved one.
    pub metrics: Vec<MetricSpread>,
}

/// How far the curves of a metric are from the unmoved one, at most over the starts, in decades.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MetricSpread {
    /// Its name.
    pub name: String,
    /// Mean difference over the run.
    pub area: f64,
    /// Mean difference over the last tenth.
    pub end: f64,
    /// Difference of the fitted slopes, over the whole length.
    pub slope: f64,
    /// Lowest value at each frame, the unmoved run included.
    #[serde(skip)]
    pub low: Vec<f64>,
    /// Highest value at each frame, the unmoved run included.
    #[serde(skip)]
    pub high: Vec<f64>,
}

impl Sensitivity {
    /// Compares runs from moved starts with the unmoved one.
    pub fn of(unmoved: &RunRow, moved: &[RunRow]) -> Self {
        let mut ends: Vec<(String, u32)> = Vec::new();
        for row in moved {
            let end = row.status.name();
            match ends.iter_mut().find(|(known, _)| known == end) {
                Some((_, count)) => *count += 1,
                None => ends.push((end.to_owned(), 1)),
            }
        }
        let names = metric_names(unmoved.frames.iter().map(|frame| &frame.metrics));
        let metrics = names.into_iter().map(|name| MetricSpread::of(name, unmoved, moved));
        Self { starts: moved.len() as u32, ends, metrics: metrics.collect() }
    }
}

impl MetricSpread {
    fn of(name: &str, unmoved: &RunRow, moved: &[RunRow]) -> Self {
        let value = |frame: &Frame| metric(&frame.metrics, name).unwrap_or(f64::NAN);
        let own: Vec<f64> = unmoved.frames.iter().map(value).collect();
        let mut spread =
            Self { name: name.to_owned(), low: own.clone(), high: own.clone(), ..Self::default() };
        let decades = |value: f64| value.abs().max(FLOOR).log10();
        for row in moved {
            let mut pairs = Vec::with_capacity(own.len());
            for (i, frame) in row.frames.iter().take(own.len()).enumerate() {
                let other = value(frame);
                (spread.low[i], spread.high[i]) =
                    (spread.low[i].min(other), spread.high[i].max(other));
                let pair = (frame.time_s, decades(own[i]), decades(other));
                if own[i].is_finite() && other.is_finite() {
                    pairs.push(pair);
                }
            }
            let Some([area, end, slope]) = measures(&pairs) else { continue };
            spread.area = spread.area.max(area.abs());
            spread.end = spread.end.max(end.abs());
            spread.slope = spread.slope.max(slope.abs());
        }
        spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Status;

    fn row(values: &[f64], status: Status) -> RunRow {
        let frame = |(i, &value): (usize, &f64)| Frame {
            step: i as u32 + 1,
            time_s: i as f64,
            metrics: vec![("e_m".into(), value)],
        };
        RunRow {
            status,
            frames: values.iter().enumerate().map(frame).collect(),
            ..RunRow::default()
        }
    }

    #[test]
    fn a_spread_is_the_largest_of_all_starts() {
        let own = row(&[1.0, 1.0, 1.0], Status::Ok);
        let moved = [row(&[1.0, 10.0, 1.0], Status::Ok), row(&[0.1, 0.1, 0.1], Status::Exploded)];
        let found = Sensitivity::of(&own, &moved);
        assert_eq!(found.starts, 2);
        assert_eq!(found.ends, [("ok".to_owned(), 1), ("exploded".to_owned(), 1)]);
        let metric = &found.metrics[0];
        assert_eq!(
            (metric.low.as_slice(), metric.high.as_slice()),
            (&[0.1; 3][..], &[1.0, 10.0, 1.0][..])
        );
        assert!((metric.area - 1.0).abs() < 1e-12, "{metric:?}");
        let alone = Sensitivity::of(&own, std::slice::from_ref(&own));
        assert_eq!((alone.metrics[0].area, alone.metrics[0].end), (0.0, 0.0));
    }
}
