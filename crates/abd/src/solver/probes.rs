//! What tests look at inside a step.

use super::{Abd, SIZE};

impl Abd {
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut crate::body::Vec12> {
        self.bodies.iter_mut().map(|node| &mut node.now)
    }

    /// Takes a direction, checks what matters along it, and goes as far as is safe.
    pub(crate) fn go_checked(&mut self, direction: impl Fn(usize) -> f64) -> [usize; 2] {
        self.direction.iter_mut().enumerate().for_each(|(k, step)| *step = direction(k));
        self.set_motion();
        let left_out = self.contact.as_mut().unwrap().check_prospects();
        self.couple_islands();
        self.find_safe_shares();
        self.advance_islands();
        left_out
    }

    /// How far each body went of the last direction [1].
    pub(crate) fn shares(&self) -> Vec<f64> {
        (0..self.bodies.len()).map(|body| self.search.share(self.islands.root(body))).collect()
    }

    /// How far each body is from the nearest other, as is asked once a direction is known [m].
    pub(crate) fn rooms(&mut self, direction: impl Fn(usize) -> f64) -> Vec<f64> {
        self.direction.fill(0.0);
        self.set_motion();
        self.assemble(true);
        self.direction.iter_mut().enumerate().for_each(|(k, step)| *step = direction(k));
        self.set_motion();
        self.find_room();
        self.room.clone()
    }

    /// Gradient and dense Hessian.
    pub(crate) fn derivatives(&mut self) -> (Vec<f64>, Vec<Vec<f64>>) {
        self.assemble(false);
        let n = self.gradient.len();
        let dense = (0..n).map(|i| (0..n).map(|j| self.matrix.entry(i, j)).collect()).collect();
        (self.gradient.clone(), dense)
    }

    /// Takes it that vertices moved so far in the iteration before [m].
    pub(crate) fn set_farthest(&mut self, farthest: f64) {
        self.farthest = Some(farthest);
    }

    /// How much higher the energy is where the search for the end of the step begins than at the step's start [J].
    pub(crate) fn rise_of_guess(&mut self) -> f64 {
        for (way, node) in self.direction.chunks_exact_mut(SIZE).zip(&self.bodies) {
            way.copy_from_slice((node.start - node.now).as_slice());
        }
        self.set_motion();
        self.energy(0.0) - self.energy(1.0)
    }

    /// The incremental energy with every body moved by `share` of the direction [J].
    pub(crate) fn energy(&self, share: f64) -> f64 {
        let mut sum = self.energy_without_contact(share);
        if let Some(contact) = &self.contact {
            contact.each_energy(|_| Some(share), |_, energy| sum += energy);
        }
        sum
    }

    /// Energy with one unknown moved.
    pub(crate) fn energy_at(&mut self, unknown: usize, by: f64) -> f64 {
        self.direction.fill(0.0);
        self.direction[unknown] = by;
        self.set_motion();
        self.energy(1.0)
    }

    /// Gradient with one unknown moved.
    pub(crate) fn gradient_at(&mut self, unknown: usize, by: f64) -> Vec<f64> {
        let kept = self.bodies[unknown / SIZE].now;
        self.bodies[unknown / SIZE].now[unknown % SIZE] += by;
        self.direction.fill(0.0);
        self.set_motion();
        self.assemble(false);
        self.bodies[unknown / SIZE].now = kept;
        self.gradient.clone()
    }
}
