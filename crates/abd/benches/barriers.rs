//! What barriers cost in two scenes, in a table beside what is told of the IPC Toolkit: `cargo bench -p taut-abd`.
//!
//! One thread. Each scene is run for a few steps, so that bodies move apart from each other, and its last state is
//! searched, measured and swept; times are medians over rounds that go through all of it. The search has seen the state
//! before, as in a run. What single pairs cost by their kind is in `crates/ipc/benches/pairs.rs`.

use std::{hint::black_box, time::Instant};

use taut_abd::BACKEND;
use taut_collide::{AffineSweep, Candidates, FeaturePair, FeatureSearch, Surface};
use taut_core::{BodyState, Scene, State, Vec3};
use taut_fixtures::{Run, file, on_threads};
use taut_ipc::{
    ccd::{
        Features, PairSweep,
        additive::{StepRule, safe_share},
    },
    mollifier::threshold,
    pair::BarrierPair,
};
use taut_math::V3;

const ROUNDS: usize = 9;
/// Newton iterations a step may take.
const BUDGET: u32 = 200;

/// The IPC Toolkit 1.6.1, one thread, processor time, on another shared machine of two cores, in the order of the rows. Its
/// boxes had gaps of 1 to 2 mm; how far apart its tori were is not known.
const TOLD: [[f64; 7]; 2] = [
    [462_058.0, 24.0, 203.0, 42_028.0, 0.08, 2.4, 426.0],
    [15_246.0, 77.0, 177.0, 2_079.0, 0.18, 9.1, 375.0],
];

/// The rows, and what is aimed at.
const ROWS: [(&str, Option<f64>); 7] = [
    ("pairs of features within the barrier's reach along each axis", None),
    ("finding them [ms]; the goal is for tori", Some(10.0)),
    ("distance and kind of one [ns]", Some(60.0)),
    ("of these pushed apart", None),
    ("gradient of one of these, from its four points [us]", None),
    ("projected Hessian of one, likewise [us]", Some(1.0)),
    ("additive search for an impact of one, to the least share so far [ns]", Some(150.0)),
];

fn main() {
    let scenes = [
        ("500 unit boxes", file("ipc-boxes", &[])),
        (
            "100 interlocked tori",
            file("rings", &[("n", 100.0), ("mesh", 1.0), ("pitch", 0.675), ("margin", 5e-3)]),
        ),
    ];
    on_threads(1, || {
        let found = scenes.each_ref().map(|(_, scene)| measured(scene));
        println!("| | {} | IPC Toolkit | {} | IPC Toolkit | goal |", scenes[0].0, scenes[1].0);
        println!("|---|---|---|---|---|---|");
        for (k, (what, goal)) in ROWS.iter().enumerate() {
            let goal = goal.map(|goal| goal.to_string()).unwrap_or_default();
            let cells = [found[0][k], TOLD[0][k], found[1][k], TOLD[1][k]].map(number);
            println!("| {what} | {} | {goal} |", cells.join(" | "));
        }
    });
}

/// Counts as they are, anything else to three decimals.
fn number(x: f64) -> String {
    if x.fract() == 0.0 { format!("{x}") } else { format!("{x:.3}") }
}

fn measured(scene: &Scene) -> [f64; 7] {
    let mut run = Run::new(&BACKEND, scene, "()", BUDGET);
    let mut states = [scene.initial_state(), scene.initial_state()];
    for _ in 0..10 {
        states.swap(0, 1);
        states[1].clone_from(run.step());
    }
    let rounds: Vec<[f64; 7]> = (0..ROUNDS).map(|_| one_round(scene, &states)).collect();
    let median = |k: usize| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[k]).collect();
        values.sort_by(f64::total_cmp);
        values[ROUNDS / 2]
    };
    [0, 1, 2, 3, 4, 5, 6].map(median)
}

/// The numbers of all rows, of the second of two states that follow each other.
fn one_round(scene: &Scene, [before, state]: &[State; 2]) -> [f64; 7] {
    let d_hat = scene.contacts.expect("a scene with contacts").margin;
    let mut search = FeatureSearch::new(scene, Surface::SEGMENTS);
    let mut found = Candidates::default();
    let [earlier, still] = [before, state].map(|state| {
        let still = |body: &BodyState| AffineSweep::still(body.frame, body.position);
        state.bodies.iter().map(still).collect::<Vec<AffineSweep>>()
    });
    search.find(&earlier, &before.broken, d_hat, &mut found);
    let (search_s, ()) = timed(|| search.find(&still, &state.broken, d_hat, &mut found));
    let rest: Vec<(usize, Vec3)> = search.rest_vertices().collect();
    let places: Vec<V3<f64>> = rest.iter().map(|(body, x)| still[*body].place(x)[0]).collect();
    let points = |pair: &FeaturePair| pair.corners(&places);
    let (distance_s, _) = timed(|| {
        let squared = |pair: &FeaturePair| pair.features.nearest(&points(pair)).squared;
        found.pairs.iter().map(squared).sum::<f64>()
    });
    let made = |pair: &FeaturePair| match pair.features {
        Features::PointTriangle => BarrierPair::point_triangle(&points(pair), d_hat),
        Features::EdgeEdge => {
            let length = |a: u32, b: u32| (rest[a as usize].1 - rest[b as usize].1).norm();
            let [a, b, c, d] = pair.vertices;
            BarrierPair::edge_edge(&points(pair), threshold(length(a, b), length(c, d)), d_hat)
        }
    };
    let is_pushed = |pair: &&FeaturePair| made(pair).near().squared < d_hat * d_hat;
    let pushed: Vec<&FeaturePair> = found.pairs.iter().filter(is_pushed).collect();
    let (gradient_s, _) =
        timed(|| pushed.iter().map(|pair| black_box(made(pair).gradient())[0]).sum::<f64>());
    let (hessian_s, _) =
        timed(|| pushed.iter().map(|pair| black_box(made(pair).hessian_psd())[0][0]).sum::<f64>());
    let count = [found.pairs.len() as f64, pushed.len() as f64];

    let h = scene.dt;
    let moved = |(i, still): (usize, &AffineSweep)| {
        let (body, now) = (&scene.bodies[i], &state.bodies[i]);
        let fall = if body.is_dynamic() { scene.gravity * (h * h) } else { Vec3::zeros() };
        let position_move = now.velocity * h + fall;
        AffineSweep { frame_move: now.frame_rate * h, position_move, ..*still }
    };
    // Nothing but what forces move goes anywhere here.
    let sweeps: Vec<AffineSweep> = still.iter().enumerate().map(moved).collect();
    search.find(&sweeps, &state.broken, 0.0, &mut found);
    let moves: Vec<V3<f64>> = rest.iter().map(|(body, x)| sweeps[*body].place(x)[1]).collect();
    let (sweep_s, _) = timed(|| {
        found.pairs.iter().fold(1.0, |least, pair| {
            let sweep = PairSweep::new(pair.features, &points(pair), &pair.corners(&moves));
            safe_share(&sweep, 0.0, least, StepRule::default()).unwrap_or(least)
        })
    });
    let swept = found.pairs.len() as f64;
    [
        count[0],
        1e3 * search_s,
        1e9 * distance_s / count[0],
        count[1],
        1e6 * gradient_s / count[1],
        1e6 * hessian_s / count[1],
        1e9 * sweep_s / swept,
    ]
}

/// How long something takes [s], and what comes of it.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let out = black_box(work());
    (start.elapsed().as_secs_f64(), out)
}
