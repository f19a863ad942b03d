//! What couples the nodes of a step, elements and contacts together: in which order nodes are visited, and
//! how much mass rests on each contact. Both change only when contacts come or go.

use taut_core::Scene;

use crate::{
    carried::Shares,
    colour::Colouring,
    element::{Definition, Role},
    node::{Layout, Order, narrow},
};

/// The graph of elements and contacts over the nodes.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// Nodes in the order in which they are visited.
    pub(crate) visit: Vec<u32>,
    /// First place in `visit` of each colour, and one past the last.
    pub(crate) colours: Vec<usize>,
    order: Order,
    colouring: Colouring,
    shares: Shares,
    /// Pairs of moving things that elements couple, as indices of bodies and particles.
    fixed: Vec<(usize, usize)>,
    /// `fixed` and the pairs in contact.
    edges: Vec<(usize, usize)>,
    /// Nodes that joints hold together, then those in contact.
    links: Vec<[u32; 2]>,
    joints: usize,
    /// Mass on each link [kg].
    carried: Vec<f64>,
    masses: Vec<f64>,
    /// Body or particle of each moving node.
    moving: Vec<usize>,
    /// Colour and node of what moves.
    keyed: Vec<(u32, u32)>,
}

impl Graph {
    pub(crate) fn new(
        scene: &Scene,
        layout: &Layout,
        definitions: &[Definition],
        order: Order,
    ) -> Self {
        let mut moving = vec![0; *layout.colours.last().unwrap_or(&0)];
        let mut masses = vec![0.0; layout.len()];
        let bodies = scene.bodies.iter().map(|b| if b.is_dynamic() { b.mass } else { 0.0 });
        let particles = scene.particles.iter().map(|p| p.mass);
        let nodes = layout.bodies.iter().chain(&layout.particles);
        for (i, (mass, &n)) in bodies.chain(particles).zip(nodes).enumerate() {
            masses[n as usize] = mass;
            if let Some(slot) = moving.get_mut(n as usize) {
                *slot = i;
            }
        }
        let ends = |d: &Definition| [layout.node(d.a), layout.node(d.b)];
        let slot = |n: u32| moving.get(n as usize).copied();
        let pair = |[a, b]: [u32; 2]| Some((slot(a)?, slot(b)?));
        let fixed = definitions.iter().filter_map(|d| pair(ends(d))).collect();
        let holds = |d: &&Definition| d.role == Role::Lock && d.is_hard();
        let links: Vec<[u32; 2]> = definitions.iter().filter(holds).map(ends).collect();
        Self {
            visit: vec![],
            colours: vec![],
            order,
            colouring: Colouring::new(scene.bodies.len() + scene.particles.len()),
            shares: Shares::default(),
            fixed,
            edges: vec![],
            joints: links.len(),
            links,
            carried: vec![],
            masses,
            moving,
            keyed: vec![],
        }
    }

    /// Takes the next step's contacts for new, whatever they are.
    pub(crate) fn forget(&mut self) {
        self.visit.clear();
        self.links.truncate(self.joints);
    }

    /// Mass on each patch of contact [kg], in the order in which they were followed.
    pub(crate) fn carried(&self) -> &[f64] {
        &self.carried[self.joints..]
    }

    /// Takes over the nodes in contact and arranges everything anew if they are not those of before.
    pub(crate) fn follow(&mut self, contacts: impl Iterator<Item = [u32; 2]> + Clone) {
        let known = self.links[self.joints..].iter().copied();
        if !self.visit.is_empty() && known.eq(contacts.clone()) {
            return;
        }
        self.links.truncate(self.joints);
        self.links.extend(contacts);
        self.arrange();
        self.carried.clear();
        self.carried.extend_from_slice(self.shares.over(&self.masses, &self.links));
    }

    fn arrange(&mut self) {
        self.visit.clear();
        self.colours.clear();
        if self.order != Order::Coloured {
            self.visit.extend(0..narrow(self.moving.len()));
            self.colours.extend([0, self.moving.len()]);
            return;
        }
        self.edges.clone_from(&self.fixed);
        for &[a, b] in &self.links[self.joints..] {
            let slots = [a, b].map(|n| self.moving.get(n as usize).copied());
            if let [Some(a), Some(b)] = slots {
                self.edges.push((a, b));
            }
        }
        let colour_of = self.colouring.colour(&self.edges);
        self.keyed.clear();
        self.keyed.extend((0..).zip(&self.moving).map(|(n, &i)| (colour_of[i], n)));
        self.keyed.sort_unstable();
        for (place, &(colour, n)) in self.keyed.iter().enumerate() {
            if place == 0 || colour != self.keyed[place - 1].0 {
                self.colours.push(place);
            }
            self.visit.push(n);
        }
        self.colours.push(self.keyed.len());
    }
}
