//! The window: controls above, panes in a grid, what is picked and set at the right, errors below.

use std::path::PathBuf;

use eframe::egui::{
    self, Button, CentralPanel, ComboBox, Context, Key, Panel, Pos2, Rect, RichText, ScrollArea,
    Sense, Ui, Vec2, vec2,
};
use taut_core::Vec3;
use taut_draw::{colour::STEPS, device::Painter};

use super::{
    chart,
    desk::Desk,
    errand::Errand,
    pane, picked,
    picture::PanePicture,
    save,
    settings_panel::{self, PanelMemory},
    sight::colour32,
    stage::ViewStage,
};
use crate::record::metric_names;

/// Everything that the window shows and remembers.
pub struct ViewWindow {
    stage: ViewStage,
    /// The metric that is drawn below.
    metric: Option<String>,
    memory: PanelMemory,
    errand: Errand,
}

impl ViewWindow {
    /// A window over some runs.
    pub(crate) fn new(desk: Desk, painter: Painter, folder: PathBuf, errand: Errand) -> Self {
        let stage = ViewStage::new(desk, painter, folder);
        Self { stage, metric: None, memory: PanelMemory::default(), errand }
    }

    /// The runs.
    pub fn desk(&self) -> &Desk {
        &self.stage.desk
    }

    /// The runs, to be moved.
    pub fn desk_mut(&mut self) -> &mut Desk {
        &mut self.stage.desk
    }

    /// Shows everything once, and does what controls and time ask for.
    pub fn show(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        if !ctx.egui_wants_keyboard_input() {
            self.keys(&ctx);
        }
        self.stage.desk.tick();
        self.stage.follow();
        Panel::top("controls").show(ui, |ui| self.controls(ui));
        let names = self.metric_names();
        Panel::bottom("errors").default_size(170.0).show(ui, |ui| {
            chart::errors(ui, &self.stage.desk, &names, &mut self.metric);
        });
        Panel::right("side").default_size(270.0).show(ui, |ui| {
            ScrollArea::vertical().show(ui, |ui| {
                picked::show(ui, &self.stage.desk, &mut self.stage.picked);
                settings_panel::show(ui, &mut self.stage.desk, &mut self.memory);
            });
        });
        CentralPanel::default().show(ui, |ui| self.grid(ui));
        self.errand.go_on(&mut self.stage.desk, &ctx);
        if self.stage.desk.is_playing() || self.stage.desk.is_busy() {
            ctx.request_repaint();
        }
    }

    /// Where a point of the world is in the window, in a pane that has been drawn.
    pub fn place_of(&self, pane: usize, point: &Vec3) -> Option<Pos2> {
        let (x, y) = self.stage.pictures[pane].lens()?.project(point).at;
        Some(self.stage.rects[pane].min + vec2(x as f32, y as f32))
    }

    /// The last picture of a pane.
    pub fn picture(&self, pane: usize) -> Option<&egui::ColorImage> {
        self.stage.pictures[pane].image.as_ref()
    }

    /// Whether all panes are drawn by one camera.
    pub fn panes_share_a_camera(&self) -> bool {
        let lenses = || self.stage.pictures.iter().filter_map(PanePicture::lens);
        let towards = lenses().next().map(|lens| (lens.target, lens.towards));
        lenses().all(|lens| Some((lens.target, lens.towards)) == towards)
    }

    fn metric_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for pane in 0..self.stage.desk.panes.len() {
            let board = self.stage.desk.board(pane);
            let last = board.history.last().map(|(_, metrics)| metrics);
            for name in metric_names(last) {
                if !names.iter().any(|own| own == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    fn keys(&mut self, ctx: &Context) {
        let pressed = |key| ctx.input(|input| input.key_pressed(key));
        if pressed(Key::Space) {
            self.stage.desk.toggle();
        }
        if pressed(Key::Period) {
            self.stage.desk.step();
        }
        if pressed(Key::Comma) {
            self.stage.desk.back();
        }
        if pressed(Key::I) {
            self.stage.desk.iterate();
        }
        if pressed(Key::R) {
            self.stage.restart();
        }
        if pressed(Key::F) {
            self.stage.frame_all();
        }
        if pressed(Key::S) {
            save::pictures(&mut self.stage);
        }
        for (pane, key) in [Key::Num1, Key::Num2, Key::Num3, Key::Num4].into_iter().enumerate() {
            if pressed(key) && pane < self.stage.desk.panes.len() {
                self.stage.alone = (self.stage.alone != Some(pane)).then_some(pane);
            }
        }
    }

    fn controls(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            let play = if self.stage.desk.is_playing() { "Pause" } else { "Play" };
            if ui.button(play).on_hover_text("space").clicked() {
                self.stage.desk.toggle();
            }
            if ui.button("Back").on_hover_text("one frame: ,").clicked() {
                self.stage.desk.back();
            }
            if ui.button("Step").on_hover_text("one frame: .").clicked() {
                self.stage.desk.step();
            }
            let iterate = "one iterate, or sub-step where an iterate is one: i";
            if ui.button("Iterate").on_hover_text(iterate).clicked() {
                self.stage.desk.iterate();
            }
            if ui.button("Restart").on_hover_text("r").clicked() {
                self.stage.restart();
            }
            let pull = "drag bodies by a spring; with the shift key at any time";
            let button = Button::new("Pull").selected(self.stage.pulls);
            if ui.add(button).on_hover_text(pull).clicked() {
                self.stage.pulls = !self.stage.pulls;
            }
            if ui.button("Frame all").on_hover_text("f").clicked() {
                self.stage.frame_all();
            }
            ui.separator();
            self.looks(ui);
            ui.separator();
            let copy = "the `taut run` that makes what is seen";
            if ui.button("Copy command").on_hover_text(copy).clicked() {
                let command = self.stage.desk.command();
                self.stage.notice.clone_from(&command);
                ui.ctx().copy_text(command);
            }
            if ui.button("Save").on_hover_text("the panes as pictures: s").clicked() {
                save::pictures(&mut self.stage);
            }
        });
        ui.horizontal_wrapped(|ui| {
            let time =
                format!("{:.3} s, frame {}", self.stage.desk.time_s(), self.stage.desk.frame());
            ui.label(RichText::new(time).strong());
            ui.label(&self.stage.desk.scene.name);
            self.key(ui);
            if let Some(complaint) = &self.stage.desk.complaint {
                ui.label(RichText::new(complaint).color(colour32(taut_draw::colour::FAILURE)));
            }
            ui.label(RichText::new(&self.stage.desk.news).weak());
            ui.label(RichText::new(&self.stage.notice).weak());
        });
    }

    /// What the colours of bodies stand for.
    fn key(&self, ui: &mut Ui) {
        let Some(key) = self.stage.looks.colour.key() else { return };
        ui.separator();
        ui.label(RichText::new(&key.name).weak());
        let bounds = key.steps.bounds();
        for (step, colour) in STEPS.into_iter().enumerate() {
            let (swatch, _) = ui.allocate_exact_size(vec2(14.0, 12.0), Sense::hover());
            ui.painter().rect_filled(swatch, 0.0, colour32(colour));
            if let Some(bound) = bounds.get(step) {
                ui.label(RichText::new((key.write)(*bound)).weak());
            }
        }
    }

    fn looks(&mut self, ui: &mut Ui) {
        let names = ["joint_error", "speed", "penetration", "method", "plain"];
        let name = self.stage.looks.colour.name();
        ComboBox::from_label("Colour").selected_text(name.replace('_', " ")).show_ui(ui, |ui| {
            for choice in names {
                let chosen = ui.selectable_label(choice == name, choice.replace('_', " "));
                if let (true, Ok(colour)) = (chosen.clicked(), choice.parse()) {
                    self.stage.looks.colour = colour;
                }
            }
        });
        ui.checkbox(&mut self.stage.looks.contacts, "Contacts");
        ui.checkbox(&mut self.stage.looks.trails, "Trail of what is picked");
        let labels: Vec<String> =
            self.stage.desk.panes.iter().map(|pane| pane.subject.label().to_owned()).collect();
        let none = "none".to_owned();
        let shown = self.stage.looks.ghost.map_or(&none, |pane| &labels[pane]);
        ComboBox::from_label("Ghost").selected_text(shown.clone()).show_ui(ui, |ui| {
            ui.selectable_value(&mut self.stage.looks.ghost, None, none.clone());
            for (pane, label) in labels.iter().enumerate() {
                ui.selectable_value(&mut self.stage.looks.ghost, Some(pane), label.clone());
            }
        });
    }

    fn grid(&mut self, ui: &mut Ui) {
        let all: Vec<usize> = match self.stage.alone {
            Some(pane) => vec![pane],
            None => (0..self.stage.desk.panes.len()).collect(),
        };
        let columns = if all.len() > 1 { 2 } else { 1 };
        let rows = all.len().div_ceil(columns);
        let room = ui.available_rect_before_wrap();
        const GAP: f32 = 6.0;
        let size = Vec2::new(
            (room.width() - GAP * (columns - 1) as f32) / columns as f32,
            (room.height() - GAP * (rows - 1) as f32) / rows as f32,
        );
        for (place, &number) in all.iter().enumerate() {
            let (column, row) = ((place % columns) as f32, (place / columns) as f32);
            let corner = room.min + vec2(column * (size.x + GAP), row * (size.y + GAP));
            pane::show(&mut self.stage, ui, number, Rect::from_min_size(corner, size));
        }
    }
}

impl eframe::App for ViewWindow {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
    }

    fn clear_color(&self, _visuals: &egui::Visuals) -> [f32; 4] {
        [1.0; 4]
    }
}
