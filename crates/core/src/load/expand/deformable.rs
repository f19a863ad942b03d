//! Cloth and solids of the scene being expanded: nodes with the elements between them.

use super::{Builder, full_name, generate, lumped, out_of_range, rest_scale, viscosity};
use crate::{
    energy::{DampingEnergy, SolidDamping, SolidEnergy, SolidModel, volume},
    load::{
        author::{self, TetrahedronEntry},
        body,
        error::{At, Result, SceneError},
        expression::{Formula, Scope, Triple, vector},
        names::{Movable, member_name},
    },
    math::{Quat, Vec3},
    scene::{Anchor, Elasticity, Endpoint, Particle, Skin, Tetrahedron, outer_faces},
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

/// What a scene says of a solid.
pub(super) struct SolidWords<'a> {
    pub(super) elastic: &'a author::ElasticSpec,
    pub(super) damping: Option<&'a Formula>,
    pub(super) rest_scale: Option<&'a Formula>,
}

/// What a solid is made of.
pub(super) struct Matter {
    elastic: (SolidModel, Elasticity),
    /// Viscosity [Pa s]; zero for none.
    viscosity: f64,
    /// Lengths at rest over those at the start.
    rest_scale: f64,
}

impl Matter {
    pub(super) fn new(words: &SolidWords<'_>, scope: &Scope) -> Result<Self> {
        let author::ElasticSpec { model, young, poisson } = words.elastic;
        let material = body::elastic_constants(young, poisson, scope).at("elastic")?;
        Ok(Self {
            elastic: (*model, material),
            viscosity: viscosity(words.damping, scope)?,
            rest_scale: rest_scale(words.rest_scale, scope)?,
        })
    }

    /// Masses of the nodes at these points [kg] for a density [kg/m^3].
    pub(super) fn masses(&self, density: f64, points: &[Vec3], nodes: &[[usize; 4]]) -> Vec<f64> {
        lumped(points, nodes, |corners| self.mass(density, corners))
    }

    /// Mass of a tetrahedron [kg] for a density [kg/m^3].
    fn mass(&self, density: f64, corners: &[Vec3; 4]) -> f64 {
        density * volume(corners) * self.rest_scale.powi(3)
    }
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
            self.push_tetrahedron(matter, nodes)
                .map_err(|error| error.within(&format!("tetrahedron {k}")))?;
        }
        Ok(())
    }

    /// Appends a tetrahedron between particles.
    fn push_tetrahedron(&mut self, matter: &Matter, nodes: [usize; 4]) -> Result<()> {
        let (model, material) = matter.elastic;
        let rest = nodes.map(|n| self.scene.particles[n].position * matter.rest_scale);
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
        if matter.viscosity > 0.0 {
            let damping = SolidDamping::of_solid(&rest, matter.viscosity);
            let damping = damping.filter(SolidDamping::is_finite).map(DampingEnergy::Solid);
            self.push_damping(nodes.map(|n| Anchor::from(Endpoint::Particle(n))), damping)?;
        }
        Ok(())
    }

    /// Adds to the mass [kg] of a particle that is not held.
    pub(super) fn add_mass(&mut self, particle: usize, more: f64) {
        let mass = &mut self.scene.particles[particle].mass;
        *mass += if *mass > 0.0 { more } else { 0.0 };
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
        let damping = spec.damping.as_ref();
        let words = SolidWords { elastic: &spec.elastic, damping, rest_scale: None };
        let matter = Matter::new(&words, scope)?;
        let density = spec.density.as_ref().map(|d| d.positive(scope).at("density")).transpose()?;
        self.reserve("tetrahedra", 1.0)?;
        self.push_tetrahedron(&matter, nodes).at("nodes")?;
        let corners = nodes.map(|n| self.scene.particles[n].position);
        let quarter = matter.mass(density.unwrap_or(0.0), &corners) / 4.0;
        nodes.into_iter().for_each(|n| self.add_mass(n, quarter));
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
