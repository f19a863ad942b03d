//! The instructions in which four numbers are one register.
//!
//! Where compilers may not assume these, everything that calculates much runs where they have been found. There is no
//! second version of it for x86 processors without them (made before 2013 mostly): fused products would be slow calls
//! there, and all of this crate would be compiled twice for nobody.

use pulp::WithSimd;
#[cfg(target_arch = "x86_64")]
use pulp::{Simd, x86::V3};

/// Whether the processor has them, else what it lacks.
pub(crate) fn found() -> Result<(), String> {
    #[cfg(target_arch = "x86_64")]
    if V3::try_new().is_none() {
        return Err(
            "M-ABD needs the instructions AVX2 and FMA, which this processor has not".into()
        );
    }
    Ok(())
}

/// Runs `task` with them; see [`found`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn dispatch<T: WithSimd>(task: T) -> T::Output {
    let simd = V3::try_new().expect("no solver is made without these instructions");
    Simd::vectorize(simd, task)
}

/// Runs `task` with them.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn dispatch<T: WithSimd>(task: T) -> T::Output {
    pulp::Arch::new().dispatch(task)
}

/// Moved into each closure that pulp calls, so that it can be called but once. Closures that could be called again
/// are called by a function of the library's that need not be inlined, and then they are not compiled for the
/// instructions that pulp has chosen.
pub(crate) struct Once;

impl Once {
    #[inline(always)]
    pub(crate) fn spend(self) {}
}
