//! The flat model between a scene and the methods: what moves, what couples it, and what follows from that alone.
//!
//! A [`Model`] numbers bodies, particles and the world as [`Slots`] and lists joints and springs as [`Unit`]s of
//! [`Element`]s. It is made once, in double precision, and a method lowers it to the layout that its loops are fast
//! by. The [`graph`](Graph) of units over moving nodes, its [`Colouring`], [`Islands`] and [`Supported`] masses are
//! found the same way for all methods. In a method's own precision come [`Motions`], the [`gradient`] and the
//! [`curvature`] of rows, the [`Wrench`] that they exert, and the [`Pulls`] from outside.

mod breaking;
mod colour;
mod csr;
mod element;
mod form;
mod graph;
mod islands;
mod motion;
mod node;
mod pulls;
mod row;
mod settings;
mod supported;
mod wrench;

pub use breaking::BrokenJoints;
pub use colour::{ColourOf, Colouring, priority};
pub use csr::Csr;
pub use element::{ElasticElement, Element, End, Model, Owner, Role, Softness, Unit};
pub use form::Form;
pub use graph::Graph;
pub use islands::Islands;
pub use motion::{Motions, Pose, Velocity, driven_rates, driven_turn, free_omega, placement};
pub use node::{Node, NodeKind, Slots};
pub use pulls::Pulls;
pub use row::{Curvature, Gradient, Pair, Side, counted, curvature, gradient};
pub use settings::{Order, Precision, Rotation};
pub use supported::Supported;
pub use wrench::{Strength, Wrench, breakable};

/// An index as flat lists store it.
///
/// # Panics
/// From 2^32 on.
#[inline]
pub fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 nodes and elements")
}
