//! Dampers, as springs of one step or sub-step that are at rest where it starts.

use taut_math::Real;
use taut_model::{Pose, counted};

use crate::{
    body::Weight,
    correct::BodyPair,
    layout::{Corrections, PairDamper},
};

impl<R: Real> Corrections<R> {
    /// Has dampers resist what changes in a step or sub-step of length `h` [s] that starts at these poses.
    pub(crate) fn damp(&mut self, poses: &[Pose<R>], weights: &[Weight<R>], h: R) {
        let Self { units, elements, frames, dampers, .. } = self;
        for &PairDamper { unit, element, row, inverse } in &*dampers {
            let slots = units[unit as usize].slots;
            let pair = BodyPair::at(slots, poses, weights);
            let (element, frame) = (&mut elements[element as usize], &mut frames[element as usize]);
            element.compliance = inverse * h;
            if let Some(row) = row {
                element.rest = counted(row, pair.value(row, element, frame), element.rest);
            } else {
                let [a, b] = slots.map(|slot| poses[slot as usize].rotation);
                frame.basis_b = b.conjugate().times(a.times(frame.basis_a)).normalised();
            }
        }
    }
}
