//! What it costs to ask another process, and whether it is to be believed when it tells times.

use std::time::Instant;

use taut_core::{Elsewhere, Scene, Solver, SolverError, State};

use super::Halt;
use crate::record::{PipeTimes, Spread};

/// No request is for more frames.
pub(super) const MOST_FRAMES: u32 = 1 << 24;
/// A sample of the throughput lasts at least so long [s] ..
const LEAST_S: f64 = 0.02;
/// .. and as many requests for nothing, so that the pipe does not show.
const LEAST_PINGS: f64 = 200.0;
/// How many requests of each kind are timed: for nothing, and for a state or with one.
const PINGS: u32 = 1000;
const STATES: u32 = 50;
/// Clocks are compared over at least so long on processors, or on the wall where a graphics device computes [s].
const COMPARED_S: f64 = 0.2;
/// A process whose work is on a graphics device is believed while it accounts for this share of the wall [1].
const ACCOUNTED: f64 = 0.95;

/// Times requests to another process; `None` where this one solves.
pub(super) fn measure(solver: &mut dyn Solver, scene: &Scene) -> Result<Option<PipeTimes>, Halt> {
    if solver.elsewhere().is_none() {
        return Ok(None);
    }
    let (initial, mut state) = (scene.initial_state(), State::default());
    solver.load(&initial)?;
    let ping_s = spread(PINGS, || solver.ping())?;
    let read_s = spread(STATES, || solver.read(&mut state))?;
    let load_s = spread(STATES, || solver.load(&initial))?;
    Ok(Some(PipeTimes { ping_s, read_s, load_s, clock: "unknown" }))
}

fn spread(
    count: u32,
    mut request: impl FnMut() -> Result<(), SolverError>,
) -> Result<Spread, SolverError> {
    let mut timed = || {
        let start = Instant::now();
        request().map(|()| start.elapsed().as_secs_f64())
    };
    let times: Vec<f64> = (0..count).map(|_| timed()).collect::<Result<_, _>>()?;
    Ok(Spread::of(&times).unwrap_or_default())
}

impl PipeTimes {
    /// How long a sample of the throughput has to last [s].
    pub(super) fn least_sample_s(&self) -> f64 {
        LEAST_S.max(LEAST_PINGS * self.ping_s.median)
    }

    pub(super) fn with_clocks(self, clocks: &Clocks) -> Self {
        let clock = match () {
            () if clocks.disputed() => "disputed",
            () if clocks.agree() => "agreed",
            () => "unknown",
        };
        Self { clock, ..self }
    }
}

/// Sums of what clocks here and a process there say of the same steps [s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clocks {
    /// Whether the process solves on processors, whose clock can be read.
    on_processor: bool,
    wall: f64,
    /// `None` where clocks of other processes cannot be read.
    processor: Option<f64>,
    told_wall: f64,
    told_processor: f64,
}

impl Clocks {
    pub(super) fn new(on_processor: bool) -> Self {
        Self { on_processor, ..Self::default() }
    }

    pub(super) fn add(
        &mut self,
        wall: f64,
        spent: Option<f64>,
        before: &Elsewhere,
        after: &Elsewhere,
    ) {
        self.wall += wall;
        self.processor = spent.map(|spent| self.processor.unwrap_or(0.0) + spent);
        self.told_wall += after.wall_s - before.wall_s;
        self.told_processor += after.processor_s - before.processor_s;
    }

    fn compared(&self) -> Option<bool> {
        if !self.on_processor {
            // There is only the wall, on which a busy machine may add to what is seen from here.
            let within = self.told_wall <= self.wall;
            let accounted = self.told_wall >= ACCOUNTED * self.wall;
            return (self.wall >= COMPARED_S && (accounted || !within)).then_some(within);
        }
        let told = self.told_wall > 0.0 || self.told_processor > 0.0;
        let spent = self.processor.filter(|&spent| told && spent >= COMPARED_S)?;
        let close = (spent - self.told_processor).abs() <= 0.02 * spent + 1e-3;
        Some(close && self.told_wall <= self.wall)
    }

    pub(super) fn agree(&self) -> bool {
        self.compared() == Some(true)
    }

    pub(super) fn disputed(&self) -> bool {
        self.compared() == Some(false)
    }

    pub(super) fn words(&self) -> String {
        if !self.on_processor {
            return format!(
                "it says {:.3} s on the wall, here they are {:.3} s",
                self.told_wall, self.wall
            );
        }
        format!(
            "it says {:.3} s on processors and {:.3} s on the wall, here they are {:.3} s and {:.3} s",
            self.told_processor,
            self.told_wall,
            self.processor.unwrap_or_default(),
            self.wall
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_believed_while_its_clocks_agree() {
        let told = |wall_s, processor_s| Elsewhere { process: 1, wall_s, processor_s };
        let compared = |wall, spent, after: Elsewhere| {
            let mut clocks = Clocks::new(true);
            clocks.add(wall, spent, &told(0.0, 0.0), &after);
            clocks.compared()
        };
        assert_eq!(compared(1.0, Some(0.9), told(0.95, 0.9)), Some(true));
        assert_eq!(compared(1.0, Some(0.9), told(0.95, 0.8)), Some(false), "too little of it");
        assert_eq!(compared(1.0, Some(0.9), told(1.05, 0.9)), Some(false), "longer than here");
        assert_eq!(compared(0.1, Some(0.09), told(0.1, 0.01)), None, "too short");
        assert_eq!(compared(1.0, Some(0.9), told(0.0, 0.0)), None, "it says nothing");
        assert_eq!(compared(1.0, None, told(0.9, 0.9)), None, "no clock to read");
    }

    #[test]
    fn one_on_a_graphics_device_is_held_to_the_wall() {
        let compared = |wall, wall_s| {
            let mut clocks = Clocks::new(false);
            let after = Elsewhere { process: 1, wall_s, processor_s: 0.001 };
            clocks.add(wall, Some(0.3), &Elsewhere::default(), &after);
            (clocks.agree(), clocks.disputed())
        };
        assert_eq!(compared(1.0, 0.97), (true, false), "whatever processors say");
        assert_eq!(compared(1.0, 1.01), (false, true), "longer than here");
        assert_eq!(compared(1.0, 0.5), (false, false), "it does not wait, or the machine is busy");
        assert_eq!(compared(1.0, 0.0), (false, false), "it says nothing");
        assert_eq!(compared(0.1, 0.099), (false, false), "too short");
    }
}
