//! Exclusive prefix sums.

use crate::{Bindings, Buffer, Call, Gpu, GpuError, Recorder};

/// Values per block, as in `gpu/scan.wgsl`.
const BLOCK: usize = 1024;

/// Replaces a buffer's values by the sums of those before them, modulo 2^32.
#[derive(Debug)]
pub struct Scan {
    levels: Vec<ScanLevel>,
    /// The sum of all values after a run.
    pub total: Buffer<u32>,
}

#[derive(Debug)]
struct ScanLevel {
    count: usize,
    blocks: Call,
    add: Call,
    /// Kept alive for the calls.
    _buffers: (Buffer<[u32; 4]>, Option<Buffer<u32>>),
}

impl Scan {
    /// A scan of all of `values`.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(gpu: &Gpu, values: &Buffer<u32>) -> Result<Self, GpuError> {
        let total = gpu.buffer("total of a scan", 1)?;
        let mut levels: Vec<ScanLevel> = vec![];
        let mut count = values.len();
        while count > 0 {
            let blocks = count.div_ceil(BLOCK);
            let extent = gpu.upload("extent of a scan", &[extent(count)])?;
            let totals = (blocks > 1).then(|| gpu.buffer("block totals", blocks)).transpose()?;
            let above = levels.last().and_then(|level| level._buffers.1.as_ref());
            let bindings = Bindings::default()
                .with("extent", &extent)
                .with("values", above.unwrap_or(values))
                .with("totals", totals.as_ref().unwrap_or(&total));
            levels.push(ScanLevel {
                count,
                blocks: gpu.call("gpu/scan.wgsl", "blocks", &bindings)?,
                add: gpu.call("gpu/scan.wgsl", "add", &bindings)?,
                _buffers: (extent, totals),
            });
            count = if blocks > 1 { blocks } else { 0 };
        }
        Ok(Self { levels, total })
    }

    /// Records the scan.
    pub fn record(&self, recorder: &mut Recorder) {
        for level in &self.levels {
            recorder.run(&level.blocks, level.count.div_ceil(4));
        }
        for level in self.levels.iter().rev().skip(1) {
            recorder.run(&level.add, level.count);
        }
    }
}

/// A count as shaders read it.
pub(crate) fn extent(count: usize) -> [u32; 4] {
    [u32::try_from(count).unwrap_or(u32::MAX), 0, 0, 0]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Clock;

    /// The sizes at which block algorithms go wrong.
    pub(crate) const SIZES: [usize; 6] = [0, 1, 2, 1001, 4096, (1 << 20) + 3];

    /// Numbers that look random and are the same everywhere.
    pub(crate) fn numbers(count: usize, below: u32) -> Vec<u32> {
        let mut x = 0x2545_f491_u32;
        let next = |_| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x % below
        };
        (0..count).map(next).collect()
    }

    /// Runs what `record` records, once.
    pub(crate) fn run(gpu: &Gpu, record: impl FnOnce(&mut Recorder)) {
        let mut recorder = gpu.record();
        record(&mut recorder);
        recorder.submit(&mut Clock::default()).unwrap();
    }

    #[test]
    fn sums_are_those_of_a_loop() {
        let Some(gpu) = Gpu::for_test() else { return };
        for size in SIZES {
            let values = numbers(size, 1000);
            let buffer = gpu.upload("values", &values).unwrap();
            let scan = Scan::new(&gpu, &buffer).unwrap();
            run(&gpu, |recorder| scan.record(recorder));
            let (mut sums, mut total) = (vec![], vec![]);
            gpu.read(&buffer, &mut sums).unwrap();
            gpu.read(&scan.total, &mut total).unwrap();
            let mut sum = 0;
            for (i, value) in values.iter().enumerate() {
                assert_eq!(sums[i], sum, "value {i} of {size}");
                sum += value;
            }
            assert_eq!(total, [sum], "{size}");
        }
    }
}
