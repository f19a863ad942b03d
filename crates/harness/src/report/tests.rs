//! What the page must be, whatever is on file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{ReportOptions, report};
use crate::Setup;

fn of(folders: &[PathBuf]) -> anyhow::Result<String> {
    report(&setup(), ReportOptions { folders, light: false, with: None })
}

/// What figures may name, engines included.
fn setup() -> Setup {
    Setup::default().with_engines(&crate::checkout::Checkout::at(checkout())).unwrap()
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

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
    let page = of(&[dir.path().to_owned()]).unwrap();
    for part in [
        "data:image/svg+xml",
        "a &lt; b",
        "deviation",
        "because",
        "joint_error_max_m",
        "curves.csv",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(page.contains("test &lt;cpu&gt;"));
    asks_for_nothing(&page);
}

/// Everything that the page shows is in it, and every link leads into it.
fn asks_for_nothing(page: &str) {
    for (way, inside) in [(" src=\"", "data:"), (" srcset=\"", "data:")] {
        assert_eq!(page.matches(way).count(), page.matches(&format!("{way}{inside}")).count());
    }
    let links = page.split(" href=\"").skip(1);
    assert!(
        links.into_iter().all(|link| link.starts_with('#') || link.starts_with("data:text/csv"))
    );
    assert!(!page.contains("url(") && !page.contains("@import"));
}

#[test]
fn a_foreign_picture_cannot_run_anything() {
    let dir = tempfile::tempdir().unwrap();
    let evil = "<svg onload=\"alert(1)\"><script>alert(2)</script></svg>\"><script>alert(3)";
    fs::write(dir.path().join("a.svg"), evil).unwrap();
    let page = of(&[dir.path().to_owned()]).unwrap();
    assert!(!page.contains("alert(") && !page.contains("onload=\""));
    assert_eq!(page.matches("<script").count(), 2, "its own");
    assert!(page.contains("default-src 'none'"));
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_left_out_and_told() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.svg"), "<svg></svg>").unwrap();
    fs::write(dir.path().join("b.svg"), [0xff, 0xfe]).unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("circle")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(dir.path().join("c.svg")).unwrap();
    let page = of(&[dir.path().to_owned()]).unwrap();
    drop(socket);
    for told in ["b.svg: stream did not contain", "c.svg: not a file", "circle: a link to"] {
        assert!(page.contains(told), "{told}");
    }
    assert_eq!(page.matches("<img").count(), 1);
}

#[test]
fn an_empty_folder_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert!(of(&[dir.path().to_owned()]).unwrap_err().to_string().contains("nothing"));
    assert!(of(&[dir.path().join("no")]).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn the_page_of_all_figures_is_whole() {
    let figures = checkout().join("results/figures");
    let [page, again] = [(); 2].map(|()| of(std::slice::from_ref(&figures)).unwrap());
    assert!(page == again, "equal files give equal bytes");
    asks_for_nothing(&page);
    let ids = crate::figure::ids(&crate::checkout::Checkout::at(checkout())).unwrap();
    assert_eq!(page.matches("<section class=\"figure\"").count(), ids.len());
    for id in &ids {
        assert!(page.contains(&format!("<section class=\"figure\" id=\"{id}\"")), "{id}");
    }
    // Every link leads somewhere, and no place is there twice.
    let mut places: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|p| p.split('"').next()).collect();
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), count, "ids are there once");
    for link in page.split(" href=\"#").skip(1).filter_map(|p| p.split('"').next()) {
        assert!(places.binary_search(&link).is_ok(), "#{link} leads nowhere");
    }
}

#[test]
fn a_light_page_has_neither_films_nor_tables() {
    let figures = [checkout().join("results/figures")];
    let options = ReportOptions { folders: &figures, light: true, with: Some(&figures[0]) };
    let page = report(&setup(), options).unwrap();
    assert!(!page.contains("<figure class=\"film\"") && !page.contains("data:text/csv"));
    assert!(page.contains("All verdicts and ends of runs are the same there."));
}

#[test]
fn other_verdicts_are_told() {
    let other = tempfile::tempdir().unwrap();
    let own = checkout().join("results/figures");
    let text = fs::read_to_string(own.join("avbd-fig08/verdict.json")).unwrap();
    fs::create_dir(other.path().join("avbd-fig08")).unwrap();
    let changed = text.replacen("\"verdict\": \"holds\"", "\"verdict\": \"fails\"", 1);
    fs::write(other.path().join("avbd-fig08/verdict.json"), changed).unwrap();
    let folders = [own];
    let with = |with| ReportOptions { folders: &folders, light: true, with: Some(with) };
    let page = report(&setup(), with(other.path())).unwrap();
    assert!(page.contains("was `fails`, is `holds`"));
    let empty = tempfile::tempdir().unwrap();
    assert!(report(&setup(), with(empty.path())).is_err());
}
