//! Pictures of cost against error: work-precision curves and performance profiles.

use super::{Axis, Curve, Panel, Scale};

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
    /// Error in the unit of its axis; non-finite where the run failed.
    pub error: f64,
}

/// Error against cost on log axes, one curve per label in order of cost.
pub fn work_precision(title: &str, runs: &[Work], cost: Axis, error: Axis) -> Panel {
    let mut curves: Vec<Curve> = Vec::new();
    for run in runs {
        let point = (run.cost, run.error);
        match curves.iter_mut().find(|curve| curve.label == run.label) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                label: run.label.clone(),
                backend: run.backend.clone(),
                points: vec![point],
            }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let log = |axis: Axis| Axis { scale: Scale::Log, ..axis };
    Panel { title: title.to_owned(), x: log(cost), y: log(error), curves, references: Vec::new() }
}

/// The performance profile of Dolan and More (2002): for each label the share of problems that it
/// solves to `tolerance` at a cost of at most tau times the cheapest label's, against tau.
pub fn performance_profile(title: &str, runs: &[Work], tolerance: f64) -> Panel {
    let mut labels: Vec<(&str, &str)> = Vec::new();
    let mut problems: Vec<&str> = Vec::new();
    for run in runs {
        if !labels.iter().any(|(label, _)| *label == run.label) {
            labels.push((&run.label, &run.backend));
        }
        if !problems.contains(&run.problem.as_str()) {
            problems.push(&run.problem);
        }
    }
    // Cheapest cost at which a label solves a problem.
    let cost = |label: &str, problem: &str| {
        let solved = runs
            .iter()
            .filter(|run| run.label == label && run.problem == problem && run.error <= tolerance);
        solved.map(|run| run.cost).fold(f64::INFINITY, f64::min)
    };
    let ratios = |label: &str| -> Vec<f64> {
        let ratio = |problem: &&str| {
            let costs = labels.iter().map(|(other, _)| cost(other, problem));
            cost(label, problem) / costs.fold(f64::INFINITY, f64::min)
        };
        // Infinity over infinity, nobody solves it, counts as unsolved.
        let mut ratios: Vec<f64> =
            problems.iter().map(ratio).filter(|ratio| ratio.is_finite()).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    };
    let all: Vec<Vec<f64>> = labels.iter().map(|(label, _)| ratios(label)).collect();
    let end = all.iter().flatten().fold(1.0, |a: f64, &b| a.max(b)) * 1.5;
    let curves = labels.iter().zip(&all).map(|(&(label, backend), ratios)| Curve {
        label: label.to_owned(),
        backend: backend.to_owned(),
        points: staircase(ratios, problems.len(), end),
    });
    Panel {
        title: title.to_owned(),
        x: Axis::log("cost over the cheapest, τ", ""),
        y: Axis { range: Some((0.0, 1.05)), ..Axis::linear("share of scenes solved", "") },
        curves: curves.collect(),
        references: Vec::new(),
    }
}

fn staircase(ratios: &[f64], problems: usize, end: f64) -> Vec<(f64, f64)> {
    let share = |solved: usize| solved as f64 / problems.max(1) as f64;
    let mut points = vec![(1.0, share(0))];
    for (solved, &ratio) in ratios.iter().enumerate() {
        points.extend([(ratio, share(solved)), (ratio, share(solved + 1))]);
    }
    points.push((end, share(ratios.len())));
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

    #[test]
    fn a_profile_counts_solved_problems() {
        let runs = [
            work("a", "p", 1.0, 0.1),
            work("b", "p", 3.0, 0.1),
            work("a", "q", 2.0, 0.1),
            work("b", "q", 1.0, 9.0),
            work("b", "q", 8.0, 0.1),
            work("a", "nobody", 1.0, f64::NAN),
        ];
        let panel = performance_profile("", &runs, 0.5);
        // a is cheapest on both solved problems of three; b needs 3 and 4 times as much.
        let share_at = |curve: usize, tau: f64| {
            let points = panel.curves[curve].points.iter();
            points.filter(|p| p.0 <= tau).map(|p| p.1).fold(0.0, f64::max)
        };
        assert_eq!(share_at(0, 1.0), 2.0 / 3.0);
        assert_eq!(share_at(1, 2.9), 0.0);
        assert_eq!(share_at(1, 3.0), 1.0 / 3.0);
        assert_eq!(share_at(1, 4.0), 2.0 / 3.0);
    }

    #[test]
    fn work_precision_sorts_by_cost() {
        let runs = [work("a", "p", 4.0, 0.1), work("a", "p", 1.0, 0.5)];
        let panel = work_precision("", &runs, Axis::default(), Axis::default());
        assert_eq!(panel.curves[0].points, [(1.0, 0.5), (4.0, 0.1)]);
        assert_eq!(panel.x.scale, Scale::Log);
    }
}
