//! What block descent solvers share: the bodies, the rows and the sweep that moves one body at a time.
//!
//! A descent solver minimises `1/(2 h^2) |x - y|_M^2 + E(x)` (AVBD Eq. 1) by visiting one body or
//! particle after another and taking a Newton step in its six or three coordinates while all others
//! stand still. VBD and AVBD differ in the energy: how stiff a row is and whether it carries a
//! multiplier. Everything else is here: the 6x6 [`block`], [`element`]s, [`node`]s in the order of their
//! colours, contacts as [`patch`]es, the [`system`] of a step and the [`sweep`].
//!
//! The force of a row is `F = k C + lambda` (Eq. 13); on A it acts along `-F dC/dxA`.

mod assemble;
pub mod block;
mod bound;
mod collision;
pub mod contacts;
mod corners;
#[cfg(feature = "gpu")]
pub mod device;
mod elastic;
pub mod element;
mod host;
mod motion;
pub mod node;
pub mod options;
pub mod patch;
mod readout;
mod rider;
mod spot;
mod stencil;
pub mod sweep;
pub mod system;
mod visits;

pub use collision::Collision;
pub use contacts::{ContactStore, PatchMemory};
pub use element::{AngularRows, Definition, ElementKind, SweepElement};
pub use host::{Method, OnHost};
pub use options::{InertiaFrame, InitialGuess, Options};
pub use patch::{ContactLaw, Patch, Push};
pub use system::System;
pub use taut_collide::Style;
