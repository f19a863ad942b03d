//! Contacts found on a graphics adapter are those of the CPU.

#[path = "../../../collide/tests/all/common/mod.rs"]
mod common;
mod compare;
mod pairs;
mod queries;
mod surfaces;
