//! How far bodies may move along a direction before anything touches.

use taut_collide::{FeaturePair, PlanePair};
use taut_core::SolverError;
use taut_ipc::ccd::{
    PairSweep,
    additive::{StepRule, half_space, safe_share},
};
use taut_math::V3;

use super::BarrierContact;
use crate::islands::RestingIslands;

impl BarrierContact {
    /// Lowers the shares of islands, by their lowest bodies, so that all surfaces stay apart by a tenth of their distance or
    /// more.
    pub(crate) fn find_safe_shares(&mut self, islands: &RestingIslands, shares: &mut [f64]) {
        let island = |bodies: [u32; 2]| self.mover(bodies).map(|body| islands.root(body));
        let early = self.each_group(|group| {
            if group.is_plane {
                let planes = self.live.planes_of(group).iter();
                let share =
                    planes.filter_map(|pair| self.safe_over_plane(pair)).fold(1.0, f64::min);
                return (share, Vec::new());
            }
            let sweeps = (group.in_way.start..).zip(self.live.in_way_of(group));
            let sweeps = sweeps.map(|(at, pair)| (self.sweep_of(pair).earliest(), at));
            (1.0, sweeps.filter(|(earliest, _)| *earliest < 1.0).collect())
        });
        for (group, (share, _)) in self.live.groups.iter().zip(&early) {
            if let Some(root) = island(group.bodies) {
                shares[root] = shares[root].min(*share);
            }
        }
        let mut pairs: Vec<(f64, u32)> = early.into_iter().flat_map(|(_, pairs)| pairs).collect();
        // The least share that is found early cuts off most of the others of its island.
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut queries = 0;
        for (earliest, at) in pairs {
            let pair = &self.live.in_way[at as usize];
            let Some(root) = island(pair.bodies).filter(|&root| earliest < shares[root]) else {
                continue;
            };
            queries += 1;
            let sweep = self.sweep_of(pair);
            if let Some(found) = safe_share(&sweep, 0.0, shares[root], StepRule::default()) {
                shares[root] = shares[root].min(found);
            }
        }
        self.work.ccd_queries += queries;
        if self.check_lost().is_err() {
            shares.fill(0.0);
        }
        let least = shares.iter().copied().fold(1.0, f64::min);
        self.work.step_share_min = self.work.step_share_min.min(least);
    }

    /// Fails where a body is, or would be along the direction, where nothing is looked for.
    pub(crate) fn check_lost(&self) -> Result<(), SolverError> {
        let Some(body) = self.search.lost() else { return Ok(()) };
        let message = "leaves the space in which contacts are looked for";
        Err(SolverError::NotConverged(format!("body {body} {message}")))
    }

    pub(super) fn sweep_of(&self, pair: &FeaturePair) -> PairSweep {
        let [start, moves] = [pair.corners(&self.places), pair.corners(&self.moves)];
        let reach = start.iter().zip(&moves).map(|(x, m)| reach_of(x, m)).fold(0.0, f64::max);
        PairSweep::new(pair.features, &start, &moves).rounded_again(reach)
    }

    fn safe_over_plane(&self, pair: &PlanePair) -> Option<f64> {
        let (n, height) = self.over_plane(pair, 0.0);
        let v = pair.vertex as usize;
        let reach = reach_of(&self.places[v], &self.moves[v]);
        half_space(height, n.dot(self.moves[v]), reach, 1.0)
    }
}

/// No coordinate becomes larger on the way [m].
pub(super) fn reach_of(place: &V3<f64>, way: &V3<f64>) -> f64 {
    let largest = |x: &V3<f64>| x.0.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    largest(place) + largest(way)
}
