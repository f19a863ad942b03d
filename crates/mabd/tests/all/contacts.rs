//! Contacts together with joints and motors, and what they exert.

use std::f64::consts::TAU;

use taut_core::{
    Quat, Scene, Vec3, metrics,
    scene::{Body, Endpoint, Joint, JointKind, Limit, Motor, Shape},
};
use taut_fixtures::{Run, file, pin, rough, touching};
use taut_mabd::BACKEND;

const H: f64 = 0.01;
const G: f64 = 9.81;

/// A chain that hangs over a bar keeps its joints closed, and does not sink in.
#[test]
fn a_chain_over_a_bar_keeps_its_joints() {
    let mut bar = Body::solid_box(Vec3::new(0.4, 2.0, 0.4), 1.0).fixed();
    (bar.shape, bar.material) = (Shape::Capsule { radius: 0.3, half_length: 1.0 }, rough(0.2));
    bar.rotation = Quat::from_scaled_axis(Vec3::new(TAU / 4.0, 0.0, 0.0));
    let mut scene = Scene { dt: H, ..touching(G, vec![bar]) };
    let half = Vec3::new(0.1, 0.0, 0.0);
    for i in 0..21_usize {
        let mut link = Body::solid_box(Vec3::new(0.2, 0.05, 0.05), 1000.0);
        link.material = rough(0.2);
        scene.bodies.push(link.at(Vec3::new(0.2 * (i as f64 - 10.0), 0.0, 0.34)));
        if i > 0 {
            let [a, b] = [i, i + 1].map(Endpoint::Body);
            scene.joints.push(Joint::new(JointKind::Ball, a, b).anchored(half, -half));
        }
    }
    let states = Run::new(&BACKEND, &scene, "()", 1).path(100);
    let mut probe = taut_collide::metrics::Probe::new(&scene);
    for state in &states {
        let error = metrics::joint_errors(&scene, state).max_m;
        assert!(error < 1e-9, "{error:e}");
        assert!(metrics::stretch_max(&scene, state) < 0.05);
    }
    let depth = probe.measure(&states[100]).penetration_max_m;
    assert!(depth < 0.01, "{depth}");
    assert!(states[100].bodies[11].position.z > 0.2, "it hangs over the bar");
    assert!(states[100].bodies[1].position.z < -0.3, "its ends hang down");
}

/// Boxes that fall into a heap: contacts that are told to press and not to press in turn would exert forces
/// that their bodies do not follow, or pull.
#[test]
fn forces_of_a_heap_are_those_that_move_it() {
    let scene = file("pile", &[("n", 2.0), ("layers", 4.0)]);
    // A step that is made again in parts has the forces of its last one.
    let mut run = Run::new(&BACKEND, &scene, "(stretch_limit: inf)", 1);
    let (mut pressed, mut unsettled) = (0, 0);
    for step in 0..120 {
        let before = run.state.clone();
        let after = run.step().clone();
        let mut pushes = vec![Vec3::zeros(); scene.bodies.len()];
        let mut largest = 0.0_f64;
        for contact in &run.forces().contacts {
            let pressure = contact.force.dot(&contact.normal);
            assert!(pressure >= 0.0, "a contact pulls by {pressure} N in step {step}");
            let friction = (contact.force - contact.normal * pressure).norm();
            assert!(friction <= 0.5 * pressure + 1e-9, "{friction} of {pressure} N");
            pressed += usize::from(pressure > 0.0);
            largest = largest.max(pressure);
            pushes[contact.bodies[0] as usize] += contact.force;
            pushes[contact.bodies[1] as usize] -= contact.force;
        }
        let mut worst = 0.0_f64;
        for (i, body) in scene.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
            let gained = after.bodies[i].velocity - before.bodies[i].velocity;
            let needed = (gained / scene.dt - scene.gravity) * body.mass;
            worst = worst.max((needed - pushes[i]).norm() / (10.0 * body.mass).max(largest));
        }
        unsettled += usize::from(worst > 0.01);
    }
    assert!(pressed > 1000, "it is a heap: {pressed}");
    // Where many land at once, the rounds do not find all that slides: 15 steps as measured.
    assert!(
        unsettled <= 18,
        "in {unsettled} of 120 steps a hundredth of the largest force is missing"
    );
}

/// Two fingers close on a box with a bounded effort and carry it: they press as hard as their motors can
/// and no harder, whatever that would take to keep on speed, and friction holds its weight.
#[test]
fn fingers_press_as_hard_as_their_motors() {
    let size = Vec3::new(0.02, 0.02, 0.05);
    let finger = |side: f64| {
        Body::solid_box(size, 0.1 / size.product()).at(Vec3::new(0.0, side * 0.05, 0.0))
    };
    let held = Body::solid_box(Vec3::repeat(0.08), 0.2 / 0.08_f64.powi(3));
    let mut scene = Scene { dt: H, ..touching(G, vec![finger(-1.0), finger(1.0), held]) };
    scene.bodies.iter_mut().for_each(|body| body.material = rough(0.6));
    for (i, side) in [(0, -1.0), (1, 1.0)] {
        let mut slide =
            pin(JointKind::Prismatic, Vec3::new(0.0, side * 0.05, 0.0), i, Vec3::zeros());
        slide.basis_a = Quat::from_scaled_axis(Vec3::z() * (-side * TAU / 4.0));
        slide.basis_b = slide.basis_a;
        slide.limit = Some(Limit { lower: -0.01, upper: 0.03 });
        slide.motor = Some(Motor { speed: 0.05, max_effort: 20.0 });
        scene.joints.push(slide);
    }
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    for step in 0..100 {
        run.step();
        let forces = run.forces();
        for finger in 0..2 {
            let presses = |c: &&taut_core::ContactForce| c.bodies.contains(&finger);
            let pressures = forces.contacts.iter().filter(presses).map(|c| c.force.dot(&c.normal));
            let pressure: f64 = pressures.sum();
            assert!((pressure - 20.0).abs() < 0.1, "step {step}: {pressure} N");
        }
    }
    let held = run.state.bodies[2].position;
    assert!(held.norm() < 1e-3, "it slips by {held}");
}

/// An arm swings a box about that it holds by friction: one jaw presses as hard as its motor can, and what
/// was chosen in the step before, or without contact, must not keep it from doing so.
#[test]
fn an_arm_carries_a_box() {
    let scene = file("panda-grasp", &[]);
    let find = |name: &str| scene.bodies.iter().position(|body| body.name == name).unwrap();
    let (hand, held) = (find("hand"), find("box"));
    let states = Run::new(&BACKEND, &scene, "()", 1).path(200);
    let place = |state: &taut_core::State| {
        let [hand, held] = [hand, held].map(|body| state.bodies[body]);
        hand.rotation().inverse() * (held.position - hand.position)
    };
    let slips = states.iter().map(|state| (place(state) - place(&states[0])).norm());
    let slip = slips.fold(0.0, f64::max);
    assert!(slip < 2e-4, "it slips by {slip:e} m");
    let carried = (states[200].bodies[held].position - states[0].bodies[held].position).norm();
    assert!(carried > 0.5, "it is carried by {carried} m only");
}

/// Beside contacts limits are springs and motors stiff ones: a bar that falls on its limit goes beyond by no more than what
/// lands sinks in, and one that a motor turns keeps its speed though gravity pulls.
#[test]
fn limits_and_motors_hold_beside_contacts() {
    let arm = |y: f64| {
        let mut body = Body::solid_box(Vec3::new(1.0, 0.1, 0.1), 1000.0);
        body.material = rough(0.5);
        body.at(Vec3::new(0.5, y, 0.0))
    };
    let mut ground = Body::solid_box(Vec3::new(9.0, 9.0, 1.0), 1.0).fixed();
    ground.position = Vec3::new(0.0, 0.0, -3.0);
    let resting = Body::solid_box(Vec3::repeat(0.2), 1000.0).at(Vec3::new(3.0, 0.0, -2.4));
    let mut scene = Scene { dt: H, ..touching(G, vec![arm(0.0), arm(2.0), ground, resting]) };
    let turn = Quat::from_scaled_axis(Vec3::z() * (TAU / 4.0));
    for (i, y) in [(0, 0.0), (1, 2.0)] {
        let mut hinge = pin(JointKind::Hinge, Vec3::new(0.0, y, 0.0), i, Vec3::new(-0.5, 0.0, 0.0));
        (hinge.basis_a, hinge.basis_b) = (turn, turn);
        scene.joints.push(hinge);
    }
    scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.3 });
    scene.joints[1].motor = Some(Motor { speed: 0.2, max_effort: 1e6 });
    let mut driven = scene.clone();
    (driven.joints[1].limit, driven.joints[1].motor) =
        (scene.joints[0].limit, scene.joints[1].motor);
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    let angle = |state: &taut_core::State, i: usize| {
        let along = state.bodies[i].rotation() * Vec3::x();
        along.z.atan2(along.x).abs()
    };
    let mut turned = 0.0;
    for step in 0..200 {
        run.step();
        assert!(angle(&run.state, 0) < 0.3 + 2e-4, "step {step}: {}", angle(&run.state, 0));
        let now = angle(&run.state, 1);
        // One linear step takes the tangent of its turn.
        let expected = if step == 0 { now } else { turned + 0.2 * H };
        assert!((now - expected).abs() < 1e-6, "step {step}: {}", now - expected);
        turned = now;
    }
    assert!((angle(&run.state, 0) - 0.3).abs() < 1e-4, "it rests on its limit");
    assert!((turned - 0.2 * 200.0 * H).abs() < 1e-3, "{turned}");
    assert!(run.forces().contacts.len() >= 4, "beside them a box rests");
    // A limit stops a motor, however strong.
    let last = Run::new(&BACKEND, &driven, "()", 1).path(200).pop().unwrap();
    assert!((angle(&last, 1) - 0.3).abs() < 2e-3, "{}", angle(&last, 1));
}

/// A box that starts deep in the ground is pushed out at the speed that is set and no faster, which it keeps: it rises by
/// `v^2 / 2 g` more, and comes to rest on the surface.
#[test]
fn what_has_sunk_in_is_pushed_out_slowly() {
    let mut ground = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
    (ground.shape, ground.material) = (Shape::HalfSpace, rough(0.5));
    let mut sunk = Body::solid_box(Vec3::repeat(1.0), 100.0).at(Vec3::new(0.0, 0.0, 0.3));
    sunk.material = rough(0.5);
    let scene = Scene { dt: H, ..touching(G, vec![ground, sunk]) };
    for limit in [0.5, 1.0] {
        let settings = format!("(push_speed_max: {limit:?})");
        let states = Run::new(&BACKEND, &scene, &settings, 1).path(120);
        let rates = states.iter().map(|state| state.bodies[1].velocity.z);
        let fastest = rates.fold(0.0, f64::max);
        assert!(fastest < limit + 1e-6 && fastest > 0.95 * limit, "{fastest} of {limit} m/s");
        let top = states.iter().map(|state| state.bodies[1].position.z).fold(0.0, f64::max);
        assert!(top < 0.5 + limit * limit / (2.0 * G) + limit * H, "{top}");
        let last = &states[120].bodies[1];
        assert!((last.position.z - 0.5).abs() < 1e-5, "{}", last.position.z);
        assert!(last.velocity.norm() < 1e-9, "{}", last.velocity.norm());
    }
}

/// Bars that the ground spins up: where bodies are predicted along their arcs fewer than half as many steps have to be solved
/// more than once, and none stretches them.
#[test]
fn turns_that_contacts_make_are_followed() {
    let scene = file("falling-joints", &[("pairs", 18.0)]);
    let again = |settings: &str| {
        let mut run = Run::new(&BACKEND, &scene, settings, 1);
        let (mut steps, mut solves) = (0, 0);
        for step in 0..150 {
            let stretch = metrics::stretch_max(&scene, run.step());
            assert!(stretch < 0.05, "{settings} stretches by {stretch} in step {step}");
            let more = run.solver.report().iterations_used.unwrap_or(0) - 1;
            (steps, solves) = (steps + u32::from(more > 0), solves + more);
        }
        [steps, solves]
    };
    let [tangent, arc] = ["()", "(spin: arc)"].map(again);
    assert!(arc[0] > 0 && 2 * arc[0] < tangent[0], "{arc:?}, {tangent:?} by tangents");
    assert!(arc[1] < tangent[1], "{arc:?}, {tangent:?} by tangents");
}

/// What sticks on a slope comes to rest, and does not creep.
#[test]
fn what_sticks_does_not_creep() {
    let scene = file("incline", &[]);
    let states = Run::new(&BACKEND, &scene, "()", 1).path(600);
    let moved = |from: usize, to: usize| {
        let [a, b] = [from, to].map(|step| states[step].bodies[1].position);
        (b - a).norm()
    };
    assert!(moved(0, 600) < 1e-4, "{:e} m", moved(0, 600));
    assert!(moved(60, 600) < 1e-9, "{:e} m", moved(60, 600));
}

/// What is round and spins about its spine on smooth ground neither sinks in nor slows down.
#[test]
fn what_is_round_spins_where_it_lies() {
    let mut ground = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
    (ground.shape, ground.material) = (Shape::HalfSpace, rough(0.0));
    let round = |shape: Shape, y: f64| {
        let mut body = Body::solid_box(Vec3::repeat(0.16), 1000.0).at(Vec3::new(0.0, y, 0.1));
        (body.shape, body.material, body.omega) = (shape, rough(0.0), Vec3::x() * 70.0);
        body.rotation = Quat::from_scaled_axis(Vec3::y() * (TAU / 4.0));
        body
    };
    let rod = round(Shape::Capsule { radius: 0.1, half_length: 0.2 }, 0.0);
    let ball = round(Shape::Sphere { radius: 0.1 }, 1.0);
    let scene = Scene { dt: H, ..touching(G, vec![ground, rod, ball]) };
    let mut run = Run::new(&BACKEND, &scene, "(spin: arc)", 1);
    for step in 0..100 {
        let state = run.step().clone();
        for body in &state.bodies[1..] {
            assert!((body.position.z - 0.1).abs() < 1e-4, "{} in step {step}", body.position.z);
            let omega = body.frame_rate * body.frame.transpose();
            assert!((omega[(2, 1)] - 70.0).abs() < 1e-6, "{} in step {step}", omega[(2, 1)]);
        }
    }
}

/// A plate that lands on its rim tilts onto its face within a step: what it comes to as it turns was no contact when the step
/// began. It is added once the plate has sunk in by a tenth of its arm; without it
/// the plate goes through.
#[test]
fn a_plate_that_tilts_does_not_sink_in() {
    let mut ground = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
    (ground.shape, ground.material) =
        (Shape::Capsule { radius: 1.0, half_length: 8.0 }, rough(0.0));
    ground.rotation = Quat::from_scaled_axis(Vec3::y() * (TAU / 4.0));
    let (radius, half_length, tilt) = (0.08_f64, 0.016, 0.5_f64);
    let lowest = radius * tilt.sin() + half_length * tilt.cos();
    let size = Vec3::new(3.0_f64.sqrt() * radius, 3.0_f64.sqrt() * radius, 2.0 * half_length);
    let mut plate = Body::solid_box(size, 1000.0).at(Vec3::new(0.0, 0.0, 1.001 + lowest));
    (plate.shape, plate.material) = (Shape::Cylinder { radius, half_length }, rough(0.0));
    plate.rotation = Quat::from_scaled_axis(Vec3::y() * tilt);
    plate.velocity = Vec3::z() * -6.0;
    let scene = Scene { dt: H, ..touching(G, vec![ground, plate]) };
    let mut probe = taut_collide::metrics::Probe::new(&scene);
    let mut run = Run::new(&BACKEND, &scene, "(spin: arc)", 1);
    for step in 0..10 {
        let depth = probe.measure(run.step()).penetration_max_m;
        assert!(depth < 0.1 * radius.hypot(half_length), "{depth} m in step {step}");
    }
}
