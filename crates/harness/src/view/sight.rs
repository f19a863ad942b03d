//! Where panes are seen from, all from one camera, and what of a scene is drawn.

use std::sync::Arc;

use eframe::egui::Color32;
use taut_core::{Scene, State, Vec3};
use taut_draw::{
    camera::{Camera, Facing, Lens, MotionReach, Projection},
    colour::Rgb,
    film::short_length,
    portrait::Touch,
};

use crate::film::FilmColour;

/// Degrees per pixel of a turn.
const TURN: f64 = 0.4;

/// What is drawn beside bodies, and what their colours tell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Looks {
    pub(crate) colour: FilmColour,
    pub(crate) contacts: bool,
    pub(crate) trails: bool,
    /// The pane whose run the others are drawn over.
    pub(crate) ghost: Option<usize>,
}

/// A colour of pictures in the window.
pub(crate) fn colour32((red, green, blue): Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// A length in words, however small.
pub(crate) fn length(metres: f64) -> String {
    if metres < 1e-7 { format!("{metres:.0e} m") } else { short_length(metres) }
}

/// One camera for all panes. It follows the motion until somebody takes it.
#[derive(Debug)]
pub(crate) struct LinkedCamera {
    pub(crate) camera: Camera,
    reach: MotionReach,
    taken: bool,
}

impl LinkedCamera {
    /// Of a scene at its start, in panes of some width over height.
    pub(crate) fn new(scene: &Scene, aspect: f64) -> Self {
        let mut reach = MotionReach::new(scene);
        reach.add(scene, &scene.initial_state());
        Self { camera: reach.camera(Facing::Fitting, aspect), reach, taken: false }
    }

    /// Follows states that are fine.
    pub(crate) fn follow<'a>(
        &mut self,
        scene: &Scene,
        states: impl Iterator<Item = &'a Arc<State>>,
        aspect: f64,
    ) {
        states.for_each(|state| self.reach.add(scene, state));
        self.refit(aspect);
    }

    /// Fits panes of another shape, unless somebody has taken it.
    pub(crate) fn refit(&mut self, aspect: f64) {
        if !self.taken {
            self.camera = self.reach.camera(Facing::Fitting, aspect);
        }
    }

    /// Frames all motion so far, and follows it again.
    pub(crate) fn frame_all(&mut self, aspect: f64) {
        self.taken = false;
        self.refit(aspect);
    }

    /// Turns about what is in the middle by so many pixels.
    pub(crate) fn orbit(&mut self, [right, down]: [f64; 2]) {
        self.taken = true;
        self.camera.azimuth_deg -= TURN * right;
        self.camera.elevation_deg = (self.camera.elevation_deg + TURN * down).clamp(-89.9, 89.9);
    }

    /// Moves along with the picture by so many pixels.
    pub(crate) fn pan(&mut self, lens: &Lens, [right, down]: [f64; 2]) {
        self.taken = true;
        let way = (lens.right * -right + lens.up * down) / lens.scale;
        self.camera.target_m = (Vec3::from(self.camera.target_m) + way).into();
    }

    /// Comes nearer by a factor.
    pub(crate) fn zoom(&mut self, factor: f64) {
        self.taken = true;
        let within = |size: f64| (size / factor).clamp(1e-6, 1e9);
        self.camera.projection = match self.camera.projection {
            Projection::Orthographic { height_m } => {
                Projection::Orthographic { height_m: within(height_m) }
            }
            Projection::Perspective { fov_deg, distance_m } => {
                Projection::Perspective { fov_deg, distance_m: within(distance_m) }
            }
        };
    }
}

/// The point of the world that is seen at a pixel, as deep as another point.
pub(crate) fn point_at(lens: &Lens, (x, y): (f64, f64), as_deep: &Vec3) -> Vec3 {
    let seen = lens.project(as_deep);
    let back = seen.depth - lens.distance.unwrap_or(0.0);
    let (right, up) = (x - 0.5 * lens.size.0, 0.5 * lens.size.1 - y);
    lens.target + (lens.right * right + lens.up * up) / seen.scale - lens.towards * back
}

/// The contacts of a state, where they are asked for.
pub(crate) fn touches_of(scene: &Scene, looks: &Looks, state: &State) -> Vec<Touch> {
    if !(looks.contacts || looks.colour.needs_contacts()) {
        return vec![];
    }
    let set = taut_collide::ContactSet::new(scene);
    set.map_or_else(Vec::new, |mut set| crate::film::touches(&mut set, scene, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_leads_back_to_the_point_seen_there() {
        let at = Vec3::new(1.0, 2.0, 3.0);
        let camera = Camera::between(at, at + Vec3::new(4.0, -10.0, 3.0), 30.0).expect("apart");
        let flat = Camera { projection: Projection::Orthographic { height_m: 4.0 }, ..camera };
        for camera in [camera, flat] {
            let lens = Lens::new(&camera, (300.0, 200.0));
            let point = Vec3::new(0.7, 2.4, 3.3);
            let back = point_at(&lens, lens.project(&point).at, &point);
            assert!((back - point).norm() < 1e-12, "{back}");
        }
    }

    #[test]
    fn a_camera_follows_until_it_is_taken() {
        let mut scene = Scene::default();
        scene.bodies.push(taut_core::scene::Body::solid_box(Vec3::repeat(1.0), 1.0));
        let mut linked = LinkedCamera::new(&scene, 1.5);
        let mut far = scene.initial_state();
        far.bodies[0].position = Vec3::new(0.0, 0.0, -30.0);
        let far = Arc::new(far);
        let start = linked.camera;
        linked.follow(&scene, std::iter::once(&far), 1.5);
        assert_ne!(linked.camera, start);
        linked.orbit([10.0, 0.0]);
        let taken = linked.camera;
        linked.follow(&scene, std::iter::once(&far), 1.5);
        assert_eq!(linked.camera, taken);
        linked.zoom(2.0);
        linked.frame_all(1.5);
        assert_ne!(linked.camera, taken);
    }
}
