//! Newton iterations among surfaces that stay apart.

use taut_core::SolverError;

use super::{Abd, system::tied};
use crate::{
    body::drives_are_done,
    contact::BarrierContact,
    matrix::{BlockMatrix, SIZE},
    settings::FirstGuess,
};

/// Directions of systems that are not projected may be longer than the one before by this factor [1]. Where such a system
/// is barely definite they can be kilometres long, and everything on the way is a candidate.
const GROWTH: f64 = 2.0;
/// Newton steps of no more than this share of what ends a step are made without asking for a lower energy [1].
const NOTHING: f64 = 1e-6;
/// Nor has anything settled that moves by more than this share of what it is away from others [1]: a step towards the
/// minimum is as long as the distance where that is far below the minimum's, however small it is.
const NEAR: f64 = 0.1;
/// Times that a first guess is halved before a step begins at its start.
const GUESSES_MAX: u32 = 8;

impl Abd {
    /// The share of the first guess, at most `most`, from which the search begins.
    pub(super) fn share_of_guess(&self, most: f64) -> f64 {
        if self.contact.is_none() || self.settings.first_guess != FirstGuess::NotAbove {
            return most;
        }
        let allowed = self.energy(0.0);
        let mut share = most;
        for _ in 0..GUESSES_MAX {
            if self.energy(share) <= allowed {
                return share;
            }
            share *= 0.5;
        }
        0.0
    }

    /// One Newton iteration. Islands that are to settle move by themselves, so that no other cuts their steps short.
    pub(super) fn iterate_touching(&mut self) -> Result<(), SolverError> {
        let first = std::mem::take(&mut self.renewed);
        self.direction.fill(0.0);
        self.set_motion();
        self.fit_matrix().map_err(SolverError::NotConverged)?;
        let Some(enough) = self.find_step() else {
            (self.converged, self.stalled) = (true, true);
            return Ok(());
        };
        self.is_cut = false;
        self.find_room();
        let farthest = self.moves.iter().copied().fold(0.0, f64::max);
        self.farthest = Some(farthest);
        self.work.speed = farthest / self.step.dt;
        self.couple_islands();
        let (moves, room, is_raised) = (&self.moves, &self.room, self.is_raised);
        self.islands.keep_awake(|body| is_raised || moves[body] > enough.min(NEAR * room[body]));
        let (small, large) = (self.islands.has(false), self.islands.has(true));
        if small {
            self.whole_direction.clone_from(&self.direction);
            if large {
                self.mask(true);
            }
            let before = if large { self.energy(0.0) } else { self.energy_here() };
            let found = self.go(before, enough)?;
            // What no share lowers is a minimum to rounding.
            if found.is_none_or(|share| share >= 1.0) {
                self.islands.settle();
            }
        }
        if large {
            if small {
                self.direction.clone_from(&self.whole_direction);
                self.mask(false);
            }
            let before = if small { self.energy(0.0) } else { self.energy_here() };
            if self.go(before, enough)?.is_none() {
                self.stalled = true;
                self.islands.settle_all();
            }
        }
        let settled = self.islands.awake() == 0;
        self.converged = settled
            && drives_are_done(&mut self.bodies, enough)
            && (first || self.friction_is_done());
        if settled && !self.converged {
            self.islands.wake();
        }
        Ok(())
    }

    /// Whether the direction is out of all proportion to the one before, or in a first iteration to the size of bodies.
    pub(super) fn is_boundless(&self) -> bool {
        let Some(contact) = &self.contact else { return false };
        let most = GROWTH * self.farthest.unwrap_or_else(|| contact.length());
        let way = |k: usize| contact.largest_way(self.bodies[k].body, &self.sweep(k));
        !(0..self.bodies.len()).all(|k| way(k) <= most)
    }

    /// How far vertices may move in a step that is the last [m].
    pub(super) fn enough(&self) -> f64 {
        let Some(contact) = &self.contact else { return 0.0 };
        let gap = self.settings.gap_tolerance * contact.d_hat();
        gap.min(self.settings.speed_tolerance * contact.length() * self.step.dt)
    }

    /// Finds how far the vertices of each body move at most along the direction, and returns the most of all [m].
    pub(super) fn find_moves(&mut self) -> f64 {
        self.moves.clear();
        let contact = self.contact.as_ref();
        let of = |body: usize| contact.map_or(0.0, |contact| contact.largest_move(body));
        self.moves.extend(self.bodies.iter().map(|node| of(node.body)));
        self.moves.iter().copied().fold(0.0, f64::max)
    }

    /// Finds how far each body is from the nearest other within reach of the barrier [m].
    fn find_room(&mut self) {
        self.room.clear();
        self.room.resize(self.bodies.len(), f64::INFINITY);
        if let Some(contact) = &self.contact {
            contact.nearest_by_body(&mut self.room);
        }
    }

    /// Couples bodies with those that they are joined with or may meet along the direction.
    fn couple_islands(&mut self) {
        let Some(contact) = &self.contact else { return };
        let ties = tied(&self.ties, &self.body_of).map(|pair| pair.map(|body| body as usize));
        self.islands.couple(contact.met().chain(ties));
    }

    /// Takes the motion of those islands that are kept awake, or of the others, out of the direction.
    fn mask(&mut self, kept: bool) {
        for (body, step) in self.direction.chunks_exact_mut(SIZE).enumerate() {
            if self.islands.is_kept(body) == kept {
                step.fill(0.0);
            }
        }
        self.set_motion();
    }

    /// Moves bodies along the direction as far as is safe and lowers the energy, which is `before` [J]. Returns the share
    /// they went, if any.
    fn go(&mut self, before: f64, enough: f64) -> Result<Option<f64>, SolverError> {
        let safe = self.contact.as_mut().map_or(1.0, BarrierContact::safe_share);
        let farthest = self.find_moves();
        // Rounding decides whether so little lowers anything.
        let found = match safe >= 1.0 && farthest <= NOTHING * enough {
            true => Some(1.0),
            false => self.searched(safe, before),
        };
        if let Some(share) = found {
            self.is_cut |= share < 1.0;
            self.advance(share);
            self.certify()?;
        }
        Ok(found)
    }

    /// Whether friction acts with the forces of where bodies are, or is to be left as it is; if not, it does from now on.
    fn friction_is_done(&mut self) -> bool {
        if self.lags >= self.settings.friction_lags {
            return true;
        }
        self.islands.wake();
        self.direction.fill(0.0);
        self.set_motion();
        if let Some(contact) = &mut self.contact {
            contact.renew_sliding();
        }
        (self.lags, self.renewed) = (self.lags + 1, true);
        false
    }

    /// Makes sure that what was accepted is free of intersections.
    pub(super) fn certify(&mut self) -> Result<(), SolverError> {
        if !self.settings.certify {
            return Ok(());
        }
        self.direction.fill(0.0);
        self.set_motion();
        match self.contact.as_ref().and_then(BarrierContact::intersecting) {
            Some([a, b]) => {
                Err(SolverError::NotConverged(format!("bodies {a} and {b} intersect after a step")))
            }
            None => Ok(()),
        }
    }

    /// Makes the system fit what is coupled now: that of all bodies while most have not settled, then that of a part.
    /// `Err` where there is no memory for it.
    fn fit_matrix(&mut self) -> Result<(), String> {
        let Some(contact) = &self.contact else { return Ok(()) };
        let (all, awake) = (self.bodies.len(), self.islands.awake());
        let in_part = 2 * awake < all;
        let mut other = in_part == (self.matrix.len() == all);
        if other && let Some(spare) = &mut self.spare {
            std::mem::swap(spare, &mut self.matrix);
            other = false;
        }
        let is_awake = |body: usize| self.islands.is_awake(body);
        let both = |pair: &[usize; 2]| pair.iter().all(|&body| is_awake(body));
        if !other
            && (!in_part || self.matrix.len() <= 2 * awake)
            && (0..all).all(|body| !is_awake(body) || self.matrix.holds(body))
            && contact.coupled().filter(both).all(|[a, b]| self.matrix.has(a, b))
        {
            return Ok(());
        }
        let pairs = contact.coupled().filter(both).map(|pair| pair.map(|i| i as u32));
        let ties = tied(&self.ties, &self.body_of).filter(|pair| both(&pair.map(|i| i as usize)));
        let pairs: Vec<[u32; 2]> = pairs.chain(ties).collect();
        let bodies = (0..all as u32).filter(|&body| !in_part || is_awake(body as usize));
        let fitting = BlockMatrix::of(bodies.collect(), &self.places(), &pairs)?;
        let before = std::mem::replace(&mut self.matrix, fitting);
        if other {
            self.spare = Some(before);
        }
        Ok(())
    }
}
