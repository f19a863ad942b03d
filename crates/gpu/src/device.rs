//! Adapters, and the device and queue of the chosen one.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use wgpu::{
    Adapter, Backends, DeviceDescriptor, DeviceType, ErrorFilter, Features, Instance,
    InstanceDescriptor, InstanceFlags, Limits, PollType,
};

use crate::{GpuError, pipeline::Kernel};

/// Environment variable under which tests fail where they find no adapter, instead of passing by.
pub const REQUIRE: &str = "TAUT_REQUIRE_GPU";

/// What it takes to time stages on the device.
const TIMES: Features = Features::TIMESTAMP_QUERY.union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

/// What is known of an adapter before it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterFacts {
    /// Its name, as its driver gives it.
    pub name: String,
    /// The programming interface through which it is used.
    pub interface: String,
    /// Driver and version.
    pub driver: String,
    /// Whether it computes on the processor: right, but no measure of speed.
    pub software: bool,
}

impl fmt::Display for AdapterFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.software { ", software" } else { "" };
        write!(f, "{} ({}, {}{kind})", self.name, self.interface, self.driver)
    }
}

/// Work asked of a device since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Dispatches recorded.
    pub dispatches: u64,
    /// Command buffers submitted.
    pub submissions: u64,
    /// Buffers read back.
    pub reads: u64,
}

/// An adapter in use. Clones share it; threads may share it too.
#[derive(Clone)]
pub struct Gpu(Arc<Inner>);

struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    facts: AdapterFacts,
    limits: Limits,
    fault: Arc<Mutex<Option<GpuError>>>,
    kernels: Mutex<BTreeMap<(String, String), Arc<Kernel>>>,
    /// Threads per workgroup where that is free, if not the usual number.
    threads: Option<u32>,
    dispatches: AtomicU64,
    submissions: AtomicU64,
    reads: AtomicU64,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gpu").field(&self.0.facts).finish()
    }
}

/// All adapters, the likely fastest first: cards, built-in ones, virtual ones, software.
pub fn adapters() -> Vec<AdapterFacts> {
    find().iter().map(facts).collect()
}

fn find() -> Vec<Adapter> {
    let mut descriptor = InstanceDescriptor::new_without_display_handle();
    descriptor.backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
    // Debugging layers differ from machine to machine; indirect dispatches are worth a check.
    descriptor.flags = InstanceFlags::VALIDATION_INDIRECT_CALL.with_env();
    let instance = Instance::new(descriptor);
    let mut found = pollster::block_on(instance.enumerate_adapters(Backends::all()));
    let rank = |adapter: &Adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    };
    found.sort_by_key(rank);
    found
}

fn facts(adapter: &Adapter) -> AdapterFacts {
    let info = adapter.get_info();
    AdapterFacts {
        name: info.name,
        interface: format!("{:?}", info.backend),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        software: info.device_type == DeviceType::Cpu,
    }
}

/// Index of the adapter that is meant: by number, by part of the name, or the first.
fn choose(all: &[AdapterFacts], wanted: Option<&str>) -> Result<usize, GpuError> {
    let list = || {
        let lines = all.iter().enumerate().map(|(i, facts)| format!("\n  {i}: {facts}"));
        lines.collect::<String>()
    };
    let none = |message: String| Err(GpuError::NoAdapter(message));
    if all.is_empty() {
        return none("no graphics adapter with Vulkan, Metal or DirectX 12 was found".to_owned());
    }
    let Some(wanted) = wanted else { return Ok(0) };
    if let Ok(index) = wanted.parse::<usize>() {
        return match all.get(index) {
            Some(_) => Ok(index),
            None => none(format!("there is no adapter {index}; there are:{}", list())),
        };
    }
    let part = wanted.to_lowercase();
    match all.iter().position(|facts| facts.name.to_lowercase().contains(&part)) {
        Some(index) => Ok(index),
        None => none(format!("no adapter's name contains `{wanted}`; there are:{}", list())),
    }
}

/// A lock on data that no panic can leave half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens an adapter: by its index in [`adapters`], by part of its name, or the first.
    ///
    /// # Errors
    /// When there is none such (the message lists those there are), or when it does not open.
    pub fn open(wanted: Option<&str>) -> Result<Self, GpuError> {
        let found = find();
        let known: Vec<AdapterFacts> = found.iter().map(facts).collect();
        let index = choose(&known, wanted)?;
        let adapter = &found[index];
        let limits = adapter.limits();
        let descriptor = DeviceDescriptor {
            label: Some("taut"),
            required_features: adapter.features() & TIMES,
            required_limits: limits.clone(),
            ..DeviceDescriptor::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|error| {
            GpuError::NoAdapter(format!("cannot open {}: {error}", known[index]))
        })?;
        let fault = Arc::new(Mutex::new(None));
        let slot = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&slot).get_or_insert(translate(error));
        }));
        let slot = fault.clone();
        device.set_device_lost_callback(move |_, message| {
            *lock(&slot) = Some(GpuError::Lost(message));
        });
        Ok(Self(Arc::new(Inner {
            device,
            queue,
            facts: known[index].clone(),
            limits,
            fault,
            kernels: Mutex::default(),
            threads: None,
            dispatches: AtomicU64::new(0),
            submissions: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        })))
    }

    /// The device that a table of backends hands over without knowing its type.
    ///
    /// # Errors
    /// When it is another kind of device.
    pub fn of(device: &dyn Any) -> Result<&Self, GpuError> {
        device
            .downcast_ref()
            .ok_or_else(|| GpuError::NoAdapter("not a graphics adapter".to_owned()))
    }

    /// The device for a test: none where there is no adapter, unless [`REQUIRE`] is set.
    ///
    /// # Panics
    /// When [`REQUIRE`] is set and no adapter opens.
    pub fn for_test() -> Option<Self> {
        match Self::open(None) {
            Ok(gpu) => Some(gpu),
            Err(error) if std::env::var_os(REQUIRE).is_some() => {
                panic!("{REQUIRE} is set: {error}")
            }
            Err(error) => {
                println!("ignored: {error}");
                None
            }
        }
    }

    /// The same device with workgroups of another size where shaders leave it free, which is where they say
    /// `const THREADS: u32 = 64u;`. For tests that nothing depends on it.
    #[must_use]
    pub fn resized(&self, threads: u32) -> Self {
        let inner = &self.0;
        Self(Arc::new(Inner {
            device: inner.device.clone(),
            queue: inner.queue.clone(),
            facts: inner.facts.clone(),
            limits: inner.limits.clone(),
            fault: inner.fault.clone(),
            kernels: Mutex::default(),
            threads: Some(threads),
            dispatches: AtomicU64::new(0),
            submissions: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        }))
    }

    /// Threads per workgroup where shaders leave that free, if not the usual number.
    pub(crate) fn threads(&self) -> Option<u32> {
        self.0.threads
    }

    /// What adapter this is.
    pub fn facts(&self) -> &AdapterFacts {
        &self.0.facts
    }

    /// What the adapter allows.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// What was asked of the device since it was opened.
    pub fn counters(&self) -> Counters {
        Counters {
            dispatches: self.0.dispatches.load(Ordering::Relaxed),
            submissions: self.0.submissions.load(Ordering::Relaxed),
            reads: self.0.reads.load(Ordering::Relaxed),
        }
    }

    /// Waits for all work that was submitted.
    ///
    /// # Errors
    /// When the device is lost or a submitted command was refused.
    pub fn wait(&self) -> Result<(), GpuError> {
        let waited = self.device().poll(PollType::wait_indefinitely());
        self.check()?;
        waited.map(drop).map_err(|error| GpuError::Lost(error.to_string()))
    }

    /// Gives the device up at once, as if it had been unplugged.
    pub fn abandon(&self) {
        self.device().destroy();
    }

    /// An error if something went wrong since the last call. A lost device stays lost.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        let mut fault = lock(&self.0.fault);
        match &*fault {
            None => Ok(()),
            Some(lost @ GpuError::Lost(_)) => Err(lost.clone()),
            Some(_) => fault.take().map_or(Ok(()), Err),
        }
    }

    /// Runs `body`, whose faults become its error and nobody else's.
    pub(crate) fn guarded<T>(&self, body: impl FnOnce() -> T) -> Result<T, GpuError> {
        let filters = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation];
        let scopes = filters.map(|filter| self.device().push_error_scope(filter));
        let value = body();
        let mut first = None;
        for scope in scopes.into_iter().rev() {
            let error = pollster::block_on(scope.pop());
            first = first.or(error);
        }
        if first.is_some() {
            // A loss is only told of when the device is asked, and then says more than what it caused.
            let _ = self.device().poll(PollType::Poll);
        }
        self.check()?;
        first.map_or(Ok(value), |error| Err(translate(error)))
    }

    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.0.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    pub(crate) fn count_read(&self) {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_submission(&self, dispatches: u64) {
        self.0.submissions.fetch_add(1, Ordering::Relaxed);
        self.0.dispatches.fetch_add(dispatches, Ordering::Relaxed);
    }

    /// The kernel of that name, made by `make` if it is asked for the first time: drivers compile at
    /// the first dispatch, which takes longer than all else.
    pub(crate) fn cached(
        &self,
        key: (String, String),
        make: impl FnOnce() -> Result<Kernel, GpuError>,
    ) -> Result<Arc<Kernel>, GpuError> {
        let mut kernels = lock(&self.0.kernels);
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(make()?);
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }
}

fn translate(error: wgpu::Error) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { source } => GpuError::OutOfMemory(source.to_string()),
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            GpuError::Refused(description)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str]) -> Vec<AdapterFacts> {
        let fact = |name: &&str| AdapterFacts {
            name: (*name).to_owned(),
            interface: "Vulkan".to_owned(),
            driver: "driver 1".to_owned(),
            software: name.contains("pipe"),
        };
        names.iter().map(fact).collect()
    }

    #[test]
    fn adapters_are_chosen_by_number_or_part_of_the_name() {
        let all = listed(&["Big Card", "Small Card", "llvmpipe"]);
        assert_eq!(choose(&all, None), Ok(0));
        assert_eq!(choose(&all, Some("2")), Ok(2));
        assert_eq!(choose(&all, Some("small")), Ok(1));
        let message = choose(&all, Some("huge")).unwrap_err().to_string();
        assert!(message.contains("`huge`") && message.contains("2: llvmpipe (Vulkan"), "{message}");
        assert!(message.ends_with("software)"), "{message}");
        assert!(choose(&all, Some("3")).unwrap_err().to_string().contains("no adapter 3"));
        assert!(choose(&[], Some("0")).unwrap_err().to_string().contains("was found"));
    }

    #[test]
    fn a_lost_device_is_an_error_and_stays_one() {
        let Some(gpu) = Gpu::for_test() else { return };
        let buffer = gpu.upload("numbers", &[1_u32, 2, 3]).unwrap();
        gpu.abandon();
        let mut out = vec![];
        let results =
            [gpu.read(&buffer, &mut out), gpu.wait(), gpu.upload("more", &[1_u32]).map(drop)];
        assert!(results.iter().all(|r| matches!(r, Err(GpuError::Lost(_)))), "{results:?}");
    }

    #[test]
    fn what_is_refused_is_an_error_once() {
        let Some(gpu) = Gpu::for_test() else { return };
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE;
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false };
        let refused = gpu.guarded(|| gpu.device().create_buffer(&descriptor));
        assert!(matches!(refused, Err(GpuError::Refused(_))), "{refused:?}");
        assert_eq!(gpu.wait(), Ok(()));
    }
}
