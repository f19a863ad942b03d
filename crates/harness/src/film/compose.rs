//! The page of a film from runs that were kept.

use taut_collide::{ContactSet, Site};
use taut_core::{Scene, State, Vec3};
use taut_draw::{
    camera::{Camera, MotionReach, Projection},
    colour::GAP,
    film::{FilmText, KeyMark, cell_size, film, loop_cell_size, short_length},
    list::{DrawList, Sheet},
    portrait::{Exposure, Manner, Portrait, Touch},
};

use super::{FiledView, FilmOrder, FilmedRun};
use crate::plot::style_of;

/// Gaps that are drawn unless asked otherwise, in heights of the picture.
const GAP_SHARE: f64 = 0.03;

/// What a film is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilmHead {
    /// Name of the view.
    pub(crate) id: String,
    /// Title for readers who cannot see it.
    pub(crate) title: String,
    /// More to be said in the key.
    pub(crate) notes: Vec<String>,
}

/// The film of some runs, in their order, with the reference's outline where there is one, and the view to be kept.
///
/// A view kept before gives the camera again, unless one is named.
pub(crate) fn compose(
    scene: &Scene,
    order: &FilmOrder,
    head: FilmHead,
    runs: (&[FilmedRun], Option<&FilmedRun>),
    kept: Option<&FiledView>,
) -> (Sheet, FiledView) {
    let (text, cells, view) = expose(scene, order, false, head, runs, kept);
    (film(text, cells), view)
}

/// The pages of a loop, a row of cells for each frame, and the view as above.
pub(crate) fn compose_loop(
    scene: &Scene,
    order: &FilmOrder,
    head: FilmHead,
    runs: (&[FilmedRun], Option<&FilmedRun>),
    kept: Option<&FiledView>,
) -> (Vec<Sheet>, FiledView) {
    let (text, cells, view) = expose(scene, order, true, head, runs, kept);
    let rows = cells.chunks(runs.0.len().max(1)).zip(&order.times_s);
    let page = |(row, time_s): (&[DrawList], &f64)| {
        // Of one width, so that only digits change.
        let time = format!("{time_s:.1} s");
        film(FilmText { rows: vec![time], ..text.clone() }, row.to_vec())
    };
    (rows.map(page).collect(), view)
}

/// The cells of a film, row by row, or of a loop, of which one row is seen at a time, and what stands around them.
fn expose(
    scene: &Scene,
    order: &FilmOrder,
    moving: bool,
    head: FilmHead,
    (runs, ghost): (&[FilmedRun], Option<&FilmedRun>),
    kept: Option<&FiledView>,
) -> (FilmText, Vec<DrawList>, FiledView) {
    let reach = reach(scene, runs, ghost);
    // So that a camera that is named anew counts.
    let kept = kept.filter(|_| !order.camera.is_given());
    let aspect = kept.map_or_else(|| order.camera.aspect(&reach), |view| view.aspect);
    let size = order.cell.unwrap_or_else(|| {
        if moving {
            loop_cell_size(runs.len(), aspect)
        } else {
            cell_size(runs.len(), order.frames.len(), aspect)
        }
    });
    let camera = match kept {
        Some(view) => view.camera,
        None => order.camera.camera(&reach, Some(size.0 / size.1)).0,
    };
    let gaps_m = order.gaps_m.unwrap_or_else(|| visible_gap(&camera));
    let mut studio = Studio {
        portrait: Portrait::new(scene),
        contacts: ContactSet::new(scene),
        scene,
        order,
        camera,
        size,
        gaps_m,
    };
    let mut cells = Vec::new();
    for &frame in &order.frames {
        let ghost = ghost.and_then(|run| run.at(frame));
        for (number, run) in runs.iter().enumerate() {
            cells.push(studio.cell(number as u32, run, frame, ghost));
        }
    }
    let view = FiledView {
        id: head.id.clone(),
        camera,
        aspect,
        frames: order.frames.clone(),
        times_s: order.times_s.clone(),
        runs: runs.iter().map(|run| run.label.clone()).collect(),
    };
    let colour = |run: &FilmedRun| style_of(&run.backend).light;
    let text = FilmText {
        title: head.title,
        description: described(scene, order, runs),
        columns: runs.iter().map(|run| (run.label.clone(), colour(run))).collect(),
        rows: order.frames.iter().map(|&frame| time(f64::from(frame) * scene.dt)).collect(),
        colours: order.colour.key(),
        marks: marks(scene, &cells, gaps_m, ghost, &head.notes),
    };
    (text, cells, view)
}

/// What the camera has to see: the reference and the runs that are fine; where none is, all of them.
fn reach(scene: &Scene, runs: &[FilmedRun], ghost: Option<&FilmedRun>) -> MotionReach {
    let fine = |run: &&FilmedRun| run.status == "ok" && run.failed_at_s.is_none();
    let mut chosen: Vec<&FilmedRun> = runs.iter().chain(ghost).filter(fine).collect();
    if chosen.is_empty() {
        chosen = runs.iter().collect();
    }
    let mut reach = MotionReach::new(scene);
    chosen.iter().for_each(|run| reach.join(&run.reach));
    reach
}

/// The gap of a joint that is seen in a picture [m].
pub(crate) fn visible_gap(camera: &Camera) -> f64 {
    let height = match camera.projection {
        Projection::Orthographic { height_m } => height_m,
        Projection::Perspective { fov_deg, distance_m } => {
            2.0 * distance_m * (0.5 * fov_deg.to_radians()).tan()
        }
    };
    one_digit(GAP_SHARE * height)
}

/// What the cells of a film have in common.
struct Studio<'a> {
    portrait: Portrait<'a>,
    contacts: Option<ContactSet>,
    scene: &'a Scene,
    order: &'a FilmOrder,
    camera: Camera,
    size: (f64, f64),
    gaps_m: f64,
}

impl Studio<'_> {
    /// One run after one frame; the last state that there is, where it did not come so far.
    fn cell(
        &mut self,
        number: u32,
        run: &FilmedRun,
        frame: u32,
        ghost: Option<&State>,
    ) -> DrawList {
        let order = self.order;
        let state = run.at(frame).filter(|state| state.is_finite());
        let shown = state.unwrap_or(&run.last);
        let touches = match &mut self.contacts {
            Some(set) if order.contacts || order.colour.needs_contacts() => {
                touches(set, self.scene, shown)
            }
            _ => Vec::new(),
        };
        let time_s = f64::from(frame) * self.scene.dt;
        let failed = run.failed_at_s.is_some_and(|at| time_s > at - 1e-9);
        let ended = state.is_none() && run.status != "ok";
        let moment = Exposure {
            run: number,
            state: shown,
            ghost,
            touches: &touches,
            trails: run.trail(frame),
            failed: (failed || ended).then_some(run.status.as_str()),
            stale: state.is_none(),
        };
        let tint = order.colour.tint(style_of(&run.backend).light);
        let manner = Manner { tint, gaps_m: Some(self.gaps_m), contacts: order.contacts };
        self.portrait.list(self.camera, self.size, &manner, &moment)
    }
}

impl FilmedRun {
    /// The state after a frame.
    fn at(&self, frame: u32) -> Option<&State> {
        self.states.iter().find(|(own, _)| *own == frame).map(|(_, state)| state)
    }

    fn trail(&self, frame: u32) -> &[Vec<taut_core::Vec3>] {
        let found = self.trails.iter().find(|(own, _)| *own == frame);
        found.map_or(&[], |(_, trails)| trails)
    }
}

/// The meaning of the marks that there are.
fn marks(
    scene: &Scene,
    cells: &[DrawList],
    gaps_m: f64,
    ghost: Option<&FilmedRun>,
    notes: &[String],
) -> Vec<KeyMark> {
    let any = |has: &dyn Fn(&DrawList) -> bool| cells.iter().any(has);
    let mut marks = Vec::new();
    if let Some(run) = ghost {
        marks.push(KeyMark::Ghost(run.label.clone()));
    }
    if any(&|cell| cell.lines.iter().any(|line| line.colour == GAP)) {
        marks.push(KeyMark::Gap(format!("joint open by more than {}", short_length(gaps_m))));
    }
    if any(&|cell| cell.border.is_some_and(|(colour, _)| colour == taut_draw::colour::FAILURE)) {
        marks.push(KeyMark::Failed("the run has failed".to_owned()));
    }
    let triangle = |cell: &DrawList| {
        cell.tags.iter().any(|tag| matches!(tag, taut_draw::flat::ItemShape::Polygon { .. }))
    };
    if any(&triangle) {
        marks.push(KeyMark::Gone("is outside the picture".to_owned()));
    }
    if any(&|cell| cell.hatched) {
        let words = "hatched: the last state whose numbers are finite";
        marks.push(KeyMark::Note(words.to_owned()));
    }
    if !scene.springs.is_empty() {
        let words = "springs: darker by strain, 1 % to 100 %";
        marks.push(KeyMark::Note(words.to_owned()));
    }
    marks.extend(notes.iter().cloned().map(KeyMark::Note));
    marks
}

/// What the film shows, for readers who cannot see it.
fn described(scene: &Scene, order: &FilmOrder, runs: &[FilmedRun]) -> String {
    let times: Vec<String> =
        order.frames.iter().map(|&frame| time(f64::from(frame) * scene.dt)).collect();
    let run = |run: &FilmedRun| match run.failed_at_s {
        Some(at) => format!("{} {} from {} on", run.label, run.status, time(at)),
        None => format!("{} {}", run.label, run.status),
    };
    let runs: Vec<String> = runs.iter().map(run).collect();
    format!("{} at {}: {}.", scene.name, times.join(", "), runs.join(", "))
}

/// A time with as many digits as it needs, two behind the point at most.
fn time(seconds: f64) -> String {
    let (value, unit) =
        if seconds > 0.0 && seconds < 0.0995 { (seconds * 1e3, "ms") } else { (seconds, "s") };
    let text = format!("{value:.2}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Rounded to one digit.
fn one_digit(length: f64) -> f64 {
    let power = 10f64.powf(length.log10().floor());
    let digit = (length / power).round();
    // Divided where it is below one: the product with an inexact power would not print as one digit.
    if power < 1.0 { digit / (1.0 / power).round() } else { digit * power }
}

/// Where bodies touch in a state, with normals towards what can move.
pub(crate) fn touches(set: &mut ContactSet, scene: &Scene, state: &State) -> Vec<Touch> {
    set.forget();
    let list = set.detect(state.placements(), &state.broken, 0.0);
    let mut touches = Vec::new();
    for manifold in &list.manifolds {
        for contact in &list.contacts[manifold.range()] {
            touches.push(Touch {
                bodies: manifold.owners.map(|body| body as usize),
                at: place(&contact.sites[0], state),
                normal: if scene.bodies[manifold.owners[0] as usize].is_dynamic() {
                    contact.normal
                } else {
                    -contact.normal
                },
                depth: -contact.gap,
            });
        }
    }
    touches
}

/// Where a site is: on the body as it is drawn, which may be sheared.
fn place(site: &Site, state: &State) -> Vec3 {
    match *site {
        Site::Body { node, anchor } => state.bodies[node as usize].point(&anchor),
        Site::Vertex { .. } | Site::Triangle { .. } | Site::Edge { .. } => {
            let particle = |node: u32| state.particles[node as usize - state.bodies.len()].position;
            site.shares().map(|(node, share)| particle(node) * share).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::{CameraChoice, FilmColour};

    fn view_of(camera: CameraChoice, kept: Option<&FiledView>) -> FiledView {
        let order = FilmOrder {
            frames: vec![0],
            times_s: vec![0.0],
            camera,
            colour: FilmColour::default(),
            gaps_m: None,
            contacts: false,
            trails: Vec::new(),
            cell: None,
        };
        compose(&Scene::default(), &order, FilmHead::default(), (&[], None), kept).1
    }

    /// So that later pictures compare; but who names another camera wants to see by it.
    #[test]
    fn a_kept_view_gives_the_camera_unless_one_is_named() {
        let named = |y: f64| CameraChoice::Between { at: [0.0; 3], from: [3.0, y, 2.0], fov: 30.0 };
        let kept = view_of(named(-4.0), None);
        assert_eq!(view_of(CameraChoice::Auto, Some(&kept)).camera, kept.camera);
        let other = view_of(named(-8.0), Some(&kept));
        assert_ne!(other.camera, kept.camera);
        assert_eq!(other.camera, view_of(named(-8.0), None).camera);
    }
}
