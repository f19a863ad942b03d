//! `taut view`: a window over runs.

use super::{Outcome, Session};
use crate::args::ViewArgs;

#[cfg(not(feature = "view"))]
pub(crate) fn main(_: &Session<'_>, args: &ViewArgs) -> anyhow::Result<Outcome> {
    anyhow::bail!(
        "`taut view {}` needs the window, which `cargo build --release -p taut --features view` builds in",
        args.subject
    )
}

#[cfg(feature = "view")]
pub(crate) fn main(session: &Session<'_>, args: &ViewArgs) -> anyhow::Result<Outcome> {
    use crate::{
        spec,
        view::{self, Errand, PaneSubject},
    };

    let specs = spec::rows(&args.backends, &args.grid.iterations, &args.grid.substeps)?;
    for spec in &specs {
        session.bench.find(&spec.backend)?;
    }
    let (scene, source, recorded) = view::subject(&session.root, &args.subject, &args.grid.set)?;
    for spec in &specs {
        session.bench.check(&scene, spec)?;
    }
    let live = specs.into_iter().map(PaneSubject::Live);
    let subjects = recorded.into_iter().chain(live).collect();
    let folder = session.common.out.clone().unwrap_or_else(|| "results/local/view".into());
    let errand = Errand::new(args.after, args.screenshot.clone());
    let threads = session.bench.threads();
    view::open(session.bench.setup, threads, (scene, source), subjects, folder, errand)?;
    Ok(Outcome::Good)
}
