//! The step on a graphics adapter. Nothing is submitted before the end of a step unless somebody looks.

use taut_core::{
    BuildError, Devices, Info, Multipliers, Native, Scene, Settings, Solver, SolverError,
    StageTime, State, Step, scene::Motion,
};
use taut_descent::{
    device::{Due, drain_times, fault, open, unbuilt},
    node::Base,
};
use taut_gpu::{Bindings, Buffer, Call, Clock, Gpu, GpuError, Recorder};
use taut_math::{Q4, V3};

use crate::{
    REFERENCE, TAKES,
    cpu::{self, tell, tell_forces},
    layout,
    model::{Model, driven_turn},
    parse,
    settings::{JacobiSettings, Precision, WarmStart},
    step::{self, Constants},
};

/// The row of the table of backends for graphics adapters.
pub const BACKEND_GPU: Native = Native {
    info: Info::new(
        "jacobi-gpu",
        "the same on a graphics adapter, one thread per joint, then one per body",
        REFERENCE,
    )
    .on_gpu(),
    takes: TAKES,
    refuses: |_| Ok(()),
    build: build_on_gpu,
};

fn build_on_gpu(
    scene: &Scene,
    settings: &Settings,
    devices: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let gpu = open(devices)?;
    let settings = parse(scene, settings)?;
    if settings.precision == Some(Precision::F64) {
        return Err(BuildError::Settings("precision is f32 on a graphics adapter".to_owned()));
    }
    let solver = Jacobi::new(gpu, scene, settings).map_err(unbuilt)?;
    Ok(Box::new(solver))
}

struct Jacobi {
    gpu: Gpu,
    scene: Scene,
    settings: JacobiSettings,
    model: Model<f32>,
    bases: Vec<Base<f32>>,
    buffers: Buffers,
    calls: Calls,
    clock: Clock,
    /// What is left to record of the current step.
    due: Due,
    constants: Constants<f32>,
    state: cpu::Clock,
    read_motions: Vec<layout::Motion>,
    read_velocities: Vec<layout::Velocity>,
}

struct Buffers {
    constants: Buffer<layout::Constants>,
    bodies: Buffer<layout::Body>,
    joints: Buffer<layout::Joint>,
    ends: Buffer<u32>,
    motions: Buffer<layout::Motion>,
    inertias: Buffer<[f32; 6]>,
    free: Buffer<layout::Velocity>,
    velocities: Buffer<layout::Velocity>,
    prepared: Buffer<layout::Prepared>,
    multipliers: Buffer<[f32; 3]>,
    turns: Buffer<[f32; 4]>,
}

struct Calls {
    prepare_bodies: Call,
    prepare_joints: Call,
    multipliers: Call,
    velocities: Call,
    finish: Call,
}

impl Buffers {
    fn new(gpu: &Gpu, model: &Model<f32>) -> Result<Self, GpuError> {
        let (bodies, joints) = (model.bodies.len(), model.joints.len());
        let fixed: Vec<layout::Body> = model.bodies.iter().map(Into::into).collect();
        Ok(Self {
            constants: gpu.buffer("constants of a step", 1)?,
            bodies: gpu.upload("bodies", &fixed)?,
            joints: gpu.buffer("joints", joints)?,
            ends: gpu.upload("ends of joints", &model.ends)?,
            motions: gpu.buffer("motions of bodies", bodies)?,
            inertias: gpu.buffer("inertias", bodies)?,
            free: gpu.buffer("free velocities", bodies)?,
            velocities: gpu.buffer("velocities", bodies)?,
            prepared: gpu.buffer("prepared joints", joints)?,
            multipliers: gpu.buffer("multipliers", joints)?,
            turns: gpu.buffer("prescribed turns", bodies)?,
        })
    }

    fn bindings(&self) -> Bindings<'_> {
        Bindings::default()
            .with("constants", &self.constants)
            .with("bodies", &self.bodies)
            .with("joints", &self.joints)
            .with("ends", &self.ends)
            .with("motions", &self.motions)
            .with("inertias", &self.inertias)
            .with("free", &self.free)
            .with("velocities", &self.velocities)
            .with("prepared", &self.prepared)
            .with("multipliers", &self.multipliers)
            .with("turns", &self.turns)
    }
}

impl Jacobi {
    fn new(gpu: &Gpu, scene: &Scene, settings: JacobiSettings) -> Result<Self, GpuError> {
        let model = Model::new(scene);
        let buffers = Buffers::new(gpu, &model)?;
        let bindings = buffers.bindings();
        let calls = Calls {
            prepare_bodies: gpu.call("jacobi/prepare.wgsl", "prepare_bodies", &bindings)?,
            prepare_joints: gpu.call("jacobi/prepare.wgsl", "prepare_joints", &bindings)?,
            multipliers: gpu.call("jacobi/iterate.wgsl", "solve_multipliers", &bindings)?,
            velocities: gpu.call("jacobi/iterate.wgsl", "solve_velocities", &bindings)?,
            finish: gpu.call("jacobi/finish.wgsl", "move_bodies", &bindings)?,
        };
        let mut solver = Self {
            gpu: gpu.clone(),
            scene: scene.clone(),
            settings: JacobiSettings { precision: Some(Precision::F32), ..settings },
            bases: model.resting(),
            constants: Constants::new(model.gravity, &settings, scene.dt),
            model,
            buffers,
            calls,
            clock: Clock::new(gpu)?,
            due: Due::default(),
            state: cpu::Clock::default(),
            read_motions: vec![],
            read_velocities: vec![],
        };
        solver.take_over(&scene.initial_state())?;
        Ok(solver)
    }

    fn take_over(&mut self, state: &State) -> Result<(), GpuError> {
        self.model.load(state, &mut self.bases);
        let motions: Vec<layout::Motion> = self.bases.iter().map(Into::into).collect();
        let joints: Vec<layout::Joint> = self.model.joints.iter().map(Into::into).collect();
        self.gpu.write(&self.buffers.motions, 0, &motions)?;
        self.gpu.write(&self.buffers.joints, 0, &joints)?;
        self.gpu.write(&self.buffers.multipliers, 0, &vec![[0.0; 3]; joints.len()])?;
        self.due = Due::default();
        self.state = cpu::Clock {
            time_s: state.time_s,
            broken: state.broken.clone(),
            ..cpu::Clock::default()
        };
        self.drive()
    }

    /// Tells the device how driven bodies turn in a step, to full precision.
    fn drive(&mut self) -> Result<(), GpuError> {
        let turn = |(body, base): (&crate::model::Body<f32>, &Base<f32>)| match body.motion {
            Motion::Kinematic => layout::quaternion(driven_turn(base, self.constants.h)),
            Motion::Static | Motion::Dynamic => layout::quaternion(Q4::IDENTITY),
        };
        let turns: Vec<[f32; 4]> = self.model.bodies.iter().zip(&self.bases).map(turn).collect();
        self.gpu.write(&self.buffers.turns, 0, &turns)
    }

    /// Takes on another step length, once everything of the old one has been submitted.
    fn change_step(&mut self, dt: f64) -> Result<(), GpuError> {
        self.constants = Constants::new(self.model.gravity, &self.settings, dt);
        self.state.dt = dt;
        let counts = [self.model.bodies.len(), self.model.joints.len()].map(|n| n as u32);
        let constants = layout::Constants::new(&self.constants, self.settings.warm_start, counts);
        self.gpu.write(&self.buffers.constants, 0, &[constants])?;
        self.drive()
    }

    /// Submits what is due.
    fn flush(&mut self) -> Result<(), GpuError> {
        let Some(due) = self.due.take() else { return Ok(()) };
        let mut recorder = self.gpu.record();
        let (bodies, joints) = (self.model.bodies.len(), self.model.joints.len());
        if due.begin {
            recorder.stage(&mut self.clock, "prepare");
            recorder.run(&self.calls.prepare_bodies, bodies);
            recorder.run(&self.calls.prepare_joints, joints);
            if self.settings.warm_start == WarmStart::On {
                recorder.run(&self.calls.velocities, bodies);
            }
        }
        if due.iterations > 0 {
            recorder.stage(&mut self.clock, "iterate");
            self.iterations(&mut recorder, due.iterations);
        }
        if due.finish {
            recorder.stage(&mut self.clock, "finish");
            recorder.run(&self.calls.finish, bodies);
        }
        recorder.submit(&mut self.clock)
    }

    fn iterations(&self, recorder: &mut Recorder, count: u32) {
        for _ in 0..count {
            recorder.run(&self.calls.multipliers, self.model.joints.len());
            recorder.run(&self.calls.velocities, self.model.bodies.len());
        }
    }

    fn read_state(&mut self, out: &mut State) -> Result<(), GpuError> {
        self.flush()?;
        self.gpu.read(&self.buffers.motions, &mut self.read_motions)?;
        for (base, motion) in self.bases.iter_mut().zip(&self.read_motions) {
            motion.write_to(base);
        }
        let count = self.scene.bodies.len();
        if !self.state.within_step {
            tell(out, &self.state, self.bases.iter().take(count).copied());
            return Ok(());
        }
        self.gpu.read(&self.buffers.velocities, &mut self.read_velocities)?;
        let h = self.constants.h;
        let all = self.model.bodies.iter().zip(&self.bases).zip(&self.read_velocities);
        let moved = all.map(|((body, base), velocity)| {
            step::moved(body, base, &velocity.into(), || driven_turn(base, h), h)
        });
        tell(out, &self.state, moved.take(count));
        Ok(())
    }
}

impl Solver for Jacobi {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.take_over(state).map_err(fault)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        if step.dt != self.state.dt {
            self.flush().and_then(|()| self.change_step(step.dt)).map_err(fault)?;
        }
        self.state.within_step = true;
        self.due.begin = true;
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.due.iterations += 1;
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.due.finish = true;
        self.state.time_s += self.state.dt;
        self.state.within_step = false;
        self.flush().map_err(fault)
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.read_state(out).map_err(fault)
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.gpu.wait()).map_err(fault)
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        drain_times(&mut self.clock, &self.gpu, out);
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let mut forces = Vec::new();
        let read =
            self.flush().and_then(|()| self.gpu.read(&self.buffers.multipliers, &mut forces));
        tell_forces(out, forces.into_iter().map(V3::<f32>));
        read.is_ok()
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
