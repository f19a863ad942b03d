//! Answers a file of pairs, impacts, triangles or meshes: `cargo run --release -p taut-ipc --example pairs -- FILE`.
//!
//! The file is `{"schema":1,"kind":..,"cases":[..]}`, and what is printed is `{"schema":1,"kind":..,"results":[..]}` in
//! the order of the cases, with the names of fields that the file has for its answers. `tests/data/README.md` describes
//! the kinds. What is wrong with a file is told on standard error, with exit code 2.

mod answer;
mod input;
mod mesh;

use std::{
    io::{Write, stdout},
    process::ExitCode,
};

fn run() -> Result<(), String> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(file), None) = (arguments.next(), arguments.next()) else {
        return Err("usage: pairs FILE".to_owned());
    };
    let name = file.to_string_lossy();
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
    let answers = answer::answers(&text).map_err(|error| format!("{name}: {error}"))?;
    // A reader that has seen enough and closes the pipe is no failure of ours.
    let (kind, results) = (&answers["kind"], &answers["results"]);
    let _ = writeln!(stdout().lock(), r#"{{"schema":1,"kind":{kind},"results":{results}}}"#);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
