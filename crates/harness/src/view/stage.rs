//! What panes are drawn with, and what was chosen for all of them.

use std::path::PathBuf;

use eframe::egui::Rect;
use taut_draw::device::Painter;

use super::{
    desk::Desk,
    picked::Picked,
    picture::PanePicture,
    sight::{LinkedCamera, Looks},
};
use crate::film::FilmColour;

/// Width over height of panes that were never drawn.
const ASPECT: f64 = 1.5;

/// The runs, and how they are seen.
pub(super) struct ViewStage {
    pub(super) desk: Desk,
    pub(super) painter: Painter,
    pub(super) pictures: Vec<PanePicture>,
    /// Where each pane was drawn last.
    pub(super) rects: Vec<Rect>,
    pub(super) camera: LinkedCamera,
    pub(super) looks: Looks,
    /// The pane that is shown alone.
    pub(super) alone: Option<usize>,
    pub(super) picked: Option<Picked>,
    /// Whether the pointer pulls at bodies instead of turning the camera.
    pub(super) pulls: bool,
    /// What was last done, in words.
    pub(super) notice: String,
    /// Where pictures are saved.
    pub(super) folder: PathBuf,
    /// The newest frame that the camera has seen in each pane.
    followed: Vec<u32>,
}

impl ViewStage {
    /// Of some runs at their start.
    pub(super) fn new(desk: Desk, painter: Painter, folder: PathBuf) -> Self {
        let panes = desk.panes.len();
        let colour = FilmColour::fitting(&desk.scene);
        Self {
            camera: LinkedCamera::new(&desk.scene, ASPECT),
            looks: Looks { colour, contacts: false, trails: false, ghost: None },
            pictures: (0..panes).map(|_| PanePicture::default()).collect(),
            rects: vec![Rect::ZERO; panes],
            followed: vec![0; panes],
            desk,
            painter,
            alone: None,
            picked: None,
            pulls: false,
            notice: String::new(),
            folder,
        }
    }

    /// Back to the start.
    pub(super) fn restart(&mut self) {
        self.desk.restart();
        self.followed.fill(0);
    }

    /// Frames all motion so far.
    pub(super) fn frame_all(&mut self) {
        let aspect = self.aspect();
        self.camera.frame_all(aspect);
    }

    /// Fits the camera to panes of another size.
    pub(super) fn refit(&mut self) {
        let aspect = self.aspect();
        self.camera.refit(aspect);
    }

    /// Lets the camera see what is new in panes that are fine.
    pub(super) fn follow(&mut self) {
        let mut states = Vec::new();
        for pane in 0..self.desk.panes.len() {
            let Some(shown) = self.desk.shown(pane) else { continue };
            if shown.frame < self.followed[pane] {
                self.followed[pane] = 0;
            }
            if shown.failed.is_none() && shown.frame > self.followed[pane] {
                self.followed[pane] = shown.frame;
                states.push(shown.state);
            }
        }
        if !states.is_empty() {
            let (scene, aspect) = (self.desk.scene.clone(), self.aspect());
            self.camera.follow(&scene, states.iter(), aspect);
        }
    }

    /// Width over height of the panes.
    fn aspect(&self) -> f64 {
        let size = self.rects[self.alone.unwrap_or(0)].size();
        if size.min_elem() > 1.0 { f64::from(size.x / size.y) } else { ASPECT }
    }
}
