//! Points of contact in the equations of a step.
//!
//! A point is where it was at the start of the step, midway between its two anchors, and so are its normal
//! and its levers. Its way in the step is linear in displacement `u` and rotation vector `theta` of either
//! body, `u + theta x r`, and its force acts at the same levers: both bodies feel opposite forces along
//! one line, so that contacts keep linear and angular momentum. Both anchors of a point with a particle are
//! in its middle, so that its lever is zero and its force has no torque.

use nalgebra::SMatrix;
use taut_collide::{Contact, Grip, Manifold, Site};
use taut_core::{Mat3, Placement, Quat, Vec3, math::skew};

use crate::{
    friction::{Reaction, into_cone, natural, smooth},
    iterate::Iterate,
    linear::{ABSENT, SparseSystem},
    rotation::left_jacobian_inverse,
    topology::{NOBODY, PARTS, Topology, TopologyNode, UNKNOWNS},
};

/// Points that slide less than this in a step would, at the speed they start it with, are at rest [m]:
/// ten times what a step may leave.
const STILL: f64 = 1e-7;

/// Which equation the points are held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Map {
    /// That of the contact problem.
    Natural,
    /// A smooth neighbour, so many metres wide.
    Smooth(f64),
    /// A spring towards the point's target, so stiff relative to the point's own inertia [1].
    Spring(f64),
}

/// One point of contact during a step: of a body with a body, a particle or a triangle of particles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactPoint {
    /// Node A, then B or the three corners of a triangle; [`NOBODY`] beyond.
    pub(crate) nodes: [usize; PARTS],
    /// What each one's way counts for: one for A, and minus its share for the others.
    shares: [f64; PARTS],
    /// From the centre of mass of each to the point, world axes [m].
    levers: [Vec3; PARTS],
    /// World to contact axes: normal from B to A, then two tangents.
    axes: Mat3,
    /// Gap at the start [m].
    gap: f64,
    /// Coefficient of friction in this step [1].
    friction: f64,
    /// How far a unit normal force moves the point in a step [m/N].
    softness: f64,
    /// Where projections pull the way to [m].
    target: Vec3,
    /// Reach of the projected force [m].
    held: Vec3,
}

impl ContactPoint {
    /// The point of a contact between bodies at `placements`, in a step of length `h` [s].
    pub(crate) fn new(
        contact: &Contact,
        manifold: &Manifold,
        placements: &[Placement],
        all: &[TopologyNode],
        h: f64,
    ) -> Self {
        let [on_a, on_b] = contact.sites.map(|site| site.point(placements));
        let point = (on_a + on_b) * 0.5;
        let (mut nodes, mut shares) = ([NOBODY; PARTS], [0.0; PARTS]);
        let mut levers = [Vec3::zeros(); PARTS];
        let mut count = 0;
        for (site, sign) in contact.sites.iter().zip([1.0, -1.0]) {
            for (node, share) in site.shares() {
                (nodes[count], shares[count]) = (node as usize, sign * share);
                // A force has no torque on a particle.
                if let Site::Body { .. } = site {
                    levers[count] = point - placements[node as usize].position;
                }
                count += 1;
            }
        }
        let axes = axes(&contact.normal);
        let yields = |i: usize| {
            let (node, lever) = (&all[nodes[i]], &levers[i]);
            if node.extent == 0 {
                return 0.0;
            }
            let turn = placements[nodes[i]].rotation.inverse() * lever.cross(&contact.normal);
            let angular =
                node.inertia.try_inverse().map_or(0.0, |inverse| turn.dot(&(inverse * turn)));
            (1.0 / node.mass + angular) * (shares[i] * shares[i])
        };
        let speed = |i: usize| {
            let p = &placements[nodes[i]];
            (p.velocity + p.omega.cross(&levers[i])) * shares[i]
        };
        let slip = axes * (1..count).fold(speed(0), |sum, i| sum + speed(i));
        let friction = manifold.friction(grip(slip.yz().norm() * h));
        let softness = h * h * (1..count).fold(yields(0), |sum, i| sum + yields(i));
        let gap = contact.gap;
        Self {
            nodes,
            shares,
            levers,
            axes,
            gap,
            friction,
            softness,
            target: Vec3::zeros(),
            held: Vec3::zeros(),
        }
    }

    /// Gap at the end of the step and tangential displacement in it, in contact axes [m].
    fn way(&self, at: &Iterate) -> Vec3 {
        let moved = |i: usize| {
            let n = self.nodes[i];
            (at.shift[n] + at.turn[n].scaled_axis().cross(&self.levers[i])) * self.shares[i]
        };
        let others = (1..PARTS).take_while(|&i| self.nodes[i] != NOBODY);
        self.axes * others.fold(moved(0), |sum, i| sum + moved(i)) + Vec3::new(self.gap, 0.0, 0.0)
    }

    /// The equation that the point is held to under the force `force`, in contact axes [N].
    fn respond(&self, at: &Iterate, force: &Vec3, map: Map) -> Reaction {
        let (reach, way) = (force * self.softness, self.way(at));
        match map {
            Map::Natural => natural(&reach, &way, self.friction),
            Map::Smooth(width) => smooth(&reach, &way, self.friction, width),
            Map::Spring(stiffness) => Reaction {
                error: way + reach / stiffness - self.target,
                by_way: Mat3::identity(),
                by_reach: Mat3::identity() / stiffness,
            },
        }
    }

    /// Reach of the force or depth of the overlap, whichever is larger [m].
    pub(crate) fn loading(&self, at: &Iterate, force: &Vec3) -> f64 {
        (force.norm() * self.softness).max(-self.way(at).x)
    }

    /// Starts projections from a force in contact axes [N].
    pub(crate) fn aim(&mut self, force: &Vec3) {
        self.held = into_cone(&(force * self.softness), self.friction);
        self.target = self.held;
    }

    /// One projection after the bodies were moved against springs: the force in contact axes [N], and how
    /// far it [m, over the stiffness] and the way [m] changed.
    ///
    /// With the way raised by de Saxce's `mu |d|` along the normal, forces and ways are in dual cones.
    pub(crate) fn project(&mut self, at: &Iterate, stiffness: f64) -> (Vec3, [f64; 2]) {
        let way = self.way(at);
        let raised = way + Vec3::new(self.friction * way.yz().norm(), 0.0, 0.0);
        let held = into_cone(&(self.held - raised * stiffness), self.friction);
        let change = (held - self.held) / stiffness;
        let target = way + change + held / stiffness;
        let moved = [change.norm(), (target - self.target).norm()];
        (self.held, self.target) = (held, target);
        (held / self.softness, moved)
    }

    /// Keeps the force of the projections while the stiffness changes.
    pub(crate) fn restiffen(&mut self, old: f64, new: f64) {
        self.target += self.held / new - self.held / old;
    }

    /// Scale of the three unknowns and equations.
    pub(crate) fn scale(&self) -> f64 {
        1.0 / self.softness.sqrt()
    }

    /// The force on A in world axes for one in contact axes [N].
    pub(crate) fn world(&self, force: &Vec3) -> Vec3 {
        self.axes.transpose() * force
    }

    /// A first guess: the force that acted at this point in the step before, as far as it is allowed.
    pub(crate) fn guess(&self, world: &Vec3) -> Vec3 {
        let mut force = self.axes * world;
        force.x = force.x.max(0.0);
        let (size, bound) = (force.yz().norm(), self.friction * force.x);
        if size > bound {
            let share = if size > 0.0 { bound / size } else { 0.0 };
            (force.y, force.z) = (force.y * share, force.z * share);
        }
        force
    }

    /// What takes part, with its share and its lever.
    fn parts(&self) -> impl Iterator<Item = (usize, usize, f64, &Vec3)> {
        let parts = self.nodes.iter().zip(self.shares).zip(&self.levers).enumerate();
        parts
            .map(|(i, ((&node, share), lever))| (i, node, share, lever))
            .take_while(|&(_, node, ..)| node != NOBODY)
    }

    /// Derivative of the way by the unknowns of all that takes part: left perturbations.
    fn gradient(&self, turns: &[Quat]) -> SMatrix<f64, 3, UNKNOWNS> {
        let mut out = SMatrix::<f64, 3, UNKNOWNS>::zeros();
        for (i, node, share, lever) in self.parts() {
            let axes = self.axes * share;
            let theta = turns[node].scaled_axis();
            let turning = axes * skew(lever) * left_jacobian_inverse(&theta);
            out.fixed_view_mut::<3, 3>(0, 6 * i).copy_from(&axes);
            out.fixed_view_mut::<3, 3>(0, 6 * i + 3).copy_from(&-turning);
        }
        out
    }

    /// Forces and torques on all that takes part per unit force in contact axes.
    fn load(&self) -> SMatrix<f64, UNKNOWNS, 3> {
        let mut out = SMatrix::<f64, UNKNOWNS, 3>::zeros();
        let push = self.axes.transpose();
        for (i, _, share, lever) in self.parts() {
            out.fixed_view_mut::<3, 3>(6 * i, 0).copy_from(&(push * share));
            let torque = skew(lever) * push * share;
            out.fixed_view_mut::<3, 3>(6 * i + 3, 0).copy_from(&torque);
        }
        out
    }
}

/// Whether a point sticks whose surfaces would pass each other by `slip` [m] in the step at the speed that
/// they start it with.
fn grip(slip: f64) -> Grip {
    if slip > STILL { Grip::Slides } else { Grip::Sticks }
}

/// A normal and two tangents as rows, the tangents a continuous function of the normal almost everywhere. Not
/// `taut_collide::frame`: with its tangents a chain that lies across a beam does not converge.
fn axes(normal: &Vec3) -> Mat3 {
    let first = normal.cross(&Vec3::ith(normal.iamin(), 1.0)).normalize();
    Mat3::from_rows(&[normal.transpose(), first.transpose(), normal.cross(&first).transpose()])
}

/// How far the points are from solving the step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strain {
    /// Largest error of any natural map [m].
    pub(crate) natural: f64,
    /// Sum of squares of the errors of the map in force [m^2].
    pub(crate) squares: f64,
    /// Largest displacement that any single force would cause [m or rad].
    pub(crate) effort: f64,
}

/// Adds the forces of all points to the negated, scaled residual `out`, and sets their own equations.
pub(crate) fn add_residual(
    touches: &[ContactPoint],
    topology: &Topology,
    at: &Iterate,
    map: Map,
    scale: &[f64],
    out: &mut [f64],
) -> Strain {
    let mut strain = Strain::default();
    for ((touch, unknowns), force) in touches.iter().zip(&topology.contacts).zip(&at.forces) {
        let load = touch.load() * force;
        for k in 0..UNKNOWNS {
            if let Some(u) = topology.unknown(touch.nodes, k) {
                out[u] += load[k] * scale[u];
                strain.effort = strain.effort.max(load[k].abs() * scale[u] * scale[u]);
            }
        }
        let response = touch.respond(at, force, map);
        for i in 0..3 {
            out[unknowns.dof + i] = -response.error[i] * scale[unknowns.dof + i];
        }
        strain.squares += response.error.norm_squared();
        let natural = match map {
            Map::Natural => response.size(),
            _ => touch.respond(at, force, Map::Natural).size(),
        };
        strain.natural = strain.natural.max(natural);
    }
    strain
}

/// Adds the derivatives of all that [`add_residual`] adds, and `sharing` to those of a point's equations
/// by its own force.
pub(crate) fn assemble(
    touches: &[ContactPoint],
    topology: &Topology,
    at: &Iterate,
    map: Map,
    sharing: f64,
    scale: &[f64],
    matrix: &mut SparseSystem,
) {
    for ((touch, unknowns), force) in touches.iter().zip(&topology.contacts).zip(&at.forces) {
        let Reaction { by_way, by_reach, .. } = touch.respond(at, force, map);
        let slots = &topology.slots[unknowns.slots..][..9 + 6 * UNKNOWNS];
        for i in 0..3 {
            for j in 0..3 {
                let own = if i == j { sharing } else { 0.0 };
                matrix.add(slots[3 * i + j], by_reach[(i, j)] + own);
            }
        }
        let (rows, columns) = (by_way * touch.gradient(&at.turn), touch.load());
        let own = touch.scale();
        for i in 0..3 {
            for k in 0..UNKNOWNS {
                let pair = &slots[9 + 2 * UNKNOWNS * i + 2 * k..][..2];
                if let Some(u) = topology.unknown(touch.nodes, k).filter(|_| pair[0] != ABSENT) {
                    matrix.add(pair[0], rows[(i, k)] * own * scale[u]);
                    matrix.add(pair[1], -columns[(k, i)] * own * scale[u]);
                }
            }
        }
    }
}
