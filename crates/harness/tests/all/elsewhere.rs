//! The program away from its checkout: what is built in, a folder before it, and a backend that takes part in figures.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

/// A figure of which all runs together take a fraction of a second, and one of its runs.
const FIGURE: &str = "mabd-fig07";
const RUN: &str = "implicit RBD, h = 0.01";

/// The program, run in a folder that has no checkout above it.
fn taut(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    command.current_dir(folder).args(arguments).output().expect("the program runs")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The document of a call that ends with `status`.
fn document(folder: &Path, status: i32, arguments: &[&str]) -> Value {
    let output = taut(folder, &[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", errors(&output));
    serde_json::from_slice(&output.stdout).expect("a document")
}

/// That a call is bad input, and what it says.
fn refused(folder: &Path, arguments: &[&str], message: &str) {
    let output = taut(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", errors(&output));
    assert!(errors(&output).contains(message), "{arguments:?}: {}", errors(&output));
}

#[test]
fn scenes_and_figures_are_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let run = document(here, 0, &["run", "pendulum", "-b", "avbd-cpu", "--steps", "3"]);
    assert_eq!(run["scene_file"], "embedded:scenes/pendulum.ron");
    assert_eq!((&run["scene"], &run["runs"][0]["status"]), (&"pendulum".into(), &"ok".into()));
    let listed = document(here, 0, &["list", "figures"]);
    assert!(listed["figures"].as_array().unwrap().len() > 50);
    let made = document(here, 0, &["reproduce", FIGURE, "--out", "made"]);
    assert_eq!(made["figures"][0]["claims"][0]["verdict"], "holds");
    assert!(here.join("made").join(FIGURE).join("figure.svg").is_file());
    let held = document(here, 0, &["regress", FIGURE, "--strict"]);
    assert_eq!(held["figures"][0]["differences"].as_array().unwrap().len(), 0);
    let arguments = ["run", "rope", "-b", "null", "--steps", "2", "--record", "rope.npz"];
    document(here, 0, &arguments);
    document(here, 0, &["draw", "--from", "rope.npz", "--frames", "1"]);
}

#[test]
fn messages_name_files_that_are_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let cases: &[(&[&str], &str)] = &[
        (&["check", "roep"], "no scene `roep`: did you mean `rope`?"),
        (&["check", "scenes/rope.ron"], "did you mean embedded:scenes/rope.ron?"),
        (&["check", "rope", "--set", "link=3"], "embedded:scenes/rope.ron: parameters: unknown"),
        (&["check", "embedded:scenes/roep.ron"], "did you mean embedded:scenes/rope.ron?"),
        (&["reproduce", "mabd-fig7"], "no figure `mabd-fig7` (did you mean `mabd-fig07`?)"),
        (&["reproduce", FIGURE, "--bless", "--dirty"], "a folder by --root DIR"),
        (&["redraw", "--all"], "this asks for a checkout"),
        (&["report"], "this asks for a checkout"),
        (&["--root", "gone", "list", "scenes"], "--root gone: there is no such folder"),
    ];
    for (arguments, message) in cases {
        refused(here, arguments, message);
    }
    document(here, 0, &["check", "embedded:scenes/rope.ron"]);
    // A folder that has scenes by chance stands for itself, and the message says what it hides.
    fs::create_dir(here.join("scenes")).unwrap();
    refused(here, &["check", "rope"], "no scene `rope` in .: `--root .` adds those of the program");
    refused(here, &["reproduce", FIGURE], "`--root DIR` adds those of the program");
    document(here, 0, &["--root", ".", "check", "rope"]);
}

#[test]
fn a_folder_given_as_root_stands_before_what_is_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let (here, root) = (folder.path(), folder.path().join("own"));
    let own = "results/figures/own-fall";
    fs::create_dir_all(root.join(own)).unwrap();
    fs::create_dir(root.join("scenes")).unwrap();
    let scene = "(about: \"falls\", dt: 0.01, steps: 3, contacts: false, bodies: [body(name: \"box\", \
         shape: box(size: (1, 1, 1)), density: 1)])";
    fs::write(root.join("scenes/free-fall.ron"), scene).unwrap();
    fs::write(root.join("scenes/wrong.ron"), "(about: \"a\",\n gravitty: 1)").unwrap();
    let figure = r#"(title: "t", source: "s", about: "a",
        runs: [
            (label: "own", scene: "free-fall", backend: "newton", iterations: [1]),
            (label: "theirs", scene: "pendulum", backend: "newton", iterations: [1], steps: 3),
        ],
        plot: (panels: [(x: (quantity: "time_s"), y: (quantity: "energy_j"))]), claims: [])"#;
    fs::write(root.join(own).join("figure.ron"), figure).unwrap();

    let checked = document(here, 0, &["--root", "own", "check", "free-fall", "pendulum"]);
    assert_eq!(checked["scenes"][0]["file"], "own/scenes/free-fall.ron");
    assert_eq!(checked["scenes"][1]["file"], "embedded:scenes/pendulum.ron");
    refused(here, &["--root", "own", "check", "wrong"], "own/scenes/wrong.ron:2:");
    let listed = document(here, 0, &["--root", "own", "list", "figures"]);
    let ids: Vec<&Value> = listed["figures"].as_array().unwrap().iter().map(|f| &f["id"]).collect();
    assert!(ids.contains(&&"own-fall".into()) && ids.contains(&&FIGURE.into()));

    document(here, 0, &["--root", "own", "regress", "own-fall", "--bless", "--dirty"]);
    assert!(root.join(own).join("baseline.csv").is_file());
    assert!(root.join(own).join("figure.svg").is_file());
    document(here, 0, &["--root", "own", "regress", "own-fall", "--strict"]);
    fs::write(root.join("scenes/free-fall.ron"), scene.replace("density: 1", "density: 2"))
        .unwrap();
    let moved = document(here, 1, &["--root", "own", "regress", "own-fall"]);
    assert_eq!(moved["figures"][0]["curves"][0]["change"], "worse");
}

#[test]
fn a_record_in_a_folder_is_not_mixed_with_that_which_is_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let regress = ["--root", ".", "regress", FIGURE, "--quick"];
    let band = || {
        let held = document(here, 0, &regress);
        held["figures"][0]["curves"][0]["band"][0].as_f64().unwrap()
    };
    assert!(band() < 0.01, "of spreads that are built in");
    document(here, 0, &[&regress[..], &["--bless", "--dirty", "--spread", "2"]].concat());
    let record = here.join("results/figures").join(FIGURE);
    assert!(band() < 0.01, "of those in the folder");
    fs::remove_file(record.join("spread-quick.csv")).unwrap();
    assert!(band() > 0.01, "of the figure");
}

/// `regress` of [`FIGURE`] with a backend that takes part like [`RUN`].
fn with_guest<'a>(backend: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["regress", FIGURE, "--as", backend, "--like", RUN, "--baseline", "ci"];
    arguments.extend(["--strict", "--out", "out"]);
    arguments.extend(more);
    arguments
}

#[test]
fn a_backend_takes_part_in_a_figure_and_alone_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let guest = "MINE=rigid-cpu:integrator=implicit";
    let unrecorded = document(here, 1, &with_guest(guest, &[]));
    assert_eq!(unrecorded["figures"][0]["differences"], Value::Null);

    let blessed = document(here, 0, &with_guest(guest, &["--bless", "--dirty", "--spread", "2"]));
    let figure = &blessed["figures"][0];
    let runs = figure["runs"].as_array().unwrap();
    let (own, like) = (runs.last().unwrap(), runs.iter().find(|run| run["label"] == RUN).unwrap());
    assert_eq!((&own["label"], &own["status"]), (&"MINE".into(), &"ok".into()));
    assert_eq!(own["summary"], like["summary"], "the same method, scene and budget");
    assert!(figure["claims"].as_array().unwrap().len() > 5, "claims are judged");
    let curves = fs::read_to_string(here.join("out").join(FIGURE).join("curves.csv")).unwrap();
    assert!(curves.contains("MINE") && curves.contains("vanilla ABD"), "all are drawn");

    let record = here.join("ci").join(FIGURE);
    let baseline = fs::read_to_string(record.join("baseline.csv")).unwrap();
    assert!(baseline.lines().skip(1).all(|line| line.starts_with("0,MINE,")), "{baseline}");
    assert_eq!(fs::read_to_string(record.join("spread.csv")).unwrap().lines().count(), 1 + 2);
    assert_eq!(fs::read_dir(&record).unwrap().count(), 3, "no picture is committed there");

    let held = document(here, 0, &with_guest(guest, &[]));
    let curves = held["figures"][0]["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 1);
    assert_eq!((&curves[0]["curve"], &curves[0]["change"]), (&"MINE".into(), &"same".into()));
    let moved = taut(here, &with_guest("MINE=mabd-cpu:integrator=implicit_euler", &[]));
    assert_eq!(moved.status.code(), Some(1), "{}", errors(&moved));
    let printed = String::from_utf8_lossy(&moved.stdout);
    assert!(printed.lines().any(|line| line.starts_with("worse") && line.contains("MINE")));
    let page = fs::read_to_string(here.join("out/regress.md")).unwrap();
    assert!(page.contains("| worse | 1 | MINE |"), "{page}");
}

#[test]
fn bad_input_of_a_guest_is_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let guest = "MINE=rigid-cpu:integrator=implicit";
    let with = |more: &[&'static str]| with_guest(guest, more);
    document(here, 0, &with(&["--bless", "--dirty"]));
    let record = here.join("ci").join(FIGURE);
    for (file, from, to, message) in [
        ("baseline.csv", "panel,curve,x,y", "panel,curve,z", "another schema"),
        ("verdict.json", "\"schema\": 1", "\"schema\": 7", "version 7, this program reads 1"),
    ] {
        let path = record.join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        refused(here, &with(&[]), message);
        fs::write(&path, text).unwrap();
    }
    refused(here, &with(&["--bless", "--spread", "0"]), "0 is not in 1..");
    let none = ["regress", FIGURE, "--as", guest];
    refused(here, &none, "--like <RUN>");
    let like = |run: &'static str| {
        ["regress", FIGURE, "--as", guest, "--like", run, "--baseline", "ci"].to_vec()
    };
    refused(here, &like("implicit RBD, h = 0.02"), "did you mean `implicit RBD, h = 0.01`?");
    refused(here, &with_guest("MINE=rigd-cpu", &[]), "did you mean `rigid-cpu`?");
    refused(here, &with_guest("MINE=rigid-cpu:integrater=implicit", &[]), "invalid settings");
    let all = ["regress", "--as", guest, "--like", RUN, "--baseline", "ci"];
    refused(here, &all, "figures that are named");
}

#[cfg(unix)]
#[test]
fn a_guest_that_cannot_run_is_never_recorded_and_never_good() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let bless = with_guest("MINE=exec:no-such-program", &["--bless", "--dirty"]);
    refused(here, &bless, "MINE was failed: cannot start `no-such-program`");
    assert!(!here.join("ci").exists());
    document(here, 0, &with_guest("MINE=rigid-cpu", &["--bless", "--dirty"]));
    let gone = document(here, 1, &with_guest("MINE=exec:no-such-program", &[]));
    assert_eq!(gone["figures"][0]["curves"][0]["change"], "missing");
    assert_eq!(gone["figures"][0]["differences"][0], "MINE was ok, is failed");
}

#[test]
fn without_the_default_features_no_crate_for_adapters_or_windows_is_built() {
    let cargo = env::var_os("CARGO").expect("run by cargo");
    let mut command = Command::new(cargo);
    command.args(["tree", "--package", "taut", "--no-default-features", "--edges", "normal"]);
    command.args(["--prefix", "none", "--offline", "--locked", "--manifest-path"]);
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let output = command.arg(manifest).output().expect("cargo runs");
    assert!(output.status.success(), "{}", errors(&output));
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(tree.lines().any(|line| line.starts_with("taut-avbd ")), "{tree}");
    for unwanted in ["wgpu", "naga", "winit", "eframe", "egui", "taut-gpu"] {
        let found = tree.lines().find(|line| line.split(' ').next() == Some(unwanted));
        assert_eq!(found, None, "{unwanted}");
    }
}
