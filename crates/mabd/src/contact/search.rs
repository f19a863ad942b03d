//! Which way and how far each island goes in a round: towards where a linear solve leads, as far as its energy falls.

use taut_core::Vec3;

use super::{BoundedRow, ContactPoint, CornerShares, StepContacts};
use crate::{affine::Affine, node::Nodes};

/// Halvings that find how far to go.
const HALVINGS: u32 = 30;

/// Rounds in which friction is bounded by the pressure just found.
const ROUNDS_FREE: u32 = 20;
/// Rounds after which the bound of friction stays.
const ROUNDS_FROZEN: u32 = 24;

/// An island is settled where its contacts lack less than this share of what they exert.
const SETTLED: f64 = 1e-3;

/// How far an island goes towards where a linear solve leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSearch {
    /// Whether it is still looking for who presses and slides.
    open: bool,
    /// Whether it goes to the end, wherever its energy is least: the first way need not keep the joints.
    whole: bool,
    /// Squares of what its contacts, limits and motors should exert beyond what the linear solves do, and of these [N^2].
    lacks: f64,
    exerts: f64,
    /// Shares of the way between which its energy is least.
    low: f64,
    high: f64,
    growth: f64,
}

impl LineSearch {
    pub(super) const START: Self =
        Self { open: true, whole: true, lacks: 0.0, exerts: 0.0, low: 0.0, high: 1.0, growth: 0.0 };

    /// Whether it looks for how far to go.
    fn is_searching(&self) -> bool {
        self.open && !self.whole
    }

    /// The middle of what is left of the way.
    fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }

    fn is_unbalanced(&self) -> bool {
        self.lacks > SETTLED * SETTLED * self.exerts
    }
}

impl StepContacts {
    /// Whether a node's island is still looking for who presses and slides.
    pub(crate) fn is_open(&self, node: usize) -> bool {
        self.searches[self.island_of()[node] as usize].open
    }

    /// Lets all islands look again.
    #[cfg(test)]
    pub(crate) fn reopen(&mut self) {
        self.searches.fill(LineSearch::START);
    }

    /// Ends a round: islands without news are settled, or all at once if they are solved `together`. Tells
    /// whether all are.
    pub(crate) fn close(&mut self, together: bool) -> bool {
        let fresh = |search: &LineSearch| search.open && search.is_unbalanced();
        let any = self.searches.iter().any(fresh);
        for search in &mut self.searches {
            search.open = if together { any } else { fresh(search) };
            search.whole = false;
        }
        !any
    }

    /// Values of all rows in the current iterate; nothing presses yet, and no island is settled.
    pub(crate) fn evaluate(&mut self, nodes: &Nodes) {
        self.searches.fill(LineSearch::START);
        self.spin_rims(nodes);
        for point in &mut self.points {
            let [core, surface] = point.apart(|node| nodes.place(node));
            let moved = [core - point.from[0], surface - point.from[1]];
            point.value = point.local(&moved) + point.offset;
            (point.stiffness, point.held) = (Vec3::zeros(), Vec3::zeros());
            point.lead = 0.0;
        }
    }

    /// Takes over where rows of islands that are not settled come to when nodes move on by `increments`, frames
    /// co-rotated.
    fn attempt(&mut self, nodes: &Nodes, increments: &[Affine]) {
        for t in 0..self.points.len() {
            if !self.search(t).open {
                continue;
            }
            let point = &mut self.points[t];
            point.tried = point.value;
            for side in 0..2 {
                let Some(to) = moved(point, side, nodes, increments) else { continue };
                let change = point.local(&to);
                point.tried += if side == 0 { change } else { -change };
            }
        }
    }

    /// Decides who presses and slides from where nodes would go without contact.
    pub(crate) fn predict(&mut self, nodes: &Nodes, increments: &[Affine]) {
        self.attempt(nodes, increments);
        for point in &mut self.points {
            point.reached = point.tried;
            point.foresee();
        }
    }

    /// Lets those press and slide who did in the solve before.
    pub(crate) fn keep(&mut self) {
        for point in &mut self.points {
            point.choose(point.pressure);
        }
    }

    /// Decides who presses and slides in the current iterate, where an iteration before has led to it.
    pub(crate) fn go_on(&mut self) {
        self.points.iter_mut().for_each(ContactPoint::go_on);
    }

    /// Goes towards where a linear solve leads as far as the energy of contacts, limits and motors falls, and decides
    /// anew who presses, slides and holds there.
    ///
    /// Friction that follows pressure and pressure that follows friction can go round in circles. So after some
    /// rounds friction is bounded by the mean of the pressures since, which must come to rest.
    pub(crate) fn advance(
        &mut self,
        nodes: &Nodes,
        increments: &[Affine],
        bounded: &mut [BoundedRow],
        round: u32,
    ) {
        let weight = match round {
            ..ROUNDS_FREE => 1.0,
            ROUNDS_FREE..ROUNDS_FROZEN => 1.0 / f64::from(round + 2 - ROUNDS_FREE),
            _ => 0.0,
        };
        self.attempt(nodes, increments);
        self.find_shares(bounded);
        for t in 0..self.points.len() {
            let LineSearch { open, high: share, .. } = *self.search(t);
            if !open {
                continue;
            }
            let point = &mut self.points[t];
            point.held += (point.exerted() - point.held) * share;
            point.reached += (point.tried - point.reached) * share;
            let pressed = (-point.held.x).max(0.0);
            let bounding = point.pressure + (pressed - point.pressure) * weight;
            point.choose(bounding);
            let [lacks, exerts] = point.imbalance();
            let search = self.search_mut(t);
            search.lacks += lacks;
            search.exerts += exerts;
        }
        for row in bounded {
            let search = self.search_of(row);
            if search.open {
                row.advance(search.high);
                let [lacks, exerts] = row.imbalance();
                search.lacks += lacks;
                search.exerts += exerts;
            }
        }
    }

    /// How much of the way to where the last solve led a node goes.
    pub(crate) fn share(&self, node: usize) -> f64 {
        self.searches[self.island_of()[node] as usize].high
    }

    /// The node that stands for the island of a contact.
    pub(crate) fn island(&self, point: usize) -> usize {
        let point = &self.points[point];
        let mover = point.nodes[point.only_mover(self.island_of().len()).unwrap_or(0)];
        self.island_of()[mover as usize] as usize
    }

    fn search(&self, point: usize) -> &LineSearch {
        &self.searches[self.island(point)]
    }

    fn search_mut(&mut self, point: usize) -> &mut LineSearch {
        let island = self.island(point);
        &mut self.searches[island]
    }

    fn search_of(&mut self, row: &BoundedRow) -> &mut LineSearch {
        let island = self.island_of()[row.node as usize] as usize;
        &mut self.searches[island]
    }

    /// How much of the way lowers the energy of each island.
    fn find_shares(&mut self, bounded: &[BoundedRow]) {
        for search in &mut self.searches {
            (search.low, search.high) = (0.0, 1.0);
            (search.growth, search.lacks, search.exerts) = (0.0, 0.0, 0.0);
        }
        for t in 0..self.points.len() {
            if self.search(t).is_searching() {
                let growth = self.points[t].growth(1.0);
                self.search_mut(t).growth += growth;
            }
        }
        for row in bounded {
            let search = self.search_of(row);
            if search.is_searching() {
                search.growth += row.growth(1.0);
            }
        }
        let [points, rows] = &mut self.slowed;
        points.clear();
        rows.clear();
        rows.reserve(bounded.len());
        for t in 0..self.points.len() {
            if self.search(t).growth > 0.0 && self.points[t].acts() {
                self.slowed[0].push(t as u32);
            }
        }
        for (r, row) in (0..).zip(bounded) {
            if self.search_of(row).growth > 0.0 {
                self.slowed[1].push(r);
            }
        }
        if self.slowed.iter().all(Vec::is_empty) {
            return;
        }
        self.slowed_islands.clear();
        for (island, search) in (0..).zip(&self.searches) {
            if search.growth > 0.0 {
                self.slowed_islands.push(island);
            }
        }
        for _ in 0..HALVINGS {
            self.halve(bounded);
        }
    }

    /// Halves what is left of the ways of islands that do not go to the end.
    fn halve(&mut self, bounded: &[BoundedRow]) {
        for &island in &self.slowed_islands {
            self.searches[island as usize].growth = 0.0;
        }
        for i in 0..self.slowed[0].len() {
            let t = self.slowed[0][i] as usize;
            let growth = self.points[t].growth(self.search(t).middle());
            self.search_mut(t).growth += growth;
        }
        for i in 0..self.slowed[1].len() {
            let row = &bounded[self.slowed[1][i] as usize];
            let search = self.search_of(row);
            search.growth += row.growth(search.middle());
        }
        for &island in &self.slowed_islands {
            let search = &mut self.searches[island as usize];
            let middle = search.middle();
            let side = if search.growth <= 0.0 { &mut search.low } else { &mut search.high };
            *side = middle;
        }
    }
}

/// How far nodes take one side of a point with them, core and surface; none where forces do not move it.
#[inline(always)]
fn moved(
    point: &ContactPoint,
    side: usize,
    nodes: &Nodes,
    increments: &[Affine],
) -> Option<[Vec3; 2]> {
    if let (1, Some(CornerShares { nodes, weights })) = (side, &point.corners) {
        let corners = nodes.iter().zip(weights);
        let moving = corners.filter_map(|(&n, w)| Some(increments.get(n as usize)?.origin * *w));
        return Some([moving.sum(); 2]);
    }
    let node = point.nodes[side] as usize;
    let response = nodes.responses.get(node)?;
    let moved = increments[node];
    let anchors = [point.cores[side], point.anchors[side]];
    Some(anchors.map(|anchor| response.rotation * (moved.frame * anchor) + moved.origin))
}
