//! The barrier over all candidates: its value along a direction, and its derivatives.

use rayon::prelude::*;
use taut_collide::{FeaturePair, PlanePair};
use taut_core::Vec3;
use taut_ipc::{
    barrier::{barrier, plane_stiffness},
    blocks::affine_site,
    ccd::Features,
    distance::height,
    mollifier::{Mollifier, threshold},
    pair::BarrierPair,
};
use taut_math::V3;

use super::{
    BarrierContact,
    group::{GroupSum, PairGroup},
    live::may_come_near,
};

impl BarrierContact {
    /// A pair that is nearer than the barrier's reach after a share of the direction.
    pub(super) fn active(&self, pair: &FeaturePair, share: f64) -> Option<BarrierPair> {
        self.active_at(pair, |_| share)
    }

    /// The same where each body has gone a share of its own.
    fn active_at(&self, pair: &FeaturePair, share: impl Fn(u32) -> f64) -> Option<BarrierPair> {
        let points = pair.vertices.map(|v| {
            let at = v as usize;
            self.places[at] + self.moves[at] * share(v)
        });
        let near = pair.features.nearest(&points);
        // What is not a number is not far.
        if near.squared >= self.d_hat * self.d_hat {
            return None;
        }
        let mollifier = match pair.features {
            Features::PointTriangle => None,
            Features::EdgeEdge => {
                let mollifier = Mollifier::new(&points, self.parallel_below(pair));
                Some(mollifier).filter(Mollifier::is_active)
            }
        };
        Some(BarrierPair::new(&points, near, self.d_hat, mollifier))
    }

    /// The mollifier's threshold of two edges, from their lengths at rest [m^4].
    fn parallel_below(&self, pair: &FeaturePair) -> f64 {
        let [a0, a1, b0, b1] = pair.corners(&self.rest);
        threshold((a1 - a0).norm(), (b1 - b0).norm())
    }

    /// Normal and place `n . x` of a half-space, and the height of a vertex over it after a share of the direction [m].
    pub(super) fn over_plane(&self, pair: &PlanePair, share: f64) -> (V3<f64>, f64) {
        let sweep = &self.sweeps[pair.bodies[1] as usize];
        let normal: Vec3 = sweep.frame.column(2).into();
        let (n, v) = (V3(normal.into()), pair.vertex as usize);
        let point = self.places[v] + self.moves[v] * share;
        (n, height(point - V3(sweep.position.into()), n, 0.0))
    }

    /// Vertices of a pair as weights of the coordinates of their bodies.
    pub(super) fn sites(&self, vertices: &[u32; 4]) -> [[f64; 4]; 4] {
        vertices.map(|v| affine_site(self.rest[v as usize].into()))
    }

    /// Adds the energy [J] of barrier and friction of each pair of bodies after a share of the direction to that of one of
    /// those that move; infinite where surfaces touch. What has no share, or has settled, is left out.
    pub(crate) fn each_energy(
        &self,
        share: impl Fn(usize) -> Option<f64> + Sync,
        mut add: impl FnMut(usize, f64),
    ) {
        let kappa = self.stiffness.kappa();
        let groups = self.each_group(|group| {
            let body = self.mover(group.bodies)?;
            Some((body, kappa * self.barrier_of(group, share(body)?)))
        });
        groups.into_iter().flatten().for_each(|(body, energy)| add(body, energy));
        self.each_friction(share, add);
    }

    /// The same where the last assembly was.
    pub(crate) fn each_energy_here(
        &self,
        share: impl Fn(usize) -> Option<f64> + Sync,
        mut add: impl FnMut(usize, f64),
    ) {
        let kappa = self.stiffness.kappa();
        for (bodies, sum) in self.summed.iter().zip(&self.sums) {
            if let Some(body) = self.mover(*bodies).filter(|&body| share(body).is_some()) {
                add(body, kappa * sum.value);
            }
        }
        self.each_friction(share, add);
    }

    /// `sum b` of a pair of bodies after a share of the direction [m^4].
    fn barrier_of(&self, group: &PairGroup, share: f64) -> f64 {
        if group.is_plane {
            let planes = self.live.planes_of(group).iter();
            return planes.map(|pair| self.value_over_plane(pair, share)).sum();
        }
        let value = |pair| self.active(pair, share).map_or(0.0, |pair| pair.value());
        self.live.pairs_of(group).iter().map(value).sum()
    }

    /// `b` of a vertex over a half-space after a share of the direction [m^4]; infinite below it.
    fn value_over_plane(&self, pair: &PlanePair, share: f64) -> f64 {
        match self.over_plane(pair, share).1 {
            height if height > 0.0 => barrier(height * height, self.d_hat * self.d_hat).value,
            _ => f64::INFINITY,
        }
    }

    /// `sum b` over all bodies after the last Newton step [m^4], and how many pairs are nearer than the barrier reaches.
    pub(super) fn barrier_of_all(&self) -> (f64, u64) {
        let near = |pair: &&FeaturePair| may_come_near(pair, &self.ways, self.d_hat);
        let pairs = self.candidates.pairs.iter().filter(near);
        let here = |v: u32| self.here[self.owner[v as usize] as usize];
        let pairs = pairs.filter_map(|pair| Some(self.active_at(pair, here)?.value()));
        let planes = self.candidates.planes.iter();
        let planes = planes.map(|pair| self.value_over_plane(pair, here(pair.vertex)));
        let all = pairs.chain(planes.filter(|value| *value > 0.0));
        all.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1))
    }

    /// Sums up gradients of each pair of bodies where they are, and Hessians if it is said whether to clamp them.
    pub(super) fn sum_barrier(&mut self, hessian: Option<bool>) {
        self.sums = self.each_group(|group| self.sum_of(group, hessian));
        self.summed.clear();
        self.summed.extend(self.live.groups.iter().map(|group| group.bodies));
    }

    /// Work on all groups, in their order whatever the number of threads.
    pub(super) fn each_group<T: Send>(
        &self,
        work: impl Fn(&PairGroup) -> T + Send + Sync,
    ) -> Vec<T> {
        each(&self.live.groups, work)
    }

    fn sum_of(&self, group: &PairGroup, hessian: Option<bool>) -> GroupSum {
        let mut sum = GroupSum::EMPTY;
        if group.is_plane {
            for pair in self.live.planes_of(group) {
                self.add_plane(pair, hessian.is_some(), &mut sum);
            }
            return sum;
        }
        for pair in self.live.pairs_of(group) {
            let Some(active) = self.active(pair, 0.0) else { continue };
            sum.nearest = sum.nearest.min(active.near().squared.sqrt());
            sum.value += active.value();
            let (gradient, sites) = (active.gradient(), self.sites(&pair.vertices));
            let block = hessian.map(|project| match project {
                true => active.hessian_psd(),
                false => active.hessian(),
            });
            let turned = pair.bodies[0] != group.bodies[0];
            match pair.features {
                Features::PointTriangle => {
                    sum.add_pair::<1>(turned, &gradient, block.as_ref(), &sites);
                }
                Features::EdgeEdge => {
                    sum.add_pair::<2>(turned, &gradient, block.as_ref(), &sites);
                }
            }
        }
        sum
    }

    fn add_plane(&self, pair: &PlanePair, with_hessian: bool, sum: &mut GroupSum) {
        let (n, height) = self.over_plane(pair, 0.0);
        if height >= self.d_hat {
            return;
        }
        let barrier = barrier(height * height, self.d_hat * self.d_hat);
        sum.nearest = sum.nearest.min(height);
        sum.value += barrier.value;
        let gradient = (n * (2.0 * height * barrier.slope)).0;
        let hessian = with_hessian.then(|| {
            let stiffness = plane_stiffness(height, self.d_hat);
            n.0.map(|a| n.0.map(|b| stiffness * a * b))
        });
        let site = affine_site(self.rest[pair.vertex as usize].into());
        sum.add_point(&gradient, hessian.as_ref(), &site);
    }
}

/// Work on all of a list, in its order whatever the number of threads.
pub(super) fn each<I: Sync, T: Send>(list: &[I], work: impl Fn(&I) -> T + Send + Sync) -> Vec<T> {
    if rayon::current_num_threads() > 1 && list.len() > 1 {
        list.par_iter().map(work).collect()
    } else {
        list.iter().map(work).collect()
    }
}
