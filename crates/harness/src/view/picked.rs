//! What was clicked at: a body or a joint, with its numbers and how they became what they are.

use eframe::egui::{RichText, Ui};
use taut_core::{
    Scene, State, Vec3,
    metrics::{anchors, joint_error_m},
};
use taut_draw::camera::Lens;

use super::{
    chart,
    desk::Desk,
    sight::{colour32, length},
};
use crate::plot::colour::style_of;

/// How near a click is to the joint that is meant, in points.
const NEAR: f64 = 7.0;
/// The most states of a history.
const HISTORY: u32 = 600;

/// A body or a joint by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    Body(usize),
    Joint(usize),
}

/// What is at a point of a picture: a joint where one is near, else the body that is seen.
pub(crate) fn at(
    scene: &Scene,
    state: &State,
    lens: &Lens,
    (x, y): (f64, f64),
    body: Option<usize>,
) -> Option<Picked> {
    let distance = |joint: usize| {
        let ends = anchors(&scene.joints[joint], state).map(|end| lens.project(&end).at);
        ends.map(|(a, b)| (a - x).hypot(b - y)).into_iter().fold(f64::INFINITY, f64::min)
    };
    let nearest = (0..scene.joints.len())
        .map(|joint| (joint, distance(joint)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b));
    match nearest {
        Some((joint, distance)) if distance < NEAR => Some(Picked::Joint(joint)),
        _ => body.map(Picked::Body),
    }
}

/// Name of what is picked, or its number where it has none.
fn name(scene: &Scene, picked: Picked) -> String {
    let (kind, number, name) = match picked {
        Picked::Body(body) => ("body", body, &scene.bodies[body].name),
        Picked::Joint(joint) => ("joint", joint, &scene.joints[joint].name),
    };
    if name.is_empty() { format!("{kind} {number}") } else { format!("{kind} {name}") }
}

/// The number of what is picked that has a history: speed [m/s] or error [m].
fn number(scene: &Scene, state: &State, picked: Picked) -> Option<f64> {
    match picked {
        Picked::Body(body) => Some(state.bodies[body].velocity.norm()),
        Picked::Joint(joint) => joint_error_m(scene, &scene.joints[joint], state),
    }
}

/// Path of what is picked in the last second before a frame [m].
pub(crate) fn trail(desk: &Desk, pane: usize, picked: Picked, frame: u32) -> Vec<Vec<Vec3>> {
    let Picked::Body(body) = picked else { return vec![] };
    let frames = (1.0 / desk.scene.dt).ceil().clamp(1.0, 1e4) as u32;
    let board = desk.board(pane);
    let places = (frame.saturating_sub(frames)..=frame).filter_map(|at| {
        let (found, state) = board.ring.up_to(at)?;
        (found == at).then(|| state.bodies[body].position)
    });
    vec![places.collect()]
}

/// Shows what is picked in every pane.
pub(super) fn show(ui: &mut Ui, desk: &Desk, picked: &mut Option<Picked>) {
    let Some(what) = *picked else {
        ui.label(RichText::new("Click on a body or a joint for its numbers").weak());
        ui.separator();
        return;
    };
    ui.horizontal(|ui| {
        ui.heading(name(&desk.scene, what));
        if ui.small_button("Let go").clicked() {
            *picked = None;
        }
    });
    let mut curves = Vec::new();
    for (pane, own) in desk.panes.iter().enumerate() {
        let Some(shown) = desk.shown(pane) else { continue };
        let state = &shown.state;
        let words = match what {
            Picked::Body(body) => {
                let motion = &state.bodies[body];
                let [x, y, z] = motion.position.into();
                let speed = motion.velocity.norm();
                format!("({x:.3}, {y:.3}, {z:.3}) m, {speed:.3} m/s")
            }
            Picked::Joint(joint) => match number(&desk.scene, state, what) {
                _ if state.broken[joint] => "broken".to_owned(),
                Some(error) => format!("open by {}", length(error)),
                None => "holds no point".to_owned(),
            },
        };
        let colour = style_of(own.subject.backend()).light;
        ui.label(RichText::new(own.subject.label()).strong().color(colour32(colour)));
        ui.label(words);
        let board = desk.board(pane);
        let first = board.ring.first().max(shown.frame.saturating_sub(HISTORY));
        let points = (first..=shown.frame).filter_map(|at| {
            let (found, state) = board.ring.up_to(at)?;
            let value = number(&desk.scene, state, what).filter(|_| found == at)?;
            Some([state.time_s, value])
        });
        curves.push((own.subject.label().to_owned(), colour, points.collect()));
    }
    let unit = match what {
        Picked::Body(_) => "speed [m/s]",
        Picked::Joint(_) => "error [m]",
    };
    chart::history(ui, unit, curves);
    ui.separator();
}
