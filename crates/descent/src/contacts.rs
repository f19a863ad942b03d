//! All contacts of a step: patches made from the collider's list, where they attach, and the order in
//! which nodes are visited while they last.

use taut_collide::{Carried, Contact, ContactSet, Grip, Manifold, Style, frame};
use taut_core::{ContactForce, Scene, StageTime};
use taut_math::{LANES, Real, V3, Wide};
use taut_model::{Csr, Model, Node, narrow, placement};

use crate::{
    element::Definition,
    node::{Base, NodeLayout},
    options::Options,
    patch::{Patch, lane, put},
    visits::Visits,
};

/// Gap of lanes without a point [m].
const NOWHERE: f64 = 1e6;

/// What of a patch only the start and the end of a step need.
#[derive(Clone, Copy, Debug)]
pub struct PatchMemory<R> {
    /// Index in the collider's list of the contact in the first lane.
    pub first: u32,
    /// Mass that the rows move: both bodies in series [kg].
    pub effective_mass: f64,
    /// Mass that rests on the pair [kg], see [`taut_model::Supported`].
    pub supported_mass: f64,
    /// Smallest extent of the two bodies [m].
    pub length: f64,
    /// Coefficient of dynamic friction [1].
    pub friction_dynamic: f64,
    /// Distance between the surfaces at the step's start [m]; far apart in lanes without a point.
    pub gap: [R; LANES],
    /// How far the points have been dragged along the two tangents while they stick [m].
    pub drift: [[R; LANES]; 2],
    /// Which points continue one of the step before.
    pub continues: [bool; LANES],
    /// Anchors on A and B in body coordinates [m].
    anchors: [[V3<R>; LANES]; 2],
}

/// The contacts of the current step.
#[derive(Clone, Debug)]
pub struct ContactStore<R: Real> {
    /// Patches, in the order of the collider's list.
    pub patches: Vec<Patch<R>>,
    /// What belongs to each patch.
    pub memories: Vec<PatchMemory<R>>,
    /// What couples the nodes, and the order in which they are visited.
    pub(crate) visits: Visits,
    set: ContactSet,
    style: Style,
    inverse_masses: Vec<f64>,
    lengths: Vec<f64>,
    /// Patches of the step before, with their memories.
    before: (Vec<Patch<R>>, Vec<PatchMemory<R>>),
    /// Patch and lane of each contact.
    slots: Carried<u32>,
    /// Ends of patches, node by node: twice the patch, plus one on side B.
    pub(crate) ends: Csr,
}

impl<R: Real> ContactStore<R> {
    /// What a scene with contacts needs; `None` for one without.
    pub fn new(
        scene: &Scene,
        model: &Model,
        layout: &NodeLayout,
        definitions: &[Definition],
        options: &Options,
    ) -> Option<Self> {
        let bodies = &model.nodes[..scene.bodies.len()];
        Some(Self {
            patches: vec![],
            memories: vec![],
            set: ContactSet::in_style(scene, options.contacts)?,
            style: options.contacts,
            inverse_masses: bodies.iter().map(Node::inverse_mass).collect(),
            lengths: bodies.iter().map(|body| body.extent.min()).collect(),
            before: (vec![], vec![]),
            slots: Carried::default(),
            ends: Csr::default(),
            visits: Visits::new(model, layout, definitions, options.order),
        })
    }

    /// Forgets all contacts, so that the next step's continue none.
    pub fn forget(&mut self) {
        self.set.forget();
        self.patches.clear();
        self.memories.clear();
        self.slots.forget();
        self.visits.forget();
    }

    /// Finds the contacts at the step's start and lays them out; rows start unregularised, and what
    /// continues keeps its multiplier, stiffness and drift.
    pub(crate) fn follow(
        &mut self,
        bases: &[Base<R>],
        layout: &NodeLayout,
        broken: &[bool],
        h: f64,
    ) {
        let placements = layout.bodies().iter().map(|&n| {
            let base = &bases[n as usize];
            placement(&base.pose(), &base.rates())
        });
        let list = self.set.detect(placements, broken, h);
        std::mem::swap(&mut self.patches, &mut self.before.0);
        std::mem::swap(&mut self.memories, &mut self.before.1);
        self.patches.clear();
        self.memories.clear();
        let maker = Maker {
            bases,
            layout,
            style: self.style,
            inverse_masses: &self.inverse_masses,
            lengths: &self.lengths,
            before: (&self.before.0, &self.before.1),
        };
        let mut manifolds = list.manifolds.iter();
        let mut manifold = None;
        self.slots.follow(list, |c, contact, before| {
            let next = |m: &Manifold| m.contacts.end as usize <= c;
            if manifold.is_none_or(next) {
                manifold = manifolds.next();
            }
            let Some(manifold) = manifold else { return 0 };
            let i = (c - manifold.range().start) % LANES;
            if i == 0 {
                self.patches.push(maker.patch(manifold));
                self.memories.push(maker.memory(manifold, c));
            }
            let p = self.patches.len() - 1;
            let (patch, memory) = (&mut self.patches[p], &mut self.memories[p]);
            patch.count = narrow(i + 1);
            maker.point(patch, memory, i, contact, before.map(|&slot| slot as usize));
            patch.friction.put(i, R::of(manifold.friction(grip(patch, memory, i))));
            narrow(p * LANES + i)
        });
        self.arrange(layout.len());
    }

    /// Everything that follows from which nodes the patches join.
    pub(crate) fn arrange(&mut self, nodes: usize) {
        let ends = |(p, patch): (u32, &Patch<R>)| {
            let [a, b] = patch.nodes;
            [(a, 2 * p), (b, 2 * p + 1)]
        };
        self.ends.fill(nodes, (0..).zip(&self.patches).flat_map(ends));
        self.visits.follow(self.patches.iter().map(|p| p.nodes));
        for (memory, &mass) in self.memories.iter_mut().zip(self.visits.supported()) {
            memory.supported_mass = mass;
        }
    }

    /// Appends the time spent on finding contacts since the last call.
    pub fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.set.drain_times(out);
    }

    /// Ends of patches at a node: twice the patch, plus one where the node is B.
    #[inline]
    pub(crate) fn ends(&self, n: usize) -> &[u32] {
        self.ends.of(n)
    }

    /// Writes the force of every contact, in the order of detection; `force` gives the row forces of
    /// a lane of a patch.
    pub fn read_forces(
        &self,
        out: &mut Vec<ContactForce>,
        force: impl Fn(&Patch<R>, usize) -> V3<R>,
    ) {
        let force = |&slot: &u32| {
            let patch = &self.patches[slot as usize / LANES];
            -patch.world(force(patch, slot as usize % LANES)).to_f64()
        };
        self.set.report(self.slots.now().iter().map(force), out);
    }
}

/// A point that continues one that did not stick slides; all others are held at first.
fn grip<R: Real>(patch: &Patch<R>, memory: &PatchMemory<R>, i: usize) -> Grip {
    if memory.continues[i] && !patch.sticks[i] { Grip::Slides } else { Grip::Sticks }
}

/// What patches are made from.
struct Maker<'a, R: Real> {
    bases: &'a [Base<R>],
    layout: &'a NodeLayout,
    style: Style,
    inverse_masses: &'a [f64],
    lengths: &'a [f64],
    before: (&'a [Patch<R>], &'a [PatchMemory<R>]),
}

impl<R: Real> Maker<'_, R> {
    /// A patch of this manifold, without points yet.
    fn patch(&self, manifold: &Manifold) -> Patch<R> {
        Patch {
            nodes: manifold.owners.map(|body| self.layout.bodies()[body as usize]),
            axes: frame(V3::of(&manifold.normal)),
            friction: R::Wide::splat(R::of(manifold.friction(Grip::Sticks))),
            ..Patch::EMPTY
        }
    }

    /// What belongs to that patch, whose first contact is `first`.
    fn memory(&self, manifold: &Manifold, first: usize) -> PatchMemory<R> {
        let [a, b] = manifold.owners.map(|body| body as usize);
        PatchMemory {
            first: narrow(first),
            effective_mass: 1.0 / (self.inverse_masses[a] + self.inverse_masses[b]),
            supported_mass: 0.0,
            friction_dynamic: manifold.friction(Grip::Slides),
            length: self.lengths[a].min(self.lengths[b]),
            gap: [R::of(NOWHERE); LANES],
            drift: [[R::ZERO; LANES]; 2],
            continues: [false; LANES],
            anchors: [[V3::ZERO; LANES]; 2],
        }
    }

    /// Fills a lane; `before` is the slot of the point that this one continues.
    fn point(
        &self,
        patch: &mut Patch<R>,
        memory: &mut PatchMemory<R>,
        i: usize,
        contact: &Contact,
        before: Option<usize>,
    ) {
        let mut anchors = contact.anchors().map(|anchor| V3::of(&anchor));
        let mut value = V3([R::of(contact.gap), R::ZERO, R::ZERO]);
        let [a, b] = patch.nodes.map(|n| &self.bases[n as usize]);
        if let Some(slot) = before {
            let (old, lane_before) = (&self.before.0[slot / LANES], slot % LANES);
            let old_memory = &self.before.1[slot / LANES];
            memory.continues[i] = true;
            patch.sticks[i] = old.sticks[lane_before];
            let stiffness = lane::<R>(&old.stiffness, lane_before);
            put::<R>(&mut patch.stiffness, i, stiffness);
            let lambda = lane::<R>(&old.lambda, lane_before);
            if self.style == Style::Demo3d {
                // The demo keeps the components although the tangents may have turned, and where a
                // point sticks its anchors.
                put::<R>(&mut patch.lambda, i, lambda);
                if patch.sticks[i] {
                    anchors = [0, 1].map(|side| old_memory.anchors[side][lane_before]);
                    let apart = (a.position - b.position)
                        + (a.rotation.rotate(anchors[0]) - b.rotation.rotate(anchors[1]));
                    value = patch.local(apart);
                }
            } else {
                let pressure = lambda.0[0];
                let pull = patch.local(old.world(V3([R::ZERO, lambda.0[1], lambda.0[2]])));
                put::<R>(&mut patch.lambda, i, V3([pressure, pull.0[1], pull.0[2]]));
                if patch.sticks[i] {
                    let drift = old_memory.drift.map(|tangent| tangent[lane_before]);
                    let drag = patch.local(old.world(V3([R::ZERO, drift[0], drift[1]])));
                    (value.0[1], value.0[2]) = (drag.0[1], drag.0[2]);
                }
            }
        }
        for (arms, (base, anchor)) in
            [&mut patch.arm_a, &mut patch.arm_b].into_iter().zip([a, b].into_iter().zip(anchors))
        {
            put::<R>(arms, i, base.rotation.rotate(anchor));
        }
        put::<R>(&mut patch.start, i, value);
        memory.gap[i] = value.0[0];
        (memory.drift[0][i], memory.drift[1][i]) = (value.0[1], value.0[2]);
        for (kept, anchor) in memory.anchors.iter_mut().zip(anchors) {
            kept[i] = anchor;
        }
    }
}
