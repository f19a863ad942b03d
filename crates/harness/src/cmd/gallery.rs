//! `taut gallery`: the generated parts of the front pages.

use anyhow::bail;
use serde::Serialize;

use super::{Outcome, Session, json, list::spliced, print};
use crate::{
    Setup,
    args::GalleryArgs,
    checkout::Checkout,
    figure,
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
    /// Pages, and files of figures, that are not there.
    missing: Vec<String>,
}

pub(crate) fn main(session: &Session<'_>, args: &GalleryArgs) -> anyhow::Result<Outcome> {
    let found = gallery(session.bench.setup, &session.root, args.check)?;
    let stale = !found.changed.is_empty() || !found.missing.is_empty();
    let outcome = if args.check && stale { Outcome::CheckFailed } else { Outcome::Good };
    print(&if session.common.json {
        json(&found)?
    } else {
        let words = if args.check { "is not as `taut gallery` writes it" } else { "written" };
        let changed = found.changed.iter().map(|page| format!("{page}: {words}\n"));
        let missing = found.missing.iter().map(|file| format!("{file}: missing\n"));
        changed.chain(missing).collect()
    })?;
    Ok(outcome)
}

/// Writes the generated parts of the pages; with `check` only finds which are not as they would be.
fn gallery(setup: &Setup, root: &Checkout, check: bool) -> anyhow::Result<GalleryDocument> {
    let folder = root.folder()?;
    let mut found = GalleryDocument {
        schema: SCHEMA,
        verb: "gallery",
        changed: Vec::new(),
        missing: figure::unfiled(root)?,
    };
    for page in PAGES {
        let path = folder.join(page);
        if !path.is_file() {
            if !check {
                bail!(
                    "no {page}: its text around the tables is written by hand, so bring it back first"
                );
            }
            found.missing.push(page.to_owned());
            continue;
        }
        let (text, fresh) = spliced(setup, root, &path)?;
        if text == fresh {
            continue;
        }
        found.changed.push(page);
        if !check {
            write_atomically(&path, fresh.as_bytes())?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// A checkout with one figure that shows nothing, and both pages.
    fn checkout() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("results/figures/mabd-fig02");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir(dir.path().join("scenes")).unwrap();
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/figures/mabd-fig02");
        for name in ["figure.ron", "verdict.json", "figure.svg", "thumb.png"] {
            fs::copy(own.join(name), folder.join(name)).unwrap();
        }
        for page in PAGES {
            let counts = "<!-- counts:begin -->\n<!-- counts:end -->\n";
            fs::write(dir.path().join(page), counts).unwrap();
        }
        dir
    }

    #[test]
    fn what_is_missing_or_stale_is_named() {
        let dir = checkout();
        let ask = |check| gallery(&Setup::default(), &Checkout::at(dir.path()), check).unwrap();
        assert_eq!(ask(true).changed, PAGES);
        assert_eq!(ask(false).changed, PAGES);
        let now = ask(true);
        assert!(now.changed.is_empty() && now.missing.is_empty(), "{:?}", now.missing);
        let readme = dir.path().join("README.md");
        let counts = fs::read_to_string(&readme).unwrap();
        fs::write(&readme, counts.replace("claims hold", "claims held")).unwrap();
        assert_eq!(ask(true).changed, ["README.md"], "counts are held");
        fs::remove_file(dir.path().join("results/README.md")).unwrap();
        for name in ["verdict.json", "thumb.png"] {
            fs::remove_file(dir.path().join("results/figures/mabd-fig02").join(name)).unwrap();
        }
        let missing =
            ["verdict.json", "thumb.png"].map(|n| format!("results/figures/mabd-fig02/{n}"));
        assert_eq!(ask(true).missing[..2], missing);
        assert_eq!(ask(true).missing[2..], ["results/README.md"]);
        assert!(gallery(&Setup::default(), &Checkout::at(dir.path()), false).is_err());
    }
}
