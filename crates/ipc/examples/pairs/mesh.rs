//! Sums over all pairs of features of a few affine bodies with small meshes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use taut_ipc::{
    blocks::{BodyBlocks, affine_site, body_gradients, body_hessian},
    ccd::{
        Features, PairSweep,
        additive::{StepRule, safe_share},
    },
    intersect::triangles_intersect,
    mollifier::threshold,
    pair::BarrierPair,
};
use taut_math::V3;

use super::input::{all_points, list, many, numbers, positive, triangles};

/// Answers are near the impact: a ten thousandth of the first distance is left, so that few features which only pass each
/// other are taken for one.
pub(crate) const NEAR: StepRule = StepRule { share: 0.9, keep: 1e-4, rounds: 1000 };

struct MeshBody {
    rest: Vec<V3<f64>>,
    triangles: Vec<[usize; 3]>,
    edges: Vec<[usize; 2]>,
    start: Vec<V3<f64>>,
    moves: Vec<V3<f64>>,
}

/// Four vertices: of each the body and its number there.
type Corners = [(usize, usize); 4];

impl MeshBody {
    fn read(object: &Value) -> Result<Self, String> {
        let rest = all_points(object, "vertices")?;
        let triangles = triangles(object, "triangles", rest.len())?;
        let (q, dq): ([f64; 12], [f64; 12]) = (numbers(object, "q")?, numbers(object, "dq")?);
        let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let edges: BTreeSet<[usize; 2]> = edges.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        let placed = |q: &[f64; 12]| rest.iter().map(|x| place(q, *x)).collect::<Vec<_>>();
        let (start, moves) = (placed(&q), placed(&dq));
        Ok(Self { triangles, edges: edges.into_iter().collect(), start, moves, rest })
    }

    fn corners(&self, triangle: [usize; 3]) -> [[f64; 3]; 3] {
        triangle.map(|i| (self.start[i] + self.moves[i]).0)
    }
}

/// `A x + t` of `q`, the columns of `A` and then `t`; linear in `q`, so that it places moves too.
fn place(q: &[f64; 12], x: V3<f64>) -> V3<f64> {
    let column = |k: usize| V3([q[3 * k], q[3 * k + 1], q[3 * k + 2]]);
    (column(0) * x.0[0] + column(1) * x.0[1]) + (column(2) * x.0[2] + column(3))
}

/// Every vertex of a body with every triangle of another, and every edge with every edge, in one order.
fn all_pairs(bodies: &[MeshBody]) -> Vec<(Features, Corners)> {
    let mut pairs = Vec::new();
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate().filter(|(j, _)| *j != i) {
            for p in 0..a.rest.len() {
                let with = |t: &[usize; 3]| [(i, p), (j, t[0]), (j, t[1]), (j, t[2])];
                pairs.extend(b.triangles.iter().map(|t| (Features::PointTriangle, with(t))));
            }
            if i < j {
                for e in &a.edges {
                    let with = |f: &[usize; 2]| [(i, e[0]), (i, e[1]), (j, f[0]), (j, f[1])];
                    pairs.extend(b.edges.iter().map(|f| (Features::EdgeEdge, with(f))));
                }
            }
        }
    }
    pairs
}

struct Sums {
    nearest: f64,
    counts: [usize; 2],
    barrier: f64,
    gradient: Vec<f64>,
    product: Vec<f64>,
}

impl Sums {
    fn add(
        &mut self,
        bodies: &[MeshBody],
        features: Features,
        corners: &Corners,
        d_hat: f64,
        direction: &[f64],
    ) {
        let points = corners.map(|(body, i)| bodies[body].start[i]);
        let rest = corners.map(|(body, i)| bodies[body].rest[i]);
        let pair = match features {
            Features::PointTriangle => BarrierPair::point_triangle(&points, d_hat),
            Features::EdgeEdge => {
                let eps_x = threshold((rest[1] - rest[0]).norm(), (rest[3] - rest[2]).norm());
                BarrierPair::edge_edge(&points, eps_x, d_hat)
            }
        };
        self.nearest = self.nearest.min(pair.near().squared);
        if pair.near().squared >= d_hat * d_hat {
            return;
        }
        self.counts[usize::from(features == Features::EdgeEdge)] += 1;
        self.barrier += pair.value();
        let sites = rest.map(|x| affine_site(x.0));
        let (gradient, hessian) = (pair.gradient(), pair.hessian_psd());
        let (forces, blocks) = match features {
            Features::PointTriangle => {
                (body_gradients::<1>(&gradient, &sites), body_hessian::<1>(&hessian, &sites))
            }
            Features::EdgeEdge => {
                (body_gradients::<2>(&gradient, &sites), body_hessian::<2>(&hessian, &sites))
            }
        };
        let (a, b) = (12 * corners[0].0, 12 * corners[3].0);
        for (from, force) in [a, b].into_iter().zip(forces) {
            let own = &mut self.gradient[from..from + 12];
            own.iter_mut().zip(force).for_each(|(sum, x)| *sum += x);
        }
        self.multiply(&blocks, a, b, direction);
    }

    fn multiply(&mut self, blocks: &BodyBlocks, a: usize, b: usize, direction: &[f64]) {
        for i in 0..12 {
            for k in 0..12 {
                self.product[a + i] += blocks.aa[i][k] * direction[a + k];
                self.product[a + i] += blocks.ab[i][k] * direction[b + k];
                self.product[b + k] += blocks.ab[i][k] * direction[a + i];
                self.product[b + i] += blocks.bb[i][k] * direction[b + k];
            }
        }
    }
}

/// The share of the step before the first impact. Pairs are taken by the time before which they cannot touch, so that the
/// least share found ends the search.
fn step_max(bodies: &[MeshBody], pairs: &[(Features, Corners)]) -> Option<f64> {
    let mut sweeps: Vec<(f64, PairSweep)> = pairs
        .iter()
        .map(|(features, corners)| {
            let start = corners.map(|(body, i)| bodies[body].start[i]);
            let moves = corners.map(|(body, i)| bodies[body].moves[i]);
            let sweep = PairSweep::new(*features, &start, &moves);
            (sweep.earliest(), sweep)
        })
        .collect();
    sweeps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = None;
    for (earliest, sweep) in &sweeps {
        let t_max = least.unwrap_or(1.0);
        if *earliest > t_max {
            break;
        }
        least = safe_share(sweep, 0.0, t_max, NEAR).or(least);
    }
    least
}

fn intersections(bodies: &[MeshBody]) -> usize {
    let mut count = 0;
    for (i, a) in bodies.iter().enumerate() {
        for b in &bodies[i + 1..] {
            for s in &a.triangles {
                let first = a.corners(*s);
                let meets = |t: &&[usize; 3]| triangles_intersect(&first, &b.corners(**t));
                count += b.triangles.iter().filter(meets).count();
            }
        }
    }
    count
}

/// The answer to one case.
pub(crate) fn answer(case: &Value) -> Result<Value, String> {
    let d_hat = positive(case, "d_hat")?;
    let body = |(i, object)| MeshBody::read(object).map_err(|error| format!("body {i}: {error}"));
    let bodies: Vec<MeshBody> =
        list(case, "bodies")?.iter().enumerate().map(body).collect::<Result<_, _>>()?;
    let direction = many(case, "direction", 12 * bodies.len())?;
    let zero = vec![0.0; 12 * bodies.len()];
    let mut sums = Sums {
        nearest: f64::INFINITY,
        counts: [0; 2],
        barrier: 0.0,
        gradient: zero.clone(),
        product: zero,
    };
    let pairs = all_pairs(&bodies);
    for (features, corners) in &pairs {
        sums.add(&bodies, *features, corners, d_hat, &direction);
    }
    Ok(json!({
        "distance_min": sums.nearest.sqrt(),
        "pairs_point_triangle": sums.counts[0],
        "pairs_edge_edge": sums.counts[1],
        "barrier": sums.barrier,
        "gradient": sums.gradient,
        "hessian_psd_times_direction": sums.product,
        "step_max": step_max(&bodies, &pairs),
        "intersections_after_full_step": intersections(&bodies),
    }))
}
