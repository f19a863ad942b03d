//! The one ruler: the list of metrics by which solvers are compared, and what they are measured from.
//!
//! A metric is one row here and, but for those of `paths.rs`, which read a clock, a pure function of a [`Sample`]. Those of
//! motion are defined in [`taut_core::metrics`], those of contacts in [`taut_collide::metrics`]. No solver is timed meanwhile.

mod paths;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    cell::{OnceCell, RefCell},
    fmt,
    sync::Arc,
};

use taut_collide::{
    PathMeasures, PathProbe, SurfaceMeetings, SurfaceProbe,
    metrics::{ContactMeasures, Probe, contact_residual_max_m, friction_cone_violation_n},
};
use taut_core::{
    Multipliers, Needs, Scene, SolverReport, State,
    metrics::{self, JointError, MaterialStrain, Measured, MechanicalEnergy, Momentum, WorkDone},
    settings::nearest,
};

pub(crate) use paths::{ARC_RATIO, SECONDS};

/// Named values in the order of the ruler.
pub type Metrics = Vec<(Cow<'static, str>, f64)>;

/// What a metric says of a sample; `None` where it does not apply.
pub type Measure = Arc<dyn Fn(&Sample<'_>) -> Option<f64> + Send + Sync>;

/// One number by which solvers are compared.
#[derive(Clone)]
pub struct Metric {
    /// Its name, which ends in its unit.
    pub name: Cow<'static, str>,
    /// What a scene must have for it to apply.
    pub needs: Needs,
    /// Whether it is measured where somebody asks for it only, for what it costs.
    pub on_demand: bool,
    /// The number, for scenes that have it.
    pub measure: Measure,
}

impl Metric {
    /// A metric of scenes that need all of `needs`.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        needs: Needs,
        measure: impl Fn(&Sample<'_>) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), needs, on_demand: false, measure: Arc::new(measure) }
    }

    /// The same, for whoever asks for it.
    #[must_use]
    pub fn on_demand(mut self) -> Self {
        self.on_demand = true;
        self
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Metric").field(&self.name).finish()
    }
}

/// The metrics there are, in the order in which they are reported.
#[derive(Clone, Debug)]
pub struct Ruler(Vec<Metric>);

/// How many iterations a step took at most, where a solver chooses by itself: those of steps that it takes again count.
pub const ITERATIONS_USED: &str = "iterations_used";

/// A metric of any scene.
fn always(
    name: &'static str,
    measure: impl Fn(&Sample<'_>) -> Option<f64> + Send + Sync + 'static,
) -> Metric {
    Metric::new(name, Needs::NONE, measure)
}

/// A metric of scenes with contacts.
fn touching(
    name: &'static str,
    measure: impl Fn(&Sample<'_>) -> Option<f64> + Send + Sync + 'static,
) -> Metric {
    Metric::new(name, Needs::CONTACTS, measure)
}

/// What solvers with barriers tell of themselves.
fn told(name: &'static str, read: fn(&SolverReport) -> Option<f64>) -> Metric {
    touching(name, move |s| read(&s.report))
}

fn count(number: Option<u64>) -> Option<f64> {
    number.map(|number| number as f64)
}

/// A metric of scenes with tetrahedra.
fn solid(
    name: &'static str,
    measure: impl Fn(&Sample<'_>) -> Option<f64> + Send + Sync + 'static,
) -> Metric {
    Metric::new(name, Needs::TETRAHEDRA, measure)
}

impl Default for Ruler {
    fn default() -> Self {
        Self(vec![
            always("joint_error_max_m", |s| s.facts.joints.linear.then(|| s.joints().max_m)),
            always("joint_error_share_max", |s| {
                s.facts.joints.linear.then(|| s.joints().share_max)
            }),
            always("joint_error_rms_m", |s| s.facts.joints.linear.then(|| s.joints().rms_m)),
            always("joint_angle_error_max_rad", |s| {
                s.facts.joints.angular.then(|| s.joints().angle_max_rad)
            }),
            always("watched_error_rms_m", |s| {
                metrics::watched_error_rms_m(s.scene, s.state, s.reference?)
            }),
            always("stretch_max", |s| {
                let moves = s.scene.bodies.iter().any(|body| body.is_dynamic());
                moves.then(|| metrics::stretch_max(s.scene, s.state))
            }),
            always("spring_strain_max", |s| metrics::spring_strain_max(s.scene, s.state)),
            always("strain_max", |s| Some(s.material()?.strain_max)),
            always("volume_ratio_min", |s| s.material()?.volume_ratio_min),
            solid("inverted_elements", |s| Some(s.material()?.inverted as f64)),
            Metric::new("bodies_under_cloth", Needs::TRIANGLES, |s| {
                metrics::bodies_under_cloth(s.scene, s.state).map(|count| count as f64)
            }),
            always("elastic_energy_j", |s| {
                s.material()?;
                Some(s.energy().material_j)
            }),
            always("energy_j", |s| Some(s.energy_j())),
            always("energy_drift_j", |s| Some(s.energy_j() - s.facts.energy_j - s.work()?.net_j())),
            always("work_forces_j", |s| s.facts.work.is_some().then_some(s.work()?.forces_j)),
            always("work_drives_j", |s| s.facts.work.is_some().then_some(s.work()?.drives_j)),
            always("heat_dampers_j", |s| s.facts.work.is_some().then_some(s.work()?.dampers_j)),
            always("momentum_drift_linear_kg_m_s", |s| Some(s.momentum_drift()?[0])),
            always("momentum_drift_angular_kg_m2_s", |s| Some(s.momentum_drift()?[1])),
            always("distance_to_reference_rms_m", |s| {
                metrics::pose_distance_rms_m(s.scene, s.state, s.reference?)
            }),
            always("distance_to_step_m", |s| {
                metrics::pose_distance_rms_m(s.scene, s.state, s.same_step?)
            }),
            always("distance_to_motion_m", |s| {
                metrics::pose_distance_rms_m(s.scene, s.state, s.motion?.0)
            }),
            always("motion_error_m", |s| Some(s.motion?.1)),
            touching("penetration_max_m", |s| Some(s.contacts()?.penetration_max_m)),
            touching("penetration_share_max", |s| s.penetration_share_max()),
            Metric::new("crossed_edges", Needs::SOFT_CONTACTS, |s| {
                Some(s.contacts()?.crossed_edges? as f64)
            }),
            touching("intersections", |s| Some(s.meetings()?.intersections as f64)).on_demand(),
            touching("intersecting_bodies", |s| Some(s.meetings()?.bodies as f64)).on_demand(),
            touching("distance_min_m", |s| s.distance_min_m()).on_demand(),
            touching("contact_count", |s| Some(s.contacts()?.contact_count as f64)),
            touching("slip_speed_max_m_s", |s| Some(s.contacts()?.slip_speed_max_m_s)),
            touching("friction_cone_violation_n", |s| Some(friction_cone_violation_n(s.forces?))),
            touching("contact_residual_max_m", |s| {
                Some(contact_residual_max_m(s.scene, s.before?, s.state, s.dt, s.forces?))
            }),
            always("imbalance_share_max", |s| {
                let before = s.before.filter(|_| s.refined)?;
                metrics::imbalance_share_max(s.scene, before, s.state, s.dt, s.forces)
            }),
            always(ITERATIONS_USED, |s| s.report.iterations_used.map(f64::from)),
            always("objective_gap_j", |s| {
                metrics::objective_gap_j(s.scene, s.before?, s.state, s.target?, s.dt)
            }),
        ])
        .joined([reported(), paths::metrics()].concat())
    }
}

/// What solvers with barriers tell of themselves.
fn reported() -> Vec<Metric> {
    vec![
        touching("total_energy_drift_j", |s| {
            let stored = s.report.stored_energy_j?;
            Some(s.energy_j() + stored - s.facts.energy_j - s.work()?.net_j())
        }),
        told("newton_iterations", |told| count(told.newton_iterations)),
        told("factorisations", |told| count(told.factorisations)),
        told("newton_speed_m_s", |told| told.newton_speed_m_s),
        told("unconverged_steps", |told| count(told.unconverged_steps)),
        told("line_search_halvings", |told| count(told.line_search_halvings)),
        told("candidates", |told| count(told.candidates)),
        told("active_pairs", |told| count(told.active_pairs)),
        told("ccd_queries", |told| count(told.ccd_queries)),
        told("step_share_min", |told| told.step_share_min),
        told("kappa_j_m4", |told| told.kappa_j_m4),
        told("stored_energy_j", |told| told.stored_energy_j),
        told("kinematic_lag_m", |told| told.kinematic_lag_m),
    ]
}

impl Ruler {
    fn joined(mut self, others: Vec<Metric>) -> Self {
        self.0.extend(others);
        self
    }

    /// This ruler and one more metric, which takes the place of one of the same name.
    #[must_use]
    pub fn with(mut self, metric: Metric) -> Self {
        match self.0.iter().position(|own| own.name == metric.name) {
            Some(place) => self.0[place] = metric,
            None => self.0.push(metric),
        }
        self
    }

    /// The names of all metrics, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|metric| &*metric.name)
    }

    /// This ruler, which measures metrics of these names whatever they cost.
    #[must_use]
    pub fn asked_for(mut self, names: &[String]) -> Self {
        for metric in &mut self.0 {
            metric.on_demand &= !names.iter().any(|name| *name == metric.name);
        }
        self
    }

    /// The metrics measured on demand whose names stand in quotes in a text.
    pub fn named_in(&self, text: &str) -> Vec<String> {
        let named = |metric: &&Metric| text.contains(&format!("\"{}\"", metric.name));
        let costly = self.0.iter().filter(|metric| metric.on_demand);
        costly.filter(named).map(|metric| metric.name.to_string()).collect()
    }

    /// Whether there are such metrics.
    ///
    /// # Errors
    /// Names the first that there is not, and the nearest that there is.
    pub fn know(&self, names: &[String]) -> anyhow::Result<()> {
        let known: Vec<&str> = self.names().collect();
        let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let hint = match nearest(name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        anyhow::bail!("no metric `{name}`: {hint}")
    }

    /// The metrics that apply to a sample.
    pub fn measure(&self, sample: &Sample<'_>) -> Metrics {
        let applies =
            |metric: &&Metric| !metric.on_demand && sample.facts.needs.covers(metric.needs);
        let applies = self.0.iter().filter(applies);
        let values = applies.map(|m| Some((m.name.clone(), (m.measure)(sample)?)));
        values.flatten().collect()
    }
}

/// What is found once for all samples of a run.
#[derive(Debug)]
pub struct Facts {
    needs: Needs,
    /// Which errors any joint has.
    joints: Measured,
    /// Time [s] and energy [J] at the start, from where drifts are counted.
    time_s: f64,
    energy_j: f64,
    /// The same of the momentum, where gravity is the only outer force.
    momentum: Option<Momentum>,
    /// Finds the contacts of a state by a query of its own.
    probe: Option<RefCell<Probe>>,
    /// Looks at surfaces, and searches for impacts; made when they are first asked.
    surfaces: OnceCell<Option<RefCell<SurfaceProbe>>>,
    paths: OnceCell<RefCell<PathProbe>>,
    /// Adds up what comes into a scene and leaves it, where anything does.
    work: Option<RefCell<WorkMeter>>,
}

/// Work from the start of a run on.
#[derive(Debug)]
struct WorkMeter {
    last: State,
    /// `None` once a part of it is unknown.
    sum: Option<WorkDone>,
}

impl WorkMeter {
    /// The work until a state of the run; frames come one after the other, iterates of a step in any order.
    fn until(&mut self, sample: &Sample<'_>) -> Option<WorkDone> {
        let Sample { scene, state, forces, .. } = *sample;
        if let Moment::Iteration { .. } = sample.moment {
            // After a warm-up nobody has looked at, what came in is unknown.
            let before = sample.before.filter(|before| before.time_s == self.last.time_s)?;
            return metrics::work(scene, before, state, forces);
        }
        if state.time_s > self.last.time_s {
            let step = metrics::work(scene, &self.last, state, forces);
            self.sum = self.sum.zip(step).map(|(sum, step)| sum.plus(&step));
            self.last.clone_from(state);
        }
        self.sum
    }
}

impl Facts {
    /// Of runs of `scene` that start at `initial`.
    pub fn new(scene: &Scene, initial: &State) -> Self {
        Self {
            needs: Needs::of(scene),
            joints: metrics::measured_joints(scene),
            time_s: initial.time_s,
            energy_j: metrics::energy(scene, initial).total_j(),
            momentum: metrics::is_free(scene).then(|| metrics::momentum(scene, initial)),
            probe: scene.contacts.map(|_| RefCell::new(Probe::new(scene))),
            surfaces: OnceCell::new(),
            paths: OnceCell::new(),
            work: metrics::has_work(scene).then(|| {
                RefCell::new(WorkMeter { last: initial.clone(), sum: Some(WorkDone::default()) })
            }),
        }
    }
}

/// One state of a run with all that is known of it; what several metrics need is found once, on demand.
#[derive(Debug)]
pub struct Sample<'a> {
    /// What is simulated.
    pub scene: &'a Scene,
    /// The state to judge.
    pub state: &'a State,
    /// Which state of the run it is.
    pub moment: Moment,
    /// Where the solver's step started; `None` where that was not read.
    pub before: Option<&'a State>,
    /// Length of that step [s].
    pub dt: f64,
    /// Whether the solver took that step as one, and refined it.
    pub refined: bool,
    /// A trusted state of the same time.
    pub reference: Option<&'a State>,
    /// Where implicit Euler is at that time, solved to tolerance at the steps of this run.
    pub same_step: Option<&'a State>,
    /// Where the motion without steps is at that time, and how far that may be from the truth [m].
    pub motion: Option<(&'a State, f64)>,
    /// Where that very step ends for a trusted solver.
    pub target: Option<&'a State>,
    /// What the solver told of its work.
    pub report: SolverReport,
    /// Forces of the step, where the solver knows them.
    pub forces: Option<&'a Multipliers>,
    facts: &'a Facts,
    joints: OnceCell<JointError>,
    energy: OnceCell<MechanicalEnergy>,
    contacts: OnceCell<ContactMeasures>,
    meetings: OnceCell<Option<SurfaceMeetings>>,
    paths: OnceCell<PathMeasures>,
    material: OnceCell<Option<MaterialStrain>>,
    work: OnceCell<Option<WorkDone>>,
}

/// Which state of a run a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After the frame of this number, from 1.
    Frame(u32),
    /// After so many iterations of one step.
    Iteration {
        /// Iterations spent.
        spent: u32,
        /// Whether the step is closed.
        closed: bool,
    },
}

impl<'a> Sample<'a> {
    /// A state of which nothing else is known.
    pub fn new(scene: &'a Scene, facts: &'a Facts, state: &'a State, moment: Moment) -> Self {
        Self {
            scene,
            state,
            moment,
            before: None,
            dt: scene.dt,
            refined: false,
            reference: None,
            same_step: None,
            motion: None,
            target: None,
            report: SolverReport::default(),
            forces: None,
            facts,
            joints: OnceCell::new(),
            energy: OnceCell::new(),
            contacts: OnceCell::new(),
            meetings: OnceCell::new(),
            paths: OnceCell::new(),
            material: OnceCell::new(),
            work: OnceCell::new(),
        }
    }

    /// Errors of the hard joints.
    pub fn joints(&self) -> JointError {
        *self.joints.get_or_init(|| metrics::joint_errors(self.scene, self.state))
    }

    /// Kinetic, gravitational and elastic energy [J].
    pub fn energy_j(&self) -> f64 {
        self.energy().total_j()
    }

    /// The same by kind.
    pub fn energy(&self) -> MechanicalEnergy {
        *self.energy.get_or_init(|| metrics::energy(self.scene, self.state))
    }

    /// What forces and drives have put in since the start and dampers have taken; nothing in scenes without any.
    /// `None` where the solver does not tell what a drive held.
    pub fn work(&self) -> Option<WorkDone> {
        let Some(meter) = &self.facts.work else { return Some(WorkDone::default()) };
        *self.work.get_or_init(|| meter.borrow_mut().until(self))
    }

    /// The contacts of the state, in scenes that have contacts.
    pub fn contacts(&self) -> Option<ContactMeasures> {
        let probe = self.facts.probe.as_ref()?;
        Some(*self.contacts.get_or_init(|| probe.borrow_mut().measure(self.state)))
    }

    /// Deepest overlap as a share of the thinner body [1].
    fn penetration_share_max(&self) -> Option<f64> {
        Some(self.contacts()?.overlap.map_or(0.0, |overlap| overlap.share))
    }

    fn surfaces(&self) -> Option<&RefCell<SurfaceProbe>> {
        let probe = || SurfaceProbe::new(self.scene).map(RefCell::new);
        self.facts.surfaces.get_or_init(probe).as_ref()
    }

    /// Which surfaces of bodies meet, in scenes that have contacts.
    pub fn meetings(&self) -> Option<SurfaceMeetings> {
        let look = || Some(self.surfaces()?.borrow_mut().meetings(self.state));
        *self.meetings.get_or_init(look)
    }

    /// Least distance of the surfaces of any two bodies that may touch [m]; zero where any meet.
    fn distance_min_m(&self) -> Option<f64> {
        self.surfaces()?.borrow_mut().distance_min_m(self.state)
    }

    /// Searches of the next step for impacts, after frames only.
    fn paths(&self) -> Option<PathMeasures> {
        let Moment::Frame(_) = self.moment else { return None };
        let probe = self.facts.paths.get_or_init(|| PathProbe::new(self.scene).into());
        let search = || probe.borrow_mut().measure(self.scene, self.state, self.dt);
        Some(*self.paths.get_or_init(search))
    }

    /// The strain of elastic elements, in scenes that have any.
    pub fn material(&self) -> Option<MaterialStrain> {
        *self.material.get_or_init(|| metrics::material_strain(self.scene, self.state))
    }

    /// Change of the linear [kg m/s] and angular [kg m^2/s] momentum that gravity does not explain.
    fn momentum_drift(&self) -> Option<[f64; 2]> {
        let elapsed = self.state.time_s - self.facts.time_s;
        let now = || metrics::momentum(self.scene, self.state);
        self.facts.momentum.map(|start| now().drift_since(&start, &self.scene.gravity, elapsed))
    }
}

/// Whether of two values of a metric the larger one is better: of distances, shares and volumes that are the least of
/// many.
pub(crate) fn more_is_better(name: &str) -> bool {
    name.ends_with("_min") || name.contains("_min_")
}

/// The worst of a metric's values: the one of largest magnitude with its sign, or the least where more is better; one that
/// is not a number is worst of all. Zero where there are none.
pub(crate) fn worst(name: &str, values: &[f64]) -> f64 {
    let least = more_is_better(name);
    let worse = |a: f64, b: f64| {
        let is_worse = if least { a <= b } else { a.abs() >= b.abs() };
        if a.is_nan() || is_worse { a } else { b }
    };
    let begin = if least { None } else { Some(0.0) };
    begin.into_iter().chain(values.iter().copied()).reduce(worse).unwrap_or(0.0)
}
