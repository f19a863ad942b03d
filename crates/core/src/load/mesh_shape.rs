//! Meshes as the shapes of bodies: from lists, from files beside the scene and from formulas.

use std::sync::Arc;

use super::{
    author, closed,
    error::{At, Result, SceneError},
    expression::{Formula, RING, Scope, Triple, vector},
    mesh_folder::SharedMesh,
};
use crate::{math::Vec3, scene::Shape};

/// Most vertices that a formula makes; more are a mistake.
const VERTICES_MAX: usize = 10_000_000;

/// Evaluates a mesh that is written out or on file.
pub(super) fn mesh(spec: &author::MeshShape, scope: &Scope) -> Result<Shape> {
    let control = control(spec.control.as_ref(), scope)?;
    let surface = match (&spec.file, &spec.vertices, &spec.triangles) {
        (Some(file), None, None) => from_file(file, spec.scale.as_ref(), scope)?,
        (Some(_), _, _) => {
            let message = "expected `file`, or `vertices` and `triangles`, found both";
            return Err(SceneError::new(message));
        }
        (None, Some(vertices), Some(triangles)) => {
            if spec.scale.is_some() {
                let message = "only a file is scaled; write the vertices in metres";
                return Err(SceneError::new(message)).at("scale");
            }
            written(vertices, triangles, scope)?
        }
        (None, None, None) => {
            let message = "expected `file`, or `vertices` and `triangles`";
            return Err(SceneError::new(message));
        }
        (None, None, _) => return Err(SceneError::new("expected the field `vertices`")),
        (None, _, None) => return Err(SceneError::new("expected the field `triangles`")),
    };
    let SharedMesh { vertices, triangles } = surface;
    Ok(Shape::Mesh { vertices, triangles, control })
}

fn from_file(file: &str, scale: Option<&Formula>, scope: &Scope) -> Result<SharedMesh> {
    let scale = scale.map_or(Ok(1.0), |scale| scale.positive(scope)).at("scale")?;
    let Some(files) = scope.files() else {
        return Err(SceneError::new("files cannot be read here")).at("file");
    };
    let mut read = files.read(file).at("file")?;
    if scale != 1.0 {
        read.vertices = read.vertices.iter().map(|v| v * scale).collect();
        closed::check_areas(&read.vertices, &read.triangles).at("scale")?;
    }
    Ok(read)
}

fn written(
    vertices: &[Triple],
    triangles: &[(Formula, Formula, Formula)],
    scope: &Scope,
) -> Result<SharedMesh> {
    let vertices: Vec<Vec3> = vertices
        .iter()
        .enumerate()
        .map(|(i, vertex)| vector(vertex, scope).at_index("vertices", i))
        .collect::<Result<_>>()?;
    if triangles.is_empty() {
        return Err(SceneError::new("expected at least one triangle")).at("triangles");
    }
    let corner = |number: &Formula| {
        let index = number.whole(scope, 0)?;
        match u32::try_from(index) {
            Ok(index) if (index as usize) < vertices.len() => Ok(index),
            _ => {
                let count = vertices.len();
                let message = format!("expected an index below {count}, found {index}");
                Err(SceneError::new(message))
            }
        }
    };
    let triangle = |(a, b, c): &(Formula, Formula, Formula)| {
        let corners = [corner(a)?, corner(b)?, corner(c)?];
        if closed::has_area(&corners.map(|i| vertices[i as usize])) {
            return Ok(corners);
        }
        Err(SceneError::new("expected three corners that span a triangle"))
    };
    let triangles: Vec<[u32; 3]> = triangles
        .iter()
        .enumerate()
        .map(|(i, spec)| triangle(spec).at_index("triangles", i))
        .collect::<Result<_>>()?;
    Ok(SharedMesh { vertices: vertices.into(), triangles: triangles.into() })
}

/// Evaluates rings of vertices with triangles between them, turned outward.
pub(super) fn tube(spec: &author::TubeShape, scope: &Scope) -> Result<Shape> {
    if let Some(name) = RING.iter().find(|name| scope.has_parameter(name)) {
        let message = format!("`{name}` counts vertices here: give the parameter another name");
        return Err(SceneError::new(message)).at("vertex");
    }
    let around = spec.around.whole(scope, 3).at("around")?;
    let least = if spec.looped { 3 } else { 2 };
    let along = spec.along.whole(scope, least).at("along")?;
    if around.saturating_mul(along) > VERTICES_MAX {
        let message = format!(
            "{around} times {along} vertices would be {}, expected at most {VERTICES_MAX}",
            around as f64 * along as f64
        );
        return Err(SceneError::new(message)).at("along");
    }
    let mut vertices = Vec::with_capacity(around * along + 2);
    for j in 0..along {
        for i in 0..around {
            vertices.push(scope.at_vertex(&spec.vertex, [i, j]).at("vertex")?);
        }
    }
    let mut triangles = rings(around, along, spec.looped);
    if !spec.looped {
        close_ends(around, along, &mut vertices, &mut triangles);
    }
    closed::turn_outward(&vertices, &mut triangles);
    closed::check_areas(&vertices, &triangles).at("vertex")?;
    let control = control(spec.control.as_ref(), scope)?;
    Ok(Shape::Mesh { vertices: vertices.into(), triangles: triangles.into(), control })
}

/// Two triangles for each four vertices of neighbouring rings.
fn rings(around: usize, along: usize, looped: bool) -> Vec<[u32; 3]> {
    let gaps = if looped { along } else { along - 1 };
    let mut triangles = Vec::with_capacity(2 * around * gaps + 2 * around);
    for j in 0..gaps {
        for i in 0..around {
            let at = |i: usize, j: usize| (i % around + j % along * around) as u32;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

/// Triangles from the first and from the last ring to their middles.
fn close_ends(
    around: usize,
    along: usize,
    vertices: &mut Vec<Vec3>,
    triangles: &mut Vec<[u32; 3]>,
) {
    for (first, turned) in [(0, true), ((along - 1) * around, false)] {
        let middle = vertices[first..first + around].iter().sum::<Vec3>() / around as f64;
        let tip = vertices.len() as u32;
        vertices.push(middle);
        for i in 0..around {
            let [a, b] = [first + i, first + (i + 1) % around].map(|v| v as u32);
            triangles.push(if turned { [tip, b, a] } else { [tip, a, b] });
        }
    }
}

fn control(points: Option<&[Triple; 4]>, scope: &Scope) -> Result<Option<Arc<[Vec3; 4]>>> {
    let Some([a, b, c, d]) = points else { return Ok(None) };
    let point = |i: usize, triple: &Triple| vector(triple, scope).at_index("control", i);
    let points = [point(0, a)?, point(1, b)?, point(2, c)?, point(3, d)?];
    closed::check_control(&points).at("control")?;
    Ok(Some(Arc::new(points)))
}
