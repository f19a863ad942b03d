//! Contacts on a device: patches, where they attach, and the order in which nodes are visited. They come
//! from the host's search between steps, or from a [`Finder`].

use std::slice;

use bytemuck::Pod;
use taut_collide::ContactList;
use taut_core::{ContactForce, Placement, Scene};
use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder};
use taut_math::V3;
use taut_model::narrow;
use taut_model_gpu::DeviceGraph;

use super::{
    contact::{Backing, Extent, Patch},
    finder::Finder,
    layout::Colour,
    spec::ContactKernels,
    store::Store,
};
use crate::{collision::Collision, contacts::ContactStore, patch, system::System};

/// Patches that there is room for at first, where the host searches.
const ROOM: usize = 256;

/// All contacts of a step, and the calls that work on them.
pub(super) struct DeviceContacts {
    kernels: ContactKernels,
    pub(super) store: Store,
    pub(super) finder: Option<Finder>,
    /// One per colour; as many as any step has needed.
    colours: Vec<Buffer<Colour>>,
    sweep: Vec<Call>,
    rest: Option<Call>,
    update: Call,
    follow: Option<Call>,
    stabilise: Option<Call>,
    /// Patches of the current step, where the host knows.
    count: usize,
    /// Nodes of each colour of the current step, where the host knows.
    counts: Vec<usize>,
}

/// All buffers of contacts by their names; what the device finds goes before what the host writes.
fn bindings<'a>(fixed: Bindings<'a>, store: &'a Store, finder: Option<&'a Finder>) -> Bindings<'a> {
    let all = store.bindings(fixed);
    match finder {
        Some(finder) => finder.bindings(all),
        None => all,
    }
}

impl DeviceContacts {
    /// For the contacts of a scene; `fixed` are the buffers that never grow.
    pub(super) fn new(
        gpu: &Gpu,
        fixed: Bindings<'_>,
        scene: &Scene,
        system: &System<f32>,
        (kernels, collision): (ContactKernels, Collision),
    ) -> Result<Self, GpuError> {
        let nodes = system.layout.len();
        let finder = match collision {
            Collision::Host => None,
            Collision::Device => Some(Finder::new(gpu, scene, system)?),
        };
        let store = Store::new(gpu, nodes)?;
        let room = finder.as_ref().map_or(ROOM, Finder::room);
        Self::over(gpu, fixed, kernels, (store, finder), room)
    }

    /// With room for this many patches; what is there is lost.
    fn over(
        gpu: &Gpu,
        fixed: Bindings<'_>,
        kernels: ContactKernels,
        (store, mut finder): (Store, Option<Finder>),
        room: usize,
    ) -> Result<Self, GpuError> {
        let ends = if finder.is_some() { 0 } else { 2 * room };
        let store = store.with_room(gpu, room, ends)?;
        if let Some(finder) = &mut finder {
            finder.bind(gpu, fixed.clone(), &store, kernels.shader)?;
        }
        let all = bindings(fixed.clone(), &store, finder.as_ref());
        let call = |entry| gpu.call(kernels.shader, entry, &all);
        let mut own = Self {
            update: call("update")?,
            follow: kernels.follow.map(call).transpose()?,
            stabilise: kernels.stabilise.map(call).transpose()?,
            kernels,
            store,
            finder,
            colours: vec![],
            sweep: vec![],
            rest: None,
            count: 0,
            counts: vec![],
        };
        if own.finder.is_some() {
            let colours = DeviceGraph::DISPATCHED;
            own.sweep_up_to(gpu, fixed.clone(), colours)?;
            own.rest = Some(own.sweep_from(gpu, fixed, colours, "sweep_rest")?);
        }
        Ok(own)
    }

    /// Makes room for what the last search has found beyond it; what is there is lost.
    pub(super) fn grow(self, gpu: &Gpu, fixed: Bindings<'_>) -> Result<Self, GpuError> {
        let room = self.finder.as_ref().map_or(ROOM, Finder::room);
        Self::over(gpu, fixed, self.kernels, (self.store, self.finder), room)
    }

    /// Makes calls for at least this many colours.
    fn sweep_up_to(
        &mut self,
        gpu: &Gpu,
        fixed: Bindings<'_>,
        colours: usize,
    ) -> Result<(), GpuError> {
        while self.sweep.len() < colours {
            let call = self.sweep_from(gpu, fixed.clone(), self.sweep.len(), "sweep")?;
            self.sweep.push(call);
        }
        Ok(())
    }

    /// The sweep over one colour, or from one colour on.
    fn sweep_from(
        &mut self,
        gpu: &Gpu,
        fixed: Bindings<'_>,
        colour: usize,
        entry: &str,
    ) -> Result<Call, GpuError> {
        let colour = Colour { index: narrow(colour), ..Colour::default() };
        let buffer = gpu.upload("colour", &[colour])?;
        let all = bindings(fixed, &self.store, self.finder.as_ref()).with("colour", &buffer);
        let call = gpu.call(self.kernels.shader, entry, &all)?;
        self.colours.push(buffer);
        Ok(call)
    }

    /// Sets the parameters of the method's law and of how contacts start, as its shader has them.
    pub(super) fn govern(
        &self,
        gpu: &Gpu,
        law: &impl Pod,
        begin: &impl Pod,
    ) -> Result<(), GpuError> {
        gpu.write(&self.store.law, 0, bytemuck::cast_slice(slice::from_ref(law)))?;
        gpu.write(&self.store.begin, 0, bytemuck::cast_slice(slice::from_ref(begin)))
    }

    /// Takes on the contacts of a step, with the method's ramp of each patch.
    pub(super) fn upload(
        self,
        gpu: &Gpu,
        fixed: Bindings<'_>,
        touch: &ContactStore<f32>,
        ramps: &[[f32; 4]],
    ) -> Result<Self, GpuError> {
        let mut own = self;
        let count = touch.patches.len();
        if count > own.store.patches.len() {
            let room = count + count / 2;
            own = Self::over(gpu, fixed.clone(), own.kernels, (own.store, None), room)?;
        }
        own.count = count;
        let extent = Extent { patches: narrow(count), ..Extent::default() };
        let patches: Vec<_> = touch.patches.iter().map(Patch::of).collect();
        let backings = touch.memories.iter().zip(ramps);
        let backings: Vec<_> = backings.map(|(b, &ramp)| Backing::of(b, ramp)).collect();
        let (starts, visit) = (&touch.visits.colours, &touch.visits.visit);
        let places: Vec<u32> = starts.iter().map(|&start| narrow(start)).collect();
        gpu.write(&own.store.extent, 0, &[extent])?;
        gpu.write(&own.store.patches, 0, &patches)?;
        gpu.write(&own.store.backings, 0, &backings)?;
        gpu.write(&own.store.ends, 0, touch.ends.members())?;
        gpu.write(&own.store.end_starts, 0, touch.ends.starts())?;
        gpu.write(&own.store.visit, 0, visit)?;
        gpu.write(&own.store.colour_starts, 0, &places)?;
        own.counts.clear();
        own.counts.extend(starts.windows(2).map(|pair| pair[1] - pair[0]));
        own.sweep_up_to(gpu, fixed, own.counts.len())?;
        Ok(own)
    }

    /// Writes the forces of the contacts that the device has found between bodies in these `placements` at
    /// the step's start.
    pub(super) fn read_forces(
        &self,
        gpu: &Gpu,
        placements: &[Placement],
        out: &mut Vec<ContactForce>,
        force: impl Fn(&patch::Patch<f32>, usize) -> V3<f32>,
    ) -> Result<(), GpuError> {
        let Some(finder) = &self.finder else { return Ok(()) };
        let (mut list, mut patches) = (ContactList::default(), vec![]);
        finder.detector.read(&mut list)?;
        gpu.read(&self.store.patches, &mut patches)?;
        let forces = list.manifolds.iter().zip(&patches).flat_map(|(manifold, read)| {
            let (patch, force) = (read.patch(), &force);
            (0..manifold.range().len()).map(move |i| -patch.world(force(&patch, i)).to_f64())
        });
        list.report(placements, forces, out);
        Ok(())
    }

    /// Takes over what the iterations changed of the patches.
    pub(super) fn take_over(
        &self,
        gpu: &Gpu,
        touch: &mut ContactStore<f32>,
    ) -> Result<(), GpuError> {
        if touch.patches.is_empty() {
            return Ok(());
        }
        let (mut patches, mut backings) = (vec![], vec![]);
        gpu.read(&self.store.patches, &mut patches)?;
        gpu.read(&self.store.backings, &mut backings)?;
        touch.patches.iter_mut().zip(&patches).for_each(|(patch, read)| read.write_to(patch));
        touch.memories.iter_mut().zip(&backings).for_each(|(b, read)| read.write_to(b));
        Ok(())
    }

    /// Records the search at the step's start, where it is the device's.
    pub(super) fn find(
        &mut self,
        recorder: &mut Recorder,
        broken: Option<&Buffer<u32>>,
        again: bool,
    ) {
        if let Some(finder) = &mut self.finder {
            finder.record(recorder, &self.store, broken, again);
        }
    }

    /// Records one sweep over all nodes.
    pub(super) fn sweep(&self, recorder: &mut Recorder) {
        match (&self.finder, &self.rest) {
            (Some(finder), Some(rest)) => finder.graph.sweep(recorder, &self.sweep, rest),
            _ => {
                let calls = self.sweep.iter().zip(&self.counts);
                calls.for_each(|(call, &count)| recorder.run(call, count));
            }
        }
    }

    fn by_patches(&self, recorder: &mut Recorder, call: &Call) {
        match &self.finder {
            Some(finder) => recorder.run_indirect(call, finder.groups(), 0),
            None => recorder.run(call, self.count),
        }
    }

    /// Records what follows a sweep.
    pub(super) fn update(&self, recorder: &mut Recorder) {
        self.by_patches(recorder, &self.update);
    }

    /// Records what follows the last sweep.
    pub(super) fn follow(&self, recorder: &mut Recorder) {
        self.follow.iter().for_each(|call| self.by_patches(recorder, call));
    }

    /// Records what precedes a sweep that corrects all error.
    pub(super) fn stabilise(&self, recorder: &mut Recorder) {
        self.stabilise.iter().for_each(|call| self.by_patches(recorder, call));
    }
}
