//! The interface all backends implement and only the runner calls.

use crate::{AuditFacts, Scene, SolverError, State, math::Vec3, state::BitHash};

/// A solver loaded with one scene, advanced one iteration at a time.
///
/// The runner owns the loop, the clock, the observers and the metrics; a solver only moves the
/// state. Calls come in the order `load (begin_step iterate* end_step)*`, with `iterate` called
/// exactly [`Step::iterations`] times, and `read` allowed between any two calls after `load`.
/// A solver may use the current rayon pool; it must give the same bits for every pool size if it
/// declares [`crate::Determinism::Bitwise`].
pub trait Solver {
    /// Replaces the state and forgets all warm-start data, so equal inputs give equal runs.
    fn load(&mut self, state: &State) -> Result<(), SolverError>;

    /// Predicts motion, detects contacts and prepares the constraints of one step.
    fn begin_step(&mut self, step: Step) -> Result<(), SolverError>;

    /// Performs the next of the step's iterations.
    fn iterate(&mut self) -> Result<(), SolverError>;

    /// Derives velocities and closes the step.
    fn end_step(&mut self) -> Result<(), SolverError>;

    /// Waits for enqueued work, then copies the current iterate into `out`. Changes nothing.
    ///
    /// Between `begin_step` and `end_step` positions are the current iterate and velocities are
    /// those that `end_step` would derive from it.
    fn read(&mut self, out: &mut State) -> Result<(), SolverError>;

    /// Takes `count` whole steps: by default as `count` times `begin_step`, all of `iterate` and `end_step`, to which it
    /// is equal bit for bit.
    fn advance(&mut self, step: Step, count: u32) -> Result<(), SolverError> {
        for _ in 0..count {
            self.begin_step(step)?;
            for _ in 0..step.iterations {
                self.iterate()?;
            }
            self.end_step()?;
        }
        Ok(())
    }

    /// Waits for enqueued work.
    fn wait(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// Appends the stage times recorded since the last call. Empty where the device has no clock.
    fn drain_times(&mut self, _out: &mut Vec<StageTime>) {}

    /// Sets the pulls that act from the next step on, until others are set or a state is loaded; `false`
    /// where the solver cannot be pulled.
    ///
    /// A pull is an external force like gravity: it enters where the method predicts free motion, in every
    /// sub-step alike. It moves dynamic bodies only; on others it does nothing. No pulls are equal bits to
    /// this never being called.
    fn set_pulls(&mut self, _pulls: &[Pull]) -> bool {
        false
    }

    /// What one call of `iterate` means under the settings in force.
    fn iteration(&self) -> Iteration {
        Iteration::Refine
    }

    /// Copies the constraint forces of the last step into `out`; `false` where there are none to tell. Where they could
    /// not be had, what is called next says why.
    fn read_multipliers(&mut self, _out: &mut Multipliers) -> bool {
        false
    }

    /// The settings in force, every default filled in, as RON text.
    fn resolved_settings(&self) -> String {
        "()".to_owned()
    }

    /// The process that solves, where it is not this one.
    fn elsewhere(&self) -> Option<Elsewhere> {
        None
    }

    /// Asks for nothing, and returns once that has been answered: what each request to another process costs.
    fn ping(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// What an engine says that it compiled, where it does; what disagrees with the scene has failed before.
    fn audit(&self) -> Option<AuditFacts> {
        None
    }

    /// Whether everything fixed in size has sufficed since the last `load`; asked at the end of a run.
    ///
    /// # Errors
    /// What was too small: the motion is not that of the scene then.
    fn check_capacity(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// What a person should know of the scene under the settings in force, though the solver takes it: one sentence each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the solver tells of its own work.
    fn report(&self) -> SolverReport {
        SolverReport::default()
    }
}

/// What a solver tells of its own work; `None` is what it has nothing to tell of.
///
/// Sums run from the last `load` on, so that nothing is missed between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverReport {
    /// How many inner iterations the last step took at most, where the solver chooses by itself [1].
    pub iterations_used: Option<u32>,
    /// Sum of Newton iterations [1].
    pub newton_iterations: Option<u64>,
    /// Sum of the systems that were factorised, without those that turned out indefinite [1].
    pub factorisations: Option<u64>,
    /// The farthest that a point may move in the last Newton step, over the length of the time step [m/s].
    pub newton_speed_m_s: Option<f64>,
    /// Steps that ended before they were solved to tolerance [1].
    pub unconverged_steps: Option<u64>,
    /// Sum of the halvings of line searches [1].
    pub line_search_halvings: Option<u64>,
    /// Pairs of features that the last search took for near [1].
    pub candidates: Option<u64>,
    /// Those of them that the barrier pushed when it was last assembled [1].
    pub active_pairs: Option<u64>,
    /// Sum of pairs whose way was searched for impacts [1].
    pub ccd_queries: Option<u64>,
    /// Least share of a Newton step that the last step could make [1].
    pub step_share_min: Option<f64>,
    /// Stiffness of the barrier [J/m^4].
    pub kappa_j_m4: Option<f64>,
    /// Energy of what holds bodies in shape, at their joints and apart, beside that of the scene [J].
    pub stored_energy_j: Option<f64>,
    /// How far the driven body that contacts hold up most is from where it is to be [m].
    pub kinematic_lag_m: Option<f64>,
}

/// A process that solves for this one, and how long it says that this took it since it was built.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// Number of the process.
    pub process: u32,
    /// Time on the wall in steps [s].
    pub wall_s: f64,
    /// Time on processors in steps [s].
    pub processor_s: f64,
}

/// One time step, with its budget known before it starts: substepping solvers divide by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Length of the step [s].
    pub dt: f64,
    /// How many times `iterate` will be called.
    pub iterations: u32,
}

/// A force from outside on one point of a body, in world axes and constant over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The body, by its place in the scene.
    pub body: usize,
    /// Where it acts when the step starts [m].
    pub point: Vec3,
    /// [N]
    pub force: Vec3,
}

impl Pull {
    /// Its torque about a point [N m].
    pub fn torque(&self, about: &Vec3) -> Vec3 {
        (self.point - about).cross(&self.force)
    }
}

/// Forces that the constraints exert, in world axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multipliers {
    /// Force of each joint on its B side [N], in scene order.
    pub joint_force: Vec<Vec3>,
    /// Torque of each joint on its B side [N m] beside that of the force at the anchor, in scene order.
    pub joint_torque: Vec<Vec3>,
    /// Forces of the contacts of the last step, in the order in which they were detected.
    pub contacts: Vec<ContactForce>,
}

impl Multipliers {
    /// Adds every bit of the forces to a hash of several; where contacts lie is no part of it.
    pub fn add_to(&self, hash: &mut BitHash) {
        let contacts = self.contacts.iter().map(|contact| &contact.force);
        for force in self.joint_force.iter().chain(&self.joint_torque).chain(contacts) {
            hash.numbers(force);
        }
    }
}

/// What one point of contact exerted in a step that moved the bodies from one state to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactForce {
    /// The two bodies or particles, A first, as [`Scene::node`](crate::Scene::node) counts them. Of a triangle or an
    /// edge it is the first corner.
    pub bodies: [u32; 2],
    /// On each side the corners of a triangle with the share that each takes of the force; those of an edge, and one
    /// without any share.
    pub corners: [Option<[(u32, f64); 3]>; 2],
    /// World point at the start of the step [m].
    pub point: Vec3,
    /// Unit normal at the start of the step, from B to A.
    pub normal: Vec3,
    /// Distance between the surfaces at the start of the step [m]; negative where they overlap.
    pub gap: f64,
    /// Coefficients of static and dynamic friction of the pair [1].
    pub friction: [f64; 2],
    /// Force on A [N], averaged over the step; B takes its opposite.
    pub force: Vec3,
}

impl ContactForce {
    /// What acts on each body and particle [N], as [`Scene::node`](crate::Scene::node) counts them.
    pub fn acting(&self) -> impl Iterator<Item = (usize, Vec3)> + use<> {
        let side = |k: usize, sign: f64| {
            let own = self.bodies[k];
            let shares = self.corners[k].unwrap_or([(own, 1.0), (own, 0.0), (own, 0.0)]);
            let count = if self.corners[k].is_some() { 3 } else { 1 };
            let force = self.force * sign;
            let acting = move |(node, share)| (node as usize, force * share);
            shares.into_iter().take(count).map(acting)
        };
        side(0, 1.0).chain(side(1, -1.0))
    }
}

/// What one call to `iterate` means, and therefore how a convergence curve may be sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iteration {
    /// Improves the same end-of-step state: read after each iteration.
    Refine,
    /// Improves the same end-of-step state, which can be read there only: rerun the step with a larger budget.
    Rerun,
    /// Advances time by `dt / iterations`: rerun the step with a larger budget instead.
    Substep,
}

/// The same stages for every backend, so that times can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Finding contacts.
    Collide,
    /// Predicting motion and preparing constraints.
    Prepare,
    /// The iterations.
    Iterate,
    /// Deriving velocities and what else closes a step.
    Finish,
}

/// Time spent in one pass of one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTime {
    /// The stage it counts towards.
    pub stage: Stage,
    /// The backend's own name for the pass, such as `primal` or `dual`.
    pub pass: &'static str,
    /// Time on the device's clock [s].
    pub seconds: f64,
}

impl State {
    /// Checks that this state has one entry for everything in `scene`.
    ///
    /// # Errors
    /// [`SolverError::StateMismatch`] naming the first count that differs.
    pub fn check_fits(&self, scene: &Scene) -> Result<(), SolverError> {
        let counts = [
            ("bodies", scene.bodies.len(), self.bodies.len()),
            ("particles", scene.particles.len(), self.particles.len()),
            ("joints", scene.joints.len(), self.broken.len()),
        ];
        for (what, expected, found) in counts {
            if expected != found {
                return Err(SolverError::StateMismatch { what, expected, found });
            }
        }
        Ok(())
    }
}
