//! Contacts found on the device, and the graph that changes with them. Nothing of it comes back to the host within a
//! step.

use bytemuck::{Pod, Zeroable};
use taut_collide_gpu::{Detector, Near, Room};
use taut_core::Scene;
use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder};
use taut_math::{LANES, Number};
use taut_model::{Csr, narrow, priority};
use taut_model_gpu::{DeviceGraph, GraphSpec};

use super::{
    contact::{Backing, Patch},
    store::Store,
};
use crate::{
    node::{Incidence, SweepNode},
    system::System,
};

/// As `shaders/descent/pose.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Member {
    node: u32,
    length: f32,
}

/// Finds contacts and arranges what hangs on them.
pub(super) struct Finder {
    pub(super) detector: Detector,
    pub(super) graph: DeviceGraph,
    members: Buffer<Member>,
    patches_before: Buffer<Patch>,
    backings_before: Buffer<Backing>,
    /// The nodes of each patch.
    pairs: Buffer<[u32; 2]>,
    /// `None` until the buffers that they work on are there.
    calls: Option<FinderCalls>,
}

struct FinderCalls {
    pose: Call,
    make: Call,
    warm_start: Call,
}

impl Finder {
    pub(super) fn new(gpu: &Gpu, scene: &Scene, system: &System<f32>) -> Result<Self, GpuError> {
        let member = |(body, &node): (&taut_core::scene::Body, &u32)| Member {
            node,
            length: f32::of(body.shape.extent().min()).min(3.4e38),
        };
        let members: Vec<_> = scene.bodies.iter().zip(system.layout.bodies()).map(member).collect();
        // A guess must not be what makes a scene too large.
        let mut room = Room::of(scene);
        let bytes = gpu.limits().max_storage_buffer_binding_size;
        let most = |each: usize| usize::try_from(bytes / each as u64).unwrap_or(usize::MAX);
        room.manifolds = room.manifolds.min(most(size_of::<Patch>()));
        room.pairs = room.pairs.min(most(LANES * size_of::<Near>()));
        Ok(Self {
            detector: Detector::new(gpu, scene, room)?,
            graph: graph(gpu, system)?,
            members: gpu.upload("bodies", &members)?,
            patches_before: gpu.buffer("patches of the step before", 1)?,
            backings_before: gpu.buffer("backings of the step before", 1)?,
            pairs: gpu.buffer("nodes of patches", 1)?,
            calls: None,
        })
    }

    /// Patches that there is room for.
    pub(super) fn room(&self) -> usize {
        self.detector.room().manifolds
    }

    /// The counts of the answer take the place of the host's number of patches, and its order that of the host's.
    pub(super) fn bindings<'a>(&'a self, bindings: Bindings<'a>) -> Bindings<'a> {
        let answer = self.detector.answer();
        let bindings = self.graph.bindings(bindings);
        bindings
            .with("extent", &answer.counts)
            .with("manifolds", &answer.manifolds)
            .with("near", &answer.near)
            .with("far", &answer.far)
            .with("members", &self.members)
            .with("poses", self.detector.poses())
            .with("patches_before", &self.patches_before)
            .with("backings_before", &self.backings_before)
            .with("pairs", &self.pairs)
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
        self.pairs = gpu.buffer("nodes of patches", room)?;
        self.graph.bind(gpu, &self.pairs, &self.detector.answer().counts)?;
        let bindings = self.bindings(store.bindings(fixed));
        self.calls = Some(FinderCalls {
            pose: gpu.call("descent/pose.wgsl", "pose", &bindings)?,
            make: gpu.call("descent/make.wgsl", "make", &bindings)?,
            warm_start: gpu.call(shader, "warm_start", &bindings)?,
        });
        Ok(())
    }

    /// Forgets all contacts.
    pub(super) fn forget(&mut self) -> Result<(), GpuError> {
        self.graph.forget();
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
        recorder.run_indirect(&calls.make, groups, 0);
        self.graph.record(recorder, groups);
        recorder.run_indirect(&calls.warm_start, groups, 0);
    }
}

/// Elements over the nodes, before there are contacts.
fn graph(gpu: &Gpu, system: &System<f32>) -> Result<DeviceGraph, GpuError> {
    let layout = &system.layout;
    let moving = layout.colours.last().copied().unwrap_or(0);
    let of_node = |(n, node): (u32, &SweepNode<f32>)| {
        let (first, last) = node.range();
        system.incidences[first..last].iter().map(move |end| (n, end))
    };
    let all = (0..).zip(&system.nodes).flat_map(of_node);
    let other = |(n, end): (u32, &Incidence<f32>)| (n, end.other);
    let holds =
        |(_, end): &(u32, &Incidence<f32>)| system.definitions[end.element as usize].holds();
    let masses: Vec<f32> = system.nodes_base[..moving].iter().map(|base| base.mass).collect();
    DeviceGraph::new(
        gpu,
        &GraphSpec {
            fixed: &Csr::new(layout.len(), all.clone().map(other)),
            holds: &Csr::new(layout.len(), all.filter(holds).map(other)),
            ranks: &ranks(system, moving),
            masses: &masses,
        },
    )
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
    use super::*;

    #[test]
    fn structures_are_those_of_the_shaders() {
        taut_gpu::assert_layout!("descent/pose.wgsl", Member { node, length });
    }
}
