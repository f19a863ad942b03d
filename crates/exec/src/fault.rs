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
    /// Forces: so many, and any number of times so many, though not more than there may be in all.
    Each { first: usize, each: usize, most: usize },
}

impl BlockDue {
    /// Of an answer that is all in its line.
    pub(crate) const NOTHING: Self = Self::Exactly(0);

    /// Whether so many bytes are what is due.
    pub(crate) fn takes(self, bytes: u64) -> bool {
        match self {
            Self::Exactly(due) => bytes == due as u64,
            Self::AtMost(most) => bytes <= most as u64,
            Self::Each { first, each, most } => bytes
                .checked_sub(first as u64)
                .is_some_and(|rest| rest.is_multiple_of(each as u64) && bytes <= most as u64),
        }
    }

    pub(crate) fn words(self) -> String {
        match self {
            Self::Exactly(due) => format!("{due} are due"),
            Self::AtMost(most) => format!("{most} at most are due"),
            Self::Each { first, each: 0, .. } => format!("{first} are due"),
            Self::Each { first, each, .. } => {
                format!("{first} and {each} for each contact are due")
            }
        }
    }
}

/// Why a program could not be started or does not say what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenFault {
    pub(crate) why: String,
    /// What it said beside its answers.
    pub(crate) words: Vec<u8>,
}

impl From<String> for OpenFault {
    fn from(why: String) -> Self {
        Self { why, words: Vec::new() }
    }
}

impl From<OpenFault> for String {
    fn from(fault: OpenFault) -> Self {
        fault.why
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_measured_by_what_is_due() {
        let state = BlockDue::Exactly(24);
        assert!(state.takes(24) && !state.takes(0) && !state.takes(32));
        let text = BlockDue::AtMost(24);
        assert!(text.takes(0) && text.takes(24) && !text.takes(25));
        let forces = BlockDue::Each { first: 48, each: 208, most: 1000 };
        assert!(forces.takes(48) && forces.takes(48 + 3 * 208));
        assert!(!forces.takes(0) && !forces.takes(49) && !forces.takes(48 + 5 * 208));
        assert!(!forces.takes(u64::MAX), "more than there is memory for");
        let joints = BlockDue::Each { first: 48, each: 0, most: 1000 };
        assert!(joints.takes(48) && !joints.takes(96));
        assert_eq!(joints.words(), "48 are due");
    }
}
