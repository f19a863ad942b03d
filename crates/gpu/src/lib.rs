//! Plumbing for solvers on graphics adapters: no physics, and no knowledge of what a solver is.
//!
//! A [`Gpu`] is an adapter with its device and queue, chosen by name or index. A [`Buffer`] holds values of
//! one type; a [`Kernel`] is an entry point of a file in the folder `shaders`, whose variables are bound to
//! buffers by name ([`Bindings`], [`Call`]). A [`Recorder`] collects the dispatches of a whole step, in one
//! pass per stage, and a [`Clock`] takes the stages' times on the device. [`scan`] and [`sort`] are what
//! solvers build adjacency and contact lists from. An [`Image`] is drawn into by a [`Brush`], a file of shaders
//! for vertices and fragments, in a [`DrawPass`], and read back.
//!
//! Nothing here panics on a fault of the device: whatever goes wrong is a [`GpuError`] from the next call
//! that can return one.

mod buffer;
mod check;
mod clock;
mod device;
mod error;
mod image;
mod kernel;
pub mod layout;
mod pipeline;
mod raster;
mod recorder;
pub mod scan;
pub mod shader;
pub mod sort;
mod source;

/// Numbers that shaders and their callers share, by the names of their files.
pub mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}

use wgpu::naga;

pub use self::{
    buffer::Buffer,
    clock::{Clock, Lap},
    device::{AdapterFacts, Counters, Gpu, REQUIRE, adapters},
    error::GpuError,
    image::{Image, Texel},
    kernel::{Bindings, Call},
    pipeline::Kernel,
    raster::{Brush, BrushRule, DepthRule, DrawPass, LoadedBrush, Stroke},
    recorder::Recorder,
};
