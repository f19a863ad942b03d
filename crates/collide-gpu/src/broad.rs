//! From poses to sorted pairs of bodies whose boxes overlap.
//!
//! Boxes are sorted by size and along the curve of Morton, and every four of them make a node of a tree
//! without pointers, as do every four nodes. A body looks for others behind it in that order only, so that
//! every pair is found once and large bodies do not look at all the small ones. Pairs are counted before
//! they are written, which says how much room they need, and sorted, so that the answer depends on nothing
//! but the poses.

use taut_gpu::{Buffer, Call, Gpu, GpuError, Recorder, scan::Scan, sort::RadixSort};

use crate::{
    Answer, Mark, Room,
    layout::{Level, Node, levels},
    world::World,
};

/// Bits of the keys by which boxes are sorted.
const KEY_BITS: u32 = 30;
/// Shares of the bodies, and threads that sum each, as in `shaders/collide/bounds.wgsl`.
const SHARES: usize = 64;
const SUMMERS: usize = 64;

/// Sorted pairs: the lower index of each, and where the higher one is.
#[derive(Debug)]
pub(crate) struct Pairs {
    pub(crate) room: usize,
    pub(crate) keys: Buffer<u32>,
    pub(crate) slots: Buffer<u32>,
    pub(crate) highs: Buffer<u32>,
    lows: Buffer<u32>,
    bits: u32,
}

/// Buffers and kernels.
#[derive(Debug)]
pub(crate) struct BroadKernels {
    pub(crate) pairs: Pairs,
    bodies: usize,
    keys: Buffer<u32>,
    order: Buffer<u32>,
    enclose: Call,
    centre: Call,
    spread: Call,
    key: Call,
    sort: RadixSort,
    leaves: Call,
    /// One per level above the leaves, with the number of its nodes.
    levels: Vec<(Call, usize)>,
    count: Call,
    scan: Scan,
    blank: Call,
    fill: Call,
    sort_pairs: RadixSort,
    regroup: Call,
}

impl Pairs {
    fn new(gpu: &Gpu, bodies: usize, room: usize) -> Result<Self, GpuError> {
        Ok(Self {
            room,
            keys: gpu.buffer("keys of pairs", room)?,
            slots: gpu.buffer("order of pairs", room)?,
            highs: gpu.buffer("higher bodies of pairs", room)?,
            lows: gpu.buffer("lower bodies of pairs", room)?,
            // What is no pair has the number of bodies as its indices.
            bits: usize::BITS - bodies.leading_zeros(),
        })
    }
}

impl BroadKernels {
    pub(crate) fn new(
        gpu: &Gpu,
        world: &World,
        answer: &Answer,
        room: &Room,
    ) -> Result<Self, GpuError> {
        let bodies = world.poses.len();
        let pairs = Pairs::new(gpu, bodies, room.pairs)?;
        let boxes: Buffer<Node> = gpu.buffer("boxes of bodies", bodies)?;
        let partial: Buffer<[f32; 4]> = gpu.buffer("sums over places", 2 * SHARES)?;
        let keys = gpu.buffer("keys of boxes", bodies)?;
        let order = gpu.buffer("order of boxes", bodies)?;
        let levels = levels(bodies);
        let total = levels.iter().map(|level| level.count as usize).sum();
        let nodes: Buffer<Node> = gpu.buffer("tree of boxes", total)?;
        let starts = gpu.buffer("starts of pairs", bodies)?;
        let scan = Scan::new(gpu, &starts)?;
        let bindings = world
            .bindings()
            .with("boxes", &boxes)
            .with("partial", &partial)
            .with("keys", &keys)
            .with("order", &order)
            .with("nodes", &nodes)
            .with("starts", &starts)
            .with("lows", &pairs.lows)
            .with("highs", &pairs.highs)
            .with("pair_keys", &pairs.keys)
            .with("slots", &pairs.slots)
            .with("pairs_total", &scan.total)
            .with("counts", &answer.counts);
        let bounds = |entry: &str| gpu.call("collide/bounds.wgsl", entry, &bindings);
        let finding = |entry: &str| gpu.call("collide/pairs.wgsl", entry, &bindings);
        let tree = |entry: &str, level: &Level| {
            let uniform = gpu.upload("level of a tree", &[*level])?;
            gpu.call("collide/tree.wgsl", entry, &bindings.clone().with("level", &uniform))
        };
        let above = levels[1..].iter().map(|l| Ok((tree("gather", l)?, l.count as usize)));
        Ok(Self {
            bodies,
            enclose: bounds("enclose")?,
            centre: bounds("centre")?,
            spread: bounds("spread")?,
            key: bounds("key")?,
            sort: RadixSort::new(gpu, &keys, &order, KEY_BITS)?,
            leaves: tree("leaves", &levels[0])?,
            levels: above.collect::<Result<_, GpuError>>()?,
            count: finding("count")?,
            blank: finding("blank")?,
            fill: finding("fill")?,
            sort_pairs: RadixSort::new(gpu, &pairs.keys, &pairs.slots, pairs.bits)?,
            regroup: finding("regroup")?,
            scan,
            keys,
            order,
            pairs,
        })
    }

    /// Records the search.
    pub(crate) fn record(&self, recorder: &mut Recorder, mark: Mark<'_>) {
        mark(recorder, "boxes");
        recorder.run(&self.enclose, self.bodies);
        recorder.run(&self.centre, SHARES * SUMMERS);
        recorder.run(&self.spread, SHARES * SUMMERS);
        recorder.run(&self.key, self.bodies);
        self.sort.record(recorder, &self.keys, &self.order);
        recorder.run(&self.leaves, self.bodies);
        self.levels.iter().for_each(|(call, count)| recorder.run(call, *count));
        mark(recorder, "pairs");
        recorder.run(&self.count, self.bodies);
        self.scan.record(recorder);
        recorder.run(&self.blank, self.pairs.room.max(1));
        recorder.run(&self.fill, self.bodies);
        mark(recorder, "order");
        // By the higher index, then by the lower: the sort is stable.
        self.sort_pairs.record(recorder, &self.pairs.keys, &self.pairs.slots);
        recorder.run(&self.regroup, self.pairs.room);
        self.sort_pairs.record(recorder, &self.pairs.keys, &self.pairs.slots);
    }
}
