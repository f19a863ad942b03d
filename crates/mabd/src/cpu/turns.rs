//! A step, or a part of one, solved again about where its first solve has turned bodies (`spin: arc`, with contacts).
//!
//! A linear solve moves a body along the tangent of the turn that it finds. Where that stretches bodies too much, all is
//! solved again, linear about the places to which these bodies turn; all others stay as they were, and who presses and
//! slides is known already. What is left to stretch is what one solve turns otherwise than the one before.
//!
//! Where a body's own spin would take it is the target of its inertia (`arc.rs`), so that free spin is kept.

use nalgebra::Rotation3;
use taut_core::{Mat3, Vec3};

use super::{
    Mabd,
    arc::{TANGENT, arc},
    watchdog::polar_matrix,
};
use crate::{affine::Affine, settings::Integrator, system::StepScheme};

/// How often a step, or a part of one, is solved again at most.
const AGAIN_MAX: u32 = 6;

/// How far a body that presses on another may turn within a step, or a part of one [rad]: it rolls off the points and
/// normals that were found at the start, and sinks in by its square.
const IN_TOUCH_MAX: f64 = 0.3;

/// How much further a body turns from one solve to the next at most [rad].
const FURTHER: f64 = 0.5;

/// The angle by which one rotation turns another [rad]; not a number where one is none.
fn angle_between(a: &Mat3, b: &Mat3) -> f64 {
    2.0 * ((a - b).norm() / 8.0_f64.sqrt()).clamp(0.0, 1.0).asin()
}

impl Mabd {
    /// Whether steps are solved again about turns.
    pub(super) fn follows_turns(&self) -> bool {
        self.takes_arcs()
            && self.settings.integrator == Integrator::OneStep
            && self.system.contacts.is_some()
            && !self.system.has_elastic()
    }

    /// Solves what the last solve was for again, about the turns that this has found; whether bodies are stretched
    /// within the limit [1] then, and those that press turn no further than contacts can tell of.
    pub(super) fn solve_about_turns(&mut self, h: f64, limit: f64) -> bool {
        let scheme = StepScheme { h, two_step: false };
        for _ in 0..AGAIN_MAX {
            if !self.turn_on(h) {
                return false;
            }
            self.system.keeps_contacts = true;
            self.pulled.press(&mut self.system.nodes, &scheme);
            self.system.solve(&scheme, false, false);
            self.pulled.release(&mut self.system.nodes);
            self.system.keeps_contacts = false;
            self.count_solve();
            if !self.is_stretched(limit) {
                return !self.turns_far_in_touch();
            }
        }
        false
    }

    /// Whether a body that presses on another has turned further than it may, of those that were put to their turns: to
    /// turn as far along the tangent would stretch it beyond what a step may by default.
    pub(super) fn turns_far_in_touch(&self) -> bool {
        let Some(contacts) = &self.system.contacts else { return false };
        if self.watchdog.turned.is_empty() {
            return false;
        }
        let far = |node: u32| {
            let turned = &self.watchdog.turned;
            let Ok(at) = turned.binary_search_by_key(&node, |(n, _)| *n) else { return false };
            let start = polar_matrix(&turned[at].1[0].frame);
            let end = polar_matrix(&self.system.nodes.place(node).frame);
            angle_between(&start, &end) > IN_TOUCH_MAX
        };
        contacts.pressing().any(|nodes| nodes.into_iter().any(far))
    }

    /// Puts bodies that turn far to where the last solve turns them, all others to their starts. Whether that is
    /// finite.
    fn turn_on(&mut self, h: f64) -> bool {
        let mut turned = std::mem::take(&mut self.watchdog.turned);
        let known = turned.len();
        let mut at = 0;
        let mut finite = true;
        for node in 0..self.system.nodes.count() {
            let nodes = &mut self.system.nodes;
            let rotation = nodes.responses[node].rotation;
            let local = rotation.tr_mul(&nodes.place(node as u32).frame);
            let way = 0.5 * (local - local.transpose());
            let way = Vec3::new(way[(2, 1)], way[(0, 2)], way[(1, 0)]);
            let way = way * (FURTHER / way.norm().max(FURTHER));
            let before = (at < known && turned[at].0 == node as u32).then(|| turned[at].1);
            at += usize::from(before.is_some());
            let [start, rate] =
                before.unwrap_or_else(|| [nodes.start.get(node), nodes.rate.get(node)]);
            let first = polar_matrix(&start.frame);
            let target = rotation * Rotation3::new(way).into_inner();
            let angle = angle_between(&first, &target);
            finite &= angle.is_finite();
            if before.is_none() {
                if angle <= TANGENT {
                    nodes.moved.set(node, &Affine::ZERO);
                    continue;
                }
                turned.push((node as u32, [start, rate]));
                if let Some([start, rate]) = arc(nodes.kind(node), [&start, &rate], h) {
                    nodes.start.set(node, &start);
                    nodes.rate.set(node, &rate);
                }
            }
            let frame = target * first.tr_mul(&start.frame) - nodes.start.get(node).frame;
            nodes.moved.set(node, &Affine { frame, origin: Vec3::zeros() });
        }
        turned.sort_unstable_by_key(|(node, _)| *node);
        self.watchdog.turned = turned;
        finite
    }
}
