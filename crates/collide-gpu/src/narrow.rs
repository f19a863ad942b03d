//! From sorted pairs to the answer: one kernel per kind of pair, gathering, matching.

use taut_gpu::{Buffer, Call, Gpu, GpuError, Recorder, scan::Scan};

use crate::{
    Answer, LANES, Mark, PreviousAnswer, Room,
    broad::Pairs,
    layout::{Far, Found, Near},
    surfaces::Meetings,
    world::{BOX, CAPSULE, MESH, PLANE, SPHERE, World},
};

/// Buffers and kernels.
#[derive(Debug)]
pub(crate) struct Narrow {
    /// One kernel per kind of pair that the scene can have.
    kinds: Vec<Call>,
    meetings: Option<Meetings>,
    numbers: Buffer<u32>,
    scan: Scan,
    admit: Call,
    emit: Call,
    taken: Buffer<u32>,
    look_back: Call,
    manifolds: usize,
}

impl Narrow {
    pub(crate) fn new(
        gpu: &Gpu,
        world: &World,
        pairs: &Pairs,
        (answer, before): (&Answer, &PreviousAnswer),
        room: &Room,
    ) -> Result<Self, GpuError> {
        let found: Buffer<Found> = gpu.buffer("what was found of pairs", room.pairs)?;
        let near: Buffer<Near> = gpu.buffer("points on A", room.pairs * LANES)?;
        let far: Buffer<Far> = gpu.buffer("points on B", room.pairs * LANES)?;
        let numbers = gpu.buffer("numbers of manifolds", room.pairs)?;
        let taken = gpu.buffer("continued contacts", room.manifolds)?;
        let scan = Scan::new(gpu, &numbers)?;
        let bindings = world
            .bindings()
            .with("pair_keys", &pairs.keys)
            .with("slots", &pairs.slots)
            .with("highs", &pairs.highs)
            .with("found", &found)
            .with("near_found", &near)
            .with("far_found", &far)
            .with("numbers", &numbers)
            .with("manifolds_total", &scan.total)
            .with("taken", &taken);
        let bindings = before.bind(answer.bind(bindings));
        let has = |kind: u32| world.kinds[kind as usize] > 0;
        let wanted = [
            ("boxes", has(BOX)),
            ("round", has(SPHERE) || has(CAPSULE)),
            ("plane", has(PLANE)),
            // Boxes that pass each other, and boxes with capsules.
            ("convex", has(BOX)),
        ];
        let kinds = wanted
            .iter()
            .filter(|(_, wanted)| *wanted)
            .map(|(name, _)| gpu.call(&format!("collide/{name}.wgsl"), name, &bindings));
        let meetings = if has(MESH) { Some(Meetings::new(gpu, &bindings, room)?) } else { None };
        let last = |entry: &str| gpu.call("collide/answer.wgsl", entry, &bindings);
        Ok(Self {
            kinds: kinds.collect::<Result<_, GpuError>>()?,
            meetings,
            admit: last("admit")?,
            emit: last("emit")?,
            look_back: last("look_back")?,
            manifolds: room.manifolds,
            scan,
            numbers,
            taken,
        })
    }

    /// Records what forgets the query before. Between dispatches it would cost a pause.
    pub(crate) fn clear(&self, recorder: &mut Recorder) {
        recorder.clear(&self.numbers);
        recorder.clear(&self.taken);
    }

    /// Records all from pairs to matched contacts.
    pub(crate) fn record(&self, recorder: &mut Recorder, pairs: &Pairs, mark: Mark<'_>) {
        mark(recorder, "points");
        self.kinds.iter().for_each(|call| recorder.run(call, pairs.room));
        self.meetings.iter().for_each(|meetings| meetings.record(recorder));
        mark(recorder, "answer");
        self.scan.record(recorder);
        recorder.run(&self.admit, 1);
        recorder.run(&self.emit, pairs.room);
        self.meetings.iter().for_each(|meetings| meetings.record_emission(recorder));
        recorder.run(&self.look_back, self.manifolds);
    }
}
