//! What of particles may touch other particles: triangles, their edges, and corners; who is next to whom.

use taut_core::{Scene, scene::Particle};

use crate::contact::NONE;

/// A triangle of a sheet, or one on a solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftFace {
    /// Its particles, as the scene counts bodies and particles; of a solid counter-clockwise seen from outside.
    pub(crate) corners: [u32; 3],
    /// The fourth corner of the tetrahedron that it bounds, or [`NONE`] of a sheet.
    pub(crate) behind: u32,
    /// The triangle beside each edge, from corner `k` on; [`NONE`] where there is none.
    pub(crate) beside: [u32; 3],
    /// Which of its two sides is the front of its sheet: all of a sheet that can be turned alike are.
    turned: bool,
}

/// An edge of such triangles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftEdge {
    /// Its particles, as the scene counts bodies and particles.
    pub(crate) ends: [u32; 2],
    /// The first two triangles at it; [`NONE`] beyond.
    pub(crate) faces: [u32; 2],
}

/// The surfaces of all that particles make up.
#[derive(Clone, Debug)]
pub(crate) struct SoftSurface {
    /// In the order of the scene's touching triangles.
    pub(crate) faces: Vec<SoftFace>,
    pub(crate) edges: Vec<SoftEdge>,
    /// Of each particle, whether it touches: those within a solid do not.
    pub(crate) outside: Vec<bool>,
    /// Of each particle, the least one that elements join it to.
    piece: Vec<u32>,
    /// How many bodies are before the particles.
    pub(crate) first: u32,
}

impl SoftSurface {
    /// The surfaces of a scene; `None` where no particle may touch a triangle of others.
    pub(crate) fn new(scene: &Scene) -> Option<Self> {
        if !scene.touches_itself() {
            return None;
        }
        let first = scene.bodies.len() as u32;
        let particles = scene.touching_particles();
        let number = |i: usize| first + i as u32;
        let triangles: Vec<[usize; 3]> = scene.touching_triangles();
        let behind = behind(scene);
        let mut faces: Vec<SoftFace> = triangles
            .iter()
            .map(|corners| {
                let key = sorted(*corners);
                let found = behind.binary_search_by_key(&key, |(face, _)| *face);
                let behind = found.map_or(NONE, |place| number(behind[place].1));
                SoftFace { corners: corners.map(number), behind, beside: [NONE; 3], turned: false }
            })
            .collect();
        let edges = edges(&faces);
        turn_alike(&mut faces, &edges);
        for edge in &edges {
            let [t, u] = edge.faces;
            for (own, other) in [(t, u), (u, t)] {
                let Some(face) = faces.get_mut(own as usize) else { continue };
                let [a, b] = edge.ends;
                let at = |k: usize| [face.corners[k], face.corners[(k + 1) % 3]];
                if let Some(k) = (0..3).find(|&k| at(k) == [a, b] || at(k) == [b, a]) {
                    face.beside[k] = other;
                }
            }
        }
        Some(Self {
            edges,
            outside: outside(scene, particles, &triangles),
            piece: pieces(scene),
            first,
            faces,
        })
    }

    /// The place of a particle among the particles.
    fn place(&self, node: u32) -> usize {
        (node - self.first) as usize
    }

    /// Whether elements join two particles, over however many others.
    pub(crate) fn joins(&self, a: u32, b: u32) -> bool {
        self.piece_of(a) == self.piece_of(b)
    }

    /// The least particle that elements join a particle to.
    pub(crate) fn piece_of(&self, node: u32) -> u32 {
        self.piece[self.place(node)]
    }

    /// Whether a particle and a triangle are of one element.
    pub(crate) fn is_corner(&self, node: u32, face: usize) -> bool {
        let face = &self.faces[face];
        face.corners.contains(&node) || face.behind == node
    }

    /// Whether two particles are the ends of an edge.
    pub(crate) fn are_linked(&self, a: u32, b: u32) -> bool {
        let ends = [a.min(b), a.max(b)];
        self.edges.binary_search_by_key(&ends, |edge| edge.ends).is_ok()
    }

    /// Whether two edges share an end or are of one tetrahedron.
    pub(crate) fn are_neighbours(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.edges[a], &self.edges[b]);
        if a.ends.iter().any(|end| b.ends.contains(end)) {
            return true;
        }
        let of_one = |&face: &u32| {
            let Some(face) = self.faces.get(face as usize) else { return false };
            let whole = |end: &u32| face.corners.contains(end) || face.behind == *end;
            a.ends.iter().chain(&b.ends).all(whole)
        };
        a.faces.iter().chain(&b.faces).any(of_one)
    }

    /// Whether the front of a triangle, which sees its corners counter-clockwise, is that of its sheet.
    pub(crate) fn faces_front(&self, face: usize) -> bool {
        !self.faces[face].turned
    }

    /// Whether two triangles share a corner.
    pub(crate) fn meet(&self, a: usize, b: usize) -> bool {
        self.faces[a].corners.iter().any(|corner| self.faces[b].corners.contains(corner))
    }
}

fn sorted(mut corners: [usize; 3]) -> [usize; 3] {
    corners.sort_unstable();
    corners
}

/// The faces of all tetrahedra with the corner behind each, sorted.
fn behind(scene: &Scene) -> Vec<([usize; 3], usize)> {
    let faces = scene.tetrahedra.iter().flat_map(|one| {
        let [a, b, c, d] = one.nodes;
        [([b, c, d], a), ([a, c, d], b), ([a, b, d], c), ([a, b, c], d)]
    });
    let mut all: Vec<_> = faces.map(|(face, behind)| (sorted(face), behind)).collect();
    all.sort_unstable();
    all
}

/// Which particles are on the outside: those that touch, but not corners of solids that are of no outer face.
fn outside(scene: &Scene, particles: &[Particle], triangles: &[[usize; 3]]) -> Vec<bool> {
    let mut outside: Vec<bool> = particles.iter().map(|p| p.touch.is_some()).collect();
    for one in &scene.tetrahedra {
        one.nodes.iter().for_each(|&node| outside[node] = false);
    }
    triangles.iter().flatten().for_each(|&corner| outside[corner] = true);
    outside
}

/// Of each particle, the least one that triangles and tetrahedra join it to.
fn pieces(scene: &Scene) -> Vec<u32> {
    let mut least: Vec<u32> = (0..scene.particles.len() as u32).collect();
    fn root(least: &mut [u32], mut i: u32) -> u32 {
        while least[i as usize] != i {
            least[i as usize] = least[least[i as usize] as usize];
            i = least[i as usize];
        }
        i
    }
    let mut join = |a: usize, b: usize| {
        let (a, b) = (root(&mut least, a as u32), root(&mut least, b as u32));
        least[a.max(b) as usize] = a.min(b);
    };
    for triangle in &scene.triangles {
        let nodes = triangle.ends.iter().filter_map(|anchor| scene.node(anchor.end));
        let mut particles = nodes.filter_map(|node| node.checked_sub(scene.bodies.len()));
        if let Some(first) = particles.next() {
            particles.for_each(|other| join(first, other));
        }
    }
    for one in &scene.tetrahedra {
        one.nodes[1..].iter().for_each(|&other| join(one.nodes[0], other));
    }
    (0..least.len() as u32).map(|i| root(&mut least, i)).collect()
}

/// The edges of triangles, sorted by their ends.
fn edges(faces: &[SoftFace]) -> Vec<SoftEdge> {
    let ends = |t: usize, k: usize| {
        let [a, b] = [faces[t].corners[k], faces[t].corners[(k + 1) % 3]];
        [a.min(b), a.max(b)]
    };
    let mut all: Vec<([u32; 2], u32)> = (0..faces.len())
        .flat_map(|t| (0..3).map(move |k| (t, k)))
        .map(|(t, k)| (ends(t, k), t as u32))
        .collect();
    all.sort_unstable();
    let whole = |group: &[([u32; 2], u32)]| SoftEdge {
        ends: group[0].0,
        faces: [group[0].1, group.get(1).map_or(NONE, |other| other.1)],
    };
    all.chunk_by(|a, b| a.0 == b.0).map(whole).collect()
}

/// Turns the triangles of a sheet alike, starting from the first one of each.
fn turn_alike(faces: &mut [SoftFace], edges: &[SoftEdge]) {
    // The edges at each triangle that another one shares.
    let mut beside = vec![vec![]; faces.len()];
    for edge in edges.iter().filter(|edge| edge.faces[1] != NONE) {
        let [t, u] = edge.faces;
        // Triangles that are turned alike pass their common edge in opposite directions.
        let passes = |t: u32| {
            let corners = faces[t as usize].corners;
            (0..3).any(|k| [corners[k], corners[(k + 1) % 3]] == edge.ends)
        };
        let alike = passes(t) != passes(u);
        beside[t as usize].push((u, alike));
        beside[u as usize].push((t, alike));
    }
    let mut seen = vec![false; faces.len()];
    let mut waiting = vec![];
    for start in 0..faces.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        waiting.push(start);
        while let Some(t) = waiting.pop() {
            for &(u, alike) in &beside[t] {
                if !std::mem::replace(&mut seen[u as usize], true) {
                    faces[u as usize].turned = faces[t].turned == alike;
                    waiting.push(u as usize);
                }
            }
        }
    }
}
