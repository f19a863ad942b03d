//! Which candidates matter along a direction: for the barrier, and for the search along lines.
//!
//! The distance between two features changes by no more than both bodies go. So one that was found tells for as long as
//! bodies go little that a pair is beyond the barrier's reach, or that nothing is hit.

use rayon::prelude::*;
use taut_collide::{AffineSweep, FeaturePair, PlanePair};
use taut_core::Vec3;
use taut_ipc::ccd::{Features, placing};

use super::{BarrierContact, farthest_along, group::PairGroup, higher, is_any_awake, lower};
use crate::islands::RestingIslands;

/// A distance is found again when bodies have gone more than this share of the barrier's reach since [1].
const STALE: f64 = 0.1;
/// Nothing is hit at a distance of this many ways of both bodies: the bound on the speed of a pair's distance, which subtracts
/// the mean of its four vertices, is at most two and a half of them [1].
const WAYS: f64 = 4.0;
/// What rounding may add, as a share of the barrier's reach [1].
const ROUNDING: f64 = 1e-6;

/// Lower bounds on the distances of candidates.
#[derive(Debug, Default)]
pub(super) struct Clearance {
    ways: Vec<BodyWay>,
    found: Vec<FoundDistance>,
    /// Up to which [`BodyWay::reach`] each candidate comes to the same as last time [m].
    same_until: Vec<f64>,
}

/// How far the vertices of a body, or of two together, go at most [m].
#[derive(Clone, Copy, Debug, Default)]
struct BodyWay {
    /// Since candidates were searched.
    gone: f64,
    /// Along the direction.
    going: f64,
}

impl BodyWay {
    /// From where candidates were searched to where the last pair would be in danger, if it moved like this [m].
    fn reach(&self) -> f64 {
        self.gone + WAYS * self.going
    }
}

/// A distance [m], and how far both bodies together had gone when it was found [m].
#[derive(Clone, Copy, Debug)]
struct FoundDistance {
    distance: f64,
    gone: f64,
}

impl FoundDistance {
    const NONE: Self = Self { distance: f64::NEG_INFINITY, gone: f64::NEG_INFINITY };
}

impl Clearance {
    /// Nothing is known of so many new candidates.
    pub(super) fn forget(&mut self, pairs: usize) {
        self.ways.iter_mut().for_each(|way| way.gone = 0.0);
        self.found.clear();
        self.found.resize(pairs, FoundDistance::NONE);
        self.same_until.clear();
        self.same_until.resize(pairs, f64::NEG_INFINITY);
    }

    /// Bodies with these boxes went from where one motion starts to where the next does, along which they go on.
    pub(super) fn go_on(&mut self, from: &[AffineSweep], to: &[AffineSweep], boxes: &[[Vec3; 2]]) {
        // Vertices move along all three axes.
        let all_axes = 3_f64.sqrt();
        self.ways.resize(to.len(), BodyWay::default());
        for (i, way) in self.ways.iter_mut().enumerate() {
            let still = AffineSweep::still(to[i].frame, to[i].position);
            let last = from.get(i).unwrap_or(&still);
            way.gone += all_axes * last.offset(0.0, &still, 0.0, &boxes[i]);
            way.going = all_axes * farthest_along(&to[i], &boxes[i]);
        }
    }
}

/// Candidates that matter along the direction.
#[derive(Debug, Default)]
pub(super) struct LivePairs {
    /// Those pairs of bodies whose candidates come as near as the barrier reaches, by their boxes.
    pub(super) groups: Vec<PairGroup>,
    /// What the barrier may push.
    pairs: Vec<FeaturePair>,
    planes: Vec<PlanePair>,
    /// What may be hit.
    pub(super) in_way: Vec<FeaturePair>,
    /// Of every candidate.
    prospects: Vec<Prospect>,
}

/// What a pair may come to along the direction.
#[derive(Clone, Copy, Debug)]
struct Prospect {
    /// Its boxes come as near as the barrier reaches.
    is_near: bool,
    /// The barrier may push it.
    is_pushed: bool,
    /// It may be hit.
    is_in_way: bool,
}

impl Prospect {
    const NONE: Self = Self { is_near: false, is_pushed: false, is_in_way: false };
}

impl LivePairs {
    pub(super) fn pairs_of(&self, group: &PairGroup) -> &[FeaturePair] {
        &self.pairs[group.range.start as usize..group.range.end as usize]
    }

    pub(super) fn planes_of(&self, group: &PairGroup) -> &[PlanePair] {
        &self.planes[group.range.start as usize..group.range.end as usize]
    }

    pub(super) fn in_way_of(&self, group: &PairGroup) -> &[FeaturePair] {
        &self.in_way[group.in_way.start as usize..group.in_way.end as usize]
    }
}

impl BarrierContact {
    /// Finds what matters along the direction, unless both bodies have settled.
    pub(super) fn find_live(&mut self, islands: &RestingIslands) {
        self.find_prospects(islands);
        let Self { found, live, candidates, unknown, .. } = self;
        let LivePairs { groups, pairs, planes, in_way, prospects } = live;
        groups.clear();
        pairs.clear();
        planes.clear();
        in_way.clear();
        for group in found.iter().filter(|group| is_any_awake(&group.bodies, unknown, islands)) {
            let all = group.range.start as usize..group.range.end as usize;
            let first = (pairs.len() as u32, planes.len() as u32, in_way.len() as u32);
            if group.is_plane {
                planes.extend_from_slice(&candidates.planes[all]);
                let range = first.1..planes.len() as u32;
                groups.push(PairGroup { range, ..group.clone() });
                continue;
            }
            let mut is_near = false;
            for (pair, prospect) in candidates.pairs[all.clone()].iter().zip(&prospects[all]) {
                is_near |= prospect.is_near;
                if prospect.is_pushed {
                    pairs.push(*pair);
                }
                if prospect.is_in_way {
                    in_way.push(*pair);
                }
            }
            if is_near {
                let [range, in_way] = [first.0..pairs.len() as u32, first.2..in_way.len() as u32];
                groups.push(PairGroup { range, in_way, ..group.clone() });
            }
        }
    }

    /// Finds what each candidate may come to where that is not the same as last time.
    fn find_prospects(&mut self, islands: &RestingIslands) {
        let Clearance { ways, mut found, mut same_until } = std::mem::take(&mut self.clearance);
        let mut prospects = std::mem::take(&mut self.live.prospects);
        prospects.resize(found.len(), Prospect::NONE);
        let (mut of_found, mut of_until) = (&mut found[..], &mut same_until[..]);
        let mut of_prospects = &mut prospects[..];
        let mut open = Vec::with_capacity(self.found.len());
        for group in self.found.iter().filter(|group| !group.is_plane) {
            let count = group.range.len();
            let (found, same_until, prospects);
            (found, of_found) = of_found.split_at_mut(count);
            (same_until, of_until) = of_until.split_at_mut(count);
            (prospects, of_prospects) = of_prospects.split_at_mut(count);
            if is_any_awake(&group.bodies, &self.unknown, islands) {
                let way = way_of(&ways, group.bodies);
                open.push(OpenGroup { group, way, found, same_until, prospects });
            }
        }
        if rayon::current_num_threads() > 1 {
            open.into_par_iter().for_each(|group| self.foresee(group));
        } else {
            open.into_iter().for_each(|group| self.foresee(group));
        }
        self.live.prospects = prospects;
        self.clearance = Clearance { ways, found, same_until };
    }

    fn foresee(&self, open: OpenGroup<'_>) {
        let OpenGroup { group, way, found, same_until, prospects } = open;
        let pairs = &self.candidates.pairs[group.range.start as usize..group.range.end as usize];
        let reach = way.reach();
        for (k, until) in same_until.iter_mut().enumerate() {
            // What is not a number is not the same.
            let is_same = reach <= *until;
            if !is_same {
                (prospects[k], *until) = self.prospect(&pairs[k], way, &mut found[k]);
            }
        }
    }

    /// What a pair may come to, by the distance that was found last or by that of now, and up to which
    /// [`BodyWay::reach`] it may come to the same [m].
    fn prospect(
        &self,
        pair: &FeaturePair,
        BodyWay { gone, going }: BodyWay,
        found: &mut FoundDistance,
    ) -> (Prospect, f64) {
        let rounding = ROUNDING * self.d_hat + placing(self.extent);
        let reach = self.d_hat + rounding;
        let gap = gap_of_boxes(pair, &self.ways);
        let is_near = gap <= self.d_hat;
        if !is_near {
            return (Prospect::NONE, gone + gap - reach);
        }
        // Where it starts the boxes are smaller, and farther apart by no more than both bodies go.
        let near_until = gone + (self.d_hat - rounding - gap - going);
        let by = |found: &FoundDistance| {
            let least = found.distance - (gone - found.gone);
            let is_beyond = least - going > reach;
            let is_safe = least > WAYS * going + rounding;
            Prospect { is_near, is_pushed: !is_beyond, is_in_way: !is_safe }
        };
        let mut prospect = by(found);
        let is_open = prospect.is_pushed || prospect.is_in_way;
        if is_open && gone - found.gone > STALE * self.d_hat {
            let points = pair.corners(&self.places);
            let distance = pair.features.nearest(&points).squared.sqrt();
            *found = FoundDistance { distance, gone };
            prospect = by(found);
        }
        let start = found.gone + found.distance;
        let until = match prospect {
            Prospect { is_in_way: true, .. } => f64::NEG_INFINITY,
            Prospect { is_pushed: false, .. } => near_until.min(start - reach),
            _ if found.distance > reach => f64::NEG_INFINITY,
            _ => near_until.min(start - rounding).min(found.gone + STALE * self.d_hat),
        };
        (prospect, until)
    }
}

/// The candidates of two bodies, and what is known of them.
struct OpenGroup<'a> {
    group: &'a PairGroup,
    way: BodyWay,
    found: &'a mut [FoundDistance],
    same_until: &'a mut [f64],
    prospects: &'a mut [Prospect],
}

fn way_of(ways: &[BodyWay], bodies: [u32; 2]) -> BodyWay {
    let [a, b] = bodies.map(|body| ways[body as usize]);
    BodyWay { gone: a.gone + b.gone, going: a.going + b.going }
}

/// Whether the boxes around the ways of two features are no farther apart than `reach` [m] along every axis.
#[inline]
pub(super) fn may_come_near(pair: &FeaturePair, ways: &[[[f64; 3]; 2]], reach: f64) -> bool {
    gap_of_boxes(pair, ways) <= reach
}

/// How far the boxes around the ways of two features are apart, along the axis where that is most; less than 0 where they
/// overlap [m].
#[inline]
fn gap_of_boxes(pair: &FeaturePair, ways: &[[[f64; 3]; 2]]) -> f64 {
    let [a, b, c, d] = pair.vertices.map(|v| &ways[v as usize]);
    let gap = |[low, high]: &[[f64; 3]; 2], [from, to]: &[[f64; 3]; 2]| {
        let along: [f64; 3] = std::array::from_fn(|k| higher(low[k] - to[k], from[k] - high[k]));
        higher(along[0], higher(along[1], along[2]))
    };
    match pair.features {
        Features::PointTriangle => gap(a, &around(&around(b, c), d)),
        Features::EdgeEdge => gap(&around(a, b), &around(c, d)),
    }
}

#[inline]
fn around([a, b]: &[[f64; 3]; 2], [c, d]: &[[f64; 3]; 2]) -> [[f64; 3]; 2] {
    [std::array::from_fn(|k| lower(a[k], c[k])), std::array::from_fn(|k| higher(b[k], d[k]))]
}

#[cfg(test)]
impl BarrierContact {
    /// Makes sure that what is left out neither is pushed somewhere along the direction nor may be hit. Returns how many of the
    /// pairs whose boxes come near are left out by the barrier and by the search along lines.
    pub(crate) fn check_prospects(&self) -> [usize; 2] {
        let mut left_out = [0; 2];
        for (pair, prospect) in self.candidates.pairs.iter().zip(&self.live.prospects) {
            assert_eq!(prospect.is_near, may_come_near(pair, &self.ways, self.d_hat), "{pair:?}");
            let is_pushed = (0..=8).any(|k| self.active(pair, f64::from(k) / 8.0).is_some());
            assert!(prospect.is_pushed || !is_pushed, "{pair:?}");
            let may_be_hit = prospect.is_near && self.sweep_of(pair).earliest() < 1.0;
            assert!(prospect.is_in_way || !may_be_hit, "{pair:?}");
            left_out[0] += usize::from(prospect.is_near && !prospect.is_pushed);
            left_out[1] += usize::from(prospect.is_near && !prospect.is_in_way);
        }
        left_out
    }
}
