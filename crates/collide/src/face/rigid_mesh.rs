//! Contacts of a surface of triangles that is rigid with a triangle of particles: its corners over that, and its
//! edges over those of that. Corners of the triangle are particles, which find the surface by themselves.
//!
//! Only the front of the surface pushes, so that a triangle is before it; and since it may have no inside, no
//! farther behind it than it may have come in a step.

use taut_core::Vec3;

use super::{FacePoint, FaceScratch, FaceSide, RISE, UPRIGHT, barycentric};
use crate::{
    mesh::{LEAN, Mesh},
    name::{name, sort},
    nearest::crossing,
    solid,
    transform::Transform,
};

/// The triangle that the surface meets, in the frame of the pair.
pub(super) struct MetTriangle<'a> {
    pub(super) side: &'a FaceSide<'a>,
    pub(super) corners: &'a [Vec3; 3],
    /// The corners beside its edges.
    pub(super) across: &'a [Option<Vec3>; 3],
    /// Points closer than this are of interest [m].
    pub(super) reach: f64,
}

impl FaceScratch {
    /// Finds the points of a surface that are close to a triangle of particles.
    pub(super) fn over_mesh(&mut self, mesh: &Mesh, own: &Transform, facing: &MetTriangle<'_>) {
        let thick = facing.side.radii.into_iter().fold(0.0, f64::max);
        let near = facing.reach + thick;
        let mut triangles = std::mem::take(&mut self.triangles);
        mesh.within(&facing.corners.map(|corner| own.local(&corner)), near, &mut triangles);
        self.seen.clear();
        for &t in &triangles {
            for k in 0..3 {
                let corner = mesh.triangles[t as usize].corners[k];
                if !self.seen.contains(&corner) {
                    self.seen.push(corner);
                    self.over_corner(mesh, own, facing, &triangles, (t, k), near);
                }
            }
        }
        for &t in &triangles {
            for k in (0..3).filter(|&k| mesh.triangles[t as usize].bend[k] > LEAN) {
                self.over_ridge(mesh, own, facing, (t, k), near);
            }
        }
        self.triangles = triangles;
    }

    /// A corner of the surface straight over the triangle; `near` are the triangles of the surface around.
    fn over_corner(
        &mut self,
        mesh: &Mesh,
        own: &Transform,
        facing: &MetTriangle<'_>,
        triangles: &[u32],
        (t, k): (u32, usize),
        near: f64,
    ) {
        let corner = mesh.triangles[t as usize].corners[k];
        let at = triangles.iter().map(|&t| &mesh.triangles[t as usize]);
        let around = at.filter(|triangle| triangle.corners.contains(&corner));
        let outward: Vec3 = around.map(|triangle| own.turn(&triangle.normal())).sum();
        let Some(outward) = outward.try_normalize(0.0) else { return };
        let normal = solid::normal(facing.corners);
        let leans = normal.dot(&outward);
        if leans.abs() < UPRIGHT {
            return;
        }
        let up = if leans < 0.0 { normal } else { -normal };
        let place = own.point(&corner);
        let height = up.dot(&(place - facing.corners[0]));
        let Some(weights) = barycentric(facing.corners, &(place - up * height)) else { return };
        let thick: f64 = weights.iter().zip(facing.side.radii).map(|(w, r)| w * r).sum();
        let gap = height - thick;
        if gap <= facing.reach && height >= -near {
            let id = name(sort::CORNER_A, t, k as u32);
            self.points.push(FacePoint { up, gap, weights, id });
        }
    }

    /// An edge of the surface, where that bends down, over those edges of the triangle that it looks after.
    fn over_ridge(
        &mut self,
        mesh: &Mesh,
        own: &Transform,
        facing: &MetTriangle<'_>,
        (t, k): (u32, usize),
        near: f64,
    ) {
        let triangle = &mesh.triangles[t as usize];
        let edge = [triangle.corners[k], triangle.corners[(k + 1) % 3]].map(|p| own.point(&p));
        let outward = own.turn(&triangle.normal());
        for l in (0..3).filter(|&l| facing.side.face.owned[l]) {
            let [i, j] = [l, (l + 1) % 3];
            let ends = [facing.corners[i], facing.corners[j]];
            let Some((mut up, [s, share])) = crossing(&edge, &ends) else { continue };
            let u = edge[1] - edge[0];
            let on = edge[0] + u * s;
            if up.dot(&outward) > 0.0 {
                up = -up;
            }
            let apart = up.dot(&(edge[0] - ends[0]));
            let radii = facing.side.radii;
            let gap = apart - (radii[i] + (radii[j] - radii[i]) * share);
            let beside = [Some(facing.corners[(l + 2) % 3]), facing.across[l]];
            let rises = |corner: &Vec3| {
                let way = corner - ends[0];
                up.dot(&way) > RISE * way.norm()
            };
            // Of the two triangles of the surface at that edge, one pushes along this normal.
            let pushes = triangle.admits(&own.unturn(&-up), &own.local(&on), u.norm());
            let close = gap <= facing.reach && apart >= -near;
            if close && pushes && !beside.iter().flatten().any(rises) {
                let mut weights = [0.0; 3];
                (weights[i], weights[j]) = (1.0 - share, share);
                let id = name(sort::CROSSING, 3 * t + k as u32, l as u32);
                let twice =
                    self.points.iter().any(|p| p.weights == weights && p.up.dot(&up) > 0.99);
                if !twice {
                    self.points.push(FacePoint { up, gap, weights, id });
                }
            }
        }
    }
}
