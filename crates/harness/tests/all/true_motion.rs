//! The motion that trajectories are judged by, against integrators of its own: mechanisms in minimal coordinates by
//! the classical Runge-Kutta method at steps so short that their error is rounding.

use std::sync::atomic::AtomicBool;

use nalgebra::{DMatrix, DVector};
use taut::{
    Setup, backends,
    runner::{self, Bench, Keep, KeptStates, ReferenceRuns, References, RunOptions, TrueMotion},
    spec::Spec,
};
use taut_core::{
    Mat3, Scene, State, Vec3, load::load_str, math::skew, metrics::pose_distance_rms_m,
};

/// Gravity of all scenes, along -z [m/s^2].
const GRAVITY: f64 = 9.81;

/// Every backend that the ranking is asked of, with its budget.
const RANKED: [(&str, u32, u32); 6] = [
    ("avbd-cpu", 20, 1),
    ("mabd-cpu", 2, 1),
    ("impulse-cpu", 20, 1),
    ("xpbd-cpu", 20, 1),
    ("xpbd-cpu", 1, 8),
    ("newton", 1, 1),
];

/// A rod or block of a plane mechanism.
struct Link {
    mass: f64,
    /// About the centre, across the plane [kg m^2].
    inertia: f64,
}

/// Where a link is: its centre in the plane [m], and its direction as an angle from x towards z [rad].
type Place = [f64; 3];

/// A mechanism in the plane x-z whose coordinates place all of its links.
struct Mechanism<'a, const N: usize> {
    links: Vec<Link>,
    places: &'a dyn Fn(&[f64; N]) -> Vec<Place>,
}

impl<const N: usize> Mechanism<'_, N> {
    /// Moved along a direction of the coordinates.
    fn along(&self, q: &[f64; N], direction: &[f64; N], by: f64) -> Vec<Place> {
        (self.places)(&std::array::from_fn(|i| q[i] + by * direction[i]))
    }

    /// First and second derivative of all places along a direction, by five points.
    fn derivatives(&self, q: &[f64; N], direction: &[f64; N]) -> Vec<[Place; 2]> {
        const H: f64 = 1e-3;
        let at = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| self.along(q, direction, k * H));
        let first = |i: usize, k: usize| {
            (at[0][i][k] - 8.0 * at[1][i][k] + 8.0 * at[3][i][k] - at[4][i][k]) / (12.0 * H)
        };
        let second = |i: usize, k: usize| {
            let ends = -at[0][i][k] - at[4][i][k];
            (ends + 16.0 * (at[1][i][k] + at[3][i][k]) - 30.0 * at[2][i][k]) / (12.0 * H * H)
        };
        let both =
            |i| [std::array::from_fn(|k| first(i, k)), std::array::from_fn(|k| second(i, k))];
        (0..self.links.len()).map(both).collect()
    }

    /// Second derivatives of the coordinates: `J^T W J q'' = J^T (f - W J' q')` by d'Alembert's principle.
    fn accelerations(&self, q: &[f64; N], rates: &[f64; N]) -> [f64; N] {
        let columns: Vec<_> = (0..N)
            .map(|i| self.derivatives(q, &std::array::from_fn(|j| f64::from(u8::from(i == j)))))
            .collect();
        let bent = self.derivatives(q, rates);
        let mut matrix = DMatrix::zeros(N, N);
        let mut force = DVector::zeros(N);
        for (l, link) in self.links.iter().enumerate() {
            let weights = [link.mass, link.mass, link.inertia];
            for i in 0..N {
                let column = columns[i][l][0];
                for k in 0..3 {
                    let load = if k == 1 { -link.mass * GRAVITY } else { 0.0 };
                    force[i] += column[k] * (load - weights[k] * bent[l][1][k]);
                    for j in 0..N {
                        matrix[(i, j)] += column[k] * weights[k] * columns[j][l][0][k];
                    }
                }
            }
        }
        let solved = matrix.cholesky().expect("masses are positive").solve(&force);
        std::array::from_fn(|i| solved[i])
    }

    /// Places of all links after each of so many frames from rest.
    fn path(&self, start: [f64; N], dt: f64, frames: u32) -> Vec<Vec<Place>> {
        const STEPS: u32 = 20;
        let h = dt / f64::from(STEPS);
        let (mut q, mut rates) = (start, [0.0; N]);
        let mut path = vec![(self.places)(&q)];
        for _ in 0..frames {
            for _ in 0..STEPS {
                (q, rates) = self.step(&q, &rates, h);
            }
            path.push((self.places)(&q));
        }
        path
    }

    fn step(&self, q: &[f64; N], v: &[f64; N], h: f64) -> ([f64; N], [f64; N]) {
        let plus = |a: &[f64; N], by: f64, b: &[f64; N]| std::array::from_fn(|i| a[i] + by * b[i]);
        let a1 = self.accelerations(q, v);
        let v2: [f64; N] = plus(v, h / 2.0, &a1);
        let a2 = self.accelerations(&plus(q, h / 2.0, v), &v2);
        let v3: [f64; N] = plus(v, h / 2.0, &a2);
        let a3 = self.accelerations(&plus(q, h / 2.0, &v2), &v3);
        let v4: [f64; N] = plus(v, h, &a3);
        let a4 = self.accelerations(&plus(q, h, &v3), &v4);
        let mean =
            |x: [&[f64; N]; 4], i: usize| (x[0][i] + 2.0 * (x[1][i] + x[2][i]) + x[3][i]) / 6.0;
        let next_q = std::array::from_fn(|i| q[i] + h * mean([v, &v2, &v3, &v4], i));
        let next_v = std::array::from_fn(|i| v[i] + h * mean([&a1, &a2, &a3, &a4], i));
        (next_q, next_v)
    }
}

/// Direction from one point to another, and the distance.
fn heading(from: [f64; 2], to: [f64; 2]) -> (f64, f64) {
    let (x, z) = (to[0] - from[0], to[1] - from[1]);
    (z.atan2(x), x.hypot(z))
}

/// A rod from a point at an angle: its place and its other end.
fn rod(from: [f64; 2], angle: f64, length: f64) -> (Place, [f64; 2]) {
    let (sin, cos) = angle.sin_cos();
    let end = [from[0] + length * cos, from[1] + length * sin];
    ([(from[0] + end[0]) / 2.0, (from[1] + end[1]) / 2.0, angle], end)
}

/// Square section of all rods [m].
const WIDE: f64 = 0.04;

const DENSITY: f64 = 1000.0;

fn rod_link(length: f64) -> Link {
    let mass = DENSITY * length * WIDE * WIDE;
    Link { mass, inertia: mass * (length * length + WIDE * WIDE) / 12.0 }
}

/// A scene of rods with these lengths at these places; whatever else is in `lists`.
fn scene(lengths: &[f64], places: &[Place], joints: &str) -> Scene {
    let bodies = lengths.iter().zip(places).enumerate().map(|(i, (length, [x, z, angle]))| {
        // From x towards z is about -y.
        format!(
            "body(name: \"rod[{i}]\", shape: box(size: ({length}, {WIDE}, {WIDE})), density: {DENSITY}, \
             position: ({x}, 0, {z}), \
             rotation: axis_angle(axis: (0, -1, 0), degrees: {})),",
            angle.to_degrees()
        )
    });
    let bodies: String = bodies.collect();
    let text = format!(
        "(about: \"a mechanism\", gravity: (0, 0, -{GRAVITY}), dt: 0.01, steps: 60, contacts: false, \
         watch: [], parameters: {{}}, bodies: [{bodies}], joints: [{joints}])"
    );
    load_str(&text, "mechanism", &[]).expect("a scene").scene
}

fn hinge(a: &str, b: &str, [x, z]: [f64; 2]) -> String {
    format!("hinge(a: \"{a}\", b: \"{b}\", at: ({x}, 0, {z}), axis: (0, 1, 0)),")
}

/// The states of a path, as far as poses go.
fn states(scene: &Scene, path: &[Vec<Place>]) -> Vec<State> {
    let start = scene.initial_state();
    let at = |places: &Vec<Place>| {
        let mut state = start.clone();
        for (body, [x, z, angle]) in state.bodies.iter_mut().zip(places) {
            body.position = Vec3::new(*x, 0.0, *z);
            let (sin, cos) = angle.sin_cos();
            body.frame = Mat3::new(cos, 0.0, -sin, 0.0, 1.0, 0.0, sin, 0.0, cos);
        }
        state
    };
    path.iter().map(at).collect()
}

/// The largest distance of two trajectories at any time [m].
fn largest(scene: &Scene, path: &[State], truth: &[State]) -> f64 {
    let apart = path.iter().zip(truth).map(|(a, b)| pose_distance_rms_m(scene, a, b).unwrap());
    assert_eq!(path.len(), truth.len());
    apart.fold(0.0, f64::max)
}

/// The motion found is as near to the truth as it says, and all backends are ranked by it as by the truth.
fn judge(name: &str, scene: &Scene, truth: &[State], error_max_m: f64) {
    let setup = Setup { table: backends::table(), ..Setup::default() };
    let cancel = AtomicBool::new(false);
    let bench = Bench::new(&setup, 1, &cancel).expect("a thread");
    assert!(largest(scene, &truth[..1], &[scene.initial_state()]) < 1e-12, "{name}: another start");
    let motion: TrueMotion = ReferenceRuns::new(&bench, scene, scene.steps, None)
        .true_motion()
        .expect("newton takes it");
    let off = largest(scene, &motion.states, truth);
    let said = motion.error_max_m();
    assert!(off <= said.max(1e-10), "{name}: {off:.1e} m from the truth, said to be {said:.1e} m");
    assert!(said < error_max_m, "{name}: known to {said:.1e} m, wanted {error_max_m:.1e} m");

    let mut found: Vec<(f64, f64, String)> = Vec::new();
    for (backend, iterations, substeps) in RANKED {
        let spec = Spec { substeps, ..Spec::new(backend, iterations) };
        let references = References { motion: Some(&motion), ..References::default() };
        let options = RunOptions { steps: scene.steps, references, asked: &[] };
        let mut kept = KeptStates::new(Keep::Everything);
        let row = runner::run(&bench, scene, &spec, &options, &mut [&mut kept]);
        assert_eq!(row.steps, scene.steps, "{name} {backend}: {}", row.reason);
        let path: Vec<State> = kept.states.into_iter().map(|(_, state)| state).collect();
        let judged = row.summary.get("distance_to_motion_m").expect("it is measured");
        found.push((largest(scene, &path, truth), judged, format!("{backend}@{substeps}")));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let told = || {
        let line = |(truly, judged, label): &(f64, f64, String)| {
            format!("{label} {truly:.3e} judged {judged:.3e}; ")
        };
        found.iter().map(line).collect::<String>()
    };
    println!("{name}: known to {said:.1e} m, off by {off:.1e} m; {}", told());
    assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{name}: {}", told());
}

#[test]
fn a_double_pendulum() {
    const LENGTHS: [f64; 2] = [0.5, 0.7];
    let places = |q: &[f64; 2]| {
        let (upper, knee) = rod([0.0; 2], q[0], LENGTHS[0]);
        vec![upper, rod(knee, q[1], LENGTHS[1]).0]
    };
    let start = [0.0, 0.6];
    let knee = rod([0.0; 2], start[0], LENGTHS[0]).1;
    let joints = hinge("world", "rod[0]", [0.0; 2]) + &hinge("rod[0]", "rod[1]", knee);
    let scene = scene(&LENGTHS, &places(&start), &joints);
    let mechanism = Mechanism { links: LENGTHS.map(rod_link).into(), places: &places };
    let truth = states(&scene, &mechanism.path(start, scene.dt, scene.steps));
    judge("double pendulum", &scene, &truth, 1e-5);
}

#[test]
fn a_slider_and_its_crank() {
    // The slider is a short rod on a guide along x.
    const LENGTHS: [f64; 3] = [0.3, 0.8, 0.1];
    let places = |[q]: &[f64; 1]| {
        let (crank, pin) = rod([0.0; 2], *q, LENGTHS[0]);
        let reach = (LENGTHS[1].powi(2) - pin[1].powi(2)).sqrt();
        let end = [pin[0] + reach, 0.0];
        let coupler = rod(pin, heading(pin, end).0, LENGTHS[1]).0;
        vec![crank, coupler, [end[0], 0.0, 0.0]]
    };
    let start = [1.2];
    let at = places(&start);
    let pin = rod([0.0; 2], start[0], LENGTHS[0]).1;
    let end = at[2][0];
    let joints = hinge("world", "rod[0]", [0.0; 2])
        + &hinge("rod[0]", "rod[1]", pin)
        + &hinge("rod[1]", "rod[2]", [end, 0.0])
        + &format!("prismatic(a: \"world\", b: \"rod[2]\", at: ({end}, 0, 0), axis: (1, 0, 0)),");
    let scene = scene(&LENGTHS, &at, &joints);
    let mechanism = Mechanism { links: LENGTHS.map(rod_link).into(), places: &places };
    let truth = states(&scene, &mechanism.path(start, scene.dt, scene.steps));
    judge("slider and crank", &scene, &truth, 1e-5);
}

#[test]
fn a_four_bar_linkage() {
    const LENGTHS: [f64; 3] = [0.4, 0.9, 0.7];
    const FAR: [f64; 2] = [1.0, 0.0];
    let elbow = |pin: [f64; 2]| {
        let (angle, distance) = heading(pin, FAR);
        let [_, coupler, rocker] = LENGTHS;
        let cos =
            (coupler.powi(2) + distance.powi(2) - rocker.powi(2)) / (2.0 * coupler * distance);
        angle + cos.acos()
    };
    let places = |[q]: &[f64; 1]| {
        let (crank, pin) = rod([0.0; 2], *q, LENGTHS[0]);
        let (coupler, end) = rod(pin, elbow(pin), LENGTHS[1]);
        vec![crank, coupler, rod(end, heading(end, FAR).0, LENGTHS[2]).0]
    };
    let start = [1.0];
    let pin = rod([0.0; 2], start[0], LENGTHS[0]).1;
    let end = rod(pin, elbow(pin), LENGTHS[1]).1;
    let joints = hinge("world", "rod[0]", [0.0; 2])
        + &hinge("rod[0]", "rod[1]", pin)
        + &hinge("rod[1]", "rod[2]", end)
        + &hinge("world", "rod[2]", FAR);
    let scene = scene(&LENGTHS, &places(&start), &joints);
    let mechanism = Mechanism { links: LENGTHS.map(rod_link).into(), places: &places };
    let truth = states(&scene, &mechanism.path(start, scene.dt, scene.steps));
    judge("four-bar linkage", &scene, &truth, 1e-5);
}

#[test]
fn a_spinning_top() {
    const SIZE: Vec3 = Vec3::new(0.2, 0.2, 0.06);
    const ARM: f64 = 0.15;
    let tilt = 0.5_f64;
    let (sin, cos) = tilt.sin_cos();
    let axis = Vec3::new(sin, 0.0, cos);
    let (spin, centre) = (axis * 25.0, axis * ARM);
    let velocity = spin.cross(&centre);
    let list = |v: Vec3| format!("({}, {}, {})", v.x, v.y, v.z);
    let text = format!(
        "(about: \"a top\", gravity: (0, 0, -{GRAVITY}), dt: 0.01, steps: 60, contacts: false, watch: [], \
         parameters: {{}}, bodies: [body(name: \"top\", shape: box(size: {}), density: {DENSITY}, \
         position: {}, rotation: axis_angle(axis: (0, 1, 0), degrees: {}), velocity: {}, omega: {})], \
         joints: [ball(a: \"world\", b: \"top\", at: (0, 0, 0))])",
        list(SIZE),
        list(centre),
        tilt.to_degrees(),
        list(velocity),
        list(spin),
    );
    let scene = load_str(&text, "top", &[]).expect("a scene").scene;

    let mass = DENSITY * SIZE.product();
    let squares = SIZE.component_mul(&SIZE);
    let moment = |i: usize| mass * (squares.sum() - squares[i]) / 12.0;
    let shifted = Vec3::new(mass * ARM * ARM, mass * ARM * ARM, 0.0);
    let inertia = Vec3::new(moment(0), moment(1), moment(2)) + shifted;
    // Euler's equations about the tip, in body axes.
    let change = |frame: &Mat3, omega: &Vec3| {
        let load = frame.transpose() * Vec3::new(0.0, 0.0, -mass * GRAVITY);
        let torque =
            Vec3::new(0.0, 0.0, ARM).cross(&load) - omega.cross(&inertia.component_mul(omega));
        (frame * skew(omega), torque.component_div(&inertia))
    };
    let mut frame = Mat3::new(cos, 0.0, sin, 0.0, 1.0, 0.0, -sin, 0.0, cos);
    let mut omega = frame.transpose() * spin;
    let mut truth = vec![scene.initial_state()];
    let h = scene.dt / 200.0;
    for _ in 0..scene.steps {
        for _ in 0..200 {
            let (f1, w1) = change(&frame, &omega);
            let (f2, w2) = change(&(frame + f1 * (h / 2.0)), &(omega + w1 * (h / 2.0)));
            let (f3, w3) = change(&(frame + f2 * (h / 2.0)), &(omega + w2 * (h / 2.0)));
            let (f4, w4) = change(&(frame + f3 * h), &(omega + w3 * h));
            frame += (f1 + (f2 + f3) * 2.0 + f4) * (h / 6.0);
            omega += (w1 + (w2 + w3) * 2.0 + w4) * (h / 6.0);
        }
        let mut state = truth[0].clone();
        (state.bodies[0].frame, state.bodies[0].position) =
            (frame, frame * Vec3::new(0.0, 0.0, ARM));
        truth.push(state);
    }
    judge("spinning top", &scene, &truth, 1e-3);
}
