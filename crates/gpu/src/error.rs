//! What can go wrong on a device.

/// A fault of the device, or a request that it cannot meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter, or none that was asked for.
    #[error("{0}")]
    NoAdapter(String),
    /// The device went away.
    #[error("device lost: {0}")]
    Lost(String),
    /// A buffer would be larger than the adapter allows.
    #[error(
        "{what} needs {needed} bytes, but the adapter's {name} is {limit} bytes: room for {fits} of {count}"
    )]
    TooLarge {
        /// What the buffer is for.
        what: &'static str,
        /// The limit's name in WebGPU.
        name: &'static str,
        /// Bytes asked for.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// Values asked for.
        count: usize,
        /// Values for which there is room.
        fits: usize,
    },
    /// The device has no memory left.
    #[error("out of memory on the device: {0}")]
    OutOfMemory(String),
    /// A shader is missing or wrong.
    #[error("{0}")]
    Shader(String),
    /// The device refused what it was asked to do.
    #[error("refused by the device: {0}")]
    Refused(String),
}
