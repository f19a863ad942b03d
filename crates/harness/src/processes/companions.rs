//! Files of RON that name backends, and those beside them: settings that go together, and departures from scenes.

use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use ron::{extensions::Extensions, value::RawValue};
use serde::{Deserialize, de::DeserializeOwned};
use taut_core::audit::{AUDIT_ITEMS, Deviation};
use taut_core::settings::nearest;
use taut_exec::Presets;

use crate::checkout;

/// `presets.ron`: what the setting `preset` stands for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetsFile {
    default: Box<RawValue>,
    best: BestFile,
}

/// The best known for each class of scenes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BestFile {
    joints: Box<RawValue>,
    contacts: Box<RawValue>,
    both: Box<RawValue>,
}

/// `deviations.ron`: where an engine departs from any scene.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviationsFile {
    deviations: Vec<Deviation>,
}

/// Reads a file that has to be there.
pub(super) fn read<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    read_any(file)?.with_context(|| format!("cannot read {}: there is none", file.display()))
}

/// Reads a file, if there is one; a mistake in it has its place, and an unknown key the nearest one.
fn read_any<T: DeserializeOwned>(file: &Path) -> anyhow::Result<Option<T>> {
    let name = file.display();
    let Some(text) = checkout::text(file)? else { return Ok(None) };
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str(&text).map(Some).map_err(|error| {
        let near = match &error.code {
            ron::Error::NoSuchStructField { expected, found, .. } => nearest(found, expected),
            _ => None,
        };
        let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        let (line, column) = (error.span.start.line, error.span.start.col);
        anyhow!("{name}:{line}:{column}: {}{near}", error.code)
    })
}

/// The presets beside a file of backends, where there are any.
pub(super) fn presets(folder: &Path) -> anyhow::Result<Option<Presets>> {
    let file = read_any(&folder.join("presets.ron"))?;
    let Some(PresetsFile { default, best }) = file else { return Ok(None) };
    let text = |raw: Box<RawValue>| raw.get_ron().trim().to_owned();
    Ok(Some(Presets {
        default: text(default),
        best_joints: text(best.joints),
        best_contacts: text(best.contacts),
        best_both: text(best.both),
    }))
}

/// The departures beside a file of backends.
pub(super) fn deviations(folder: &Path) -> anyhow::Result<Vec<Deviation>> {
    let file = folder.join("deviations.ron");
    let Some(DeviationsFile { deviations }) = read_any(&file)? else { return Ok(Vec::new()) };
    for Deviation { item, reason } in &deviations {
        ensure!(
            AUDIT_ITEMS.contains(&item.as_str()),
            "{}: nothing called `{item}` is compared: {}",
            file.display(),
            match nearest(item, AUDIT_ITEMS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", AUDIT_ITEMS.join(", ")),
            }
        );
        ensure!(!reason.trim().is_empty(), "{}: `{item}` has no reason", file.display());
    }
    Ok(deviations)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn companions_are_read_and_their_mistakes_placed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(presets(folder.path()).unwrap(), None);
        assert!(deviations(folder.path()).unwrap().is_empty());
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let best = "best: (joints: (gain: 1), contacts: (), both: (gain: 2))";
        write("presets.ron", &format!("(default: (), {best})"));
        let read = presets(folder.path()).unwrap().unwrap();
        assert_eq!((read.default.as_str(), read.best_joints.as_str()), ("()", "(gain: 1)"));
        write("presets.ron", &format!("(\ndefalt: (), {best})"));
        let told = presets(folder.path()).unwrap_err().to_string();
        assert!(told.contains("presets.ron:2:") && told.contains("`default`"), "{told}");
        write("deviations.ron", r#"(deviations: [(item: "speed_max", reason: "no switch")])"#);
        assert_eq!(deviations(folder.path()).unwrap().len(), 1);
        let told = |text: &str| {
            write("deviations.ron", text);
            deviations(folder.path()).unwrap_err().to_string()
        };
        let near = told(r#"(deviations: [(item: "speed_mix", reason: "x")])"#);
        assert!(near.contains("did you mean `speed_max`?"), "{near}");
        assert!(told(r#"(deviations: [(item: "sleeping", reason: " ")])"#).contains("no reason"));
    }
}
