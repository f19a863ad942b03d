//! The table of backends that the program comes with.

use taut_core::Table;

/// Every backend, in the order in which it is listed and drawn.
pub fn table() -> Table {
    let table = Table::default()
        .with(taut_avbd::BACKEND)
        .with(taut_vbd::BACKEND)
        .with(taut_xpbd::BACKEND)
        .with(taut_impulse::BACKEND)
        .with(taut_mabd::BACKEND)
        .with(taut_newton::BACKEND)
        .with(taut_rigid::BACKEND)
        .with(taut_abd::BACKEND);
    #[cfg(feature = "peers")]
    let table = table.with(taut_peer_rapier::BACKEND_F64).with(taut_peer_rapier::BACKEND_F32);
    let table = table.with(taut_jacobi::BACKEND_CPU);
    #[cfg(feature = "gpu")]
    let table = table
        .with(taut_jacobi::BACKEND_GPU)
        .with(taut_avbd::BACKEND_GPU)
        .with(taut_vbd::BACKEND_GPU);
    table.with(taut_null::BACKEND)
}

/// Why a program knows no row for graphics adapters.
pub(crate) const LEFT_OUT: &str = "this program was built without the feature `gpu`";

/// Whether a backend's name is that of a row that this program was built without.
pub(crate) fn left_out(name: &str) -> bool {
    cfg!(not(feature = "gpu")) && name.ends_with("-gpu")
}
