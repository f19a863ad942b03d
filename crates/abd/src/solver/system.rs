//! The incremental energy of a step, its gradient and its Hessian.

use taut_core::{Mat3, Vec3};

use crate::{
    body::{AffineBody, Vec12, joined, point, split},
    contact::NewtonSystem,
    energy,
    joint::Tie,
    matrix::{BodyBlock, SIZE},
    solver::Abd,
};

/// The rows of a body that has settled.
const STILL: BodyBlock = {
    let mut block = [[0.0; SIZE]; SIZE];
    let mut k = 0;
    while k < SIZE {
        block[k][k] = 1.0;
        k += 1;
    }
    block
};

impl Abd {
    /// The incremental energy without contacts, with every body moved by `share` of the direction [J].
    pub(crate) fn energy_without_contact(&self, share: f64) -> f64 {
        let mut sum = 0.0;
        self.each_motion(|_| Some(share), |_, energy| sum += energy);
        sum + self.energy_of_shape(share)
    }

    /// Energy of what keeps bodies rigid and joined, with every body moved by `share` of the direction [J].
    pub(super) fn energy_of_shape(&self, share: f64) -> f64 {
        let mut sum = 0.0;
        self.each_shape(|_| Some(share), |_, energy| sum += energy);
        sum
    }

    /// Adds the incremental energy without contacts, part by part, to that of one of the bodies which each part is of [J].
    /// Bodies move by their shares of the direction; what belongs to those that have none is left out.
    pub(super) fn each_energy_without_contact(
        &self,
        share: impl Fn(usize) -> Option<f64>,
        mut add: impl FnMut(usize, f64),
    ) {
        self.each_motion(&share, &mut add);
        self.each_shape(&share, &mut add);
    }

    /// Of inertia and of pulls.
    fn each_motion(&self, share: impl Fn(usize) -> Option<f64>, mut add: impl FnMut(usize, f64)) {
        let h = self.step.dt;
        for (i, node) in self.bodies.iter().enumerate() {
            let Some(share) = share(i) else { continue };
            let (frame, place) = split(&(self.moved(i, share) - node.target));
            let inertia = frame.dot(&(frame * node.second)) + node.mass * place.norm_squared();
            add(i, 0.5 * node.hold() * inertia / (h * h));
        }
        for &(i, local, force) in &self.loads {
            let Some(share) = share(i) else { continue };
            let (now, start) = (self.moved(i, share), self.bodies[i].start);
            add(i, -force.dot(&(point(&now, &local) - point(&start, &local))));
        }
    }

    /// Of shapes and of joints.
    fn each_shape(&self, share: impl Fn(usize) -> Option<f64>, mut add: impl FnMut(usize, f64)) {
        for (i, node) in self.bodies.iter().enumerate() {
            let Some(share) = share(i) else { continue };
            add(i, node.stiffness * energy::value(&split(&self.moved(i, share)).0));
        }
        for tie in self.active() {
            let bodies = tie.nodes.map(|node| self.body_of[node]);
            let Some(body) = bodies[0].or(bodies[1]) else { continue };
            let Some(share) = share(body) else { continue };
            let stiffness = self.strength(tie);
            for pair in &tie.points {
                let [a, b] = [0, 1].map(|side| match bodies[side] {
                    Some(i) => point(&self.moved(i, share), &pair[side]),
                    None => self.prescribed(tie.nodes[side], &pair[side]),
                });
                add(body, 0.5 * stiffness * (a - b).norm_squared());
            }
        }
    }

    /// A body after a share of the direction.
    fn moved(&self, i: usize, share: f64) -> Vec12 {
        self.bodies[i].now + self.along(i) * share
    }

    /// How a body moves along the direction.
    pub(crate) fn along(&self, i: usize) -> Vec12 {
        Vec12::from_column_slice(&self.direction[i * SIZE..(i + 1) * SIZE])
    }

    /// Joints that are not broken.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Tie> {
        self.ties.iter().filter(|tie| !self.state.broken[tie.joint])
    }

    /// Whether both sides of a joint have settled or never move.
    fn rests(&self, tie: &Tie) -> bool {
        let awake = |node: &usize| self.body_of[*node].is_some_and(|i| self.islands.is_awake(i));
        !tie.nodes.iter().any(awake)
    }

    /// Stiffness of a joint's points [N/m]: with the inertia of both sides it grows as their `1/h^2`, so
    /// that the system stays as well scaled for heavy bodies as for light ones.
    fn strength(&self, tie: &Tie) -> f64 {
        let dynamic = |node: usize| self.body_of[node].map(|i| &self.bodies[i]);
        let dynamic = |node: usize| dynamic(node).filter(|body| body.drive.is_none());
        let mass = |node: usize| dynamic(node).map_or(0.0, |body| body.mass);
        self.settings.joint_strength * (mass(tie.nodes[0]) + mass(tie.nodes[1]))
            / (self.step.dt * self.step.dt)
    }

    /// A point of what forces do not move, at the end of the step [m].
    fn prescribed(&self, node: usize, local: &Vec3) -> Vec3 {
        self.state.bodies.get(node).map_or(*local, |body| body.point(local))
    }

    /// Gradient and Hessian of the incremental energy; the bodies' own Hessians projected if asked.
    pub(crate) fn assemble(&mut self, project: bool) {
        self.matrix.clear();
        self.assemble_gradient();
        let square = self.step.dt * self.step.dt;
        for (i, node) in self.bodies.iter().enumerate() {
            if !self.islands.is_awake(i) {
                self.matrix.add_diagonal(i, &STILL);
                continue;
            }
            let (frame, _) = split(&node.now);
            let hold = node.hold() / square;
            let mut hessian = energy::hessian(&frame) * node.stiffness;
            if project {
                hessian = energy::projected(&hessian);
            }
            let block: BodyBlock = std::array::from_fn(|row| {
                std::array::from_fn(|column| match (row < 9, column < 9) {
                    (true, true) => {
                        hessian[(row, column)] + inertia(&node.second, row, column) * hold
                    }
                    (false, false) if row == column => node.mass * hold,
                    _ => 0.0,
                })
            });
            self.matrix.add_diagonal(i, &block);
        }
        self.assemble_ties();
        if let Some(contact) = &mut self.contact {
            let (matrix, gradient) = (Some(&mut self.matrix), &mut self.gradient[..]);
            contact.assemble(project, &mut NewtonSystem { matrix, gradient });
        }
    }

    /// The gradient alone, with contacts.
    pub(super) fn assemble_whole_gradient(&mut self) {
        self.assemble_gradient();
        if let Some(contact) = &mut self.contact {
            let gradient = &mut self.gradient[..];
            contact.assemble(false, &mut NewtonSystem { matrix: None, gradient });
        }
    }

    /// The gradient of all but contacts, of bodies that have not settled.
    pub(crate) fn assemble_gradient(&mut self) {
        let square = self.step.dt * self.step.dt;
        self.gradient.fill(0.0);
        let awake = |(i, _): &(usize, &AffineBody)| self.islands.is_awake(*i);
        for (i, node) in self.bodies.iter().enumerate().filter(awake) {
            let (frame, _) = split(&node.now);
            let (off, place) = split(&(node.now - node.target));
            let hold = node.hold() / square;
            let turn = off * node.second * hold + energy::gradient(&frame) * node.stiffness;
            let force = joined(&turn, &(place * (node.mass * hold)));
            self.gradient[i * SIZE..(i + 1) * SIZE].copy_from_slice(force.as_slice());
        }
        for (i, local, force) in &self.loads {
            if self.islands.is_awake(*i) {
                add_force(&mut self.gradient, *i, &weights(local), &-force);
            }
        }
        for k in 0..self.ties.len() {
            let tie = &self.ties[k];
            if self.state.broken[tie.joint] || self.rests(tie) {
                continue;
            }
            let stiffness = self.strength(tie);
            let bodies = tie.nodes.map(|node| self.body_of[node]);
            for pair in &tie.points {
                let at = |side: usize| match bodies[side] {
                    Some(i) => point(&self.bodies[i].now, &pair[side]),
                    None => self.prescribed(tie.nodes[side], &pair[side]),
                };
                let force = (at(0) - at(1)) * stiffness;
                for (side, force) in [(0, force), (1, -force)] {
                    if let Some(i) = bodies[side] {
                        add_force(&mut self.gradient, i, &weights(&pair[side]), &force);
                    }
                }
            }
        }
    }

    fn assemble_ties(&mut self) {
        for k in 0..self.ties.len() {
            let tie = &self.ties[k];
            if self.state.broken[tie.joint] || self.rests(tie) {
                continue;
            }
            let stiffness = self.strength(tie);
            let [a, b] = tie.nodes.map(|node| self.body_of[node]);
            for pair in &tie.points {
                let [u, v] = pair.map(|local| weights(&local));
                for (body, weights) in [(a, &u), (b, &v)] {
                    if let Some(i) = body {
                        self.matrix.add_diagonal(i, &coupling([weights, weights], stiffness));
                    }
                }
                match (a, b) {
                    // A joint between two points of one body.
                    (Some(i), Some(j)) if i == j => {
                        self.matrix.add_diagonal(i, &coupling([&u, &v], -stiffness));
                        self.matrix.add_diagonal(i, &coupling([&v, &u], -stiffness));
                    }
                    (Some(i), Some(j)) => self.matrix.add(i, j, &coupling([&u, &v], -stiffness)),
                    _ => {}
                }
            }
        }
    }

    /// Where bodies are [m].
    pub(crate) fn places(&self) -> Vec<Vec3> {
        self.bodies.iter().map(|node| split(&node.now).1).collect()
    }
}

/// Pairs of dynamic bodies that joints couple.
pub(crate) fn tied<'a>(
    ties: &'a [Tie],
    body_of: &'a [Option<usize>],
) -> impl Iterator<Item = [u32; 2]> + 'a {
    let pair = |tie: &Tie| Some([body_of[tie.nodes[0]]? as u32, body_of[tie.nodes[1]]? as u32]);
    ties.iter().filter_map(pair).filter(|[a, b]| a != b)
}

/// The mass couples equal components of two columns of the frame.
fn inertia(second: &Mat3, row: usize, column: usize) -> f64 {
    if row % 3 == column % 3 { second[(row / 3, column / 3)] } else { 0.0 }
}

/// A point of a body as weights of its four vectors.
fn weights(local: &Vec3) -> [f64; 4] {
    [local.x, local.y, local.z, 1.0]
}

fn add_force(gradient: &mut [f64], body: usize, weights: &[f64; 4], force: &Vec3) {
    for (block, weight) in weights.iter().enumerate() {
        for axis in 0..3 {
            gradient[body * SIZE + 3 * block + axis] += weight * force[axis];
        }
    }
}

/// The product of two sides' weights, for all three axes.
fn coupling([a, b]: [&[f64; 4]; 2], factor: f64) -> BodyBlock {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            if row % 3 == column % 3 { factor * a[row / 3] * b[column / 3] } else { 0.0 }
        })
    })
}
