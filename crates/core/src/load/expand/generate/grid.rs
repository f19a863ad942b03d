//! Bodies or particles on a lattice, joined to their neighbours.

use super::{Group, Meeting, Template, held::Holds, link, moves, stretch};
use crate::{
    load::{
        author, body,
        error::{At, Result},
        expand::{Builder, full_name},
        expression::{Scope, Triple, vector},
        names::{Movable, member_name},
    },
    math::Vec3,
    scene::{Endpoint, Particle, Spring, SpringKind},
};

/// The numbers of members along x, y and z.
pub(super) fn counts(triple: &Triple, scope: &Scope) -> Result<[usize; 3]> {
    let [x, y, z] = triple;
    Ok([x.whole(scope, 1)?, y.whole(scope, 1)?, z.whole(scope, 1)?])
}

/// A lattice whose last index runs fastest.
struct Lattice {
    counts: [usize; 3],
    start: Vec3,
    step: Vec3,
    held: Holds,
}

impl Lattice {
    fn new(
        counts: [usize; 3],
        [start, step]: [&Triple; 2],
        held: &[author::Held],
        scope: &Scope,
    ) -> Result<Self> {
        Ok(Self {
            counts,
            start: vector(start, scope).at("start")?,
            step: vector(step, scope).at("step")?,
            held: Holds::new(held, Some(counts), scope)?,
        })
    }

    /// All indices in order of creation.
    fn members(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.counts;
        (0..nx).flat_map(move |i| (0..ny).flat_map(move |j| (0..nz).map(move |k| [i, j, k])))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.counts[1] + j) * self.counts[2] + k
    }

    fn position(&self, member: [usize; 3]) -> Vec3 {
        self.start + self.step.component_mul(&Vec3::from(member.map(|i| i as f64)))
    }

    fn is_held(&self, member: [usize; 3]) -> bool {
        self.held.holds(member, &self.position(member))
    }

    /// Index of the member at an offset, where there is one.
    fn neighbour(&self, member: [usize; 3], offset: [isize; 3]) -> Option<usize> {
        let mut indices = [0; 3];
        for axis in 0..3 {
            indices[axis] = member[axis].checked_add_signed(offset[axis])?;
            if indices[axis] >= self.counts[axis] {
                return None;
            }
        }
        Some(self.index(indices))
    }
}

/// Adds the bodies, each with its joints and springs to the members before it along x, y and z.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Grid,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(3)?;
    let counts = counts(&spec.counts, scope).at("counts")?;
    builder.reserve("bodies", counts.iter().map(|&n| n as f64).product())?;
    let lattice = Lattice::new(counts, [&spec.start, &spec.step], &spec.held, scope)?;
    let template = Template::new(&spec.body, scope, 3).at("body")?;
    let group = Group::begin(builder, &spec.name, counts.to_vec(), scope)?;
    for member in lattice.members() {
        let mut blank = template.blank(scope, &member).at("body")?;
        if lattice.is_held(member) {
            blank = blank.held();
        }
        let body = group.add(builder, &blank, lattice.position(member));
        for offset in [[-1, 0, 0], [0, -1, 0], [0, 0, -1]] {
            let Some(before) = lattice.neighbour(member, offset) else { continue };
            let ends = [group.member(before), body];
            let scope = scope.indexed(&member);
            link(builder, spec.joint.as_ref(), ends, Meeting::HalfWay, &scope)?;
            stretch(builder, spec.spring.as_ref(), ends, &scope)?;
        }
    }
    Ok(())
}

/// Neighbours before a member that springs of either kind lead to.
const STRUCTURAL: [[isize; 3]; 3] = [[-1, 0, 0], [0, -1, 0], [0, 0, -1]];
const SHEAR: [[isize; 3]; 6] =
    [[-1, -1, 0], [-1, 1, 0], [-1, 0, -1], [-1, 0, 1], [0, -1, -1], [0, -1, 1]];

/// Adds the particles, then their springs, structural ones first.
pub(in crate::load) fn add_particles(
    builder: &mut Builder,
    spec: &author::ParticleGrid,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(3)?;
    let counts = counts(&spec.counts, scope).at("counts")?;
    builder.reserve("particles", counts.iter().map(|&n| n as f64).product())?;
    let lattice = Lattice::new(counts, [&spec.start, &spec.step], &spec.held, scope)?;
    let name = full_name(&spec.name, scope).at("name")?;
    let first = builder.scene.particles.len();
    builder
        .names
        .insert_group(name.clone(), Movable::Particle, first, counts.to_vec())
        .at("name")?;
    for (index, member) in lattice.members().enumerate() {
        let scope = scope.indexed(&member);
        let mut mass = spec.mass.positive(&scope).at("mass")?;
        let mut velocity = match &spec.velocity {
            Some(velocity) => vector(velocity, &scope).at("velocity")?,
            None => Vec3::zeros(),
        };
        if lattice.is_held(member) {
            (mass, velocity) = (0.0, Vec3::zeros());
        }
        builder.scene.particles.push(Particle {
            name: member_name(&name, &counts, index),
            mass,
            position: lattice.position(member),
            velocity,
            touch: body::skin_or_none(
                spec.radius.as_ref(),
                spec.friction.as_ref(),
                spec.group.as_ref(),
                &scope,
            )?,
        });
    }
    let kinds: [(_, &[[isize; 3]], _); 2] =
        [(&spec.structural, &STRUCTURAL, "structural"), (&spec.shear, &SHEAR, "shear")];
    for (stiffness, offsets, field) in kinds {
        let Some(stiffness) = stiffness else { continue };
        let stiffness = stiffness.non_negative(scope).at(field)?;
        connect(builder, &lattice, first, stiffness, offsets)?;
    }
    Ok(())
}

/// Springs from every member to those before it at the given offsets, at rest where they start.
fn connect(
    builder: &mut Builder,
    lattice: &Lattice,
    first: usize,
    stiffness: f64,
    offsets: &[[isize; 3]],
) -> Result<()> {
    for member in lattice.members() {
        for &offset in offsets {
            let Some(before) = lattice.neighbour(member, offset) else { continue };
            let ends = [before, lattice.index(member)].map(|i| Endpoint::Particle(first + i));
            if !moves(builder, ends) {
                continue;
            }
            let span = lattice.step.component_mul(&Vec3::from(offset.map(|i| i as f64)));
            let kind = SpringKind::Linear {
                anchor_a: Vec3::zeros(),
                anchor_b: Vec3::zeros(),
                rest_length: span.norm(),
            };
            builder.push_spring(Spring {
                name: String::new(),
                kind,
                a: ends[0],
                b: ends[1],
                stiffness,
                damping: 0.0,
            })?;
        }
    }
    Ok(())
}
