//! Affine bodies against closed forms, other solvers and themselves: one program, since each more has to be linked.

mod contacts;
mod elastic;
mod extremes;
mod joints;
mod loops;
mod motion;
mod threads;
mod trees;
