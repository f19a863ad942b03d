//! Wavefront's `.obj`: the lines of vertices and faces are looked at for what is wrong with them, the rest is tobj's.

use std::{collections::BTreeMap, io::BufReader, path::Path};

use super::MeshFile;
use crate::{
    load::error::{Result, SceneError},
    math::Vec3,
};

/// A face is flat where its corners are no farther from its plane than this share of its size [1].
const FLAT: f64 = 1e-6;

/// Reads triangles; faces of more corners become fans.
pub(super) fn read(path: &Path, text: &str) -> Result<MeshFile> {
    ObjLines::of(path, text)?;
    let options = tobj::LoadOptions {
        triangulate: true,
        ignore_points: true,
        ignore_lines: true,
        ..Default::default()
    };
    // Materials are not of this world.
    let no_materials = |_: &Path| Err(tobj::LoadError::GenericFailure);
    let (models, _) =
        tobj::load_obj_buf(&mut BufReader::new(text.as_bytes()), &options, no_materials)
            .map_err(|error| SceneError::new(format!("{}: {error}", path.display())))?;
    let mut mesh = MeshFile::default();
    // Groups have their own copies of the points that they share.
    let mut known: BTreeMap<[u64; 3], usize> = BTreeMap::new();
    for model in models {
        let places = model.mesh.positions.chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2]));
        let numbers: Vec<usize> = places
            .map(|place| {
                *known.entry([place.x, place.y, place.z].map(f64::to_bits)).or_insert_with(|| {
                    mesh.points.push(place);
                    mesh.points.len() - 1
                })
            })
            .collect();
        for three in model.mesh.indices.chunks_exact(3) {
            let [a, b, c] =
                [three[0], three[1], three[2]].map(|i| numbers.get(i as usize).copied());
            let (Some(a), Some(b), Some(c)) = (a, b, c) else {
                let message = format!("{}: a face has a point that is not there", path.display());
                return Err(SceneError::new(message));
            };
            mesh.triangles.push([a, b, c]);
        }
    }
    Ok(mesh)
}

/// Refuses what is no surface of a body: vertices that no face has, and faces that a fan of triangles does not fill.
pub(super) fn check_surface(path: &Path, text: &str) -> Result<()> {
    let lines = ObjLines::of(path, text)?;
    let mut used = vec![false; lines.vertices.len()];
    for (line, corners) in &lines.faces {
        let told = |message: &str| Err(lines.told(*line, message));
        corners.iter().for_each(|&v| used[v] = true);
        let places: Vec<Vec3> = corners.iter().map(|&v| lines.vertices[v].1).collect();
        match fan(&places) {
            Fan::Fills => {}
            Fan::Few => return told("expected a face of three corners or more"),
            Fan::Bent => return told("the face is not flat; split it into triangles"),
            Fan::Hollow => return told("the face is not convex; split it into triangles"),
        }
    }
    match used.iter().position(|used| !used) {
        Some(v) => {
            let message = format!("no face has vertex {}; remove it", v + 1);
            Err(lines.told(lines.vertices[v].0, &message))
        }
        None => Ok(()),
    }
}

/// Vertices [m] and faces by the index of their corners, each with its line counted from one.
struct ObjLines<'a> {
    path: &'a Path,
    vertices: Vec<(usize, Vec3)>,
    faces: Vec<(usize, Vec<usize>)>,
}

impl<'a> ObjLines<'a> {
    fn of(path: &'a Path, text: &str) -> Result<Self> {
        let mut lines = Self { path, vertices: vec![], faces: vec![] };
        // Where corners count forward they may come later in the file.
        let count = text.lines().filter(|line| is(line, "v")).count();
        for (line, text) in (1..).zip(text.lines()) {
            let words = || text.split('#').next().unwrap_or_default().split_whitespace().skip(1);
            if is(text, "v") {
                let place = lines.vertex(line, words())?;
                lines.vertices.push((line, place));
            } else if is(text, "f") {
                let corners: Result<Vec<usize>> =
                    words().map(|word| lines.corner(line, word, count)).collect();
                lines.faces.push((line, corners?));
            }
        }
        Ok(lines)
    }

    fn told(&self, line: usize, message: &str) -> SceneError {
        SceneError::new(format!("{}:{line}: {message}", self.path.display()))
    }

    fn vertex<'b>(&self, line: usize, words: impl Iterator<Item = &'b str>) -> Result<Vec3> {
        let numbers: Vec<f64> = words.take(3).map_while(|word| word.parse().ok()).collect();
        let wrong = || self.told(line, "expected three coordinates");
        let [x, y, z] = <[f64; 3]>::try_from(numbers).map_err(|_| wrong())?;
        let place = Vec3::new(x, y, z);
        if place.iter().all(|x| x.is_finite()) {
            return Ok(place);
        }
        Err(self.told(line, "expected finite coordinates"))
    }

    /// The index of a corner written as `3`, `3/1` or `-1`, which is the vertex before.
    fn corner(&self, line: usize, word: &str, count: usize) -> Result<usize> {
        let number = word.split('/').next().unwrap_or_default();
        let wrong = || self.told(line, &format!("expected the number of a vertex, found `{word}`"));
        let number: i64 = number.parse().map_err(|_| wrong())?;
        let before = self.vertices.len() as i64;
        let index = if number < 0 { before + number } else { number - 1 };
        match usize::try_from(index) {
            Ok(index) if index < count => Ok(index),
            _ => {
                let message =
                    format!("there is no vertex {number}: the file has {count}, counted from 1");
                Err(self.told(line, &message))
            }
        }
    }
}

/// Whether a line begins with this word.
fn is(line: &str, word: &str) -> bool {
    line.split_whitespace().next() == Some(word)
}

/// What the triangles from a polygon's first corner to its sides make.
enum Fan {
    /// The polygon.
    Fills,
    Few,
    Bent,
    Hollow,
}

fn fan(corners: &[Vec3]) -> Fan {
    let n = corners.len();
    if n <= 3 {
        return if n < 3 { Fan::Few } else { Fan::Fills };
    }
    let from = |k: usize| corners[k % n] - corners[0];
    let turns = (1..n - 1).map(|k| from(k).cross(&from(k + 1)));
    let normal = turns.clone().sum::<Vec3>();
    let size = (1..n).map(|k| from(k).norm()).fold(0.0, f64::max);
    let off = (1..n).map(|k| from(k).dot(&normal).abs()).fold(0.0, f64::max);
    if off > FLAT * size * normal.norm() {
        return Fan::Bent;
    }
    let bends = (0..n).map(|k| (from(k + 1) - from(k)).cross(&(from(k + 2) - from(k + 1))));
    // A star bends the same way at every corner, but its fan folds back.
    let outward = turns.chain(bends).all(|turn| turn.dot(&normal) > 0.0);
    if outward { Fan::Fills } else { Fan::Hollow }
}
