//! `taut verify`: the conformance suite.

use serde_json::json;

use super::{Outcome, Session, json as pretty, print};
use crate::{
    args::VerifyArgs,
    progress::Progress,
    record::SCHEMA,
    spec,
    verify::{count, verify_with},
};

pub(crate) fn main(session: &Session<'_>, args: &VerifyArgs) -> anyhow::Result<Outcome> {
    // A label is for rows, which this has none of; who names a backend everywhere alike need not take it off.
    let names: Vec<&str> = args.backends.iter().map(|text| spec::without_label(text)).collect();
    for name in &names {
        session.bench.find(name)?;
    }
    let table = &session.bench.setup.table;
    let progress = Progress::new(count(table, &names) as u64, "checks");
    let report = verify_with(table, &names, session.bench.cancel, &|backend, check| {
        progress.start(&format!("{} {}", backend, check.name));
        progress.advance(1);
    });
    progress.finish();
    if session.common.json {
        let document = json!({
            "schema": SCHEMA,
            "verb": "verify",
            "command": session.command,
            "backends": report.backends,
        });
        print(&pretty(&document)?)?;
    } else {
        print(&report.to_string())?;
    }
    Ok(if session.bench.is_cancelled() {
        Outcome::Interrupted
    } else if report.has_failures() {
        Outcome::CheckFailed
    } else {
        Outcome::Good
    })
}
