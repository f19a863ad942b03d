//! Makes the table of shaders from the folder `shaders`, with the constants of files that hold nothing else, and stops
//! the build at one that is wrong.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

extern crate naga;

#[path = "src/check.rs"]
mod check;
#[path = "src/source.rs"]
mod source;

fn main() -> ExitCode {
    match table() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn table() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders");
    let folder = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = Vec::new();
    gather(&folder, &mut files)?;
    files.sort();
    let mut shaders = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let path = file.strip_prefix(&folder).unwrap_or(file);
        shaders.push((path.to_string_lossy().replace('\\', "/"), text, file));
    }
    let read = |path: &str| {
        shaders.iter().find(|(name, ..)| name == path).map(|(_, text, _)| text.as_str())
    };
    let mut code = String::from("&[\n");
    for (path, _, file) in &shaders {
        check::check(&source::Source::assemble(path, &read)?)?;
        let _ = writeln!(code, "    ({path:?}, include_str!({:?})),", file.display().to_string());
    }
    code.push_str("]\n");
    let constants: String =
        shaders.iter().filter_map(|(path, text, _)| module(path, text)).collect();
    let out = env::var("OUT_DIR").map_err(|e| e.to_string())?;
    fs::write(Path::new(&out).join("constants.rs"), constants).map_err(|e| e.to_string())?;
    fs::write(Path::new(&out).join("shaders.rs"), code).map_err(|e| e.to_string())
}

/// The constants of a shader as a module with its name, if it holds numbers of type `u32` and nothing else.
fn module(path: &str, text: &str) -> Option<String> {
    let name = Path::new(path).file_stem()?.to_str()?;
    let mut code = format!("/// The constants of `shaders/{path}`.\npub mod {name} {{\n");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    for line in lines {
        let (name, value) = line.strip_prefix("const ")?.split_once(": u32 = ")?;
        let value: u32 = value.strip_suffix("u;")?.parse().ok()?;
        let _ = writeln!(code, "    /// As there.\n    pub const {name}: u32 = {value};");
    }
    code.push_str("}\n");
    Some(code)
}

/// All WGSL files below a folder; the folders are watched for new ones.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "wgsl") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
