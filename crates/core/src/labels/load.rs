//! The acceleration that a scene's forces and joints give everything at one instant.
//!
//! Gauss's principle: with `J` the gradients of the rows that hold, accelerations `a` solve
//! `M a = f - J^T l` and `J a + v^T H v = 0`. This is statics and dynamics without any solver: an
//! equilibrium gives zero.

use taut_math::V3;

use super::gyration_m;
use crate::{
    Mat3, Scene, State, Vec3,
    applied::AppliedForces,
    constraint::{Geometry, Pose, RowKind, free_coordinate, locked_rows, spring_rows, stack},
    energy::{ENDS_MAX, Energy, ROWS_MAX},
    math::axial,
    scene::{Anchor, Endpoint, Joint, Motor, Spring, SpringKind, points},
};

/// A limit within this distance of its bound holds [m or rad].
const TOUCHES: f64 = 1e-3;
/// The solution is good when the rows' residual has fallen by this factor.
const TOLERANCE: f64 = 1e-9;
/// Products of a row with a vector that one look may cost; larger scenes are not looked at.
const BUDGET: usize = 20_000_000;

/// A spring that would swing its end faster than this holds it like a joint [rad/s]: within
/// the distance of a node that does not move its force varies by more than a load that matters here.
const STIFF_RAD_S: f64 = 30.0;

/// A motor off its speed by no more than this share of it [1], or by so little [rad/s or m/s], turns as it should.
const AS_IT_SHOULD: f64 = 0.1;
const AT_REST: f64 = 1e-3;

/// Linear and angular part of a force, velocity or acceleration.
type Twist = [Vec3; 2];

/// Inverse mass and inverse inertia of a node, in world axes; zero for what forces do not move.
#[derive(Clone, Copy)]
struct Mobility {
    mass: f64,
    inertia: Mat3,
}

/// One row that holds: gradients at its nodes.
struct HeldRow {
    nodes: [Option<usize>; ENDS_MAX],
    gradient: [Twist; ENDS_MAX],
    /// `v^T H v` [m/s^2 or rad/s^2].
    curvature: f64,
    /// What drives it, where it is held by a motor.
    motor: Option<Motor>,
}

/// Magnitude of the acceleration of every body, then every particle [m/s^2]: of the centre, and, of what one joint or
/// none holds, of a point at the radius of gyration about it. What several joints hold may quiver under their
/// tension, so that its angular acceleration at one instant says nothing.
///
/// `None` where the scene is too large, or the rows contradict each other. Motors that turn as they should, stiff
/// springs, stiff compliant joints and elastic material count as holding, so that accelerations are rather too small
/// than too large.
pub(super) fn accelerations(scene: &Scene, state: &State) -> Option<Vec<f64>> {
    let mobility = mobilities(scene, state);
    let mut force = forces(scene, state);
    let mut rows = rows(scene, state);
    let mut multipliers = hold(&rows, &mobility, &force)?;
    let velocities: Vec<Twist> =
        (0..mobility.len()).map(|node| velocity(state, Some(node))).collect();
    let efforts: Vec<Option<f64>> =
        rows.iter().zip(&multipliers).map(|(row, l)| row.effort(&velocities, -l)).collect();
    if efforts.iter().any(Option::is_some) {
        for (row, effort) in rows.iter().zip(&efforts) {
            row.add_force(effort.unwrap_or(0.0), &mut force);
        }
        let mut efforts = efforts.iter();
        rows.retain(|_| efforts.next().is_some_and(Option::is_none));
        multipliers = hold(&rows, &mobility, &force)?;
    }
    for (row, l) in rows.iter().zip(&multipliers) {
        row.add_force(-l, &mut force);
    }
    let accelerations = mobility.iter().zip(&force).map(|(m, f)| m.apply(f)).enumerate();
    let mut joints = vec![0_u32; mobility.len()];
    for end in scene.joints.iter().flat_map(|joint| [joint.a, joint.b]) {
        scene.node(end).into_iter().for_each(|node| joints[node] += 1);
    }
    let size = |(node, [a, turn]): (usize, Twist)| {
        a.norm() + if joints[node] > 1 { 0.0 } else { gyration_m(scene, node) * turn.norm() }
    };
    Some(accelerations.map(size).collect())
}

/// Frequencies of what is soft, each as it would swing the lighter of its ends [rad/s].
pub(super) fn soft_frequencies(scene: &Scene) -> impl Iterator<Item = f64> {
    let springs = scene.springs.iter().filter(|spring| !is_stiff(scene, spring));
    let springs = springs.map(|spring| frequency(scene, [spring.a, spring.b], spring.stiffness));
    let joints = scene.joints.iter().filter(|joint| is_soft(scene, joint));
    springs.chain(
        joints.map(|joint| frequency(scene, [joint.a, joint.b], 1.0 / joint.compliance_linear)),
    )
}

/// Frequency at which a stiffness [N/m] would swing the lighter of two ends [rad/s].
fn frequency(scene: &Scene, ends: [Endpoint; 2], stiffness: f64) -> f64 {
    let mass = |endpoint| match endpoint {
        Endpoint::Body(i) if scene.is_dynamic(endpoint) => scene.bodies[i].mass,
        Endpoint::Particle(i) if scene.is_dynamic(endpoint) => scene.particles[i].mass,
        _ => f64::INFINITY,
    };
    (stiffness / mass(ends[0]).min(mass(ends[1]))).sqrt()
}

/// Whether a spring holds its ends like a joint as long as they stay still.
fn is_stiff(scene: &Scene, spring: &Spring) -> bool {
    match spring.kind {
        SpringKind::Angular { .. } => true,
        SpringKind::Linear { .. } => {
            let ends = [spring.a, spring.b];
            // The rate at which a damper stops the lighter end is the square of this root.
            let stops = frequency(scene, ends, spring.damping).powi(2);
            frequency(scene, ends, spring.stiffness).max(stops) > STIFF_RAD_S
        }
    }
}

/// Whether a joint's positions give way like a spring.
fn is_soft(scene: &Scene, joint: &Joint) -> bool {
    let compliance = joint.compliance_linear;
    compliance > 0.0 && frequency(scene, [joint.a, joint.b], 1.0 / compliance) <= STIFF_RAD_S
}

impl Mobility {
    fn apply(&self, force: &Twist) -> Twist {
        [force[0] * self.mass, self.inertia * force[1]]
    }
}

impl HeldRow {
    /// Product with a vector over the nodes.
    fn rate(&self, motion: &[Twist]) -> f64 {
        let sides = self.nodes.iter().zip(&self.gradient);
        sides
            .filter_map(|(node, [linear, angular])| {
                let [v, w] = &motion[(*node)?];
                Some(linear.dot(v) + angular.dot(w))
            })
            .sum()
    }

    /// Adds the gradient times `multiplier`.
    fn add_force(&self, multiplier: f64, force: &mut [Twist]) {
        for (node, [linear, angular]) in self.nodes.iter().zip(&self.gradient) {
            if let Some(node) = *node {
                force[node][0] += linear * multiplier;
                force[node][1] += angular * multiplier;
            }
        }
    }

    /// What a motor exerts that does not turn as it should, or cannot hold what it would have to [N or N m].
    fn effort(&self, velocities: &[Twist], holding: f64) -> Option<f64> {
        let Motor { speed, max_effort } = self.motor?;
        let lacking = speed - self.rate(velocities);
        let turns = lacking.abs() <= (AS_IT_SHOULD * speed.abs()).max(AT_REST);
        match (turns, holding.abs() <= max_effort) {
            (true, true) => None,
            (true, false) => Some(holding.clamp(-max_effort, max_effort)),
            (false, _) => Some(max_effort.copysign(lacking)),
        }
    }

    /// Diagonal entry of `J M^-1 J^T`.
    fn compliance(&self, mobility: &[Mobility]) -> f64 {
        let sides = self.nodes.iter().zip(&self.gradient);
        sides
            .filter_map(|(node, gradient)| {
                let [linear, angular] = mobility[(*node)?].apply(gradient);
                Some(linear.dot(&gradient[0]) + angular.dot(&gradient[1]))
            })
            .sum()
    }
}

fn mobilities(scene: &Scene, state: &State) -> Vec<Mobility> {
    let still = Mobility { mass: 0.0, inertia: Mat3::zeros() };
    let bodies = scene.bodies.iter().zip(&state.bodies).map(|(body, s)| {
        if !body.is_dynamic() {
            return still;
        }
        let rotation = s.rotation().to_rotation_matrix().into_inner();
        let inverse = body.inertia.try_inverse().unwrap_or_default();
        Mobility { mass: 1.0 / body.mass, inertia: rotation * inverse * rotation.transpose() }
    });
    let particles = scene.particles.iter().map(|particle| match particle.mass > 0.0 {
        true => Mobility { mass: 1.0 / particle.mass, ..still },
        false => still,
    });
    bodies.chain(particles).collect()
}

/// What is applied, and what dampers that are not stiff exert at the present rates.
fn add_outer_forces(scene: &Scene, state: &State, force: &mut [Twist]) {
    let pose = |end| Pose::of(end, state);
    AppliedForces::of(scene).each(state.time_s, &state.broken, pose, |action| {
        let [push, turn] = &mut force[action.body];
        *push += action.force;
        *turn += action.torque_about(&state.bodies[action.body].position);
    });
    let nodes = scene.bodies.len() + scene.particles.len();
    let damped = scene.springs.iter().any(|spring| spring.damping > 0.0)
        || scene.joints.iter().any(|joint| joint.damping > 0.0);
    if !damped {
        return;
    }
    let velocities: Vec<Twist> = (0..nodes).map(|node| velocity(state, Some(node))).collect();
    let mut slow = |row: &HeldRow, damping: f64| {
        row.add_force(-damping * row.rate(&velocities), force);
    };
    for spring in scene.springs.iter().filter(|s| s.damping > 0.0 && !is_stiff(scene, s)) {
        let place = Place::new(scene, state, spring.a, spring.b, Geometry::from(spring));
        slow(&place.row(RowKind::Distance), spring.damping);
    }
    for (joint, _) in scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken) {
        if let Some(kind) = free_coordinate(joint.kind).filter(|_| joint.damping > 0.0) {
            let place = Place::new(scene, state, joint.a, joint.b, Geometry::from(joint));
            slow(&place.row(kind), joint.damping);
        }
    }
}

/// Gravity, gyroscopic torques, soft springs and soft joints, and what comes from outside.
fn forces(scene: &Scene, state: &State) -> Vec<Twist> {
    let bodies = scene.bodies.iter().zip(&state.bodies).map(|(body, s)| {
        let rotation = s.rotation().to_rotation_matrix().into_inner();
        let omega = s.omega();
        let spin = rotation * body.inertia * rotation.transpose() * omega;
        [scene.gravity * body.mass, spin.cross(&omega)]
    });
    let particles = scene.particles.iter().map(|p| [scene.gravity * p.mass, Vec3::zeros()]);
    let mut force: Vec<Twist> = bodies.chain(particles).collect();
    for spring in scene.springs.iter().filter(|spring| !is_stiff(scene, spring)) {
        let place = Place::new(scene, state, spring.a, spring.b, Geometry::from(spring));
        for (kind, rest) in spring_rows(spring) {
            let value = kind.evaluate(&place.geometry, &place.poses[0], &place.poses[1]).value;
            place.row(kind).add_force(-spring.stiffness * (value - rest), &mut force);
        }
    }
    let whole = scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken);
    for (joint, _) in whole.filter(|(joint, _)| is_soft(scene, joint)) {
        let place = Place::new(scene, state, joint.a, joint.b, Geometry::from(joint));
        for (kind, target) in locked_rows(joint).filter(|(kind, _)| !kind.is_angular()) {
            let value = kind.evaluate(&place.geometry, &place.poses[0], &place.poses[1]).value;
            let pull = (target - value) / joint.compliance_linear;
            place.row(kind).add_force(pull, &mut force);
        }
    }
    add_outer_forces(scene, state, &mut force);
    force
}

/// Every row that holds in `state`.
fn rows(scene: &Scene, state: &State) -> Vec<HeldRow> {
    let mut rows = Vec::new();
    for (joint, _) in scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken) {
        let place = Place::new(scene, state, joint.a, joint.b, Geometry::from(joint));
        let soft = is_soft(scene, joint);
        let locked = locked_rows(joint).filter(|(kind, _)| !soft || kind.is_angular());
        rows.extend(locked.map(|(kind, _)| place.row(kind)));
        rows.extend(free_row(joint, &place));
    }
    for spring in scene.springs.iter().filter(|spring| is_stiff(scene, spring)) {
        let place = Place::new(scene, state, spring.a, spring.b, Geometry::from(spring));
        rows.extend(spring_rows(spring).map(|(kind, _)| place.row(kind)));
    }
    for (energy, anchors) in scene.energies() {
        rows.extend(material_rows(scene, state, energy, anchors));
    }
    rows
}

/// The rows of an energy of points.
fn material_rows(
    scene: &Scene,
    state: &State,
    energy: Energy<f64>,
    anchors: [Anchor; ENDS_MAX],
) -> impl Iterator<Item = HeldRow> {
    let x = points(&anchors, state);
    let rows = energy.rows(&x);
    let nodes = anchors.map(|anchor| scene.node(anchor.end));
    let arms = [0, 1, 2, 3].map(|i| match anchors[i].end {
        Endpoint::Body(body) => x[i].to_f64() - state.bodies[body].position,
        Endpoint::World | Endpoint::Particle(_) => Vec3::zeros(),
    });
    let motions = nodes.map(|node| velocity(state, node));
    let speeds = [0, 1, 2, 3].map(|i| motions[i][0] + motions[i][1].cross(&arms[i]));
    (0..energy.size()).map(move |r| {
        let gradient = rows.gradient[r].map(|g| g.to_f64());
        let mut only = [0.0; ROWS_MAX];
        only[r] = 1.0;
        let mut curvature = 0.0;
        for i in 0..energy.ends() {
            let omega = motions[i][1];
            curvature += gradient[i].dot(&omega.cross(&omega.cross(&arms[i])));
            for j in 0..energy.ends() {
                let pair = energy.curvature(&x, &only, i, j);
                curvature += pair.apply(V3::of(&speeds[j])).to_f64().dot(&speeds[i]);
            }
        }
        let gradient = [0, 1, 2, 3].map(|i| [gradient[i], arms[i].cross(&gradient[i])]);
        HeldRow { nodes, gradient, curvature, motor: None }
    })
}

/// Velocity and angular velocity of a node.
fn velocity(state: &State, node: Option<usize>) -> Twist {
    let zero = [Vec3::zeros(); 2];
    let Some(node) = node else { return zero };
    match node.checked_sub(state.bodies.len()) {
        None => {
            let body = &state.bodies[node];
            let rotation = body.rotation().to_rotation_matrix().into_inner();
            [body.velocity, axial(&(body.frame_rate * rotation.transpose()))]
        }
        Some(i) => [state.particles[i].velocity, Vec3::zeros()],
    }
}

/// The free coordinate of a joint where a motor or a limit holds it.
fn free_row(joint: &Joint, place: &Place<'_>) -> Option<HeldRow> {
    let kind = free_coordinate(joint.kind)?;
    let value = kind.evaluate(&place.geometry, &place.poses[0], &place.poses[1]).value;
    let at_limit =
        joint.limit.is_some_and(|l| value <= l.lower + TOUCHES || value >= l.upper - TOUCHES);
    let motor = joint.motor.filter(|_| !at_limit);
    (at_limit || motor.is_some()).then(|| HeldRow { motor, ..place.row(kind) })
}

/// Two endpoints with their poses and velocities.
struct Place<'a> {
    state: &'a State,
    nodes: [Option<usize>; 2],
    poses: [Pose; 2],
    geometry: Geometry,
}

impl<'a> Place<'a> {
    fn new(scene: &Scene, state: &'a State, a: Endpoint, b: Endpoint, geometry: Geometry) -> Self {
        let poses = [Pose::of(a, state), Pose::of(b, state)];
        Self { state, nodes: [scene.node(a), scene.node(b)], poses, geometry }
    }

    fn row(&self, kind: RowKind) -> HeldRow {
        let [a, b] = &self.poses;
        let [linear_a, angular_a, linear_b, angular_b] =
            kind.evaluate(&self.geometry, a, b).gradient;
        let velocities = self.nodes.map(|node| velocity(self.state, node));
        let [[va, wa], [vb, wb]] = velocities;
        let motion = stack(&[va, wa, vb, wb]);
        let curvature = match motion.norm_squared() > 0.0 {
            true => motion.dot(&(kind.hessian(&self.geometry, a, b) * motion)),
            false => 0.0,
        };
        let none = [Vec3::zeros(); 2];
        let gradient = [[linear_a, angular_a], [linear_b, angular_b], none, none];
        let nodes = [self.nodes[0], self.nodes[1], None, None];
        HeldRow { nodes, gradient, curvature, motor: None }
    }
}

/// The multipliers of rows that hold against forces.
fn hold(rows: &[HeldRow], mobility: &[Mobility], force: &[Twist]) -> Option<Vec<f64>> {
    let free: Vec<Twist> = mobility.iter().zip(force).map(|(m, f)| m.apply(f)).collect();
    let load: Vec<f64> = rows.iter().map(|row| row.rate(&free) + row.curvature).collect();
    solve(rows, mobility, &load)
}

/// Conjugate gradients on `J M^-1 J^T l = load`, scaled by the diagonal.
///
/// Redundant rows leave the matrix singular but the equations consistent, which the method bears.
fn solve(rows: &[HeldRow], mobility: &[Mobility], load: &[f64]) -> Option<Vec<f64>> {
    let n = rows.len();
    let scale: Vec<f64> = rows
        .iter()
        .map(|row| row.compliance(mobility))
        .map(|d| if d > 0.0 { 1.0 / d } else { 0.0 })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let scaled = |r: &[f64]| r.iter().zip(&scale).map(|(x, s)| x * s).collect::<Vec<_>>();
    let mut solution = vec![0.0; n];
    let mut residual: Vec<f64> =
        load.iter().zip(&scale).map(|(x, s)| if *s > 0.0 { *x } else { 0.0 }).collect();
    let mut direction = scaled(&residual);
    let mut size = dot(&residual, &direction);
    let goal = size * TOLERANCE * TOLERANCE;
    let mut force = vec![[Vec3::zeros(); 2]; mobility.len()];
    for _ in 0..(4 * n + 50).min(BUDGET / n.max(1)) {
        if size <= goal {
            return Some(solution);
        }
        force.fill([Vec3::zeros(); 2]);
        for (row, d) in rows.iter().zip(&direction) {
            row.add_force(*d, &mut force);
        }
        for (f, m) in force.iter_mut().zip(mobility) {
            *f = m.apply(f);
        }
        let product: Vec<f64> = rows.iter().map(|row| row.rate(&force)).collect();
        let length = size / dot(&direction, &product);
        for i in 0..n {
            solution[i] += length * direction[i];
            residual[i] -= length * product[i];
        }
        let preconditioned = scaled(&residual);
        let next = dot(&residual, &preconditioned);
        let keep = next / size;
        for (d, p) in direction.iter_mut().zip(&preconditioned) {
            *d = p + keep * *d;
        }
        size = next;
    }
    None
}
