//! Meshes from files: triangles of Wavefront's `.obj`, tetrahedra of TetGen's `.node` and `.ele`.
//!
//! Messages name the file and, where it is one that is wrong, the line.

mod obj;

use std::{fs, io::ErrorKind, path::Path};

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
        Some("obj") => obj::read(path, &text(path)?)?,
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

/// Reads the triangles of an `.obj` as the surface of a body: its faces are flat and convex, and nothing in it is
/// without a face.
pub(super) fn read_surface(path: &Path, most: usize) -> Result<MeshFile> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    if extension.as_deref() != Some("obj") {
        let message = format!("{}: expected `.obj`; convert others to it", path.display());
        return Err(SceneError::new(message));
    }
    let text = text(path)?;
    obj::check_surface(path, &text)?;
    let mesh = obj::read(path, &text)?;
    match mesh.triangles.len() {
        0 => Err(SceneError::new(format!("{}: no face in it", path.display()))),
        count if count > most => {
            let message = format!("{}: {count} triangles, expected at most {most}", path.display());
            Err(SceneError::new(message))
        }
        _ => Ok(mesh),
    }
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
