//! Buffers of contacts.

use taut_gpu::{Bindings, Buffer, Gpu, GpuError};

use super::contact::{Backing, Extent, Patch};

/// What the kernels of contacts work on.
pub(super) struct Store {
    pub(super) law: Buffer<[u32; 4]>,
    pub(super) begin: Buffer<[u32; 4]>,
    pub(super) extent: Buffer<Extent>,
    pub(super) patches: Buffer<Patch>,
    pub(super) backings: Buffer<Backing>,
    pub(super) ends: Buffer<u32>,
    pub(super) end_starts: Buffer<u32>,
    pub(super) visit: Buffer<u32>,
    pub(super) colour_starts: Buffer<u32>,
}

impl Store {
    /// Without room for patches.
    pub(super) fn new(gpu: &Gpu, nodes: usize) -> Result<Self, GpuError> {
        Ok(Self {
            law: gpu.buffer("contact law", 1)?,
            begin: gpu.buffer("start of contacts", 4)?,
            extent: gpu.buffer("number of patches", 1)?,
            patches: gpu.buffer("patches of contact", 1)?,
            backings: gpu.buffer("backings of patches", 1)?,
            ends: gpu.buffer("ends of patches", 1)?,
            end_starts: gpu.buffer("starts of patch ends", nodes + 1)?,
            visit: gpu.buffer("visited nodes", nodes)?,
            colour_starts: gpu.buffer("starts of colours", nodes + 1)?,
        })
    }

    /// With room for this many patches and, where the host tells where they attach, their ends; what is there is
    /// lost.
    pub(super) fn with_room(self, gpu: &Gpu, room: usize, ends: usize) -> Result<Self, GpuError> {
        Ok(Self {
            patches: gpu.buffer("patches of contact", room)?,
            backings: gpu.buffer("backings of patches", room)?,
            ends: gpu.buffer("ends of patches", ends)?,
            ..self
        })
    }

    pub(super) fn bindings<'a>(&'a self, fixed: Bindings<'a>) -> Bindings<'a> {
        fixed
            .with("law", &self.law)
            .with("begin", &self.begin)
            .with("extent", &self.extent)
            .with("patches", &self.patches)
            .with("backings", &self.backings)
            .with("ends", &self.ends)
            .with("end_starts", &self.end_starts)
            .with("visit", &self.visit)
            .with("colour_starts", &self.colour_starts)
    }
}
