//! A step that may have to be done again, since its search for contacts may find no room on the device.

use bytemuck::Pod;
use taut_gpu::{Buffer, Gpu, GpuError, Recorder};

use crate::step::Due;

/// What it takes to do a step again: its buffers as they were before it, and what of it has been submitted.
#[derive(Debug, Default)]
pub struct Retry {
    /// What is live, and what it was.
    watched: Vec<[Buffer<u8>; 2]>,
    taken: Option<Due>,
}

impl Retry {
    /// Keeps what a buffer held before each step, from the next one on; returns where.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn watch<T: Pod>(&mut self, gpu: &Gpu, live: &Buffer<T>) -> Result<Buffer<T>, GpuError> {
        let before = gpu.buffer("values before the step", live.len())?;
        self.watched.push([live.as_bytes(), before.as_bytes()]);
        Ok(before)
    }

    /// Records what comes before a part of a step that is submitted; nothing where nothing is watched.
    pub fn begin(&mut self, due: Due, recorder: &mut Recorder) {
        if due.begin && !self.watched.is_empty() {
            self.watched.iter().for_each(|[live, before]| recorder.copy(live, before));
            self.taken = Some(due);
        } else if let Some(taken) = &mut self.taken {
            taken.iterations += due.iterations;
            taken.finish |= due.finish;
        }
    }

    /// Whether a step that was begun may still have to be done again.
    pub fn is_open(&self) -> bool {
        self.taken.is_some()
    }

    /// What was submitted holds: the step need not be done again.
    pub fn close(&mut self) {
        self.taken = None;
    }

    /// Records that everything becomes what it was, and says what is to be submitted again.
    pub fn again(&mut self, recorder: &mut Recorder) -> Option<Due> {
        let due = self.taken.take()?;
        self.watched.iter().for_each(|[live, before]| recorder.copy(before, live));
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use taut_gpu::Clock;

    use super::*;

    #[test]
    fn a_step_is_done_again_from_where_it_began() {
        let Some(gpu) = Gpu::for_test() else { return };
        let (live, mut retry) = (gpu.upload("numbers", &[1_u32, 2, 3]).unwrap(), Retry::default());
        let part = |begin, iterations, finish| Due { begin, iterations, finish };
        let mut recorder = gpu.record();
        retry.begin(part(true, 1, false), &mut recorder);
        assert!(!retry.is_open(), "nothing is watched");
        let before = retry.watch(&gpu, &live).unwrap();
        retry.begin(part(true, 1, false), &mut recorder);
        recorder.submit(&mut Clock::default()).unwrap();
        gpu.write(&live, 0, &[9, 9, 9]).unwrap();
        let mut recorder = gpu.record();
        retry.begin(part(false, 2, true), &mut recorder);
        assert_eq!(retry.again(&mut recorder), Some(part(true, 3, true)));
        recorder.submit(&mut Clock::default()).unwrap();
        let mut out = vec![];
        for buffer in [&live, &before] {
            gpu.read(buffer, &mut out).unwrap();
            assert_eq!(out, [1, 2, 3]);
        }
        assert!(!retry.is_open());
    }
}
