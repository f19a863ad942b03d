//! What comes back: an answer, or what there is instead.

use serde_json::{Map, Value};
use taut_core::{BuildError, SolverError, Unsupported};

/// A request's answer: the keys of the line, and the bytes after it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) keys: Map<String, Value>,
    pub(crate) block: Vec<u8>,
}

/// How many bytes have to follow a good answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockDue {
    /// A state of a scene that is known.
    Exactly(usize),
    /// A text.
    AtMost(usize),
}

impl BlockDue {
    /// Of an answer that is all in its line.
    pub(crate) const NOTHING: Self = Self::Exactly(0);
}

/// Why a request has no good answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LinkFault {
    /// The process is gone, or is not talked to any more.
    Broken(String),
    /// It says no and lives on.
    Refused {
        /// One of the kinds of the protocol.
        kind: String,
        /// Its own words.
        message: String,
    },
}

impl LinkFault {
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Broken(why) => why.clone(),
            Self::Refused { kind, message } => format!("{kind}: {message}"),
        }
    }

    /// In a row.
    pub(crate) fn in_a_step(self) -> SolverError {
        match self {
            Self::Broken(why) => SolverError::Process(why),
            Self::Refused { kind, message } => match kind.as_str() {
                "not_converged" => SolverError::NotConverged(message),
                "device" => SolverError::DeviceLost(message),
                _ => SolverError::Process(format!("{kind}: {message}")),
            },
        }
    }

    /// Before there is a solver.
    pub(crate) fn in_building(self) -> BuildError {
        match self {
            Self::Refused { kind, message } if kind == "unsupported" => {
                BuildError::Unsupported(Unsupported(message))
            }
            Self::Refused { kind, message } if kind == "settings" => BuildError::Settings(message),
            other => BuildError::Solver(other.in_a_step()),
        }
    }
}
