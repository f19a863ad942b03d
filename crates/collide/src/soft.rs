//! Contacts of particles with triangles of particles: of cloth with itself and with other cloth, of solids with each
//! other and with cloth. A corner touches a triangle straight over or under it, an edge touches an edge.
//!
//! What is of one element does not touch itself, nor does what overlaps in the initial state of one piece: it is
//! meant to.

mod clearance;
mod surface;
mod touch;

use rayon::prelude::*;
use taut_core::{Placement, Scene, Vec3};

use crate::{
    broad::{Bounds, BroadPhase},
    contact::{Contact, ContactList, Manifold, NONE, Site},
    face::side_of,
    name::{name, sort},
    narrow::Rules,
    traits::{Traits, surface},
};
pub use clearance::Clearances;
pub(crate) use surface::SoftSurface;
use touch::{SideMemory, SoftPoint, SoftState};

/// Pairs that one thread treats at a time.
const CHUNK: usize = 256;
/// Overlaps up to that share of the distance from the origin are rounding [1].
const ROUNDING: f64 = 1e-9;

/// Finds contacts between particles and triangles of particles.
#[derive(Clone, Debug)]
pub(crate) struct SoftContacts {
    surface: SoftSurface,
    /// Of bodies, then of particles, then of triangles.
    traits: Vec<Traits>,
    of_edges: Vec<Traits>,
    /// Sorted pairs of particles that joints keep apart, with the joint.
    joined: Vec<([u32; 2], Option<u32>)>,
    /// Sorted pairs that overlap in the initial state, as they are counted below.
    overlapping: Vec<[u32; 2]>,
    /// Of particles and triangles.
    near: BroadPhase,
    bounds: Vec<Bounds>,
    /// Of edges.
    near_edges: BroadPhase,
    edge_bounds: Vec<Bounds>,
    pairs: Vec<[u32; 2]>,
    chunks: Vec<ContactList>,
    found: ContactList,
}

/// What a query knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftQuery<'a> {
    /// Of bodies, then of particles.
    pub(crate) placements: &'a [Placement],
    /// Of particles [m].
    pub(crate) radii: &'a [Option<f64>],
    /// Around bodies, particles and triangles, and where they may be within the step.
    pub(crate) bounds: &'a [Bounds],
    pub(crate) broken: &'a [bool],
    pub(crate) rules: &'a Rules,
    /// The answer before this one.
    pub(crate) before: &'a ContactList,
}

impl SoftContacts {
    /// Those of a scene; `None` where no particle may touch a triangle of others. `traits` are those of bodies,
    /// particles and triangles; `joined` are sorted pairs of bodies and particles that joints keep apart.
    pub(crate) fn new(
        scene: &Scene,
        traits: &[Traits],
        joined: &[([u32; 2], Option<u32>)],
    ) -> Option<Self> {
        let surface = SoftSurface::new(scene)?;
        let both = |ends: [u32; 2]| Traits::of_corners(ends.map(|end| &traits[end as usize]));
        let particles = surface.first..surface.first + scene.particles.len() as u32;
        let between = |pair: &[u32; 2]| pair.iter().all(|node| particles.contains(node));
        let mut contacts = Self {
            of_edges: surface.edges.iter().map(|edge| both(edge.ends)).collect(),
            traits: traits.to_vec(),
            joined: joined.iter().filter(|(pair, _)| between(pair)).copied().collect(),
            overlapping: vec![],
            near: BroadPhase::new(),
            bounds: vec![],
            near_edges: BroadPhase::new(),
            edge_bounds: vec![],
            pairs: vec![],
            chunks: vec![],
            found: ContactList::default(),
            surface,
        };
        contacts.find_overlapping(scene);
        Some(contacts)
    }

    /// How many bodies, particles and triangles there are.
    fn faces_end(&self) -> u32 {
        self.traits.len() as u32
    }

    fn faces_start(&self) -> u32 {
        (self.traits.len() - self.surface.faces.len()) as u32
    }

    /// Notes what of one piece overlaps in the initial state.
    fn find_overlapping(&mut self, scene: &Scene) {
        let placements: Vec<Placement> = scene.initial_state().placements().collect();
        let radii: Vec<Option<f64>> =
            scene.particles.iter().map(|p| Some(p.touch?.radius)).collect();
        let rules = Rules { margin: 0.0, points_max: usize::MAX, dt: 0.0, demo: false };
        let around = |(i, place): (usize, &Placement)| {
            let radius = i.checked_sub(scene.bodies.len()).and_then(|i| radii[i]);
            let pad = radius.unwrap_or(f64::NAN) + ROUNDING * (1.0 + place.position.amax());
            Bounds { middle: place.position, half: Vec3::repeat(pad) }
        };
        let mut bounds: Vec<Bounds> = placements.iter().enumerate().map(around).collect();
        for face in &self.surface.faces {
            let [a, b, c] = face.corners.map(|corner| bounds[corner as usize]);
            bounds.push(a.with(&b).with(&c));
        }
        let query = SoftQuery {
            placements: &placements,
            radii: &radii,
            bounds: &bounds,
            broken: &[],
            rules: &rules,
            before: &ContactList::default(),
        };
        let mut list = ContactList::default();
        self.find(&query, &mut list);
        let of_one_piece = |contact: &&Contact| {
            let first = |site: &Site| site.shares().next().map(|(node, _)| node);
            match contact.sites.each_ref().map(first) {
                [Some(a), Some(b)] => self.surface.joins(a, b),
                _ => false,
            }
        };
        let rounding = |contact: &&Contact| {
            let at = contact.sites[0].point(&placements).amax();
            contact.gap <= ROUNDING * (1.0 + at)
        };
        let all = list.contacts.iter().filter(of_one_piece).filter(rounding);
        self.overlapping = all.map(Contact::nodes).collect();
        self.overlapping.sort_unstable();
        (self.near, self.near_edges) = (BroadPhase::new(), BroadPhase::new());
    }

    /// Appends the contacts of a state to those of bodies.
    pub(crate) fn find(&mut self, query: &SoftQuery<'_>, list: &mut ContactList) {
        self.find_pairs(query);
        let (first_face, first_edge) = (self.faces_start(), self.faces_end());
        let (chunks, pairs) = (&mut self.chunks, &self.pairs);
        let parallel = rayon::current_num_threads() > 1 && pairs.len() > CHUNK;
        let size = if parallel { CHUNK } else { pairs.len().max(1) };
        let count = pairs.len().div_ceil(size);
        if chunks.len() < count {
            chunks.resize_with(count, ContactList::default);
        }
        let chunks = &mut chunks[..count];
        let finder = PairFinder {
            state: SoftState {
                placements: query.placements,
                radii: query.radii,
                surface: &self.surface,
            },
            traits: &self.traits,
            of_edges: &self.of_edges,
            first_face,
            first_edge,
            query,
        };
        let work = |(chunk, pairs): (&mut ContactList, &[[u32; 2]])| {
            chunk.clear();
            pairs.iter().for_each(|&pair| finder.touch(pair, chunk));
        };
        if parallel {
            chunks.par_iter_mut().zip(pairs.par_chunks(size)).for_each(work);
        } else {
            chunks.iter_mut().zip(pairs.chunks(size)).for_each(work);
        }
        self.found.clear();
        chunks.iter().for_each(|chunk| self.found.append(chunk));
        self.keep_nearest(list);
    }

    /// Fills `pairs` with those that may touch: particles with triangles, then edges with edges, sorted.
    fn find_pairs(&mut self, query: &SoftQuery<'_>) {
        let (first_face, first_edge) = (self.faces_start(), self.faces_end());
        let Self { surface, traits, of_edges, overlapping, joined, pairs, .. } = self;
        let first = surface.first;
        let rest = |pair: [u32; 2]| overlapping.binary_search(&pair).is_ok();
        let none = Bounds::nowhere();
        let particles = &query.bounds[first as usize..first_face as usize];
        let outer = particles.iter().zip(&surface.outside);
        self.bounds.clear();
        self.bounds.extend(outer.map(|(bounds, &outside)| if outside { *bounds } else { none }));
        let faces = surface.faces.iter().zip(&query.bounds[first_face as usize..]);
        self.bounds.extend(faces.map(|(face, bounds)| {
            // It has no bounds where it does not touch, as particles within solids.
            let behind = query.placements.get(face.behind as usize);
            behind.map_or(*bounds, |place| bounds.with(&Bounds::at(place.position)))
        }));
        let count = first_face - first;
        let allowed = |a: u32, b: u32| {
            let (node, face) = (a + first, b + first);
            a < count
                && b >= count
                && traits[node as usize].may_touch(&traits[face as usize])
                && !surface.is_corner(node, (b - count) as usize)
                && !rest([node, face])
        };
        pairs.clear();
        let close = self.near.update(&self.bounds, &[], allowed);
        pairs.extend(close.iter().map(|pair| pair.map(|i| i + first)));
        self.edge_bounds.clear();
        self.edge_bounds.extend(surface.edges.iter().map(|edge| {
            let [a, b] = edge.ends.map(|end| query.bounds[end as usize]);
            a.with(&b)
        }));
        let allowed = |a: u32, b: u32| {
            of_edges[a as usize].may_touch(&of_edges[b as usize])
                && !surface.are_neighbours(a as usize, b as usize)
                && !rest([a + first_edge, b + first_edge])
        };
        let close = self.near_edges.update(&self.edge_bounds, &[], allowed);
        pairs.extend(close.iter().map(|pair| pair.map(|i| i + first_edge)));
        if !joined.is_empty() {
            pairs.retain(|pair| {
                !is_joined(surface, joined, first_face, first_edge, *pair, query.broken)
            });
        }
    }

    /// Appends what was found, but none that gives way to another.
    fn keep_nearest(&self, list: &mut ContactList) {
        let found = &self.found;
        for group in found.manifolds.chunk_by(|a, b| a.owners[0] == b.owners[0]) {
            for (i, manifold) in group.iter().enumerate() {
                if group.len() > 1 && self.is_hidden(group, i) {
                    continue;
                }
                let first = list.contacts.len() as u32;
                list.contacts.push(found.contacts[manifold.range().start]);
                list.manifolds.push(Manifold { contacts: first..first + 1, ..manifold.clone() });
            }
        }
    }

    /// Whether one of the contacts of a particle gives way to another of them: behind a face of a solid to all of that
    /// solid, over an edge or a corner to all triangles around it, too.
    fn is_hidden(&self, group: &[Manifold], i: usize) -> bool {
        let of = |manifold: &Manifold| {
            let contact = &self.found.contacts[manifold.range().start];
            let Site::Triangle { face, corners, weights } = contact.sites[1] else { return None };
            let face = (face - self.faces_start()) as usize;
            let solid = self.surface.faces[face].behind != NONE;
            let beside = weights.iter().any(|weight| *weight <= 0.0);
            let inside = solid && !side_of(contact);
            let piece = solid.then(|| self.surface.piece_of(corners[0]));
            Some((face, piece, inside || beside, contact.gap.abs()))
        };
        let Some((face, piece, true, own)) = of(&group[i]) else { return false };
        let hides = |(j, other): (usize, &Manifold)| {
            let Some((other, whole, also, near)) = of(other) else { return false };
            let around = piece.is_some() && whole == piece || self.surface.meet(face, other);
            j != i && around && (near < own || near == own && (!also || j < i))
        };
        group.iter().enumerate().any(hides)
    }
}

/// Whether a joint keeps any particles of a pair apart.
fn is_joined(
    surface: &SoftSurface,
    joined: &[([u32; 2], Option<u32>)],
    first_face: u32,
    first_edge: u32,
    [a, b]: [u32; 2],
    broken: &[bool],
) -> bool {
    let held = |p: u32, q: u32| {
        let pair = [p.min(q), p.max(q)];
        let first = joined.partition_point(|(other, _)| *other < pair);
        let mut joints = joined[first..].iter().take_while(|(other, _)| *other == pair);
        let whole = |joint: u32| !broken.get(joint as usize).is_some_and(|&broken| broken);
        joints.any(|(_, joint)| joint.is_none_or(whole))
    };
    if a < first_edge && b < first_edge {
        let corners = surface.faces[(b - first_face) as usize].corners;
        return corners.iter().any(|&corner| held(a, corner));
    }
    let [a, b] = [a, b].map(|edge| surface.edges[(edge - first_edge) as usize].ends);
    a.iter().any(|&p| b.iter().any(|&q| held(p, q)))
}

/// From pairs to contacts.
struct PairFinder<'a> {
    state: SoftState<'a>,
    traits: &'a [Traits],
    of_edges: &'a [Traits],
    first_face: u32,
    first_edge: u32,
    query: &'a SoftQuery<'a>,
}

impl PairFinder<'_> {
    /// Appends the contact of a pair, if it is close enough.
    fn touch(&self, pair: [u32; 2], list: &mut ContactList) {
        if pair[0] < self.first_edge {
            self.touch_face(pair, list)
        } else {
            self.touch_edge(pair, list)
        }
    }

    /// A particle and a triangle.
    fn touch_face(&self, [node, index]: [u32; 2], list: &mut ContactList) {
        let face = (index - self.first_face) as usize;
        let sides = KnownSides { finder: self, pair: [node, index] };
        let Some(point) = self.state.over_face(node, face, &sides) else { return };
        let corners = self.state.surface.faces[face].corners;
        let sites = [
            Site::Vertex { node },
            Site::Triangle { face: index, corners, weights: point.shares[1] },
        ];
        let traits = [node, index].map(|i| &self.traits[i as usize]);
        let feature = name(sort::CORNER_A, node, index) & !1 | u64::from(point.front);
        self.add(list, sites, &point, traits, feature);
    }

    /// Two edges.
    fn touch_edge(&self, pair: [u32; 2], list: &mut ContactList) {
        let [a, b] = pair.map(|edge| (edge - self.first_edge) as usize);
        let sides = KnownSides { finder: self, pair };
        let Some(point) = self.state.over_edge(a, b, &sides) else { return };
        let site = |k: usize, i: usize| {
            let [s, t, _] = point.shares[k];
            Site::Edge { edge: pair[k], ends: self.state.surface.edges[i].ends, weights: [s, t] }
        };
        let traits = [a, b].map(|i| &self.of_edges[i]);
        self.add(
            list,
            [site(0, a), site(1, b)],
            &point,
            traits,
            name(sort::CROSSING, pair[0], pair[1]),
        );
    }

    /// Appends a contact unless it is too far away for this step.
    fn add(
        &self,
        list: &mut ContactList,
        sites: [Site; 2],
        point: &SoftPoint,
        [a, b]: [&Traits; 2],
        feature: u64,
    ) {
        let [speed_a, speed_b] = sites.map(|site| site.velocity(self.query.placements));
        let closing = point.up.dot(&(speed_b - speed_a)).max(0.0);
        let rules = self.query.rules;
        if point.gap <= rules.margin + closing * rules.dt {
            surface(a, b).add_point(list, sites, point.up, point.gap, feature);
        }
    }

    /// The contact that a pair had in the answer before.
    fn before(&self, pair: [u32; 2]) -> Option<&Contact> {
        let before = self.query.before;
        let place = before.manifolds.partition_point(|manifold| manifold.owners < pair);
        let manifold = before.manifolds.get(place).filter(|manifold| manifold.owners == pair)?;
        before.contacts.get(manifold.range().start)
    }
}

/// What is known of the side of one pair.
struct KnownSides<'a> {
    finder: &'a PairFinder<'a>,
    pair: [u32; 2],
}

impl SideMemory<Vec3> for KnownSides<'_> {
    fn own(&self) -> Option<Vec3> {
        Some(self.finder.before(self.pair)?.normal)
    }

    /// From the ends of either edge and the triangles beside the other.
    fn beside(&self) -> Option<Vec3> {
        let PairFinder { state, first_face, first_edge, .. } = *self.finder;
        let [a, b] = self.pair.map(|edge| &state.surface.edges[(edge - first_edge) as usize]);
        let normals = |ends: [u32; 2], faces: [u32; 2]| -> Vec3 {
            let faces = faces.into_iter().filter(|&face| face != NONE);
            let pairs = faces.flat_map(|face| ends.map(|end| [end, first_face + face]));
            pairs.filter_map(|pair| Some(self.finder.before(pair)?.normal)).sum()
        };
        let normal = normals(a.ends, b.faces) - normals(b.ends, a.faces);
        (normal != Vec3::zeros()).then_some(normal)
    }
}

impl SideMemory<bool> for KnownSides<'_> {
    fn own(&self) -> Option<bool> {
        self.finder.before(self.pair).map(side_of)
    }

    /// From the triangles that the particle touched and that share a corner with this one.
    fn beside(&self) -> Option<bool> {
        let PairFinder { state, first_face, first_edge, query, .. } = *self.finder;
        let ([node, index], before) = (self.pair, query.before);
        let face = |i: u32| (i - first_face) as usize;
        let touches = |manifold: &&Manifold| {
            let other = manifold.owners[1];
            other < first_edge && state.surface.meet(face(index), face(other))
        };
        let first = before.manifolds.partition_point(|m| m.owners < [node, first_face]);
        let own = before.manifolds[first..].iter().take_while(|m| m.owners[0] == node);
        let found = own.into_iter().find(touches)?;
        before.contacts.get(found.range().start).map(side_of)
    }
}
