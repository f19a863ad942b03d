//! Lagged friction: normal forces and tangents are those of the step's start.

use taut_ipc::{ccd::Features, friction::SlidingPair, tangents};
use taut_math::V3;

use super::{
    BarrierContact, NewtonSystem,
    barrier::each,
    group::{GroupSum, PairGroup},
    is_any_awake,
};
use crate::{islands::RestingIslands, matrix::SIZE};

/// A contact of the step's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlidingPoint {
    /// The bodies of its first and its second feature.
    pub(super) bodies: [u32; 2],
    /// None for a half-space, whose vertex is the first and only one.
    features: Option<Features>,
    vertices: [u32; 4],
    weights: [f64; 4],
    tangents: [V3<f64>; 2],
    /// Where its vertices were [m].
    start: [V3<f64>; 4],
    /// Coefficient of friction times normal force [N].
    strength: f64,
}

impl SlidingPoint {
    pub(super) fn vertices(&self) -> [u32; 4] {
        self.vertices
    }
}

impl BarrierContact {
    /// Begins a step of `dt` [s] where bodies are, in which friction is smooth below the speed `smooth_speed` [m/s].
    pub(crate) fn begin_sliding(&mut self, smooth_speed: f64, dt: f64) {
        self.smooth_way = smooth_speed * dt;
        self.origins.clone_from(&self.sweeps);
        self.nearest = self.find_sliding(self.stiffness.lagged(dt));
    }

    /// Takes the normal forces and tangents of where bodies are now; what has slid counts from the step's start.
    pub(crate) fn renew_sliding(&mut self) {
        self.find_sliding(self.stiffness.kappa());
    }

    /// Where a vertex was when the step began [m].
    fn origin(&self, vertex: u32) -> V3<f64> {
        let v = vertex as usize;
        self.origins[self.owner[v] as usize].place(&self.rest[v])[0]
    }

    /// Finds what slides and how hard the stiffness `kappa` presses it, and returns the least distance [m].
    fn find_sliding(&mut self, kappa: f64) -> f64 {
        let mut sliding = std::mem::take(&mut self.sliding);
        sliding.clear();
        let mut nearest = f64::INFINITY;
        if rayon::current_num_threads() > 1 {
            let groups = self.each_group(|group| {
                let mut own = Vec::new();
                let nearest = self.begin_group(group, kappa, &mut own);
                (nearest, own)
            });
            for (least, own) in groups {
                nearest = nearest.min(least);
                sliding.extend(own);
            }
        } else {
            for group in &self.live.groups {
                nearest = nearest.min(self.begin_group(group, kappa, &mut sliding));
            }
        }
        self.sliding = sliding;
        self.find_rubbing(None);
        nearest
    }

    /// Adds what slides of a pair of bodies, and returns its least distance below the barrier's reach [m].
    fn begin_group(&self, group: &PairGroup, kappa: f64, sliding: &mut Vec<SlidingPoint>) -> f64 {
        let [_, friction] = self.search.friction(group.bodies);
        let mut nearest = f64::INFINITY;
        if group.is_plane {
            for pair in self.live.planes_of(group) {
                let (n, height) = self.over_plane(pair, 0.0);
                if height < self.d_hat {
                    nearest = nearest.min(height);
                }
                let force = kappa * plane_force(height, self.d_hat);
                if friction > 0.0 && force > 0.0 {
                    let v = pair.vertex;
                    sliding.push(SlidingPoint {
                        bodies: pair.bodies,
                        features: None,
                        vertices: [v; 4],
                        weights: [1.0, 0.0, 0.0, 0.0],
                        tangents: tangents(n),
                        start: [self.origin(v); 4],
                        strength: friction * force,
                    });
                }
            }
            return nearest;
        }
        for pair in self.live.pairs_of(group) {
            let Some(active) = self.active(pair, 0.0) else { continue };
            let near = active.near();
            let distance = near.squared.sqrt();
            nearest = nearest.min(distance);
            if friction > 0.0 {
                sliding.push(SlidingPoint {
                    bodies: pair.bodies,
                    features: Some(pair.features),
                    vertices: pair.vertices,
                    weights: near.weights,
                    tangents: tangents(near.offset * (1.0 / distance)),
                    start: pair.vertices.map(|v| self.origin(v)),
                    strength: friction * kappa * active.normal_force(),
                });
            }
        }
        nearest
    }

    /// Finds those runs of sliding contacts of which a body has not settled; all of them where nothing has.
    pub(super) fn find_rubbing(&mut self, islands: Option<&RestingIslands>) {
        self.rubbing.clear();
        let mut first = 0;
        for run in self.sliding.chunk_by(|a, b| a.bodies == b.bodies) {
            let awake = |islands| is_any_awake(&run[0].bodies, &self.unknown, islands);
            if islands.is_none_or(awake) {
                self.rubbing.push(first..first + run.len());
            }
            first += run.len();
        }
    }

    fn slid(&self, point: &SlidingPoint, share: f64) -> SlidingPair {
        let mut moved = [V3::ZERO; 4];
        let count = if point.features.is_some() { 4 } else { 1 };
        for (k, moved) in moved.iter_mut().enumerate().take(count) {
            let v = point.vertices[k] as usize;
            *moved = self.places[v] + self.moves[v] * share - point.start[k];
        }
        let (weights, tangents) = (&point.weights, &point.tangents);
        SlidingPair::new(weights, tangents, &moved, point.strength, self.smooth_way)
    }

    /// Adds the energy of friction [J] of each pair of bodies after a share of the direction to that of one of those that
    /// move.
    pub(super) fn each_friction(
        &self,
        share: impl Fn(usize) -> Option<f64> + Sync,
        mut add: impl FnMut(usize, f64),
    ) {
        let found = self.each_sliding(|points| {
            let body = self.mover(points[0].bodies)?;
            let share = share(body)?;
            let energy = points.iter().map(|point| self.slid(point, share).value()).sum();
            Some((body, energy))
        });
        found.into_iter().flatten().for_each(|(body, energy)| add(body, energy));
    }

    /// Work on all that may slide, by pairs of bodies, in their order whatever the number of threads.
    pub(super) fn each_sliding<T: Send>(
        &self,
        work: impl Fn(&[SlidingPoint]) -> T + Send + Sync,
    ) -> Vec<T> {
        each(&self.rubbing, |run| work(&self.sliding[run.clone()]))
    }

    pub(super) fn assemble_sliding(&self, system: &mut NewtonSystem<'_>) {
        let with_hessian = system.matrix.is_some();
        let sums = self.each_sliding(|points| self.sum_of_sliding(points, with_hessian));
        for (run, sum) in self.rubbing.iter().zip(&sums) {
            let bodies = self.sliding[run.start].bodies;
            sum.add_to(bodies.map(|b| self.unknown[b as usize]), 1.0, system);
        }
    }

    fn sum_of_sliding(&self, points: &[SlidingPoint], with_hessian: bool) -> GroupSum {
        let mut sum = GroupSum::EMPTY;
        for point in points {
            let slid = self.slid(point, 0.0);
            let gradient = slid.gradient();
            let hessian = with_hessian.then(|| slid.hessian());
            let (hessian, sites) = (hessian.as_ref(), self.sites(&point.vertices));
            match point.features {
                None => {
                    let block = hessian.map(corner_block);
                    sum.add_point(&corner(&gradient), block.as_ref(), &sites[0]);
                }
                Some(Features::PointTriangle) => {
                    sum.add_pair::<1>(false, &gradient, hessian, &sites);
                }
                Some(Features::EdgeEdge) => {
                    sum.add_pair::<2>(false, &gradient, hessian, &sites);
                }
            }
        }
        sum
    }
}

/// Force of the barrier of a half-space with the stiffness 1 [m^3].
fn plane_force(height: f64, d_hat: f64) -> f64 {
    -2.0 * taut_ipc::barrier::barrier(height * height, d_hat * d_hat).slope * height
}

fn corner(gradient: &[f64; SIZE]) -> [f64; 3] {
    [gradient[0], gradient[1], gradient[2]]
}

fn corner_block(hessian: &[[f64; SIZE]; SIZE]) -> [[f64; 3]; 3] {
    [corner(&hessian[0]), corner(&hessian[1]), corner(&hessian[2])]
}
