//! Curves: their points, how much they matter, and where their runs failed.

use super::{
    Panel,
    colour::{method_of, style_of},
};

/// One curve. Points that an axis cannot show (non-finite, or not positive on a log axis) are gaps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name.
    pub label: String,
    /// Name of the backend, whose method gives the colour; ink for methods that have none.
    pub backend: String,
    /// The points, in drawing order.
    pub points: Vec<(f64, f64)>,
    /// Whether it matters.
    pub weight: CurveWeight,
    /// How its budget was spent.
    pub dash: Dash,
    /// Share of the page's colour in its own, for smaller budgets.
    pub lightness: f64,
    /// Where the run failed, for a curve over time.
    pub failure: Option<Failure>,
    /// Horizontal places of the runs that failed, for a curve of one point per run; their points are left out.
    pub failed_at: Vec<f64>,
}

/// How much a curve matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurveWeight {
    /// One to look at.
    #[default]
    Emphasis,
    /// What others are compared with: black.
    Truth,
    /// For comparison only: grey.
    Context,
}

/// How a budget was spent, or what is special of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Iterations of one step.
    #[default]
    Iterations,
    /// Steps within the frame.
    Substeps,
    /// Single precision.
    Single,
    /// A variant of a method that is there already.
    Variant,
}

impl Dash {
    /// Lengths of dash and gap [px].
    pub(crate) fn pattern(self) -> &'static [f64] {
        match self {
            Self::Iterations => &[],
            Self::Substeps => &[6.0, 3.0],
            Self::Single => &[2.0, 2.0],
            Self::Variant => &[10.0, 3.0, 2.0, 3.0],
        }
    }
}

/// How a run failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// When [s].
    pub at: f64,
    /// What it does then, as in `falls`.
    pub word: &'static str,
    /// What its numbers mean afterwards.
    pub after: AfterFailure,
}

/// What the numbers of a failed run mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Nothing.
    Nothing,
    /// What a useless motion did.
    Useless,
    /// What its bodies did, inside each other.
    Flawed,
}

impl Failure {
    /// How a run with this label failed; `None` for `ok` and what was not run.
    pub fn new(status: &str, at: f64) -> Option<Self> {
        let (word, after) = match status {
            "falling" => ("falls", AfterFailure::Useless),
            "frozen" => ("freezes", AfterFailure::Useless),
            "exploded" => ("explodes", AfterFailure::Nothing),
            "diverged" => ("diverges", AfterFailure::Nothing),
            "intersecting" => ("meets", AfterFailure::Flawed),
            "penetrating" => ("sinks in", AfterFailure::Flawed),
            "failed" => ("fails", AfterFailure::Nothing),
            _ => return None,
        };
        Some(Self { at, word, after })
    }
}

impl Curve {
    /// Whether it ends where its run failed.
    pub(super) fn ends_early(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.after != AfterFailure::Flawed)
    }

    /// The points until the run failed.
    pub(crate) fn before_failure(&self) -> Vec<(f64, f64)> {
        let end = match &self.failure {
            Some(failure) if self.ends_early() => failure.at,
            _ => f64::INFINITY,
        };
        let mut kept: Vec<(f64, f64)> =
            self.points.iter().copied().take_while(|point| point.0 <= end).collect();
        if let Some(value) = self.value_at(end) {
            kept.push((end, value));
        }
        kept
    }

    /// The points after it failed, where they mean anything.
    pub(crate) fn after_failure(&self) -> Vec<(f64, f64)> {
        let Some(failure) = self.failure.as_ref().filter(|f| f.after == AfterFailure::Useless)
        else {
            return Vec::new();
        };
        let start = self.value_at(failure.at).map(|value| (failure.at, value));
        let later = self.points.iter().copied().filter(|point| point.0 > failure.at);
        start.into_iter().chain(later).collect()
    }

    /// The points that axes are fitted to.
    pub(super) fn shown(&self) -> Vec<(f64, f64)> {
        match &self.failure {
            Some(failure) if failure.after == AfterFailure::Nothing => self.before_failure(),
            _ => self.points.clone(),
        }
    }

    /// Its value at a place, between points on a straight line; that of its nearest end beyond them.
    pub(super) fn value_at(&self, x: f64) -> Option<f64> {
        if !x.is_finite() {
            return None;
        }
        let finite = |point: &&(f64, f64)| point.1.is_finite();
        let before = self.points.iter().rev().filter(finite).find(|point| point.0 <= x);
        let after = self.points.iter().filter(finite).find(|point| point.0 >= x);
        match (before, after) {
            (Some(&(x0, y0)), Some(&(x1, y1))) if x1 > x0 => {
                Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
            }
            (Some(&(_, y)), _) | (None, Some(&(_, y))) => Some(y),
            (None, None) => None,
        }
    }
}

/// At most so many curves of a panel matter.
pub const MOST_EMPHASISED: usize = 5;

/// How a curve that matters is told from others of its method.
type Look = (Dash, f64);

/// Panels with at most [`MOST_EMPHASISED`] curves that matter, the first, and no two of them drawn alike: further
/// curves of a method are dashed or lighter. A label looks the same in all panels, as far as that goes.
pub(crate) fn settled(panels: &[Panel]) -> Vec<Panel> {
    let mut panels = panels.to_vec();
    let mut known: Vec<(String, Look)> = Vec::new();
    for panel in &mut panels {
        let mut left = MOST_EMPHASISED;
        for curve in panel.curves.iter_mut().filter(|curve| curve.weight != CurveWeight::Context) {
            if left == 0 {
                curve.weight = CurveWeight::Context;
            }
            left = left.saturating_sub(1);
        }
        let alone = has_one_method(panel);
        let mut taken: Vec<(&str, Look)> = Vec::new();
        let mut matter: Vec<&mut Curve> =
            panel.curves.iter_mut().filter(|c| c.weight == CurveWeight::Emphasis).collect();
        // Those that have a look already choose first.
        matter.sort_by_key(|curve| !known.iter().any(|(label, _)| *label == curve.label));
        for curve in matter {
            // Engines of others share one ink.
            let method = style_of(&curve.backend).method;
            let is_free = |look: &Look| !taken.contains(&(method, *look));
            let old = known.iter().find(|(label, _)| *label == curve.label).map(|(_, look)| *look);
            let look = old.into_iter().chain(looks(curve.dash, alone)).find(is_free);
            let look = look.unwrap_or((curve.dash, 0.6));
            (curve.dash, curve.lightness) = look;
            taken.push((method, look));
            known.push((curve.label.clone(), look));
        }
    }
    panels
}

/// The looks of curves of a method, in the order in which they are given away. Where several methods meet, dashes come
/// before lightness, which is nearer to another method's colour.
fn looks(own: Dash, alone: bool) -> [Look; 6] {
    let variant = Dash::Variant;
    if alone {
        [(own, 0.0), (own, 0.35), (own, 0.6), (variant, 0.0), (variant, 0.35), (variant, 0.6)]
    } else {
        [(own, 0.0), (variant, 0.0), (own, 0.35), (variant, 0.35), (own, 0.6), (variant, 0.6)]
    }
}

/// Whether all curves of a panel that matter, but for references, are of one method.
fn has_one_method(panel: &Panel) -> bool {
    let mut methods = panel.curves.iter().filter(|curve| curve.weight == CurveWeight::Emphasis);
    let first = methods.next().map(|curve| method_of(&curve.backend));
    methods.all(|curve| Some(method_of(&curve.backend)) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str) -> Curve {
        Curve {
            label: label.to_owned(),
            backend: "avbd-cpu".to_owned(),
            points: (0..10).map(|i| (f64::from(i), f64::from(i + 1))).collect(),
            ..Curve::default()
        }
    }

    #[test]
    fn engines_are_told_apart_by_their_looks() {
        let engine = |name: &str| {
            let weight = CurveWeight::Emphasis;
            Curve { backend: name.to_owned(), weight, ..run(name) }
        };
        let curves = ["mujoco", "drake", "pybullet"].map(engine).to_vec();
        let panel = settled(&[Panel { curves, ..Panel::default() }]).remove(0);
        let looks: Vec<Look> = panel.curves.iter().map(|c| (c.dash, c.lightness)).collect();
        assert!(looks[0] != looks[1] && looks[0] != looks[2] && looks[1] != looks[2], "{looks:?}");
    }

    #[test]
    fn a_curve_is_cut_where_its_run_failed() {
        let failed = |word: &str| Curve { failure: Failure::new(word, 4.5), ..run("a") };
        let falling = failed("falling");
        assert_eq!(falling.before_failure().last(), Some(&(4.5, 5.5)));
        assert_eq!(falling.after_failure().first(), Some(&(4.5, 5.5)));
        assert_eq!(falling.shown().len(), 10);
        let exploded = failed("exploded");
        assert!(exploded.after_failure().is_empty() && exploded.shown().len() == 6);
        let sinking = failed("penetrating");
        assert_eq!(sinking.before_failure().len(), 10);
        assert_eq!(Failure::new("ok", 1.0), None);
    }

    #[test]
    fn a_label_looks_the_same_in_all_panels() {
        let panel = |labels: [&str; 2]| Panel {
            curves: labels.iter().map(|label| run(label)).collect(),
            ..Panel::default()
        };
        let panels = settled(&[panel(["a", "b"]), panel(["c", "b"])]);
        let look = |panel: usize, curve: usize| {
            let curve: &Curve = &panels[panel].curves[curve];
            (curve.dash, curve.lightness)
        };
        assert_eq!(look(0, 1), look(1, 1));
        assert_ne!(look(1, 0), look(1, 1));
    }

    #[test]
    fn no_two_curves_that_matter_are_drawn_alike() {
        let curves = (0..8).map(|i| run(&format!("run {i}"))).collect();
        let panel = settled(&[Panel { curves, ..Panel::default() }]).remove(0);
        let matter: Vec<&Curve> =
            panel.curves.iter().filter(|c| c.weight == CurveWeight::Emphasis).collect();
        assert_eq!(matter.len(), MOST_EMPHASISED);
        for (i, a) in matter.iter().enumerate() {
            for b in &matter[i + 1..] {
                assert!((a.dash, a.lightness) != (b.dash, b.lightness));
            }
        }
    }
}
