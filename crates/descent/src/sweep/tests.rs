//! Blocks are derivatives of the energy of their rows.

use taut_core::{
    Quat, Scene, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Limit, Spring, SpringKind},
};

use taut_collide::Style;
use taut_fixtures::KINDS;
use taut_math::Sym3;
use taut_model::{Order, Rotation};

use super::*;
use crate::{
    element::{AngularRows, ElementKind},
    options::{InertiaFrame, InitialGuess, Options},
};

fn turn(x: f64, y: f64, z: f64) -> Quat {
    Quat::from_scaled_axis(Vec3::new(x, y, z))
}

/// Two turned boxes with one element between them.
fn scene(kind: Option<JointKind>) -> Scene {
    let mut scene = Scene { dt: 0.01, ..Scene::default() };
    for (i, at) in [Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.1, -0.2, 0.5)].into_iter().enumerate() {
        let mut body = Body::solid_box(Vec3::new(1.0, 0.5, 0.3), 2.0).at(at);
        body.rotation = turn(0.3 + at.x, 0.2, -0.4);
        body.velocity = Vec3::new(0.3, -0.2, if i == 0 { 0.1 } else { 0.5 });
        body.omega = Vec3::new(1.0, -2.0, 0.5) * at.x;
        scene.bodies.push(body);
    }
    let (a, b) = (Endpoint::Body(0), Endpoint::Body(1));
    let (anchor_a, anchor_b) = (Vec3::new(0.5, 0.1, -0.1), Vec3::new(-0.4, 0.05, 0.1));
    let (basis_a, basis_b) = (turn(0.2, 0.1, 0.5), turn(-0.3, 0.4, 0.2));
    match kind {
        Some(kind) => {
            let mut joint = Joint::new(kind, a, b).anchored(anchor_a, anchor_b);
            (joint.basis_a, joint.basis_b) = (basis_a, basis_b);
            let slides = matches!(kind, JointKind::Prismatic | JointKind::Cylindrical);
            joint.limit = Some(Limit { lower: -9.0, upper: 9.0 })
                .filter(|_| slides || kind == JointKind::Hinge);
            scene.joints.push(joint);
        }
        None => {
            let kinds = [
                SpringKind::Linear { anchor_a, anchor_b, rest_length: 0.4 },
                SpringKind::Angular { basis_a, basis_b },
            ];
            scene.springs.extend(kinds.map(|kind| Spring {
                name: String::new(),
                kind,
                a,
                b,
                stiffness: 1.0,
                damping: 0.0,
            }));
        }
    }
    scene
}

fn system(scene: &Scene) -> System<f64> {
    let options = Options {
        order: Order::Creation,
        angular: AngularRows::RestPose,
        isotropic: false,
        rotation: Rotation::Cayley,
        frame: InertiaFrame::World,
        gyroscopic: false,
        start: InitialGuess::Target,
        contacts: Style::Common,
        lanes_per_body: 1,
        scaled_energies: false,
        bound: false,
    };
    let mut system = System::new(scene, options);
    system.begin(scene.dt);
    for element in &mut system.elements {
        element.stiffness = V3([70.0; 3]);
        element.lambda = V3([3.0, -2.0, 1.5]);
        element.shift = V3([0.1, -0.05, 0.02]);
    }
    system
}

fn block(system: &System<f64>, n: usize) -> Block<f64> {
    let view = Whole { nodes: &system.nodes, incidences: &system.incidences };
    let forces = Forces::new(&system.elements, &system.bases, &system.energies, &system.options);
    let [start, end] = system.nodes[n].incidences.map(|i| i as usize);
    assemble(&view, &system.nodes[n], &system.incidences[start..end], forces)
}

fn moved(system: &System<f64>, n: usize, z: [f64; 6]) -> System<f64> {
    let mut out = system.clone();
    let [start, end] = out.nodes[n].incidences.map(|i| i as usize);
    let motion = (V3([z[0], z[1], z[2]]), V3([z[3], z[4], z[5]]));
    advance(&mut out.nodes[n], &mut out.incidences[start..end], motion);
    out
}

/// `sum k/2 C^2 + lambda C` of all elements (Eq. 8).
fn energy(system: &System<f64>) -> f64 {
    let one = |i: usize| {
        let (c, e) = (system.value(i), &system.elements[i]);
        let rows = system.definitions[i].rows();
        (0..rows)
            .map(|r| e.stiffness.0[r] / 2.0 * c.0[r] * c.0[r] + e.lambda.0[r] * c.0[r])
            .sum::<f64>()
    };
    (0..system.elements.len()).map(one).sum()
}

fn unit(i: usize, size: f64) -> [f64; 6] {
    let mut z = [0.0; 6];
    z[i] = size;
    z
}

/// Force and torque of the elements alone.
fn pull(system: &System<f64>, n: usize) -> [f64; 6] {
    let (all, bare) = (block(system, n), {
        let mut free = system.clone();
        free.elements.iter_mut().for_each(|e| e.active = false);
        block(&free, n)
    });
    let (l, a) = ((all.fl - bare.fl).0, (all.fa - bare.fa).0);
    [l[0], l[1], l[2], a[0], a[1], a[2]]
}

#[test]
fn block_forces_are_minus_the_gradient_of_the_energy() {
    for kind in KINDS.map(Some).into_iter().chain([None]) {
        let system = system(&scene(kind));
        for n in 0..2 {
            let force = pull(&system, n);
            for (i, f) in force.into_iter().enumerate() {
                let at = |size: f64| energy(&moved(&system, n, unit(i, size)));
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (f + slope).abs() < 1e-6 * (1.0 + f.abs()),
                    "{kind:?} {n} {i}: {f} {slope}"
                );
            }
        }
    }
}

#[test]
fn block_hessians_are_exact_where_the_rows_pull_nothing() {
    for kind in KINDS.map(Some).into_iter().chain([None]) {
        let mut system = system(&scene(kind));
        for i in 0..system.elements.len() {
            let value = system.value(i);
            let element = &mut system.elements[i];
            element.lambda = V3::ZERO;
            element.shift += value;
            if element.kind == ElementKind::Point {
                element.offset = element.offset - value;
            }
        }
        for n in 0..2 {
            let inactive = {
                let mut free = system.clone();
                free.elements.iter_mut().for_each(|e| e.active = false);
                block(&free, n)
            };
            let all = block(&system, n);
            for i in 0..6 {
                let step = 1e-6;
                let (up, down) =
                    (moved(&system, n, unit(i, step)), moved(&system, n, unit(i, -step)));
                let (up, down) = (pull(&up, n), pull(&down, n));
                for j in 0..6 {
                    let slope = -(up[j] - down[j]) / (2.0 * step);
                    let entry = hessian(&all, i, j) - hessian(&inactive, i, j);
                    assert!((entry - slope).abs() < 1e-5, "{kind:?} {n} {i} {j}: {entry} {slope}");
                }
            }
        }
    }
}

fn symmetric(s: &Sym3<f64>, i: usize, j: usize) -> f64 {
    match (i.min(j), i.max(j)) {
        (i, j) if i == j => s.0[i],
        (0, 1) => s.0[3],
        (0, 2) => s.0[4],
        _ => s.0[5],
    }
}

fn hessian(block: &Block<f64>, i: usize, j: usize) -> f64 {
    match (i / 3, j / 3) {
        (0, 0) => symmetric(&block.ll, i, j),
        (1, 1) => symmetric(&block.aa, i - 3, j - 3),
        (1, 0) => block.al.0[i - 3].0[j],
        _ => block.al.0[j - 3].0[i],
    }
}

#[test]
fn lumped_curvature_is_the_column_norm_of_the_lever_arms_second_derivative() {
    let (arm, force) = (V3([0.4, -0.3, 0.2]), V3([10.0, 5.0, -7.0]));
    let mut block = Block::<f64>::default();
    block.add_lever_curvature(arm, force);
    for c in 0..3 {
        // Column c of r F^T - (r.F) I.
        let column = arm * force.0[c] + V3::axis(c) * -arm.dot(force);
        assert!((block.aa.0[c] - column.norm()).abs() < 1e-12);
    }
}
