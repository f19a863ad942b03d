//! What one pair costs, on one thread: `cargo bench -p taut-ipc`. Times are of whole sets, told per pair as throughput, and
//! of the processor where the system tells them, so that neighbours on a shared machine count less.
//!
//! Two sets of pairs stand for what a step has: pairs in all positions, of which few are near, and edges of boxes that rest
//! on each other, which are parallel to rounding and mollified.

#![expect(missing_docs, reason = "the macro of criterion makes a public function")]

use std::{hint::black_box, time::Duration};

use criterion::{
    Criterion, Throughput, criterion_group, criterion_main,
    measurement::{Measurement, ValueFormatter, WallTime},
};
use taut_ipc::{
    blocks::{affine_site, body_gradients, body_hessian},
    ccd::{
        Features, PairSweep,
        additive::{StepRule, safe_share},
        cubic,
    },
    distance::{PairKind, edge_edge, point_triangle},
    intersect::triangles_intersect,
    mollifier::threshold,
    pair::BarrierPair,
};
use taut_math::V3;

const COUNT: usize = 4096;

/// The time that this process has had of processors.
struct ProcessorTime;

#[cfg(unix)]
fn processor_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(Duration::ZERO, Into::into)
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    use std::{sync::OnceLock, time::Instant};
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        processor_time()
    }
    fn end(&self, start: Duration) -> Duration {
        processor_time().saturating_sub(start)
    }
    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }
    fn zero(&self) -> Duration {
        Duration::ZERO
    }
    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

type Corners = [V3<f64>; 4];

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn point(&mut self, size: f64) -> V3<f64> {
        V3([self.next() * size, self.next() * size, self.next() * size])
    }

    /// Two edges or a point and a triangle of size one, the second feature up to two away.
    fn pair(&mut self, features: Features) -> Corners {
        let away = self.point(2.0);
        let first = if features == Features::PointTriangle { 1 } else { 2 };
        [0, 1, 2, 3].map(|i| self.point(1.0) + if i < first { V3::ZERO } else { away })
    }

    fn pairs(&mut self, features: Features) -> Vec<Corners> {
        (0..COUNT).map(|_| self.pair(features)).collect()
    }

    /// Edges along the same axis, of boxes that have turned by next to nothing, two thousandths apart.
    fn resting_edges(&mut self) -> Corners {
        let lean = self.point(1e-8);
        let shift = V3([self.next() * 0.5, 1e-3 * self.next(), 2e-3]);
        let [x, y] = [V3([1.0, 0.0, 0.0]), V3([0.0, 0.0, 0.0])];
        [y, x, y + shift, x + shift + lean]
    }
}

fn distances(c: &mut Criterion<ProcessorTime>) {
    let mut group = c.benchmark_group("distance with kind");
    group.throughput(Throughput::Elements(COUNT as u64));
    let mut random = Random(1);
    let points = random.pairs(Features::PointTriangle);
    group.bench_function("point triangle", |b| {
        b.iter(|| points.iter().map(|p| point_triangle(black_box(p)).squared).sum::<f64>());
    });
    let edges = random.pairs(Features::EdgeEdge);
    group.bench_function("edge edge", |b| {
        b.iter(|| edges.iter().map(|p| edge_edge(black_box(p)).squared).sum::<f64>());
    });
    let resting: Vec<Corners> = (0..COUNT).map(|_| random.resting_edges()).collect();
    group.bench_function("edge edge, nearly parallel", |b| {
        b.iter(|| resting.iter().map(|p| edge_edge(black_box(p)).squared).sum::<f64>());
    });
    group.finish();
}

/// Pairs by the kind of their nearest points, a thousandth apart with a barrier of twice that.
fn by_kind(random: &mut Random) -> [(&'static str, Vec<BarrierPair>); 5] {
    const FAR: f64 = 1e-3;
    let mut contacts = |kind: usize| {
        let [a, b, c, _] = [0; 4].map(|_| random.point(1.0));
        let n = (b - a).cross(c - a);
        let n = n * (1.0 / n.norm());
        let middle = (a + b + c) * (1.0 / 3.0);
        let out = |v: V3<f64>| (v + n * v.norm()) * (FAR / (v.norm() * 2_f64.sqrt()));
        let side = (b - a).cross(n);
        let at = |p: V3<f64>| BarrierPair::point_triangle(&[p, a, b, c], 2.0 * FAR);
        match kind {
            0 => at(a + out(a - middle)),
            1 => at(a * 0.4 + b * 0.6 + out(side)),
            2 => at(middle + n * FAR),
            3 => {
                let other = side + (b - a) * random.next();
                let from = (a + b) * 0.5 - other * 0.5 + n * FAR;
                BarrierPair::edge_edge(&[a, b, from, from + other], 0.0, 2.0 * FAR)
            }
            _ => {
                let resting = random.resting_edges();
                BarrierPair::edge_edge(&resting, threshold(1.0, 1.0), 4.0 * FAR)
            }
        }
    };
    let names = ["point point", "point line", "point face", "line line", "mollified"];
    [0, 1, 2, 3, 4].map(|kind| (names[kind], (0..COUNT).map(|_| contacts(kind)).collect()))
}

fn hessians(c: &mut Criterion<ProcessorTime>) {
    let mut random = Random(2);
    let sets = by_kind(&mut random);
    let mut group = c.benchmark_group("projected Hessian");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, pairs) in &sets {
        let is_kind = |pair: &&BarrierPair| match pair.near().kind {
            PairKind::PointVertex(_) => *name == "point point",
            PairKind::PointEdge(_) => *name == "point line",
            PairKind::PointFace => *name == "point face",
            PairKind::LineLine if pair.mollification() == 1.0 => *name == "line line",
            _ => pair.mollification() < 1.0 && *name == "mollified",
        };
        let share = pairs.iter().filter(is_kind).count();
        assert!(10 * share > 9 * COUNT, "{name}: {share} of {COUNT} are");
        group.bench_function(*name, |b| {
            b.iter(|| {
                pairs.iter().map(|p| black_box(black_box(p).hessian_psd())[0][0]).sum::<f64>()
            });
        });
    }
    group.finish();
    let mut group = c.benchmark_group("blocks of two bodies");
    group.throughput(Throughput::Elements(COUNT as u64));
    let inputs: Vec<_> = (0..COUNT)
        .map(|i| (sets[3].1[i].hessian_psd(), [0; 4].map(|_| affine_site(random.point(1.0).0))))
        .collect();
    group.bench_function("two edges", |b| {
        b.iter(|| {
            inputs.iter().map(|(h, s)| black_box(body_hessian::<2>(h, s)).aa[0][0]).sum::<f64>()
        });
    });
    group.bench_function("point triangle", |b| {
        b.iter(|| {
            inputs.iter().map(|(h, s)| black_box(body_hessian::<1>(h, s)).aa[0][0]).sum::<f64>()
        });
    });
    group.bench_function("gradient", |b| {
        b.iter(|| {
            inputs.iter().map(|(h, s)| black_box(body_gradients::<2>(&h[0], s))[0][0]).sum::<f64>()
        });
    });
    group.finish();
}

/// The first share of all candidates, in the order of their lower bounds.
fn least_share(sweeps: &[(Corners, Corners)], features: Features) -> f64 {
    let mut least = 1.0;
    for (start, moves) in sweeps {
        let sweep = PairSweep::new(features, black_box(start), moves);
        least = safe_share(&sweep, 0.0, least, StepRule::default()).unwrap_or(least);
    }
    least
}

fn collisions(c: &mut Criterion<ProcessorTime>) {
    let mut random = Random(3);
    let mut group = c.benchmark_group("continuous collision");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, features) in
        [("point triangle", Features::PointTriangle), ("edge edge", Features::EdgeEdge)]
    {
        let sweeps: Vec<(Corners, Corners)> = random
            .pairs(features)
            .into_iter()
            .map(|start| (start, [0; 4].map(|_| random.point(0.3))))
            .collect();
        group.bench_function(format!("{name}, shrinking t_max"), |b| {
            b.iter(|| least_share(&sweeps, features));
        });
        group.bench_function(format!("{name}, t_max 1"), |b| {
            b.iter(|| {
                let one = |(start, moves): &(Corners, Corners)| {
                    let sweep = PairSweep::new(features, black_box(start), moves);
                    safe_share(&sweep, 0.0, 1.0, StepRule::default()).unwrap_or(1.0)
                };
                sweeps.iter().map(one).sum::<f64>()
            });
        });
        let cubic =
            if features == Features::EdgeEdge { cubic::edge_edge } else { cubic::point_triangle };
        group.bench_function(format!("{name}, cubic, t_max 1"), |b| {
            b.iter(|| {
                sweeps.iter().map(|(s, m)| cubic(black_box(s), m, 1.0).unwrap_or(1.0)).sum::<f64>()
            });
        });
    }
    group.finish();
}

fn intersections(c: &mut Criterion<ProcessorTime>) {
    let mut random = Random(4);
    let mut triangle = || [0; 3].map(|_| random.point(1.0).0);
    let pairs: Vec<_> = (0..COUNT).map(|_| (triangle(), triangle())).collect();
    let mut group = c.benchmark_group("intersection");
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("random triangles", |b| {
        b.iter(|| pairs.iter().filter(|(s, t)| triangles_intersect(black_box(s), t)).count());
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ProcessorTime);
    targets = distances, hessians, collisions, intersections
}
criterion_main!(benches);
