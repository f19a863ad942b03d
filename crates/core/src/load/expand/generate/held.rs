//! Which members of a lattice or nodes of a mesh are held.

use crate::{
    load::{
        author,
        error::{At, Result, SceneError},
        expression::{Scope, vector},
    },
    math::Vec3,
};

/// What `held` of a generator says.
pub(super) struct Holds(Vec<Rule>);

enum Rule {
    /// Where every index given equals the member's.
    Indices([Option<usize>; 3]),
    /// Where its place is in a box along the axes, by centre and half the size [m].
    Box(Vec3, Vec3),
    /// Where its place is in a ball [m].
    Sphere(Vec3, f64),
}

impl Holds {
    /// Of a lattice with so many members along its axes; of a mesh that has no rows.
    pub(super) fn new(
        held: &[author::Held],
        counts: Option<[usize; 3]>,
        scope: &Scope,
    ) -> Result<Self> {
        let mut rules = Vec::new();
        for (k, entry) in held.iter().enumerate() {
            rules.extend(rules_of(entry, counts, scope).at_index("held", k)?);
        }
        Ok(Self(rules))
    }

    /// Whether a member with these indices, at this place [m], is held.
    pub(super) fn holds(&self, member: [usize; 3], place: &Vec3) -> bool {
        self.0.iter().any(|rule| match rule {
            Rule::Indices(wanted) => {
                wanted.iter().zip(member).all(|(wanted, index)| wanted.is_none_or(|i| i == index))
            }
            Rule::Box(centre, half) => {
                (place - centre).iter().zip(half).all(|(off, half)| off.abs() <= *half)
            }
            Rule::Sphere(centre, radius) => (place - centre).norm() <= *radius,
        })
    }
}

/// The rules that one word of `held` stands for.
fn rules_of(entry: &author::Held, counts: Option<[usize; 3]>, scope: &Scope) -> Result<Vec<Rule>> {
    use author::{Held, Region};
    let counts = || {
        let message = "expected `inside(box(centre: .., size: ..))`, this mesh has no rows";
        counts.ok_or_else(|| SceneError::new(message))
    };
    let plane = |axis: usize, last: bool| {
        let mut rule = [None; 3];
        rule[axis] = Some(if last { counts()?[axis] - 1 } else { counts().map(|_| 0)? });
        Ok(vec![Rule::Indices(rule)])
    };
    match entry {
        Held::FirstX => plane(0, false),
        Held::LastX => plane(0, true),
        Held::FirstY => plane(1, false),
        Held::LastY => plane(1, true),
        Held::FirstZ => plane(2, false),
        Held::LastZ => plane(2, true),
        // Bits choose the end along each axis; a flat lattice only repeats some of the eight.
        Held::Corners => {
            let last = counts()?.map(|n| n - 1);
            let corner = |bits: usize| {
                let end = |axis: usize| if bits >> axis & 1 == 1 { last[axis] } else { 0 };
                Rule::Indices([0, 1, 2].map(|axis| Some(end(axis))))
            };
            Ok((0..8).map(corner).collect())
        }
        Held::Member(i, j, k) => {
            let last = counts()?.map(|n| n - 1);
            let member = [i.whole(scope, 0)?, j.whole(scope, 0)?, k.whole(scope, 0)?];
            if member.iter().zip(last).any(|(i, last)| *i > last) {
                let message = format!("expected a member up to {last:?}, found {member:?}");
                return Err(SceneError::new(message));
            }
            Ok(vec![Rule::Indices(member.map(Some))])
        }
        Held::Inside(Region::Box { centre, size }) => {
            let (centre, size) =
                (vector(centre, scope).at("centre")?, vector(size, scope).at("size")?);
            Ok(vec![Rule::Box(centre, size * 0.5)])
        }
        Held::Inside(Region::Sphere { centre, radius }) => {
            let centre = vector(centre, scope).at("centre")?;
            Ok(vec![Rule::Sphere(centre, radius.positive(scope).at("radius")?)])
        }
    }
}
