//! Profiles of cost at accuracy: what share of problems a method solves at what cost.

use serde::Deserialize;

use super::Curve;

/// What one run cost and how wrong it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Name of the curve it belongs to.
    pub label: String,
    /// Backend, for the colour.
    pub backend: String,
    /// What was solved; runs of one problem are compared with each other.
    pub problem: String,
    /// Seconds, iterations or any other cost.
    pub cost: f64,
    /// Error; not finite where the run failed.
    pub error: f64,
}

/// What costs are told as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostScale {
    /// As multiples of the cheapest label's on the same problem: the performance profile of Dolan and More (2002).
    /// The order of its curves depends on which others are there.
    #[default]
    Cheapest,
    /// As they are: the empirical distribution of the cost.
    Absolute,
}

/// The cheapest cost at which each label meets each (problem, target) pair, infinite where it never does.
#[derive(Clone, Debug, PartialEq)]
pub struct CostTable {
    /// Label and backend of each row.
    labels: Vec<(String, String)>,
    /// A row per label, a column per pair.
    costs: Vec<Vec<f64>>,
}

impl CostTable {
    /// From runs, each of which meets the targets that are not below its error.
    pub fn new(runs: &[Work], targets: &[f64]) -> Self {
        let mut labels: Vec<(String, String)> = Vec::new();
        let mut problems: Vec<&str> = Vec::new();
        for run in runs {
            if !labels.iter().any(|(label, _)| *label == run.label) {
                labels.push((run.label.clone(), run.backend.clone()));
            }
            if !problems.contains(&run.problem.as_str()) {
                problems.push(&run.problem);
            }
        }
        let cost = |label: &str, problem: &str, target: f64| {
            let meets =
                |run: &&Work| run.label == label && run.problem == problem && run.error <= target;
            runs.iter().filter(meets).map(|run| run.cost).fold(f64::INFINITY, f64::min)
        };
        let pairs =
            || problems.iter().flat_map(|problem| targets.iter().map(move |t| (problem, *t)));
        let row = |(label, _): &(String, String)| {
            pairs().map(|(problem, target)| cost(label, problem, target)).collect()
        };
        Self { costs: labels.iter().map(row).collect(), labels }
    }

    /// The cheapest cost of each label at each pair, infinite where it never meets it.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, &[f64])> {
        let labels = self.labels.iter().map(|(label, backend)| (label.as_str(), backend.as_str()));
        labels.zip(&self.costs).map(|((label, backend), costs)| (label, backend, costs.as_slice()))
    }

    /// Against the cost, the share of pairs that each label meets at no more.
    pub fn shares(&self, scale: CostScale) -> Vec<Curve> {
        let pairs = self.costs.first().map_or(0, Vec::len);
        let best = |pair: usize| match scale {
            CostScale::Cheapest => {
                self.costs.iter().map(|row| row[pair]).fold(f64::INFINITY, f64::min)
            }
            CostScale::Absolute => 1.0,
        };
        // Infinity over infinity, nobody meets it, is never met.
        let met = |row: &Vec<f64>| {
            let all = row.iter().enumerate().map(|(pair, cost)| cost / best(pair));
            let mut met: Vec<f64> = all.filter(|cost| cost.is_finite()).collect();
            met.sort_by(f64::total_cmp);
            met
        };
        let all: Vec<Vec<f64>> = self.costs.iter().map(met).collect();
        let begin = all.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let end = 1.5 * all.iter().flatten().copied().fold(1.0, f64::max);
        let curve = |((label, backend), met): (&(String, String), &Vec<f64>)| Curve {
            label: label.clone(),
            backend: backend.clone(),
            points: staircase(met, pairs, begin.min(end), end),
            ..Curve::default()
        };
        self.labels.iter().zip(&all).map(curve).collect()
    }

    /// For each two labels, the share of the pairs that either meets at which the first is cheaper, of no matter how
    /// many others: a profile's order depends on these, this table does not.
    pub fn cheaper(&self) -> Vec<(&str, Vec<f64>)> {
        let share = |a: &[f64], b: &[f64]| {
            let either = a.iter().zip(b).filter(|(a, b)| a.min(**b).is_finite());
            let (less, all) = either
                .fold((0_u32, 0_u32), |(less, all), (a, b)| (less + u32::from(a < b), all + 1));
            f64::from(less) / f64::from(all.max(1))
        };
        let row = |a: &Vec<f64>| self.costs.iter().map(|b| share(a, b)).collect();
        let labels = self.labels.iter().map(|(label, _)| label.as_str());
        labels.zip(self.costs.iter().map(row)).collect()
    }
}

fn staircase(met: &[f64], pairs: usize, begin: f64, end: f64) -> Vec<(f64, f64)> {
    let share = |count: usize| count as f64 / pairs.max(1) as f64;
    let mut points = vec![(begin, share(0))];
    for (count, &cost) in met.iter().enumerate() {
        points.extend([(cost, share(count)), (cost, share(count + 1))]);
    }
    points.push((end, share(met.len())));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(label: &str, problem: &str, cost: f64, error: f64) -> Work {
        Work {
            label: label.to_owned(),
            backend: label.to_owned(),
            problem: problem.to_owned(),
            cost,
            error,
        }
    }

    fn table() -> CostTable {
        let runs = [
            work("a", "p", 1.0, 0.1),
            work("b", "p", 3.0, 0.1),
            work("a", "q", 2.0, 0.1),
            work("b", "q", 1.0, 9.0),
            work("b", "q", 8.0, 0.1),
            work("a", "nobody", 1.0, f64::NAN),
        ];
        CostTable::new(&runs, &[0.5])
    }

    #[test]
    fn a_profile_counts_solved_problems() {
        // a is cheapest on both solved problems of three; b needs 3 and 4 times as much.
        let share_at = |curves: &[Curve], curve: usize, cost: f64| {
            let points = curves[curve].points.iter();
            points.filter(|p| p.0 <= cost).map(|p| p.1).fold(0.0, f64::max)
        };
        let curves = table().shares(CostScale::Cheapest);
        assert_eq!(share_at(&curves, 0, 1.0), 2.0 / 3.0);
        assert_eq!(share_at(&curves, 1, 2.9), 0.0);
        assert_eq!(share_at(&curves, 1, 3.0), 1.0 / 3.0);
        assert_eq!(share_at(&curves, 1, 4.0), 2.0 / 3.0);
        let curves = table().shares(CostScale::Absolute);
        assert_eq!(share_at(&curves, 0, 1.0), 1.0 / 3.0);
        assert_eq!(share_at(&curves, 1, 7.9), 1.0 / 3.0);
        assert_eq!(share_at(&curves, 1, 8.0), 2.0 / 3.0);
    }

    #[test]
    fn easier_targets_are_met_at_less() {
        let runs = [work("a", "p", 1.0, 0.3), work("a", "p", 4.0, 0.01)];
        let curves = CostTable::new(&runs, &[0.5, 0.1, 0.001]).shares(CostScale::Absolute);
        let third = 1.0 / 3.0;
        let points = [
            (1.0, 0.0),
            (1.0, 0.0),
            (1.0, third),
            (4.0, third),
            (4.0, 2.0 * third),
            (6.0, 2.0 * third),
        ];
        assert_eq!(curves[0].points, points);
    }

    #[test]
    fn pairs_are_compared_whoever_else_is_there() {
        assert_eq!(table().cheaper(), [("a", vec![0.0, 1.0]), ("b", vec![0.0, 0.0])]);
    }
}
