//! Buffers of values of one type.

use std::{
    marker::PhantomData,
    sync::{OnceLock, mpsc},
};

use bytemuck::Pod;
use wgpu::{BufferDescriptor, BufferUsages, CommandEncoder, MapMode};

use crate::{Gpu, GpuError};

/// Values of one type on a device. Shaders see an array or, where there is one value, a structure.
#[derive(Debug)]
pub struct Buffer<T> {
    raw: wgpu::Buffer,
    len: usize,
    /// What it is read through; made at the first read.
    staging: OnceLock<wgpu::Buffer>,
    values: PhantomData<T>,
}

impl<T> Buffer<T> {
    /// How many values it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What it holds [bytes].
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The same memory, as bytes.
    pub fn as_bytes(&self) -> Buffer<u8> {
        let (raw, len) = (self.raw.clone(), self.len * size_of::<T>());
        Buffer { raw, len, staging: OnceLock::new(), values: PhantomData }
    }

    pub(crate) fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }
}

impl Gpu {
    /// A buffer of `len` zeros. One without values has room for one, since shaders cannot bind nothing.
    ///
    /// # Errors
    /// When it exceeds the adapter's limits or memory; the message names the limit.
    pub fn buffer<T: Pod>(&self, what: &'static str, len: usize) -> Result<Buffer<T>, GpuError> {
        let size = ((len.max(1) * size_of::<T>()) as u64).next_multiple_of(16);
        let limits = self.limits();
        let bounds = [
            ("maxStorageBufferBindingSize", limits.max_storage_buffer_binding_size),
            ("maxBufferSize", limits.max_buffer_size),
        ];
        if let Some(&(name, limit)) = bounds.iter().find(|(_, limit)| size > *limit) {
            let fits = limit as usize / size_of::<T>();
            return Err(GpuError::TooLarge { what, name, needed: size, limit, count: len, fits });
        }
        let uniform = size <= limits.max_uniform_buffer_binding_size;
        let usage = BufferUsages::STORAGE
            | BufferUsages::COPY_SRC
            | BufferUsages::COPY_DST
            | BufferUsages::INDIRECT
            | if uniform { BufferUsages::UNIFORM } else { BufferUsages::empty() };
        let raw = self.guarded(|| {
            let descriptor =
                BufferDescriptor { label: Some(what), size, usage, mapped_at_creation: false };
            self.device().create_buffer(&descriptor)
        })?;
        Ok(Buffer { raw, len, staging: OnceLock::new(), values: PhantomData })
    }

    /// A buffer with these values.
    ///
    /// # Errors
    /// As [`Self::buffer`].
    pub fn upload<T: Pod>(&self, what: &'static str, values: &[T]) -> Result<Buffer<T>, GpuError> {
        let buffer = self.buffer(what, values.len())?;
        self.write(&buffer, 0, values)?;
        Ok(buffer)
    }

    /// Replaces the values from `first` on, before whatever is submitted next.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn write<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        first: usize,
        values: &[T],
    ) -> Result<(), GpuError> {
        let offset = (first * size_of::<T>()) as u64;
        let bytes = bytemuck::cast_slice(values);
        self.guarded(|| self.queue().write_buffer(&buffer.raw, offset, bytes))
    }

    /// Waits for submitted work and copies all values into `out`.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn read<T: Pod>(&self, buffer: &Buffer<T>, out: &mut Vec<T>) -> Result<(), GpuError> {
        self.count_read();
        out.resize(buffer.len, T::zeroed());
        if out.is_empty() {
            return self.wait();
        }
        let bytes = buffer.bytes().next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        let staging = buffer.staging.get_or_init(|| self.staging(bytes));
        let copy = |encoder: &mut CommandEncoder| {
            encoder.copy_buffer_to_buffer(&buffer.raw, 0, staging, 0, bytes);
        };
        self.fetch(staging, copy, |view| {
            let target: &mut [u8] = bytemuck::cast_slice_mut(out);
            let length = target.len();
            target.copy_from_slice(&view[..length]);
        })
    }

    /// A buffer that the host can read.
    pub(crate) fn staging(&self, bytes: u64) -> wgpu::Buffer {
        self.device().create_buffer(&BufferDescriptor {
            label: Some("read back"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Submits what `copy` records into `staging`, waits, and hands the bytes to `take`.
    pub(crate) fn fetch(
        &self,
        staging: &wgpu::Buffer,
        copy: impl FnOnce(&mut CommandEncoder),
        take: impl FnOnce(&[u8]),
    ) -> Result<(), GpuError> {
        let (mapped, result) = mpsc::channel();
        self.guarded(|| {
            let mut encoder = self.device().create_command_encoder(&Default::default());
            copy(&mut encoder);
            self.queue().submit([encoder.finish()]);
            staging.slice(..).map_async(MapMode::Read, move |result| {
                // Nobody listens any more where something else went wrong meanwhile.
                let _ = mapped.send(result);
            });
        })?;
        self.wait()?;
        // Another thread's wait may have taken the news, and be about to bring it.
        match result.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(GpuError::Lost(error.to_string())),
            Err(_) => return Err(GpuError::Lost("a read never ended".to_owned())),
        }
        let range = staging.slice(..).get_mapped_range();
        let view = range.map_err(|error| GpuError::Refused(error.to_string()))?;
        take(&view);
        drop(view);
        staging.unmap();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut out = vec![];
        for len in [0, 1, 3, 1000] {
            let values: Vec<u32> = (0..len).collect();
            let buffer = gpu.upload("values", &values).unwrap();
            for _ in 0..2 {
                gpu.read(&buffer, &mut out).unwrap();
                assert_eq!(out, values);
            }
        }
        let buffer = gpu.upload("values", &[1_u32, 2, 3]).unwrap();
        gpu.write(&buffer, 1, &[7_u32]).unwrap();
        gpu.read(&buffer, &mut out).unwrap();
        assert_eq!(out, [1, 7, 3]);
    }

    #[test]
    fn too_much_is_refused_with_the_limit_that_forbids_it() {
        let Some(gpu) = Gpu::for_test() else { return };
        let limit = gpu.limits().max_storage_buffer_binding_size;
        let error = gpu.buffer::<u32>("a scene's bodies", limit as usize).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("a scene's bodies needs"), "{message}");
        assert!(message.contains(&limit.to_string()), "{message}");
        let buffer = gpu.buffer::<u32>("values", 4).unwrap();
        assert!(matches!(gpu.write(&buffer, 3, &[1, 2, 3]), Err(GpuError::Refused(_))));
    }
}
