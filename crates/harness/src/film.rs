//! Films of runs: what is kept of them while they are made, and the page that is drawn of it.

mod choice;
mod compose;
mod pixels;
mod replay;

use std::{collections::VecDeque, ops::ControlFlow};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use taut_core::{Scene, State, Vec3};
use taut_draw::camera::{Camera, MotionReach};

pub use self::choice::{CameraChoice, FilmColour};
#[cfg(feature = "view")]
pub(crate) use self::compose::{touches, visible_gap};
pub(crate) use self::{
    compose::{FilmHead, compose, compose_loop},
    pixels::{film_png, loop_frames, loop_png, row_png, still_png},
    replay::{Replayed, replay},
};
use crate::{
    record::RunRow,
    ruler::{Moment, Sample},
    runner::Observer,
};

/// What a film shows, whatever the runs.
#[derive(Clone, Debug)]
pub(crate) struct FilmOrder {
    /// Frames, one for each row.
    pub(crate) frames: Vec<u32>,
    /// Their times [s].
    pub(crate) times_s: Vec<f64>,
    /// From where.
    pub(crate) camera: CameraChoice,
    /// What colours tell.
    pub(crate) colour: FilmColour,
    /// Anchors farther apart than this are joined by a red line [m]; what can be seen unless given.
    pub(crate) gaps_m: Option<f64>,
    /// Whether contacts are drawn.
    pub(crate) contacts: bool,
    /// Bodies whose last second is drawn.
    pub(crate) trails: Vec<usize>,
    /// Width and height of a cell [px]; what fits unless given.
    pub(crate) cell: Option<(f64, f64)>,
}

/// The view of a film as it is kept, so that later pictures compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiledView {
    /// Which of a figure's views it is.
    pub id: String,
    /// Where it is seen from.
    pub camera: Camera,
    /// Width over height of a cell.
    pub aspect: f64,
    /// Its frames.
    pub frames: Vec<u32>,
    /// Their times as they were asked for [s].
    pub times_s: Vec<f64>,
    /// Labels of its columns.
    pub runs: Vec<String>,
}

/// `views.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewsFile {
    /// Version of this file.
    pub schema: u32,
    /// Revision of the program's sources.
    pub revision: String,
    /// The views.
    pub views: Vec<FiledView>,
}

/// Version of `views.json`.
pub(crate) const VIEWS_SCHEMA: u32 = 1;

/// A run with what a film shows of it.
#[derive(Clone, Debug)]
pub(crate) struct FilmedRun {
    /// Its label.
    pub(crate) label: String,
    /// Its backend.
    pub(crate) backend: String,
    /// Its status.
    pub(crate) status: String,
    /// When it failed [s].
    pub(crate) failed_at_s: Option<f64>,
    /// The states asked for, each with its frame.
    pub(crate) states: Vec<(u32, State)>,
    /// Its last state whose numbers are all finite.
    pub(crate) last: State,
    /// What it reaches until it fails.
    pub(crate) reach: MotionReach,
    /// By frame, the paths of bodies in the second before it [m].
    pub(crate) trails: Vec<(u32, Vec<Vec<Vec3>>)>,
}

/// Keeps what a film needs of a run.
pub(crate) struct Cameraman<'a> {
    frames: &'a [u32],
    followed: &'a [usize],
    /// Frames in a second.
    window: usize,
    recent: VecDeque<Vec<Vec3>>,
    states: Vec<(u32, State)>,
    last: State,
    reach: MotionReach,
    trails: Vec<(u32, Vec<Vec<Vec3>>)>,
}

impl<'a> Cameraman<'a> {
    /// For these frames of a scene.
    pub(crate) fn new(scene: &Scene, frames: &'a [u32], followed: &'a [usize]) -> Self {
        let mut own = Self {
            frames,
            followed,
            window: (1.0 / scene.dt).round().clamp(1.0, 1e5) as usize + 1,
            recent: VecDeque::new(),
            states: Vec::new(),
            last: scene.initial_state(),
            reach: MotionReach::new(scene),
            trails: Vec::new(),
        };
        let start = own.last.clone();
        own.see(scene, 0, &start, true);
        own
    }

    /// Looks at a state; what a run does after it failed is no part of the view.
    fn see(&mut self, scene: &Scene, frame: u32, state: &State, fine: bool) {
        if fine {
            self.reach.add(scene, state);
        }
        if state.is_finite() {
            self.last.clone_from(state);
        }
        if self.recent.len() == self.window {
            self.recent.pop_front();
        }
        self.recent.push_back(self.followed.iter().map(|&b| state.bodies[b].position).collect());
        if self.frames.contains(&frame) {
            self.states.push((frame, state.clone()));
            let path = |i: usize| self.recent.iter().map(|places| places[i]).collect();
            self.trails.push((frame, (0..self.followed.len()).map(path).collect()));
        }
    }

    /// The run as it became.
    pub(crate) fn finish(self, row: &RunRow) -> FilmedRun {
        FilmedRun {
            label: row.label.clone(),
            backend: row.backend.clone(),
            status: row.status.name().to_owned(),
            failed_at_s: row.failed_at_s,
            states: self.states,
            last: self.last,
            reach: self.reach,
            trails: self.trails,
        }
    }

    /// A run that was recorded.
    pub(crate) fn replay(mut self, scene: &Scene, run: Replayed) -> FilmedRun {
        for (frame, state) in run.states.iter().filter(|(frame, _)| *frame > 0) {
            let fine = run.failed_at_s.is_none_or(|at| f64::from(*frame) * scene.dt < at);
            self.see(scene, *frame, state, fine);
        }
        FilmedRun {
            label: run.label,
            backend: run.backend,
            status: run.status,
            failed_at_s: run.failed_at_s,
            states: self.states,
            last: self.last,
            reach: self.reach,
            trails: self.trails,
        }
    }
}

impl Observer for Cameraman<'_> {
    fn frame(&mut self, sample: &Sample<'_>, row: &mut RunRow) -> ControlFlow<String> {
        if let Moment::Frame(frame) = sample.moment {
            self.see(sample.scene, frame, sample.state, row.failed_at_s.is_none());
        }
        ControlFlow::Continue(())
    }
}

/// The frames nearest to some times [s].
///
/// # Errors
/// When one is before the start, or no number.
pub(crate) fn frames_at(scene: &Scene, times_s: &[f64]) -> anyhow::Result<Vec<u32>> {
    let frame = |time: &f64| {
        let frame = (time / scene.dt).round();
        if !(0.0..=f64::from(u32::MAX)).contains(&frame) {
            bail!("there is no frame at {time} s: times count from the start of the scene");
        }
        Ok(frame as u32)
    };
    times_s.iter().map(frame).collect()
}

/// The number of a body by its name.
///
/// # Errors
/// When there is none, with the nearest name.
pub(crate) fn body_named(scene: &Scene, name: &str) -> anyhow::Result<usize> {
    let found = scene.bodies.iter().position(|body| body.name == name);
    found.with_context(|| {
        let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
        let near = taut_core::settings::nearest(name, &names);
        let hint = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        format!("no body `{name}` in the scene{hint}")
    })
}
