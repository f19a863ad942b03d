//! The step on a graphics adapter. Nothing is submitted before the end of a step unless somebody looks.

use taut_core::{
    BuildError, Devices, Info, Multipliers, Native, Pull, Scene, Settings, Solver, SolverError,
    StageTime, State, Step,
};
use taut_gpu::{Bindings, Buffer, Call, Clock, Gpu, GpuError, Recorder};
use taut_math::V3;
use taut_model::{Precision, Velocity, narrow};
use taut_model_gpu::{Due, drain_times, fault, open, unbuilt};

use crate::{
    REFERENCE, TAKES, layout, parse,
    settings::{JacobiSettings, WarmStart},
    system::{BallSystem, tell_forces},
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
    let settings = JacobiSettings { precision: Some(Precision::F32), ..settings };
    let system = BallSystem::new(scene, settings);
    Ok(Box::new(OnGpu::new(gpu, system).map_err(unbuilt)?))
}

struct OnGpu {
    gpu: Gpu,
    /// What does not change, and the motion as it was last read.
    system: BallSystem<f32>,
    buffers: BallBuffers,
    calls: BallCalls,
    clock: Clock,
    /// What is left to record of the current step.
    due: Due,
    read_motions: Vec<layout::MotionData>,
    read_velocities: Vec<layout::VelocityData>,
}

struct BallBuffers {
    constants: Buffer<layout::StepData>,
    bodies: Buffer<layout::BodyData>,
    joints: Buffer<layout::JointData>,
    ends: Buffer<u32>,
    motions: Buffer<layout::MotionData>,
    inertias: Buffer<[f32; 6]>,
    free: Buffer<layout::VelocityData>,
    velocities: Buffer<layout::VelocityData>,
    prepared: Buffer<layout::PreparedData>,
    multipliers: Buffer<[f32; 3]>,
    turns: Buffer<[f32; 4]>,
}

struct BallCalls {
    prepare_bodies: Call,
    prepare_joints: Call,
    multipliers: Call,
    velocities: Call,
    finish: Call,
}

impl BallBuffers {
    fn new(gpu: &Gpu, system: &BallSystem<f32>) -> Result<Self, GpuError> {
        let (bodies, joints) = (system.masses.len(), system.joints.len());
        let ranges = system.ends.starts().windows(2).map(|range| [range[0], range[1]]);
        let fixed = system.masses.iter().zip(ranges);
        let fixed: Vec<_> = fixed.map(|(mass, range)| layout::BodyData::new(mass, range)).collect();
        Ok(Self {
            constants: gpu.buffer("constants of a step", 1)?,
            bodies: gpu.upload("bodies", &fixed)?,
            joints: gpu.buffer("joints", joints)?,
            ends: gpu.upload("ends of joints", system.ends.members())?,
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

impl OnGpu {
    fn new(gpu: &Gpu, system: BallSystem<f32>) -> Result<Self, GpuError> {
        let buffers = BallBuffers::new(gpu, &system)?;
        let bindings = buffers.bindings();
        let calls = BallCalls {
            prepare_bodies: gpu.call("jacobi/prepare.wgsl", "prepare_bodies", &bindings)?,
            prepare_joints: gpu.call("jacobi/prepare.wgsl", "prepare_joints", &bindings)?,
            multipliers: gpu.call("jacobi/iterate.wgsl", "solve_multipliers", &bindings)?,
            velocities: gpu.call("jacobi/iterate.wgsl", "solve_velocities", &bindings)?,
            finish: gpu.call("jacobi/finish.wgsl", "move_bodies", &bindings)?,
        };
        let mut solver = Self {
            gpu: gpu.clone(),
            system,
            buffers,
            calls,
            clock: Clock::new(gpu)?,
            due: Due::default(),
            read_motions: vec![],
            read_velocities: vec![],
        };
        solver.upload()?;
        Ok(solver)
    }

    /// Hands the state over that the system has been loaded with.
    fn upload(&mut self) -> Result<(), GpuError> {
        self.upload_motions()?;
        let (system, buffers) = (&self.system, &self.buffers);
        let joints: Vec<layout::JointData> = system.joints.iter().map(Into::into).collect();
        self.gpu.write(&buffers.joints, 0, &joints)?;
        self.gpu.write(&buffers.multipliers, 0, &vec![[0.0; 3]; joints.len()])?;
        self.due = Due::default();
        Ok(())
    }

    fn upload_motions(&self) -> Result<(), GpuError> {
        let motions = self.system.motions.poses.iter().zip(&self.system.motions.velocities);
        let motions: Vec<_> =
            motions.map(|(pose, velocity)| layout::MotionData::new(pose, velocity)).collect();
        self.gpu.write(&self.buffers.motions, 0, &motions)
    }

    /// Takes motion over from the device.
    fn take_over(&mut self) -> Result<(), GpuError> {
        self.flush()?;
        self.gpu.read(&self.buffers.motions, &mut self.read_motions)?;
        let motions = &mut self.system.motions;
        let all = motions.poses.iter_mut().zip(&mut motions.velocities);
        all.zip(&self.read_motions).for_each(|((pose, velocity), read)| {
            (*pose, *velocity) = read.motion();
        });
        Ok(())
    }

    /// Gives pulled bodies the velocity of the step before it starts, for which all motion comes and goes once.
    fn pull(&mut self) -> Result<(), GpuError> {
        if self.system.pulls.is_empty() {
            return Ok(());
        }
        self.take_over()?;
        let mut kicks = Vec::new();
        self.system.pull(|body, kick| kicks.push((body, kick)));
        kicks.into_iter().for_each(|(body, kick)| self.system.motions.velocities[body] += kick);
        self.upload_motions()
    }

    /// Tells the device of another step length, once everything of the old one has been submitted, and how driven
    /// bodies turn in it, to full precision.
    fn change_step(&mut self) -> Result<(), GpuError> {
        self.flush()?;
        let system = &self.system;
        let counts = [system.masses.len(), system.joints.len()].map(narrow);
        let warm = system.settings.warm_start;
        let constants = layout::StepData::new(&system.constants, warm, counts);
        self.gpu.write(&self.buffers.constants, 0, &[constants])?;
        let turn = |node| layout::quaternion(system.turn(node));
        let turns: Vec<[f32; 4]> = (0..system.masses.len()).map(turn).collect();
        self.gpu.write(&self.buffers.turns, 0, &turns)
    }

    /// Submits what is due.
    fn flush(&mut self) -> Result<(), GpuError> {
        let Some(due) = self.due.take() else { return Ok(()) };
        let mut recorder = self.gpu.record();
        let (bodies, joints) = (self.system.masses.len(), self.system.joints.len());
        if due.begin {
            recorder.stage(&mut self.clock, "prepare");
            recorder.run(&self.calls.prepare_bodies, bodies);
            recorder.run(&self.calls.prepare_joints, joints);
            if self.system.settings.warm_start == WarmStart::On {
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
            recorder.run(&self.calls.multipliers, self.system.joints.len());
            recorder.run(&self.calls.velocities, self.system.masses.len());
        }
    }

    fn read_state(&mut self, out: &mut State) -> Result<(), GpuError> {
        self.take_over()?;
        if self.system.is_within_step() {
            self.gpu.read(&self.buffers.velocities, &mut self.read_velocities)?;
        }
        let solved: Vec<Velocity<f32>> = self.read_velocities.iter().map(Into::into).collect();
        self.system.read(&solved, out);
        Ok(())
    }
}

impl Solver for OnGpu {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(state)?;
        self.upload().map_err(fault)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        if self.system.begin(step.dt) {
            self.change_step().map_err(fault)?;
        }
        self.pull().map_err(fault)?;
        self.due.begin = true;
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.due.iterations += 1;
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.due.finish = true;
        self.system.end();
        self.flush().map_err(fault)
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.read_state(out).map_err(fault)
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.system.pulls.set(pulls);
        true
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
        ron::to_string(&self.system.settings).unwrap_or_default()
    }
}
