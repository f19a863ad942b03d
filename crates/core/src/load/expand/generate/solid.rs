//! A body of tetrahedra with the particles at their corners, cut from a lattice.

mod cells;

use super::held::Holds;
use crate::{
    load::{
        author::{self, SolidShape},
        body,
        error::{At, Result, SceneError},
        expand::{Builder, Matter, NodeGroup, SolidWords, outer_nodes, place, velocity},
        expression::{Scope, Triple, vector},
    },
    math::Vec3,
};
use cells::{CutLattice, Ellipsoid};

/// A solid's lattice: corner [m], sides of a cell [m], cells along the axes, and what of it is filled.
struct Cutting {
    corner: Vec3,
    cell: Vec3,
    counts: [usize; 3],
    parts: Vec<Ellipsoid>,
}

impl Cutting {
    fn new(shape: &SolidShape, scope: &Scope) -> Result<Self> {
        match shape {
            SolidShape::Lattice { size, counts } => {
                let size = extent(size, scope).at("size")?;
                let [nx, ny, nz] = counts;
                let whole = |n: &crate::load::expression::Formula| n.whole(scope, 1).at("counts");
                let counts = [whole(nx)?, whole(ny)?, whole(nz)?];
                let cell = size.component_div(&Vec3::from(counts.map(|n| n as f64)));
                Ok(Self { corner: size * -0.5, cell, counts, parts: vec![] })
            }
            SolidShape::Sphere { radius, spacing } => {
                let radius = radius.positive(scope).at("radius")?;
                let part = Ellipsoid { centre: Vec3::zeros(), radii: Vec3::repeat(radius) };
                Self::around(vec![part], spacing.positive(scope).at("spacing")?)
            }
            SolidShape::Blob { parts, spacing } => {
                let part = |spec: &author::EllipsoidSpec| {
                    Ok(Ellipsoid {
                        centre: vector(&spec.centre, scope).at("centre")?,
                        radii: extent(&spec.radii, scope).at("radii")?,
                    })
                };
                let parts = parts.iter().enumerate().map(|(k, p)| part(p).at_index("parts", k));
                let parts = parts.collect::<Result<Vec<_>>>()?;
                if parts.is_empty() {
                    return Err(SceneError::new("expected at least one ellipsoid")).at("parts");
                }
                Self::around(parts, spacing.positive(scope).at("spacing")?)
            }
        }
    }

    /// The lattice around ellipsoids, with a node at the origin.
    fn around(parts: Vec<Ellipsoid>, spacing: f64) -> Result<Self> {
        let lower = parts.iter().map(|p| p.centre - p.radii).reduce(|a, b| a.inf(&b));
        let upper = parts.iter().map(|p| p.centre + p.radii).reduce(|a, b| a.sup(&b));
        let (lower, upper) = (lower.unwrap_or_default(), upper.unwrap_or_default());
        let first = (lower / spacing).map(f64::floor);
        let counts = (upper / spacing).map(f64::ceil) - first;
        let most = counts.max();
        if most >= 1e6 || most.is_nan() {
            let message = format!("{most} cells along an axis are more than a scene holds");
            return Err(SceneError::new(message)).at("spacing");
        }
        let counts = [counts.x, counts.y, counts.z].map(|n| n as usize);
        Ok(Self { corner: first * spacing, cell: Vec3::repeat(spacing), counts, parts })
    }

    /// Most nodes that it can make.
    fn nodes(&self) -> f64 {
        self.counts.iter().map(|&n| n as f64 + 1.0).product()
    }
}

fn extent(triple: &Triple, scope: &Scope) -> Result<Vec3> {
    let [x, y, z] = triple;
    Ok(Vec3::new(x.positive(scope)?, y.positive(scope)?, z.positive(scope)?))
}

/// Most nodes that a solid makes.
pub(super) fn nodes_made(spec: &author::SolidSpec, scope: &Scope) -> Result<f64> {
    Ok(Cutting::new(&spec.shape, scope).at("shape")?.nodes())
}

/// Adds the nodes, then the tetrahedra.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::SolidSpec,
    scope: &Scope,
) -> Result<()> {
    let cutting = Cutting::new(&spec.shape, scope).at("shape")?;
    builder.reserve("particles", cutting.nodes())?;
    let cells: f64 = cutting.counts.iter().map(|&n| n as f64).product();
    builder.reserve("tetrahedra", 6.0 * cells)?;
    let words = SolidWords {
        elastic: &spec.elastic,
        damping: spec.damping.as_ref(),
        rest_scale: spec.rest_scale.as_ref(),
    };
    let matter = Matter::new(&words, scope)?;
    let density = spec.density.positive(scope).at("density")?;
    let CutLattice { mut points, tetrahedra } =
        cells::cut(cutting.counts, cutting.corner, cutting.cell, &cutting.parts, spec.split);
    if tetrahedra.is_empty() {
        let message = "no cell of the lattice is inside, expected a smaller `spacing`";
        return Err(SceneError::new(message)).at("shape");
    }
    place(&mut points, spec.position.as_ref(), spec.rotation.as_ref(), scope)?;
    let lattice = cutting.parts.is_empty().then(|| cutting.counts.map(|n| n + 1));
    let holds = Holds::new(&spec.held, lattice, scope)?;
    let member = |n: usize| match lattice {
        Some([_, ny, nz]) => [n / (ny * nz), n / nz % ny, n % nz],
        None => [0; 3],
    };
    let held = points.iter().enumerate().map(|(n, x)| holds.holds(member(n), x)).collect();
    let masses = matter.masses(density, &points, &tetrahedra);
    let touching = outer_nodes(&tetrahedra, points.len());
    let counts = lattice.map_or_else(|| vec![points.len()], |counts| counts.to_vec());
    let velocity = velocity(spec.velocity.as_ref(), scope)?;
    let skin = body::skin(0.0, spec.friction.as_ref(), spec.group.as_ref(), scope)?;
    let nodes =
        NodeGroup { name: &spec.name, counts, points, masses, held, velocity, skin, touching };
    let first = builder.push_nodes(nodes, scope)?;
    builder.push_solid(&matter, first, &tetrahedra)
}
