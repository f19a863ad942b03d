//! A method that takes part in a figure beside its own runs, with the scene and the budget of one of them.
//!
//! It is how a program elsewhere is held to a figure: drawn among the figure's runs, and the only one whose curves and
//! end are recorded and compared, so that nothing but its own changes can fail its check.

use anyhow::{Context, anyhow, ensure};
use ron::value::RawValue;
use taut_core::{Settings, settings::instead};

use super::{Figure, PanelCurves, Planned, RunSpec, load};
use crate::{Setup, checkout::Checkout};

/// Who takes part, and in the manner of which run.
#[derive(Clone, Debug, PartialEq)]
pub struct Guest {
    /// Its name in legends and records; several budgets are appended as to any run's.
    pub label: String,
    /// Name in the table of backends.
    pub backend: String,
    /// What only the backend understands.
    pub settings: Settings,
    /// The run whose scene, budget and reference it takes, or the entry of runs, with all of its budgets.
    pub like: String,
}

/// Reads a figure, with a guest among its runs if there is one.
///
/// # Errors
/// Those of [`load`], and when the figure has no place for the guest.
pub fn load_with(
    root: &Checkout,
    id: &str,
    setup: &Setup,
    (guest, quick): (Option<&Guest>, bool),
) -> anyhow::Result<Figure> {
    let mut figure = load(root, id, setup)?;
    if let Some(guest) = guest {
        figure.admit(guest).with_context(|| format!("figure `{id}`"))?;
        let runs = figure.plan(quick).iter().any(|planned| planned.group == guest.label);
        ensure!(runs, "figure `{id}`: `{}` is not run with --quick", guest.like);
    }
    Ok(figure)
}

impl Figure {
    fn admit(&mut self, guest: &Guest) -> anyhow::Result<()> {
        let Guest { label, like, .. } = guest;
        let run = self.like(like)?;
        let plan = self.plan(false);
        // Budgets append the same to its label as to that of an entry which it is like.
        let budgets = plan.iter().filter(|planned| planned.group == *like);
        let own = |planned: &Planned| {
            planned.label.strip_prefix(like.as_str()).map(|budget| format!("{label}{budget}"))
        };
        let budgets: Vec<(&Planned, String)> = budgets.filter_map(|p| Some((p, own(p)?))).collect();
        let mut held = false;
        for panel in &mut self.plot.panels {
            // Profiles are made of entries of their own, which a guest has none of.
            if panel.profile.is_none() && !panel.runs.is_empty() {
                let named = budgets.iter().filter(|(p, _)| panel.takes(&p.label, &p.group));
                let shown: Vec<String> = match panel.takes(like, &run.label) {
                    true => vec![label.clone()],
                    false => named.map(|(_, own)| own.clone()).collect(),
                };
                held |= panel.is_recorded() && !shown.is_empty();
                panel.runs.extend(shown);
            } else {
                held |= panel.is_recorded();
            }
        }
        ensure!(
            held,
            "no recorded panel shows `{like}`, so that nothing of `{label}` could be held"
        );
        let settings = RawValue::from_ron(guest.settings.as_str());
        let settings = settings.map_err(|error| anyhow!("settings of `{label}`: {error}"))?;
        self.runs.push(RunSpec {
            label: label.clone(),
            backend: guest.backend.clone(),
            settings: Some(settings.to_owned()),
            needs_hardware: false,
            ..run
        });
        let plan = self.plan(false);
        let mut own = plan.iter().filter(|planned| planned.group == *label);
        let twice = own.any(|one| plan.iter().filter(|p| p.label == one.label).count() > 1);
        let entries = self.runs.iter().filter(|run| run.label == *label).count();
        ensure!(
            !twice && entries == 1,
            "the figure has a run `{label}` of its own: label yours otherwise"
        );
        self.guest = Some(guest.clone());
        Ok(())
    }

    /// The entry whose runs are those of `name`: of one budget, or of all of an entry.
    fn like(&self, name: &str) -> anyhow::Result<RunSpec> {
        let plan = self.plan(false);
        if let Some(planned) = plan.iter().find(|planned| planned.label == name) {
            let is_reference = plan.iter().any(|p| p.run.reference.as_deref() == Some(name));
            let own = planned.run.reference.clone();
            return Ok(RunSpec {
                over: None,
                iterations: vec![planned.iterations],
                substeps: vec![planned.substeps],
                reference: own.or(is_reference.then(|| name.to_owned())),
                ..planned.run.clone()
            });
        }
        self.runs.iter().find(|run| run.label == name).cloned().with_context(|| {
            let mut known: Vec<&str> = self.runs.iter().map(|run| run.label.as_str()).collect();
            known.extend(plan.iter().map(|planned| planned.label.as_str()));
            known.sort_unstable();
            known.dedup();
            format!("unknown run `{name}`: {}", instead(name, &known))
        })
    }

    /// Whether a curve or run of this label is the guest's.
    pub(crate) fn is_guest(&self, label: &str) -> bool {
        let Some(guest) = &self.guest else { return false };
        let own = self.plan(false).into_iter().filter(|planned| planned.group == guest.label);
        guest.label == label || own.into_iter().any(|planned| planned.label == label)
    }

    /// Whether a run is made from moved starts too: with a guest, its runs and what they are compared with.
    pub(super) fn is_moved(&self, planned: &Planned) -> bool {
        let names = |guest: &Planned| guest.run.reference.as_ref() == Some(&planned.label);
        self.guest.as_ref().is_none_or(|guest| {
            let mut own = self.plan(false).into_iter().filter(|own| own.group == guest.label);
            planned.group == guest.label || own.any(|own| names(&own))
        })
    }

    /// The curves that are recorded and compared: the guest's alone where there is one.
    pub(super) fn held(&self, curves: &[PanelCurves]) -> Vec<PanelCurves> {
        if self.guest.is_none() {
            return curves.to_vec();
        }
        let own = |panel: &PanelCurves| PanelCurves {
            panel: panel.panel,
            curves: panel.curves.iter().filter(|c| self.is_guest(&c.label)).cloned().collect(),
        };
        curves.iter().map(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::PanelSpec;

    fn figure(quick: bool, label: &str, like: &str) -> anyhow::Result<Figure> {
        let settings = Settings::default();
        let guest = Guest {
            label: label.to_owned(),
            backend: "null".to_owned(),
            settings,
            like: like.to_owned(),
        };
        load_with(&Checkout::embedded(None), "mabd-fig08", &Setup::default(), (Some(&guest), quick))
    }

    #[test]
    fn a_guest_takes_scene_budget_and_panels_of_a_run() {
        let own = load(&Checkout::embedded(None), "mabd-fig08", &Setup::default()).unwrap();
        let like = own.plan(false).into_iter().find(|p| p.run.reference.is_some()).unwrap();
        let figure = figure(false, "MINE", &like.label).unwrap();
        let plan = figure.plan(false);
        let guest = plan.iter().find(|planned| planned.label == "MINE").unwrap();
        assert_eq!((guest.iterations, guest.substeps), (like.iterations, like.substeps));
        assert_eq!(
            (&guest.run.scene, &guest.run.parameters),
            (&like.run.scene, &like.run.parameters)
        );
        assert_eq!(guest.run.reference, like.run.reference);
        for (before, after) in own.plot.panels.iter().zip(&figure.plot.panels) {
            let shown =
                |panel: &PanelSpec, label: &str| panel.runs.is_empty() || panel.takes(label, label);
            assert_eq!(shown(before, &like.label), shown(after, "MINE"), "{}", before.title);
        }
        assert!(figure.is_guest("MINE") && !figure.is_guest(&like.label));
    }

    #[test]
    fn a_guest_like_an_entry_takes_its_budgets_and_the_panels_of_each() {
        let root = Checkout::embedded(None);
        let guest = Guest {
            label: "MINE".to_owned(),
            backend: "null".to_owned(),
            settings: Settings::default(),
            like: "AVBD iterations".to_owned(),
        };
        let setup = Setup::default();
        let figure = load_with(&root, "cross-chain50", &setup, (Some(&guest), false)).unwrap();
        let plan = figure.plan(false);
        let labels = |group: &str| -> Vec<String> {
            let own = plan.iter().filter(|planned| planned.group == group);
            own.map(|planned| planned.label.replacen(group, "", 1)).collect()
        };
        assert_eq!(labels("MINE"), labels("AVBD iterations"));
        assert!(labels("MINE").len() > 1);
        let places = |label: &str| -> Vec<bool> {
            figure.plot.panels.iter().map(|panel| panel.takes(label, label)).collect()
        };
        assert_eq!(places("MINE"), places("AVBD iterations"));
        assert_eq!(places("MINE 4"), places("AVBD iterations 4"));
        assert!(places("MINE 4").contains(&true));
    }

    #[test]
    fn a_guest_without_a_place_is_told_so() {
        let own = load(&Checkout::embedded(None), "mabd-fig08", &Setup::default()).unwrap();
        let like = own.plan(false)[0].label.clone();
        let said =
            |label: &str, like: &str| format!("{:#}", figure(false, label, like).unwrap_err());
        let unknown = said("MINE", &format!("{like}x"));
        assert!(unknown.contains(&format!("did you mean `{like}`?")), "{unknown}");
        assert!(said(&like, &like).contains("of its own: label yours otherwise"));
    }
}
