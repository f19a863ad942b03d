//! A sheet of triangles with the particles at their corners.

use super::held::Holds;
use crate::{
    load::{
        author::{self, Pattern},
        body,
        error::{At, Result, SceneError},
        expand::{Builder, Fabric, NodeGroup, SheetWords, velocity},
        expression::{Scope, vector},
    },
    math::Vec3,
};

/// Nodes along and across.
pub(super) fn counts(spec: &author::Cloth, scope: &Scope) -> Result<[usize; 2]> {
    let (along, across) = &spec.counts;
    Ok([along.whole(scope, 2).at("counts")?, across.whole(scope, 2).at("counts")?])
}

/// Adds the nodes, then the triangles with what joins them across their edges.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Cloth,
    scope: &Scope,
) -> Result<()> {
    let [nx, ny] = counts(spec, scope)?;
    let [cells, nodes] = [(nx - 1) as f64 * (ny - 1) as f64, nx as f64 * ny as f64];
    builder.reserve("particles", nodes)?;
    builder.reserve("triangles", 2.0 * cells)?;
    let start = vector(&spec.start, scope).at("start")?;
    let [along, across] =
        [(&spec.along, "along"), (&spec.across, "across")].map(|(v, at)| vector(v, scope).at(at));
    let (along, across) = (along?, across?);
    if along.cross(&across).norm() <= 1e-9 * along.norm() * across.norm() {
        let message = "expected a direction that is not that of `along`";
        return Err(SceneError::new(message)).at("across");
    }
    let place = |i: usize, j: usize| {
        let shifted = spec.pattern == Pattern::Equilateral && j % 2 == 1;
        start + along * (i as f64 + if shifted { 0.5 } else { 0.0 }) + across * j as f64
    };
    let members = || (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j)));
    let points: Vec<Vec3> = members().map(|(i, j)| place(i, j)).collect();
    let triangles = members()
        .filter(|&(i, j)| i + 1 < nx && j + 1 < ny)
        .flat_map(|(i, j)| cell(spec.pattern, i, j).map(|three| three.map(|[i, j]| i * ny + j)))
        .collect::<Vec<_>>();
    let holds = Holds::new(&spec.held, Some([nx, ny, 1]), scope)?;
    let held = members().map(|(i, j)| holds.holds([i, j, 0], &place(i, j))).collect();
    let words = SheetWords {
        thickness: &spec.thickness,
        membrane: &spec.membrane,
        bending: spec.bending.as_ref(),
        flat: spec.flat.unwrap_or(false),
        damping: spec.damping.as_ref(),
        rest_scale: spec.rest_scale.as_ref(),
    };
    let sheet = Fabric::new(&words, scope)?;
    let density = spec.density.positive(scope).at("density")?;
    let masses = sheet.masses(density, &points, &triangles);
    let velocity = velocity(spec.velocity.as_ref(), scope)?;
    let skin =
        body::skin(sheet.thickness * 0.5, spec.friction.as_ref(), spec.group.as_ref(), scope)?;
    let touching = vec![true; points.len()];
    let counts = vec![nx, ny];
    let nodes =
        NodeGroup { name: &spec.name, counts, points, masses, held, velocity, skin, touching };
    let first = builder.push_nodes(nodes, scope)?;
    builder.push_sheet(&sheet, first, &triangles)
}

/// The two triangles of a cell, counter-clockwise seen from where `along` turns to `across` that way.
fn cell(pattern: Pattern, i: usize, j: usize) -> [[[usize; 2]; 3]; 2] {
    let [a, b, c, d] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
    let rising = match pattern {
        Pattern::Uniform => true,
        Pattern::Alternating => (i + j).is_multiple_of(2),
        // Even rows lie half a step behind the next ones, so that the falling diagonal is the short one.
        Pattern::Equilateral => j % 2 == 1,
    };
    if rising { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}
