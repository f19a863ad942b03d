//! A solver whose work another process does.

use std::mem;

use serde_json::json;
use taut_collide::{ContactSet, NONE};
use taut_core::{
    AuditFacts, Elsewhere, Iteration, Multipliers, Scene, Solver, SolverError, SolverReport,
    StageTime, State, Step,
};

use crate::{
    hello::{ContactFinder, Refinement},
    idle::Idle,
    link::{ProcessLink, STAGES},
    settings::{JsonSettings, to_ron},
};

/// By which share of it the time that is told may be off.
const CLOCK_ERROR_MAX: f64 = 1e-2;

/// A scene that a process holds.
#[derive(Debug)]
pub(crate) struct RemoteSolver {
    /// Given back in the end, or ended where nobody may have it after this.
    link: Option<ProcessLink>,
    idle: Option<Idle>,
    scene: Scene,
    settings: JsonSettings,
    /// What the engine says that it compiled, once compared.
    audit: Option<AuditFacts>,
    /// What finds the contacts that are given with each step.
    contacts: Option<ContactSet>,
    /// Of the points that are given: 17 numbers each.
    points: Vec<u8>,
    state: State,
    /// The step that was begun.
    step: Option<Step>,
    /// When the last step ended [s].
    time_s: f64,
    /// Whether a step was begun since the last load, so that there are forces to tell.
    stepped: bool,
    /// Why forces could not be told; all that is asked afterwards fails by it.
    fault: Option<SolverError>,
    /// Of searches for contacts.
    times: Vec<StageTime>,
}

impl RemoteSolver {
    pub(crate) fn new(
        link: ProcessLink,
        idle: Option<Idle>,
        scene: &Scene,
        settings: JsonSettings,
    ) -> Self {
        let given = link.hello.contacts == ContactFinder::Given;
        Self {
            contacts: given.then(|| ContactSet::new(scene)).flatten(),
            link: Some(link),
            idle,
            scene: scene.clone(),
            settings,
            audit: None,
            points: Vec::new(),
            state: State::default(),
            step: None,
            time_s: 0.0,
            stepped: false,
            fault: None,
            times: Vec::new(),
        }
    }

    /// The same with what the engine said of the scene.
    pub(crate) fn audited(mut self, audit: Option<AuditFacts>) -> Self {
        self.audit = audit;
        self
    }

    fn link(&mut self) -> Result<&mut ProcessLink, SolverError> {
        self.without_fault()?;
        self.link.as_mut().ok_or_else(|| SolverError::Process("was given back".to_owned()))
    }

    fn without_fault(&self) -> Result<(), SolverError> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    fn refines(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.hello.iteration == Refinement::Refine)
    }

    /// Finds the contacts of a step from what the process says of the motion.
    fn find(&mut self, dt: f64) -> Result<(), SolverError> {
        self.points.clear();
        let (Some(contacts), Some(link)) = (&mut self.contacts, &mut self.link) else {
            return Ok(());
        };
        link.read(&self.scene, &mut self.state).map_err(|fault| fault.in_a_step())?;
        let list = contacts.detect(self.state.placements(), &self.state.broken, dt);
        for (number, manifold) in list.manifolds.iter().enumerate() {
            for contact in &list.contacts[manifold.range()] {
                let [a, b] = contact.nodes().map(f64::from);
                let [on_a, on_b] = contact.anchors();
                let previous =
                    if contact.previous == NONE { -1.0 } else { f64::from(contact.previous) };
                let [fixed, sliding] = manifold.friction;
                let numbers = [a, b].into_iter().chain(on_a.iter().copied());
                let numbers = numbers.chain(on_b.iter().copied());
                let numbers = numbers.chain(contact.normal.iter().copied());
                let surface = [contact.gap, fixed, sliding, manifold.restitution];
                let numbers = numbers.chain(surface).chain([number as f64, previous]);
                self.points.extend(numbers.flat_map(f64::to_le_bytes));
            }
        }
        contacts.drain_times(&mut self.times);
        Ok(())
    }

    fn whole_steps(&mut self, step: Step, count: u32) -> Result<(), SolverError> {
        self.stepped |= count > 0;
        self.time_s += step.dt * f64::from(count);
        if self.contacts.is_none() {
            return self.link()?.step(step, count, &[]).map_err(|fault| fault.in_a_step());
        }
        for _ in 0..count {
            self.find(step.dt)?;
            let points = mem::take(&mut self.points);
            let done = self.link()?.step(step, 1, &points);
            self.points = points;
            done.map_err(|fault| fault.in_a_step())?;
        }
        Ok(())
    }
}

impl Solver for RemoteSolver {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        (self.step, self.stepped) = (None, false);
        self.time_s = state.time_s;
        if let Some(contacts) = &mut self.contacts {
            contacts.forget();
        }
        self.link()?.load(state).map_err(|fault| fault.in_a_step())
    }

    /// A process that does not refine takes the whole step when that ends.
    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        if self.refines() {
            self.find(step.dt)?;
            let points = mem::take(&mut self.points);
            let asked = json!({"dt": step.dt, "iterations": step.iterations, "count": 1});
            let begun = self.link()?.advance("begin", asked, &points, 0);
            self.points = points;
            begun.map_err(|fault| fault.in_a_step())?;
            self.stepped = true;
        }
        self.step = Some(step);
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        if !self.refines() {
            return Ok(());
        }
        let iterated = self.link()?.advance("iterate", json!({"count": 1}), &[], 0);
        iterated.map_err(|fault| fault.in_a_step())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        let Some(step) = self.step.take() else { return Ok(()) };
        if !self.refines() {
            return self.whole_steps(step, 1);
        }
        self.time_s += step.dt;
        self.link()?.advance("end", json!({}), &[], 1).map_err(|fault| fault.in_a_step())
    }

    fn advance(&mut self, step: Step, count: u32) -> Result<(), SolverError> {
        self.whole_steps(step, count)
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.without_fault()?;
        let Some(link) = &mut self.link else { return Ok(()) };
        link.read(&self.scene, out).map_err(|fault| fault.in_a_step())?;
        // Clocks may sum steps in single precision.
        let off = (out.time_s - self.time_s).abs();
        let is_right = off <= CLOCK_ERROR_MAX * self.time_s.abs().max(f64::MIN_POSITIVE);
        if self.step.is_none() && !is_right {
            let message = format!("tells a time of {} s at {} s", out.time_s, self.time_s);
            return Err(SolverError::Process(message));
        }
        Ok(())
    }

    /// Before a step there are none, and the process is not asked.
    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let Some(link) = self.link.as_mut().filter(|_| self.stepped && self.fault.is_none()) else {
            return false;
        };
        match link.forces(&self.scene, out) {
            Ok(told) => told,
            Err(fault) => {
                self.fault = Some(fault.in_a_step());
                false
            }
        }
    }

    /// Searches for contacts by this side's clock, and what the process says of its stages since the last call.
    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        out.append(&mut self.times);
        let Some(link) = &mut self.link else { return };
        let told = STAGES.iter().zip(&mut link.stages);
        out.extend(told.filter_map(|(&(_, stage), sum)| {
            Some(StageTime { stage, pass: "told", seconds: sum.take()? })
        }));
    }

    fn iteration(&self) -> Iteration {
        self.link.as_ref().map_or(Iteration::Substep, |link| link.hello.sampled())
    }

    fn resolved_settings(&self) -> String {
        to_ron(&self.settings)
    }

    fn audit(&self) -> Option<AuditFacts> {
        self.audit.clone()
    }

    fn check_capacity(&mut self) -> Result<(), SolverError> {
        self.without_fault()?;
        if self.audit.is_none() {
            return Ok(());
        }
        let bodies = self.scene.bodies.len();
        let audit = self.link()?.audit(bodies).map_err(|fault| fault.in_a_step())?;
        audit.map_or(Ok(()), |audit| audit.suffices().map_err(SolverError::Audit))
    }

    fn warnings(&self) -> Vec<String> {
        let Some(audit) = &self.audit else { return Vec::new() };
        let deviations =
            audit.deviations.iter().map(|words| format!("not as in the scene: {words}"));
        let untold = (!audit.untold.is_empty())
            .then(|| format!("the audit is partial, without {}", audit.untold.join(", ")));
        deviations.chain(untold).collect()
    }

    fn report(&self) -> SolverReport {
        let iterations_used = self.link.as_ref().and_then(|link| link.iterations_used);
        SolverReport { iterations_used, ..SolverReport::default() }
    }

    fn elsewhere(&self) -> Option<Elsewhere> {
        let link = self.link.as_ref()?;
        let [wall_s, processor_s] = link.spent;
        Some(Elsewhere { process: link.child.id(), wall_s, processor_s })
    }

    fn ping(&mut self) -> Result<(), SolverError> {
        self.link()?.ping().map_err(|fault| fault.in_a_step())
    }
}

impl Drop for RemoteSolver {
    fn drop(&mut self) {
        if let (Some(link), Some(idle)) = (self.link.take(), &self.idle) {
            idle.give(link);
        }
    }
}
