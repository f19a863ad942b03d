//! Parameters of the scene and settings of the backends as sliders, switches and choices.

use std::collections::BTreeMap;

use eframe::egui::{CollapsingHeader, ComboBox, DragValue, RichText, Slider, Ui};

use super::{
    desk::{Desk, PaneSubject},
    knobs::{Knob, SettingKnob, knobs},
};

/// Values that are being moved, and the controls of settings in force.
#[derive(Debug, Default)]
pub(super) struct PanelMemory {
    /// By what they belong to, values that are not let go yet.
    moving: BTreeMap<String, f64>,
    /// By pane, settings in force with their controls.
    knobs: BTreeMap<usize, (String, Vec<SettingKnob>)>,
}

/// Shows all of them, and sets what is let go.
pub(super) fn show(ui: &mut Ui, desk: &mut Desk, memory: &mut PanelMemory) {
    parameters(ui, desk, memory);
    for pane in 0..desk.panes.len() {
        settings(ui, desk, memory, pane);
    }
}

fn parameters(ui: &mut Ui, desk: &mut Desk, memory: &mut PanelMemory) {
    let recorded = desk.panes.iter().any(|p| matches!(p.subject, PaneSubject::Recorded(_)));
    if desk.source.parameters.is_empty() || recorded {
        return;
    }
    ui.heading("Scene");
    for (name, value) in desk.source.parameters.clone() {
        let whole = value.fract() == 0.0 && value.abs() >= 1.0;
        if let Some(value) = slider(ui, &format!("scene {name}"), &name, value, whole, memory) {
            desk.set_parameter(&name, value);
        }
    }
    ui.separator();
}

/// A slider of a number; its value once it is let go.
fn slider(
    ui: &mut Ui,
    id: &str,
    name: &str,
    value: f64,
    whole: bool,
    memory: &mut PanelMemory,
) -> Option<f64> {
    let mut now = memory.moving.get(id).copied().unwrap_or(value);
    let response = if value > 0.0 {
        // A decade either way; what is beyond can be typed.
        let range =
            if whole { 1.0_f64.min(value)..=value * 10.0 } else { value / 10.0..=value * 10.0 };
        let slider = Slider::new(&mut now, range).logarithmic(true).text(name);
        let slider = slider.clamping(eframe::egui::SliderClamping::Never);
        ui.add(if whole { slider.integer() } else { slider })
    } else {
        ui.horizontal(|ui| {
            let drag = ui.add(DragValue::new(&mut now).speed(0.01).update_while_editing(false));
            let label = ui.label(name);
            drag.labelled_by(label.id)
        })
        .inner
    };
    if response.changed() {
        memory.moving.insert(id.to_owned(), now);
    }
    let done = response.drag_stopped()
        || response.lost_focus()
        || !response.dragged() && response.changed();
    let moved = memory.moving.get(id).is_some_and(|moved| *moved != value);
    if done {
        memory.moving.remove(id);
    }
    (done && moved).then_some(now)
}

fn settings(ui: &mut Ui, desk: &mut Desk, memory: &mut PanelMemory, pane: usize) {
    let PaneSubject::Live(spec) = &desk.panes[pane].subject else { return };
    let (label, name) = (spec.label.clone(), spec.backend.clone());
    let resolved = desk.board(pane).settings.clone();
    let known = memory.knobs.get(&pane).is_some_and(|(text, _)| *text == resolved);
    if !known && !resolved.is_empty() {
        let backend = desk.setup.table.get(&name);
        let found = backend.map(|b| knobs(&**b, &desk.scene, &resolved)).unwrap_or_default();
        memory.knobs.insert(pane, (resolved, found));
    }
    let all = memory.knobs.get(&pane).map(|(_, all)| all.clone()).unwrap_or_default();
    CollapsingHeader::new(RichText::new(format!("{label} settings")).strong())
        .id_salt(("settings", pane))
        .show(ui, |ui| {
            for knob in all {
                if let Some(value) = setting(ui, pane, &knob, memory) {
                    desk.set_setting(pane, &knob.key, &value);
                }
            }
            let board = desk.board(pane);
            if board.over && !board.reason.is_empty() {
                ui.label(RichText::new(&board.reason).color(ui.visuals().error_fg_color));
            }
        });
}

/// The control of a setting; its new value in RON once there is one.
fn setting(
    ui: &mut Ui,
    pane: usize,
    knob: &SettingKnob,
    memory: &mut PanelMemory,
) -> Option<String> {
    let SettingKnob { key, value, knob } = knob;
    match knob {
        Knob::Number(number) => {
            let whole = !value.contains(['.', 'e']);
            let moved = slider(ui, &format!("{pane} {key}"), key, *number, whole, memory)?;
            Some(if whole { format!("{moved:.0}") } else { format!("{moved:?}") })
        }
        Knob::Switch(on) => {
            let mut on = *on;
            ui.checkbox(&mut on, key).changed().then(|| on.to_string())
        }
        Knob::Choice(words) => {
            let mut chosen = None;
            ComboBox::from_label(key).selected_text(value.as_str()).show_ui(ui, |ui| {
                for word in words {
                    if ui.selectable_label(word == value, word).clicked() && word != value {
                        chosen = Some(word.clone());
                    }
                }
            });
            chosen
        }
        Knob::Words => {
            ui.label(format!("{key}: {value}"));
            None
        }
    }
}
