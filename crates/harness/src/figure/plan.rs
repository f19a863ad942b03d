//! Which runs a figure makes: budgets spelled out, and sizes shrunk for a quick check.

use taut_core::Settings;

use super::{Figure, RunSpec};
use crate::spec::Spec;

/// One run after budgets are spelled out and quick sizes applied.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Label, unique in the figure.
    pub label: String,
    /// Label of the entry that it came from.
    pub group: String,
    /// The entry, with parameters and steps as they are to be run.
    pub run: RunSpec,
    /// Iterations per step.
    pub iterations: u32,
    /// Steps per frame.
    pub substeps: u32,
}

/// The backend that does nothing.
pub(super) const NULL: &str = "null";

/// What two runs have in common that a method which does nothing cannot tell apart.
pub(super) fn null_key(planned: &Planned) -> String {
    let RunSpec { scene, parameters, steps, reference, .. } = &planned.run;
    let substeps = planned.substeps;
    format!("null {scene} {parameters:?} {steps:?} {reference:?} {substeps}")
}

impl Planned {
    /// What the runner is asked for.
    pub(super) fn spec(&self) -> Spec {
        let settings = self.run.settings.as_ref();
        Spec {
            label: self.label.clone(),
            backend: self.run.backend.clone(),
            settings: settings.map_or_else(Settings::default, |s| Settings::from_ron(s.get_ron())),
            iterations: self.iterations,
            substeps: self.substeps,
        }
    }

    /// Name of its method: the backend's without the device.
    pub fn method(&self) -> &str {
        method(&self.run.backend)
    }
}

/// A backend's name without the device that it ends in.
pub(super) fn method(backend: &str) -> &str {
    backend.rsplit_once('-').map_or(backend, |(method, _)| method)
}

impl Figure {
    /// All runs, budgets spelled out.
    pub fn plan(&self, quick: bool) -> Vec<Planned> {
        let mut planned = Vec::new();
        for run in self.runs.iter().flat_map(|run| sizes(run, self.quick.over.filter(|_| quick))) {
            for &iterations in &run.iterations {
                for &substeps in &run.substeps {
                    let label = budget_label(&run, iterations, substeps);
                    let group = run.label.clone();
                    planned.push(Planned { label, group, run: run.clone(), iterations, substeps });
                }
            }
        }
        if quick {
            self.shrink(&mut planned);
        }
        planned
    }

    /// The runs of the method that does nothing that stand for those of a plan: iterations make no difference to it.
    /// Each goes by the [`null_key`] of the runs that it stands for.
    pub(super) fn plan_of_null(&self, plan: &[Planned]) -> Vec<Planned> {
        let mut nulls: Vec<Planned> = Vec::new();
        for planned in plan {
            let key = null_key(planned);
            if nulls.iter().any(|null| null.group == key) {
                continue;
            }
            let run = RunSpec { backend: NULL.to_owned(), settings: None, ..planned.run.clone() };
            nulls.push(Planned { label: key.clone(), group: key, run, ..planned.clone() });
        }
        nulls
    }

    fn shrink(&self, planned: &mut Vec<Planned>) {
        let references: Vec<String> =
            self.runs.iter().filter_map(|run| run.reference.clone()).collect();
        if let Some(most) = self.quick.work {
            planned.retain(|p| references.contains(&p.label) || p.iterations * p.substeps <= most);
        }
        for p in planned {
            if let Some(steps) = self.quick.steps {
                p.run.steps = Some(p.run.steps.map_or(steps, |own| own.min(steps)));
            }
            if let Some(parameters) = self.quick.parameters.get(&p.run.scene) {
                p.run.parameters.extend(parameters.clone());
            }
            if let Some(most) = self.quick.reference_substeps
                && references.contains(&p.label)
            {
                p.substeps = p.substeps.min(most);
            }
        }
    }
}

/// An entry with each value of its sweep among the parameters, those up to `most` where that is given.
fn sizes(run: &RunSpec, most: Option<f64>) -> Vec<RunSpec> {
    let Some(sweep) = &run.over else { return vec![run.clone()] };
    let values = sweep.values.iter().filter(|value| most.is_none_or(|most| **value <= most));
    let sized = |value: &f64| {
        let mut run = run.clone();
        run.parameters.insert(sweep.parameter.clone(), *value);
        run
    };
    values.map(sized).collect()
}

fn budget_label(run: &RunSpec, iterations: u32, substeps: u32) -> String {
    let mut label = run.label.clone();
    if let Some(value) = run.over.as_ref().and_then(|sweep| run.parameters.get(&sweep.parameter)) {
        label += &format!(" {value}");
    }
    if run.iterations.len() > 1 {
        label += &format!(" {iterations}");
    }
    if run.substeps.len() > 1 {
        label += &format!(" {substeps}");
    }
    label
}
