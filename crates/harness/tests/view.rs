//! The window without a display: its controls by their accessible names move solvers as the runner does, and its
//! panes are drawn as on file in `golden`; `BLESS=1` writes that anew.

use std::{fs, path::PathBuf, thread, time::Duration};

use eframe::egui::{Color32, Key, Rect, Shape, Theme, vec2};
use egui_kittest::{Harness, kittest::Queryable};
use taut::{
    Setup, backends,
    runner::{advance, build},
    view::{ViewWindow, unopened},
};
use taut_core::{Scene, Settings, Solver, State, Step, load::load_file};

/// Frames until the panes of the pictures have moved.
const FRAMES: u32 = 60;

fn scene_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.ron"))
}

/// A window over the pendulum; `None` where there is no adapter and none is required.
fn open(backends: &[&str]) -> Option<Harness<'static, ViewWindow>> {
    let file = scene_file("pendulum");
    match unopened(&Setup::default(), &file.display().to_string(), backends) {
        Ok(window) => {
            let builder = Harness::builder().with_size([1280.0, 800.0]).with_max_steps(64);
            let builder = builder.with_theme(Theme::Light);
            let mut shown = builder.build_ui_state(|ui, w: &mut ViewWindow| w.show(ui), window);
            settle(&mut shown);
            Some(shown)
        }
        Err(error) => {
            assert!(std::env::var_os("TAUT_REQUIRE_GPU").is_none(), "{error:#}");
            None
        }
    }
}

/// Shows the window until no pane works any more.
fn settle(shown: &mut Harness<'_, ViewWindow>) {
    loop {
        let busy = shown.state().desk().is_busy();
        shown.step();
        if !busy {
            return shown.step();
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn click(shown: &mut Harness<'_, ViewWindow>, name: &str) {
    shown.get_by_label(name).click();
    shown.step();
}

/// A solver as the runner has it, with the length and budget of its steps.
fn alone(backend: &str) -> (Scene, Box<dyn Solver>, Step) {
    let scene = load_file(&scene_file("pendulum"), &[]).expect("a scene").scene;
    let table = backends::table();
    let backend = table.get(backend).expect("a backend");
    let mut solver = build(&**backend, &scene, &Settings::default()).expect("it is supported");
    solver.load(&scene.initial_state()).expect("its own state");
    let step = Step { dt: scene.dt, iterations: 10 };
    (scene, solver, step)
}

fn read(solver: &mut dyn Solver) -> State {
    let mut state = State::default();
    solver.read(&mut state).expect("a state");
    state
}

fn same(shown: &Harness<'_, ViewWindow>, pane: usize, expected: &State, what: &str) {
    let found = shown.state().desk().state(pane).expect("a state");
    assert_eq!(found.hash(), expected.hash(), "{what}, pane {pane}");
}

const PAIR: [&str; 2] = ["avbd-cpu", "xpbd-cpu"];

#[test]
fn play_and_step_make_the_frames_of_the_runner() {
    let Some(mut shown) = open(&PAIR) else { return };
    click(&mut shown, "Play");
    assert!(shown.state().desk().is_playing());
    while shown.state().desk().frame() < 4 {
        shown.step();
        thread::sleep(Duration::from_millis(5));
    }
    click(&mut shown, "Pause");
    settle(&mut shown);
    click(&mut shown, "Step");
    settle(&mut shown);
    let frame = shown.state().desk().frame();
    let mut before = Vec::new();
    for (pane, backend) in PAIR.iter().enumerate() {
        let (_, mut solver, step) = alone(backend);
        for at in 0..frame {
            if at + 1 == frame {
                before.push(read(&mut *solver));
            }
            advance(&mut *solver, step).expect("a step");
        }
        same(&shown, pane, &read(&mut *solver), "after Play and Step");
    }
    click(&mut shown, "Back");
    before.iter().enumerate().for_each(|(pane, state)| same(&shown, pane, state, "after Back"));
    click(&mut shown, "Restart");
    settle(&mut shown);
    let (scene, ..) = alone(PAIR[0]);
    same(&shown, 0, &scene.initial_state(), "after Restart");
}

#[test]
fn iterate_shows_what_a_solver_reads_within_a_step() {
    let Some(mut shown) = open(&PAIR) else { return };
    for _ in 0..3 {
        click(&mut shown, "Iterate");
        settle(&mut shown);
    }
    let mut solvers: Vec<_> = PAIR.iter().map(|backend| alone(backend)).collect();
    for (pane, (_, solver, step)) in solvers.iter_mut().enumerate() {
        solver.begin_step(*step).expect("a step");
        (0..3).for_each(|_| solver.iterate().expect("an iterate"));
        same(&shown, pane, &read(&mut **solver), "after three iterates");
    }
    // What is left of the frame is the runner's, too.
    click(&mut shown, "Step");
    settle(&mut shown);
    for (pane, (_, solver, step)) in solvers.iter_mut().enumerate() {
        (3..step.iterations).for_each(|_| solver.iterate().expect("an iterate"));
        solver.end_step().expect("its end");
        same(&shown, pane, &read(&mut **solver), "after the rest of the frame");
    }
}

#[test]
fn pull_pulls_the_same_point_in_all_panes() {
    let Some(mut shown) = open(&["avbd-cpu", "null"]) else { return };
    let load = alone("avbd-cpu").0.bodies.len() - 1;
    let place = shown.state().desk().state(0).expect("a state").bodies[load].position;
    let from = shown.state().place_of(0, &place).expect("a picture");
    click(&mut shown, "Pull");
    shown.hover_at(from);
    shown.drag_at(from);
    shown.step();
    shown.hover_at(from + vec2(0.0, -80.0));
    shown.step();
    shown.step();
    let pulls = shown.state().desk().pulls(0);
    assert_eq!(pulls.len(), 1, "the load is pulled");
    assert!(pulls[0].body == load && pulls[0].force.z > 0.0, "{pulls:?}");
    shown.key_press(Key::Period);
    shown.step();
    settle(&mut shown);
    let (scene, mut solver, step) = alone("avbd-cpu");
    assert!(solver.set_pulls(&pulls));
    advance(&mut *solver, step).expect("a step");
    same(&shown, 0, &read(&mut *solver), "after a pull");
    assert!(shown.query_by_label("cannot be pulled").is_some(), "null says so");
    same(&shown, 1, &State { time_s: scene.dt, ..scene.initial_state() }, "null");
    shown.drop_at(from);
    shown.step();
    settle(&mut shown);
    assert!(shown.state().desk().pulls(0).is_empty());
}

#[test]
fn four_panes_share_one_camera() {
    let Some(mut shown) = open(&["avbd-cpu", "vbd-cpu", "xpbd-cpu", "newton"]) else { return };
    click(&mut shown, "Step");
    settle(&mut shown);
    let point = taut_core::Vec3::new(1.0, 2.0, 3.0);
    let before = shown.state().place_of(3, &point);
    let middle = shown.get_by_label("Pane avbd-cpu").rect().center();
    shown.hover_at(middle);
    shown.drag_at(middle);
    shown.step();
    shown.hover_at(middle + vec2(60.0, 20.0));
    shown.step();
    shown.drop_at(middle);
    shown.step();
    assert_ne!(shown.state().place_of(3, &point), before, "another pane turns along");
    assert!(shown.state().panes_share_a_camera());
}

#[test]
fn a_failed_pane_is_framed() {
    let Some(mut shown) = open(&["avbd-cpu", "xpbd-cpu:mode=iterations"]) else { return };
    let failed = |shown: &Harness<'_, ViewWindow>| shown.state().desk().failure(1);
    while failed(&shown).is_none() {
        assert!(shown.state().desk().frame() < 300, "it falls");
        shown.state_mut().desk_mut().step();
        settle(&mut shown);
    }
    let words = failed(&shown).expect("its verdict");
    assert!(shown.query_by_label_contains(&words).is_some(), "{words} is said");
    assert_eq!(shown.state().desk().failure(0), None);
    for (pane, name, framed) in [(0, "Pane avbd-cpu", false), (1, "Pane xpbd-cpu", true)] {
        let rect = shown.get_by_label_contains(name).rect();
        assert_eq!(has_red_frame(&shown, rect), framed, "pane {pane}");
    }
}

/// Whether a red line was drawn around a rectangle.
fn has_red_frame(shown: &Harness<'_, ViewWindow>, rect: Rect) -> bool {
    let red = Color32::from_rgb(192, 0, 0);
    shown.output().shapes.iter().any(|clipped| match &clipped.shape {
        Shape::Rect(frame) => {
            let off = (frame.rect.min - rect.min).length() + (frame.rect.max - rect.max).length();
            off < 2.0 && frame.stroke.color == red && frame.stroke.width >= 2.0
        }
        _ => false,
    })
}

#[test]
fn two_panes_look_as_on_file() {
    let Some(mut shown) = open(&PAIR) else { return };
    for _ in 0..FRAMES {
        shown.state_mut().desk_mut().step();
        settle(&mut shown);
    }
    for pane in 0..2 {
        let image = shown.state().picture(pane).expect("a picture");
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/golden/view-pendulum-{pane}.png"));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, taut::view::png(image).expect("a file")).expect("written");
        }
        let file = fs::read(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 makes it", path.display()));
        let mut reader = png::Decoder::new(&file[..]).read_info().expect("a PNG");
        let mut bytes = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut bytes).expect("its pixels");
        let size = [info.width as usize, info.height as usize];
        assert_eq!(image.size, size, "pane {pane}");
        let found = image.pixels.iter().map(|pixel| [pixel.r(), pixel.g(), pixel.b()]);
        let pairs: Vec<_> = found.zip(bytes.chunks_exact(3)).collect();
        let apart = pairs.iter().filter(|(a, b)| (0..3).any(|i| a[i].abs_diff(b[i]) > 8)).count();
        assert!(200 * apart <= pairs.len(), "pane {pane}: {apart} of {} pixels", pairs.len());
    }
}

#[test]
fn what_is_seen_is_told_as_commands_and_saved() {
    let Some(mut shown) = open(&["avbd-cpu:order=creation", "X=xpbd-cpu"]) else { return };
    click(&mut shown, "Step");
    settle(&mut shown);
    click(&mut shown, "Copy command");
    shown.step();
    let command = "-b avbd-cpu:order=creation -b X=xpbd-cpu --iterations 10 --substeps 1 --steps 1";
    assert!(shown.query_by_label_contains(command).is_some(), "{command}");
    click(&mut shown, "Save");
    shown.step();
    let folder = std::env::temp_dir().join("taut-view");
    let saved = fs::read_to_string(folder.join("pendulum-000001.ron")).expect("what was saved");
    for part in ["taut draw ", "taut run ", "pendulum-000001-2.png", "from=("] {
        assert!(saved.contains(part), "{part} in {saved}");
    }
    assert!(folder.join("pendulum-000001-2.png").exists());
}

#[test]
fn a_setting_of_another_value_starts_all_panes_anew() {
    let Some(mut shown) = open(&PAIR) else { return };
    click(&mut shown, "Step");
    settle(&mut shown);
    click(&mut shown, "xpbd-cpu settings");
    shown.run_steps(8);
    click(&mut shown, "gyroscopic");
    settle(&mut shown);
    assert_eq!(shown.state().desk().frame(), 0);
    assert!(shown.query_by_label_contains("gyroscopic = false").is_some(), "it is told");
    click(&mut shown, "Step");
    settle(&mut shown);
    let scene = load_file(&scene_file("pendulum"), &[]).expect("a scene").scene;
    let table = backends::table();
    let backend = table.get("xpbd-cpu").expect("a backend");
    let settings = Settings::from_ron("(gyroscopic: false)");
    let mut solver = build(&**backend, &scene, &settings).expect("it is supported");
    solver.load(&scene.initial_state()).expect("its own state");
    advance(&mut *solver, Step { dt: scene.dt, iterations: 10 }).expect("a step");
    same(&shown, 1, &read(&mut *solver), "with another setting");
}
