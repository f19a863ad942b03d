//! Contacts with triangles of particles and between their edges: each such point is one more end, behind those of
//! the scene.
//!
//! Such an end is where the corners take it, `x = sum w_k x_k`, and gives way as they do together, by
//! `sum w_k^2 / m_k`. What it is moved by is spread over the corners by `w_k / m_k` in shares of that, which is what
//! an impulse at the point does to them. They are visited one after the other, after all other contacts.

use taut_collide::{Contact, Site};
use taut_math::{LANES, Real, V3};
use taut_model::{Pose, Velocity, narrow};

use super::{batch::ENDS, passes::BatchRun};
use crate::{
    body::{PositionBodies, Weight},
    colours::UnitPass,
};

/// A point of a triangle or an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedPoint<R> {
    /// Places of the corners.
    corners: [u32; 3],
    /// Their shares in the place of the point.
    weights: [R; 3],
    /// How far each goes where the point goes by one [1].
    follows: [R; 3],
    /// Place of the point itself.
    slot: u32,
}

/// A contact with such a point on either side or both.
#[derive(Clone, Copy, Debug)]
pub(super) struct RiddenContact<R> {
    /// Places of A and B.
    pub(super) slots: [u32; 2],
    points: [Option<SharedPoint<R>>; 2],
}

/// What a pass corrects of an end.
pub(super) trait Ridden<R> {
    /// Place or velocity.
    fn vector(&mut self) -> &mut V3<R>;
}

impl<R> Ridden<R> for Pose<R> {
    fn vector(&mut self) -> &mut V3<R> {
        &mut self.position
    }
}

impl<R> Ridden<R> for Velocity<R> {
    fn vector(&mut self) -> &mut V3<R> {
        &mut self.linear
    }
}

impl<R: Real> SharedPoint<R> {
    /// Gives a site an end behind all others; `None` for one that has a place of its own.
    fn mount(site: &Site, bodies: &mut PositionBodies<R>) -> Option<Self> {
        let shares = site.corners()?;
        let (corners, weights) = (shares.map(|(corner, _)| corner), shares.map(|(_, w)| w));
        let inverse = corners.map(|corner| bodies.weights[corner as usize].inverse_mass.to_f64());
        let yields = |k: usize| weights[k] * inverse[k];
        let whole: f64 = (0..3).map(|k| yields(k) * weights[k]).sum();
        let follows = [0, 1, 2].map(|k| if whole > 0.0 { yields(k) / whole } else { 0.0 });
        let slot = narrow(bodies.weights.len());
        bodies.now.poses.push(Pose::ORIGIN);
        bodies.now.velocities.push(Velocity::ZERO);
        bodies.weights.push(Weight::of_point(R::of(whole)));
        let point =
            Self { corners, weights: weights.map(R::of), follows: follows.map(R::of), slot };
        point.fetch(&mut bodies.now.poses);
        Some(point)
    }

    /// Takes the end to where the corners have taken it.
    #[inline]
    fn fetch<T: Ridden<R>>(&self, items: &mut [T]) {
        let [a, b, c] = self.corners.map(|corner| *items[corner as usize].vector());
        let [wa, wb, wc] = self.weights;
        *items[self.slot as usize].vector() = a * wa + (b * wb + c * wc);
    }

    /// Moves the corners where the end is to be moved.
    #[inline]
    fn spread<T: Ridden<R>>(&self, items: &mut [T], way: V3<R>) {
        for (&corner, &follows) in self.corners.iter().zip(&self.follows) {
            *items[corner as usize].vector() += way * follows;
        }
    }
}

impl<R: Real> RiddenContact<R> {
    /// Gives the sites of a contact ends where they need them.
    pub(super) fn mount(contact: &Contact, bodies: &mut PositionBodies<R>) -> Self {
        let points = contact.sites.each_ref().map(|site| SharedPoint::mount(site, bodies));
        let own = contact.nodes();
        Self { slots: [0, 1].map(|k| points[k].map_or(own[k], |point| point.slot)), points }
    }

    /// Takes the ends to where the corners have taken them.
    #[inline]
    pub(super) fn fetch<T: Ridden<R>>(&self, items: &mut [T]) {
        self.points.iter().flatten().for_each(|point| point.fetch(items));
    }
}

/// Corrects contacts with triangles and edges one by one, each of which is the first lane of its batch.
pub(super) fn sweep<R, T, P>(
    contacts: &[RiddenContact<R>],
    pass: &P,
    mut run: BatchRun<'_, R>,
    items: &mut [T],
) where
    R: Real,
    T: Ridden<R> + Copy,
    P: for<'a> UnitPass<T, BatchRun<'a, R>, ENDS>,
{
    for (unit, contact) in contacts.iter().enumerate() {
        contact.fetch(items);
        let before = P::gather(&run, unit, items);
        let after = pass.correct(&mut run, unit, before);
        for (side, (point, &slot)) in contact.points.iter().zip(&contact.slots).enumerate() {
            let mut moved = P::end(&after, side * LANES);
            match point {
                None => items[slot as usize] = moved,
                Some(point) => {
                    let way = *moved.vector() - *items[slot as usize].vector();
                    point.spread(items, way);
                }
            }
        }
    }
}
