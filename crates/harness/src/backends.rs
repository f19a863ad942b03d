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
pub(crate) const NO_GPU: &str = "this program was built without the feature `gpu`";
const NO_PEERS: &str = "this program was built without the feature `peers`";

/// Why this program does not know a backend, if that is because it was built without it.
pub(crate) fn left_out(name: &str) -> Option<&'static str> {
    match name {
        _ if cfg!(not(feature = "gpu")) && name.ends_with("-gpu") => Some(NO_GPU),
        "rapier-f32" | "rapier-f64" if cfg!(not(feature = "peers")) => Some(NO_PEERS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_was_built_without_is_known_by_name() {
        let table = table();
        for name in ["rapier-f32", "rapier-f64", "avbd-gpu", "jacobi-gpu", "avbd-cpu"] {
            assert_ne!(table.get(name).is_some(), left_out(name).is_some(), "{name}");
        }
        assert_eq!(left_out("rapier"), None);
    }
}
