//! Contacts on a device: patches, where they attach, and the order in which nodes are visited.

use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder};

use super::{
    contact::{Backing, Extent, Patch},
    layout::Colour,
};
use crate::{node::narrow, touch::Touch};

/// Patches that there is room for at first.
const ROOM: usize = 256;

/// A method's kernels of contacts: a shader with the entry points `sweep` (one colour, by nodes) and
/// `update` (after each sweep, by patches).
#[derive(Clone, Copy, Debug)]
pub struct ContactKernels {
    /// Where the shader is.
    pub shader: &'static str,
    /// Entry point that runs by patches once the iterations are over.
    pub follow: Option<&'static str>,
    /// Entry point that sets all error to be corrected, by patches, for a last sweep.
    pub stabilise: Option<&'static str>,
}

/// All contacts of a step, and the calls that work on them.
pub(super) struct Contacts {
    kernels: ContactKernels,
    store: Store,
    /// One per colour; as many as any step has needed.
    colours: Vec<Buffer<Colour>>,
    sweep: Vec<Call>,
    update: Call,
    follow: Option<Call>,
    stabilise: Option<Call>,
    /// Patches of the current step.
    count: usize,
    /// Nodes of each colour of the current step.
    counts: Vec<usize>,
}

struct Store {
    law: Buffer<[u32; 4]>,
    extent: Buffer<Extent>,
    patches: Buffer<Patch>,
    backings: Buffer<Backing>,
    ends: Buffer<u32>,
    end_starts: Buffer<u32>,
    visit: Buffer<u32>,
}

impl Store {
    fn bindings<'a>(&'a self, fixed: Bindings<'a>) -> Bindings<'a> {
        fixed
            .with("law", &self.law)
            .with("extent", &self.extent)
            .with("patches", &self.patches)
            .with("backings", &self.backings)
            .with("ends", &self.ends)
            .with("end_starts", &self.end_starts)
            .with("visit", &self.visit)
    }
}

impl Contacts {
    /// For the contacts of a scene with this many nodes; `fixed` are the buffers that never grow.
    pub(super) fn new(
        gpu: &Gpu,
        fixed: Bindings<'_>,
        nodes: usize,
        kernels: ContactKernels,
    ) -> Result<Self, GpuError> {
        let store = Store {
            law: gpu.buffer("contact law", 1)?,
            extent: gpu.buffer("number of patches", 1)?,
            patches: gpu.buffer("patches of contact", ROOM)?,
            backings: gpu.buffer("backings of patches", ROOM)?,
            ends: gpu.buffer("ends of patches", 2 * ROOM)?,
            end_starts: gpu.buffer("starts of patch ends", nodes + 1)?,
            visit: gpu.buffer("visited nodes", nodes)?,
        };
        Self::over(gpu, fixed, kernels, store)
    }

    fn over(
        gpu: &Gpu,
        fixed: Bindings<'_>,
        kernels: ContactKernels,
        store: Store,
    ) -> Result<Self, GpuError> {
        let bindings = store.bindings(fixed);
        let call = |entry| gpu.call(kernels.shader, entry, &bindings);
        Ok(Self {
            update: call("update")?,
            follow: kernels.follow.map(call).transpose()?,
            stabilise: kernels.stabilise.map(call).transpose()?,
            kernels,
            store,
            colours: vec![],
            sweep: vec![],
            count: 0,
            counts: vec![],
        })
    }

    /// Makes room for at least `count` patches; what is there is lost.
    fn grow(self, gpu: &Gpu, fixed: Bindings<'_>, count: usize) -> Result<Self, GpuError> {
        let room = count + count / 2;
        let store = Store {
            patches: gpu.buffer("patches of contact", room)?,
            backings: gpu.buffer("backings of patches", room)?,
            ends: gpu.buffer("ends of patches", 2 * room)?,
            ..self.store
        };
        Self::over(gpu, fixed, self.kernels, store)
    }

    /// Sets the parameters of the method's law, as its shader has them.
    pub(super) fn govern(&self, gpu: &Gpu, law: [u32; 4]) -> Result<(), GpuError> {
        gpu.write(&self.store.law, 0, &[law])
    }

    /// Takes on the contacts of a step, with the method's ramp of each patch.
    pub(super) fn upload(
        self,
        gpu: &Gpu,
        fixed: Bindings<'_>,
        touch: &Touch<f32>,
        ramps: &[[f32; 4]],
    ) -> Result<Self, GpuError> {
        let mut own = self;
        if touch.patches.len() > own.store.patches.len() {
            own = own.grow(gpu, fixed.clone(), touch.patches.len())?;
        }
        own.count = touch.patches.len();
        let patches: Vec<_> = touch.patches.iter().map(Patch::of).collect();
        let backings = touch.backings.iter().zip(ramps);
        let backings: Vec<_> = backings.map(|(b, &ramp)| Backing::of(b, ramp)).collect();
        gpu.write(
            &own.store.extent,
            0,
            &[Extent { patches: narrow(own.count), ..Extent::default() }],
        )?;
        gpu.write(&own.store.patches, 0, &patches)?;
        gpu.write(&own.store.backings, 0, &backings)?;
        gpu.write(&own.store.ends, 0, &touch.ends)?;
        gpu.write(&own.store.end_starts, 0, &touch.end_starts)?;
        gpu.write(&own.store.visit, 0, &touch.graph.visit)?;
        own.colour(gpu, fixed, &touch.graph.colours)?;
        Ok(own)
    }

    fn colour(&mut self, gpu: &Gpu, fixed: Bindings<'_>, starts: &[usize]) -> Result<(), GpuError> {
        self.counts.clear();
        for (c, pair) in starts.windows(2).enumerate() {
            let [first, last] = [pair[0], pair[1]];
            self.counts.push(last - first);
            let colour =
                Colour { first: narrow(first), count: narrow(last - first), ..Colour::default() };
            if c == self.colours.len() {
                let buffer = gpu.upload("colour", &[colour])?;
                let bindings = self.store.bindings(fixed.clone()).with("colour", &buffer);
                let call = gpu.call(self.kernels.shader, "sweep", &bindings)?;
                self.sweep.push(call);
                self.colours.push(buffer);
            } else {
                gpu.write(&self.colours[c], 0, &[colour])?;
            }
        }
        Ok(())
    }

    /// Takes over what the iterations changed of the patches.
    pub(super) fn take_over(&self, gpu: &Gpu, touch: &mut Touch<f32>) -> Result<(), GpuError> {
        if touch.patches.is_empty() {
            return Ok(());
        }
        let (mut patches, mut backings) = (vec![], vec![]);
        gpu.read(&self.store.patches, &mut patches)?;
        gpu.read(&self.store.backings, &mut backings)?;
        touch.patches.iter_mut().zip(&patches).for_each(|(patch, read)| read.write_to(patch));
        touch.backings.iter_mut().zip(&backings).for_each(|(b, read)| read.write_to(b));
        Ok(())
    }

    /// Records one sweep over all nodes.
    pub(super) fn sweep(&self, recorder: &mut Recorder) {
        self.sweep.iter().zip(&self.counts).for_each(|(call, &count)| recorder.run(call, count));
    }

    /// Records what follows a sweep.
    pub(super) fn update(&self, recorder: &mut Recorder) {
        recorder.run(&self.update, self.count);
    }

    /// Records what follows the last sweep.
    pub(super) fn follow(&self, recorder: &mut Recorder) {
        self.follow.iter().for_each(|call| recorder.run(call, self.count));
    }

    /// Records what precedes a sweep that corrects all error.
    pub(super) fn stabilise(&self, recorder: &mut Recorder) {
        self.stabilise.iter().for_each(|call| recorder.run(call, self.count));
    }
}
