//! Contacts with triangles of particles: their points are one more end each, behind those of the scene.
//!
//! Such an end is where the corners take it, `x = sum w_k x_k`, and gives way as they do together, by
//! `sum w_k^2 / m_k`. What it is moved by is spread over the corners by `w_k / m_k` in shares of that, which is what
//! an impulse at the point does to them. They are visited one after the other, after all other contacts.

use taut_collide::{Contact, Site};
use taut_math::{LANES, Real, V3};
use taut_model::{Pose, Velocity};

use super::{batch::ENDS, passes::BatchRun};
use crate::{
    body::{PositionBodies, Weight},
    colours::{UnitPass, UnitRun},
};

/// A point of a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrianglePoint<R> {
    /// Places of the corners.
    corners: [u32; 3],
    /// Their shares in the place of the point.
    weights: [R; 3],
    /// How far each goes where the point goes by one [1].
    follows: [R; 3],
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

impl<R: Real> TrianglePoint<R> {
    /// Gives a contact with a triangle an end behind all others; `None` for any other contact.
    pub(super) fn mount(contact: &Contact, bodies: &mut PositionBodies<R>) -> Option<Self> {
        let Site::Triangle { corners, weights, .. } = contact.sites[1] else { return None };
        let inverse = corners.map(|corner| bodies.weights[corner as usize].inverse_mass.to_f64());
        let yields = |k: usize| weights[k] * inverse[k];
        let whole: f64 = (0..3).map(|k| yields(k) * weights[k]).sum();
        let follows = [0, 1, 2].map(|k| if whole > 0.0 { yields(k) / whole } else { 0.0 });
        let point = Self { corners, weights: weights.map(R::of), follows: follows.map(R::of) };
        bodies.now.poses.push(Pose::ORIGIN);
        bodies.now.velocities.push(Velocity::ZERO);
        bodies.weights.push(Weight::of_point(R::of(whole)));
        point.fetch(&mut bodies.now.poses, bodies.weights.len() - 1);
        Some(point)
    }

    /// Takes an end to where the corners have taken it.
    #[inline]
    pub(super) fn fetch<T: Ridden<R>>(&self, items: &mut [T], end: usize) {
        let [a, b, c] = self.corners.map(|corner| *items[corner as usize].vector());
        let [wa, wb, wc] = self.weights;
        *items[end].vector() = a * wa + (b * wb + c * wc);
    }

    /// Moves the corners where the end is to be moved.
    #[inline]
    fn spread<T: Ridden<R>>(&self, items: &mut [T], way: V3<R>) {
        for (&corner, &follows) in self.corners.iter().zip(&self.follows) {
            *items[corner as usize].vector() += way * follows;
        }
    }
}

/// Corrects contacts with triangles one by one, each of which is the first lane of its batch.
pub(super) fn sweep<R, T, P>(
    points: &[TrianglePoint<R>],
    pass: &P,
    mut run: BatchRun<'_, R>,
    items: &mut [T],
) where
    R: Real,
    T: Ridden<R> + Copy,
    P: for<'a> UnitPass<T, BatchRun<'a, R>, ENDS>,
{
    for (unit, point) in points.iter().enumerate() {
        let slots = run.slots(unit);
        let (body, end) = (slots[0] as usize, slots[LANES] as usize);
        point.fetch(items, end);
        let before = P::gather(&run, unit, items);
        let after = pass.correct(&mut run, unit, before);
        items[body] = P::end(&after, 0);
        let way = *P::end(&after, LANES).vector() - *items[end].vector();
        point.spread(items, way);
    }
}
