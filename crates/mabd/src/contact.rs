//! Contacts as an implicit penalty, which the paper names without details, with Coulomb friction.
//!
//! Every point has three soft rows, the gap and the displacement along two tangents since the step
//! began, with energy `k/2 C^2` where it presses. Which points press, and how stiff their friction is, is
//! found by rounds: a point that closes presses; friction is as stiff as pressure until that would
//! exceed the cone, then it is the secant stiffness `mu N / |slip|`. So what sticks still creeps, by the
//! load over the stiffness in every step.
//!
//! Signs: the normal points from B to A; a multiplier is stiffness times value, so that pressure is
//! negative, and it acts on A along `-lambda`.

use taut_collide::{Collider, ContactList, Placement, Style};
use taut_core::{ContactForce, Mat3, Scene, StageTime, Vec3};

use crate::node::{Nodes, Place};

/// Friction is found where it changes by less than this share of its bound.
const SETTLED: f64 = 1e-3;
/// How many points of a patch share the mass of a body.
const POINTS: f64 = 4.0;

/// One point of contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Nodes of A and B.
    pub(crate) nodes: [u32; 2],
    /// Points in principal coordinates [m], and where they were when the contact was found.
    anchors: [Vec3; 2],
    from: [Vec3; 2],
    /// Normal and two tangents in the world.
    axes: [Vec3; 3],
    gap: f64,
    /// Static and dynamic coefficient.
    friction: [f64; 2],
    reduced_mass: f64,
    /// Stiffness along the normal and across it [N/m]; zero where it exerts nothing.
    stiffness: [f64; 2],
    /// Rows in the current iterate [m], and multipliers [N].
    value: Vec3,
    pub(crate) force: Vec3,
}

/// The contacts of a step.
pub(crate) struct Contacts {
    collider: Collider,
    placements: Vec<Placement>,
    touches: Vec<Touch>,
    /// Contacts of one moving node, as touch and side, by node.
    folded: Vec<(u32, u8)>,
    folded_first: Vec<u32>,
    /// Contacts of two.
    paired: Vec<u32>,
    /// Stiffness in units of reduced mass over squared step [1].
    scale: f64,
}

impl Touch {
    /// Derivative of a row with respect to one side, whose frame is co-rotated by `rotation`.
    #[inline]
    pub(crate) fn gradient(&self, side: usize, axis: usize, rotation: &Mat3) -> Place {
        let along = if side == 0 { self.axes[axis] } else { -self.axes[axis] };
        Place { frame: rotation.tr_mul(&along) * self.anchors[side].transpose(), origin: along }
    }

    /// Value of a row in the current iterate [m].
    pub(crate) fn value(&self, axis: usize) -> f64 {
        self.value[axis]
    }

    /// Stiffness of a row [N/m].
    pub(crate) fn stiffness(&self, axis: usize) -> f64 {
        self.stiffness[usize::from(axis > 0)]
    }

    fn local(&self, v: &Vec3) -> Vec3 {
        Vec3::new(self.axes[0].dot(v), self.axes[1].dot(v), self.axes[2].dot(v))
    }

    /// Takes over what the rows come to [m], and decides who presses and how stiff friction is from
    /// now on; whether that is news. `inertia` is that of the pair over the squared step [N/m], and `scale`
    /// times that the stiffness of what presses.
    fn choose(&mut self, value: &Vec3, inertia: f64, scale: f64) -> bool {
        let full = scale * inertia;
        let [normal, tangent] = self.stiffness;
        self.force = Vec3::new(normal * value.x, tangent * value.y, tangent * value.z);
        let presses = value.x < 0.0;
        let pressure = if presses { -self.force.x } else { 0.0 };
        let slip = value.y.hypot(value.z);
        // Secants find the way to sliding in few rounds and the way back in many, so that friction starts
        // as sticking where it could stop the slip that there is without it. Its points share the mass.
        let stops = tangent == 0.0 && inertia * slip <= POINTS * self.friction[0] * pressure;
        let across = if pressure == 0.0 {
            0.0
        } else if stops || full * slip <= self.friction[0] * pressure {
            full
        } else {
            self.friction[1] * pressure / slip
        };
        let along = if presses { full } else { 0.0 };
        let change = (across - tangent).abs() * slip;
        let news = along != normal || change > SETTLED * self.friction[0] * pressure.max(0.0);
        self.stiffness = [along, across];
        news
    }
}

impl Contacts {
    pub(crate) fn new(scene: &Scene, scale: f64) -> Option<Self> {
        scene.contacts?;
        Some(Self {
            collider: Collider::new(scene, Style::Common),
            placements: Vec::new(),
            touches: Vec::new(),
            folded: Vec::new(),
            folded_first: Vec::new(),
            paired: Vec::new(),
            scale,
        })
    }

    /// Forgets all contacts.
    pub(crate) fn forget(&mut self) {
        self.collider.forget();
        self.touches.clear();
    }

    /// Finds the contacts of a step of `h` [s] from where the nodes are at its start.
    pub(crate) fn detect(&mut self, nodes: &Nodes, broken: &[bool], h: f64) {
        self.placements.clear();
        self.placements.extend(nodes.bodies_at_start().map(|state| Placement::from(&state)));
        let list = self.collider.detect(&self.placements, broken, h);
        self.touches.clear();
        for manifold in &list.manifolds {
            let ends = manifold.bodies.map(|body| nodes.node_of_body(body as usize));
            let lightness: f64 = ends.iter().map(|&node| 1.0 / nodes.mass(node)).sum();
            let axes = frame(&manifold.normal);
            for contact in &list.contacts[manifold.range()] {
                let world = [contact.anchor_a, contact.anchor_b];
                let anchors = [0, 1].map(|side| nodes.axes(ends[side]).tr_mul(&world[side]));
                let at = [0, 1].map(|side| nodes.at_start(ends[side]).point(&anchors[side]));
                self.touches.push(Touch {
                    nodes: ends,
                    anchors,
                    from: at,
                    axes,
                    gap: contact.gap,
                    friction: [manifold.friction_static, manifold.friction_dynamic],
                    reduced_mass: 1.0 / lightness,
                    stiffness: [0.0; 2],
                    value: Vec3::zeros(),
                    force: Vec3::zeros(),
                });
            }
        }
        self.sort(nodes.count());
    }

    /// Tells contacts with what forces do not move from those between two that they do.
    fn sort(&mut self, count: usize) {
        self.paired.clear();
        self.folded_first.clear();
        self.folded_first.resize(count + 1, 0);
        for (t, touch) in (0..).zip(&self.touches) {
            match touch.only_mover(count) {
                Some(side) => self.folded_first[touch.nodes[side] as usize] += 1,
                None => self.paired.push(t),
            }
        }
        let mut total = 0;
        for first in &mut self.folded_first {
            total += *first;
            *first = total;
        }
        self.folded.clear();
        self.folded.resize(total as usize, (0, 0));
        // Filled from the back, so that each start ends up where its node's contacts begin.
        for (t, touch) in self.touches.iter().enumerate().rev() {
            if let Some(side) = touch.only_mover(count) {
                let place = &mut self.folded_first[touch.nodes[side] as usize];
                *place -= 1;
                self.folded[*place as usize] = (t as u32, side as u8);
            }
        }
    }

    /// Contacts of a node with what forces do not move, with the node's side.
    pub(crate) fn folded(&self, node: usize) -> impl Iterator<Item = (&Touch, usize)> {
        let range = self.folded_first[node] as usize..self.folded_first[node + 1] as usize;
        let at = self.folded[range].iter();
        at.map(|&(touch, side)| (&self.touches[touch as usize], side as usize))
    }

    /// Contacts between two nodes that forces move.
    pub(crate) fn paired(&self) -> impl Iterator<Item = &Touch> {
        self.paired.iter().map(|&touch| &self.touches[touch as usize])
    }

    /// Values of all rows in the current iterate; nothing presses yet.
    pub(crate) fn evaluate(&mut self, nodes: &Nodes) {
        for touch in &mut self.touches {
            let [a, b] = [0, 1].map(|side| {
                nodes.place(touch.nodes[side]).point(&touch.anchors[side]) - touch.from[side]
            });
            touch.value = touch.local(&(a - b)) + Vec3::new(touch.gap, 0.0, 0.0);
            touch.stiffness = [0.0; 2];
            touch.force = Vec3::zeros();
        }
    }

    /// Decides anew who presses and slides when nodes move on by `increments`, frames co-rotated, under
    /// steps of `h` [s]; whether that differs from before.
    pub(crate) fn choose(&mut self, nodes: &Nodes, increments: &[Place], h: f64) -> bool {
        let mut news = false;
        for touch in &mut self.touches {
            let mut value = touch.value;
            for side in 0..2 {
                let node = touch.nodes[side] as usize;
                let Some(response) = nodes.responses.get(node) else { continue };
                let moved = increments[node];
                let point = response.rotation * (moved.frame * touch.anchors[side]) + moved.origin;
                let change = touch.local(&point);
                value += if side == 0 { change } else { -change };
            }
            news |= touch.choose(&value, touch.reduced_mass / (h * h), self.scale);
        }
        news
    }

    /// Writes the force of every contact, in the order of detection.
    pub(crate) fn read_forces(&self, out: &mut Vec<ContactForce>) {
        out.clear();
        let ContactList { contacts, manifolds } = self.collider.list();
        for manifold in manifolds {
            let range = manifold.range();
            for (contact, touch) in contacts[range.clone()].iter().zip(&self.touches[range]) {
                let a = &self.placements[contact.bodies[0] as usize];
                let pushed = touch.axes.iter().zip(&touch.force).map(|(axis, f)| *axis * -*f);
                out.push(ContactForce {
                    bodies: contact.bodies,
                    point: a.position + a.rotation * contact.anchor_a,
                    normal: contact.normal,
                    gap: contact.gap,
                    friction: touch.friction,
                    force: pushed.sum(),
                });
            }
        }
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.collider.drain_times(out);
    }
}

impl Touch {
    /// The side that forces move, if they do not move the other.
    fn only_mover(&self, count: usize) -> Option<usize> {
        match self.nodes.map(|node| (node as usize) < count) {
            [true, true] => None,
            [a_moves, _] => Some(usize::from(!a_moves)),
        }
    }
}

/// A right-handed frame whose first axis is the normal.
fn frame(normal: &Vec3) -> [Vec3; 3] {
    let least = normal.iamin();
    let first = normal.cross(&Vec3::ith(least, 1.0)).normalize();
    [*normal, first, normal.cross(&first)]
}
