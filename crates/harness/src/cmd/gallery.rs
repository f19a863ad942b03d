//! `taut gallery`: the generated parts of the front pages.

use serde::Serialize;

use super::{Outcome, Session, json, list::spliced, print};
use crate::{
    args::GalleryArgs,
    places,
    record::{SCHEMA, write_atomically},
};

/// The pages that have generated parts.
const PAGES: [&str; 2] = ["README.md", "results/README.md"];

/// The `--json` document.
#[derive(Serialize)]
struct GalleryDocument {
    schema: u32,
    verb: &'static str,
    /// Pages that were written, or would be.
    changed: Vec<&'static str>,
}

pub(crate) fn main(session: &Session<'_>, args: &GalleryArgs) -> anyhow::Result<Outcome> {
    let root = places::root()?;
    let mut changed = Vec::new();
    for page in PAGES {
        let path = root.join(page);
        let (text, fresh) = spliced(session.bench.setup, &path)?;
        if text == fresh {
            continue;
        }
        changed.push(page);
        if !args.check {
            write_atomically(&path, fresh.as_bytes())?;
        }
    }
    let outcome =
        if args.check && !changed.is_empty() { Outcome::CheckFailed } else { Outcome::Good };
    print(&if session.common.json {
        json(&GalleryDocument { schema: SCHEMA, verb: "gallery", changed })?
    } else {
        let words = if args.check { "is not as `taut gallery` writes it" } else { "written" };
        changed.iter().map(|page| format!("{page}: {words}\n")).collect()
    })?;
    Ok(outcome)
}
