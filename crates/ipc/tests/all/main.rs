//! Distances, barriers and impacts against the given cases and by differences: one program, since each more has to be linked.

mod clamping;
mod collision;
mod common;
mod data;
mod derivatives;
mod distances;
mod intersection;
