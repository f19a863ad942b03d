//! The scene file as written: what serde reads before anything is evaluated or looked up.
//!
//! Every struct refuses unknown fields. Nothing is flattened: serde would then lose both that check
//! and the place of a mistake. `scenes/README.md` describes the form to its writers.

use std::fmt;

use ron::value::RawValue;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::expression::{Formula, Triple};

mod deformable;
mod generators;
mod timed;

pub(super) use deformable::*;
pub(super) use generators::*;
pub(super) use timed::*;

/// The whole file. Entries stay text until the parameters are known, which also keeps their places.
#[derive(serde::Deserialize)]
#[serde(rename = "Scene", deny_unknown_fields)]
pub(super) struct File<'a> {
    #[serde(default)]
    pub(super) about: String,
    #[serde(default, borrow)]
    pub(super) gravity: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) dt: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) steps: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) contacts: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) watch: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) parameters: Parameters,
    #[serde(default, borrow)]
    pub(super) bodies: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) particles: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) joints: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) springs: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) triangles: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) tetrahedra: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) forces: Vec<&'a RawValue>,
}

/// `(margin: 0.01)`.
#[derive(serde::Deserialize)]
#[serde(rename = "contacts", deny_unknown_fields)]
pub(super) struct ContactsSpec {
    pub(super) margin: Option<Formula>,
    pub(super) points_max: Option<Formula>,
}

/// Parameters in the order of the file, since later ones may use earlier ones.
#[derive(Default)]
pub(super) struct Parameters(pub(super) Vec<(String, Formula)>);

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ParametersVisitor;
        impl<'de> Visitor<'de> for ParametersVisitor {
            type Value = Parameters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("parameters such as `{ \"links\": 20 }`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
                let mut pairs: Vec<(String, Formula)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Formula>()? {
                    if pairs.iter().any(|(known, _)| *known == name) {
                        return Err(de::Error::custom(format!("duplicate parameter `{name}`")));
                    }
                    pairs.push((name, value));
                }
                Ok(Parameters(pairs))
            }
        }
        deserializer.deserialize_map(ParametersVisitor)
    }
}

/// One entry of `bodies`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "body entry", rename_all = "snake_case")]
pub(super) enum BodyEntry {
    Body(Box<BodySpec>),
    Chain(Box<Chain>),
    Grid(Box<Grid>),
    Stack(Box<Stack>),
    Pyramid(Box<Pyramid>),
    Wall(Box<Wall>),
    Ring(Box<Ring>),
    Net(Box<Net>),
    Path(Box<Path>),
    Tree(Box<Tree>),
    Repeat(Box<Repeat>),
}

/// One body, or in a generator what its members share.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "body", deny_unknown_fields)]
pub(super) struct BodySpec {
    /// Empty in a generator, which names its members by itself.
    #[serde(default)]
    pub(super) name: String,
    pub(super) shape: ShapeSpec,
    /// [kg/m^3]; a dynamic body has this or a mass.
    pub(super) density: Option<Formula>,
    /// [kg]
    pub(super) mass: Option<Formula>,
    /// Moments about the centre of mass along the body axes [kg m^2]; those of the uniform shape
    /// unless given.
    pub(super) inertia: Option<Triple>,
    #[serde(default)]
    pub(super) motion: MotionSpec,
    /// From when to when a kinematic body moves [s]; always unless given.
    pub(super) during: Option<(Formula, Formula)>,
    /// Of the authored origin [m], not of the centre of mass.
    pub(super) position: Option<Triple>,
    pub(super) rotation: Option<RotationSpec>,
    /// Of the centre of mass [m/s].
    pub(super) velocity: Option<Triple>,
    /// In world axes [rad/s].
    pub(super) omega: Option<Triple>,
    pub(super) friction: Option<FrictionSpec>,
    pub(super) restitution: Option<Formula>,
    /// Bodies of one group do not touch.
    pub(super) group: Option<Formula>,
    pub(super) elasticity: Option<ElasticitySpec>,
}

/// Geometry around the authored origin: full extents, full lengths; axes along z.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ShapeSpec {
    Box { size: Triple },
    Sphere { radius: Formula },
    Capsule { radius: Formula, length: Formula },
    Cylinder { radius: Formula, length: Formula },
    Hull { points: Vec<Triple> },
    Compound { parts: Vec<PartSpec> },
    HalfSpace,
    Mesh(Box<MeshShape>),
    Tube(Box<TubeShape>),
}

/// Triangles, as a list or from a file beside the scene.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "mesh", deny_unknown_fields)]
pub(super) struct MeshShape {
    /// [m]
    pub(super) vertices: Option<Vec<Triple>>,
    pub(super) triangles: Option<Vec<(Formula, Formula, Formula)>>,
    /// `.obj`.
    pub(super) file: Option<String>,
    /// [m] per unit of the file.
    pub(super) scale: Option<Formula>,
    /// Four points that move the body [m]; its centre and points on its principal axes unless given.
    pub(super) control: Option<[Triple; 4]>,
}

/// Triangles between rings of vertices, each of which is where a formula of its indices says.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "tube", deny_unknown_fields)]
pub(super) struct TubeShape {
    /// Vertices of a ring, which `u` counts.
    pub(super) around: Formula,
    /// Rings, which `v` counts.
    pub(super) along: Formula,
    /// [m]
    pub(super) vertex: Triple,
    /// Whether the last ring is joined to the first, as in a torus; else both ends are closed by a face.
    #[serde(default)]
    pub(super) looped: bool,
    /// As of a mesh.
    pub(super) control: Option<[Triple; 4]>,
}

/// A shape somewhere in a compound.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "part", deny_unknown_fields)]
pub(super) struct PartSpec {
    pub(super) shape: ShapeSpec,
    pub(super) position: Option<Triple>,
    pub(super) rotation: Option<RotationSpec>,
}

/// A rotation. Degrees, because nobody writes a yaw of 37 degrees in radians.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "rotation", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum RotationSpec {
    /// About an axis through the origin, right-handed.
    AxisAngle { axis: Triple, degrees: Formula },
    /// x, y, z, w; of unit length.
    Quaternion(Formula, Formula, Formula, Formula),
    /// About the fixed x axis, then the fixed y axis, then the fixed z axis.
    EulerDegrees(Formula, Formula, Formula),
    /// One after the other, each about fixed axes.
    Sequence(Vec<RotationSpec>),
}

/// One coefficient, or static and dynamic.
#[derive(Clone, Debug)]
pub(super) struct FrictionSpec(pub(super) Formula, pub(super) Option<Formula>);

impl<'de> Deserialize<'de> for FrictionSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrTwo;
        impl<'de> Visitor<'de> for OneOrTwo {
            type Value = FrictionSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a coefficient of friction or (static, dynamic)")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<FrictionSpec, E> {
                Ok(FrictionSpec(Formula::Literal(value), None))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<FrictionSpec, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<FrictionSpec, E> {
                self.visit_f64(value as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<FrictionSpec, E> {
                Formula::parse(text).map(|number| FrictionSpec(number, None)).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<FrictionSpec, A::Error> {
                let missing = |i| de::Error::invalid_length(i, &"(static, dynamic)");
                let first = seq.next_element()?.ok_or_else(|| missing(0))?;
                let second = seq.next_element()?.ok_or_else(|| missing(1))?;
                Ok(FrictionSpec(first, Some(second)))
            }
        }
        deserializer.deserialize_any(OneOrTwo)
    }
}

/// Elastic constants of what is not rigid.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "elasticity", deny_unknown_fields)]
pub(super) struct ElasticitySpec {
    /// Young's modulus [Pa].
    pub(super) young: Formula,
    /// Between -1 and 0.5, both excluded: beyond, a solid gains energy by deforming.
    pub(super) poisson: Formula,
}

/// One entry of `particles`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "particle entry", rename_all = "snake_case")]
pub(super) enum ParticleEntry {
    Particle(ParticleSpec),
    Grid(Box<ParticleGrid>),
    Cloth(Box<Cloth>),
    Solid(Box<SolidSpec>),
    Mesh(Box<MeshSpec>),
    Repeat(Box<Repeat>),
}

/// One point mass; without a mass it is held.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "particle", deny_unknown_fields)]
pub(super) struct ParticleSpec {
    #[serde(default)]
    pub(super) name: String,
    pub(super) mass: Option<Formula>,
    pub(super) position: Triple,
    pub(super) velocity: Option<Triple>,
    /// Half the thickness of a cloth [m]; a particle without touches nothing.
    pub(super) radius: Option<Formula>,
    pub(super) friction: Option<FrictionSpec>,
    /// Particles and bodies of one group do not touch.
    pub(super) group: Option<Formula>,
}

/// One entry of `joints`, or the joint of a generator.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "joint entry", rename_all = "snake_case")]
pub(super) enum JointEntry {
    Ball(Box<JointSpec>),
    Hinge(Box<JointSpec>),
    Universal(Box<JointSpec>),
    Prismatic(Box<JointSpec>),
    Cylindrical(Box<JointSpec>),
    Fixed(Box<JointSpec>),
    Distance(Box<JointSpec>),
    Attach(Box<AttachSpec>),
    Repeat(Box<Repeat>),
}

/// Ball joints of all nodes of a group that are near a body at the start.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "attach", deny_unknown_fields)]
pub(super) struct AttachSpec {
    /// A group of particles, or its outer nodes as `beam.surface`.
    pub(super) mesh: String,
    /// A body.
    pub(super) to: String,
    /// Nodes further than this from its surface are left out [m].
    pub(super) within: Formula,
}

/// What any joint may say; which fields apply depends on its kind.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "joint", deny_unknown_fields)]
pub(super) struct JointSpec {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) a: String,
    #[serde(default)]
    pub(super) b: String,
    /// World point of both anchors at the initial pose [m].
    pub(super) at: Option<Triple>,
    /// In the coordinates of A's shape as written [m].
    pub(super) anchor_a: Option<Triple>,
    pub(super) anchor_b: Option<Triple>,
    /// World direction of A's x axis at the initial pose; need not be of unit length.
    pub(super) axis: Option<Triple>,
    /// World direction of B's y axis, for a universal joint.
    pub(super) axis_b: Option<Triple>,
    /// Rest rotation of the joint basis on A; of the initial pose unless given.
    pub(super) basis_a: Option<RotationSpec>,
    pub(super) basis_b: Option<RotationSpec>,
    /// [m]
    pub(super) length: Option<Formula>,
    /// [m/N]
    pub(super) compliance_linear: Option<Formula>,
    /// [rad/(N m)]
    pub(super) compliance_angular: Option<Formula>,
    /// Lower and upper bound of the free coordinate [rad or m], zero at the initial pose.
    pub(super) limit: Option<(Formula, Formula)>,
    pub(super) motor: Option<MotorSpec>,
    /// Of the free coordinate [N m s/rad or N s/m].
    pub(super) damping: Option<Formula>,
    /// [N]
    pub(super) break_force: Option<Formula>,
    /// [N m]
    pub(super) break_torque: Option<Formula>,
}

/// Drive of a hinge or slider.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "motor", deny_unknown_fields)]
pub(super) struct MotorSpec {
    /// Of B relative to A [rad/s or m/s].
    pub(super) speed: Formula,
    /// [N m or N]
    pub(super) max_effort: Formula,
}

/// One entry of `springs`, or the spring of a generator.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "spring entry", rename_all = "snake_case")]
pub(super) enum SpringEntry {
    Linear(Box<LinearSpring>),
    Angular(Box<AngularSpring>),
    VertexTriangle(Box<TieSpec>),
    Repeat(Box<Repeat>),
}

/// Holds a particle to a place in a triangle of particles or of bodies' origins.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "vertex_triangle", deny_unknown_fields)]
pub(super) struct TieSpec {
    #[serde(default)]
    pub(super) name: String,
    pub(super) a: String,
    pub(super) triangle: [String; 3],
    /// Shares of the corners; those of the place that is nearest to `a` at the start unless given.
    pub(super) weights: Option<Triple>,
    /// [N/m]
    pub(super) stiffness: Formula,
}

/// A spring that resists stretch; anchored at the authored origins unless told.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "linear", deny_unknown_fields)]
pub(super) struct LinearSpring {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) a: String,
    #[serde(default)]
    pub(super) b: String,
    pub(super) anchor_a: Option<Triple>,
    pub(super) anchor_b: Option<Triple>,
    /// [N/m]
    pub(super) stiffness: Formula,
    /// [N s/m]
    pub(super) damping: Option<Formula>,
    /// [m]; the initial length unless given.
    pub(super) rest_length: Option<Formula>,
}

/// A spring that resists relative rotation, at rest in the initial pose unless bases are given.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "angular", deny_unknown_fields)]
pub(super) struct AngularSpring {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) a: String,
    #[serde(default)]
    pub(super) b: String,
    pub(super) basis_a: Option<RotationSpec>,
    pub(super) basis_b: Option<RotationSpec>,
    /// [N m/rad]
    pub(super) stiffness: Formula,
    /// [N m s/rad]
    pub(super) damping: Option<Formula>,
}

/// One entry of `triangles`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "triangle entry", rename_all = "snake_case")]
pub(super) enum TriangleEntry {
    Triangle(Box<TriangleSpec>),
    Repeat(Box<Repeat>),
}

/// A triangle of thin elastic material, at rest in the initial pose.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "triangle", deny_unknown_fields)]
pub(super) struct TriangleSpec {
    #[serde(default)]
    pub(super) name: String,
    /// Particles, or bodies, whose authored origins are meant.
    pub(super) nodes: [String; 3],
    /// [m]
    pub(super) thickness: Formula,
    pub(super) membrane: MembraneSpec,
    /// Resists being folded along the edges that it shares with others that do.
    pub(super) bending: Option<BendingSpec>,
    /// Viscosity in its plane [Pa s].
    pub(super) damping: Option<Formula>,
    /// [kg/m^3]; adds to the masses of nodes that are particles and not held.
    pub(super) density: Option<Formula>,
}

/// One entry of `forces`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "force entry", rename_all = "snake_case")]
pub(super) enum ForceEntry {
    Force(Box<ForceSpec>),
    Torque(Box<TorqueSpec>),
    Effort(Box<EffortSpec>),
    Repeat(Box<Repeat>),
}

/// One entry of `tetrahedra`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "tetrahedron entry", rename_all = "snake_case")]
pub(super) enum TetrahedronEntry {
    Tetrahedron(Box<TetrahedronSpec>),
    Repeat(Box<Repeat>),
}
