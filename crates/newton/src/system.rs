//! The equations of one implicit Euler step: residual and exact Jacobian.
//!
//! Unknowns are the displacement and the rotation of every dynamic node since the start of the step
//! and one multiplier per row. With `G` the row gradients:
//!
//! ```text
//!   m (u - h v - h^2 g) / h^2 + G_p^T lambda + dV/dp = 0
//!   (h^2 times the change of angular momentum) / h^2 + G_t^T lambda + dV/dt = 0
//!   law(C, lambda) = 0
//! ```
//!
//! All is scaled symmetrically: a dynamic equation by `h / sqrt(m)`, a row by the inverse root of
//! its softness `h^2 G M^-1 G^T`. Masses and stiffnesses over many decades then give entries near one,
//! which partial pivoting needs in order to choose well. Displacements are unknowns instead of
//! positions so that velocities keep their digits far from the origin and at small steps.

use taut_core::{
    Placement, Vec3,
    constraint::{Evaluation, Hessian, stack},
    math::skew,
};
use taut_model::{Pulls, counted};

use crate::{
    contact::{self, ContactPoint, Map},
    elastic,
    iterate::{Iterate, pose},
    law::{Law, Response},
    linear::{ABSENT, SparseSystem},
    rotation::Spin,
    settings::NewtonSettings,
    topology::{Coordinate, Row, Topology, TopologyNode},
};

/// How far an iterate is from solving the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Merit {
    /// Largest error of any row [m or rad].
    pub(crate) row: f64,
    /// Largest displacement that any unbalanced force would cause in the step [m or rad].
    pub(crate) force: f64,
    /// Largest error of any contact's natural map [m].
    pub(crate) contact: f64,
    /// Root of the sum of squares of all: what the line search lowers.
    pub(crate) norm: f64,
    /// Largest coordinate [m], which limits what rows can reach.
    reach: f64,
    /// Largest displacement that any single force, or the rounding unit of a stiff spring's length
    /// over the machine epsilon, would cause [m or rad]; it limits their sums.
    effort: f64,
}

impl Merit {
    /// Whether every equation holds to `tolerance` [m or rad].
    pub(crate) fn within(&self, tolerance: f64) -> bool {
        self.norm.is_finite() && self.row.max(self.force).max(self.contact) <= tolerance
    }

    /// Whether every equation holds to `tolerance` or to what rounding may leave.
    ///
    /// Rounding of forces that cancel is bounded generously: a step ends there only once Newton's
    /// method makes no further progress.
    pub(crate) fn within_rounding(&self, tolerance: f64) -> bool {
        let (position, sum) = (64.0 * f64::EPSILON, 512.0 * f64::EPSILON);
        self.norm.is_finite()
            && self.row.max(self.contact) <= tolerance.max(position * self.reach)
            && self.force <= tolerance.max(position * self.reach).max(sum * self.effort)
    }
}

/// How the matrix is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Assembly {
    /// What the constraint block is regularised by, relative to its natural diagonal.
    pub(crate) regularisation: f64,
    /// Share of the second derivatives of the rows of compressed springs and of elastic material, in
    /// [0, 1]. They can make the matrix point to saddles of the energy; one is exact.
    pub(crate) compression: f64,
    /// Which equation contacts are held to.
    pub(crate) map: Map,
}

/// What stays the same throughout a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fixed {
    /// Length of the step [s].
    pub(crate) h: f64,
    /// Displacement of each node without forces but gravity [m].
    pub(crate) drift: Vec<Vec3>,
    /// Rotational data of each node that turns.
    spins: Vec<Option<Spin>>,
    /// Scale of each unknown.
    pub(crate) scale: Vec<f64>,
    /// How far a unit multiplier moves its row in a step [m/N or rad/(N m)].
    softness: Vec<f64>,
    /// Value of each row at the start.
    origin: Vec<f64>,
    /// Points of contact.
    pub(crate) touches: Vec<ContactPoint>,
}

impl Fixed {
    /// Prepares a step of length `h` from `start` under gravity `gravity`.
    pub(crate) fn prepare(
        &mut self,
        topology: &Topology,
        start: &[Placement],
        gravity: &Vec3,
        settings: &NewtonSettings,
        h: f64,
    ) {
        self.h = h;
        self.drift.clear();
        self.spins.clear();
        self.scale.clear();
        for (node, motion) in topology.nodes.iter().zip(start) {
            let fall = if node.extent > 0 { gravity * (h * h) } else { Vec3::zeros() };
            self.drift.push(motion.velocity * h + fall);
            self.spins.push((node.extent == 6).then(|| {
                let rotation = &motion.rotation;
                Spin::new(&node.inertia, rotation, &motion.omega, settings.gyroscopic, h)
            }));
            let linear = h / node.mass.sqrt();
            let angular = h / node.moment.sqrt();
            let scales = [linear, linear, linear, angular, angular, angular];
            self.scale.extend_from_slice(&scales[..node.extent]);
        }
        self.soften(topology, start);
    }

    /// Adds the pulls to free motion.
    pub(crate) fn pull(
        &mut self,
        topology: &Topology,
        start: &[Placement],
        pulls: &Pulls<f64>,
        settings: &NewtonSettings,
    ) {
        let h = self.h;
        for (n, wrench) in pulls.iter() {
            let (TopologyNode { mass, inertia, .. }, motion) = (&topology.nodes[n], &start[n]);
            let Placement { rotation, omega, .. } = motion;
            self.drift[n] += wrench.force.to_f64() * (h * h / mass);
            let torque = rotation.inverse() * wrench.torque.to_f64();
            let inverse = inertia.try_inverse().unwrap_or_default();
            let omega = omega + rotation * (inverse * torque) * h;
            self.spins[n] = Some(Spin::new(inertia, rotation, &omega, settings.gyroscopic, h));
        }
    }

    fn soften(&mut self, topology: &Topology, start: &[Placement]) {
        self.softness.clear();
        self.origin.resize(topology.rows.len(), 0.0);
        for (row, origin) in topology.rows.iter().zip(&mut self.origin) {
            let Coordinate { kind, nodes, geometry } = &row.coordinate;
            let [a, b] = nodes.map(|n| pose(&start[n]));
            let evaluation = kind.evaluate(geometry, &a, &b);
            let gradient = stack(&evaluation.gradient);
            let moved = (0..12).filter_map(|k| Some((k, topology.unknown(*nodes, k)?)));
            let softness: f64 = moved.map(|(k, u)| (gradient[k] * self.scale[u]).powi(2)).sum();
            // A distance row between coincident anchors has no gradient; any positive number serves.
            self.softness.push(if softness > 0.0 { softness } else { self.h * self.h });
            *origin = counted(*kind, evaluation.value, *origin);
        }
        self.scale.extend(self.softness.iter().map(|s| 1.0 / s.sqrt()));
        self.scale.extend(self.touches.iter().flat_map(|touch| [touch.scale(); 3]));
    }

    fn respond(&self, r: usize, row: &Row, value: f64, multiplier: f64, broken: bool) -> Response {
        let softness = self.softness[r];
        if broken {
            return Law::absent(multiplier, softness);
        }
        let origin = self.origin[r];
        let value = counted(row.coordinate.kind, value, origin);
        row.law.respond(value, multiplier, origin, softness, self.h)
    }

    /// Counts angles from half a turn either way again.
    pub(crate) fn forget_turns(&mut self) {
        self.origin.fill(0.0);
    }

    /// Residual of every equation at `at`, scaled and negated: the right-hand side of Newton's system.
    pub(crate) fn residual(
        &self,
        topology: &Topology,
        settings: &NewtonSettings,
        at: &Iterate,
        broken: &[bool],
        map: Map,
        out: &mut [f64],
    ) -> Merit {
        out.fill(0.0);
        let mut merit = Merit::default();
        let mut scope = Accumulator { topology, scale: &self.scale, out, effort: 0.0 };
        for spring in &topology.springs {
            let (nodes, row) = (spring.coordinate.nodes, spring.coordinate.evaluate(&at.poses));
            let tension = spring.stiffness * (row.value - spring.rest);
            scope.push(nodes, &row, tension);
            let size = nodes.map(|n| at.poses[n].position.amax());
            scope.note(nodes, &row, spring.stiffness * size[0].max(size[1]));
        }
        for pull in topology.elastics.iter().flat_map(|e| elastic::pulls(e, topology, &at.poses)) {
            scope.add(pull.dof, &pull.force);
            if let Some(torque) = &pull.torque {
                scope.add(pull.dof + 3, torque);
            }
            scope.effort = scope.effort.max(pull.size * self.scale[pull.dof].powi(2));
        }
        let primal = topology.primal();
        let mut squares = 0.0;
        for (r, row) in topology.rows.iter().enumerate() {
            let evaluation = row.coordinate.evaluate(&at.poses);
            scope.push(row.coordinate.nodes, &evaluation, at.multipliers[r]);
            let lambda = at.multipliers[r];
            let response = self.respond(r, row, evaluation.value, lambda, broken[row.joint]);
            scope.out[row.dof] = -response.error * self.scale[row.dof];
            merit.row = merit.row.max(response.error.abs());
            squares += response.error.powi(2);
        }
        self.add_inertia(topology, settings, at, &mut scope);
        merit.effort = scope.effort;
        let strain =
            contact::add_residual(&self.touches, topology, at, map, &self.scale, scope.out);
        merit.contact = strain.natural;
        merit.effort = merit.effort.max(strain.effort);
        squares += strain.squares;
        for (value, scale) in out[..primal].iter().zip(&self.scale) {
            let error = value * scale;
            merit.force = merit.force.max(error.abs());
            squares += error.powi(2);
        }
        merit.reach = at.poses.iter().map(|p| p.position.amax()).fold(0.0, f64::max);
        // The maxima skip a NaN; the sum does not.
        merit.norm = squares.sqrt();
        merit
    }

    fn add_inertia(
        &self,
        topology: &Topology,
        settings: &NewtonSettings,
        at: &Iterate,
        scope: &mut Accumulator<'_>,
    ) {
        let square = self.h * self.h;
        for (n, node) in topology.nodes.iter().enumerate().filter(|(_, node)| node.extent > 0) {
            let linear = (at.shift[n] - self.drift[n]) * (node.mass / square);
            scope.add(node.dof, &linear);
            if let Some(spin) = &self.spins[n] {
                let angular = spin.torque(settings.rotation, &at.turn[n]) / square;
                scope.add(node.dof + 3, &angular);
            }
        }
    }

    /// Writes the derivative of the scaled residual at `at` into `matrix`.
    pub(crate) fn assemble(
        &self,
        topology: &Topology,
        settings: &NewtonSettings,
        at: &Iterate,
        broken: &[bool],
        how: Assembly,
        matrix: &mut SparseSystem,
    ) {
        matrix.clear();
        self.assemble_inertia(topology, settings, at, matrix);
        for (r, row) in topology.rows.iter().enumerate() {
            let nodes = row.coordinate.nodes;
            let evaluation = row.coordinate.evaluate(&at.poses);
            let lambda = at.multipliers[r];
            let response = self.respond(r, row, evaluation.value, lambda, broken[row.joint]);
            let gradient = stack(&evaluation.gradient);
            let own = self.scale[row.dof];
            let diagonal = response.by_multiplier * own * own - how.regularisation;
            matrix.add(topology.slots[row.slots], diagonal);
            for k in 0..12 {
                let slots = &topology.slots[row.slots + 1 + 2 * k..][..2];
                if let Some(u) = topology.unknown(nodes, k).filter(|_| slots[0] != ABSENT) {
                    let value = gradient[k] * own * self.scale[u];
                    matrix.add(slots[0], value * response.by_value);
                    matrix.add(slots[1], value);
                }
            }
            if lambda != 0.0 {
                let h = left_derivative(&row.coordinate.hessian(&at.poses), &evaluation);
                self.add_hessian(topology, row.slots + 25, nodes, &(h * lambda), matrix);
            }
        }
        for spring in &topology.springs {
            let evaluation = spring.coordinate.evaluate(&at.poses);
            let gradient = stack(&evaluation.gradient);
            let mut h = gradient * gradient.transpose() * spring.stiffness;
            let tension = spring.stiffness * (evaluation.value - spring.rest);
            let share = if tension > 0.0 { 1.0 } else { how.compression };
            let hessian = spring.coordinate.hessian(&at.poses);
            h += left_derivative(&hessian, &evaluation) * (share * tension);
            self.add_hessian(topology, spring.slots, spring.coordinate.nodes, &h, matrix);
        }
        for one in &topology.elastics {
            elastic::assemble(one, topology, &at.poses, how.compression, &self.scale, matrix);
        }
        let sharing = settings.contact_regularisation;
        contact::assemble(&self.touches, topology, at, how.map, sharing, &self.scale, matrix);
    }

    /// Incremental energy [J] with the rows' multipliers held at `multipliers` and their errors
    /// penalised: what convex steps lower. Implicit Euler is its stationary point, to first order in
    /// `h` where bodies turn.
    pub(crate) fn energy(
        &self,
        topology: &Topology,
        at: &Iterate,
        multipliers: &[f64],
        broken: &[bool],
    ) -> f64 {
        let square = self.h * self.h;
        let mut energy = 0.0;
        for (n, node) in topology.nodes.iter().enumerate().filter(|(_, node)| node.extent > 0) {
            energy += 0.5 * node.mass * (at.shift[n] - self.drift[n]).norm_squared() / square;
            energy += self.spins[n].as_ref().map_or(0.0, |spin| spin.energy(&at.turn[n]) / square);
        }
        for spring in &topology.springs {
            let stretch = spring.coordinate.evaluate(&at.poses).value - spring.rest;
            energy += 0.5 * spring.stiffness * stretch * stretch;
        }
        energy += topology.elastics.iter().map(|e| elastic::energy(e, &at.poses)).sum::<f64>();
        for (r, row) in topology.rows.iter().enumerate().filter(|(_, row)| !broken[row.joint]) {
            let value = row.coordinate.evaluate(&at.poses).value;
            let error = self.respond(r, row, value, multipliers[r], false).error;
            energy += multipliers[r]
                * (counted(row.coordinate.kind, value, self.origin[r]) - self.origin[r]);
            energy += 0.5 * error * error / self.softness[r];
        }
        energy
    }

    fn assemble_inertia(
        &self,
        topology: &Topology,
        settings: &NewtonSettings,
        at: &Iterate,
        matrix: &mut SparseSystem,
    ) {
        let square = self.h * self.h;
        for (n, node) in topology.nodes.iter().enumerate() {
            let (stride, scale) = (node.extent, &self.scale[node.dof..]);
            let mut add = |i: usize, j: usize, value: f64| {
                let slot = topology.slots[node.slots + stride * i + j];
                matrix.add(slot, value * scale[i] * scale[j]);
            };
            for i in 0..stride.min(3) {
                add(i, i, node.mass / square);
            }
            if let Some(spin) = &self.spins[n] {
                let block = spin.derivative(settings.rotation, &at.turn[n]) / square;
                for i in 0..3 {
                    for j in 0..3 {
                        add(3 + i, 3 + j, block[(i, j)]);
                    }
                }
            }
        }
    }

    fn add_hessian(
        &self,
        topology: &Topology,
        first: usize,
        nodes: [usize; 2],
        hessian: &Hessian,
        matrix: &mut SparseSystem,
    ) {
        let scales: [f64; 12] =
            std::array::from_fn(|k| topology.unknown(nodes, k).map_or(0.0, |u| self.scale[u]));
        for k in 0..12 {
            for l in 0..12 {
                let slot = topology.slots[first + 12 * k + l];
                matrix.add(slot, hessian[(k, l)] * scales[k] * scales[l]);
            }
        }
    }
}

/// Sums forces into the negated, scaled residual.
struct Accumulator<'a> {
    topology: &'a Topology,
    scale: &'a [f64],
    out: &'a mut [f64],
    /// Largest displacement that a single force would cause [m].
    effort: f64,
}

impl Accumulator<'_> {
    fn add(&mut self, dof: usize, force: &Vec3) {
        for i in 0..3 {
            self.out[dof + i] -= force[i] * self.scale[dof + i];
        }
    }

    /// Adds a row's force `tension * gradient` to both its nodes.
    fn push(&mut self, nodes: [usize; 2], row: &Evaluation, tension: f64) {
        for (side, &n) in nodes.iter().enumerate() {
            let node = &self.topology.nodes[n];
            for part in 0..node.extent / 3 {
                let force = row.gradient[2 * side + part] * tension;
                let dof = node.dof + 3 * part;
                self.add(dof, &force);
            }
        }
        self.note(nodes, row, tension);
    }

    /// Notes a force of that size along a row as one of those that cancel.
    fn note(&mut self, nodes: [usize; 2], row: &Evaluation, tension: f64) {
        for (side, &n) in nodes.iter().enumerate() {
            let node = &self.topology.nodes[n];
            for part in 0..node.extent / 3 {
                let scale = self.scale[node.dof + 3 * part];
                let force = row.gradient[2 * side + part].amax() * tension.abs();
                self.effort = self.effort.max(force * scale * scale);
            }
        }
    }
}

/// Derivative of a row's gradient along left perturbations.
///
/// The Hessian is that along one-parameter motions and symmetric; successive rotations do not
/// commute, which adds half the cross product with the row's torque on each body.
fn left_derivative(hessian: &Hessian, row: &Evaluation) -> Hessian {
    let mut h = *hessian;
    for side in [1, 3] {
        let mut block = h.fixed_view_mut::<3, 3>(3 * side, 3 * side);
        block -= skew(&row.gradient[side]) * 0.5;
    }
    h
}
