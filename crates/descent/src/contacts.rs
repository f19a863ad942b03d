//! All contacts of a step: patches made from the collider's list, where they attach, and the order in
//! which nodes are visited while they last.

use taut_collide::{Carried, Contact, ContactSet, Grip, Manifold, Site, Style, frame};
use taut_core::{ContactForce, Scene, StageTime, scene::Particle};
use taut_math::{LANES, Real, V3, Wide};
use taut_model::{Csr, Model, Node, narrow, placement};

use crate::{
    element::Definition,
    node::{Base, NodeLayout, SweepNode},
    options::Options,
    patch::{Patch, lane, put},
    rider::{Rider, carry, mount},
    visits::Visits,
};

/// Gap of lanes without a point [m].
const NOWHERE: f64 = 1e6;
/// Points are as large as things this near to them, where the margin is smaller [m].
const POINT_M: f64 = 1e-3;

/// What of a patch only the start and the end of a step need.
#[derive(Clone, Copy, Debug)]
pub struct PatchMemory<R> {
    /// Index in the collider's list of the contact in the first lane.
    pub first: u32,
    /// Mass that the rows move: both sides in series [kg].
    pub effective_mass: f64,
    /// Mass that rests on the pair [kg], see [`taut_model::Supported`].
    pub supported_mass: f64,
    /// Smallest extent of the two bodies [m]; of a particle its diameter and two margins.
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
    /// Of what may touch: bodies, then particles where any touches.
    inverse_masses: Vec<f64>,
    lengths: Vec<f64>,
    /// Patches of the step before, with their memories.
    before: (Vec<Patch<R>>, Vec<PatchMemory<R>>),
    /// Patch and lane of each contact.
    slots: Carried<u32>,
    /// Ends of patches, node by node: twice the patch, plus one on side B.
    pub(crate) ends: Csr,
    /// Points of triangles and edges that the patches have for nodes, see [`Self::rider`].
    riders: Vec<Rider<R>>,
    /// How many nodes the scene has, after which riders come.
    nodes: usize,
    /// Nodes that patches couple, and the first such pair of each patch.
    links: Vec<[u32; 2]>,
    first_links: Vec<u32>,
    /// Ends of patches with the node that each is at, patch by patch.
    parts: Vec<(u32, u32)>,
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
        let soft = scene.touching_particles();
        let nodes = &model.nodes[..scene.bodies.len() + soft.len()];
        let bodies = &model.nodes[..scene.bodies.len()];
        let margin = scene.contacts?.margin;
        // A point has no size; what is near to it gives one.
        let length = |particle: &Particle| {
            let radius = particle.touch.map_or(0.0, |skin| skin.radius);
            2.0 * (radius + margin.max(POINT_M))
        };
        let lengths = bodies.iter().map(|body| body.extent.min());
        Some(Self {
            patches: vec![],
            memories: vec![],
            set: ContactSet::in_style(scene, options.contacts)?,
            style: options.contacts,
            inverse_masses: nodes.iter().map(Node::inverse_mass).collect(),
            lengths: lengths.chain(soft.iter().map(length)).collect(),
            before: (vec![], vec![]),
            slots: Carried::default(),
            ends: Csr::default(),
            visits: Visits::new(model, layout, definitions, options.order),
            riders: vec![],
            nodes: layout.len(),
            links: vec![],
            first_links: vec![],
            parts: vec![],
        })
    }

    /// Forgets all contacts, so that the next step's continue none.
    pub fn forget(&mut self) {
        self.set.forget();
        self.patches.clear();
        self.memories.clear();
        self.riders.clear();
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
        let placements = layout.node_of[..self.inverse_masses.len()].iter().map(|&n| {
            let base = &bases[n as usize];
            placement(&base.pose(), &base.rates())
        });
        let list = self.set.detect(placements, broken, h);
        std::mem::swap(&mut self.patches, &mut self.before.0);
        std::mem::swap(&mut self.memories, &mut self.before.1);
        self.patches.clear();
        self.memories.clear();
        self.riders.clear();
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
                let mut patch = maker.patch(manifold);
                for (node, site) in patch.nodes.iter_mut().zip(&contact.sites) {
                    if let Some(rider) = Rider::of(site, |n| layout.node_of[n as usize]) {
                        *node = narrow(self.nodes + self.riders.len());
                        self.riders.push(rider);
                    }
                }
                self.patches.push(patch);
                self.memories.push(maker.memory(manifold, contact, c));
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
        let Self { patches, riders, memories, visits, .. } = self;
        if riders.is_empty() {
            let ends = |(p, patch): (u32, &Patch<R>)| {
                let [a, b] = patch.nodes;
                [(a, 2 * p), (b, 2 * p + 1)]
            };
            self.ends.fill(nodes, (0..).zip(&*patches).flat_map(ends));
            visits.follow(patches.iter().map(|p| p.nodes));
            for (memory, &mass) in memories.iter_mut().zip(visits.supported()) {
                memory.supported_mass = mass;
            }
            return;
        }
        self.links.clear();
        self.first_links.clear();
        self.parts.clear();
        for (p, patch) in (0..).zip(&*patches) {
            self.first_links.push(narrow(self.links.len()));
            let own = |side: usize| match (patch.nodes[side] as usize).checked_sub(self.nodes) {
                Some(rider) => riders[rider].corners(),
                None => std::slice::from_ref(&patch.nodes[side]),
            };
            let (on_a, on_b) = (own(0), own(1));
            self.links.extend(on_a.iter().flat_map(|&a| on_b.iter().map(move |&b| [a, b])));
            self.parts.extend(on_a.iter().map(|&a| (a, 2 * p)));
            self.parts.extend(on_b.iter().map(|&b| (b, 2 * p + 1)));
        }
        let links = &self.links;
        let last = |p: usize| self.first_links.get(p + 1).map_or(links.len(), |&l| l as usize);
        self.ends.fill(nodes, self.parts.iter().copied());
        visits.follow(links.iter().copied());
        let masses = visits.supported();
        for (p, memory) in memories.iter_mut().enumerate() {
            let own = &masses[self.first_links[p] as usize..last(p)];
            memory.supported_mass = own.iter().copied().fold(0.0, f64::max);
        }
    }

    /// The point of a triangle or an edge that a node is, if it is one.
    #[inline]
    pub(crate) fn rider(&self, node: u32) -> Option<&Rider<R>> {
        let place = (node as usize).checked_sub(self.nodes)?;
        self.riders.get(place)
    }

    /// Whether any patch is with a triangle or an edge.
    pub(crate) fn has_riders(&self) -> bool {
        !self.riders.is_empty()
    }

    /// Gives the points of triangles their nodes.
    pub(crate) fn mount(&self, nodes: &mut Vec<SweepNode<R>>) {
        mount(nodes, self.nodes, &self.riders);
    }

    /// Takes the points of triangles along with a corner that has moved.
    #[inline]
    pub(crate) fn carry(&self, nodes: &mut [SweepNode<R>], corner: u32) {
        for &end in self.ends(corner as usize) {
            let node = self.patches[end as usize / 2].nodes[end as usize % 2];
            if let Some(rider) = self.rider(node) {
                carry(nodes, node as usize, rider);
            }
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
            // Those of triangles and edges are not among them, and set by whoever knows which they are.
            nodes: manifold.owners.map(|o| self.layout.node_of.get(o as usize).map_or(0, |&n| n)),
            axes: frame(V3::of(&manifold.normal)),
            friction: R::Wide::splat(R::of(manifold.friction(Grip::Sticks))),
            ..Patch::EMPTY
        }
    }

    /// What belongs to that patch, whose first contact is number `first`.
    fn memory(&self, manifold: &Manifold, contact: &Contact, first: usize) -> PatchMemory<R> {
        let [a, b] = contact.sites.map(|site| site.shares());
        let yields = |(node, share): (u32, f64)| share * share * self.inverse_masses[node as usize];
        let inverse = |side: &mut dyn Iterator<Item = (u32, f64)>| side.map(yields).sum::<f64>();
        let sides = contact.sites.iter().flat_map(Site::shares);
        let lengths = sides.map(|(node, _)| self.lengths[node as usize]);
        PatchMemory {
            first: narrow(first),
            effective_mass: 1.0 / (inverse(&mut { a }) + inverse(&mut { b })),
            supported_mass: 0.0,
            friction_dynamic: manifold.friction(Grip::Slides),
            length: lengths.fold(f64::INFINITY, f64::min),
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
        let resting = Base::resting();
        let [a, b] = patch.nodes.map(|n| self.bases.get(n as usize).unwrap_or(&resting));
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
                if patch.sticks[i] && matches!(contact.sites[1], Site::Body { .. }) {
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
