//! A step, or a part of one, solved again about where its first solve has turned bodies (`spin: arc`, with contacts).
//!
//! A linear solve moves a body along the tangent of the turn that it finds. Where that stretches bodies too much, all is
//! solved again, linear about the places to which these bodies turn, and who presses and slides is known already. What is
//! left to stretch is what one solve turns otherwise than the one before.
//!
//! All others stay where they were, those that have been turned and would turn on by little among them, and tension stiffens
//! anew only what is turned on. So the rows, the blocks and the fronts of what stays need not be found again, and a solve
//! costs hardly more than one more round of contacts.
//!
//! Bodies that turn come to contacts that were none where they started, as the other side of a plate that tilts does. So
//! where one that presses turns further than its contacts tell, or any moves otherwise than was foreseen when they were
//! found, those are added that bodies come to, and all is solved again if they have sunk in there. That need not wait until
//! no body is stretched.
//!
//! Where a body's own spin would take it is the target of its inertia (`arc.rs`), so that free spin is kept.

use nalgebra::Rotation3;
use taut_core::{Mat3, Vec3};

use super::{
    Mabd,
    arc::{TANGENT, TurnedNode, arc},
};
use crate::{
    affine::Affine,
    contact::{ContactPoint, Roundness},
    polar::polar_matrix,
    settings::Integrator,
    system::StepScheme,
};

/// How often a step, or a part of one, is solved again at most because bodies are stretched, and because they come to what
/// was no contact. One that is given up costs as many solves more in parts, so few should be.
const STRETCHED_MAX: u32 = 15;
const MET_MAX: u32 = 8;

/// How far a body that presses on another turns at most before contacts are added [rad]: it rolls off the points and normals
/// that were found at the start, and sinks in by its square. Not further than this may bodies turn within a step, or a part
/// of one, on which friction acts: points that it acts at go round with them.
const IN_TOUCH_MAX: f64 = 0.3;

/// After how many solves that stretch bodies contacts are added all the same: until then these are not where they will be.
const MEETS_AFTER: u32 = 2;

/// How far a body that was put to its turn turns on at most that is left where it was put [rad], so that what was found of
/// it holds: the tangent stretches it by less than a part in 800.
const STAYS: f64 = 0.05;

/// How much further a body turns from one solve to the next at most [rad].
const FURTHER: f64 = 0.5;

/// The least share of what a solve wants to turn a body by that it is turned on by [1].
const SHARE_MIN: f64 = 0.05;

/// How a body is turned from one solve to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// What the solve before wanted to turn it by, in the axes that it was co-rotated to [rad].
    wanted: Vec3,
    /// The share of that which it was turned on by [1].
    share: f64,
}

impl Way {
    pub(super) const START: Self = Self { wanted: Vec3::new(0.0, 0.0, 0.0), share: 1.0 };

    /// How much of the way that a solve wants a body is turned on by. What a solve wants differs by how far its body was
    /// turned on before: as much as that predicts to leave nothing to want (the secant rule, along the way before), but no
    /// more than all of it.
    fn go(&mut self, wanted: Vec3) -> Vec3 {
        let before = self.wanted.norm_squared();
        let less = before - wanted.dot(&self.wanted);
        // Of nothing, and where less was made up for than was gone, all of it.
        let share = if less > self.share * before { self.share * before / less } else { 1.0 };
        let way = wanted * share.max(SHARE_MIN);
        let way = way * (FURTHER / way.norm().max(FURTHER));
        *self = Self { wanted, share: way.norm() / wanted.norm().max(f64::MIN_POSITIVE) };
        way
    }
}

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

    /// Solves what the last solve was for again, about the turns that this has found, and with the contacts that bodies meet
    /// as they turn; whether bodies are stretched within the limit [1] then, and those that press turn no further than
    /// contacts can tell of.
    pub(super) fn solve_about_turns(&mut self, h: f64, limit: f64) -> bool {
        let scheme = StepScheme { h, two_step: false };
        let (mut stretched, mut met) = (0, 0);
        self.watchdog.ways.clear();
        self.watchdog.ways.resize(self.system.nodes.count(), Way::START);
        loop {
            if self.is_stretched(limit) {
                stretched += 1;
                if stretched > STRETCHED_MAX {
                    return false;
                }
                if stretched >= MEETS_AFTER && self.strays(h) {
                    self.meets_more(h);
                }
            } else {
                if !self.strays(h) || !self.meets_more(h) {
                    (0..self.system.nodes.count()).for_each(|node| self.system.note_tension(node));
                    return !self.turns_far_in_touch(1.0);
                }
                met += 1;
                if met > MET_MAX {
                    return false;
                }
            }
            if !self.turn_on(h) {
                return false;
            }
            self.system.keeps_contacts = true;
            self.pulled.press(&mut self.system.nodes, &scheme);
            self.system.solve(&scheme, false, false);
            self.pulled.release(&mut self.system.nodes);
            self.system.keeps_contacts = false;
            self.system.stays.clear();
            self.count_solve();
        }
    }

    /// Whether bodies may have come to what is no contact yet.
    fn strays(&self, h: f64) -> bool {
        self.turns_beyond([IN_TOUCH_MAX; 2]) || self.moves_otherwise(h)
    }

    /// Whether a node moves otherwise than contacts foresaw, along the tangent, by more than they allow for.
    fn moves_otherwise(&self, h: f64) -> bool {
        let Some(contacts) = &self.system.contacts else { return false };
        let (nodes, turned) = (&self.system.nodes, &self.watchdog.turned);
        let mut at = 0;
        (0..nodes.count()).any(|node| {
            let own = turned.get(at).filter(|own| own.node == node as u32);
            at += usize::from(own.is_some());
            let [start, rate] = match own {
                Some(own) => own.before,
                None => [nodes.start.get(node), nodes.rate.get(node)],
            };
            let astray = nodes.place(node as u32).plus(&start, -1.0).plus(&rate, -h);
            let kind = nodes.kind(node);
            let columns = astray.frame.column_iter().zip(&kind.second);
            let turned: f64 = columns.map(|(column, second)| column.norm_squared() * second).sum();
            // Of a box the corners are so far out.
            astray.origin.norm() + (3.0 * turned / kind.mass).sqrt() > contacts.stray_max()
        })
    }

    /// Adds the contacts that bodies come to by where the last solve leads; whether they have sunk in at any.
    fn meets_more(&mut self, h: f64) -> bool {
        self.swap_starts();
        let meets = self.system.detect_more(&self.broken, h);
        self.swap_starts();
        meets
    }

    /// Has bodies that are predicted along their arcs start from where they are instead, or the other way round. They end
    /// where they did.
    fn swap_starts(&mut self) {
        let nodes = &mut self.system.nodes;
        for TurnedNode { node, before: [start, _], .. } in &mut self.watchdog.turned {
            let (place, at) = (nodes.place(*node), *node as usize);
            let other = nodes.start.get(at);
            nodes.start.set(at, start);
            nodes.moved.set(at, &place.plus(start, -1.0));
            *start = other;
        }
    }

    /// Whether a body on which friction acts has turned by more than a share of how far it may: points at which it acts go
    /// round with it. Others may turn as far as they do, since contacts are added that they come to.
    pub(super) fn turns_far_in_touch(&self, share: f64) -> bool {
        self.turns_beyond([f64::INFINITY, share * IN_TOUCH_MAX])
    }

    /// Whether a body that presses on another has turned further than an angle [rad], the second where friction acts, of those
    /// that were put to their turns: to turn by [`IN_TOUCH_MAX`] along the tangent would stretch it beyond what a step
    /// may by default. What is as it was is not turned, unless friction acts.
    fn turns_beyond(&self, angles: [f64; 2]) -> bool {
        let (Some(contacts), turned) = (&self.system.contacts, &self.watchdog.turned) else {
            return false;
        };
        if turned.is_empty() {
            return false;
        }
        let far = |point: &ContactPoint, side: usize| {
            let node = point.nodes[side];
            let Ok(at) = turned.binary_search_by_key(&node, |own| own.node) else { return false };
            let start = polar_matrix(&turned[at].before[0].frame);
            let end = polar_matrix(&self.system.nodes.place(node).frame);
            let by = match point.roundness[side] {
                Roundness::About([_, axis]) if !point.rubs() => (start * axis).angle(&(end * axis)),
                Roundness::Any if !point.rubs() && point.is_on_spine(side) => 0.0,
                _ => angle_between(&start, &end),
            };
            by > angles[usize::from(point.rubs())]
        };
        contacts.pressing().any(|point| (0..2).any(|side| far(point, side)))
    }

    /// Puts bodies that turn far to where the last solve turns them, as stiff as their tension in it wants, and all others
    /// to where they were when it began. Whether that is finite.
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
            let way = self.watchdog.ways[node].go(way);
            let own = turned[..known].get(at).filter(|own| own.node == node as u32).copied();
            let stays = way.norm() <= if own.is_some() { STAYS } else { TANGENT };
            self.system.stays.push(stays);
            if stays {
                nodes.moved.set(node, &own.map_or(Affine::ZERO, |own| own.moved));
                at += usize::from(own.is_some());
                continue;
            }
            let before = match &own {
                Some(own) => own.before,
                None => [nodes.start.get(node), nodes.rate.get(node)],
            };
            let start = before[0].frame;
            // What was not turned yet has been solved about its start.
            let first = if own.is_some() { polar_matrix(&start) } else { rotation };
            if own.is_none()
                && let Some([from, rate]) = arc(nodes.kind(node), before.each_ref(), h)
            {
                nodes.start.set(node, &from);
                nodes.rate.set(node, &rate);
            }
            let target = rotation * Rotation3::new(way).into_inner();
            finite &= target.sum().is_finite();
            let frame = target * first.tr_mul(&start) - nodes.start.get(node).frame;
            let moved = Affine { frame, origin: Vec3::zeros() };
            nodes.moved.set(node, &moved);
            self.system.note_tension(node);
            let this = TurnedNode { node: node as u32, before, moved };
            if own.is_some() {
                turned[at] = this;
                at += 1;
            } else {
                turned.push(this);
            }
        }
        turned.sort_unstable_by_key(|own| own.node);
        self.watchdog.turned = turned;
        finite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that wants to turn by a multiple of what is left is where it wants nothing after two solves.
    #[test]
    fn what_wants_too_much_is_turned_on_by_as_much_as_it_needs() {
        let target = Vec3::new(0.2, -0.1, 0.3);
        for multiple in [1.0, 1.3, 3.0, 12.0] {
            let (mut way, mut turned) = (Way::START, Vec3::zeros());
            for _ in 0..2 {
                turned += way.go((target - turned) * multiple);
            }
            assert!((turned - target).norm() < 1e-14, "{multiple}: {turned}");
            assert!(way.go(Vec3::zeros()).norm() < 1e-14, "{multiple}");
        }
    }

    #[test]
    fn what_wants_far_too_much_goes_on_by_little() {
        let mut way = Way::START;
        let wanted = Vec3::new(0.1, 0.0, 0.0);
        assert_eq!(way.go(wanted), wanted);
        assert_eq!(way.go(wanted * -100.0), wanted * (-100.0 * SHARE_MIN));
        assert!((way.go(wanted * 1e6).norm() - FURTHER).abs() < 1e-12);
    }
}
