//! Everything that is measured of one state: the ruler of the core, and the contacts of the state
//! by a collision query of its own. No clock runs while it works.

use taut_collide::{Collider, Placement, Style};
use taut_core::{
    Scene, State, Vec3,
    metrics::{self, Ruler},
};

use crate::record::Metrics;

/// The metrics of contacts, in the order in which they are reported after those of the core.
const CONTACT_NAMES: &[&str] = &["penetration_max_m", "penetration_share_max", "contact_count"];

/// Every metric that any scene can have, in the order in which they are reported.
pub fn metric_list() -> impl Iterator<Item = &'static str> {
    metrics::NAMES.iter().chain(CONTACT_NAMES).copied()
}

/// Measures the states of one scene.
#[derive(Debug)]
pub(crate) struct Gauge {
    ruler: Ruler,
    contacts: Option<Touch>,
}

impl Gauge {
    /// A gauge for runs of `scene` that start at `initial`.
    pub(crate) fn new(scene: &Scene, initial: &State) -> Self {
        let contacts = scene.contacts.is_some().then(|| Touch::new(scene));
        Self { ruler: Ruler::new(scene, initial), contacts }
    }

    /// The metrics that apply; `reference` is a trusted state at the same time.
    pub(crate) fn measure(&mut self, state: &State, reference: Option<&State>) -> Metrics {
        let mut metrics = self.ruler.measure(state, reference);
        if let Some(contacts) = &mut self.contacts {
            contacts.measure(state, &mut metrics);
        }
        metrics
    }
}

/// The contacts of a state, found anew from where the bodies are.
#[derive(Debug)]
struct Touch {
    dt: f64,
    collider: Collider,
    placements: Vec<Placement>,
    /// Smallest extent of each body along its own axes [m]; infinite for half-spaces.
    extents: Vec<f64>,
}

impl Touch {
    fn new(scene: &Scene) -> Self {
        let extent = |body: &taut_core::scene::Body| {
            let along = |axis: Vec3| body.shape.support(&axis) + body.shape.support(&-axis);
            [Vec3::x(), Vec3::y(), Vec3::z()].map(along).into_iter().fold(f64::INFINITY, f64::min)
        };
        Self {
            dt: scene.dt,
            collider: Collider::new(scene, Style::Common),
            placements: Vec::with_capacity(scene.bodies.len()),
            extents: scene.bodies.iter().map(extent).collect(),
        }
    }

    fn measure(&mut self, state: &State, metrics: &mut Metrics) {
        self.placements.clear();
        // Only where the bodies are counts, not where they are going.
        let still = |body| {
            let zero = Vec3::zeros();
            Placement { velocity: zero, omega: zero, ..Placement::from(body) }
        };
        self.placements.extend(state.bodies.iter().map(still));
        self.collider.forget();
        let list = self.collider.detect(&self.placements, &state.broken, self.dt);
        let (mut depth, mut share) = (0.0_f64, 0.0_f64);
        for contact in list.contacts.iter().filter(|contact| contact.gap < 0.0) {
            let [a, b] = contact.bodies.map(|body| self.extents[body as usize]);
            depth = depth.max(-contact.gap);
            share = share.max(-contact.gap / a.min(b));
        }
        metrics.push(("penetration_max_m", depth));
        metrics.push(("penetration_share_max", share));
        metrics.push(("contact_count", list.contacts.len() as f64));
    }
}

#[cfg(test)]
mod tests {
    use taut_core::scene::load_str;

    use super::*;
    use crate::record::metric;

    #[test]
    fn penetration_is_that_of_the_state_and_relative_to_the_smaller_body() {
        let text = "(contacts: (margin: 0.01), bodies: [
            body(name: \"ground\", shape: half_space, motion: static),
            body(name: \"low\", shape: box(size: (2, 2, 0.5)), density: 1, position: (0, 0, 0.24)),
            body(name: \"high\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.988)),
        ])";
        let scene = load_str(text, "test", &[]).expect("a good scene").scene;
        let mut state = scene.initial_state();
        let mut gauge = Gauge::new(&scene, &state);
        let mut value = |state: &State, name| metric(&gauge.measure(state, None), name);
        // 10 mm into the ground, half a metre thick; 2 mm into each other.
        assert!((value(&state, "penetration_max_m").unwrap() - 0.01).abs() < 1e-12);
        assert!((value(&state, "penetration_share_max").unwrap() - 0.02).abs() < 1e-12);
        assert_eq!(value(&state, "contact_count"), Some(8.0));
        // Speed makes no penetration.
        state.bodies[2].velocity.z = -100.0;
        assert!((value(&state, "penetration_max_m").unwrap() - 0.01).abs() < 1e-12);
        state.bodies[1].position.z = 0.25;
        state.bodies[2].position.z = 5.0;
        assert!(value(&state, "penetration_max_m").unwrap() < 1e-12);
    }

    #[test]
    fn scenes_without_contact_have_no_such_metric() {
        let text = "(contacts: false, bodies: [body(shape: sphere(radius: 1), mass: 1)])";
        let scene = load_str(text, "test", &[]).expect("a good scene").scene;
        let state = scene.initial_state();
        let metrics = Gauge::new(&scene, &state).measure(&state, None);
        assert!(metrics.iter().all(|(name, _)| !CONTACT_NAMES.contains(name)));
    }

    #[test]
    fn metrics_come_in_the_order_of_the_list() {
        let text = "(bodies: [body(shape: sphere(radius: 1), mass: 1)])";
        let scene = load_str(text, "test", &[]).expect("a good scene").scene;
        let state = scene.initial_state();
        let metrics = Gauge::new(&scene, &state).measure(&state, Some(&state));
        let place = |(name, _): &(&str, f64)| metric_list().position(|known| known == *name);
        let places: Vec<usize> = metrics.iter().map(|m| place(m).expect(m.0)).collect();
        assert!(places.is_sorted(), "{metrics:?}");
        let mut names: Vec<&str> = metric_list().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), metric_list().count());
    }
}
