//! Images on a device: what is drawn into, read by shaders, and read back.

use bytemuck::Pod;
use wgpu::{
    COPY_BYTES_PER_ROW_ALIGNMENT, CommandEncoder, Extent3d, TexelCopyBufferInfo,
    TexelCopyBufferLayout, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages,
};

use crate::{Gpu, GpuError};

/// What a pixel holds, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texel {
    /// Red, green, blue and alpha from 0 to 1, in steps of 1/255, without a curve.
    Colour,
    /// A whole number.
    Number,
    /// A depth from 0 (near) to 1.
    Depth,
}

impl Texel {
    pub(crate) fn format(self) -> TextureFormat {
        match self {
            Self::Colour => TextureFormat::Rgba8Unorm,
            Self::Number => TextureFormat::R32Uint,
            Self::Depth => TextureFormat::Depth32Float,
        }
    }
}

/// Bytes of a pixel of any kind.
const TEXEL_BYTES: u32 = 4;

/// A rectangle of pixels on a device.
#[derive(Debug)]
pub struct Image {
    raw: wgpu::Texture,
    view: wgpu::TextureView,
    size: [u32; 2],
    texel: Texel,
}

impl Image {
    /// Width and height [pixels].
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// What its pixels hold.
    pub fn texel(&self) -> Texel {
        self.texel
    }

    pub(crate) fn view(&self) -> &wgpu::TextureView {
        &self.view
    }
}

impl Gpu {
    /// An image of zeros; `what` it is for stands in messages.
    ///
    /// # Errors
    /// When a side has no pixel or more than the adapter allows, or when there is no memory left.
    pub fn image(
        &self,
        what: &'static str,
        size: [u32; 2],
        texel: Texel,
    ) -> Result<Image, GpuError> {
        let limit = self.limits().max_texture_dimension_2d;
        let [width, height] = size;
        if width.min(height) == 0 || width.max(height) > limit {
            let message = format!(
                "{what} of {width} x {height} pixels; the adapter's maxTextureDimension2D is {limit}"
            );
            return Err(GpuError::Refused(message));
        }
        let raw = self.guarded(|| {
            self.device().create_texture(&TextureDescriptor {
                label: Some(what),
                size: Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: TextureDimension::D2,
                format: texel.format(),
                usage: TextureUsages::RENDER_ATTACHMENT
                    | TextureUsages::TEXTURE_BINDING
                    | TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        })?;
        let view = raw.create_view(&wgpu::TextureViewDescriptor::default());
        Ok(Image { raw, view, size, texel })
    }

    /// Waits for submitted work and copies all pixels into `out`, row by row from the top.
    ///
    /// `T` has four bytes: `[u8; 4]` for colours, `u32` for numbers, `f32` for depths.
    ///
    /// # Errors
    /// When the device is lost or has no memory left.
    pub fn read_image<T: Pod>(&self, image: &Image, out: &mut Vec<T>) -> Result<(), GpuError> {
        const { assert!(size_of::<T>() == TEXEL_BYTES as usize) }
        self.count_read();
        let [width, height] = image.size;
        let used = width * TEXEL_BYTES;
        let pitch = used.next_multiple_of(COPY_BYTES_PER_ROW_ALIGNMENT);
        let bytes = u64::from(pitch) * u64::from(height);
        let staging = self.guarded(|| self.staging(bytes))?;
        let copy = |encoder: &mut CommandEncoder| {
            let layout = TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(pitch),
                rows_per_image: Some(height),
            };
            encoder.copy_texture_to_buffer(
                image.raw.as_image_copy(),
                TexelCopyBufferInfo { buffer: &staging, layout },
                Extent3d { width, height, depth_or_array_layers: 1 },
            );
        };
        out.clear();
        self.fetch(&staging, copy, |view| {
            for row in view.chunks_exact(pitch as usize) {
                let pixels = row[..used as usize].chunks_exact(TEXEL_BYTES as usize);
                out.extend(pixels.map(bytemuck::pod_read_unaligned::<T>));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_do_not_fit_are_refused_with_the_limit() {
        let Some(gpu) = Gpu::for_test() else { return };
        let limit = gpu.limits().max_texture_dimension_2d;
        for size in [[0, 4], [4, limit + 1]] {
            let error = gpu.image("a picture", size, Texel::Colour).unwrap_err().to_string();
            assert!(error.contains("a picture of") && error.ends_with(&limit.to_string()));
        }
        let image = gpu.image("a picture", [3, 2], Texel::Number).unwrap();
        let mut out = vec![7_u32];
        gpu.read_image(&image, &mut out).unwrap();
        assert_eq!((image.size(), image.texel(), out), ([3, 2], Texel::Number, vec![0; 6]));
    }
}
