//! Motion from recordings.

use std::path::Path;

use anyhow::{Context, ensure};
use taut_core::{
    BodyState, Mat3, ParticleState, Scene, State, Vec3, load::load_str, settings::instead,
};
use taut_recording::{CHUNK, Recording};

use crate::record::scene_hash;

/// A recorded run.
#[derive(Clone, Debug)]
pub(crate) struct Replayed {
    /// Its label.
    pub(crate) label: String,
    /// Its backend.
    pub(crate) backend: String,
    /// How it ended.
    pub(crate) status: String,
    /// When it failed [s].
    pub(crate) failed_at_s: Option<f64>,
    /// The recorded states, each with its frame.
    pub(crate) states: Vec<(u32, State)>,
}

impl Replayed {
    /// The recorded frames.
    pub(crate) fn frames(&self) -> impl Iterator<Item = u32> + '_ {
        self.states.iter().map(|(frame, _)| *frame)
    }
}

/// The scene of a recording, with all its runs or those of some labels, in the order of these.
///
/// # Errors
/// When it cannot be read, is of a scene that loads otherwise today, or has no run of a label.
pub(crate) fn replay(path: &Path, labels: &[String]) -> anyhow::Result<(Scene, Vec<Replayed>)> {
    let mut recording = Recording::open(path)?;
    let text = recording.scene_text()?;
    let about = recording.about.clone();
    let parameters: Vec<(String, f64)> = about.parameters.clone().into_iter().collect();
    let mut scene = load_str(&text, &about.scene, &parameters)
        .with_context(|| format!("the scene in {}", path.display()))?
        .scene;
    scene.name.clone_from(&about.scene);
    ensure!(
        scene_hash(&scene)? == about.scene_hash,
        "{}: its scene expands otherwise in this program than in the one that recorded it",
        path.display()
    );
    let all: Vec<&str> = about.runs.iter().map(|run| run.label.as_str()).collect();
    let wanted = if labels.is_empty() {
        (0..all.len()).collect()
    } else {
        let place = |label: &String| {
            all.iter().position(|known| known == label).with_context(|| {
                format!("{}: no run `{label}`: {}", path.display(), instead(label, &all))
            })
        };
        labels.iter().map(place).collect::<anyhow::Result<Vec<usize>>>()?
    };
    let mut runs = Vec::new();
    for run in wanted {
        let row = &about.runs[run];
        runs.push(Replayed {
            label: row.label.clone(),
            backend: row.backend.clone(),
            status: row.status.clone(),
            failed_at_s: row.failed_at_s,
            states: states(&mut recording, &scene, run)?,
        });
    }
    Ok((scene, runs))
}

/// All states of a run.
fn states(
    recording: &mut Recording,
    scene: &Scene,
    run: usize,
) -> anyhow::Result<Vec<(u32, State)>> {
    let steps = recording.array(&format!("runs/{run}/steps.npy"))?.values;
    let (bodies, particles, joints) =
        (scene.bodies.len(), scene.particles.len(), scene.joints.len());
    let mut member = |folder: &str, frame: usize, width: usize| -> anyhow::Result<Vec<f64>> {
        let name = format!("runs/{run}/{folder}/{:05}.npy", frame / CHUNK);
        if width == 0 || !recording.has(&name) {
            return Ok(Vec::new());
        }
        let values = recording.array(&name)?.values;
        let count = CHUNK.min(steps.len() - frame);
        ensure!(
            values.len() == width * count,
            "{name}: {} numbers, not {width} for each of {count} frames",
            values.len()
        );
        Ok(values)
    };
    let mut states = Vec::with_capacity(steps.len());
    for first in (0..steps.len()).step_by(CHUNK) {
        let places = member("bodies", first, 12 * bodies)?;
        let rates = member("velocities", first, 12 * bodies)?;
        let points = member("particles", first, 3 * particles)?;
        let broken = member("broken", first, joints)?;
        ensure!(bodies == 0 || !places.is_empty(), "runs/{run}/bodies is missing");
        for (i, step) in steps[first..].iter().take(CHUNK).enumerate() {
            let body = |b: usize| {
                let at = 12 * (i * bodies + b);
                let rate = rates.get(at..at + 12);
                BodyState {
                    position: Vec3::from_column_slice(&places[at..at + 3]),
                    frame: Mat3::from_column_slice(&places[at + 3..at + 12]),
                    velocity: rate.map_or_else(Vec3::zeros, |r| Vec3::from_column_slice(&r[..3])),
                    frame_rate: rate.map_or_else(Mat3::zeros, |r| Mat3::from_column_slice(&r[3..])),
                }
            };
            let particle = |p: usize| {
                let at = 3 * (i * particles + p);
                let position = points.get(at..at + 3).map(Vec3::from_column_slice);
                ParticleState { position: position.unwrap_or_default(), ..ParticleState::default() }
            };
            let is_broken = |j: usize| broken.get(i * joints + j).is_some_and(|&b| b != 0.0);
            let state = State {
                time_s: step * scene.dt,
                bodies: (0..bodies).map(body).collect(),
                particles: (0..particles).map(particle).collect(),
                broken: (0..joints).map(is_broken).collect(),
            };
            states.push((*step as u32, state));
        }
    }
    Ok(states)
}
