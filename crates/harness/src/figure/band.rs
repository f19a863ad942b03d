//! What recorded curves may move by: files of how they move with starts that rounding cannot tell apart.
//!
//! A curve's band is three times what it moved, so that no other compiler's rounding fails a check, and no wider, so
//! that little passes unseen.

use std::{fmt::Write as _, path::Path};

use anyhow::anyhow;

use super::curves::{check_head, quote, unquote};
use crate::checkout;

/// Bands are so many times the spread on file.
const TIMES: f64 = 3.0;
/// No band is narrower: records keep seven digits, and nobody acts on 1 % [decades, or shares of the extent].
pub(super) const NARROWEST: f64 = 0.005;
/// A curve that moves by more than this with its start is compared as a sample of curves.
const BLIND: f64 = 0.05;
/// Area, end and slope of a curve against the recorded one.
pub(super) type Measures = [f64; 3];

/// How a recorded curve moves with its start.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSpread {
    /// Number of the panel, from 0.
    pub panel: usize,
    /// Label of the curve.
    pub curve: String,
    /// By moved start, against the curve of the start as it is.
    pub starts: Vec<Measures>,
}

impl CurveSpread {
    fn largest(&self) -> Measures {
        let worst = |k: usize| self.starts.iter().map(|m| m[k].abs()).fold(0.0, f64::max);
        [worst(0), worst(1), worst(2)]
    }

    /// By how much area, end and slope may differ from the recorded curve's.
    pub fn band(&self) -> Measures {
        self.largest().map(|spread| (TIMES * spread).max(NARROWEST))
    }

    /// Whether such a band would hide too much.
    pub fn is_blind(&self) -> bool {
        self.largest().iter().any(|spread| *spread > BLIND)
    }
}

/// The columns of a `spread.csv`, which are its schema.
const HEAD: &str = "panel,curve,start,area,end,slope";

/// The text of a `spread.csv`.
pub(super) fn record(spreads: &[CurveSpread]) -> String {
    let mut text = format!("{HEAD}\n");
    for spread in spreads {
        for (start, [area, end, slope]) in spread.starts.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{start},{area:.3e},{end:.3e},{slope:.3e}",
                spread.panel,
                quote(&spread.curve)
            );
        }
    }
    text
}

/// The spreads in a file; none where there is no file.
///
/// # Errors
/// When it cannot be read, or is of another schema.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<CurveSpread>> {
    let Some(text) = checkout::text(path)? else { return Ok(Vec::new()) };
    parse(&text).map_err(|message| anyhow!("{}: {message}", path.display()))
}

/// Reads the text of a `spread.csv`.
///
/// # Errors
/// When its columns are others; says which line is malformed.
fn parse(text: &str) -> Result<Vec<CurveSpread>, String> {
    check_head(text, HEAD)?;
    let mut spreads: Vec<CurveSpread> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let wrong = || format!("line {}: expected `{HEAD}`", number + 1);
        let (panel, rest) = line.split_once(',').ok_or_else(wrong)?;
        let mut cells = rest.rsplitn(5, ',');
        let mut cell = || cells.next().ok_or_else(wrong);
        let [slope, end, area] = [cell()?, cell()?, cell()?];
        let (_start, label) = (cell()?, cell()?);
        let value = |text: &str| text.parse::<f64>().map_err(|_| wrong());
        let measures = [value(area)?, value(end)?, value(slope)?];
        let (panel, curve) = (panel.parse().map_err(|_| wrong())?, unquote(label));
        match spreads.last_mut().filter(|last| last.panel == panel && last.curve == curve) {
            Some(last) => last.starts.push(measures),
            None => spreads.push(CurveSpread { panel, curve, starts: vec![measures] }),
        }
    }
    Ok(spreads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(areas: &[f64]) -> CurveSpread {
        let starts = areas.iter().map(|area| [*area, 0.0, 0.0]).collect();
        CurveSpread { panel: 1, curve: "AVBD 20, \"x\"".to_owned(), starts }
    }

    #[test]
    fn a_band_is_three_times_the_spread_and_never_too_narrow() {
        let band = spread(&[0.01, -0.02, 0.0]).band();
        assert!((band[0] - 0.06).abs() < 1e-15 && band[1] == NARROWEST);
        assert!(!spread(&[0.01, -0.02]).is_blind() && spread(&[0.01, -0.2]).is_blind());
    }

    #[test]
    fn a_spread_is_read_as_it_was_written() {
        let all = [spread(&[0.25, -0.5]), CurveSpread { panel: 2, ..spread(&[1.0]) }];
        assert_eq!(parse(&record(&all)).expect("whole"), all);
        for wrong in ["1,a,0,1,2", "1,a,0,1,x,3"] {
            assert!(parse(&format!("{HEAD}\n{wrong}\n")).unwrap_err().starts_with("line 2"));
        }
        assert!(parse("panel,curve,area\n").unwrap_err().starts_with("another schema"));
    }
}
