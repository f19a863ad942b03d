//! A method of block descent on a device, as a solver.

use bytemuck::Pod;
use taut_core::{
    BuildError, Multipliers, Pull, Scene, Solver, SolverError, StageTime, State, Step,
    scene::FastestMotor,
};
use taut_gpu::{Buffer, Gpu};
use taut_model_gpu::{fault, unbuilt};

use super::{
    Device, check,
    spec::{ContactKernels, DeviceSpec, ElementStart},
};
use crate::{contacts::ContactStore, host::Method, system::System};

/// What a method does on a device besides the sweeps and its kernels.
pub trait DeviceMethod: Method<f32> + Sized {
    /// Parameters of the law of contact, 16 bytes, as `law` in the shader of contacts.
    type Law: Pod;
    /// How contacts start, up to 64 bytes, as `begin` in the shader of contacts.
    type Begin: Pod;
    /// What the kernels of elements know of each, as `ramps` in their shader.
    type Ramp: Pod;
    /// The kernels of contacts.
    const CONTACTS: ContactKernels;

    /// What it wants of a device.
    fn spec(&self) -> DeviceSpec;
    /// Takes on the length of a step [s].
    fn scale(&mut self, system: &System<f32>, dt: f64);
    /// The law of contact for that length.
    fn law(&self) -> Self::Law;
    /// How contacts start that the device finds.
    fn begin(&self) -> Self::Begin;
    /// What the kernels know of each element.
    fn ramps(&self, system: &System<f32>) -> Vec<Self::Ramp>;
    /// How each element starts.
    fn starts(&self, system: &System<f32>) -> Vec<ElementStart>;
    /// Prepares the contacts that the host has found, and says how the stiffness of each patch is bounded and grows.
    fn prepare_contacts(&mut self, contacts: &mut ContactStore<f32>) -> Vec<[f32; 4]>;
}

/// A method and its device.
pub struct OnDevice<M: DeviceMethod> {
    device: Device,
    method: M,
    ramps: Option<Buffer<M::Ramp>>,
    fastest: FastestMotor,
    dt: f64,
}

impl<M: DeviceMethod> OnDevice<M> {
    /// A scene at its initial state.
    ///
    /// # Errors
    /// When settings are not for devices, or the device has no room for the scene.
    pub fn new(gpu: &Gpu, scene: &Scene, mut method: M) -> Result<Self, BuildError> {
        let (spec, options) = (method.spec(), method.options());
        check(&options)?;
        let mut device = Device::new(gpu, scene, options, |system| method.configure(system))?;
        device.decay = spec.decay;
        device.starts = method.starts(&device.system);
        device.break_joints(spec.breaking).map_err(unbuilt)?;
        if spec.stabilise {
            device.stabilise().map_err(unbuilt)?;
        }
        let mut ramps = None;
        if let Some(shader) = spec.elements {
            let all = method.ramps(&device.system);
            let buffer = gpu.upload("stiffness ramps", &all).map_err(unbuilt)?;
            device.hook(shader, ["warm_start", "update"], "ramps", &buffer).map_err(unbuilt)?;
            ramps = Some(buffer);
        }
        device.touch_by(M::CONTACTS, spec.collision).map_err(unbuilt)?;
        device.govern(&method.law(), &method.begin())?;
        device.load(&scene.initial_state())?;
        Ok(Self { device, method, ramps, fastest: FastestMotor::of(scene), dt: scene.dt })
    }

    /// Takes on the length of a step [s].
    fn scale(&mut self, dt: f64) -> Result<(), SolverError> {
        self.device.wait()?;
        self.dt = dt;
        self.method.scale(&self.device.system, dt);
        self.device.govern(&self.method.law(), &self.method.begin())?;
        let Some(buffer) = &self.ramps else { return Ok(()) };
        let all = self.method.ramps(&self.device.system);
        self.device.gpu.write(buffer, 0, &all).map_err(fault)
    }
}

impl<M: DeviceMethod> Solver for OnDevice<M> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.device.load(state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.fastest.check(step.dt)?;
        if step.dt != self.dt {
            self.scale(step.dt)?;
        }
        self.device.pull(step.dt)?;
        let method = &mut self.method;
        self.device.detect(step.dt, |contacts| method.prepare_contacts(contacts))?;
        self.device.begin(step.dt)
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.device.iterate();
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.device.end()
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.device.read(out)
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.device.system.pulls.set(pulls);
        true
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        self.device.wait()
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.device.drain_times(out);
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        self.device.read_multipliers(out, &self.method)
    }

    fn resolved_settings(&self) -> String {
        self.method.resolved_settings()
    }
}
