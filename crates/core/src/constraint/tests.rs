//! Rows against differences of their values and of their gradients.

use super::*;

const ROWS: [RowKind; 18] = [
    RowKind::Point(0),
    RowKind::Point(1),
    RowKind::Point(2),
    RowKind::Slide(0),
    RowKind::Slide(1),
    RowKind::Slide(2),
    RowKind::Dot(1, 0),
    RowKind::Dot(2, 0),
    RowKind::Dot(0, 1),
    RowKind::Dot(1, 1),
    RowKind::Twist(0),
    RowKind::Twist(1),
    RowKind::Twist(2),
    RowKind::Turn(0),
    RowKind::Turn(1),
    RowKind::Turn(2),
    RowKind::Distance,
    RowKind::Angle,
];

fn rotation(x: f64, y: f64, z: f64) -> Quat {
    Quat::from_scaled_axis(Vec3::new(x, y, z))
}

fn case() -> (Geometry, [Pose; 2]) {
    let geometry = Geometry {
        anchor_a: Vec3::new(0.5, -0.2, 0.3),
        anchor_b: Vec3::new(-0.4, 0.1, 0.25),
        basis_a: rotation(0.3, -0.5, 0.2),
        basis_b: rotation(-0.2, 0.4, 0.6),
    };
    let a = Pose { position: Vec3::new(0.1, 0.7, -0.3), rotation: rotation(0.4, 0.9, -0.6) };
    let b = Pose { position: Vec3::new(1.2, 0.2, 0.8), rotation: rotation(-0.7, 0.3, 1.1) };
    (geometry, [a, b])
}

fn moved(poses: &[Pose; 2], z: &SMatrix<f64, 12, 1>) -> [Pose; 2] {
    let part = |i: usize| z.fixed_rows::<3>(3 * i).into_owned();
    [0, 1].map(|side| Pose {
        position: poses[side].position + part(2 * side),
        rotation: Quat::from_scaled_axis(part(2 * side + 1)) * poses[side].rotation,
    })
}

#[test]
fn gradients_match_central_differences() {
    let (geometry, poses) = case();
    let step = 1e-6;
    for row in ROWS {
        let gradient = stack(&row.evaluate(&geometry, &poses[0], &poses[1]).gradient);
        for i in 0..12 {
            let at = |sign: f64| {
                let mut z = SMatrix::<f64, 12, 1>::zeros();
                z[i] = sign * step;
                let [a, b] = moved(&poses, &z);
                row.evaluate(&geometry, &a, &b).value
            };
            let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
            assert!((difference - gradient[i]).abs() < 1e-8, "{row:?} {i}");
        }
    }
}

#[test]
fn hessians_match_second_differences() {
    let (geometry, poses) = case();
    let step = 1e-4;
    for row in ROWS {
        let hessian = row.hessian(&geometry, &poses[0], &poses[1]);
        let at = |z: SMatrix<f64, 12, 1>| {
            let [a, b] = moved(&poses, &z);
            row.evaluate(&geometry, &a, &b).value
        };
        // Polarisation: joint motion z, so that both rotations of one body enter together.
        for i in 0..12 {
            for j in 0..12 {
                let (mut ei, mut ej) = (SMatrix::zeros(), SMatrix::zeros());
                ei[i] = step;
                ej[j] = step;
                let mixed = at(ei + ej) - at(ei - ej) - at(ej - ei) + at(-ei - ej);
                let difference = mixed / (4.0 * step * step);
                assert!((difference - hessian[(i, j)]).abs() < 2e-7, "{row:?} {i} {j}");
            }
        }
    }
}

#[test]
fn twist_ignores_the_sign_of_the_quaternion() {
    let (geometry, [a, b]) = case();
    let flipped = Pose { rotation: Quat::new_unchecked(-b.rotation.into_inner()), ..b };
    let row = RowKind::Twist(1);
    let (plain, other) = (row.evaluate(&geometry, &a, &b), row.evaluate(&geometry, &a, &flipped));
    assert!((plain.value - other.value).abs() < 1e-15);
    assert!((plain.gradient[3] - other.gradient[3]).norm() < 1e-15);
}

/// Poses whose bases are turned against each other about no axis in particular.
fn turned_by(angle: f64) -> (Geometry, [Pose; 2]) {
    let (geometry, [a, b]) = case();
    let axis = Vec3::new(0.6, -0.3, 0.74).normalize();
    let between = Quat::from_scaled_axis(axis * angle);
    let basis_a = a.rotation * geometry.basis_a;
    let rotation = basis_a * between * geometry.basis_b.inverse();
    (geometry, [a, Pose { rotation, ..b }])
}

const ANGLES: [f64; 9] = [0.0, 1e-9, 1e-4, 0.1, 0.299, 0.301, 1.0, 2.0, 3.0];

#[test]
fn a_rotation_vector_pulls_along_itself_at_every_angle() {
    for angle in ANGLES {
        let (geometry, [a, b]) = turned_by(angle);
        let rows = [0, 1, 2].map(|axis| RowKind::Turn(axis).evaluate(&geometry, &a, &b));
        let phi = Vec3::from(rows.map(|row| row.value));
        assert!((phi.norm() - angle).abs() < 1e-14 * (1.0 + angle), "{angle}");
        let torque: Vec3 = rows.iter().map(|row| row.gradient[3] * row.value).sum();
        let world = a.rotation * geometry.basis_a * phi;
        assert!((torque - world).norm() < 1e-13, "{angle}");
    }
}

#[test]
fn rotation_vectors_have_the_derivatives_of_their_differences_at_every_angle() {
    for angle in ANGLES {
        let (geometry, poses) = turned_by(angle);
        for row in [0, 1, 2].map(RowKind::Turn) {
            let gradient = |z: SMatrix<f64, 12, 1>| {
                let [a, b] = moved(&poses, &z);
                row.evaluate(&geometry, &a, &b)
            };
            let step = 1e-6;
            let hessian = row.hessian(&geometry, &poses[0], &poses[1]);
            let here = stack(&gradient(SMatrix::zeros()).gradient);
            for i in 9..12 {
                let mut z = SMatrix::<f64, 12, 1>::zeros();
                z[i] = step;
                let (more, less) = (gradient(z), gradient(-z));
                let slope = (more.value - less.value) / (2.0 * step);
                assert!((slope - here[i]).abs() < 1e-8, "{row:?} {angle} {i}");
                // The change of the gradient at B, of which the symmetric part is the second derivative.
                let change = (stack(&more.gradient) - stack(&less.gradient)) / (2.0 * step);
                let own = hessian.fixed_view::<3, 3>(9, 9);
                let spin = skew(&here.fixed_rows::<3>(9).into_owned()) * 0.5;
                for j in 9..12 {
                    let expected = own[(j - 9, i - 9)] - spin[(j - 9, i - 9)];
                    assert!((change[j] - expected).abs() < 1e-7, "{row:?} {angle} {i} {j}");
                }
            }
        }
    }
}
