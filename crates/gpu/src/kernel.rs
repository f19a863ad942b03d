//! Entry points of shaders, and what their variables are bound to.

use std::sync::Arc;

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindingResource,
    BufferBinding, BufferSize, ComputePipeline, ComputePipelineDescriptor,
    PipelineCompilationOptions, ShaderModuleDescriptor, ShaderSource,
};

use crate::{
    Buffer, Gpu, GpuError,
    image::Image,
    pipeline::Kernel,
    shader::{Shader, Variable},
};

/// Buffers and images by the names that shaders give them.
#[derive(Clone, Debug, Default)]
pub struct Bindings<'a>(Vec<(&'static str, BindingResource<'a>)>);

/// A kernel with its buffers.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) pipeline: ComputePipeline,
    pub(crate) group: BindGroup,
    /// Threads per workgroup.
    pub(crate) size: u32,
}

impl<'a> Bindings<'a> {
    /// Adds a buffer, which replaces one of the same name.
    #[must_use]
    pub fn with<T>(self, name: &'static str, buffer: &'a Buffer<T>) -> Self {
        // Of the padded buffer only the values, so that shaders see their number.
        let bytes = buffer.bytes().max(size_of::<T>() as u64).next_multiple_of(4);
        let binding =
            BufferBinding { buffer: buffer.raw(), offset: 0, size: BufferSize::new(bytes) };
        self.put(name, BindingResource::Buffer(binding))
    }

    /// Adds an image to read from, which replaces what has the same name.
    #[must_use]
    pub fn with_image(self, name: &'static str, image: &'a Image) -> Self {
        self.put(name, BindingResource::TextureView(image.view()))
    }

    fn put(mut self, name: &'static str, resource: BindingResource<'a>) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, resource));
        self
    }

    /// The variables of the shader `label` bound to what has their names.
    pub(crate) fn group(
        &self,
        gpu: &Gpu,
        label: &str,
        layout: &BindGroupLayout,
        variables: &[Variable],
    ) -> Result<BindGroup, GpuError> {
        let mut entries = Vec::new();
        for variable in variables {
            let Some((_, resource)) = self.0.iter().find(|(name, _)| *name == variable.name) else {
                let message = format!("shaders/{label}: nothing is bound to `{}`", variable.name);
                return Err(GpuError::Shader(message));
            };
            entries.push(BindGroupEntry { binding: variable.binding, resource: resource.clone() });
        }
        let descriptor = BindGroupDescriptor { label: Some(label), layout, entries: &entries };
        gpu.guarded(|| gpu.device().create_bind_group(&descriptor))
    }
}

impl Gpu {
    /// The entry point of a file below `shaders`. It is compiled once per device.
    ///
    /// # Errors
    /// When there is none such, or when the device does not take it.
    pub fn kernel(&self, path: &str, entry: &str) -> Result<Arc<Kernel>, GpuError> {
        self.cached((path.to_owned(), entry.to_owned()), || {
            let shader = Shader::resized(path, self.threads())?;
            let (size, variables) = shader.entry(entry)?;
            let label = format!("{path}:{entry}");
            let pipeline = self.guarded(|| {
                let module = self.device().create_shader_module(ShaderModuleDescriptor {
                    label: Some(path),
                    source: ShaderSource::Wgsl(shader.text.as_str().into()),
                });
                self.device().create_compute_pipeline(&ComputePipelineDescriptor {
                    label: Some(&label),
                    layout: None,
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: PipelineCompilationOptions::default(),
                    cache: None,
                })
            })?;
            Ok(Kernel { label, pipeline, variables, size })
        })
    }

    /// The entry point of a file below `shaders`, with its variables bound by name.
    ///
    /// # Errors
    /// As [`Self::kernel`], and when a variable has no buffer.
    pub fn call(&self, path: &str, entry: &str, bindings: &Bindings<'_>) -> Result<Call, GpuError> {
        self.kernel(path, entry)?.bind(self, bindings)
    }
}

impl Kernel {
    /// This kernel with its variables bound; buffers that it does not use are passed over.
    ///
    /// # Errors
    /// When a variable has no buffer, or the device refuses one.
    pub fn bind(&self, gpu: &Gpu, bindings: &Bindings<'_>) -> Result<Call, GpuError> {
        let layout = self.pipeline.get_bind_group_layout(0);
        let group = bindings.group(gpu, &self.label, &layout, &self.variables)?;
        Ok(Call { pipeline: self.pipeline.clone(), group, size: self.size })
    }
}
