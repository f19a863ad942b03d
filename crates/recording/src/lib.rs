//! Recorded motion: an archive of arrays that numpy reads, bit for bit, and where two of them part.
//!
//! A recording is a zip archive without compression. `recording.json` says what was run, `scene.ron` is the text of the
//! scene, and `runs/I/` holds the arrays of run `I`: `steps.npy` the recorded frames, `bodies/00000.npy` the first
//! [`CHUNK`] of them as frames x bodies x 12 numbers (position [m], then the frame by columns), `velocities/` the
//! rates of the same, `particles/`, `broken/` and `metrics.npy`. Dates inside are fixed, so that equal runs differ in
//! `recording.json` only. Readers take every older version and members that they do not know.

mod about;
mod npy;
mod parting;
mod read;
mod write;

pub use about::{About, Allowance, RecordedRun};
pub use npy::{Array, Scalar};
pub use parting::{DifferingNumber, Growth, Parting, Split, part};
pub use read::{Recording, RecordingError};
pub use write::Archivist;

/// Frames in one chunk.
pub const CHUNK: usize = 64;

/// The value of `format` in `recording.json`.
pub const FORMAT: &str = "taut-recording";

/// The newest version that this program reads, and the one that it writes.
pub const VERSION: u32 = 1;
