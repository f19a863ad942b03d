//! Rows against finite differences, and against the core's definitions where frames are rotations.

use nalgebra::DMatrix;
use taut_core::{
    Mat3, Quat, Scene, Vec3,
    constraint::{Geometry, Pose, RowKind},
    scene::{Body, Endpoint, Joint, JointKind},
};

use taut_model::Model;

use super::{ElementView, RowFunction, RowGradient, rows, small_turn_factors, turn_factors};
use crate::affine::Affine;

const FUNCTIONS: [RowFunction; 16] = [
    RowFunction::Plain(RowKind::Point(0)),
    RowFunction::Plain(RowKind::Point(2)),
    RowFunction::Plain(RowKind::Slide(0)),
    RowFunction::Plain(RowKind::Slide(1)),
    RowFunction::Plain(RowKind::Dot(1, 0)),
    RowFunction::Plain(RowKind::Dot(2, 1)),
    RowFunction::Plain(RowKind::Twist(0)),
    RowFunction::Plain(RowKind::Twist(1)),
    RowFunction::Plain(RowKind::Twist(2)),
    RowFunction::Plain(RowKind::Turn(0)),
    RowFunction::Plain(RowKind::Turn(1)),
    RowFunction::Plain(RowKind::Turn(2)),
    RowFunction::Plain(RowKind::Distance),
    RowFunction::Plain(RowKind::Angle),
    RowFunction::Ahead(1),
    RowFunction::Ahead(2),
];

fn turn(x: f64, y: f64, z: f64) -> Quat {
    Quat::from_scaled_axis(Vec3::new(x, y, z))
}

fn matrix(q: Quat) -> Mat3 {
    q.to_rotation_matrix().into_inner()
}

struct Case {
    places: [Affine; 2],
    anchors: [Vec3; 2],
    bases: [Mat3; 2],
}

impl Case {
    fn new(strain: f64) -> Self {
        let bent = Mat3::new(1.0, 0.4, -0.2, 0.3, -0.5, 0.1, 0.2, 0.6, 0.8) * strain;
        let stretch = Mat3::identity() + bent;
        Self {
            places: [
                Affine {
                    origin: Vec3::new(0.1, 0.7, -0.3),
                    frame: matrix(turn(0.4, 0.9, -0.6)) * stretch,
                },
                Affine {
                    origin: Vec3::new(1.2, 0.2, 0.8),
                    frame: matrix(turn(-0.7, 0.3, 1.1)) * stretch,
                },
            ],
            anchors: [Vec3::new(0.5, -0.2, 0.3), Vec3::new(-0.4, 0.1, 0.25)],
            bases: [matrix(turn(0.3, -0.5, 0.2)), matrix(turn(-0.2, 0.4, 0.6))],
        }
    }

    fn evaluate(&self, function: RowFunction) -> RowGradient {
        ElementView { places: self.places, anchors: &self.anchors, bases: &self.bases }
            .evaluate(function)
    }
}

#[test]
fn gradients_match_central_differences() {
    let step = 1e-6;
    for function in FUNCTIONS {
        let gradient = Case::new(0.05).evaluate(function);
        let difference = |change: &dyn Fn(&mut Case, f64)| {
            let at = |size: f64| {
                let mut case = Case::new(0.05);
                change(&mut case, size);
                case.evaluate(function).value
            };
            (at(step) - at(-step)) / (2.0 * step)
        };
        for side in 0..2 {
            for i in 0..3 {
                let found = difference(&|case, size| case.places[side].origin[i] += size);
                assert!((found - gradient.origins[side][i]).abs() < 1e-8, "{function:?}");
                for j in 0..3 {
                    let found = difference(&|case, size| case.places[side].frame[(i, j)] += size);
                    let expected = gradient.frames[side][(i, j)];
                    assert!((found - expected).abs() < 1e-8, "{function:?} {side} {i} {j}");
                }
            }
        }
    }
}

#[test]
fn values_are_those_of_the_core_where_frames_are_rotations() {
    let case = Case::new(0.0);
    let geometry = Geometry {
        anchor_a: case.anchors[0],
        anchor_b: case.anchors[1],
        basis_a: turn(0.3, -0.5, 0.2),
        basis_b: turn(-0.2, 0.4, 0.6),
    };
    let rotations = [turn(0.4, 0.9, -0.6), turn(-0.7, 0.3, 1.1)];
    let [a, b] = [0, 1].map(|s| Pose { position: case.places[s].origin, rotation: rotations[s] });
    for function in FUNCTIONS {
        let RowFunction::Plain(kind) = function else { continue };
        let (found, core) = (case.evaluate(function), kind.evaluate(&geometry, &a, &b));
        assert!((found.value - core.value).abs() < 1e-14, "{function:?}");
        for side in 0..2 {
            // A turn by `t` moves each column of the frame by `t x column`.
            let frame = case.places[side].frame;
            let columns = frame.column_iter().zip(found.frames[side].column_iter());
            let torque: Vec3 = columns.map(|(a, g)| a.cross(&g)).sum();
            assert!((torque - core.gradient[2 * side + 1]).norm() < 1e-13, "{function:?} {side}");
            assert!((found.origins[side] - core.gradient[2 * side]).norm() < 1e-14);
        }
    }
}

#[test]
fn rotation_vectors_are_exact_but_for_the_last_degrees_before_half_a_turn() {
    let axis = Vec3::new(0.48, -0.6, 0.64);
    for angle in [0.0, 1e-9, 1e-4, 0.049, 0.051, 1.0, 2.0, 3.0] {
        let mut case = Case::new(0.0);
        case.bases = [Mat3::identity(); 2];
        case.places[1].frame = case.places[0].frame * matrix(Quat::from_scaled_axis(axis * angle));
        let rows = [0, 1, 2].map(|k| case.evaluate(RowFunction::Plain(RowKind::Turn(k))));
        let phi = Vec3::from(rows.map(|row| row.value));
        assert!((phi - axis * angle).norm() < 1e-9 * (angle + 1e-6), "{angle}: {phi}");
        let slope = |row: &RowGradient| {
            let frame = case.places[1].frame;
            let columns = frame.column_iter().zip(row.frames[1].column_iter());
            columns.map(|(a, g)| a.cross(&g)).sum::<Vec3>() * row.value
        };
        let torque: Vec3 = rows.iter().map(slope).sum();
        let world = case.places[0].frame * axis * angle;
        assert!((torque - world).norm() < 1e-9 * (angle + 1e-6), "{angle}: {torque}");
    }
    // Beyond 174 degrees it gives way.
    let [factor, _] = turn_factors(0.0);
    assert!(factor.is_finite());
}

#[test]
fn factors_of_small_turns_go_over_into_those_of_others() {
    for angle in [0.2_f64, 0.3, 0.4, 0.5, 0.505] {
        let (sine, cosine) = angle.sin_cos();
        let closed = [0.5 * angle / sine, -(sine - angle * cosine) / (2.0 * angle * sine * sine)];
        let series = small_turn_factors((0.5 * angle).sin().powi(2));
        for (series, closed) in series.iter().zip(closed) {
            assert!((series / closed - 1.0).abs() < 2e-14, "{angle}: {series} {closed}");
        }
    }
    assert_eq!(small_turn_factors(0.0), [0.5, -1.0 / 6.0]);
}

#[test]
fn the_point_ahead_means_the_same_as_the_product_where_anchors_meet() {
    let mut case = Case::new(0.0);
    let tips = [0, 1].map(|s| case.places[s].frame * case.anchors[s]);
    case.places[1].origin = case.places[0].origin + tips[0] - tips[1];
    for axis in [1, 2] {
        let ahead = case.evaluate(RowFunction::Ahead(axis)).value;
        let product = case.evaluate(RowFunction::Plain(RowKind::Dot(axis, 0))).value;
        assert!((ahead - product).abs() < 1e-14);
    }
}

#[test]
fn rows_of_every_joint_are_as_many_as_its_rank() {
    let ranks = [
        (JointKind::Ball, 3),
        (JointKind::Hinge, 5),
        (JointKind::Universal, 4),
        (JointKind::Prismatic, 5),
        (JointKind::Cylindrical, 4),
        (JointKind::Fixed, 6),
        (JointKind::Distance { length: 1.0 }, 1),
    ];
    // Joints as they are assembled: bases agree, anchors meet, or are a length apart for a distance.
    let mut case = Case::new(0.0);
    for side in 0..2 {
        case.bases[side] = case.places[side].frame.transpose() * case.bases[0];
    }
    let tips = [0, 1].map(|side| case.places[side].frame * case.anchors[side]);
    case.places[1].origin = case.places[0].origin + tips[0] - tips[1];
    for (kind, expected) in ranks {
        let apart = if expected == 1 { Vec3::x() } else { Vec3::zeros() };
        let places =
            [case.places[0], Affine { origin: case.places[1].origin + apart, ..case.places[1] }];
        let view = ElementView { places, anchors: &case.anchors, bases: &case.bases };
        let joints = vec![Joint::new(kind, Endpoint::Body(0), Endpoint::World)];
        let bodies = vec![Body::solid_box(Vec3::repeat(1.0), 1.0)];
        let model = Model::new(&Scene { bodies, joints, ..Scene::default() });
        let rows = rows(model.elements_of(&model.units[0]));
        let gradients = rows.iter().flat_map(|row| {
            let found = view.evaluate(row.function);
            let numbers = [0, 1].map(|side| (found.frames[side], found.origins[side]));
            numbers.into_iter().flat_map(|(frame, origin)| {
                frame.iter().chain(&origin).copied().collect::<Vec<_>>()
            })
        });
        let matrix = DMatrix::from_row_iterator(rows.len(), 24, gradients);
        assert_eq!((rows.len(), matrix.rank(1e-9)), (expected, expected), "{kind:?}");
    }
}
