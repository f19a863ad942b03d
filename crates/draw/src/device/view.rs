//! From the world to pixels and shadows: matrices that are made in double precision and then rounded.

use nalgebra::Matrix4;
use taut_core::Vec3;

use super::layout::Optics;
use crate::{
    camera::Lens,
    colour::{AMBIENT, LEVELS, SUN},
};

/// Width and height of the sun's picture of depths [texels].
pub(super) const SUN_TEXELS: u32 = 2048;
/// How dark shadows on the ground are, from 0 to 1.
const GROUND_SHADOW: f64 = 0.16;

/// A ball around something that is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    /// Its middle in the world [m].
    pub(super) middle: Vec3,
    /// Its radius [m].
    pub(super) radius: f64,
}

/// Nearest and farthest depth of what is drawn [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Depths {
    /// Nearest.
    pub(super) near: f64,
    /// Farthest.
    pub(super) far: f64,
}

impl Depths {
    /// Those of balls, before the eye where there is perspective.
    pub(super) fn of(lens: &Lens, balls: &[Ball]) -> Self {
        let (mut near, mut far) = (f64::INFINITY, f64::NEG_INFINITY);
        for ball in balls {
            let depth = lens.project(&ball.middle).depth;
            near = near.min(depth - ball.radius);
            far = far.max(depth + ball.radius);
        }
        if near > far {
            (near, far) = (lens.distance.unwrap_or(0.0), lens.distance.unwrap_or(0.0));
        }
        let room = 1e-3 * (far - near) + 1e-6 * lens.size.1 / lens.scale;
        (near, far) = (near - room, far + room);
        // What is nearer than a part of the distance is mostly beside the picture.
        match lens.distance {
            Some(distance) => {
                let near = near.max(1e-2 * distance);
                Self { near, far: far.max(2.0 * near) }
            }
            None => Self { near, far },
        }
    }

    /// Depth in clip space, from 0 to 1.
    pub(super) fn clip(&self, depth: f64, perspective: bool) -> f64 {
        let share = (depth - self.near) / (self.far - self.near);
        if perspective { share * self.far / depth } else { share }
    }
}

/// How a picture of so many samples is seen and lit; `samples` is how many there are to a pixel of the lens.
pub(super) fn optics(lens: &Lens, size: [u32; 2], samples: f64, balls: &[Ball]) -> Optics {
    let depths = Depths::of(lens, balls);
    let sun = lens.right * SUN[0] + lens.up * SUN[1] + lens.towards * SUN[2];
    let sun = sun.normalize();
    let (sun_clip, texel) = sun_clip(lens, &sun, balls);
    // By which a sample moves what is looked through: at unit depth in perspective.
    let step = match lens.distance {
        Some(distance) => 1.0 / (lens.scale * distance * samples),
        None => 1.0 / (lens.scale * samples),
    };
    let eye = lens.towards * lens.distance.unwrap_or(1.0);
    let four = |v: Vec3, w: f64| [v.x as f32, v.y as f32, v.z as f32, w as f32];
    Optics {
        clip: rounded(&clip(lens, &depths)),
        sun_clip: rounded(&sun_clip),
        eye: four(eye, f64::from(u8::from(lens.distance.is_some()))),
        forward: four(-lens.towards, 0.0),
        step_right: four(lens.right * step, 0.0),
        step_down: four(-lens.up * step, 0.0),
        sun: four(sun, texel),
        light: [AMBIENT, SUN[2], f64::from(LEVELS - 1), GROUND_SHADOW].map(|x| x as f32),
        size: [size[0] as f32, size[1] as f32, depths.near as f32, depths.far as f32],
    }
}

fn rounded(matrix: &Matrix4<f64>) -> [[f32; 4]; 4] {
    matrix.map(|x| x as f32).into()
}

/// From the target's surroundings to clip space.
fn clip(lens: &Lens, depths: &Depths) -> Matrix4<f64> {
    let row = |v: Vec3, w: f64| [v.x, v.y, v.z, w];
    let span = depths.far - depths.near;
    let (right, up) = (lens.right * 2.0 * lens.scale, lens.up * 2.0 * lens.scale);
    let (right, up) = (right / lens.size.0, up / lens.size.1);
    let rows = match lens.distance {
        Some(distance) => [
            row(right * distance, 0.0),
            row(up * distance, 0.0),
            row(-lens.towards * (depths.far / span), depths.far * (distance - depths.near) / span),
            row(-lens.towards, distance),
        ],
        None => [
            row(right, 0.0),
            row(up, 0.0),
            row(-lens.towards / span, -depths.near / span),
            row(Vec3::zeros(), 1.0),
        ],
    };
    Matrix4::from_row_iterator(rows.into_iter().flatten())
}

/// From the target's surroundings to the sun's clip space, which holds the balls as far as they are seen, and the
/// width of one of its texels [m].
fn sun_clip(lens: &Lens, sun: &Vec3, balls: &[Ball]) -> (Matrix4<f64>, f64) {
    // The sun's picture stands upright in that of the eye.
    let across = lens.up.cross(sun).try_normalize(1e-9).unwrap_or(lens.right);
    let upwards = sun.cross(&across);
    let axes = [across, upwards, *sun];
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for ball in balls {
        let offset = ball.middle - lens.target;
        for (axis, direction) in axes.iter().enumerate() {
            let place = direction.dot(&offset);
            low[axis] = low[axis].min(place - ball.radius);
            high[axis] = high[axis].max(place + ball.radius);
        }
    }
    // What is far beside the picture would take texels from what is seen.
    let reach = lens.size.0.max(lens.size.1) / lens.scale;
    for axis in 0..2 {
        low[axis] = low[axis].max(-reach).min(reach);
        high[axis] = high[axis].min(reach).max(low[axis] + 1e-6 * reach);
    }
    if low[2] > high[2] {
        (low[2], high[2]) = (0.0, 0.0);
    }
    let room = 1e-6 * reach;
    (low[2], high[2]) = (low[2] - room, high[2] + room);
    let span = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    let side = |axis: usize| {
        let (a, middle) = (axes[axis] * 2.0 / span[axis], low[axis] + high[axis]);
        [a.x, a.y, a.z, -middle / span[axis]]
    };
    let depth = -sun / span[2];
    let rows =
        [side(0), side(1), [depth.x, depth.y, depth.z, high[2] / span[2]], [0.0, 0.0, 0.0, 1.0]];
    let texel = span[0].max(span[1]) / f64::from(SUN_TEXELS);
    (Matrix4::from_row_iterator(rows.into_iter().flatten()), texel)
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector4;

    use super::*;
    use crate::camera::{Camera, FOV_DEG, Projection};

    fn lenses() -> [Lens; 2] {
        let at = Vec3::new(1e5, 2.0, 3.0);
        let eye = Camera::between(at, at + Vec3::new(3.0, -9.0, 4.0), FOV_DEG).unwrap();
        let flat = Camera { projection: Projection::Orthographic { height_m: 5.0 }, ..eye };
        [eye, flat].map(|camera| Lens::new(&camera, (300.0, 200.0)))
    }

    #[test]
    fn clip_space_is_what_the_lens_shows() {
        for lens in lenses() {
            let ball = Ball { middle: lens.target, radius: 4.0 };
            let depths = Depths::of(&lens, &[ball]);
            for offset in [Vec3::new(0.3, -0.7, 1.1), Vec3::new(-2.0, 1.0, 0.2)] {
                let seen = lens.project(&(lens.target + offset));
                let p = clip(&lens, &depths) * Vector4::new(offset.x, offset.y, offset.z, 1.0);
                let at = ((p.x / p.w + 1.0) * 150.0, (1.0 - p.y / p.w) * 100.0);
                assert!((at.0 - seen.at.0).abs() < 1e-9 && (at.1 - seen.at.1).abs() < 1e-9);
                let depth = depths.clip(seen.depth, lens.distance.is_some());
                assert!((p.z / p.w - depth).abs() < 1e-12, "{} {depth}", p.z / p.w);
                assert!((0.0..1.0).contains(&depth));
            }
        }
    }

    #[test]
    fn rays_meet_what_is_seen_along_them() {
        for lens in lenses() {
            let optics = optics(&lens, [600, 400], 2.0, &[]);
            let vector = |v: [f32; 4]| Vec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]));
            let offset = Vec3::new(0.3, -0.7, 1.1);
            let seen = lens.project(&(lens.target + offset));
            let steps = (2.0 * seen.at.0 - 300.0, 2.0 * seen.at.1 - 200.0);
            let moved = vector(optics.step_right) * steps.0 + vector(optics.step_down) * steps.1;
            let along = vector(optics.forward);
            let point = match lens.distance {
                Some(_) => vector(optics.eye) + (along + moved) * seen.depth,
                None => moved + along * seen.depth,
            };
            assert!((point - offset).norm() < 1e-5, "{point} {offset}");
        }
    }

    #[test]
    fn the_sun_sees_all_that_is_near_the_picture() {
        for lens in lenses() {
            let balls = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, -2.0, 1.0)]
                .map(|offset| Ball { middle: lens.target + offset, radius: 0.5 });
            let sun = Vec3::new(0.6, 0.0, 0.8);
            let (matrix, texel) = sun_clip(&lens, &sun, &balls);
            for ball in balls {
                let o = ball.middle - lens.target;
                let p = matrix * Vector4::new(o.x, o.y, o.z, 1.0);
                assert!(p.x.abs() < 1.0 && p.y.abs() < 1.0 && (0.0..1.0).contains(&p.z), "{p}");
                let towards_sun = o + sun * 0.1;
                let q = matrix * Vector4::new(towards_sun.x, towards_sun.y, towards_sun.z, 1.0);
                assert!(q.z < p.z && (q.x - p.x).abs() < 1e-12);
            }
            assert!(texel < 10.0 / 2048.0);
        }
    }
}
