//! One self-contained page of results: plots, claims, runs and where they come from.
//!
//! It reads only what other verbs have written, so a report of old results needs no run.

mod html;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use html::Html;

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

/// Makes the page of all results in `folders`.
///
/// # Errors
/// When a folder cannot be read or holds nothing to report.
pub fn report(folders: &[PathBuf]) -> anyhow::Result<String> {
    let mut page = Html::new("taut report");
    for folder in folders {
        let mut found = FolderContents::default();
        let top = fs::read_dir(folder);
        drop(top.with_context(|| format!("cannot read {}", folder.display()))?);
        collect(folder, &mut found);
        if found.documents.is_empty() && found.plots.is_empty() {
            bail!("nothing to report in {}: no plots and no result documents", folder.display());
        }
        page.heading(1, &folder.display().to_string());
        for (_, document) in &found.documents {
            write_document(&mut page, document);
        }
        for (plot, picture) in &found.plots {
            page.heading(3, &relative(folder, plot));
            page.svg(picture);
        }
        let names: Vec<String> = found.tables.iter().map(|path| relative(folder, path)).collect();
        page.paragraph(&format!("Data beside this page: {}", names.join(", ")));
        for skipped in &found.skipped {
            page.paragraph(&format!("Left out: {skipped}"));
        }
    }
    Ok(page.finish())
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
    page.heading(2, format!("{verb} {subject}").trim());
    write_runs(page, &document["runs"]);
    for figure in document["figures"].as_array().into_iter().flatten() {
        page.heading(3, &format!("{}: {}", text(&figure["id"]), text(&figure["title"])));
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
    page.table(&["verdict", "claim", "expected", "measured"], &rows);
}

/// How curves compare with their records.
fn write_curves(page: &mut Html, curves: &Value) {
    let Some(curves) = curves.as_array().filter(|curves| !curves.is_empty()) else { return };
    let names = ["change", "panel", "curve", "area", "end", "slope"];
    let row = |curve: &Value| names.iter().map(|name| text(&curve[*name])).collect();
    let rows: Vec<Vec<String>> = curves.iter().map(row).collect();
    page.table(&names, &rows);
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
    page.table(&header, &rows);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_plots_claims_and_runs() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("avbd-fig08");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("figure.svg"), "<svg width=\"1\"></svg>").unwrap();
        fs::write(inner.join("curves.csv"), "panel\n").unwrap();
        let document = serde_json::json!({
            "schema": 1, "verb": "reproduce", "machine": {"cpu": "test <cpu>"},
            "figures": [{
                "id": "avbd-fig08", "title": "t",
                "claims": [{"text": "a < b", "verdict": "deviation", "holds": false, "measured": "2 against 1",
                    "expected": "a below b", "known_deviation": "because"}],
                "runs": [{"label": "A", "backend": "null", "status": "ok", "iterations": 20,
                    "summary": {"joint_error_max_m": 0.5}}]
            }]
        });
        fs::write(dir.path().join("reproduce.json"), document.to_string()).unwrap();
        let page = report(&[dir.path().to_owned()]).unwrap();
        for part in
            ["%3Csvg", "a &lt; b", "deviation", "because", "joint_error_max_m", "curves.csv"]
        {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(page.contains("test &lt;cpu&gt;"));
        let sources = page.matches("src=").count();
        assert_eq!(sources, page.matches("src=\"data:").count(), "nothing from elsewhere");
        assert!(!page.contains("href="));
    }

    #[test]
    fn a_foreign_picture_cannot_run_anything() {
        let dir = tempfile::tempdir().unwrap();
        let evil = "<svg onload=\"alert(1)\"><script>alert(2)</script></svg>\"><script>alert(3)";
        fs::write(dir.path().join("a.svg"), evil).unwrap();
        let page = report(&[dir.path().to_owned()]).unwrap();
        assert!(!page.contains("<script") && !page.contains("onload=\""), "{page}");
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_read_is_left_out_and_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.svg"), "<svg></svg>").unwrap();
        fs::write(dir.path().join("b.svg"), [0xff, 0xfe]).unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("circle")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(dir.path().join("c.svg")).unwrap();
        let page = report(&[dir.path().to_owned()]).unwrap();
        drop(socket);
        for told in ["b.svg: stream did not contain", "c.svg: not a file", "circle: a link to"] {
            assert!(page.contains(told), "{told} in {page}");
        }
        assert_eq!(page.matches("<img").count(), 1);
    }

    #[test]
    fn an_empty_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(report(&[dir.path().to_owned()]).unwrap_err().to_string().contains("nothing"));
        assert!(report(&[dir.path().join("no")]).unwrap_err().to_string().contains("cannot read"));
    }
}
