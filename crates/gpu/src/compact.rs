//! Lists of what is wanted among many.

use crate::{
    Bindings, Buffer, Call, Gpu, GpuError, Recorder,
    scan::{Scan, extent},
};

/// Gathers the indices of all flags that are not zero, in order.
#[derive(Debug)]
pub struct Compact {
    count: usize,
    /// The indices; only as many as the total are written.
    pub kept: Buffer<u32>,
    scan: Scan,
    raise: Call,
    keep: Call,
    _buffers: (Buffer<u32>, Buffer<[u32; 4]>),
}

impl Compact {
    /// A gathering of all of `flags`.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(gpu: &Gpu, flags: &Buffer<u32>) -> Result<Self, GpuError> {
        let count = flags.len();
        let places = gpu.buffer("places of the kept", count)?;
        let kept = gpu.buffer("kept indices", count)?;
        let extent = gpu.upload("extent of a gathering", &[extent(count)])?;
        let bindings = Bindings::default().with("extent", &extent).with("flags", flags);
        let raise =
            gpu.call("gpu/group.wgsl", "raise", &bindings.clone().with("order", &places))?;
        let bindings = bindings.with("places", &places).with("kept", &kept);
        let keep = gpu.call("gpu/group.wgsl", "keep", &bindings)?;
        let scan = Scan::new(gpu, &places)?;
        Ok(Self { count, kept, scan, raise, keep, _buffers: (places, extent) })
    }

    /// How many are kept, after a run.
    pub fn total(&self) -> &Buffer<u32> {
        &self.scan.total
    }

    /// Records the gathering.
    pub fn record(&self, recorder: &mut Recorder) {
        recorder.run(&self.raise, self.count);
        self.scan.record(recorder);
        recorder.run(&self.keep, self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::{SIZES, numbers, run};

    #[test]
    fn what_is_wanted_is_kept_in_order() {
        let Some(gpu) = Gpu::for_test() else { return };
        for (size, of) in SIZES.into_iter().flat_map(|size| [(size, 1), (size, 3)]) {
            // One in `of` numbers is zero: all of them, or a third.
            let flags = numbers(size, of);
            let buffer = gpu.upload("flags", &flags).unwrap();
            let compact = Compact::new(&gpu, &buffer).unwrap();
            run(&gpu, |recorder| compact.record(recorder));
            let (mut kept, mut total) = (vec![], vec![]);
            gpu.read(&compact.kept, &mut kept).unwrap();
            gpu.read(compact.total(), &mut total).unwrap();
            let expected: Vec<u32> =
                (0..).zip(&flags).filter(|(_, f)| **f != 0).map(|(i, _)| i).collect();
            assert_eq!(total, [expected.len() as u32], "{size}");
            assert!(kept[..expected.len()] == expected, "{size}");
        }
    }
}
