//! Those who look at a run while it is made: with the clock stopped, at states that were read anyway.

use std::ops::ControlFlow;

use taut_collide::{Passages, metrics::Probe};
use taut_core::{
    BitHash, Multipliers, Scene, State,
    labels::{Evidence, Judge},
};

use crate::{
    record::{Frame, RunRow, TracePoint},
    ruler::{Moment, Ruler, Sample},
};

/// Looks at every frame of a run, or at every iterate of a trace.
pub trait Observer: Send {
    /// Before the first state; the scene's initial state is loaded.
    fn begin(&mut self, _scene: &Scene, _row: &RunRow) {}

    /// At each state, all of whose numbers are finite. A break ends the run like an interruption, with
    /// the reason given.
    fn frame(&mut self, _sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        ControlFlow::Continue(())
    }

    /// After the last state, however the run ended, if it was begun or not.
    fn end(&mut self, _row: &mut RunRow) {}
}

/// Labels the row, and says why.
pub(crate) struct Labelling {
    promised: bool,
    judge: Judge,
    passages: Option<Passages>,
}

impl Labelling {
    /// Of a run of a backend that promises, or does not, that no surfaces of bodies meet.
    pub(crate) fn new(scene: &Scene, promised: bool) -> Self {
        let initial = scene.initial_state();
        let start = scene.contacts.and_then(|_| Probe::new(scene).measure(&initial).overlap);
        Self {
            promised,
            judge: Judge::new(scene, &initial).beginning_with(start),
            passages: Passages::new(scene, &initial),
        }
    }
}

impl Observer for Labelling {
    fn frame(&mut self, sample: &Sample<'_>, row: &mut RunRow) -> ControlFlow<String> {
        let evidence = Evidence {
            forces: sample.forces,
            reference: sample.reference,
            overlap: sample.contacts().and_then(|contacts| contacts.overlap),
            passed: self.passages.as_mut().and_then(|passages| passages.observe(sample.state)),
            broken_promises: self
                .promised
                .then(|| sample.meetings())
                .flatten()
                .map_or(0, |meetings| meetings.intersections),
        };
        self.judge.observe(sample.state, &evidence);
        (row.status, row.reason) = (self.judge.label().into(), self.judge.reason().to_owned());
        row.failed_at_s = self.judge.failed_at_s();
        ControlFlow::Continue(())
    }
}

/// Hashes the bits of motion and forces.
#[derive(Default)]
pub(super) struct Fingerprint {
    states: BitHash,
    forces: BitHash,
}

impl Observer for Fingerprint {
    fn frame(&mut self, sample: &Sample<'_>, row: &mut RunRow) -> ControlFlow<String> {
        sample.state.add_to(&mut self.states);
        row.state_hash = Some(self.states);
        if let Some(forces) = sample.forces {
            forces.add_to(&mut self.forces);
            row.force_hash = Some(self.forces);
        }
        ControlFlow::Continue(())
    }
}

/// Measures every state and writes what it finds into the row.
pub(super) struct Gauge<'a>(pub(super) &'a Ruler);

impl Observer for Gauge<'_> {
    fn frame(&mut self, sample: &Sample<'_>, row: &mut RunRow) -> ControlFlow<String> {
        let metrics = self.0.measure(sample);
        match sample.moment {
            Moment::Frame(step) => {
                let time_s = f64::from(step) * sample.scene.dt;
                row.frames.push(Frame { step, time_s, metrics });
            }
            Moment::Iteration { spent, closed } => {
                let point = TracePoint { iteration: spent, closed, metrics };
                row.curves.last_mut().expect("begun with the trace").points.push(point);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Which states of a run to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep<'a> {
    /// None.
    Nothing,
    /// Those after the given frames; 0 is the initial state.
    After(&'a [u32]),
    /// All, the initial one included.
    Everything,
}

/// Keeps states of a run.
#[derive(Clone, Debug)]
pub struct KeptStates<'a> {
    keep: Keep<'a>,
    /// The states asked for, each with its frame.
    pub states: Vec<(u32, State)>,
}

impl<'a> KeptStates<'a> {
    /// Will keep these.
    pub fn new(keep: Keep<'a>) -> Self {
        Self { keep, states: Vec::new() }
    }

    fn offer(&mut self, frame: u32, state: impl FnOnce() -> State) {
        let wanted = match self.keep {
            Keep::Nothing => false,
            Keep::After(frames) => frames.contains(&frame),
            Keep::Everything => true,
        };
        if wanted {
            self.states.push((frame, state()));
        }
    }
}

impl Observer for KeptStates<'_> {
    fn begin(&mut self, scene: &Scene, _row: &RunRow) {
        self.offer(0, || scene.initial_state());
    }

    fn frame(&mut self, sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        if let Moment::Frame(frame) = sample.moment {
            self.offer(frame, || sample.state.clone());
        }
        ControlFlow::Continue(())
    }
}

/// Keeps the forces of the steps to some frames, where the solver tells them.
#[derive(Clone, Debug)]
pub struct KeptForces<'a> {
    frames: &'a [u32],
    /// Those of the frames asked for, each with its frame.
    pub forces: Vec<(u32, Multipliers)>,
}

impl<'a> KeptForces<'a> {
    /// Will keep these.
    pub fn new(frames: &'a [u32]) -> Self {
        Self { frames, forces: Vec::new() }
    }
}

impl Observer for KeptForces<'_> {
    fn frame(&mut self, sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        if let (Moment::Frame(frame), Some(forces)) = (sample.moment, sample.forces)
            && self.frames.contains(&frame)
        {
            self.forces.push((frame, forces.clone()));
        }
        ControlFlow::Continue(())
    }
}
