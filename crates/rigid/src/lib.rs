//! Single rigid bodies integrated to high order: the analytic-grade reference of scenes without constraints between bodies.
//!
//! Every body moves by itself: freely, about a ball joint, or about a hinge of the world or of a
//! static body. Its pose follows from reduced coordinates about the pivot (rotation and angular
//! momentum, or one angle), so joints hold by construction and the only error is that of the
//! integrator: the classical Runge-Kutta method, of fourth order, by which free motion of the centre of
//! mass is an exact parabola. Backward and forward Euler are there to be compared with: they are what
//! papers on affine bodies call implicit and explicit rigid body dynamics. `iterate` is one step of the
//! integrator over the budgeted fraction of the time step. Everything else is unsupported, with the reason.

mod coordinates;
mod euler;
mod mount;
mod runge_kutta;
mod settings;

use coordinates::{Coordinates, PullLoad, fall};
use mount::{Mount, mounts};
pub use settings::{Integrator, RigidSettings};
use taut_core::{
    Backend, BuildError, Devices, Info, Iteration, Native, Needs, Pull, Scene, Settings, Solver,
    SolverError, State, Step, Unsupported,
};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "rigid-cpu",
        "single bodies, free or on one fixed pivot, by fourth-order Runge-Kutta or by Euler",
        "none; Newton-Euler equations in reduced coordinates, classical Runge-Kutta",
    ),
    takes: Needs::POINTS.with(Needs::DOTS).with(Needs::PARTICLES).with(Needs::DRIVEN),
    refuses,
    build,
};

fn refuses(scene: &Scene) -> Result<(), Unsupported> {
    mounts(scene).map(|_| ()).map_err(Unsupported)
}

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    BACKEND.takes().refuse(scene)?;
    let mut solver = Rigid {
        mounts: mounts(scene).map_err(Unsupported)?,
        scene: scene.clone(),
        settings: settings.parse()?,
        coordinates: Vec::new(),
        state: State::default(),
        pulls: Vec::new(),
        loads: Vec::new(),
        step: Step { dt: 0.0, iterations: 1 },
        end_s: 0.0,
    };
    solver.load(&scene.initial_state())?;
    Ok(Box::new(solver))
}

/// All bodies of a scene, each moving by itself.
struct Rigid {
    scene: Scene,
    settings: RigidSettings,
    mounts: Vec<Mount>,
    coordinates: Vec<Coordinates>,
    /// Time, particles and broken joints; the bodies are in `coordinates`.
    state: State,
    pulls: Vec<Pull>,
    /// What each of them comes to in the step at hand.
    loads: Vec<PullLoad>,
    step: Step,
    end_s: f64,
}

impl Solver for Rigid {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.state.clone_from(state);
        self.pulls.clear();
        self.loads.clear();
        let bodies = self.scene.bodies.iter().zip(&self.mounts).zip(&state.bodies);
        self.coordinates.clear();
        self.coordinates.extend(bodies.map(|((body, mount), motion)| {
            Coordinates::new(body, mount, motion, &state.broken, &self.scene.gravity)
        }));
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.step = step;
        self.end_s = self.state.time_s + step.dt;
        let (bodies, coordinates) = (&self.scene.bodies, &self.coordinates);
        let load = |pull: &Pull| {
            let (body, at) = (bodies.get(pull.body)?, coordinates.get(pull.body)?);
            at.load(body.mass, pull)
        };
        self.loads.clear();
        self.loads.extend(self.pulls.iter().filter_map(load));
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        let (h, gravity) = (self.step.dt / f64::from(self.step.iterations), self.scene.gravity);
        let by = self.settings.integrator;
        self.loads.iter().for_each(|load| self.coordinates[load.body].kick(load, 0.5 * h));
        for coordinates in &mut self.coordinates {
            coordinates.advance(&gravity, h, by);
        }
        for load in &self.loads {
            self.coordinates[load.body].kick(load, 0.5 * h);
        }
        let masses = self.scene.particles.iter().map(|p| p.mass);
        for (particle, _) in self.state.particles.iter_mut().zip(masses).filter(|(_, m)| *m > 0.0) {
            fall(&mut particle.position, &mut particle.velocity, &gravity, h, by);
        }
        self.state.time_s += h;
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.state.time_s = self.end_s;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        for (body, coordinates) in out.bodies.iter_mut().zip(&self.coordinates) {
            *body = coordinates.state();
        }
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.pulls.clear();
        self.pulls.extend_from_slice(pulls);
        true
    }

    fn iteration(&self) -> Iteration {
        Iteration::Substep
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_else(|_| "()".to_owned())
    }
}
