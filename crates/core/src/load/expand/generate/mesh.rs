//! A mesh from a file beside the scene, as cloth or as a solid.

use super::held::Holds;
use crate::load::{
    author, body,
    error::{At, Result, SceneError},
    expand::{
        Builder, Fabric, Matter, NodeGroup, SheetWords, SolidWords, outer_nodes, place, velocity,
    },
    expression::Scope,
    mesh_file::{self, MeshFile},
};

/// What the elements of a file are made of.
enum Stuff {
    Fabric(Fabric),
    Matter(Matter),
}

/// Adds the nodes, then the triangles or tetrahedra.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::MeshSpec,
    scope: &Scope,
) -> Result<()> {
    let mut mesh = builder.read_mesh(&spec.file).at("file")?;
    builder.reserve("particles", mesh.points.len() as f64)?;
    builder.reserve("triangles", mesh.triangles.len() as f64)?;
    builder.reserve("tetrahedra", mesh.tetrahedra.len() as f64)?;
    let scale = spec.scale.as_ref().map_or(Ok(1.0), |scale| scale.positive(scope)).at("scale")?;
    mesh.points.iter_mut().for_each(|point| *point *= scale);
    place(&mut mesh.points, spec.position.as_ref(), spec.rotation.as_ref(), scope)?;
    let stuff = stuff(&mesh, spec, scope)?;
    let density = spec.density.positive(scope).at("density")?;
    let points = &mesh.points;
    let (masses, touching, radius) = match &stuff {
        Stuff::Fabric(sheet) => {
            let masses = sheet.masses(density, points, &mesh.triangles);
            (masses, vec![true; points.len()], sheet.thickness * 0.5)
        }
        Stuff::Matter(matter) => {
            let masses = matter.masses(density, points, &mesh.tetrahedra);
            (masses, outer_nodes(&mesh.tetrahedra, points.len()), 0.0)
        }
    };
    let holds = Holds::new(&spec.held, None, scope)?;
    let nodes = NodeGroup {
        name: &spec.name,
        counts: vec![points.len()],
        held: points.iter().map(|x| holds.holds([0; 3], x)).collect(),
        velocity: velocity(spec.velocity.as_ref(), scope)?,
        skin: body::skin(radius, spec.friction.as_ref(), spec.group.as_ref(), scope)?,
        points: mesh.points,
        masses,
        touching,
    };
    let first = builder.push_nodes(nodes, scope)?;
    match stuff {
        Stuff::Fabric(sheet) => builder.push_sheet(&sheet, first, &mesh.triangles),
        Stuff::Matter(matter) => builder.push_solid(&matter, first, &mesh.tetrahedra),
    }
}

fn stuff(mesh: &MeshFile, spec: &author::MeshSpec, scope: &Scope) -> Result<Stuff> {
    let wanted = |field: &str, what: &str| {
        let message = format!("expected this field: `{}` is a mesh of {what}", spec.file);
        SceneError::new(message).within(field)
    };
    let idle = |field: &str, what: &str| {
        let message = format!("`{}` is a mesh of {what}, which has none", spec.file);
        Err(SceneError::new(message)).at(field)
    };
    if mesh.tetrahedra.is_empty() {
        if spec.elastic.is_some() {
            return idle("elastic", "triangles");
        }
        let thickness = spec.thickness.as_ref().ok_or_else(|| wanted("thickness", "triangles"))?;
        let membrane = spec.membrane.as_ref().ok_or_else(|| wanted("membrane", "triangles"))?;
        let words = SheetWords {
            thickness,
            membrane,
            bending: spec.bending.as_ref(),
            flat: spec.flat.unwrap_or(false),
            damping: spec.damping.as_ref(),
            rest_scale: spec.rest_scale.as_ref(),
        };
        return Ok(Stuff::Fabric(Fabric::new(&words, scope)?));
    }
    for (given, field) in [
        (spec.thickness.is_some(), "thickness"),
        (spec.membrane.is_some(), "membrane"),
        (spec.bending.is_some(), "bending"),
        (spec.flat.is_some(), "flat"),
    ] {
        if given {
            return idle(field, "tetrahedra");
        }
    }
    let elastic = spec.elastic.as_ref().ok_or_else(|| wanted("elastic", "tetrahedra"))?;
    let (damping, rest_scale) = (spec.damping.as_ref(), spec.rest_scale.as_ref());
    let words = SolidWords { elastic, damping, rest_scale };
    Ok(Stuff::Matter(Matter::new(&words, scope)?))
}

impl Builder<'_> {
    /// Reads a mesh that the scene names, and notes what of it is left out or changed.
    fn read_mesh(&mut self, file: &str) -> Result<MeshFile> {
        let Some(folder) = &self.folder else {
            let message = "a scene that is no file has no folder in which to look for a mesh";
            return Err(SceneError::new(message));
        };
        let mesh = mesh_file::read(&folder.join(file), self.elements_max)?;
        if mesh.unused > 0 {
            self.notes
                .push(format!("{file}: {} nodes that no element has are left out", mesh.unused));
        }
        if mesh.turned > 0 {
            let turned = mesh.turned;
            self.notes
                .push(format!("{file}: two nodes of {turned} tetrahedra inside out are exchanged"));
        }
        Ok(mesh)
    }
}
