//! Collision along straight lines against collision along arcs, on the pairs of features that a state asks for.
//!
//! A step moves bodies to where inertia and gravity take them. All pairs whose boxes meet on straight ways are searched
//! for impacts three times, between the same rigid poses: along straight lines of vertices, as affine bodies move, by
//! steps that cannot use up the distance there is and by roots of a cubic; and along the arcs of rigid motion, after
//! Ferguson et al. (2021). What an arc alone reaches, outside the boxes of straight ways and the margin, is not looked at.
//! Shares of the step are functions of the state; the seconds are those of a clock.

use std::{hint::black_box, time::Instant};

use taut_core::{
    BodyState, Quat, Scene, State, Vec3,
    scene::{Body, Shape},
};
use taut_ipc::ccd::{
    Features, PairSweep,
    additive::{StepRule, safe_share},
    cubic,
    curved::{RigidSweep, safe_share_of_arcs},
};
use taut_math::V3;

use crate::{AffineSweep, Candidates, FeaturePair, FeatureSearch, Surface};

/// What the searches of one state told.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathMeasures {
    /// How many pairs of features were searched.
    pub pairs: usize,
    /// The share of the step that is free of impacts along straight lines [1].
    pub line_share: f64,
    /// The same along arcs, of the same pairs [1].
    pub arc_share: f64,
    /// Time per pair along lines, by the cubic and along arcs, over all states so far [s]; `None` where there was no
    /// pair.
    pub seconds: Option<[f64; 3]>,
}

/// Searches the states of one scene.
pub struct PathProbe {
    search: FeatureSearch,
    /// Of all surfaces, with their bodies, in body coordinates [m].
    vertices: Vec<(usize, Vec3)>,
    found: Candidates,
    /// Time along lines, by the cubic and along arcs so far [s], and on how many pairs.
    spent: [f64; 3],
    searched: usize,
}

impl std::fmt::Debug for PathProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PathProbe").field("spent", &self.spent).finish_non_exhaustive()
    }
}

impl PathProbe {
    /// For states of a scene.
    pub fn new(scene: &Scene) -> Self {
        let search = FeatureSearch::new(scene, Surface::SEGMENTS);
        let vertices = search.rest_vertices().collect();
        Self { search, vertices, found: Candidates::default(), spent: [0.0; 3], searched: 0 }
    }

    /// Searches the step of `h` [s] that inertia and gravity ask for in a state of the scene it was made for.
    pub fn measure(&mut self, scene: &Scene, state: &State, h: f64) -> PathMeasures {
        let poses = poses(scene, state, h);
        let sweeps: Vec<AffineSweep> = poses.iter().map(straight).collect();
        let margin = scene.contacts.unwrap_or_default().margin;
        self.search.find(&sweeps, &state.broken, margin, &mut self.found);
        let ways: Vec<[V3<f64>; 2]> =
            self.vertices.iter().map(|(body, x)| sweeps[*body].place(x)).collect();
        let turns: Vec<RigidSweep> = poses.iter().map(turning).collect();
        let turned: Vec<V3<f64>> =
            self.vertices.iter().map(|(body, x)| V3((poses[*body][0].frame * x).into())).collect();
        let way = |pair: &FeaturePair| {
            let [a, b, c, d] = pair.corners(&ways);
            [[a[0], b[0], c[0], d[0]], [a[1], b[1], c[1], d[1]]]
        };
        let pairs = &self.found.pairs;
        let (line_s, line_share) = timed(pairs, |pair| {
            let [start, moves] = way(pair);
            safe_share(
                &PairSweep::new(pair.features, &start, &moves),
                0.0,
                1.0,
                StepRule::default(),
            )
        });
        let (cubic_s, _) = timed(pairs, |pair| {
            let [start, moves] = way(pair);
            match pair.features {
                Features::PointTriangle => cubic::point_triangle(&start, &moves, 1.0),
                Features::EdgeEdge => cubic::edge_edge(&start, &moves, 1.0),
            }
        });
        let (arc_s, arc_share) = timed(pairs, |pair| {
            let points = pair.corners(&turned);
            safe_share_of_arcs(pair.features, &points, &pair.bodies.map(|i| turns[i as usize]))
        });
        for (spent, more) in self.spent.iter_mut().zip([line_s, cubic_s, arc_s]) {
            *spent += more;
        }
        self.searched += pairs.len();
        let each = 1.0 / self.searched as f64;
        PathMeasures {
            pairs: pairs.len(),
            line_share,
            arc_share,
            seconds: (self.searched > 0).then(|| self.spent.map(|spent| spent * each)),
        }
    }
}

/// How long all pairs take [s], and the least share of the step that they leave.
fn timed(pairs: &[FeaturePair], search: impl Fn(&FeaturePair) -> Option<f64>) -> (f64, f64) {
    let start = Instant::now();
    let share = pairs.iter().filter_map(|pair| black_box(search(pair))).fold(1.0, f64::min);
    (start.elapsed().as_secs_f64(), share)
}

/// Rigid poses of all bodies now and where inertia and gravity take them.
fn poses(scene: &Scene, state: &State, h: f64) -> Vec<[BodyState; 2]> {
    let pose = |(body, now): (&Body, &BodyState)| {
        let rigid = |frame, position| {
            let rotation = BodyState { frame, ..*now }.rotation();
            BodyState::rigid(position, rotation, Vec3::zeros(), Vec3::zeros())
        };
        let start = rigid(now.frame, now.position);
        if matches!(body.shape, Shape::HalfSpace) {
            return [start, start];
        }
        let fall = if body.is_dynamic() { scene.gravity * (h * h) } else { Vec3::zeros() };
        [start, rigid(now.frame + now.frame_rate * h, now.position + now.velocity * h + fall)]
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

/// The rigid motion between two poses, by vectors of rotation from the first on.
fn turning([start, end]: &[BodyState; 2]) -> RigidSweep {
    let turn: Quat = end.rotation() * start.rotation().inverse();
    let position = [start.position, end.position].map(|x| V3(x.into()));
    RigidSweep { position, rotation: [V3::ZERO, V3(turn.scaled_axis().into())] }
}
