//! Panels of profiles: the share of (scene, target) pairs that each method meets, against what that costs.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::Deserialize;

use super::{Figure, FigureRow, PanelSpec};
use crate::plot::{Axis, CostScale, CostTable, Curve, Work};

/// What a panel of profiles counts. The panel's x is the cost, its y the error, of which `statistic` is taken.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileSpec {
    /// The curves by name, each with the entries of runs that it takes: one per scene, with several budgets each.
    pub methods: BTreeMap<String, Vec<String>>,
    /// Loosest and tightest error asked for, in the error's unit.
    pub targets: (f64, f64),
    /// How many targets there are between a power of ten and the next.
    #[serde(default = "two")]
    pub per_decade: u32,
    /// What costs are told as.
    #[serde(default)]
    pub scale: CostScale,
}

fn two() -> u32 {
    2
}

impl ProfileSpec {
    /// What is wrong with it, in words.
    pub(super) fn mistake(&self) -> Option<&'static str> {
        let (loosest, tightest) = self.targets;
        if !(tightest > 0.0 && loosest >= tightest && loosest.is_finite()) {
            return Some(
                "`targets` of a profile go from the loosest to the tightest error above zero",
            );
        }
        (self.per_decade == 0).then_some("a profile has at least one target `per_decade`")
    }

    /// The targets, spread evenly over a log axis.
    fn targets(&self) -> Vec<f64> {
        let (loosest, tightest) = self.targets;
        let ratio = 10_f64.powf(-1.0 / f64::from(self.per_decade));
        // Rounding must not lose the last one.
        let all = (0..).map(|k| loosest * ratio.powi(k));
        all.take_while(|target| *target >= tightest * (1.0 - 1e-9)).collect()
    }

    /// Runs that did not end well meet nothing.
    fn table(&self, panel: &PanelSpec, rows: &[FigureRow]) -> CostTable {
        let mut runs = Vec::new();
        for (label, entries) in &self.methods {
            for row in rows.iter().filter(|row| row.was_run() && entries.contains(&row.group)) {
                let statistic = panel.statistic.unwrap_or(super::Statistic::Max);
                let value = |name: &str| row.statistic(name, statistic);
                let Some(cost) = value(&panel.x.quantity) else { continue };
                let error = value(&panel.y.quantity).filter(|_| row.status == "ok");
                runs.push(Work {
                    label: label.clone(),
                    backend: row.backend.clone(),
                    problem: row.problem.clone(),
                    cost,
                    error: error.unwrap_or(f64::INFINITY),
                });
            }
        }
        CostTable::new(&runs, &self.targets())
    }

    /// Its horizontal axis, from that of the cost.
    pub(super) fn x(&self, cost: Axis) -> Axis {
        match self.scale {
            CostScale::Cheapest => Axis::log("cost over the cheapest", ""),
            CostScale::Absolute => cost,
        }
    }

    /// Its vertical axis.
    pub(super) fn y(&self) -> Axis {
        let all = Axis::linear("share of (scene, target) pairs", "");
        Axis { range: Some((0.0, 1.05)), ..all }
    }

    /// The curves of its panel.
    pub(super) fn curves(&self, panel: &PanelSpec, rows: &[FigureRow]) -> Vec<Curve> {
        self.table(panel, rows).shares(self.scale)
    }
}

/// For a reader, each two methods of each panel of profiles with three or more compared.
pub(super) fn pairwise(figure: &Figure, rows: &[FigureRow]) -> String {
    let mut text = String::new();
    for panel in &figure.plot.panels {
        let Some(profile) = &panel.profile else { continue };
        let table = profile.table(panel, rows);
        let cheaper = table.cheaper();
        if cheaper.len() < 3 {
            continue;
        }
        // Writing to a string cannot fail, hence the results that are let go.
        let _ = write!(
            text,
            "\n## {}\n\nShare of the pairs that either of two meets at which the method of the row costs less than \
             that of the column.\n\n| |",
            panel.title
        );
        cheaper.iter().for_each(|(label, _)| text += &format!(" {label} |"));
        text += &format!("\n|---|{}\n", "---|".repeat(cheaper.len()));
        for (label, shares) in &cheaper {
            let _ = write!(text, "| {label} |");
            for (other, share) in cheaper.iter().map(|(other, _)| other).zip(shares) {
                let cell = if other == label { String::new() } else { format!("{share:.2}") };
                let _ = write!(text, " {cell} |");
            }
            text += "\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_spread_over_decades() {
        let profile: ProfileSpec = ron::from_str("(methods: {}, targets: (1.0, 0.01))").unwrap();
        let targets = profile.targets();
        assert_eq!(targets.len(), 5);
        assert!((targets[4] - 0.01).abs() < 1e-12);
        let wrong: ProfileSpec = ron::from_str("(methods: {}, targets: (0.01, 1.0))").unwrap();
        assert!(wrong.mistake().is_some() && profile.mistake().is_none());
    }
}
