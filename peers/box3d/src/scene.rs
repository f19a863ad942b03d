//! A scene as `scene-1.schema.json` has it: what this program reads of it.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    vector::{Place, Quaternion, Vector},
    wire::{BodyState, WIDTH},
};

#[derive(Deserialize)]
pub(crate) struct Scene {
    pub(crate) gravity: Vector,
    pub(crate) contacts: Option<IgnoredAny>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) springs: Vec<Spring>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Motion {
    Dynamic,
    Static,
    Kinematic,
}

#[derive(Deserialize)]
pub(crate) struct Body {
    pub(crate) shape: Shape,
    pub(crate) motion: Motion,
    pub(crate) mass_kg: f64,
    /// Row by row.
    pub(crate) inertia_kg_m2: [f64; 9],
    pub(crate) friction: [f64; 2],
    pub(crate) restitution: f64,
    pub(crate) group: Option<i32>,
    position: Vector,
    rotation: Quaternion,
    velocity: Vector,
    omega: Vector,
}

impl Body {
    /// Where it starts, as a state has it.
    pub(crate) fn start(&self) -> BodyState {
        let mut out = [0.0; WIDTH];
        out[0..3].copy_from_slice(&self.position);
        out[3..7].copy_from_slice(&self.rotation);
        out[7..10].copy_from_slice(&self.velocity);
        out[10..13].copy_from_slice(&self.omega);
        out
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    Box { half_m: Vector },
    Sphere { radius_m: f64 },
    Capsule { radius_m: f64, half_length_m: f64 },
    Cylinder { radius_m: f64, half_length_m: f64 },
    Hull { points_m: Vec<Vector> },
    Compound { parts: Vec<Part> },
    HalfSpace {},
    Mesh {},
}

#[derive(Deserialize)]
pub(crate) struct Part {
    pub(crate) shape: Shape,
    position: Vector,
    rotation: Quaternion,
}

impl Part {
    pub(crate) fn place(&self) -> Place {
        Place { q: self.rotation, x: self.position }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    World,
    Body(usize),
    Particle(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Ball,
    Hinge,
    Universal,
    Prismatic,
    Cylindrical,
    Fixed,
    Distance,
}

#[derive(Deserialize)]
pub(crate) struct Joint {
    pub(crate) kind: Kind,
    pub(crate) length_m: Option<f64>,
    pub(crate) a: End,
    pub(crate) b: End,
    anchor_a: Vector,
    anchor_b: Vector,
    basis_a: Quaternion,
    basis_b: Quaternion,
    /// Of the free coordinate; `None` is no bound.
    pub(crate) limit: Option<[Option<f64>; 2]>,
    pub(crate) motor: Option<Motor>,
    #[serde(default)]
    pub(crate) damping: f64,
}

impl Joint {
    /// The joint's frames on A and on B.
    pub(crate) fn frames(&self) -> [Place; 2] {
        [Place { q: self.basis_a, x: self.anchor_a }, Place { q: self.basis_b, x: self.anchor_b }]
    }
}

#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Motor {
    pub(crate) speed: f64,
    pub(crate) max_effort: Option<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Spring {
    pub(crate) a: End,
    pub(crate) b: End,
    pub(crate) anchor_a: Vector,
    pub(crate) anchor_b: Vector,
    pub(crate) stiffness: f64,
    #[serde(default)]
    pub(crate) damping: f64,
    pub(crate) rest_length_m: f64,
}
