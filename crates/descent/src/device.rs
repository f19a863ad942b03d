//! The same system on a graphics adapter: bodies, rows, contacts and sweep.
//!
//! The shaders of `shaders/descent` repeat the CPU's arithmetic operation by operation, in single precision
//! and in the coloured order, so that both give the same bits. A [`System`] on the host holds the layout and
//! takes the motion over when somebody reads. What a method adds, such as multipliers, are kernels of its own
//! over the same buffers.

mod breaking;
mod buffers;
mod bytes;
mod contact;
mod finder;
mod layout;
mod record;
mod solver;
mod spec;
mod store;
mod touch;
mod transfer;

use bytemuck::Pod;
use taut_collide::Style;
use taut_core::{BuildError, Multipliers, Scene, SolverError, StageTime, State};
use taut_gpu::{Buffer, Call, Clock, Gpu, GpuError};
use taut_model::Order;
use taut_model_gpu::{Due, Retry, drain_times, fault, unbuilt};

use crate::{
    collision::Collision, contacts::ContactStore, element::AngularRows, host::Method,
    options::Options, patch::Patch, system::System,
};

use breaking::Breaker;
use buffers::Buffers;
pub use bytes::bytes_per_stage;
pub use solver::{DeviceMethod, OnDevice};
pub use spec::{Breaking, ContactKernels, DeviceSpec, ElementStart};
use touch::DeviceContacts;

/// A system whose motion is on a device.
pub(crate) struct Device {
    gpu: Gpu,
    scene: Scene,
    /// Layout, and the motion as it was last read.
    system: System<f32>,
    /// By which number shaders know how each element's rows are computed.
    kinds: Vec<u32>,
    /// How each element starts from a state that is loaded.
    starts: Vec<ElementStart>,
    /// What of stiffness and of multipliers the method keeps from step to step.
    decay: [f32; 2],
    buffers: Buffers,
    predict: Call,
    aim: Call,
    sweep: Vec<(Call, usize)>,
    finish: Call,
    /// The method's own kernel after the aims are set, and the one after each sweep, over all elements.
    hooks: [Option<Call>; 2],
    contacts: Option<DeviceContacts>,
    breaker: Option<Breaker>,
    stabiliser: Option<Stabiliser>,
    /// Where nodes were before the step, where the device searches for contacts.
    before: Option<Buffer<layout::Base>>,
    /// What a step is done again from whose contacts found no room.
    retry: Retry,
    clock: Clock,
    due: Due,
    dt: f64,
}

/// What a last sweep, that corrects all error and makes no velocity of it, takes besides.
struct Stabiliser {
    rates: Call,
    aim: Call,
    commit: Call,
}

/// Refuses settings that only the CPU has.
pub(crate) fn check(options: &Options) -> Result<(), BuildError> {
    let wrong = |text: &str| Err(BuildError::Settings(text.to_owned()));
    if options.order != Order::Coloured {
        return wrong("order is coloured on a graphics adapter");
    }
    if options.angular != AngularRows::RestPose {
        return wrong("angular_rows is rest_pose on a graphics adapter");
    }
    if options.contacts != Style::Common {
        return wrong("contacts are common on a graphics adapter");
    }
    Ok(())
}

impl Device {
    /// Lays out a scene; `configure` sets what the method wants of the elements.
    pub(crate) fn new(
        gpu: &Gpu,
        scene: &Scene,
        options: Options,
        configure: impl FnOnce(&mut System<f32>),
    ) -> Result<Self, BuildError> {
        let mut system = System::new(scene, options);
        configure(&mut system);
        let kinds = layout::numbers(&system.definitions)?;
        Self::over(gpu, scene, system, kinds).map_err(unbuilt)
    }

    fn over(
        gpu: &Gpu,
        scene: &Scene,
        system: System<f32>,
        kinds: Vec<u32>,
    ) -> Result<Self, GpuError> {
        let buffers = Buffers::new(gpu, &system)?;
        let bindings = buffers.bindings();
        let colours = system.layout.colours.windows(2).map(|pair| pair[1] - pair[0]);
        let sweep = buffers.colours.iter().zip(colours).map(|(colour, count)| {
            let bindings = bindings.clone().with("colour", colour);
            Ok((gpu.call("descent/sweep.wgsl", "sweep", &bindings)?, count))
        });
        let device = Self {
            gpu: gpu.clone(),
            scene: scene.clone(),
            kinds,
            starts: vec![ElementStart::default(); system.elements.len()],
            decay: [1.0; 2],
            predict: gpu.call("descent/begin.wgsl", "predict", &bindings)?,
            aim: gpu.call("descent/begin.wgsl", "aim", &bindings)?,
            sweep: sweep.collect::<Result<_, GpuError>>()?,
            finish: gpu.call("descent/finish.wgsl", "finish", &bindings)?,
            hooks: [None, None],
            contacts: None,
            breaker: None,
            stabiliser: None,
            before: None,
            retry: Retry::default(),
            clock: Clock::new(gpu)?,
            due: Due::default(),
            dt: 0.0,
            system,
            buffers,
        };
        Ok(device)
    }

    /// Adds the method's own kernels of one shader: one that runs once the aims of a step are set, and one
    /// after each sweep, both over all elements.
    pub(crate) fn hook<T: Pod>(
        &mut self,
        shader: &str,
        entries: [&str; 2],
        name: &'static str,
        buffer: &Buffer<T>,
    ) -> Result<(), GpuError> {
        let bindings = self.buffers.bindings().with(name, buffer);
        for (hook, entry) in self.hooks.iter_mut().zip(entries) {
            *hook = Some(self.gpu.call(shader, entry, &bindings)?);
        }
        Ok(())
    }

    /// Lets the method's kernels work on contacts, in a scene that has any.
    pub(crate) fn touch_by(
        &mut self,
        kernels: ContactKernels,
        collision: Collision,
    ) -> Result<(), GpuError> {
        if self.system.contacts.is_none() {
            return Ok(());
        }
        let (how, bindings) = ((kernels, collision), self.buffers.bindings());
        self.contacts =
            Some(DeviceContacts::new(&self.gpu, bindings, &self.scene, &self.system, how)?);
        if collision == Collision::Device {
            self.before = Some(self.retry.watch(&self.gpu, &self.buffers.bases)?);
            self.retry.watch(&self.gpu, &self.buffers.elements)?;
            if let Some(finder) = self.contacts.as_ref().and_then(|c| c.finder.as_ref()) {
                self.retry.watch(&self.gpu, &finder.graph.memory())?;
            }
            if let Some(breaker) = &self.breaker {
                self.retry.watch(&self.gpu, breaker.broken())?;
            }
        }
        Ok(())
    }

    /// Lets joints go that bear no more, in a scene that has any such.
    pub(crate) fn break_joints(&mut self, when: Breaking) -> Result<(), GpuError> {
        let (definitions, bindings) = (&self.system.definitions, self.buffers.bindings());
        self.breaker = Breaker::new(&self.gpu, &self.scene, definitions, bindings, when)?;
        Ok(())
    }

    /// Ends each step with a sweep that corrects the error that is left without making it velocity.
    pub(crate) fn stabilise(&mut self) -> Result<(), GpuError> {
        let bindings = self.buffers.bindings();
        self.stabiliser = Some(Stabiliser {
            rates: self.gpu.call("descent/finish.wgsl", "rates", &bindings)?,
            aim: self.gpu.call("descent/begin.wgsl", "aim_at_all", &bindings)?,
            commit: self.gpu.call("descent/finish.wgsl", "commit", &bindings)?,
        });
        Ok(())
    }

    /// Sets the parameters of the method's law of contact and of how contacts start, as its shader has
    /// them.
    pub(crate) fn govern(&mut self, law: &impl Pod, begin: &impl Pod) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.settle()).map_err(fault)?;
        match &self.contacts {
            Some(contacts) => contacts.govern(&self.gpu, law, begin).map_err(fault),
            None => Ok(()),
        }
    }

    /// Finds the contacts of a step of length `dt` [s], where that is the host's work; the method prepares
    /// them and says how the stiffness of each patch is bounded and grows.
    pub(crate) fn detect(
        &mut self,
        dt: f64,
        prepare: impl FnOnce(&mut ContactStore<f32>) -> Vec<[f32; 4]>,
    ) -> Result<(), SolverError> {
        if self.before.is_some() {
            return Ok(());
        }
        let Some(contacts) = self.contacts.take() else { return Ok(()) };
        self.contacts = Some(self.detect_with(contacts, dt, prepare).map_err(fault)?);
        Ok(())
    }

    fn detect_with(
        &mut self,
        contacts: DeviceContacts,
        dt: f64,
        prepare: impl FnOnce(&mut ContactStore<f32>) -> Vec<[f32; 4]>,
    ) -> Result<DeviceContacts, GpuError> {
        self.flush()?;
        if dt != self.dt {
            self.change_step(dt)?;
        }
        self.take_over()?;
        let system = &mut self.system;
        let Some(touch) = &mut system.contacts else { return Ok(contacts) };
        contacts.take_over(&self.gpu, touch)?;
        touch.follow(&system.nodes_base, &system.layout, &system.broken, dt);
        let ramps = prepare(touch);
        contacts.upload(&self.gpu, self.buffers.bindings(), touch, &ramps)
    }

    /// Replaces the state and forgets the step before.
    pub(crate) fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(&self.scene, state)?;
        self.due = Due::default();
        self.retry.close();
        self.dt = 0.0;
        if let Some(finder) = self.contacts.as_mut().and_then(|c| c.finder.as_mut()) {
            finder.forget().map_err(fault)?;
        }
        self.upload().map_err(fault)
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self, dt: f64) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.settle()).map_err(fault)?;
        if dt != self.dt {
            self.change_step(dt).map_err(fault)?;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the step is taken in single precision"
        )]
        let h = dt as f32;
        (self.system.h, self.system.within_step) = (h, true);
        self.due.begin = true;
        Ok(())
    }

    /// Asks for one more sweep.
    pub(crate) fn iterate(&mut self) {
        self.due.iterations += 1;
    }

    /// Ends the step and submits it.
    pub(crate) fn end(&mut self) -> Result<(), SolverError> {
        self.due.finish = true;
        self.system.time_s += self.dt;
        self.system.within_step = false;
        self.flush().map_err(fault)
    }

    /// Submits what is due and waits for it.
    pub(crate) fn wait(&mut self) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.settle()).and_then(|()| self.gpu.wait()).map_err(fault)
    }

    /// Copies the current iterate, as [`System::read`].
    pub(crate) fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.take_over()).map_err(fault)?;
        self.system.read(out);
        Ok(())
    }

    /// Forces of joints and contacts as they stand; whether they could be read.
    pub(crate) fn read_multipliers(
        &mut self,
        out: &mut Multipliers,
        method: &impl Method<f32>,
    ) -> bool {
        let read =
            self.flush().and_then(|()| self.take_over()).and_then(|()| self.take_ends_over());
        self.system.read_multipliers(out, |system, index| method.force(system, index));
        out.contacts.clear();
        let push = |patch: &Patch<f32>, i| method.push(&self.system, patch, i);
        if let (Some(before), Some(contacts)) = (&self.before, &self.contacts) {
            let mut bases = vec![];
            let read = read.and_then(|()| self.gpu.read(before, &mut bases));
            let placement = |&n: &u32| bases[n as usize].placement();
            let read = read.and_then(|()| {
                let placements: Vec<_> =
                    self.system.layout.bodies().iter().map(placement).collect();
                contacts.read_forces(&self.gpu, &placements, &mut out.contacts, push)
            });
            return read.is_ok();
        }
        if let Some(contacts) = &self.system.contacts {
            contacts.read_forces(&mut out.contacts, push);
        }
        read.is_ok()
    }

    /// Appends the stages' times on the device.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(contacts) = &mut self.system.contacts {
            contacts.drain_times(out);
        }
        drain_times(&mut self.clock, &self.gpu, out);
    }
}
