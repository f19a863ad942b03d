//! What methods on graphics adapters share: which parts of a step are still to be submitted, the times of its
//! stages, and how faults of the device are told.

mod step;

pub use step::{Due, drain_times, fault, open, unbuilt};
