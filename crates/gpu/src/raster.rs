//! Triangles drawn into images that nobody watches: shaders of vertices and fragments, and the passes that run them.
//!
//! A file of the folder `shaders` that draws has one entry point for vertices and at most one for fragments.
//! Vertices are read from buffers by their number, so that no layout is said twice.

use wgpu::{
    BindGroup, BlendState, Color, ColorTargetState, ColorWrites, CommandEncoderDescriptor,
    CompareFunction, DepthStencilState, FragmentState, LoadOp, MultisampleState, Operations,
    PipelineCompilationOptions, PrimitiveState, RenderPassColorAttachment,
    RenderPassDepthStencilAttachment, RenderPassDescriptor, RenderPipeline,
    RenderPipelineDescriptor, ShaderModuleDescriptor, ShaderSource, StoreOp, VertexState,
};

use crate::{
    Bindings, Gpu, GpuError,
    image::{Image, Texel},
    shader::{Shader, Variable},
};

/// What a brush does where something nearer was drawn before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthRule {
    /// Draws what is nearer, whose depth replaces the one there.
    Replace,
    /// Draws what is not farther, and leaves the depth.
    Respect,
}

/// How fragments enter images.
#[derive(Clone, Copy, Debug)]
pub struct BrushRule<'a> {
    /// What the images of the pass hold, in order.
    pub targets: &'a [Texel],
    /// What is done about depth; nothing in a pass without an image of it.
    pub depth: Option<DepthRule>,
    /// Whether colours cover what is there by their alpha, or replace it.
    pub blend: bool,
}

/// A file of shaders that draws, compiled for images of certain kinds.
#[derive(Debug)]
pub struct Brush {
    label: String,
    pipeline: RenderPipeline,
    variables: Vec<Variable>,
}

/// A brush whose variables are bound.
#[derive(Clone, Debug)]
pub struct LoadedBrush {
    pipeline: RenderPipeline,
    group: BindGroup,
}

/// Triangles of one brush.
#[derive(Clone, Debug)]
pub struct Stroke<'a> {
    /// What draws them.
    pub brush: &'a LoadedBrush,
    /// Numbers of the vertices, three to a triangle, of each instance.
    pub vertices: std::ops::Range<u32>,
    /// Numbers of the instances.
    pub instances: std::ops::Range<u32>,
}

/// Strokes into the same images, in order.
#[derive(Debug, Default)]
pub struct DrawPass<'a> {
    /// Images, and what they are filled with before; what they hold stays where that is none.
    pub targets: Vec<(&'a Image, Option<[f64; 4]>)>,
    /// Image of depths, and what it is filled with before.
    pub depth: Option<(&'a Image, Option<f32>)>,
    /// What is drawn.
    pub strokes: Vec<Stroke<'a>>,
}

impl Gpu {
    /// Compiles a file below `shaders` that draws.
    ///
    /// # Errors
    /// When there is none such, or when the device does not take it.
    pub fn brush(&self, path: &str, rule: &BrushRule<'_>) -> Result<Brush, GpuError> {
        let shader = Shader::load(path)?;
        let (vertex, fragment, variables) = shader.stages()?;
        let mut blend = rule.blend.then_some(BlendState::ALPHA_BLENDING);
        let targets = rule.targets.iter().map(|texel| {
            // Only colours can be mixed.
            let blend = blend.take().filter(|_| *texel == Texel::Colour);
            Some(ColorTargetState { format: texel.format(), blend, write_mask: ColorWrites::ALL })
        });
        let targets: Vec<_> = targets.collect();
        let depth_stencil = rule.depth.map(|rule| DepthStencilState {
            format: Texel::Depth.format(),
            depth_write_enabled: Some(rule == DepthRule::Replace),
            depth_compare: Some(match rule {
                DepthRule::Replace => CompareFunction::Less,
                DepthRule::Respect => CompareFunction::LessEqual,
            }),
            stencil: Default::default(),
            bias: Default::default(),
        });
        let pipeline = self.guarded(|| {
            let module = &self.device().create_shader_module(ShaderModuleDescriptor {
                label: Some(path),
                source: ShaderSource::Wgsl(shader.text.as_str().into()),
            });
            let compilation_options = PipelineCompilationOptions::default();
            self.device().create_render_pipeline(&RenderPipelineDescriptor {
                label: Some(path),
                layout: None,
                vertex: VertexState {
                    module,
                    entry_point: Some(vertex),
                    compilation_options: compilation_options.clone(),
                    buffers: &[],
                },
                // Both sides: an affine frame may turn a body inside out.
                primitive: PrimitiveState::default(),
                depth_stencil,
                multisample: MultisampleState::default(),
                fragment: fragment.map(|fragment| FragmentState {
                    module,
                    entry_point: Some(fragment),
                    compilation_options,
                    targets: &targets,
                }),
                multiview_mask: None,
                cache: None,
            })
        })?;
        Ok(Brush { label: path.to_owned(), pipeline, variables })
    }

    /// Draws passes one after the other, each as if it waited for the one before.
    ///
    /// # Errors
    /// When a brush does not fit the images of its pass, or the device is lost.
    pub fn paint(&self, passes: &[DrawPass<'_>]) -> Result<(), GpuError> {
        self.count_submission(0);
        self.guarded(|| {
            let descriptor = CommandEncoderDescriptor { label: Some("picture") };
            let mut encoder = self.device().create_command_encoder(&descriptor);
            for pass in passes {
                let targets = pass.targets.iter().map(|&(image, fill)| {
                    let load = fill
                        .map_or(LoadOp::Load, |[r, g, b, a]| LoadOp::Clear(Color { r, g, b, a }));
                    Some(RenderPassColorAttachment {
                        view: image.view(),
                        depth_slice: None,
                        resolve_target: None,
                        ops: Operations { load, store: StoreOp::Store },
                    })
                });
                let targets: Vec<_> = targets.collect();
                let depth = pass.depth.map(|(image, fill)| RenderPassDepthStencilAttachment {
                    view: image.view(),
                    depth_ops: Some(Operations {
                        load: fill.map_or(LoadOp::Load, LoadOp::Clear),
                        store: StoreOp::Store,
                    }),
                    stencil_ops: None,
                });
                let mut begun = encoder.begin_render_pass(&RenderPassDescriptor {
                    color_attachments: &targets,
                    depth_stencil_attachment: depth,
                    ..RenderPassDescriptor::default()
                });
                for stroke in &pass.strokes {
                    begun.set_pipeline(&stroke.brush.pipeline);
                    begun.set_bind_group(0, &stroke.brush.group, &[]);
                    begun.draw(stroke.vertices.clone(), stroke.instances.clone());
                }
            }
            self.queue().submit([encoder.finish()]);
        })
    }
}

impl Brush {
    /// This brush with its variables bound; what it does not use is passed over.
    ///
    /// # Errors
    /// When nothing is bound to a variable, or the device refuses what is.
    pub fn load(&self, gpu: &Gpu, bindings: &Bindings<'_>) -> Result<LoadedBrush, GpuError> {
        let pipeline = self.pipeline.clone();
        let layout = pipeline.get_bind_group_layout(0);
        let group = bindings.group(gpu, &self.label, &layout, &self.variables)?;
        Ok(LoadedBrush { pipeline, group })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: BrushRule<'static> = BrushRule {
        targets: &[Texel::Colour, Texel::Number],
        depth: Some(DepthRule::Replace),
        blend: false,
    };

    /// Squares of depth 0.5, 0.25 and 0.75 over all of the image, its left half and its top half.
    fn squares(gpu: &Gpu, rule: &BrushRule<'_>) -> (Vec<[u8; 4]>, Vec<u32>, Vec<f32>) {
        // A width whose rows are no multiple of what copies are aligned to.
        let size = [6, 4];
        let [colour, number, depth] = [Texel::Colour, Texel::Number, Texel::Depth]
            .map(|texel| gpu.image("squares", size, texel).unwrap());
        let edges: [[f32; 4]; 3] =
            [[1.0, -1.0, 0.5, 1.0], [0.0, -1.0, 0.25, 0.5], [1.0, 0.0, 0.75, 0.0]];
        let squares = gpu.upload("squares", &edges).unwrap();
        let brush = gpu.brush("gpu/demo_draw.wgsl", rule).unwrap();
        let brush = brush.load(gpu, &Bindings::default().with("squares", &squares)).unwrap();
        let stroke = Stroke { brush: &brush, vertices: 0..6, instances: 0..3 };
        let pass = DrawPass {
            targets: vec![(&colour, Some([1.0, 1.0, 1.0, 1.0])), (&number, Some([9.0; 4]))],
            depth: rule.depth.map(|_| (&depth, Some(1.0))),
            strokes: vec![stroke],
        };
        gpu.paint(&[pass]).unwrap();
        let mut out = (vec![], vec![], vec![]);
        gpu.read_image(&colour, &mut out.0).unwrap();
        gpu.read_image(&number, &mut out.1).unwrap();
        gpu.read_image(&depth, &mut out.2).unwrap();
        out
    }

    #[test]
    fn the_nearest_is_seen() {
        let Some(gpu) = Gpu::for_test() else { return };
        let (colours, numbers, depths) = squares(&gpu, &RULE);
        for (i, ((colour, number), depth)) in colours.iter().zip(&numbers).zip(&depths).enumerate()
        {
            let left = i % 6 < 3;
            assert_eq!(*number, u32::from(left), "pixel {i}");
            assert_eq!(*depth, if left { 0.25 } else { 0.5 }, "pixel {i}");
            assert_eq!(colour[0], if left { 128 } else { 255 }, "pixel {i}");
        }
    }

    #[test]
    fn without_depth_the_last_is_seen_and_colours_mix() {
        let Some(gpu) = Gpu::for_test() else { return };
        let (colours, numbers, _) = squares(&gpu, &BrushRule { depth: None, blend: true, ..RULE });
        // The last square covers the upper half; its alpha is a half.
        assert_eq!((numbers[0], numbers[5], numbers[23]), (2, 2, 0));
        assert!(colours[5][0].abs_diff(128) <= 1 && colours[23][0] == 255, "{colours:?}");
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let Some(gpu) = Gpu::for_test() else { return };
        let brush = gpu.brush("gpu/demo_draw.wgsl", &RULE).unwrap();
        let error = brush.load(&gpu, &Bindings::default()).unwrap_err().to_string();
        assert!(error.contains("gpu/demo_draw.wgsl: nothing is bound to `squares`"), "{error}");
        let error = gpu.brush("gpu/demo.wgsl", &RULE).unwrap_err().to_string();
        assert!(error.contains("gpu/demo.wgsl draws nothing"), "{error}");
        let squares = gpu.upload("squares", &[[0.0_f32; 4]]).unwrap();
        let brush = brush.load(&gpu, &Bindings::default().with("squares", &squares)).unwrap();
        let image = gpu.image("one of three", [4, 4], Texel::Colour).unwrap();
        let stroke = Stroke { brush: &brush, vertices: 0..6, instances: 0..1 };
        let pass = DrawPass { targets: vec![(&image, None)], depth: None, strokes: vec![stroke] };
        assert!(matches!(gpu.paint(&[pass]), Err(GpuError::Refused(_))));
    }
}
