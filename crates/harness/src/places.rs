//! Where scenes and figures are found.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use taut_core::{
    load::{Loaded, SceneError, load_file},
    settings::nearest,
};

use crate::overlap;

/// The nearest folder, from the working directory upwards, that has scenes.
///
/// # Errors
/// When there is none.
pub(crate) fn root() -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("no working directory")?;
    let found = here.ancestors().find(|folder| folder.join("scenes").is_dir());
    let found = found.with_context(|| {
        format!("no folder `scenes` in {} or above: run taut in its checkout", here.display())
    })?;
    // A relative path keeps messages and records free of what lies above.
    Ok(if found == here { PathBuf::from(".") } else { found.to_owned() })
}

/// Stems of all scene files, sorted.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn scene_names(root: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join("scenes");
    let entries = fs::read_dir(&folder)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let files = entries.into_iter().map(|entry| entry.path());
    let scenes = files.filter(|file| file.extension().is_some_and(|e| e == "ron"));
    let mut names: Vec<String> =
        scenes.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// The file of a scene given by its path or by its name alone.
///
/// # Errors
/// When there is no such file; names the nearest one.
pub(crate) fn scene_file(argument: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(argument);
    let bare = path.extension().is_none() && path.components().count() == 1;
    if path.exists() && !(bare && path.is_dir()) {
        return Ok(path.to_owned());
    }
    let (names, root) = match root() {
        Ok(root) => (scene_names(&root)?, root),
        Err(error) if bare => return Err(error),
        Err(_) => (Vec::new(), PathBuf::new()),
    };
    let place = |name: &str| {
        let file = root.join("scenes").join(format!("{name}.ron"));
        file.strip_prefix(".").map(Path::to_owned).unwrap_or(file)
    };
    if bare && names.iter().any(|name| name == argument) {
        return Ok(place(argument));
    }
    if path.exists() {
        // A folder: the loader says so.
        return Ok(path.to_owned());
    }
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match nearest(stem, &known) {
        Some(near) if bare => bail!("no scene `{argument}`: did you mean `{near}`?"),
        Some(near) => {
            bail!("no file {argument}: did you mean {}?", place(near).display())
        }
        None if bare => bail!("no scene `{argument}`: `taut list scenes` shows what there is"),
        None => bail!("no file {argument}: `taut list scenes` shows what there is"),
    }
}

/// Loads a scene given by path or name.
///
/// # Errors
/// Those of [`scene_file`] and of the loader.
pub(crate) fn load(argument: &str, set: &[(String, f64)]) -> anyhow::Result<(PathBuf, Loaded)> {
    let file = scene_file(argument)?;
    let loaded = load_checked(&file, set)?;
    Ok((file, loaded))
}

/// Loads a scene file, with what a collision query has to say of it among the warnings.
///
/// # Errors
/// Those of the loader.
pub(crate) fn load_checked(file: &Path, set: &[(String, f64)]) -> Result<Loaded, SceneError> {
    let mut loaded = load_file(file, set)?;
    loaded.warnings.extend(overlap::warnings(&loaded.scene));
    Ok(loaded)
}
