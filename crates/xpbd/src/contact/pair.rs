//! Two bodies that touch, in world axes, four times side by side.
//!
//! The points of a pair ask many times how its bodies answer, so their inverse inertia is turned into the world once a
//! visit, and again where a point has turned a body by more than 0.2 mrad.

use taut_math::{LANES, Number, Q4, Real, Sym3, V3, Wide};
use taut_model::{Pose, Velocity};

use super::{
    batch::{TouchBatch, Uneven},
    lanes::{pick, pick_matrix, pick_vector, positive},
};
use crate::exchange::Places;

/// Square of half a turn [rad^2] up to which what it does to lengths and to inertia is lost in rounding.
const SMALL: f64 = 1e-8;

/// Inverse mass [1/kg] and inverse inertia in world axes [1/(kg m^2)] of a body; zero for what forces do not move.
#[derive(Clone, Copy, Debug)]
struct TurnedWeight<W> {
    inverse_mass: W,
    inverse_inertia: Sym3<W>,
}

/// Two bodies of a pair while they are corrected.
#[derive(Clone, Copy)]
pub(super) struct TouchingPair<'a, R: Real> {
    pub(super) poses: [Pose<R::Wide>; 2],
    weights: [TurnedWeight<R::Wide>; 2],
    pub(super) batch: &'a TouchBatch<R>,
}

/// How they answer opposite impulses, before scaling: the turn of either.
#[derive(Clone, Copy)]
pub(super) struct Turns<W>([V3<W>; 2]);

/// Inverse inertia of one side of a batch, in world axes.
#[inline(always)]
fn turned<R: Real>(batch: &TouchBatch<R>, side: usize, rotation: Q4<R::Wide>) -> Sym3<R::Wide> {
    let own = batch.inverse_inertia[side];
    match batch.uneven[side] {
        Uneven::Nowhere => own,
        Uneven::Everywhere => own.rotated(&rotation.matrix()),
        Uneven::Where(on) => pick_matrix(on, own.rotated(&rotation.matrix()), own),
    }
}

/// Rotation and inverse inertia of one side after a turn that is large in some lanes.
#[cold]
#[inline(never)]
fn far<R: Real>(
    batch: &TouchBatch<R>,
    side: usize,
    far: R::Wide,
    [near, full]: [Q4<R::Wide>; 2],
    before: Sym3<R::Wide>,
) -> (Q4<R::Wide>, Sym3<R::Wide>) {
    let full = full.normalised();
    let v = pick_vector(far, full.v, near.v);
    let rotation = Q4 { v, w: pick(far, full.w, near.w) };
    (rotation, pick_matrix(far, turned(batch, side, rotation), before))
}

impl<'a, R: Real> TouchingPair<'a, R> {
    /// The pairs of a batch at these poses.
    #[inline(always)]
    pub(super) fn new(batch: &'a TouchBatch<R>, poses: [Pose<R::Wide>; 2]) -> Self {
        let weight = |side: usize| TurnedWeight {
            inverse_mass: batch.inverse_mass[side],
            inverse_inertia: turned(batch, side, poses[side].rotation),
        };
        Self { poses, weights: [weight(0), weight(1)], batch }
    }

    /// Answer to opposite impulses along `e` at both world-axis levers, and `(wA + wB) |e|^2`.
    #[inline(always)]
    pub(super) fn response(
        &self,
        arms: [V3<R::Wide>; 2],
        e: V3<R::Wide>,
    ) -> (Turns<R::Wide>, R::Wide) {
        let [a, b] = &self.weights;
        let (lever_a, lever_b) = (arms[0].cross(e), arms[1].cross(e));
        let turns = [a.inverse_inertia.apply(lever_a), b.inverse_inertia.apply(lever_b)];
        let straight = (a.inverse_mass + b.inverse_mass) * e.dot(e);
        (Turns(turns), straight + (lever_a.dot(turns[0]) + lever_b.dot(turns[1])))
    }

    /// Moves both bodies by the impulse `e s` on A and its opposite on B (Eq. 6 to 9), in lanes where `live` is above
    /// zero; elsewhere `e s` is zero.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        turns: Turns<R::Wide>,
        e: V3<R::Wide>,
        s: R::Wide,
        live: R::Wide,
    ) {
        for (side, s) in [s, -s].into_iter().enumerate() {
            let (pose, weight) = (&mut self.poses[side], &mut self.weights[side]);
            pose.position += e * (weight.inverse_mass * s);
            let half = turns.0[side] * (s * R::Wide::HALF);
            let moved = Q4 { v: half, w: R::Wide::ONE }.times(pose.rotation);
            // Nearly all corrections are so small that `1.5 - square / 2` is the inverse length to rounding; a root
            // and a division would make up half of the time that the next point waits for this one.
            let excess = (moved.v.dot(moved.v) + moved.w * moved.w) - R::Wide::ONE;
            let shrunk = R::Wide::ONE - excess * R::Wide::HALF;
            let scale = pick(live * weight.inverse_mass, shrunk, R::Wide::ONE);
            let near = Q4 { v: moved.v * scale, w: moved.w * scale };
            let square = half.dot(half);
            let small = R::Wide::of(SMALL);
            if square.any_above(small) {
                let on = positive(square - small);
                let before = weight.inverse_inertia;
                (pose.rotation, weight.inverse_inertia) =
                    far(self.batch, side, on, [near, moved], before);
            } else {
                pose.rotation = near;
            }
        }
    }

    /// The same for velocities (Eq. 33).
    #[inline(always)]
    pub(super) fn accelerate(
        &self,
        velocities: &mut [Velocity<R::Wide>; 2],
        turns: Turns<R::Wide>,
        e: V3<R::Wide>,
        s: R::Wide,
    ) {
        for (side, s) in [s, -s].into_iter().enumerate() {
            velocities[side].linear += e * (self.weights[side].inverse_mass * s);
            velocities[side].angular += turns.0[side] * s;
        }
    }
}

/// Poses at both ends of a batch.
#[inline(always)]
pub(super) fn gather_poses<R: Real>(
    slots: &[[u32; LANES]; 2],
    from: &(impl Places<Pose<R>> + ?Sized),
) -> [Pose<R::Wide>; 2] {
    let side = |slots: &[u32; LANES]| {
        let own = [0, 1, 2, 3].map(|lane| from.at(slots[lane]));
        Pose {
            position: V3::gather(|i| own[i].position),
            rotation: Q4::gather(|i| own[i].rotation),
        }
    };
    [side(&slots[0]), side(&slots[1])]
}

/// Velocities at both ends of a batch.
#[inline(always)]
pub(super) fn gather_velocities<R: Real>(
    slots: &[[u32; LANES]; 2],
    from: &(impl Places<Velocity<R>> + ?Sized),
) -> [Velocity<R::Wide>; 2] {
    let side = |slots: &[u32; LANES]| {
        let own = [0, 1, 2, 3].map(|lane| from.at(slots[lane]));
        Velocity { linear: V3::gather(|i| own[i].linear), angular: V3::gather(|i| own[i].angular) }
    };
    [side(&slots[0]), side(&slots[1])]
}

/// The pose at one end of a batch.
#[inline(always)]
pub(super) fn pose_at<W: Wide>(poses: &[Pose<W>; 2], end: usize) -> Pose<W::Lane> {
    let (pose, lane) = (&poses[end / LANES], end % LANES);
    let rotation = Q4 { v: pose.rotation.v.lane(lane), w: pose.rotation.w.lane(lane) };
    Pose { position: pose.position.lane(lane), rotation }
}

/// The velocity at one end of a batch.
#[inline(always)]
pub(super) fn velocity_at<W: Wide>(velocities: &[Velocity<W>; 2], end: usize) -> Velocity<W::Lane> {
    let (velocity, lane) = (&velocities[end / LANES], end % LANES);
    Velocity { linear: velocity.linear.lane(lane), angular: velocity.angular.lane(lane) }
}
