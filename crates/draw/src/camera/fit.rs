//! Cameras that fit motion: what it reaches, and whether it stays in a plane.

use taut_core::{
    Mat3, Scene, State, Vec3,
    scene::{Body, Motion, Shape},
};

use super::{AZIMUTH_DEG, Camera, ELEVATION_DEG, FOV_DEG, Projection};

/// Share of a picture's width and height that is left free at either side.
pub const MARGIN: f64 = 0.06;
/// Motion is in a plane where it leaves it by less than this share of its size.
const FLAT: f64 = 0.01;
/// Static bodies count within the box around what moves, so many times as large.
const SURROUNDINGS: f64 = 1.5;
/// In how many directions the outermost points are kept, beside the six along the axes.
const DIRECTIONS: usize = 96;

/// From which side motion is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Facing {
    /// Facing its plane where it is in one, else as [`Facing::Usual`].
    #[default]
    Fitting,
    /// Along y, without depth.
    Front,
    /// In perspective from the usual direction.
    Usual,
}

/// The outermost points of motion and the directions in which it goes: all that a camera needs, however long it is.
#[derive(Clone, Debug)]
pub struct MotionReach {
    directions: Vec<Vec3>,
    /// The farthest point in every direction [m]; none before the first state.
    outermost: Vec<Vec3>,
    /// Sum of squares of how far corners have moved, `d d^T` [m^2].
    moved: Mat3,
    /// Sums over centres of what moves: their number, places and squares of places from the first of them.
    centres: (f64, Vec3, Mat3),
    /// Corners of what moves at the start [m].
    start: Vec<Vec3>,
    /// Corners of what does not, and whether they are near is asked at the end [m].
    fixed: Vec<[Vec3; 8]>,
}

impl MotionReach {
    /// Of nothing yet, in a scene.
    pub fn new(scene: &Scene) -> Self {
        // A spiral over the sphere by the golden angle.
        let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
        let spiral = (0..DIRECTIONS).map(|i| {
            let z = 1.0 - (2.0 * i as f64 + 1.0) / DIRECTIONS as f64;
            let (sin, cos) = (golden * i as f64).sin_cos();
            Vec3::new((1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z)
        });
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
        let directions = axes.into_iter().flat_map(|axis| [axis, -axis]).chain(spiral).collect();
        let start = scene.initial_state();
        let still = scene.bodies.iter().zip(&start.bodies).filter(|(body, _)| !moves(body));
        let fixed = still
            .filter_map(|(body, state)| Some(corners(&body.shape)?.map(|c| state.point(&c))))
            .collect();
        let mut start_points = Vec::new();
        each_moving_point(scene, &start, |point| start_points.push(point));
        Self {
            directions,
            outermost: Vec::new(),
            moved: Mat3::zeros(),
            centres: (0.0, Vec3::zeros(), Mat3::zeros()),
            start: start_points,
            fixed,
        }
    }

    /// Adds a state of the scene; one with numbers that are not finite is left out.
    pub fn add(&mut self, scene: &Scene, state: &State) {
        if !state.is_finite() {
            return;
        }
        let mut number = 0;
        each_moving_point(scene, state, |point| {
            let moved = self.start.get(number).map_or_else(Vec3::zeros, |start| point - start);
            self.moved += moved * moved.transpose();
            number += 1;
            keep_outermost(&self.directions, &mut self.outermost, point);
        });
        let bodies = scene.bodies.iter().zip(&state.bodies).filter(|(body, _)| moves(body));
        let particles = state.particles.iter().map(|particle| particle.position);
        for place in bodies.map(|(_, state)| state.position).chain(particles) {
            let (count, sum, squares) = &mut self.centres;
            let place = place - self.start.first().copied().unwrap_or_default();
            *count += 1.0;
            *sum += place;
            *squares += place * place.transpose();
        }
    }

    /// Adds what another run of the same scene reaches.
    pub fn join(&mut self, other: &Self) {
        for point in &other.outermost {
            keep_outermost(&self.directions, &mut self.outermost, *point);
        }
        self.moved += other.moved;
        self.centres.0 += other.centres.0;
        self.centres.1 += other.centres.1;
        self.centres.2 += other.centres.2;
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.outermost.is_empty()
    }

    /// The outermost points of what moves, and of what is near it [m].
    pub fn points(&self) -> Vec<Vec3> {
        let mut points = self.outermost.clone();
        let moving = bounds(&points);
        for corners in &self.fixed {
            let Some((low, high)) = moving else {
                points.extend(corners);
                continue;
            };
            let (middle, half) = ((low + high) * 0.5, (high - low) * (0.5 * SURROUNDINGS));
            // A flat motion has no room of its own across it.
            let half = half.sup(&Vec3::repeat(0.1 * half.max()));
            let (near, far) = (middle - half, middle + half);
            let Some((own_low, own_high)) = bounds(corners) else { continue };
            if (0..3).all(|i| own_low[i] <= far[i] && own_high[i] >= near[i]) {
                points.extend(corners.iter().map(|corner| corner.sup(&near).inf(&far)));
            }
        }
        points
    }

    /// The unit normal of the plane in which everything stays and moves, on the side of the usual view; `None` where
    /// there is none, or where motion is along a line and has many.
    fn plane(&self) -> Option<Vec3> {
        let eigen = self.moved.try_symmetric_eigen(1e-12, 1000)?;
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let [least, middle, most] = order.map(|i| eigen.eigenvalues[i].max(0.0).sqrt());
        if most.is_nan() || least > FLAT * most || middle <= FLAT * most {
            return None;
        }
        let normal = Vec3::from(eigen.eigenvectors.column(order[0]));
        let (count, sum, squares) = self.centres;
        let spread = squares / count - (sum / count) * (sum / count).transpose();
        let across = normal.dot(&(spread * normal)).max(0.0).sqrt();
        let usual = view(AZIMUTH_DEG, ELEVATION_DEG);
        let facing = if normal.dot(&usual) < 0.0 { -normal } else { normal };
        (across <= FLAT * spread.trace().sqrt()).then_some(facing)
    }

    /// Direction of the eye in which this is seen: azimuth and elevation [deg], and whether depth is left out.
    fn direction(&self, facing: Facing) -> (f64, f64, bool) {
        match (facing, self.plane()) {
            (Facing::Front, _) => (-90.0, 0.0, true),
            (Facing::Usual, _) | (Facing::Fitting, None) => (AZIMUTH_DEG, ELEVATION_DEG, false),
            (Facing::Fitting, Some(normal)) => {
                let elevation = rounded(normal.z.clamp(-1.0, 1.0).asin().to_degrees(), 0.1);
                // Seen from above, north is up.
                let overhead = elevation.abs() >= 90.0;
                let azimuth = if overhead { -90.0 } else { normal.y.atan2(normal.x).to_degrees() };
                (rounded(azimuth, 0.1), elevation, true)
            }
        }
    }

    /// Width over height of the smallest picture without margin.
    pub fn aspect(&self, facing: Facing) -> f64 {
        let (azimuth_deg, elevation_deg, _) = self.direction(facing);
        let (low, high) = extent(&self.points(), azimuth_deg, elevation_deg);
        let size = (high - low).map(|x| x.max(1e-9));
        let aspect = size.x / size.y;
        if aspect.is_finite() { aspect } else { 1.0 }
    }

    /// The camera that sees everything in a picture of the given width over height.
    pub fn camera(&self, facing: Facing, aspect: f64) -> Camera {
        let (azimuth_deg, elevation_deg, flat) = self.direction(facing);
        let mut points = self.points();
        if points.is_empty() {
            points = vec![Vec3::repeat(-1.0), Vec3::repeat(1.0)];
        }
        let (low, high) = extent(&points, azimuth_deg, elevation_deg);
        let middle = (low + high) * 0.5;
        let free = 1.0 - 2.0 * MARGIN;
        let camera = Camera {
            target_m: [0.0; 3],
            azimuth_deg,
            elevation_deg,
            projection: Projection::Orthographic { height_m: 1.0 },
        };
        let [right, up, towards] = camera.axes();
        let placed = |x: f64, y: f64, z: f64, digit: f64| {
            let target = right * x + up * y + towards * z;
            target.map(|x| rounded(x, digit)).into()
        };
        if flat {
            let size = (high - low).y.max((high - low).x / aspect).max(1e-6) / free;
            let (size, digit) = (rounded_up(size), digit_of(size));
            let target_m = placed(middle.x, middle.y, middle.z, digit);
            return Camera {
                target_m,
                projection: Projection::Orthographic { height_m: size },
                ..camera
            };
        }
        let half = (0.5 * FOV_DEG.to_radians()).tan() * free;
        let seen: Vec<Vec3> =
            points.iter().map(|p| Vec3::new(right.dot(p), up.dot(p), towards.dot(p))).collect();
        let (x, eye_x) = side(seen.iter().map(|p| (p.x, p.z)), half * aspect);
        let (y, eye_y) = side(seen.iter().map(|p| (p.y, p.z)), half);
        let size = (high - low).norm().max(1e-6);
        let eye = eye_x.max(eye_y).max(high.z + 0.05 * size);
        let digit = digit_of(size);
        // Rounding the target moves what is seen by half a digit at most, which the distance allows for.
        let distance_m = rounded_up(eye - middle.z + digit / half);
        let target_m = placed(x, y, middle.z, digit);
        Camera {
            target_m,
            projection: Projection::Perspective { fov_deg: FOV_DEG, distance_m },
            ..camera
        }
    }
}

/// Where a view must be centred along one axis of a picture, and how far towards the eye the eye must be, for points
/// given along that axis and towards the eye to lie within a slope of the view's axis.
fn side(points: impl Iterator<Item = (f64, f64)>, slope: f64) -> (f64, f64) {
    let start = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let (right, left) = points
        .fold(start, |(right, left), (x, z)| (right.max(x + slope * z), left.max(-x + slope * z)));
    (0.5 * (right - left), 0.5 * (right + left) / slope)
}

fn view(azimuth_deg: f64, elevation_deg: f64) -> Vec3 {
    let projection = Projection::Orthographic { height_m: 1.0 };
    Camera { target_m: [0.0; 3], azimuth_deg, elevation_deg, projection }.axes()[2]
}

/// Bounds of points to the right, upwards and towards the eye.
fn extent(points: &[Vec3], azimuth_deg: f64, elevation_deg: f64) -> (Vec3, Vec3) {
    let projection = Projection::Orthographic { height_m: 1.0 };
    let [right, up, towards] =
        Camera { target_m: [0.0; 3], azimuth_deg, elevation_deg, projection }.axes();
    let seen: Vec<Vec3> =
        points.iter().map(|p| Vec3::new(right.dot(p), up.dot(p), towards.dot(p))).collect();
    bounds(&seen).unwrap_or((Vec3::repeat(-1.0), Vec3::repeat(1.0)))
}

fn bounds(points: &[Vec3]) -> Option<(Vec3, Vec3)> {
    let first = *points.first()?;
    Some(points.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p))))
}

fn keep_outermost(directions: &[Vec3], outermost: &mut Vec<Vec3>, point: Vec3) {
    if outermost.is_empty() {
        *outermost = vec![point; directions.len()];
    }
    for (direction, farthest) in directions.iter().zip(outermost) {
        if direction.dot(&point) > direction.dot(farthest) {
            *farthest = point;
        }
    }
}

fn moves(body: &Body) -> bool {
    body.motion != Motion::Static
}

/// Corners of the box around a shape in body coordinates; none of a half-space.
fn corners(shape: &Shape) -> Option<[Vec3; 8]> {
    let (low, high) = shape.bounds();
    let finite = low.iter().chain(high.iter()).all(|x| x.is_finite());
    let side = |i: usize, axis: usize| if i >> axis & 1 == 0 { low[axis] } else { high[axis] };
    finite.then(|| std::array::from_fn(|i| Vec3::new(side(i, 0), side(i, 1), side(i, 2))))
}

/// Corners of all bodies that move, and all particles.
fn each_moving_point(scene: &Scene, state: &State, mut see: impl FnMut(Vec3)) {
    for (body, motion) in scene.bodies.iter().zip(&state.bodies).filter(|(body, _)| moves(body)) {
        for corner in corners(&body.shape).into_iter().flatten() {
            see(motion.point(&corner));
        }
    }
    state.particles.iter().for_each(|particle| see(particle.position));
}

/// The last of three digits of a length.
fn digit_of(length: f64) -> f64 {
    10f64.powf(length.log10().floor() - 2.0)
}

/// To a multiple of a power of ten, without the noise of multiplying by its inverse.
fn rounded(value: f64, digit: f64) -> f64 {
    let digits = (-digit.log10()).round() as i32;
    let power = 10f64.powi(digits.abs());
    let round =
        if digits > 0 { (value * power).round() / power } else { (value / power).round() * power };
    // Minus zero is zero.
    if round == 0.0 { 0.0 } else { round }
}

/// Up to three digits.
fn rounded_up(length: f64) -> f64 {
    let digit = digit_of(length);
    rounded((length / digit).ceil() * digit, digit)
}
