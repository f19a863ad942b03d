//! Contact as an incremental potential: a barrier that keeps surfaces apart, and lagged friction.
//!
//! ```text
//!   kappa sum b(d^2)  over vertices and triangles,  kappa sum m b(d^2)  over edges,  sum mu lambda f0(y)
//! ```
//!
//! Distances are between the polygonal surfaces of the bodies, `x = A X + t` with the frame as it is, sheared or not.
//! Along a step `q + s dq` every vertex moves straight, so that a search along lines ([`BarrierContact::safe_share`]) bounds how
//! far the step may go before anything touches, and every accepted state is free of intersections.
//!
//! Sources: Li et al., "Incremental Potential Contact" (TOG 2020), \[I\]; Lan et al., "Affine Body Dynamics" (TOG
//! 2022); Ferguson et al., "Intersection-free Rigid Body Dynamics" (TOG 2021), \[R\], for the stiffness.

mod barrier;
mod certify;
mod filter;
mod group;
mod live;
mod sliding;
mod stiffness;

use std::ops::Range;

use taut_collide::{AffineSweep, Candidates, FeatureSearch};
use taut_core::{Scene, SolverReport, Vec3};
use taut_math::V3;

use crate::{
    AbdSettings,
    body::{AffineBody, split},
    islands::RestingIslands,
    matrix::{BlockMatrix, SIZE},
    warnings,
};
use filter::reach_of;
use group::{GroupSum, PairGroup};
use live::{Clearance, LivePairs};
use sliding::SlidingPoint;
use stiffness::Stiffness;

/// What is known of contacts in a step.
pub(crate) struct BarrierContact {
    search: FeatureSearch,
    candidates: Candidates,
    /// The candidates of each pair of bodies.
    found: Vec<PairGroup>,
    /// How far they are apart at least.
    clearance: Clearance,
    /// What matters of them along the direction, likewise.
    live: LivePairs,
    /// Which dynamic body each body is.
    unknown: Vec<Option<usize>>,
    /// Middle and half extents of each body in its own coordinates [m].
    boxes: Vec<[Vec3; 2]>,
    /// How bodies move along the present direction, and along the one before.
    sweeps: Vec<AffineSweep>,
    before: Vec<AffineSweep>,
    /// How they moved when candidates were last searched, and how much of that motion each has made [1].
    searched: Vec<AffineSweep>,
    made: Vec<f64>,
    /// How much of the present motion each has made [1].
    here: Vec<f64>,
    /// Vertices in the coordinates of their bodies [m], and the bodies.
    rest: Vec<Vec3>,
    owner: Vec<u32>,
    /// Vertices of candidates and of what slides, each once.
    used: Vec<u32>,
    /// Where these are, and their moves along the direction [m].
    places: Vec<V3<f64>>,
    moves: Vec<V3<f64>>,
    /// Lowest and highest coordinates of each on its way [m].
    ways: Vec<[[f64; 3]; 2]>,
    /// The largest coordinate of all of them on their ways [m].
    extent: f64,
    /// Distance at which the barrier begins [m].
    d_hat: f64,
    /// How far bodies may leave a motion before candidates are searched again [m].
    slack: f64,
    /// Median diagonal of the boxes around dynamic bodies [m].
    length: f64,
    stiffness: Stiffness,
    /// Contacts that slide, and which of them may in this iteration, run by run of the same bodies.
    sliding: Vec<SlidingPoint>,
    rubbing: Vec<Range<usize>>,
    /// Bodies where the step began.
    origins: Vec<AffineSweep>,
    /// The way below which their friction is smooth [m].
    smooth_way: f64,
    /// Sums of the last assembly, and the bodies that each is of.
    sums: Vec<GroupSum>,
    summed: Vec<[u32; 2]>,
    /// Least distance at the last assembly [m].
    nearest: f64,
    work: ContactWork,
}

/// What was done since a state was loaded.
#[derive(Clone, Copy, Debug, Default)]
struct ContactWork {
    ccd_queries: u64,
    /// Least share of a direction in the present step that nothing stood in the way of.
    step_share_min: f64,
}

/// What the barrier and friction push: dynamic bodies, and the matrix of all where it is asked for.
pub(crate) struct NewtonSystem<'a> {
    pub(crate) matrix: Option<&'a mut BlockMatrix>,
    pub(crate) gradient: &'a mut [f64],
}

impl BarrierContact {
    /// The contacts of a scene.
    pub(crate) fn new(
        scene: &Scene,
        settings: &AbdSettings,
        unknown: Vec<Option<usize>>,
        bodies: &[AffineBody],
    ) -> Self {
        let search = FeatureSearch::new(scene, settings.segments);
        let owned = search.rest_vertices().map(|(body, x)| (body as u32, x));
        let (owner, rest): (Vec<u32>, Vec<Vec3>) = owned.unzip();
        let count = rest.len();
        let boxes: Vec<[Vec3; 2]> = (0..scene.bodies.len()).map(|i| search.rest_box(i)).collect();
        let dynamic = || bodies.iter().filter(|node| node.drive.is_none());
        let mut diagonals: Vec<f64> =
            dynamic().map(|node| 2.0 * boxes[node.body][1].norm()).collect();
        diagonals.sort_by(f64::total_cmp);
        let length = diagonals.get(diagonals.len() / 2).copied().unwrap_or(1.0);
        let d_hat = if settings.d_hat > 0.0 {
            settings.d_hat
        } else {
            scene.contacts.unwrap_or_default().margin
        };
        let vertices: usize = dynamic().map(|node| search.vertices(node.body).len()).sum();
        let stiffness =
            Stiffness::new(scene, bodies, vertices, length, (d_hat, settings.stiffness));
        let zero = vec![V3::ZERO; count];
        Self {
            search,
            candidates: Candidates::default(),
            found: Vec::new(),
            clearance: Clearance::default(),
            extent: 0.0,
            live: LivePairs::default(),
            unknown,
            boxes,
            sweeps: Vec::new(),
            before: Vec::new(),
            searched: Vec::new(),
            made: Vec::new(),
            here: Vec::new(),
            rest,
            owner,
            used: Vec::new(),
            places: zero.clone(),
            moves: zero,
            ways: vec![[[0.0; 3]; 2]; count],
            d_hat,
            slack: d_hat + 2e-3 * length,
            length,
            stiffness,
            sliding: Vec::new(),
            rubbing: Vec::new(),
            origins: Vec::new(),
            smooth_way: 0.0,
            sums: Vec::new(),
            summed: Vec::new(),
            nearest: f64::INFINITY,
            work: ContactWork::default(),
        }
    }

    /// Forgets all that was learned.
    pub(crate) fn forget(&mut self) {
        self.searched.clear();
        self.sliding.clear();
        self.rubbing.clear();
        self.stiffness.forget();
        self.nearest = f64::INFINITY;
        self.sums.clear();
        self.summed.clear();
        self.work = ContactWork { ccd_queries: 0, step_share_min: 1.0 };
    }

    /// Whether friction acts in this step.
    #[cfg(test)]
    pub(crate) fn slides(&self) -> bool {
        !self.sliding.is_empty()
    }

    /// Distance at which the barrier begins [m].
    pub(crate) fn d_hat(&self) -> f64 {
        self.d_hat
    }

    /// Median diagonal of the boxes around dynamic bodies [m].
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// Sets how all bodies of the scene move, from where they are, and finds what may come near on the way, of islands
    /// that have not settled.
    pub(crate) fn set_motion(
        &mut self,
        sweeps: impl Iterator<Item = AffineSweep>,
        broken: &[bool],
        islands: &RestingIslands,
    ) {
        std::mem::swap(&mut self.sweeps, &mut self.before);
        self.sweeps.clear();
        self.sweeps.extend(sweeps);
        self.here.clear();
        self.here.resize(self.sweeps.len(), 0.0);
        self.clearance.go_on(&self.before, &self.sweeps, &self.boxes);
        if !self.is_covered() {
            let reach = self.d_hat + 2.0 * self.slack;
            self.search.find(&self.sweeps, broken, reach, &mut self.candidates);
            self.searched.clone_from(&self.sweeps);
            self.made.clone_from(&self.here);
            self.find_groups();
            self.clearance.forget(self.candidates.pairs.len());
            self.find_used();
        }
        self.extent = 0.0;
        for &v in &self.used {
            let v = v as usize;
            let [place, step] = self.sweeps[self.owner[v] as usize].place(&self.rest[v]);
            (self.places[v], self.moves[v]) = (place, step);
            let end = place + step;
            self.ways[v] = [
                std::array::from_fn(|k| lower(place.0[k], end.0[k])),
                std::array::from_fn(|k| higher(place.0[k], end.0[k])),
            ];
            self.extent = self.extent.max(reach_of(&place, &step));
        }
        self.find_live(islands);
        self.find_rubbing(Some(islands));
    }

    /// Takes note that bodies have made shares of their motions.
    pub(crate) fn advance(&mut self, share: impl Fn(usize) -> f64) {
        for (body, unknown) in self.unknown.iter().enumerate() {
            let Some(share) = unknown.map(&share) else { continue };
            self.here[body] = share;
            if self.sweeps[body] == self.searched[body] {
                self.made[body] = share;
            }
        }
    }

    /// Whether both ends of the motion are near some point of the one that was searched. What lies between them then
    /// is near it too, since all motions are straight.
    fn is_covered(&self) -> bool {
        let far = |i: usize| {
            let (now, then) = (&self.sweeps[i], &self.searched[i]);
            let near = |share: f64| {
                let off = |u: f64| then.offset(u, now, share, &self.boxes[i]);
                [0.0, self.made[i], 1.0].into_iter().any(|u| off(u) <= self.slack)
            };
            !(near(0.0) && near(1.0))
        };
        self.searched.len() == self.sweeps.len() && !(0..self.sweeps.len()).any(far)
    }

    /// The farthest that a vertex of a body may move along the direction, along one axis [m].
    pub(crate) fn largest_move(&self, body: usize) -> f64 {
        self.largest_way(body, &self.sweeps[body])
    }

    /// The same along any motion [m].
    pub(crate) fn largest_way(&self, body: usize, sweep: &AffineSweep) -> f64 {
        farthest_along(sweep, &self.boxes[body])
    }

    /// Pairs of dynamic bodies that may come near each other along the direction, or rub against each other.
    pub(crate) fn met(&self) -> impl Iterator<Item = [usize; 2]> {
        let near =
            self.live.groups.iter().filter(|group| !group.is_plane).map(|group| group.bodies);
        let rubbing = self.rubbing.iter().map(|run| self.sliding[run.start].bodies);
        near.chain(rubbing).filter_map(|pair| self.both_unknown(pair))
    }

    fn both_unknown(&self, [a, b]: [u32; 2]) -> Option<[usize; 2]> {
        Some([self.unknown[a as usize]?, self.unknown[b as usize]?])
    }

    /// Pairs of dynamic bodies that the matrix couples.
    pub(crate) fn coupled(&self) -> impl Iterator<Item = [usize; 2]> {
        let pairs = self.candidates.bodies.iter().copied();
        let runs = self.sliding.chunk_by(|a, b| a.bodies == b.bodies);
        let pairs = pairs.chain(runs.map(|run| run[0].bodies));
        pairs.filter_map(|pair| self.both_unknown(pair))
    }

    fn find_groups(&mut self) {
        self.found.clear();
        let bodies = |pair: &[u32; 2]| [pair[0].min(pair[1]), pair[0].max(pair[1])];
        let pairs = self.candidates.pairs.iter().map(|pair| (bodies(&pair.bodies), false));
        let planes = self.candidates.planes.iter().map(|pair| (pair.bodies, true));
        for (list, is_plane) in [(pairs.collect::<Vec<_>>(), false), (planes.collect(), true)] {
            let mut first = 0;
            for run in list.chunk_by(|a, b| a == b) {
                let range = first as u32..(first + run.len()) as u32;
                self.found.push(PairGroup { bodies: run[0].0, range, in_way: 0..0, is_plane });
                first += run.len();
            }
        }
    }

    fn find_used(&mut self) {
        let of_pairs = self.candidates.pairs.iter().flat_map(|pair| pair.vertices);
        let of_planes = self.candidates.planes.iter().map(|pair| pair.vertex);
        let of_sliding = self.sliding.iter().flat_map(SlidingPoint::vertices);
        let mut is_used = vec![false; self.rest.len()];
        for vertex in of_pairs.chain(of_planes).chain(of_sliding) {
            is_used[vertex as usize] = true;
        }
        self.used.clear();
        self.used.extend((0..self.rest.len() as u32).filter(|&vertex| is_used[vertex as usize]));
    }

    /// Adds the gradient of barrier and friction and, where there is a matrix, the Hessian, clamped pair by pair if
    /// `project` says so.
    pub(crate) fn assemble(&mut self, project: bool, system: &mut NewtonSystem<'_>) {
        let before = self.nearest;
        self.sum_barrier(system.matrix.is_some().then_some(project));
        self.nearest = self.nearest_of_sums();
        self.stiffness.raise(before, self.nearest);
        let kappa = self.stiffness.kappa();
        for (group, sum) in self.live.groups.iter().zip(&self.sums) {
            sum.add_to(group.bodies.map(|b| self.unknown[b as usize]), kappa, system);
        }
        self.assemble_sliding(system);
    }

    /// Lowers the numbers of unknown bodies to how far they are from the nearest other that pushes them [m].
    pub(crate) fn nearest_by_body(&self, room: &mut [f64]) {
        for (bodies, sum) in self.summed.iter().zip(&self.sums) {
            for body in bodies.iter().filter_map(|&b| self.unknown[b as usize]) {
                room[body] = room[body].min(sum.nearest);
            }
        }
    }

    fn nearest_of_sums(&self) -> f64 {
        self.sums.iter().map(|sum| sum.nearest).fold(f64::INFINITY, f64::min)
    }

    /// Gradient of the barrier with the stiffness 1, over all unknowns [m^3].
    fn barrier_gradient(&mut self, unknowns: usize) -> Vec<f64> {
        let mut gradient = vec![0.0; unknowns];
        self.sum_barrier(None);
        for (group, sum) in self.live.groups.iter().zip(&self.sums) {
            for (body, own) in group.bodies.iter().zip(&sum.gradient) {
                if let Some(i) = self.unknown[*body as usize] {
                    let rows = &mut gradient[i * SIZE..(i + 1) * SIZE];
                    rows.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
                }
            }
        }
        gradient
    }

    /// Sets the stiffness of a step, given the gradient of all else.
    pub(crate) fn find_stiffness(&mut self, others: &[f64], dt: f64) {
        if self.stiffness.is_balanced() {
            let own = self.barrier_gradient(others.len());
            self.stiffness.balance(&own, others, dt);
        } else {
            self.stiffness.begin(dt);
        }
    }

    /// What is taken as it is, though it may not be what was meant.
    pub(crate) fn warnings(&self, scene: &Scene) -> Vec<String> {
        warnings::of_contacts(scene, self.d_hat, |body| self.boxes[body][1])
    }

    /// How far a driven body is from where it is to be, along one axis [m]; none of a body that is not driven.
    pub(crate) fn lag(&self, node: &AffineBody) -> Option<f64> {
        node.drive.as_ref()?;
        let [now, goal] = [&node.now, &node.target].map(|q| {
            let (frame, position) = split(q);
            AffineSweep::still(frame, position)
        });
        Some(now.offset(0.0, &goal, 0.0, &self.boxes[node.body]))
    }

    /// Begins to look for the least share of a step.
    pub(crate) fn begin_step(&mut self) {
        self.work.step_share_min = 1.0;
    }

    /// Adds what is known of contacts, and the energy of the barrier to what is stored.
    pub(crate) fn report(&self, out: &mut SolverReport) {
        let found = self.candidates.pairs.len() + self.candidates.planes.len();
        out.candidates = Some(found as u64);
        let (barrier, active) = self.barrier_of_all();
        out.active_pairs = Some(active);
        out.stored_energy_j = out.stored_energy_j.map(|own| own + self.stiffness.kappa() * barrier);
        out.ccd_queries = Some(self.work.ccd_queries);
        out.step_share_min = Some(self.work.step_share_min);
        out.kappa_j_m4 = Some(self.stiffness.kappa());
    }

    /// One of those of two bodies that forces move.
    fn mover(&self, bodies: [u32; 2]) -> Option<usize> {
        bodies.iter().find_map(|&body| self.unknown[body as usize])
    }
}

/// The farthest that a point of a body with this box goes along a motion, along one axis [m].
fn farthest_along(sweep: &AffineSweep, own_box: &[Vec3; 2]) -> f64 {
    let still = AffineSweep::still(sweep.frame, sweep.position);
    still.offset(0.0, sweep, 1.0, own_box)
}

/// Whether any of two bodies of the scene has not settled.
fn is_any_awake(bodies: &[u32; 2], unknown: &[Option<usize>], islands: &RestingIslands) -> bool {
    bodies.iter().any(|&body| unknown[body as usize].is_some_and(|i| islands.is_awake(i)))
}

/// Unlike [`f64::min`] one instruction.
#[inline]
fn lower(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline]
fn higher(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
