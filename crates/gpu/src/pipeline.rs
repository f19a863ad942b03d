//! An entry point of a shader as a device compiled it, which the device keeps for all that ask again.

use wgpu::ComputePipeline;

use crate::shader::Variable;

/// An entry point of a shader, ready to run.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) label: String,
    pub(crate) pipeline: ComputePipeline,
    pub(crate) variables: Vec<Variable>,
    /// Threads per workgroup.
    pub(crate) size: u32,
}
