//! Sheets of the scene being expanded: triangles, what resists their folds, and what damps them.

use std::collections::hash_map::Entry;

use super::{Builder, generate, lumped, out_of_range, rest_scale, unused, viscosity};
use crate::{
    energy::{DampingEnergy, FoldEnergy, FoldModel, SheetDamping, SheetEnergy, SheetModel},
    load::{
        author::{self, BendingSpec, TriangleEntry},
        body,
        error::{At, Result, SceneError},
        expression::{Formula, Scope},
    },
    math::Vec3,
    scene::{Anchor, ElasticPart, Elasticity, Endpoint},
};

/// What a scene says of a sheet.
pub(super) struct SheetWords<'a> {
    pub(super) thickness: &'a Formula,
    pub(super) membrane: &'a author::MembraneSpec,
    pub(super) bending: Option<&'a BendingSpec>,
    pub(super) flat: bool,
    pub(super) damping: Option<&'a Formula>,
    pub(super) rest_scale: Option<&'a Formula>,
}

/// What a sheet is made of.
pub(super) struct Fabric {
    /// [m]
    pub(super) thickness: f64,
    membrane: (SheetModel, Elasticity),
    bending: Option<Stiffener>,
    /// Viscosity [Pa s]; zero for none.
    viscosity: f64,
    /// Lengths at rest over those at the start.
    rest_scale: f64,
}

/// What resists folds of a sheet.
#[derive(Clone, Copy)]
struct Stiffener {
    model: Option<FoldModel>,
    /// Flexural rigidity [N m].
    rigidity: f64,
    /// Whether there are no folds at rest.
    flat: bool,
}

/// An edge of the triangles that resist bending.
pub(super) enum Edge {
    /// One has been there, with this corner opposite and this flexural rigidity [N m].
    Open(Anchor, f64),
    /// Two have.
    Shared,
}

impl Fabric {
    pub(super) fn new(words: &SheetWords<'_>, scope: &Scope) -> Result<Self> {
        let thickness = words.thickness.positive(scope).at("thickness")?;
        let author::MembraneSpec { model, young, poisson } = words.membrane;
        let material = body::elastic_constants(young, poisson, scope).at("membrane")?;
        let bending = match words.bending {
            Some(spec) => stiffener(spec, material, thickness, words.flat, scope).at("bending")?,
            None => None,
        };
        Ok(Self {
            thickness,
            membrane: (*model, material),
            bending,
            viscosity: viscosity(words.damping, scope)?,
            rest_scale: rest_scale(words.rest_scale, scope)?,
        })
    }

    /// Masses of the nodes at these points [kg] for a density [kg/m^3].
    pub(super) fn masses(&self, density: f64, points: &[Vec3], nodes: &[[usize; 3]]) -> Vec<f64> {
        lumped(points, nodes, |corners| self.mass(density, corners))
    }

    /// Mass of a triangle [kg] for a density [kg/m^3].
    fn mass(&self, density: f64, [a, b, c]: &[Vec3; 3]) -> f64 {
        let area = 0.5 * (b - a).cross(&(c - a)).norm() * self.rest_scale.powi(2);
        density * self.thickness * area
    }
}

/// The flexural rigidity that is given, or that of the plate; none where it is zero.
fn stiffener(
    spec: &BendingSpec,
    membrane: Elasticity,
    thickness: f64,
    flat: bool,
    scope: &Scope,
) -> Result<Option<Stiffener>> {
    let rigidity = match &spec.rigidity {
        Some(rigidity) => rigidity.non_negative(scope).at("rigidity")?,
        None => {
            let Elasticity { young, poisson } = membrane;
            young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson))
        }
    };
    Ok((rigidity > 0.0).then_some(Stiffener { model: spec.model, rigidity, flat }))
}

impl Builder<'_> {
    /// One entry of `triangles`.
    pub(in crate::load) fn add_triangle(
        &mut self,
        entry: &TriangleEntry,
        scope: &Scope,
    ) -> Result<()> {
        let spec = match entry {
            TriangleEntry::Repeat(spec) => {
                return generate::repeat::add(self, spec, scope).at("repeat");
            }
            TriangleEntry::Triangle(spec) => spec,
        };
        let name = super::full_name(&spec.name, scope).at("name")?;
        let corners = self.corners(&spec.nodes, scope).at("nodes")?;
        let words = SheetWords {
            thickness: &spec.thickness,
            membrane: &spec.membrane,
            bending: spec.bending.as_ref(),
            flat: false,
            damping: spec.damping.as_ref(),
            rest_scale: None,
        };
        let fabric = Fabric::new(&words, scope)?;
        let density = spec.density.as_ref().map(|d| d.positive(scope).at("density")).transpose()?;
        unused(&mut self.triangle_names, &name).at("name")?;
        self.reserve("triangles", 1.0)?;
        self.push_triangle(name, corners, &fabric)?;
        let places = corners.map(|corner| self.point(corner.end, &corner.local));
        let third = fabric.mass(density.unwrap_or(0.0), &places) / 3.0;
        for corner in corners {
            if let Endpoint::Particle(n) = corner.end {
                self.add_mass(n, third);
            }
        }
        Ok(())
    }

    /// Appends the triangles of a sheet, whose nodes count from the particle `first`.
    pub(super) fn push_sheet(
        &mut self,
        sheet: &Fabric,
        first: usize,
        triangles: &[[usize; 3]],
    ) -> Result<()> {
        for (k, three) in triangles.iter().enumerate() {
            let ends = three.map(|n| Anchor::from(Endpoint::Particle(first + n)));
            self.push_triangle(String::new(), ends, sheet)
                .map_err(|error| error.within(&format!("triangle {k}")))?;
        }
        Ok(())
    }

    /// Appends a triangle with all that resists its strain and folds.
    fn push_triangle(&mut self, name: String, ends: [Anchor; 3], sheet: &Fabric) -> Result<()> {
        let rest = self.rest(&ends, sheet.rest_scale);
        let (model, material) = sheet.membrane;
        let Some(energy) = SheetEnergy::new(model, &rest, sheet.thickness, material) else {
            let message = "expected the corners of a triangle, found them on one line";
            return Err(SceneError::new(message));
        };
        if !energy.is_finite() {
            return Err(out_of_range());
        }
        self.scene.triangles.push(ElasticPart { name, ends, energy });
        if sheet.viscosity > 0.0 {
            let damping = SheetDamping::of_sheet(&rest, sheet.thickness, sheet.viscosity);
            let damping = damping.filter(SheetDamping::is_finite).map(DampingEnergy::Sheet);
            let [a, b, c] = ends;
            self.push_damping([a, b, c, Anchor::default()], damping)?;
        }
        match sheet.bending {
            Some(bending) => self.add_folds(&ends, bending, sheet.rest_scale).at("bending"),
            None => Ok(()),
        }
    }

    /// Where points are at rest, up to a shift [m].
    fn rest<const COUNT: usize>(&self, ends: &[Anchor; COUNT], scale: f64) -> [Vec3; COUNT] {
        ends.map(|end| self.point(end.end, &end.local) * scale)
    }

    /// Joins a triangle to those before it that share an edge. Where two differ in their flexural rigidity,
    /// their mean counts.
    fn add_folds(&mut self, corners: &[Anchor; 3], own: Stiffener, scale: f64) -> Result<()> {
        for k in 0..3 {
            let [a, b, opposite] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
            let mut edge = match self.edges.entry([a.end.min(b.end), a.end.max(b.end)]) {
                Entry::Vacant(place) => {
                    place.insert(Edge::Open(opposite, own.rigidity));
                    continue;
                }
                Entry::Occupied(edge) => edge,
            };
            let Edge::Open(other, rigidity_other) = edge.insert(Edge::Shared) else {
                let message = "an edge belongs to three triangles that resist bending";
                return Err(SceneError::new(message));
            };
            let ends = [a, b, opposite, other];
            let rest = self.rest(&ends, scale);
            let rigidity = 0.5 * (own.rigidity + rigidity_other);
            let Some(energy) = FoldEnergy::new(own.model, &rest, rigidity, own.flat) else {
                let message = "expected triangles that are flat across their shared edge, as `model: quadratic` \
                               knows no others";
                return Err(SceneError::new(message)).at("model");
            };
            if !energy.is_finite() {
                return Err(out_of_range());
            }
            self.scene.bends.push(ElasticPart { name: String::new(), ends, energy });
        }
        Ok(())
    }

    /// The corners of a triangle by their names.
    pub(super) fn corners(&self, nodes: &[String; 3], scope: &Scope) -> Result<[Anchor; 3]> {
        let mut corners = [Anchor::default(); 3];
        for (i, node) in nodes.iter().enumerate() {
            let place = format!("[{i}]");
            let end = self.names.resolve(node, scope).at(&place)?;
            if end == Endpoint::World {
                let message = "expected a particle or a body, the world has no place of its own";
                return Err(SceneError::new(message)).at(&place);
            }
            if corners[..i].iter().any(|corner| corner.end == end) {
                return Err(SceneError::new(format!("`{node}` is already a corner"))).at(&place);
            }
            corners[i] = Anchor { end, local: self.origin(end) };
        }
        Ok(corners)
    }
}
