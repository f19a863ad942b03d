//! Bodies that spin fast, predicted along the arc on which they turn instead of its tangent (`spin: arc`).
//!
//! As published a step goes on from `A + h dA/dt`, and is linear about `A`: a body that turns by `w` [rad] within it is
//! stretched by `w^2/2`, and when the next step takes that back, energy goes. Here a body that turns further than a
//! tenth begins a step where its own spin takes it within `h`, its rate turned along, and the solve is linear about
//! there: what stretches is only what forces turn beyond. A prediction is a start and a rate that lead there,
//! `A' = A~ - h dA'/dt`, so all else is the same step, and joints that are linear in frames are closed as exactly.
//!
//! The spin is that of a free rigid body by the midpoint rule in the body's axes, which keeps its angular momentum
//! and energy: `W = (w + w')/2`, `E = exp(h W)`, `I w' = E^T I w`. What else there is in the rate, the rate of
//! strain, turns along.

use nalgebra::Rotation3;
use taut_core::{Mat3, Vec3};

use super::Mabd;
use crate::{
    affine::Affine, body::BodyKind, node::torque, polar::polar_matrix, settings::SpinPrediction,
};

/// Iterations of the midpoint rule, and the change of the turn [rad] at which they end.
const ITERATIONS_MAX: u32 = 32;
const SETTLED: f64 = 1e-14;
/// Parts of a step up to which bodies are followed along their arcs.
const PARTS_MAX: u32 = 64;

/// Turn within a step up to which bodies are predicted along the tangent [rad].
pub(super) const TANGENT: f64 = 0.1;

/// A node that is put to where it turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnedNode {
    pub(super) node: u32,
    /// Where it starts and at which rate, before it is predicted along its arc.
    pub(super) before: [Affine; 2],
    /// How far it was moved from where it starts now when it was solved for.
    pub(super) moved: Affine,
}

impl Mabd {
    /// Whether fast bodies are predicted along their arcs.
    pub(super) fn takes_arcs(&self) -> bool {
        self.settings.spin == SpinPrediction::Arc && self.settings.integrator.is_linear()
    }

    /// Predicts fast bodies of a step of length `h` [s] along their arcs. Contacts have been found, motors aimed.
    pub(super) fn predict_arcs(&mut self, h: f64) {
        self.watchdog.turned.clear();
        if !self.takes_arcs() || !self.watchdog.fast {
            return;
        }
        for node in 0..self.system.nodes.count() {
            let nodes = &mut self.system.nodes;
            let [start, rate] = [nodes.start.get(node), nodes.rate.get(node)];
            // The rate of a rotation has twice the square of its spin.
            if rate.frame.norm_squared() * (h * h) <= 2.0 * (TANGENT * TANGENT) {
                continue;
            }
            let Some([from, along]) = arc(nodes.kind(node), [&start, &rate], h) else { continue };
            let (before, moved) = ([start, rate], along.times(h));
            self.watchdog.turned.push(TurnedNode { node: node as u32, before, moved });
            nodes.start.set(node, &from);
            nodes.rate.set(node, &along);
            nodes.moved.set(node, &moved);
        }
    }

    /// Notes at the end of a step whether bodies may turn fast in the next: where some did, or one is stretched as the
    /// tangent would.
    pub(super) fn look_for_spin(&mut self) {
        let least = 2.0 * TANGENT.powi(4);
        let stretched = self.system.strain().is_none_or(|strain| strain > least);
        self.watchdog.fast = stretched || !self.watchdog.turned.is_empty();
    }
}

/// The start and the rate from which the tangent leads where an arc does; none for a body that turns little, or so fast
/// that no arc is found.
pub(super) fn arc(kind: &BodyKind, [start, rate]: [&Affine; 2], h: f64) -> Option<[Affine; 2]> {
    let second = &kind.second;
    let inertia = Vec3::repeat(second.sum()) - second;
    let rotation = polar_matrix(&start.frame);
    let [place, pace] = [&start.frame, &rate.frame].map(|m| rotation.tr_mul(m));
    // Moments of momentum turn as moments of forces do.
    let momentum = torque(&place, &(pace * Mat3::from_diagonal(second)));
    let spin = momentum.component_div(&inertia);
    if spin.norm_squared() * (h * h) <= TANGENT * TANGENT {
        return None;
    }
    let (turn, after) = turned(&spin, &inertia, h)?;
    let strain_rate = pace - spin.cross_matrix() * place;
    let world = rotation * turn;
    let frame = world * place;
    let frame_rate = world * (after.cross_matrix() * place + strain_rate);
    let along = Affine { frame: frame_rate, origin: rate.origin };
    let from = Affine { frame: frame - frame_rate * h, origin: start.origin };
    frame.iter().all(|x| x.is_finite()).then_some([from, along])
}

/// How a free rigid body turns within `h` [s], and its spin in its own axes after [rad/s]: in so many equal parts as the
/// midpoint rule needs to settle in each, which only spins of a radian or more within `h` ask more than one of. None
/// where many are not enough.
fn turned(spin: &Vec3, inertia: &Vec3, h: f64) -> Option<(Mat3, Vec3)> {
    let mut parts = 1;
    while parts <= PARTS_MAX {
        let mut way = Some((Mat3::identity(), *spin));
        for _ in 0..parts {
            way = way.and_then(|(turn, spin)| {
                let (further, after) = turned_in_one(&spin, inertia, h / f64::from(parts))?;
                Some((turn * further, after))
            });
        }
        if way.is_some() {
            return way;
        }
        parts *= 2;
    }
    None
}

/// [`turned`] by one application of the midpoint rule; none where its iterations do not settle.
fn turned_in_one(spin: &Vec3, inertia: &Vec3, h: f64) -> Option<(Mat3, Vec3)> {
    let momentum = inertia.component_mul(spin);
    let turn = |after: &Vec3| Rotation3::new((spin + after) * (0.5 * h)).into_inner();
    let mut after = *spin;
    for _ in 0..ITERATIONS_MAX {
        let next = turn(&after).tr_mul(&momentum).component_div(inertia);
        let change = (next - after).norm() * h;
        after = next;
        if change < SETTLED {
            return Some((turn(&after), after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn angular_momentum(kind: &BodyKind, place: &Mat3, rate: &Mat3) -> Vec3 {
        let flow = rate * Mat3::from_diagonal(&kind.second) * place.transpose();
        let twice = flow - flow.transpose();
        Vec3::new(twice[(2, 1)], twice[(0, 2)], twice[(1, 0)])
    }

    fn energy(kind: &BodyKind, rate: &Mat3) -> f64 {
        0.5 * (rate * Mat3::from_diagonal(&kind.second)).dot(rate)
    }

    #[test]
    fn a_free_body_keeps_its_shape_momentum_and_energy() {
        // At most 0.4 rad in a step, and 4 rad.
        for h in [0.01, 0.1] {
            keeps_shape_momentum_and_energy(h);
        }
    }

    fn keeps_shape_momentum_and_energy(h: f64) {
        let kind = BodyKind { second: Vec3::new(0.3, 0.2, 0.05), ..BodyKind::particle(1.0) };
        let from = Rotation3::new(Vec3::new(0.4, -1.1, 0.7)).into_inner();
        let mut place = Affine { frame: from, origin: Vec3::zeros() };
        let spin = Vec3::new(12.0, 30.0, -21.0);
        let mut rate = Affine { frame: from * spin.cross_matrix(), origin: Vec3::x() };
        let before =
            (angular_momentum(&kind, &place.frame, &rate.frame), energy(&kind, &rate.frame));
        for _ in 0..100 {
            let [start, along] = arc(&kind, [&place, &rate], h).unwrap();
            place = start.plus(&along, h);
            rate = along;
        }
        let strain = place.frame.tr_mul(&place.frame) - Mat3::identity();
        assert!(strain.norm() < 1e-12, "{strain}");
        let momentum = angular_momentum(&kind, &place.frame, &rate.frame);
        assert!((momentum - before.0).norm() < 1e-11 * before.0.norm(), "{momentum}");
        assert!((energy(&kind, &rate.frame) - before.1).abs() < 1e-11 * before.1);
        assert!((place.origin - Vec3::x() * (100.0 * h)).norm() < 1e-12);
    }
}
