//! Instances as convex pieces in the picture: what of them is seen, and how it is painted.

use std::collections::BTreeMap;

use taut_core::{Mat3, Vec3};

use crate::{
    camera::Lens,
    colour::{Rgb, SUN, light, lit},
    flat::{Pixel, PixelBox},
    list::{BodyLook, DrawList, Instance, Layer, SpaceLine},
    order::{Extent3, PaintedPiece, half, hull},
    shape::{AffinePose, FlatFace, Polyhedron},
};

/// Pieces smaller than this are not seen [px].
const LEAST: f64 = 0.2;
/// Pieces narrower than this are drawn as lines of this width [px].
const THIN: f64 = 2.0;

/// What is painted of a piece.
pub(super) enum Paint {
    /// Flat faces, each with its colour and outline.
    Faces(Vec<(Vec<Pixel>, Rgb)>),
    /// Facets that stand for a smooth surface, by colour, over an outline filled with one of the colours.
    Smooth { outline: Vec<Pixel>, base: Rgb, faces: Vec<(Vec<Vec<Pixel>>, Rgb)> },
    /// A sphere, or the ellipsoid that an affine map makes of one.
    Ball { at: Pixel, radii: (f64, f64), turn_deg: f64, colour: Rgb },
    /// Lines, each with its colour and width: springs, and bodies so thin that no colour would be seen inside an outline.
    Lines(Vec<(Vec<Pixel>, Rgb, f64)>),
}

/// Everything that is hidden by depth, as far as it is in the picture.
pub(super) fn pieces(list: &DrawList, lens: &Lens) -> Vec<(PaintedPiece, Paint)> {
    let mut out = Vec::new();
    for instance in list.instances.iter().filter(|instance| instance.look == BodyLook::Shaded) {
        let solid = &list.shapes[instance.shape as usize];
        if solid.sheet {
            sheet(solid, instance, lens, &mut out);
        } else if let Some(piece) = body(solid, instance, lens) {
            out.push(piece);
        }
    }
    for line in list.lines.iter().filter(|line| line.layer == Layer::Among) {
        out.extend(line.points.windows(2).filter_map(|pair| stretch(line, pair, lens)));
    }
    out.retain(|(piece, _)| in_picture(&piece.outline, lens.size));
    out
}

fn in_picture(outline: &[Pixel], (width, height): (f64, f64)) -> bool {
    let bounds = PixelBox::around(outline);
    let size = (bounds.right - bounds.left).max(bounds.bottom - bounds.top);
    let picture = PixelBox { left: 0.0, top: 0.0, right: width, bottom: height };
    size > LEAST && bounds.grown(1.0).overlaps(&picture)
}

/// Corners in the picture; `None` where one of them is not in front of the eye.
fn projected(solid: &Polyhedron, pose: &AffinePose, lens: &Lens) -> Option<Vec<Pixel>> {
    let near = lens.distance.map_or(f64::NEG_INFINITY, |distance| 1e-3 * distance);
    let corner = |vertex: &Vec3| {
        let seen = lens.project(&pose.point(vertex));
        (seen.depth > near && seen.at.0.is_finite() && seen.at.1.is_finite()).then_some(seen.at)
    };
    solid.vertices.iter().map(corner).collect()
}

/// The outline of an instance in the picture.
pub(super) fn outline(list: &DrawList, instance: &Instance, lens: &Lens) -> Option<Vec<Pixel>> {
    let points = projected(&list.shapes[instance.shape as usize], &instance.pose, lens)?;
    let outline = hull(&points);
    (outline.len() > 2 && in_picture(&outline, lens.size)).then_some(outline)
}

fn body(solid: &Polyhedron, instance: &Instance, lens: &Lens) -> Option<(PaintedPiece, Paint)> {
    let pose = &instance.pose;
    let points = projected(solid, pose, lens)?;
    let outline = hull(&points);
    if outline.len() < 3 || !in_picture(&outline, lens.size) {
        return None;
    }
    let planes = solid.faces.iter().map(|face| {
        let normal = pose.normal(&face.normal);
        (normal, normal.dot(&pose.point(&solid.vertices[face.corners[0] as usize])))
    });
    let piece = PaintedPiece {
        outline: outline.clone(),
        extent: Extent3::Solid(planes.collect()),
        depth: lens.project(&pose.origin).depth,
    };
    let paint = match (solid.ball, thin_axis(&outline)) {
        (_, Some(axis)) => Paint::Lines(thin(instance, axis, lens)),
        (Some(radius), None) => ball(radius, instance, lens),
        (None, None) => faces(solid, instance, outline, lens),
    };
    Some((piece, paint))
}

/// The lines as which an instance is drawn that is too thin for an outline; `None` for wider ones.
#[cfg(feature = "gpu")]
pub(crate) fn thin_lines(
    solid: &Polyhedron,
    instance: &Instance,
    lens: &Lens,
) -> Option<Vec<(Vec<Pixel>, Rgb, f64)>> {
    let axis = thin_axis(&hull(&projected(solid, &instance.pose, lens)?))?;
    Some(thin(instance, axis, lens))
}

/// The line along an outline that is narrower than [`THIN`]; `None` for wider ones.
pub(super) fn thin_axis(outline: &[Pixel]) -> Option<[Pixel; 2]> {
    let squared = |p: &Pixel, q: &Pixel| (p.0 - q.0).powi(2) + (p.1 - q.1).powi(2);
    let pairs =
        outline.iter().enumerate().flat_map(|(i, p)| outline[..i].iter().map(move |q| (p, q)));
    let (a, b) = pairs.max_by(|x, y| squared(x.0, x.1).total_cmp(&squared(y.0, y.1)))?;
    let length = squared(a, b).sqrt();
    let across = |p: &Pixel| ((b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0)) / length;
    let sides = outline.iter().map(across);
    let (low, high) = sides.fold((0.0_f64, 0.0_f64), |(l, h), x| (l.min(x), h.max(x)));
    if high - low > THIN {
        return None;
    }
    // From the longest diagonal to the middle of the piece.
    let shift = 0.5 * (low + high) / length;
    let moved = |p: &Pixel| (p.0 - shift * (b.1 - a.1), p.1 + shift * (b.0 - a.0));
    Some([moved(a), moved(b)])
}

/// A thin piece as a line, or two where it is cut.
fn thin(instance: &Instance, axis: [Pixel; 2], lens: &Lens) -> Vec<(Vec<Pixel>, Rgb, f64)> {
    let Some(cut) = &instance.cut else { return vec![(axis.to_vec(), instance.colour, THIN)] };
    let middle = ((axis[0].0 + axis[1].0) / 2.0, (axis[0].1 + axis[1].1) / 2.0);
    // The end that is farther along the cut's normal has its colour.
    let along = lens.turned(&(instance.pose.frame * cut.normal));
    let towards = (axis[1].0 - axis[0].0) * along.x - (axis[1].1 - axis[0].1) * along.y;
    let (first, second) =
        if towards > 0.0 { (instance.colour, cut.colour) } else { (cut.colour, instance.colour) };
    vec![(vec![axis[0], middle], first, THIN), (vec![middle, axis[1]], second, THIN)]
}

/// The faces of a convex solid that are seen.
fn faces(solid: &Polyhedron, instance: &Instance, outline: Vec<Pixel>, lens: &Lens) -> Paint {
    let seen = solid.seen(&instance.pose, |point, normal| lens.sees(point, normal));
    let smooth = solid.faces.iter().any(|face| !face.smooth.is_empty());
    let shown = solid.faces.iter().zip(seen).filter(|(_, seen)| *seen);
    let parts = shown.flat_map(|(face, _)| parts(solid, face, instance, lens));
    if !smooth {
        return Paint::Faces(parts.collect());
    }
    let mut by_colour: BTreeMap<Rgb, Vec<Vec<Pixel>>> = BTreeMap::new();
    parts.for_each(|(points, colour)| by_colour.entry(colour).or_default().push(points));
    // The commonest colour is below all others, so that no seam shows the page.
    let base = by_colour.iter().max_by_key(|(_, faces)| faces.len()).map(|(colour, _)| *colour);
    let base = base.unwrap_or(instance.colour);
    by_colour.remove(&base);
    let faces = by_colour.into_iter().map(|(colour, faces)| (faces, colour)).collect();
    Paint::Smooth { outline, base, faces }
}

/// A face as it is painted: whole, or the two sides of a cut.
fn parts(
    solid: &Polyhedron,
    face: &FlatFace,
    instance: &Instance,
    lens: &Lens,
) -> Vec<(Vec<Pixel>, Rgb)> {
    let corners: Vec<Vec3> = face.corners.iter().map(|&i| solid.vertices[i as usize]).collect();
    let normal = lens.turned(&instance.pose.normal(&face.normal));
    let light = light(normal.dot(&Vec3::from(SUN)));
    let seen = |points: Vec<Vec3>, colour: Rgb| {
        let points: Vec<Pixel> =
            points.iter().map(|p| lens.project(&instance.pose.point(p)).at).collect();
        (points, lit(colour, light))
    };
    let Some(cut) = &instance.cut else { return vec![seen(corners, instance.colour)] };
    let beyond = |p: &Vec3| cut.normal.dot(p) - cut.offset;
    let sides =
        [(half(&corners, |p| -beyond(p)), instance.colour), (half(&corners, beyond), cut.colour)];
    let sides = sides.into_iter().filter(|(points, _)| points.len() > 2);
    sides.map(|(points, colour)| seen(points, colour)).collect()
}

/// Faces of a sheet, each by itself and seen from both sides.
fn sheet(
    solid: &Polyhedron,
    instance: &Instance,
    lens: &Lens,
    out: &mut Vec<(PaintedPiece, Paint)>,
) {
    let Some(points) = projected(solid, &instance.pose, lens) else { return };
    for face in &solid.faces {
        let corners: Vec<Pixel> = face.corners.iter().map(|&i| points[i as usize]).collect();
        let outline = hull(&corners);
        if outline.len() < 3 {
            continue;
        }
        let normal = instance.pose.normal(&face.normal);
        let first = instance.pose.point(&solid.vertices[face.corners[0] as usize]);
        let middle = face.corners.iter().map(|&i| solid.vertices[i as usize]).sum::<Vec3>()
            / face.corners.len() as f64;
        let shown = if lens.sees(&first, &normal) { normal } else { -normal };
        let colour = lit(instance.colour, light(lens.turned(&shown).dot(&Vec3::from(SUN))));
        let piece = PaintedPiece {
            outline,
            extent: Extent3::Flat(normal, normal.dot(&first)),
            depth: lens.project(&instance.pose.point(&middle)).depth,
        };
        out.push((piece, Paint::Faces(vec![(corners, colour)])));
    }
}

fn stretch(line: &SpaceLine, pair: &[Vec3], lens: &Lens) -> Option<(PaintedPiece, Paint)> {
    let points = super::segment(pair, lens)?.to_vec();
    let piece = PaintedPiece {
        outline: points.clone(),
        extent: Extent3::Line([pair[0], pair[1]]),
        depth: lens.project(&((pair[0] + pair[1]) * 0.5)).depth,
    };
    Some((piece, Paint::Lines(vec![(points, line.colour, line.width)])))
}

/// The ellipse as which an affine image of a sphere is seen, to first order in its size over its distance.
fn ball(radius: f64, instance: &Instance, lens: &Lens) -> Paint {
    let seen = lens.project(&instance.pose.origin);
    let axes =
        Mat3::from_rows(&[lens.right.transpose(), -lens.up.transpose(), Vec3::zeros().transpose()]);
    let map = axes * instance.pose.frame * (radius * seen.scale);
    // Half axes are the roots of the eigenvalues of `map map^T` in the plane.
    let square = map * map.transpose();
    let (a, b, c) = (square.m11, square.m12, square.m22);
    let (middle, spread) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
    let radii = ((middle + spread).sqrt(), (middle - spread).max(0.0).sqrt());
    let turn_deg = (0.5 * (2.0 * b).atan2(a - c)).to_degrees();
    Paint::Ball { at: seen.at, radii, turn_deg, colour: instance.colour }
}
