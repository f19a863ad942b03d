//! One primal sweep: every node takes a Newton step while its neighbours stand still (Eq. 4).

use rayon::prelude::*;
use taut_math::{Q4, Real, V3};

use crate::{
    block::{Block, PointBlock},
    element::{Bases, Element, ElementKind},
    node::{Acted, Incidence, Node, NodeKind},
    patch::ContactLaw,
    row::{Pair, Side, curvature, gradient},
    system::{Model, System, value_of},
    touch::Touch,
};

/// Nodes per task below which splitting a colour costs more than it gains.
const GRAIN: usize = 256;

/// Read access to nodes and incidences other than those being moved.
trait View<R>: Sync {
    fn node(&self, n: u32) -> &Node<R>;
    fn incidence(&self, i: u32) -> &Incidence<R>;
}

/// Everything, for moving one node at a time.
struct Whole<'a, R> {
    nodes: &'a [Node<R>],
    incidences: &'a [Incidence<R>],
}

impl<R: Real> View<R> for Whole<'_, R> {
    #[inline]
    fn node(&self, n: u32) -> &Node<R> {
        &self.nodes[n as usize]
    }
    #[inline]
    fn incidence(&self, i: u32) -> &Incidence<R> {
        &self.incidences[i as usize]
    }
}

/// Everything outside one colour, for moving that colour at once.
struct Outside<'a, R> {
    nodes: [&'a [Node<R>]; 2],
    incidences: [&'a [Incidence<R>]; 2],
    /// Where the second halves start.
    cut: [usize; 2],
}

impl<R: Real> View<R> for Outside<'_, R> {
    #[inline]
    fn node(&self, n: u32) -> &Node<R> {
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
struct Forces<'a, R> {
    elements: &'a [Element<R>],
    bases: &'a [Bases<R>],
    /// See [`crate::Model::lanes_per_body`].
    lanes: usize,
}

impl<'a, R> Forces<'a, R> {
    fn new(elements: &'a [Element<R>], bases: &'a [Bases<R>], model: &Model) -> Self {
        Self { elements, bases, lanes: model.lanes_per_body as usize }
    }

    /// Whether a node of so many ends is summed in lanes.
    #[inline]
    fn crowd(&self, ends: usize) -> bool {
        self.lanes > 1 && ends >= 2 * self.lanes
    }
}

impl<R: Real> System<R> {
    /// Moves every node once, colour by colour.
    ///
    /// Within a colour nodes do not see each other, so the result does not depend on the number of
    /// threads; a serial order has one colour and is never split.
    pub fn sweep(&mut self) {
        let threads = rayon::current_num_threads();
        for c in 1..self.layout.colours.len() {
            let (first, last) = (self.layout.colours[c - 1], self.layout.colours[c]);
            if self.layout.independent && threads > 1 && last - first > GRAIN {
                self.sweep_colour(first, last);
            } else {
                self.sweep_serially(first, last);
            }
        }
    }

    fn sweep_serially(&mut self, first: usize, last: usize) {
        let forces = Forces::new(&self.elements, &self.bases, &self.model);
        for n in first..last {
            let view = Whole { nodes: &self.nodes, incidences: &self.incidences };
            let node = &self.nodes[n];
            let (start, end) = node.range();
            let motion = newton_step(&view, node, &self.incidences[start..end], forces);
            advance(&mut self.nodes[n], &mut self.incidences[start..end], motion);
        }
    }

    fn sweep_colour(&mut self, first: usize, last: usize) {
        let begin = self.nodes[first].incidences[0] as usize;
        let end =
            self.nodes[first..last].iter().map(|n| n.incidences[1]).max().unwrap_or(0) as usize;
        let end = end.max(begin);
        let (nodes_before, rest) = self.nodes.split_at_mut(first);
        let (nodes, nodes_after) = rest.split_at_mut(last - first);
        let (incidences_before, rest) = self.incidences.split_at_mut(begin);
        let (incidences, incidences_after) = rest.split_at_mut(end - begin);
        let view = Outside {
            nodes: [nodes_before, nodes_after],
            incidences: [incidences_before, incidences_after],
            cut: [last, end],
        };
        let forces = Forces::new(&self.elements, &self.bases, &self.model);
        sweep_split(&view, nodes, incidences, begin, forces);
    }
}

impl<R: Real> System<R> {
    /// Moves every node once, in the order that elements and contacts leave, with contact forces by `law`.
    ///
    /// The nodes of a colour do not see each other, so whether they move one by one or at once does not
    /// matter.
    pub fn sweep_touching(&mut self, law: &impl ContactLaw<R>) {
        let Some(touch) = &self.touch else { return self.sweep() };
        let parallel = self.layout.independent && rayon::current_num_threads() > 1;
        let graph = &touch.graph;
        for c in 1..graph.colours.len() {
            let visit = &graph.visit[graph.colours[c - 1]..graph.colours[c]];
            if parallel && visit.len() > GRAIN {
                let all = Everything {
                    nodes: &self.nodes,
                    incidences: &self.incidences,
                    forces: Forces::new(&self.elements, &self.bases, &self.model),
                    touch,
                };
                let step = |&n: &u32| all.newton_step(n as usize, law);
                visit
                    .par_iter()
                    .with_min_len(GRAIN / 4)
                    .map(step)
                    .collect_into_vec(&mut self.motions);
                for (&n, &motion) in visit.iter().zip(&self.motions) {
                    let node = &mut self.nodes[n as usize];
                    let (start, end) = node.range();
                    advance(node, &mut self.incidences[start..end], motion);
                }
                continue;
            }
            for &n in visit {
                let all = Everything {
                    nodes: &self.nodes,
                    incidences: &self.incidences,
                    forces: Forces::new(&self.elements, &self.bases, &self.model),
                    touch,
                };
                let motion = all.newton_step(n as usize, law);
                let node = &mut self.nodes[n as usize];
                let (start, end) = node.range();
                advance(node, &mut self.incidences[start..end], motion);
            }
        }
    }
}

/// All that acts on a node of a scene with contacts.
struct Everything<'a, R: Real> {
    nodes: &'a [Node<R>],
    incidences: &'a [Incidence<R>],
    forces: Forces<'a, R>,
    touch: &'a Touch<R>,
}

impl<R: Real> Everything<'_, R> {
    /// The Newton step of one node, its contacts included.
    #[inline(always)]
    fn newton_step<L: ContactLaw<R>>(&self, n: usize, law: &L) -> (V3<R>, V3<R>) {
        let node = &self.nodes[n];
        let (start, end) = node.range();
        let view = Whole { nodes: self.nodes, incidences: self.incidences };
        let own = &self.incidences[start..end];
        let ends = self.touch.ends(n);
        if ends.is_empty() {
            return newton_step(&view, node, own, self.forces);
        }
        if self.forces.crowd(own.len() + ends.len()) {
            let lanes = self.forces.lanes;
            let part = |lane| {
                let mut block = part_of(&view, node, own, self.forces, lane);
                let shared = ends.iter().skip(lane).step_by(lanes);
                shared.for_each(|&end| self.add_touch(&mut block, end, law));
                block
            };
            return sum_in_lanes(lanes, 0, 1, &part).solve();
        }
        let mut block = assemble(&view, node, own, self.forces);
        ends.iter().for_each(|&end| self.add_touch(&mut block, end, law));
        block.solve()
    }

    /// Adds the patch at one end of a node.
    #[inline(always)]
    fn add_touch<L: ContactLaw<R>>(&self, block: &mut Block<R>, end: u32, law: &L) {
        let patch = &self.touch.patches[(end / 2) as usize];
        let side = if end.is_multiple_of(2) { Side::A } else { Side::B };
        let [a, b] = patch.nodes.map(|n| &self.nodes[n as usize]);
        if L::ARMS_TURN {
            let turned = patch.turned(a, b);
            turned.add_to(block, side, &law.push(&turned, &turned.value(a, b)));
        } else {
            let value = patch.value(a, b);
            if !law.idles(patch, &value) {
                patch.add_to(block, side, &law.push(patch, &value));
            }
        }
    }
}

/// Halves the nodes until a task is small; `base` is the index of the first incidence.
fn sweep_split<R: Real>(
    view: &impl View<R>,
    nodes: &mut [Node<R>],
    incidences: &mut [Incidence<R>],
    base: usize,
    forces: Forces<'_, R>,
) {
    if nodes.len() <= GRAIN {
        for node in nodes {
            let (start, end) = node.range();
            let own = start - base..end - base;
            let motion = newton_step(view, node, &incidences[own.clone()], forces);
            advance(node, &mut incidences[own], motion);
        }
        return;
    }
    let (left, right) = nodes.split_at_mut(nodes.len() / 2);
    let cut = right[0].incidences[0] as usize;
    let (left_ends, right_ends) = incidences.split_at_mut(cut - base);
    rayon::join(
        || sweep_split(view, left, left_ends, base, forces),
        || sweep_split(view, right, right_ends, cut, forces),
    );
}

/// The Newton step of one node: translation and rotation.
#[inline(always)]
fn newton_step<R: Real>(
    view: &impl View<R>,
    node: &Node<R>,
    own: &[Incidence<R>],
    forces: Forces<'_, R>,
) -> (V3<R>, V3<R>) {
    let crowded = forces.crowd(own.len());
    if node.acted == Acted::ByPoints && node.kind == NodeKind::Body && !crowded {
        return assemble_points(view, node, own, forces).solve();
    }
    let block = if crowded {
        sum_in_lanes(forces.lanes, 0, 1, &|lane| part_of(view, node, own, forces, lane))
    } else {
        assemble(view, node, own, forces)
    };
    match (node.kind, node.acted) {
        (NodeKind::Particle, _) => (block.solve_translation(), V3::ZERO),
        (_, Acted::ByPoints | Acted::ByBlocks) => block.solve_diagonal(),
        (_, Acted::ByAny) => block.solve(),
    }
}

/// As [`assemble`], for a body on which only isotropic point rows act.
#[inline(always)]
fn assemble_points<R: Real>(
    view: &impl View<R>,
    node: &Node<R>,
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
            let arm = incidence.arm + incidence.sway;
            block.add_point(element.stiffness.0[0], arm, force, element.curvature);
        }
    }
    block
}

/// Force of three point rows on the node they are seen from (Eq. 9).
#[inline(always)]
fn point_force<R: Real>(
    view: &impl View<R>,
    node: &Node<R>,
    incidence: &Incidence<R>,
    element: &Element<R>,
) -> V3<R> {
    let offset = element.offset + apart(view, node, incidence);
    let pull = element.stiffness.scale(offset) + element.lambda;
    if incidence.is_b { pull } else { -pull }
}

/// How far A's anchor has moved from B's since the step's start.
#[inline(always)]
fn apart<R: Real>(view: &impl View<R>, node: &Node<R>, incidence: &Incidence<R>) -> V3<R> {
    let (other, twin) = (view.node(incidence.other), view.incidence(incidence.twin));
    let apart = (node.step - other.step) + (incidence.sway - twin.sway);
    if incidence.is_b { -apart } else { apart }
}

/// Inertia and all elements of one node (Eq. 5 and 6).
#[inline(always)]
fn assemble<R: Real>(
    view: &impl View<R>,
    node: &Node<R>,
    own: &[Incidence<R>],
    forces: Forces<'_, R>,
) -> Block<R> {
    let mut block = inertial(node);
    own.iter().for_each(|incidence| add_end(&mut block, view, node, incidence, forces));
    block
}

/// The share of one lane in the same: inertia in the first, and every `lanes`th element.
fn part_of<R: Real>(
    view: &impl View<R>,
    node: &Node<R>,
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
fn sum_in_lanes<R: Real>(
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
fn inertial<R: Real>(node: &Node<R>) -> Block<R> {
    let lag = node.step - node.target_step;
    let spin = match node.kind {
        NodeKind::Body => node.turn.times(node.target_turn.conjugate()).v * R::TWO,
        NodeKind::Particle | NodeKind::Fixed => V3::ZERO,
    };
    Block::inertial(node.mass, &node.inertia, lag, spin)
}

/// Adds the element at one end of a node.
#[inline(always)]
fn add_end<R: Real>(
    block: &mut Block<R>,
    view: &impl View<R>,
    node: &Node<R>,
    incidence: &Incidence<R>,
    forces: Forces<'_, R>,
) {
    let element = &forces.elements[incidence.element as usize];
    if !element.active {
        return;
    }
    if element.kind == ElementKind::Point {
        let force = point_force(view, node, incidence, element);
        let arm = incidence.arm + incidence.sway;
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
    element: &Element<R>,
    bases: &Bases<R>,
    offset: V3<R>,
    nodes: [&Node<R>; 2],
    ends: [&Incidence<R>; 2],
) {
    let side = if ends[0].is_b { Side::B } else { Side::A };
    let (a, b) = if side == Side::A { (0, 1) } else { (1, 0) };
    let pair = Pair {
        arm_a: ends[a].arm + ends[a].sway,
        arm_b: ends[b].arm + ends[b].sway,
        offset,
        basis_a: nodes[a].turn.times(bases.a),
        basis_b: nodes[b].turn.times(bases.b),
    };
    match element.kind {
        ElementKind::Point => {}
        ElementKind::Twist => add_twist(block, element, &pair, side),
        ElementKind::WorldTwist => add_world_twist(block, element, &pair, side),
        ElementKind::Row(kind) => {
            let row = gradient(kind, &pair, side);
            let value = row.value - element.shift.0[0];
            let k = element.stiffness.0[0];
            let free = k * value + element.lambda.0[0];
            let force = free.max(element.lower).min(element.upper);
            let clamped = force != free;
            if clamped && force == R::ZERO {
                // A one-sided row that does not act has no curvature either.
                return;
            }
            let k = if clamped && element.rescaled && value != R::ZERO {
                ((force - element.lambda.0[0]) / value).abs().min(k)
            } else {
                k
            };
            block.add_row(row.linear, row.angular, k, force);
            if element.curvature {
                let h = curvature(kind, &pair, side);
                block.add_lumped(&h.ll, &h.al, &h.aa, force);
            }
        }
    }
}

fn add_twist<R: Real>(block: &mut Block<R>, element: &Element<R>, pair: &Pair<R>, side: Side) {
    let value = value_of(element, pair);
    let force = element.stiffness.scale(value - element.shift) + element.lambda;
    for (c, gradient) in pair.twist_gradients().into_iter().enumerate() {
        let angular = if side == Side::A { -gradient } else { gradient };
        block.add_angular(angular, element.stiffness.0[c], force.0[c]);
    }
    if element.curvature {
        // Each row's second derivative is -value/4 times the unit matrix.
        let size = value.dot(force).abs() * (R::HALF * R::HALF);
        (0..3).for_each(|c| block.aa.0[c] += size);
    }
}

/// `J = +-lever I`: the official 3D demo takes the gradient at coincident rotations.
fn add_world_twist<R: Real>(
    block: &mut Block<R>,
    element: &Element<R>,
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

/// Applies a Newton step and refreshes the node's lever arms.
#[inline]
fn advance<R: Real>(node: &mut Node<R>, own: &mut [Incidence<R>], motion: (V3<R>, V3<R>)) {
    node.step += motion.0;
    if node.kind == NodeKind::Body {
        node.turn = node.turn.advanced(motion.1);
        let turn: Q4<R> = node.turn;
        for incidence in own {
            incidence.sway = turn.displacement(incidence.arm);
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Quat, Scene, Vec3,
        scene::{Body, Endpoint, Joint, JointKind, Limit, Spring, SpringKind},
    };
    use taut_math::Sym3;

    use super::*;
    use crate::{
        element::AngularRows,
        node::Order,
        system::{InertiaFrame, Model, Rotation, Start},
    };
    use taut_collide::Style;

    const KINDS: [JointKind; 7] = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Fixed,
        JointKind::Distance { length: 0.7 },
    ];

    fn turn(x: f64, y: f64, z: f64) -> Quat {
        Quat::from_scaled_axis(Vec3::new(x, y, z))
    }

    /// Two turned boxes with one element between them.
    fn scene(kind: Option<JointKind>) -> Scene {
        let mut scene = Scene { dt: 0.01, ..Scene::default() };
        for (i, at) in [Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.1, -0.2, 0.5)].into_iter().enumerate()
        {
            let mut body = Body::solid_box(Vec3::new(1.0, 0.5, 0.3), 2.0).at(at);
            body.rotation = turn(0.3 + at.x, 0.2, -0.4);
            body.velocity = Vec3::new(0.3, -0.2, if i == 0 { 0.1 } else { 0.5 });
            body.omega = Vec3::new(1.0, -2.0, 0.5) * at.x;
            scene.bodies.push(body);
        }
        let (a, b) = (Endpoint::Body(0), Endpoint::Body(1));
        let (anchor_a, anchor_b) = (Vec3::new(0.5, 0.1, -0.1), Vec3::new(-0.4, 0.05, 0.1));
        let (basis_a, basis_b) = (turn(0.2, 0.1, 0.5), turn(-0.3, 0.4, 0.2));
        match kind {
            Some(kind) => {
                let mut joint = Joint::new(kind, a, b).anchored(anchor_a, anchor_b);
                (joint.basis_a, joint.basis_b) = (basis_a, basis_b);
                let slides = matches!(kind, JointKind::Prismatic | JointKind::Cylindrical);
                joint.limit = Some(Limit { lower: -9.0, upper: 9.0 })
                    .filter(|_| slides || kind == JointKind::Hinge);
                scene.joints.push(joint);
            }
            None => {
                let kinds = [
                    SpringKind::Linear { anchor_a, anchor_b, rest_length: 0.4 },
                    SpringKind::Angular { basis_a, basis_b },
                ];
                scene.springs.extend(kinds.map(|kind| Spring {
                    name: String::new(),
                    kind,
                    a,
                    b,
                    stiffness: 1.0,
                }));
            }
        }
        scene
    }

    fn system(scene: &Scene) -> System<f64> {
        let model = Model {
            order: Order::Creation,
            angular: AngularRows::RestPose,
            isotropic: false,
            rotation: Rotation::Cayley,
            frame: InertiaFrame::World,
            gyroscopic: false,
            start: Start::Target,
            contacts: Style::Common,
            lanes_per_body: 1,
        };
        let mut system = System::new(scene, model);
        system.begin(scene.dt);
        for element in &mut system.elements {
            element.stiffness = V3([70.0; 3]);
            element.lambda = V3([3.0, -2.0, 1.5]);
            element.shift = V3([0.1, -0.05, 0.02]);
        }
        system
    }

    fn block(system: &System<f64>, n: usize) -> Block<f64> {
        let view = Whole { nodes: &system.nodes, incidences: &system.incidences };
        let forces = Forces::new(&system.elements, &system.bases, &system.model);
        let [start, end] = system.nodes[n].incidences.map(|i| i as usize);
        assemble(&view, &system.nodes[n], &system.incidences[start..end], forces)
    }

    fn moved(system: &System<f64>, n: usize, z: [f64; 6]) -> System<f64> {
        let mut out = system.clone();
        let [start, end] = out.nodes[n].incidences.map(|i| i as usize);
        let motion = (V3([z[0], z[1], z[2]]), V3([z[3], z[4], z[5]]));
        advance(&mut out.nodes[n], &mut out.incidences[start..end], motion);
        out
    }

    /// `sum k/2 C^2 + lambda C` of all elements (Eq. 8).
    fn energy(system: &System<f64>) -> f64 {
        let one = |i: usize| {
            let (c, e) = (system.value(i), &system.elements[i]);
            let rows = system.definitions[i].rows();
            (0..rows)
                .map(|r| e.stiffness.0[r] / 2.0 * c.0[r] * c.0[r] + e.lambda.0[r] * c.0[r])
                .sum::<f64>()
        };
        (0..system.elements.len()).map(one).sum()
    }

    fn unit(i: usize, size: f64) -> [f64; 6] {
        let mut z = [0.0; 6];
        z[i] = size;
        z
    }

    /// Force and torque of the elements alone.
    fn pull(system: &System<f64>, n: usize) -> [f64; 6] {
        let (all, bare) = (block(system, n), {
            let mut free = system.clone();
            free.elements.iter_mut().for_each(|e| e.active = false);
            block(&free, n)
        });
        let (l, a) = ((all.fl - bare.fl).0, (all.fa - bare.fa).0);
        [l[0], l[1], l[2], a[0], a[1], a[2]]
    }

    #[test]
    fn block_forces_are_minus_the_gradient_of_the_energy() {
        for kind in KINDS.map(Some).into_iter().chain([None]) {
            let system = system(&scene(kind));
            for n in 0..2 {
                let force = pull(&system, n);
                for (i, f) in force.into_iter().enumerate() {
                    let at = |size: f64| energy(&moved(&system, n, unit(i, size)));
                    let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                    assert!(
                        (f + slope).abs() < 1e-6 * (1.0 + f.abs()),
                        "{kind:?} {n} {i}: {f} {slope}"
                    );
                }
            }
        }
    }

    #[test]
    fn block_hessians_are_exact_where_the_rows_pull_nothing() {
        for kind in KINDS.map(Some).into_iter().chain([None]) {
            let mut system = system(&scene(kind));
            for i in 0..system.elements.len() {
                let value = system.value(i);
                let element = &mut system.elements[i];
                element.lambda = V3::ZERO;
                element.shift += value;
                if element.kind == ElementKind::Point {
                    element.offset = element.offset - value;
                }
            }
            for n in 0..2 {
                let inactive = {
                    let mut free = system.clone();
                    free.elements.iter_mut().for_each(|e| e.active = false);
                    block(&free, n)
                };
                let all = block(&system, n);
                for i in 0..6 {
                    let step = 1e-6;
                    let (up, down) =
                        (moved(&system, n, unit(i, step)), moved(&system, n, unit(i, -step)));
                    let (up, down) = (pull(&up, n), pull(&down, n));
                    for j in 0..6 {
                        let slope = -(up[j] - down[j]) / (2.0 * step);
                        let entry = hessian(&all, i, j) - hessian(&inactive, i, j);
                        assert!(
                            (entry - slope).abs() < 1e-5,
                            "{kind:?} {n} {i} {j}: {entry} {slope}"
                        );
                    }
                }
            }
        }
    }

    fn symmetric(s: &Sym3<f64>, i: usize, j: usize) -> f64 {
        match (i.min(j), i.max(j)) {
            (i, j) if i == j => s.0[i],
            (0, 1) => s.0[3],
            (0, 2) => s.0[4],
            _ => s.0[5],
        }
    }

    fn hessian(block: &Block<f64>, i: usize, j: usize) -> f64 {
        match (i / 3, j / 3) {
            (0, 0) => symmetric(&block.ll, i, j),
            (1, 1) => symmetric(&block.aa, i - 3, j - 3),
            (1, 0) => block.al.0[i - 3].0[j],
            _ => block.al.0[j - 3].0[i],
        }
    }

    #[test]
    fn lumped_curvature_is_the_column_norm_of_the_lever_arms_second_derivative() {
        let (arm, force) = (V3([0.4, -0.3, 0.2]), V3([10.0, 5.0, -7.0]));
        let mut block = Block::<f64>::default();
        block.add_lever_curvature(arm, force);
        for c in 0..3 {
            // Column c of r F^T - (r.F) I.
            let column = arm * force.0[c] + V3::axis(c) * -arm.dot(force);
            assert!((block.aa.0[c] - column.norm()).abs() < 1e-12);
        }
    }
}
