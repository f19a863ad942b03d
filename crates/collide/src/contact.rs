//! What a collision query answers.

use std::ops::Range;

use taut_core::{ContactForce, Placement, Vec3};

/// Stands for "no contact" where an index is expected.
pub const NONE: u32 = u32::MAX;

/// What one side of a contact is fixed to.
///
/// Whoever reads a site takes it apart without a condition, so that a second kind does not compile
/// until every reader says what it does with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Site {
    /// A point of a body.
    Body {
        /// The body by index in the scene.
        node: u32,
        /// The point in body coordinates [m].
        anchor: Vec3,
    },
    /// A particle.
    Vertex {
        /// The particle as [`taut_core::Scene::node`] counts it, bodies first.
        node: u32,
    },
    /// A point of a triangle of particles.
    Triangle {
        /// The triangle, counted after all bodies and particles.
        face: u32,
        /// Its particles as [`taut_core::Scene::node`] counts them.
        corners: [u32; 3],
        /// The share that each has in the point, and in what acts there; they sum up to one.
        weights: [f64; 3],
    },
    /// A point of an edge between two particles.
    Edge {
        /// The edge, counted after all bodies, particles and triangles.
        edge: u32,
        /// Its particles as [`taut_core::Scene::node`] counts them.
        ends: [u32; 2],
        /// The share that each has, as of a triangle's corners.
        weights: [f64; 2],
    },
}

impl Site {
    /// The body, particle, triangle or edge: bodies are counted before particles, those before triangles, and
    /// edges last.
    #[inline]
    pub fn node(&self) -> u32 {
        match *self {
            Self::Body { node, .. } | Self::Vertex { node } => node,
            Self::Triangle { face, .. } => face,
            Self::Edge { edge, .. } => edge,
        }
    }

    /// The bodies and particles that share in it, each with its share.
    #[inline]
    pub fn shares(&self) -> impl Iterator<Item = (u32, f64)> + use<> {
        let (nodes, shares, count) = match *self {
            Self::Body { node, .. } | Self::Vertex { node } => ([node; 3], [1.0; 3], 1),
            Self::Triangle { corners, weights, .. } => (corners, weights, 3),
            Self::Edge { ends: [a, b], weights: [s, t], .. } => ([a, b, b], [s, t, 0.0], 2),
        };
        nodes.into_iter().zip(shares).take(count)
    }

    /// The particles that share in it, each with its share, where it is a point between them; an edge has two,
    /// and a third without any share.
    #[inline]
    pub fn corners(&self) -> Option<[(u32, f64); 3]> {
        match *self {
            Self::Body { .. } | Self::Vertex { .. } => None,
            Self::Triangle { corners, weights, .. } => {
                Some([0, 1, 2].map(|k| (corners[k], weights[k])))
            }
            Self::Edge { ends: [a, b], weights: [s, t], .. } => Some([(a, s), (b, t), (b, 0.0)]),
        }
    }

    /// The point in the coordinates of its body; a particle is its own origin [m].
    #[inline]
    pub fn anchor(&self) -> Vec3 {
        match *self {
            Self::Body { anchor, .. } => anchor,
            Self::Vertex { .. } | Self::Triangle { .. } | Self::Edge { .. } => Vec3::zeros(),
        }
    }

    /// Where it is in the world [m], with bodies and particles in these `placements`.
    #[inline]
    pub fn point(&self, placements: &[Placement]) -> Vec3 {
        match *self {
            Self::Body { node, anchor } => placements[node as usize].point(&anchor),
            _ => self.shares().map(|(n, share)| placements[n as usize].position * share).sum(),
        }
    }

    /// How fast it moves in the world [m/s].
    #[inline]
    pub fn velocity(&self, placements: &[Placement]) -> Vec3 {
        match *self {
            Self::Body { node, anchor } => {
                let place = &placements[node as usize];
                place.velocity + place.omega.cross(&(place.rotation * anchor))
            }
            _ => self.shares().map(|(n, share)| placements[n as usize].velocity * share).sum(),
        }
    }
}

/// One point of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Points on the two surfaces, A first. At least one of them can move. Where particles touch, both are in
    /// the middle of the particle or of the triangle, where the force acts: no momentum is made.
    pub sites: [Site; 2],
    /// Unit vector from B to A, in the world.
    pub normal: Vec3,
    /// `normal . (xA - xB)` [m] of the points on the surfaces; negative where they overlap. With particles at B
    /// it is the distance of their middle from A's surface, less their radius; with particles on either side that
    /// of their middles, less both radii.
    pub gap: f64,
    /// Which features meet, unique among the contacts of a pair.
    pub feature: u64,
    /// Index in the list before this one of the contact that this one continues, or [`NONE`].
    pub previous: u32,
}

impl Contact {
    /// The two that touch, A first, counted as [`Site::node`] does.
    #[inline]
    pub fn nodes(&self) -> [u32; 2] {
        [self.sites[0].node(), self.sites[1].node()]
    }

    /// The points on A and B in the coordinates of either [m].
    #[inline]
    pub fn anchors(&self) -> [Vec3; 2] {
        [self.sites[0].anchor(), self.sites[1].anchor()]
    }
}

/// Whether friction still holds a point or its surfaces pass each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grip {
    /// It is held, up to the static coefficient.
    Sticks,
    /// It slides, against the dynamic coefficient.
    Slides,
}

/// Consecutive contacts of one pair that share a normal.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// The two that touch, A first, counted as [`Site::node`] does. Against a body a particle or triangle
    /// is B, and against a particle a triangle is.
    pub owners: [u32; 2],
    /// Unit vector from B to A, in the world.
    pub normal: Vec3,
    /// Its contacts.
    pub contacts: Range<u32>,
    /// Coefficients of static and of dynamic friction of the pair [1].
    pub friction: [f64; 2],
    /// Restitution of the pair [1].
    pub restitution: f64,
}

impl Manifold {
    /// Its contacts, as a range of indices.
    pub fn range(&self) -> Range<usize> {
        self.contacts.start as usize..self.contacts.end as usize
    }

    /// The coefficient of friction of a point that is held or slides [1].
    #[inline]
    pub fn friction(&self, grip: Grip) -> f64 {
        let [fixed, sliding] = self.friction;
        match grip {
            Grip::Sticks => fixed,
            Grip::Slides => sliding,
        }
    }
}

/// The answer of one collision query, sorted by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactList {
    /// All points of contact, manifold by manifold.
    pub contacts: Vec<Contact>,
    /// Which of them belong together.
    pub manifolds: Vec<Manifold>,
}

impl ContactList {
    /// Drops all contacts and keeps the memory.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.manifolds.clear();
    }

    /// Writes what each contact exerts: `forces` on A in world axes [N], in the order of the list. The
    /// point is midway between the anchors of bodies and particles in these `placements`.
    pub fn report(
        &self,
        placements: &[Placement],
        forces: impl IntoIterator<Item = Vec3>,
        out: &mut Vec<ContactForce>,
    ) {
        out.clear();
        let contacts = self.manifolds.iter().flat_map(|manifold| {
            self.contacts[manifold.range()].iter().map(move |c| (manifold, c))
        });
        out.extend(contacts.zip(forces).map(|((manifold, contact), force)| {
            let [a, b] = contact.sites.map(|site| site.point(placements));
            let corners = contact.sites.map(|site| site.corners());
            let whole = contact.nodes();
            ContactForce {
                bodies: [0, 1].map(|k| corners[k].map_or(whole[k], |[(first, _), ..]| first)),
                corners,
                point: (a + b) * 0.5,
                normal: contact.normal,
                gap: contact.gap,
                friction: manifold.friction,
                force,
            }
        }));
    }

    /// Appends another list, whose contacts continue the same list as these.
    pub(crate) fn append(&mut self, other: &Self) {
        let shift = self.contacts.len() as u32;
        self.contacts.extend_from_slice(&other.contacts);
        self.manifolds.extend(other.manifolds.iter().map(|m| Manifold {
            contacts: m.contacts.start + shift..m.contacts.end + shift,
            ..m.clone()
        }));
    }
}

/// What a method keeps of each contact from one list to the next.
#[derive(Clone, Debug)]
pub struct Carried<T> {
    now: Vec<T>,
    before: Vec<T>,
}

impl<T> Default for Carried<T> {
    fn default() -> Self {
        Self { now: vec![], before: vec![] }
    }
}

impl<T> Carried<T> {
    /// Takes on a list: `make` gets the index of each contact, the contact, and what was kept of the one
    /// that it continues.
    pub fn follow(
        &mut self,
        list: &ContactList,
        mut make: impl FnMut(usize, &Contact, Option<&T>) -> T,
    ) {
        std::mem::swap(&mut self.now, &mut self.before);
        self.now.clear();
        // No list is so long that `NONE` would be an index.
        let before = |contact: &Contact| self.before.get(contact.previous as usize);
        let kept = list.contacts.iter().enumerate().map(|(i, c)| make(i, c, before(c)));
        self.now.extend(kept);
    }

    /// What is kept of each contact of the last list.
    #[inline]
    pub fn now(&self) -> &[T] {
        &self.now
    }

    /// The same, to be changed.
    #[inline]
    pub fn now_mut(&mut self) -> &mut [T] {
        &mut self.now
    }

    /// Forgets everything, so that the next list continues nothing.
    pub fn forget(&mut self) {
        self.now.clear();
    }
}
