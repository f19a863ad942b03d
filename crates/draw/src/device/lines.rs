//! Lines, dots and outlines as straight pieces in the plane of the picture, with depth.

use taut_core::Vec3;

use super::{
    layout::{Streak, packed},
    scene::ThinBody,
    view::Depths,
};
use crate::{
    camera::Lens,
    colour::{INK, Rgb},
    dash::{dashes, length, part},
    list::{BodyLook, DrawList, Layer, SpaceDot, SpaceLine, TICK},
};

/// Lines among bodies count as nearer by this, so that those on a surface are seen [px].
const NEARER_PX: f64 = 2.0;
/// Width of the outline of a body of which nothing else is seen [px].
const OUTLINE_PX: f64 = 1.2;
/// From one line of a hatching to the next [px], and how much they cover, of 255.
const HATCH_PX: f64 = 8.0;
const HATCH_ALPHA: u8 = 90;

/// How far along the direction of view a picture reaches, and how many samples it has to a pixel.
pub(super) struct Streaks<'a> {
    pub(super) lens: &'a Lens,
    pub(super) depths: Depths,
    pub(super) samples: f64,
}

impl Streaks<'_> {
    /// The lines of a layer, and what belongs there beside them: outlines below, dots above.
    pub(super) fn of(&self, list: &DrawList, layer: Layer) -> Vec<Streak> {
        let mut streaks = Vec::new();
        if layer == Layer::Below {
            self.outlines(list, &mut streaks);
        }
        for line in list.lines.iter().filter(|line| line.layer == layer) {
            self.line(line, &mut streaks);
        }
        if layer == Layer::Above {
            list.dots.iter().for_each(|dot| self.dot(dot, &mut streaks));
            if list.hatched {
                self.hatching(list.size, &mut streaks);
            }
        }
        streaks
    }

    /// Bodies that are lines in the picture.
    pub(super) fn thin(&self, bodies: &[ThinBody], out: &mut Vec<Streak>) {
        for body in bodies {
            let depth = body.depth.clamp(self.depths.near, self.depths.far);
            let depth = self.depths.clip(depth, self.lens.distance.is_some());
            for (points, colour, width) in &body.lines {
                let place = |&(x, y): &(f64, f64)| [x, y, depth];
                let ends: Vec<_> = points.iter().map(place).collect();
                let pairs = ends.windows(2);
                out.extend(pairs.map(|p| self.streak(p[0], p[1], 0.5 * width, *colour)));
            }
        }
    }

    fn line(&self, line: &SpaceLine, out: &mut Vec<Streak>) {
        let nearer = if line.layer == Layer::Among { NEARER_PX } else { 0.0 };
        for run in self.runs(&line.points, nearer) {
            let half = 0.5 * line.width;
            for (from, to) in dashes(length(&run), line.dash) {
                // Round ends reach over by half the width, which dashes must not.
                let inset = if line.dash.is_empty() { 0.0 } else { half.min(0.5 * (to - from)) };
                let points = part(&run, from + inset, to - inset);
                out.extend(
                    points.windows(2).map(|pair| self.streak(pair[0], pair[1], half, line.colour)),
                );
            }
        }
    }

    /// Places and depths in clip space of the runs of a line that are before the eye [px].
    fn runs(&self, points: &[Vec3], nearer_px: f64) -> Vec<Vec<[f64; 3]>> {
        let perspective = self.lens.distance.is_some();
        let mut runs: Vec<Vec<[f64; 3]>> = vec![];
        let mut last: Option<Vec3> = None;
        for pair in points.windows(2) {
            let Some([a, b]) = self.before_the_eye(pair[0], pair[1]) else {
                last = None;
                continue;
            };
            let place = |point: &Vec3| {
                let seen = self.lens.project(point);
                let depth = seen.depth - nearer_px / seen.scale;
                let depth = depth.clamp(self.depths.near, self.depths.far);
                [seen.at.0, seen.at.1, self.depths.clip(depth, perspective)]
            };
            if last != Some(a) || runs.is_empty() {
                runs.push(vec![place(&a)]);
            }
            if let Some(run) = runs.last_mut() {
                run.push(place(&b));
            }
            last = Some(b);
        }
        runs
    }

    /// The part of a segment before the eye.
    fn before_the_eye(&self, a: Vec3, b: Vec3) -> Option<[Vec3; 2]> {
        if !a.iter().chain(b.iter()).all(|x| x.is_finite()) {
            return None;
        }
        let Some(distance) = self.lens.distance else { return Some([a, b]) };
        let nearest = 1e-3 * distance;
        let [from, to] = [a, b].map(|point| self.lens.project(&point).depth - nearest);
        match (from > 0.0, to > 0.0) {
            (true, true) => Some([a, b]),
            (false, false) => None,
            (true, false) => Some([a, a + (b - a) * (from / (from - to))]),
            (false, true) => Some([a + (b - a) * (from / (from - to)), b]),
        }
    }

    fn dot(&self, dot: &SpaceDot, out: &mut Vec<Streak>) {
        let seen = self.lens.project(&dot.at);
        if seen.depth <= 0.0 && self.lens.distance.is_some() {
            return;
        }
        let at = [seen.at.0, seen.at.1, 0.0];
        if !at.iter().all(|x| x.is_finite()) {
            return;
        }
        out.push(self.streak(at, at, dot.radius, dot.colour));
        if let Some(normal) = dot.normal {
            let turned = self.lens.turned(&normal);
            let end = [at[0] + TICK * turned.x, at[1] - TICK * turned.y, 0.0];
            out.push(self.streak(at, end, 0.5, dot.colour));
        }
    }

    fn outlines(&self, list: &DrawList, out: &mut Vec<Streak>) {
        for instance in list.instances.iter().filter(|i| i.look == BodyLook::Outlined) {
            let shape = &list.shapes[instance.shape as usize];
            let seen = shape.seen(&instance.pose, |point, normal| self.lens.sees(point, normal));
            for edge in shape.silhouette(&seen) {
                let ends = shape.edges[edge].ends;
                let ends = ends.map(|i| instance.pose.point(&shape.vertices[i as usize]));
                for run in self.runs(&ends, 0.0) {
                    let half = 0.5 * OUTLINE_PX;
                    out.push(self.streak(run[0], run[1], half, instance.colour));
                }
            }
        }
    }

    /// Lines from lower left to upper right over the whole picture.
    fn hatching(&self, (width, height): (f64, f64), out: &mut Vec<Streak>) {
        let [red, green, blue, _] = packed(INK).to_le_bytes();
        let faint = u32::from_le_bytes([red, green, blue, HATCH_ALPHA]);
        let count = ((width + height) / HATCH_PX) as u32;
        for x in (1..=count).map(|i| HATCH_PX * f64::from(i)) {
            let streak = self.streak([x, 0.0, 0.0], [x - height, height, 0.0], 0.25, INK);
            out.push(Streak { colour: faint, ..streak });
        }
    }

    fn streak(&self, a: [f64; 3], b: [f64; 3], half_width_px: f64, colour: Rgb) -> Streak {
        let samples =
            |[x, y, z]: [f64; 3]| [(x * self.samples) as f32, (y * self.samples) as f32, z as f32];
        // Thinner than a sample, a line would break up.
        let half_width = (half_width_px * self.samples).max(0.6) as f32;
        Streak { a: samples(a), half_width, b: samples(b), colour: packed(colour) }
    }
}
