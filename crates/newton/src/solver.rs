//! The solver interface on top of the stepper: states in and out, breaking, forces.

use taut_core::{
    BodyState, BuildError, Multipliers, Placement, Pull, Scene, Solver, SolverError, SolverReport,
    StageTime, State, Step, Vec3, constraint::Pose, scene::FastestMotor,
};

use crate::{
    settings::NewtonSettings,
    step::Stepper,
    topology::{Coordinate, Row},
};

/// The reference solver of one scene.
pub(crate) struct Newton {
    scene: Scene,
    settings: NewtonSettings,
    stepper: Stepper,
    time_s: f64,
    dt: f64,
    /// Between `begin_step` and `end_step`.
    stepping: bool,
    fastest: FastestMotor,
    breakable: bool,
    forces: Multipliers,
    iterations_max: Option<u32>,
}

impl Newton {
    /// A solver of `scene` at its initial state.
    pub(crate) fn new(scene: &Scene, settings: NewtonSettings) -> Result<Self, BuildError> {
        check(&settings)?;
        let stepper = Stepper::new(scene, settings)
            .map_err(|error| SolverError::NotConverged(format!("cannot be set up: {error}")))?;
        let breaks = |j: &taut_core::scene::Joint| j.break_force.min(j.break_torque).is_finite();
        let mut this = Self {
            scene: scene.clone(),
            settings,
            stepper,
            time_s: 0.0,
            dt: 0.0,
            stepping: false,
            fastest: FastestMotor::of(scene),
            breakable: scene.joints.iter().any(breaks),
            forces: Multipliers::default(),
            iterations_max: None,
        };
        this.load(&scene.initial_state())?;
        Ok(this)
    }

    /// Forces of all joints on their B side under the latest multipliers.
    fn gather_forces(&mut self) {
        let zeros = || std::iter::repeat_n(Vec3::zeros(), self.scene.joints.len());
        self.forces.joint_force.clear();
        self.forces.joint_force.extend(zeros());
        self.forces.joint_torque.clear();
        self.forces.joint_torque.extend(zeros());
        for (row, multiplier) in
            self.stepper.topology().rows.iter().zip(&self.stepper.at.multipliers)
        {
            let (force, torque) = pull_on_b(row, *multiplier, &self.stepper.at.poses);
            self.forces.joint_force[row.joint] += force;
            self.forces.joint_torque[row.joint] += torque;
        }
    }

    fn break_joints(&mut self) {
        self.gather_forces();
        for (j, joint) in self.scene.joints.iter().enumerate() {
            let (force, torque) = (self.forces.joint_force[j], self.forces.joint_torque[j]);
            if force.norm() > joint.break_force || torque.norm() > joint.break_torque {
                self.stepper.broken[j] = true;
            }
        }
    }
}

/// Force of a row on its B side [N], and its torque beside that of the force at B's anchor [N m].
fn pull_on_b(row: &Row, multiplier: f64, poses: &[Pose]) -> (Vec3, Vec3) {
    let Coordinate { nodes, geometry, .. } = &row.coordinate;
    let gradient = row.coordinate.evaluate(poses).gradient;
    let force = gradient[2] * -multiplier;
    let arm = poses[nodes[1]].rotation * geometry.anchor_b;
    (force, gradient[3] * -multiplier - arm.cross(&force))
}

fn check(settings: &NewtonSettings) -> Result<(), BuildError> {
    let wrong = |text: &str| Err(BuildError::Settings(text.to_owned()));
    for (name, value) in
        [("tolerance", settings.tolerance), ("contact_tolerance", settings.contact_tolerance)]
    {
        if !(value > 0.0 && value.is_finite()) {
            return wrong(&format!("`{name}` must be positive"));
        }
    }
    if settings.max_newton == 0 {
        return wrong("`max_newton` must be at least 1");
    }
    for (name, value) in [
        ("regularisation", settings.regularisation),
        ("contact_regularisation", settings.contact_regularisation),
        ("compliance", settings.compliance),
    ] {
        if !(value >= 0.0 && value.is_finite()) {
            return wrong(&format!("`{name}` must not be negative"));
        }
    }
    Ok(())
}

impl Solver for Newton {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.stepper.load(state);
        (self.time_s, self.stepping, self.iterations_max) = (state.time_s, false, None);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.fastest.check(step.dt)?;
        (self.dt, self.stepping) = (step.dt, true);
        self.stepper.reset_counters();
        self.stepper.drive(step.dt);
        self.stepper.detect(step.dt)?;
        self.stepper.begin_pulls();
        self.stepper.begin(step.dt);
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.stepper.refine();
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.settings.complete {
            self.stepper.complete()?;
        } else {
            self.stepper.commit();
        }
        if self.breakable {
            self.break_joints();
        }
        self.time_s += self.dt;
        self.stepping = false;
        self.iterations_max = Some(self.stepper.iterations);
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        let (bodies, stepper) = (self.scene.bodies.len(), &self.stepper);
        let motion = |n: usize| {
            if !self.stepping {
                return stepper.start[n];
            }
            let Pose { position, rotation } = stepper.at.poses[n];
            Placement { position, rotation, velocity: stepper.velocity(n), omega: stepper.omega(n) }
        };
        out.time_s = if self.stepping { self.time_s + self.dt } else { self.time_s };
        out.bodies.clear();
        out.bodies.extend(
            (0..bodies)
                .map(motion)
                .map(|m| BodyState::rigid(m.position, m.rotation, m.velocity, m.omega)),
        );
        out.particles.clear();
        out.particles.extend(
            (0..self.scene.particles.len())
                .map(|p| motion(bodies + p))
                .map(|m| taut_core::ParticleState { position: m.position, velocity: m.velocity }),
        );
        out.broken.clone_from(&stepper.broken);
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.stepper.pulls.set(pulls);
        true
    }

    /// Forces at the end of the last step, or of its last part where it was bisected.
    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        self.gather_forces();
        self.stepper.report_contacts(&mut self.forces.contacts);
        out.clone_from(&self.forces);
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.stepper.drain_times(out);
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_else(|_| "()".to_owned())
    }

    fn report(&self) -> SolverReport {
        SolverReport { iterations_used: self.iterations_max, ..SolverReport::default() }
    }
}
