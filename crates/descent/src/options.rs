//! What a method of block descent chooses: how bodies move without constraints and how constraints are laid out.

use taut_collide::Style;
use taut_core::BuildError;
use taut_model::{Order, Rotation};

use crate::element::AngularRows;

/// What a method chooses: how bodies move without constraints and how constraints are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// In which order nodes are visited.
    pub order: Order,
    /// Which rows lock relative rotations.
    pub angular: AngularRows,
    /// Whether the three rows of a point always share one stiffness.
    pub isotropic: bool,
    /// How rotation vectors and rotations are exchanged.
    pub rotation: Rotation,
    /// In which axes the inertia tensor is used.
    pub frame: InertiaFrame,
    /// Whether the inertial target includes the gyroscopic torque.
    pub gyroscopic: bool,
    /// Where iterations start.
    pub start: InitialGuess,
    /// How contacts are made.
    pub contacts: Style,
    /// Whether each energy of points has a factor that [`crate::System::scale_energies`] sets.
    pub scaled_energies: bool,
    /// Partial sums over the elements and contacts of a node that has twice as many of them or more; 1 sums one
    /// after the other. See [`Self::check_lanes`].
    pub lanes_per_body: u32,
    /// Whether particles move no farther at once than they can without passing through what they touch.
    pub bound: bool,
}

impl Options {
    /// Refuses bounds, which no device finds.
    ///
    /// # Errors
    /// When they are asked for.
    pub fn refuse_bound(asked: bool) -> Result<(), BuildError> {
        let words = || BuildError::Settings("bound is for the CPU".to_owned());
        if asked { Err(words()) } else { Ok(()) }
    }

    /// Refuses numbers of lanes that do not halve down to one within a workgroup.
    ///
    /// # Errors
    /// Says what they may be.
    pub fn check_lanes(lanes: u32) -> Result<(), BuildError> {
        if lanes.is_power_of_two() && lanes <= LANES_MAX {
            return Ok(());
        }
        let text = format!("lanes_per_body must be a power of two up to {LANES_MAX}, not {lanes}");
        Err(BuildError::Settings(text))
    }
}

/// Invocations of the smallest workgroup.
const LANES_MAX: u32 = 64;

/// In which axes the inertia tensor is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InertiaFrame {
    /// Rotated to the world at the step's start.
    #[default]
    World,
    /// The body-axis tensor taken for a world-axis one, as in the official 3D demo; wrong for turned bodies.
    Body,
}

/// Where the iterations of a step start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InitialGuess {
    /// At the inertial target.
    Target,
    /// With as much of gravity as the body followed in the last step (VBD's adaptive initialisation). What that is in
    /// the first step no paper says: nothing, but all of it for elastic material that nothing holds.
    #[default]
    Adaptive,
}
