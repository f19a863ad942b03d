//! A method of block descent on the adapter and on the CPU, in single precision and coloured order: the same bits.

mod agree;

use std::path::Path;

use taut_core::{
    Backend, Given, Multipliers, Native, NoDevices, Scene, Settings, Solver, State, Step, Vec3,
    load::{load_file, load_str},
    scene::{Body, Contacts, Shape},
};
use taut_gpu::Gpu;

use self::agree::{agree, apart};

/// The same method twice.
pub(crate) struct Twins {
    pub(crate) cpu: Native,
    pub(crate) gpu: Native,
}

pub(crate) fn load(name: &str, parameters: &[(&str, f64)]) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.ron"));
    let parameters: Vec<_> =
        parameters.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    load_file(&file, &parameters).expect("a scene of the project").scene
}

/// Joints of all kinds, springs of both kinds, limits, motors, particles, driven bodies, joints that break.
pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        load("rope", &[]),
        load("heavy-rope", &[]),
        load("necklace", &[("chains", 2.0)]),
        load("net", &[("n", 4.0)]),
        load("flag", &[]),
        load("two-springs", &[]),
        load("joint-zoo", &[]),
        load("panda", &[]),
        load_str(WOUND, "wound", &[]).expect("a scene").scene,
    ]
}

const WOUND: &str = r#"(
    about: "Angular springs wound up by up to 140 degrees, alone and along a chain.",
    gravity: (0, 0, -10), dt: "1/60", steps: 60, contacts: false, watch: ["free"],
    bodies: [
        body(name: "free", shape: box(size: (0.6, 0.4, 0.2)), mass: 1, position: (0, 2, 0)),
        chain(
            name: "link", count: 3, start: (0.5, 0, 0), step: (1, 0, 0), root: "world",
            body: (shape: box(size: (1, 0.2, 0.3)), mass: 1), joint: ball(),
        ),
    ],
    springs: [
        angular(a: "world", b: "free", stiffness: 3,
            basis_b: axis_angle(axis: (1, 2, -1), degrees: 140)),
        angular(a: "link[0]", b: "link[1]", stiffness: 20,
            basis_b: axis_angle(axis: (0.3, 1, 0.5), degrees: 100)),
        angular(a: "link[1]", b: "link[2]", stiffness: 5,
            basis_a: axis_angle(axis: (1, 0, 0.5), degrees: 3)),
    ],
)"#;

/// A body with 65 joints, and one that lies on 36 others.
pub(crate) fn crowded_scenes() -> [Scene; 2] {
    let load = |(name, text): (&str, &str)| load_str(text, name, &[]).expect("a scene").scene;
    [("hub", HUB), ("plate", PLATE)].map(load)
}

const HUB: &str = r#"(
    about: "A hub that hangs on a post has 64 ropes of two links.",
    gravity: (0, 0, -10), dt: "1/60", steps: 60, contacts: false, watch: ["hub[0]"],
    bodies: [
        body(name: "post", shape: box(size: (0.2, 0.2, 0.2)), motion: static, position: (0, 0, 1)),
        chain(
            name: "hub", count: 1, start: (0.4, 0, 0), step: (0.2, 0, -1), root: "post",
            body: (shape: box(size: (2, 2, 0.2)), density: 100), joint: ball(),
        ),
        repeat(count: 64, bodies: [
            chain(
                name: "rope[i]", count: 2, root: "hub[0]",
                start: ("0.25*(i % 8 - 3.5)", "0.25*(floor(i/8) - 3.5)", -0.5), step: (0.05, 0.02, -0.4),
                body: (shape: box(size: (0.1, 0.1, 0.3)), density: 100), joint: ball(),
            ),
        ]),
    ],
)"#;

const PLATE: &str = r#"(
    about: "A plate falls on 36 cubes, so that it has as many contacts.",
    gravity: (0, 0, -10), dt: "1/60", steps: 60, contacts: (margin: 0.01), watch: ["plate"],
    bodies: [
        body(name: "ground", shape: box(size: (10, 10, 1)), motion: static, friction: 0.5, position: (0, 0, -0.5)),
        grid(
            name: "cube", counts: (6, 6, 1), start: (-1.25, -1.25, 0.15), step: (0.5, 0.5, 1),
            body: (shape: box(size: (0.3, 0.3, 0.3)), density: 100, friction: 0.5),
        ),
        body(
            name: "plate", shape: box(size: (3.2, 3.2, 0.2)), density: 100, friction: 0.5,
            position: (0, 0, 0.42), velocity: (0.3, 0.1, 0),
        ),
    ],
)"#;

/// A chain whose joints tear one after the other.
pub(crate) fn breaking_chain() -> Scene {
    let mut chain = load("pendulum", &[("links", 12.0)]);
    for (i, joint) in (0_u8..).zip(&mut chain.joints) {
        joint.break_force = 25.0 + 40.0 * f64::from(i % 3);
    }
    chain
}

pub(crate) fn advance(solver: &mut dyn Solver, dt: f64, iterations: u32) {
    solver.begin_step(Step { dt, iterations }).unwrap();
    for _ in 0..iterations {
        solver.iterate().unwrap();
    }
    solver.end_step().unwrap();
}

/// Boxes that rest, fall, tip and slide, beside joints; other shapes; driven bodies.
pub(crate) fn touching_scenes() -> Vec<Scene> {
    vec![
        load("stack", &[("n", 4.0), ("gap", 0.1)]),
        load("pyramid", &[("n", 4.0)]),
        load("friction-slide", &[]),
        load("incline", &[]),
        load("bridge", &[("n", 8.0)]),
        load("shapes", &[]),
        load("breakable", &[]),
        load("wall", &[("rows", 3.0), ("columns", 4.0), ("balls", 1.0)]),
    ]
}

/// Balls that fall side by side, all of them close to each other: more often than a device has room for at first.
fn swarm() -> Scene {
    let ball = |i: u8| {
        let (turn, z) = (2.4 * f64::from(i), 0.1 * f64::from(i));
        let shape = Shape::Sphere { radius: 0.1 };
        let at = Vec3::new(turn.cos(), turn.sin(), z);
        Body { shape, ..Body::solid_box(Vec3::repeat(0.2), 100.0).at(at) }
    };
    let bodies = (0..36).map(ball).collect();
    let contacts = Some(Contacts { margin: 10.0, points_max: 4 });
    Scene { name: "swarm".to_owned(), bodies, contacts, ..load("stack", &[]) }
}

impl Twins {
    pub(crate) fn pair(&self, gpu: &Gpu, scene: &Scene, settings: &str) -> [Box<dyn Solver>; 2] {
        let single =
            Settings::from_ron(settings.replacen('(', "(precision: f32, order: coloured,", 1));
        let hosted = Settings::from_ron(settings.replacen('(', "(collision: host,", 1));
        let both = [
            self.cpu.build(scene, &single, &NoDevices),
            self.gpu.build(scene, &hosted, &Given(gpu)),
        ];
        both.map(|solver| solver.unwrap_or_else(|e| panic!("{} {settings}: {e}", scene.name)))
    }

    /// Steps both and compares them after every step.
    pub(crate) fn compare(&self, gpu: &Gpu, scene: &Scene, settings: &str) -> (State, Multipliers) {
        let [mut on_cpu, mut on_gpu] = self.pair(gpu, scene, settings);
        let (mut a, mut b) = (State::default(), State::default());
        for step in 1..=60 {
            // Another length half way: what depends on it is made anew.
            let dt = if step > 30 { scene.dt / 2.0 } else { scene.dt };
            advance(&mut *on_cpu, dt, 5);
            advance(&mut *on_gpu, dt, 5);
            on_cpu.read(&mut a).unwrap();
            on_gpu.read(&mut b).unwrap();
            agree(gpu, [&a, &b], step, &format!("{} {settings}", scene.name));
        }
        let (mut f, mut g) = Default::default();
        assert!(on_cpu.read_multipliers(&mut f) && on_gpu.read_multipliers(&mut g));
        assert!(f == g || !gpu.facts().software, "{} {settings}", scene.name);
        (a, f)
    }

    /// What several invocations sum for one body is what the CPU sums in the same groups, and not what it sums
    /// one after the other.
    pub(crate) fn compare_crowded(&self) {
        let Some(gpu) = Gpu::for_test() else { return };
        for scene in crowded_scenes() {
            let hashes = ["()", "(lanes_per_body: 2)", "(lanes_per_body: 16)"]
                .map(|settings| self.compare(&gpu, &scene, settings).0.hash());
            assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2], "{}", scene.name);
        }
    }

    /// Nothing depends on the size of workgroups.
    pub(crate) fn compare_workgroups(&self) {
        let Some(gpu) = Gpu::for_test() else { return };
        let plain = [load("rope", &[]), load("pyramid", &[("n", 4.0), ("gap", 0.0)])];
        let gpus = [&gpu, &gpu.resized(256)];
        for scene in plain.into_iter().chain(crowded_scenes()) {
            for settings in ["()", "(lanes_per_body: 16)"] {
                let hashes = gpus.map(|gpu| {
                    let mut solver =
                        self.gpu.build(&scene, &Settings::from_ron(settings), &Given(gpu)).unwrap();
                    (0..10).for_each(|_| advance(&mut *solver, scene.dt, 5));
                    let mut state = State::default();
                    solver.read(&mut state).unwrap();
                    state.hash()
                });
                assert_eq!(hashes[0], hashes[1], "{} {settings}", scene.name);
            }
        }
    }

    /// Searching on the device gives other roundings, and so another motion, but the same rest.
    pub(crate) fn hold_the_same_with_contacts_of_the_device(&self) {
        let Some(gpu) = Gpu::for_test() else { return };
        for scene in [
            load("stack", &[("n", 4.0), ("gap", 0.0)]),
            load("pyramid", &[("n", 5.0), ("gap", 0.0)]),
            load("incline", &[]),
            load("wall", &[("rows", 3.0), ("columns", 4.0), ("balls", 0.0)]),
            swarm(),
        ] {
            let states = ["(collision: host)", "(collision: device)"].map(|settings| {
                let mut solver =
                    self.gpu.build(&scene, &Settings::from_ron(settings), &Given(&gpu)).unwrap();
                let (mut state, mut forces) = (State::default(), Multipliers::default());
                (0..60).for_each(|_| advance(&mut *solver, scene.dt, 10));
                solver.read(&mut state).unwrap();
                assert!(solver.read_multipliers(&mut forces));
                (state, forces)
            });
            let [(host, pressed), (device, found)] = &states;
            let apart = apart(host, device);
            assert!(apart < 1e-3, "{}: {apart:e} m apart", scene.name);
            assert_eq!(pressed.contacts.len(), found.contacts.len(), "{}", scene.name);
            let weight = |m: &Multipliers| m.contacts.iter().map(|c| c.force.norm()).sum::<f64>();
            let [found, pressed] = [weight(found), weight(pressed)];
            assert!((found - pressed).abs() <= 0.05 * pressed, "{}: {found} N", scene.name);
        }
    }

    /// Between two steps the host asks how many contacts there were, with 32 bytes; within one it asks nothing.
    pub(crate) fn read_no_contacts_back(&self) {
        let Some(gpu) = Gpu::for_test() else { return };
        let scene = load("pyramid", &[("n", 4.0), ("gap", 0.0)]);
        let mut solver = self.gpu.build(&scene, &Settings::from_ron("()"), &Given(&gpu)).unwrap();
        let mut dispatches = |iterations: u32| {
            advance(&mut *solver, scene.dt, iterations);
            solver.begin_step(Step { dt: scene.dt, iterations }).unwrap();
            let before = gpu.counters();
            (0..iterations).for_each(|_| solver.iterate().unwrap());
            solver.end_step().unwrap();
            let after = gpu.counters();
            assert_eq!(after.reads, before.reads);
            assert_eq!(after.submissions - before.submissions, 1);
            after.dispatches - before.dispatches
        };
        // Sixteen colours, what colours are left, and the update of contacts and of elements, of which there are none.
        let each = dispatches(11) - dispatches(10);
        assert_eq!(each, 16 + 1 + 1);
    }
}
