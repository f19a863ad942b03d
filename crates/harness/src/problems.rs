//! Problems of the performance profile, and what methods took to solve them: `results/profiles.ron` says what is
//! asked, `taut profile --bless` records in `results/profiles.csv` what was found.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::{Context, ensure};
use ron::value::RawValue;
use serde::Deserialize;

use crate::plot::{CostTable, Work};

/// What `results/profiles.ron` holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemFile {
    /// Who is asked.
    pub methods: Vec<ProblemMethod>,
    /// What is asked.
    pub problems: Vec<Problem>,
}

/// A method with the budgets that it may choose from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemMethod {
    /// Its name.
    pub label: String,
    /// Name in the table of backends.
    pub backend: String,
    /// The backend's settings.
    #[serde(default)]
    pub settings: Option<Box<RawValue>>,
    /// Iterations per step, a row each.
    pub iterations: Vec<u32>,
    /// Steps per frame, a row each.
    #[serde(default = "one")]
    pub substeps: Vec<u32>,
}

fn one() -> Vec<u32> {
    vec![1]
}

/// A scene with what counts as solved.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Name in files and links: lower-case letters, digits and dashes.
    pub id: String,
    /// What it is, for readers.
    pub title: String,
    /// Stem of a file in `scenes`.
    pub scene: String,
    /// Parameters of the scene that differ from its defaults.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// Frames.
    pub steps: u32,
    /// The metric, of which the worst over the run counts [m].
    pub metric: String,
    /// Solved is what ends `ok` with the metric at most this large [m].
    pub tolerance: f64,
}

/// What one budget of a method came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemRow {
    /// Id of the problem.
    pub problem: String,
    /// Label of the method.
    pub method: String,
    /// Its backend.
    pub backend: String,
    /// Iterations per step.
    pub iterations: u32,
    /// Steps per frame.
    pub substeps: u32,
    /// Where it was computed: `cpu`, `gpu` or `software`.
    pub device: String,
    /// `ok`, or what went wrong.
    pub status: String,
    /// The metric, the worst over the run [m]; not finite where there is none.
    pub error: f64,
    /// Time per frame [s]; not finite where it was not run.
    pub cost_s: f64,
}

/// What is on file, with where it was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProblemRows {
    /// Machine, revision, date and command, as they were written.
    pub provenance: Vec<(String, String)>,
    /// The rows, by problem and method.
    pub rows: Vec<ProblemRow>,
}

const DEFINITION: &str = "results/profiles.ron";
const RECORD: &str = "results/profiles.csv";
const HEAD: &str = "problem,method,backend,iterations,substeps,device,status,error_m,time_s";

/// The problems of a checkout; none where it asks none.
///
/// # Errors
/// When the file cannot be read or contradicts itself.
pub fn problems(root: &Path) -> anyhow::Result<Option<ProblemFile>> {
    let path = root.join(DEFINITION);
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {DEFINITION}"))?;
    parse(&text).with_context(|| DEFINITION.to_owned()).map(Some)
}

fn parse(text: &str) -> anyhow::Result<ProblemFile> {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let file: ProblemFile = options.from_str(text)?;
    let ids: Vec<&str> = file.problems.iter().map(|problem| problem.id.as_str()).collect();
    let labels: Vec<&str> = file.methods.iter().map(|method| method.label.as_str()).collect();
    for names in [&ids, &labels] {
        let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
        ensure!(twice.is_none(), "`{}` is there twice", twice.map_or("", |(_, name)| name));
    }
    for Problem { id, tolerance, .. } in &file.problems {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            !id.is_empty() && id.chars().all(plain),
            "id `{id}`: lower-case letters, digits and dashes only"
        );
        ensure!(
            *tolerance > 0.0 && tolerance.is_finite(),
            "`{id}`: the tolerance is {tolerance} but must be a length above zero"
        );
    }
    for label in labels {
        ensure!(!label.contains([',', '"', '\n']), "label {label:?}: no commas, quotes or lines");
    }
    Ok(file)
}

impl ProblemRow {
    /// Whether its time says anything: those of software adapters and of what was not run do not.
    pub fn is_timed(&self) -> bool {
        self.device != "software" && self.cost_s.is_finite()
    }

    /// The error of a run that ended well; infinite else.
    pub fn judged(&self) -> f64 {
        if self.status == "ok" && self.error.is_finite() { self.error } else { f64::INFINITY }
    }

    fn line(&self) -> String {
        let Self { problem, method, backend, iterations, substeps, device, status, .. } = self;
        let number = |v: f64| if v.is_finite() { format!("{v:.6e}") } else { String::new() };
        let (error, cost) = (number(self.error), number(self.cost_s));
        format!(
            "{problem},{method},{backend},{iterations},{substeps},{device},{status},{error},{cost}"
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [problem, method, backend, iterations, substeps, device, status, error, cost] =
            fields[..]
        else {
            return None;
        };
        let number = |text: &str| match text {
            "" => Some(f64::INFINITY),
            text => text.parse().ok(),
        };
        Some(Self {
            problem: problem.to_owned(),
            method: method.to_owned(),
            backend: backend.to_owned(),
            iterations: iterations.parse().ok()?,
            substeps: substeps.parse().ok()?,
            device: device.to_owned(),
            status: status.to_owned(),
            error: number(error)?,
            cost_s: number(cost)?,
        })
    }
}

impl ProblemRows {
    /// The text of the record.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail, hence the results that are let go.
        for (name, value) in &self.provenance {
            let _ = writeln!(text, "# {name}: {value}");
        }
        let _ = writeln!(text, "{HEAD}");
        self.rows.iter().for_each(|row| text += &format!("{}\n", row.line()));
        text
    }

    /// What [`Self::text`] wrote.
    fn parse(text: &str) -> Result<Self, String> {
        let mut found = Self::default();
        for (number, line) in text.lines().enumerate() {
            if let Some(fact) = line.strip_prefix("# ") {
                let (name, value) = fact.split_once(": ").unwrap_or((fact, ""));
                found.provenance.push((name.to_owned(), value.to_owned()));
            } else if line != HEAD {
                let row = ProblemRow::parse(line);
                let wrong = || format!("line {}: expected `{HEAD}`, found `{line}`", number + 1);
                found.rows.push(row.ok_or_else(wrong)?);
            }
        }
        Ok(found)
    }

    /// The record of a checkout; empty where there is none.
    ///
    /// # Errors
    /// When the file cannot be read; says which line is malformed.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let path = root.join(RECORD);
        if !path.is_file() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {RECORD}"))?;
        Self::parse(&text).map_err(|message| anyhow::anyhow!("{RECORD}: {message}"))
    }

    /// Replaces the record of a checkout.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, root: &Path) -> anyhow::Result<()> {
        crate::record::write_atomically(&root.join(RECORD), self.text().as_bytes())
    }

    /// The rows of one problem whose times say anything.
    pub fn timed<'a>(&'a self, problem: &'a str) -> impl Iterator<Item = &'a ProblemRow> {
        self.rows.iter().filter(move |row| row.problem == problem && row.is_timed())
    }

    /// What each method's cheapest budget costs that solves each problem. A method that was refused everywhere is there
    /// too, and solves nothing.
    pub fn costs(&self, file: &ProblemFile) -> CostTable {
        let mut work = Vec::new();
        for method in &file.methods {
            for problem in &file.problems {
                let own = |row: &&ProblemRow| row.method == method.label;
                let mut best = Work {
                    label: method.label.clone(),
                    backend: method.backend.clone(),
                    problem: problem.id.clone(),
                    cost: f64::INFINITY,
                    error: f64::INFINITY,
                };
                for row in self.timed(&problem.id).filter(own) {
                    // In multiples of the tolerance, so that one target fits all problems.
                    let error = row.judged() / problem.tolerance;
                    if error <= 1.0 && row.cost_s < best.cost {
                        (best.cost, best.error) = (row.cost_s, error);
                    }
                }
                work.push(best);
            }
        }
        CostTable::new(&work, &[1.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::CostScale;

    fn row(problem: &str, method: &str, error: f64, cost_s: f64) -> ProblemRow {
        ProblemRow {
            problem: problem.to_owned(),
            method: method.to_owned(),
            backend: format!("{method}-cpu"),
            iterations: 4,
            substeps: 1,
            device: "cpu".to_owned(),
            status: "ok".to_owned(),
            error,
            cost_s,
        }
    }

    const FILE: &str = r#"(
        methods: [(label: "a", backend: "a-cpu", iterations: [4]), (label: "b", backend: "b-cpu", iterations: [4])],
        problems: [
            (id: "p", title: "", scene: "s", steps: 1, metric: "e_m", tolerance: 0.01),
            (id: "q", title: "", scene: "s", steps: 1, metric: "e_m", tolerance: 0.1),
            (id: "r", title: "", scene: "s", steps: 1, metric: "e_m", tolerance: 0.01),
            (id: "none", title: "", scene: "s", steps: 1, metric: "e_m", tolerance: 0.01),
        ],
    )"#;

    /// p: a 1 s, b 3 s. q: a 8 s, b 2 s, each with its own tolerance. r: b alone, as a fell. none: nobody is near
    /// enough. So a has ratios 1 and 4, b 3, 1 and 1, each of four problems.
    fn rows() -> ProblemRows {
        let fell = ProblemRow { status: "falling".to_owned(), ..row("r", "a", 0.001, 1.0) };
        let rows = vec![
            row("p", "a", 0.02, 0.5),
            row("p", "a", 0.01, 1.0),
            row("p", "b", 0.001, 3.0),
            row("q", "a", 0.05, 8.0),
            row("q", "b", 0.09, 2.0),
            fell,
            row("r", "b", 0.009, 5.0),
            row("none", "a", 0.02, 1.0),
            row("none", "b", f64::INFINITY, 1.0),
        ];
        ProblemRows { provenance: vec![("machine".to_owned(), "x, y".to_owned())], rows }
    }

    #[test]
    fn the_staircase_of_four_problems_is_that_computed_by_hand() {
        let curves = rows().costs(&parse(FILE).unwrap()).shares(CostScale::Cheapest);
        let a = [(1.0, 0.0), (1.0, 0.0), (1.0, 0.25), (4.0, 0.25), (4.0, 0.5), (6.0, 0.5)];
        let b = [
            (1.0, 0.0),
            (1.0, 0.0),
            (1.0, 0.25),
            (1.0, 0.25),
            (1.0, 0.5),
            (3.0, 0.5),
            (3.0, 0.75),
            (6.0, 0.75),
        ];
        assert_eq!(curves[0].points, a);
        assert_eq!(curves[1].points, b);
    }

    #[test]
    fn times_of_software_adapters_never_enter() {
        let mut all = rows();
        let software = ProblemRow { device: "software".to_owned(), ..row("p", "b", 0.001, 1e-9) };
        all.rows.push(software);
        let file = parse(FILE).unwrap();
        assert_eq!(all.costs(&file), rows().costs(&file));
        assert!(all.timed("p").all(|row| row.device == "cpu"));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(ProblemRows::parse(&rows().text()).unwrap(), rows());
        assert!(ProblemRows::parse("a,b\n").unwrap_err().contains("line 1"));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (from, to) in [("\"q\"", "\"p\""), ("\"q\"", "\"Q q\""), ("0.1)", "-0.1)")] {
            assert!(parse(&FILE.replace(from, to)).is_err(), "{to}");
        }
    }

    #[test]
    fn the_profile_asks_enough() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = problems(&root).unwrap().unwrap();
        assert!(file.problems.len() >= 12, "a profile over fewer says little");
        let rows = ProblemRows::read(&root).unwrap();
        for problem in &file.problems {
            for method in &file.methods {
                let found =
                    rows.rows.iter().any(|r| r.problem == problem.id && r.method == method.label);
                assert!(
                    found,
                    "{} by {}: `taut profile --bless` records it",
                    problem.id, method.label
                );
            }
        }
    }
}
