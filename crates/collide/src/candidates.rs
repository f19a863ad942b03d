//! Pairs of features that may come close while affine bodies move along straight lines.
//!
//! A feature is a vertex, an edge or a triangle of a body's surface, or a half-space. Every point of an affine body
//! moves straight where its frame and position do, so that the box around a feature at the start and at the end of a
//! motion holds it all the time. Boxes of bodies come first ([`BroadPhase`]), then those of the features that lie
//! where two of these overlap.

mod near;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use taut_core::{Mat3, Scene, Vec3};
use taut_ipc::ccd::Features;
use taut_math::V3;

use crate::{
    broad::{Bounds, BroadPhase, HalfSpace},
    detect::{Style, kept_apart, not_held},
    surface::Surface,
    surface_pair::{PairBuffers, PlacedSurface, SearchedSurface, count_meeting, distinct_surfaces},
    traits::{Traits, surface},
};
use near::{NearFeatures, SweptBox, SweptTree, common, corners, overlap};

/// Pairs of bodies that one task searches.
const CHUNK: usize = 16;
/// Surfaces of more triangles than this are asked by trees: of fewer it takes no longer to look at all.
const MANY: usize = 200;
/// Products of so many features are searched one by one, larger ones along an axis.
const PLAIN: usize = 1024;

/// A straight motion of an affine body: `x = A X + t` at the start, and by how much `A` and `t` change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineSweep {
    /// `A`.
    pub frame: Mat3,
    /// `t` [m].
    pub position: Vec3,
    /// Change of `A`.
    pub frame_move: Mat3,
    /// Change of `t` [m].
    pub position_move: Vec3,
}

/// A vertex and a triangle, or two edges, of two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeaturePair {
    /// What they are.
    pub features: Features,
    /// The bodies of the first and of the second feature.
    pub bodies: [u32; 2],
    /// `p, t0, t1, t2` or `a0, a1, b0, b1`, counted over the vertices of all bodies.
    pub vertices: [u32; 4],
}

impl FeaturePair {
    /// What a list has for each of its four vertices.
    // Written out, since `map` over arrays may not be inlined.
    #[inline]
    pub fn corners<T: Copy>(&self, of_vertices: &[T]) -> [T; 4] {
        let ([a, b, c, d], of) = (self.vertices, |v: u32| of_vertices[v as usize]);
        [of(a), of(b), of(c), of(d)]
    }
}

/// A vertex of a body and a half-space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanePair {
    /// The body of the vertex and that of the half-space.
    pub bodies: [u32; 2],
    /// Counted over the vertices of all bodies.
    pub vertex: u32,
}

/// What a search has found.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// In the order of pairs of bodies, the same for any number of threads.
    pub pairs: Vec<FeaturePair>,
    /// Likewise.
    pub planes: Vec<PlanePair>,
    /// The pairs of bodies that these belong to, the lower one first, sorted; some may have no feature near.
    pub bodies: Vec<[u32; 2]>,
}

/// The surfaces of a scene's bodies and what is near what.
pub struct FeatureSearch {
    /// Of each body where its surface is in `kinds`; `None` of half-spaces.
    of_body: Vec<Option<usize>>,
    kinds: Vec<SearchedSurface>,
    /// The edges of each triangle of those surfaces that are asked by their trees.
    sides: Vec<Option<Vec<[u32; 3]>>>,
    /// Middle and half extents of each in body coordinates [m].
    rest: Vec<Bounds>,
    /// Where the vertices of each begin among all, and at the end how many there are.
    first: Vec<u32>,
    traits: Vec<Traits>,
    joined: Vec<([u32; 2], Option<u32>)>,
    broad: BroadPhase,
    bounds: Vec<Bounds>,
    planes: Vec<HalfSpace>,
    chunks: Vec<Candidates>,
}

impl FeatureSearch {
    /// The surfaces of the bodies of a scene, round ones with so many sides.
    pub fn new(scene: &Scene, segments: u32) -> Self {
        Self::with_trees(scene, segments, MANY)
    }

    /// As [`Self::new`], with trees for surfaces of more than so many triangles, which only costs time or saves it.
    fn with_trees(scene: &Scene, segments: u32, many: usize) -> Self {
        let (of_body, kinds) = distinct_surfaces(scene, segments);
        let sides = |own: &SearchedSurface| {
            let asked = own.trees().is_some() && own.surface.triangles.len() > many;
            asked.then(|| near::sides(&own.surface))
        };
        let mut first = vec![0];
        let mut rest = Vec::with_capacity(of_body.len());
        for kind in &of_body {
            let own = kind.map(|kind| &kinds[kind]);
            let count = own.map_or(0, |own| own.surface.vertices.len() as u32);
            first.push(first[first.len() - 1] + count);
            let [low, high] = own.map_or([Vec3::zeros(); 2], |own| own.bounds);
            rest.push(Bounds { middle: (low + high) * 0.5, half: (high - low) * 0.5 });
        }
        Self {
            sides: kinds.iter().map(sides).collect(),
            of_body,
            kinds,
            rest,
            first,
            traits: scene.bodies.iter().map(Traits::of).collect(),
            joined: kept_apart(scene, Style::default(), scene.bodies.len()),
            broad: BroadPhase::new(),
            bounds: Vec::new(),
            planes: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// The surface of a body; none of a half-space.
    pub fn surface(&self, body: usize) -> Option<&Surface> {
        Some(&self.searched(body)?.surface)
    }

    fn searched(&self, body: usize) -> Option<&SearchedSurface> {
        Some(&self.kinds[(*self.of_body.get(body)?)?])
    }

    fn sides(&self, body: usize) -> Option<&[[u32; 3]]> {
        self.sides[self.of_body[body]?].as_deref()
    }

    /// Middle and half extents of the box around a body in its own coordinates [m]; a point for a half-space.
    pub fn rest_box(&self, body: usize) -> [Vec3; 2] {
        [self.rest[body].middle, self.rest[body].half]
    }

    /// Where the vertices of a body are among those of all.
    pub fn vertices(&self, body: usize) -> std::ops::Range<usize> {
        self.first[body] as usize..self.first[body + 1] as usize
    }

    /// The vertices of all bodies in their order, with the body and in its coordinates [m].
    pub fn rest_vertices(&self) -> impl Iterator<Item = (usize, Vec3)> {
        (0..self.of_body.len()).flat_map(|body| {
            let vertices = self.surface(body).map_or(&[][..], |surface| &surface.vertices);
            vertices.iter().map(move |x| (body, *x))
        })
    }

    /// Coefficients of static and of dynamic friction between two bodies.
    pub fn friction(&self, [a, b]: [u32; 2]) -> [f64; 2] {
        surface(&self.traits[a as usize], &self.traits[b as usize]).friction
    }

    /// The first body whose way was not finite, or left the space in which others are looked for, in the last search: it
    /// has no candidates.
    pub fn lost(&self) -> Option<usize> {
        let is_body = |i: usize| self.of_body[i].is_some();
        self.bounds.iter().enumerate().position(|(i, bounds)| is_body(i) && !bounds.is_sane())
    }

    /// Finds all pairs of features that may be nearer than `reach` [m] to each other anywhere on their way.
    ///
    /// `sweeps` has one motion for each body, those of half-spaces without a change of their frame, and `broken` says
    /// which joints hold no bodies apart any more.
    pub fn find(
        &mut self,
        sweeps: &[AffineSweep],
        broken: &[bool],
        reach: f64,
        out: &mut Candidates,
    ) {
        let pad = 0.5 * reach;
        self.bounds.clear();
        self.planes.clear();
        for (i, (sweep, rest)) in sweeps.iter().zip(&self.rest).enumerate() {
            if self.of_body[i].is_none() {
                let normal: Vec3 = sweep.frame.column(2).into();
                let margin = reach + sweep.position_move.norm();
                let centre = sweep.position;
                self.planes.push(HalfSpace { body: i as u32, centre, normal, margin, turn: 0.0 });
            }
            let mut bounds = sweep.at(0.0, rest).with(&sweep.at(1.0, rest));
            bounds.half.add_scalar_mut(pad);
            self.bounds.push(bounds);
        }
        let traits = &self.traits;
        let allowed = |a: u32, b: u32| traits[a as usize].may_touch(&traits[b as usize]);
        let close = self.broad.update(&self.bounds, &self.planes, allowed);
        out.bodies.clear();
        not_held(close, &self.joined, broken, &mut out.bodies);
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.resize_with(out.bodies.len().div_ceil(CHUNK), Candidates::default);
        let this: &Self = self;
        let work = |(chunk, pairs): (&mut Candidates, &[[u32; 2]])| {
            chunk.pairs.clear();
            chunk.planes.clear();
            pairs.iter().for_each(|&[a, b]| this.between(sweeps, [a, b], pad, chunk));
        };
        if rayon::current_num_threads() > 1 {
            chunks.par_iter_mut().zip(out.bodies.par_chunks(CHUNK)).for_each(work);
        } else {
            chunks.iter_mut().zip(out.bodies.chunks(CHUNK)).for_each(work);
        }
        out.pairs.clear();
        out.planes.clear();
        for chunk in &chunks {
            out.pairs.extend_from_slice(&chunk.pairs);
            out.planes.extend_from_slice(&chunk.planes);
        }
        self.chunks = chunks;
    }

    /// The pairs of two bodies.
    fn between(&self, sweeps: &[AffineSweep], [a, b]: [u32; 2], pad: f64, out: &mut Candidates) {
        let [i, j] = [a as usize, b as usize];
        let (mesh_a, mesh_b) = match (self.surface(i), self.surface(j)) {
            (Some(a), Some(b)) => (a, b),
            (Some(_), None) => return self.over_plane(sweeps, [i, j], pad, out),
            (None, Some(_)) => return self.over_plane(sweeps, [j, i], pad, out),
            (None, None) => return,
        };
        let shared = common(&corners(&self.bounds[i]), &corners(&self.bounds[j]));
        let [near_a, near_b] = [i, j].map(|body| self.near(&sweeps[body], body, pad, &shared));
        let [first_a, first_b] = [self.first[i], self.first[j]];
        let sides = [(a, first_a, &near_a), (b, first_b, &near_b)];
        for ([one, other], mesh) in [(sides, mesh_b), ([sides[1], sides[0]], mesh_a)] {
            let (features, bodies) = (Features::PointTriangle, [one.0, other.0]);
            meet(&one.2.vertices, &other.2.triangles, |p, t| {
                let [t0, t1, t2] = mesh.triangles[t as usize].map(|v| v + other.1);
                let vertices = [p + one.1, t0, t1, t2];
                out.pairs.push(FeaturePair { features, bodies, vertices });
            });
        }
        meet(&near_a.edges, &near_b.edges, |e, f| {
            let [a0, a1] = mesh_a.edges[e as usize].map(|v| v + first_a);
            let [b0, b1] = mesh_b.edges[f as usize].map(|v| v + first_b);
            let vertices = [a0, a1, b0, b1];
            out.pairs.push(FeaturePair { features: Features::EdgeEdge, bodies: [a, b], vertices });
        });
    }

    /// The vertices of body `i` that come near the half-space `j`.
    fn over_plane(
        &self,
        sweeps: &[AffineSweep],
        [i, j]: [usize; 2],
        pad: f64,
        out: &mut Candidates,
    ) {
        let Some(own) = self.searched(i) else { return };
        let (sweep, plane) = (&sweeps[i], &sweeps[j]);
        let normal: Vec3 = plane.frame.column(2).into();
        let reach = 2.0 * pad + plane.position_move.norm();
        let vertices = &own.surface.vertices;
        let mut offer = |v: u32| {
            let height =
                |share| normal.dot(&(sweep.point(share, &vertices[v as usize]) - plane.position));
            if height(0.0).min(height(1.0)) <= reach {
                let bodies = [i as u32, j as u32];
                out.planes.push(PlanePair { bodies, vertex: self.first[i] + v });
            }
        };
        match (own.trees(), self.sides(i)) {
            (None, _) | (_, None) => (0..vertices.len() as u32).for_each(offer),
            (Some([tree, ..]), Some(_)) => {
                let mut found = SweptTree::new(sweep, &self.rest[i]).below(
                    tree,
                    [&normal, &plane.position],
                    reach,
                );
                found.sort_unstable();
                found.into_iter().for_each(&mut offer);
            }
        }
    }

    /// The features of a body whose boxes reach into a shared one, in their order.
    fn near(&self, sweep: &AffineSweep, body: usize, pad: f64, shared: &SweptBox) -> NearFeatures {
        match self.searched(body) {
            None => NearFeatures::default(),
            Some(own) => {
                let swept = SweptTree::new(sweep, &self.rest[body]);
                match (own.trees(), self.sides(body)) {
                    (Some([.., tree]), Some(sides)) => {
                        NearFeatures::by_tree(&own.surface, (tree, sides), &swept, pad, shared)
                    }
                    _ => NearFeatures::of_all(&own.surface, &swept, pad, shared),
                }
            }
        }
    }

    /// Whether the surfaces of two bodies have a common point where motions begin: exactly, for vertices as they are
    /// rounded.
    pub fn intersect(&self, sweeps: &[AffineSweep], [a, b]: [u32; 2]) -> bool {
        let [i, j] = [a as usize, b as usize];
        let placed = |body: usize| {
            let sweep = &sweeps[body];
            let own = self.searched(body)?;
            let place = |x| sweep.point(0.0, x);
            Some((own, own.surface.vertices.iter().map(place).collect::<Vec<Vec3>>()))
        };
        let under = |vertices: &[Vec3], plane: usize| {
            let normal: Vec3 = sweeps[plane].frame.column(2).into();
            vertices.iter().any(|x| normal.dot(&(x - sweeps[plane].position)) <= 0.0)
        };
        match (placed(i), placed(j)) {
            (Some((one, first)), Some((other, second))) => {
                let of = |own, body: usize, vertices| {
                    let AffineSweep { position, frame, .. } = &sweeps[body];
                    PlacedSurface { own, position, frame, vertices }
                };
                let (first, second) = (of(one, i, &first[..]), of(other, j, &second[..]));
                count_meeting(&first, &second, &mut PairBuffers::default()) > 0
            }
            (Some((_, body)), None) => under(&body, j),
            (None, Some((_, body))) => under(&body, i),
            (None, None) => false,
        }
    }
}

impl AffineSweep {
    /// A body that stays.
    pub fn still(frame: Mat3, position: Vec3) -> Self {
        Self { frame, position, frame_move: Mat3::zeros(), position_move: Vec3::zeros() }
    }

    /// Where a point `x` [m] of the body is after a share of the motion [m].
    pub fn point(&self, share: f64, x: &Vec3) -> Vec3 {
        let place = self.frame * x + self.position;
        place + (self.frame_move * x + self.position_move) * share
    }

    /// The vertices of a surface at the start and their moves [m].
    pub fn place(&self, x: &Vec3) -> [V3<f64>; 2] {
        let place = self.frame * x + self.position;
        [place, self.frame_move * x + self.position_move].map(|x| V3(x.into()))
    }

    /// How far points of a body in the box with this middle and these half extents [m] are at most apart along one
    /// axis, after a share `u` of this motion and after a share `v` of another [m].
    pub fn offset(&self, u: f64, other: &Self, v: f64, [middle, half]: &[Vec3; 2]) -> f64 {
        let frame = (other.frame + other.frame_move * v) - (self.frame + self.frame_move * u);
        let shift = other.point(v, middle) - self.point(u, middle);
        (frame.abs() * half + shift.abs()).max()
    }

    /// The box around a body with the box `rest` in its coordinates after a share of the motion.
    fn at(&self, share: f64, rest: &Bounds) -> Bounds {
        let frame = self.frame + self.frame_move * share;
        Bounds { middle: self.point(share, &rest.middle), half: frame.abs() * rest.half }
    }
}

/// Tells all pairs of overlapping boxes of two lists.
fn meet(a: &[(u32, SweptBox)], b: &[(u32, SweptBox)], mut tell: impl FnMut(u32, u32)) {
    if a.len() * b.len() <= PLAIN {
        for (m, first) in a {
            b.iter().filter(|(_, other)| overlap(first, other)).for_each(|(n, _)| tell(*m, *n));
        }
        return;
    }
    let axis = longest(a);
    let (first, second) = (along(a, axis), along(b, axis));
    let (mut i, mut j) = (0, 0);
    // Whichever box begins first meets those that begin before it ends.
    while let (Some((m, one)), Some((n, other))) = (first.get(i), second.get(j)) {
        if one[0][axis] <= other[0][axis] {
            let beside = second[j..].iter().take_while(|(_, with)| with[0][axis] <= one[1][axis]);
            beside.filter(|(_, with)| overlap(one, with)).for_each(|(n, _)| tell(*m, *n));
            i += 1;
        } else {
            let beside = first[i..].iter().take_while(|(_, with)| with[0][axis] <= other[1][axis]);
            beside.filter(|(_, with)| overlap(other, with)).for_each(|(m, _)| tell(*m, *n));
            j += 1;
        }
    }
}

/// Boxes in the order in which they begin along an axis.
fn along(list: &[(u32, SweptBox)], axis: usize) -> Vec<(u32, SweptBox)> {
    // Whole numbers in the order of `total_cmp`, with the place in the list for equal ones: sorting them is faster than
    // to compare by looking up boxes.
    let key = |x: f64| {
        let bits = x.to_bits() as i64;
        bits ^ (bits >> 63 & i64::MAX)
    };
    let mut order: Vec<(i64, u32)> =
        list.iter().zip(0..).map(|((_, corners), n)| (key(corners[0][axis]), n)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, n)| list[n as usize]).collect()
}

/// The axis along which the middles of some boxes spread most.
fn longest(list: &[(u32, SweptBox)]) -> usize {
    let spread = |axis: usize| {
        let middles = list.iter().map(|(_, corners)| corners[0][axis] + corners[1][axis]);
        let (low, high) = middles
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}
