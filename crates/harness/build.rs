//! Tells the program which compiler built it and from which sources, for the records, and chooses the files that it
//! is built with.

use std::{env, fs, io, path::Path, process::Command};

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = said_by(&rustc, &["--version"]);
    println!("cargo::rustc-env=TAUT_RUSTC={}", version.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=TAUT_REVISION={}", revision().as_deref().unwrap_or("unknown"));
    // By which others find the sources; hosts of repositories take no shorter form.
    let commit = said_by("git", &["rev-parse", "HEAD"]);
    println!("cargo::rustc-env=TAUT_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rerun-if-changed=build.rs");
    let chosen = Path::new(&env::var_os("OUT_DIR").expect("set by Cargo")).join("embedded");
    choose_files(Path::new("../.."), &chosen).expect("scenes and figures are beside the sources");
}

/// Everything that the program is made of, from this crate, but for scenes and figures: each result tells of those by
/// a hash, and what is recorded anew must not make the next record one of changed sources.
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

/// What is on file of a figure, beside its pictures.
const FILED: [&str; 8] = [
    "figure.ron",
    "baseline.csv",
    "baseline-quick.csv",
    "spread.csv",
    "spread-quick.csv",
    "times.csv",
    "verdict.json",
    "verdict-quick.json",
];

/// What says which engines of others there are, for figures that name them.
const NAMED: [&str; 3] = ["backends.ron", "presets.ron", "deviations.ron"];

/// Copies scenes, figures without pictures, and names of engines of the checkout `from` to a folder that holds nothing
/// else then.
fn choose_files(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let copy = |file: &Path| {
        let copied = to.join(file);
        fs::create_dir_all(copied.parent().unwrap_or(to))?;
        fs::copy(from.join(file), copied)
    };
    for folder in ["scenes", "results/figures", "peers"] {
        println!("cargo::rerun-if-changed={}", from.join(folder).display());
        for entry in fs::read_dir(from.join(folder))? {
            let file = Path::new(folder).join(entry?.file_name());
            if file.extension().is_some_and(|extension| extension == "ron") {
                copy(&file)?;
            }
            let kept: &[&str] = if folder == "peers" { &NAMED } else { &FILED };
            for kept in kept.iter().map(|name| file.join(name)) {
                if from.join(&kept).is_file() {
                    copy(&kept)?;
                }
            }
        }
    }
    Ok(())
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
