//! A folder with what verbs have written: plots, claims, runs and where they come from.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use super::html::Html;

/// Everything found in one folder and below.
#[derive(Debug, Default)]
struct FolderContents {
    /// Documents with a `verb`, by path.
    documents: Vec<(PathBuf, Value)>,
    /// Plots, by path, with their text.
    plots: Vec<(PathBuf, String)>,
    /// Tables, by path; too long for a page, so they are only named.
    tables: Vec<PathBuf>,
    /// What could not be read, and why.
    skipped: Vec<String>,
}

/// Writes everything found in `folder`.
///
/// # Errors
/// When the folder cannot be read or holds nothing to report.
pub(super) fn write_folder(page: &mut Html, folder: &Path) -> anyhow::Result<()> {
    let mut found = FolderContents::default();
    let top = fs::read_dir(folder);
    drop(top.with_context(|| format!("cannot read {}", folder.display()))?);
    collect(folder, &mut found);
    if found.documents.is_empty() && found.plots.is_empty() {
        bail!("nothing to report in {}: no plots and no result documents", folder.display());
    }
    page.heading(2, &folder.display().to_string());
    for (_, document) in &found.documents {
        write_document(page, document);
    }
    for (plot, picture) in &found.plots {
        let name = relative(folder, plot);
        page.heading(3, &name);
        page.foreign_svg(picture, &name);
    }
    let names: Vec<String> = found.tables.iter().map(|path| relative(folder, path)).collect();
    page.paragraph(&format!("Data beside this page: {}", names.join(", ")));
    for skipped in &found.skipped {
        page.paragraph(&format!("Left out: {skipped}"));
    }
    Ok(())
}

/// Walks in the order of names, so that equal folders give equal pages. Links to folders are not followed, since
/// they may lead in circles, and what is neither file nor folder is not opened, since it may never answer.
fn collect(folder: &Path, found: &mut FolderContents) {
    let mut paths = Vec::new();
    match fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                match entry {
                    Ok(entry) => paths.push(entry.path()),
                    Err(error) => found.skip(folder, &error.to_string()),
                }
            }
        }
        Err(error) => found.skip(folder, &error.to_string()),
    }
    paths.sort();
    for path in paths {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match (fs::symlink_metadata(&path), fs::metadata(&path)) {
            (Ok(own), _) if own.is_dir() => collect(&path, found),
            (Ok(_), Ok(target)) if target.is_file() => found.read(path.clone(), extension),
            (Ok(_), Ok(target)) if target.is_dir() => found.skip(&path, "a link to a folder"),
            (Ok(_), Ok(_)) if ["svg", "csv", "json"].contains(&extension) => {
                found.skip(&path, "not a file");
            }
            (Ok(_), Ok(_)) => {}
            (Err(error), _) | (_, Err(error)) => found.skip(&path, &error.to_string()),
        }
    }
}

impl FolderContents {
    fn skip(&mut self, path: &Path, why: &str) {
        self.skipped.push(format!("{}: {why}", path.display()));
    }

    fn read(&mut self, path: PathBuf, extension: &str) {
        if extension == "csv" {
            self.tables.push(path);
            return;
        }
        if !["svg", "json"].contains(&extension) {
            return;
        }
        match fs::read_to_string(&path) {
            Err(error) => self.skip(&path, &error.to_string()),
            Ok(text) if extension == "svg" => self.plots.push((path, text)),
            Ok(text) => {
                // Other JSON files may lie here too.
                let document = serde_json::from_str::<Value>(&text).unwrap_or(Value::Null);
                if document.get("verb").is_some() {
                    self.documents.push((path, document));
                }
            }
        }
    }
}

fn relative(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

fn write_document(page: &mut Html, document: &Value) {
    let verb = text(&document["verb"]);
    let subject = document.get("scene").map(subject).unwrap_or_default();
    page.heading(3, format!("{verb} {subject}").trim());
    write_runs(page, &document["runs"]);
    for figure in document["figures"].as_array().into_iter().flatten() {
        page.heading(4, &format!("{}: {}", text(&figure["id"]), text(&figure["title"])));
        write_claims(page, &figure["claims"]);
        write_curves(page, &figure["curves"]);
        write_runs(page, &figure["runs"]);
    }
    for key in ["machine", "scene", "reference", "command", "warnings"] {
        if let Some(value) = document.get(key).filter(|value| !value.is_null()) {
            page.details(key, &serde_json::to_string_pretty(value).unwrap_or_default());
        }
    }
}

/// A scene is a name or an object with one.
fn subject(scene: &Value) -> String {
    scene.get("name").map_or_else(|| text(scene), text)
}

fn write_claims(page: &mut Html, claims: &Value) {
    let Some(claims) = claims.as_array().filter(|claims| !claims.is_empty()) else { return };
    let row = |claim: &Value| {
        let deviation = claim["known_deviation"].as_str();
        let mut measured = text(&claim["measured"]);
        if let Some(why) = deviation {
            measured += &format!(". Known deviation: {why}");
        }
        vec![text(&claim["verdict"]), text(&claim["text"]), text(&claim["expected"]), measured]
    };
    let rows: Vec<Vec<String>> = claims.iter().map(row).collect();
    page.table("Claims", &["verdict", "claim", "expected", "measured"], &rows);
}

/// How curves compare with their records.
fn write_curves(page: &mut Html, curves: &Value) {
    let Some(curves) = curves.as_array().filter(|curves| !curves.is_empty()) else { return };
    let names = ["change", "panel", "curve", "area", "end", "slope"];
    let row = |curve: &Value| names.iter().map(|name| text(&curve[*name])).collect();
    let rows: Vec<Vec<String>> = curves.iter().map(row).collect();
    page.table("Curves against their records", &names, &rows);
}

fn write_runs(page: &mut Html, runs: &Value) {
    let Some(runs) = runs.as_array().filter(|runs| !runs.is_empty()) else { return };
    let mut metrics: Vec<&str> = Vec::new();
    for run in runs {
        for name in run["summary"].as_object().into_iter().flat_map(|map| map.keys()) {
            if !metrics.contains(&name.as_str()) {
                metrics.push(name);
            }
        }
    }
    // The error comes first among the numbers: a wide table hides what is far to the right.
    metrics.sort_by_key(|&name| name != "joint_error_max_m");
    let (first, others) = metrics.split_at(metrics.len().min(1));
    let mut header = vec!["label", "backend", "status"];
    header.extend(first);
    header.extend(["iterations", "substeps", "step time [ms]"]);
    header.extend(others);
    header.push("reason");
    let row = |run: &Value| {
        let summary = |name: &&str| text(&run["summary"][*name]);
        let software = if run["device"] == "software" { ", software" } else { "" };
        let median = run["step_time_s"]["median"].as_f64();
        let mut row: Vec<String> = ["label", "backend"].map(|key| text(&run[key])).into();
        row.push(text(&run["status"]) + software);
        row.extend(first.iter().map(summary));
        row.extend(["iterations", "substeps"].map(|key| text(&run[key])));
        row.push(median.map_or_else(String::new, |s| format!("{:.3}", 1e3 * s)));
        row.extend(others.iter().map(summary));
        row.push(text(&run["reason"]));
        row
    };
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    page.table("Runs", &header, &rows);
}

/// A value as it reads in a table.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            crate::figure::number(number.as_f64().unwrap_or(f64::NAN))
        }
        other => other.to_string(),
    }
}
