//! Engines of others as rows: what they compiled is compared with the scene, and one that is not here is skipped.
#![cfg(unix)]

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

const PYTHON: &str = "python3";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether Python is here. That it is not is told past the capture of tests, and no excuse for `scripts/test`.
fn has_python() -> bool {
    let here = Command::new(PYTHON).arg("--version").output().is_ok_and(|o| o.status.success());
    if !here {
        assert!(env::var_os("TAUT_REQUIRE_PYTHON").is_none(), "{PYTHON} is not here");
        let told = format!("\nSKIPPED: {PYTHON} is not here, nothing was tested with it\n");
        let _ = std::io::stderr().write_all(told.as_bytes());
    }
    here
}

/// A checkout of one scene and one engine, which is the template of a solver in Python.
struct Checkout(TempDir);

impl Checkout {
    fn new(row: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scenes = folder.path().join("scenes");
        fs::create_dir(&scenes).unwrap();
        fs::copy(root().join("scenes/free-fall.ron"), scenes.join("free-fall.ron")).unwrap();
        let checkout = Self(folder);
        let engine = checkout.engine();
        let written = checkout.taut(&["new-solver", "python", engine.to_str().unwrap()]);
        assert!(written.status.success(), "{}", errors(&written));
        checkout.write("backends.ron", &format!("(backends: [(name: \"engine\", {row})])"));
        checkout
    }

    fn engine(&self) -> PathBuf {
        self.0.path().join("peers/engine")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.engine().join(name), text).unwrap();
    }

    /// Replaces a part of the solver, which has to be there.
    fn spoil(&self, from: &str, to: &str) {
        let file = self.engine().join("solver.py");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(file, text.replace(from, to)).unwrap();
    }

    fn taut(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
        let out = self.0.path().join("out");
        command.current_dir(self.0.path()).args(arguments).env_remove("TAUT_BACKENDS");
        command.arg("--out").arg(out).output().unwrap()
    }

    /// The one row of a run, and its exit status.
    fn row(&self, backend: &str) -> (Value, Option<i32>) {
        let output = self.taut(&["run", "free-fall", "-b", backend, "--steps", "3", "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", errors(&output)));
        (document["runs"][0].clone(), output.status.code())
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const RUNS: &str = r#"command: ["python3", "solver.py"], version: "1""#;

#[test]
fn an_engine_of_the_checkout_is_a_row_and_tells_what_it_holds() {
    if !has_python() {
        return;
    }
    let checkout = Checkout::new(RUNS);
    let (row, status) = checkout.row("engine");
    assert_eq!((&row["status"], status), (&"ok".into(), Some(0)), "{row}");
    assert_eq!(row["audit"]["effective"], r#"(precision: "f64")"#);
    let listed = checkout.taut(&["list", "backends", "--probe", "--json"]);
    let document: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let backends = document["backends"].as_array().unwrap();
    let engine = backends.iter().find(|backend| backend["name"] == "engine").unwrap();
    assert_eq!(engine["version"], "1");
    assert!(engine["summary"].as_str().unwrap().contains("template of a solver"), "{engine}");
    assert!(engine["reference"].as_str().unwrap().contains("XPBD, 2020"), "{engine}");
    assert_eq!(engine["deterministic"], true);
}

#[test]
fn a_wrapper_that_doubles_a_mass_fails_its_audit() {
    if !has_python() {
        return;
    }
    let checkout = Checkout::new(RUNS);
    checkout.spoil(r#"[body["mass_kg"] for"#, r#"[2 * body["mass_kg"] for"#);
    let (row, status) = checkout.row("engine");
    assert_eq!((&row["status"], status), (&"failed".into(), Some(3)));
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("audit: body ") && reason.contains(" kg, the scene says"),
        "{reason}"
    );
    let verified = checkout.taut(&["verify", "-b", "engine"]);
    let report = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!(verified.status.code(), Some(1));
    assert!(report.contains("audit_agrees") && report.contains("weighs"), "{report}");
    // A departure that is stated marks the row instead.
    let listed = r#"(deviations: [(item: "body.mass", reason: "its gravity is halved")])"#;
    checkout.write("deviations.ron", listed);
    let (row, _) = checkout.row("engine");
    assert_eq!(row["status"], "ok", "{row}");
    let told = row["warnings"][0].as_str().unwrap();
    assert!(told.contains("weighs") && told.ends_with("(its gravity is halved)"), "{told}");
    let shown = checkout.taut(&["run", "free-fall", "-b", "engine", "--steps", "1"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("ok, deviates"));
}

#[test]
fn what_does_not_suffice_or_is_not_told_is_said() {
    if !has_python() {
        return;
    }
    let checkout = Checkout::new(RUNS);
    checkout.spoil(
        r#"            "sleeping": False,"#,
        r#"            "capacity": {"contacts": [9, 8]},"#,
    );
    let (row, _) = checkout.row("engine");
    assert_eq!(row["reason"], "capacity: 9 contacts where the engine has room for 8");
    assert_eq!(row["warnings"][0], "the audit is partial, without sleeping");
}

#[test]
fn an_engine_that_is_not_here_is_skipped() {
    let row = r#"command: ["away/bin/python", "solver.py"], environment: "away", setup: "scripts/setup-peers engine""#;
    let checkout = Checkout::new(row);
    let (row, status) = checkout.row("engine");
    assert_eq!((&row["status"], status), (&"skipped".into(), Some(0)));
    assert_eq!(row["reason"], "run scripts/setup-peers engine");
    let verified = checkout.taut(&["verify", "-b", "engine"]);
    let report = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!(verified.status.code(), Some(0), "{report}");
    assert!(report.starts_with("engine: 0 passed, 0 failed, 0 known failures"), "{report}");
    assert_eq!(checkout.taut(&["list", "backends"]).status.code(), Some(0));
    let refused = checkout.taut(&["run", "free-fall", "-b", "engine", "--no-exec"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("`engine` is refused by --no-exec"), "{}", errors(&refused));
}

#[test]
fn another_version_than_the_pinned_fails_and_an_unknown_preset_is_bad_input() {
    if !has_python() {
        return;
    }
    let checkout = Checkout::new(r#"command: ["python3", "solver.py"], version: "2""#);
    let (row, _) = checkout.row("engine");
    assert_eq!(row["reason"], "engine 1 is here, 2 is pinned");
    let checkout = Checkout::new(RUNS);
    let best = "best: (joints: (drag: 0.5), contacts: (), both: ())";
    checkout.write("presets.ron", &format!("(default: (), {best})"));
    let (row, _) = checkout.row("engine:preset=best");
    assert_eq!(row["settings"], r#"(drag: 0.5, preset: "best")"#, "{row}");
    let (row, _) = checkout.row("engine:preset=best,drag=0.25");
    assert_eq!(row["settings"], r#"(drag: 0.25, preset: "best")"#, "{row}");
    let unknown = checkout.taut(&["run", "free-fall", "-b", "engine:preset=bets"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("did you mean `best`?"), "{}", errors(&unknown));
}
