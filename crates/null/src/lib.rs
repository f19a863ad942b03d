//! A backend that does nothing: copy it to start one, or use it to see what the harness costs.
//!
//! It holds the loaded state, lets every step pass and gives the state back unchanged. What is
//! here is what every backend has: an [`Info`], what it takes, a `build` and a settings struct.

use serde::{Deserialize, Serialize};
use taut_core::{
    BuildError, Devices, Info, Multipliers, Native, Needs, Scene, Settings, Solver, SolverError,
    State, Step, Vec3,
};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new("null", "does nothing; copy it to start a backend", "none"),
    takes: Needs::ALL,
    refuses: |_| Ok(()),
    build,
};

/// Nothing can be set. A method's own settings go here, each with unit, range and default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NullSettings {}

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let _settings: NullSettings = settings.parse()?;
    Ok(Box::new(Null { scene: scene.clone(), state: scene.initial_state(), dt: 0.0 }))
}

struct Null {
    scene: Scene,
    state: State,
    dt: f64,
}

impl Solver for Null {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.state.clone_from(state);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.dt = step.dt;
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.state.time_s += self.dt;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        Ok(())
    }

    /// None of them exerts a force.
    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        out.joint_force = vec![Vec3::zeros(); self.scene.joints.len()];
        out.joint_torque.clone_from(&out.joint_force);
        out.contacts.clear();
        true
    }
}
