//! Generators: entries that stand for many bodies together with their joints and springs.

pub(super) mod chain;
pub(super) mod cloth;
pub(super) mod grid;
mod held;
pub(super) mod mesh;
pub(super) mod net;
pub(super) mod path;
pub(super) mod repeat;
pub(super) mod ring;
pub(super) mod rows;
pub(super) mod solid;
pub(super) mod tree;

use super::{Builder, Meeting, full_name};
use crate::{
    load::{
        author,
        body::{self, Blank},
        error::{At, Result, SceneError},
        expression::{INDICES, Scope},
        names::{Movable, member_name},
    },
    math::Vec3,
    scene::{Endpoint, Joint, JointKind, Motion},
};

/// The members' common body, evaluated once unless it depends on the index.
struct Template<'a> {
    spec: &'a author::BodySpec,
    constant: Option<Blank>,
}

impl<'a> Template<'a> {
    /// Evaluates the body for a first member, whose indices are all zero.
    fn new(spec: &'a author::BodySpec, scope: &Scope, indices: usize) -> Result<Self> {
        if !spec.name.is_empty() {
            return Err(SceneError::new("the generator names its members")).at("name");
        }
        if spec.position.is_some() {
            return Err(SceneError::new("the generator places its members")).at("position");
        }
        if matches!(spec.motion, author::MotionSpec::Path { .. }) {
            return Err(SceneError::new("the generator places its members")).at("motion");
        }
        if spec.during.is_some() {
            let message = "members of a generator move always or never; use `repeat`";
            return Err(SceneError::new(message)).at("during");
        }
        let scope = scope.indexed(&[0; INDICES.len()][..indices]);
        let blank = body::blank(spec, &scope)?;
        Ok(Self { spec, constant: (!scope.index_used()).then_some(blank) })
    }

    /// The body of the member with these indices.
    fn blank(&self, scope: &Scope, indices: &[usize]) -> Result<Blank> {
        match &self.constant {
            Some(blank) => Ok(blank.clone()),
            None => body::blank(self.spec, &scope.indexed(indices)),
        }
    }
}

/// A group of bodies being made one after the other.
struct Group {
    name: String,
    first: usize,
    counts: Vec<usize>,
}

impl Group {
    /// Takes the group's name and makes room for its members.
    fn begin(builder: &mut Builder, name: &str, counts: Vec<usize>, scope: &Scope) -> Result<Self> {
        let name = full_name(name, scope).at("name")?;
        let total = counts.iter().product();
        let first = builder.scene.bodies.len();
        builder
            .names
            .insert_group(name.clone(), Movable::Body, first, counts.clone())
            .at("name")?;
        builder.scene.bodies.reserve(total);
        Ok(Self { name, first, counts })
    }

    /// Adds the next member with its authored origin at `origin` [m].
    fn add(&self, builder: &mut Builder, blank: &Blank, origin: Vec3) -> Endpoint {
        let member = builder.scene.bodies.len() - self.first;
        let name = member_name(&self.name, &self.counts, member);
        Endpoint::Body(builder.push_body(blank, name, origin))
    }

    /// A member by its place in the order of creation.
    fn member(&self, index: usize) -> Endpoint {
        Endpoint::Body(self.first + index)
    }
}

/// Joins two members as a generator says.
fn link(
    builder: &mut Builder,
    joint: Option<&author::JointEntry>,
    ends: [Endpoint; 2],
    meeting: Meeting,
    scope: &Scope,
) -> Result<()> {
    let Some(entry) = joint.filter(|_| moves(builder, ends)) else { return Ok(()) };
    let joint = builder.joint_between(entry, ends, meeting, scope).at("joint")?;
    builder.push_joint(joint)
}

/// A hard ball joint at a world point [m].
fn ball(builder: &mut Builder, [a, b]: [Endpoint; 2], at: Vec3) -> Result<()> {
    let [anchor_a, anchor_b] = [a, b].map(|end| builder.local(end, &at));
    builder.push_joint(Joint::new(JointKind::Ball, a, b).anchored(anchor_a, anchor_b))
}

/// Whether a connection of these ends can do anything: held neighbours need none.
fn moves(builder: &Builder, ends: [Endpoint; 2]) -> bool {
    ends.into_iter().any(|end| match end {
        Endpoint::World => false,
        Endpoint::Body(i) => builder.scene.bodies[i].motion != Motion::Static,
        Endpoint::Particle(_) => builder.scene.is_dynamic(end),
    })
}

/// Connects two members by a generator's spring. One without stiffness is left out, so that a
/// parameter can switch the springs off.
fn stretch(
    builder: &mut Builder,
    spring: Option<&author::SpringEntry>,
    ends: [Endpoint; 2],
    scope: &Scope,
) -> Result<()> {
    let Some(entry) = spring.filter(|_| moves(builder, ends)) else { return Ok(()) };
    let spring = builder.spring_between(entry, ends, scope).at("spring")?;
    let idle = spring.stiffness == 0.0 && spring.damping == 0.0;
    if idle { Ok(()) } else { builder.push_spring(spring) }
}

/// How many bodies an entry makes, before any of them is made.
fn bodies_made(entry: &author::BodyEntry, scope: &Scope) -> Result<f64> {
    use author::BodyEntry;
    Ok(match entry {
        BodyEntry::Body(_) => 1.0,
        BodyEntry::Chain(spec) => spec.count.whole(scope, 1)? as f64,
        BodyEntry::Stack(spec) => spec.count.whole(scope, 1)? as f64,
        BodyEntry::Ring(spec) => spec.count.whole(scope, 1)? as f64,
        BodyEntry::Grid(spec) => {
            grid::counts(&spec.counts, scope)?.iter().map(|&n| n as f64).product()
        }
        BodyEntry::Wall(spec) => {
            spec.rows.whole(scope, 1)? as f64 * spec.columns.whole(scope, 1)? as f64
        }
        BodyEntry::Pyramid(spec) => {
            let n = spec.n.whole(scope, 1)? as f64;
            n * (n + 1.0) / 2.0
        }
        BodyEntry::Net(spec) => {
            let n = spec.n.whole(scope, 2)? as f64;
            3.0 * n * n - 2.0 * n
        }
        BodyEntry::Path(spec) => spec.count.whole(scope, 1)? as f64,
        BodyEntry::Tree(spec) => tree::members(spec, scope)?,
        BodyEntry::Repeat(spec) => repeat::made(spec, scope)?.bodies,
    })
}
