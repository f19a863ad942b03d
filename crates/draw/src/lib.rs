//! Pictures of scenes: what is drawn as data, and writers that draw it.
//!
//! A [`list::DrawList`] is one picture: instances of polyhedra with affine poses, lines, points and texts seen by one
//! [`camera::Camera`]. Everything is `f64` in metres and world axes with z up; a writer subtracts the camera's target
//! before it rounds anything. Bodies are drawn through their affine frames, so that stretch shows.

pub mod apng;
pub mod bitmap;
pub mod camera;
pub mod colour;
mod dash;
#[cfg(feature = "gpu")]
pub mod device;
pub mod film;
pub mod flat;
pub mod list;
mod order;
pub mod overlay;
mod palette;
pub mod portrait;
pub mod shape;
pub mod svg;
pub mod text;
