//! Pictures of any number of bodies by a graphics adapter, in the tones of the SVG writer, with shadows.
//!
//! Bodies of one shape are one instanced draw. First the sun looks at them, then the eye, at twice the width and height:
//! what is seen gets colour, normal and number; edges darken where these or depth jump; lines follow by their layers;
//! and the mean of four samples is a pixel.

mod layout;
mod lines;
mod scene;
mod view;

use taut_gpu::{
    Bindings, Brush, BrushRule, Buffer, DepthRule, DrawPass, Gpu, GpuError, Image, LoadedBrush,
    Stroke, Texel,
};

use self::{
    layout::{Drawable, MeshCorner, Optics, Streak},
    lines::Streaks,
    scene::Bodies,
    view::{Depths, SUN_TEXELS, optics},
};
use crate::{
    bitmap::Bitmap,
    colour::{PAGE, Rgb},
    flat::ItemShape,
    list::{DrawList, Layer, Sheet, SpacePlane},
    overlay,
    text::NoFonts,
};

/// Samples to a pixel in each direction.
const SAMPLES: u32 = 2;

/// A picture, and what is seen in it.
#[derive(Clone, Debug)]
pub struct Painted {
    /// Its pixels, without tags and border.
    pub bitmap: Bitmap,
    /// For each pixel the number of the instance that is seen there, counted from 1; 0 where there is none.
    pub numbers: Vec<u32>,
}

/// Why there is no picture.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PaintError {
    /// The adapter refused or went away.
    #[error(transparent)]
    Device(#[from] GpuError),
    /// Nothing can be written on it.
    #[error(transparent)]
    Fonts(#[from] NoFonts),
}

/// Draws lists on a graphics adapter. What it takes is compiled once.
#[derive(Debug)]
pub struct Painter {
    gpu: Gpu,
    sun: Brush,
    solid: Brush,
    ground: Brush,
    edges: Brush,
    /// Lines that nearer bodies hide, and those that nothing hides.
    line_among: Brush,
    line_over: Brush,
    finish: Brush,
    sun_depths: Image,
    /// Kept while pictures have one size.
    targets: Option<Targets>,
}

/// What a picture is drawn into.
#[derive(Debug)]
struct Targets {
    colours: Image,
    normals: Image,
    numbers: Image,
    depths: Image,
    /// A fourth of the samples.
    pixels: Image,
    pixel_numbers: Image,
}

/// What shaders read of a list.
struct Supplies {
    view: Buffer<Optics>,
    corners: Buffer<MeshCorner>,
    drawables: Buffer<Drawable>,
    planes: Buffer<[f32; 4]>,
    /// Lines by layer: below, among and above bodies.
    streaks: [Buffer<Streak>; 3],
}

/// Brushes with the supplies of a list.
struct LoadedBrushes {
    sun: LoadedBrush,
    solid: LoadedBrush,
    ground: LoadedBrush,
    edges: LoadedBrush,
    lines: [LoadedBrush; 3],
    finish: LoadedBrush,
}

impl Painter {
    /// Compiles what it takes to draw on an adapter.
    ///
    /// # Errors
    /// When the adapter refuses.
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let brush =
            |path, targets, depth, blend| gpu.brush(path, &BrushRule { targets, depth, blend });
        let colour = &[Texel::Colour][..];
        let seen = &[Texel::Colour, Texel::Colour, Texel::Number];
        let pixel = &[Texel::Colour, Texel::Number];
        let (replace, respect) = (Some(DepthRule::Replace), Some(DepthRule::Respect));
        Ok(Self {
            sun: brush("draw/sun.wgsl", &[], replace, false)?,
            solid: brush("draw/solid.wgsl", seen, replace, false)?,
            ground: brush("draw/ground.wgsl", colour, None, true)?,
            edges: brush("draw/edges.wgsl", colour, None, true)?,
            line_among: brush("draw/line.wgsl", colour, respect, false)?,
            line_over: brush("draw/line.wgsl", colour, None, true)?,
            finish: brush("draw/finish.wgsl", pixel, None, false)?,
            sun_depths: gpu.image("shadows", [SUN_TEXELS; 2], Texel::Depth)?,
            gpu: gpu.clone(),
            targets: None,
        })
    }

    /// Draws the bodies, lines and dots of a list, with `scale` pixels to each of its own.
    ///
    /// # Errors
    /// When the picture has no pixel or more than the adapter allows, or when the adapter is lost.
    pub fn paint(&mut self, list: &DrawList, scale: f64) -> Result<Painted, GpuError> {
        let size = [list.size.0, list.size.1].map(|length| (length * scale).round() as u32);
        let targets = match self.targets.take() {
            Some(kept) if kept.pixels.size() == size => kept,
            _ => Targets::new(&self.gpu, size)?,
        };
        let painted = self.paint_into(&targets, list, scale);
        self.targets = Some(targets);
        painted
    }

    /// A finished picture, with tags and border.
    ///
    /// # Errors
    /// As [`Self::paint`], and when the embedded fonts cannot be read.
    pub fn picture(&mut self, list: &DrawList, scale: f64) -> Result<Bitmap, PaintError> {
        let mut bitmap = self.paint(list, scale)?.bitmap;
        overlay::draw(&mut bitmap, &list.tags, scale)?;
        if let Some((colour, width)) = list.border {
            let (right, bottom) = list.size;
            let sides = [
                [(0.0, 0.0), (right, width)],
                [(0.0, bottom - width), (right, bottom)],
                [(0.0, 0.0), (width, bottom)],
                [(right - width, 0.0), (right, bottom)],
            ];
            let side = |[(left, top), (right, bottom)]: [(f64, f64); 2]| ItemShape::Polygon {
                points: vec![(left, top), (right, top), (right, bottom), (left, bottom)],
                fill: Some(colour),
                stroke: None,
            };
            overlay::draw(&mut bitmap, &sides.map(side), scale)?;
        }
        Ok(bitmap)
    }

    /// A finished film.
    ///
    /// # Errors
    /// As [`Self::picture`].
    pub fn sheet(&mut self, sheet: &Sheet, scale: f64) -> Result<Bitmap, PaintError> {
        let pixels = |length: f64| (length * scale).round() as u32;
        let mut page = Bitmap::new([pixels(sheet.width), pixels(sheet.height)], PAGE.into());
        for ((x, y), list) in &sheet.cells {
            let cell = self.picture(list, scale)?;
            page.paste([pixels(*x), pixels(*y)], cell.size(), cell.pixels());
        }
        overlay::draw(&mut page, &sheet.shapes, scale)?;
        Ok(page)
    }

    fn paint_into(
        &self,
        targets: &Targets,
        list: &DrawList,
        scale: f64,
    ) -> Result<Painted, GpuError> {
        let lens = list.lens();
        let bodies = Bodies::of(list, &lens);
        let samples = scale * f64::from(SAMPLES);
        let streaks = Streaks { lens: &lens, depths: Depths::of(&lens, &bodies.balls), samples };
        let lines = [Layer::Below, Layer::Among, Layer::Above].map(|l| streaks.of(list, l));
        let [below, mut among, above] = lines;
        streaks.thin(&bodies.thin, &mut among);
        let streaks = [below, among, above];
        let planes: Vec<[f32; 4]> = list.planes.iter().map(|p| plane(p, &lens.target)).collect();
        let view = optics(&lens, targets.colours.size(), samples, &bodies.balls);
        let [below, among, above] = &streaks;
        let gpu = &self.gpu;
        let supplies = Supplies {
            view: gpu.upload("view of a picture", &[view])?,
            corners: gpu.upload("corners of shapes", &bodies.corners)?,
            drawables: gpu.upload("bodies of a picture", &bodies.drawables)?,
            planes: gpu.upload("planes of a picture", &planes)?,
            streaks: [
                gpu.upload("lines below bodies", below)?,
                gpu.upload("lines among bodies", among)?,
                gpu.upload("lines above bodies", above)?,
            ],
        };
        let loaded = self.load(targets, &supplies)?;
        gpu.paint(&self.passes(targets, &loaded, list.background, &bodies, &streaks, &planes))?;

        let mut colours: Vec<[u8; 4]> = Vec::new();
        gpu.read_image(&targets.pixels, &mut colours)?;
        let mut numbers = Vec::new();
        gpu.read_image(&targets.pixel_numbers, &mut numbers)?;
        let colours = colours.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect();
        Ok(Painted { bitmap: Bitmap::of(targets.pixels.size()[0], colours), numbers })
    }

    fn load(&self, targets: &Targets, supplies: &Supplies) -> Result<LoadedBrushes, GpuError> {
        let gpu = &self.gpu;
        let view = Bindings::default().with("view", &supplies.view);
        let sun =
            view.clone().with("corners", &supplies.corners).with("drawables", &supplies.drawables);
        let shadowed = sun.clone().with_image("sun_depths", &self.sun_depths);
        let ground = shadowed.clone().with("planes", &supplies.planes);
        let edges = view
            .clone()
            .with_image("depths", &targets.depths)
            .with_image("normals", &targets.normals)
            .with_image("numbers", &targets.numbers);
        let [below, among, above] =
            supplies.streaks.each_ref().map(|streaks| view.clone().with("streaks", streaks));
        let finish = Bindings::default()
            .with_image("colours", &targets.colours)
            .with_image("numbers", &targets.numbers);
        Ok(LoadedBrushes {
            sun: self.sun.load(gpu, &sun)?,
            solid: self.solid.load(gpu, &shadowed)?,
            ground: self.ground.load(gpu, &ground)?,
            edges: self.edges.load(gpu, &edges)?,
            lines: [
                self.line_over.load(gpu, &below)?,
                self.line_among.load(gpu, &among)?,
                self.line_over.load(gpu, &above)?,
            ],
            finish: self.finish.load(gpu, &finish)?,
        })
    }

    fn passes<'a>(
        &'a self,
        targets: &'a Targets,
        loaded: &'a LoadedBrushes,
        (red, green, blue): Rgb,
        bodies: &Bodies,
        streaks: &[Vec<Streak>; 3],
        planes: &[[f32; 4]],
    ) -> Vec<DrawPass<'a>> {
        let each = |brush: &'a LoadedBrush| {
            let batches = bodies.batches.iter().cloned();
            let stroke = move |(vertices, instances)| Stroke { brush, vertices, instances };
            batches.map(stroke).collect::<Vec<_>>()
        };
        let screen = |brush, count: usize| {
            vec![Stroke { brush, vertices: 0..3, instances: 0..count as u32 }]
        };
        let lines = |layer: usize| Stroke {
            brush: &loaded.lines[layer],
            vertices: 0..6,
            instances: 0..streaks[layer].len() as u32,
        };
        let page = [red, green, blue].map(|c| f64::from(c) / 255.0);
        let page = [page[0], page[1], page[2], 1.0];
        let colours = |fill| (&targets.colours, fill);
        let on_page = |strokes| DrawPass { targets: vec![colours(None)], depth: None, strokes };
        let mut under = screen(&loaded.ground, planes.len());
        under.push(lines(0));
        vec![
            DrawPass {
                targets: vec![],
                depth: Some((&self.sun_depths, Some(1.0))),
                strokes: each(&loaded.sun),
            },
            DrawPass { targets: vec![colours(Some(page))], depth: None, strokes: under },
            DrawPass {
                targets: vec![
                    colours(None),
                    (&targets.normals, Some([0.5, 0.5, 0.5, 0.0])),
                    (&targets.numbers, Some([0.0; 4])),
                ],
                depth: Some((&targets.depths, Some(1.0))),
                strokes: each(&loaded.solid),
            },
            on_page(screen(&loaded.edges, 1)),
            DrawPass {
                targets: vec![colours(None)],
                depth: Some((&targets.depths, None)),
                strokes: vec![lines(1)],
            },
            on_page(vec![lines(2)]),
            DrawPass {
                targets: vec![
                    (&targets.pixels, Some(page)),
                    (&targets.pixel_numbers, Some([0.0; 4])),
                ],
                depth: None,
                strokes: screen(&loaded.finish, 1),
            },
        ]
    }
}

impl Targets {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, GpuError> {
        let samples = size.map(|length| length.saturating_mul(SAMPLES));
        Ok(Self {
            colours: gpu.image("a picture", samples, Texel::Colour)?,
            normals: gpu.image("normals of a picture", samples, Texel::Colour)?,
            numbers: gpu.image("numbers of a picture", samples, Texel::Number)?,
            depths: gpu.image("depths of a picture", samples, Texel::Depth)?,
            pixels: gpu.image("a picture", size, Texel::Colour)?,
            pixel_numbers: gpu.image("numbers of a picture", size, Texel::Number)?,
        })
    }
}

/// Normal, and how far along it the plane is from the target [m].
fn plane(plane: &SpacePlane, target: &taut_core::Vec3) -> [f32; 4] {
    let normal = plane.normal;
    let offset = normal.dot(&(plane.point - target));
    [normal.x, normal.y, normal.z, offset].map(|x| x as f32)
}
