//! Everything that is measured of one state: the ruler of the core, and the contacts of the state
//! by a collision query of their own. No clock runs while it works.

use taut_collide::metrics::{Probe, contact_residual_max_m, friction_cone_violation_n};
use taut_core::{
    Multipliers, Scene, State,
    metrics::{self, Ruler},
};

use crate::record::Metrics;

/// The metrics of contacts, in the order in which they are reported after those of the core.
const CONTACT_NAMES: &[&str] = &[
    "penetration_max_m",
    "penetration_share_max",
    "contact_count",
    "slip_speed_max_m_s",
    "friction_cone_violation_n",
    "contact_residual_max_m",
];

/// Every metric that any scene can have, in the order in which they are reported.
pub fn metric_list() -> impl Iterator<Item = &'static str> {
    metrics::NAMES.iter().chain(CONTACT_NAMES).copied()
}

/// Measures the states of one scene.
#[derive(Debug)]
pub(crate) struct Gauge {
    scene: Scene,
    ruler: Ruler,
    contacts: Option<Probe>,
}

/// The solver step that led to a state, for what is said of its forces.
pub(crate) struct Taken<'a> {
    /// The forces of the step, where the solver knows them.
    pub(crate) forces: Option<&'a Multipliers>,
    /// Where the step started; `None` where that was not read.
    pub(crate) before: Option<&'a State>,
    /// Its length [s].
    pub(crate) dt: f64,
}

impl Gauge {
    /// A gauge for runs of `scene` that start at `initial`.
    pub(crate) fn new(scene: &Scene, initial: &State) -> Self {
        Self {
            scene: scene.clone(),
            ruler: Ruler::new(scene, initial),
            contacts: scene.contacts.is_some().then(|| Probe::new(scene)),
        }
    }

    /// The metrics that apply; `reference` is a trusted state at the same time.
    pub(crate) fn measure(
        &mut self,
        state: &State,
        reference: Option<&State>,
        taken: Option<Taken<'_>>,
    ) -> Metrics {
        let mut metrics = self.ruler.measure(state, reference);
        let Some(contacts) = &mut self.contacts else { return metrics };
        let found = contacts.measure(state);
        metrics.push(("penetration_max_m", found.penetration_max_m));
        metrics.push(("penetration_share_max", found.penetration_share_max));
        metrics.push(("contact_count", found.contact_count as f64));
        metrics.push(("slip_speed_max_m_s", found.slip_speed_max_m_s));
        let Some(Taken { forces: Some(forces), before, dt }) = taken else { return metrics };
        metrics.push(("friction_cone_violation_n", friction_cone_violation_n(forces)));
        let residual = |before| contact_residual_max_m(&self.scene, before, state, dt, forces);
        metrics.extend(before.map(|before| ("contact_residual_max_m", residual(before))));
        metrics
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
        let mut value = |state: &State, name| metric(&gauge.measure(state, None, None), name);
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
        let metrics = Gauge::new(&scene, &state).measure(&state, None, None);
        assert!(metrics.iter().all(|(name, _)| !CONTACT_NAMES.contains(name)));
    }

    #[test]
    fn metrics_come_in_the_order_of_the_list() {
        let text = "(bodies: [body(shape: sphere(radius: 1), mass: 1)])";
        let scene = load_str(text, "test", &[]).expect("a good scene").scene;
        let state = scene.initial_state();
        let metrics = Gauge::new(&scene, &state).measure(&state, Some(&state), None);
        let place = |(name, _): &(&str, f64)| metric_list().position(|known| known == *name);
        let places: Vec<usize> = metrics.iter().map(|m| place(m).expect(m.0)).collect();
        assert!(places.is_sorted(), "{metrics:?}");
        let mut names: Vec<&str> = metric_list().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), metric_list().count());
    }
}
