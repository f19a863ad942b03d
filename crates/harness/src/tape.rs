//! Records the motion of runs, between frames and with the clock stopped.

use std::{ops::ControlFlow, path::Path};

use anyhow::{Context, ensure};
use taut_core::{Scene, State};
use taut_recording::{About, Allowance, Archivist, Array, CHUNK, RecordedRun, Scalar};

use crate::{
    args::RecordArgs,
    checkout,
    machine::Machine,
    record::{RunRow, SceneFacts, metric, metric_names, scene_hash},
    ruler::{Moment, Sample},
    runner::{Bench, Observer, TraceOptions, TraceStart, trace},
    spec::Spec,
};

/// A recording in the making.
pub(crate) struct Tape {
    archivist: Archivist,
    about: About,
    single: bool,
    velocities: bool,
    iterates: Vec<u32>,
    /// The run being recorded.
    run: usize,
    steps: Vec<u32>,
    states: Vec<State>,
    /// Frames that the run completed.
    reached: u32,
    /// What went wrong first; nothing is written after it.
    failure: Option<std::io::Error>,
}

impl Tape {
    /// Begins a recording of as many runs as there are specs.
    ///
    /// # Errors
    /// When the file cannot be made, or its name does not end in `.npz`.
    pub(crate) fn create(
        args: &RecordArgs,
        command: &str,
        (scene, facts): (&Scene, &SceneFacts),
        specs: &[Spec],
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = &args.record else { return Ok(None) };
        ensure!(
            path.extension().is_some_and(|extension| extension == "npz"),
            "--record {}: numpy knows recordings by their extension: give a name that ends in .npz",
            path.display()
        );
        let cannot = || format!("cannot write {}", path.display());
        let text = checkout::text(Path::new(&facts.scene_file))?
            .with_context(|| format!("cannot read {}", facts.scene_file))?;
        let mut archivist = Archivist::create(path).with_context(cannot)?;
        archivist.text("scene.ron", &text).with_context(cannot)?;
        let about = About {
            format: taut_recording::FORMAT.to_owned(),
            version: taut_recording::VERSION,
            command: command.to_owned(),
            scene: facts.scene.clone(),
            scene_hash: scene_hash(scene)?,
            parameters: facts.parameters.iter().cloned().collect(),
            dt_s: scene.dt,
            every: args.every,
            runs: specs.iter().map(start).collect(),
            ..About::default()
        };
        Ok(Some(Self {
            archivist,
            about,
            single: args.single,
            velocities: args.velocities,
            iterates: args.iterates.clone(),
            run: 0,
            steps: Vec::new(),
            states: Vec::new(),
            reached: 0,
            failure: None,
        }))
    }

    /// What records run `run`.
    pub(crate) fn of_run(&mut self, run: usize) -> &mut Self {
        self.run = run;
        self
    }

    /// Records the iterates of the frames asked for, each in a run of its own to that frame.
    pub(crate) fn record_iterates(&mut self, bench: &Bench<'_>, scene: &Scene, spec: &Spec) {
        for frame in self.iterates.clone() {
            if bench.is_cancelled() {
                return;
            }
            if frame > self.reached {
                eprintln!(
                    "taut: warning: {}: no iterates of frame {frame}: the run ended after {}",
                    spec.label, self.reached
                );
                continue;
            }
            let options =
                TraceOptions { start: TraceStart::Warm, warmup: frame - 1, reference: None };
            let mut iterates = Iterates::default();
            let mut row = RunRow::new(spec);
            trace(bench, scene, spec, &options, &mut row, &mut [&mut iterates]);
            let Iterates { spent, states } = iterates;
            let folder = format!("runs/{}/iterates/{frame}", self.run);
            let counts = spent.iter().map(|&spent| f64::from(spent)).collect();
            let shape = vec![spent.len()];
            self.put(&format!("{folder}/spent.npy"), Scalar::U32, shape, counts);
            let shape = vec![states.len(), scene.bodies.len(), 12];
            let values = states.iter().flat_map(places).collect();
            self.put(&format!("{folder}/00000.npy"), self.scalar(), shape, values);
            self.about.runs[self.run].iterates.push(frame);
        }
    }

    /// Closes the recording.
    ///
    /// # Errors
    /// When it could not be written; what there is of it keeps a name that ends in `.partial`.
    pub(crate) fn finish(mut self, threads: usize) -> anyhow::Result<()> {
        let path = self.archivist.path().to_owned();
        let machine = Machine::here(threads);
        machine.revision.clone_into(&mut self.about.revision);
        self.about.machine = serde_json::to_value(&machine)?;
        let closed = match self.failure {
            Some(failure) => Err(failure),
            None => self.archivist.finish(&self.about),
        };
        closed.with_context(|| format!("cannot write {}: is the disk full?", path.display()))
    }

    fn scalar(&self) -> Scalar {
        if self.single { Scalar::F32 } else { Scalar::F64 }
    }

    fn put(&mut self, name: &str, scalar: Scalar, shape: Vec<usize>, values: Vec<f64>) {
        if self.failure.is_none() {
            let array = Array { scalar, shape, values };
            self.failure = self.archivist.array(name, &array).err();
        }
    }

    fn keep(&mut self, frame: u32, state: State) {
        self.steps.push(frame);
        self.states.push(state);
        if self.states.len() == CHUNK {
            self.flush();
        }
    }

    /// Writes the states held as one chunk.
    fn flush(&mut self) {
        let states = std::mem::take(&mut self.states);
        let Some(first) = states.first() else { return };
        let chunk = (self.steps.len() - 1) / CHUNK;
        let (bodies, particles, joints) =
            (first.bodies.len(), first.particles.len(), first.broken.len());
        let (scalar, velocities) = (self.scalar(), self.velocities);
        let mut put = |folder: &str, scalar, shape: &[usize], values: Vec<f64>| {
            if !values.is_empty() {
                let name = format!("runs/{}/{folder}/{chunk:05}.npy", self.run);
                self.put(&name, scalar, [&[states.len()], shape].concat(), values);
            }
        };
        put("bodies", scalar, &[bodies, 12], states.iter().flat_map(places).collect());
        let points = states.iter().flat_map(|state| &state.particles);
        let values = points.clone().flat_map(|p| p.position.iter().copied()).collect();
        put("particles", scalar, &[particles, 3], values);
        let broken = states.iter().flat_map(|state| &state.broken);
        put("broken", Scalar::Bool, &[joints], broken.map(|&b| f64::from(u8::from(b))).collect());
        if velocities {
            put("velocities", scalar, &[bodies, 12], states.iter().flat_map(rates).collect());
            let values = points.flat_map(|p| p.velocity.iter().copied()).collect();
            put("particle_velocities", scalar, &[particles, 3], values);
        }
    }

    /// The metrics of the recorded frames; those of the start, and what was not measured, are no numbers.
    fn put_metrics(&mut self, row: &RunRow) {
        let names = metric_names(row.frames.iter().map(|frame| &frame.metrics));
        let mut values = Vec::with_capacity(self.steps.len() * names.len());
        for step in &self.steps {
            // Frames are in order, and the start has none.
            let found = row.frames.binary_search_by_key(step, |frame| frame.step);
            let frame = found.ok().map(|place| &row.frames[place]);
            let value = |name: &&str| frame.and_then(|frame| metric(&frame.metrics, name));
            values.extend(names.iter().map(|name| value(name).unwrap_or(f64::NAN)));
        }
        let shape = vec![self.steps.len(), names.len()];
        self.about.runs[self.run].metrics = names.iter().map(|&name| name.to_owned()).collect();
        self.put(&format!("runs/{}/metrics.npy", self.run), Scalar::F64, shape, values);
    }
}

impl Observer for Tape {
    fn begin(&mut self, scene: &Scene, _row: &RunRow) {
        self.keep(0, scene.initial_state());
    }

    fn frame(&mut self, sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        if let Moment::Frame(frame) = sample.moment
            && frame.is_multiple_of(self.about.every)
        {
            self.keep(frame, sample.state.clone());
        }
        match &self.failure {
            Some(failure) => ControlFlow::Break(format!("as it could not be recorded: {failure}")),
            None => ControlFlow::Continue(()),
        }
    }

    fn end(&mut self, row: &mut RunRow) {
        self.flush();
        let counts = self.steps.iter().map(|&step| f64::from(step)).collect();
        let name = format!("runs/{}/steps.npy", self.run);
        self.put(&name, Scalar::U32, vec![self.steps.len()], counts);
        self.put_metrics(row);
        let run = &mut self.about.runs[self.run];
        run.settings.clone_from(&row.settings);
        row.status.name().clone_into(&mut run.status);
        run.reason.clone_from(&row.reason);
        run.failed_at_s = row.failed_at_s;
        run.frames = self.steps.len();
        self.reached = row.steps;
        self.steps.clear();
    }
}

/// What is known of a run before it starts.
fn start(spec: &Spec) -> RecordedRun {
    RecordedRun {
        label: spec.label.clone(),
        backend: spec.backend.clone(),
        budget: Allowance { iterations: spec.iterations, substeps: spec.substeps },
        status: "skipped".to_owned(),
        ..RecordedRun::default()
    }
}

fn places(state: &State) -> impl Iterator<Item = f64> + '_ {
    state.bodies.iter().flat_map(|b| b.position.iter().chain(b.frame.iter()).copied())
}

fn rates(state: &State) -> impl Iterator<Item = f64> + '_ {
    state.bodies.iter().flat_map(|b| b.velocity.iter().chain(b.frame_rate.iter()).copied())
}

/// The iterates of one step, each with the iterations spent.
#[derive(Default)]
struct Iterates {
    spent: Vec<u32>,
    states: Vec<State>,
}

impl Observer for Iterates {
    fn frame(&mut self, sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        if let Moment::Iteration { spent, .. } = sample.moment {
            self.spent.push(spent);
            self.states.push(sample.state.clone());
        }
        ControlFlow::Continue(())
    }
}
