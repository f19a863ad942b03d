//! A backend outside the tree is drawn, verified and held like any other, through the public API alone.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use taut::plot::style_of;

const FIGURE: &str = r#"(
    title: "A fall", source: "none", about: "a test",
    runs: [(label: "drop", scene: "fall", backend: "drop-cpu", iterations: [1])],
    plot: (panels: [(x: (quantity: "time_s"), y: (quantity: "lowest_m"))]),
    claims: [
        (text: "it falls", check: never(metric: "lowest_m", run: "drop", above: 1), basis: closed_form),
    ],
)"#;

const SCENE: &str = r#"(
    about: "falls", gravity: (0, 0, -10), dt: 0.01, steps: 6, contacts: false, watch: [],
    parameters: {},
    bodies: [body(name: "box", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 1))],
)"#;

/// What the tree's tests ask of crates that the program would not: with it, all crates of others are compiled once.
const AS_IN_THE_TREE: &str = r#"
[dependencies]
bitflags = { version = "2", features = ["std"] }
bytemuck = { version = "1", features = ["min_const_generics"] }
either = { version = "1", default-features = false, features = ["use_std"] }
getrandom = { version = "0.4", features = ["std", "sys_rng"] }
glam = { version = "0.33", default-features = false, features = ["i32", "u32"] }
glamx = { version = "0.3", default-features = false, features = ["i32", "nalgebra"] }
hashbrown = { version = "0.17", default-features = false, features = ["inline-more"] }
nalgebra = { version = "0.35", default-features = false, features = ["alloc", "convert-glam033", "macros"] }
smallvec = { version = "1", features = ["union"] }
"#;

/// Builds the program with the versions, levels of optimisation and target folder of the tree, so that of other crates none
/// is compiled anew.
fn built() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = crates.join("..");
    let given = crates.join("harness/tests/fixtures/outside-backend");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target/tmp");
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-backend");
    fs::create_dir_all(own.join("src")).expect("a folder");
    fs::copy(root.join("Cargo.lock"), own.join("Cargo.lock")).expect("a lock file");
    fs::copy(given.join("src/main.rs"), own.join("src/main.rs")).expect("a program");
    let read = |file: PathBuf| fs::read_to_string(file).expect("a manifest");
    let tree = read(root.join("Cargo.toml"));
    let levels = tree.find("[profile.dev]").zip(tree.find("[profile.release]"));
    let levels = levels.map(|(from, to)| &tree[from..to]).expect("both profiles, in this order");
    let crates = crates.canonicalize().expect("the crates");
    let path = |name: &str| format!("path = {:?}", crates.join(name));
    // Crates of the tree belong to another workspace here and are compiled anew in any case. Nothing waits for them.
    let levels = levels.replace("opt-level = 2", "opt-level = 0");
    let manifest = read(given.join("Cargo.toml"))
        .replace("[dependencies]", AS_IN_THE_TREE)
        .replace("path = \"../../../../core\"", &path("core"))
        .replace("path = \"../../..\"", &path("harness"));
    fs::write(own.join("Cargo.toml"), manifest + "\n" + &levels).expect("a manifest");
    let cargo = env::var_os("CARGO").expect("run by cargo");
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--manifest-path"])
        .arg(own.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/outside-backend")
}

fn words(output: &Output) -> String {
    let [printed, errors] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    format!("{printed}\n{errors}")
}

#[test]
#[ignore = "compiles a workspace of its own for a minute; scripts/test runs it"]
fn a_backend_outside_the_tree_is_one_like_any_other() {
    let program = built();
    let checkout = tempfile::tempdir().unwrap();
    let folder = checkout.path().join("results/figures/fall");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(checkout.path().join("scenes")).unwrap();
    fs::write(folder.join("figure.ron"), FIGURE).unwrap();
    fs::write(checkout.path().join("scenes/fall.ron"), SCENE).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        let output = command.current_dir(checkout.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}\n{}", words(&output));
        words(&output)
    };

    let report = run(&["verify", "-b", "drop-cpu"]);
    assert!(report.starts_with("drop-cpu: "), "{report}");
    assert!(report.contains(" 0 failed, 0 known failures, "), "{report}");

    run(&["reproduce", "fall", "--bless", "--dirty", "--out", "out"]);
    let (red, green, blue) = style_of("drop-cpu").light;
    let picture = fs::read_to_string(folder.join("figure.svg")).unwrap();
    let colour = format!("stroke=\"#{red:02X}{green:02X}{blue:02X}\"");
    assert!(picture.contains(&colour), "no {colour}");

    let held: serde_json::Value = {
        run(&["regress", "fall", "--out", "held"]);
        let text = fs::read_to_string(checkout.path().join("held/regress.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let curve = &held["figures"][0]["curves"][0];
    assert_eq!((&curve["curve"], &curve["change"]), (&"drop".into(), &"same".into()));
}
