//! What block descent solvers share: the bodies, the rows and the sweep that moves one body at a time.
//!
//! A descent solver minimises `1/(2 h^2) |x - y|_M^2 + E(x)` (AVBD Eq. 1) by visiting one body or
//! particle after another and taking a Newton step in its six or three coordinates while all others
//! stand still. VBD and AVBD differ in the energy: how stiff a row is and whether it carries a
//! multiplier. Everything else is here: the 6x6 [`block`], [`row`]s, [`element`]s, [`node`]s in the
//! order of their [`mod@colour`], contacts as [`patch`]es, the [`system`] of a step and the [`sweep`].
//!
//! The force of a row is `F = k C + lambda` (Eq. 13); on A it acts along `-F dC/dxA`.

pub mod block;
pub mod carried;
mod collision;
pub mod colour;
#[cfg(feature = "gpu")]
pub mod device;
pub mod element;
mod graph;
pub mod node;
pub mod patch;
mod readout;
pub mod row;
pub mod sweep;
pub mod system;
pub mod touch;

pub use collision::Collision;
pub use element::{AngularRows, Definition, Element, ElementKind, Owner, Role};
pub use node::{NodeKind, Order};
pub use patch::{ContactLaw, Patch, Push};
pub use system::{InertiaFrame, Model, Rotation, Start, System};
pub use taut_collide::Style;
pub use touch::{Backing, Touch};
