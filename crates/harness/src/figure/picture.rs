//! The picture of a figure, from what is on file: its definition, its curves and its verdicts.

use super::{
    AxisSpec, Figure, PanelCurves, PanelSpec, Planned, ProfileSpec, ReferenceSpec, RunVerdict,
    VerdictFile, conclusion, is_time, times::TimedPoint,
};
use crate::plot::{
    self, Better, ClaimMark, CurveWeight, Dash, Failure, MOST_EMPHASISED, Strip, method_of,
};

/// As many panels stand on the first picture; the others are a supplement.
const PANELS: usize = 4;

/// What a picture is made of.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// The definition.
    pub figure: &'a Figure,
    /// Its curves, as they are recorded.
    pub curves: &'a [PanelCurves],
    /// The points of its panels over the clock.
    pub times: &'a [TimedPoint],
    /// What became of its claims and runs.
    pub verdicts: &'a VerdictFile,
}

/// The pictures of a figure: the one to show, and that of its other panels where there are any.
pub fn pictures(drawn: Drawn<'_>) -> (plot::PlotSpec, Option<plot::PlotSpec>) {
    let Drawn { figure, verdicts, .. } = drawn;
    let runs = DrawnRuns::new(drawn);
    let (mut first, mut more) = (Vec::new(), Vec::new());
    for (place, panel) in figure.plot.panels.iter().enumerate() {
        let into = if panel.supplement || first.len() == PANELS { &mut more } else { &mut first };
        into.push(runs.panel(place, panel));
    }
    let concluded = conclusion::sentence(figure, verdicts);
    let subtitle = match &concluded {
        Some(_) => format!("{}. {}", figure.title, figure.source),
        None => figure.source.clone(),
    };
    let spec = plot::PlotSpec {
        title: concluded.unwrap_or_else(|| figure.title.clone()),
        subtitle,
        panels: first,
        strip: Some(strip(drawn)),
    };
    let more = (!more.is_empty()).then(|| plot::PlotSpec { panels: more, ..spec.clone() });
    (spec, more)
}

/// The runs of a figure with how they ended.
struct DrawnRuns<'a> {
    drawn: Drawn<'a>,
    plan: Vec<Planned>,
}

impl<'a> DrawnRuns<'a> {
    fn new(drawn: Drawn<'a>) -> Self {
        Self { drawn, plan: drawn.figure.plan(drawn.verdicts.quick) }
    }

    fn verdict(&self, label: &str) -> Option<&'a RunVerdict> {
        self.drawn.verdicts.runs.iter().find(|run| run.label == label)
    }

    /// The runs behind a curve: one over time, those of an entry where each point is a run.
    fn behind(&self, curve: &str) -> Vec<&Planned> {
        let own = self.plan.iter().filter(|planned| planned.label == curve);
        let own: Vec<&Planned> = own.collect();
        if !own.is_empty() {
            return own;
        }
        self.plan.iter().filter(|planned| planned.group == curve).collect()
    }

    fn panel(&self, place: usize, panel: &PanelSpec) -> plot::Panel {
        let mut curves: Vec<plot::Curve> = if panel.is_recorded() {
            let recorded = self.drawn.curves.iter().filter(|curves| curves.panel == place);
            recorded.flat_map(|curves| &curves.curves).map(|c| self.curve(panel, c)).collect()
        } else {
            self.timed(place, panel)
        };
        curves.retain(|curve| !self.is_twin(&curve.label));
        emphasise(&mut curves, &panel.emphasis, |label| self.drawn.figure.is_guest(label));
        let x = panel.profile.as_ref().map_or_else(|| axis(&panel.x), |p| p.x(axis(&panel.x)));
        plot::Panel {
            title: heading(panel),
            x: plot::Axis { ticks: budgets(panel, &curves), ..x },
            y: panel.profile.as_ref().map_or_else(|| axis(&panel.y), ProfileSpec::y),
            curves,
            references: panel.references.iter().map(reference).collect(),
            better: better(panel),
            one_per_run: panel.statistic.is_some() && panel.profile.is_none(),
        }
    }

    /// A recorded curve with how it is drawn.
    fn curve(&self, panel: &PanelSpec, recorded: &plot::Curve) -> plot::Curve {
        let styled = self.styled(&recorded.label);
        if panel.statistic.is_none() {
            let failure = self.verdict(&recorded.label).and_then(failure);
            let failure = failure.filter(|_| panel.x.quantity == "time_s");
            return plot::Curve { points: recorded.points.clone(), failure, ..styled };
        }
        let runs = self.behind(&recorded.label);
        let failed = |x: f64| {
            let of_x = runs.iter().find(|run| budget(run, &panel.x.quantity) == Some(x));
            of_x.and_then(|run| self.verdict(&run.label)).is_some_and(RunVerdict::has_failed)
        };
        let (failed, fine): (Vec<(f64, f64)>, Vec<_>) =
            recorded.points.iter().partition(|point| failed(point.0));
        plot::Curve { points: fine, failed_at: failed.iter().map(|p| p.0).collect(), ..styled }
    }

    /// The curves of a panel over the clock.
    fn timed(&self, place: usize, panel: &PanelSpec) -> Vec<plot::Curve> {
        let mut curves: Vec<plot::Curve> = Vec::new();
        for point in self.drawn.times.iter().filter(|point| point.panel == place) {
            let curve = match curves.iter().position(|curve| curve.label == point.curve) {
                Some(known) => &mut curves[known],
                None => {
                    let styled =
                        plot::Curve { backend: point.backend.clone(), ..self.styled(&point.curve) };
                    curves.push(styled);
                    let last = curves.len() - 1;
                    &mut curves[last]
                }
            };
            let failed = self.verdict(&point.run).is_some_and(RunVerdict::has_failed);
            if failed && panel.profile.is_none() {
                curve.failed_at.push(point.x);
            } else {
                curve.points.push((point.x, point.y));
            }
        }
        curves
    }

    /// A curve without points: name, colour, dash and weight.
    fn styled(&self, label: &str) -> plot::Curve {
        let runs = self.behind(label);
        let Some(first) = runs.first() else {
            return plot::Curve { label: label.to_owned(), ..plot::Curve::default() };
        };
        let mut all = self.drawn.figure.runs.iter();
        let is_truth = all.any(|run| {
            let named = run.reference.as_deref();
            named.is_some() && runs.iter().any(|own| named == Some(&own.label))
        });
        let null = first.run.backend == "null";
        plot::Curve {
            label: label.to_owned(),
            backend: first.run.backend.clone(),
            weight: match (is_truth, null) {
                (true, _) => CurveWeight::Truth,
                (_, true) => CurveWeight::Context,
                _ => CurveWeight::Emphasis,
            },
            dash: if is_truth { Dash::Iterations } else { dash(first) },
            ..plot::Curve::default()
        }
    }

    /// Whether a curve is of a run on an adapter that another repeats on the processor: both would lie on each other.
    fn is_twin(&self, label: &str) -> bool {
        if self.drawn.figure.id == "gpu-vs-cpu" {
            return false;
        }
        let runs = self.behind(label);
        !runs.is_empty() && runs.iter().all(|run| self.has_twin(run))
    }

    fn has_twin(&self, run: &Planned) -> bool {
        run.run.backend.ends_with("-gpu")
            && self.plan.iter().any(|other| {
                other.run.backend.ends_with("-cpu")
                    && other.method() == run.method()
                    && other.run.scene == run.run.scene
                    && other.run.parameters == run.run.parameters
                    && other.iterations * other.substeps == run.iterations * run.substeps
            })
    }
}

/// Leaves guests in their weight and those that are named; where none are, references and then one run of each method
/// in turn, as many as a panel takes.
fn emphasise(curves: &mut [plot::Curve], named: &[String], is_guest: impl Fn(&str) -> bool) {
    let mut kept: Vec<usize>;
    if named.is_empty() {
        let matters = |i: &usize| curves[*i].weight != CurveWeight::Context;
        let rank = |i: usize| {
            let same = |j: &usize| method_of(&curves[*j].backend) == method_of(&curves[i].backend);
            let before = (0..i).filter(matters).filter(same).count();
            if curves[i].weight == CurveWeight::Truth { 0 } else { before }
        };
        kept = (0..curves.len()).filter(matters).collect();
        kept.sort_by_key(|&i| (rank(i), i));
    } else {
        let is_named = |label: &String| named.contains(label) || is_guest(label);
        kept = (0..curves.len()).filter(|&i| is_named(&curves[i].label)).collect();
    }
    kept.sort_by_key(|&i| !is_guest(&curves[i].label));
    kept.truncate(MOST_EMPHASISED);
    for (i, curve) in curves.iter_mut().enumerate() {
        if !kept.contains(&i) {
            curve.weight = CurveWeight::Context;
        } else if curve.weight == CurveWeight::Context {
            curve.weight = CurveWeight::Emphasis;
        }
    }
}

/// The cost of a run that a horizontal axis may show.
fn budget(run: &Planned, quantity: &str) -> Option<f64> {
    match quantity {
        "iterations" => Some(f64::from(run.iterations)),
        "substeps" => Some(f64::from(run.substeps)),
        "work" => Some(f64::from(run.iterations * run.substeps)),
        other => run.run.parameters.get(other).copied(),
    }
}

/// Where budgets have ticks: where they are.
fn budgets(panel: &PanelSpec, curves: &[plot::Curve]) -> Vec<f64> {
    if !["iterations", "substeps", "work"].contains(&panel.x.quantity.as_str())
        || panel.statistic.is_none()
        || panel.profile.is_some()
    {
        return Vec::new();
    }
    let own = |curve: &plot::Curve| {
        let points = curve.points.iter().map(|point| point.0);
        points.chain(curve.failed_at.iter().copied()).collect::<Vec<f64>>()
    };
    let mut all: Vec<f64> = curves.iter().flat_map(own).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// How the budget of a run was spent.
fn dash(planned: &Planned) -> Dash {
    let settings = planned.run.settings.as_ref().map_or("", |settings| settings.get_ron());
    let backend = planned.run.backend.as_str();
    if backend.ends_with("-gpu") || settings.contains("precision: f32") {
        return Dash::Single;
    }
    // What these two take for iterations are steps of their own, unless they are told otherwise.
    let by_steps = match method_of(backend) {
        "xpbd" => !settings.contains("mode: iterations"),
        "impulse" => !settings.contains("variant: pgs"),
        _ => false,
    };
    // A reference is solved to tolerance, whatever its steps.
    let by_steps = by_steps || (planned.substeps > 1 && method_of(backend) != "newton");
    if by_steps { Dash::Substeps } else { Dash::Iterations }
}

/// When and how a run failed, where that was found.
fn failure(run: &RunVerdict) -> Option<Failure> {
    Failure::new(&run.status, run.failed_at_s?)
}

/// A panel's heading; the quantity where it has none.
fn heading(panel: &PanelSpec) -> String {
    if panel.title.is_empty() { axis(&panel.y).label } else { panel.title.clone() }
}

/// Which way is good, from the quantity.
fn better(panel: &PanelSpec) -> Better {
    if panel.profile.is_some() {
        return Better::Higher;
    }
    const LOWER: [&str; 9] = [
        "error",
        "penetration",
        "residual",
        "distance_to",
        "off_",
        "gap",
        "drift",
        "violation",
        "imbalance",
    ];
    let quantity = panel.y.quantity.as_str();
    let lower = is_time(quantity) || LOWER.iter().any(|word| quantity.contains(word));
    let cost = ["work", "iterations", "substeps"].contains(&panel.x.quantity.as_str())
        || is_time(&panel.x.quantity);
    match (lower, cost && panel.statistic.is_some()) {
        (true, true) => Better::LowerOfBoth,
        (true, false) => Better::Lower,
        (false, _) => Better::Neither,
    }
}

fn axis(axis: &AxisSpec) -> plot::Axis {
    let made = plot::Axis::metric(&axis.quantity, axis.scale);
    let label = axis.label.clone().unwrap_or(made.label);
    let label = if axis.quantity == "time_s" { String::new() } else { label };
    plot::Axis { label, range: axis.range, ..made }
}

fn reference(reference: &ReferenceSpec) -> plot::Reference {
    match reference.clone() {
        ReferenceSpec::Horizontal { value, label } => plot::Reference::Horizontal { value, label },
        ReferenceSpec::Vertical { value, label } => plot::Reference::Vertical { value, label },
        ReferenceSpec::Slope { through, exponent, label } => {
            plot::Reference::Slope { through, exponent, label }
        }
        ReferenceSpec::Point { at, label } => plot::Reference::Point { at, label },
    }
}

/// What became of the claims, and what else a reader of the picture should know.
fn strip(drawn: Drawn<'_>) -> Strip {
    let Drawn { figure, verdicts, .. } = drawn;
    let mark = |verdict: &str| match verdict {
        "holds" => ClaimMark::Holds,
        "deviation" => ClaimMark::Deviates,
        "fails" => ClaimMark::Fails,
        "void" => ClaimMark::Void,
        "unclear" => ClaimMark::Unclear,
        _ => ClaimMark::NotJudged,
    };
    let claims: Vec<ClaimMark> = verdicts.claims.iter().map(|c| mark(&c.verdict)).collect();
    // Checks that only hold what was measured here have a square, and do not count.
    let counted: Vec<ClaimMark> = claims
        .iter()
        .zip(&figure.claims)
        .filter(|(_, claim)| claim.is_claim())
        .map(|(&mark, _)| mark)
        .collect();
    let count = |mark: ClaimMark| counted.iter().filter(|&&own| own == mark).count();
    let judged = counted.len() - count(ClaimMark::NotJudged);
    let mut text = format!("{} of {judged} claims hold", count(ClaimMark::Holds));
    let others = [
        (count(ClaimMark::Deviates), "known deviation"),
        (count(ClaimMark::Fails) + count(ClaimMark::Void), "failure"),
    ];
    for (count, word) in others.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!(" · {count} {word}{}", if count == 1 { "" } else { "s" });
    }
    let mut notes = Vec::new();
    if verdicts.runs.iter().any(|run| run.status == "penetrating") {
        notes.push("small ✕: a body sinks into another".to_owned());
    }
    if verdicts.runs.iter().any(|run| run.status == "intersecting") {
        notes.push("small ✕: surfaces of bodies meet".to_owned());
    }
    if verdicts.quick {
        notes.push("quick form, smaller than the figure".to_owned());
    }
    for run in &verdicts.runs {
        if run.status == "unsupported" {
            notes.push(format!("not run: {}", run.label));
        }
        // The reference takes as many as it needs; for a method that is a finding.
        if let Some(most) = run.iterations_used.filter(|_| method_of(&run.backend) != "newton") {
            notes.push(format!("{}: up to {most} iterations a step", run.label));
        }
    }
    if figure.runs.iter().any(|run| run.needs_hardware)
        && verdicts.runs.iter().any(|r| r.status == "skipped")
    {
        notes.push("rows that need a graphics adapter are not on file".to_owned());
    }
    Strip { claims, text, notes }
}
