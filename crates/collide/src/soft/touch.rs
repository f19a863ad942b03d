//! A particle over a triangle of others, and an edge over an edge: how far apart, and on which side.
//!
//! A solid has an inside: what is in it is pushed out through its nearest face. A sheet has none: what touches it is
//! on the side on which it was when the two last touched, or, where they meet for the first time, on the side on
//! which it is. Where they meet closer than their thickness allows, the side is that of what is beside them; no
//! farther away, since of a fold both wings are beside each other, and one is behind the other.
//!
//! Beside a triangle a particle may be over an edge or a corner of it, which is then nearest; but not over the rim of
//! a sheet.

use taut_core::{Placement, Vec3};

use super::surface::{SoftEdge, SoftFace, SoftSurface};
use crate::{
    contact::NONE,
    face::barycentric,
    nearest::{crossing, on_polygon},
    solid,
};

/// A direction counts at an edge where the triangles beside it rise along it by no more than that [sine]. They do
/// where a sheet lies in folds.
const RISE: f64 = 0.25;
/// A direction tells inside from outside where it leans no farther than that from the normals beside an edge
/// [cosine].
const UPRIGHT: f64 = 0.05;
/// Edges are through each other by no more than that share of the shorter one; what is deeper, corners tell.
const THROUGH: f64 = 0.5;

/// Where particles are, and how thick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftState<'a> {
    /// Of bodies, then particles.
    pub(crate) placements: &'a [Placement],
    /// Of particles [m].
    pub(crate) radii: &'a [Option<f64>],
    pub(crate) surface: &'a SoftSurface,
}

/// A point between two surfaces, and the sides that its normal points from and to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftPoint {
    /// Unit vector from B to A.
    pub(crate) up: Vec3,
    /// Distance of the surfaces along it [m].
    pub(crate) gap: f64,
    /// Shares of the corners of A, then of B.
    pub(crate) shares: [[f64; 3]; 2],
    /// Of a triangle, whether A is at the front of its sheet, or outside of its solid.
    pub(crate) front: bool,
}

/// What is known of the side of a pair: of a triangle whether the front, of edges the normal from B to A.
pub(crate) trait SideMemory<T> {
    /// From when the pair last touched.
    fn own(&self) -> Option<T>;
    /// From what is beside it.
    fn beside(&self) -> Option<T>;
}

/// The side of a pair that is remembered; that of what is beside it counts only where the two are `thin` apart.
fn recall<T>(memory: &impl SideMemory<T>, thin: bool) -> Option<T> {
    memory.own().or_else(|| memory.beside().filter(|_| thin))
}

impl SoftState<'_> {
    pub(crate) fn at(&self, node: u32) -> Vec3 {
        self.placements[node as usize].position
    }

    fn radius(&self, node: u32) -> f64 {
        self.radii[(node - self.surface.first) as usize].unwrap_or(0.0)
    }

    /// A particle straight over or under a triangle, or over its edges.
    pub(crate) fn over_face(
        &self,
        node: u32,
        face: usize,
        memory: &impl SideMemory<bool>,
    ) -> Option<SoftPoint> {
        let whole = &self.surface.faces[face];
        let SoftFace { corners, behind, .. } = *whole;
        let places = corners.map(|corner| self.at(corner));
        let (point, normal) = (self.at(node), solid::normal(&places));
        let height = normal.dot(&(point - places[0]));
        let Some(weights) = barycentric(&places, &(point - normal * height)) else {
            return self.over_ridge(node, face, &places, memory);
        };
        let thick: f64 = (0..3).map(|k| weights[k] * self.radius(corners[k])).sum();
        let thick = self.radius(node) + thick;
        let faces_front = self.surface.faces_front(face);
        let (outer, front) = if behind == NONE {
            let kept = recall(memory, height.abs() <= thick);
            let front = kept.unwrap_or((height >= 0.0) == faces_front);
            (front == faces_front, front)
        } else {
            if height < 0.0 && !self.is_within(node, &point, height, &places, whole) {
                return None;
            }
            (true, height >= 0.0)
        };
        let (up, apart) = if outer { (normal, height) } else { (-normal, -height) };
        let (gap, shares) = (apart - thick, [[1.0, 0.0, 0.0], weights]);
        Some(SoftPoint { up, gap, shares, front })
    }

    /// A particle over an edge or a corner of a triangle, in front of the side of its plane that is `kept` or outside.
    /// Other triangles may be nearer.
    fn over_ridge(
        &self,
        node: u32,
        face: usize,
        places: &[Vec3; 3],
        memory: &impl SideMemory<bool>,
    ) -> Option<SoftPoint> {
        let (whole, point, normal) =
            (&self.surface.faces[face], self.at(node), solid::normal(places));
        let height = normal.dot(&(point - places[0]));
        let (solid, faces_front) = (whole.behind != NONE, self.surface.faces_front(face));
        let front = if solid { true } else { (height >= 0.0) == faces_front };
        let (on, _) = on_polygon(places, &normal, &point);
        let weights = barycentric(places, &on)?;
        let at_rim = |m: usize| weights[m] <= 0.0 && whole.beside[(m + 1) % 3] == NONE;
        let outside = if solid {
            height > 0.0 && !self.surface.joins(node, whole.behind)
        } else {
            let next =
                |k: usize| weights[k] > 0.0 && self.surface.are_linked(node, whole.corners[k]);
            !(0..3).any(|k| at_rim(k) || next(k)) && memory.own().is_none_or(|kept| kept == front)
        };
        let up = (point - on).try_normalize(0.0).filter(|_| outside)?;
        let thick: f64 = (0..3).map(|k| weights[k] * self.radius(whole.corners[k])).sum();
        let gap = up.dot(&(point - on)) - self.radius(node) - thick;
        Some(SoftPoint { up, gap, shares: [[1.0, 0.0, 0.0], weights], front })
    }

    /// Whether a particle under a face of a solid, whose height is negative, is in it: no deeper than the tetrahedron
    /// behind the face reaches, and not beyond a face beside it. One of the same solid must be within that
    /// tetrahedron, since its own neighbours are beside it at all times.
    fn is_within(
        &self,
        node: u32,
        point: &Vec3,
        height: f64,
        places: &[Vec3; 3],
        face: &SoftFace,
    ) -> bool {
        let (normal, inner) = (solid::normal(places), self.at(face.behind));
        if height < normal.dot(&(inner - places[0])) {
            return false;
        }
        if self.surface.joins(node, face.behind) {
            let within = |k: usize| {
                let side = (places[(k + 1) % 3] - places[k]).cross(&(inner - places[k]));
                side.dot(&(point - places[k])) <= 0.0
            };
            return (0..3).all(within);
        }
        let beyond = |k: usize| {
            let other = self.surface.faces.get(face.beside[k] as usize);
            other.is_some_and(|other| {
                let corners = other.corners.map(|corner| self.at(corner));
                let (up, origin) = (solid::normal(&corners), places[k]);
                let bends_down = up.dot(&(places[(k + 2) % 3] - origin)) < 0.0;
                bends_down && up.dot(&(point - origin)) > 0.0
            })
        };
        !(0..3).any(beyond)
    }

    /// Two edges, between their ends.
    pub(crate) fn over_edge(
        &self,
        a: usize,
        b: usize,
        memory: &impl SideMemory<Vec3>,
    ) -> Option<SoftPoint> {
        let edges = [a, b].map(|e| self.surface.edges[e]);
        let places = edges.map(|edge| edge.ends.map(|end| self.at(end)));
        let [u, v] = places.map(|[p, q]| q - p);
        let (mut up, shares) = crossing(&places[0], &places[1])?;
        let between = (places[0][0] + u * shares[0]) - (places[1][0] + v * shares[1]);
        let outward = self.outward(&edges[1]) - self.outward(&edges[0]);
        let solid = outward.dot(&up).abs() > UPRIGHT;
        let mean = |k: usize| {
            let [r, s] = edges[k].ends.map(|end| self.radius(end));
            r + (s - r) * shares[k]
        };
        let thick = mean(0) + mean(1);
        let kept = || recall(memory, between.norm() <= thick);
        let along = if solid { outward } else { kept().unwrap_or(between) };
        if along.dot(&up) < 0.0 {
            up = -up;
        }
        let apart = up.dot(&between);
        if apart < -THROUGH * u.norm().min(v.norm()) {
            return None;
        }
        if self.rises(&edges[0], &places[0][0], &-up) || self.rises(&edges[1], &places[1][0], &up) {
            return None;
        }
        let gap = apart - thick;
        Some(SoftPoint { up, gap, shares: shares.map(|t| [1.0 - t, t, 0.0]), front: false })
    }

    /// Sum of the outward normals of a solid beside an edge; nothing at a sheet.
    fn outward(&self, edge: &SoftEdge) -> Vec3 {
        let faces = edge.faces.iter().filter_map(|&face| self.surface.faces.get(face as usize));
        let solid = faces.filter(|face| face.behind != NONE);
        solid.map(|face| solid::normal(&face.corners.map(|corner| self.at(corner)))).sum()
    }

    /// Whether a triangle beside an edge from `origin` rises along a direction, so that the edge is not what is
    /// nearest to what is there.
    fn rises(&self, edge: &SoftEdge, origin: &Vec3, up: &Vec3) -> bool {
        let faces = edge.faces.iter().filter_map(|&face| self.surface.faces.get(face as usize));
        let mut beside = faces.flat_map(|face| face.corners).filter(|c| !edge.ends.contains(c));
        beside.any(|corner| {
            let way = self.at(corner) - origin;
            up.dot(&way) > RISE * way.norm()
        })
    }
}
