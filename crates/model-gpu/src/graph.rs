//! Which nodes couple with which, on a device: links that stay, and pairs that are new in every step. What follows
//! from them is found as [`taut_model`] finds it: where pairs attach, in which order nodes are visited, and how much
//! mass hangs or rests on each node. Nothing of it comes back to the host.

use bytemuck::{Pod, Zeroable};
use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder, scan::Scan, sort::CountingSort};
use taut_model::{Csr, narrow};

/// Rounds of colouring that are dispatched; a single workgroup does whatever is left.
const ROUNDS: usize = 24;
/// Groups of the sort by colour; the last holds all colours that have none of their own.
const GROUPS: usize = 255;
/// Rounds in which masses are shared out, per step and in the first step of a state: an even number.
const SPREADS: [usize; 2] = [4, 128];

/// As `shaders/graph/pairs.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct GraphSize {
    moving: u32,
    nodes: u32,
    pad_0: u32,
    pad_1: u32,
}

/// As `shaders/graph/carried.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Carry {
    depth: u32,
    load: f32,
    share: f32,
}

/// What of a graph stays the same. Nodes that forces move come first.
#[derive(Clone, Copy, Debug)]
pub struct GraphSpec<'a> {
    /// Nodes at the other ends of each node's links.
    pub fixed: &'a Csr,
    /// The same of links that hold their nodes together, so that one may carry the other.
    pub holds: &'a Csr,
    /// The place of each moving node in the order in which they take colours.
    pub ranks: &'a [u32],
    /// Mass of each moving node [kg].
    pub masses: &'a [f32],
}

/// Arranges nodes and pairs anew in every step.
#[derive(Debug)]
pub struct DeviceGraph {
    moving: usize,
    size: Buffer<GraphSize>,
    /// Where each node's begin, and all of them.
    fixed: [Buffer<u32>; 2],
    holds: [Buffer<u32>; 2],
    ranks: Buffer<u32>,
    masses: Buffer<f32>,
    ends: Buffer<u32>,
    end_starts: Buffer<u32>,
    filled: Buffer<u32>,
    colours: Buffer<u32>,
    left: Buffer<u32>,
    keys: Buffer<u32>,
    widths: Buffer<u32>,
    carry: [Buffer<Carry>; 2],
    sort: CountingSort,
    /// `None` until there are pairs.
    calls: Option<GraphCalls>,
    /// Whether no step has been taken from the state at hand.
    first: bool,
}

#[derive(Debug)]
struct GraphCalls {
    ends: [Call; 3],
    scan: Scan,
    colour: [Call; 3],
    key: Call,
    widen: Call,
    unload: Call,
    share: Call,
    spread: [Call; 2],
}

impl DeviceGraph {
    /// Colours that get a dispatch of their own, as in `shaders/graph/colour.wgsl`.
    pub const DISPATCHED: usize = 16;

    /// A graph without pairs.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn new(gpu: &Gpu, spec: &GraphSpec<'_>) -> Result<Self, GpuError> {
        let (nodes, moving) = (spec.fixed.count(), spec.ranks.len());
        let size = GraphSize { moving: narrow(moving), nodes: narrow(nodes), pad_0: 0, pad_1: 0 };
        let links = |what: [&'static str; 2], of: &Csr| {
            Ok::<_, GpuError>([
                gpu.upload(what[0], of.starts())?,
                gpu.upload(what[1], of.members())?,
            ])
        };
        let keys = gpu.buffer("colours to sort by", moving)?;
        let carry = || gpu.buffer("carried masses", moving);
        Ok(Self {
            moving,
            size: gpu.upload("size of a graph", &[size])?,
            fixed: links(["starts of links", "links"], spec.fixed)?,
            holds: links(["starts of links that hold", "links that hold"], spec.holds)?,
            ranks: gpu.upload("ranks of nodes", spec.ranks)?,
            masses: gpu.upload("masses of nodes", spec.masses)?,
            ends: gpu.buffer("ends of pairs", 0)?,
            end_starts: gpu.buffer("starts of ends of pairs", nodes + 1)?,
            filled: gpu.buffer("ends put", nodes + 1)?,
            colours: gpu.buffer("colours of nodes", moving)?,
            left: gpu.buffer("uncoloured nodes", 1)?,
            sort: CountingSort::new(gpu, &keys, GROUPS)?,
            keys,
            widths: gpu.buffer("widths of colours", 3 * Self::DISPATCHED)?,
            carry: [carry()?, carry()?],
            calls: None,
            first: true,
        })
    }

    /// Takes on a buffer of pairs, of which the first number of `count` are there.
    ///
    /// # Errors
    /// When the device has no room for their ends.
    pub fn bind<T>(
        &mut self,
        gpu: &Gpu,
        pairs: &Buffer<[u32; 2]>,
        count: &Buffer<T>,
    ) -> Result<(), GpuError> {
        self.ends = gpu.buffer("ends of pairs", 2 * pairs.len())?;
        let all = Bindings::default()
            .with("size", &self.size)
            .with("count", count)
            .with("pairs", pairs)
            .with("fixed_starts", &self.fixed[0])
            .with("fixed", &self.fixed[1])
            .with("hold_starts", &self.holds[0])
            .with("holds", &self.holds[1])
            .with("ranks", &self.ranks)
            .with("masses", &self.masses)
            .with("ends", &self.ends)
            .with("end_starts", &self.end_starts)
            .with("filled", &self.filled)
            .with("colours", &self.colours)
            .with("left", &self.left)
            .with("keys", &self.keys)
            .with("widths", &self.widths)
            .with("colour_starts", &self.sort.starts);
        let attach = all.clone().with("degrees", &self.end_starts).with("ends_out", &self.ends);
        let end = |entry| gpu.call("graph/attach.wgsl", entry, &attach);
        let colour = |entry| gpu.call("graph/colour.wgsl", entry, &all);
        let carry = |entry, from: usize, to: usize| {
            let both = all.clone().with("carry", &self.carry[from]);
            gpu.call("graph/carry.wgsl", entry, &both.with("carry_out", &self.carry[to]))
        };
        self.calls = Some(GraphCalls {
            ends: [end("count_ends")?, end("fill_ends")?, end("sort_ends")?],
            scan: Scan::new(gpu, &self.end_starts)?,
            colour: [colour("forget")?, colour("round")?, colour("rest")?],
            key: colour("key")?,
            widen: colour("widen")?,
            unload: carry("forget", 1, 0)?,
            share: carry("share", 0, 1)?,
            spread: [carry("spread", 0, 1)?, carry("spread", 1, 0)?],
        });
        Ok(())
    }

    /// Forgets what it has found: the next pairs are those of another state.
    pub fn forget(&mut self) {
        self.first = true;
    }

    /// What was recorded has been taken: the next pairs are those of the step after it.
    pub fn taken(&mut self) {
        self.first = false;
    }

    /// What the next pairs are arranged by besides themselves, and what a step that is done again starts from.
    pub fn memory(&self) -> Buffer<u8> {
        self.carry[0].as_bytes()
    }

    /// Records what follows from the pairs at hand; `groups` are workgroups with one thread per pair.
    pub fn record(&self, recorder: &mut Recorder, groups: &Buffer<u32>) {
        let Some(calls) = &self.calls else { return };
        recorder.clear(&self.end_starts);
        recorder.clear(&self.filled);
        recorder.run_indirect(&calls.ends[0], groups, 0);
        calls.scan.record(recorder);
        recorder.run_indirect(&calls.ends[1], groups, 0);
        recorder.run(&calls.ends[2], self.moving);
        recorder.run(&calls.colour[0], self.moving);
        for _ in 0..ROUNDS {
            recorder.run(&calls.colour[1], self.moving);
        }
        recorder.run(&calls.colour[2], 1);
        recorder.run(&calls.key, self.moving);
        self.sort.record(recorder, &self.keys);
        recorder.run(&calls.widen, 1);
        if self.first {
            recorder.run(&calls.unload, self.moving);
        }
        recorder.run(&calls.share, self.moving);
        for round in 1..SPREADS[usize::from(self.first)] {
            recorder.run(&calls.spread[round % 2], self.moving);
        }
    }

    /// Adds what kernels over nodes look at: ends of pairs node by node (`ends`, `end_starts`), nodes colour by colour
    /// (`visit`, `colour_starts`), and the mass that each carries (`carry`).
    pub fn bindings<'a>(&'a self, bindings: Bindings<'a>) -> Bindings<'a> {
        bindings
            .with("ends", &self.ends)
            .with("end_starts", &self.end_starts)
            .with("visit", &self.sort.order)
            .with("colour_starts", &self.sort.starts)
            .with("carry", &self.carry[0])
    }

    /// Records one call per colour, over its nodes, and one for the colours beyond [`Self::DISPATCHED`].
    pub fn sweep(&self, recorder: &mut Recorder, colours: &[Call], rest: &Call) {
        for (colour, call) in colours.iter().enumerate() {
            recorder.run_indirect(call, &self.widths, 3 * colour);
        }
        recorder.run(rest, 1);
    }
}

#[cfg(test)]
mod tests {
    use taut_gpu::{Clock, assert_layout};
    use taut_model::{ColourOf, Colouring, Graph, Supported, priority};

    use super::*;
    use crate::{Due, Retry};

    #[test]
    fn structures_are_those_of_the_shaders() {
        assert_layout!("graph/pairs.wgsl", GraphSize { moving, nodes, pad_0, pad_1 });
        assert_layout!("graph/carried.wgsl", Carry { depth, load, share });
    }

    /// Both ends of links, at the node of the other.
    fn both(links: &[[u32; 2]]) -> impl Iterator<Item = (u32, u32)> + Clone {
        links.iter().flat_map(|&[a, b]| [(a, b), (b, a)])
    }

    /// A net whose first links hold, among pairs of which many meet at one node; the last node is held in place.
    #[test]
    fn what_follows_is_what_the_host_finds() {
        let Some(gpu) = Gpu::for_test() else { return };
        let (nodes, moving) = (301, 300);
        let links: Vec<[u32; 2]> = (0..300).map(|i| [i, i + 1]).collect();
        let scattered = |i: u32| {
            let (a, b) = (priority(i) % 300, priority(i + 7) % 301);
            [a.min(b), a.max(b)]
        };
        let mut pairs: Vec<[u32; 2]> =
            (0..200).map(scattered).chain((10..80).map(|i| [3, i])).collect();
        // One link of each pair of nodes: others would have to follow it.
        pairs.sort_unstable();
        pairs.dedup();
        pairs.retain(|[a, b]| b - a > 1);
        let mut order: Vec<u32> = (0..300).collect();
        order.sort_by_key(|&n| std::cmp::Reverse(priority(n)));
        let mut ranks = vec![0; moving];
        (0..).zip(&order).for_each(|(rank, &n)| ranks[n as usize] = rank);
        let mut masses: Vec<f64> = (0..300).map(|i| f64::from(1 + i % 5)).collect();
        let light: Vec<f32> = (0..300_u16).map(|i| f32::from(1 + i % 5)).collect();
        let (fixed, holds) = (Csr::new(nodes, both(&links)), Csr::new(nodes, both(&links)));
        let spec = GraphSpec { fixed: &fixed, holds: &holds, ranks: &ranks, masses: &light };
        let mut graph = DeviceGraph::new(&gpu, &spec).unwrap();
        let there = gpu.upload("pairs", &pairs).unwrap();
        let count = gpu.upload("count", &[[narrow(pairs.len()), 0, 0, 0]]).unwrap();
        graph.bind(&gpu, &there, &count).unwrap();
        let groups = gpu.upload("groups", &[narrow(pairs.len().div_ceil(64)), 1, 1]).unwrap();
        let mut recorder = gpu.record();
        graph.record(&mut recorder, &groups);
        recorder.submit(&mut Clock::default()).unwrap();
        let read = |buffer| {
            let mut out = vec![];
            gpu.read(buffer, &mut out).unwrap();
            out
        };

        let ends = (0..).zip(&pairs).flat_map(|(p, &[a, b])| [(a, 2 * p), (b, 2 * p + 1)]);
        let ends = Csr::new(moving, ends.filter(|&(n, _)| n < 300));
        assert_eq!(read(&graph.ends)[..ends.members().len()], *ends.members());

        let all: Vec<[u32; 2]> = links.iter().chain(&pairs).copied().collect();
        let units = (0..).zip(&all).flat_map(|(unit, ends)| ends.map(|n| (unit, n)));
        let mut host = Graph::default();
        let units: Vec<(u32, u32)> = units.filter(|&(_, n)| n < 300).collect();
        host.fill(moving, all.len(), units.into_iter());
        let mut colouring = Colouring::default();
        let colours = colouring.colour(&host, ColourOf::Nodes, priority);
        let by_colour = Csr::new(GROUPS, colours.iter().copied().zip(0..));
        assert_eq!(read(&graph.sort.order), by_colour.members());
        assert_eq!(read(&graph.sort.starts), by_colour.starts());

        masses.push(0.0);
        assert_carried(&read_carry(&gpu, &graph), &masses, &all);
    }

    fn read_carry(gpu: &Gpu, graph: &DeviceGraph) -> Vec<Carry> {
        let mut out = vec![];
        gpu.read(&graph.carry[0], &mut out).unwrap();
        out
    }

    /// What links carry is what the host finds.
    fn assert_carried(carry: &[Carry], masses: &[f64], links: &[[u32; 2]]) {
        let mut supported = Supported::default();
        let depth = |n: u32| carry.get(n as usize).map_or(0, |carry| carry.depth);
        for (&[a, b], &mass) in links.iter().zip(supported.over(masses, links)) {
            let lower = if depth(a) > depth(b) { a } else { b };
            let carried = if depth(a) == depth(b) { 0.0 } else { carry[lower as usize].share };
            assert!((f64::from(carried) - mass).abs() < 1e-4 * (1.0 + mass), "{a} {b}");
        }
    }

    /// A tower of twelve nodes of 1 kg on a ground.
    struct Tower {
        gpu: Gpu,
        graph: DeviceGraph,
        pairs: Buffer<[u32; 2]>,
        count: Buffer<[u32; 4]>,
        groups: Buffer<u32>,
    }

    impl Tower {
        const MASSES: [f64; 13] = [1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 0.];

        fn new(gpu: &Gpu) -> Self {
            let none = Csr::new(13, std::iter::empty::<(u32, u32)>());
            let ranks: Vec<u32> = (0..12).collect();
            let spec = GraphSpec { fixed: &none, holds: &none, ranks: &ranks, masses: &[1.0; 12] };
            let mut graph = DeviceGraph::new(gpu, &spec).unwrap();
            let pairs = gpu.buffer("pairs", Self::standing().len()).unwrap();
            let count = gpu.buffer("count", 1).unwrap();
            graph.bind(gpu, &pairs, &count).unwrap();
            let groups = gpu.upload("groups", &[1, 1, 1]).unwrap();
            Self { gpu: gpu.clone(), graph, pairs, count, groups }
        }

        /// All links; the ground is node 12.
        fn standing() -> Vec<[u32; 2]> {
            let all = (0..12).flat_map(|i| [[i, i + 1], [i, i + 3]]);
            all.filter(|[_, b]| *b <= 12).collect()
        }

        /// Those that do not lead to the ground.
        fn flying() -> Vec<[u32; 2]> {
            Self::standing().into_iter().filter(|[_, b]| *b < 12).collect()
        }

        fn arrange(&mut self, links: &[[u32; 2]]) -> Vec<Carry> {
            self.gpu.write(&self.pairs, 0, links).unwrap();
            self.gpu.write(&self.count, 0, &[[narrow(links.len()), 0, 0, 0]]).unwrap();
            let mut recorder = self.gpu.record();
            self.graph.record(&mut recorder, &self.groups);
            recorder.submit(&mut Clock::default()).unwrap();
            read_carry(&self.gpu, &self.graph)
        }

        fn step(&mut self, links: &[[u32; 2]]) -> Vec<Carry> {
            let carry = self.arrange(links);
            self.graph.taken();
            carry
        }
    }

    #[test]
    fn what_nothing_holds_carries_no_more_than_there_is() {
        let Some(gpu) = Gpu::for_test() else { return };
        let (mut tower, standing) = (Tower::new(&gpu), Tower::standing());
        assert_carried(&tower.step(&standing), &Tower::MASSES, &standing);
        for step in 0..12 {
            let carry = tower.step(&Tower::flying());
            let most = carry.iter().map(|carry| carry.share).fold(0.0, f32::max);
            assert!(most <= 12.0, "{most} kg in step {step}");
        }
        (0..11).for_each(|_| drop(tower.step(&standing)));
        assert_carried(&tower.step(&standing), &Tower::MASSES, &standing);
    }

    /// What a search without room has found, some of the pairs, is forgotten with its step.
    #[test]
    fn a_step_that_is_done_again_carries_the_same() {
        let Some(gpu) = Gpu::for_test() else { return };
        let carry = [false, true].map(|twice| {
            let (mut tower, standing) = (Tower::new(&gpu), Tower::standing());
            tower.step(&standing);
            if twice {
                let (mut retry, mut recorder) = (Retry::default(), gpu.record());
                retry.watch(&gpu, &tower.graph.memory()).unwrap();
                let due = Due { begin: true, ..Due::default() };
                retry.begin(due, &mut recorder);
                recorder.submit(&mut Clock::default()).unwrap();
                tower.arrange(&standing[..9]);
                let mut recorder = gpu.record();
                assert_eq!(retry.again(&mut recorder), Some(due));
                recorder.submit(&mut Clock::default()).unwrap();
            }
            let carry = tower.step(&standing);
            carry.iter().map(|carry| (carry.depth, carry.share.to_bits())).collect::<Vec<_>>()
        });
        assert_eq!(carry[0], carry[1]);
    }
}
