//! What couples the nodes of a step, elements and contacts together: in which order nodes are visited, and
//! how much mass rests on each contact. Both change only when contacts come or go.

use taut_model::{ColourOf, Colouring, Graph, Model, Order, Supported, narrow, priority};

use crate::{element::Definition, node::NodeLayout};

/// Elements and contacts over the nodes.
#[derive(Clone, Debug)]
pub(crate) struct Visits {
    /// Nodes in the order in which they are visited.
    pub(crate) visit: Vec<u32>,
    /// First place in `visit` of each colour, and one past the last.
    pub(crate) colours: Vec<usize>,
    order: Order,
    colouring: Colouring,
    graph: Graph,
    supported: Supported,
    /// Units of joints and springs, energies, and the slots of what they move.
    fixed: Vec<(u32, u32)>,
    units: usize,
    slots: usize,
    /// Nodes that joints hold together, then those in contact.
    links: Vec<[u32; 2]>,
    joints: usize,
    masses: Vec<f64>,
    /// Slot of each moving node.
    moving: Vec<u32>,
    /// Colour and node of what moves.
    keyed: Vec<(u32, u32)>,
}

impl Visits {
    pub(crate) fn new(
        model: &Model,
        layout: &NodeLayout,
        definitions: &[Definition],
        order: Order,
    ) -> Self {
        let mut moving = vec![0; *layout.colours.last().unwrap_or(&0)];
        let mut masses = vec![0.0; layout.len()];
        for ((slot, node), &n) in (0..).zip(&model.nodes).zip(&layout.node_of) {
            masses[n as usize] = node.mass;
            if let Some(place) = moving.get_mut(n as usize) {
                *place = slot;
            }
        }
        let graph = model.graph();
        let of_unit = |unit: u32| graph.nodes_of.of(unit as usize).iter().map(move |&n| (unit, n));
        let held = definitions.iter().filter(|d| d.holds());
        let links: Vec<[u32; 2]> = held.map(|d| layout.pair(&d.ends)).collect();
        Self {
            visit: vec![],
            colours: vec![],
            order,
            colouring: Colouring::default(),
            supported: Supported::default(),
            fixed: (0..narrow(graph.nodes_of.count())).flat_map(of_unit).collect(),
            units: graph.nodes_of.count(),
            slots: model.slots.count(),
            graph,
            joints: links.len(),
            links,
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
    pub(crate) fn supported(&self) -> &[f64] {
        &self.supported.masses()[self.joints..]
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
        self.supported.over(&self.masses, &self.links);
    }

    fn arrange(&mut self) {
        self.visit.clear();
        self.colours.clear();
        if self.order != Order::Coloured {
            self.visit.extend(0..narrow(self.moving.len()));
            self.colours.extend([0, self.moving.len()]);
            return;
        }
        let (moving, contacts) = (&self.moving, &self.links[self.joints..]);
        let moved = |(unit, pair): (u32, &[u32; 2])| {
            let slots = pair.map(|n| moving.get(n as usize).copied());
            slots.into_iter().flatten().map(move |slot| (unit, slot))
        };
        let touched = (narrow(self.units)..).zip(contacts).flat_map(moved);
        let units = self.units + contacts.len();
        self.graph.fill(self.slots, units, self.fixed.iter().copied().chain(touched));
        let colour_of = self.colouring.colour(&self.graph, ColourOf::Nodes, priority);
        self.keyed.clear();
        self.keyed.extend((0..).zip(&self.moving).map(|(n, &i)| (colour_of[i as usize], n)));
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
