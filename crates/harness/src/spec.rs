//! The rows that are asked for, and how they are written on the command line.

use anyhow::{Context, bail, ensure};
use taut_core::{Scene, Settings, Step};

/// What a command starts with where a backend is named.
pub(crate) const EXEC: &str = "exec:";

/// One row to measure: a backend with its settings and budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Name of the row, unique within a run.
    pub label: String,
    /// Name of the backend in the table.
    pub backend: String,
    /// What only the backend understands.
    pub settings: Settings,
    /// Iterations per solver step.
    pub iterations: u32,
    /// Solver steps per frame, each `dt / substeps` long.
    pub substeps: u32,
}

impl Spec {
    /// The given backend with default settings, labelled with its own name, one step per frame.
    pub fn new(backend: &str, iterations: u32) -> Self {
        Self {
            label: backend.to_owned(),
            backend: backend.to_owned(),
            settings: Settings::default(),
            iterations,
            substeps: 1,
        }
    }

    /// One solver step of this budget in `scene`.
    pub fn step(&self, scene: &Scene) -> Step {
        Step { dt: scene.dt / f64::from(self.substeps), iterations: self.iterations }
    }
}

/// A backend as named on the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    /// Label given before `=`.
    label: Option<String>,
    /// The argument without its label.
    text: String,
    backend: String,
    settings: Settings,
}

impl Named {
    /// Parses `NAME`, `NAME:key=value,..` or either with `LABEL=` before it.
    ///
    /// An `=` separates a label only if it comes before the first `:`.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        // Pictures and tables have no place for them.
        ensure!(!text.contains(char::is_control), "{text:?} holds control characters");
        let (label, rest) = labelled(text);
        ensure!(label != Some(""), "`{text}` has an empty label, expected LABEL=NAME");
        let (name, settings) = match rest.split_once(':') {
            // A command is named by its whole text, its settings included.
            Some(_) if rest.trim().starts_with(EXEC) => (rest, Ok("()".to_owned())),
            Some((name, settings)) => (name, to_ron(settings)),
            None => (rest, Ok("()".to_owned())),
        };
        let settings = settings.with_context(|| format!("in `{text}`"))?;
        ensure!(!name.trim().is_empty(), "`{text}` names no backend, expected NAME[:key=value,..]");
        Ok(Self {
            label: label.map(str::to_owned),
            text: rest.trim().to_owned(),
            backend: name.trim().to_owned(),
            settings: Settings::from_ron(settings),
        })
    }

    /// One row of this backend.
    pub(crate) fn spec(&self, iterations: u32, substeps: u32) -> Spec {
        Spec {
            label: self.label.clone().unwrap_or_else(|| self.backend.clone()),
            backend: self.backend.clone(),
            settings: self.settings.clone(),
            iterations,
            substeps,
        }
    }
}

/// The label before a backend, where there is one, and the rest.
fn labelled(text: &str) -> (Option<&str>, &str) {
    let before_settings = text.split(':').next().unwrap_or_default();
    match before_settings.find('=') {
        Some(at) => (Some(text[..at].trim()), &text[at + 1..]),
        None => (None, text),
    }
}

/// A backend as it is named, without a label.
pub(crate) fn without_label(text: &str) -> &str {
    labelled(text).1.trim()
}

/// `key=value,..` as the RON text of a struct.
pub(crate) fn to_ron(settings: &str) -> anyhow::Result<String> {
    let mut fields = Vec::new();
    for part in split_outside(settings).into_iter().filter(|part| !part.trim().is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            bail!("expected key=value, found `{}`", part.trim());
        };
        let (key, value) = (key.trim(), value.trim());
        let identifier = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        ensure!(identifier && !key.is_empty(), "`{key}` is not the name of a setting");
        ensure!(!value.is_empty(), "setting `{key}` has no value");
        fields.push(format!("{key}: {value}"));
    }
    Ok(format!("({})", fields.join(", ")))
}

/// Splits at commas that are in no bracket and no string.
pub(crate) fn split_outside(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Rows for every backend, iterations and substeps, uniquely labelled.
///
/// # Errors
/// An argument that cannot be read, or two rows of one label.
pub(crate) fn rows(
    arguments: &[String],
    iterations: &[u32],
    substeps: &[u32],
) -> anyhow::Result<Vec<Spec>> {
    let mut named =
        arguments.iter().map(|text| Named::parse(text)).collect::<anyhow::Result<Vec<_>>>()?;
    // Unlabelled rows of one backend are told apart by their settings.
    let names: Vec<String> = named.iter().map(|n| n.backend.clone()).collect();
    for row in named.iter_mut().filter(|row| row.label.is_none()) {
        if names.iter().filter(|name| **name == row.backend).count() > 1 {
            row.label = Some(row.text.clone());
        }
    }
    let mut specs: Vec<Spec> = Vec::new();
    for row in &named {
        for &i in iterations {
            for &s in substeps {
                let mut spec = row.spec(i, s);
                spec.label += &budget_suffix((i, iterations.len()), (s, substeps.len()));
                if specs.iter().any(|other| other.label == spec.label) {
                    bail!(
                        "two rows are labelled `{}`: label one, as in -b \"OTHER={}\"",
                        spec.label,
                        row.text
                    );
                }
                specs.push(spec);
            }
        }
    }
    Ok(specs)
}

/// What tells the budgets of one backend apart: ` 20`, ` x4` or ` 20x4`; nothing where there is one.
fn budget_suffix(iterations: (u32, usize), substeps: (u32, usize)) -> String {
    match (iterations, substeps) {
        ((_, 1), (_, 1)) => String::new(),
        ((i, _), (_, 1)) => format!(" {i}"),
        ((_, 1), (s, _)) => format!(" x{s}"),
        ((i, _), (s, _)) => format!(" {i}x{s}"),
    }
}

/// A reference given as `NAME[:key=value,..][@SUBSTEPS]`.
///
/// # Errors
/// An argument that cannot be read.
pub(crate) fn reference(text: &str, iterations: u32) -> anyhow::Result<Spec> {
    let (name, count) = with_substeps(text);
    let substeps = match count {
        Some(count) => count.parse().ok().filter(|&n| n > 0).with_context(|| {
            format!("`{count}` in `{text}` is not a number of substeps, at least 1")
        })?,
        None => 1,
    };
    Ok(Named::parse(name)?.spec(iterations, substeps))
}

/// What a reference names, and what it says of substeps. In a command an `@` may be anything: there it is a number after
/// the last one that counts substeps.
pub(crate) fn with_substeps(text: &str) -> (&str, Option<&str>) {
    let Some((name, count)) = text.rsplit_once('@') else { return (text, None) };
    let is_command = without_label(name).starts_with(EXEC);
    if is_command && count.parse::<u32>().is_err() { (text, None) } else { (name, Some(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(arguments: &[&str], iterations: &[u32], substeps: &[u32]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
        let rows = rows(&arguments, iterations, substeps).unwrap();
        rows.into_iter().map(|spec| spec.label).collect()
    }

    #[test]
    fn settings_become_a_ron_struct() {
        let named =
            Named::parse("avbd-cpu:profile=demo3d, beta=1e5,order=jacobi(omega: 0.5, n: [1,2])");
        let named = named.unwrap();
        assert_eq!(named.backend, "avbd-cpu");
        let ron = "(profile: demo3d, beta: 1e5, order: jacobi(omega: 0.5, n: [1,2]))";
        assert_eq!(named.settings.as_str(), ron);
    }

    #[test]
    fn a_label_comes_before_the_first_colon() {
        let labelled = Named::parse("AVBD 20=avbd-cpu:beta=1e5").unwrap();
        assert_eq!(labelled.label.as_deref(), Some("AVBD 20"));
        assert_eq!(labelled.settings.as_str(), "(beta: 1e5)");
        assert_eq!(Named::parse("avbd-cpu:beta=1e5").unwrap().label, None);
        assert_eq!(Named::parse("A=null").unwrap().backend, "null");
    }

    #[test]
    fn labels_are_unique_and_carry_the_budget_where_it_differs() {
        assert_eq!(labels(&["null"], &[10], &[1]), ["null"]);
        assert_eq!(labels(&["A=null"], &[5, 10], &[1]), ["A 5", "A 10"]);
        assert_eq!(labels(&["null"], &[5], &[1, 4]), ["null x1", "null x4"]);
        assert_eq!(labels(&["null"], &[5, 6], &[1, 4]).last().unwrap(), "null 6x4");
        assert_eq!(labels(&["x:a=1", "x:a=2"], &[1], &[1]), ["x:a=1", "x:a=2"]);
    }

    #[test]
    fn a_reference_may_count_substeps() {
        let of = |text: &str| reference(text, 10).map(|spec| (spec.backend, spec.substeps));
        assert_eq!(of("newton@4").unwrap(), ("newton".to_owned(), 4));
        assert_eq!(of("exec:python3 a.py@8").unwrap(), ("exec:python3 a.py".to_owned(), 8));
        assert_eq!(of("exec:ssh me@host").unwrap(), ("exec:ssh me@host".to_owned(), 1));
        for text in ["newton@", "newton@0", "newton@x", "exec:a@0"] {
            assert!(of(text).unwrap_err().to_string().contains("not a number of substeps"));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
            format!("{:#}", rows(&arguments, &[1], &[1]).unwrap_err())
        };
        let cases = [
            (error(&["null", "null"]), "two rows are labelled `null`"),
            (error(&["A=null", "A=newton"]), "two rows are labelled `A`"),
            (error(&["avbd-cpu:beta"]), "expected key=value, found `beta`"),
            (error(&["avbd-cpu:beta="]), "setting `beta` has no value"),
            (error(&["=null"]), "empty label"),
            (error(&[":beta=1"]), "names no backend"),
            (error(&["A\u{1}=null"]), "control characters"),
        ];
        for (error, expected) in cases {
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_reference_may_have_substeps() {
        let spec = reference("newton:tolerance=1e-12@64", 7).unwrap();
        assert_eq!((spec.backend.as_str(), spec.iterations, spec.substeps), ("newton", 7, 64));
        assert_eq!(reference("newton", 7).unwrap().substeps, 1);
        assert!(reference("newton@0", 7).is_err());
    }
}
