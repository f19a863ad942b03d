//! Whether surfaces intersect, exactly, for those who do not take the search along lines at its word.

use taut_ipc::intersect::triangles_intersect;

use super::Contact;

impl Contact {
    /// Two bodies whose surfaces have a common point where they are, if any.
    pub(crate) fn intersecting(&self) -> Option<[u32; 2]> {
        self.intersections().next()
    }

    /// All such pairs.
    pub(super) fn intersections(&self) -> impl Iterator<Item = [u32; 2]> {
        let pairs = self.candidates.bodies.iter().copied();
        pairs.filter(|&[a, b]| self.intersect(a as usize, b as usize))
    }

    fn intersect(&self, a: usize, b: usize) -> bool {
        let placed = |i: usize| {
            let mesh = self.search.surface(i)?;
            let sweep = &self.sweeps[i];
            let points: Vec<[f64; 3]> =
                mesh.vertices.iter().map(|x| sweep.point(0.0, x).into()).collect();
            let corners = |triangle: &[u32; 3]| triangle.map(|v| points[v as usize]);
            Some(mesh.triangles.iter().map(corners).collect::<Vec<_>>())
        };
        match (placed(a), placed(b)) {
            (Some(first), Some(second)) => {
                first.iter().any(|one| second.iter().any(|other| triangles_intersect(one, other)))
            }
            (Some(body), None) => self.is_under(&body, b),
            (None, Some(body)) => self.is_under(&body, a),
            (None, None) => false,
        }
    }

    fn is_under(&self, triangles: &[[[f64; 3]; 3]], plane: usize) -> bool {
        let sweep = &self.sweeps[plane];
        let normal = sweep.frame.column(2);
        let height = |x: &[f64; 3]| {
            (0..3).map(|axis| normal[axis] * (x[axis] - sweep.position[axis])).sum::<f64>()
        };
        triangles.iter().flatten().any(|corner| height(corner) <= 0.0)
    }
}
