//! Figures from outside: exit statuses, files, blessing, and the definitions that are committed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

const FIGURE: &str = r#"(
    title: "A fall", source: "none", about: "a test",
    probes: {"height_m": coordinate(of: "box", axis: z)},
    runs: [
        (label: "fall", scene: "fall", backend: "newton", iterations: [1]),
        (label: "still", scene: "fall", backend: "null", iterations: [1]),
    ],
    plot: (panels: [(x: (quantity: "time_s"), y: (quantity: "height_m"))]),
    claims: [
        (text: "it falls", check: less(metric: "height_m", a: "fall", b: "still", at: every_step)),
    ],
    quick: (steps: 3),
)"#;

const SCENE: &str = r#"(
    about: "falls", gravity: (0, 0, -10), dt: 0.01, steps: 6, contacts: false, watch: [],
    parameters: {},
    bodies: [body(name: "box", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, HEIGHT))],
)"#;

/// A checkout with one scene and one figure.
struct Checkout {
    dir: tempfile::TempDir,
}

impl Checkout {
    fn new(figure: &str) -> Self {
        let checkout = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(checkout.folder()).unwrap();
        fs::create_dir(checkout.dir.path().join("scenes")).unwrap();
        fs::write(checkout.folder().join("figure.ron"), figure).unwrap();
        checkout.set_height("1");
        checkout
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("results/figures/fall")
    }

    fn set_height(&self, height: &str) {
        let scene = SCENE.replace("HEIGHT", height);
        fs::write(self.dir.path().join("scenes/fall.ron"), scene).unwrap();
    }

    fn taut(&self, arguments: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_taut");
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).args(arguments).args(["--out", "out"]);
        command.output().unwrap()
    }
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_figure_whose_claims_hold_is_good_and_leaves_its_files() {
    let checkout = Checkout::new(FIGURE);
    let output = checkout.taut(&["reproduce", "fall", "--json"]);
    assert_eq!(status(&output), 0, "{}", error(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], 1);
    let figure = &document["figures"][0];
    assert_eq!(figure["id"], "fall");
    assert_eq!(figure["claims"][0]["holds"], true);
    assert_eq!(figure["claims"][0]["known_deviation"], Value::Null);
    assert_eq!(figure["runs"][0]["status"], "ok");
    for name in ["figure.svg", "figure.png", "curves.csv", "claims.md", "claims.json"] {
        assert!(checkout.dir.path().join("out/fall").join(name).is_file(), "{name}");
    }
    let committed: Vec<_> = fs::read_dir(checkout.folder()).unwrap().collect();
    assert_eq!(committed.len(), 1, "nothing is committed without --bless");
}

#[test]
fn a_claim_fails_or_deviates_as_marked() {
    let not_so = FIGURE.replace("a: \"fall\", b: \"still\"", "a: \"still\", b: \"fall\"");
    assert_eq!(status(&Checkout::new(&not_so).taut(&["reproduce", "fall"])), 1);
    let mark =
        |text: &str| text.replace("at: every_step))", "at: every_step), known_deviation: \"w\")");
    assert_eq!(status(&Checkout::new(&mark(&not_so)).taut(&["reproduce", "fall"])), 0);
    let output = Checkout::new(&mark(FIGURE)).taut(&["reproduce", "fall"]);
    assert_eq!(status(&output), 1, "a deviation that holds must lose its mark");
}

/// The figure without claims, measured and drawn otherwise.
fn curves_of(measure: &str, axes: &str) -> String {
    let figure = FIGURE
        .replace("probes:", &format!("measure: {measure}, probes:"))
        .replace("x: (quantity: \"time_s\"), y: (quantity: \"height_m\")", axes)
        .replace("(text: \"it falls\"", "// (text: \"it falls\"");
    let checkout = Checkout::new(&figure);
    let output = checkout.taut(&["reproduce", "fall"]);
    assert_eq!(status(&output), 0, "{}", error(&output));
    fs::read_to_string(checkout.dir.path().join("out/fall/curves.csv")).unwrap()
}

#[test]
fn convergence_and_times_can_be_figures_too() {
    let axes = "x: (quantity: \"iteration\"), y: (quantity: \"energy_drift_j\")";
    let curves = curves_of("trace(warmup: 2)", axes);
    assert!(curves.contains("0,fall,newton,iteration,1e0,energy_drift_j,"), "{curves}");
    let axes = "statistic: mean, x: (quantity: \"work\"), y: (quantity: \"step_time_s\")";
    let curves = curves_of("time(warmup: 1, samples: 3)", axes);
    assert!(curves.contains("0,fall,newton,work,1e0,step_time_s,"), "{curves}");
}

#[test]
fn mistakes_are_bad_input() {
    let checkout = Checkout::new(&FIGURE.replace("probes:", "probe:"));
    let output = checkout.taut(&["reproduce", "fall"]);
    assert_eq!(status(&output), 2);
    assert!(
        error(&output).contains("figure.ron:3:5: unknown field `probe` (did you mean `probes`?)")
    );
    let output = Checkout::new(FIGURE).taut(&["reproduce", "fell"]);
    assert_eq!(status(&output), 2);
    assert!(error(&output).contains("did you mean `fall`?"), "{}", error(&output));
    for path in ["../figures/fall", "/fall", ".", "..", "fall/"] {
        let output = Checkout::new(FIGURE).taut(&["reproduce", path]);
        assert_eq!(status(&output), 2, "{path}");
    }
    let output = Checkout::new(FIGURE).taut(&["reproduce"]);
    assert_eq!(status(&output), 2);
    let checkout = Checkout::new(&FIGURE.replace("scene: \"fall\"", "scene: \"gone\""));
    assert_eq!(status(&checkout.taut(&["reproduce", "fall"])), 2);
}

#[test]
fn a_curve_that_moved_is_a_regression_until_blessed() {
    let checkout = Checkout::new(FIGURE);
    assert_eq!(status(&checkout.taut(&["regress", "--bless", "--dirty"])), 0);
    assert!(checkout.folder().join("baseline.csv").is_file());
    assert!(checkout.folder().join("figure.svg").is_file());
    let both = ["reproduce", "--all", "--regress", "--json"];
    assert_eq!(status(&checkout.taut(&["regress"])), 0);
    assert_eq!(status(&checkout.taut(&both)), 0);
    checkout.set_height("2");
    for verb in [&["regress", "--json"][..], &both] {
        let output = checkout.taut(verb);
        assert_eq!(status(&output), 1);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let figure = &document["figures"][0];
        assert_eq!(figure["curves"][0]["curve"], "fall");
        assert_eq!(figure["curves"][0]["change"], "worse");
        assert_eq!(figure["claims"].is_array(), verb == both);
    }
    assert_eq!(status(&checkout.taut(&["regress", "--bless", "--dirty"])), 0);
    assert_eq!(status(&checkout.taut(&["regress"])), 0);
}

#[test]
fn what_is_not_recorded_is_no_match() {
    let checkout = Checkout::new(FIGURE);
    assert_eq!(status(&checkout.taut(&["regress"])), 1, "no record at all");
    assert_eq!(status(&checkout.taut(&["regress", "--bless", "--dirty"])), 0);
    for file in ["baseline.csv", "verdict.json"] {
        let path = checkout.folder().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(status(&checkout.taut(&["regress"])), 1, "no {file}");
        fs::write(&path, text).unwrap();
    }
    fs::write(checkout.folder().join("baseline.csv"), "panel,curve,x,y\n").unwrap();
    assert_eq!(status(&checkout.taut(&["regress"])), 1, "curves that nobody recorded");
}

#[test]
fn an_end_or_a_verdict_that_changed_is_a_regression() {
    let checkout = Checkout::new(FIGURE);
    assert_eq!(status(&checkout.taut(&["regress", "--bless", "--dirty"])), 0);
    let path = checkout.folder().join("verdict.json");
    let text = fs::read_to_string(&path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&file["schema"], &file["quick"]), (&1.into(), &false.into()));
    assert_eq!(file["claims"][0]["verdict"], "holds");
    assert_eq!(file["runs"][1]["status"], "ok");
    for (from, to, told) in [
        ("\"status\": \"ok\"", "\"status\": \"frozen\"", "fall was frozen, is ok"),
        ("\"holds\"", "\"fails\"", "it falls was `fails`, is `holds`"),
        ("\"definition\": \"", "\"definition\": \"0", "has changed since its verdict"),
    ] {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let output = checkout.taut(&["regress", "--json"]);
        assert_eq!(status(&output), 1, "{told}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = document["figures"][0]["differences"][0].as_str().unwrap();
        assert!(found.contains(told), "{found}");
    }
}

#[test]
fn a_verdict_outlives_what_is_only_told() {
    let checkout = Checkout::new(FIGURE);
    assert_eq!(status(&checkout.taut(&["regress", "--bless", "--dirty"])), 0);
    let told = FIGURE.replace("    probes:", "    size: \"one box (one)\",\n    probes:");
    fs::write(checkout.folder().join("figure.ron"), told).unwrap();
    assert_eq!(status(&checkout.taut(&["regress"])), 0);
    let other = FIGURE.replace("about: \"a test\"", "about: \"another\"");
    fs::write(checkout.folder().join("figure.ron"), other).unwrap();
    assert_eq!(status(&checkout.taut(&["regress"])), 1);
}

#[test]
fn a_figure_that_does_nothing_cannot_pass() {
    let sabotage = ["reproduce", "fall", "--sabotage", "--json"];
    let output = Checkout::new(FIGURE).taut(&sabotage);
    assert_eq!(status(&output), 0, "{}", error(&output));
    let weak = FIGURE.replace(
        "less(metric: \"height_m\", a: \"fall\", b: \"still\", at: every_step)",
        "status(run: \"fall\", is: [\"ok\", \"frozen\", \"exploded\"])",
    );
    let output = Checkout::new(&weak).taut(&sabotage);
    assert_eq!(status(&output), 1);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &document["figures"][0]["sabotage"];
    assert_eq!(found["replaceable"][0], "newton");
    assert_eq!(found["unfailing"][0], "it falls");
}

#[test]
fn the_quick_form_has_a_record_of_its_own() {
    let checkout = Checkout::new(FIGURE);
    assert_eq!(status(&checkout.taut(&["regress", "--quick", "--bless", "--dirty"])), 0);
    let record = fs::read_to_string(checkout.folder().join("baseline-quick.csv")).unwrap();
    assert_eq!(record.lines().filter(|line| line.contains("fall")).count(), 3);
    assert!(!checkout.folder().join("figure.svg").exists(), "a quick picture is no figure");
    // Eight moved starts of each curve; what moves by 1 % only, where rounding moves nothing, is a change.
    let spread = fs::read_to_string(checkout.folder().join("spread-quick.csv")).unwrap();
    let curves = record.lines().map(|line| line.split(',').nth(1).unwrap());
    let curves: std::collections::BTreeSet<&str> = curves.skip(1).collect();
    assert_eq!(spread.lines().count(), 1 + 8 * curves.len(), "{spread}");
    let verdict = fs::read_to_string(checkout.folder().join("verdict-quick.json")).unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["claims"][0]["starts"], serde_json::json!({ "met": 9, "of": 9 }));
    assert_eq!(verdict["runs"][0].get("horizon"), None, "a fall never parts");
    assert_eq!(status(&checkout.taut(&["regress", "--quick", "--strict"])), 0);
    // What only some starts bear out when it is recorded is unclear from then on, and no regression.
    let path = checkout.folder().join("verdict-quick.json");
    let disagree = serde_json::to_string(&verdict).unwrap();
    let disagree = disagree.replace("\"met\":9", "\"met\":4").replace("\"holds\"", "\"unclear\"");
    fs::write(&path, disagree).unwrap();
    assert_eq!(status(&checkout.taut(&["regress", "--quick"])), 0);
    let output = checkout.taut(&["reproduce", "fall", "--quick", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["figures"][0]["claims"][0]["verdict"], "unclear");
    assert_eq!(
        status(&checkout.taut(&["reproduce", "fall", "--quick", "--sabotage"])),
        1,
        "it cannot fail"
    );
    let scaled = record.lines().map(|line| match line.rsplit_once(',') {
        Some((head, y)) => match y.parse::<f64>() {
            Ok(y) => format!("{head},{:e}\n", 1.02 * y),
            Err(_) => format!("{line}\n"),
        },
        None => String::new(),
    });
    fs::write(checkout.folder().join("baseline-quick.csv"), scaled.collect::<String>()).unwrap();
    assert_eq!(status(&checkout.taut(&["regress", "--quick", "--strict"])), 1);
}

#[test]
fn a_run_that_ends_badly_leaves_nothing_to_judge() {
    let checkout = Checkout::new(FIGURE);
    let scene = SCENE.replace("HEIGHT", "1").replace("(0, 0, -10)", "(0, 0, -1e300)");
    fs::write(checkout.dir.path().join("scenes/fall.ron"), scene).unwrap();
    let output = checkout.taut(&["reproduce", "fall", "--json"]);
    assert_eq!(status(&output), 1, "{}", error(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = &document["figures"][0];
    assert_eq!(figure["claims"][0]["verdict"], "void", "{figure}");
}

/// All files of a record but its pictures in pixels, without what tells of the clock.
fn timeless(checkout: &Checkout) -> Vec<(String, String)> {
    let clock = ["\"seconds\":", "\"date\":"];
    let mut files: Vec<(String, String)> = fs::read_dir(checkout.folder())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind != "png"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let kept = text.lines().filter(|line| !clock.iter().any(|key| line.contains(key)));
            // A day may end between two records.
            let undated = |line| str::strip_prefix(line, "Measured ")?.split_once(' ');
            let kept = kept.map(|line| undated(line).map_or(line, |(_day, rest)| rest));
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, kept.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn two_records_of_one_figure_differ_in_times_only() {
    let [first, second] = [(); 2].map(|()| {
        let checkout = Checkout::new(FIGURE);
        for size in [&[][..], &["--quick"]] {
            let bless = [&["regress", "--bless", "--dirty"], size].concat();
            assert_eq!(status(&checkout.taut(&bless)), 0);
        }
        timeless(&checkout)
    });
    assert!(first.len() > 6, "{first:?}");
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one, other);
    }
    assert_eq!(first.len(), second.len());
}

#[test]
fn a_figure_that_nothing_could_run_measured_nothing() {
    // The single-body reference takes no springs; an unsupported run is a row, but no result.
    let only = FIGURE.replace("\"newton\"", "\"rigid-cpu\"").replace("\"null\"", "\"rigid-cpu\"");
    let checkout = Checkout::new(&only);
    let joined = SCENE.replace("HEIGHT", "1").replace(
        "bodies: [",
        "joints: [ball(a: \"box\", b: \"two\", at: (0, 0, 0))],\n    bodies: [\
         body(name: \"two\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 3)),",
    );
    fs::write(checkout.dir.path().join("scenes/fall.ron"), joined).unwrap();
    let output = checkout.taut(&["reproduce", "fall"]);
    assert_eq!(status(&output), 3, "{}", error(&output));
}

/// Whoever reads a record must be able to make it again.
#[test]
fn records_are_of_revisions_that_exist() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/records");
    let machines = fs::read_dir(records).unwrap().map(|machine| machine.unwrap().path());
    let runs = machines.flat_map(|machine| fs::read_dir(machine).unwrap());
    let mut count = 0;
    for run in runs.map(|run| run.unwrap().path()) {
        for name in ["time.json", "run.json"].map(|name| run.join(name)) {
            let Ok(text) = fs::read_to_string(&name) else { continue };
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            let revision = json["machine"]["revision"].as_str().unwrap();
            assert!(!revision.ends_with("-dirty"), "{}: {revision}", name.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count} records");
}

#[test]
fn every_committed_figure_is_sound_and_recorded() {
    let root = taut::checkout::Checkout::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let ids = taut::figure::ids(&root).unwrap();
    assert!(!ids.is_empty());
    let setup = taut::Setup::default().with_engines(&root).unwrap();
    let mut changed = Vec::new();
    for id in ids {
        let figure = taut::figure::load(&root, &id, &setup).unwrap();
        assert!(!figure.claims.is_empty(), "{id} claims nothing");
        let folder = taut::figure::folder(&root, &id);
        for name in ["figure.svg", "baseline.csv", "baseline-quick.csv"] {
            assert!(folder.join(name).is_file(), "{id} has no {name}: bless it");
        }
        let definition = taut::figure::definition_hash(&root, &figure).unwrap();
        for quick in [false, true] {
            let file = taut::figure::read_verdict(&root, &id, quick).unwrap();
            let file = file.unwrap_or_else(|| panic!("{id} has no verdict on file: bless it"));
            if file.definition != definition {
                changed.push(format!("{id}{}", if quick { " --quick" } else { "" }));
            }
        }
    }
    assert!(changed.is_empty(), "other definitions than those recorded: bless {changed:?}");
}
