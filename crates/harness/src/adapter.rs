//! The graphics adapter of this process: chosen once, opened when a backend first needs it.

use std::{any::Any, sync::OnceLock};

use anyhow::Context;
use taut_core::BuildError;
use taut_draw::{bitmap::Bitmap, device::Painter, list::Sheet};
use taut_gpu::{Gpu, GpuError};

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
pub(crate) fn gpu() -> Result<&'static dyn Any, BuildError> {
    open()
        .map(|gpu| gpu as &dyn Any)
        .map_err(|error| BuildError::NoDevice(format!("{error}; {REMEDY}")))
}

fn open() -> Result<&'static Gpu, GpuError> {
    let opened = OPENED.get_or_init(|| Gpu::open(CHOICE.get().map(String::as_str)));
    opened.as_ref().map_err(GpuError::clone)
}

/// Draws pages, each with `scale` pixels to one of its own, and hands them to `take` as they come.
///
/// # Errors
/// When there is no adapter, which is a [`BuildError`] with what to do; when it refuses a page; what `take` fails with.
pub(crate) fn paint(
    pages: &mut dyn Iterator<Item = Sheet>,
    scale: f64,
    take: &mut dyn FnMut(Bitmap) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut painter = Painter::new(Gpu::of(gpu()?)?)?;
    for page in pages {
        take(painter.sheet(&page, scale)?)?;
    }
    Ok(())
}

/// What draws pictures one by one.
///
/// # Errors
/// When there is no adapter, which is a [`BuildError`] with what to do, or when it refuses.
#[cfg(feature = "view")]
pub(crate) fn painter() -> anyhow::Result<Painter> {
    Ok(Painter::new(Gpu::of(gpu()?)?)?)
}

/// The adapter that some backend has used, if any, in words.
pub(crate) fn in_use() -> Option<String> {
    Some(OPENED.get()?.as_ref().ok()?.facts().to_string())
}

/// Whether that adapter is a program on the processor.
pub(crate) fn is_software() -> bool {
    matches!(OPENED.get(), Some(Ok(gpu)) if gpu.facts().software)
}

/// Whether there is an adapter that is no program on the processor; it is opened now if it was not before.
pub(crate) fn is_hardware() -> bool {
    open().is_ok_and(|gpu| !gpu.facts().software)
}

/// Name, interface and driver of each adapter of this machine, and whether it is software.
pub(crate) fn all() -> Vec<([String; 3], bool)> {
    let entry = |facts: taut_gpu::AdapterFacts| {
        ([facts.name, facts.interface, facts.driver], facts.software)
    };
    taut_gpu::adapters().into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_found_where_one_is_required() {
        match gpu() {
            Ok(gpu) => {
                let facts = Gpu::of(gpu).unwrap().facts();
                assert_eq!((in_use(), is_software()), (Some(facts.to_string()), facts.software));
            }
            Err(error) => {
                assert!(std::env::var_os(taut_gpu::REQUIRE).is_none(), "{error}");
                assert!(error.to_string().contains("scripts/setup-gpu"), "{error}");
            }
        }
    }
}
