//! What stands for graphics adapters in a program that was built without them.

use std::any::Any;

use taut_core::BuildError;
use taut_draw::{bitmap::Bitmap, list::Sheet};

use crate::backends::NO_GPU;

/// How to come by what is missing.
pub(crate) const REMEDY: &str = NO_GPU;

/// There is none to choose.
///
/// # Errors
/// Always.
pub(crate) fn choose(wanted: &str) -> anyhow::Result<()> {
    anyhow::bail!("--adapter {wanted}: {REMEDY}")
}

/// There is none to open.
///
/// # Errors
/// Always: a row that some other table brings is skipped for it.
pub(crate) fn gpu() -> Result<&'static dyn Any, BuildError> {
    Err(BuildError::NoDevice(REMEDY.to_owned()))
}

/// There is none to draw.
///
/// # Errors
/// Always.
pub(crate) fn paint(
    _: &mut dyn Iterator<Item = Sheet>,
    _: f64,
    _: &mut dyn FnMut(Bitmap) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    Ok(gpu().map(drop)?)
}

/// No adapter is ever in use.
pub(crate) fn in_use() -> Option<String> {
    None
}

/// No adapter is ever in use.
pub(crate) fn is_software() -> bool {
    false
}

/// There is none.
pub(crate) fn is_hardware() -> bool {
    false
}

/// No adapters.
pub(crate) fn all() -> Vec<([String; 3], bool)> {
    vec![]
}
