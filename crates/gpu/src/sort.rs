//! Stable sorts of keys with values.

use crate::{
    Bindings, Buffer, Call, Gpu, GpuError, Recorder,
    scan::{Scan, extent},
};

/// Keys per block and bits per pass, as in `gpu/sort.wgsl`.
const BLOCK: usize = 1024;
const BITS: u32 = 4;
/// Keys that one thread takes.
const EACH: usize = 8;

/// Sorts keys, and values with them, by the lowest bits of the keys.
#[derive(Debug)]
pub struct RadixSort {
    count: usize,
    passes: Vec<(Call, Call, Buffer<[u32; 4]>)>,
    scan: Scan,
    /// What the result is copied from where it does not end up in its place.
    spare: [Buffer<u32>; 2],
    _counts: Buffer<u32>,
}

impl RadixSort {
    /// A sort of `values` by the lowest `bits` of `keys`; both have the same length.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(
        gpu: &Gpu,
        keys: &Buffer<u32>,
        values: &Buffer<u32>,
        bits: u32,
    ) -> Result<Self, GpuError> {
        let count = keys.len();
        let blocks = count.div_ceil(BLOCK);
        let spare = [gpu.buffer("spare keys", count)?, gpu.buffer("spare values", count)?];
        let counts = gpu.buffer("digit counts", blocks << BITS)?;
        let mut passes = vec![];
        for pass in 0..bits.div_ceil(BITS) {
            let [n, ..] = extent(count);
            let parameters = gpu.upload("sort pass", &[[n, pass * BITS, extent(blocks)[0], 0]])?;
            let (there, back) = ([keys, values], [&spare[0], &spare[1]]);
            let (from, to) = if pass % 2 == 0 { (there, back) } else { (back, there) };
            let bindings = Bindings::default()
                .with("pass_", &parameters)
                .with("keys", from[0])
                .with("values", from[1])
                .with("counts", &counts)
                .with("keys_out", to[0])
                .with("values_out", to[1]);
            let count = gpu.call("gpu/sort.wgsl", "count", &bindings)?;
            let scatter = gpu.call("gpu/sort.wgsl", "scatter", &bindings)?;
            passes.push((count, scatter, parameters));
        }
        let scan = Scan::new(gpu, &counts)?;
        Ok(Self { count, passes, scan, spare, _counts: counts })
    }

    /// Records the sort; the buffers are those it was made for.
    pub fn record(&self, recorder: &mut Recorder, keys: &Buffer<u32>, values: &Buffer<u32>) {
        if self.count == 0 {
            return;
        }
        let threads = self.count.div_ceil(EACH);
        for (count, scatter, _) in &self.passes {
            recorder.run(count, threads);
            self.scan.record(recorder);
            recorder.run(scatter, threads);
        }
        if self.passes.len() % 2 == 1 {
            recorder.copy(&self.spare[0], keys);
            recorder.copy(&self.spare[1], values);
        }
    }
}

/// Groups indices by small keys: where each group starts, and the members in their order.
#[derive(Debug)]
pub struct CountingSort {
    count: usize,
    /// First place in `order` of each group, and one past the last.
    pub starts: Buffer<u32>,
    /// Indices of the keys, group by group, each group in its own order.
    pub order: Buffer<u32>,
    copies: Buffer<u32>,
    sort: RadixSort,
    scan: Scan,
    counting: Call,
    numbering: Call,
    _extent: Buffer<[u32; 4]>,
}

impl CountingSort {
    /// A grouping of `keys`, all of them below `groups`.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(gpu: &Gpu, keys: &Buffer<u32>, groups: usize) -> Result<Self, GpuError> {
        let count = keys.len();
        let starts = gpu.buffer("group starts", groups + 1)?;
        let order = gpu.buffer("grouped indices", count)?;
        let copies = gpu.buffer("copied keys", count)?;
        let extent = gpu.upload("extent of a grouping", &[extent(count)])?;
        let bindings = Bindings::default()
            .with("extent", &extent)
            .with("keys", keys)
            .with("starts", &starts)
            .with("order", &order);
        let counting = gpu.call("gpu/group.wgsl", "count", &bindings)?;
        let numbering = gpu.call("gpu/group.wgsl", "number", &bindings)?;
        let bits = usize::BITS - groups.saturating_sub(1).leading_zeros();
        let sort = RadixSort::new(gpu, &copies, &order, bits)?;
        let scan = Scan::new(gpu, &starts)?;
        Ok(Self { count, starts, order, copies, sort, scan, counting, numbering, _extent: extent })
    }

    /// Records the grouping; `keys` are those it was made for, and stay as they are.
    pub fn record(&self, recorder: &mut Recorder, keys: &Buffer<u32>) {
        recorder.clear(&self.starts);
        recorder.run(&self.counting, self.count);
        self.scan.record(recorder);
        recorder.copy(keys, &self.copies);
        recorder.run(&self.numbering, self.count);
        self.sort.record(recorder, &self.copies, &self.order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::{SIZES, numbers, run};

    #[test]
    fn keys_are_sorted_and_equal_ones_stay_in_order() {
        let Some(gpu) = Gpu::for_test() else { return };
        // An odd and an even number of passes, few and many different keys.
        for (size, bits) in SIZES.into_iter().zip([32, 32, 4, 12, 32, 20]) {
            let keys = numbers(size, 1 << bits.min(31));
            let values: Vec<u32> = (0..).take(size).collect();
            let (a, b) =
                (gpu.upload("keys", &keys).unwrap(), gpu.upload("values", &values).unwrap());
            let sort = RadixSort::new(&gpu, &a, &b, bits).unwrap();
            run(&gpu, |recorder| sort.record(recorder, &a, &b));
            let mut expected: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
            expected.sort_by_key(|&(key, _)| key);
            let (mut sorted, mut moved) = (vec![], vec![]);
            gpu.read(&a, &mut sorted).unwrap();
            gpu.read(&b, &mut moved).unwrap();
            let found: Vec<(u32, u32)> = sorted.into_iter().zip(moved).collect();
            assert!(found == expected, "{size} keys of {bits} bits");
        }
    }

    #[test]
    fn groups_are_complete_and_in_order() {
        let Some(gpu) = Gpu::for_test() else { return };
        for (size, groups) in SIZES.into_iter().zip([1, 1, 7, 40, 5000, 300]) {
            let keys = numbers(size, groups);
            let buffer = gpu.upload("keys", &keys).unwrap();
            let sort = CountingSort::new(&gpu, &buffer, groups as usize).unwrap();
            run(&gpu, |recorder| sort.record(recorder, &buffer));
            let (mut starts, mut order) = (vec![], vec![]);
            gpu.read(&sort.starts, &mut starts).unwrap();
            gpu.read(&sort.order, &mut order).unwrap();
            let mut expected: Vec<u32> = (0..).take(size).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            assert!(order == expected, "{size} keys in {groups} groups");
            assert_eq!(starts.last(), Some(&(size as u32)));
            for group in 0..groups {
                let range = starts[group as usize] as usize..starts[group as usize + 1] as usize;
                assert!(order[range].iter().all(|&i| keys[i as usize] == group));
            }
        }
    }
}
