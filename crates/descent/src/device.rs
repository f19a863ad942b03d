//! The same system on a graphics adapter: bodies, rows, contacts and sweep.
//!
//! The shaders of `shaders/descent` repeat the CPU's arithmetic operation by operation, in single precision
//! and in the coloured order, so that both give the same bits. A [`System`] on the host holds the layout and
//! takes the motion over when somebody reads. What a method adds, such as multipliers, are kernels of its own
//! over the same buffers.

mod breaking;
mod bytes;
mod contact;
mod finder;
mod layout;
mod solver;
mod step;
mod touch;

use bytemuck::Pod;
use taut_collide::Style;
use taut_core::{BuildError, Multipliers, Quat, Scene, SolverError, StageTime, State};
use taut_gpu::{Bindings, Buffer, Call, Clock, Gpu, GpuError, Recorder};
use taut_math::{Q4, V3};

use crate::{
    collision::Collision,
    element::AngularRows,
    node::Order,
    patch::Patch,
    system::{InertiaFrame, Model, Rotation, Start, System},
};

use breaking::Breaker;
pub use breaking::Breaking;
pub use bytes::bytes_per_stage;
pub use solver::{Method, OnDevice};
pub use step::{Due, drain_times, fault, unbuilt};
pub use touch::ContactKernels;
use touch::Contacts;

/// A system whose motion is on a device.
pub struct Device {
    gpu: Gpu,
    scene: Scene,
    /// Layout, and the motion as it was last read.
    pub system: System<f32>,
    /// Share of the error at a step's start that each element leaves uncorrected.
    pub kept: Vec<f32>,
    /// Stiffness of each element when a state is loaded.
    pub stiffness: Vec<f32>,
    /// Whether the multiplier of each element is all of its force after an update.
    pub takes_over: Vec<bool>,
    /// What of stiffness and of multipliers the method keeps from step to step.
    pub decay: [f32; 2],
    buffers: Buffers,
    predict: Call,
    aim: Call,
    sweep: Vec<(Call, usize)>,
    finish: Call,
    /// The method's own kernel after the aims are set, and the one after each sweep, over all elements.
    hooks: [Option<Call>; 2],
    contacts: Option<Contacts>,
    breaker: Option<Breaker>,
    stabiliser: Option<Stabiliser>,
    /// State before the step, where the device searches for contacts and may find no room for them.
    before: Option<Before>,
    clock: Clock,
    due: Due,
    /// What of the current step has been submitted, as long as it may have to be done again.
    taken: Option<Due>,
    dt: f64,
}

/// What it takes to do a step again.
struct Before {
    bases: Buffer<layout::Base>,
    elements: Buffer<layout::Element>,
}

/// What a last sweep, that corrects all error and makes no velocity of it, takes besides.
struct Stabiliser {
    rates: Call,
    aim: Call,
    commit: Call,
}

struct Buffers {
    constants: Buffer<layout::Constants>,
    colours: Vec<Buffer<layout::Colour>>,
    nodes: Buffer<layout::Node>,
    bases: Buffer<layout::Base>,
    incidences: Buffer<layout::Incidence>,
    elements: Buffer<layout::Element>,
}

/// Refuses settings that only the CPU has.
///
/// # Errors
/// Names the setting.
pub fn check(model: &Model) -> Result<(), BuildError> {
    let wrong = |text: &str| Err(BuildError::Settings(text.to_owned()));
    if model.order != Order::Coloured {
        return wrong("order is coloured on a graphics adapter");
    }
    if model.angular != AngularRows::RestPose {
        return wrong("angular_rows is rest_pose on a graphics adapter");
    }
    if model.contacts != Style::Common {
        return wrong("contacts are common on a graphics adapter");
    }
    Ok(())
}

impl Device {
    /// Lays out a scene; `configure` sets what the method wants of the elements.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn new(
        gpu: &Gpu,
        scene: &Scene,
        model: Model,
        configure: impl FnOnce(&mut System<f32>),
    ) -> Result<Self, GpuError> {
        let mut system = System::new(scene, model);
        configure(&mut system);
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
            kept: vec![0.0; system.elements.len()],
            stiffness: vec![0.0; system.elements.len()],
            takes_over: vec![false; system.elements.len()],
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
            clock: Clock::new(gpu)?,
            due: Due::default(),
            taken: None,
            dt: 0.0,
            system,
            buffers,
        };
        Ok(device)
    }

    /// Adds the method's own kernels of one shader: one that runs once the aims of a step are set, and one
    /// after each sweep, both over all elements.
    ///
    /// # Errors
    /// When the shader has no such entry points or wants other buffers.
    pub fn hook<T: Pod>(
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
    ///
    /// # Errors
    /// When the device has no room for them.
    pub fn touch_by(
        &mut self,
        kernels: ContactKernels,
        collision: Collision,
    ) -> Result<(), GpuError> {
        if self.system.touch.is_none() {
            return Ok(());
        }
        let (how, bindings) = ((kernels, collision), self.buffers.bindings());
        self.contacts = Some(Contacts::new(&self.gpu, bindings, &self.scene, &self.system, how)?);
        if collision == Collision::Device {
            let (nodes, elements) = (self.system.nodes.len(), self.system.elements.len());
            self.before = Some(Before {
                bases: self.gpu.buffer("nodes of the step before", nodes)?,
                elements: self.gpu.buffer("elements of the step before", elements)?,
            });
        }
        Ok(())
    }

    /// Lets joints go that bear no more, in a scene that has any such.
    ///
    /// # Errors
    /// When the device has no room for them.
    pub fn break_joints(&mut self, when: Breaking) -> Result<(), GpuError> {
        let (definitions, bindings) = (&self.system.definitions, self.buffers.bindings());
        self.breaker = Breaker::new(&self.gpu, &self.scene, definitions, bindings, when)?;
        Ok(())
    }

    /// Ends each step with a sweep that corrects the error that is left without making it velocity.
    ///
    /// # Errors
    /// When the device fails.
    pub fn stabilise(&mut self) -> Result<(), GpuError> {
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
    ///
    /// # Errors
    /// When the device fails.
    pub fn govern(&mut self, law: [u32; 4], begin: &[[u32; 4]]) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.settle()).map_err(fault)?;
        match &self.contacts {
            Some(contacts) => contacts.govern(&self.gpu, law, begin).map_err(fault),
            None => Ok(()),
        }
    }

    /// Finds the contacts of a step of length `dt` [s], where that is the host's work; the method prepares
    /// them and says how the stiffness of each patch is bounded and grows.
    ///
    /// # Errors
    /// When the device fails.
    pub fn detect(
        &mut self,
        dt: f64,
        prepare: impl FnOnce(&mut crate::Touch<f32>, &mut Vec<[f32; 4]>),
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
        contacts: Contacts,
        dt: f64,
        prepare: impl FnOnce(&mut crate::Touch<f32>, &mut Vec<[f32; 4]>),
    ) -> Result<Contacts, GpuError> {
        self.flush()?;
        if dt != self.dt {
            self.change_step(dt)?;
        }
        self.take_over()?;
        let system = &mut self.system;
        let Some(touch) = &mut system.touch else { return Ok(contacts) };
        contacts.take_over(&self.gpu, touch)?;
        touch.detect(&system.nodes_base, &system.layout, &system.broken, dt);
        let mut ramps = vec![];
        prepare(touch, &mut ramps);
        contacts.upload(&self.gpu, self.buffers.bindings(), touch, &ramps)
    }

    /// Replaces the state and forgets the step before.
    ///
    /// # Errors
    /// When the state does not fit the scene, or the device fails.
    pub fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(&self.scene, state)?;
        self.due = Due::default();
        self.taken = None;
        self.dt = 0.0;
        if let Some(finder) = self.contacts.as_mut().and_then(|c| c.finder.as_mut()) {
            finder.forget().map_err(fault)?;
        }
        self.upload().map_err(fault)
    }

    fn upload(&mut self) -> Result<(), GpuError> {
        let system = &mut self.system;
        for index in 0..system.elements.len() {
            let broken = |joint: usize| system.broken[joint];
            let held = match system.definitions[index].owner {
                crate::Owner::Joint(joint) => !broken(joint),
                crate::Owner::Spring(_) => true,
            };
            system.elements[index].active = held;
            system.elements[index].stiffness = V3([self.stiffness[index]; 3]);
        }
        let nodes: Vec<_> = system.nodes.iter().map(layout::Node::of).collect();
        let ends = system.incidences.iter().zip(&system.anchors);
        let incidences: Vec<_> =
            ends.map(|(end, &anchor)| layout::Incidence::of(end, anchor)).collect();
        let all = system.elements.iter().zip(&system.definitions);
        let all = all.zip(&system.local_bases).zip(self.kept.iter().zip(&self.takes_over));
        let elements: Vec<_> = all
            .map(|(((element, definition), local), (&kept, &takes_over))| {
                layout::Element::of(element, definition, local, kept, takes_over)
            })
            .collect();
        if let Some(breaker) = &self.breaker {
            breaker.upload(&self.gpu, &system.broken)?;
        }
        if let Some(finder) = self.contacts.as_ref().and_then(|c| c.finder.as_ref()) {
            let broken: Vec<u32> = system.broken.iter().map(|&b| u32::from(b)).collect();
            self.gpu.write(finder.detector.broken(), 0, &broken)?;
        }
        self.gpu.write(&self.buffers.nodes, 0, &nodes)?;
        self.upload_bases(0.0)?;
        self.gpu.write(&self.buffers.incidences, 0, &incidences)?;
        self.gpu.write(&self.buffers.elements, 0, &elements)
    }

    /// Takes on a step length: constants, and how driven bodies turn in it.
    fn change_step(&mut self, dt: f64) -> Result<(), GpuError> {
        self.flush()?;
        if self.dt != 0.0 {
            self.take_over()?;
        }
        self.dt = dt;
        if let Some(finder) = self.contacts.as_mut().and_then(|c| c.finder.as_mut()) {
            finder.detector.look_ahead(dt)?;
        }
        let constants = self.constants(dt);
        self.gpu.write(&self.buffers.constants, 0, &[constants])?;
        self.upload_bases(f64::from(constants.h))
    }

    /// Writes where nodes are, and how driven bodies turn in a step of length `h` [s].
    fn upload_bases(&self, h: f64) -> Result<(), GpuError> {
        let of = |base: &crate::node::Base<f32>| {
            let turn = Q4::of(&Quat::from_scaled_axis(base.omega.to_f64() * h));
            layout::Base::of(base, if base.kinematic { turn } else { Q4::IDENTITY })
        };
        let bases: Vec<_> = self.system.nodes_base.iter().map(of).collect();
        self.gpu.write(&self.buffers.bases, 0, &bases)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the step is taken in single precision")]
    fn constants(&self, dt: f64) -> layout::Constants {
        let (system, h) = (&self.system, dt as f32);
        let size = system.gravity.norm();
        layout::Constants {
            gravity: system.gravity.0,
            h,
            square: h * h,
            inverse_h: 1.0 / h,
            inverse_square: 1.0 / (h * h),
            followed: h * size * size,
            nodes: system.nodes.len() as u32,
            moving: system.layout.colours.last().map_or(0, |&last| last as u32),
            elements: system.elements.len() as u32,
            gyroscopic: u32::from(system.model.gyroscopic),
            adaptive: u32::from(system.model.start == Start::Adaptive),
            world_inertia: u32::from(system.model.frame == InertiaFrame::World),
            cayley: u32::from(system.model.rotation == Rotation::Cayley),
            gamma: self.decay[0],
            retain: self.decay[1],
            lanes: system.model.lanes_per_body,
            ..layout::Constants::default()
        }
    }

    /// Begins a step.
    ///
    /// # Errors
    /// When the device fails.
    pub fn begin(&mut self, dt: f64) -> Result<(), SolverError> {
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
    pub fn iterate(&mut self) {
        self.due.iterations += 1;
    }

    /// Ends the step and submits it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn end(&mut self) -> Result<(), SolverError> {
        self.due.finish = true;
        self.system.time_s += self.dt;
        self.system.within_step = false;
        self.flush().map_err(fault)
    }

    /// Submits what is due and waits for it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn wait(&mut self) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.settle()).and_then(|()| self.gpu.wait()).map_err(fault)
    }

    /// Copies the current iterate, as [`System::read`].
    ///
    /// # Errors
    /// When the device fails.
    pub fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.flush().and_then(|()| self.take_over()).map_err(fault)?;
        self.system.read(out);
        Ok(())
    }

    /// Forces of joints and contacts as they stand, from `force` of each element and `push` of each
    /// patch and lane.
    pub fn read_multipliers(
        &mut self,
        out: &mut Multipliers,
        force: impl Fn(&System<f32>, usize) -> V3<f32>,
        push: impl Fn(&System<f32>, &Patch<f32>, usize) -> V3<f32>,
    ) -> bool {
        let read =
            self.flush().and_then(|()| self.take_over()).and_then(|()| self.take_ends_over());
        self.system.read_multipliers(out, force);
        out.contacts.clear();
        let push = |patch: &Patch<f32>, i| push(&self.system, patch, i);
        if let (Some(before), Some(contacts)) = (&self.before, &self.contacts) {
            let mut bases = vec![];
            let read = read.and_then(|()| self.gpu.read(&before.bases, &mut bases));
            let placement = |&n: &u32| bases[n as usize].placement();
            let read = read.and_then(|()| {
                let placements: Vec<_> = self.system.layout.bodies.iter().map(placement).collect();
                contacts.read_forces(&self.gpu, &placements, &mut out.contacts, push)
            });
            return read.is_ok();
        }
        if let Some(touch) = &self.system.touch {
            touch.read_forces(&mut out.contacts, push);
        }
        read.is_ok()
    }

    /// Takes motion and forces over from the device.
    fn take_over(&mut self) -> Result<(), GpuError> {
        self.settle()?;
        let (mut nodes, mut bases, mut elements) = (vec![], vec![], vec![]);
        self.gpu.read(&self.buffers.nodes, &mut nodes)?;
        self.gpu.read(&self.buffers.bases, &mut bases)?;
        self.gpu.read(&self.buffers.elements, &mut elements)?;
        let system = &mut self.system;
        system.nodes.iter_mut().zip(&nodes).for_each(|(node, read)| read.write_to(node));
        system.nodes_base.iter_mut().zip(&bases).for_each(|(base, read)| read.write_to(base));
        system.elements.iter_mut().zip(&elements).for_each(|(e, read)| read.write_to(e));
        if let Some(breaker) = &self.breaker {
            breaker.take_over(&self.gpu, &mut system.broken)?;
        }
        Ok(())
    }

    /// Takes lever arms, joint bases and contacts over, which only forces need.
    fn take_ends_over(&mut self) -> Result<(), GpuError> {
        let (mut ends, mut elements) = (vec![], vec![]);
        self.gpu.read(&self.buffers.incidences, &mut ends)?;
        self.gpu.read(&self.buffers.elements, &mut elements)?;
        let system = &mut self.system;
        system.incidences.iter_mut().zip(&ends).for_each(|(end, read)| read.write_to(end));
        system.bases.iter_mut().zip(&elements).for_each(|(bases, read)| *bases = read.bases());
        if let (Some(contacts), Some(touch)) = (&self.contacts, &mut system.touch) {
            contacts.take_over(&self.gpu, touch)?;
        }
        Ok(())
    }

    /// Appends the stages' times on the device.
    pub fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(touch) = &mut self.system.touch {
            touch.drain_times(out);
        }
        drain_times(&mut self.clock, &self.gpu, out);
    }

    /// Submits what is due.
    fn flush(&mut self) -> Result<(), GpuError> {
        let Some(due) = self.due.take() else { return Ok(()) };
        if due.begin && self.before.is_some() {
            self.taken = Some(due);
        } else if let Some(taken) = &mut self.taken {
            taken.iterations += due.iterations;
            taken.finish |= due.finish;
        }
        self.submit(due, false)
    }

    /// Makes sure that the contacts of the submitted step had room; where they had not, makes room and
    /// does the step again.
    fn settle(&mut self) -> Result<(), GpuError> {
        while let Some(taken) = self.taken {
            let finder = self.contacts.as_mut().and_then(|c| c.finder.as_mut());
            let Some(finder) = finder else { return Ok(()) };
            if !finder.detector.settle()? {
                finder.taken();
                // Iterations may follow, but the search is over.
                self.taken = None;
                return Ok(());
            }
            let mut recorder = self.gpu.record();
            if let Some(breaker) = &self.breaker {
                recorder.copy(finder.detector.broken(), breaker.broken());
            }
            if let Some(before) = &self.before {
                recorder.copy(&before.bases, &self.buffers.bases);
                recorder.copy(&before.elements, &self.buffers.elements);
            }
            recorder.submit(&mut Clock::default())?;
            if let Some(contacts) = self.contacts.take() {
                self.contacts = Some(contacts.grow(&self.gpu, self.buffers.bindings())?);
            }
            self.submit(taken, true)?;
        }
        Ok(())
    }

    /// Submits a part of a step; `again` if its search had no room before.
    fn submit(&mut self, due: Due, again: bool) -> Result<(), GpuError> {
        let (nodes, elements) = (self.system.nodes.len(), self.system.elements.len());
        let mut recorder = self.gpu.record();
        if due.begin {
            if let (Some(before), Some(contacts)) = (&self.before, &mut self.contacts) {
                recorder.stage(&mut self.clock, "collide");
                recorder.copy(&self.buffers.bases, &before.bases);
                recorder.copy(&self.buffers.elements, &before.elements);
                let broken = self.breaker.as_ref().map(Breaker::broken);
                contacts.find(&mut recorder, broken, again);
            }
            recorder.stage(&mut self.clock, "prepare");
            recorder.run(&self.predict, nodes);
            recorder.run(&self.aim, elements);
            self.hooks[0].iter().for_each(|call| recorder.run(call, elements));
        }
        if due.iterations > 0 {
            recorder.stage(&mut self.clock, "iterate");
        }
        for _ in 0..due.iterations {
            self.record_sweep(&mut recorder);
            self.contacts.iter().for_each(|contacts| contacts.update(&mut recorder));
            self.hooks[1].iter().for_each(|call| recorder.run(call, elements));
            self.record_breaking(&mut recorder, Breaking::EverySweep);
        }
        if due.finish {
            recorder.stage(&mut self.clock, "finish");
            self.record_finish(&mut recorder);
        }
        recorder.submit(&mut self.clock)
    }
}

impl Device {
    fn record_sweep(&self, recorder: &mut Recorder) {
        match &self.contacts {
            Some(contacts) => contacts.sweep(recorder),
            None => self.sweep.iter().for_each(|(call, count)| recorder.run(call, *count)),
        }
    }

    fn record_breaking(&self, recorder: &mut Recorder, when: Breaking) {
        let due = self.breaker.iter().filter(|breaker| breaker.when == when);
        due.for_each(|breaker| breaker.record(recorder));
    }

    fn record_finish(&self, recorder: &mut Recorder) {
        let (nodes, elements) = (self.system.nodes.len(), self.system.elements.len());
        self.contacts.iter().for_each(|contacts| contacts.follow(recorder));
        self.record_breaking(recorder, Breaking::EveryStep);
        let Some(stabiliser) = &self.stabiliser else {
            return recorder.run(&self.finish, nodes);
        };
        recorder.run(&stabiliser.rates, nodes);
        recorder.run(&stabiliser.aim, elements);
        self.contacts.iter().for_each(|contacts| contacts.stabilise(recorder));
        self.record_sweep(recorder);
        recorder.run(&stabiliser.commit, nodes);
    }
}

impl Buffers {
    fn new(gpu: &Gpu, system: &System<f32>) -> Result<Self, GpuError> {
        let colour = |pair: &[usize]| {
            let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let (first, count) = (narrow(pair[0]), narrow(pair[1] - pair[0]));
            gpu.upload("colour", &[layout::Colour { first, count, ..Default::default() }])
        };
        Ok(Self {
            constants: gpu.buffer("constants of a step", 1)?,
            colours: system.layout.colours.windows(2).map(colour).collect::<Result<_, _>>()?,
            nodes: gpu.buffer("nodes", system.nodes.len())?,
            bases: gpu.buffer("bases of nodes", system.nodes.len())?,
            incidences: gpu.buffer("ends of elements", system.incidences.len())?,
            elements: gpu.buffer("elements", system.elements.len())?,
        })
    }

    fn bindings(&self) -> Bindings<'_> {
        Bindings::default()
            .with("constants", &self.constants)
            .with("nodes", &self.nodes)
            .with("bases", &self.bases)
            .with("incidences", &self.incidences)
            .with("elements", &self.elements)
    }
}
