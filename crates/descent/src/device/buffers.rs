//! Buffers of nodes and elements.

use taut_gpu::{Bindings, Buffer, Gpu, GpuError};

use super::layout;
use crate::system::System;

/// What the kernels of elements and nodes work on.
pub(super) struct Buffers {
    pub(super) constants: Buffer<layout::Constants>,
    pub(super) colours: Vec<Buffer<layout::Colour>>,
    pub(super) nodes: Buffer<layout::Node>,
    pub(super) bases: Buffer<layout::Base>,
    pub(super) incidences: Buffer<layout::Incidence>,
    pub(super) elements: Buffer<layout::Element>,
}

impl Buffers {
    pub(super) fn new(gpu: &Gpu, system: &System<f32>) -> Result<Self, GpuError> {
        let colour = |pair: &[usize]| {
            let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let (first, count) = (narrow(pair[0]), narrow(pair[1] - pair[0]));
            gpu.upload("colour", &[layout::Colour { first, count, ..Default::default() }])
        };
        Ok(Self {
            constants: gpu.buffer("constants of a step", 1)?,
            colours: system.layout.colours.windows(2).map(colour).collect::<Result<_, _>>()?,
            nodes: gpu.buffer("nodes", system.nodes.len())?,
            bases: gpu.buffer("bases of nodes", system.nodes.len())?,
            incidences: gpu.buffer("ends of elements", system.incidences.len())?,
            elements: gpu.buffer("elements", system.elements.len())?,
        })
    }

    pub(super) fn bindings(&self) -> Bindings<'_> {
        Bindings::default()
            .with("constants", &self.constants)
            .with("nodes", &self.nodes)
            .with("bases", &self.bases)
            .with("incidences", &self.incidences)
            .with("elements", &self.elements)
    }
}
