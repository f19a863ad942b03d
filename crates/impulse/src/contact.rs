//! Contacts: batches made anew for every list, impulses carried from list to list.

mod batch;
mod colour;

use std::array;

use taut_collide::{Carried, Contact, ContactList, Grip};
use taut_core::Vec3;
use taut_math::{LANES, Number, Q4, Real, Sym3, V3, Wide};

use self::{
    batch::{Batch, LanePoint, Sweep},
    colour::{Groups, LanePatch, POINTS},
};
use crate::{
    body::VelocityBodies,
    joint::Pass,
    settings::{ContactOrder, FrictionShape, ImpulseSettings},
};

/// Friction beyond this share of its bound means that surfaces slide; it covers rounding.
const ALMOST: f64 = 1.0 - 1e-4;

/// Sweeps over the points that bounce; they agree within a patch after a few.
const BOUNCES: usize = 8;

/// All contacts of a step.
#[derive(Clone, Debug)]
pub(crate) struct ContactBatches<R: Real> {
    batches: Vec<Batch<R>>,
    /// Batches with points that bounce.
    rebounds: Vec<Rebound<R>>,
    groups: Groups,
    carried: Carried<KeptImpulse<R>>,
    settings: ContactSettings,
}

/// What contacts need of the settings.
#[derive(Clone, Copy, Debug)]
struct ContactSettings {
    order: ContactOrder,
    friction: FrictionShape,
    push_speed_max: f64,
    restitution_threshold: f64,
}

/// A batch and the speeds at which its points part after the step, zero where they need not [m/s].
#[derive(Clone, Copy, Debug)]
struct Rebound<R: Real> {
    batch: u32,
    speeds: [R::Wide; POINTS],
}

/// A point of a lane of a batch.
#[derive(Clone, Copy, Debug)]
struct LaneSlot {
    batch: u32,
    lane: u8,
    point: u8,
}

/// What is known of a contact beside its batch.
#[derive(Clone, Copy, Debug)]
struct KeptImpulse<R> {
    slot: LaneSlot,
    /// Impulse on A, in world axes: what the step starts from, then what it has ended with [N s].
    impulse: V3<R>,
    /// The same of its friction.
    grip: Grip,
}

/// What a step's contacts start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactStart<'a, R> {
    pub(crate) list: &'a ContactList,
    /// Factor on the impulses of the step before.
    pub(crate) warm: R,
    /// New points slide if their surfaces pass each other faster than that [m/s].
    pub(crate) speed_at_rest: R,
}

impl<R: Real> ContactBatches<R> {
    pub(crate) fn new(settings: &ImpulseSettings) -> Self {
        Self {
            batches: vec![],
            rebounds: vec![],
            groups: Groups::default(),
            carried: Carried::default(),
            settings: ContactSettings {
                order: settings.order,
                friction: settings.friction,
                push_speed_max: settings.push_speed_max,
                restitution_threshold: settings.restitution_threshold,
            },
        }
    }

    /// Forgets everything.
    pub(crate) fn forget(&mut self) {
        self.batches.clear();
        self.rebounds.clear();
        self.carried.forget();
    }

    /// Makes batches of a new list at the present pose and velocities.
    pub(crate) fn prepare(&mut self, bodies: &VelocityBodies<R>, start: &ContactStart<'_, R>) {
        self.rebounds.clear();
        let list = start.list;
        let Self { batches, groups, carried, .. } = self;
        carried.follow(list, |_, contact, before| KeptImpulse {
            slot: LaneSlot { batch: 0, lane: 0, point: 0 },
            impulse: before.map_or(V3::ZERO, |kept| kept.impulse * start.warm),
            grip: match before {
                Some(kept) => kept.grip,
                None => grip(passing_speed(bodies, contact) > start.speed_at_rest),
            },
        });
        let carried = carried.now_mut();
        let nowhere = bodies.now.poses.len() as u32 - 1;
        let mut count = 0;
        groups.make(
            list,
            self.settings.order,
            |body| bodies.moves(body),
            |group| {
                for (lane, patch) in (0..).zip(group) {
                    for i in 0..patch.count {
                        carried[(patch.first + i) as usize].slot =
                            LaneSlot { batch: count as u32, lane, point: i as u8 };
                    }
                }
                if count == batches.len() {
                    batches.push(Batch::EMPTY);
                }
                batches[count].fill(group, nowhere, bodies, list, carried);
                count += 1;
            },
        );
        batches.truncate(count);
        self.prepare_rebounds(bodies, list);
    }

    /// Notes which points approach fast enough to bounce, and how fast they are to part.
    fn prepare_rebounds(&mut self, bodies: &VelocityBodies<R>, list: &ContactList) {
        if list.manifolds.iter().all(|m| m.restitution <= 0.0) {
            return;
        }
        let threshold = R::of(self.settings.restitution_threshold);
        let mut restitution = vec![[R::ZERO; LANES]; self.batches.len()];
        for manifold in &list.manifolds {
            for contact in manifold.range() {
                let LaneSlot { batch, lane, .. } = self.carried.now()[contact].slot;
                restitution[batch as usize][lane as usize] = R::of(manifold.restitution);
            }
        }
        for (i, (batch, share)) in self.batches.iter().zip(restitution).enumerate() {
            let approach = batch.normal_speeds(&bodies.now.velocities);
            let speeds = approach.map(|speed| {
                let speed = speed.lanes();
                let fast = |lane: usize| speed[lane] < -threshold;
                let parting = |lane| if fast(lane) { -speed[lane] * share[lane] } else { R::ZERO };
                R::Wide::from_lanes(array::from_fn(parting))
            });
            if speeds.iter().any(|speed| speed.any_above(R::Wide::ZERO)) {
                self.rebounds.push(Rebound { batch: i as u32, speeds });
            }
        }
    }

    pub(crate) fn warm_start(&self, bodies: &mut VelocityBodies<R>) {
        self.batches.iter().for_each(|batch| batch.warm_start(&mut bodies.now.velocities));
    }

    /// One sweep over all contacts; `moved` tells that bodies have since the last one.
    pub(crate) fn sweep(&mut self, bodies: &mut VelocityBodies<R>, pass: &Pass<R>, moved: bool) {
        let sweep = Sweep {
            softness: pass.soft.contact,
            inverse_h: pass.inverse_h,
            push_speed_max: R::of(self.settings.push_speed_max),
            bias: pass.bias,
            moved,
            boxed: self.settings.friction == FrictionShape::Box,
        };
        let VelocityBodies { now, shifts, .. } = bodies;
        for batch in &mut self.batches {
            batch.solve(&mut now.velocities, shifts, &sweep);
        }
    }

    /// Ends a sub-step: adds its impulses to their sums.
    pub(crate) fn conclude(&mut self) {
        self.batches.iter_mut().for_each(Batch::conclude);
    }

    /// Lets points bounce that have been pushed in this step.
    pub(crate) fn bounce(&mut self, bodies: &mut VelocityBodies<R>) {
        for rebound in &mut self.rebounds {
            let points = &self.batches[rebound.batch as usize].points;
            for (speeds, point) in rebound.speeds.iter_mut().zip(points) {
                *speeds = point.total.0[0].where_above(R::Wide::ZERO, *speeds, R::Wide::ZERO);
            }
        }
        for _ in 0..BOUNCES {
            for rebound in &self.rebounds {
                let batch = &mut self.batches[rebound.batch as usize];
                batch.bounce(&mut bodies.now.velocities, &rebound.speeds);
            }
        }
    }

    /// Keeps impulses and slip for the next list.
    pub(crate) fn store(&mut self) {
        for kept in self.carried.now_mut() {
            let (batch, lane) = (&self.batches[kept.slot.batch as usize], kept.slot.lane as usize);
            let point = &batch.points[kept.slot.point as usize];
            let [normal, x, y] = point.impulse.lane(lane).0;
            let bound = point.friction.lane(lane) * normal * R::of(ALMOST);
            kept.impulse = batch.world(&point.impulse).lane(lane);
            kept.grip = grip(x * x + y * y >= bound * bound);
        }
    }

    /// Forces on A over a step of `dt` seconds [N], in the order of the list.
    pub(crate) fn forces(&self, dt: f64) -> impl Iterator<Item = Vec3> {
        self.carried.now().iter().map(move |KeptImpulse { slot, .. }| {
            let batch = &self.batches[slot.batch as usize];
            let total = &batch.points[slot.point as usize].total;
            batch.world(total).lane(slot.lane as usize).to_f64() / dt
        })
    }
}

/// What one lane brings to one of its points.
#[derive(Clone, Copy)]
struct PointStart<R> {
    /// In the axes of the bodies [m].
    anchors: [V3<R>; 2],
    gap: R,
    friction: R,
    /// On A, in world axes [N s].
    impulse: V3<R>,
    /// One, or zero where a lane has no such point.
    present: R,
}

impl<R: Real> PointStart<R> {
    const NONE: Self = Self {
        anchors: [V3::ZERO; 2],
        gap: R::ZERO,
        friction: R::ZERO,
        impulse: V3::ZERO,
        present: R::ZERO,
    };
}

impl<R: Real> Batch<R> {
    /// Takes over a group of patches, instead of those it had; lanes without one touch the slot `nowhere`. All lanes of a
    /// number are gathered before they become one register: lanes that are written one by one have to be waited for.
    #[inline(always)]
    fn fill(
        &mut self,
        group: &[LanePatch],
        nowhere: u32,
        bodies: &VelocityBodies<R>,
        list: &ContactList,
        carried: &[KeptImpulse<R>],
    ) {
        let manifold =
            |lane: usize| group.get(lane).map(|patch| &list.manifolds[patch.manifold as usize]);
        let owner =
            |side: usize| array::from_fn(|lane| manifold(lane).map_or(nowhere, |m| m.owners[side]));
        (self.a, self.b) = (owner(0), owner(1));
        self.count = group.iter().map(|patch| patch.count).max().unwrap_or(0);
        let weights = |slots: [u32; LANES]| slots.map(|slot| bodies.weight(slot as usize));
        let [a, b] = [weights(self.a), weights(self.b)];
        self.inverse_mass_a = R::Wide::gather(|i| a[i].inverse_mass);
        self.inverse_mass_b = R::Wide::gather(|i| b[i].inverse_mass);
        self.inverse_inertia_a = Sym3::gather(|i| a[i].inverse_inertia);
        self.inverse_inertia_b = Sym3::gather(|i| b[i].inverse_inertia);
        let bases: [[V3<R>; 3]; LANES] = array::from_fn(|lane| {
            manifold(lane).map_or([V3::ZERO; 3], |m| basis(V3::of(&m.normal)))
        });
        self.basis = array::from_fn(|k| V3::gather(|i| bases[i][k]));
        let turns = |slots: [u32; LANES]| {
            Q4::<R::Wide>::gather(|i| bodies.now.poses[slots[i] as usize].rotation)
        };
        let [turn_a, turn_b] = [turns(self.a), turns(self.b)];
        let mut present = [R::Wide::ZERO; POINTS];
        for point in 0..self.count {
            let starts: [PointStart<R>; LANES] = array::from_fn(|lane| {
                let (Some(patch), Some(m)) = (group.get(lane), manifold(lane)) else {
                    return PointStart::NONE;
                };
                if point >= patch.count {
                    return PointStart::NONE;
                }
                let at = (patch.first + point) as usize;
                let (contact, kept) = (&list.contacts[at], &carried[at]);
                PointStart {
                    anchors: contact.anchors().map(|anchor| V3::of(&anchor)),
                    gap: R::of(contact.gap),
                    friction: R::of(m.friction(kept.grip)),
                    impulse: kept.impulse,
                    present: R::ONE,
                }
            });
            let [normal, t, u] = self.basis;
            let impulse: V3<R::Wide> = V3::gather(|i| starts[i].impulse);
            let filled = &mut self.points[point as usize];
            filled.arm_a = turn_a.rotate(V3::gather(|i| starts[i].anchors[0]));
            filled.arm_b = turn_b.rotate(V3::gather(|i| starts[i].anchors[1]));
            filled.gap = R::Wide::gather(|i| starts[i].gap);
            filled.gap_first = filled.gap;
            filled.friction = R::Wide::gather(|i| starts[i].friction);
            let pushed = normal.dot(impulse).max(R::Wide::ZERO);
            filled.impulse = V3([pushed, t.dot(impulse), u.dot(impulse)]);
            filled.total = V3::ZERO;
            present[point as usize] = R::Wide::gather(|i| starts[i].present);
        }
        self.points[self.count as usize..].fill(LanePoint::NONE);
        self.prepare(&present);
    }
}

/// Surfaces slide where friction has reached its bound, or, at a contact that continues none, where they pass each
/// other faster than bodies at rest can.
fn grip(slides: bool) -> Grip {
    if slides { Grip::Slides } else { Grip::Sticks }
}

/// How fast surfaces pass each other at a contact [m/s].
fn passing_speed<R: Real>(bodies: &VelocityBodies<R>, contact: &Contact) -> R {
    let [a, b] = [0, 1].map(|side| {
        let (node, anchor) = (contact.nodes()[side] as usize, contact.anchors()[side]);
        let arm = bodies.now.poses[node].rotation.rotate(V3::of(&anchor));
        let velocity = &bodies.now.velocities[node];
        velocity.linear + velocity.angular.cross(arm)
    });
    (a - b).cross(V3::of(&contact.normal)).norm()
}

/// A right-handed basis whose first vector is the unit vector `n`. Not `taut_collide::frame`: points are solved one
/// direction after the other, so that other tangents are another order, by which towers of cards fall otherwise.
fn basis<R: Real>(n: V3<R>) -> [V3<R>; 3] {
    // The axis farthest from `n`, so that nothing cancels.
    let [x, y, z] = n.0.map(Number::abs);
    let axis = if x <= y && x <= z {
        0
    } else if y <= z {
        1
    } else {
        2
    };
    let across = n.cross(V3::axis(axis));
    let t = across * (R::ONE / across.norm());
    [n, t, n.cross(t)]
}

const _: () = assert!(LANES <= u8::MAX as usize && POINTS <= u8::MAX as usize);
