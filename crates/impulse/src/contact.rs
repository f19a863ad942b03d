//! Contacts: batches made anew for every list, impulses carried from list to list.

mod batch;
mod colour;

use std::array;

use taut_collide::{ContactList, Grip, Manifold, NONE, frame};
use taut_core::Vec3;
use taut_math::{LANES, Number, Real, V3, Wide};

use self::{
    batch::{Batch, Sweep},
    colour::{Groups, POINTS, Patch},
};
use crate::{
    body::Bodies,
    joint::Pull,
    settings::{Friction, ImpulseSettings, Order},
};

/// Friction beyond this share of its bound means that surfaces slide; it covers rounding.
const ALMOST: f64 = 1.0 - 1e-4;

/// Sweeps over the points that bounce; they agree within a patch after a few.
const BOUNCES: usize = 8;

/// All contacts of a step.
#[derive(Clone, Debug)]
pub(crate) struct Contacts<R: Real> {
    batches: Vec<Batch<R>>,
    /// Batches with points that bounce.
    rebounds: Vec<Rebound<R>>,
    groups: Groups,
    /// Where each contact of the list is.
    places: Vec<Place>,
    /// What each contact of the list leaves to the one that continues it.
    legacies: Vec<Legacy<R>>,
    settings: ContactSettings,
}

/// What contacts need of the settings.
#[derive(Clone, Copy, Debug)]
struct ContactSettings {
    order: Order,
    friction: Friction,
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
struct Place {
    batch: u32,
    lane: u8,
    point: u8,
}

/// What a contact leaves behind when its step has ended.
#[derive(Clone, Copy, Debug)]
struct Legacy<R> {
    /// Impulse on A, in world axes [N s].
    impulse: V3<R>,
    /// Whether friction was at its bound, so that the surfaces slide.
    slides: bool,
}

/// What a step's contacts start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a, R> {
    pub(crate) list: &'a ContactList,
    /// Factor on the impulses of the step before.
    pub(crate) warm: R,
    /// New points slide if their surfaces pass each other faster than that [m/s].
    pub(crate) speed_at_rest: R,
}

impl<R: Real> Contacts<R> {
    pub(crate) fn new(settings: &ImpulseSettings) -> Self {
        Self {
            batches: vec![],
            rebounds: vec![],
            groups: Groups::default(),
            places: vec![],
            legacies: vec![],
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
        self.places.clear();
        self.legacies.clear();
    }

    /// Makes batches of a new list at the present pose and velocities.
    pub(crate) fn prepare(&mut self, bodies: &Bodies<R>, start: &Start<'_, R>) {
        self.batches.clear();
        self.rebounds.clear();
        let list = start.list;
        self.places.clear();
        self.places.resize(list.contacts.len(), Place { batch: 0, lane: 0, point: 0 });
        let Self { batches, places, groups, legacies, .. } = self;
        let nowhere = bodies.poses.len() as u32 - 1;
        groups.make(
            list,
            self.settings.order,
            |body| bodies.moves(body),
            |group| {
                let mut batch = Batch::empty(nowhere);
                let mut present = [R::Wide::ZERO; POINTS];
                for (lane, patch) in group.iter().enumerate() {
                    for i in 0..patch.count as usize {
                        let place =
                            Place { batch: batches.len() as u32, lane: lane as u8, point: i as u8 };
                        places[patch.first as usize + i] = place;
                        present[i].put(lane, R::ONE);
                    }
                    let lane = Lane { batch: &mut batch, lane, bodies, legacies, start };
                    lane.fill(patch);
                }
                batch.prepare(&present);
                batches.push(batch);
            },
        );
        self.prepare_rebounds(bodies, list);
    }

    /// Notes which points approach fast enough to bounce, and how fast they are to part.
    fn prepare_rebounds(&mut self, bodies: &Bodies<R>, list: &ContactList) {
        if list.manifolds.iter().all(|m| m.restitution <= 0.0) {
            return;
        }
        let threshold = R::of(self.settings.restitution_threshold);
        let mut restitution = vec![[R::ZERO; LANES]; self.batches.len()];
        for manifold in &list.manifolds {
            for contact in manifold.range() {
                let place = self.places[contact];
                restitution[place.batch as usize][place.lane as usize] =
                    R::of(manifold.restitution);
            }
        }
        for (i, (batch, share)) in self.batches.iter().zip(restitution).enumerate() {
            let approach = batch.normal_speeds(&bodies.velocities);
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

    pub(crate) fn warm_start(&self, bodies: &mut Bodies<R>) {
        self.batches.iter().for_each(|batch| batch.warm_start(&mut bodies.velocities));
    }

    /// One sweep over all contacts; `moved` tells that bodies have since the last one.
    pub(crate) fn sweep(&mut self, bodies: &mut Bodies<R>, pull: &Pull<R>, moved: bool) {
        let sweep = Sweep {
            softness: pull.soft.contact,
            inverse_h: pull.inverse_h,
            push_speed_max: R::of(self.settings.push_speed_max),
            bias: pull.bias,
            moved,
            boxed: self.settings.friction == Friction::Box,
        };
        let Bodies { velocities, shifts, .. } = bodies;
        for batch in &mut self.batches {
            batch.solve(velocities, shifts, &sweep);
        }
    }

    /// Ends a sub-step: adds its impulses to their sums.
    pub(crate) fn conclude(&mut self) {
        self.batches.iter_mut().for_each(Batch::conclude);
    }

    /// Lets points bounce that have been pushed in this step.
    pub(crate) fn bounce(&mut self, bodies: &mut Bodies<R>) {
        for rebound in &mut self.rebounds {
            let points = &self.batches[rebound.batch as usize].points;
            for (speeds, point) in rebound.speeds.iter_mut().zip(points) {
                *speeds = point.total.0[0].where_above(R::Wide::ZERO, *speeds, R::Wide::ZERO);
            }
        }
        for _ in 0..BOUNCES {
            for rebound in &self.rebounds {
                let batch = &mut self.batches[rebound.batch as usize];
                batch.bounce(&mut bodies.velocities, &rebound.speeds);
            }
        }
    }

    /// Keeps impulses and slip for the next list.
    pub(crate) fn store(&mut self) {
        let batches = &self.batches;
        self.legacies.clear();
        self.legacies.extend(self.places.iter().map(|place| {
            let (batch, lane) = (&batches[place.batch as usize], place.lane as usize);
            let point = &batch.points[place.point as usize];
            let [normal, x, y] = point.impulse.lane(lane).0;
            let bound = point.friction.lane(lane) * normal * R::of(ALMOST);
            let slides = x * x + y * y >= bound * bound;
            Legacy { impulse: batch.world(&point.impulse).lane(lane), slides }
        }));
    }

    /// Forces on A over a step of `dt` seconds [N], in the order of the list.
    pub(crate) fn forces(&self, dt: f64) -> impl Iterator<Item = Vec3> {
        self.places.iter().map(move |place| {
            let batch = &self.batches[place.batch as usize];
            let total = &batch.points[place.point as usize].total;
            batch.world(total).lane(place.lane as usize).to_f64() / dt
        })
    }
}

/// One lane of a batch while it is filled.
struct Lane<'a, R: Real> {
    batch: &'a mut Batch<R>,
    lane: usize,
    bodies: &'a Bodies<R>,
    legacies: &'a [Legacy<R>],
    start: &'a Start<'a, R>,
}

impl<R: Real> Lane<'_, R> {
    fn fill(self, patch: &Patch) {
        let Self { batch, lane, bodies, legacies, start } = self;
        let manifold = &start.list.manifolds[patch.manifold as usize];
        let [a, b] = manifold.owners;
        (batch.a[lane], batch.b[lane]) = (a, b);
        batch.count = batch.count.max(patch.count);
        let [side_a, side_b] = [a, b].map(|body| &bodies.mobilities[body as usize]);
        batch.inverse_mass_a.put(lane, side_a.inverse_mass);
        batch.inverse_mass_b.put(lane, side_b.inverse_mass);
        batch.inverse_inertia_a.put(lane, side_a.inverse_inertia);
        batch.inverse_inertia_b.put(lane, side_b.inverse_inertia);
        let basis = frame(V3::of(&manifold.normal));
        (0..3).for_each(|i| batch.basis[i].put(lane, basis[i]));
        let [turn_a, turn_b] = [a, b].map(|body| bodies.poses[body as usize].rotation);
        let first = patch.first as usize;
        let contacts = &start.list.contacts[first..first + patch.count as usize];
        for (contact, point) in contacts.iter().zip(&mut batch.points) {
            let [anchor_a, anchor_b] = contact.anchors().map(|anchor| V3::of(&anchor));
            point.arm_a.put(lane, turn_a.rotate(anchor_a));
            point.arm_b.put(lane, turn_b.rotate(anchor_b));
            point.gap_first.put(lane, R::of(contact.gap));
            point.gap.put(lane, R::of(contact.gap));
            let slides = match contact.previous {
                NONE => {
                    let arms = [point.arm_a.lane(lane), point.arm_b.lane(lane)];
                    passing_speed(bodies, manifold, arms) > start.speed_at_rest
                }
                previous => {
                    let Legacy { impulse, slides } = legacies[previous as usize];
                    let along = basis.map(|direction| direction.dot(impulse * start.warm));
                    point.impulse.put(lane, V3([along[0].max(R::ZERO), along[1], along[2]]));
                    slides
                }
            };
            let grip = if slides { Grip::Slides } else { Grip::Sticks };
            point.friction.put(lane, R::of(manifold.friction(grip)));
        }
    }
}

/// How fast surfaces pass each other at a point [m/s].
fn passing_speed<R: Real>(bodies: &Bodies<R>, manifold: &Manifold, arms: [V3<R>; 2]) -> R {
    let [a, b] = manifold.owners.map(|body| &bodies.velocities[body as usize]);
    let relative = (a.linear + a.angular.cross(arms[0])) - (b.linear + b.angular.cross(arms[1]));
    relative.cross(V3::of(&manifold.normal)).norm()
}

const _: () = assert!(LANES <= u8::MAX as usize && POINTS <= u8::MAX as usize);
