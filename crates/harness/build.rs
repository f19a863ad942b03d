//! Tells the program which compiler built it and from which sources, for the records.

use std::{env, fs, path::Path, process::Command};

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = said_by(&rustc, &["--version"]);
    println!("cargo::rustc-env=TAUT_RUSTC={}", version.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=TAUT_REVISION={}", revision().as_deref().unwrap_or("unknown"));
    println!("cargo::rerun-if-changed=build.rs");
}

/// Everything that the program is made of, from this crate.
const SOURCES: [&str; 4] =
    ["../../crates", "../../shaders", "../../Cargo.toml", "../../Cargo.lock"];

/// The commit of the sources, with `-dirty` where they differ from it; `None` outside a checkout.
fn revision() -> Option<String> {
    let head = said_by("git", &["rev-parse", "--short=12", "HEAD"])?;
    // What is committed and what is compiled may both change without the other.
    watch(&said_by("git", &["rev-parse", "--git-path", "logs/HEAD"])?);
    for crate_folder in fs::read_dir("../../crates").into_iter().flatten().flatten() {
        watch(&crate_folder.path().join("src").to_string_lossy());
        watch(&crate_folder.path().join("Cargo.toml").to_string_lossy());
    }
    SOURCES[1..].iter().for_each(|path| watch(path));
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changed = said_by("git", &[&status[..], &SOURCES].concat());
    Some(if changed.is_some() { format!("{head}-dirty") } else { head })
}

/// Runs this again when a file, or anything in a folder, changes.
fn watch(path: &str) {
    // Cargo takes what is not there for changed, every time.
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// The trimmed output of a program that succeeds and says something.
fn said_by(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
