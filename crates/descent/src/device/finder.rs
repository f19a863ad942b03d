//! Contacts found on the device, and what changes with them: where patches attach, in which order nodes are
//! visited, and how much mass rests on each patch. Nothing of it comes back to the host within a step.

use bytemuck::{Pod, Zeroable};
use taut_collide_gpu::{Detector, Near, Room};
use taut_core::Scene;
use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder, scan::Scan, sort::CountingSort};
use taut_math::{LANES, Number};
use taut_model::{narrow, priority};

use super::{
    contact::{Backing, Patch},
    store::Store,
};
use crate::system::System;

/// Rounds of colouring that are dispatched; a single workgroup does whatever is left.
const ROUNDS: usize = 24;
/// Groups of the sort by colour; the last holds all colours that have none of their own.
const GROUPS: usize = 255;
/// Colours that get a dispatch of their own, as in `descent/colour.wgsl`.
pub(super) const DISPATCHED: usize = 16;
/// Rounds in which masses are shared out, per step and in the first step of a state: an even number.
const SPREADS: [usize; 2] = [4, 128];

/// As `shaders/descent/pose.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Member {
    node: u32,
    length: f32,
}

/// As `shaders/descent/carry.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Carry {
    depth: u32,
    share: f32,
}

/// Finds contacts and arranges what hangs on them.
pub(super) struct Finder {
    pub(super) detector: Detector,
    moving: usize,
    members: Buffer<Member>,
    patches_before: Buffer<Patch>,
    backings_before: Buffer<Backing>,
    filled: Buffer<u32>,
    colours: Buffer<u32>,
    ranks: Buffer<u32>,
    left: Buffer<u32>,
    keys: Buffer<u32>,
    pub(super) widths: Buffer<u32>,
    carry: [Buffer<Carry>; 2],
    sort: CountingSort,
    /// `None` until the buffers that it works on are there.
    calls: Option<Calls>,
    /// Whether no step has been taken from the state at hand.
    first: bool,
}

struct Calls {
    pose: Call,
    make: Call,
    ends: [Call; 3],
    scan: Scan,
    colour: [Call; 3],
    key: Call,
    widen: Call,
    unload: Call,
    spread: [Call; 2],
    warm_start: Call,
}

impl Finder {
    pub(super) fn new(gpu: &Gpu, scene: &Scene, system: &System<f32>) -> Result<Self, GpuError> {
        let layout = &system.layout;
        let (nodes, moving) = (layout.len(), layout.colours.last().copied().unwrap_or(0));
        let member = |(body, &node): (&taut_core::scene::Body, &u32)| Member {
            node,
            length: f32::of(body.shape.extent().min()).min(3.4e38),
        };
        let members: Vec<_> = scene.bodies.iter().zip(layout.bodies()).map(member).collect();
        let keys = gpu.buffer("colours to sort by", moving)?;
        let carry = || gpu.buffer("carried masses", moving);
        // A guess must not be what makes a scene too large.
        let mut room = Room::of(scene);
        let bytes = gpu.limits().max_storage_buffer_binding_size;
        let most = |each: usize| usize::try_from(bytes / each as u64).unwrap_or(usize::MAX);
        room.manifolds = room.manifolds.min(most(size_of::<Patch>()));
        room.pairs = room.pairs.min(most(LANES * size_of::<Near>()));
        Ok(Self {
            detector: Detector::new(gpu, scene, room)?,
            moving,
            members: gpu.upload("bodies", &members)?,
            patches_before: gpu.buffer("patches of the step before", 1)?,
            backings_before: gpu.buffer("backings of the step before", 1)?,
            filled: gpu.buffer("ends put", nodes + 1)?,
            colours: gpu.buffer("colours of nodes", moving)?,
            ranks: gpu.upload("ranks of nodes", &ranks(system, moving))?,
            left: gpu.buffer("uncoloured nodes", 1)?,
            sort: CountingSort::new(gpu, &keys, GROUPS)?,
            keys,
            widths: gpu.buffer("widths of colours", 3 * DISPATCHED)?,
            carry: [carry()?, carry()?],
            calls: None,
            first: true,
        })
    }

    /// Patches that there is room for.
    pub(super) fn room(&self) -> usize {
        self.detector.room().manifolds
    }

    /// The counts of the answer take the place of the host's number of patches, and its order that of the host's.
    pub(super) fn bindings<'a>(&'a self, bindings: Bindings<'a>) -> Bindings<'a> {
        let answer = self.detector.answer();
        bindings
            .with("extent", &answer.counts)
            .with("visit", &self.sort.order)
            .with("colour_starts", &self.sort.starts)
            .with("manifolds", &answer.manifolds)
            .with("near", &answer.near)
            .with("far", &answer.far)
            .with("members", &self.members)
            .with("poses", self.detector.poses())
            .with("patches_before", &self.patches_before)
            .with("backings_before", &self.backings_before)
            .with("filled", &self.filled)
            .with("colours", &self.colours)
            .with("ranks", &self.ranks)
            .with("left", &self.left)
            .with("keys", &self.keys)
            .with("widths", &self.widths)
            .with("carry", &self.carry[0])
    }

    /// Workgroups with one thread per patch.
    pub(super) fn groups(&self) -> &Buffer<u32> {
        &self.detector.answer().groups
    }

    /// Takes on buffers of patches, which are as large as the detector's.
    pub(super) fn bind(
        &mut self,
        gpu: &Gpu,
        fixed: Bindings<'_>,
        store: &Store,
        shader: &str,
    ) -> Result<(), GpuError> {
        let room = self.room();
        let patches = gpu.buffer("patches of the step before", room)?;
        let backings = gpu.buffer("backings of the step before", room)?;
        let mut recorder = gpu.record();
        recorder.copy(&self.patches_before, &patches);
        recorder.copy(&self.backings_before, &backings);
        recorder.submit(&mut taut_gpu::Clock::default())?;
        (self.patches_before, self.backings_before) = (patches, backings);
        let bindings = self.bindings(store.bindings(fixed));
        let attach = bindings.clone().with("degrees", &store.end_starts);
        let attach = attach.with("ends_out", &store.ends);
        let spread = |from: usize| {
            let both = bindings.clone().with("carry", &self.carry[from]);
            gpu.call("descent/carry.wgsl", "spread", &both.with("carry_out", &self.carry[1 - from]))
        };
        let end = |entry| gpu.call("descent/attach.wgsl", entry, &attach);
        let colour = |entry| gpu.call("descent/colour.wgsl", entry, &bindings);
        let unload = bindings.clone().with("carry_out", &self.carry[0]);
        self.calls = Some(Calls {
            pose: gpu.call("descent/pose.wgsl", "pose", &bindings)?,
            make: gpu.call("descent/make.wgsl", "make", &bindings)?,
            ends: [end("count_ends")?, end("fill_ends")?, end("sort_ends")?],
            scan: Scan::new(gpu, &store.end_starts)?,
            colour: [colour("forget")?, colour("round")?, colour("rest")?],
            key: colour("key")?,
            widen: colour("widen")?,
            unload: gpu.call("descent/carry.wgsl", "forget", &unload)?,
            spread: [spread(0)?, spread(1)?],
            warm_start: gpu.call(shader, "warm_start", &bindings)?,
        });
        Ok(())
    }

    /// Forgets all contacts.
    pub(super) fn forget(&mut self) -> Result<(), GpuError> {
        self.first = true;
        self.detector.forget()
    }

    /// Records the search at the step's start, and all that follows from it. `again` if the step before
    /// had no room and this is the same step once more.
    pub(super) fn record(
        &mut self,
        recorder: &mut Recorder,
        store: &Store,
        broken: Option<&Buffer<u32>>,
        again: bool,
    ) {
        let Some(calls) = &self.calls else { return };
        if !again {
            recorder.copy(&store.patches, &self.patches_before);
            recorder.copy(&store.backings, &self.backings_before);
        }
        if let Some(broken) = broken {
            recorder.copy(broken, self.detector.broken());
        }
        recorder.run(&calls.pose, self.members.len());
        self.detector.record(recorder);
        let groups = &self.detector.answer().groups;
        recorder.clear(&store.end_starts);
        recorder.clear(&self.filled);
        recorder.run_indirect(&calls.make, groups, 0);
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
        for round in 0..SPREADS[usize::from(self.first)] {
            recorder.run(&calls.spread[round % 2], self.moving);
        }
        recorder.run_indirect(&calls.warm_start, groups, 0);
    }

    /// What was recorded has been taken: the next step continues it.
    pub(super) fn taken(&mut self) {
        self.first = false;
    }
}

/// The place of each moving node in the order of falling priority.
fn ranks(system: &System<f32>, moving: usize) -> Vec<u32> {
    let mut order: Vec<(u32, u32, u32)> = (0..)
        .zip(&system.layout.node_of)
        .filter(|(_, n)| (**n as usize) < moving)
        .map(|(i, &n)| (u32::MAX - priority(i), i, n))
        .collect();
    order.sort_unstable();
    let mut ranks = vec![0; moving];
    for (rank, (_, _, node)) in order.into_iter().enumerate() {
        ranks[node as usize] = narrow(rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use taut_collide::Style;
    use taut_core::load::load_file;
    use taut_model::{Order, Rotation};

    use super::*;
    use crate::{
        AngularRows, InertiaFrame, InitialGuess, Options,
        device::{Collision, ContactKernels, Device},
    };

    const OPTIONS: Options = Options {
        order: Order::Coloured,
        angular: AngularRows::RestPose,
        isotropic: true,
        rotation: Rotation::Cayley,
        frame: InertiaFrame::World,
        gyroscopic: true,
        start: InitialGuess::Target,
        contacts: Style::Common,
        lanes_per_body: 1,
    };
    const KERNELS: ContactKernels =
        ContactKernels { shader: "vbd/contact.wgsl", follow: None, stabilise: None };

    fn scene(name: &str, parameters: &[(&str, f64)]) -> Scene {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.ron"));
        let parameters: Vec<_> =
            parameters.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
        load_file(&file, &parameters).expect("a scene of the project").scene
    }

    #[test]
    fn structures_are_those_of_the_shaders() {
        taut_gpu::assert_layout!("descent/pose.wgsl", Member { node, length });
        taut_gpu::assert_layout!("descent/carry.wgsl", Carry { depth, share });
    }

    /// Contacts and joints in one graph: who attaches where, in which order nodes are visited, and
    /// what rests on whom.
    #[test]
    fn the_graph_is_the_hosts() {
        let Some(gpu) = Gpu::for_test() else { return };
        for scene in [
            scene("pyramid", &[("n", 8.0), ("gap", 0.0)]),
            scene("ring", &[("courses", 3.0)]),
            scene("wall", &[("rows", 4.0), ("columns", 5.0)]),
        ] {
            let mut device = Device::new(&gpu, &scene, OPTIONS, |_| {}).unwrap();
            device.touch_by(KERNELS, Collision::Device).unwrap();
            device.load(&scene.initial_state()).unwrap();
            device.begin(scene.dt).unwrap();
            device.wait().unwrap();
            let contacts = device.contacts.as_ref().unwrap();
            let finder = contacts.finder.as_ref().unwrap();
            let mut patches = vec![];
            gpu.read(&contacts.store.patches, &mut patches).unwrap();
            patches.truncate(finder.detector.counts().unwrap().manifolds as usize);
            assert!(patches.len() > 8, "{}", scene.name);
            let touch = device.system.contacts.as_mut().unwrap();
            touch.patches = patches.iter().map(Patch::patch).collect();
            touch.arrange(device.system.layout.len());
            let (mut order, mut starts, mut ends, mut carry) = (vec![], vec![], vec![], vec![]);
            gpu.read(&finder.sort.order, &mut order).unwrap();
            gpu.read(&finder.sort.starts, &mut starts).unwrap();
            gpu.read(&finder.carry[0], &mut carry).unwrap();
            gpu.read(&contacts.store.ends, &mut ends).unwrap();
            let of = |n: &u32| touch.ends(*n as usize).to_vec();
            let moving: Vec<u32> = (0..narrow(finder.moving)).flat_map(|n| of(&n)).collect();
            assert_eq!(ends[..moving.len()], moving, "{}", scene.name);
            assert_eq!(order, touch.visits.visit, "{}", scene.name);
            let colours: Vec<u32> = touch.visits.colours.iter().map(|&c| narrow(c)).collect();
            assert_eq!(starts[..colours.len()], colours, "{}", scene.name);
            for (patch, &mass) in touch.patches.iter().zip(touch.visits.supported()) {
                let at = |n: u32| match carry.get(n as usize) {
                    Some(carry) => (carry.depth, f64::from(carry.share)),
                    None => (0, 0.0),
                };
                let [(a, share_a), (b, share_b)] = patch.nodes.map(at);
                // What nothing holds hangs on the heaviest for the host, and on nothing here.
                if a.max(b) < u32::MAX {
                    let carried = if a < b {
                        share_b
                    } else if b < a {
                        share_a
                    } else {
                        0.0
                    };
                    let apart = (carried - mass).abs();
                    assert!(apart < 1e-4 * (1.0 + carried), "{}: {apart}", scene.name);
                }
            }
        }
    }

    /// Every ball touches every other, far more often than there is room for at first.
    #[test]
    fn a_step_without_room_is_done_again() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut crowd = scene("pyramid", &[("n", 8.0)]);
        for (i, body) in (0_u8..).zip(&mut crowd.bodies).skip(1) {
            body.shape = taut_core::scene::Shape::Sphere { radius: 1.0 };
            let turn = f64::from(i) * 2.4;
            let place = taut_core::Vec3::new(turn.cos(), turn.sin(), f64::from(i) * 0.02);
            body.position = place * 0.5 + taut_core::Vec3::z() * 50.0;
        }
        let [mut host, mut found] = [Collision::Host, Collision::Device].map(|collision| {
            let mut device = Device::new(&gpu, &crowd, OPTIONS, |_| {}).unwrap();
            device.touch_by(KERNELS, collision).unwrap();
            device.load(&crowd.initial_state()).unwrap();
            device
        });
        let mut states = [taut_core::State::default(), taut_core::State::default()];
        host.detect(crowd.dt, |contacts| vec![[0.0; 4]; contacts.patches.len()]).unwrap();
        for (device, state) in [&mut host, &mut found].into_iter().zip(&mut states) {
            device.begin(crowd.dt).unwrap();
            device.iterate();
            device.end().unwrap();
            device.read(state).unwrap();
        }
        let pairs = 36 * 35 / 2;
        assert_eq!(host.system.contacts.as_ref().unwrap().patches.len(), pairs);
        let finder = found.contacts.as_ref().unwrap().finder.as_ref().unwrap();
        assert_eq!(finder.detector.counts().unwrap().manifolds as usize, pairs);
        assert!(Room::of(&crowd).manifolds < pairs);
        let apart = |(a, b): (&taut_core::BodyState, &taut_core::BodyState)| {
            (a.position - b.position).norm()
        };
        let bodies = states[0].bodies.iter().zip(&states[1].bodies);
        assert!(bodies.map(apart).fold(0.0, f64::max) < 1e-4);
    }
}
