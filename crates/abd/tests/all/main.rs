//! Affine bodies behind barriers, at rest, in motion and at extremes: one program, since each more has to be linked.

mod contact;
mod extremes;
mod meshes;
mod motion;
