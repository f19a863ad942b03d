//! Chebyshev semi-iteration over sweeps (Wang 2015; section 3.7 of Chen et al. 2024).
//!
//! With `x` what a sweep makes of the iterate, and `x_1, x_2` the last two iterates,
//!
//! ```text
//!   x_next = x_2 + omega_n (x - x_2),   omega_1 = 1, omega_2 = 2/(2 - rho^2), omega_n+1 = 4/(4 - rho^2 omega_n)
//! ```
//!
//! where `rho` estimates by which factor a sweep shrinks the error. Particles are sped up as long as they touch
//! nothing: a contact that opens or closes makes the extrapolation wrong.

use taut_descent::System;
use taut_math::{Real, V3};
use taut_model::NodeKind;

/// What is remembered of a step's sweeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acceleration<R> {
    /// The iterate before the last sweep, node by node [m].
    last: Vec<V3<R>>,
    /// The one before that.
    before: Vec<V3<R>>,
    omega: R,
    /// Sweeps of this step.
    sweeps: u32,
}

impl<R: Real + Default> Acceleration<R> {
    /// Begins a step.
    pub(crate) fn begin(&mut self, system: &System<R>) {
        self.sweeps = 0;
        self.last.clear();
        self.last.extend(system.nodes.iter().map(|node| node.step));
        self.before.clone_from(&self.last);
    }

    /// Goes on from what a sweep has made, further than it.
    pub(crate) fn follow(&mut self, system: &mut System<R>, rho: f64) {
        let square = R::of(rho * rho);
        let four = R::TWO * R::TWO;
        self.omega = match self.sweeps {
            0 => R::ONE,
            1 => R::TWO / (R::TWO - square),
            _ => four / (four - square * self.omega),
        };
        self.sweeps += 1;
        for n in 0..system.nodes.len() {
            let free = system.nodes[n].kind == NodeKind::Particle && !system.touches(n);
            let step = &mut system.nodes[n].step;
            if free {
                *step = self.before[n] + (*step - self.before[n]) * self.omega;
            }
            (self.before[n], self.last[n]) = (self.last[n], *step);
        }
    }
}
