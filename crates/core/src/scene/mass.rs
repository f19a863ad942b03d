//! Volume, centre and inertia of shapes, and the shift of a body's origin to its centre of mass.

mod hull;
mod mesh;

use std::sync::Arc;

use super::{Part, Shape};
use crate::math::{Mat3, Quat, Vec3};

/// Integrals over a solid of unit density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MassProperties {
    /// Volume [m^3].
    pub(crate) volume: f64,
    /// Centroid in the shape's coordinates [m].
    pub(crate) centre: Vec3,
    /// Inertia tensor about the centroid, for unit density [m^5].
    pub(crate) inertia: Mat3,
}

/// Second moment `integral x x^T` to inertia `tr(S) 1 - S`.
pub(crate) fn inertia_of(second: &Mat3) -> Mat3 {
    Mat3::identity() * second.trace() - second
}

/// Inertia to second moment; the inverse of [`inertia_of`].
pub(crate) fn second_of(inertia: &Mat3) -> Mat3 {
    Mat3::identity() * (0.5 * inertia.trace()) - inertia
}

/// What is a surface and no solid: it has no volume, and its origin stays.
pub(crate) const SURFACE: MassProperties =
    MassProperties { volume: 0.0, centre: Vec3::new(0.0, 0.0, 0.0), inertia: NOTHING };

const NOTHING: Mat3 = Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);

/// Volume, centroid and inertia of a shape in its own coordinates; `None` for a flat hull or mesh.
///
/// Those of a mesh are of what is inside, and mean something only where it is closed.
pub(crate) fn properties(shape: &Shape) -> Option<MassProperties> {
    use std::f64::consts::PI;
    let centred = |volume: f64, second: Vec3| MassProperties {
        volume,
        centre: Vec3::zeros(),
        inertia: inertia_of(&(Mat3::from_diagonal(&second) * volume)),
    };
    Some(match shape {
        Shape::Box { half } => {
            centred(8.0 * half.x * half.y * half.z, half.component_mul(half) / 3.0)
        }
        Shape::Sphere { radius } => {
            centred(4.0 / 3.0 * PI * radius.powi(3), Vec3::repeat(radius * radius / 5.0))
        }
        Shape::Cylinder { radius, half_length } => {
            let (across, along) = (radius * radius / 4.0, half_length * half_length / 3.0);
            centred(2.0 * PI * radius * radius * half_length, Vec3::new(across, across, along))
        }
        Shape::Capsule { radius, half_length } => capsule(*radius, *half_length),
        Shape::Hull { points } => hull::properties(points)?,
        Shape::Compound { parts } => compound(parts)?,
        Shape::HalfSpace => SURFACE,
        Shape::Mesh { vertices, triangles, .. } => mesh::properties(vertices, triangles)?,
    })
}

fn capsule(r: f64, h: f64) -> MassProperties {
    use std::f64::consts::PI;
    let (tube, ball) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
    let across = tube * r * r / 4.0 + ball * r * r / 5.0;
    // A half ball has its centroid 3r/8 from the flat side, and r^2/5 about that side.
    let along = tube * h * h / 3.0 + ball * (r * r / 5.0 + 2.0 * h * 0.375 * r + h * h);
    let second = Mat3::from_diagonal(&Vec3::new(across, across, along));
    MassProperties { volume: tube + ball, centre: Vec3::zeros(), inertia: inertia_of(&second) }
}

/// Sum of the parts; where they overlap the volume counts twice.
fn compound(parts: &[Part]) -> Option<MassProperties> {
    let mut volume = 0.0;
    let (mut first, mut second) = (Vec3::zeros(), Mat3::zeros());
    for part in parts {
        let own = properties(&part.shape)?;
        let turn = part.rotation.to_rotation_matrix();
        let centre = part.position + part.rotation * own.centre;
        volume += own.volume;
        first += centre * own.volume;
        let spread = turn * second_of(&own.inertia) * turn.transpose();
        second += spread + centre * centre.transpose() * own.volume;
    }
    let centre = first / volume;
    let about_centre = second - centre * centre.transpose() * volume;
    Some(MassProperties { volume, centre, inertia: inertia_of(&about_centre) })
}

/// The same shape with its coordinates' origin moved to `centre` [m].
pub(crate) fn recentred(shape: Shape, centre: &Vec3) -> Shape {
    if *centre == Vec3::zeros() {
        return shape;
    }
    let moved_part = |shape: Shape, position: Vec3, rotation: Quat| Part {
        shape,
        position: position - centre,
        rotation,
    };
    match shape {
        Shape::Hull { points } => {
            Shape::Hull { points: points.iter().map(|p| p - centre).collect() }
        }
        Shape::Compound { parts } => Shape::Compound {
            parts: parts
                .iter()
                .map(|p| moved_part(p.shape.clone(), p.position, p.rotation))
                .collect(),
        },
        Shape::Mesh { vertices, triangles, control } => Shape::Mesh {
            vertices: vertices.iter().map(|p| p - centre).collect(),
            triangles,
            control: control.map(|points| Arc::new(points.map(|p| p - centre))),
        },
        // The other shapes are centred already.
        shape => Shape::Compound {
            parts: Arc::from([moved_part(shape, Vec3::zeros(), Quat::identity())]),
        },
    }
}

/// Volume inside a closed mesh [m^3]; negative where its triangles turn inward.
pub(crate) fn volume_inside(vertices: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    mesh::properties(vertices, triangles).map_or(0.0, |solid| solid.volume)
}

impl Shape {
    /// Volume [m^3]; zero for a half-space, and where parts of a compound overlap counted twice, as in
    /// its mass. That of a mesh is of what is inside, and means something only where it is closed.
    pub fn volume(&self) -> f64 {
        properties(self).map_or(0.0, |solid| solid.volume)
    }

    /// How far the shape reaches from the origin of its coordinates along a unit direction [m].
    pub fn support(&self, direction: &Vec3) -> f64 {
        match self {
            Self::Box { half } => half.dot(&direction.abs()),
            Self::Sphere { radius } => *radius,
            Self::Capsule { radius, half_length } => radius + half_length * direction.z.abs(),
            Self::Cylinder { radius, half_length } => {
                radius * direction.xy().norm() + half_length * direction.z.abs()
            }
            Self::HalfSpace => f64::INFINITY,
            Self::Hull { points } | Self::Mesh { vertices: points, .. } => {
                points.iter().map(|p| p.dot(direction)).fold(f64::NEG_INFINITY, f64::max)
            }
            Self::Compound { parts } => parts
                .iter()
                .map(|part| {
                    let own = part.rotation.inverse() * direction;
                    part.position.dot(direction) + part.shape.support(&own)
                })
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Whether a symmetric tensor can be the inertia of some solid: its principal moments are positive
/// and none exceeds the sum of the other two, to rounding.
pub(crate) fn is_inertia(tensor: &Mat3) -> bool {
    let mut moments: Vec<f64> = tensor.symmetric_eigenvalues().iter().copied().collect();
    moments.sort_by(f64::total_cmp);
    moments[0] > 0.0 && moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &Mat3, b: &Mat3, tolerance: f64) -> bool {
        (a - b).norm() <= tolerance * b.norm()
    }

    #[test]
    fn boxes_and_balls_have_the_textbook_moments() {
        let s = properties(&Shape::Box { half: Vec3::new(1.0, 2.0, 3.0) }).unwrap();
        // m/12 (b^2 + c^2) with full extents.
        let expected = Vec3::new(16.0 + 36.0, 4.0 + 36.0, 4.0 + 16.0) * (48.0 / 12.0);
        assert!(close(&s.inertia, &Mat3::from_diagonal(&expected), 1e-15));
        assert_eq!(Shape::Box { half: Vec3::new(1.0, 2.0, 3.0) }.volume(), 48.0);
        assert_eq!(Shape::HalfSpace.volume(), 0.0);
        let s = properties(&Shape::Sphere { radius: 2.0 }).unwrap();
        assert!(close(&s.inertia, &(Mat3::identity() * (s.volume * 0.4 * 4.0)), 1e-15));
    }

    #[test]
    fn a_capsule_lies_between_its_limits() {
        let ball = properties(&Shape::Sphere { radius: 0.5 }).unwrap();
        let short = properties(&Shape::Capsule { radius: 0.5, half_length: 1e-12 }).unwrap();
        assert!(close(&short.inertia, &ball.inertia, 1e-11));
        let long = properties(&Shape::Capsule { radius: 1e-5, half_length: 1.0 }).unwrap();
        let rod = properties(&Shape::Cylinder { radius: 1e-5, half_length: 1.0 }).unwrap();
        assert!(close(&long.inertia, &rod.inertia, 1e-4));
    }

    #[test]
    fn a_capsule_equals_its_numerical_integral() {
        let (r, h) = (0.3, 0.7);
        let slices = 200_000;
        let width = 2.0 * (h + r) / f64::from(slices);
        let (mut volume, mut across, mut along) = (0.0, 0.0, 0.0);
        for i in 0..slices {
            let z: f64 = -(h + r) + (f64::from(i) + 0.5) * width;
            let square = r * r - (z.abs() - h).max(0.0).powi(2);
            let disc = std::f64::consts::PI * square * width;
            volume += disc;
            across += disc * square / 4.0;
            along += disc * z * z;
        }
        let s = properties(&Shape::Capsule { radius: r, half_length: h }).unwrap();
        assert!((s.volume - volume).abs() < 1e-8);
        assert!((s.inertia.m11 - (across + along)).abs() < 1e-8);
        assert!((s.inertia.m33 - 2.0 * across).abs() < 1e-8);
    }

    #[test]
    fn two_halves_weigh_as_the_whole() {
        let half = |x: f64| Part {
            shape: Shape::Box { half: Vec3::new(1.0, 0.2, 0.3) },
            position: Vec3::new(x, 0.5, 0.0),
            rotation: Quat::identity(),
        };
        let two =
            properties(&Shape::Compound { parts: Arc::from([half(1.0), half(3.0)]) }).unwrap();
        let one = properties(&Shape::Box { half: Vec3::new(2.0, 0.2, 0.3) }).unwrap();
        assert!((two.centre - Vec3::new(2.0, 0.5, 0.0)).norm() < 1e-15);
        assert!((two.volume - one.volume).abs() < 1e-15);
        assert!(close(&two.inertia, &one.inertia, 1e-14));
    }
}
