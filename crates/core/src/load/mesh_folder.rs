//! The files beside a scene from which bodies have their meshes.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    closed,
    error::{Result, SceneError},
    mesh_file,
};
use crate::math::Vec3;

/// Corners [m] and triangles that bodies share.
#[derive(Clone, Debug)]
pub(super) struct SharedMesh {
    pub(super) vertices: Arc<[Vec3]>,
    pub(super) triangles: Arc<[[u32; 3]]>,
}

/// The files that a scene's bodies name, each read once.
#[derive(Debug)]
pub(super) struct MeshFolder {
    /// Where they are looked for; nowhere for a scene that is no file.
    folder: Option<PathBuf>,
    most: usize,
    known: RefCell<BTreeMap<String, SharedMesh>>,
}

impl MeshFolder {
    /// For files in this folder, of at most so many triangles each.
    pub(super) fn new(folder: Option<&Path>, most: usize) -> Self {
        let known = RefCell::new(BTreeMap::new());
        Self { folder: folder.map(Path::to_owned), most, known }
    }

    /// The mesh of a file, whose triangles all have an area.
    pub(super) fn read(&self, file: &str) -> Result<SharedMesh> {
        if let Some(known) = self.known.borrow().get(file) {
            return Ok(known.clone());
        }
        let Some(folder) = &self.folder else {
            let message = "a scene that is no file has no folder in which to look for a mesh";
            return Err(SceneError::new(message));
        };
        let path = folder.join(file);
        let mesh = mesh_file::read_surface(&path, self.most)?;
        let triangles: Vec<[u32; 3]> =
            mesh.triangles.iter().map(|corners| corners.map(|i| i as u32)).collect();
        let told = |error: SceneError| {
            let message = format!("{}: {}", path.display(), error.message);
            SceneError { message, ..error }
        };
        closed::check_areas(&mesh.points, &triangles).map_err(told)?;
        let read = SharedMesh { vertices: mesh.points.into(), triangles: triangles.into() };
        self.known.borrow_mut().insert(file.to_owned(), read.clone());
        Ok(read)
    }
}
