//! Pictures as data: what writers draw and tests read.

use std::sync::Arc;

use taut_core::Vec3;

use crate::{
    camera::{Camera, Lens},
    colour::Rgb,
    flat::{ItemShape, Pixel},
    shape::{AffinePose, Polyhedron},
};

/// One picture, or one cell of a film.
///
/// What is later in a list lies over what is earlier where depth does not decide. Writers draw the background, lines
/// [`Layer::Below`], instances with lines [`Layer::Among`] them by depth, lines [`Layer::Above`] and dots, then tags,
/// and last the border.
#[derive(Clone, Debug)]
pub struct DrawList {
    /// Where it is seen from.
    pub camera: Camera,
    /// Width and height [px].
    pub size: (f64, f64),
    /// The colour behind everything.
    pub background: Rgb,
    /// The frame around it, inside its size, with its width [px].
    pub border: Option<(Rgb, f64)>,
    /// Whether it is hatched: what it shows is not of its time.
    pub hatched: bool,
    /// What instances are made of.
    pub shapes: Vec<Arc<Polyhedron>>,
    /// Bodies.
    pub instances: Vec<Instance>,
    /// Planes that shadows fall on, where a writer has shadows; nothing else is seen of them.
    pub planes: Vec<SpacePlane>,
    /// Lines in space.
    pub lines: Vec<SpaceLine>,
    /// Points in space, over everything.
    pub dots: Vec<SpaceDot>,
    /// Signs and texts [px], from its upper left corner.
    pub tags: Vec<ItemShape>,
}

/// One body, or one piece of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// Number of its shape in [`DrawList::shapes`].
    pub shape: u32,
    /// From the coordinates of its shape to the world.
    pub pose: AffinePose,
    /// Its colour in full light.
    pub colour: Rgb,
    /// A part of it with another colour.
    pub cut: Option<PlaneCut>,
    /// How it is drawn.
    pub look: BodyLook,
    /// Which run it is of.
    pub run: u32,
    /// Which body of the scene it is of.
    pub body: u32,
}

/// The part of an instance beyond a plane, which has a colour of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneCut {
    /// Normal of the plane in the coordinates of the shape.
    pub normal: Vec3,
    /// Points `x` with `normal . x > offset` are beyond it.
    pub offset: f64,
    /// The colour there.
    pub colour: Rgb,
}

/// How an instance is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyLook {
    /// Lit faces, and a darker outline.
    #[default]
    Shaded,
    /// Its outline only, below all bodies.
    Outlined,
}

/// The surface of a half-space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpacePlane {
    /// A point of it [m].
    pub point: Vec3,
    /// Unit normal, away from what is solid.
    pub normal: Vec3,
}

/// A line through points of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceLine {
    /// The points [m].
    pub points: Vec<Vec3>,
    /// Its width [px].
    pub width: f64,
    /// Lengths of dash and gap [px]; none for a solid line.
    pub dash: &'static [f64],
    /// Its colour.
    pub colour: Rgb,
    /// What hides it.
    pub layer: Layer,
}

/// What hides a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Everything else.
    Below,
    /// What is nearer to the eye.
    Among,
    /// Nothing.
    Above,
}

/// A point of the world that is marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceDot {
    /// Where [m].
    pub at: Vec3,
    /// Radius [px].
    pub radius: f64,
    /// Its colour.
    pub colour: Rgb,
    /// A unit direction along which a tick leaves it.
    pub normal: Option<Vec3>,
}

/// Length of the tick along the normal of a dot that lies across the direction of view [px].
pub const TICK: f64 = 6.0;

/// A page of pictures: a film, with the place of everything on it.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Width [px].
    pub width: f64,
    /// Height [px].
    pub height: f64,
    /// Title for readers who cannot see it.
    pub title: String,
    /// What it shows, for the same.
    pub description: String,
    /// Upper left corner of every cell [px], and what is in it, row by row.
    pub cells: Vec<(Pixel, DrawList)>,
    /// Heads, times and key around the cells.
    pub shapes: Vec<ItemShape>,
}

impl Sheet {
    /// Faces of the cell that has most.
    pub fn faces_max(&self) -> usize {
        self.cells.iter().map(|(_, cell)| cell.face_count()).max().unwrap_or(0)
    }
}

impl DrawList {
    /// An empty picture.
    pub fn new(camera: Camera, size: (f64, f64)) -> Self {
        Self {
            camera,
            size,
            background: crate::colour::PAGE,
            border: None,
            hatched: false,
            shapes: Vec::new(),
            instances: Vec::new(),
            planes: Vec::new(),
            lines: Vec::new(),
            dots: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Adds a shape unless it is there already, and says its number.
    pub fn shape(&mut self, shape: &Arc<Polyhedron>) -> u32 {
        let known = self.shapes.iter().position(|other| Arc::ptr_eq(other, shape));
        let number = known.unwrap_or_else(|| {
            self.shapes.push(Arc::clone(shape));
            self.shapes.len() - 1
        });
        number as u32
    }

    /// The lens of its camera for its size.
    pub fn lens(&self) -> Lens {
        Lens::new(&self.camera, self.size)
    }

    /// How many faces a writer of areas draws at most, by which one is chosen; a ball is one.
    pub fn face_count(&self) -> usize {
        let shaded = self.instances.iter().filter(|instance| instance.look == BodyLook::Shaded);
        let shapes = shaded.map(|instance| &self.shapes[instance.shape as usize]);
        shapes.map(|shape| if shape.ball.is_some() { 1 } else { shape.faces.len() }).sum()
    }
}
