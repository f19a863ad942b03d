//! How far bodies go along the direction: with contacts each island as far as it can, without them all alike.

use super::{Abd, RestingIslands};
use crate::{contact::BarrierContact, matrix::SIZE, settings::FirstGuess};

/// Halvings of a Newton step before it is given up: without contacts, and with them.
const HALVINGS_MAX: [usize; 2] = [30, 60];
/// Times that a first guess is halved before a step begins at its start.
const GUESSES_MAX: usize = 8;
/// Share of the decrease promised by the slope that a step must reach.
const ARMIJO: f64 = 1e-4;
/// Energies that differ by less than this share are equal to rounding.
const ROUNDING: f64 = 1e-13;
/// Newton steps of no more than this share of what ends a step are made without asking for a lower energy [1].
const NOTHING: f64 = 1e-6;
/// So are those of no more than this share of the size of bodies: an island alone may have no energy but what rounding leaves [1].
const ROUNDED: f64 = 1e-12;

/// What the search along the direction knows of each island, by its lowest body.
#[derive(Clone, Debug, Default)]
pub(super) struct IslandSearch {
    /// The share of the direction that the island goes [1].
    share: Vec<f64>,
    /// Whether no share has been found that lowers the energy enough.
    is_open: Vec<bool>,
    /// Energy before, and with that share [J].
    before: Vec<f64>,
    now: Vec<f64>,
    /// How the energy changes with the share where it starts [J].
    slope: Vec<f64>,
}

impl IslandSearch {
    /// The share that an island goes, by its lowest body.
    pub(super) fn share(&self, root: usize) -> f64 {
        self.share[root]
    }

    /// Whether no share was found for an island.
    pub(super) fn is_stuck(&self, root: usize) -> bool {
        self.is_open[root]
    }

    /// Begins anew for islands of so many bodies.
    fn begin(&mut self, islands: &RestingIslands, bodies: usize) {
        for list in [&mut self.before, &mut self.now, &mut self.slope] {
            list.clear();
            list.resize(bodies, 0.0);
        }
        self.share.clear();
        self.share.resize(bodies, 1.0);
        let is_island = |body: usize| islands.root(body) == body && islands.is_awake(body);
        self.is_open.clear();
        self.is_open.extend((0..bodies).map(is_island));
    }

    /// Halves the shares of islands whose energy has not fallen enough, and returns of how many.
    fn halve(&mut self) -> u64 {
        let Self { share, is_open, before, now, slope } = self;
        let mut halvings = 0;
        for (root, is_open) in is_open.iter_mut().enumerate().filter(|(_, is_open)| **is_open) {
            let before = before[root];
            let allowed = before + ARMIJO * share[root] * slope[root] + ROUNDING * before.abs();
            // What is not a number is not lower.
            if now[root] <= allowed {
                *is_open = false;
            } else {
                share[root] *= 0.5;
                halvings += 1;
            }
        }
        halvings
    }

    /// Islands for which no share was found stay.
    fn give_up(&mut self) {
        for (share, is_open) in self.share.iter_mut().zip(&self.is_open) {
            if *is_open {
                *share = 0.0;
            }
        }
    }
}

impl Abd {
    /// Moves bodies along the first guess: each island as far as nothing is in the way and, if settings say so, as its energy
    /// does not rise.
    pub(super) fn go_to_guess(&mut self) {
        self.couple_islands();
        self.find_safe_shares();
        if self.settings.first_guess == FirstGuess::NotAbove {
            self.find_energy_before(false);
            self.lower_energy(GUESSES_MAX);
        }
        self.advance_islands();
    }

    /// Moves each island along the direction as far as is safe and lowers its energy.
    pub(super) fn go_apart(&mut self, enough: f64) {
        self.find_safe_shares();
        self.find_energy_before(true);
        for (i, (g, d)) in self.gradient.iter().zip(&self.direction).enumerate() {
            self.search.slope[self.islands.root(i / SIZE)] += g * d;
        }
        let size = self.contact.as_ref().map_or(0.0, BarrierContact::length);
        let nothing = (NOTHING * enough).max(ROUNDED * size);
        self.islands.most(&self.moves, &mut self.now);
        for (body, farthest) in self.now.iter().enumerate() {
            // Rounding decides whether so little lowers anything.
            if self.search.share[body] >= 1.0 && *farthest <= nothing {
                self.search.is_open[body] = false;
            }
        }
        self.work.halvings += self.lower_energy(HALVINGS_MAX[1]);
        self.is_cut = self.search.share.iter().any(|share| *share < 1.0);
        self.advance_islands();
    }

    /// Halves the shares of islands, at most so often, until their energy has fallen enough; those for which it never has stay
    /// where they are. Returns how many times one was.
    fn lower_energy(&mut self, most: usize) -> u64 {
        let mut halvings = 0;
        for _ in 0..most {
            if !self.search.is_open.contains(&true) {
                break;
            }
            let mut now = std::mem::take(&mut self.search.now);
            now.fill(0.0);
            let open =
                |body| Some(self.islands.root(body)).filter(|&root| self.search.is_open[root]);
            let share = |body| open(body).map(|root| self.search.share[root]);
            let mut add = |body, energy| now[self.islands.root(body)] += energy;
            self.each_energy_without_contact(share, &mut add);
            if let Some(contact) = &self.contact {
                contact.each_energy(share, add);
            }
            self.search.now = now;
            halvings += self.search.halve();
        }
        self.search.give_up();
        halvings
    }

    /// Begins a search along the direction, with the shares up to which surfaces stay apart.
    pub(super) fn find_safe_shares(&mut self) {
        self.search.begin(&self.islands, self.bodies.len());
        if let Some(contact) = &mut self.contact {
            contact.find_safe_shares(&self.islands, &mut self.search.share);
        }
    }

    /// Finds the energy of each island where it is; that of the barrier is at hand where the system was assembled.
    fn find_energy_before(&mut self, is_assembled: bool) {
        let mut before = std::mem::take(&mut self.search.before);
        let share = |body| Some(0.0).filter(|_| self.search.is_open[self.islands.root(body)]);
        let mut add = |body, energy| before[self.islands.root(body)] += energy;
        self.each_energy_without_contact(share, &mut add);
        match &self.contact {
            Some(contact) if is_assembled => contact.each_energy_here(share, add),
            Some(contact) => contact.each_energy(share, add),
            None => {}
        }
        self.search.before = before;
    }

    /// Moves each island by its share.
    pub(super) fn advance_islands(&mut self) {
        let mut shares = std::mem::take(&mut self.search.now);
        for (body, share) in shares.iter_mut().enumerate() {
            *share = self.search.share[self.islands.root(body)];
        }
        self.advance(|body| shares[body]);
        self.search.now = shares;
    }

    /// The share of the direction after which the energy without contacts has fallen enough, if any.
    pub(super) fn searched(&mut self) -> Option<f64> {
        let before = self.energy_without_contact(0.0);
        let slope: f64 = self.gradient.iter().zip(&self.direction).map(|(g, d)| g * d).sum();
        let mut share = 1.0;
        for _ in 0..HALVINGS_MAX[0] {
            let allowed = before + ARMIJO * share * slope + ROUNDING * before.abs();
            if self.energy_without_contact(share) <= allowed {
                return Some(share);
            }
            self.work.halvings += 1;
            share *= 0.5;
        }
        None
    }
}
