//! One pane: its head, its picture, and what the pointer does there.

use eframe::egui::{
    Color32, PointerButton, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};
use taut_draw::colour::{FAILURE, QUIET};

use super::{
    desk::Shown,
    handhold::Handhold,
    picked::{self, Picked},
    picture::{PictureKey, SharedState},
    sight::{colour32, length, point_at},
    stage::ViewStage,
};
use crate::{plot::colour::style_of, record::metric};

/// Height of the head of a pane in points.
const HEAD: f32 = 38.0;

/// Shows a pane in a rectangle.
pub(super) fn show(stage: &mut ViewStage, ui: &mut Ui, pane: usize, rect: Rect) {
    let Some(shown) = stage.desk.shown(pane) else { return };
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), HEAD));
    ui.scope_builder(UiBuilder::new().max_rect(head), |ui| heading(stage, ui, pane, &shown));
    let picture = Rect::from_min_max(pos2(rect.min.x, rect.min.y + HEAD), rect.max);
    if picture.width() < 8.0 || picture.height() < 8.0 {
        return;
    }
    let resized = stage.rects[pane].size() != picture.size();
    stage.rects[pane] = picture;
    if resized {
        stage.refit();
    }
    let label = stage.desk.panes[pane].subject.label().to_owned();
    let response =
        ui.interact(picture, ui.scope_id().with(("pane", pane)), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Pane {label}")));
    pointer(stage, ui, pane, &response, &shown);
    draw(stage, ui, pane, picture, &shown);
}

fn heading(stage: &ViewStage, ui: &mut Ui, pane: usize, shown: &Shown) {
    let subject = &stage.desk.panes[pane].subject;
    let colour = colour32(style_of(subject.backend()).light);
    let board = stage.desk.board(pane);
    ui.spacing_mut().item_spacing.y = 1.0;
    ui.horizontal(|ui| {
        let (dot, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
        ui.painter().circle_filled(dot.center(), 5.0, colour);
        ui.label(RichText::new(subject.label()).strong().color(colour));
        match &shown.failed {
            Some(words) => {
                let since = board.failed_at_s.map(|at| format!(" since {at:.2} s"));
                let words = format!("× {words}{}", since.unwrap_or_default());
                ui.label(RichText::new(words).strong().color(colour32(FAILURE)))
                    .on_hover_text(&shown.reason);
            }
            None if board.pulled => _ = ui.label("pulled, so not judged"),
            None => _ = ui.label("ok"),
        }
        if board.can_be_pulled == Some(false) && (stage.pulls || stage.desk.hold().is_some()) {
            ui.label(RichText::new("cannot be pulled").color(colour32(FAILURE)));
        }
    });
    let mut facts = vec![format!("{:.3} s", shown.state.time_s), format!("frame {}", shown.frame)];
    if let Some([step, iterate]) = shown.within {
        facts.push(format!("step {} iterate {iterate}", step + 1));
    }
    let measured = board.history.iter().rev().find(|(frame, _)| *frame <= shown.frame);
    let error = measured.and_then(|(_, metrics)| metric(metrics, "joint_error_max_m"));
    facts.extend(error.map(|error| format!("joint error {}", length(error))));
    if let Some(frame_s) = board.frame_s {
        facts.push(format!("{:.2} ms a frame", 1e3 * frame_s));
        if frame_s > stage.desk.scene.dt {
            facts.push(format!("{:.2} x real time", stage.desk.scene.dt / frame_s));
        }
    }
    drop(board);
    ui.label(RichText::new(facts.join(" · ")).size(11.0).weak());
}

/// Turns, moves and zooms the camera; picks; pulls.
fn pointer(stage: &mut ViewStage, ui: &Ui, pane: usize, response: &Response, shown: &Shown) {
    let Some(lens) = stage.pictures[pane].lens() else { return };
    let corner = response.rect.min;
    let local = |at: eframe::egui::Pos2| (f64::from(at.x - corner.x), f64::from(at.y - corner.y));
    let delta = response.drag_delta();
    let delta = [f64::from(delta.x), f64::from(delta.y)];
    let pulls = stage.pulls || ui.input(|input| input.modifiers.shift);
    if response.drag_started_by(PointerButton::Primary) && pulls {
        let at = ui.input(|input| input.pointer.press_origin()).map(local);
        if let Some((at, body)) = at.and_then(|at| Some((at, stage.pictures[pane].body_at(at)?))) {
            let state = &shown.state.bodies[body];
            let point = point_at(&lens, at, &state.position);
            let back = state.frame.try_inverse().unwrap_or_else(|| state.frame.transpose());
            let hold = Handhold { body, local: back * (point - state.position), target: point };
            stage.picked = Some(Picked::Body(body));
            stage.desk.pull(Some(hold));
        }
    }
    if let Some(hold) = stage.desk.hold() {
        if let Some(at) = response.interact_pointer_pos().filter(|_| response.dragged()) {
            let target = point_at(&lens, local(at), &hold.target);
            stage.desk.pull(Some(Handhold { target, ..hold }));
        }
        if response.drag_stopped() {
            stage.desk.pull(None);
        }
    } else if response.dragged_by(PointerButton::Primary) {
        stage.camera.orbit(delta);
    }
    if response.dragged_by(PointerButton::Secondary) || response.dragged_by(PointerButton::Middle) {
        stage.camera.pan(&lens, delta);
    }
    if response.hovered() {
        let scroll = ui.input(|input| input.smooth_scroll_delta());
        if scroll.y != 0.0 {
            stage.camera.zoom((f64::from(scroll.y) * 0.003).exp());
        }
    }
    if let (true, Some(at)) = (response.clicked(), response.interact_pointer_pos()) {
        let (at, body) = (local(at), stage.pictures[pane].body_at(local(at)));
        stage.picked = picked::at(&stage.desk.scene, &shown.state, &lens, at, body);
    }
}

fn draw(stage: &mut ViewStage, ui: &Ui, pane: usize, rect: Rect, shown: &Shown) {
    let trails = match (&stage.picked, stage.looks.trails) {
        (Some(picked), true) => picked::trail(&stage.desk, pane, *picked, shown.frame),
        _ => vec![],
    };
    let ghost = stage.looks.ghost.filter(|own| *own != pane);
    let ghost = ghost.and_then(|ghost| stage.desk.state(ghost)).map(SharedState);
    let key = PictureKey {
        camera: stage.camera.camera,
        size: (f64::from(rect.width()), f64::from(rect.height())),
        scale: f64::from(ui.ctx().pixels_per_point()),
        looks: stage.looks.clone(),
        pane: pane as u32,
        backend: stage.desk.panes[pane].subject.backend().to_owned(),
        picked: stage.picked,
        state: SharedState(shown.state.clone()),
        ghost,
        failed: shown.failed.clone(),
    };
    let scene = stage.desk.scene.clone();
    stage.pictures[pane].update(ui.ctx(), &mut stage.painter, &scene, &trails, key);
    let picture = &stage.pictures[pane];
    if let Some(texture) = &picture.texture {
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(texture.id(), rect, whole, Color32::WHITE);
    }
    if let Some(fault) = &picture.fault {
        let font = eframe::egui::TextStyle::Body.resolve(ui.style());
        let align = eframe::egui::Align2::CENTER_CENTER;
        ui.painter().text(rect.center(), align, fault, font, colour32(FAILURE));
    }
    if let (Some(lens), Some(hold)) = (picture.lens(), stage.desk.hold()) {
        let from = shown.state.bodies[hold.body].point(&hold.local);
        let [from, to] = [from, hold.target].map(|point| {
            let (x, y) = lens.project(&point).at;
            rect.min + vec2(x as f32, y as f32)
        });
        let painter = ui.painter_at(rect);
        painter.line_segment([from, to], Stroke::new(1.5, colour32(FAILURE)));
        painter.circle_filled(to, 3.0, colour32(FAILURE));
    }
    let stroke = match shown.failed {
        Some(_) => Stroke::new(2.0, colour32(FAILURE)),
        None => Stroke::new(1.0, colour32(QUIET)),
    };
    ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
}
