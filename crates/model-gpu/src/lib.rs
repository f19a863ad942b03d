//! What methods on graphics adapters share.
//!
//! Of a step, what is [`Due`] is submitted as late as possible, and a [`Retry`] does it again where its search for
//! contacts had no room. A [`DeviceGraph`] finds from pairs of nodes where they attach, in which order nodes are
//! visited and how much mass rests on each, as [`taut_model`] does; it knows neither contacts nor elements. Shaders know
//! how rows are computed by [`number`].

mod graph;
mod kind;
mod retry;
mod step;

pub use graph::{DeviceGraph, GraphSpec};
pub use kind::number;
pub use retry::Retry;
pub use step::{Due, drain_times, fault, open, unbuilt};
