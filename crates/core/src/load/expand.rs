//! Entries one after the other into flat lists. Order is that of the file, so equal files give equal scenes.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
};

mod attach;
mod deformable;
mod fabric;
mod generate;

use super::{
    author::{self, BodyEntry, ForceEntry, JointEntry, ParticleEntry, SpringEntry},
    body::{self, Blank},
    error::{At, Result, SceneError},
    expression::{Formula, Scope, split_name, vector},
    names::{Movable, Names, canonical},
};
use crate::{
    energy::{DampingEnergy, ENDS_MAX},
    math::Vec3,
    scene::{Anchor, Body, Endpoint, Joint, MaterialDamping, Particle, Scene, Spring},
};

use deformable::{Matter, NodeGroup, SolidWords, outer_nodes, place, velocity};
use fabric::{Edge, Fabric, SheetWords};

/// Most elements of one kind that a scene may have; some 10 GiB of bodies.
pub(super) const ELEMENTS_MAX: usize = 20_000_000;

/// A scene being expanded.
pub(super) struct Builder<'a> {
    pub(super) scene: &'a mut Scene,
    pub(super) names: Names,
    /// Centre of mass in authored coordinates of the bodies where it is not their origin [m].
    pub(super) centres: BTreeMap<usize, Vec3>,
    elements_max: usize,
    /// Where files are that the scene names.
    folder: Option<PathBuf>,
    /// What is done that its writer may not expect.
    pub(super) notes: Vec<String>,
    // Only to find duplicates: nothing refers to a joint, a spring or a triangle.
    joint_names: HashSet<String>,
    spring_names: HashSet<String>,
    triangle_names: HashSet<String>,
    pub(super) force_names: HashSet<String>,
    /// Edges of triangles that resist bending, by their ends in ascending order.
    edges: HashMap<[Endpoint; 2], Edge>,
}

/// Where a generator puts a joint that has no anchors of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meeting {
    /// Half-way between the origins of its ends.
    HalfWay,
    /// At a point of the world [m].
    Point(Vec3),
    /// At these points of its ends, each in the axes of its own body [m].
    Anchors([Vec3; 2]),
}

impl<'a> Builder<'a> {
    pub(super) fn new(scene: &'a mut Scene, elements_max: usize, folder: Option<PathBuf>) -> Self {
        Self {
            scene,
            names: Names::default(),
            centres: BTreeMap::new(),
            elements_max,
            folder,
            notes: vec![],
            joint_names: HashSet::new(),
            spring_names: HashSet::new(),
            triangle_names: HashSet::new(),
            force_names: HashSet::new(),
            edges: HashMap::new(),
        }
    }

    /// Refuses a generator before it allocates, telling how much it would make.
    pub(super) fn reserve(&self, what: &str, made: f64) -> Result<()> {
        let present = match what {
            "bodies" => self.scene.bodies.len(),
            "particles" => self.scene.particles.len(),
            "joints" => self.scene.joints.len(),
            "springs" => self.scene.springs.len(),
            "tetrahedra" => self.scene.tetrahedra.len(),
            "forces" => self.scene.forces.len(),
            _ => self.scene.triangles.len(),
        };
        if present as f64 + made <= self.elements_max as f64 {
            return Ok(());
        }
        let most = self.elements_max;
        Err(SceneError::new(format!(
            "would make {made} {what} beside {present}, a scene holds at most {most}"
        )))
    }

    /// One entry of `bodies`; the index path of an error is the caller's.
    pub(super) fn add_body(&mut self, entry: &BodyEntry, scope: &Scope) -> Result<()> {
        match entry {
            BodyEntry::Body(spec) => self.add_single_body(spec, scope),
            BodyEntry::Chain(spec) => generate::chain::add(self, spec, scope).at("chain"),
            BodyEntry::Grid(spec) => generate::grid::add(self, spec, scope).at("grid"),
            BodyEntry::Stack(spec) => generate::rows::stack(self, spec, scope).at("stack"),
            BodyEntry::Pyramid(spec) => generate::rows::pyramid(self, spec, scope).at("pyramid"),
            BodyEntry::Wall(spec) => generate::rows::wall(self, spec, scope).at("wall"),
            BodyEntry::Ring(spec) => generate::ring::add(self, spec, scope).at("ring"),
            BodyEntry::Net(spec) => generate::net::add(self, spec, scope).at("net"),
            BodyEntry::Path(spec) => generate::path::add(self, spec, scope).at("path"),
            BodyEntry::Tree(spec) => generate::tree::add(self, spec, scope).at("tree"),
            BodyEntry::Repeat(spec) => generate::repeat::add(self, spec, scope).at("repeat"),
        }
    }

    fn add_single_body(&mut self, spec: &author::BodySpec, scope: &Scope) -> Result<()> {
        self.reserve("bodies", 1.0)?;
        let name = full_name(&spec.name, scope).at("name")?;
        let blank = body::blank(spec, scope)?;
        let origin = match &spec.position {
            Some(position) => vector(position, scope).at("position")?,
            None => Vec3::zeros(),
        };
        let path = self.path(spec, &blank, origin, scope)?;
        let index = self.push_body(&blank, name.clone(), origin);
        if let Some(path) = path {
            self.drive(index, path);
        }
        self.names.insert_one(name, Endpoint::Body(index)).at("name")
    }

    /// Appends a body with its authored origin at `origin` [m]; returns its index.
    pub(super) fn push_body(&mut self, blank: &Blank, name: String, origin: Vec3) -> usize {
        let index = self.scene.bodies.len();
        if blank.centre != Vec3::zeros() {
            self.centres.insert(index, blank.centre);
        }
        let body: Body = blank.placed(name, origin);
        self.scene.bodies.push(body);
        index
    }

    /// One entry of `particles`.
    pub(super) fn add_particle(&mut self, entry: &ParticleEntry, scope: &Scope) -> Result<()> {
        match entry {
            ParticleEntry::Particle(spec) => self.add_single_particle(spec, scope),
            ParticleEntry::Grid(spec) => {
                generate::grid::add_particles(self, spec, scope).at("grid")
            }
            ParticleEntry::Cloth(spec) => generate::cloth::add(self, spec, scope).at("cloth"),
            ParticleEntry::Solid(spec) => generate::solid::add(self, spec, scope).at("solid"),
            ParticleEntry::Mesh(spec) => generate::mesh::add(self, spec, scope).at("mesh"),
            ParticleEntry::Repeat(spec) => generate::repeat::add(self, spec, scope).at("repeat"),
        }
    }

    fn add_single_particle(&mut self, spec: &author::ParticleSpec, scope: &Scope) -> Result<()> {
        self.reserve("particles", 1.0)?;
        let name = full_name(&spec.name, scope).at("name")?;
        let particle = Particle {
            name: name.clone(),
            mass: match &spec.mass {
                Some(mass) => mass.positive(scope).at("mass")?,
                None => 0.0,
            },
            position: vector(&spec.position, scope).at("position")?,
            velocity: match &spec.velocity {
                Some(_) if spec.mass.is_none() => {
                    let message = "a particle without mass is held and does not move";
                    return Err(SceneError::new(message)).at("velocity");
                }
                Some(velocity) => vector(velocity, scope).at("velocity")?,
                None => Vec3::zeros(),
            },
            touch: body::skin_or_none(
                spec.radius.as_ref(),
                spec.friction.as_ref(),
                spec.group.as_ref(),
                scope,
            )?,
        };
        let index = self.scene.particles.len();
        self.scene.particles.push(particle);
        self.names.insert_one(name, Movable::Particle.endpoint(index)).at("name")
    }

    /// One entry of `joints`. The joint is evaluated before its name is taken: an unknown body is the
    /// likelier mistake.
    pub(super) fn add_joint(&mut self, entry: &JointEntry, scope: &Scope) -> Result<()> {
        let name = match entry {
            JointEntry::Repeat(spec) => {
                return generate::repeat::add(self, spec, scope).at("repeat");
            }
            JointEntry::Attach(spec) => return self.attach(spec, scope).at("attach"),
            JointEntry::Ball(spec)
            | JointEntry::Hinge(spec)
            | JointEntry::Universal(spec)
            | JointEntry::Prismatic(spec)
            | JointEntry::Cylindrical(spec)
            | JointEntry::Fixed(spec)
            | JointEntry::Distance(spec) => full_name(&spec.name, scope).at("name")?,
        };
        let joint = self.joint(entry, scope)?;
        unused(&mut self.joint_names, &name).at("name")?;
        self.push_joint(Joint { name, ..joint })
    }

    /// Appends a joint, also one of a generator, whose number was not known beforehand.
    pub(super) fn push_joint(&mut self, joint: Joint) -> Result<()> {
        self.reserve("joints", 1.0)?;
        self.scene.joints.push(joint);
        Ok(())
    }

    /// One entry of `springs`.
    pub(super) fn add_spring(&mut self, entry: &SpringEntry, scope: &Scope) -> Result<()> {
        let name = match entry {
            SpringEntry::Repeat(spec) => {
                return generate::repeat::add(self, spec, scope).at("repeat");
            }
            SpringEntry::VertexTriangle(spec) => {
                return self.tie(spec, scope).at("vertex_triangle");
            }
            SpringEntry::Linear(spec) => &spec.name,
            SpringEntry::Angular(spec) => &spec.name,
        };
        let name = full_name(name, scope).at("name")?;
        let spring = self.spring(entry, scope)?;
        unused(&mut self.spring_names, &name).at("name")?;
        self.push_spring(Spring { name, ..spring })
    }

    /// Appends a spring.
    pub(super) fn push_spring(&mut self, spring: Spring) -> Result<()> {
        self.reserve("springs", 1.0)?;
        self.scene.springs.push(spring);
        Ok(())
    }

    /// Appends the damping of an element, none of which is told where its numbers are out of range.
    fn push_damping(
        &mut self,
        ends: [Anchor; ENDS_MAX],
        damping: Option<DampingEnergy>,
    ) -> Result<()> {
        let energy = damping.ok_or_else(out_of_range).at("damping")?;
        self.scene.material_damping.push(MaterialDamping { ends, energy });
        Ok(())
    }

    /// One entry of `forces`.
    pub(super) fn add_force(&mut self, entry: &ForceEntry, scope: &Scope) -> Result<()> {
        match entry {
            ForceEntry::Repeat(spec) => generate::repeat::add(self, spec, scope).at("repeat"),
            _ => self.add_single_force(entry, scope),
        }
    }
}

/// A name with its brackets evaluated: `link[i]` becomes `link[3]`.
pub(super) fn full_name(name: &str, scope: &Scope) -> Result<String> {
    let (base, brackets) = split_name(name, scope)?;
    Ok(canonical(&base, &brackets))
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

/// A viscosity that is given [Pa s], or zero.
fn viscosity(given: Option<&Formula>, scope: &Scope) -> Result<f64> {
    given.map_or(Ok(0.0), |damping| damping.non_negative(scope)).at("damping")
}

/// Lengths at rest over those at the start, as given or one.
fn rest_scale(given: Option<&Formula>, scope: &Scope) -> Result<f64> {
    given.map_or(Ok(1.0), |scale| scale.positive(scope)).at("rest_scale")
}

fn out_of_range() -> SceneError {
    SceneError::new("its numbers are too large or too small to be combined")
}

pub(super) fn unused(names: &mut HashSet<String>, name: &str) -> Result<()> {
    if name.is_empty() || names.insert(name.to_owned()) {
        return Ok(());
    }
    let message = format!("duplicate name `{name}`; inside `repeat` write `{name}[i]`");
    Err(SceneError::new(message))
}
