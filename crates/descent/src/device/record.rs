//! What a step does on a device, in its order, and what is done again where contacts had no room.

use taut_gpu::{Clock, GpuError, Recorder};
use taut_model_gpu::Due;

use super::{Device, breaking::Breaker, spec::Breaking};

impl Device {
    /// Submits what is due.
    pub(super) fn flush(&mut self) -> Result<(), GpuError> {
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
    pub(super) fn settle(&mut self) -> Result<(), GpuError> {
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
