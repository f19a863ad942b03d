//! The table of backends: command line, matrix, colours, conformance tests and figures derive from it.

use taut_core::Backend;

/// Every backend, in the order in which it is listed and drawn.
pub const BACKENDS: &[Backend] = &[
    taut_avbd::BACKEND,
    taut_vbd::BACKEND,
    taut_xpbd::BACKEND,
    taut_impulse::BACKEND,
    taut_mabd::BACKEND,
    taut_newton::BACKEND,
    taut_rigid::BACKEND,
    taut_abd::BACKEND,
    #[cfg(feature = "peers")]
    taut_peer_rapier::BACKEND_F64,
    #[cfg(feature = "peers")]
    taut_peer_rapier::BACKEND_F32,
    taut_jacobi::BACKEND_CPU,
    #[cfg(feature = "gpu")]
    taut_jacobi::BACKEND_GPU,
    #[cfg(feature = "gpu")]
    taut_avbd::BACKEND_GPU,
    #[cfg(feature = "gpu")]
    taut_vbd::BACKEND_GPU,
    taut_null::BACKEND,
];

/// Why a program knows no row for graphics adapters.
pub(crate) const LEFT_OUT: &str = "this program was built without the feature `gpu`";

/// Whether a backend's name is that of a row that this program was built without.
pub(crate) fn left_out(name: &str) -> bool {
    cfg!(not(feature = "gpu")) && name.ends_with("-gpu")
}
