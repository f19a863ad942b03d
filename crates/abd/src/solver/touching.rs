//! Newton iterations among surfaces that stay apart.

use taut_core::SolverError;

use super::{Abd, system::tied};
use crate::{body::drives_are_done, contact::BarrierContact, matrix::BlockMatrix};

/// Directions of systems that are not projected may be longer than the one before by this factor [1]. Where such a system
/// is barely definite they can be kilometres long, and everything on the way is a candidate.
const GROWTH: f64 = 2.0;
/// Nor has anything settled that moves by more than this share of what it is away from others [1]: a step towards the
/// minimum is as long as the distance where that is far below the minimum's, however small it is.
const NEAR: f64 = 0.1;

impl Abd {
    /// One Newton iteration. Each island goes as far as it can, so that no other cuts its step short.
    pub(super) fn iterate_touching(&mut self) -> Result<(), SolverError> {
        let first = std::mem::take(&mut self.renewed);
        self.direction.fill(0.0);
        self.set_motion();
        self.fit_matrix().map_err(SolverError::NotConverged)?;
        let Some(enough) = self.find_step() else {
            (self.converged, self.stalled) = (true, true);
            return Ok(());
        };
        self.find_room();
        let farthest = self.moves.iter().copied().fold(0.0, f64::max);
        self.farthest = Some(farthest);
        self.work.speed = farthest / self.step.dt;
        self.couple_islands();
        self.go_apart(enough);
        self.certify()?;
        self.settle(enough);
        let settled = self.islands.awake() == 0;
        self.converged = settled
            && drives_are_done(&mut self.bodies, enough)
            && (first || self.friction_is_done());
        if settled && !self.converged {
            self.islands.wake();
        }
        Ok(())
    }

    /// Islands settle that went a short step whole. What no share lowers is a minimum to rounding, where the step is
    /// short, and else the end of the search.
    fn settle(&mut self, enough: f64) {
        let Self { islands, moves, room, search, is_raised, stalled, .. } = self;
        islands.keep_awake(|body| *is_raised || moves[body] > enough.min(NEAR * room[body]));
        *stalled |= (0..moves.len()).any(|root| search.is_stuck(root) && islands.is_kept(root));
        islands.settle(|islands, root| {
            search.is_stuck(root) || (!islands.is_kept(root) && search.share(root) >= 1.0)
        });
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
    pub(super) fn find_room(&mut self) {
        self.room.clear();
        self.room.resize(self.bodies.len(), f64::INFINITY);
        if let Some(contact) = &self.contact {
            contact.nearest_by_body(&mut self.room);
        }
    }

    /// Couples bodies with those that they are joined with or may meet along the direction.
    pub(super) fn couple_islands(&mut self) {
        let Some(contact) = &self.contact else { return };
        let ties = tied(&self.ties, &self.body_of).map(|pair| pair.map(|body| body as usize));
        self.islands.couple(contact.met().chain(ties));
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
