//! Rigid bodies: how they move, what they weigh and what their surface is like.

use serde::{Deserialize, Serialize};

use super::{Elasticity, Shape};
use crate::{
    math::{Mat3, Quat, Vec3},
    wire,
};

/// A rigid body. Its frame has its origin at the centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// Geometry in body coordinates.
    pub shape: Shape,
    /// Whether and how it moves.
    pub motion: Motion,
    /// Mass [kg]; zero for bodies that are not dynamic.
    pub mass: f64,
    /// Inertia tensor about the centre of mass, in body axes [kg m^2]; zero where not dynamic.
    #[serde(with = "wire::numbers")]
    pub inertia: Mat3,
    /// Surface properties.
    pub material: Material,
    /// Elastic constants; a body without them is rigid.
    pub elasticity: Option<Elasticity>,
    /// Bodies of one group do not touch each other.
    pub group: Option<u32>,
    /// Initial centre of mass [m].
    #[serde(with = "wire::numbers")]
    pub position: Vec3,
    /// Initial rotation, body to world.
    #[serde(with = "wire::numbers")]
    pub rotation: Quat,
    /// Initial velocity of the centre of mass [m/s].
    #[serde(with = "wire::numbers")]
    pub velocity: Vec3,
    /// Initial angular velocity in world axes [rad/s].
    #[serde(with = "wire::numbers")]
    pub omega: Vec3,
}

/// Whether and how a body moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Motion {
    /// By forces.
    #[default]
    Dynamic,
    /// Not at all.
    Static,
    /// With its initial velocity and angular velocity, or as a [`super::Drive`] says, whatever the forces.
    Kinematic,
}

/// Surface properties. A pair of bodies uses the geometric mean of the coefficients of friction and
/// the larger restitution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Coefficient of static friction [1].
    pub friction_static: f64,
    /// Coefficient of dynamic friction [1].
    pub friction_dynamic: f64,
    /// Share of the approach speed that an impact gives back, in \[0, 1\].
    pub restitution: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { friction_static: 0.5, friction_dynamic: 0.5, restitution: 0.0 }
    }
}

impl Body {
    /// A dynamic box of uniform density [kg/m^3] with full extents `size` [m], at rest at the origin.
    pub fn solid_box(size: Vec3, density: f64) -> Self {
        let mass = density * size.x * size.y * size.z;
        let square = size.component_mul(&size);
        let diagonal = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y)
            * (mass / 12.0);
        Self {
            name: String::new(),
            shape: Shape::Box { half: size * 0.5 },
            motion: Motion::Dynamic,
            mass,
            inertia: Mat3::from_diagonal(&diagonal),
            material: Material::default(),
            elasticity: None,
            group: None,
            position: Vec3::zeros(),
            rotation: Quat::identity(),
            velocity: Vec3::zeros(),
            omega: Vec3::zeros(),
        }
    }

    /// This body with its centre of mass at `position` [m].
    #[must_use]
    pub fn at(mut self, position: Vec3) -> Self {
        self.position = position;
        self
    }

    /// This body made immovable.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        (self.motion, self.mass, self.inertia) = (Motion::Static, 0.0, Mat3::zeros());
        self
    }

    /// Whether forces move it.
    pub fn is_dynamic(&self) -> bool {
        self.motion == Motion::Dynamic
    }
}
