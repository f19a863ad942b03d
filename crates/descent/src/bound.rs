//! Bounds on how far particles move at once, within which none can pass through what it touches.

use taut_collide::Clearances;
use taut_core::Scene;
use taut_math::{Real, V3};

use crate::node::{Base, NodeLayout, SweepNode};

/// Share of its clearance by which a particle may move: with less than half of it, two that approach each other
/// cannot meet. From Chen et al., Offset Geometric Contact (ACM TOG 44(4), 2025).
const SHARE: f64 = 0.45;

/// How far each particle may move until the clearances are found again.
#[derive(Clone, Debug)]
pub(crate) struct MotionBounds<R> {
    clearances: Clearances,
    margin: f64,
    /// How far is looked in this step [m].
    reach: f64,
    /// By node [m]; without bound for bodies.
    limits: Vec<R>,
}

impl<R: Real> MotionBounds<R> {
    /// Of a scene; `None` where no particle may touch a triangle of others.
    pub(crate) fn new(scene: &Scene) -> Option<Self> {
        let (clearances, margin) = (Clearances::new(scene)?, scene.contacts?.margin);
        Some(Self { clearances, margin, reach: margin, limits: vec![] })
    }

    /// Starts a step that would first take the nodes where they are now, and keeps them within their bounds.
    pub(crate) fn begin(
        &mut self,
        nodes: &mut [SweepNode<R>],
        bases: &[Base<R>],
        layout: &NodeLayout,
    ) {
        let steps = layout.particles().iter().map(|&n| nodes[n as usize].step.norm().to_f64());
        let longest = steps.fold(0.0, f64::max);
        // Whoever is alone this far around is not held back.
        self.reach = self.margin.max(longest) / SHARE;
        self.find(bases, layout, |_| V3::ZERO);
        for &n in layout.particles() {
            let node = &mut nodes[n as usize];
            node.step = self.bounded(n as usize, node.step);
        }
    }

    /// Finds the bounds of the nodes' next motions, from where they are.
    pub(crate) fn follow(
        &mut self,
        nodes: &[SweepNode<R>],
        bases: &[Base<R>],
        layout: &NodeLayout,
    ) {
        self.find(bases, layout, |n| nodes[n].step);
    }

    fn find(&mut self, bases: &[Base<R>], layout: &NodeLayout, step: impl Fn(usize) -> V3<R>) {
        let places = layout.particles().iter().map(|&n| {
            let n = n as usize;
            (bases[n].position + step(n)).to_f64()
        });
        let found = self.clearances.measure(places, self.reach);
        self.limits.clear();
        self.limits.resize(bases.len(), R::of(f64::INFINITY));
        for (&n, &clearance) in layout.particles().iter().zip(found) {
            self.limits[n as usize] = R::of(SHARE * clearance);
        }
    }

    /// A motion of a node, no longer than it may be.
    #[inline]
    pub(crate) fn bounded(&self, n: usize, motion: V3<R>) -> V3<R> {
        let (size, limit) = (motion.norm(), self.limits[n]);
        if size > limit { motion * (limit / size) } else { motion }
    }
}
