//! Four control points instead of twelve numbers, and the mesh that they carry.
//!
//! A body `x = A X + t` is known from where four points that span space went: `y = T q`, with `T` constant
//! and invertible (M-ABD, Eq. 18). Every vertex of a mesh is a fixed barycentric mean of them, so that the
//! mesh follows linearly, and a straight move of the control points moves every vertex straight: what
//! continuous collision detection of affine bodies rests on (Lan et al. 2022).

use taut_core::{
    BodyState, Mat3, Vec3,
    scene::{Body, Shape},
};

use crate::body::second_of;

/// Least volume, against the cube of the longest edge, at which four points still span space.
const FLATTEST: f64 = 1e-9;

/// The rest positions of four points, in body coordinates [m].
#[derive(Clone, Debug, PartialEq)]
pub struct ControlTetrahedron {
    rest: [Vec3; 4],
    /// Takes a point, less the last control point, to its weights of the first three [1/m].
    inverse: Mat3,
}

impl ControlTetrahedron {
    /// Control points at rest, in body coordinates [m]. `None` where they lie in one plane, or nearly.
    #[must_use]
    pub fn new(rest: [Vec3; 4]) -> Option<Self> {
        let edges = edges(&rest);
        let longest = edges.column_iter().map(|edge| edge.norm()).fold(0.0, f64::max);
        let spans = edges.determinant().abs() > FLATTEST * longest.powi(3);
        let inverse = edges.try_inverse().filter(|_| spans)?;
        Some(Self { rest, inverse })
    }

    /// The control points that a scene has given a mesh; of any other body with mass its centre and one point on each
    /// principal axis, as far out as its mass is spread along it. `None` where these lie in one plane, or nearly.
    #[must_use]
    pub fn of(body: &Body) -> Option<Self> {
        if let Shape::Mesh { control: Some(points), .. } = &body.shape {
            return Self::new(**points);
        }
        let spread = second_of(body).symmetric_eigen();
        let point = |k: usize| {
            let length = (spread.eigenvalues[k] / body.mass).max(0.0).sqrt();
            spread.eigenvectors.column(k) * length
        };
        Self::new([point(0), point(1), point(2), Vec3::zeros()])
    }

    /// Where the control points of a body are, in world coordinates [m]: `y = T q`.
    #[must_use]
    pub fn points(&self, body: &BodyState) -> [Vec3; 4] {
        self.rest.map(|point| body.frame * point + body.position)
    }

    /// The affine frame and the position of the body whose control points are there [m]: `q = T^-1 y`.
    #[must_use]
    pub fn body(&self, points: &[Vec3; 4]) -> (Mat3, Vec3) {
        let frame = edges(points) * self.inverse;
        (frame, points[3] - frame * self.rest[3])
    }

    /// Barycentric weights of a point in body coordinates [m]. They sum to one; outside of the tetrahedron
    /// some are negative.
    #[must_use]
    pub fn weights(&self, point: &Vec3) -> [f64; 4] {
        let w = self.inverse * (point - self.rest[3]);
        [w.x, w.y, w.z, 1.0 - w.sum()]
    }
}

/// A mesh carried by control points.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedMesh {
    weights: Vec<[f64; 4]>,
}

impl EmbeddedMesh {
    /// Binds vertices at rest, in body coordinates [m].
    #[must_use]
    pub fn new(control: &ControlTetrahedron, vertices: &[Vec3]) -> Self {
        Self { weights: vertices.iter().map(|vertex| control.weights(vertex)).collect() }
    }

    /// Where the vertices are when the control points are there, in world coordinates [m], in the order in
    /// which they were bound.
    pub fn vertices(&self, points: [Vec3; 4]) -> impl Iterator<Item = Vec3> {
        let [a, b, c, d] = points;
        self.weights.iter().map(move |w| a * w[0] + b * w[1] + c * w[2] + d * w[3])
    }
}

/// From the last point to the others, as columns.
fn edges(points: &[Vec3; 4]) -> Mat3 {
    let [a, b, c, d] = points;
    Mat3::from_columns(&[a - d, b - d, c - d])
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use taut_core::{Solver, Step};

    use super::*;
    use crate::{AbdSettings, solver::Abd};

    fn control() -> ControlTetrahedron {
        let corner = Vec3::new(-0.2, -0.1, 0.3);
        ControlTetrahedron::new([
            corner + Vec3::x(),
            corner + Vec3::new(0.3, 0.8, 0.0),
            corner + Vec3::new(0.1, -0.2, 0.6),
            corner,
        ])
        .unwrap()
    }

    fn body() -> BodyState {
        let frame = Mat3::new(0.9, -0.3, 0.1, 0.4, 1.1, -0.2, 0.05, 0.3, 0.8);
        BodyState {
            position: Vec3::new(3.0, -1.0, 2.0),
            frame,
            velocity: Vec3::zeros(),
            frame_rate: Mat3::zeros(),
        }
    }

    #[test]
    fn control_points_are_the_body() {
        let (frame, position) = control().body(&control().points(&body()));
        assert!((frame - body().frame).norm() < 1e-14);
        assert!((position - body().position).norm() < 1e-14);
    }

    #[test]
    fn a_mesh_moves_with_the_body_inside_and_outside_of_the_tetrahedron() {
        let corner =
            |i: usize| Vec3::from_fn(|axis, _| if i >> axis & 1 == 1 { 2.0 } else { -1.0 });
        let vertices: Vec<Vec3> = (0..8).map(corner).collect();
        let mesh = EmbeddedMesh::new(&control(), &vertices);
        let moved = mesh.vertices(control().points(&body()));
        for (vertex, moved) in vertices.iter().zip(moved) {
            assert!((body().frame * vertex + body().position - moved).norm() < 1e-13);
        }
        for vertex in &vertices {
            assert!((control().weights(vertex).iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn a_body_has_control_points_though_none_are_given() {
        let cube = Body::solid_box(Vec3::new(1.0, 2.0, 3.0), 5.0);
        let own = ControlTetrahedron::of(&cube).unwrap();
        // Mass is spread by half an extent over the root of three.
        let mut lengths: Vec<f64> = own.rest.iter().map(Vec3::norm).collect();
        lengths.sort_by(f64::total_cmp);
        for (length, extent) in lengths.iter().zip([0.0, 1.0, 2.0, 3.0]) {
            assert!((length - extent / 12.0_f64.sqrt()).abs() < 1e-14);
        }
        let given = control().rest;
        let shape =
            Shape::Mesh { vertices: [].into(), triangles: [].into(), control: Some(given.into()) };
        assert_eq!(ControlTetrahedron::of(&Body { shape, ..cube }), Some(control()));
    }

    /// How control points move with a body: `dy = T dq`, all coordinates of one point after the other.
    fn transfer(control: &ControlTetrahedron) -> DMatrix<f64> {
        DMatrix::from_fn(12, 12, |row, column| {
            let rest = control.rest[row / 3];
            let weight = if column < 9 { rest[column / 3] } else { 1.0 };
            if row % 3 == column % 3 { weight } else { 0.0 }
        })
    }

    /// `E(T^-1 y)` has the gradient `T^-T g` and the Hessian `T^-T H T^-1`, so that Newton's method goes from equal
    /// iterates to equal iterates, whichever coordinates it works in.
    #[test]
    fn newton_in_control_points_is_newton_in_frames() {
        let mut scene = taut_fixtures::touching(9.81, vec![taut_fixtures::floor(0.0)]);
        scene.bodies.extend([taut_fixtures::cube(0.55), taut_fixtures::cube(1.58)]);
        scene.bodies[2].omega = Vec3::new(1.0, 0.5, 2.0);
        let mut solver =
            Abd::new(&scene, AbdSettings { d_hat: 0.1, ..Default::default() }).unwrap();
        solver.begin_step(Step { dt: 0.01, iterations: 5 }).unwrap();
        let forms: Vec<DMatrix<f64>> =
            [1, 2].map(|i| transfer(&ControlTetrahedron::of(&scene.bodies[i]).unwrap())).into();
        for _ in 0..3 {
            solver.set_motion();
            let (gradient, hessian) = solver.derivatives();
            let n = gradient.len();
            let hessian = DMatrix::from_fn(n, n, |i, j| hessian[i][j]);
            let gradient = DVector::from_vec(gradient);
            let by_frame = hessian.clone().lu().solve(&-&gradient).unwrap();
            let mut whole = DMatrix::zeros(n, n);
            for (k, form) in forms.iter().enumerate() {
                whole.view_mut((12 * k, 12 * k), (12, 12)).copy_from(form);
            }
            let back = whole.clone().try_inverse().unwrap();
            let by_points = (back.transpose() * hessian * &back)
                .lu()
                .solve(&-(back.transpose() * gradient))
                .unwrap();
            let off = (&whole * &by_frame - &by_points).amax();
            assert!(off < 1e-12, "{off:e} m of {:e} m", by_points.amax());
            solver.iterate().unwrap();
        }
    }

    #[test]
    fn points_of_one_plane_do_not_control_a_body() {
        let flat = [Vec3::x(), Vec3::y(), Vec3::x() + Vec3::y(), Vec3::zeros()];
        assert_eq!(ControlTetrahedron::new(flat), None);
        assert_eq!(ControlTetrahedron::new([Vec3::zeros(); 4]), None);
    }
}
