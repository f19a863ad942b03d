//! Every stage against its twin on the CPU, on turning bodies of all kinds.

use taut_core::{
    Quat, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Motion},
};

use super::*;
use crate::step::{self, BallJoint};

/// Boxes in a row with a joint between neighbours and to the world, one of them driven and one held, all of
/// them turned and turning.
fn scene() -> Scene {
    let mut scene = Scene { dt: 0.01, gravity: Vec3::new(0.1, -0.2, -9.81), ..Scene::default() };
    for i in 0..70 {
        let x = f64::from(i);
        let size = Vec3::new(1.0, 0.3 + 0.01 * x, 0.2);
        let mut body = Body::solid_box(size, 1.0 + 3.0 * (x % 7.0)).at(Vec3::new(x, 0.1 * x, -x));
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.1 * x, 1.0 - 0.05 * x, 0.3));
        body.velocity = Vec3::new(0.3, -0.02 * x, 1.0);
        body.omega = Vec3::new(1.0 - 0.1 * x, 2.0, 0.05 * x);
        body.motion = match i {
            20 => Motion::Kinematic,
            40 => Motion::Static,
            _ => Motion::Dynamic,
        };
        scene.bodies.push(body);
    }
    for i in 0..70 {
        let a = if i == 0 { Endpoint::World } else { Endpoint::Body(i - 1) };
        let joint = Joint::new(JointKind::Ball, a, Endpoint::Body(i));
        scene.joints.push(joint.anchored(Vec3::new(0.5, 0.1, 0.2), Vec3::new(-0.5, 0.0, 0.3)));
    }
    scene
}

fn floats<T: bytemuck::Pod>(gpu: &Gpu, buffer: &Buffer<T>) -> Vec<f32> {
    let mut out = vec![];
    gpu.read(buffer, &mut out).unwrap();
    bytemuck::cast_slice(&out).to_vec()
}

/// Fails unless both lists of numbers are the same, stage by stage.
fn compare(what: &str, width: usize, ours: &[f32], theirs: &[f32]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let same = |a: f32, b: f32| a == b || (a.is_nan() && b.is_nan());
    let wrong = (0..ours.len()).find(|&i| !same(ours[i], theirs[i]));
    if let Some(i) = wrong {
        let (row, part) = (i / width, i % width);
        panic!("{what} {row}, number {part}: {:e} on the CPU, {:e} there", ours[i], theirs[i]);
    }
}

fn velocities(all: &[Velocity<f32>]) -> Vec<f32> {
    let flat = |v: &Velocity<f32>| {
        let ([a, b, c], [d, e, f]) = (v.linear.0, v.angular.0);
        [a, b, c, 0.0, d, e, f, 0.0]
    };
    all.iter().flat_map(flat).collect()
}

#[test]
fn every_stage_gives_the_bits_of_its_twin() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = scene();
    let settings =
        JacobiSettings { drift: crate::Drift::Baumgarte(0.3), ..JacobiSettings::default() };
    let mut system = BallSystem::new(&scene, settings);
    let mut there = OnGpu::new(&gpu, system.clone()).unwrap();
    there.begin_step(Step { dt: scene.dt, iterations: 1 }).unwrap();
    there.flush().unwrap();
    system.begin(scene.dt);
    let (constants, motions) = (system.constants, &system.motions);

    let all = motions.poses.iter().zip(&motions.velocities).zip(&system.masses);
    let (inertias, free): (Vec<_>, Vec<_>) =
        all.map(|((pose, velocity), mass)| step::free(mass, pose, velocity, &constants)).unzip();
    let flat: Vec<f32> = inertias.iter().flat_map(|s| s.0).collect();
    compare("inertia", 6, &flat, &floats(&gpu, &there.buffers.inertias));
    compare("free velocity", 8, &velocities(&free), &floats(&gpu, &there.buffers.free));

    let prepare = |joint: &BallJoint<f32>| {
        let ends = joint.nodes.map(|i| i as usize);
        let (poses, masses) = (ends.map(|i| &motions.poses[i]), ends.map(|i| &system.masses[i]));
        step::prepare(joint, poses, masses, ends.map(|i| &inertias[i]), constants.drift)
    };
    let prepared: Vec<step::Prepared<f32>> = system.joints.iter().map(prepare).collect();
    let flat: Vec<f32> = prepared
        .iter()
        .flat_map(|p| [&p.arms[0].0[..], &p.arms[1].0, &p.inverse.0, &p.bias.0].concat())
        .collect();
    compare("prepared joint", 15, &flat, &floats(&gpu, &there.buffers.prepared));

    there.iterate().unwrap();
    there.flush().unwrap();
    let forces: Vec<V3<f32>> = system
        .joints
        .iter()
        .zip(&prepared)
        .map(|(joint, prepared)| {
            let both = joint.nodes.map(|i| &free[i as usize]);
            step::multiplier(prepared, V3::ZERO, both, constants.rate)
        })
        .collect();
    let flat: Vec<f32> = forces.iter().flat_map(|f| f.0).collect();
    compare("multiplier", 3, &flat, &floats(&gpu, &there.buffers.multipliers));

    let solve = |(i, mass)| {
        let ends = system.ends.of(i);
        step::velocity(mass, &free[i], &inertias[i], ends, &prepared, &forces, constants.h)
    };
    let solved: Vec<_> = system.masses.iter().enumerate().map(solve).collect();
    compare("velocity", 8, &velocities(&solved), &floats(&gpu, &there.buffers.velocities));

    there.end_step().unwrap();
    let moved = |(i, velocity)| {
        let (pose, velocity) = system.moved(i, velocity);
        layout::MotionData::new(&pose, &velocity)
    };
    let moved: Vec<_> = solved.iter().enumerate().map(moved).collect();
    compare("motion", 16, bytemuck::cast_slice(&moved), &floats(&gpu, &there.buffers.motions));
}
