//! Pictures made again from what is on file, without any solver.

use std::fs;

use anyhow::Context;
use taut_draw::svg;

use super::{
    VerdictFile, baseline, filed, folder, load,
    page::page,
    picture::{Drawn, pictures},
    read_verdict, times, views,
};
use crate::{
    Setup,
    checkout::Checkout,
    plot::{self, PictureForm, PlotSpec},
    record::write_atomically,
};

/// What is on file of a figure, as pictures.
///
/// # Errors
/// When a file is missing or cannot be read.
pub fn filed_pictures(
    setup: &Setup,
    root: &Checkout,
    id: &str,
) -> anyhow::Result<(PlotSpec, Option<PlotSpec>)> {
    let figure = load(root, id, setup)?;
    let verdicts: VerdictFile = read_verdict(root, id, false)?.with_context(|| {
        format!("`{id}` has no verdict on file: `taut reproduce {id} --bless` makes one")
    })?;
    let curves = baseline::read(&filed(root, id, "baseline.csv"))?.unwrap_or_default();
    let times = times::read(root, id)?;
    let drawn = Drawn { figure: &figure, curves: &curves, times: &times, verdicts: &verdicts };
    Ok(pictures(drawn))
}

/// Writes what is committed of a figure beside its records: pictures, thumb and page. With `check` only says which differ. Returns their names.
///
/// # Errors
/// When a file is missing, or cannot be read or written.
pub fn redraw(
    setup: &Setup,
    root: &Checkout,
    id: &str,
    check: bool,
) -> anyhow::Result<Vec<String>> {
    let figure = load(root, id, setup)?;
    let (picture, more) = filed_pictures(setup, root, id)?;
    let mut texts = vec![("figure.svg", plot::to_svg(&picture, PictureForm::Wide)?)];
    if let Some(more) = &more {
        texts.push(("figure-more.svg", plot::to_svg(more, PictureForm::Wide)?));
    }
    if let Some(verdicts) = read_verdict(root, id, false)? {
        texts.push(("README.md", page(root, &figure, &verdicts, more.is_some())));
    }
    if let Some(view) = figure.first_film() {
        // Without the film there is nothing to cut it from, which is said below.
        let film = fs::read_to_string(folder(root, id).join(format!("{}.svg", view.id)));
        texts.extend(film.ok().and_then(|film| Some(("thumb.svg", svg::last_row(&film)?))));
    }
    let mut changed = Vec::new();
    for (name, text) in texts {
        let path = folder(root, id).join(name);
        if !fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
            changed.push(format!("results/figures/{id}/{name}"));
            if !check {
                write_atomically(&path, text.as_bytes())?;
            }
        }
    }
    // Films are made by solvers, so that all that can be done here is to say what is missing.
    let mut undrawn = views::outdated(root, &figure)?;
    let path = folder(root, id).join("thumb.png");
    if figure.first_film().is_some() {
        // That of a film stands in its place, and is made with a film in pixels.
        let in_pixels = figure.thumb(root) == "thumb.png";
        if in_pixels && !path.is_file() {
            undrawn.push("thumb.png".to_owned());
        } else if !in_pixels && path.is_file() {
            changed.push(format!("results/figures/{id}/thumb.png"));
            if !check {
                fs::remove_file(&path)?;
            }
        }
    } else if let Some(panel) = picture.panels.first() {
        let fresh =
            std::env::temp_dir().join(format!("taut-thumb-{}-{id}.png", std::process::id()));
        plot::write_thumb(&fresh, panel)?;
        let drawn = fs::read(&fresh)?;
        fs::remove_file(&fresh)?;
        if fs::read(&path).ok().as_ref() != Some(&drawn) {
            changed.push(format!("results/figures/{id}/thumb.png"));
            if !check {
                write_atomically(&path, &drawn)?;
            }
        }
    }
    for name in undrawn {
        let file = format!("results/figures/{id}/{name}");
        if check {
            changed.push(file);
        } else {
            eprintln!(
                "taut: {file} is missing or of another definition: `taut draw --figure {id}` makes it"
            );
        }
    }
    Ok(changed)
}
