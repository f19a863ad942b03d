//! What the stages of a step move at least: each number that a stage needs is read once, each that it leaves is
//! written once, and neighbours' motion is taken for cached. Searches and sorts are not counted.
//!
//! A device moves so many bytes per second; what a stage takes beyond that is what there is to gain.

use super::{contact, layout};

const VECTOR: usize = 16;
const NODE: usize = size_of::<layout::Node>();
const BASE: usize = size_of::<layout::Base>();
const END: usize = size_of::<layout::Incidence>();
const ELEMENT: usize = size_of::<layout::Element>();
const PATCH: usize = size_of::<contact::Patch>();
const BACKING: usize = size_of::<contact::Backing>();

/// Bytes that a step of a method with multipliers moves at least: where contacts are searched for on the device,
/// in preparation, in each iteration, and at the end, in the order of [`taut_core::Stage`].
///
/// `scripts/bench-gpu` divides times by them.
pub const fn bytes_per_stage(nodes: usize, elements: usize, patches: usize) -> [usize; 4] {
    [
        collide(nodes, elements, patches),
        nodes * (BASE + NODE) + elements * 2 * (ELEMENT + END + 2 * VECTOR),
        iterate(nodes, elements, patches),
        nodes * (2 * VECTOR + 2 * BASE) + patches * (PATCH + 2 * VECTOR),
    ]
}

/// What a step that has no room is done again from is kept; poses become boxes; patches are continued.
const fn collide(nodes: usize, elements: usize, patches: usize) -> usize {
    nodes * (2 * BASE + 4 * VECTOR) + elements * 2 * ELEMENT + patches * 2 * (PATCH + BACKING)
}

const fn iterate(nodes: usize, elements: usize, patches: usize) -> usize {
    // Step and turn are written.
    let sweep_of_node = NODE + 2 * VECTOR;
    // From either side: the element, the own end, the other's change of arm, and the own one written.
    let sweep_of_element = 2 * (ELEMENT + END + 2 * VECTOR);
    // Both ends are read; multiplier and stiffness are written.
    let dual_of_element = ELEMENT + 2 * END + 2 * VECTOR;
    // Six rows of four lanes and the ramp: multipliers, pressure and stiffness are written.
    let dual_of_patch = PATCH + VECTOR + 6 * VECTOR;
    nodes * sweep_of_node
        + elements * (sweep_of_element + dual_of_element)
        + patches * (2 * PATCH + dual_of_patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scripts/bench-gpu` counts with these.
    #[test]
    fn stages_move_so_many_bytes() {
        let each = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|[n, e, p]| bytes_per_stage(n, e, p));
        assert_eq!(each, [[320, 240, 144, 288], [352, 544, 880, 0], [736, 0, 1024, 336]]);
    }
}
