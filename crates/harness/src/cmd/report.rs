//! `taut report`: one page of results.

use serde::Serialize;

use super::{Outcome, Session, json, print};
use crate::{
    args::ReportArgs,
    record::SCHEMA,
    report::{ReportOptions, report},
};

/// The `--json` document.
#[derive(Serialize)]
struct ReportDocument {
    schema: u32,
    verb: &'static str,
    files: Vec<String>,
}

pub(crate) fn main(session: &Session<'_>, args: &ReportArgs) -> anyhow::Result<Outcome> {
    let folders = match &args.folders[..] {
        [] => vec![session.root.folder()?.join("results").join("figures")],
        named => named.to_vec(),
    };
    let options =
        ReportOptions { folders: &folders, light: args.light, with: args.with.as_deref() };
    let page = report(session.bench.setup, options)?;
    let mut out = session.out_dir("report")?;
    out.write("report.html", &page)?;
    let files = out.files();
    print(&match session.common.json {
        true => json(&ReportDocument { schema: SCHEMA, verb: "report", files })?,
        false => format!("{}\n", files.join("\n")),
    })?;
    Ok(Outcome::Good)
}
