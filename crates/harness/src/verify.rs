//! The conformance suite: every backend against every property that the interface or mechanics asks of it.
//!
//! A check is one function of a `Subject`, run behind a guard, so that a panic is a
//! failed check. What a backend does not support is skipped with its own reason. Failures that are
//! understood are rows of `KNOWN` with a reason; one that starts to pass fails the suite,
//! so that the table stays true. Scenes are embedded: the suite runs from any directory.
//!
//! Tolerances follow from the order of the integrators (first order in the step unless a backend is
//! better) and are the same for all backends, except for rows of `TOLERANCES`, which have a reason too.

mod analytic;
mod contact;
mod contract;
mod drives;
mod friction;
mod joints;
mod known;
mod motion;
mod scenes;
mod statics;
mod subject;
mod tolerance;

use std::fmt;

use serde::Serialize;
use taut_core::Table;

use crate::runner;
use subject::{Stop, Subject};

/// The outcome of the whole suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// One entry per backend, in the order of the table.
    pub backends: Vec<BackendReport>,
}

/// The outcome for one backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BackendReport {
    /// Name of the backend.
    pub name: String,
    /// One entry per check, in a fixed order.
    pub checks: Vec<Check>,
}

/// The outcome of one check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Name of the property.
    pub name: &'static str,
    /// Name of the scene, or of the kind of input.
    pub scene: &'static str,
    /// How it went.
    pub result: Verdict,
    /// What was found where it did not pass; for a known failure, why it is expected.
    pub reason: String,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Pass,
    /// Not as it should be, or a known failure that has gone.
    Fail,
    /// Not as it should be, as the table of known failures says.
    Known,
    /// The backend does not take the scene, or does not promise the property.
    Skip,
}

/// A property and the scene it is tested on.
struct Property {
    name: &'static str,
    scene: &'static str,
    test: fn(&Subject<'_>) -> Result<(), Stop>,
}

/// All properties, cheap and fundamental ones first.
fn properties() -> impl Iterator<Item = &'static Property> {
    let groups = [
        contract::PROPERTIES,
        analytic::PROPERTIES,
        motion::PROPERTIES,
        joints::PROPERTIES,
        statics::PROPERTIES,
        drives::PROPERTIES,
        contact::PROPERTIES,
        friction::PROPERTIES,
    ];
    groups.into_iter().flatten()
}

/// Runs the suite for the named backends of a table, all of them where no name is given.
///
/// Works for any table, so a backend built elsewhere is verified as a row of it.
pub fn verify(table: &Table, names: &[&str]) -> Report {
    verify_with(table, names, &mut |_, _| {})
}

/// As [`verify`], and tells of every check of a named backend once it is done.
pub fn verify_with(
    table: &Table,
    names: &[&str],
    on_check: &mut dyn FnMut(&str, &Check),
) -> Report {
    let subjects =
        table.iter().map(|backend| Subject { backend: &**backend, table, settings: "()" });
    let wanted = |s: &Subject<'_>| names.is_empty() || names.contains(&s.name());
    let report = |subject: Subject<'_>| BackendReport {
        name: subject.name().to_owned(),
        checks: properties()
            .map(|property| {
                let check = run(&subject, property);
                on_check(subject.name(), &check);
                check
            })
            .collect(),
    };
    Report { backends: subjects.filter(wanted).map(report).collect() }
}

/// How many checks each backend goes through.
pub fn count() -> usize {
    properties().count()
}

fn run(subject: &Subject<'_>, property: &Property) -> Check {
    let outcome = runner::catch(|| (property.test)(subject))
        .unwrap_or_else(|panic| Err(Stop::Fail(format!("panicked: {panic}"))));
    let known = known::reason(subject.name(), property.name, property.scene);
    let (result, reason) = match (outcome, known) {
        (Ok(()), None) => (Verdict::Pass, String::new()),
        (Ok(()), Some(_)) => {
            (Verdict::Fail, "passes, but is listed as a known failure: remove its row".to_owned())
        }
        (Err(Stop::Skip(reason)), _) => (Verdict::Skip, reason),
        (Err(Stop::Fail(found)), Some(reason)) => (Verdict::Known, format!("{reason} ({found})")),
        (Err(Stop::Fail(found)), None) => (Verdict::Fail, found),
    };
    Check { name: property.name, scene: property.scene, result, reason }
}

impl Report {
    /// Whether any check failed: the exit status is 1 then.
    pub fn has_failures(&self) -> bool {
        self.checks().any(|check| check.result == Verdict::Fail)
    }

    fn checks(&self) -> impl Iterator<Item = &Check> {
        self.backends.iter().flat_map(|backend| &backend.checks)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Known => "known",
            Self::Skip => "skip",
        })
    }
}

/// One line per check that did not pass, and one line of counts per backend.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for backend in &self.backends {
            let count = |verdict| backend.checks.iter().filter(|c| c.result == verdict).count();
            let [pass, fail, known, skip] =
                [Verdict::Pass, Verdict::Fail, Verdict::Known, Verdict::Skip].map(count);
            writeln!(
                f,
                "{}: {pass} passed, {fail} failed, {known} known failures, {skip} skipped",
                backend.name
            )?;
            for check in backend.checks.iter().filter(|check| check.result != Verdict::Pass) {
                let Check { name, scene, result, reason } = check;
                writeln!(f, "  {result:<5} {name} [{scene}]: {reason}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends;

    #[test]
    fn known_failures_name_what_there_is() {
        let table = backends::table();
        for row in known::KNOWN {
            let backend = table.get(row.backend).is_some();
            let property = properties().any(|p| p.name == row.check && p.scene == row.scene);
            assert!(backend && property, "{} {} {}", row.backend, row.check, row.scene);
            assert!(!row.reason.is_empty());
        }
    }

    fn run_null(property: &Property) -> Check {
        let (backend, table) = (&taut_null::BACKEND, &Table::default());
        run(&Subject { backend, table, settings: "()" }, property)
    }

    #[test]
    fn tolerances_name_what_there_is() {
        let table = backends::table();
        for row in tolerance::TOLERANCES {
            assert!(!row.reason.is_empty());
            assert!(properties().any(|p| p.name == row.check), "{}", row.check);
            for backend in row.backends {
                assert!(table.get(backend).is_some() || backend.starts_with("rapier"), "{backend}");
            }
        }
    }

    #[test]
    fn no_two_checks_have_the_same_name_and_scene() {
        let mut names: Vec<_> = properties().map(|p| (p.name, p.scene)).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_known_failure_that_passes_is_a_failure() {
        let passes = Property { name: "free_fall", scene: "free-fall", test: |_| Ok(()) };
        let check = run_null(&passes);
        assert_eq!(check.result, Verdict::Fail);
        assert!(check.reason.contains("remove its row"), "{}", check.reason);
    }

    #[test]
    fn a_panic_is_a_failed_check() {
        let panics = Property { name: "panics", scene: "none", test: |_| panic!("by design") };
        let check = run_null(&panics);
        assert_eq!(check.result, Verdict::Fail);
        assert!(check.reason.contains("by design"), "{}", check.reason);
    }
}
