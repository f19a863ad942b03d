//! Solvers in other processes, good ones and sixteen that misbehave, as rows of the program.
#![cfg(unix)]

mod told;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use nix::{sys::signal::kill, unistd::Pid};
use serde_json::Value;
use taut_collide::ContactSet;
use taut_core::{
    Backend, Determinism, NoDevices, Scene, Settings, State, Step, Vec3,
    load::load_file,
    protocol::WORDS,
    scene::{Body, Contacts},
};
use taut_exec::{ExecBackend, Program};

const PYTHON: &str = "python3";

/// Whether a program is here. One that is not is told of past the capture of tests, and required by `scripts/test`.
fn is_here(program: &str) -> bool {
    let here = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !here {
        let required = env::var_os("TAUT_REQUIRE_PYTHON").is_some() && program == PYTHON;
        assert!(!required, "{program} is not here, and TAUT_REQUIRE_PYTHON is set");
        let told = format!("\nSKIPPED: {program} is not here, nothing was tested with it\n");
        let _ = std::io::stderr().write_all(told.as_bytes());
    }
    here
}

fn fixture() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/faults.py");
    file.to_str().expect("a path in UTF-8").to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn taut(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    command.current_dir(root()).env("TAKES", WORDS.join(",")).args(arguments);
    command.output().expect("the program runs")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Mode, keys of its row beside name and command, status, and what the reason holds.
const FAULTS: &[(&str, &str, &str, &str)] = &[
    ("missing", "", "failed", "cannot start `no-such-program`: No such file or directory"),
    ("exits", "", "failed", "exited with status 0, in hello"),
    ("banner", "", "failed", "not a reply: \"Welcome to Engine 3\", in hello"),
    ("silent", "hello_s: 2,", "failed", "no answer in 2 s, killed, in hello"),
    ("protocol", "", "failed", "not a reply: it picks protocol 7, offered was 1, in hello"),
    (
        "dies",
        "",
        "failed",
        "exited with status 3, in step after 2 steps; its last words: assert failed: island.c:12",
    ),
    ("segfault", "", "failed", "ended by signal 11 (SIGSEGV), in step"),
    ("hangs", "first_step_s: 2,", "failed", "no answer in 2 s, killed, in step"),
    ("stubborn", "first_step_s: 2,", "failed", "no answer in 2 s, killed, in step"),
    ("short", "", "failed", "a block of 100 bytes where 384 are due, in read"),
    ("promises", "read_s: 2,", "failed", "no answer in 2"),
    ("endless", "", "failed", "a line of more than 65536 bytes: \"yyyyy"),
    ("unasked", "", "failed", "not a reply: "),
    ("prose", "", "failed", "not a reply: \"Step done\", in step"),
    ("floods", "", "frozen", ""),
    ("refuses", "", "unsupported", "joint 3 is universal"),
];

/// A file with a row for each fault; those write their numbers into the folder `pids` beside it.
fn rows_of_faults(folder: &Path) -> PathBuf {
    let pids = folder.join("pids");
    fs::create_dir(&pids).unwrap();
    let rows = FAULTS.iter().map(|(mode, keys, ..)| {
        let command = match *mode {
            "missing" => r#""no-such-program""#.to_owned(),
            "exits" => r#""true""#.to_owned(),
            _ => format!("{PYTHON:?}, {:?}, {mode:?}, {:?}", fixture(), pids.to_str().unwrap()),
        };
        format!("(name: \"f-{mode}\", command: [{command}], {keys}),")
    });
    let file = folder.join("backends.ron");
    fs::write(&file, format!("(backends: [{}])", rows.collect::<String>())).unwrap();
    file
}

#[test]
fn sixteen_faults_are_rows_and_leave_no_process() {
    if !is_here(PYTHON) {
        return;
    }
    assert_eq!(FAULTS.len(), 16);
    let folder = tempfile::tempdir().unwrap();
    let file = rows_of_faults(folder.path());
    let out = folder.path().join("out");
    let mut arguments = vec!["run", "free-fall", "--steps", "5", "--reference", "none", "--json"];
    arguments.extend(["--backends", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let names: Vec<String> = FAULTS.iter().map(|(mode, ..)| format!("f-{mode}")).collect();
    arguments.extend(["-b", "null"]);
    names.iter().for_each(|name| arguments.extend(["-b", name]));
    let start = Instant::now();
    let output = taut(&arguments);
    // Limits of 2 s and graces of 2 s are all that is waited for; the rest is a busy machine's.
    assert!(start.elapsed() < Duration::from_secs(300), "{:?}", start.elapsed());
    assert!(output.status.success(), "{}", errors(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["runs"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["steps"]), (17, &5.into()));
    for (row, (mode, _, status, reason)) in rows[1..].iter().zip(FAULTS) {
        let said = row["reason"].as_str().unwrap();
        assert_eq!(row["status"].as_str(), Some(*status), "{mode}: {said}");
        assert!(said.contains(reason), "{mode}: {said}");
    }
    nobody_is_left(&folder.path().join("pids"));
}

/// That none of the processes is there any more, whose numbers are names of files.
fn nobody_is_left(folder: &Path) {
    let number = |entry: fs::DirEntry| entry.file_name().to_str().unwrap().parse().unwrap();
    let pids: Vec<i32> =
        fs::read_dir(folder).unwrap().map(|entry| number(entry.unwrap())).collect();
    assert!(pids.len() >= 14, "{pids:?}");
    // One that lost its parent is a zombie until the system has seen to it.
    let begin = Instant::now();
    let there = |pid: &&i32| kill(Pid::from_raw(**pid), None).is_ok() && !is_zombie(**pid);
    while let Some(pid) = pids.iter().find(there) {
        assert!(begin.elapsed() < Duration::from_secs(30), "process {pid} is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_zombie(pid: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

fn program(mode: &str) -> Program {
    let command = [PYTHON, &fixture(), mode].map(str::to_owned).to_vec();
    let mut program = Program::new("child", command);
    program.env.insert("TAKES".to_owned(), WORDS.join(","));
    program
}

fn end_of(backend: &dyn Backend, scene: &Scene) -> (u64, f64) {
    let mut solver = backend.build(scene, &Settings::default(), &NoDevices).expect("it builds");
    let mut state = State::default();
    solver.load(&scene.initial_state()).unwrap();
    solver.advance(Step { dt: scene.dt, iterations: 3 }, 4).unwrap();
    solver.read(&mut state).unwrap();
    (state.hash(), state.time_s)
}

#[test]
fn null_in_a_child_equals_null_on_every_scene() {
    if !is_here(PYTHON) {
        return;
    }
    let child = ExecBackend::new(program("null"));
    assert_eq!(child.determinism(), Determinism::Bitwise);
    let mut seen = 0;
    for entry in fs::read_dir(root().join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ron") {
            continue;
        }
        let scene = load_file(&path, &[]).unwrap().scene;
        assert_eq!(child.supports(&scene), Ok(()), "{}", path.display());
        let ends = [end_of(&child, &scene), end_of(&taut_null::BACKEND, &scene)];
        assert_eq!(ends[0], ends[1], "{}", path.display());
        seen += 1;
    }
    assert!(seen > 50, "{seen} scenes");
}

#[test]
fn contacts_are_given_as_they_are_found() {
    if !is_here(PYTHON) {
        return;
    }
    let ground =
        Body::solid_box(Vec3::new(4.0, 4.0, 1.0), 1.0).at(Vec3::new(0.1, 0.0, -0.5)).fixed();
    let cube = Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::new(0.0, 0.2, 0.499));
    let contacts = Some(Contacts::default());
    let scene = Scene { bodies: vec![ground, cube], contacts, dt: 0.01, ..Scene::default() };
    let initial = scene.initial_state();
    let mut set = ContactSet::new(&scene).expect("a scene with contacts");
    set.detect(initial.placements(), &[], scene.dt);
    let list = set.detect(initial.placements(), &[], scene.dt);
    let (contact, manifold) = (&list.contacts[0], &list.manifolds[0]);
    let mut due: Vec<f64> = contact.nodes().map(f64::from).to_vec();
    let vectors = contact.anchors().into_iter().chain([contact.normal]);
    due.extend(vectors.flat_map(|vector| [vector.x, vector.y, vector.z]));
    due.extend([contact.gap, manifold.friction[0], manifold.friction[1], manifold.restitution]);
    due.extend([0.0, f64::from(contact.previous)]);

    let backend = ExecBackend::new(program("given"));
    let mut solver = backend.build(&scene, &Settings::default(), &NoDevices).expect("it builds");
    let mut state = State::default();
    solver.load(&initial).unwrap();
    solver.advance(Step { dt: scene.dt, iterations: 1 }, 2).unwrap();
    solver.read(&mut state).unwrap();
    let body = &state.bodies[0];
    let numbers = body.position.iter().chain(body.frame.iter()).chain(body.velocity.iter());
    let shown: Vec<f64> = numbers.chain(body.frame_rate.iter()).copied().take(17).collect();
    assert_eq!((due.len(), shown), (17, due));
    let mut times = Vec::new();
    solver.drain_times(&mut times);
    assert_eq!(times.len(), 2, "one search for each step");
}

#[test]
fn times_tell_the_pipe_and_both_clocks() {
    if !is_here(PYTHON) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let row = format!("CHILD=exec:{PYTHON} '{}' null", fixture());
    let output = taut(&[
        "time",
        "rope",
        "-b",
        "null",
        "-b",
        &row,
        "--samples",
        "3",
        "--limit",
        "0.1",
        "--steps",
        "5000",
        "--blocks",
        "0",
        "--json",
        "--out",
        out.path().to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", errors(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["runs"][0]["times"]["pipe"].is_null());
    let times = &document["runs"][1]["times"];
    let frames = |run: usize| document["runs"][run]["times"]["steps_per_sample"].as_u64();
    // Motion changes what a frame costs: no row is timed over fewer frames than others.
    assert!(frames(0) == Some(5000) && frames(1) >= Some(5000), "{}", document["runs"]);
    assert_eq!(times["pipe"]["ping_s"]["samples"], 1000);
    for key in ["read_s", "load_s"] {
        assert_eq!(times["pipe"][key]["samples"], 50);
        assert!(times["pipe"][key]["median"].as_f64().unwrap() > 0.0);
    }
    // It says nothing of its own time, so there is nothing to agree with.
    assert_eq!(times["pipe"]["clock"], "unknown");
    assert!(times["throughput_step_s"]["median"].as_f64().unwrap() > 0.0);
    let processor = times["throughput_processor_s"]["median"].as_f64();
    assert_eq!(processor.is_some(), cfg!(target_os = "linux") || processor.is_some());
}

#[test]
fn bad_input_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backends.ron");
    let path = file.to_str().unwrap();
    let said = |arguments: &[&str]| {
        let output = taut(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        errors(&output)
    };
    let run = |backend: &str| said(&["run", "free-fall", "-b", backend]);
    assert!(run("exec:").contains("empty command"));
    assert!(run("exec:python3 'x").contains("quote that is not closed"));
    assert!(run("exec:python3 x::gain").contains("expected key=value"));
    let refused = said(&["run", "free-fall", "--no-exec", "-b", "exec:true"]);
    assert!(refused.contains("refused by --no-exec"), "{refused}");
    let mut listed = Command::new(env!("CARGO_BIN_EXE_taut"));
    listed.args(["list", "backends"]).env("TAUT_BACKENDS", "gone.ron");
    let gone = errors(&listed.output().unwrap());
    assert!(gone.contains("$TAUT_BACKENDS: cannot read gone.ron"), "{gone}");
    fs::write(&file, r#"(backends: [(name: "null", command: ["true"])])"#).unwrap();
    let taken = said(&["list", "backends", "--backends", path]);
    assert!(taken.contains("the name `null` is taken"), "{taken}");
    fs::write(&file, "(backends: [\n(name: \"a\", comand: [\"true\"])])").unwrap();
    let unknown = said(&["list", "backends", "--backends", path]);
    assert!(unknown.contains("backends.ron:2:") && unknown.contains("`command`"), "{unknown}");
    assert!(said(&["list", "--no-exec", "--backends", path]).contains("refused by --no-exec"));
    // What is on file names no command.
    let figure = folder.path().join("results/figures/x");
    fs::create_dir_all(&figure).unwrap();
    fs::create_dir(folder.path().join("scenes")).unwrap();
    fs::copy(root().join("scenes/free-fall.ron"), folder.path().join("scenes/free-fall.ron"))
        .unwrap();
    let text = r#"(title: "t", source: "s", about: "a",
        runs: [(label: "x", scene: "free-fall", backend: "exec:true", iterations: [1])],
        plot: (panels: [(x: (quantity: "time_s"), y: (quantity: "lowest_m"))]),
        claims: [])"#;
    fs::write(figure.join("figure.ron"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    let output = command.current_dir(folder.path()).args(["reproduce", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("exec:true"), "{}", errors(&output));
}

/// Writes a template, builds it by `build`, and verifies it: nothing may fail.
fn verified(language: &str, build: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let solver = folder.path().join("mine");
    let written = taut(&["new-solver", language, solver.to_str().unwrap()]);
    assert!(written.status.success(), "{}", errors(&written));
    let again = taut(&["new-solver", language, solver.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2), "nothing is replaced");
    let workflow = fs::read_to_string(solver.join(".github/workflows/taut.yml")).unwrap();
    assert_eq!(workflow.contains("- run: c++ "), language == "cpp", "{workflow}");
    assert!(
        workflow.contains("\n      - uses: OWNER/taut@") && !workflow.contains("BUILD"),
        "{workflow}"
    );
    build(&solver);
    let file = solver.join("backends.ron");
    let arguments = ["verify", "-b", "mine", "--backends", file.to_str().unwrap()];
    let output = taut(&arguments);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}{}", errors(&output));
    assert!(report.contains(" 0 failed, 0 known failures, "), "{report}");
    let out = folder.path().join("pendulum");
    let scene = ["run", "pendulum", "--set", "load_mass=1", "--steps", "20", "--reference", "none"];
    let rows = ["-b", "mine", "-b", "avbd-cpu", "--json", "--out", out.to_str().unwrap()];
    let output = taut(&[&scene[..], &rows, &["--backends", file.to_str().unwrap()]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for run in report["runs"].as_array().unwrap() {
        assert_eq!(run["status"], "ok", "{run}");
    }
}

#[test]
fn a_guest_that_may_differ_from_run_to_run_is_refused() {
    if !is_here(PYTHON) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
        command.current_dir(folder.path()).args(arguments).output().unwrap()
    };
    assert!(here(&["new-solver", "python", "."]).status.success());
    let solver = folder.path().join("solver.py");
    let text = fs::read_to_string(&solver).unwrap();
    fs::write(&solver, text.replace("\"bitwise\"", "\"none\"")).unwrap();
    let row = format!("MINE=exec:{PYTHON} solver.py");
    let run = "implicit RBD, h = 0.01";
    let record = ["--baseline", "ci", "--bless", "--dirty"];
    let arguments = ["regress", "mabd-fig08", "--as", &row, "--like", run];
    let output = here(&[&arguments[..], &record].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("does not promise equal bits"), "{}", errors(&output));
    assert!(!folder.path().join("ci").exists());
}

#[test]
fn the_template_in_python_verifies() {
    if is_here(PYTHON) {
        verified("python", |_| {});
    }
}

#[test]
fn the_template_in_cpp_verifies() {
    if is_here("c++") {
        verified("cpp", |folder| {
            let arguments = ["-std=c++17", "-O2", "-Wall", "-Werror", "solver.cpp", "-o", "solver"];
            let built = Command::new("c++").current_dir(folder).args(arguments).output().unwrap();
            assert!(built.status.success(), "{}", errors(&built));
        });
    }
}
