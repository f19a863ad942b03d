//! `taut check`: load, validate, count.

use std::collections::BTreeMap;

use anyhow::anyhow;
use serde::Serialize;

use super::{Outcome, Session, describe, json, print};
use crate::{
    args::CheckArgs,
    places,
    record::{SCHEMA, SceneCounts},
};

/// The `--json` document.
#[derive(Serialize)]
struct CheckDocument<'a> {
    schema: u32,
    verb: &'static str,
    command: &'a str,
    scenes: &'a [Checked],
}

/// What became of one file.
#[derive(Default, Serialize)]
struct Checked {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<SceneCounts>,
    dt_s: f64,
    steps: u32,
    parameters: BTreeMap<String, f64>,
    warnings: Vec<String>,
}

/// Checks every scene, the good ones after a bad one too.
pub(crate) fn main(session: &Session<'_>, args: &CheckArgs) -> anyhow::Result<Outcome> {
    let scenes: Vec<Checked> =
        args.scenes.iter().map(|scene| check(session, scene, &args.set)).collect();
    if session.common.json {
        let command = &session.command;
        print(&json(&CheckDocument { schema: SCHEMA, verb: "check", command, scenes: &scenes })?)?;
    } else {
        print(&scenes.iter().map(in_words).collect::<String>())?;
    }
    let mut errors: Vec<&String> = scenes.iter().filter_map(|s| s.error.as_ref()).collect();
    let Some(last) = errors.pop() else { return Ok(Outcome::Good) };
    for error in errors {
        eprintln!("taut: error: {error}");
    }
    Err(anyhow!("{last}"))
}

fn check(session: &Session<'_>, scene: &str, set: &[(String, f64)]) -> Checked {
    match places::load(&session.root, scene, set) {
        Err(error) => Checked {
            file: scene.to_owned(),
            error: Some(format!("{error:#}")),
            ..Checked::default()
        },
        Ok((file, loaded)) => Checked {
            file: file.display().to_string(),
            error: None,
            counts: Some(SceneCounts::of(&loaded.scene)),
            dt_s: loaded.scene.dt,
            steps: loaded.scene.steps,
            parameters: loaded.parameters.into_iter().collect(),
            warnings: loaded.warnings,
        },
    }
}

/// The lines of a good scene; a bad one is told on standard error.
fn in_words(scene: &Checked) -> String {
    let Some(counts) = &scene.counts else { return String::new() };
    let mut text = format!(
        "{}: {}; {} steps of {:.4} ms",
        scene.file,
        describe(counts),
        scene.steps,
        1e3 * scene.dt_s
    );
    for (name, value) in &scene.parameters {
        text += &format!("; {name} = {value}");
    }
    text.push('\n');
    for warning in &scene.warnings {
        text += &format!("  warning: {warning}\n");
    }
    text
}
