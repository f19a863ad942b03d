//! Two surfaces where their bodies have them: how many of their triangles meet, and how far apart they are.

use std::cell::Cell;

use taut_core::{Mat3, Scene, Vec3, scene::Shape};
use taut_ipc::{
    distance::{edge_edge, point_triangle},
    intersect::triangles_intersect,
};
use taut_math::V3;

use crate::{Surface, SurfaceTree, rest_box};

/// Features that number no more are looked at one by one: asking a tree costs more.
const FEW: usize = 64;

/// Lowest and highest corner of a box with world axes [m].
pub(crate) type Corners = [Vec3; 2];

/// The surface of a shape with what finds its features; bodies of one shape share it.
#[derive(Clone, Debug)]
pub(crate) struct SearchedSurface {
    pub(crate) surface: Surface,
    /// The box around it, in body coordinates.
    pub(crate) bounds: Corners,
    /// Of vertices, edges and triangles; `None` of surfaces with few of them.
    trees: Option<[SurfaceTree; 3]>,
}

/// A surface with its vertices in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedSurface<'a> {
    pub(crate) own: &'a SearchedSurface,
    /// Where its body's points are: `position + frame * rest` [m].
    pub(crate) position: &'a Vec3,
    pub(crate) frame: &'a Mat3,
    /// Its vertices in the world [m].
    pub(crate) vertices: &'a [Vec3],
}

/// Features of two surfaces near each other, with their boxes.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairBuffers {
    near: [Vec<(u32, Corners)>; 2],
    found: Vec<u32>,
}

impl PairBuffers {
    /// Visits pairs of a feature of each surface whose boxes may be no farther than `reach` [m] apart, which the
    /// visit may lessen.
    fn visit(
        &mut self,
        [a, b]: [&PlacedSurface<'_>; 2],
        kinds: [usize; 2],
        reach: &Cell<f64>,
        mut visit: impl FnMut(u32, u32),
    ) {
        if let (Some(of_a), Some(of_b)) = (&a.own.trees, &b.own.trees) {
            let frames = [(a.position, a.frame), (b.position, b.frame)];
            return of_a[kinds[0]].visit_pairs(&of_b[kinds[1]], frames, reach, visit);
        }
        let Self { near: [of_a, of_b], found } = self;
        a.near(kinds[0], &b.bounds(), reach.get(), found, of_a);
        let Some(bounds) = joint_box(of_a) else { return };
        b.near(kinds[1], &bounds, reach.get(), found, of_b);
        for (i, bounds) in &*of_a {
            for (j, other) in &*of_b {
                if squared_gap(bounds, other) <= reach.get() * reach.get() {
                    visit(*i, *j);
                }
            }
        }
    }
}

impl SearchedSurface {
    pub(crate) fn new(surface: Surface) -> Self {
        let trees = (surface.triangles.len() > FEW).then(|| {
            [
                SurfaceTree::of_vertices(&surface),
                SurfaceTree::of_edges(&surface),
                SurfaceTree::of_triangles(&surface),
            ]
        });
        Self { bounds: surface.bounds(), surface, trees }
    }

    /// The trees of vertices, edges and triangles, where these are many.
    pub(crate) fn trees(&self) -> Option<&[SurfaceTree; 3]> {
        self.trees.as_ref()
    }
}

/// Of each body which surface it has, if any, and these: bodies of one shape share it.
pub(crate) fn distinct_surfaces(
    scene: &Scene,
    segments: u32,
) -> (Vec<Option<usize>>, Vec<SearchedSurface>) {
    let mut kinds: Vec<SearchedSurface> = vec![];
    let mut shapes: Vec<(&Shape, usize)> = vec![];
    let mut of_body = vec![];
    for body in &scene.bodies {
        // Scenes repeat few shapes many times, or have many that are all different.
        let known = shapes.iter().rev().take(16).find(|(shape, _)| **shape == body.shape);
        let kind = match known {
            Some((_, kind)) => Some(*kind),
            None => Surface::new(&body.shape, segments).map(|surface| {
                kinds.push(SearchedSurface::new(surface));
                shapes.push((&body.shape, kinds.len() - 1));
                kinds.len() - 1
            }),
        };
        of_body.push(kind);
    }
    (of_body, kinds)
}

impl PlacedSurface<'_> {
    fn point(&self, vertex: u32) -> Vec3 {
        self.vertices[vertex as usize]
    }

    /// The corners of a triangle [m].
    fn triangle(&self, index: u32) -> [Vec3; 3] {
        self.own.surface.triangles[index as usize].map(|vertex| self.point(vertex))
    }

    /// The ends of an edge [m].
    fn edge(&self, index: u32) -> [Vec3; 2] {
        self.own.surface.edges[index as usize].map(|vertex| self.point(vertex))
    }

    /// Square of the distance of two features [m²]: of a vertex and a triangle, or of two edges.
    fn squared_distance(&self, i: u32, other: &Self, j: u32, kinds: [usize; 2]) -> f64 {
        if kinds == [1, 1] {
            let ([p, q], [r, s]) = (self.edge(i), other.edge(j));
            return edge_edge(&[p, q, r, s].map(number)).squared;
        }
        let [p, q, r] = other.triangle(j).map(number);
        point_triangle(&[number(self.point(i)), p, q, r]).squared
    }

    /// The box around it.
    pub(crate) fn bounds(&self) -> Corners {
        around(self.vertices)
    }

    /// Writes the features of one `kind` whose boxes are no farther than `reach` [m] from a box: vertices, edges or
    /// triangles, as trees have them.
    fn near(
        &self,
        kind: usize,
        [low, high]: &Corners,
        reach: f64,
        found: &mut Vec<u32>,
        near: &mut Vec<(u32, Corners)>,
    ) {
        let Surface { vertices, edges, triangles } = &self.own.surface;
        let count = [vertices.len(), edges.len(), triangles.len()][kind];
        near.clear();
        let mut offer = |i: u32| {
            let bounds = match kind {
                0 => around(&[self.point(i)]),
                1 => around(&self.edge(i)),
                _ => around(&self.triangle(i)),
            };
            if squared_gap(&bounds, &[*low, *high]) <= reach * reach {
                near.push((i, bounds));
            }
        };
        let Some(trees) = &self.own.trees else { return (0..count as u32).for_each(offer) };
        let (low, high) = (low.add_scalar(-reach), high.add_scalar(reach));
        let [low, high] = rest_box(self.position, self.frame, &low, &high);
        found.clear();
        trees[kind].visit(&low, &high, |i| found.push(i));
        found.iter().for_each(|&i| offer(i));
    }
}

/// The box around points.
pub(crate) fn around(points: &[Vec3]) -> Corners {
    let none = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    points.iter().fold(none, |[low, high], p| [low.inf(p), high.sup(p)])
}

/// Square of the distance of two boxes [m²]; zero where they meet.
pub(crate) fn squared_gap([low, high]: &Corners, [from, to]: &Corners) -> f64 {
    let apart = (low - to).sup(&(from - high)).sup(&Vec3::zeros());
    apart.dot(&apart)
}

/// How many pairs of a triangle of `a` and one of `b` have a common point.
pub(crate) fn count_meeting(
    a: &PlacedSurface<'_>,
    b: &PlacedSurface<'_>,
    buffers: &mut PairBuffers,
) -> usize {
    let mut count = 0;
    buffers.visit([a, b], [2, 2], &Cell::new(0.0), |i, j| {
        let [first, second] = [a.triangle(i), b.triangle(j)].map(|t| t.map(Into::into));
        count += usize::from(triangles_intersect(&first, &second));
    });
    count
}

/// The least distance of two surfaces [m], where it is less than `bound`; otherwise `bound`.
pub(crate) fn least_distance(
    a: &PlacedSurface<'_>,
    b: &PlacedSurface<'_>,
    bound: f64,
    buffers: &mut PairBuffers,
) -> f64 {
    // Any two points bound it, so that few features are near enough to be looked at.
    let apart = |one: &PlacedSurface<'_>, other: &PlacedSurface<'_>| {
        let from = one.vertices.iter().zip(other.vertices.first());
        from.map(|(v, w)| (v - w).norm()).fold(f64::INFINITY, f64::min)
    };
    let least = Cell::new(if bound.is_finite() { bound } else { apart(a, b).min(apart(b, a)) });
    // In both orders vertices of one over triangles of the other, then edges.
    for (first, second, kinds) in [(a, b, [0, 2]), (b, a, [0, 2]), (a, b, [1, 1])] {
        buffers.visit([first, second], kinds, &least, |i, j| {
            let own = first.squared_distance(i, second, j, kinds).sqrt();
            least.set(least.get().min(own));
        });
    }
    least.get()
}

fn number(v: Vec3) -> V3<f64> {
    V3(v.into())
}

/// The box around some features; `None` of none.
fn joint_box(features: &[(u32, Corners)]) -> Option<Corners> {
    let boxes = features.iter().map(|(_, bounds)| *bounds);
    boxes.reduce(|[low, high], [from, to]| [low.inf(&from), high.sup(&to)])
}
