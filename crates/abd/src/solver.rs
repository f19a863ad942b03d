//! One step: predict, minimise the incremental energy, derive velocities.

mod kept;
mod line_search;
#[cfg(test)]
mod probes;
mod system;
mod touching;

use taut_collide::AffineSweep;
use taut_core::{
    BodyState, BuildError, Mat3, Pull, Scene, Solver, SolverError, SolverReport, State, Step,
    Unsupported, Vec3, scene::Motion,
};
use taut_model::Model;

use crate::{
    AbdSettings, ContactModel, FirstGuess, HessianProjection,
    body::{AffineBody, carried, driven_bodies, find_arrived, joined, split},
    contact::BarrierContact,
    islands::RestingIslands,
    joint::{Tie, ties},
    matrix::{BlockMatrix, SIZE},
};

use line_search::IslandSearch;
use system::tied;

/// Share of the masses that is added first where the system is not positive definite, and how often it grows tenfold.
const RAISED: (f64, i32) = (1e-6, 18);
/// Below which share such a direction still tells how far the minimum is.
const RAISED_LITTLE: f64 = 1e-3;

/// Bodies, joints and the system of one step.
pub(crate) struct Abd {
    pub(crate) scene: Scene,
    pub(crate) settings: AbdSettings,
    pub(crate) bodies: Vec<AffineBody>,
    /// Which of them each node of the model is.
    pub(crate) body_of: Vec<Option<usize>>,
    pub(crate) ties: Vec<Tie>,
    pub(crate) contact: Option<BarrierContact>,
    /// Time, broken joints and what is not dynamic.
    pub(crate) state: State,
    pulls: Vec<Pull>,
    /// Which of the bodies each pull of the step acts on, at which of its own points, and the force [N].
    pub(crate) loads: Vec<(usize, Vec3, Vec3)>,
    pub(crate) step: Step,
    end_s: f64,
    stepping: bool,
    pub(crate) converged: bool,
    /// Whether the step ends though it is not solved, since no direction or no share of it was found.
    stalled: bool,
    /// How often friction took its normal forces in this step, and whether that was after the last iteration.
    lags: u32,
    renewed: bool,
    work: NewtonWork,
    pub(crate) islands: RestingIslands,
    /// The system of the present iteration: of all bodies, or of a part to which all belong that have not settled.
    pub(crate) matrix: BlockMatrix,
    /// The other one of these two, if there is one.
    spare: Option<BlockMatrix>,
    /// How far the vertices of each body move at most along the direction [m].
    moves: Vec<f64>,
    /// For each body the most of these in its island, and the same of the iteration before, if the step has one [m].
    now: Vec<f64>,
    before: Vec<f64>,
    /// How far each body is from the nearest other within reach of the barrier [m].
    room: Vec<f64>,
    /// How far vertices moved at most along the direction of that iteration [m].
    farthest: Option<f64>,
    /// Whether that iteration could not go all the way.
    is_cut: bool,
    /// Whether the direction is one of so much more mass that it is short wherever the minimum is.
    is_raised: bool,
    search: IslandSearch,
    pub(crate) gradient: Vec<f64>,
    pub(crate) direction: Vec<f64>,
}

/// What was done since a state was loaded.
#[derive(Clone, Copy, Debug, Default)]
struct NewtonWork {
    iterations: u64,
    factorisations: u64,
    unconverged_steps: u64,
    halvings: u64,
    /// The farthest that a vertex may move in the last Newton step, over the step's length [m/s].
    speed: f64,
}

impl Abd {
    pub(crate) fn new(scene: &Scene, settings: AbdSettings) -> Result<Self, BuildError> {
        let model = Model::new(scene);
        let mut body_of = vec![None; model.nodes.len()];
        let mut bodies = Vec::new();
        for (i, body) in scene.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
            bodies.push(AffineBody::new(i, body, &settings));
        }
        let touching = scene.contacts.is_some() && settings.contact == ContactModel::Ipc;
        if touching {
            bodies.extend(driven_bodies(scene, &settings));
        }
        for (k, node) in bodies.iter().enumerate() {
            body_of[node.body] = Some(k);
        }
        let ties = ties(&model);
        let pairs: Vec<[u32; 2]> = tied(&ties, &body_of).collect();
        let unknowns = bodies.len() * SIZE;
        let places = vec![Vec3::zeros(); bodies.len()];
        let matrix = BlockMatrix::new(&places, &pairs).map_err(Unsupported)?;
        let unknown = body_of[..scene.bodies.len()].to_vec();
        let contact = scene.contacts.filter(|_| touching);
        let contact = contact.map(|_| BarrierContact::new(scene, &settings, unknown, &bodies));
        let mut solver = Self {
            scene: scene.clone(),
            settings,
            bodies,
            body_of,
            ties,
            contact,
            state: State::default(),
            pulls: Vec::new(),
            loads: Vec::new(),
            step: Step { dt: 1.0, iterations: 1 },
            end_s: 0.0,
            stepping: false,
            converged: false,
            stalled: false,
            lags: 0,
            renewed: false,
            work: NewtonWork::default(),
            islands: RestingIslands::new(unknowns / SIZE),
            matrix,
            spare: None,
            moves: Vec::new(),
            room: Vec::new(),
            now: Vec::new(),
            before: Vec::new(),
            farthest: None,
            is_cut: false,
            is_raised: false,
            search: IslandSearch::default(),
            gradient: vec![0.0; unknowns],
            direction: vec![0.0; unknowns],
        };
        solver.load(&scene.initial_state())?;
        Ok(solver)
    }

    /// Tells contacts how bodies move along the direction.
    pub(crate) fn set_motion(&mut self) {
        let Some(mut contact) = self.contact.take() else { return };
        let sweep = |i: usize| match self.body_of[i] {
            Some(k) => self.sweep(k),
            None => AffineSweep::still(self.state.bodies[i].frame, self.state.bodies[i].position),
        };
        let sweeps = (0..self.scene.bodies.len()).map(sweep);
        contact.set_motion(sweeps, &self.state.broken, &self.islands);
        self.contact = Some(contact);
    }

    /// How one of the dynamic bodies moves along the direction.
    pub(crate) fn sweep(&self, k: usize) -> AffineSweep {
        let (frame, position) = split(&self.bodies[k].now);
        let (frame_move, position_move) = split(&self.along(k));
        AffineSweep { frame, position, frame_move, position_move }
    }

    /// Moves driven bodies where nothing can hold them up.
    fn carry_driven(&mut self) {
        let times = [self.end_s, self.step.dt];
        for (i, body) in self.scene.bodies.iter().enumerate() {
            if body.motion == Motion::Kinematic {
                self.state.bodies[i] = carried(&self.scene, i, &self.state.bodies[i], times);
            }
        }
    }

    /// Finds where on its bodies each pull acts.
    fn begin_pulls(&mut self) {
        self.loads.clear();
        for pull in &self.pulls {
            let Some(Some(i)) = self.body_of.get(pull.body).copied() else { continue };
            if self.bodies[i].drive.is_some() {
                continue;
            }
            let (frame, position) = split(&self.bodies[i].now);
            let Some(back) = frame.try_inverse() else { continue };
            self.loads.push((i, back * (pull.point - position), pull.force));
        }
    }

    /// Solves for the Newton direction; `false` where no positive definite system was found.
    fn solve(&mut self) -> bool {
        let ways: &[bool] = match (&self.contact, self.settings.projection) {
            (None, _) | (Some(_), HessianProjection::OnDemand) => &[false, true],
            // Barriers are clamped pair by pair, so that nothing else may be indefinite.
            (Some(_), HessianProjection::Clamp) => &[true],
            (Some(_), HessianProjection::None) => &[false],
        };
        self.is_raised = false;
        let mut found = ways.iter().any(|&project| {
            self.assemble(project);
            self.solve_assembled(project)
        });
        if !found && self.contact.is_some() {
            found = (0..RAISED.1).any(|times| {
                let share = RAISED.0 * 10_f64.powi(times);
                self.is_raised = share > RAISED_LITTLE;
                self.raise_masses(share);
                self.solve_assembled(ways.contains(&true))
            });
        }
        found
    }

    /// Solves the system as it is; `false` where it is not positive definite, or was not projected and barely is.
    fn solve_assembled(&mut self, project: bool) -> bool {
        if !self.matrix.factorise() {
            return false;
        }
        self.work.factorisations += 1;
        self.matrix.set_moving(|body| self.islands.is_awake(body));
        self.find_direction();
        project || !self.is_boundless()
    }

    /// The direction that the last factor has against the gradient.
    fn find_direction(&mut self) {
        for (step, force) in self.direction.iter_mut().zip(&self.gradient) {
            *step = -force;
        }
        self.matrix.solve(&mut self.direction);
    }

    /// Adds a share of the masses to the matrix.
    fn raise_masses(&mut self, share: f64) {
        let square = self.step.dt * self.step.dt;
        for (i, node) in self.bodies.iter().enumerate() {
            let least = node.second.symmetric_eigenvalues().min();
            let mass = |k: usize| node.hold() * if k < 9 { least } else { node.mass };
            let entry = |r: usize, c: usize| if r == c { share * mass(r) / square } else { 0.0 };
            let block = std::array::from_fn(|r| std::array::from_fn(|c| entry(r, c)));
            self.matrix.add_diagonal(i, &block);
        }
    }

    /// Largest part of the direction, lengths as shares of the body's size [1].
    fn largest_step(&self) -> f64 {
        let step = |(i, node): (usize, &AffineBody)| {
            let q = &self.direction[i * SIZE..(i + 1) * SIZE];
            let largest = |q: &[f64]| q.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            largest(&q[..9]).max(largest(&q[9..]) / node.size)
        };
        self.bodies.iter().enumerate().map(step).fold(0.0, f64::max)
    }

    /// Moves bodies by shares of the direction.
    fn advance(&mut self, share: impl Fn(usize) -> f64) {
        for i in 0..self.bodies.len() {
            let step = self.along(i);
            self.bodies[i].now += step * share(i);
        }
        if let Some(contact) = &mut self.contact {
            contact.advance(share);
        }
    }

    /// One Newton iteration without contacts.
    fn iterate_free(&mut self) {
        if !self.solve() {
            // Only numbers that have overflowed are beyond projection; the runner will see them.
            self.converged = true;
            return;
        }
        let last = self.largest_step() <= self.settings.tolerance;
        // What no share of the direction lowers is a minimum to rounding.
        let share = if last { Some(1.0) } else { self.searched() };
        self.converged = last || share.is_none();
        if let Some(share) = share {
            self.advance(|_| share);
        }
    }
}

impl Solver for Abd {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.state.clone_from(state);
        self.pulls.clear();
        self.loads.clear();
        for node in &mut self.bodies {
            let body = &state.bodies[node.body];
            node.now = joined(&body.frame, &body.position);
            node.rate = joined(&body.frame_rate, &body.velocity);
            node.follows = 1.0;
            (node.start, node.target) = (node.now, node.now);
            if let Some(drive) = &mut node.drive {
                drive.load(body);
            }
        }
        for (body, state) in self.scene.bodies.iter().zip(&mut self.state.bodies) {
            if body.motion == Motion::Static {
                (state.velocity, state.frame_rate) = (Vec3::zeros(), Mat3::zeros());
            }
        }
        if let Some(contact) = &mut self.contact {
            contact.forget();
            // Its order of elimination is that of the contacts so far, and decides how sums are rounded.
            let pairs: Vec<[u32; 2]> = tied(&self.ties, &self.body_of).collect();
            self.matrix =
                BlockMatrix::new(&self.places(), &pairs).map_err(SolverError::NotConverged)?;
            self.spare = None;
            self.islands = RestingIslands::new(self.bodies.len());
        }
        (self.stepping, self.converged) = (false, false);
        self.work = NewtonWork::default();
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        let h = step.dt;
        if h != self.step.dt {
            self.forget_factors();
        }
        self.before.clear();
        (self.farthest, self.is_cut) = (None, false);
        self.end_s = self.state.time_s + h;
        (self.step, self.stepping, self.converged) = (step, true, false);
        (self.lags, self.renewed, self.stalled) = (1, false, false);
        self.islands.wake();
        let adaptive = self.settings.first_guess != FirstGuess::Inertia && self.contact.is_some();
        self.begin_pulls();
        let fall = joined(&Mat3::zeros(), &self.scene.gravity) * (h * h);
        for (i, node) in self.bodies.iter_mut().enumerate() {
            node.start = node.now;
            node.target = match &mut node.drive {
                Some(drive) => drive.begin(&self.scene, node.body, [self.end_s, h], &node.now),
                None => node.now + node.rate * h + fall,
            };
            // From the last pose, the way along a stiff body's circle would take many short steps.
            let mut way = node.target - node.now;
            if adaptive && node.drive.is_none() {
                way -= fall * (1.0 - node.follows);
            }
            self.direction[i * SIZE..(i + 1) * SIZE].copy_from_slice(way.as_slice());
        }
        if self.contact.is_none() {
            self.carry_driven();
        }
        self.set_motion();
        self.contact.as_ref().map_or(Ok(()), BarrierContact::check_lost)?;
        self.assemble_gradient();
        if let Some(contact) = &mut self.contact {
            contact.begin_step();
            contact.begin_sliding(self.settings.smooth_speed * contact.length(), h);
            contact.find_stiffness(&self.gradient, h);
            self.go_to_guess();
        } else {
            self.advance(|_| 1.0);
        }
        self.certify()
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        if self.converged {
            return Ok(());
        }
        self.work.iterations += 1;
        if self.contact.is_some() {
            return self.iterate_touching();
        }
        self.iterate_free();
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        let enough = self.enough();
        find_arrived(&mut self.bodies, enough);
        for node in &mut self.bodies {
            node.end(self.step.dt, &self.scene.gravity);
        }
        self.work.unconverged_steps += u64::from(!self.converged || self.stalled);
        self.state.time_s = self.end_s;
        self.stepping = false;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        for node in &self.bodies {
            let rate = match self.stepping {
                true => (node.now - node.start) / self.step.dt,
                false => node.rate,
            };
            let ((frame, position), (frame_rate, velocity)) = (split(&node.now), split(&rate));
            out.bodies[node.body] = BodyState { position, frame, velocity, frame_rate };
        }
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.pulls.clear();
        self.pulls.extend_from_slice(pulls);
        true
    }

    fn warnings(&self) -> Vec<String> {
        self.contact.as_ref().map_or(vec![], |contact| contact.warnings(&self.scene))
    }

    fn report(&self) -> SolverReport {
        let mut report = SolverReport {
            newton_iterations: Some(self.work.iterations),
            factorisations: Some(self.work.factorisations),
            unconverged_steps: Some(self.work.unconverged_steps),
            line_search_halvings: Some(self.work.halvings),
            newton_speed_m_s: Some(self.work.speed),
            stored_energy_j: Some(self.energy_of_shape(0.0)),
            ..SolverReport::default()
        };
        if let Some(contact) = &self.contact {
            contact.report(&mut report);
            let lag = self.bodies.iter().filter_map(|node| contact.lag(node)).reduce(f64::max);
            report.kinematic_lag_m = lag;
        }
        report
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_else(|_| "()".to_owned())
    }
}
