//! Reading figure definitions, with messages that say where and what.

mod check;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use taut_core::settings::nearest;

use self::check::check;
use super::{Figure, filed};
use crate::{
    Setup,
    checkout::{self, Checkout},
};

/// A definition that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// File.
    pub path: PathBuf,
    /// Line, from 1; 0 where none can be named.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong, with a near name where there is one.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, line, column, message } = self;
        match line {
            0 => write!(f, "{}: {message}", path.display()),
            _ => write!(f, "{}:{line}:{column}: {message}", path.display()),
        }
    }
}

impl std::error::Error for LoadError {}

/// Reads and checks `results/figures/<id>/figure.ron` against the backends and metrics there are.
///
/// # Errors
/// [`LoadError`] when there is no such figure, or its file is malformed or contradicts itself.
pub fn load(root: &Checkout, id: &str, setup: &Setup) -> Result<Figure, LoadError> {
    let path = filed(root, id, "figure.ron");
    let fail = |message| LoadError { path: path.clone(), line: 0, column: 0, message };
    // Results are written to a folder of the figure's name.
    if Path::new(id).file_name() != Some(OsStr::new(id)) {
        return Err(fail(format!("`{id}` is a path, not the name of a figure")));
    }
    let unknown = || {
        let ids = super::ids(root).unwrap_or_default();
        let known: Vec<&str> = ids.iter().map(String::as_str).collect();
        fail(match root.hides(&format!("results/figures/{id}/figure.ron")) {
            true => format!("no figure `{id}` there: `--root DIR` adds those of the program"),
            false => format!("no figure `{id}`{}", hint(id, &known)),
        })
    };
    let text = checkout::text(&path).map_err(|error| fail(error.root_cause().to_string()))?;
    let text = text.ok_or_else(unknown)?;
    parse(&text, id, &path, setup)
}

/// Reads and checks the text of a definition.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, id: &str, path: &Path, setup: &Setup) -> Result<Figure, LoadError> {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let mut figure: Figure = options.from_str(text).map_err(|error| LoadError {
        path: path.to_owned(),
        line: error.span.start.line,
        column: error.span.start.col,
        message: explain(&error.code),
    })?;
    (figure.id, figure.asked) = (id.to_owned(), setup.metrics.named_in(text));
    figure.claims.iter_mut().for_each(|claim| claim.find_motion(&figure.probes));
    check(&figure, setup).map_err(|Wrong { what, quoted }| {
        let (line, column) = quoted.map_or((0, 0), |name| find(text, &name));
        LoadError { path: path.to_owned(), line, column, message: what }
    })?;
    Ok(figure)
}

fn explain(error: &ron::Error) -> String {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => {
            format!("unknown field `{found}`{}", hint_or_list(found, expected))
        }
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            format!("unknown variant `{found}`{}", hint_or_list(found, expected))
        }
        ron::Error::MissingStructField { field, outer } => {
            let place = outer.as_ref().map(|o| format!(" of `{o}`")).unwrap_or_default();
            format!("field `{field}`{place} is missing")
        }
        other => other.to_string(),
    }
}

fn hint(found: &str, known: &[&str]) -> String {
    nearest(found, known).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

fn hint_or_list(found: &str, known: &[&str]) -> String {
    match hint(found, known) {
        hint if hint.is_empty() => format!(", expected one of {}", known.join(", ")),
        hint => hint,
    }
}

/// Line and column of a quoted name's first mention.
fn find(text: &str, name: &str) -> (usize, usize) {
    let Some(offset) = text.find(&format!("\"{name}\"")) else { return (0, 0) };
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A contradiction, with a name by which its place may be found.
struct Wrong {
    what: String,
    quoted: Option<String>,
}

impl Wrong {
    fn named(what: String, name: &str) -> Self {
        Self { what, quoted: Some(name.to_owned()) }
    }

    fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        Self::named(format!("unknown {what} `{name}`{}", hint_or_list(name, known)), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"(
    title: "t",
    source: "s",
    about: "a",
    probes: {"height_m": coordinate(of: "ball", axis: z)},
    runs: [
        (label: "ref", scene: "s", backend: "null", iterations: [1]),
        (label: "A", scene: "s", backend: "null", iterations: [1, 2], reference: "ref"),
    ],
    plot: (panels: [(
        runs: ["A*"],
        x: (quantity: "time_s"),
        y: (quantity: "height_m"),
    )]),
    claims: [(text: "c", check: never(metric: "height_m", run: "A 2", below: 0), basis: reading)],
    quick: (steps: 3, work: 1),
)"#;

    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        parse(&text, "test", Path::new("figure.ron"), &Setup::default()).unwrap_err().to_string()
    }

    #[test]
    fn a_good_definition_is_read() {
        let figure = parse(GOOD, "test", Path::new("figure.ron"), &Setup::default()).unwrap();
        let labels: Vec<String> = figure.plan(false).into_iter().map(|p| p.label).collect();
        assert_eq!(labels, ["ref", "A 1", "A 2"]);
        let quick = figure.plan(true);
        assert_eq!(quick.len(), 2, "budgets above the quick work are left out");
        assert!(quick.iter().all(|p| p.run.steps == Some(3)));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        assert_eq!(
            error("scene: \"s\"", "scen: \"s\""),
            "figure.ron:7:24: unknown field `scen` (did you mean `scene`?)"
        );
        assert_eq!(
            error("never(", "newer("),
            "figure.ron:15:33: unknown variant `newer` (did you mean `never`?)"
        );
        assert_eq!(
            error("run: \"A 2\"", "run: \"A 3\""),
            "figure.ron:15:64: unknown run `A 3` (did you mean `A 1`?)"
        );
        assert_eq!(
            error("y: (quantity: \"height_m\")", "y: (quantity: \"heigth_m\")"),
            "figure.ron:13:23: unknown quantity `heigth_m` (did you mean `height_m`?)"
        );
        assert_eq!(
            error("backend: \"null\"", "backend: \"nul\""),
            "figure.ron:7:45: unknown backend `nul` (did you mean `null`?)"
        );
        assert_eq!(
            error("title: \"t\",", ""),
            "figure.ron:17:1: field `title` of `Figure` is missing"
        );
        assert!(error("iterations: [1]", "iterations: [0]").contains("at least 1"));
        assert!(error("below: 0", "").contains("has no limit"));
        assert!(error(", basis: reading", "").contains("where its numbers come from"));
        let claim = "below: 0)";
        assert!(
            error(claim, "below: 0), ends: {\"A 1\": [\"ok\"]}").contains("does not name"),
            "an end of a run that the claim does not name"
        );
        assert!(
            error(claim, "below: 0), ends: {\"A 2\": [\"exploded\", \"frosen\"]}")
                .contains("unknown end of a run `frosen` (did you mean `frozen`?)")
        );
        let check = "never(metric: \"height_m\", run: \"A 2\", below: 0)";
        assert!(
            error(check, "within(metric: \"height_m\", run: \"A 2\", at: mean, of: run(\"ref\"))")
                .contains("use `follows`")
        );
        assert!(
            error(check, "follows(metric: \"height_m\", run: \"A 2\", of: \"ref\", at: mean)")
                .contains("step by step")
        );
        assert!(
            error(check, "bound(metric: \"step_time_s\", run: \"A 2\", max: 1)")
                .contains("compare runs by `faster`")
        );
        assert!(error("label: \"A\"", "label: \"ref\"").contains("unknown"));
        assert!(error("reference: \"ref\"", "reference: \"A 1\"").contains("of its own"));
        assert!(error("[1, 2]", "[1, 1]").contains("two runs"));
        assert!(error("quick:", "#quick:").contains("figure.ron:16:5"));
    }

    #[test]
    fn methods_are_compared_at_equal_budgets_unless_a_claim_says_why_not() {
        let rival =
            "(label: \"B\", scene: \"s\", backend: \"newton\", iterations: [4]),\n    ],\n    plot";
        let text = GOOD.replace("],\n    plot", rival).replace(
            "never(metric: \"height_m\", run: \"A 2\", below: 0), basis: reading",
            "less(metric: \"height_m\", a: \"A 2\", b: \"B\", at: final)",
        );
        let parsed = |text: &str| parse(text, "test", Path::new("figure.ron"), &Setup::default());
        let found = parsed(&text).unwrap_err().to_string();
        assert!(
            found.ends_with(
                "`A 2` has 2 iterations a frame and `B` 4: say why under `unequal_budget`"
            ),
            "{found}"
        );
        assert!(parsed(&text.replace("at: final)", "at: final), unequal_budget: \"so\"")).is_ok());
        assert!(parsed(&text.replace("iterations: [4]", "iterations: [2]")).is_ok());
        assert!(parsed(&text.replace("b: \"B\"", "b: \"ref\"")).is_ok(), "taken for the truth");
        assert!(parsed(&text.replace("\"newton\"", "\"null\"")).is_ok(), "one method");
    }
}
