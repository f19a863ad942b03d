//! Films of pixels, drawn by the graphics adapter: pages and stills as PNG, and loops.

use anyhow::Context;
use taut_core::Scene;
use taut_draw::{
    apng::{Loop, MOST_BYTES, MOST_FRAMES, RATE},
    bitmap::Bitmap,
    film::last_row,
    list::Sheet,
};

use crate::adapter;

/// Pixels to one of a page in a film: 1600 for its 800.
const FILM_SCALE: f64 = 2.0;
/// A film takes as many colours as fit into so much [bytes].
const FILM_BYTES: usize = 200_000;
/// Width of a small picture [px].
const THUMB_WIDTH: f64 = 520.0;
/// The same of a small picture [bytes].
const THUMB_BYTES: usize = 25_000;

/// A film as PNG.
///
/// # Errors
/// When there is no adapter, which is a `BuildError` with what to do, or when it refuses.
pub(crate) fn film_png(page: Sheet) -> anyhow::Result<Vec<u8>> {
    Ok(painted(page, FILM_SCALE)?.to_indexed_png(FILM_BYTES)?)
}

/// The last row of a film as a small PNG.
///
/// # Errors
/// As [`film_png`].
pub(crate) fn row_png(page: Sheet) -> anyhow::Result<Vec<u8>> {
    let row = last_row(page);
    let scale = THUMB_WIDTH / row.width;
    Ok(painted(row, scale)?.to_indexed_png(THUMB_BYTES)?)
}

/// The only cell of a film as PNG, without anything around it.
///
/// # Errors
/// As [`film_png`].
pub(crate) fn still_png(page: Sheet) -> anyhow::Result<Vec<u8>> {
    let (_, cell) = page.cells.into_iter().next().context("a still of nothing")?;
    let (width, height) = cell.size;
    let still = Sheet { width, height, cells: vec![((0.0, 0.0), cell)], shapes: vec![], ..page };
    Ok(painted(still, 1.0)?.to_png()?)
}

/// Pages as a loop, whose last is what those see who know no loops.
///
/// # Errors
/// As [`film_png`].
pub(crate) fn loop_png(pages: Vec<Sheet>) -> anyhow::Result<Vec<u8>> {
    let mut made: Option<Loop> = None;
    let mut last = None;
    adapter::paint(&mut pages.into_iter(), 1.0, &mut |page| {
        last = Some(page.clone());
        match &mut made {
            Some(made) => made.push(page),
            None => made = Some(Loop::new(page)),
        }
        Ok(())
    })?;
    let (made, last) = made.zip(last).context("a loop of no frames")?;
    Ok(made.encode(&last, MOST_BYTES)?)
}

fn painted(page: Sheet, scale: f64) -> anyhow::Result<Bitmap> {
    let mut painted = None;
    adapter::paint(&mut std::iter::once(page), scale, &mut |page| {
        painted = Some(page);
        Ok(())
    })?;
    painted.context("no page")
}

/// Frames of a loop over so many steps of a scene, with the start and the end: as it was, or faster where it is long.
pub(crate) fn loop_frames(scene: &Scene, steps: u32) -> Vec<u32> {
    let shown = (f64::from(steps) * scene.dt * f64::from(RATE)).round() as usize + 1;
    let last = shown.clamp(2, MOST_FRAMES).min(steps as usize + 1) - 1;
    (0..=last).map(|i| (i as f64 * f64::from(steps) / last.max(1) as f64).round() as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_have_start_and_end_and_at_most_so_many_frames() {
        let scene = |dt| Scene { dt, ..Scene::default() };
        // Two seconds in real time, ten seconds faster, and fewer steps than a loop has frames in that time.
        let shown = loop_frames(&scene(1.0 / 60.0), 120);
        assert_eq!((shown.len(), shown[1], shown[30]), (31, 4, 120));
        let shown = loop_frames(&scene(1.0 / 60.0), 600);
        assert_eq!((shown.len(), shown[0], shown[89]), (90, 0, 600));
        assert_eq!(loop_frames(&scene(1.0), 3), [0, 1, 2, 3]);
    }
}
