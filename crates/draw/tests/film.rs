//! Cameras that stay, and pages on which nothing covers anything.

use taut_core::{
    Scene, State, Vec3,
    scene::{Body, Endpoint, Joint, JointKind},
};
use taut_draw::{
    camera::{Facing, MotionReach, Projection},
    colour::{ColourSteps, INK},
    film::{CELLS_MAX, ColourKey, FilmText, KeyMark, WIDTH, cell_size, film, short_length},
    flat::{ItemShape, PixelBox},
    list::Sheet,
    portrait::{Exposure, Manner, Portrait, Tint},
    svg,
    text::fonts,
};

fn scene() -> Scene {
    let link = |x: f64| Body::solid_box(Vec3::new(1.0, 0.1, 0.1), 1.0).at(Vec3::new(x, 0.0, 0.0));
    let joint = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
    let joint = joint.anchored(Vec3::zeros(), Vec3::new(-0.5, 0.0, 0.0));
    Scene { bodies: vec![link(0.5), link(1.5)], joints: vec![joint], ..Scene::default() }
}

/// Both bodies on a circle in the xz plane, after a part of a turn.
fn swung(scene: &Scene, turn: f64, out_of_plane: f64) -> State {
    let mut state = scene.initial_state();
    for body in &mut state.bodies {
        let radius = body.position.x;
        body.position = Vec3::new(radius * turn.cos(), out_of_plane * turn, -radius * turn.sin());
    }
    state
}

fn reach(scene: &Scene, out_of_plane: f64) -> MotionReach {
    let mut reach = MotionReach::new(scene);
    for i in 0..=20 {
        reach.add(scene, &swung(scene, 0.1 * f64::from(i), out_of_plane));
    }
    reach
}

#[test]
fn motion_in_a_plane_is_faced_and_other_motion_is_seen_in_depth() {
    let scene = scene();
    let flat = reach(&scene, 0.0).camera(Facing::Fitting, 1.5);
    assert_eq!((flat.azimuth_deg, flat.elevation_deg), (-90.0, 0.0));
    assert!(matches!(flat.projection, Projection::Orthographic { .. }));
    let deep = reach(&scene, 0.4).camera(Facing::Fitting, 1.5);
    assert_eq!((deep.azimuth_deg, deep.elevation_deg), (-60.0, 20.0));
    assert!(matches!(deep.projection, Projection::Perspective { .. }));
    // A fall is in many planes.
    let mut fall = MotionReach::new(&scene);
    for i in 0..10 {
        let mut state = scene.initial_state();
        state.bodies.iter_mut().for_each(|body| body.position.z -= f64::from(i));
        fall.add(&scene, &state);
    }
    let fall = fall.camera(Facing::Fitting, 1.0);
    assert!(matches!(fall.projection, Projection::Perspective { .. }));
}

#[test]
fn everything_is_inside_the_margin_and_nearly_fills_the_picture() {
    let scene = scene();
    for out_of_plane in [0.0, 0.4] {
        for size in [(300.0, 200.0), (150.0, 200.0)] {
            let reach = reach(&scene, out_of_plane);
            let camera = reach.camera(Facing::Fitting, size.0 / size.1);
            let list = taut_draw::list::DrawList::new(camera, size);
            let seen: Vec<(f64, f64)> =
                reach.points().iter().map(|point| list.lens().project(point).at).collect();
            let bounds = PixelBox::around(&seen);
            let margin = 0.05;
            assert!(bounds.left >= margin * size.0 && bounds.right <= (1.0 - margin) * size.0);
            assert!(bounds.top >= margin * size.1 && bounds.bottom <= (1.0 - margin) * size.1);
            let filled =
                ((bounds.right - bounds.left) / size.0).max((bounds.bottom - bounds.top) / size.1);
            assert!(filled > 0.8, "{filled}");
        }
    }
}

#[test]
fn no_camera_depends_on_the_order_of_runs() {
    let scene = scene();
    let runs = [reach(&scene, 0.0), {
        let mut other = MotionReach::new(&scene);
        (0..9).for_each(|i| other.add(&scene, &swung(&scene, 0.25 * f64::from(i), 0.0)));
        other
    }];
    let joined = |order: [usize; 2]| {
        let mut all = MotionReach::new(&scene);
        order.into_iter().for_each(|i| all.join(&runs[i]));
        all.camera(Facing::Fitting, 1.0)
    };
    assert_eq!(joined([0, 1]), joined([1, 0]));
}

/// A film in which everything happens: failed, hatched, with exits on all sides.
fn crowded(columns: usize, rows: usize) -> Sheet {
    fonts().unwrap();
    let scene = scene();
    let size = cell_size(columns, rows, 1.2);
    let camera = reach(&scene, 0.0).camera(Facing::Fitting, size.0 / size.1);
    let portrait = Portrait::new(&scene);
    let steps = ColourSteps { low: 1e-4, high: 1.0 };
    let manner = Manner { tint: Tint::JointError(steps), gaps_m: Some(0.1), contacts: false };
    let mut cells = Vec::new();
    for i in 0..columns * rows {
        let mut state = scene.initial_state();
        let far = [-90.0, 0.0, 123.0][i % 3];
        state.bodies[0].position += Vec3::new(far, 0.0, -12.0 * (i % 4) as f64);
        state.bodies[1].position += Vec3::new(0.0, 0.0, [-55.0, 70.0][i % 2]);
        let moment = Exposure {
            run: 0,
            state: &state,
            ghost: None,
            touches: &[],
            trails: &[],
            failed: (i % 2 == 0).then_some("penetrating"),
            stale: i % 5 == 0,
        };
        cells.push(portrait.list(camera, size, &manner, &moment));
    }
    let text = FilmText {
        title: "t".to_owned(),
        description: String::new(),
        columns: (0..columns).map(|i| (format!("a run with a long name {i}"), INK)).collect(),
        rows: (0..rows).map(|i| format!("{i}.25 s")).collect(),
        colours: Some(ColourKey { name: "joint error".to_owned(), steps, write: short_length }),
        marks: vec![
            KeyMark::Ghost("reference".to_owned()),
            KeyMark::Gap("joint open by more than 0.1 m".to_owned()),
            KeyMark::Failed("the run has failed".to_owned()),
            KeyMark::Gone("is outside the picture".to_owned()),
            KeyMark::Note("hatched: the last state whose numbers are finite".to_owned()),
        ],
    };
    film(text, cells)
}

fn texts(shapes: &[ItemShape]) -> Vec<PixelBox> {
    let text = |shape: &&ItemShape| matches!(shape, ItemShape::Text { .. });
    shapes.iter().filter(text).map(ItemShape::bounds).collect()
}

fn assert_apart(boxes: &[PixelBox], what: &str) {
    for (i, a) in boxes.iter().enumerate() {
        for b in &boxes[i + 1..] {
            assert!(!a.grown(-0.5).overlaps(b), "{what}: {a:?} and {b:?}");
        }
    }
}

#[test]
fn labels_and_tags_overlap_nothing_and_stay_on_the_page() {
    for (columns, rows) in [(1, 1), (2, 3), (3, 2), (5, 5)] {
        let sheet = crowded(columns, rows);
        let page = PixelBox { left: 0.0, top: 0.0, right: sheet.width, bottom: sheet.height };
        let outside = texts(&sheet.shapes);
        assert_apart(&outside, "around the cells");
        for (at, cell) in &sheet.cells {
            let bounds = PixelBox {
                left: at.0,
                top: at.1,
                right: at.0 + cell.size.0,
                bottom: at.1 + cell.size.1,
            };
            assert!(page.contains((bounds.right, bounds.bottom)) && bounds.left >= 0.0);
            assert!(!outside.iter().any(|text| text.overlaps(&bounds)), "a label over a cell");
            let tags: Vec<PixelBox> = cell.tags.iter().map(ItemShape::bounds).collect();
            assert!(!tags.is_empty());
            assert_apart(&tags, "in a cell");
            for tag in tags {
                assert!(tag.left >= 0.0 && tag.right <= cell.size.0, "{tag:?} of {:?}", cell.size);
                assert!(tag.top >= 0.0 && tag.bottom <= cell.size.1, "{tag:?} of {:?}", cell.size);
            }
        }
        for text in outside {
            assert!(
                page.contains((text.left, text.top)) && page.contains((text.right, text.bottom))
            );
        }
    }
}

#[test]
fn cells_have_one_size_and_fit_the_page() {
    for columns in 1..=CELLS_MAX {
        for aspect in [0.05, 0.8, 2.0, 40.0] {
            let (width, height) = cell_size(columns, 5, aspect);
            assert!(
                width * columns as f64 <= WIDTH && height > 0.4 * width && height <= 1.4 * width
            );
        }
    }
}

#[test]
fn equal_films_give_equal_bytes() {
    let [first, second] = [(); 2].map(|()| svg::sheet(&crowded(3, 2)));
    assert_eq!(first, second);
    assert!(first.starts_with("<svg") && first.ends_with("</svg>\n"));
}

#[test]
fn a_small_picture_is_the_last_row_in_the_shape_of_a_card() {
    let film = svg::sheet(&crowded(5, 2));
    let small = svg::last_row(&film).unwrap();
    assert_eq!(small.matches("<svg x=").count(), 5);
    let number = |name: &str| -> f64 {
        let (_, rest) = small.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let aspect = number("width") / number("height");
    assert!((1.0..2.6).contains(&aspect), "{aspect}");
    assert!(svg::last_row("<svg></svg>").is_none());
}
