//! The `taut` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    taut::main_with(taut::Setup::default())
}
