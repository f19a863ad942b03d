//! `taut redraw`: committed pictures from what is on file.

use serde::Serialize;

use super::{Outcome, Session, json, print};
use crate::{args::RedrawArgs, figure, record::SCHEMA};

/// The `--json` document.
#[derive(Serialize)]
struct RedrawDocument {
    schema: u32,
    verb: &'static str,
    figures: usize,
    /// Files that were drawn again, or would be.
    changed: Vec<String>,
}

pub(crate) fn main(session: &Session<'_>, args: &RedrawArgs) -> anyhow::Result<Outcome> {
    let root = &session.root;
    root.folder()?;
    let ids = if args.all { figure::ids(root)? } else { args.figures.clone() };
    let mut changed = Vec::new();
    for id in &ids {
        changed.extend(figure::redraw(session.bench.setup, root, id, args.check)?);
    }
    let outcome =
        if args.check && !changed.is_empty() { Outcome::CheckFailed } else { Outcome::Good };
    print(&if session.common.json {
        json(&RedrawDocument { schema: SCHEMA, verb: "redraw", figures: ids.len(), changed })?
    } else {
        let verb = if args.check { "differs from what is on file" } else { "drawn" };
        let lines: Vec<String> = changed.iter().map(|file| format!("{file}: {verb}\n")).collect();
        format!(
            "{}{} of {} figures as on file\n",
            lines.concat(),
            ids.len() - figures_of(&changed),
            ids.len()
        )
    })?;
    Ok(outcome)
}

/// How many figures some files belong to.
fn figures_of(files: &[String]) -> usize {
    let mut folders: Vec<&str> =
        files.iter().filter_map(|file| Some(file.rsplit_once('/')?.0)).collect();
    folders.dedup();
    folders.len()
}
