//! The program by its commands, and what its verdicts rest on: one program, since each more has to be linked.

mod cli;
mod compare;
mod elsewhere;
mod engines;
mod figures;
mod labels;
mod pictures;
mod pixels;
mod rods;
mod table;
mod true_motion;
