//! Where two recorded runs part: the first difference, and how it grows.

use serde::Serialize;

use crate::{Array, CHUNK, Recording, RecordingError, Scalar};

/// Distances [m] of which is told when they are passed.
const PASSED: [f64; 5] = [1e-12, 1e-9, 1e-6, 1e-3, 1.0];

/// The arrays that are compared: their folder, what their rows are, and whether they begin with a place.
const FOLDERS: [(&str, &str, bool); 5] = [
    ("bodies", "body", true),
    ("particles", "particle", true),
    ("velocities", "body", false),
    ("particle_velocities", "particle", false),
    ("broken", "joint", false),
];

/// One number that differs, and what it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferingNumber {
    /// `body`, `particle` or `joint`.
    pub kind: &'static str,
    /// Its number in the scene.
    pub index: usize,
    /// Which of its numbers.
    pub component: String,
    /// Its values in the two runs.
    pub values: [f64; 2],
    /// How many numbers of the recorded precision lie between them, plus one.
    pub ulp: u64,
}

/// Where two runs first differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// The frame.
    pub frame: u32,
    /// Iterations spent within the frame, where its iterates are recorded and differ.
    pub iterate: Option<u32>,
    /// The first number that differs there.
    pub item: DifferingNumber,
    /// How many of the same kind differ there.
    pub differing: usize,
}

/// How the distance of two runs grows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Growth {
    /// Distances [m], each with the first frame at which the largest distance of any body is larger.
    pub passed: Vec<(f64, u32)>,
    /// Time in which the largest distance doubles, from a line through its logarithm until it is largest [s].
    pub doubling_time_s: Option<f64>,
}

/// How two runs compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Parting {
    /// Frames recorded by both.
    pub frames: usize,
    /// Where they first differ; `null` where they do not.
    pub split: Option<Split>,
    /// How they part.
    pub growth: Growth,
}

/// Compares run `runs[0]` of `a` with run `runs[1]` of `b` over the frames recorded by both.
///
/// Numbers differ where they are further apart than `tolerance`; with none, where their bits differ.
///
/// # Errors
/// When an array is missing or damaged, or the two were recorded differently.
pub fn part(
    [a, b]: [&mut Recording; 2],
    runs: [usize; 2],
    tolerance: f64,
) -> Result<Parting, RecordingError> {
    let steps_a = a.array(&format!("runs/{}/steps.npy", runs[0]))?.values;
    let steps_b = b.array(&format!("runs/{}/steps.npy", runs[1]))?.values;
    let steps: Vec<u32> =
        steps_a.iter().zip(&steps_b).take_while(|(a, b)| a == b).map(|(&a, _)| a as u32).collect();
    let dt_s = a.about.dt_s;
    let mut pair = Couple { recordings: [a, b], runs, tolerance };
    let mut found = Parting { frames: steps.len(), ..Parting::default() };
    let mut distances = Vec::new();
    for (chunk, steps) in steps.chunks(CHUNK).enumerate() {
        let arrays = pair.arrays(&format!("{chunk:05}"))?;
        for (row, &frame) in steps.iter().enumerate() {
            distances.push((frame, largest_distance(&arrays, row)));
            if found.split.is_none() {
                found.split = first(&arrays, row, tolerance).map(|(item, differing)| Split {
                    frame,
                    iterate: None,
                    item,
                    differing,
                });
            }
        }
    }
    if let Some(split) = &mut found.split {
        pair.refine(split)?;
        found.growth = Growth::of(&distances, dt_s);
    }
    Ok(found)
}

/// Two arrays of the same shape and what they hold.
struct Twins {
    /// Their folder.
    folder: &'static str,
    /// What their rows are.
    kind: &'static str,
    /// Whether rows begin with a place.
    is_place: bool,
    arrays: [Array; 2],
}

struct Couple<'a> {
    recordings: [&'a mut Recording; 2],
    runs: [usize; 2],
    tolerance: f64,
}

impl Couple<'_> {
    /// The arrays of a chunk that both have.
    fn arrays(&mut self, chunk: &str) -> Result<Vec<Twins>, RecordingError> {
        let mut twins = Vec::new();
        for (folder, kind, is_place) in FOLDERS {
            if let Some(arrays) = self.twins(&format!("{folder}/{chunk}.npy"))? {
                twins.push(Twins { folder, kind, is_place, arrays });
            }
        }
        Ok(twins)
    }

    fn twins(&mut self, member: &str) -> Result<Option<[Array; 2]>, RecordingError> {
        let names = self.runs.map(|run| format!("runs/{run}/{member}"));
        let [a, b] = &mut self.recordings;
        if !a.has(&names[0]) || !b.has(&names[1]) {
            return Ok(None);
        }
        let twins = [a.array(&names[0])?, b.array(&names[1])?];
        if twins[0].scalar != twins[1].scalar || twins[0].shape.get(1..) != twins[1].shape.get(1..)
        {
            let reason = "is of another precision or shape than in the other recording";
            return Err(b.wrong(&names[1], reason));
        }
        Ok(Some(twins))
    }

    /// Finds the first iterate that differs within the frame, where both have recorded its iterates.
    fn refine(&mut self, split: &mut Split) -> Result<(), RecordingError> {
        let folder = format!("iterates/{}", split.frame);
        let spent = self.twins(&format!("{folder}/spent.npy"))?;
        let states = self.twins(&format!("{folder}/00000.npy"))?;
        let (Some([spent, _]), Some(states)) = (spent, states) else { return Ok(()) };
        let (folder, kind, is_place) = FOLDERS[0];
        let arrays = [Twins { folder, kind, is_place, arrays: states }];
        for (row, &spent) in spent.values.iter().enumerate() {
            if let Some((item, differing)) = first(&arrays, row, self.tolerance) {
                (split.iterate, split.item, split.differing) =
                    (Some(spent as u32), item, differing);
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The numbers of frame `row` of a chunk; none where the chunk ends before it.
fn frame(array: &Array, row: usize) -> &[f64] {
    let width: usize = array.shape.iter().skip(1).product();
    array.values.get(row * width..(row + 1) * width).unwrap_or_default()
}

/// Numbers per body, particle or joint.
fn width(array: &Array) -> usize {
    array.shape.get(2).copied().unwrap_or(1).max(1)
}

/// The first number that differs, and in how many of its kind one does.
fn first(arrays: &[Twins], row: usize, tolerance: f64) -> Option<(DifferingNumber, usize)> {
    let differ = |(a, b): (&f64, &f64)| {
        a.to_bits() != b.to_bits() && (tolerance == 0.0 || (a - b).abs() > tolerance)
    };
    for Twins { folder, kind, arrays: [a, b], .. } in arrays {
        let width = width(a);
        let (a_row, b_row) = (frame(a, row), frame(b, row));
        let bodies = a_row.chunks(width).zip(b_row.chunks(width)).enumerate();
        let mut differing =
            bodies.filter_map(|(i, (a, b))| Some((i, a.iter().zip(b).position(differ)?)));
        if let Some((index, at)) = differing.next() {
            let values = [a_row, b_row].map(|row| row[index * width + at]);
            let ulp = ulp(a.scalar, values);
            let item =
                DifferingNumber { kind, index, component: component(folder, at), values, ulp };
            return Some((item, 1 + differing.count()));
        }
    }
    None
}

/// The name of number `at` of a body, particle or joint.
fn component(folder: &str, at: usize) -> String {
    let axis = ["x", "y", "z"][at % 3];
    match (folder, at) {
        ("broken", _) => "broken".to_owned(),
        ("bodies" | "particles", 0..3) => format!("position {axis}"),
        ("velocities" | "particle_velocities", 0..3) => format!("velocity {axis}"),
        ("velocities", _) => format!("frame rate column {} {axis}", at / 3),
        _ => format!("frame column {} {axis}", at / 3),
    }
}

/// How many steps from number to next number lead from one to the other.
fn ulp(scalar: Scalar, values: [f64; 2]) -> u64 {
    // Integers in the order of the numbers: negative ones count downwards.
    let order = |value: f64| match scalar {
        Scalar::F32 => {
            let bits = (value as f32).to_bits().cast_signed();
            i64::from(bits ^ (((bits >> 31).cast_unsigned() >> 1).cast_signed()))
        }
        _ => {
            let bits = value.to_bits().cast_signed();
            bits ^ (((bits >> 63).cast_unsigned() >> 1).cast_signed())
        }
    };
    order(values[0]).abs_diff(order(values[1]))
}

/// The largest distance between the two places of any body or particle [m].
fn largest_distance(arrays: &[Twins], row: usize) -> f64 {
    let mut largest = 0.0_f64;
    for Twins { arrays: [a, b], .. } in arrays.iter().filter(|twins| twins.is_place) {
        let width = width(a);
        for (a, b) in frame(a, row).chunks(width).zip(frame(b, row).chunks(width)) {
            let square: f64 = a.iter().zip(b).take(3).map(|(a, b)| (a - b) * (a - b)).sum();
            largest = largest.max(square.sqrt());
        }
    }
    largest
}

impl Growth {
    fn of(distances: &[(u32, f64)], dt_s: f64) -> Self {
        let first = |bound: f64| distances.iter().find(|(_, distance)| *distance > bound);
        let passed = PASSED.iter().filter_map(|&bound| Some((bound, first(bound)?.0))).collect();
        let top = distances.iter().map(|(_, distance)| *distance).fold(0.0, f64::max);
        let end = distances.iter().position(|(_, distance)| *distance == top).unwrap_or(0);
        let rising = distances[..=end].iter().filter(|(_, distance)| *distance > 0.0);
        let points: Vec<(f64, f64)> =
            rising.map(|&(frame, distance)| (f64::from(frame) * dt_s, distance.log2())).collect();
        Self { passed, doubling_time_s: slope(&points).filter(|s| *s > 0.0).map(f64::recip) }
    }
}

/// Slope of the line of least squares; none of fewer than three points.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let xy: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let xx: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    (points.len() > 2).then_some(xy / xx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_numbers_are_one_ulp_apart() {
        assert_eq!(ulp(Scalar::F64, [1.0, 1.0_f64.next_up()]), 1);
        assert_eq!(ulp(Scalar::F64, [-1.0, (-1.0_f64).next_down()]), 1);
        assert_eq!(ulp(Scalar::F64, [0.0, -0.0]), 1);
        assert_eq!(ulp(Scalar::F32, [1.0, f64::from(1.0_f32.next_up())]), 1);
        assert_eq!(ulp(Scalar::F32, [-2.0, f64::from((-2.0_f32).next_up())]), 1);
    }

    #[test]
    fn a_distance_that_doubles_every_frame_doubles_in_one_frame() {
        let distances: Vec<(u32, f64)> =
            (0..40).map(|i| (i, 1e-13 * 2.0_f64.powi(i as i32))).collect();
        let growth = Growth::of(&distances, 0.01);
        assert!((growth.doubling_time_s.unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(growth.passed[0], (1e-12, 4));
    }
}
