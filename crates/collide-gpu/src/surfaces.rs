//! Surfaces of triangles: trees that the host builds once, and the stages that treat them.

use taut_collide::mesh::{self, LEAN, Mesh};
use taut_core::{Vec3, scene::Shape};
use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder, scan::Scan};

use crate::{
    LANES, Room,
    layout::{self, Far, Found, Near, Node, Triangle, levels, round, vector},
};

/// Points of one patch of one triangle at most, as `MOST` in `shaders/collide/touch.wgsl`.
const MOST: usize = 8;

/// Triangles of all surfaces of a scene, and a tree over those of each.
#[derive(Debug, Default)]
pub(crate) struct Surfaces {
    pub(crate) nodes: Vec<Node>,
    pub(crate) triangles: Vec<Triangle>,
}

impl Surfaces {
    /// Adds a body's surface, if it has one, and tells the body where it is.
    pub(crate) fn add(&mut self, shape: &Shape, body: &mut layout::Body) {
        let Shape::Mesh { vertices, triangles, .. } = shape else { return };
        let mesh = Mesh::new(vertices, triangles);
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        body.mesh = narrow(self.nodes.len());
        body.triangle_first = narrow(self.triangles.len());
        body.triangle_count = narrow(mesh.triangles.len());
        self.triangles.extend(mesh.triangles.iter().map(triangle));
        self.nodes.extend(tree(&mesh));
    }
}

fn triangle(known: &mesh::Triangle) -> Triangle {
    let [a, b, c] = known.corners;
    // Over a quarter turn no normal leans that looks to the front.
    let lean = |k: usize| (known.bend[k].max(0.0) + LEAN).min(std::f64::consts::FRAC_PI_2);
    let [sines, cosines] =
        [f64::sin, f64::cos].map(|function| [0, 1, 2].map(|k| round(function(lean(k)))));
    let [outward_0, outward_1, outward_2] = known.outward.map(|v| vector(&v));
    Triangle {
        origin: vector(&a),
        sine_0: sines[0],
        b: vector(&(b - a)),
        sine_1: sines[1],
        c: vector(&(c - a)),
        sine_2: sines[2],
        outward_0,
        cosine_0: cosines[0],
        outward_1,
        cosine_1: cosines[1],
        outward_2,
        cosine_2: cosines[2],
    }
}

/// Four leaves to a node along the curve of Morton, level by level, leaves first.
fn tree(mesh: &Mesh) -> Vec<Node> {
    let corners = || mesh.triangles.iter().flat_map(|t| t.corners);
    let low = corners().fold(Vec3::repeat(f64::INFINITY), |low, c| low.inf(&c));
    let high = corners().fold(Vec3::repeat(f64::NEG_INFINITY), |high, c| high.sup(&c));
    let cell = |p: Vec3| {
        let share = (p - low).component_div(&(high - low).sup(&Vec3::repeat(1e-30)));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1023"
        )]
        let cell = share.map(|x| (x * 1023.0).clamp(0.0, 1023.0) as u32);
        (0..10).map(|bit| (0..3).map(|k| (cell[k] >> bit & 1) << (3 * bit + k)).sum::<u32>()).sum()
    };
    let middle = |t: &mesh::Triangle| (t.corners[0] + t.corners[1] + t.corners[2]) / 3.0;
    let mut order: Vec<(u32, usize)> =
        mesh.triangles.iter().enumerate().map(|(i, t)| (cell(middle(t)), i)).collect();
    order.sort_unstable();
    let mut nodes: Vec<Node> = order
        .iter()
        .map(|&(_, i)| {
            let [a, b, c] = mesh.triangles[i].corners;
            let body = u32::try_from(i).unwrap_or(u32::MAX);
            Node { low: vector(&a.inf(&b).inf(&c)), body, high: vector(&a.sup(&b).sup(&c)), pad: 0 }
        })
        .collect();
    for level in &levels(mesh.triangles.len())[1..] {
        let below = level.first_below as usize;
        let children: Vec<Node> = nodes[below..below + level.count_below as usize].to_vec();
        nodes.extend(children.chunks(4).map(|group| {
            let mut node = Node { body: 0, ..group[0] };
            for child in group {
                for k in 0..3 {
                    node.low[k] = node.low[k].min(child.low[k]);
                    node.high[k] = node.high[k].max(child.high[k]);
                }
            }
            node
        }));
    }
    nodes
}

/// Buffers and kernels.
#[derive(Debug)]
pub(crate) struct Meetings {
    count: Call,
    scan: Scan,
    fill: Call,
    /// Over all meetings of a pair and a triangle: order, contacts, and patches made of them.
    meet: [Call; 5],
    number: Call,
    emit: Call,
    room: Room,
}

impl Meetings {
    /// The stages over what `bindings` names.
    pub(crate) fn new(gpu: &Gpu, bindings: &Bindings<'_>, room: &Room) -> Result<Self, GpuError> {
        let starts: Buffer<u32> = gpu.buffer("starts of meetings", room.pairs)?;
        let meetings: Buffer<[u32; 2]> = gpu.buffer("meetings of triangles", room.triangles)?;
        let found: Buffer<[u32; 2]> = gpu.buffer("meetings as found", room.triangles)?;
        let doubles: Buffer<u32> = gpu.buffer("points met twice", room.triangles)?;
        let patches: Buffer<Found> = gpu.buffer("patches of triangles", room.triangles)?;
        let near: Buffer<Near> = gpu.buffer("points of patches on A", MOST * room.triangles)?;
        let far: Buffer<Far> = gpu.buffer("points of patches on B", MOST * room.triangles)?;
        let firsts: Buffer<u32> = gpu.buffer("first patches", room.triangles)?;
        let kept: Buffer<u32> = gpu.buffer("triangles of points", LANES * room.triangles)?;
        let scan = Scan::new(gpu, &starts)?;
        let bindings = bindings
            .clone()
            .with("meeting_starts", &starts)
            .with("meetings_total", &scan.total)
            .with("meetings", &meetings)
            .with("found_meetings", &found)
            .with("doubles", &doubles)
            .with("patches", &patches)
            .with("patch_near", &near)
            .with("patch_far", &far)
            .with("firsts", &firsts)
            .with("patch_triangles", &kept);
        let call = |file: &str, entry: &str| {
            gpu.call(&format!("collide/mesh/{file}.wgsl"), entry, &bindings)
        };
        Ok(Self {
            count: call("near", "count")?,
            fill: call("near", "fill")?,
            meet: [
                call("near", "arrange")?,
                call("touch", "touch_meeting")?,
                call("merge", "find_first")?,
                call("merge", "mark_doubles")?,
                call("merge", "choose")?,
            ],
            number: call("merge", "number")?,
            emit: call("merge", "emit")?,
            scan,
            room: *room,
        })
    }

    /// Records all up to the numbers of manifolds of pairs.
    pub(crate) fn record(&self, recorder: &mut Recorder) {
        recorder.run(&self.count, self.room.pairs);
        self.scan.record(recorder);
        recorder.run(&self.fill, self.room.pairs);
        self.meet.iter().for_each(|call| recorder.run(call, self.room.triangles));
        recorder.run(&self.number, self.room.pairs);
    }

    /// Records what follows once it is known where manifolds go.
    pub(crate) fn record_emission(&self, recorder: &mut Recorder) {
        recorder.run(&self.emit, self.room.pairs);
    }
}
