//! Stiffness ramps of elastic elements: Eq. 16 for energies of points, a departure that is off by default.
//!
//! One factor `s` scales the whole energy of an element, whose rest state is the balance of its rows. With `k` the
//! greatest stiffness of one of its corners, a third of the trace of its block,
//!
//! ```text
//!   s_start = min(1, k_start / k),    s <- min(1, s + beta L |U - 1| / k),    s <- max(s_start, gamma s) from step to step
//! ```
//!
//! where `U - 1` are the principal strains and `L` is the length that they are strains of, so that `s k` grows as the
//! stiffness of a row does. Folds and dampers have no strain of their own and keep their stiffness.

use taut_core::{
    Scene,
    energy::{ENDS_MAX, Energy},
    scene::{Anchor, Endpoint},
};
use taut_descent::System;
use taut_math::{Real, V3};

use crate::settings::Resolved;

/// What governs the factors.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementRamp<R> {
    /// Stiffness of the stiffest corner [N/m], mass of the lightest [kg] and longest edge [m], energy by energy; none
    /// of what keeps its stiffness.
    sizes: Vec<Option<[f64; 3]>>,
    start: Vec<R>,
    /// Growth per strain [1].
    growth: Vec<R>,
}

impl<R: Real> ElementRamp<R> {
    pub(crate) fn new(scene: &Scene) -> Self {
        let state = scene.initial_state();
        let mass = |anchor: &Anchor| match anchor.end {
            Endpoint::Body(i) => scene.bodies[i].mass,
            Endpoint::Particle(i) => scene.particles[i].mass,
            Endpoint::World => 0.0,
        };
        let size = |(energy, anchors): (Energy<f64>, [Anchor; ENDS_MAX])| {
            let x = anchors.map(|anchor| V3::of(&anchor.position(&state)));
            energy.principal_stretches(&x)?;
            let trace = |i: usize| {
                let block = energy.vertex(&x, i).1.0;
                (block[0].0[0] + block[1].0[1] + block[2].0[2]) / 3.0
            };
            let stiffest = (0..energy.ends()).map(trace).fold(0.0, f64::max);
            let masses = anchors[..energy.ends()].iter().map(mass).filter(|&mass| mass > 0.0);
            let edges = (1..energy.ends()).map(|i| (x[i] - x[0]).norm());
            Some([stiffest, masses.fold(f64::INFINITY, f64::min), edges.fold(0.0, f64::max)])
        };
        let sizes = scene.energies().chain(scene.dampings()).map(size).collect();
        Self { sizes, start: vec![], growth: vec![] }
    }

    /// Scales the ramps to steps of length `dt` [s].
    pub(crate) fn scale_to(&mut self, settings: &Resolved, dt: f64) {
        let Self { sizes, start, growth } = self;
        start.clear();
        growth.clear();
        for size in sizes {
            let Some([stiffness, mass, length]) = *size else {
                start.push(R::ONE);
                growth.push(R::ZERO);
                continue;
            };
            let unit = mass / (dt * dt);
            let first = settings.k_start.unwrap_or(settings.k_start_scale * unit) / stiffness;
            // A rate that is given is per length, one of masses per strain.
            let rate = settings.beta.map_or(settings.beta_scale * unit, |beta| beta * length);
            start.push(R::of(first.min(1.0)));
            growth.push(R::of(rate / stiffness));
        }
    }

    /// Begins a step with a share of the factors of the last one.
    pub(crate) fn warm_start(&self, system: &mut System<R>, gamma: R) {
        system.scale_energies(|i, _, scale| self.start[i].max(scale * gamma).min(R::ONE), false);
    }

    /// Lets factors grow with the strain.
    pub(crate) fn update(&self, system: &mut System<R>) {
        let grown = |i: usize, strain: R, scale: R| (scale + self.growth[i] * strain).min(R::ONE);
        system.scale_energies(grown, true);
    }
}
