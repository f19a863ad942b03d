//! Contacts as penalties, against closed forms.

use taut_core::{
    Backend, Multipliers, NoDevices, Quat, Scene, Settings, Solver, State, Step, Vec3,
    scene::{Body, Contacts, Material, Shape},
};

const H: f64 = 1.0 / 60.0;
const G: f64 = 10.0;

fn ground(mu: f64) -> Scene {
    let mut plane = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
    (plane.shape, plane.material) = (Shape::HalfSpace, rough(mu));
    Scene {
        gravity: Vec3::new(0.0, 0.0, -G),
        dt: H,
        contacts: Some(Contacts::default()),
        bodies: vec![plane],
        ..Scene::default()
    }
}

fn rough(mu: f64) -> Material {
    Material { friction_static: mu, friction_dynamic: mu, restitution: 0.0 }
}

fn block(size: Vec3, at: Vec3, mu: f64) -> Body {
    let mut block = Body::solid_box(size, 1.0).at(at);
    block.material = rough(mu);
    block
}

fn build(scene: &Scene, settings: &str) -> Box<dyn Solver> {
    let settings = Settings::from_ron(settings);
    taut_vbd::BACKEND.build(scene, &settings, &NoDevices).expect("the settings are valid")
}

fn run(solver: &mut dyn Solver, iterations: u32, frames: u32) -> State {
    for _ in 0..frames {
        solver.begin_step(Step { dt: H, iterations }).expect("it begins");
        for _ in 0..iterations {
            solver.iterate().expect("it iterates");
        }
        solver.end_step().expect("it ends");
    }
    let mut state = State::default();
    solver.read(&mut state).expect("it reads");
    state
}

#[test]
fn a_box_rests_as_deep_as_its_weight_compresses_the_penalties() {
    let mut scene = ground(0.5);
    scene.bodies.push(block(Vec3::repeat(1.0), Vec3::new(0.0, 0.0, 0.5), 0.5));
    let mut solver = build(&scene, "(contact_stiffness: 1000)");
    let state = run(&mut *solver, 10, 600);
    // Four points of 1000 N/m carry 10 N.
    let depth = 0.5 - state.bodies[1].position.z;
    assert!((depth - 0.0025).abs() < 1e-6, "{depth}");
    let mut multipliers = Multipliers::default();
    assert!(solver.read_multipliers(&mut multipliers));
    let force: Vec3 = multipliers.contacts.iter().map(|c| c.force).sum();
    assert!((force.z + G).abs() < 1e-3, "{force}");
}

#[test]
fn a_sliding_block_stops_where_coulomb_says() {
    for mu in [0.5, 1.0] {
        let mut scene = ground(mu);
        let mut sled = block(Vec3::new(1.0, 1.0, 0.5), Vec3::new(0.0, 0.0, 0.25), mu);
        sled.velocity.x = 10.0;
        scene.bodies.push(sled);
        let state = run(&mut *build(&scene, "()"), 10, 240);
        // Implicit Euler: mu g h less in every step.
        let (mut v, mut ideal) = (10.0_f64, 0.0);
        while v > 0.0 {
            v = (v - mu * G * H).max(0.0);
            ideal += v * H;
        }
        let found = state.bodies[1].position.x;
        // Below the friction speed it creeps on, for at most 0.01 m/s over three seconds.
        assert!((found - ideal).abs() < 0.03, "{mu}: {found} {ideal}");
    }
}

#[test]
fn friction_holds_nothing_slower_than_its_speed() {
    let mut scene = ground(0.5);
    let turn = Quat::from_scaled_axis(Vec3::y() * 20.0_f64.to_radians());
    scene.bodies[0].rotation = turn;
    let mut cube = block(Vec3::repeat(1.0), turn * Vec3::new(0.0, 0.0, 0.5), 0.5);
    cube.rotation = turn;
    scene.bodies.push(cube);
    for speed in [0.01, 0.002] {
        let mut solver = build(&scene, &format!("(friction_speed: {speed})"));
        let creep = run(&mut *solver, 20, 120).bodies[1].velocity.norm();
        // Friction reaches 2 s - s^2 of Coulomb's at a share s of the speed, and tan 20 / 0.5 is needed.
        let needed = 20.0_f64.to_radians().tan() / 0.5;
        let share = 1.0 - (1.0 - needed).sqrt();
        assert!((creep / (share * speed) - 1.0).abs() < 0.01, "{creep} {}", share * speed);
    }
}

#[test]
fn a_stack_stands() {
    let mut scene = ground(0.5);
    let cube = |i: u32| block(Vec3::repeat(1.0), Vec3::new(0.0, 0.0, f64::from(i) + 0.5), 0.5);
    scene.bodies.extend((0..10).map(cube));
    let state = run(&mut *build(&scene, "()"), 10, 300);
    let top = state.bodies[10].position;
    assert!(top.z > 9.5 - 10.0 * 0.01 && top.xy().norm() < 1e-3, "{top}");
}
