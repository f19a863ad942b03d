//! Times of stages on the device's own clock.

use wgpu::{
    BufferDescriptor, BufferUsages, CommandEncoder, Features, QUERY_SIZE, QuerySet,
    QuerySetDescriptor, QueryType,
};

use crate::{Buffer, Gpu, GpuError};

/// Stages between two calls of [`Clock::drain`]; what comes beyond is not timed.
const STAGES: u32 = 1024;

/// One stage's time on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lap {
    /// The stage, as it was called when it was recorded.
    pub stage: &'static str,
    /// How long it took [s].
    pub seconds: f64,
}

/// Takes the times of stages; does nothing on a device without timestamps.
#[derive(Debug, Default)]
pub struct Clock {
    queries: Option<(QuerySet, wgpu::Buffer, Buffer<u64>)>,
    /// Stages begun since the last drain.
    begun: Vec<&'static str>,
    /// How many of them were resolved.
    resolved: u32,
}

impl Clock {
    /// A clock for a device's stages.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        if !gpu.device().features().contains(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS) {
            return Ok(Self::default());
        }
        let size = u64::from(2 * STAGES * QUERY_SIZE);
        let (set, resolve) = gpu.guarded(|| {
            let set = gpu.device().create_query_set(&QuerySetDescriptor {
                label: Some("stages"),
                ty: QueryType::Timestamp,
                count: 2 * STAGES,
            });
            let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
            let label = Some("resolved times");
            let descriptor = BufferDescriptor { label, size, usage, mapped_at_creation: false };
            (set, gpu.device().create_buffer(&descriptor))
        })?;
        let times = gpu.buffer("stage times", 2 * STAGES as usize)?;
        Ok(Self { queries: Some((set, resolve, times)), begun: vec![], resolved: 0 })
    }

    /// Begins a stage, if it can be timed: the first of the queries for its two ends.
    pub(crate) fn begin(
        &mut self,
        encoder: &mut CommandEncoder,
        stage: &'static str,
    ) -> Option<u32> {
        let (set, ..) = self.queries.as_ref()?;
        let index = u32::try_from(self.begun.len()).ok().filter(|index| *index < STAGES)?;
        self.begun.push(stage);
        encoder.write_timestamp(set, 2 * index);
        Some(2 * index)
    }

    /// Ends the stage that began with this query.
    pub(crate) fn end(&mut self, encoder: &mut CommandEncoder, first: u32) {
        if let Some((set, ..)) = &self.queries {
            encoder.write_timestamp(set, first + 1);
        }
    }

    /// Adds what makes the times of finished stages readable.
    pub(crate) fn resolve(&mut self, encoder: &mut CommandEncoder) {
        let (from, to) = (2 * self.resolved, 2 * self.begun.len() as u32);
        let Some((set, resolve, times)) = &self.queries else { return };
        if to > from {
            // Resolving aligns to 256 bytes, so all are resolved again.
            encoder.resolve_query_set(set, 0..to, resolve, 0);
            let bytes = u64::from(to * QUERY_SIZE);
            encoder.copy_buffer_to_buffer(resolve, 0, times.raw(), 0, bytes);
            self.resolved = to / 2;
        }
    }

    /// Appends the times of all stages submitted since the last call, and waits for them.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn drain(&mut self, gpu: &Gpu, out: &mut Vec<Lap>) -> Result<(), GpuError> {
        let Some((_, _, times)) = &self.queries else { return Ok(()) };
        if self.resolved > 0 {
            let mut ticks = Vec::new();
            gpu.read(times, &mut ticks)?;
            let period_s = f64::from(gpu.queue().get_timestamp_period()) * 1e-9;
            for (stage, pair) in
                self.begun.iter().zip(ticks.chunks_exact(2)).take(self.resolved as usize)
            {
                let seconds = pair[1].saturating_sub(pair[0]) as f64 * period_s;
                out.push(Lap { stage, seconds });
            }
        }
        self.begun.clear();
        self.resolved = 0;
        Ok(())
    }
}
