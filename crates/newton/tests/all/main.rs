//! The reference against closed forms: one program, since each more has to be linked.

mod contacts;
mod joints;
mod motion;
