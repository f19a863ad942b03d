//! Wall times. Nothing here reads a state while the clock runs.

use std::time::Instant;

use taut_core::{Scene, Solver, Stage, StageTime, State, Step};

use super::{
    Bench, Halt, advance_frames,
    blocks::processor_s,
    pipe::{self, Clocks},
};
use crate::record::{RunDevice, RunRow, Spread, Stages, Times};
use crate::spec::Spec;

/// How long to watch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOptions {
    /// Frames before the clock starts.
    pub warmup: u32,
    /// Samples of each kind, unless the limit comes first.
    pub samples: u32,
    /// Frames in one sample of the throughput.
    pub steps_per_sample: u32,
    /// Once a kind has three samples, it starts no more after this time [s].
    pub limit_s: f64,
}

/// Samples that are taken however slow the solver is, so that there is a median.
const FEWEST_SAMPLES: usize = 3;

/// Times one row; each kind of sample starts anew from the scene's initial state.
///
/// `on_sample` is called between samples.
pub fn time(
    bench: &Bench<'_>,
    scene: &Scene,
    spec: &Spec,
    options: &TimeOptions,
    on_sample: &mut (dyn FnMut() + Send),
) -> RunRow {
    let mut row = RunRow::new(spec);
    bench.with_fresh_solver(scene, spec, &mut row, |solver, row| {
        let on_processor = row.device == RunDevice::Cpu;
        let mut clock = Stopwatch { bench, scene, spec, options, on_processor, on_sample };
        let pipe = pipe::measure(solver, scene)?;
        let latency = clock.samples(solver, 1)?;
        let many = match &pipe {
            Some(pipe) => clock.long_sample(solver, pipe.least_sample_s())?,
            None => options.steps_per_sample,
        };
        let throughput = clock.samples(solver, many)?;
        let clocks = throughput.clocks;
        let stages = clock.stages(solver, !clocks.disputed())?;
        row.steps = latency.wall_s.len() as u32;
        // What another process says of single steps is without the pipe, and taken while its clocks agree.
        let told = Some(&latency.told_s).filter(|told| !told.is_empty() && clocks.agree());
        row.step_time_s = Spread::of(told.unwrap_or(&latency.wall_s));
        if pipe.is_some() && clocks.disputed() {
            row.reason = format!("clock disputed: {}", clocks.words());
        }
        let on_processor = Some(throughput.processor_s).filter(|_| on_processor);
        row.times =
            row.step_time_s.zip(Spread::of(&throughput.wall_s)).map(|(step_s, wall)| Times {
                iterations: spec.iterations,
                warmup: options.warmup,
                step_s,
                steps_per_sample: many,
                throughput_step_s: wall,
                throughput_processor_s: on_processor.and_then(|samples| Spread::of(&samples)),
                stages,
                pipe: pipe.map(|pipe| pipe.with_clocks(&clocks)),
            });
        let mut state = State::default();
        solver.read(&mut state)?;
        match state.is_finite() {
            true => Ok(()),
            false => Err(Halt::NonFinite("at the end of the timed frames".to_owned())),
        }
    });
    row
}

/// Time per frame of each sample [s].
#[derive(Default)]
struct Samples {
    wall_s: Vec<f64>,
    /// What this process has spent on processors, empty where the system does not tell.
    processor_s: Vec<f64>,
    /// What another process says of single frames on the wall; empty where none does.
    told_s: Vec<f64>,
    /// Sums over all samples, on either side.
    clocks: Clocks,
}

struct Stopwatch<'a> {
    bench: &'a Bench<'a>,
    scene: &'a Scene,
    spec: &'a Spec,
    options: &'a TimeOptions,
    /// Whether the row is told by what it takes of processors.
    on_processor: bool,
    on_sample: &'a mut (dyn FnMut() + Send),
}

impl Stopwatch<'_> {
    /// Takes samples of `frames` frames.
    fn samples(&mut self, solver: &mut dyn Solver, frames: u32) -> Result<Samples, Halt> {
        let step = self.warm_up(solver)?;
        let begin = Instant::now();
        let clocks = Clocks::new(self.on_processor);
        let mut samples = Samples { clocks, ..Samples::default() };
        while self.wants_more(samples.wall_s.len(), begin) {
            if frames > self.options.steps_per_sample {
                // Batches are so long that the motion would leave the scene far behind.
                self.warm_up(solver)?;
            }
            let there = solver.elsewhere();
            let process = there.map(|there| there.process);
            let spent_before = processor_s(process);
            let start = Instant::now();
            self.frames(solver, step, frames)?;
            solver.wait()?;
            let wall = start.elapsed().as_secs_f64();
            samples.wall_s.push(wall / f64::from(frames));
            let spent =
                processor_s(process).zip(spent_before).map(|(after, before)| after - before);
            samples.processor_s.extend(spent.map(|spent| spent / f64::from(frames)));
            if let Some((before, after)) = there.zip(solver.elsewhere()) {
                samples.clocks.add(wall, spent, &before, &after);
                let told = (after.wall_s - before.wall_s) / f64::from(frames);
                samples.told_s.extend((told > 0.0).then_some(told));
            }
            (self.on_sample)();
        }
        Ok(samples)
    }

    /// Median time of each stage per frame. Waiting between the stages costs a device its overlap,
    /// so that their sum may exceed the time of a frame. What another process says of its stages counts where it is
    /// `believed`.
    fn stages(&mut self, solver: &mut dyn Solver, believed: bool) -> Result<Stages, Halt> {
        let step = self.warm_up(solver)?;
        let mut device = Vec::new();
        solver.drain_times(&mut device);
        let begin = Instant::now();
        let mut samples: [Vec<f64>; 4] = Default::default();
        while self.wants_more(samples[0].len(), begin) {
            device.clear();
            let mut frame = [0.0; 3];
            for _ in 0..self.spec.substeps {
                self.stop_if_asked()?;
                let parts = split_step(solver, step)?;
                frame.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
            solver.drain_times(&mut device);
            let told = believed && solver.elsewhere().is_some();
            let values = stage_values(frame, &device, told);
            samples.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
            (self.on_sample)();
        }
        let [collide, prepare, iterate, finish] =
            samples.map(|list| Spread::of(&list).map_or(0.0, |spread| spread.median));
        Ok(Stages { collide, prepare, iterate, finish })
    }

    /// How many frames in one request last so long [s], no fewer than were asked for.
    fn long_sample(&mut self, solver: &mut dyn Solver, least_s: f64) -> Result<u32, Halt> {
        let mut frames = self.options.steps_per_sample;
        loop {
            let step = self.warm_up(solver)?;
            let start = Instant::now();
            self.frames(solver, step, frames)?;
            if start.elapsed().as_secs_f64() >= least_s || frames >= pipe::MOST_FRAMES {
                return Ok(frames);
            }
            frames *= 2;
        }
    }

    fn wants_more(&self, taken: usize, begin: Instant) -> bool {
        let in_time = begin.elapsed().as_secs_f64() < self.options.limit_s;
        taken < self.options.samples as usize && (in_time || taken < FEWEST_SAMPLES)
    }

    fn warm_up(&self, solver: &mut dyn Solver) -> Result<Step, Halt> {
        let step = self.spec.step(self.scene);
        solver.load(&self.scene.initial_state())?;
        if self.options.warmup > 0 {
            self.frames(solver, step, self.options.warmup)?;
        }
        solver.wait()?;
        Ok(step)
    }

    fn frames(&self, solver: &mut dyn Solver, step: Step, count: u32) -> Result<(), Halt> {
        if advance_frames(solver, self.spec, step, count, self.bench)? {
            Ok(())
        } else {
            self.stop_if_asked()
        }
    }

    fn stop_if_asked(&self) -> Result<(), Halt> {
        if self.bench.is_cancelled() {
            return Err(Halt::Cancelled("before its times were complete".to_owned()));
        }
        Ok(())
    }
}

/// Seconds in `begin_step`, all of `iterate`, and `end_step`.
fn split_step(solver: &mut dyn Solver, step: Step) -> Result<[f64; 3], Halt> {
    let start = Instant::now();
    solver.begin_step(step)?;
    solver.wait()?;
    let prepared = start.elapsed().as_secs_f64();
    for _ in 0..step.iterations {
        solver.iterate()?;
    }
    solver.wait()?;
    let iterated = start.elapsed().as_secs_f64();
    solver.end_step()?;
    solver.wait()?;
    let finished = start.elapsed().as_secs_f64();
    Ok([prepared, iterated - prepared, finished - iterated])
}

/// Time of each stage of [`Stages`] [s], of what `begin_step`, all of `iterate` and `end_step` took and what the solver
/// tells. Contacts are found in any of the three. Of stages that are `told` by another process all are taken, unless
/// that is more than was seen of it.
fn stage_values(parts: [f64; 3], times: &[StageTime], told: bool) -> [f64; 4] {
    // From zero on: a sum of none is -0.
    let sum = |stage| {
        let own = times.iter().filter(|t| t.stage == stage).map(|t| t.seconds);
        own.fold(0.0, |sum: f64, one| sum + one)
    };
    let collide = sum(Stage::Collide);
    let values = [collide, sum(Stage::Prepare), sum(Stage::Iterate), sum(Stage::Finish)];
    let seen: f64 = parts.iter().sum();
    let of_solving: f64 = values[1..].iter().sum();
    if told && of_solving > 0.0 && collide + of_solving <= seen {
        return values;
    }
    let mut left = collide;
    let [prepare, iterate, finish] = parts.map(|part| {
        let taken = left.min(part);
        left -= taken;
        part - taken
    });
    [collide, prepare, iterate, finish]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_those_that_are_told_or_else_seen() {
        let time = |stage, seconds| StageTime { stage, pass: "x", seconds };
        let collide = [time(Stage::Collide, 1.0), time(Stage::Collide, 2.0)];
        assert_eq!(stage_values([4.0, 5.0, 6.0], &[], true), [0.0, 4.0, 5.0, 6.0]);
        assert_eq!(stage_values([4.0, 5.0, 6.0], &collide, false), [3.0, 1.0, 5.0, 6.0]);
        assert_eq!(stage_values([1.0, 5.0, 6.0], &collide, false), [3.0, 0.0, 3.0, 6.0]);
        // All of a step is in its end where another process takes it.
        assert_eq!(stage_values([0.0, 0.0, 6.0], &collide, true), [3.0, 0.0, 0.0, 3.0]);
        let all = [&collide[..], &[time(Stage::Iterate, 2.0), time(Stage::Finish, 0.5)]].concat();
        assert_eq!(stage_values([0.0, 0.0, 6.0], &all, true), [3.0, 0.0, 2.0, 0.5]);
        assert_eq!(stage_values([0.0, 0.0, 6.0], &all, false), [3.0, 0.0, 0.0, 3.0]);
        // It cannot have taken longer than was waited for it.
        assert_eq!(stage_values([0.0, 0.0, 5.0], &all, true), [3.0, 0.0, 0.0, 2.0]);
    }
}
