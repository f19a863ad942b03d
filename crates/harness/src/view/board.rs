//! What a worker has told so far of the run of its pane.

use std::sync::Arc;

use taut_core::{Iteration, State};

use super::ring::StateRing;
use crate::{record::Status, ruler::Metrics};

/// A state within a step.
#[derive(Clone, Debug)]
pub(crate) struct WithinFrame {
    /// Steps of the frame that are done.
    pub(crate) steps: u32,
    /// Iterates of the next one that are done.
    pub(crate) spent: u32,
    /// Where they led.
    pub(crate) state: Arc<State>,
}

/// What a worker has told so far.
#[derive(Debug)]
pub(crate) struct Board {
    /// States after frames.
    pub(crate) ring: StateRing,
    /// The frame up to which there is nothing left to do.
    pub(crate) reached: u32,
    /// The current state, where it is within a frame.
    pub(crate) within: Option<WithinFrame>,
    /// Metrics of each frame that was measured, from 1.
    pub(crate) history: Vec<(u32, Metrics)>,
    /// What is thought of the run, as [`Status::name`], and why.
    pub(crate) status: String,
    /// Empty while all is well.
    pub(crate) reason: String,
    /// When it was first found to be anything but `ok` [s].
    pub(crate) failed_at_s: Option<f64>,
    /// Settings in force.
    pub(crate) settings: String,
    /// What one iterate means.
    pub(crate) iteration: Iteration,
    /// Wall time of the last whole frame, without reads and metrics [s].
    pub(crate) frame_s: Option<f64>,
    /// Whether the solver can be pulled, once that was tried.
    pub(crate) can_be_pulled: Option<bool>,
    /// Whether it has been pulled, so that its energy is no longer judged.
    pub(crate) pulled: bool,
    /// Whether it cannot go on.
    pub(crate) over: bool,
}

impl Board {
    pub(super) fn new(room: usize) -> Self {
        Self {
            ring: StateRing::new(room),
            reached: 0,
            within: None,
            history: Vec::new(),
            status: Status::Ok.name().to_owned(),
            reason: String::new(),
            failed_at_s: None,
            settings: String::new(),
            iteration: Iteration::Refine,
            frame_s: None,
            can_be_pulled: None,
            pulled: false,
            over: false,
        }
    }

    /// Begins anew at a state.
    pub(super) fn begin(&mut self, initial: Arc<State>) {
        let mut ring = std::mem::replace(&mut self.ring, StateRing::new(0));
        ring.clear();
        ring.push(0, initial);
        *self = Self { ring, ..Self::new(0) };
    }

    /// What has become of the run by a time [s], in words; nothing while all is well.
    pub(crate) fn failure(&self, time_s: f64) -> Option<&str> {
        let failed = self.status != Status::Ok.name() && (self.over || !self.pulled);
        // Times are sums of steps.
        let since = self.failed_at_s.is_none_or(|at| at <= time_s * (1.0 + 1e-9) + 1e-9);
        (failed && since).then_some(&self.status)
    }
}
