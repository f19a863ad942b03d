//! What a step does on a device, in its order, and what is done again where contacts had no room.

use taut_gpu::{Clock, GpuError, Recorder};
use taut_model_gpu::Due;

use super::{Device, breaking::Breaker, spec::Breaking};

impl Device {
    /// Submits what is due.
    pub(super) fn flush(&mut self) -> Result<(), GpuError> {
        match self.due.take() {
            Some(due) => self.submit(due, false),
            None => Ok(()),
        }
    }

    /// Makes sure that the contacts of the submitted step had room; where they had not, makes room and
    /// does the step again.
    pub(super) fn settle(&mut self) -> Result<(), GpuError> {
        while self.retry.is_open() {
            let finder = self.contacts.as_mut().and_then(|c| c.finder.as_mut());
            let Some(finder) = finder else { return Ok(()) };
            if !finder.detector.settle()? {
                finder.graph.taken();
                // Iterations may follow, but the search is over.
                self.retry.close();
                return Ok(());
            }
            let mut recorder = self.gpu.record();
            let again = self.retry.again(&mut recorder);
            recorder.submit(&mut Clock::default())?;
            if let Some(contacts) = self.contacts.take() {
                self.contacts = Some(contacts.grow(&self.gpu, self.buffers.bindings())?);
            }
            again.map_or(Ok(()), |due| self.submit(due, true))?;
        }
        Ok(())
    }

    /// Submits a part of a step; `again` if its search had no room before.
    fn submit(&mut self, due: Due, again: bool) -> Result<(), GpuError> {
        let (nodes, elements) = (self.system.nodes.len(), self.system.elements.len());
        let mut recorder = self.gpu.record();
        if due.begin {
            if let (Some(_), Some(contacts)) = (&self.before, &mut self.contacts) {
                recorder.stage(&mut self.clock, "collide");
                self.retry.begin(due, &mut recorder);
                let broken = self.breaker.as_ref().map(Breaker::broken);
                contacts.find(&mut recorder, broken, again);
            }
            recorder.stage(&mut self.clock, "prepare");
            recorder.run(&self.predict, nodes);
            recorder.run(&self.aim, elements);
            self.hooks[0].iter().for_each(|call| recorder.run(call, elements));
        } else {
            self.retry.begin(due, &mut recorder);
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
