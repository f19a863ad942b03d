//! Whether surfaces of bodies meet in a state, and how far they are apart: pure functions of scene and state.
//!
//! Bodies are where their frames have them, stretched and sheared as an affine solver left them. What is looked at
//! are the polyhedra of [`Surface`], whatever shapes a solver knows, and half-spaces as they are. Whether triangles
//! meet is decided exactly on vertices as they are rounded; of a half-space the height of a vertex is what counts,
//! as it is rounded. Only pairs that may touch count: not those of one group, nor of two bodies that forces do not
//! move, nor those that an unbroken joint connects. Particles are not looked at.

use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy},
};
use taut_core::{Scene, State, Vec3, scene::Shape, state::BodyState};

use crate::{
    Style, Surface,
    broad::{Bounds, BroadPhase, HalfSpace},
    detect::joined,
    surface_pair::{
        Corners, PairBuffers, PlacedSurface, SearchedSurface, count_meeting, distinct_surfaces,
        least_distance, squared_gap,
    },
    traits::Traits,
};

/// Boxes grow by this share of their numbers [1], more than they are rounded by.
const SLACK: f64 = 1e-12;
/// Every time that nothing is found, bodies so many times farther apart are looked at.
const WIDER: f64 = 4.0;
/// Bodies farther away than this are lost [m].
const FAR: f64 = 1e12;

/// What meets in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceMeetings {
    /// Number of pairs of triangles of two bodies that have a common point, and of triangles with a vertex on or
    /// under the plane of a half-space.
    pub intersections: usize,
    /// Number of bodies that take part in any of these, half-spaces and unmoved bodies included.
    pub bodies: usize,
}

/// Looks at the surfaces in states of one scene; keeps its buffers from state to state, and nothing else.
#[derive(Clone, Debug)]
pub struct SurfaceProbe {
    /// Of each body where its surface is in `kinds`; `None` of half-spaces and of what has none.
    of_body: Vec<Option<usize>>,
    kinds: Vec<SearchedSurface>,
    /// Indices of half-spaces.
    planes: Vec<u32>,
    traits: Vec<Traits>,
    /// Sorted pairs that joints keep from touching, with the joint.
    joined: Vec<([u32; 2], Option<u32>)>,
    margin: f64,
    broad: BroadPhase,
    bounds: Vec<Bounds>,
    flat: Vec<HalfSpace>,
    /// Vertices in the world of those bodies that were asked for, and where those of each begin.
    vertices: Vec<Vec3>,
    begins: Vec<usize>,
    buffers: PairBuffers,
    meets: Vec<bool>,
}

/// No vertices yet.
const UNKNOWN: usize = usize::MAX;

impl SurfaceProbe {
    /// For states of a scene; `None` where nothing has contacts.
    pub fn new(scene: &Scene) -> Option<Self> {
        Self::with_segments(scene, Surface::SEGMENTS)
    }

    /// The same where what is round has so many sides.
    pub fn with_segments(scene: &Scene, segments: u32) -> Option<Self> {
        let contacts = scene.contacts?;
        let (of_body, kinds) = distinct_surfaces(scene, segments);
        let flat = |(i, body): (u32, &taut_core::scene::Body)| {
            matches!(body.shape, Shape::HalfSpace).then_some(i)
        };
        Some(Self {
            of_body,
            kinds,
            planes: (0..).zip(&scene.bodies).filter_map(flat).collect(),
            traits: scene.bodies.iter().map(Traits::of).collect(),
            joined: joined(scene, Style::Common),
            margin: contacts.margin,
            broad: BroadPhase::new(),
            bounds: vec![],
            flat: vec![],
            vertices: vec![],
            begins: vec![],
            buffers: PairBuffers::default(),
            meets: vec![],
        })
    }

    /// What meets in a state.
    pub fn meetings(&mut self, state: &State) -> SurfaceMeetings {
        let pairs = self.close_pairs(state);
        self.count(state, &pairs)
    }

    /// The least distance of two bodies' surfaces [m]; zero where any meet. `None` where no two bodies may touch.
    pub fn distance_min_m(&mut self, state: &State) -> Option<f64> {
        let pairs = self.close_pairs(state);
        if self.count(state, &pairs).intersections > 0 {
            return Some(0.0);
        }
        // All pairs within the margin are among these.
        let near = self.least(state, pairs, f64::INFINITY);
        let least = if near <= self.margin { near } else { self.least_of_all(state, near) };
        least.is_finite().then_some(least)
    }

    /// The first pairs of bodies, at most so many, whose surfaces meet or are nearer than `within` [m], which is no more
    /// than the margin.
    pub fn touching(&mut self, state: &State, within: f64, most: usize) -> Vec<[u32; 2]> {
        let pairs = self.close_pairs(state);
        let touches = |pair: &[u32; 2]| {
            self.count(state, &[*pair]).intersections > 0
                || self.least(state, vec![*pair], within) < within
        };
        pairs.into_iter().filter(touches).take(most).collect()
    }

    /// Pairs of bodies that may touch whose boxes are within the margin, sorted.
    fn close_pairs(&mut self, state: &State) -> Vec<[u32; 2]> {
        self.vertices.clear();
        self.begins.clear();
        self.begins.resize(self.of_body.len(), UNKNOWN);
        self.bounds.clear();
        let reach = 0.5 * self.margin;
        for (kind, body) in self.of_body.iter().zip(&state.bodies) {
            let bounds = kind.map(|kind| bounds(&self.kinds[kind].bounds, body));
            // What has no surface has no box either.
            let none = Bounds { middle: Vec3::zeros(), half: Vec3::repeat(f64::INFINITY) };
            self.bounds.push(bounds.map_or(none, |bounds| grown(&bounds, reach)));
        }
        self.flat.clear();
        self.flat.extend(self.planes.iter().map(|&i| {
            let body = &state.bodies[i as usize];
            let normal = up(body);
            HalfSpace { body: i, centre: body.position, normal, margin: self.margin, turn: 0.0 }
        }));
        let traits = &self.traits;
        let allowed = |a: u32, b: u32| traits[a as usize].may_touch(&traits[b as usize]);
        let pairs = self.broad.update(&self.bounds, &self.flat, allowed).to_vec();
        pairs.into_iter().filter(|pair| !self.held(*pair, state)).collect()
    }

    /// Whether a joint that has not broken keeps two bodies from touching.
    fn held(&self, pair: [u32; 2], state: &State) -> bool {
        let first = self.joined.partition_point(|(other, _)| *other < pair);
        let own = self.joined[first..].iter().take_while(|(other, _)| *other == pair);
        let broken = |joint: u32| state.broken.get(joint as usize).is_some_and(|&broken| broken);
        own.into_iter().any(|(_, joint)| joint.is_none_or(|joint| !broken(joint)))
    }

    fn count(&mut self, state: &State, pairs: &[[u32; 2]]) -> SurfaceMeetings {
        self.meets.clear();
        self.meets.resize(self.of_body.len(), false);
        let mut intersections = 0;
        for &[a, b] in pairs {
            let found = match self.plane_of([a, b]) {
                Some((plane, body)) => self.count_under(state, plane, body),
                None => {
                    self.place(state, a);
                    self.place(state, b);
                    let mut buffers = std::mem::take(&mut self.buffers);
                    let [a, b] = [a, b].map(|i| self.placed(state, i));
                    let found = count_meeting(&a, &b, &mut buffers);
                    self.buffers = buffers;
                    found
                }
            };
            if found > 0 {
                intersections += found;
                self.meets[a as usize] = true;
                self.meets[b as usize] = true;
            }
        }
        SurfaceMeetings { intersections, bodies: self.meets.iter().filter(|meets| **meets).count() }
    }

    /// The half-space of a pair, and the other.
    fn plane_of(&self, [a, b]: [u32; 2]) -> Option<(u32, u32)> {
        let has = |i: u32| self.of_body[i as usize].is_some();
        match (has(a), has(b)) {
            (true, true) => None,
            (false, _) => Some((a, b)),
            (_, false) => Some((b, a)),
        }
    }

    /// How many triangles of a body have a vertex on or under a plane.
    fn count_under(&mut self, state: &State, plane: u32, body: u32) -> usize {
        self.place(state, body);
        let (plane, placed) = (&state.bodies[plane as usize], self.placed(state, body));
        let normal = up(plane);
        let under = |v: &u32| normal.dot(&(placed.vertices[*v as usize] - plane.position)) <= 0.0;
        let triangles = placed.own.surface.triangles.iter();
        triangles.filter(|corners| corners.iter().any(under)).count()
    }

    /// The least distance of pairs [m], or `bound` where none is closer; looks at those with near boxes first.
    fn least(&mut self, state: &State, pairs: Vec<[u32; 2]>, bound: f64) -> f64 {
        let mut ordered = vec![];
        for pair in pairs {
            let squared = match self.plane_of(pair) {
                Some(_) => 0.0,
                None => {
                    let [a, b] = pair.map(|i| corners(&self.bounds[i as usize]));
                    squared_gap(&a, &b)
                }
            };
            ordered.push((squared, pair));
        }
        ordered.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut least = bound;
        let mut buffers = std::mem::take(&mut self.buffers);
        for (squared, [a, b]) in ordered {
            if squared >= least * least {
                break;
            }
            least = match self.plane_of([a, b]) {
                Some((plane, body)) => least.min(self.height(state, plane, body)),
                None => {
                    self.place(state, a);
                    self.place(state, b);
                    let [a, b] = [a, b].map(|i| self.placed(state, i));
                    least_distance(&a, &b, least, &mut buffers)
                }
            };
        }
        self.buffers = buffers;
        least
    }

    /// How far a body is above a half-space [m]; not less than zero.
    fn height(&mut self, state: &State, plane: u32, body: u32) -> f64 {
        self.place(state, body);
        let (plane, placed) = (&state.bodies[plane as usize], self.placed(state, body));
        let normal = up(plane);
        let heights = placed.vertices.iter().map(|v| normal.dot(&(v - plane.position)));
        heights.fold(f64::INFINITY, f64::min).max(0.0)
    }

    /// The least distance of any two bodies [m], or `bound`: those within a radius are looked at, and within a wider
    /// one until the least is not beyond it.
    fn least_of_all(&mut self, state: &State, bound: f64) -> f64 {
        let mut least = bound;
        let sane =
            |bounds: &Bounds| bounds.middle.iter().chain(&bounds.half).all(|x| x.abs() < FAR);
        let known: Vec<u32> =
            (0..).zip(&self.bounds).filter(|(_, b)| sane(b)).map(|(i, _)| i).collect();
        for plane in self.planes.clone() {
            for &body in &known {
                let pair = [plane.min(body), plane.max(body)];
                if self.may_touch(pair, state) {
                    least = least.min(self.height(state, plane, body));
                }
            }
        }
        let boxes: Vec<Aabb> = known.iter().map(|&i| aabb(&self.bounds[i as usize])).collect();
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let all = tree.root_aabb();
        let size = if known.is_empty() { 0.0 } else { (all.maxs - all.mins).length() };
        let mut radius = self.margin.max(1e-3 * size);
        loop {
            let within = radius.min(least);
            let near = tree.leaf_pairs(&tree, |a, b| {
                let [a, b] = [a, b].map(|node| [node.mins(), node.maxs()].map(vector));
                squared_gap(&a, &b) <= within * within
            });
            let pairs = near.filter(|(a, b)| a < b).map(|(a, b)| [a, b].map(|i| known[i as usize]));
            let pairs: Vec<[u32; 2]> = pairs.filter(|pair| self.may_touch(*pair, state)).collect();
            least = self.least(state, pairs, least);
            if least <= radius || radius > size {
                return least;
            }
            radius *= WIDER;
        }
    }

    fn may_touch(&self, [a, b]: [u32; 2], state: &State) -> bool {
        let [one, other] = [a, b].map(|i| &self.traits[i as usize]);
        one.may_touch(other) && !self.held([a, b], state)
    }

    /// Finds the vertices of a body in the world, where it has a surface.
    fn place(&mut self, state: &State, body: u32) {
        let i = body as usize;
        if let (Some(kind), UNKNOWN) = (self.of_body[i], self.begins[i]) {
            self.begins[i] = self.vertices.len();
            let own = &self.kinds[kind].surface.vertices;
            self.vertices.extend(own.iter().map(|v| state.bodies[i].point(v)));
        }
    }

    /// The surface of a body that has one, placed before.
    fn placed<'a>(&'a self, state: &'a State, body: u32) -> PlacedSurface<'a> {
        let i = body as usize;
        let own = &self.kinds[self.of_body[i].expect("only bodies with surfaces are in pairs")];
        let begin = self.begins[i];
        let BodyState { position, frame, .. } = &state.bodies[i];
        let vertices = &self.vertices[begin..begin + own.surface.vertices.len()];
        PlacedSurface { own, position, frame, vertices }
    }
}

/// Outward unit normal of a half-space.
fn up(body: &BodyState) -> Vec3 {
    let axis = body.frame.column(2).into_owned();
    axis.try_normalize(0.0).unwrap_or(axis)
}

/// The box with world axes around a surface's box in body axes.
fn bounds([low, high]: &Corners, body: &BodyState) -> Bounds {
    let half = body.frame.abs() * ((high - low) * 0.5);
    Bounds { middle: body.point(&((low + high) * 0.5)), half }
}

fn grown(bounds: &Bounds, reach: f64) -> Bounds {
    let slack = SLACK * (bounds.middle.amax() + bounds.half.amax());
    Bounds { middle: bounds.middle, half: bounds.half.add_scalar(reach + slack) }
}

fn corners(bounds: &Bounds) -> Corners {
    [bounds.middle - bounds.half, bounds.middle + bounds.half]
}

fn aabb(bounds: &Bounds) -> Aabb {
    let [low, high] = corners(bounds).map(|v| Vector::new(v.x, v.y, v.z));
    Aabb::new(low, high)
}

fn vector(v: Vector) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}
