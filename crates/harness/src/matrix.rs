//! Which backend takes which scene, with the reasons where not.

use taut_core::Table;

use crate::{checkout::Checkout, places};

/// Support of every backend for every scene.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) backends: Vec<String>,
    pub(crate) rows: Vec<MatrixRow>,
}

/// One scene: what it is for, and for every backend the reason for not taking it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MatrixRow {
    pub(crate) scene: String,
    pub(crate) about: String,
    pub(crate) refusals: Vec<Option<String>>,
}

impl Matrix {
    /// Asks every backend that comes with the program about every scene of a checkout at default parameters.
    ///
    /// # Errors
    /// When a scene cannot be loaded.
    pub(crate) fn of(table: &Table, root: &Checkout) -> anyhow::Result<Self> {
        let mut rows = Vec::new();
        for scene in places::scene_names(root)? {
            let loaded = places::read(&places::named(root, &scene), &[])?;
            let own = table.iter().filter(|backend| !backend.is_peer());
            let refusals = own.map(|backend| backend.supports(&loaded.scene).err());
            rows.push(MatrixRow {
                about: loaded.scene.about.clone(),
                refusals: refusals.map(|why| why.map(|why| why.to_string())).collect(),
                scene,
            });
        }
        let own = table.iter().filter(|backend| !backend.is_peer());
        Ok(Self { backends: own.map(|backend| backend.info().name.to_string()).collect(), rows })
    }

    /// A Markdown table with numbered reasons below it.
    pub(crate) fn markdown(&self) -> String {
        let mut reasons: Vec<&str> = Vec::new();
        let taken = self.rows.iter().flat_map(|row| &row.refusals).filter(|why| why.is_none());
        let mut out = format!(
            "<details>\n<summary>{} backends, {} scenes: {} of {} pairs run</summary>\n\n",
            self.backends.len(),
            self.rows.len(),
            taken.count(),
            self.backends.len() * self.rows.len()
        );
        out += &format!("| scene | {} |\n", self.backends.join(" | "));
        out += &format!("|---{}|\n", "|---".repeat(self.backends.len()));
        for row in &self.rows {
            out += &format!("| `{}`", row.scene);
            for refusal in &row.refusals {
                match refusal {
                    None => out += " | yes",
                    Some(reason) => {
                        let known = reasons.iter().position(|r| r == reason);
                        let number = known.unwrap_or_else(|| {
                            reasons.push(reason);
                            reasons.len() - 1
                        });
                        out += &format!(" | no ({})", number + 1);
                    }
                }
            }
            out += " |\n";
        }
        for (index, reason) in reasons.iter().enumerate() {
            out += &format!("{}({}) {reason}.\n", if index == 0 { "\n" } else { "" }, index + 1);
        }
        out + "\n</details>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splice::splice;

    #[test]
    fn equal_reasons_share_a_number() {
        let row = |scene: &str, refusals: &[Option<&str>]| MatrixRow {
            scene: scene.to_owned(),
            about: String::new(),
            refusals: refusals.iter().map(|r| r.map(str::to_owned)).collect(),
        };
        let matrix = Matrix {
            backends: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![
                row("rope", &[None, Some("no joints")]),
                row("net", &[Some("no joints"), Some("no springs")]),
            ],
        };
        let expected = "<details>\n<summary>2 backends, 2 scenes: 1 of 4 pairs run</summary>\n\n\
            | scene | a | b |\n|---|---|---|\n| `rope` | yes | no (1) |\n\
            | `net` | no (1) | no (2) |\n\n(1) no joints.\n(2) no springs.\n\n</details>\n";
        assert_eq!(matrix.markdown(), expected);
    }

    #[test]
    fn the_readme_is_up_to_date() {
        let root = Checkout::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let readme = std::fs::read_to_string(root.on_disk("README.md")).unwrap();
        let matrix = Matrix::of(&crate::backends::table(), &root).unwrap();
        let spliced = splice(&readme, "matrix", &matrix.markdown()).unwrap();
        assert!(readme == spliced, "run `cargo run -- list --splice README.md`");
    }
}
