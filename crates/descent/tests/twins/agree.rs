//! When a state computed on the adapter is that of the CPU in single precision.

use taut_core::State;
use taut_gpu::Gpu;

/// How far apart twins may be in the first [`STEPS_ON_HARDWARE`] steps where the adapter is no software [m]: drivers
/// may fuse products into sums, and after some time no two roundings end alike.
const ON_HARDWARE_M: f64 = 1e-4;
const STEPS_ON_HARDWARE: u32 = 10;

/// Compares the states after a step: bit for bit on software.
pub(crate) fn agree(gpu: &Gpu, [on_cpu, on_gpu]: [&State; 2], step: u32, what: &str) {
    assert!(on_cpu.is_finite(), "{what} after step {step}");
    if gpu.facts().software {
        assert_eq!(on_cpu.hash(), on_gpu.hash(), "{what} after step {step}");
    } else if step <= STEPS_ON_HARDWARE {
        let apart = apart(on_cpu, on_gpu);
        assert!(apart < ON_HARDWARE_M, "{what} after step {step}: {apart:e} m");
    }
}

/// Greatest distance between the same body or particle in two states [m].
pub(crate) fn apart(a: &State, b: &State) -> f64 {
    let places = |s: &State| -> Vec<_> {
        let bodies = s.bodies.iter().map(|body| body.position);
        bodies.chain(s.particles.iter().map(|particle| particle.position)).collect()
    };
    let pairs = places(a).into_iter().zip(places(b));
    pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}
