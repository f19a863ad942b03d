//! Algorithm 1, wherever it runs: stiffness, multipliers and the law of contact.

use rayon::prelude::*;
use taut_core::Scene;
use taut_descent::{AngularRows, Method, Options, Patch, Style, System, patch::lane};
use taut_math::{Real, V3};

use crate::{
    contact::{Cone, ContactRamps, DemoCone, follow_drift},
    dual::Ramp,
    element_ramp::ElementRamp,
    settings::{AngularRowsSetting, ContactStyle, Resolved, Scheme},
};

/// Elements per task in the dual update.
const GRAIN: usize = 512;

pub(crate) struct Avbd<R: Real> {
    pub(crate) settings: Resolved,
    /// Gravity [m/s^2], and how far apart contacts are reported [m].
    gravity: f64,
    margin: f64,
    /// Length of a frame [s].
    pub(crate) frame: f64,
    /// Length of the steps that everything below is for [s].
    dt: f64,
    pub(crate) ramps: Vec<Ramp<R>>,
    pub(crate) contact_ramps: ContactRamps<R>,
    pub(crate) cone: Cone,
    /// Values of all rows after a sweep, between the two halves of the dual update.
    values: Vec<V3<R>>,
    /// Of elastic elements, where they ramp.
    element_ramp: Option<ElementRamp<R>>,
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

impl<R: Real> Avbd<R> {
    pub(crate) fn new(scene: &Scene, settings: Resolved) -> Self {
        Self {
            settings,
            gravity: scene.gravity.norm(),
            margin: scene.contacts.map_or(0.0, |contacts| contacts.margin),
            frame: scene.dt,
            dt: 0.0,
            ramps: vec![],
            contact_ramps: ContactRamps::new(settings, scene.dt, scene.dt),
            cone: Cone { hessian: settings.contact_hessian, open: 0.0 },
            values: vec![],
            element_ramp: settings.element_ramp.then(|| ElementRamp::new(scene)),
        }
    }

    /// Scales ramps and the law of contact to steps of length `dt` [s].
    pub(crate) fn scale_to(&mut self, system: &System<R>, dt: f64) {
        self.dt = dt;
        let settings = self.settings.in_seconds(dt);
        self.contact_ramps = ContactRamps::new(settings, dt, self.frame);
        let fall = self.gravity * dt * dt;
        self.cone.open = self.settings.open_gap * fall.max(self.margin / 5.0);
        self.ramps.clear();
        let definitions = system.definitions.iter();
        self.ramps.extend(definitions.map(|d| Ramp::new(d, &settings, dt, self.frame)));
        if let Some(ramp) = &mut self.element_ramp {
            ramp.scale_to(&settings, dt);
        }
    }

    /// Length of the steps that everything is scaled to [s].
    #[cfg(feature = "gpu")]
    pub(crate) fn dt(&self) -> f64 {
        self.dt
    }

    /// Eq. 18: `C = C* - alpha C*(x-)`.
    fn regularise(&self, system: &mut System<R>, alpha: f64) {
        for (index, ramp) in self.ramps.iter().enumerate() {
            system.aim(index, if ramp.regularised { R::of(alpha) } else { R::ZERO });
        }
        if let Some(contacts) = &mut system.contacts {
            self.contact_ramps.regularise(contacts, alpha);
        }
    }

    /// Lines 26 to 35 of Algorithm 1.
    fn dual(&mut self, system: &mut System<R>) {
        if let Some(contacts) = &mut system.contacts {
            self.contact_ramps.update(contacts, &system.nodes);
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
}

impl<R: Real> Method<R> for Avbd<R> {
    fn options(&self) -> Options {
        let settings = &self.settings;
        Options {
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
            scaled_energies: settings.element_ramp,
            lanes_per_body: settings.lanes_per_body,
            bound: settings.bound,
        }
    }

    fn configure(&mut self, system: &mut System<R>) {
        let settings = &self.settings;
        for (element, definition) in system.elements.iter_mut().zip(&system.definitions) {
            let stores = definition.role.is_material();
            element.curvature = if stores { settings.spring_curvature } else { settings.curvature };
            element.rescaled = settings.rescaling;
        }
        self.values = vec![V3::ZERO; system.elements.len()];
        self.scale_to(system, self.frame);
    }

    /// Lines 5 and 6 of Algorithm 1, and what of the error at the step's start is to be corrected.
    fn prepare(&mut self, system: &mut System<R>, dt: f64) {
        if dt != self.dt {
            self.scale_to(system, dt);
        }
        self.regularise(system, self.settings.kept());
        let [gamma, retain] = decay(&self.settings);
        for (element, ramp) in system.elements.iter_mut().zip(&self.ramps) {
            ramp.warm_start(element, gamma, retain);
        }
        if let Some(contacts) = &mut system.contacts {
            self.contact_ramps.warm_start(contacts, gamma, retain);
        }
        if let Some(ramp) = &self.element_ramp {
            ramp.warm_start(system, gamma);
        }
    }

    fn sweep(&mut self, system: &mut System<R>) {
        if self.settings.contacts == ContactStyle::Demo3d {
            system.sweep_touching(&DemoCone(self.cone));
        } else {
            system.sweep_touching(&self.cone);
        }
    }

    /// Overloaded joints let go at once, as the authors have it: what holds until the end of the step would
    /// hand on the whole impulse of a blow.
    fn update(&mut self, system: &mut System<R>) {
        self.dual(system);
        if let Some(ramp) = &self.element_ramp {
            ramp.update(system);
        }
        system.break_joints(|system, index| self.force(system, index));
    }

    fn finish(&mut self, system: &mut System<R>, dt: f64) {
        system.derive_velocities();
        if let Some(contacts) = &mut system.contacts {
            follow_drift(contacts, &system.nodes);
        }
        if self.settings.post_stabilisation {
            // One sweep with `alpha = 0` corrects the error that is left without making it velocity.
            self.regularise(system, 0.0);
            self.sweep(system);
        }
        system.commit(dt);
    }

    fn force(&self, system: &System<R>, element: usize) -> V3<R> {
        self.ramps[element].force(system, element)
    }

    fn push(&self, _system: &System<R>, patch: &Patch<R>, i: usize) -> V3<R> {
        lane::<R>(&patch.lambda, i)
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
