//! The conformance suite: every backend against every property that the interface or mechanics asks of it.
//!
//! A check is one function of a `Subject`, run behind a guard, so that a panic is a
//! failed check. What a backend does not support is skipped with its own reason. Failures that are
//! understood are rows of `KNOWN` with a reason; one that starts to pass fails the suite,
//! so that the table stays true. Scenes are embedded: the suite runs from any directory.
//! Every backend is asked everything with its defaults, and with the settings in `VARIANTS` what these
//! bear on.
//!
//! Tolerances follow from the order of the integrators (first order in the step unless a backend is
//! better) and are the same for all backends, except for rows of `TOLERANCES`, which have a reason too.

mod analytic;
mod contact;
mod contract;
mod drives;
mod elements;
mod friction;
mod joints;
mod known;
mod motion;
mod pulls;
mod scenes;
mod statics;
mod subject;
mod timed;
mod tolerance;
mod variants;
mod wire;

use std::{
    fmt,
    num::NonZero,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde::Serialize;
use taut_core::Table;

use crate::{parallel::in_parallel, runner};
use subject::{Stop, Subject};

/// The outcome of the whole suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// One entry per backend, in the order of the table, each before those of its variants.
    pub backends: Vec<BackendReport>,
}

/// The outcome for one backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BackendReport {
    /// Name of the backend, and its settings where these are not the defaults.
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
    pub result: CheckResult,
    /// What was found where it did not pass; for a known failure, why it is expected.
    pub reason: String,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
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
        pulls::PROPERTIES,
        joints::PROPERTIES,
        statics::PROPERTIES,
        drives::PROPERTIES,
        timed::PROPERTIES,
        elements::PROPERTIES,
        contact::PROPERTIES,
        friction::PROPERTIES,
    ];
    groups.into_iter().flatten()
}

/// Every subject of the named backends, all of them where no name is given, and what is asked of it.
fn questions<'a>(table: &'a Table, names: &[&str]) -> Vec<(Subject<'a>, Vec<&'static Property>)> {
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let named = table.iter().filter(|backend| wanted(&backend.info().name));
    let subjects = named.flat_map(|backend| {
        let own = backend.own_checks();
        let own = wire::PROPERTIES.iter().filter(move |p| own.contains(&p.name));
        let all = (Subject::new(&**backend, table, ""), properties().chain(own).collect());
        let variants = variants::of(&backend.info().name).map(|variant| {
            let asked = properties().filter(|p| variant.asked.iter().any(|g| g.contains(&p.name)));
            (Subject::new(&**backend, table, variant.settings), asked.collect())
        });
        std::iter::once(all).chain(variants)
    });
    subjects.collect()
}

/// Runs the suite for the named backends of a table, all of them where no name is given.
///
/// Works for any table, so a backend built elsewhere is verified as a row of it.
pub fn verify(table: &Table, names: &[&str]) -> Report {
    verify_with(table, names, &AtomicBool::new(false), &|_, _| {})
}

/// As [`verify`], and tells of every check of a named backend once it is done. What is left when `cancel` is set is
/// skipped.
///
/// Checks are shared out between as many threads as there are processors.
///
/// # Panics
/// When `on_check` does.
pub fn verify_with(
    table: &Table,
    names: &[&str],
    cancel: &AtomicBool,
    on_check: &(dyn Fn(&str, &Check) + Sync),
) -> Report {
    let questions = questions(table, names);
    let tasks: Vec<(Subject<'_>, &Property)> = questions
        .iter()
        .flat_map(|(subject, asked)| asked.iter().map(|&property| (subject.clone(), property)))
        .collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let places: Vec<usize> = (0..tasks.len()).collect();
    let checks = in_parallel(&vec![(); threads], &places, |(), place| {
        let (subject, property) = &tasks[place];
        let check = if cancel.load(Ordering::Relaxed) {
            let reason = "interrupted before it was asked".to_owned();
            let (name, scene) = (property.name, property.scene);
            Check { name, scene, result: CheckResult::Skip, reason }
        } else {
            run(subject, property)
        };
        on_check(subject.name(), &check);
        check
    });
    let mut checks = checks.into_iter();
    let report = |(subject, asked): &(Subject<'_>, Vec<_>)| BackendReport {
        name: subject.name().to_owned(),
        checks: checks.by_ref().take(asked.len()).collect(),
    };
    Report { backends: questions.iter().map(report).collect() }
}

/// How many checks the named backends go through, all of them where no name is given.
pub fn count(table: &Table, names: &[&str]) -> usize {
    questions(table, names).iter().map(|(_, asked)| asked.len()).sum()
}

fn run(subject: &Subject<'_>, property: &Property) -> Check {
    let outcome = runner::catch(|| (property.test)(subject))
        .unwrap_or_else(|panic| Err(Stop::Fail(format!("panicked: {panic}"))));
    let known = known::reason(subject.name(), property.name, property.scene);
    let (result, reason) = match (outcome, known) {
        (Ok(()), None) => (CheckResult::Pass, String::new()),
        (Ok(()), Some(_)) => (
            CheckResult::Fail,
            "passes, but is listed as a known failure: remove its row".to_owned(),
        ),
        (Err(Stop::Skip(reason)), _) => (CheckResult::Skip, reason),
        (Err(Stop::Fail(found)), Some(reason)) => {
            (CheckResult::Known, format!("{reason} ({found})"))
        }
        (Err(Stop::Fail(found)), None) => (CheckResult::Fail, found),
    };
    Check { name: property.name, scene: property.scene, result, reason }
}

impl Report {
    /// Whether any check failed: the exit status is 1 then.
    pub fn has_failures(&self) -> bool {
        self.checks().any(|check| check.result == CheckResult::Fail)
    }

    fn checks(&self) -> impl Iterator<Item = &Check> {
        self.backends.iter().flat_map(|backend| &backend.checks)
    }
}

impl fmt::Display for CheckResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Known => "known",
            Self::Skip => "skip",
        })
    }
}

/// How many checks may have the same result for the same reason and still have a line each.
const TOLD_MAX: usize = 3;

/// One line of counts per backend, and one per check that did not pass: what failed comes first, what was skipped last. Of many
/// that say the same, as those of a solver that does not start, there is one line in the place of the first.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for backend in &self.backends {
            let of = |result| backend.checks.iter().filter(move |check| check.result == result);
            let told = [CheckResult::Fail, CheckResult::Known, CheckResult::Skip];
            let [fail, known, skip] = told.map(|result| of(result).count());
            let pass = of(CheckResult::Pass).count();
            writeln!(
                f,
                "{}: {pass} passed, {fail} failed, {known} known failures, {skip} skipped",
                backend.name
            )?;
            let told: Vec<&Check> = told.into_iter().flat_map(of).collect();
            for (place, check) in told.iter().enumerate() {
                let Check { name, scene, result, reason } = check;
                let is_same = |other: &&&Check| other.result == *result && other.reason == *reason;
                let others = told.iter().filter(is_same).count() - 1;
                if others < TOLD_MAX {
                    writeln!(f, "  {result:<5} {name} [{scene}]: {reason}")?;
                } else if !told[..place].iter().any(|other| is_same(&other)) {
                    writeln!(f, "  {result:<5} {name} [{scene}] and {others} others: {reason}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows for engines that are built on request only stand in the tables too.
    fn is_named(backend: &str) -> bool {
        let root = crate::checkout::Checkout::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let table = crate::Setup::default().with_engines(&root).unwrap().table;
        let named = questions(&table, &[]).iter().any(|(subject, _)| subject.name() == backend);
        named || backend.starts_with("rapier")
    }

    fn is_asked(check: &str) -> bool {
        properties().any(|property| property.name == check)
    }

    #[test]
    fn checks_that_say_the_same_have_one_line() {
        let check = |name, reason: &str| Check {
            name,
            scene: "all",
            result: CheckResult::Fail,
            reason: reason.to_owned(),
        };
        let told = |checks: Vec<Check>| {
            let backends = vec![BackendReport { name: "mine".to_owned(), checks }];
            Report { backends }.to_string().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let mut checks = vec![check("a", "dead"), check("b", "slow"), check("c", "dead")];
        assert_eq!(told(checks.clone()).len(), 3);
        checks.extend([check("d", "dead"), check("e", "dead")]);
        let lines = ["  FAIL  a [all] and 3 others: dead", "  FAIL  b [all]: slow"];
        assert_eq!(told(checks), lines);
    }

    #[test]
    fn tables_name_what_there_is() {
        for row in known::KNOWN {
            let asked = properties().any(|p| p.name == row.check && p.scene == row.scene);
            assert!(asked && is_named(row.backend), "{} {} {}", row.backend, row.check, row.scene);
            assert!(!row.reason.is_empty());
        }
        for row in tolerance::TOLERANCES {
            assert!(is_asked(row.check) && !row.reason.is_empty(), "{}", row.check);
            assert!(row.backends.iter().all(|name| is_named(name)), "{:?}", row.backends);
        }
        for variant in variants::VARIANTS {
            assert!(is_named(variant.backend), "{}", variant.backend);
            let mut asked = variant.asked.iter().copied().flatten();
            assert!(asked.all(|name| is_asked(name)), "{:?}", variant.asked);
        }
    }

    fn run_null(property: &Property) -> Check {
        run(&Subject::new(&taut_null::BACKEND, &Table::default(), ""), property)
    }

    #[test]
    fn no_two_checks_have_the_same_name_and_scene() {
        let mut names: Vec<_> =
            properties().chain(wire::PROPERTIES).map(|p| (p.name, p.scene)).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_known_failure_that_passes_is_a_failure() {
        let passes = Property { name: "free_fall", scene: "free-fall", test: |_| Ok(()) };
        let check = run_null(&passes);
        assert_eq!(check.result, CheckResult::Fail);
        assert!(check.reason.contains("remove its row"), "{}", check.reason);
    }

    #[test]
    fn a_panic_is_a_failed_check() {
        let panics = Property { name: "panics", scene: "none", test: |_| panic!("by design") };
        let check = run_null(&panics);
        assert_eq!(check.result, CheckResult::Fail);
        assert!(check.reason.contains("by design"), "{}", check.reason);
    }
}
