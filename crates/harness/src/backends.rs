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
    taut_jacobi::BACKEND_GPU,
    taut_avbd::BACKEND_GPU,
    taut_vbd::BACKEND_GPU,
    taut_null::BACKEND,
];
