//! Where there are no process groups and no polled pipes: nothing is started.

use std::{convert::Infallible, path::Path, time::Duration};

use serde_json::{Map, Value};

use crate::{
    fault::{BlockDue, LinkFault, Reply},
    program::{Limits, Program},
};

/// Kills every process that was started.
pub fn kill_all() {}

/// A process, of which there are none.
#[derive(Debug)]
pub(crate) struct Child {
    never: Infallible,
    pub(crate) steps: u64,
}

impl Child {
    pub(crate) fn start(_: &Program) -> Result<Self, String> {
        Err("solvers in other processes run on Unix only".to_owned())
    }

    pub(crate) fn limits(&self) -> &Limits {
        match self.never {}
    }

    pub(crate) fn id(&self) -> u32 {
        match self.never {}
    }

    pub(crate) fn is_well(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn hear(&self) {
        match self.never {}
    }

    pub(crate) fn log_to(&self, _: Option<&Path>) {
        match self.never {}
    }

    pub(crate) fn said(&self) -> Vec<u8> {
        match self.never {}
    }

    pub(crate) fn ask(
        &mut self,
        _: &str,
        _: Map<String, Value>,
        _: &[u8],
        _: Duration,
        _: BlockDue,
    ) -> Result<Reply, LinkFault> {
        match self.never {}
    }

    pub(crate) fn broken(&mut self, _: String) -> LinkFault {
        match self.never {}
    }

    pub(crate) fn end(&mut self, _: bool) -> Result<std::process::ExitStatus, String> {
        match self.never {}
    }
}
