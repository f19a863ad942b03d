//! Bodies, particles, joints and springs under the names of schema 1.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Mat3, Quat, Vec3,
    scene::{
        Body, Elasticity, Endpoint, Joint, JointKind, Limit, Material, Motion, Motor, Part,
        Particle, Shape, Skin, Spring, SpringKind,
    },
    wire,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyRecord {
    name: String,
    shape: ShapeRecord,
    motion: Motion,
    mass_kg: f64,
    /// Row by row, unlike matrices of states: a reader outside takes it for symmetric anyway.
    #[serde(with = "wire::numbers")]
    inertia_kg_m2: Mat3,
    /// Static, dynamic.
    friction: [f64; 2],
    restitution: f64,
    elasticity: Option<ElasticityRecord>,
    group: Option<u32>,
    #[serde(with = "wire::numbers")]
    position: Vec3,
    #[serde(with = "wire::numbers")]
    rotation: Quat,
    #[serde(with = "wire::numbers")]
    velocity: Vec3,
    #[serde(with = "wire::numbers")]
    omega: Vec3,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ElasticityRecord {
    young_pa: f64,
    poisson: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ShapeRecord {
    Box {
        #[serde(with = "wire::numbers")]
        half_m: Vec3,
    },
    Sphere {
        radius_m: f64,
    },
    Capsule {
        radius_m: f64,
        half_length_m: f64,
    },
    Cylinder {
        radius_m: f64,
        half_length_m: f64,
    },
    Hull {
        #[serde(with = "wire::points")]
        points_m: Arc<[Vec3]>,
    },
    Compound {
        parts: Vec<PartRecord>,
    },
    HalfSpace {},
    Mesh {
        #[serde(with = "wire::points")]
        vertices_m: Arc<[Vec3]>,
        #[serde(with = "wire::shared")]
        triangles: Arc<[[u32; 3]]>,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::four_points")]
        control_m: Option<Arc<[Vec3; 4]>>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartRecord {
    shape: ShapeRecord,
    #[serde(with = "wire::numbers")]
    position: Vec3,
    #[serde(with = "wire::numbers")]
    rotation: Quat,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParticleRecord {
    name: String,
    mass_kg: f64,
    #[serde(with = "wire::numbers")]
    position: Vec3,
    #[serde(with = "wire::numbers")]
    velocity: Vec3,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    touch: Option<SkinRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SkinRecord {
    radius_m: f64,
    friction: [f64; 2],
    restitution: f64,
    group: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JointName {
    Ball,
    Hinge,
    Universal,
    Prismatic,
    Cylindrical,
    Fixed,
    Distance,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointRecord {
    name: String,
    kind: JointName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length_m: Option<f64>,
    a: Endpoint,
    b: Endpoint,
    #[serde(with = "wire::numbers")]
    anchor_a: Vec3,
    #[serde(with = "wire::numbers")]
    anchor_b: Vec3,
    #[serde(with = "wire::numbers")]
    basis_a: Quat,
    #[serde(with = "wire::numbers")]
    basis_b: Quat,
    compliance_linear_m_n: f64,
    compliance_angular_rad_nm: f64,
    /// Lower and upper; `null` where free on that side.
    limit: Option<[Option<f64>; 2]>,
    motor: Option<MotorRecord>,
    /// [N s/m] or [N m s/rad]
    #[serde(default, skip_serializing_if = "wire::is_zero")]
    damping: f64,
    break_force_n: Option<f64>,
    break_torque_nm: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MotorRecord {
    speed: f64,
    /// `null` where it has no bound.
    max_effort: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpringName {
    Linear,
    Angular,
}

/// A linear spring has anchors and a length, an angular one bases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpringRecord {
    name: String,
    kind: SpringName,
    a: Endpoint,
    b: Endpoint,
    stiffness: f64,
    #[serde(default, skip_serializing_if = "wire::is_zero")]
    damping: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor_a: Option<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor_b: Option<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest_length_m: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basis_a: Option<[f64; 4]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basis_b: Option<[f64; 4]>,
}

fn finite(bound: f64) -> Option<f64> {
    bound.is_finite().then_some(bound)
}

fn surface(friction: [f64; 2], restitution: f64) -> Material {
    Material { friction_static: friction[0], friction_dynamic: friction[1], restitution }
}

impl From<&Body> for BodyRecord {
    fn from(body: &Body) -> Self {
        let material = body.material;
        Self {
            name: body.name.clone(),
            shape: ShapeRecord::from(&body.shape),
            motion: body.motion,
            mass_kg: body.mass,
            inertia_kg_m2: body.inertia.transpose(),
            friction: [material.friction_static, material.friction_dynamic],
            restitution: material.restitution,
            elasticity: body
                .elasticity
                .map(|e| ElasticityRecord { young_pa: e.young, poisson: e.poisson }),
            group: body.group,
            position: body.position,
            rotation: body.rotation,
            velocity: body.velocity,
            omega: body.omega,
        }
    }
}

impl From<BodyRecord> for Body {
    fn from(record: BodyRecord) -> Self {
        let elasticity = record.elasticity;
        Self {
            name: record.name,
            shape: record.shape.into(),
            motion: record.motion,
            mass: record.mass_kg,
            inertia: record.inertia_kg_m2.transpose(),
            material: surface(record.friction, record.restitution),
            elasticity: elasticity.map(|e| Elasticity { young: e.young_pa, poisson: e.poisson }),
            group: record.group,
            position: record.position,
            rotation: record.rotation,
            velocity: record.velocity,
            omega: record.omega,
        }
    }
}

impl From<&Shape> for ShapeRecord {
    fn from(shape: &Shape) -> Self {
        match shape {
            Shape::Box { half } => Self::Box { half_m: *half },
            Shape::Sphere { radius } => Self::Sphere { radius_m: *radius },
            Shape::Capsule { radius, half_length } => {
                Self::Capsule { radius_m: *radius, half_length_m: *half_length }
            }
            Shape::Cylinder { radius, half_length } => {
                Self::Cylinder { radius_m: *radius, half_length_m: *half_length }
            }
            Shape::Hull { points } => Self::Hull { points_m: points.clone() },
            Shape::Compound { parts } => {
                let record = |part: &Part| PartRecord {
                    shape: Self::from(&part.shape),
                    position: part.position,
                    rotation: part.rotation,
                };
                Self::Compound { parts: parts.iter().map(record).collect() }
            }
            Shape::HalfSpace => Self::HalfSpace {},
            Shape::Mesh { vertices, triangles, control } => Self::Mesh {
                vertices_m: vertices.clone(),
                triangles: triangles.clone(),
                control_m: control.clone(),
            },
        }
    }
}

impl From<ShapeRecord> for Shape {
    fn from(record: ShapeRecord) -> Self {
        match record {
            ShapeRecord::Box { half_m } => Self::Box { half: half_m },
            ShapeRecord::Sphere { radius_m } => Self::Sphere { radius: radius_m },
            ShapeRecord::Capsule { radius_m, half_length_m } => {
                Self::Capsule { radius: radius_m, half_length: half_length_m }
            }
            ShapeRecord::Cylinder { radius_m, half_length_m } => {
                Self::Cylinder { radius: radius_m, half_length: half_length_m }
            }
            ShapeRecord::Hull { points_m } => Self::Hull { points: points_m },
            ShapeRecord::Compound { parts } => {
                let part = |record: PartRecord| Part {
                    shape: record.shape.into(),
                    position: record.position,
                    rotation: record.rotation,
                };
                Self::Compound { parts: parts.into_iter().map(part).collect() }
            }
            ShapeRecord::HalfSpace {} => Self::HalfSpace,
            ShapeRecord::Mesh { vertices_m, triangles, control_m } => {
                Self::Mesh { vertices: vertices_m, triangles, control: control_m }
            }
        }
    }
}

impl From<&Particle> for ParticleRecord {
    fn from(particle: &Particle) -> Self {
        let touch = particle.touch.map(|skin| SkinRecord {
            radius_m: skin.radius,
            friction: [skin.material.friction_static, skin.material.friction_dynamic],
            restitution: skin.material.restitution,
            group: skin.group,
        });
        let (name, mass_kg) = (particle.name.clone(), particle.mass);
        Self { name, mass_kg, position: particle.position, velocity: particle.velocity, touch }
    }
}

impl From<ParticleRecord> for Particle {
    fn from(record: ParticleRecord) -> Self {
        let skin = |skin: SkinRecord| Skin {
            radius: skin.radius_m,
            material: surface(skin.friction, skin.restitution),
            group: skin.group,
        };
        Self {
            name: record.name,
            mass: record.mass_kg,
            position: record.position,
            velocity: record.velocity,
            touch: record.touch.map(skin),
        }
    }
}

impl From<&Joint> for JointRecord {
    fn from(joint: &Joint) -> Self {
        let (kind, length_m) = match joint.kind {
            JointKind::Ball => (JointName::Ball, None),
            JointKind::Hinge => (JointName::Hinge, None),
            JointKind::Universal => (JointName::Universal, None),
            JointKind::Prismatic => (JointName::Prismatic, None),
            JointKind::Cylindrical => (JointName::Cylindrical, None),
            JointKind::Fixed => (JointName::Fixed, None),
            JointKind::Distance { length } => (JointName::Distance, Some(length)),
        };
        Self {
            name: joint.name.clone(),
            kind,
            length_m,
            a: joint.a,
            b: joint.b,
            anchor_a: joint.anchor_a,
            anchor_b: joint.anchor_b,
            basis_a: joint.basis_a,
            basis_b: joint.basis_b,
            compliance_linear_m_n: joint.compliance_linear,
            compliance_angular_rad_nm: joint.compliance_angular,
            limit: joint.limit.map(|limit| [limit.lower, limit.upper].map(finite)),
            motor: joint
                .motor
                .map(|m| MotorRecord { speed: m.speed, max_effort: finite(m.max_effort) }),
            damping: joint.damping,
            break_force_n: finite(joint.break_force),
            break_torque_nm: finite(joint.break_torque),
        }
    }
}

impl JointRecord {
    pub(super) fn into_joint(self) -> Result<Joint, String> {
        let kind = match self.kind {
            JointName::Ball => JointKind::Ball,
            JointName::Hinge => JointKind::Hinge,
            JointName::Universal => JointKind::Universal,
            JointName::Prismatic => JointKind::Prismatic,
            JointName::Cylindrical => JointKind::Cylindrical,
            JointName::Fixed => JointKind::Fixed,
            JointName::Distance => JointKind::Distance {
                length: self.length_m.ok_or("a distance joint without `length_m`")?,
            },
        };
        let limit = |[lower, upper]: [Option<f64>; 2]| Limit {
            lower: lower.unwrap_or(f64::NEG_INFINITY),
            upper: upper.unwrap_or(f64::INFINITY),
        };
        let motor = |motor: MotorRecord| Motor {
            speed: motor.speed,
            max_effort: motor.max_effort.unwrap_or(f64::INFINITY),
        };
        Ok(Joint {
            name: self.name,
            kind,
            a: self.a,
            b: self.b,
            anchor_a: self.anchor_a,
            anchor_b: self.anchor_b,
            basis_a: self.basis_a,
            basis_b: self.basis_b,
            compliance_linear: self.compliance_linear_m_n,
            compliance_angular: self.compliance_angular_rad_nm,
            limit: self.limit.map(limit),
            motor: self.motor.map(motor),
            damping: self.damping,
            break_force: self.break_force_n.unwrap_or(f64::INFINITY),
            break_torque: self.break_torque_nm.unwrap_or(f64::INFINITY),
        })
    }
}

impl From<&Spring> for SpringRecord {
    fn from(spring: &Spring) -> Self {
        let four = |q: Quat| <[f64; 4]>::from(q.coords);
        let mut record = Self {
            name: spring.name.clone(),
            kind: SpringName::Linear,
            a: spring.a,
            b: spring.b,
            stiffness: spring.stiffness,
            damping: spring.damping,
            anchor_a: None,
            anchor_b: None,
            rest_length_m: None,
            basis_a: None,
            basis_b: None,
        };
        match spring.kind {
            SpringKind::Linear { anchor_a, anchor_b, rest_length } => {
                (record.anchor_a, record.anchor_b) = (Some(anchor_a.into()), Some(anchor_b.into()));
                record.rest_length_m = Some(rest_length);
            }
            SpringKind::Angular { basis_a, basis_b } => {
                record.kind = SpringName::Angular;
                (record.basis_a, record.basis_b) = (Some(four(basis_a)), Some(four(basis_b)));
            }
        }
        record
    }
}

impl SpringRecord {
    pub(super) fn into_spring(self) -> Result<Spring, String> {
        // As it was sent: making it a unit again could change its last bits.
        let turn = |q: [f64; 4]| Quat::new_unchecked(nalgebra::Vector4::from(q).into());
        let kind = match self.kind {
            SpringName::Linear => SpringKind::Linear {
                anchor_a: self.anchor_a.ok_or("a linear spring without `anchor_a`")?.into(),
                anchor_b: self.anchor_b.ok_or("a linear spring without `anchor_b`")?.into(),
                rest_length: self.rest_length_m.ok_or("a linear spring without `rest_length_m`")?,
            },
            SpringName::Angular => SpringKind::Angular {
                basis_a: turn(self.basis_a.ok_or("an angular spring without `basis_a`")?),
                basis_b: turn(self.basis_b.ok_or("an angular spring without `basis_b`")?),
            },
        };
        let Self { name, a, b, stiffness, damping, .. } = self;
        Ok(Spring { name, kind, a, b, stiffness, damping })
    }
}
