//! The step on the CPU.

use taut_core::{Multipliers, Scene, Solver, SolverError, StageTime, State, Step};
use taut_descent::{
    AngularRows, ContactLaw, Definition, InertiaFrame, Model, Role, Style, System, patch::lane,
};
use taut_math::{Real, V3};

use crate::{
    contact::{self, Penalty},
    settings::VbdSettings,
};

pub(crate) struct Vbd<R: Real> {
    scene: Scene,
    settings: VbdSettings,
    system: System<R>,
    /// Full stiffness of each element.
    full: Vec<R>,
    dt: f64,
    breakable: bool,
    penalty: Penalty<R>,
}

/// How bodies move and constraints are laid out.
pub(crate) fn model(settings: &VbdSettings) -> Model {
    Model {
        order: settings.order,
        angular: AngularRows::RestPose,
        isotropic: true,
        rotation: settings.rotation,
        frame: InertiaFrame::World,
        gyroscopic: settings.gyroscopic,
        start: settings.start,
        contacts: Style::Common,
        lanes_per_body: settings.lanes_per_body,
    }
}

/// What the elements are to do besides.
pub(crate) fn configure<R: Real>(system: &mut System<R>, settings: &VbdSettings) {
    for element in &mut system.elements {
        element.curvature = settings.curvature;
        element.rescaled = true;
    }
}

/// Full stiffness of an element [N/m or N m/rad].
///
/// A penalty is a property of the material, so it follows the frame and not the substep.
pub(crate) fn full_stiffness(d: &Definition, settings: &VbdSettings, frame_s: f64) -> f64 {
    let scaled = settings.stiffness_scale * d.effective_mass / (frame_s * frame_s);
    if d.is_hard() { settings.stiffness.unwrap_or(scaled) } else { d.stiffness }
}

impl<R: Real> Vbd<R> {
    pub(crate) fn new(scene: &Scene, settings: VbdSettings) -> Self {
        let mut system = System::new(scene, model(&settings));
        configure(&mut system, &settings);
        let breakable =
            scene.joints.iter().any(|j| j.break_force.min(j.break_torque) < f64::INFINITY);
        let full = |d: &Definition| R::of(full_stiffness(d, &settings, scene.dt));
        let full = system.definitions.iter().map(full).collect();
        let penalty = Penalty::new(&settings, scene.dt);
        Self { scene: scene.clone(), settings, system, full, dt: scene.dt, breakable, penalty }
    }

    /// Sets what each row aims at and how stiff it starts.
    fn prepare_elements(&mut self) {
        for index in 0..self.system.elements.len() {
            self.system.aim(index, R::ZERO);
            let role = self.system.definitions[index].role;
            let element = &mut self.system.elements[index];
            let full = self.full[index];
            let stiffness = match (self.settings.ramp, role) {
                (Some(ramp), role) if role != Role::Spring => {
                    let kept = element.stiffness.0[0] * R::of(ramp.gamma);
                    kept.max(R::of(ramp.k_start)).min(full)
                }
                _ => full,
            };
            element.stiffness = V3([stiffness; 3]);
        }
    }

    /// The rigid document's dual update: `k <- min(k + beta |C|, k_max)`.
    fn grow(&mut self, beta: R) {
        for index in 0..self.system.elements.len() {
            let is_spring = self.system.definitions[index].role == Role::Spring;
            if is_spring || !self.system.elements[index].active {
                continue;
            }
            let violation = self.system.value(index).norm();
            let element = &mut self.system.elements[index];
            let k = (element.stiffness.0[0] + beta * violation).min(self.full[index]);
            element.stiffness = V3([k; 3]);
        }
    }
}

impl<R: Real> Solver for Vbd<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(&self.scene, state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.dt = step.dt;
        self.system.begin(step.dt);
        self.prepare_elements();
        self.penalty = Penalty::new(&self.settings, step.dt);
        if let Some(touch) = &mut self.system.touch {
            contact::prepare(touch, &self.scene, &self.settings);
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.system.sweep_touching(&self.penalty);
        if let Some(touch) = &mut self.system.touch {
            contact::remember(touch, &self.system.nodes, &self.penalty);
        }
        if let Some(ramp) = self.settings.ramp {
            self.grow(R::of(ramp.beta));
            if let Some(touch) = &mut self.system.touch {
                let nodes = &self.system.nodes;
                contact::grow(touch, nodes, &self.scene, &self.settings, R::of(ramp.beta));
            }
        }
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.system.derive_velocities();
        if self.breakable {
            self.system.break_joints(&self.scene, |system, index| system.penalty_force(index));
        }
        self.system.commit(self.dt);
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.system.read(out);
        Ok(())
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        self.system.read_multipliers(out, |system, index| system.penalty_force(index));
        out.contacts.clear();
        if let Some(touch) = &self.system.touch {
            touch.read_forces(&mut out.contacts, |patch, i| {
                let [a, b] = patch.nodes.map(|n| &self.system.nodes[n as usize]);
                lane::<R>(&self.penalty.push(patch, &patch.value(a, b)).force, i)
            });
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
