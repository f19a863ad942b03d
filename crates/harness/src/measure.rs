//! The harness's only door to the metrics and labels of `taut-core`.

use taut_core::{Scene, State};

use crate::record::Status;

/// Measures states of one scene.
#[derive(Debug)]
pub(crate) struct Ruler {}

impl Ruler {
    pub(crate) fn new(_scene: &Scene, _initial: &State) -> Self {
        Self {}
    }

    /// Every metric that applies, in a fixed order.
    pub(crate) fn measure(
        &self,
        _state: &State,
        _reference: Option<&State>,
    ) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// Watches a run and labels it.
#[derive(Debug)]
pub(crate) struct Judge {}

impl Judge {
    pub(crate) fn new(_scene: &Scene, _initial: &State) -> Self {
        Self {}
    }

    pub(crate) fn observe(&mut self, _state: &State, _reference: Option<&State>) {}

    /// The label of the run so far and the reason for it, empty where it is `ok`.
    pub(crate) fn verdict(&self) -> (Status, String) {
        (Status::Ok, String::new())
    }
}
