//! What acts on one node, as a block, and the Newton step that follows from it.

use taut_math::{Real, V3};
use taut_model::{NodeKind, Pair, Side, counted, curvature, gradient};

use crate::{
    block::{Block, PointBlock},
    elastic::SweepEnergies,
    element::{Bases, ElementKind, SweepElement},
    node::{Acted, Incidence, SweepNode},
    options::Options,
    system::value_of,
};

/// Read access to nodes and incidences other than those being moved.
pub(crate) trait View<R>: Sync {
    fn node(&self, n: u32) -> &SweepNode<R>;
    fn incidence(&self, i: u32) -> &Incidence<R>;
}

/// Everything, for moving one node at a time.
pub(crate) struct Whole<'a, R> {
    pub(crate) nodes: &'a [SweepNode<R>],
    pub(crate) incidences: &'a [Incidence<R>],
}

impl<R: Real> View<R> for Whole<'_, R> {
    #[inline]
    fn node(&self, n: u32) -> &SweepNode<R> {
        &self.nodes[n as usize]
    }
    #[inline]
    fn incidence(&self, i: u32) -> &Incidence<R> {
        &self.incidences[i as usize]
    }
}

/// Everything outside one colour, for moving that colour at once.
pub(crate) struct Outside<'a, R> {
    pub(crate) nodes: [&'a [SweepNode<R>]; 2],
    pub(crate) incidences: [&'a [Incidence<R>]; 2],
    /// Where the second halves start.
    pub(crate) cut: [usize; 2],
}

impl<R: Real> View<R> for Outside<'_, R> {
    #[inline]
    fn node(&self, n: u32) -> &SweepNode<R> {
        let n = n as usize;
        if n < self.nodes[0].len() { &self.nodes[0][n] } else { &self.nodes[1][n - self.cut[0]] }
    }
    #[inline]
    fn incidence(&self, i: u32) -> &Incidence<R> {
        let i = i as usize;
        let [before, after] = &self.incidences;
        if i < before.len() { &before[i] } else { &after[i - self.cut[1]] }
    }
}

/// What the elements offer to a node's step.
#[derive(Clone, Copy)]
pub(crate) struct Forces<'a, R: Real> {
    elements: &'a [SweepElement<R>],
    bases: &'a [Bases<R>],
    pub(crate) energies: &'a SweepEnergies<R>,
    /// See [`crate::Options::lanes_per_body`].
    pub(crate) lanes: usize,
}

impl<'a, R: Real> Forces<'a, R> {
    pub(crate) fn new(
        elements: &'a [SweepElement<R>],
        bases: &'a [Bases<R>],
        energies: &'a SweepEnergies<R>,
        options: &Options,
    ) -> Self {
        Self { elements, bases, energies, lanes: options.lanes_per_body as usize }
    }

    /// Whether a node of so many ends is summed in lanes.
    #[inline]
    pub(crate) fn crowd(&self, ends: usize) -> bool {
        self.lanes > 1 && ends >= 2 * self.lanes
    }
}

/// The Newton step of one node: translation and rotation.
#[inline(always)]
pub(crate) fn newton_step<R: Real>(
    view: &impl View<R>,
    node: &SweepNode<R>,
    own: &[Incidence<R>],
    forces: Forces<'_, R>,
) -> (V3<R>, V3<R>) {
    let crowded = forces.crowd(own.len());
    if node.acted == Acted::ByPoints && node.kind == NodeKind::Body && !crowded {
        return assemble_points(view, node, own, forces).solve();
    }
    let mut block = if crowded {
        sum_in_lanes(forces.lanes, 0, 1, &|lane| part_of(view, node, own, forces, lane))
    } else {
        assemble(view, node, own, forces)
    };
    if node.acted == Acted::ByEnergies {
        forces.energies.add_to(&mut block, node, &|n| view.node(n));
    }
    match (node.kind, node.acted) {
        (NodeKind::Particle, _) => (block.solve_translation(), V3::ZERO),
        (_, Acted::ByPoints | Acted::ByBlocks) => block.solve_diagonal(),
        (_, Acted::ByAny | Acted::ByEnergies) => block.solve(),
    }
}

/// As [`assemble`], for a body on which only isotropic point rows act.
#[inline(always)]
fn assemble_points<R: Real>(
    view: &impl View<R>,
    node: &SweepNode<R>,
    own: &[Incidence<R>],
    forces: Forces<'_, R>,
) -> PointBlock<R> {
    let lag = node.step - node.target_step;
    let spin = node.turn.times(node.target_turn.conjugate()).v * R::TWO;
    let mut block = PointBlock::inertial(node.mass, &node.inertia, lag, spin);
    for incidence in own {
        let element = &forces.elements[incidence.element as usize];
        if element.active {
            let force = point_force(view, node, incidence, element);
            let arm = incidence.arm + incidence.arm_change;
            block.add_point(element.stiffness.0[0], arm, force, element.curvature);
        }
    }
    block
}

/// Force of three point rows on the node they are seen from (Eq. 9).
#[inline(always)]
fn point_force<R: Real>(
    view: &impl View<R>,
    node: &SweepNode<R>,
    incidence: &Incidence<R>,
    element: &SweepElement<R>,
) -> V3<R> {
    let offset = element.offset + apart(view, node, incidence);
    let pull = element.stiffness.scale(offset) + element.lambda;
    if incidence.is_b { pull } else { -pull }
}

/// How far A's anchor has moved from B's since the step's start.
#[inline(always)]
fn apart<R: Real>(view: &impl View<R>, node: &SweepNode<R>, incidence: &Incidence<R>) -> V3<R> {
    let (other, twin) = (view.node(incidence.other), view.incidence(incidence.twin));
    let apart = (node.step - other.step) + (incidence.arm_change - twin.arm_change);
    if incidence.is_b { -apart } else { apart }
}

/// Inertia and all elements of one node (Eq. 5 and 6).
#[inline(always)]
pub(crate) fn assemble<R: Real>(
    view: &impl View<R>,
    node: &SweepNode<R>,
    own: &[Incidence<R>],
    forces: Forces<'_, R>,
) -> Block<R> {
    let mut block = inertial(node);
    own.iter().for_each(|incidence| add_end(&mut block, view, node, incidence, forces));
    block
}

/// The share of one lane in the same: inertia in the first, and every `lanes`th element.
pub(crate) fn part_of<R: Real>(
    view: &impl View<R>,
    node: &SweepNode<R>,
    own: &[Incidence<R>],
    forces: Forces<'_, R>,
    lane: usize,
) -> Block<R> {
    let mut block = if lane == 0 { inertial(node) } else { Block::default() };
    let shared = own.iter().skip(lane).step_by(forces.lanes);
    shared.for_each(|incidence| add_end(&mut block, view, node, incidence, forces));
    block
}

/// Adds the parts of all lanes in pairs, upper halves to lower ones, as invocations on a device do.
pub(crate) fn sum_in_lanes<R: Real>(
    lanes: usize,
    lane: usize,
    stride: usize,
    part: &dyn Fn(usize) -> Block<R>,
) -> Block<R> {
    if stride == lanes {
        return part(lane);
    }
    let half = |lane| sum_in_lanes(lanes, lane, 2 * stride, part);
    half(lane).plus(&half(lane + stride))
}

/// Inertia of one node, and how far it is from its target.
#[inline(always)]
fn inertial<R: Real>(node: &SweepNode<R>) -> Block<R> {
    let lag = node.step - node.target_step;
    let spin = match node.kind {
        NodeKind::Body => node.turn.times(node.target_turn.conjugate()).v * R::TWO,
        NodeKind::Particle | NodeKind::Driven | NodeKind::Held => V3::ZERO,
    };
    Block::inertial(node.mass, &node.inertia, lag, spin)
}

/// Adds the element at one end of a node.
#[inline(always)]
fn add_end<R: Real>(
    block: &mut Block<R>,
    view: &impl View<R>,
    node: &SweepNode<R>,
    incidence: &Incidence<R>,
    forces: Forces<'_, R>,
) {
    let element = &forces.elements[incidence.element as usize];
    if !element.active {
        return;
    }
    if element.kind == ElementKind::Point {
        let force = point_force(view, node, incidence, element);
        let arm = incidence.arm + incidence.arm_change;
        block.add_point(element.stiffness, arm, force);
        if element.curvature {
            block.add_lever_curvature(arm, force);
        }
    } else {
        let offset = element.offset + apart(view, node, incidence);
        let bases = &forces.bases[incidence.element as usize];
        let (other, twin) = (view.node(incidence.other), view.incidence(incidence.twin));
        add_element(block, element, bases, offset, [node, other], [incidence, twin]);
    }
}

/// Adds any element but a point block, seen from `nodes[0]`.
#[inline(never)]
fn add_element<R: Real>(
    block: &mut Block<R>,
    element: &SweepElement<R>,
    bases: &Bases<R>,
    offset: V3<R>,
    nodes: [&SweepNode<R>; 2],
    ends: [&Incidence<R>; 2],
) {
    let side = if ends[0].is_b { Side::B } else { Side::A };
    let (a, b) = if side == Side::A { (0, 1) } else { (1, 0) };
    let pair = Pair {
        arm_a: ends[a].arm + ends[a].arm_change,
        arm_b: ends[b].arm + ends[b].arm_change,
        offset,
        basis_a: nodes[a].turn.times(bases.a),
        basis_b: nodes[b].turn.times(bases.b),
    };
    match element.kind {
        ElementKind::Point => {}
        ElementKind::Twist | ElementKind::Turn => add_rotation(block, element, &pair, side),
        ElementKind::WorldTwist => add_world_twist(block, element, &pair, side),
        ElementKind::Row(kind) => {
            let row = gradient(kind, &pair, side);
            let value = counted(kind, row.value, element.counted) - element.shift.0[0];
            let k = element.stiffness.0[0];
            let free = k * value + element.lambda.0[0];
            let force = free.max(element.lower).min(element.upper);
            let clamped = force != free;
            let lambda = element.lambda.0[0];
            let lets_go = clamped && force == R::ZERO;
            if lets_go && lambda == R::ZERO {
                // A one-sided row that carries nothing has no curvature either.
                return;
            }
            // Eq. 14. A one-sided row that lets go of a force it carried always needs it: a node that moves as if the
            // row were not there falls out of reach, the next update overshoots, and so on, every other iteration.
            let k = if clamped && (element.rescaled || lets_go) && value != R::ZERO {
                ((force - lambda) / value).abs().min(k)
            } else {
                k
            };
            block.add_row(row.linear, row.angular, k, force);
            if element.curvature && !lets_go {
                let h = curvature(kind, &pair, side);
                block.add_lumped(&h.ll, &h.al, &h.aa, force);
            }
        }
    }
}

fn add_rotation<R: Real>(
    block: &mut Block<R>,
    element: &SweepElement<R>,
    pair: &Pair<R>,
    side: Side,
) {
    let value = value_of(element, pair);
    let force = element.stiffness.scale(value - element.shift) + element.lambda;
    let turns = element.kind == ElementKind::Turn;
    let gradients = if turns { pair.turn_gradients() } else { pair.twist_gradients() };
    for (c, gradient) in gradients.into_iter().enumerate() {
        let angular = if side == Side::A { -gradient } else { gradient };
        block.add_angular(angular, element.stiffness.0[c], force.0[c]);
    }
    // The second derivatives of a rotation vector, summed along the pull of a spring, are negative.
    if element.curvature && !turns {
        // Each row's second derivative is -value/4 times the unit matrix.
        let size = value.dot(force).abs() * (R::HALF * R::HALF);
        (0..3).for_each(|c| block.aa.0[c] += size);
    }
}

/// `J = +-lever I`: the official 3D demo takes the gradient at coincident rotations.
fn add_world_twist<R: Real>(
    block: &mut Block<R>,
    element: &SweepElement<R>,
    pair: &Pair<R>,
    side: Side,
) {
    let value = value_of(element, pair);
    let force = element.stiffness.scale(value - element.shift) + element.lambda;
    let lever = if side == Side::A { element.lever } else { -element.lever };
    let square = lever * lever;
    (0..3).for_each(|c| block.aa.0[c] += element.stiffness.0[c] * square);
    block.fa += force * -lever;
}
