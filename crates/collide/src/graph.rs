//! Who touches whom, and which bodies can influence each other at all.

use taut_core::{Scene, scene::Endpoint};

use crate::contact::{ContactList, NONE};

/// The manifolds at each body of a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactGraph {
    starts: Vec<u32>,
    manifolds: Vec<u32>,
}

impl ContactGraph {
    /// The graph of a list for a scene with this many bodies.
    pub fn new(bodies: usize, list: &ContactList) -> Self {
        let mut graph = Self::default();
        graph.update(bodies, list);
        graph
    }

    /// Becomes the graph of another list, in the same memory.
    pub fn update(&mut self, bodies: usize, list: &ContactList) {
        let ends = || (0..).zip(&list.manifolds).flat_map(|(i, m)| m.bodies.map(|b| (i, b)));
        self.starts.clear();
        self.starts.resize(bodies + 1, 0);
        for (_, body) in ends() {
            self.starts[body as usize + 1] += 1;
        }
        for body in 0..bodies {
            self.starts[body + 1] += self.starts[body];
        }
        self.manifolds.clear();
        self.manifolds.resize(2 * list.manifolds.len(), 0);
        for (manifold, body) in ends() {
            let next = &mut self.starts[body as usize];
            self.manifolds[*next as usize] = manifold;
            *next += 1;
        }
        // Filling moved every start to where the next body begins.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Indices of the manifolds at a body, rising.
    pub fn at(&self, body: usize) -> &[u32] {
        &self.manifolds[self.starts[body] as usize..self.starts[body + 1] as usize]
    }
}

/// Groups of bodies and particles that forces can pass between.
///
/// Dynamic ones are in one island if a chain of joints that are whole, springs and contacts leads from
/// one to the other; what no force moves connects nothing. Islands are numbered by their first member,
/// bodies before particles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Islands {
    /// The island of each body; [`NONE`] where it is not dynamic.
    pub of_body: Vec<u32>,
    /// The island of each particle; [`NONE`] where it is held.
    pub of_particle: Vec<u32>,
    /// How many islands there are.
    pub count: u32,
}

/// The islands of a scene with these contacts and broken joints.
pub fn islands(scene: &Scene, list: &ContactList, broken: &[bool]) -> Islands {
    let bodies = scene.bodies.len();
    let node = |end: Endpoint| match end {
        _ if !scene.is_dynamic(end) => None,
        Endpoint::World => None,
        Endpoint::Body(i) => Some(i as u32),
        Endpoint::Particle(i) => Some((bodies + i) as u32),
    };
    let whole = scene.joints.iter().zip(broken).filter(|(_, broken)| !**broken);
    let joints = whole.map(|(joint, _)| [joint.a, joint.b]);
    let springs = scene.springs.iter().map(|spring| [spring.a, spring.b]);
    let touches = list.manifolds.iter().map(|m| m.bodies.map(|b| Endpoint::Body(b as usize)));
    let mut parent: Vec<u32> = (0..(bodies + scene.particles.len()) as u32).collect();
    for [a, b] in joints.chain(springs).chain(touches) {
        if let (Some(a), Some(b)) = (node(a), node(b)) {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            // The lower number stays the root, so that labels do not depend on the order of edges.
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let ends =
        (0..bodies).map(Endpoint::Body).chain((0..scene.particles.len()).map(Endpoint::Particle));
    let mut labels = vec![NONE; parent.len()];
    let mut count = 0;
    for node in ends.filter_map(node) {
        let first = root(&mut parent, node);
        if first == node {
            labels[node as usize] = count;
            count += 1;
        }
        labels[node as usize] = labels[first as usize];
    }
    let of_particle = labels.split_off(bodies);
    Islands { of_body: labels, of_particle, count }
}

/// The root of a node's tree; halves the path on the way.
fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let above = parent[parent[node as usize] as usize];
        parent[node as usize] = above;
        node = above;
    }
    node
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Vec3,
        scene::{Body, Joint, JointKind, Particle, Spring, SpringKind},
    };

    use super::*;
    use crate::contact::Manifold;

    fn manifold(a: u32, b: u32) -> Manifold {
        Manifold {
            bodies: [a, b],
            normal: Vec3::z(),
            contacts: 0..0,
            friction_static: 0.0,
            friction_dynamic: 0.0,
            restitution: 0.0,
        }
    }

    fn list(pairs: &[[u32; 2]]) -> ContactList {
        let manifolds = pairs.iter().map(|&[a, b]| manifold(a, b)).collect();
        ContactList { contacts: vec![], manifolds }
    }

    #[test]
    fn bodies_know_their_manifolds() {
        let list = list(&[[0, 1], [0, 3], [1, 3], [3, 4]]);
        let graph = ContactGraph::new(5, &list);
        let expected: [&[u32]; 5] = [&[0, 1], &[0, 2], &[], &[1, 2, 3], &[3]];
        for (body, manifolds) in expected.into_iter().enumerate() {
            assert_eq!(graph.at(body), manifolds);
        }
    }

    #[test]
    fn islands_end_at_what_no_force_moves() {
        let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
        let particle = |mass| Particle {
            name: String::new(),
            mass,
            position: Vec3::zeros(),
            velocity: Vec3::zeros(),
        };
        let spring = |a, b| Spring {
            name: String::new(),
            kind: SpringKind::Linear {
                anchor_a: Vec3::zeros(),
                anchor_b: Vec3::zeros(),
                rest_length: 1.0,
            },
            a,
            b,
            stiffness: 1.0,
        };
        let mut scene = Scene { bodies: vec![cube; 7], ..Scene::default() };
        scene.bodies[2] = scene.bodies[2].clone().fixed();
        scene.particles = vec![particle(1.0), particle(0.0), particle(1.0)];
        let body = Endpoint::Body;
        scene.joints = vec![
            Joint::new(JointKind::Ball, body(6), body(4)),
            Joint::new(JointKind::Ball, body(0), body(1)),
            Joint::new(JointKind::Ball, Endpoint::World, body(1)),
        ];
        scene.springs = vec![
            spring(Endpoint::Particle(2), body(5)),
            spring(Endpoint::Particle(0), Endpoint::Particle(1)),
        ];
        let touching = list(&[[0, 2], [2, 3], [4, 5]]);
        let found = islands(&scene, &touching, &[false; 3]);
        assert_eq!(found.of_body, [0, 0, NONE, 1, 2, 2, 2]);
        assert_eq!(found.of_particle, [3, NONE, 2]);
        assert_eq!(found.count, 4);
        let broken = islands(&scene, &touching, &[true, true, false]);
        assert_eq!(broken.of_body, [0, 1, NONE, 2, 3, 3, 4]);
    }

    /// A chain given from either end, in either direction: one island, numbered by its first member.
    #[test]
    fn labels_do_not_depend_on_the_order_of_edges() {
        let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
        let scene = Scene { bodies: vec![cube; 50], ..Scene::default() };
        let mut pairs: Vec<[u32; 2]> = (0..48).map(|i| [i, i + 2]).collect();
        let forward = islands(&scene, &list(&pairs), &[]);
        pairs.reverse();
        pairs.iter_mut().for_each(|pair| pair.reverse());
        assert_eq!(forward, islands(&scene, &list(&pairs), &[]));
        assert_eq!(forward.count, 2);
        assert!((0..50).all(|i| forward.of_body[i] == i as u32 % 2));
    }
}
