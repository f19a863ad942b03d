//! `taut export`: a scene as other programs read it.

use anyhow::Context;
use taut_core::protocol::SceneForm;

use super::{Outcome, Session, print};
use crate::{
    args::{ExportArgs, SceneFormat},
    places,
};

/// Prints the scene; it goes to a file as any output does.
pub(crate) fn main(session: &Session<'_>, args: &ExportArgs) -> anyhow::Result<Outcome> {
    let (file, loaded) = places::load(&session.root, &args.scene, &args.set)?;
    for warning in &loaded.warnings {
        eprintln!("taut: warning: {}: {warning}", file.display());
    }
    match args.to {
        SceneFormat::Json => {
            let form = SceneForm::from(&loaded.scene);
            let text = serde_json::to_string(&form).context("cannot write the scene")?;
            print(&(text + "\n"))?;
        }
    }
    Ok(Outcome::Good)
}
