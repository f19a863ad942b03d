//! What bodies do by themselves, four at a time, and under the forces of joints.

mod constants;
mod passed;

use taut_core::{Mat3, Vec3};
use taut_math::{Fused, Number, Wide};

use crate::{
    affine::{Affine, Affines, frame, origin, put},
    lane::{
        M, V, ZERO3, add, dot, minus, plus, product, scale, sub, times, transposed,
        transposed_product, transposed_times,
    },
    local::LocalInverse,
    node::{BodyGroups, NodeResponse},
    polar::{self, blockwise, full, squared_strain},
    settings::Polar,
};
pub(crate) use constants::{Anchored, GroupConstants, GroupKind, GroupKinds, GroupTable};
pub(crate) use passed::{Passed, StretchEnd};

/// What a solve is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolveTask<'a> {
    /// Length by which inertia is divided twice [s].
    pub(crate) h: f64,
    /// Displacements and rates of the step before, where the two-step formula is used.
    pub(crate) before: Option<&'a [Affines; 2]>,
    pub(crate) gravity: Vec3,
    /// Share of the inertia that tension must exceed; `None` without geometric stiffness.
    pub(crate) geometric: Option<f64>,
    /// Only finds the tension.
    pub(crate) probes: bool,
    /// Whether the displacements are those of a step of the same length that has ended, which then
    /// become the rates, in that length.
    pub(crate) resumes: bool,
}

/// What four bodies do by themselves.
#[derive(Clone, Copy)]
pub(crate) struct FreeResponse {
    pub(crate) rotation: M,
    pub(crate) local: LocalInverse<Fused>,
    /// Increment without joints, its frame co-rotated.
    pub(crate) frame: M,
    pub(crate) origin: V,
    /// Where they are in the current iterate.
    pub(crate) at: M,
    pub(crate) centre: V,
}

impl FreeResponse {
    pub(crate) const NONE: Self = Self {
        rotation: [ZERO3; 3],
        local: LocalInverse::NONE,
        frame: [ZERO3; 3],
        origin: ZERO3,
        at: [ZERO3; 3],
        centre: ZERO3,
    };

    /// That of turned bodies with an inertia of their own along each axis.
    #[cfg(test)]
    pub(crate) fn example(rigid: bool) -> Self {
        let turn =
            taut_core::Quat::from_scaled_axis(Vec3::new(0.9, -1.4, 0.6)).to_rotation_matrix();
        let inertia = [0.3, 0.5, 0.8].map(|x| Fused([x, x, 2.0 * x, 3.0 * x]));
        Self {
            rotation: crate::lane::matrix(|i, j| Fused::of(turn[(i, j)])),
            local: LocalInverse::new(Fused::of(0.2), Fused::of(0.7), rigid, inertia),
            ..Self::NONE
        }
    }

    /// The group of bodies `group` by itself.
    ///
    /// With the strain `sigma = 1 - sym(R^T A)` the elastic load is `K sigma`, so that the increment is
    /// `sigma + H^-1 (R^T r - S' sigma)`: nothing cancels however stiff the body is, and the limit of
    /// rigid ones is the same formula.
    #[inline(always)]
    pub(crate) fn new(
        bodies: &BodyGroups<'_>,
        constants: &GroupConstants,
        task: &SolveTask<'_>,
        group: usize,
        polar: Polar,
    ) -> Self {
        let (start, moved) = (&bodies.start[group], &bodies.moved[group]);
        let (shift, at) = (frame(moved), plus(frame(start), frame(moved)));
        let centre = add(origin(start), origin(moved));
        let rotation = match polar {
            Polar::Exact => polar::exact(at),
            Polar::NewtonSchulz | Polar::Blockwise => polar::single(at),
        };
        let (inertia, mut stiff, mut local) =
            (constants.inertia, constants.inertia, constants.local);
        if let Some(share) = task.geometric {
            let tension = &bodies.tension[group];
            let share = Fused::of(share);
            let most = [share * inertia[0], share * inertia[1], share * inertia[2]];
            if (0..3).any(|i| tension[i].any_above(most[i])) {
                for i in 0..3 {
                    stiff[i] += (tension[i] - most[i]).max(Fused::ZERO);
                }
                let GroupConstants { softness, ratio, rigid, .. } = constants;
                local = LocalInverse::new(*softness, *ratio, *rigid, stiff);
            }
        }
        let (left, way) = if task.resumes {
            // The last step goes on at the speed at which it came.
            (shift, origin(moved))
        } else {
            let (aim_frame, aim_origin) = aim(bodies, task, group);
            (minus(aim_frame, shift), sub(aim_origin, origin(moved)))
        };
        let push = columns(left, inertia);
        let (sigma, turned) = match polar {
            Polar::Exact | Polar::NewtonSchulz => {
                (give(rotation, at), transposed_product(rotation, push))
            }
            Polar::Blockwise => {
                let half = polar::strain(at).map(|e| e * Fused::of(-0.5));
                (full(half), blockwise(transposed(at), push))
            }
        };
        let held = columns(sigma, stiff);
        let fall: Vec3 = task.gravity * (task.h * task.h);
        let fall = [Fused::of(fall.x), Fused::of(fall.y), Fused::of(fall.z)];
        Self {
            rotation,
            local,
            frame: plus(sigma, local.apply(minus(turned, held))),
            origin: add(way, fall),
            at,
            centre,
        }
    }

    /// What is found about one of the bodies.
    pub(crate) fn response(&self, k: usize) -> NodeResponse {
        let matrix = |m: M| Mat3::from(m.map(|column| column.map(|entry| entry.0[k])));
        let origin = self.origin.map(|entry| entry.0[k]).into();
        NodeResponse {
            rotation: matrix(self.rotation),
            local: self.local.lane(k),
            free: Affine { frame: matrix(self.frame), origin },
            load: Affine::ZERO,
        }
    }

    /// How far a unit force at unit length along an axis moves the point there, relative to the origin.
    #[inline(always)]
    pub(crate) fn along(&self, axis: usize) -> M {
        let along = self.local.along(axis);
        product(columns(self.rotation, along), transposed(self.rotation))
    }

    /// How far a unit force at unit length along axis `b` moves the point at unit length along another, `a`, relative to the
    /// origin.
    #[inline(always)]
    pub(crate) fn across(&self, a: usize, b: usize) -> M {
        let (at, by) = (self.rotation[a], self.rotation[b]);
        let (mirrored, elastic) = self.local.across(a, b);
        let (turned, pulled) = (scale(by, mirrored), scale(at, elastic));
        // `mirrored by at^T + elastic at by^T`.
        [0, 1, 2].map(|c| [0, 1, 2].map(|r| turned[r].times_plus(at[c], pulled[r] * by[c])))
    }

    /// Where a point of the bodies would go without joints.
    #[inline(always)]
    pub(crate) fn tip(&self, anchor: V) -> V {
        let increment = add(times(self.rotation, times(self.frame, anchor)), self.origin);
        add(add(times(self.at, anchor), self.centre), increment)
    }

    /// Increments under forces at the two joints, and the diagonal of the co-rotated load.
    #[inline(always)]
    pub(crate) fn under(
        &self,
        GroupKind { constants, anchors }: GroupKind<'_>,
        forces: [V; 2],
    ) -> (M, V, V) {
        let f = transposed_times(self.rotation, forces[0]);
        let g = transposed_times(self.rotation, forces[1]);
        let (x, y) = (anchors.left, anchors.right);
        let sum = scale(add(forces[0], forces[1]), constants.reach);
        let origin = sub(self.origin, sum);
        if anchors.axial {
            let load = add(scale(f, x[0]), scale(g, y[0]));
            let turned = minus(self.frame, self.local.apply_first(load));
            let diagonal = [load[0], Fused::ZERO, Fused::ZERO];
            return (product(self.rotation, turned), origin, diagonal);
        }
        let load = [
            add(scale(f, x[0]), scale(g, y[0])),
            add(scale(f, x[1]), scale(g, y[1])),
            add(scale(f, x[2]), scale(g, y[2])),
        ];
        let turned = minus(self.frame, self.local.apply(load));
        let diagonal = [load[0][0], load[1][1], load[2][2]];
        (product(self.rotation, turned), origin, diagonal)
    }

    /// Moves a group of `bodies` by increments of frames and origins, `load` being the diagonal of what led there;
    /// adds the squared norms of strains to the largest and to the sum of all.
    #[inline(always)]
    pub(crate) fn finish(
        &self,
        (bodies, index): (&mut BodyGroups<'_>, usize),
        task: &SolveTask<'_>,
        (turned, shift): (M, V),
        load: V,
        worst: &mut [Fused; 2],
    ) {
        if task.geometric.is_some() {
            bodies.tension[index] = sub(ZERO3, load);
        }
        if task.probes {
            return;
        }
        if task.resumes {
            put(&mut bodies.start[index], self.at, self.centre);
            put(&mut bodies.rate[index], turned, shift);
        } else {
            let moved = &mut bodies.moved[index];
            let (before, from) = (frame(moved), origin(moved));
            put(moved, plus(before, turned), add(from, shift));
        }
        let strain = squared_strain(plus(self.at, turned));
        *worst = [worst[0].max(strain), worst[1] + strain];
    }
}

/// The strain that the elastic load would undo, `1 - sym(R^T A)`.
#[inline(always)]
fn give(rotation: M, at: M) -> M {
    let ([r1, r2, r3], [f1, f2, f3]) = (rotation, at);
    let (one, zero) = (Fused::ONE, Fused::ZERO);
    full([
        one - dot(r1, f1),
        zero - dot(r2, f1),
        zero - dot(r3, f1),
        one - dot(r2, f2),
        zero - dot(r3, f2),
        one - dot(r3, f3),
    ])
}

/// Each column times its own factor.
#[inline(always)]
fn columns(m: M, s: V) -> M {
    [scale(m[0], s[0]), scale(m[1], s[1]), scale(m[2], s[2])]
}

/// Where free motion leads, as a displacement since the start of the step.
#[inline(always)]
fn aim(bodies: &BodyGroups<'_>, task: &SolveTask<'_>, group: usize) -> (M, V) {
    let rate = &bodies.rate[group];
    let h = Fused::of(task.h);
    let mut aim = *rate;
    if let Some([moved, slower]) = bodies.before {
        // q~ = (4 q_n - q_(n-1)) / 3 + 2 h / 3 (4 v_n - v_(n-1)) / 3.
        let (moved, slower) = (&moved[group], &slower[group]);
        let (third, more) = (Fused::of(1.0 / 3.0), Fused::of(4.0 / 3.0));
        for c in 0..12 {
            aim[c] = (rate[c] * more - slower[c] * third) * h + moved[c] * third;
        }
    } else {
        for entry in &mut aim {
            *entry = *entry * h;
        }
    }
    (frame(&aim), origin(&aim))
}
