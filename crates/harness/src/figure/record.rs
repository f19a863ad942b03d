//! What is on file of a figure to hold it to: its curves, how they move with their starts, and its verdicts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use taut_core::Table;

use super::{
    Figure, PanelCurves,
    band::{self, CurveSpread},
    baseline, spread,
    verdict::{self, VerdictFile},
};
use crate::{checkout::Checkout, record::write_atomically};

/// Where records are.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPlace<'a> {
    pub(super) root: &'a Checkout,
    /// A folder with one for each figure, in the place of that with the figure's definition.
    pub(super) baseline: Option<&'a Path>,
    /// Whether it is the record of the quick form.
    pub(super) quick: bool,
}

/// The record of one figure.
#[derive(Debug)]
pub(super) struct FigureRecord {
    pub(super) curves: Option<Vec<PanelCurves>>,
    pub(super) spreads: Vec<CurveSpread>,
    pub(super) verdicts: Option<VerdictFile>,
}

impl RecordPlace<'_> {
    /// The names of curves, spreads and verdicts.
    fn names(self) -> [&'static str; 3] {
        let [curves, spreads] = match self.quick {
            true => ["baseline-quick.csv", "spread-quick.csv"],
            false => ["baseline.csv", "spread.csv"],
        };
        [curves, spreads, verdict::file_name(self.quick)]
    }

    /// What is on file.
    ///
    /// # Errors
    /// When a file cannot be read, or is of another schema.
    pub(super) fn read(self, id: &str) -> anyhow::Result<FigureRecord> {
        let on_disk = super::folder(self.root, id);
        // Files of two records do not belong together: that of the program counts where there is none on disk.
        let is_on_disk = self.names().iter().any(|name| on_disk.join(name).is_file());
        let [curves, spreads, verdicts] = self.names().map(|name| match self.baseline {
            Some(folder) => folder.join(id).join(name),
            None if is_on_disk => on_disk.join(name),
            None => super::filed(self.root, id, name),
        });
        Ok(FigureRecord {
            curves: baseline::read(&curves)?,
            spreads: band::read(&spreads)?,
            verdicts: verdict::read_file(&verdicts)?,
        })
    }

    /// Replaces what is on file by curves, how they move from moved starts, if there are any, and verdicts. Returns the
    /// files.
    ///
    /// # Errors
    /// When a file cannot be written, or there is no place for it.
    pub(super) fn write(
        self,
        table: &Table,
        figure: &Figure,
        (curves, moved): (&[PanelCurves], &[Vec<PanelCurves>]),
        verdicts: &VerdictFile,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let folder = match self.baseline {
            Some(folder) => folder.join(&figure.id),
            None => {
                self.root.folder()?;
                super::folder(self.root, &figure.id)
            }
        };
        fs::create_dir_all(&folder)?;
        let paths = self.names().map(|name| folder.join(name));
        write_atomically(&paths[0], baseline::record(table, figure, curves).as_bytes())?;
        if moved.is_empty() {
            // That of older curves says nothing of these.
            let _ = fs::remove_file(&paths[1]);
        } else {
            let spreads = spread::spreads(table, figure, curves, moved);
            write_atomically(&paths[1], band::record(&spreads).as_bytes())?;
        }
        let text = serde_json::to_string_pretty(verdicts)?;
        write_atomically(&paths[2], format!("{text}\n").as_bytes())?;
        Ok(paths.into_iter().filter(|path| path.is_file()).collect())
    }
}
