//! No text makes the loader panic, and what it accepts has positive, finite masses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use taut_core::load::load_str_within;

/// Large scenes are slow, not interesting.
const ELEMENTS_MAX: usize = 2_000;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match load_str_within(text, "fuzz", &[], ELEMENTS_MAX) {
        Ok(loaded) => {
            for body in loaded.scene.bodies.iter().filter(|body| body.is_dynamic()) {
                assert!(body.mass > 0.0 && body.mass.is_finite());
                assert!(body.inertia.iter().all(|x| x.is_finite()));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
