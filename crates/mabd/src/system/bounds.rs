//! Limits and motors: rows with bounded multipliers, by active sets. Beside contacts they are springs, see
//! `contact/bounded.rs`.
//!
//! Sets are tried by principal pivoting: a free limit holds where its row is beyond it, and one that holds goes free,
//! never to the other side, where its multiplier pulls. A motor that holds gives no more than its effort, and one that
//! gives all of it holds where its row would get ahead of it. All rows choose at once; where that goes on and on, they
//! do so one after the other, the first one that has to, which ends for positive systems (Murty 1974; bounded on both
//! sides, Judice and Pires 1992).

use taut_core::constraint::RowKind;
use taut_math::Real;

use super::{StepScheme, System, least};
use crate::{
    contact::{BoundedRow, StepContacts},
    dual::blocks::DualBlocks,
    joint::{JointElement, RowFunction, RowLaw},
};

/// The most active sets that are tried in one solve with all rows choosing at once, and after these one by one.
const ROUNDS_MAX: u32 = 16;
const PIVOTS_MAX: u32 = 128;

/// One bounded row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    element: u32,
    row: u32,
    law: RowLaw,
    /// Whether its value is an angle, which poses tell up to full turns; these are counted from one step to the next.
    angle: bool,
    /// Value when the step began.
    start: f64,
    /// Value at the end of the step at which a motor aims, and of the row in the current iterate.
    target: f64,
    value: f64,
    /// `None` where the row holds; else its multiplier.
    given: Option<f64>,
    /// At which value it holds.
    held: f64,
    /// Both before the last choice.
    was: (Option<f64>, f64),
}

/// The bounded rows of all elements.
pub(crate) fn all(elements: &[JointElement], blocks: &DualBlocks) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for (e, element) in elements.iter().enumerate().filter(|(_, element)| element.is_bounded()) {
        for (k, row) in element.rows.iter().enumerate() {
            if !row.law.is_bounded() {
                continue;
            }
            bounds.push(Bound {
                element: e as u32,
                row: blocks.first[e] + k as u32,
                law: row.law,
                angle: row.function == RowFunction::Plain(RowKind::Angle),
                start: 0.0,
                target: 0.0,
                value: 0.0,
                given: Some(0.0),
                held: 0.0,
                was: (Some(0.0), 0.0),
            });
        }
    }
    bounds
}

impl Bound {
    /// Starts over as after loading.
    pub(crate) fn forget(&mut self) {
        self.given = Some(0.0);
    }

    /// A value of the row, with the full turns of an angle.
    fn counted(&self, value: f64) -> f64 {
        if self.angle { value.nearest_turn(self.start) } else { value }
    }

    /// Chooses what the row does from its predicted value and its multiplier.
    fn choose(&mut self, value: f64, multiplier: f64) {
        (self.given, self.held) = match self.law {
            RowLaw::Held { .. } | RowLaw::Damped { .. } => (None, self.held),
            RowLaw::Limit(limit) => {
                let holds = self.given.is_none();
                let pushes = (self.held == limit.upper && multiplier > 0.0)
                    || (self.held == limit.lower && multiplier < 0.0);
                if holds && (pushes || limit.upper == limit.lower) {
                    (None, self.held)
                } else if !holds && value > limit.upper {
                    (None, limit.upper)
                } else if !holds && value < limit.lower {
                    (None, limit.lower)
                } else {
                    (Some(0.0), self.held)
                }
            }
            RowLaw::Motor(motor) => {
                let given = match self.given {
                    None => {
                        let within = multiplier.abs() < motor.max_effort;
                        (!within).then(|| motor.max_effort.copysign(multiplier))
                    }
                    // With all its effort it lags behind where it should be.
                    Some(given) => {
                        let lags = (value - self.target) * given >= 0.0;
                        self.given.filter(|_| lags && given.abs() == motor.max_effort)
                    }
                };
                (given, self.target)
            }
        };
    }

    /// Whether the last choice changed what the row does.
    fn has_changed(&self) -> bool {
        let (given, held) = self.was;
        given != self.given || (given.is_none() && held != self.held)
    }
}

impl System {
    /// Counts angles from half a turn either way again.
    pub(crate) fn forget_turns(&mut self) {
        self.bounds.iter_mut().for_each(|bound| bound.start = 0.0);
    }

    /// Notes at the start of a step of length `h` [s] from where angles count, and where motors should be at its end.
    pub(crate) fn aim_motors(&mut self, h: f64) {
        for bound in &mut self.bounds {
            let motor = match bound.law {
                RowLaw::Motor(motor) => Some(motor),
                _ if bound.angle => None,
                _ => continue,
            };
            let element = &self.elements[bound.element as usize];
            let places = element.nodes.map(|node| self.nodes.place(node));
            let view = crate::joint::ElementView {
                places,
                anchors: &element.anchors,
                bases: &element.bases,
            };
            let k = bound.row - self.dual.blocks.first[bound.element as usize];
            let value = bound.counted(view.evaluate(element.rows[k as usize].function).value);
            bound.start = value;
            let Some(motor) = motor else { continue };
            bound.target = value + motor.speed * h;
            bound.held = bound.target;
            bound.given = None;
        }
        if self.contacts.is_none() {
            yield_to_limits(&mut self.bounds);
        }
    }

    /// Notes the values of bounded rows where they have just been evaluated.
    pub(super) fn note_bounds(&mut self) {
        for bound in &mut self.bounds {
            bound.value = bound.counted(self.rows.errors[bound.row as usize]);
        }
    }

    /// Finds all multipliers and the loads that they make.
    pub(super) fn find_multipliers(&mut self, scheme: &StepScheme) {
        for round in 0..ROUNDS_MAX + PIVOTS_MAX {
            self.find_multipliers_once();
            if !self.choose_bounds(scheme, round >= ROUNDS_MAX) {
                return;
            }
        }
    }

    /// Finds all multipliers by the dual system, with bounded rows as they are.
    pub(super) fn find_multipliers_once(&mut self) {
        self.rows.guess.copy_from_slice(&self.rows.lambda);
        self.rows.lambda.fill(0.0);
        if !self.bounds.is_empty() {
            self.apply_bounds();
            self.gather_loads();
        }
        self.assemble();
        self.gather_rhs();
        let noise = self.noise();
        self.rows.least.clear();
        if noise.is_some() {
            self.rows.least.extend_from_slice(&self.rows.rhs);
        }
        // Not `solve`, which would have bodies stretched by what their rows contradict each other.
        let solved = noise.is_some_and(|noise| {
            self.dual.solve_least(&mut self.rows.rhs, noise.min(least::MOTION))
        });
        if !solved {
            self.dual.solve(&mut self.rows.rhs, &self.rows.guess);
        }
        std::mem::swap(&mut self.rows.lambda, &mut self.rows.rhs);
        if let Some(noise) = noise
            && !self.dual.solve_least(&mut self.rows.least, noise)
        {
            self.rows.least.clear();
        }
        self.gather_loads();
    }

    /// Gives the multipliers of rows that do not hold, and what is left to do to those that do. Whether others hold than
    /// before.
    pub(super) fn apply_bounds(&mut self) -> bool {
        let mut others = false;
        for bound in &self.bounds {
            let row = bound.row as usize;
            let active = self.active[bound.element as usize];
            let live = active && bound.given.is_none();
            others |= live != std::mem::replace(&mut self.rows.live[row], live);
            if live {
                self.rows.errors[row] = bound.value - bound.held;
            } else if active {
                self.rows.lambda[row] = bound.given.unwrap_or(0.0);
            }
        }
        others
    }

    /// Lets every bounded row choose anew, or only the first of those that would; whether one did.
    fn choose_bounds(&mut self, scheme: &StepScheme, one_by_one: bool) -> bool {
        for bound in &mut self.bounds {
            bound.was = (bound.given, bound.held);
        }
        for i in 0..self.bounds.len() {
            let Bound { element, row, value, .. } = self.bounds[i];
            if !self.active[element as usize] {
                continue;
            }
            let predicted = value + self.change(element as usize, row as usize, scheme);
            self.bounds[i].choose(predicted, self.rows.lambda[row as usize]);
        }
        yield_to_limits(&mut self.bounds);
        if one_by_one && let Some(first) = self.bounds.iter().position(Bound::has_changed) {
            for bound in &mut self.bounds[first + 1..] {
                (bound.given, bound.held) = bound.was;
            }
            yield_to_limits(&mut self.bounds);
        }
        self.bounds.iter().any(Bound::has_changed)
    }

    /// Has bounded rows give way as contacts do, beside which they are to be solved for, and which are `scale` times as
    /// stiff as inertia is in a step.
    pub(super) fn soften_bounds(&mut self, scale: f64) {
        self.bounded.clear();
        for (i, bound) in (0_u32..).zip(&self.bounds) {
            let Bound { element, row, law, target, .. } = *bound;
            if self.active[element as usize] {
                let softness = self.softness(row as usize);
                let node = self.mover(element) as u32;
                let soft = BoundedRow::new([i, node], (law, target), softness, scale);
                self.rows.compliance[row as usize] = soft.compliance();
                self.bounded.push(soft);
            }
        }
    }

    /// Tells bounded rows of islands that are not settled where the last linear solve leads them.
    pub(super) fn attempt_bounds(&mut self, contacts: &StepContacts, scheme: &StepScheme) {
        for i in 0..self.bounded.len() {
            let BoundedRow { bound, node, .. } = self.bounded[i];
            let Bound { element, row, value, .. } = self.bounds[bound as usize];
            if contacts.is_open(node as usize) {
                let value = value + self.change(element as usize, row as usize, scheme);
                self.bounded[i].attempt(value, self.rows.lambda[row as usize]);
            }
        }
    }

    /// Has bounded rows of islands that are not settled do what they do in the point reached.
    pub(super) fn choose_soft_bounds(&mut self, contacts: &StepContacts) {
        for soft in self.bounded.iter().filter(|soft| contacts.is_open(soft.node as usize)) {
            let bound = &mut self.bounds[soft.bound as usize];
            (bound.given, bound.held) = soft.piece();
        }
    }

    /// A node of an element that forces move.
    pub(super) fn mover(&self, element: u32) -> usize {
        let [a, b] = self.ends[element as usize].map(|node| node as usize);
        if a < self.nodes.count() { a } else { b }
    }

    /// How far a unit multiplier moves a row.
    fn softness(&self, row: usize) -> f64 {
        let both = self.rows.gradients[row].iter().zip(&self.rows.replies[row]);
        both.map(|(gradient, reply)| gradient.dot(reply)).sum()
    }
}

/// Where a joint's limit holds, its motor does not too: two rows with one gradient and different targets
/// have no multipliers. A motor that aims beyond pushes as hard as it can, and one that does not takes over.
fn yield_to_limits(bounds: &mut [Bound]) {
    for i in 1..bounds.len() {
        let [before, bound] = &mut bounds[i - 1..=i] else { continue };
        if let (RowLaw::Limit(limit), RowLaw::Motor(motor)) = (before.law, bound.law)
            && before.element == bound.element
            && before.given.is_none()
            && bound.given.is_none()
        {
            if bound.target > limit.lower && bound.target < limit.upper {
                before.given = Some(0.0);
            } else {
                let effort = if motor.speed == 0.0 { 0.0 } else { motor.max_effort };
                bound.given = Some(effort.copysign(-motor.speed));
            }
        }
    }
}
