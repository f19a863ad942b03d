//! The dispatches of a step, collected before any of them runs.

use wgpu::{CommandEncoder, CommandEncoderDescriptor, ComputePass, ComputePassDescriptor};

use crate::{Buffer, Call, Clock, Gpu, GpuError};

/// Collects dispatches, in one pass between copies, and submits them at once.
///
/// Dispatches run in the order in which they were recorded, each as if it waited for the one before.
#[derive(Debug)]
pub struct Recorder {
    gpu: Gpu,
    encoder: CommandEncoder,
    pass: Option<ComputePass<'static>>,
    /// Query at the beginning of the stage at hand.
    stage: Option<u32>,
    dispatches: u64,
}

impl Gpu {
    /// Begins to collect dispatches.
    pub fn record(&self) -> Recorder {
        let descriptor = CommandEncoderDescriptor { label: Some("step") };
        let encoder = self.device().create_command_encoder(&descriptor);
        Recorder { gpu: self.clone(), encoder, pass: None, stage: None, dispatches: 0 }
    }
}

impl Recorder {
    /// Begins a stage, whose time `clock` takes; the one before ends.
    pub fn stage(&mut self, clock: &mut Clock, stage: &'static str) {
        self.end_stage(clock);
        self.stage = clock.begin(&mut self.encoder, stage);
    }

    fn end_stage(&mut self, clock: &mut Clock) {
        self.pass = None;
        if let Some(first) = self.stage.take() {
            clock.end(&mut self.encoder, first);
        }
    }

    /// Runs a kernel on at least `threads` threads; on none if there are none.
    pub fn run(&mut self, call: &Call, threads: usize) {
        let widest = self.gpu.limits().max_compute_workgroups_per_dimension;
        let [x, y] = groups(threads, call.size, widest);
        if x > 0 {
            self.prepare(call).dispatch_workgroups(x, y, 1);
        }
    }

    /// Runs a kernel on as many workgroups as `counts` says from its value `first` on: three numbers.
    pub fn run_indirect(&mut self, call: &Call, counts: &Buffer<u32>, first: usize) {
        let offset = (first * size_of::<u32>()) as u64;
        self.prepare(call).dispatch_workgroups_indirect(counts.raw(), offset);
    }

    /// Copies one buffer's values over another's.
    pub fn copy<T>(&mut self, from: &Buffer<T>, to: &Buffer<T>) {
        self.pass = None;
        let bytes = from.bytes().min(to.bytes());
        self.encoder.copy_buffer_to_buffer(from.raw(), 0, to.raw(), 0, bytes);
    }

    /// Sets all of a buffer to zero.
    pub fn clear<T>(&mut self, buffer: &Buffer<T>) {
        self.pass = None;
        self.encoder.clear_buffer(buffer.raw(), 0, None);
    }

    /// Hands everything to the device; `clock` is the one whose stages were recorded.
    ///
    /// # Errors
    /// When something recorded is refused, or the device is lost.
    pub fn submit(mut self, clock: &mut Clock) -> Result<(), GpuError> {
        self.end_stage(clock);
        clock.resolve(&mut self.encoder);
        let Self { gpu, encoder, dispatches, .. } = self;
        gpu.count_submission(dispatches);
        gpu.guarded(|| {
            gpu.queue().submit([encoder.finish()]);
        })
    }

    fn prepare(&mut self, call: &Call) -> &mut ComputePass<'static> {
        self.dispatches += 1;
        let encoder = &mut self.encoder;
        let pass = self.pass.get_or_insert_with(|| {
            encoder.begin_compute_pass(&ComputePassDescriptor::default()).forget_lifetime()
        });
        pass.set_pipeline(&call.pipeline);
        pass.set_bind_group(0, &call.group, &[]);
        pass
    }
}

/// Workgroups in two dimensions for at least `threads` threads, as `shared/index.wgsl` counts them.
fn groups(threads: usize, size: u32, widest: u32) -> [u32; 2] {
    let count = u32::try_from(threads.div_ceil(size as usize)).unwrap_or(u32::MAX);
    if count <= widest { [count, 1] } else { [widest, count.div_ceil(widest)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bindings;

    #[test]
    fn workgroups_cover_all_threads() {
        assert_eq!(groups(0, 64, 65535), [0, 1]);
        assert_eq!(groups(64, 64, 65535), [1, 1]);
        assert_eq!(groups(65, 64, 65535), [2, 1]);
        assert_eq!(groups(64 * 65536, 64, 65535), [65535, 2]);
    }

    #[test]
    fn stages_run_in_order_and_are_timed() {
        let Some(gpu) = Gpu::for_test() else { return };
        let values = gpu.upload("values", &[3_u32, 5, 7]).unwrap();
        let counts = gpu.upload("counts", &[0_u32, 1, 1, 1]).unwrap();
        let bindings = Bindings::default().with("values", &values);
        let double = gpu.call("gpu/demo.wgsl", "double", &bindings).unwrap();
        let increment = gpu.call("gpu/demo.wgsl", "increment", &bindings).unwrap();
        let mut clock = Clock::new(&gpu).unwrap();
        let (mut out, mut laps) = (vec![], vec![]);
        for expected in [[8, 12, 16], [18, 26, 34]] {
            let before = gpu.counters();
            let mut recorder = gpu.record();
            recorder.stage(&mut clock, "first");
            recorder.run(&increment, 3);
            recorder.stage(&mut clock, "second");
            recorder.run_indirect(&double, &counts, 1);
            recorder.submit(&mut clock).unwrap();
            assert_eq!(gpu.counters().dispatches - before.dispatches, 2);
            gpu.read(&values, &mut out).unwrap();
            assert_eq!(out, expected);
        }
        clock.drain(&gpu, &mut laps).unwrap();
        // A device without timestamps has no laps.
        if !laps.is_empty() {
            let stages: Vec<_> = laps.iter().map(|lap| lap.stage).collect();
            assert_eq!(stages, ["first", "second", "first", "second"]);
            assert!(laps.iter().all(|lap| lap.seconds > 0.0 && lap.seconds < 10.0), "{laps:?}");
        }
    }

    #[test]
    fn a_variable_without_a_buffer_is_named() {
        let Some(gpu) = Gpu::for_test() else { return };
        let error = gpu.call("gpu/demo.wgsl", "double", &Bindings::default()).unwrap_err();
        assert!(error.to_string().contains("nothing is bound to `values`"), "{error}");
        assert!(
            gpu.kernel("gpu/demo.wgsl", "triple").unwrap_err().to_string().contains("`triple`")
        );
        assert!(gpu.kernel("gone.wgsl", "main").unwrap_err().to_string().contains("gone.wgsl"));
    }
}
