//! Numbers in either precision, alone or four side by side, and the small vectors made of them.
//!
//! Everything here adds and multiplies in a fixed order, so that the same numbers give the same bits
//! on every machine, and in shaders that keep to that order. It knows nothing of scenes.
//!
//! Functions are small and generic, and called from inner loops of other crates: all are inlined.

mod fused;
mod number;
mod quad;
mod vector;

pub use fused::Fused;
pub use number::{LANES, Number, Real, Wide};
pub use vector::{M3, Q4, Sym3, V3};
