//! A backend outside the tree conforms through the public API alone.

use std::{env, fs, path::Path, process::Command};

/// The same versions of dependencies and the same target folder as the tree's, so that little is
/// compiled anew.
#[test]
#[ignore = "compiles a workspace of its own for a minute; scripts/test runs it"]
fn a_backend_outside_the_tree_conforms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/outside-backend");
    fs::copy(root.join("Cargo.lock"), fixture.join("Cargo.lock")).expect("a lock file");
    let cargo = env::var_os("CARGO").expect("run by cargo");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target/tmp");
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--manifest-path"])
        .arg(fixture.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .output()
        .expect("cargo runs");
    let [printed, errors] =
        [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(output.status.success(), "{printed}\n{errors}");
    assert!(printed.starts_with("drop-cpu: "), "{printed}");
    assert!(printed.contains(" 0 failed, 0 known failures, "), "{printed}");
}
