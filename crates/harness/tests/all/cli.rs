//! The program from outside: exit status, messages, documents and files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// The program, about to run in the checkout.
fn taut(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

fn output(arguments: &[&str]) -> Output {
    taut(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The document of a run that is expected to end with `status`, and the folder with its files.
fn document(status: i32, arguments: &[&str]) -> (Value, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let output = output(&[arguments, &["--json", "--out", out]].concat());
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
    (serde_json::from_slice(&output.stdout).unwrap(), dir)
}

/// Cells of a CSV file without quotes.
fn cells(path: PathBuf) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn refused(arguments: &[&str], message: &str) {
    let output = output(arguments);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(text.contains(message), "{arguments:?}: expected `{message}` in `{text}`");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn bad_usage_and_input_is_status_2_with_a_hint() {
    let cases: &[(&[&str], &str)] = &[
        (&["check", "roep"], "taut: error: no scene `roep`: did you mean `rope`?"),
        (&["check", "scenes/roep.ron"], "did you mean scenes/rope.ron?"),
        (&["check", "nothing-like-it"], "`taut list scenes` shows what there is"),
        (&["check", "scenes"], "scenes: "),
        (
            &["run", "rope", "-b", "avdb-cpu"],
            "unknown backend `avdb-cpu`: did you mean `avbd-cpu`?",
        ),
        (&["run", "rope", "-b", "avbd-cpu:alhpa=0.5"], "did you mean `alpha`?"),
        (&["run", "rope", "-b", "avbd-cpu:alpha"], "expected key=value, found `alpha`"),
        (&["run", "rope", "-b", "avbd-cpu:alpha=high"], "backend `avbd-cpu`: invalid settings"),
        (&["run", "rope", "-b", "null", "-b", "null"], "two rows are labelled `null`"),
        (&["run", "rope", "-b", "null", "--set", "link=5"], "did you mean `links`?"),
        (&["run", "rope", "-b", "null", "--set", "links=many"], "`many` is not a number"),
        (&["run", "rope", "-b", "null", "--steps", "0"], "0 is not in 1.."),
        (&["run", "rope", "-b", "null", "--steps", "5", "--states", "6"], "give --steps 6"),
        (&["run", "rope", "-b", "null", "--reference", "newtn"], "did you mean `newton`?"),
        (&["run", "spring", "-b", "null", "--reference", "rigid-cpu"], "cannot be the reference"),
        (&["run", "rope", "-b", "null", "--out", "/dev/null/x"], "cannot make the directory"),
        (&["run", "rope"], "--backend <BACKEND>"),
        (&["rum", "rope"], "a similar subcommand exists: 'run'"),
        (&["report", "scenes"], "nothing to report in scenes"),
    ];
    for (arguments, message) in cases {
        refused(arguments, message);
    }
}

#[test]
fn a_bad_scene_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.ron");
    fs::write(&file, "(about: \"a\",\n gravitty: (0, 0, -10))").unwrap();
    let output = output(&["check", "rope", file.to_str().unwrap(), "spring"]);
    let (text, good) = (stderr(&output), String::from_utf8(output.stdout.clone()).unwrap());
    assert_eq!(output.status.code(), Some(2));
    assert!(text.starts_with("taut: error: ") && text.lines().count() == 1, "{text}");
    assert!(text.contains("bad.ron:2:") && text.contains("gravity"), "{text}");
    assert!(good.contains("scenes/rope.ron: 21 bodies, 19 joints"), "{good}");
    assert!(good.contains("scenes/spring.ron"), "the scenes after a bad one are checked too");
}

#[test]
fn help_and_version_are_good() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        assert_eq!(output(arguments).status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_run_writes_what_it_says() {
    let arguments = ["run", "scenes/rope.ron", "-b", "A=newton", "-b", "avbd-cpu"];
    let more = ["--iterations", "3", "--steps", "4", "--states", "0,1,4", "--set", "links=5"];
    let (json, dir) = document(0, &[&arguments[..], &more].concat());
    assert_eq!((&json["schema"], &json["verb"]), (&1.into(), &"run".into()));
    assert_eq!((&json["scene"], &json["parameters"]["links"]), (&"rope".into(), &5.0.into()));
    assert!(json["command"].as_str().unwrap().starts_with("taut run scenes/rope.ron -b A=newton"));
    for fact in ["cpu", "os", "rustc", "revision", "time", "profile"] {
        assert!(json["machine"][fact].is_string(), "{fact}");
    }
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for (run, label, backend) in [(&runs[0], "A", "newton"), (&runs[1], "avbd-cpu", "avbd-cpu")] {
        assert_eq!((&run["label"], &run["backend"]), (&label.into(), &backend.into()));
        assert_eq!((&run["status"], &run["reason"]), (&"ok".into(), &"".into()));
        assert_eq!((&run["iterations"], &run["steps"]), (&3.into(), &4.into()));
        assert!(run["settings"].is_string());
        for name in ["joint_error_max_m", "joint_error_max_m_mean", "joint_error_max_m_final"] {
            assert!(run["summary"][name].is_f64(), "{name}");
        }
        for name in ["median", "mad", "min", "max"] {
            assert!(run["step_time_s"][name].as_f64().unwrap() >= 0.0, "{name}");
        }
    }
    assert_eq!(json["reference"]["backend"], "newton");
    assert_eq!(json["reference"]["is_motion"], true);
    let error = json["motion"]["error_max_m"].as_f64().expect("an estimate");
    for run in runs {
        let summary = &run["summary"];
        let off = summary["distance_to_motion_m"].as_f64().expect("the motion is found");
        // Steps of a sixtieth of a second are far worse than what the motion is known to.
        assert!(off > 100.0 * error, "{off} {error}");
        assert_eq!(summary["distance_to_reference_rms_m"].as_f64(), Some(off));
        assert!(summary["motion_error_m"].as_f64().unwrap() <= error);
    }
    assert_eq!(
        runs[0]["summary"]["distance_to_step_m"], 0.0,
        "its steps are those of the row itself"
    );
    assert!(runs[1]["summary"]["distance_to_step_m"].as_f64().unwrap() > 0.0);
    check_files(&json, dir.path());
}

/// The files of `a_run_writes_what_it_says`: two runs of six bodies, four frames each.
fn check_files(json: &Value, dir: &Path) {
    let frames = cells(dir.join("frames.csv"));
    assert_eq!(frames[0][..6], ["scene", "label", "backend", "iterations", "step", "time_s"]);
    assert_eq!(frames.len(), 1 + 2 * 4);
    assert_eq!(frames[5][..5], ["rope", "avbd-cpu", "avbd-cpu", "3", "1"]);
    let states = cells(dir.join("states.csv"));
    let columns = "label,frame,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz";
    assert_eq!(states[0].join(","), columns);
    let bodies = json["counts"]["bodies"].as_u64().unwrap() as usize;
    assert_eq!(states.len(), 1 + 2 * 3 * bodies);
    let written = fs::read_to_string(dir.join("run.json")).unwrap();
    assert_eq!(&serde_json::from_str::<Value>(&written).unwrap(), json);
    for file in json["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn a_reference_may_be_no_row() {
    let arguments = ["run", "rope", "-b", "avbd-cpu", "--steps", "3", "--reference", "newton@2"];
    let (json, _dir) = document(0, &arguments);
    let reference = &json["reference"];
    assert_eq!((&reference["substeps"], &reference["status"]), (&2.into(), &"ok".into()));
    assert_eq!(json["runs"].as_array().unwrap().len(), 1);
    assert!(json["runs"][0]["summary"]["distance_to_reference_rms_m"].is_f64());
    let arguments = ["run", "rope", "-b", "newton", "--steps", "3", "--reference", "none"];
    let (json, _dir) = document(0, &arguments);
    assert!(json["reference"].is_null() && json["motion"].is_null());
    assert!(json["runs"][0]["summary"].get("distance_to_motion_m").is_none());
}

#[test]
fn states_of_particles_are_written_and_all_numbers_have_names() {
    let arguments = ["run", "jointed-drop", "-b", "null", "--steps", "1", "--states", "0,1"];
    let (json, dir) = document(0, &[&arguments[..], &["--reference", "none"]].concat());
    let count = |kind: &str| json["counts"][kind].as_u64().unwrap() as usize;
    let particles = cells(dir.path().join("particles.csv"));
    assert_eq!(particles[0].join(","), "label,frame,particle,px,py,pz,vx,vy,vz");
    assert_eq!(particles.len(), 1 + 2 * count("particles"));
    let names = cells(dir.path().join("names.csv"));
    assert_eq!(names[0].join(","), "kind,index,name");
    assert_eq!(names.len(), 1 + count("bodies") + count("particles") + count("joints"));
}

#[test]
fn reaction_forces_are_written_and_carry_the_weight() {
    let arguments = ["run", "drop", "-b", "avbd-cpu", "--steps", "120", "--states", "1,120"];
    let (_, dir) = document(0, &[&arguments[..], &["--reference", "none"]].concat());
    let contacts = cells(dir.path().join("contact_forces.csv"));
    assert_eq!(contacts[0].join(","), "label,frame,a,b,px,py,pz,nx,ny,nz,fx,fy,fz");
    let last = contacts.iter().filter(|line| line[1] == "120");
    let pressed: f64 = last.map(|line| line[12].parse::<f64>().unwrap().abs()).sum();
    // 1 kg where gravity is 10 m/s^2.
    assert!((pressed - 10.0).abs() < 0.01, "{pressed} N");
    assert!(!contacts.iter().any(|line| line[1] == "1"), "it is in the air");
    let arguments = ["run", "rope", "-b", "newton", "--steps", "2", "--states", "2"];
    let (json, dir) = document(0, &[&arguments[..], &["--reference", "none"]].concat());
    let joints = cells(dir.path().join("joint_forces.csv"));
    assert_eq!(joints[0].join(","), "label,frame,joint,fx,fy,fz,tx,ty,tz");
    assert_eq!(joints.len() as u64, 1 + json["counts"]["joints"].as_u64().unwrap());
}

/// Sizes at which squares overflow.
#[test]
fn numbers_that_overflow_in_a_metric_are_no_good_end() {
    let dir = tempfile::tempdir().unwrap();
    let scene = dir.path().join("huge.ron");
    let text = "(contacts: false, bodies: [body(shape: box(size: (1, 1, 1)), mass: 1,
        velocity: (1e160, 0, 0))])";
    fs::write(&scene, text).unwrap();
    let arguments = ["run", scene.to_str().unwrap(), "-b", "newton", "-b", "null", "--steps", "2"];
    let (json, _dir) = document(0, &[&arguments[..], &["--reference", "none"]].concat());
    for run in json["runs"].as_array().unwrap() {
        assert_ne!(run["status"], "ok", "{run}");
    }
}

#[test]
fn several_budgets_are_several_rows() {
    let arguments = ["run", "rope", "-b", "null", "--steps", "2", "--iterations", "1,2"];
    let (json, _dir) = document(0, &[&arguments[..], &["--substeps", "1,3"]].concat());
    let labels: Vec<&str> =
        json["runs"].as_array().unwrap().iter().map(|r| r["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["null 1x1", "null 1x3", "null 2x1", "null 2x3"]);
}

#[test]
fn nothing_measured_is_status_3_and_still_a_document() {
    let (json, dir) = document(3, &["run", "spring", "-b", "rigid-cpu"]);
    assert_eq!(json["runs"][0]["status"], "unsupported");
    assert!(!json["runs"][0]["reason"].as_str().unwrap().is_empty());
    assert!(dir.path().join("frames.csv").is_file());
}

#[test]
fn a_trace_has_a_cold_and_a_warm_curve() {
    let arguments = ["trace", "rope", "-b", "avbd-cpu", "--iterations", "4", "--warmup", "3"];
    let (json, dir) = document(0, &arguments);
    let curves = json["runs"][0]["curves"].as_array().unwrap();
    assert_eq!((&curves[0]["start"], &curves[1]["start"]), (&"cold".into(), &"warm".into()));
    for curve in curves {
        // Iterations 0 to 4 and the closed step.
        assert_eq!(curve["points"].as_array().unwrap().len(), 6);
        let metrics = &curve["points"][5]["metrics"];
        assert!(metrics["joint_error_max_m"].is_f64());
        assert!(metrics["distance_to_reference_rms_m"].is_f64());
    }
    let table = cells(dir.path().join("trace.csv"));
    let columns = ["scene", "label", "backend", "iterations", "start", "iteration", "closed"];
    assert_eq!((table.len(), &table[0][..7]), (13, &columns.map(str::to_owned)[..]));
}

#[test]
fn times_have_a_spread_and_stages() {
    let arguments = ["time", "rope", "-b", "null", "--iterations", "2,5", "--samples", "5"];
    let (json, dir) = document(0, &[&arguments[..], &["--warmup", "1", "--steps", "3"]].concat());
    let times = &json["runs"][1]["times"];
    assert_eq!(times["iterations"], 5);
    for name in ["median", "mad", "min", "max"] {
        assert!(times["step_s"][name].as_f64().unwrap() >= 0.0, "{name}");
    }
    for stage in ["collide", "prepare", "iterate", "finish"] {
        assert!(times["stages"][stage].as_f64().unwrap() >= 0.0, "{stage}");
    }
    assert_eq!(cells(dir.path().join("time.csv")).len(), 3);
    let in_turn = |row: usize| &json["runs"][row]["in_turn"];
    assert_eq!(in_turn(0)["verdict"], "first");
    assert_eq!(in_turn(1)["samples_s"].as_array().unwrap().len(), 7);
    let ratio = in_turn(1)["ratio"].as_array().unwrap();
    assert!(ratio[0].as_f64() <= ratio[1].as_f64() && ratio[1].as_f64() <= ratio[2].as_f64());
    assert!(in_turn(1)["noise_band"].as_f64().unwrap() >= 0.02);
    let (json, _dir) = document(0, &[&arguments[..], &["--blocks", "0"]].concat());
    assert!(json["runs"][0]["times"].is_object() && json["runs"][0]["in_turn"].is_null());
    if cfg!(unix) {
        assert!(json["runs"][0]["times"]["throughput_processor_s"]["median"].as_f64() >= Some(0.0));
    }
}

/// By how much a metric moves at its end with eight starts that rounding cannot tell apart [decades].
fn sensitivity(scene: &str, iterations: &str, metric: &str) -> f64 {
    let run = ["run", scene, "-b", "avbd-cpu", "--iterations", iterations, "--spread", "8"];
    let (json, _dir) = document(0, &run);
    let told = &json["runs"][0]["sensitivity"];
    assert_eq!(told["starts"], 8);
    let metrics = told["metrics"].as_array().unwrap();
    metrics.iter().find(|one| one["name"] == metric).unwrap()["end"].as_f64().unwrap()
}

#[test]
fn rounding_moves_a_chain_by_nothing_and_a_pyramid_by_much() {
    let chain = sensitivity("pendulum", "20", "joint_error_max_m");
    assert!(chain < 1e-9, "{chain} decades");
    let pyramid = sensitivity("pyramid", "10", "penetration_max_m");
    assert!(pyramid > 0.01, "{pyramid} decades");
}

#[test]
fn the_best_budget_meets_its_bounds() {
    let arguments = ["best", "rope", "-b", "newton", "-b", "null", "--iterations", "1,2"];
    let bounds = ["--within", "joint_error_max_m=1e-9,distance_to_motion_m=0.01", "--steps", "4"];
    let (json, dir) = document(0, &[&arguments[..], &bounds[..]].concat());
    assert_eq!(json["runs"].as_array().unwrap().len(), 4);
    let best = json["best"].as_array().unwrap();
    assert_eq!((&best[0]["backend"], &best[0]["reached"]), (&"newton".into(), &true.into()));
    assert!(best[0]["cost_s"].as_f64().unwrap() > 0.0 && best[0]["interval_s"].is_array());
    assert!(best[0]["excess"].as_f64().unwrap() <= 1.0);
    // It does nothing, which keeps joints closed and is no result.
    assert_eq!((&best[1]["reached"], &best[1]["cost_s"]), (&false.into(), &Value::Null));
    let written = fs::read_to_string(dir.path().join("best.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json);
    let wrong = ["best", "rope", "-b", "null", "--within", "joint_eror_max_m=1"];
    let output = output(&wrong);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `joint_error_max_m`?"));
}

#[test]
fn the_list_names_what_there_is() {
    let output = output(&["list", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    let backends: Vec<String> = json["backends"].as_array().unwrap().iter().map(name).collect();
    assert!(backends.contains(&"newton".to_owned()) && backends.contains(&"null".to_owned()));
    // Engines of others have a table of their own.
    let scene = &json["scenes"][0];
    let own = taut::backends::table().iter().len();
    assert_eq!(scene["support"].as_array().unwrap().len(), own);
    assert!(own < backends.len() && backends.contains(&"mujoco".to_owned()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_termination_leave_complete_files() {
    ["-INT", "-TERM"].into_iter().for_each(stops_in_order);
}

#[cfg(unix)]
fn stops_in_order(signal: &str) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let arguments = ["run", "pendulum", "-b", "newton", "-b", "null", "--steps", "100000", "--out"];
    let mut child = taut(&[&arguments[..], &[out.to_str().unwrap(), "--json"]].concat())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The folder is made right before the first row starts.
    while !out.is_dir() {
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = json["runs"][0]["steps"].as_u64().unwrap();
    assert!((1..100_000).contains(&steps), "{}", json["runs"][0]);
    let reason = json["runs"][0]["reason"].as_str().unwrap();
    assert!(reason.ends_with(&format!("interrupted after {steps} steps")), "{reason}");
    assert_eq!(json["runs"][1]["status"], "skipped");
    let frames = cells(out.join("frames.csv"));
    assert_eq!(frames.len() as u64, 1 + steps);
    assert!(frames.iter().all(|line| line.len() == frames[0].len()));
    let written = fs::read_to_string(out.join("run.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json);
    let mut names = fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name());
    assert!(names.all(|name| !name.to_string_lossy().contains("tmp")));
}

/// A process that hears nothing and never answers ends with the program.
#[cfg(unix)]
#[test]
fn the_second_interruption_ends_what_was_started() {
    let dir = tempfile::tempdir().unwrap();
    let (out, beats) = (dir.path().join("out"), dir.path().join("beats"));
    let beat = format!("while echo >>{}; do sleep 0.02; done", beats.display());
    let deaf = format!("exec:sh -c 'trap \"\" INT TERM; {beat}'");
    let arguments = ["run", "pendulum", "-b", &deaf, "--reference", "none", "--out"];
    let mut child = taut(&[&arguments[..], &[out.to_str().unwrap()]].concat())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pause = |ms| std::thread::sleep(std::time::Duration::from_millis(ms));
    while !beats.is_file() {
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        pause(20);
    }
    for _ in 0..2 {
        let own = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &own]).status().unwrap().success());
        // What comes sooner than half a second after the first is the first.
        pause(700);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let beaten = || fs::metadata(&beats).unwrap().len();
    let before = beaten();
    pause(300);
    assert_eq!(beaten(), before, "it goes on");
}

#[test]
fn a_run_that_is_killed_keeps_its_finished_rows() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let arguments = ["run", "pendulum", "-b", "null", "-b", "avbd-cpu", "--steps", "20000"];
    let rest = ["--reference", "none", "--out", out.to_str().unwrap()];
    let mut child = taut(&[&arguments[..], &rest].concat())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !out.join("run.json").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let json: Value = serde_json::from_slice(&fs::read(out.join("run.json")).unwrap()).unwrap();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["backend"]), (1, &"null".into()));
    assert_eq!(cells(out.join("frames.csv")).len() as u64, 1 + runs[0]["steps"].as_u64().unwrap());
}

/// A limit on the size of files refuses bytes as a full disk does.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_leaves_what_was_whole() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let arguments = ["run", "pendulum", "-b", "null", "--reference", "none", "--steps"];
    let place = ["--out", out.to_str().unwrap()];
    let whole = taut(&[&arguments[..], &["2"], &place].concat()).output().unwrap();
    assert_eq!(whole.status.code(), Some(0));
    let before = fs::read(out.join("frames.csv")).unwrap();
    let program = env!("CARGO_BIN_EXE_taut");
    let limited = [&arguments[..], &["2000"], &place].concat();
    // The signal that comes with the refusal would end the program by force.
    let script = format!("trap '' XFSZ; ulimit -f 8; exec '{program}' \"$@\"");
    let shell = Command::new("bash").args(["-c", &script, "taut"]).args(limited).output().unwrap();
    assert_eq!(shell.status.code(), Some(2), "{}", stderr(&shell));
    assert!(stderr(&shell).contains("cannot write"), "{}", stderr(&shell));
    assert_eq!(fs::read(out.join("frames.csv")).unwrap(), before, "replaced by half a file");
    let mut names = fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name());
    assert!(names.all(|name| !name.to_string_lossy().contains("tmp")));
}

/// Bodies inside each other, thin ones, slivers and extreme sizes: a recorded warning and a row for
/// every backend, never a panic.
#[test]
fn awkward_geometry_is_recorded_and_panics_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("awkward.ron");
    let text = "(bodies: [
        body(name: \"floor\", motion: static, shape: mesh(
            vertices: [(-9, -9, 0), (9, -9, 0), (0, 9, 0)], triangles: [(0, 1, 2), (0, 2, 1)])),
        body(name: \"sunk\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.2)),
        body(name: \"twin\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.2)),
        body(name: \"foil\", shape: box(size: (1, 1, 1e-9)), density: 1, position: (3, 0, 1e-3)),
        body(name: \"sliver\", shape: hull(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.3, 0.3, 1e-7)]),
            density: 1, position: (-3, 0, 0.1)),
        body(name: \"dust\", shape: sphere(radius: 1e-9), density: 1, position: (0, 3, 1e-3)),
        body(name: \"moon\", shape: sphere(radius: 1e6), density: 1e-9, position: (0, 0, 2e6)),
    ])";
    fs::write(&file, text).unwrap();
    let mut arguments = vec!["run", file.to_str().unwrap(), "--steps", "12", "--reference", "none"];
    let table = taut::backends::table();
    for backend in table.names() {
        arguments.extend(["-b", backend]);
    }
    let (document, _dir) = document(0, &arguments);
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("`sunk` and `twin` overlap by 1.000e0 m at the start"), "{warnings}");
    assert!(warnings.contains("`floor` and `sunk` overlap"), "{warnings}");
    for run in document["runs"].as_array().unwrap() {
        let reason = run["reason"].as_str().unwrap();
        assert!(!reason.contains("panicked"), "{}: {reason}", run["label"]);
    }
}
