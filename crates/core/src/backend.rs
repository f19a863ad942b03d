//! Backends: what is true of one before it sees a scene, how it makes a solver, and tables of them.

use std::{any::Any, borrow::Cow, fmt::Debug, path::Path, sync::Arc};

use serde::Deserialize;

use crate::{BuildError, Needs, Scene, Settings, Solver, Unsupported};

/// What a backend says of itself when it is asked; nothing where [`Info`] is all there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Introduction {
    /// Of the engine.
    pub version: Option<String>,
    /// What it does, in a line.
    pub summary: Option<String>,
    /// Where the method is from.
    pub reference: Option<String>,
}

/// One method on one device: a row of the table that the program is run with.
pub trait Backend: Debug + Send + Sync {
    /// Name and origin.
    fn info(&self) -> &Info;

    /// What it can simulate; scenes that need more are refused.
    fn takes(&self) -> Needs;

    /// What two equal runs share, where that is not known before the backend has been asked.
    fn determinism(&self) -> Determinism {
        self.info().determinism
    }

    /// Where its solvers compute, where that is not known before the backend has been asked.
    fn runs(&self) -> Runs {
        self.info().runs
    }

    /// Whether it is an engine of others that comes with an environment of its own: such rows stand in tables of their
    /// own, as what they take is known only where that is there.
    fn is_peer(&self) -> bool {
        false
    }

    /// What it says of itself, where it is not part of this program.
    ///
    /// # Errors
    /// Why it cannot be asked.
    fn introduction(&self) -> Result<Introduction, String> {
        Ok(Introduction::default())
    }

    /// Names of checks that `verify` asks of this backend alone.
    fn own_checks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Runs one of [`Backend::own_checks`]: `Some` reason where it cannot be asked of this backend.
    ///
    /// # Errors
    /// What was found instead.
    fn own_check(&self, name: &str) -> Result<Option<String>, String> {
        Err(format!("there is no check `{name}`"))
    }

    /// Refuses what flags cannot say, such as sizes.
    ///
    /// # Errors
    /// The reason.
    fn refuses(&self, _scene: &Scene) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Makes a solver for a scene from this backend's settings.
    ///
    /// # Errors
    /// Settings that cannot be read, a scene that is refused, or a device that is not here.
    fn build(
        &self,
        scene: &Scene,
        settings: &Settings,
        devices: &dyn Devices,
    ) -> Result<Box<dyn Solver>, BuildError>;

    /// Whether this backend can simulate a scene.
    ///
    /// # Errors
    /// The reason why not: a result row, not a failure.
    fn supports(&self, scene: &Scene) -> Result<(), Unsupported> {
        self.takes().refuse(scene)?;
        self.refuses(scene)
    }
}

/// What is true of a backend before it sees a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Stable name, method then device, used on the command line, in results and in plots.
    pub name: Cow<'static, str>,
    /// One line for `list` and for the README table.
    pub summary: Cow<'static, str>,
    /// The publication implemented, and where it is departed from.
    pub reference: Cow<'static, str>,
    /// What two equal runs share.
    pub determinism: Determinism,
    /// Where its solvers compute.
    pub runs: Runs,
    /// Whether it promises that no surfaces of bodies ever meet; a run that breaks the promise is labelled.
    pub promises_no_intersection: bool,
}

impl Info {
    /// A backend on the processor whose equal runs have equal bits.
    pub const fn new(name: &'static str, summary: &'static str, reference: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            summary: Cow::Borrowed(summary),
            reference: Cow::Borrowed(reference),
            determinism: Determinism::Bitwise,
            runs: Runs::OnCpu,
            promises_no_intersection: false,
        }
    }

    /// The same, with the promise that no surfaces of bodies ever meet.
    #[must_use]
    pub const fn promising_no_intersection(mut self) -> Self {
        self.promises_no_intersection = true;
        self
    }

    /// The same on a graphics device.
    #[must_use]
    pub const fn on_gpu(mut self) -> Self {
        self.runs = Runs::OnGpu;
        self
    }
}

/// What two runs with equal inputs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determinism {
    /// Same machine, same inputs, any number of threads: same bits.
    Bitwise,
    /// Floating-point order varies between runs.
    None,
}

/// Where a backend's solvers compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// On the processor.
    OnCpu,
    /// On the graphics device of [`Devices::gpu`].
    OnGpu,
    /// On a graphics device that it opens by itself.
    OnGpuOfItsOwn,
}

/// The devices of whoever builds solvers, and what else surrounds these.
pub trait Devices {
    /// The graphics device, opened when first asked for. The core knows no device: whoever opens one
    /// and the backends that use it agree on its type.
    ///
    /// # Errors
    /// Why there is none.
    fn gpu(&self) -> Result<&dyn Any, BuildError>;

    /// The file to which is added what a solver in another process says beside its answers; none where nobody keeps it.
    fn words(&self) -> Option<&Path> {
        None
    }

    /// Whether a solver in another process is to have one that has done nothing yet, and does nothing afterwards: times
    /// that are told then owe nothing to what was run before.
    fn anew(&self) -> bool {
        false
    }
}

/// No devices but the processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDevices;

impl Devices for NoDevices {
    fn gpu(&self) -> Result<&dyn Any, BuildError> {
        Err(BuildError::NoDevice("there is no graphics device here".to_owned()))
    }
}

/// A graphics device that is open already.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a>(pub &'a dyn Any);

impl Devices for Given<'_> {
    fn gpu(&self) -> Result<&dyn Any, BuildError> {
        Ok(self.0)
    }
}

/// Makes a solver for a scene from a backend's settings.
pub type Build = fn(&Scene, &Settings, &dyn Devices) -> Result<Box<dyn Solver>, BuildError>;

/// A backend that is known when the program is compiled, so that it can be a constant.
#[derive(Clone, Debug)]
pub struct Native {
    /// Name and origin.
    pub info: Info,
    /// What it can simulate.
    pub takes: Needs,
    /// Refuses what flags cannot say.
    pub refuses: fn(&Scene) -> Result<(), Unsupported>,
    /// Makes a solver.
    pub build: Build,
}

impl Backend for Native {
    fn info(&self) -> &Info {
        &self.info
    }

    fn takes(&self) -> Needs {
        self.takes
    }

    fn refuses(&self, scene: &Scene) -> Result<(), Unsupported> {
        (self.refuses)(scene)
    }

    fn build(
        &self,
        scene: &Scene,
        settings: &Settings,
        devices: &dyn Devices,
    ) -> Result<Box<dyn Solver>, BuildError> {
        (self.build)(scene, settings, devices)
    }
}

/// Backends in the order in which they are listed and drawn.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<Arc<dyn Backend>>);

impl Table {
    /// This table and one more row, which takes the place of a row of the same name.
    #[must_use]
    pub fn with(mut self, backend: impl Backend + 'static) -> Self {
        let backend = Arc::new(backend);
        match self.place(&backend.info().name) {
            Some(place) => self.0[place] = backend,
            None => self.0.push(backend),
        }
        self
    }

    /// The backend of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Backend>> {
        self.iter().find(|backend| backend.info().name == name)
    }

    /// Where the backend of that name stands.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.iter().position(|backend| backend.info().name == name)
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<dyn Backend>> {
        self.0.iter()
    }

    /// All names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|backend| &*backend.info().name)
    }
}
