//! Pairs of features for incremental potential contact: distances, barriers, friction, collision along straight
//! lines, exact intersection, and the blocks of two affine bodies, as pure functions in double precision.
//!
//! A **pair** is four vertices: a point and a triangle, `p, t0, t1, t2`, or two edges, `a0, a1, b0, b1`. What a
//! function tells of a pair is twelve numbers or a 12x12 matrix by their coordinates, one vertex after the other.
//! Lengths are in metres; barriers are without their stiffness κ, which is a factor that clamping commutes with.
//!
//! - [`distance`]: which features are nearest, and the squared distance with exact derivatives.
//! - [`barrier`], [`mollifier`]: the barrier `b(d²)`, and what lets it vanish between parallel edges.
//! - [`pair`]: both together, with a Hessian whose negative eigenvalues are clamped in the few directions where it
//!   is not zero ([`psd`]).
//! - [`friction`]: lagged friction, smooth at rest.
//! - [`blocks`]: from four vertices to the coordinates of two affine bodies.
//! - [`ccd`]: how far vertices may move before their features touch; early, never late.
//! - [`intersect`]: whether triangles have a common point, exactly.
//!
//! Nothing here allocates, and nothing panics whatever the numbers are: what is not a number gives what is not a
//! number. There is no solver and no walk over a scene.
//!
//! Sources: **\[I\]** Li et al., *Incremental Potential Contact* (TOG 2020); **\[C\]** Li, Kaufman, Jiang, *Codimensional
//! Incremental Potential Contact* (TOG 2021); **\[R\]** Ferguson et al., *Intersection-free Rigid Body Dynamics* (TOG
//! 2021); **\[A\]** Lan et al., *Affine Body Dynamics* (TOG 2022). The IPC Toolkit's threshold of parallel edges and its
//! names of kinds are kept.

pub mod barrier;
mod basis;
pub mod blocks;
pub mod ccd;
mod dense;
pub mod distance;
mod eigen;
pub mod friction;
pub mod intersect;
pub mod mollifier;
pub mod pair;
pub mod psd;

pub use basis::tangents;
