//! The method, wherever it runs: how stiff rows and contacts are.

use taut_core::Scene;
use taut_descent::{
    AngularRows, ContactLaw, Definition, InertiaFrame, Method, Options, Patch, Style, System,
    patch::lane,
};
use taut_math::{Real, V3};
use taut_model::Role;

use crate::{
    accelerate::Acceleration,
    contact::{self, Penalty},
    settings::VbdSettings,
};

pub(crate) struct Vbd<R: Real> {
    pub(crate) settings: VbdSettings,
    /// Length of a frame [s].
    pub(crate) frame: f64,
    /// Full stiffness of each element [N/m or N m/rad].
    pub(crate) full: Vec<R>,
    pub(crate) penalty: Penalty<R>,
    acceleration: Acceleration<R>,
}

/// Full stiffness of an element [N/m or N m/rad].
///
/// A penalty is a property of the material, so it follows the frame and not the substep.
fn full_stiffness(d: &Definition, settings: &VbdSettings, frame_s: f64) -> f64 {
    let scaled = settings.stiffness_scale * d.effective_mass / (frame_s * frame_s);
    if d.is_hard() { settings.stiffness.unwrap_or(scaled) } else { d.stiffness }
}

impl<R: Real> Vbd<R> {
    pub(crate) fn new(scene: &Scene, settings: VbdSettings) -> Self {
        let penalty = Penalty::new(&settings, scene.dt);
        let (full, acceleration) = (vec![], Acceleration::default());
        Self { settings, frame: scene.dt, full, penalty, acceleration }
    }

    /// The rigid document's dual update: `k <- min(k + beta |C|, k_max)`.
    fn grow(&self, system: &mut System<R>, beta: R) {
        for (index, &full) in self.full.iter().enumerate() {
            let stores = system.definitions[index].role.is_material();
            if stores || !system.elements[index].active {
                continue;
            }
            let violation = system.value(index).norm();
            let element = &mut system.elements[index];
            element.stiffness = V3([(element.stiffness.0[0] + beta * violation).min(full); 3]);
        }
    }
}

impl<R: Real> Method<R> for Vbd<R> {
    fn options(&self) -> Options {
        Options {
            order: self.settings.order,
            angular: AngularRows::RestPose,
            isotropic: true,
            rotation: self.settings.rotation,
            frame: InertiaFrame::World,
            gyroscopic: self.settings.gyroscopic,
            start: self.settings.start,
            contacts: Style::Common,
            scaled_energies: false,
            lanes_per_body: self.settings.lanes_per_body,
            bound: self.settings.bound,
        }
    }

    fn configure(&mut self, system: &mut System<R>) {
        for element in &mut system.elements {
            element.curvature = self.settings.curvature;
            element.rescaled = true;
        }
        let full = |d: &Definition| R::of(full_stiffness(d, &self.settings, self.frame));
        self.full = system.definitions.iter().map(full).collect();
    }

    fn prepare(&mut self, system: &mut System<R>, dt: f64) {
        self.penalty = Penalty::new(&self.settings, dt);
        for (index, &full) in self.full.iter().enumerate() {
            system.aim(index, R::ZERO);
            let role = system.definitions[index].role;
            let full = match role {
                Role::Damp { .. } => R::of(system.definitions[index].stiffness_in(dt)),
                _ => full,
            };
            let element = &mut system.elements[index];
            let stiffness = match (self.settings.ramp, role) {
                (Some(ramp), role) if !role.is_material() => {
                    let kept = element.stiffness.0[0] * R::of(ramp.gamma);
                    kept.max(R::of(ramp.k_start)).min(full)
                }
                _ => full,
            };
            element.stiffness = V3([stiffness; 3]);
        }
        if let Some(contacts) = &mut system.contacts {
            contact::prepare(contacts, &self.settings, self.frame);
        }
        if self.settings.chebyshev.is_some() {
            self.acceleration.begin(system);
        }
    }

    fn sweep(&mut self, system: &mut System<R>) {
        system.sweep_touching(&self.penalty);
    }

    fn update(&mut self, system: &mut System<R>) {
        if let Some(rho) = self.settings.chebyshev {
            self.acceleration.follow(system, rho);
        }
        if let Some(contacts) = &mut system.contacts {
            contact::remember(contacts, &system.nodes, &self.penalty);
        }
        if let Some(ramp) = self.settings.ramp {
            let beta = R::of(ramp.beta);
            self.grow(system, beta);
            if let Some(contacts) = &mut system.contacts {
                contact::grow(contacts, &system.nodes, &self.settings, self.frame, beta);
            }
        }
    }

    fn finish(&mut self, system: &mut System<R>, dt: f64) {
        system.derive_velocities();
        system.break_joints(|system, index| system.penalty_force(index));
        system.commit(dt);
    }

    fn force(&self, system: &System<R>, element: usize) -> V3<R> {
        system.penalty_force(element)
    }

    fn push(&self, system: &System<R>, patch: &Patch<R>, i: usize) -> V3<R> {
        let [a, b] = patch.nodes.map(|n| &system.nodes[n as usize]);
        lane::<R>(&self.penalty.push(patch, &patch.value(a, b)).force, i)
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
