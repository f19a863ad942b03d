//! What is probably not meant about cloth and solids.

use crate::{
    math::Vec3,
    scene::{Anchor, Endpoint, Scene},
    state::State,
};

/// Longest edge over least height above which an element is a sliver [1].
const ASPECT_MAX: f64 = 100.0;

/// How an element is shaped at the start.
struct ElementSize {
    /// [m]
    shortest: f64,
    /// Longest edge over least height [1].
    aspect: f64,
}

impl ElementSize {
    fn of_triangle([a, b, c]: &[Vec3; 3]) -> Self {
        let edges = [(b - a).norm(), (c - b).norm(), (a - c).norm()];
        let longest = edges.into_iter().fold(0.0, f64::max);
        let height = (b - a).cross(&(c - a)).norm() / longest;
        Self { shortest: edges.into_iter().fold(f64::INFINITY, f64::min), aspect: longest / height }
    }

    fn of_tetrahedron(corners: &[Vec3; 4]) -> Self {
        let pairs = || (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
        let edges = || pairs().map(|(i, j)| (corners[i] - corners[j]).norm());
        let longest = edges().fold(0.0, f64::max);
        let faces = crate::energy::FACES.map(|face| {
            let [a, b, c] = face.map(|i| corners[i]);
            (b - a).cross(&(c - a)).norm()
        });
        // Six volumes over twice the largest face.
        let height =
            6.0 * crate::energy::volume(corners).abs() / faces.into_iter().fold(0.0, f64::max);
        Self { shortest: edges().fold(f64::INFINITY, f64::min), aspect: longest / height }
    }
}

/// Everything worth a word, one sentence for each sort.
pub(super) fn warnings(scene: &Scene, state: &State) -> Vec<String> {
    let triangles: Vec<ElementSize> = scene
        .triangles
        .iter()
        .map(|part| ElementSize::of_triangle(&part.ends.map(|end| end.position(state))))
        .collect();
    let tetrahedra: Vec<ElementSize> = scene
        .tetrahedra
        .iter()
        .map(|one| ElementSize::of_tetrahedron(&one.nodes.map(|n| state.particles[n].position)))
        .collect();
    let found = [
        slivers("triangles", &triangles),
        slivers("tetrahedra", &tetrahedra),
        idle(scene),
        thick(scene, &triangles),
        wide(scene, &triangles),
        branching(scene),
    ];
    found.into_iter().flatten().collect()
}

fn slivers(what: &str, sizes: &[ElementSize]) -> Option<String> {
    let thin = || sizes.iter().enumerate().filter(|(_, size)| size.aspect > ASPECT_MAX);
    let (first, size) = thin().next()?;
    Some(format!(
        "{} {what} are slivers: the longest edge of number {first} is {:.0} times its least height",
        thin().count(),
        size.aspect
    ))
}

/// Solids none of whose nodes can move; of triangles each is told by itself.
fn idle(scene: &Scene) -> Option<String> {
    let mut nodes = scene.tetrahedra.iter().flat_map(|one| one.nodes).peekable();
    nodes.peek()?;
    (!nodes.any(|n| scene.particles[n].mass > 0.0))
        .then(|| "all nodes of all solids are held".to_owned())
}

/// Cloth that is thicker than its triangles are long.
fn thick(scene: &Scene, sizes: &[ElementSize]) -> Option<String> {
    let radius = |anchor: &Anchor| match anchor.end {
        Endpoint::Particle(n) => scene.particles[n].touch.map_or(0.0, |skin| skin.radius),
        Endpoint::Body(_) | Endpoint::World => 0.0,
    };
    let parts = scene.triangles.iter().zip(sizes).enumerate();
    let mut thick = parts.filter_map(|(i, (part, size))| {
        let thickness = 2.0 * part.ends.iter().map(radius).fold(0.0, f64::max);
        (thickness > size.shortest).then_some((i, thickness, size.shortest))
    });
    let (i, thickness, shortest) = thick.next()?;
    Some(format!(
        "cloth is thicker than its edges are long: triangle {i} by {thickness:.3e} m to {shortest:.3e} m"
    ))
}

/// A margin of contacts that reaches over whole triangles.
fn wide(scene: &Scene, sizes: &[ElementSize]) -> Option<String> {
    let margin = scene.contacts?.margin;
    if scene.triangles.is_empty() || scene.touching_triangles().is_empty() {
        return None;
    }
    let shortest = sizes.iter().map(|size| size.shortest).fold(f64::INFINITY, f64::min);
    (margin > shortest && shortest.is_finite()).then(|| {
        format!("contacts begin {margin} m apart, further than an edge of {shortest:.3e} m is long")
    })
}

/// Edges that more than two triangles share.
fn branching(scene: &Scene) -> Option<String> {
    let edges = scene.triangles.iter().flat_map(|part| {
        [0, 1, 2].map(|k| {
            let [a, b] = [part.ends[k].end, part.ends[(k + 1) % 3].end];
            (a.min(b), a.max(b))
        })
    });
    let mut edges: Vec<_> = edges.collect();
    edges.sort_unstable();
    let count = edges.chunk_by(|a, b| a == b).filter(|same| same.len() > 2).count();
    (count > 0).then(|| format!("{count} edges belong to three triangles or more"))
}
