//! Collision along straight lines against collision along arcs, on the candidates of a scene.
//!
//! ```text
//! cargo run --release -p taut-abd --example ccd -- scenes/rings.ron 200
//! ```
//!
//! The scene is run for so many steps. In each, all candidates of the motion that inertia and gravity ask for are
//! searched for impacts three times, between the same rigid poses: along straight lines by steps that cannot use up the
//! distance there is, along them by roots of a cubic, and along arcs as rigid bodies move, after Ferguson et al. (2021).
//! Printed are times per query, and how far each lets the step go at worst.

use std::{env, hint::black_box, path::Path, process::ExitCode, time::Instant};

use taut_abd::BACKEND;
use taut_collide::{AffineSweep, Candidates, FeaturePair, FeatureSearch, Surface};
use taut_core::{BodyState, Quat, Scene, State, Vec3, load, scene::Body};
use taut_fixtures::Run;
use taut_ipc::ccd::{
    Features, PairSweep,
    additive::{StepRule, safe_share},
    cubic,
    curved::{RigidSweep, safe_share_of_arcs},
};
use taut_math::V3;

/// Newton iterations a step may take.
const BUDGET: u32 = 200;

/// One way to search, over all steps.
#[derive(Default)]
struct Tally {
    seconds: f64,
    /// Least share of each step.
    shares: Vec<f64>,
}

fn main() -> ExitCode {
    let given: Vec<String> = env::args().skip(1).collect();
    let [file, steps] = &given[..] else {
        eprintln!("usage: ccd SCENE STEPS");
        return ExitCode::FAILURE;
    };
    let (loaded, steps) = match (load::load_file(Path::new(file), &[]), steps.parse::<u32>()) {
        (Ok(loaded), Ok(steps)) => (loaded, steps),
        (Err(error), _) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        (_, Err(error)) => {
            eprintln!("{steps}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let scene = loaded.scene;
    let mut run = Run::new(&BACKEND, &scene, "()", BUDGET);
    let mut search = FeatureSearch::new(&scene, Surface::SEGMENTS);
    let mut vertices = Vec::new();
    for (body, _) in scene.bodies.iter().enumerate() {
        let surface = search.surface(body).map_or(&[][..], |surface| &surface.vertices);
        vertices.extend(surface.iter().map(|v| (body, *v)));
    }
    let margin = scene.contacts.unwrap_or_default().margin;
    let (mut found, mut queries) = (Candidates::default(), 0);
    let mut tallies: [Tally; 3] = Default::default();
    for _ in 0..steps {
        let state = run.step().clone();
        let poses = poses(&scene, &state);
        let sweeps: Vec<AffineSweep> = poses.iter().map(straight).collect();
        search.find(&sweeps, &state.broken, margin, &mut found);
        queries += found.pairs.len();
        let ways: Vec<[V3<f64>; 2]> = vertices.iter().map(|(i, x)| sweeps[*i].place(x)).collect();
        let sweep = |pair: &FeaturePair| {
            let [start, moves] = [0, 1].map(|k| pair.vertices.map(|v| ways[v as usize][k]));
            PairSweep::new(pair.features, &start, &moves)
        };
        let [lines, cubics, arcs] = &mut tallies;
        lines.add(&found.pairs, |pair| safe_share(&sweep(pair), 0.0, 1.0, StepRule::default()));
        cubics.add(&found.pairs, |pair| {
            let [start, moves] = [0, 1].map(|k| pair.vertices.map(|v| ways[v as usize][k]));
            match pair.features {
                Features::PointTriangle => cubic::point_triangle(&start, &moves, 1.0),
                Features::EdgeEdge => cubic::edge_edge(&start, &moves, 1.0),
            }
        });
        let turns: Vec<RigidSweep> = poses.iter().map(turning).collect();
        let at_start = |(i, x): &(usize, Vec3)| V3((poses[*i][0].frame * x).into());
        let turned: Vec<V3<f64>> = vertices.iter().map(at_start).collect();
        arcs.add(&found.pairs, |pair| {
            let points = pair.vertices.map(|v| turned[v as usize]);
            safe_share_of_arcs(pair.features, &points, &pair.bodies.map(|i| turns[i as usize]))
        });
    }
    println!("{steps} steps, {queries} queries");
    let names = ["straight, additive", "straight, cubic", "arcs"];
    for (name, tally) in names.iter().zip(&tallies) {
        let nanoseconds = 1e9 * tally.seconds / queries as f64;
        let mean = tally.shares.iter().sum::<f64>() / tally.shares.len() as f64;
        println!("{name:20} {nanoseconds:10.1} ns a query, mean share of a step {mean:.4}");
    }
    let pairs = tallies[0].shares.iter().zip(&tallies[2].shares);
    let apart = pairs.map(|(line, arc)| (line - arc).abs()).fold(0.0, f64::max);
    let ratio = tallies[2].seconds / tallies[0].seconds;
    println!("arcs take {ratio:.1} times as long; shares of a step differ by {apart:.4} at most");
    ExitCode::SUCCESS
}

impl Tally {
    fn add(&mut self, pairs: &[FeaturePair], search: impl Fn(&FeaturePair) -> Option<f64>) {
        let start = Instant::now();
        let share = pairs.iter().filter_map(|pair| black_box(search(pair))).fold(1.0, f64::min);
        self.seconds += start.elapsed().as_secs_f64();
        self.shares.push(share);
    }
}

/// Rigid poses of all bodies now and where inertia and gravity take them.
fn poses(scene: &Scene, state: &State) -> Vec<[BodyState; 2]> {
    let pose = |(body, now): (&Body, &BodyState)| {
        let rigid = |frame, position| {
            let loose = BodyState { frame, position, ..*now };
            BodyState::rigid(position, loose.rotation(), Vec3::zeros(), Vec3::zeros())
        };
        let start = rigid(now.frame, now.position);
        if !body.is_dynamic() {
            return [start, start];
        }
        let h = scene.dt;
        let fall = scene.gravity * (h * h);
        let end = rigid(now.frame + now.frame_rate * h, now.position + now.velocity * h + fall);
        [start, end]
    };
    scene.bodies.iter().zip(&state.bodies).map(pose).collect()
}

fn straight([start, end]: &[BodyState; 2]) -> AffineSweep {
    AffineSweep {
        frame: start.frame,
        position: start.position,
        frame_move: end.frame - start.frame,
        position_move: end.position - start.position,
    }
}

fn turning([start, end]: &[BodyState; 2]) -> RigidSweep {
    let turn: Quat = end.rotation() * start.rotation().inverse();
    let position = [start.position, end.position].map(|x| V3(x.into()));
    RigidSweep { position, rotation: [V3::ZERO, V3(turn.scaled_axis().into())] }
}
