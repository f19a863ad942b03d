//! Recordings and their comparison from outside: exit status, messages and hashes.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn taut(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.output().unwrap()
}

/// Runs `xpbd-cpu` for some frames, with more arguments, and returns the hash of its states.
fn hash_of(dir: &Path, more: &[&str]) -> String {
    let out = dir.join("out");
    let fixed = ["run", "-b", "xpbd-cpu", "--steps", "5", "--reference", "none", "--json", "--out"];
    let output = taut(&[&fixed[..], &[out.to_str().unwrap()], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["runs"][0]["state_hash"].as_str().expect("a hash").to_owned()
}

fn recorded(dir: &Path, name: &str, scene: &[&str]) -> PathBuf {
    let file = dir.join(name);
    hash_of(dir, &[scene, &["--record", file.to_str().unwrap()]].concat());
    file
}

fn compared(a: &Path, b: &Path, status: i32, words: &[&str]) {
    let output = taut(&["compare", a.to_str().unwrap(), b.to_str().unwrap()]);
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(output.status.code(), Some(status), "{text}");
    for word in words {
        assert!(text.contains(word), "expected `{word}` in `{text}`");
    }
}

#[test]
fn recording_changes_no_state() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.npz");
    let recorded = hash_of(dir.path(), &["pendulum", "--record", file.to_str().unwrap()]);
    assert_eq!(recorded, hash_of(dir.path(), &["pendulum"]));
}

#[test]
fn equal_runs_compare_equal_and_others_part_or_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let a = recorded(dir.path(), "a.npz", &["pendulum"]);
    let b = recorded(dir.path(), "b.npz", &["pendulum"]);
    compared(&a, &b, 0, &["equal in 6 frames"]);
    let other = recorded(dir.path(), "c.npz", &["pendulum", "--substeps", "2"]);
    compared(&a, &other, 1, &["part at frame 1", "body ", "ulp"]);
    let scene = recorded(dir.path(), "d.npz", &["rope"]);
    compared(&a, &scene, 2, &["different scenes, `pendulum` and `rope`"]);
    compared(&a, &dir.path().join("absent.npz"), 2, &["absent.npz"]);
}
