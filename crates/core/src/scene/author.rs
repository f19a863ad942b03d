//! The scene file as written: what serde reads before anything is evaluated or looked up.
//!
//! Every struct refuses unknown fields. Nothing is flattened: serde would then lose both that check
//! and the place of a mistake. `scenes/README.md` describes the form to its writers.

use std::fmt;

use ron::value::RawValue;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::expression::{Number, Triple};
pub(super) use super::generators::*;

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
}

/// `(margin: 0.01)`.
#[derive(serde::Deserialize)]
#[serde(rename = "contacts", deny_unknown_fields)]
pub(super) struct Contacts {
    pub(super) margin: Option<Number>,
    pub(super) points_max: Option<Number>,
}

/// Parameters in the order of the file, since later ones may use earlier ones.
#[derive(Default)]
pub(super) struct Parameters(pub(super) Vec<(String, Number)>);

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Parameters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("parameters such as `{ \"links\": 20 }`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
                let mut pairs: Vec<(String, Number)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Number>()? {
                    if pairs.iter().any(|(known, _)| *known == name) {
                        return Err(de::Error::custom(format!("duplicate parameter `{name}`")));
                    }
                    pairs.push((name, value));
                }
                Ok(Parameters(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// One entry of `bodies`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "body entry", rename_all = "snake_case")]
pub(super) enum BodyEntry {
    Body(Box<Body>),
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
pub(super) struct Body {
    /// Empty in a generator, which names its members by itself.
    #[serde(default)]
    pub(super) name: String,
    pub(super) shape: Shape,
    /// [kg/m^3]; a dynamic body has this or a mass.
    pub(super) density: Option<Number>,
    /// [kg]
    pub(super) mass: Option<Number>,
    /// Moments about the centre of mass along the body axes [kg m^2]; those of the uniform shape
    /// unless given.
    pub(super) inertia: Option<Triple>,
    #[serde(default)]
    pub(super) motion: Motion,
    /// Of the authored origin [m], not of the centre of mass.
    pub(super) position: Option<Triple>,
    pub(super) rotation: Option<Rotation>,
    /// Of the centre of mass [m/s].
    pub(super) velocity: Option<Triple>,
    /// In world axes [rad/s].
    pub(super) omega: Option<Triple>,
    pub(super) friction: Option<Friction>,
    pub(super) restitution: Option<Number>,
    /// Bodies of one group do not touch.
    pub(super) group: Option<Number>,
    pub(super) elasticity: Option<Elasticity>,
}

/// Geometry around the authored origin: full extents, full lengths; axes along z.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Shape {
    Box { size: Triple },
    Sphere { radius: Number },
    Capsule { radius: Number, length: Number },
    Cylinder { radius: Number, length: Number },
    Hull { points: Vec<Triple> },
    Compound { parts: Vec<Part> },
    HalfSpace,
    Mesh { vertices: Vec<Triple>, triangles: Vec<(Number, Number, Number)> },
}

/// A shape somewhere in a compound.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "part", deny_unknown_fields)]
pub(super) struct Part {
    pub(super) shape: Shape,
    pub(super) position: Option<Triple>,
    pub(super) rotation: Option<Rotation>,
}

/// Whether and how a body moves.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(rename = "motion", rename_all = "snake_case")]
pub(super) enum Motion {
    #[default]
    Dynamic,
    Static,
    Kinematic,
}

/// A rotation. Degrees, because nobody writes a yaw of 37 degrees in radians.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "rotation", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Rotation {
    /// About an axis through the origin, right-handed.
    AxisAngle { axis: Triple, degrees: Number },
    /// x, y, z, w; of unit length.
    Quaternion(Number, Number, Number, Number),
    /// About the fixed x axis, then the fixed y axis, then the fixed z axis.
    EulerDegrees(Number, Number, Number),
    /// One after the other, each about fixed axes.
    Sequence(Vec<Rotation>),
}

/// One coefficient, or static and dynamic.
#[derive(Clone, Debug)]
pub(super) struct Friction(pub(super) Number, pub(super) Option<Number>);

impl<'de> Deserialize<'de> for Friction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrTwo;
        impl<'de> Visitor<'de> for OneOrTwo {
            type Value = Friction;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a coefficient of friction or (static, dynamic)")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Friction, E> {
                Ok(Friction(Number::Literal(value), None))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Friction, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Friction, E> {
                self.visit_f64(value as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Friction, E> {
                Number::parse(text).map(|number| Friction(number, None)).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Friction, A::Error> {
                let missing = |i| de::Error::invalid_length(i, &"(static, dynamic)");
                let first = seq.next_element()?.ok_or_else(|| missing(0))?;
                let second = seq.next_element()?.ok_or_else(|| missing(1))?;
                Ok(Friction(first, Some(second)))
            }
        }
        deserializer.deserialize_any(OneOrTwo)
    }
}

/// Elastic constants of what is not rigid.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "elasticity", deny_unknown_fields)]
pub(super) struct Elasticity {
    /// Young's modulus [Pa].
    pub(super) young: Number,
    /// Between -1 and 0.5, both excluded: beyond, a solid gains energy by deforming.
    pub(super) poisson: Number,
}

/// One entry of `particles`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "particle entry", rename_all = "snake_case")]
pub(super) enum ParticleEntry {
    Particle(Particle),
    Grid(Box<ParticleGrid>),
    Repeat(Box<Repeat>),
}

/// One point mass; without a mass it is held.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "particle", deny_unknown_fields)]
pub(super) struct Particle {
    #[serde(default)]
    pub(super) name: String,
    pub(super) mass: Option<Number>,
    pub(super) position: Triple,
    pub(super) velocity: Option<Triple>,
}

/// One entry of `joints`, or the joint of a generator.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "joint entry", rename_all = "snake_case")]
pub(super) enum JointEntry {
    Ball(Box<Joint>),
    Hinge(Box<Joint>),
    Universal(Box<Joint>),
    Prismatic(Box<Joint>),
    Cylindrical(Box<Joint>),
    Fixed(Box<Joint>),
    Distance(Box<Joint>),
    Repeat(Box<Repeat>),
}

/// What any joint may say; which fields apply depends on its kind.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "joint", deny_unknown_fields)]
pub(super) struct Joint {
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
    pub(super) basis_a: Option<Rotation>,
    pub(super) basis_b: Option<Rotation>,
    /// [m]
    pub(super) length: Option<Number>,
    /// [m/N]
    pub(super) compliance_linear: Option<Number>,
    /// [rad/(N m)]
    pub(super) compliance_angular: Option<Number>,
    /// Lower and upper bound of the free coordinate [rad or m], zero at the initial pose.
    pub(super) limit: Option<(Number, Number)>,
    pub(super) motor: Option<Motor>,
    /// [N]
    pub(super) break_force: Option<Number>,
    /// [N m]
    pub(super) break_torque: Option<Number>,
}

/// Drive of a hinge or slider.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "motor", deny_unknown_fields)]
pub(super) struct Motor {
    /// Of B relative to A [rad/s or m/s].
    pub(super) speed: Number,
    /// [N m or N]
    pub(super) max_effort: Number,
}

/// One entry of `springs`, or the spring of a generator.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "spring entry", rename_all = "snake_case")]
pub(super) enum SpringEntry {
    Linear(Box<LinearSpring>),
    Angular(Box<AngularSpring>),
    Repeat(Box<Repeat>),
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
    pub(super) stiffness: Number,
    /// [m]; the initial length unless given.
    pub(super) rest_length: Option<Number>,
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
    pub(super) basis_a: Option<Rotation>,
    pub(super) basis_b: Option<Rotation>,
    /// [N m/rad]
    pub(super) stiffness: Number,
}

/// One entry of `triangles`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "triangle entry", rename_all = "snake_case")]
pub(super) enum TriangleEntry {
    Triangle(Box<Triangle>),
    Repeat(Box<Repeat>),
}

/// A triangle of thin elastic material, at rest in the initial pose.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "triangle", deny_unknown_fields)]
pub(super) struct Triangle {
    #[serde(default)]
    pub(super) name: String,
    /// Particles, or bodies, whose authored origins are meant.
    pub(super) nodes: [String; 3],
    /// [m]
    pub(super) thickness: Number,
    pub(super) membrane: Elasticity,
}
