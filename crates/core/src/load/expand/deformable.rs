//! Cloth and solids of the scene being expanded: nodes with the elements between them.

use super::{Builder, full_name, generate, out_of_range};
use crate::{
    energy::{Membrane, SolidEnergy, SolidModel, volume},
    load::{
        author::{self, TetrahedronEntry},
        body,
        error::{At, Result, SceneError},
        expression::{Formula, Scope, Triple, vector},
        names::{Movable, member_name},
    },
    math::{Quat, Vec3},
    scene::{Anchor, ElasticPart, Elasticity, Endpoint, Particle, Skin, Tetrahedron, outer_faces},
};

/// A group of particles to be made.
pub(super) struct NodeGroup<'a> {
    /// As written, with the indices of outer repetitions.
    pub(super) name: &'a str,
    pub(super) counts: Vec<usize>,
    /// Places [m].
    pub(super) points: Vec<Vec3>,
    /// Masses [kg].
    pub(super) masses: Vec<f64>,
    /// Which of them do not move.
    pub(super) held: Vec<bool>,
    /// Of all that move [m/s].
    pub(super) velocity: Vec3,
    /// How those touch for which it is said that they do.
    pub(super) skin: Skin,
    pub(super) touching: Vec<bool>,
}

/// What a sheet is made of.
pub(super) struct Fabric {
    /// [kg/m^3]
    density: f64,
    /// [m]
    pub(super) thickness: f64,
    membrane: Elasticity,
    /// Flexural rigidity [N m] where it resists bending.
    rigidity: Option<f64>,
}

/// What a solid is made of.
pub(super) struct Matter {
    /// [kg/m^3]
    density: f64,
    elastic: (SolidModel, Elasticity),
}

impl Fabric {
    pub(super) fn new(
        density: &Formula,
        thickness: &Formula,
        membrane: &author::ElasticitySpec,
        bending: Option<&author::BendingSpec>,
        scope: &Scope,
    ) -> Result<Self> {
        let thickness = thickness.positive(scope).at("thickness")?;
        let membrane =
            body::elastic_constants(&membrane.young, &membrane.poisson, scope).at("membrane")?;
        let rigidity = bending.map(|b| rigidity(b, membrane, thickness, scope).at("bending"));
        let density = density.positive(scope).at("density")?;
        Ok(Self { density, thickness, membrane, rigidity: rigidity.transpose()? })
    }

    /// Masses of the nodes at these points [kg].
    pub(super) fn masses(&self, points: &[Vec3], triangles: &[[usize; 3]]) -> Vec<f64> {
        lumped(points, triangles, |[a, b, c]| {
            self.density * self.thickness * 0.5 * (b - a).cross(&(c - a)).norm()
        })
    }
}

/// The flexural rigidity that is given, or that of the plate [N m].
pub(super) fn rigidity(
    spec: &author::BendingSpec,
    membrane: Elasticity,
    thickness: f64,
    scope: &Scope,
) -> Result<f64> {
    match &spec.rigidity {
        Some(rigidity) => rigidity.positive(scope).at("rigidity"),
        None => {
            let Elasticity { young, poisson } = membrane;
            Ok(young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson)))
        }
    }
}

impl Matter {
    pub(super) fn new(
        elastic: &author::ElasticSpec,
        density: &Formula,
        scope: &Scope,
    ) -> Result<Self> {
        let elastic = material(elastic, scope).at("elastic")?;
        Ok(Self { density: density.positive(scope).at("density")?, elastic })
    }

    /// Masses of the nodes at these points [kg].
    pub(super) fn masses(&self, points: &[Vec3], tetrahedra: &[[usize; 4]]) -> Vec<f64> {
        lumped(points, tetrahedra, |corners| self.density * volume(corners))
    }
}

/// The masses of elements [kg], in equal shares at their corners.
fn lumped<const CORNERS: usize>(
    points: &[Vec3],
    elements: &[[usize; CORNERS]],
    mass: impl Fn(&[Vec3; CORNERS]) -> f64,
) -> Vec<f64> {
    let mut masses = vec![0.0; points.len()];
    for element in elements {
        let share = mass(&element.map(|n| points[n])) / CORNERS as f64;
        element.iter().for_each(|&n| masses[n] += share);
    }
    masses
}

/// Which of so many nodes are on the outer faces of a solid.
pub(super) fn outer_nodes(tetrahedra: &[[usize; 4]], count: usize) -> Vec<bool> {
    let mut outer = vec![false; count];
    let faces = outer_faces(tetrahedra.iter().copied());
    faces.into_iter().flatten().for_each(|n| outer[n] = true);
    outer
}

/// Turns points about the origin and shifts them, as the fields of these names say.
pub(super) fn place(
    points: &mut [Vec3],
    position: Option<&Triple>,
    rotation: Option<&author::RotationSpec>,
    scope: &Scope,
) -> Result<()> {
    let origin = position.map_or(Ok(Vec3::zeros()), |p| vector(p, scope)).at("position")?;
    let turn = rotation.map_or(Ok(Quat::identity()), |r| body::rotation(r, scope));
    let turn = turn.at("rotation")?;
    points.iter_mut().for_each(|point| *point = origin + turn * *point);
    Ok(())
}

/// The velocity of all nodes [m/s]; at rest unless given.
pub(super) fn velocity(given: Option<&Triple>, scope: &Scope) -> Result<Vec3> {
    given.map_or(Ok(Vec3::zeros()), |velocity| vector(velocity, scope).at("velocity"))
}

fn material(spec: &author::ElasticSpec, scope: &Scope) -> Result<(SolidModel, Elasticity)> {
    Ok((spec.model, body::elastic_constants(&spec.young, &spec.poisson, scope)?))
}

impl Builder<'_> {
    /// Appends a group of particles; returns the index of its first one.
    pub(super) fn push_nodes(&mut self, nodes: NodeGroup<'_>, scope: &Scope) -> Result<usize> {
        let NodeGroup { name, counts, points, masses, held, velocity, skin, touching } = nodes;
        let name = full_name(name, scope).at("name")?;
        let first = self.scene.particles.len();
        let kind = Movable::Particle;
        self.names.insert_group(name.clone(), kind, first, counts.clone()).at("name")?;
        for (index, position) in points.into_iter().enumerate() {
            let mass = if held[index] { 0.0 } else { masses[index] };
            self.scene.particles.push(Particle {
                name: member_name(&name, &counts, index),
                mass,
                position,
                velocity: if held[index] { Vec3::zeros() } else { velocity },
                touch: touching[index].then_some(skin),
            });
        }
        Ok(first)
    }

    /// Appends the triangles of a sheet, whose nodes count from the particle `first`.
    pub(super) fn push_sheet(
        &mut self,
        sheet: &Fabric,
        first: usize,
        triangles: &[[usize; 3]],
    ) -> Result<()> {
        let Elasticity { young, poisson } = sheet.membrane;
        for (k, three) in triangles.iter().enumerate() {
            let rest = three.map(|n| self.scene.particles[first + n].position);
            let Some(energy) = Membrane::new(&rest, sheet.thickness, young, poisson) else {
                return Err(SceneError::new(format!("its triangle {k} has no area")));
            };
            if !energy.is_finite() {
                return Err(out_of_range());
            }
            let ends = three.map(|n| Anchor::from(Endpoint::Particle(first + n)));
            self.scene.triangles.push(ElasticPart { name: String::new(), ends, energy });
            if let Some(rigidity) = sheet.rigidity {
                self.add_bends(&ends, rigidity).at("bending")?;
            }
        }
        Ok(())
    }

    /// Appends the tetrahedra of a solid, whose nodes count from the particle `first`.
    pub(super) fn push_solid(
        &mut self,
        matter: &Matter,
        first: usize,
        tetrahedra: &[[usize; 4]],
    ) -> Result<()> {
        self.scene.tetrahedra.reserve(tetrahedra.len());
        for (k, four) in tetrahedra.iter().enumerate() {
            let nodes = four.map(|n| first + n);
            self.push_tetrahedron(matter.elastic, nodes)
                .map_err(|error| error.within(&format!("tetrahedron {k}")))?;
        }
        Ok(())
    }

    /// Appends a tetrahedron between particles.
    fn push_tetrahedron(
        &mut self,
        (model, material): (SolidModel, Elasticity),
        nodes: [usize; 4],
    ) -> Result<()> {
        let rest = nodes.map(|n| self.scene.particles[n].position);
        let Some(energy) = SolidEnergy::new(model, &rest, material) else {
            let volume = volume(&rest);
            let advice = if volume < 0.0 { "; swap two of its nodes" } else { "" };
            let message = format!("expected a positive volume, found {volume:.3e} m^3{advice}");
            return Err(SceneError::new(message));
        };
        if !energy.is_finite() {
            return Err(out_of_range());
        }
        self.scene.tetrahedra.push(Tetrahedron { nodes, energy });
        Ok(())
    }

    /// One entry of `tetrahedra`.
    pub(in crate::load) fn add_tetrahedron(
        &mut self,
        entry: &TetrahedronEntry,
        scope: &Scope,
    ) -> Result<()> {
        let spec = match entry {
            TetrahedronEntry::Repeat(spec) => {
                return generate::repeat::add(self, spec, scope).at("repeat");
            }
            TetrahedronEntry::Tetrahedron(spec) => spec,
        };
        let nodes = self.particles(&spec.nodes, scope).at("nodes")?;
        let elastic = material(&spec.elastic, scope).at("elastic")?;
        let density = spec.density.as_ref().map(|d| d.positive(scope).at("density")).transpose()?;
        self.reserve("tetrahedra", 1.0)?;
        self.push_tetrahedron(elastic, nodes).at("nodes")?;
        let corners = nodes.map(|n| self.scene.particles[n].position);
        let quarter = density.unwrap_or(0.0) * volume(&corners) / 4.0;
        for n in nodes {
            let mass = &mut self.scene.particles[n].mass;
            *mass += if *mass > 0.0 { quarter } else { 0.0 };
        }
        Ok(())
    }

    /// Different particles by their names.
    fn particles(&self, names: &[String; 4], scope: &Scope) -> Result<[usize; 4]> {
        let mut found = [0; 4];
        for (i, name) in names.iter().enumerate() {
            let place = format!("[{i}]");
            let Endpoint::Particle(n) = self.names.resolve(name, scope).at(&place)? else {
                let message = format!("expected a particle, `{name}` is none");
                return Err(SceneError::new(message)).at(&place);
            };
            if found[..i].contains(&n) {
                return Err(SceneError::new(format!("`{name}` is already a node"))).at(&place);
            }
            found[i] = n;
        }
        Ok(found)
    }
}
