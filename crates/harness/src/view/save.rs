//! Panes as files: a picture of each, and what it takes to make them again.

use std::fs;

use anyhow::Context;
use serde::Serialize;
use taut_core::Vec3;
use taut_draw::camera::{Camera, Projection};

use super::{picture::png, stage::ViewStage};
use crate::{command_of, record::write_atomically};

/// An angle of view so small that depth hardly shows, as `taut draw` takes no camera without one [deg].
const FLAT_DEG: f64 = 0.5;

/// What the cells of a film share.
const CELLS_WIDTH: f32 = 720.0;

/// What stands beside saved pictures.
#[derive(Debug, Serialize)]
struct SavedView {
    /// Draws the same panes as a film of one row.
    draw: String,
    /// Makes the runs.
    run: String,
    /// Where they are seen from.
    camera: Camera,
    /// The frame.
    frame: u32,
    /// Pictures, in the order of the panes.
    pictures: Vec<String>,
}

/// Saves the picture of every pane, and says where.
pub(super) fn pictures(stage: &mut ViewStage) {
    stage.notice = match write(stage) {
        Ok(said) => said,
        Err(error) => format!("{error:#}"),
    };
}

fn write(stage: &ViewStage) -> anyhow::Result<String> {
    let folder = &stage.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let scene = &stage.desk.scene.name;
    let name = format!("{scene}-{:06}", stage.desk.frame());
    let mut files = Vec::new();
    for (pane, picture) in stage.pictures.iter().enumerate() {
        let Some(image) = &picture.image else { continue };
        let file = format!("{name}-{}.png", pane + 1);
        write_atomically(&folder.join(&file), &png(image)?)?;
        files.push(file);
    }
    let view = SavedView {
        draw: draw_command(stage),
        run: stage.desk.command(),
        camera: stage.camera.camera,
        frame: stage.desk.frame(),
        pictures: files,
    };
    let text = ron::ser::to_string_pretty(&view, ron::ser::PrettyConfig::default())?;
    let beside = folder.join(format!("{name}.ron"));
    write_atomically(&beside, text.as_bytes())?;
    Ok(format!("saved {}", beside.display()))
}

/// The `taut draw` that makes the same pictures.
fn draw_command(stage: &ViewStage) -> String {
    let desk = &stage.desk;
    let camera = stage.camera.camera;
    let [x, y, z] = camera.target_m;
    let [_, _, towards] = camera.axes();
    let at = |[x, y, z]: [f64; 3]| format!("({x},{y},{z})");
    let (fov_deg, distance_m) = match camera.projection {
        Projection::Perspective { fov_deg, distance_m } => (fov_deg, distance_m),
        Projection::Orthographic { height_m } => {
            (FLAT_DEG, 0.5 * height_m / (0.5 * FLAT_DEG.to_radians()).tan())
        }
    };
    let eye = Vec3::new(x, y, z) + towards * distance_m;
    let seen = format!("at={} from={} fov={fov_deg}", at([x, y, z]), at(eye.into()));
    let size = stage.rects[stage.alone.unwrap_or(0)].size();
    let mut words = vec!["draw".to_owned()];
    words.extend(desk.subject_words());
    let frame = desk.frame().to_string();
    let colour = stage.looks.colour.name().to_owned();
    // All cells fit into the width of a film.
    let fits = (CELLS_WIDTH / (size.x * desk.panes.len() as f32)).min(1.0);
    let size = format!("{:.0}x{:.0}", size.x * fits, size.y * fits);
    let rest = [
        "--steps", &frame, "--frames", &frame, "--camera", &seen, "--colour", &colour, "--size",
        &size, "--as", "png",
    ];
    words.extend(rest.map(str::to_owned));
    if stage.looks.contacts {
        words.push("--contacts".to_owned());
    }
    command_of(words.iter().map(String::as_str))
}
