//! Bodies of a list as graphics adapters take them: corners of every shape once, and its instances one after the other.

use std::ops::Range;

use taut_core::Vec3;

use super::{
    layout::{Drawable, FLAT, MeshCorner, ROUND, SHEET, packed},
    view::Ball,
};
use crate::{
    camera::Lens,
    colour::Rgb,
    flat::Pixel,
    list::{BodyLook, DrawList, Instance},
    shape::Polyhedron,
    svg::thin_lines,
};

/// Outlines of bodies this small are left out, or they would be all that is seen [px].
const OUTLINE_NONE_PX: f64 = 2.0;
/// Outlines of bodies this large are as dark as they get [px].
const OUTLINE_FULL_PX: f64 = 8.0;

/// Wider bodies are thin from no side, and shorter ones are dots [px].
const THIN_AT_MOST_PX: f64 = 4.0;
const LONG_AT_LEAST_PX: f64 = 1.0;
/// Lengths over width from which a body is long: bricks far away stay bricks.
const SLENDER: f64 = 3.0;

/// All bodies.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    pub(super) corners: Vec<MeshCorner>,
    pub(super) drawables: Vec<Drawable>,
    /// What surrounds each of them.
    pub(super) balls: Vec<Ball>,
    /// Corners and drawables of each shape.
    pub(super) batches: Vec<(Range<u32>, Range<u32>)>,
    /// Bodies that are drawn as lines among the others.
    pub(super) thin: Vec<ThinBody>,
}

/// A body so thin that no colour would be seen inside an outline.
#[derive(Debug)]
pub(super) struct ThinBody {
    /// Its depth [m].
    pub(super) depth: f64,
    /// Places [px], colour and width [px] of its lines.
    pub(super) lines: Vec<(Vec<Pixel>, Rgb, f64)>,
}

/// What of a shape decides how its instances are drawn.
struct ShapeExtent {
    middle: Vec3,
    radius: f64,
    /// The second of its three lengths: a plank is seen while its thickness is not.
    width: f64,
    /// The first of them.
    length: f64,
}

impl Bodies {
    /// Those of a list; drawable `n` stands for the instance with its number less one.
    pub(super) fn of(list: &DrawList, lens: &Lens) -> Self {
        let mut by_shape: Vec<Vec<usize>> = vec![vec![]; list.shapes.len()];
        for (index, instance) in list.instances.iter().enumerate() {
            // What has lost all meaning has no place to be drawn at.
            let finite = instance.pose.frame.iter().chain(instance.pose.origin.iter());
            if instance.look == BodyLook::Shaded && finite.copied().all(f64::is_finite) {
                by_shape[instance.shape as usize].push(index);
            }
        }
        let mut bodies = Self::default();
        for (shape, members) in list.shapes.iter().zip(by_shape) {
            let first_corner = bodies.corners.len() as u32;
            let first = bodies.drawables.len() as u32;
            if members.is_empty() {
                continue;
            }
            bodies.corners.extend(corners(shape));
            let extent = ShapeExtent::of(shape);
            for index in members {
                let instance = &list.instances[index];
                match extent.thin(shape, instance, lens) {
                    Some(thin) => bodies.thin.push(thin),
                    None => bodies.push(lens, instance, index, &extent),
                }
            }
            let corners = first_corner..bodies.corners.len() as u32;
            bodies.batches.push((corners, first..bodies.drawables.len() as u32));
        }
        bodies
    }

    fn push(&mut self, lens: &Lens, instance: &Instance, index: usize, extent: &ShapeExtent) {
        let pose = &instance.pose;
        // The frame's largest stretch is at most the root of the sum of its squares.
        let stretch = pose.frame.norm();
        let middle = pose.point(&extent.middle);
        let seen = lens.project(&middle);
        let size_px = extent.width * stretch / 3f64.sqrt() * seen.scale;
        let outline = (size_px - OUTLINE_NONE_PX) / (OUTLINE_FULL_PX - OUTLINE_NONE_PX);
        let origin = pose.origin - lens.target;
        let row = |axis: usize| {
            let row = pose.frame.row(axis);
            [row[0] as f32, row[1] as f32, row[2] as f32, origin[axis] as f32]
        };
        let (cut, cut_colour) = match &instance.cut {
            Some(cut) => {
                let [x, y, z] = [cut.normal.x, cut.normal.y, cut.normal.z].map(|x| x as f32);
                ([x, y, z, cut.offset as f32], cut.colour)
            }
            None => ([0.0; 4], instance.colour),
        };
        self.balls.push(Ball { middle, radius: extent.radius * stretch });
        self.drawables.push(Drawable {
            x: row(0),
            y: row(1),
            z: row(2),
            cut,
            colour: packed(instance.colour),
            cut_colour: packed(cut_colour),
            number: index as u32 + 1,
            outline: outline.clamp(0.0, 1.0) as f32,
        });
    }
}

impl ShapeExtent {
    fn of(shape: &Polyhedron) -> Self {
        let Some(first) = shape.vertices.first() else {
            return Self { middle: Vec3::zeros(), radius: 0.0, width: 0.0, length: 0.0 };
        };
        let start = (*first, *first);
        let (low, high) =
            shape.vertices.iter().fold(start, |(low, high), v| (low.inf(v), high.sup(v)));
        let mut lengths = [0, 1, 2].map(|axis| high[axis] - low[axis]);
        lengths.sort_by(f64::total_cmp);
        let [_, width, length] = lengths;
        Self { middle: 0.5 * (low + high), radius: 0.5 * (high - low).norm(), width, length }
    }

    /// The body as lines, if it is long and thin in the picture; what is small in all directions stays small.
    fn thin(&self, shape: &Polyhedron, instance: &Instance, lens: &Lens) -> Option<ThinBody> {
        let seen = lens.project(&instance.pose.point(&self.middle));
        let stretch = instance.pose.frame.norm() / 3f64.sqrt();
        let [width, length] = [self.width, self.length].map(|m| m * stretch * seen.scale);
        let long = length > LONG_AT_LEAST_PX.max(SLENDER * width);
        if shape.sheet || width > THIN_AT_MOST_PX || !long {
            return None;
        }
        let lines = thin_lines(shape, instance, lens)?;
        Some(ThinBody { depth: seen.depth, lines })
    }
}

fn corners(shape: &Polyhedron) -> impl Iterator<Item = MeshCorner> {
    let flat = if shape.sheet { SHEET } else { FLAT };
    // Round faces first or last would do as well: a face has three corners of one kind.
    let kinds = shape.faces.iter().flat_map(move |face| {
        let kind = if face.smooth.is_empty() { flat } else { ROUND };
        std::iter::repeat_n(kind, 3 * face.corners.len().saturating_sub(2))
    });
    let kinds: Vec<u32> = kinds.collect();
    shape.triangles().into_iter().zip(kinds).map(|(corner, kind)| MeshCorner {
        position: [corner.position.x, corner.position.y, corner.position.z].map(|x| x as f32),
        kind,
        normal: [corner.normal.x, corner.normal.y, corner.normal.z].map(|x| x as f32),
        unused: 0,
    })
}
