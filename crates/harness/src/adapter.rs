//! The graphics adapter of this process: chosen once, opened when a backend first needs it.

use std::sync::OnceLock;

use anyhow::Context;
use taut_core::BuildError;
use taut_gpu::{Facts, Gpu, GpuError};

static CHOICE: OnceLock<String> = OnceLock::new();
static OPENED: OnceLock<Result<Gpu, GpuError>> = OnceLock::new();

/// How to come by an adapter on a machine that has none.
pub(crate) const REMEDY: &str =
    "`scripts/setup-gpu` installs software Vulkan where there is no driver";

/// Chooses the adapter, by part of its name or its number in the list, for all that follows.
///
/// # Errors
/// When there is none such; the message lists those there are.
pub(crate) fn choose(wanted: &str) -> anyhow::Result<()> {
    CHOICE.get_or_init(|| wanted.to_owned());
    open().map(drop).with_context(|| format!("--adapter {wanted}"))
}

/// The adapter in use, opened now if it was not before.
///
/// # Errors
/// When there is none: a row is skipped for it, with what to do.
pub(crate) fn gpu() -> Result<&'static Gpu, BuildError> {
    open().map_err(|error| BuildError::NoDevice(format!("{error}; {REMEDY}")))
}

fn open() -> Result<&'static Gpu, GpuError> {
    let opened = OPENED.get_or_init(|| Gpu::open(CHOICE.get().map(String::as_str)));
    opened.as_ref().map_err(GpuError::clone)
}

/// The adapter that some backend has used, if any.
pub(crate) fn in_use() -> Option<&'static Facts> {
    Some(OPENED.get()?.as_ref().ok()?.facts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_found_where_one_is_required() {
        match gpu() {
            Ok(gpu) => assert_eq!(in_use(), Some(gpu.facts())),
            Err(error) => {
                assert!(std::env::var_os(taut_gpu::REQUIRE).is_none(), "{error}");
                assert!(error.to_string().contains("scripts/setup-gpu"), "{error}");
            }
        }
    }
}
