//! Cloth and solids across methods: one program, so that its few long tests go side by side.

mod coupled;
mod damping;
mod elastic;
mod self_contact;
mod settings;
mod soft_contact;
mod solids;

use taut::backends;
use taut_core::Scene;
use taut_fixtures::Run;

/// A run of a backend of the table, by its name.
fn begin(backend: &str, settings: &str, scene: &Scene, iterations: u32) -> Run {
    let table = backends::table();
    let backend = table.get(backend).expect("it is in the table");
    Run::new(&**backend, scene, settings, iterations)
}
