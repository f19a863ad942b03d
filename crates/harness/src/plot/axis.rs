//! Ranges, ticks and labels of axes.

use super::{Axis, Scale};

/// Most labels on an axis.
const MOST_LABELS: usize = 7;
/// A linear axis that comes as near to zero as this share of its length includes it.
const NEAR_ZERO: f64 = 0.15;

/// An axis fitted to its data, with its ticks chosen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fitted {
    scale: Scale,
    unit: String,
    low: f64,
    high: f64,
    /// Ticks with a label.
    major: Vec<f64>,
    /// Ticks without one.
    minor: Vec<f64>,
}

impl Fitted {
    /// Fits `axis` to `values`; those it cannot show are left out of account. A linear axis gets
    /// the share `room` of its length more at each end.
    pub(super) fn new(axis: &Axis, room: f64, values: impl Iterator<Item = f64>) -> Self {
        let shown = values.filter(|&v| can_show(axis.scale, v));
        let bounds = shown.fold(None, |bounds, v| match bounds {
            None => Some((v, v)),
            Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
        });
        let given = axis.range.filter(|&(low, high)| {
            can_show(axis.scale, low) && can_show(axis.scale, high) && low < high
        });
        let fitted = match axis.scale {
            Scale::Linear => Self::linear(given, bounds.unwrap_or((0.0, 1.0)), room),
            Scale::Log => Self::log(given, bounds.unwrap_or((0.1, 10.0))),
        };
        let fitted = Self { unit: axis.unit.clone(), ..fitted };
        if axis.ticks.is_empty() { fitted } else { fitted.with_ticks(&axis.ticks) }
    }

    /// Labels at these values, at most six of them and no ticks between.
    fn with_ticks(self, ticks: &[f64]) -> Self {
        let mut inside: Vec<f64> =
            ticks.iter().copied().filter(|v| (self.low..=self.high).contains(v)).collect();
        inside.sort_by(f64::total_cmp);
        inside.dedup();
        let stride = inside.len().div_ceil(6).max(1);
        let last = inside.len().saturating_sub(1);
        let major = inside.iter().enumerate().filter(|(i, _)| (last - i).is_multiple_of(stride));
        Self { major: major.map(|(_, &v)| v).collect(), minor: Vec::new(), ..self }
    }

    fn linear(given: Option<(f64, f64)>, (low, high): (f64, f64), room: f64) -> Self {
        let (low, high) = given.unwrap_or_else(|| {
            // A constant needs some height too.
            let span = if high > low { high - low } else { low.abs().max(1.0) };
            let pad = |end: f64, sign: f64| if end == 0.0 { 0.0 } else { end + sign * room * span };
            let (low, high) = if high > low {
                (pad(low, -1.0), pad(high, 1.0))
            } else {
                (low - 0.5 * span, high + 0.5 * span)
            };
            let near = NEAR_ZERO * (high - low);
            let low = if (0.0..near).contains(&low) { 0.0 } else { low };
            let high = if (-near..0.0).contains(&high) { 0.0 } else { high };
            (low, high)
        });
        let step = round_step((high - low) / 6.0);
        let ticks = |step: f64| -> Vec<f64> {
            let (first, last) = ((low / step).ceil(), (high / step).floor());
            (0..=(last - first) as u32).map(|i| (first + f64::from(i)) * step).collect()
        };
        let (unit, major, minor) = (String::new(), ticks(step), Vec::new());
        Self { scale: Scale::Linear, unit, low, high, major, minor }
    }

    fn log(given: Option<(f64, f64)>, (low, high): (f64, f64)) -> Self {
        let (low, high) = given.unwrap_or_else(|| {
            let pad = (high / low).powf(0.04).max(1.2);
            (low / pad, high * pad)
        });
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let inside = |v: &f64| *v >= low * (1.0 - 1e-12) && *v <= high * (1.0 + 1e-12);
        let decades: Vec<f64> = (first..=last).map(|e| 10f64.powi(e)).filter(inside).collect();
        let between = |digits: &[f64]| -> Vec<f64> {
            let all = (first..=last).flat_map(|e| digits.iter().map(move |d| d * 10f64.powi(e)));
            all.filter(inside).collect()
        };
        // Below two decades the powers of ten alone do not tell the scale.
        let (major, minor) = match decades.len() {
            0 | 1 => (between(&[1.0, 2.0, 5.0]), between(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0])),
            n => {
                let stride = n.div_ceil(MOST_LABELS) as i32;
                let labelled = |v: &f64| (v.log10().round() as i32).rem_euclid(stride) == 0;
                let major = decades.iter().copied().filter(labelled).collect();
                let minor = if n <= 6 {
                    between(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
                } else {
                    decades.iter().copied().filter(|v| !labelled(v)).collect()
                };
                (major, minor)
            }
        };
        Self { scale: Scale::Log, unit: String::new(), low, high, major, minor }
    }

    /// Position along the axis: 0 at its start, 1 at its end; `None` for what it cannot show.
    pub(super) fn fraction(&self, value: f64) -> Option<f64> {
        can_show(self.scale, value).then(|| match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        })
    }

    /// First and last value shown.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Ticks with their texts, from the first to the last, which carries the unit; lengths and times have theirs each.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let own_units = self.scale == Scale::Log && ["m", "s"].contains(&self.unit.as_str());
        let last = self.major.len().saturating_sub(1);
        let text = |(i, &value): (usize, &f64)| {
            let text = match (self.scale, self.unit.as_str()) {
                (Scale::Log, "m") => log_length(value),
                (Scale::Log, "s") => log_time(value),
                (Scale::Log, "") => log_count(value),
                (Scale::Log, _) => log_label(value),
                (Scale::Linear, _) => linear_label(value, self.major_step()),
            };
            let unit = if own_units || i < last { "" } else { &self.unit };
            let space = if unit.is_empty() || unit == "°" { "" } else { " " };
            (value, format!("{text}{space}{unit}"))
        };
        self.major.iter().enumerate().map(text).collect()
    }

    /// Ticks without a text.
    pub(super) fn minor(&self) -> &[f64] {
        &self.minor
    }

    fn major_step(&self) -> f64 {
        match self.major[..] {
            [a, b, ..] => b - a,
            _ => self.high - self.low,
        }
    }
}

fn can_show(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

/// The largest of 1, 2, 5 times a power of ten that is at most twice `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digit = step / power;
    power * [1.0, 2.0, 5.0, 10.0].into_iter().find(|&d| digit <= d * 1.0001).unwrap_or(10.0)
}

fn linear_label(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-9 {
        return "0".to_owned();
    }
    let text = if !(1e-4..1e6).contains(&step) {
        format!("{value:.1e}")
    } else {
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    };
    text.replace('-', "−")
}

/// `10 mm`, `0.1 m`; powers of ten below a micrometre.
fn log_length(value: f64) -> String {
    match value {
        v if !(0.999e-6..1e6).contains(&v) => format!("{} m", log_label(v)),
        v if v < 0.999e-4 => format!("{} µm", plain(v * 1e6)),
        v if v < 0.0999 => format!("{} mm", plain(v * 1e3)),
        v => format!("{} m", plain(v)),
    }
}

/// `10 µs`, `1 ms`, `1 s`.
fn log_time(value: f64) -> String {
    match value {
        v if v < 0.999e-6 => format!("{} ns", plain(v * 1e9)),
        v if v < 0.999e-3 => format!("{} µs", plain(v * 1e6)),
        v if v < 0.999 => format!("{} ms", plain(v * 1e3)),
        v => format!("{} s", plain(v)),
    }
}

/// `16`, `1k`, `1M`; powers of ten below a hundredth.
fn log_count(value: f64) -> String {
    match value {
        v if !(0.00999..1e9).contains(&v) => log_label(v),
        v if v >= 1e6 => format!("{}M", plain(v / 1e6)),
        v if v >= 1e3 && v % 100.0 == 0.0 => format!("{}k", plain(v / 1e3)),
        v => plain(v),
    }
}

/// A number of a few digits as it is written by hand.
fn plain(value: f64) -> String {
    format!("{}", (value * 1e4).round() / 1e4)
}

/// `10⁻³`, or `2·10⁻³` between powers of ten.
fn log_label(value: f64) -> String {
    let exponent = (value.log10() + 1e-9).floor();
    let digit = (value / 10f64.powf(exponent)).round() as i32;
    let power = format!("10{}", superscript(exponent as i32));
    if digit == 1 { power } else { format!("{digit}·{power}") }
}

fn superscript(number: i32) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // 0 and 4 to 9 are in one block of the character set.
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    number.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        let fitted = Fitted::new(axis, 0.05, values.iter().copied());
        fitted.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_of_a_log_axis_are_powers_of_ten() {
        assert_eq!(labels(&Axis::log("energy", "J"), &[2e-4, 3e-1]), ["10⁻³", "10⁻²", "10⁻¹ J"]);
        assert!(labels(&Axis::log("error", "m"), &[1e-16, 1e4]).len() <= MOST_LABELS);
    }

    #[test]
    fn lengths_times_and_counts_are_written_as_they_are_said() {
        let lengths = labels(&Axis::log("error", "m"), &[0.9e-4, 11.0]);
        assert_eq!(lengths, ["0.1 mm", "1 mm", "10 mm", "0.1 m", "1 m", "10 m"]);
        assert_eq!(
            labels(&Axis::log("error", "m"), &[0.9e-7, 0.5e-4]),
            ["10⁻⁷ m", "1 µm", "10 µm"]
        );
        assert_eq!(
            labels(&Axis::log("time", "s"), &[0.9e-5, 2e-2]),
            ["10 µs", "100 µs", "1 ms", "10 ms"]
        );
        assert_eq!(labels(&Axis::log("links", ""), &[900.0, 1.1e6]), ["1k", "10k", "100k", "1M"]);
    }

    #[test]
    fn budgets_have_ticks_where_they_are() {
        let axis = Axis { ticks: vec![1.0, 4.0, 16.0, 64.0], ..Axis::log("work", "") };
        assert_eq!(labels(&axis, &[1.0, 64.0]), ["1", "4", "16", "64"]);
    }

    #[test]
    fn a_narrow_log_axis_has_labels_between_the_powers() {
        assert_eq!(labels(&Axis::log("x", "J"), &[0.15, 0.6]), ["2·10⁻¹", "5·10⁻¹ J"]);
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round_and_include_a_near_zero() {
        let time = labels(&Axis::linear("time", "s"), &[0.0, 5.0]);
        assert_eq!(time, ["0", "1", "2", "3", "4", "5 s"]);
        assert_eq!(labels(&Axis::linear("z", "m"), &[-0.02, 0.02])[0], "−0.02");
        assert_eq!(labels(&Axis::linear("z", "m"), &[1.0, 10.0])[0], "0");
        assert_ne!(labels(&Axis::linear("z", "m"), &[5.0, 10.0])[0], "0");
    }

    #[test]
    fn what_cannot_be_shown_does_not_move_the_ends() {
        let log =
            Fitted::new(&Axis::log("e", "m"), 0.05, [0.0, -1.0, f64::NAN, 1.0, 10.0].into_iter());
        assert!(log.low > 0.5 && log.high < 20.0);
        assert_eq!(log.fraction(0.0), None);
        let constant = Fitted::new(&Axis::linear("z", "m"), 0.05, [3.0, 3.0].into_iter());
        assert_eq!(constant.fraction(3.0), Some(0.5));
    }

    #[test]
    fn a_given_range_is_kept() {
        let axis = Axis { range: Some((1e-6, 1.0)), ..Axis::log("e", "m") };
        assert_eq!(Fitted::new(&axis, 0.05, [1e3].into_iter()).ends(), (1e-6, 1.0));
    }
}
