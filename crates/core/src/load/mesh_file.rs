//! Meshes from files: triangles of Wavefront's `.obj`, tetrahedra of TetGen's `.node` and `.ele`.
//!
//! Messages name the file, and in TetGen's also the line.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufReader, ErrorKind},
    path::Path,
};

use super::error::{Result, SceneError};
use crate::{energy::volume, math::Vec3};

/// A mesh as it is on file; only nodes that an element has.
#[derive(Debug, Default)]
pub(super) struct MeshFile {
    pub(super) points: Vec<Vec3>,
    pub(super) triangles: Vec<[usize; 3]>,
    pub(super) tetrahedra: Vec<[usize; 4]>,
    /// Nodes that no element has, which are left out.
    pub(super) unused: usize,
    /// Tetrahedra that were inside out, of which two nodes were exchanged.
    pub(super) turned: usize,
}

/// Reads a mesh by its extension; more than `most` elements of a kind are refused.
pub(super) fn read(path: &Path, most: usize) -> Result<MeshFile> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let mesh = match extension.as_deref() {
        Some("obj") => read_obj(path)?,
        Some("ele" | "node") => read_tetgen(path, most)?,
        _ => {
            let message = "expected `.obj`, or `.ele` beside its `.node`; convert others to those";
            return Err(SceneError::new(message));
        }
    };
    let elements = mesh.triangles.len().max(mesh.tetrahedra.len());
    if elements > most {
        return Err(SceneError::new(format!("{elements} elements, a scene holds at most {most}")));
    }
    let mesh = mesh.without_unused();
    if mesh.points.is_empty() {
        return Err(SceneError::new(format!("{}: no element in it", path.display())));
    }
    if mesh.points.iter().any(|point| !point.iter().all(|x| x.is_finite())) {
        let message = format!("{}: expected finite coordinates", path.display());
        return Err(SceneError::new(message));
    }
    Ok(mesh.upright())
}

fn text(path: &Path) -> Result<String> {
    let told = |message: String| SceneError::new(format!("{}: {message}", path.display()));
    if path.is_dir() {
        return Err(told("expected a mesh, found a directory".to_owned()));
    }
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => told("no such file; it is looked for beside the scene".to_owned()),
        _ => told(format!("cannot be read: {error}")),
    })?;
    String::from_utf8(bytes).map_err(|_| told("expected text".to_owned()))
}

fn read_obj(path: &Path) -> Result<MeshFile> {
    let text = text(path)?;
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

/// The numbers of a file's lines, comments and empty lines left out.
struct NumberedLines<'a> {
    path: &'a Path,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// Of the last line read, counted from one.
    line: usize,
}

impl<'a> NumberedLines<'a> {
    fn of(path: &'a Path, text: &'a str) -> Self {
        Self { path, lines: text.lines().enumerate(), line: 0 }
    }

    fn told(&self, message: &str) -> SceneError {
        SceneError::new(format!("{}:{}: {message}", self.path.display(), self.line))
    }

    /// The next line's words; at least so many.
    fn words(&mut self, least: usize, what: &str) -> Result<Vec<&'a str>> {
        for (number, line) in self.lines.by_ref() {
            self.line = number + 1;
            let words: Vec<&str> =
                line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            if words.len() < least {
                return Err(self.told(&format!("expected {what}, found `{}`", line.trim())));
            }
            return Ok(words);
        }
        Err(self.told(&format!("the file ends where {what} should follow")))
    }

    fn number<T: std::str::FromStr>(&self, word: &str, what: &str) -> Result<T> {
        word.parse().map_err(|_| self.told(&format!("expected {what}, found `{word}`")))
    }
}

fn read_tetgen(path: &Path, most: usize) -> Result<MeshFile> {
    let (nodes, elements) = (path.with_extension("node"), path.with_extension("ele"));
    let (node_text, element_text) = (text(&nodes)?, text(&elements)?);
    let mut lines = NumberedLines::of(&nodes, &node_text);
    let head = lines.words(2, "the number of nodes and their dimension")?;
    let count: usize = lines.number(head[0], "the number of nodes")?;
    if head[1] != "3" {
        return Err(lines.told(&format!("expected nodes in space, found dimension {}", head[1])));
    }
    if count > most {
        return Err(lines.told(&format!("{count} nodes, a scene holds at most {most}")));
    }
    let mut points = Vec::new();
    let mut first = 0_usize;
    for k in 0..count {
        let words = lines.words(4, "a node's number and place")?;
        let number: usize = lines.number(words[0], "a node's number")?;
        if k == 0 {
            first = number;
        }
        if first > 1 || number != first + k {
            return Err(lines.told(&format!("expected node {}, found {number}", first.min(1) + k)));
        }
        let place = [1, 2, 3].map(|c| lines.number::<f64>(words[c], "a coordinate"));
        let [x, y, z] = place;
        points.push(Vec3::new(x?, y?, z?));
    }
    let mut lines = NumberedLines::of(&elements, &element_text);
    let head = lines.words(2, "the number of tetrahedra and of their nodes")?;
    let count: usize = lines.number(head[0], "the number of tetrahedra")?;
    let corners: usize = lines.number(head[1], "the number of their nodes")?;
    if corners != 4 {
        return Err(lines.told(&format!("expected tetrahedra of 4 nodes, found {corners}")));
    }
    let mut tetrahedra = Vec::new();
    for _ in 0..count {
        let words = lines.words(5, "a tetrahedron's number and nodes")?;
        let mut four = [0; 4];
        for k in 0..4 {
            let number: usize = lines.number(words[k + 1], "a node's number")?;
            let corner = number.wrapping_sub(first);
            if corner >= points.len() {
                return Err(lines.told(&format!("there is no node {number}")));
            }
            if four[..k].contains(&corner) {
                return Err(lines.told(&format!("node {number} is there twice")));
            }
            four[k] = corner;
        }
        tetrahedra.push(four);
    }
    Ok(MeshFile { points, tetrahedra, ..MeshFile::default() })
}

impl MeshFile {
    fn without_unused(mut self) -> Self {
        let mut used = vec![false; self.points.len()];
        self.triangles.iter().flatten().for_each(|&n| used[n] = true);
        self.tetrahedra.iter().flatten().for_each(|&n| used[n] = true);
        let mut place = vec![0; used.len()];
        let mut count = 0;
        for (n, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            place[n] = count;
            self.points[count] = self.points[n];
            count += 1;
        }
        self.unused = self.points.len() - count;
        self.points.truncate(count);
        self.triangles.iter_mut().flatten().for_each(|n| *n = place[*n]);
        self.tetrahedra.iter_mut().flatten().for_each(|n| *n = place[*n]);
        self
    }

    /// Exchanges two nodes of what is inside out.
    fn upright(mut self) -> Self {
        for four in &mut self.tetrahedra {
            if volume(&four.map(|n| self.points[n])) < 0.0 {
                four.swap(2, 3);
                self.turned += 1;
            }
        }
        self
    }
}
