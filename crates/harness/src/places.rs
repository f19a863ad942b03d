//! How scenes are found and loaded.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use taut_core::{
    load::{Loaded, SceneError, load_file, load_str},
    settings::nearest,
};

use crate::{
    checkout::{Checkout, embedded},
    overlap,
};

/// Stems of all scene files, sorted.
///
/// # Errors
/// When the folder of scenes cannot be read.
pub(crate) fn scene_names(root: &Checkout) -> anyhow::Result<Vec<String>> {
    let names = root.names("scenes");
    let names =
        names.with_context(|| format!("cannot read {}", root.on_disk("scenes").display()))?;
    let stems = names.iter().filter_map(|name| name.strip_suffix(".ron"));
    let mut stems: Vec<String> = stems.map(str::to_owned).collect();
    // A dash comes before the dot of an extension.
    stems.sort();
    Ok(stems)
}

/// The path of a scene's file by its name.
pub(crate) fn named(root: &Checkout, name: &str) -> PathBuf {
    root.path(&format!("scenes/{name}.ron"))
}

/// The file of a scene given by its path or by its name alone.
///
/// # Errors
/// When there is no such file; names the nearest one.
fn scene_file(root: &Checkout, argument: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(argument);
    let bare = path.extension().is_none() && path.components().count() == 1;
    if embedded(path).is_some() || (path.exists() && !(bare && path.is_dir())) {
        return Ok(path.to_owned());
    }
    let names = match scene_names(root) {
        Ok(names) => names,
        Err(error) if bare => return Err(error),
        Err(_) => Vec::new(),
    };
    if bare && names.iter().any(|name| name == argument) {
        return Ok(named(root, argument));
    }
    if path.exists() {
        // A folder: the loader says so.
        return Ok(path.to_owned());
    }
    if bare && root.hides(&format!("scenes/{argument}.ron")) {
        let folder = root.folder()?.display();
        bail!("no scene `{argument}` in {folder}: `--root {folder}` adds those of the program");
    }
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match nearest(stem, &known) {
        Some(near) if bare => bail!("no scene `{argument}`: did you mean `{near}`?"),
        Some(near) => {
            bail!("no file {argument}: did you mean {}?", named(root, near).display())
        }
        None if bare => bail!("no scene `{argument}`: `taut list scenes` shows what there is"),
        None => bail!("no file {argument}: `taut list scenes` shows what there is"),
    }
}

/// Loads a scene given by path or name.
///
/// # Errors
/// Those of [`scene_file`] and of the loader.
pub(crate) fn load(
    root: &Checkout,
    argument: &str,
    set: &[(String, f64)],
) -> anyhow::Result<(PathBuf, Loaded)> {
    let file = scene_file(root, argument)?;
    let loaded = load_checked(&file, set)?;
    Ok((file, loaded))
}

/// Loads a scene file, on disk or in the program, with what a collision query has to say of it among the warnings.
///
/// # Errors
/// Those of the loader.
pub(crate) fn load_checked(file: &Path, set: &[(String, f64)]) -> Result<Loaded, SceneError> {
    let mut loaded = read(file, set)?;
    loaded.warnings.extend(overlap::warnings(&loaded.scene));
    Ok(loaded)
}

/// As [`load_checked`], without the query.
///
/// # Errors
/// Those of the loader.
pub(crate) fn read(file: &Path, set: &[(String, f64)]) -> Result<Loaded, SceneError> {
    let Some(bytes) = embedded(file) else { return load_file(file, set) };
    let name = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let loaded = load_str(&String::from_utf8_lossy(bytes), &name, set);
    loaded.map_err(|error| SceneError { file: file.display().to_string(), ..error })
}
