//! Contacts against closed forms, samples and each other: one program, since each more has to be linked.

mod boxes;
mod common;
mod particles;
mod paths;
mod properties;
mod query;
mod shapes;
mod soft;
mod surfaces;
