//! One step: predict, minimise the incremental energy, derive velocities.

use nalgebra::SVector;
use taut_core::{
    BodyState, Mat3, Pull, Quat, Scene, Solver, SolverError, State, Step, Vec3,
    math::skew,
    scene::{Body, Motion},
};
use taut_model::Model;

use crate::{
    AbdSettings, energy,
    envelope::{EnvelopeMatrix, SIZE},
    joint::{Tie, ties},
};

/// Halvings of a Newton step before it is given up.
const HALVINGS_MAX: usize = 30;
/// Share of the decrease promised by the slope that a step must reach.
const ARMIJO: f64 = 1e-4;
/// Energies that differ by less than this share are equal to rounding.
const ROUNDING: f64 = 1e-13;

/// Frame column by column, then position.
pub(crate) type Vec12 = SVector<f64, 12>;

/// A dynamic body.
#[derive(Clone, Debug)]
struct AffineBody {
    /// Its index in the scene.
    body: usize,
    mass: f64,
    /// Integral of `x x^T` over its mass, in body axes [kg m^2].
    second: Mat3,
    /// `kappa V` [J].
    stiffness: f64,
    /// Length by which its position is judged [m].
    size: f64,
    now: Vec12,
    /// At the start of the step.
    start: Vec12,
    /// Where it would be without elasticity and joints.
    target: Vec12,
    rate: Vec12,
}

/// Bodies, joints and the system of one step.
pub(crate) struct Abd {
    scene: Scene,
    settings: AbdSettings,
    bodies: Vec<AffineBody>,
    /// Which of them each node of the model is.
    body_of: Vec<Option<usize>>,
    ties: Vec<Tie>,
    /// Time, broken joints and what is not dynamic.
    state: State,
    pulls: Vec<Pull>,
    /// Which of the bodies each pull of the step acts on, at which of its own points, and the force [N].
    loads: Vec<(usize, Vec3, Vec3)>,
    step: Step,
    end_s: f64,
    stepping: bool,
    converged: bool,
    matrix: EnvelopeMatrix,
    gradient: Vec<f64>,
    direction: Vec<f64>,
}

impl Abd {
    pub(crate) fn new(scene: &Scene, settings: AbdSettings) -> Result<Self, SolverError> {
        let model = Model::new(scene);
        let mut body_of = vec![None; model.nodes.len()];
        let mut bodies = Vec::new();
        for (i, body) in scene.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
            body_of[i] = Some(bodies.len());
            bodies.push(AffineBody::new(i, body, &settings));
        }
        let ties = ties(&model);
        let pair = |tie: &Tie| Some([body_of[tie.nodes[0]]?, body_of[tie.nodes[1]]?]);
        let pairs: Vec<[usize; 2]> = ties.iter().filter_map(pair).collect();
        let unknowns = bodies.len() * SIZE;
        let matrix = EnvelopeMatrix::new(bodies.len(), &pairs);
        let mut solver = Self {
            scene: scene.clone(),
            settings,
            bodies,
            body_of,
            ties,
            state: State::default(),
            pulls: Vec::new(),
            loads: Vec::new(),
            step: Step { dt: 1.0, iterations: 1 },
            end_s: 0.0,
            stepping: false,
            converged: false,
            matrix,
            gradient: vec![0.0; unknowns],
            direction: vec![0.0; unknowns],
        };
        solver.load(&scene.initial_state())?;
        Ok(solver)
    }

    /// The incremental energy with every body moved by `share` of the direction [J].
    fn energy(&self, share: f64) -> f64 {
        let h = self.step.dt;
        let moved = |i: usize| {
            let step = Vec12::from_column_slice(&self.direction[i * SIZE..(i + 1) * SIZE]);
            self.bodies[i].now + step * share
        };
        let mut sum = 0.0;
        for (i, node) in self.bodies.iter().enumerate() {
            let q = moved(i);
            let (frame, place) = split(&(q - node.target));
            let inertia = frame.dot(&(frame * node.second)) + node.mass * place.norm_squared();
            sum += 0.5 * inertia / (h * h) + node.stiffness * energy::value(&split(&q).0);
        }
        for &(i, local, force) in &self.loads {
            sum -= force.dot(&(point(&moved(i), &local) - point(&self.bodies[i].start, &local)));
        }
        for tie in self.active() {
            let stiffness = self.strength(tie);
            for pair in &tie.points {
                let [a, b] = [0, 1].map(|side| match self.body_of[tie.nodes[side]] {
                    Some(i) => point(&moved(i), &pair[side]),
                    None => self.prescribed(tie.nodes[side], &pair[side]),
                });
                sum += 0.5 * stiffness * (a - b).norm_squared();
            }
        }
        sum
    }

    /// Joints that are not broken.
    fn active(&self) -> impl Iterator<Item = &Tie> {
        self.ties.iter().filter(|tie| !self.state.broken[tie.joint])
    }

    /// Stiffness of a joint's points [N/m]: with the inertia of both sides it grows as their `1/h^2`, so
    /// that the system stays as well scaled for heavy bodies as for light ones.
    fn strength(&self, tie: &Tie) -> f64 {
        let mass = |node: usize| self.body_of[node].map_or(0.0, |i| self.bodies[i].mass);
        self.settings.joint_strength * (mass(tie.nodes[0]) + mass(tie.nodes[1]))
            / (self.step.dt * self.step.dt)
    }

    /// A point of what forces do not move, at the end of the step [m].
    fn prescribed(&self, node: usize, local: &Vec3) -> Vec3 {
        self.state.bodies.get(node).map_or(*local, |body| body.point(local))
    }

    /// Gradient and Hessian of the incremental energy; the bodies' own Hessians projected if asked.
    fn assemble(&mut self, project: bool) {
        let square = self.step.dt * self.step.dt;
        self.matrix.clear();
        self.gradient.fill(0.0);
        for (i, node) in self.bodies.iter().enumerate() {
            let first = i * SIZE;
            let (frame, _) = split(&node.now);
            let (off, place) = split(&(node.now - node.target));
            let force = off * node.second / square + energy::gradient(&frame) * node.stiffness;
            self.gradient[first..first + 9].copy_from_slice(force.as_slice());
            let force = place * (node.mass / square);
            self.gradient[first + 9..first + SIZE].copy_from_slice(force.as_slice());
            let mut hessian = energy::hessian(&frame) * node.stiffness;
            if project {
                hessian = energy::projected(&hessian);
            }
            for row in 0..9 {
                for column in 0..=row {
                    // The mass couples equal components of two columns of the frame.
                    let coupled = row % 3 == column % 3;
                    let inertia = if coupled { node.second[(row / 3, column / 3)] } else { 0.0 };
                    let entry = hessian[(row, column)] + inertia / square;
                    self.matrix.add(first + row, first + column, entry);
                }
            }
            (9..SIZE).for_each(|k| self.matrix.add(first + k, first + k, node.mass / square));
        }
        for (i, local, force) in &self.loads {
            let weights = [local.x, local.y, local.z, 1.0];
            for (block, weight) in weights.into_iter().enumerate() {
                for axis in 0..3 {
                    self.gradient[i * SIZE + 3 * block + axis] -= weight * force[axis];
                }
            }
        }
        self.assemble_joints();
    }

    /// Finds where on its bodies each pull acts.
    fn begin_pulls(&mut self) {
        self.loads.clear();
        for pull in &self.pulls {
            let Some(Some(i)) = self.body_of.get(pull.body).copied() else { continue };
            let (frame, position) = split(&self.bodies[i].now);
            let Some(back) = frame.try_inverse() else { continue };
            self.loads.push((i, back * (pull.point - position), pull.force));
        }
    }

    fn assemble_joints(&mut self) {
        for k in 0..self.ties.len() {
            let tie = &self.ties[k];
            if self.state.broken[tie.joint] {
                continue;
            }
            let stiffness = self.strength(tie);
            let bodies = tie.nodes.map(|node| self.body_of[node]);
            for pair in &tie.points {
                let at = |side: usize| match bodies[side] {
                    Some(i) => point(&self.bodies[i].now, &pair[side]),
                    None => self.prescribed(tie.nodes[side], &pair[side]),
                };
                let force = (at(0) - at(1)) * stiffness;
                let weights = pair.map(|local| [local.x, local.y, local.z, 1.0]);
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    let Some(i) = bodies[side] else { continue };
                    for (block, weight) in weights[side].iter().enumerate() {
                        for axis in 0..3 {
                            let row = i * SIZE + 3 * block + axis;
                            self.gradient[row] += sign * weight * force[axis];
                        }
                    }
                    for (other, other_sign) in [(0, 1.0), (1, -1.0)] {
                        let Some(j) = bodies[other] else { continue };
                        let factor = sign * other_sign * stiffness;
                        couple(&mut self.matrix, [i, j], [&weights[side], &weights[other]], factor);
                    }
                }
            }
        }
    }

    /// Solves for the Newton direction; `false` where no positive definite system was found.
    fn solve(&mut self) -> bool {
        for project in [false, true] {
            self.assemble(project);
            if self.matrix.factorise() {
                for (step, force) in self.direction.iter_mut().zip(&self.gradient) {
                    *step = -force;
                }
                self.matrix.solve(&mut self.direction);
                return true;
            }
        }
        false
    }

    /// Largest part of the direction, lengths as shares of the body's size [1].
    fn largest_step(&self) -> f64 {
        let step = |(i, node): (usize, &AffineBody)| {
            let q = &self.direction[i * SIZE..(i + 1) * SIZE];
            let largest = |part: &[f64]| part.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            largest(&q[..9]).max(largest(&q[9..]) / node.size)
        };
        self.bodies.iter().enumerate().map(step).fold(0.0, f64::max)
    }

    /// The share of the direction after which the energy has fallen enough, if any.
    fn searched(&self) -> Option<f64> {
        let slope: f64 = self.gradient.iter().zip(&self.direction).map(|(g, d)| g * d).sum();
        let before = self.energy(0.0);
        let mut share = 1.0;
        for _ in 0..HALVINGS_MAX {
            let allowed = before + ARMIJO * share * slope + ROUNDING * before.abs();
            if self.energy(share) <= allowed {
                return Some(share);
            }
            share *= 0.5;
        }
        None
    }
}

#[cfg(test)]
impl Abd {
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Vec12> {
        self.bodies.iter_mut().map(|node| &mut node.now)
    }

    /// Gradient and dense Hessian.
    pub(crate) fn derivatives(&mut self) -> (Vec<f64>, Vec<Vec<f64>>) {
        self.assemble(false);
        let n = self.gradient.len();
        let dense = (0..n).map(|i| (0..n).map(|j| self.matrix.entry(i, j)).collect()).collect();
        (self.gradient.clone(), dense)
    }

    /// Energy with one unknown moved.
    pub(crate) fn energy_at(&mut self, unknown: usize, by: f64) -> f64 {
        self.direction.fill(0.0);
        self.direction[unknown] = by;
        self.energy(1.0)
    }

    /// Gradient with one unknown moved.
    pub(crate) fn gradient_at(&mut self, unknown: usize, by: f64) -> Vec<f64> {
        let kept = self.bodies[unknown / SIZE].now;
        self.bodies[unknown / SIZE].now[unknown % SIZE] += by;
        self.assemble(false);
        self.bodies[unknown / SIZE].now = kept;
        self.gradient.clone()
    }
}

/// Adds the product of two sides' weights to the matrix, for all three axes.
fn couple(matrix: &mut EnvelopeMatrix, [i, j]: [usize; 2], [a, b]: [&[f64; 4]; 2], factor: f64) {
    if j > i {
        return;
    }
    for (row, a) in a.iter().enumerate() {
        for (column, b) in b.iter().enumerate() {
            for axis in 0..3 {
                let (r, c) = (i * SIZE + 3 * row + axis, j * SIZE + 3 * column + axis);
                matrix.add(r, c, factor * a * b);
            }
        }
    }
}

impl AffineBody {
    fn new(index: usize, body: &Body, settings: &AbdSettings) -> Self {
        let second = Mat3::identity() * (0.5 * body.inertia.trace()) - body.inertia;
        let stiffness = match body.elasticity {
            // Uniaxial strain e costs E/2 e^2 in a linear solid without lateral contraction, 4 kappa e^2 here.
            Some(elasticity) => elasticity.young / 8.0 * body.shape.volume(),
            None => body.mass * settings.wave_speed * settings.wave_speed,
        };
        let size = body.shape.extent().max();
        let zero = Vec12::zeros();
        Self {
            body: index,
            mass: body.mass,
            second,
            stiffness,
            size,
            now: zero,
            start: zero,
            target: zero,
            rate: zero,
        }
    }
}

fn split(q: &Vec12) -> (Mat3, Vec3) {
    (Mat3::from_column_slice(&q.as_slice()[..9]), q.fixed_rows::<3>(9).into())
}

fn joined(frame: &Mat3, position: &Vec3) -> Vec12 {
    Vec12::from_fn(|i, _| if i < 9 { frame[i] } else { position[i - 9] })
}

/// Where a body takes a point of its own [m].
fn point(q: &Vec12, local: &Vec3) -> Vec3 {
    let (frame, position) = split(q);
    position + frame * local
}

/// A kinematic body a time `h` [s] later.
fn carried(body: &Body, state: &BodyState, h: f64) -> BodyState {
    let rotation = Quat::from_scaled_axis(body.omega * h) * state.rotation();
    let position = state.position + body.velocity * h;
    let frame = rotation.to_rotation_matrix().into_inner();
    BodyState { position, frame, velocity: body.velocity, frame_rate: skew(&body.omega) * frame }
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
            (node.start, node.target) = (node.now, node.now);
        }
        for (body, state) in self.scene.bodies.iter().zip(&mut self.state.bodies) {
            if body.motion == Motion::Static {
                (state.velocity, state.frame_rate) = (Vec3::zeros(), Mat3::zeros());
            }
        }
        (self.stepping, self.converged) = (false, false);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        let h = step.dt;
        self.end_s = self.state.time_s + h;
        (self.step, self.stepping, self.converged) = (step, true, false);
        self.begin_pulls();
        let fall = joined(&Mat3::zeros(), &self.scene.gravity) * (h * h);
        for node in &mut self.bodies {
            node.start = node.now;
            node.target = node.now + node.rate * h + fall;
            // From the last pose, the way along a stiff body's circle would take many short steps.
            node.now = node.target;
        }
        for (body, state) in self.scene.bodies.iter().zip(&mut self.state.bodies) {
            if body.motion == Motion::Kinematic {
                *state = carried(body, state, h);
            }
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        if self.converged {
            return Ok(());
        }
        if !self.solve() {
            // Only numbers that have overflowed are beyond projection; the runner will see them.
            self.converged = true;
            return Ok(());
        }
        let last = self.largest_step() <= self.settings.tolerance;
        // What no share of the direction lowers is a minimum to rounding.
        let share = if last { Some(1.0) } else { self.searched() };
        self.converged = last || share.is_none();
        if let Some(share) = share {
            for (i, node) in self.bodies.iter_mut().enumerate() {
                let step = Vec12::from_column_slice(&self.direction[i * SIZE..(i + 1) * SIZE]);
                node.now += step * share;
            }
        }
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        for node in &mut self.bodies {
            node.rate = (node.now - node.start) / self.step.dt;
        }
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

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_else(|_| "()".to_owned())
    }
}
