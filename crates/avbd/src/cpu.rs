//! The step of Algorithm 1 on the CPU.

use rayon::prelude::*;
use taut_core::{Multipliers, Scene, Solver, SolverError, StageTime, State, Step};
use taut_descent::{AngularRows, Model, Role, Style, System, patch::lane};
use taut_math::{Real, V3};

use crate::{
    contact::{Cone, ContactRamps, DemoCone, follow_drift},
    dual::Ramp,
    settings::{AngularRowsSetting, ContactStyle, Resolved, Scheme},
};

/// Elements per task in the dual update.
const GRAIN: usize = 512;

pub(crate) struct Avbd<R: Real> {
    scene: Scene,
    settings: Resolved,
    system: System<R>,
    ramps: Vec<Ramp<R>>,
    /// Values of all rows after a sweep, between the two halves of the dual update.
    values: Vec<V3<R>>,
    contact_ramps: ContactRamps<R>,
    cone: Cone,
    dt: f64,
    /// Whether any joint can break.
    breakable: bool,
}

/// How bodies move and constraints are laid out.
pub(crate) fn model(settings: &Resolved) -> Model {
    Model {
        order: settings.order,
        angular: match settings.angular_rows {
            AngularRowsSetting::RestPose => AngularRows::RestPose,
            AngularRowsSetting::Demo3d => AngularRows::Demo3d,
        },
        isotropic: settings.isotropic,
        rotation: settings.rotation,
        frame: settings.inertia,
        gyroscopic: settings.gyroscopic,
        start: settings.start,
        contacts: match settings.contacts {
            ContactStyle::Common => Style::Common,
            ContactStyle::Demo3d => Style::Demo3d,
        },
        lanes_per_body: settings.lanes_per_body,
    }
}

/// What the elements are to do besides.
pub(crate) fn configure<R: Real>(system: &mut System<R>, settings: &Resolved) {
    for (element, definition) in system.elements.iter_mut().zip(&system.definitions) {
        let is_spring = definition.role == Role::Spring;
        element.curvature = if is_spring { settings.spring_curvature } else { settings.curvature };
        element.rescaled = settings.rescaling;
    }
}

/// Shares of stiffness and of multipliers that are kept from step to step (Eq. 19).
pub(crate) fn decay<R: Real>(settings: &Resolved) -> [R; 2] {
    let gamma = R::of(settings.gamma);
    let retain = match (settings.post_stabilisation, settings.scheme) {
        (true, _) => R::ONE,
        (false, Scheme::Series) => gamma,
        (false, Scheme::Ramp) => R::of(settings.alpha * settings.gamma),
    };
    [gamma, retain]
}

/// The law of contact for steps of length `dt` [s].
pub(crate) fn cone(scene: &Scene, settings: &Resolved, dt: f64) -> Cone {
    let margin = scene.contacts.map_or(0.0, |contacts| contacts.margin);
    let fall = scene.gravity.norm() * dt * dt;
    Cone { hessian: settings.contact_hessian, open: settings.open_gap * fall.max(margin / 5.0) }
}

impl<R: Real> Avbd<R> {
    pub(crate) fn new(scene: &Scene, settings: Resolved) -> Self {
        let mut system = System::new(scene, model(&settings));
        configure(&mut system, &settings);
        let values = vec![V3::ZERO; system.elements.len()];
        let breakable =
            scene.joints.iter().any(|j| j.break_force.min(j.break_torque) < f64::INFINITY);
        let mut solver = Self {
            scene: scene.clone(),
            settings,
            system,
            ramps: vec![],
            values,
            contact_ramps: ContactRamps::new(settings, scene.dt, scene.dt),
            cone: cone(scene, &settings, scene.dt),
            dt: 0.0,
            breakable,
        };
        solver.scale_ramps(scene.dt);
        solver
    }

    fn scale_ramps(&mut self, dt: f64) {
        self.dt = dt;
        self.contact_ramps = ContactRamps::new(self.settings, dt, self.scene.dt);
        self.cone = cone(&self.scene, &self.settings, dt);
        self.ramps.clear();
        let definitions = self.system.definitions.iter();
        self.ramps.extend(definitions.map(|d| Ramp::new(d, &self.settings, dt, self.scene.dt)));
    }

    /// Lines 5 and 6 of Algorithm 1, and what of the error at the step's start is to be corrected.
    fn prepare_elements(&mut self) {
        let alpha = self.settings.kept();
        let [gamma, retain] = decay(&self.settings);
        for index in 0..self.system.elements.len() {
            self.regularise(index, alpha);
            let element = &mut self.system.elements[index];
            self.ramps[index].warm_start(element, gamma, retain);
        }
        if let Some(touch) = &mut self.system.touch {
            self.contact_ramps.regularise(touch, alpha);
            self.contact_ramps.warm_start(touch, gamma, retain);
        }
    }

    fn sweep(&mut self) {
        if self.settings.contacts == ContactStyle::Demo3d {
            self.system.sweep_touching(&DemoCone(self.cone));
        } else {
            self.system.sweep_touching(&self.cone);
        }
    }

    /// Eq. 18: `C = C* - alpha C*(x-)`.
    fn regularise(&mut self, index: usize, alpha: f64) {
        let kept = if self.ramps[index].regularised { R::of(alpha) } else { R::ZERO };
        self.system.aim(index, kept);
    }

    /// Lines 26 to 35 of Algorithm 1.
    fn dual(&mut self) {
        let system = &mut self.system;
        if let Some(touch) = &mut system.touch {
            self.contact_ramps.update(touch, &system.nodes);
        }
        if rayon::current_num_threads() > 1 && system.elements.len() > GRAIN {
            let view = &*system;
            self.values.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(i, value)| {
                *value = view.value(i);
            });
            let elements = system.elements.par_iter_mut().with_min_len(GRAIN);
            elements.zip(&self.ramps).zip(&self.values).for_each(|((element, ramp), &value)| {
                if element.active {
                    ramp.update(element, value);
                }
            });
            return;
        }
        for index in 0..system.elements.len() {
            if system.elements[index].active {
                let value = system.value(index);
                self.ramps[index].update(&mut system.elements[index], value);
            }
        }
    }

    /// Lets go of overloaded joints at once, as the authors do: what holds until the end of the step would
    /// hand on the whole impulse of a blow.
    fn break_joints(&mut self) {
        let ramps = &self.ramps;
        self.system.break_joints(&self.scene, |system, i| ramps[i].force(system, i));
    }

    /// Corrects the error that is left without making it velocity: one sweep with `alpha = 0`.
    fn stabilise(&mut self) {
        for index in 0..self.system.elements.len() {
            self.regularise(index, 0.0);
        }
        if let Some(touch) = &mut self.system.touch {
            self.contact_ramps.regularise(touch, 0.0);
        }
        self.sweep();
    }
}

impl<R: Real> Solver for Avbd<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(&self.scene, state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        if step.dt != self.dt {
            self.scale_ramps(step.dt);
        }
        self.system.begin(step.dt);
        self.prepare_elements();
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.sweep();
        self.dual();
        if self.breakable {
            self.break_joints();
        }
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.system.derive_velocities();
        if let Some(touch) = &mut self.system.touch {
            follow_drift(touch, &self.system.nodes);
        }
        if self.settings.post_stabilisation {
            self.stabilise();
        }
        self.system.commit(self.dt);
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.system.read(out);
        Ok(())
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let ramps = &self.ramps;
        self.system.read_multipliers(out, |system, i| ramps[i].force(system, i));
        out.contacts.clear();
        if let Some(touch) = &self.system.touch {
            touch.read_forces(&mut out.contacts, |patch, i| lane::<R>(&patch.lambda, i));
        }
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(touch) = &mut self.system.touch {
            touch.drain_times(out);
        }
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
