//! Why a scene is refused, a solver not made, or a step not taken.

/// Why a backend does not take a scene: a result row, not a failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Why a solver could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The scene needs something the backend does not have.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The device it runs on is not here.
    #[error("{0}")]
    NoDevice(String),
    /// The settings could not be read.
    #[error("invalid settings: {0}")]
    Settings(String),
    /// The solver could not be set up.
    #[error(transparent)]
    Solver(#[from] SolverError),
}

/// Failures the caller cannot foresee. Divergence is not one of them: the runner detects it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolverError {
    /// The device went away.
    #[error("device lost: {0}")]
    DeviceLost(String),
    /// A fixed resource is too small for the scene.
    #[error("{resource} holds {limit} but the scene needs {needed}")]
    Capacity {
        /// What ran out.
        resource: &'static str,
        /// How much the scene needs.
        needed: usize,
        /// How much there is.
        limit: usize,
    },
    /// A solver that promises a tolerance did not reach it.
    #[error("not converged: {0}")]
    NotConverged(String),
    /// A step in which something turns so far that its end does not tell which way.
    #[error("step too long: {0}")]
    StepTooLong(String),
    /// Another process that solves ended, did not answer in time or did not keep to the protocol.
    #[error("{0}")]
    Process(String),
    /// An engine holds another scene than it was given, as its own arrays tell.
    #[error("{0}")]
    Audit(String),
    /// A loaded state does not fit the scene the solver was built for.
    #[error("state has {found} {what} but the scene has {expected}")]
    StateMismatch {
        /// Bodies, particles or joints.
        what: &'static str,
        /// Count in the scene.
        expected: usize,
        /// Count in the state.
        found: usize,
    },
}
