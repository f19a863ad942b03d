//! Bodies that were on one side of a triangle of particles in one state and on the other side in the next.
//!
//! A triangle has no inside, so that no depth tells of what has fallen through it. The way of a body's centre
//! is a straight line here, and so are those of the corners.

use taut_core::{Scene, State, Vec3};

use crate::{
    broad::{Bounds, BroadPhase},
    detect::{Style, kept_apart},
    face::barycentric,
    solid,
    traits::Traits,
    transform::Transform,
};

/// Watches the states of one scene for bodies that have gone through its triangles.
#[derive(Clone, Debug)]
pub(crate) struct SheetWatch {
    /// Which bodies have their centre inside.
    solid: Vec<bool>,
    /// Triangles by their corners, as the scene counts bodies and particles.
    triangles: Vec<[u32; 3]>,
    /// Of bodies, then of triangles.
    traits: Vec<Traits>,
    /// Sorted pairs of a body and a particle that joints keep apart.
    joined: Vec<([u32; 2], Option<u32>)>,
    before: Vec<Vec3>,
    now: Vec<Vec3>,
    broad: BroadPhase,
    bounds: Vec<Bounds>,
}

impl SheetWatch {
    /// Of runs of a scene that start at `initial`; `None` where no triangle touches anything.
    pub(crate) fn new(scene: &Scene, initial: &State, solid: Vec<bool>) -> Option<Self> {
        let triangles = scene.touching_triangles();
        if triangles.is_empty() {
            return None;
        }
        let first = solid.len();
        let particles: Vec<Traits> = scene.particles.iter().map(Traits::of_particle).collect();
        let whole = |corners: &[usize; 3]| Traits::of_corners(corners.map(|i| &particles[i]));
        let bodies = scene.bodies.iter().map(Traits::of);
        let now: Vec<Vec3> = places(initial).collect();
        Some(Self {
            traits: bodies.chain(triangles.iter().map(whole)).collect(),
            triangles: triangles.iter().map(|t| t.map(|i| (first + i) as u32)).collect(),
            joined: kept_apart(scene, Style::Common, first + particles.len()),
            solid,
            before: now.clone(),
            now,
            broad: BroadPhase::new(),
            bounds: vec![],
        })
    }

    /// The next state: a body whose centre went through a triangle since the last one, and a corner of that.
    pub(crate) fn observe(
        &mut self,
        state: &State,
        before: &[Transform],
        now: &[Transform],
    ) -> Option<[usize; 2]> {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        self.now.extend(places(state));
        self.bounds.clear();
        let none = Bounds::nowhere();
        let centres = before.iter().zip(now).enumerate().map(|(i, (from, to))| {
            if self.solid[i] { Bounds::around([from.position, to.position]) } else { none }
        });
        self.bounds.extend(centres);
        let corners = |t: usize, places: &[Vec3]| {
            self.triangles[t].map(|node| places[node as usize - self.solid.len()])
        };
        for t in 0..self.triangles.len() {
            let [a, b] = [&self.before, &self.now].map(|places| corners(t, places));
            self.bounds.push(Bounds::around(a.into_iter().chain(b)));
        }
        let (bodies, traits) = (self.solid.len(), &self.traits);
        let allowed = |a: u32, b: u32| {
            (a as usize) < bodies
                && b as usize >= bodies
                && traits[a as usize].may_touch(&traits[b as usize])
        };
        let pairs = self.broad.update(&self.bounds, &[], allowed).to_vec();
        pairs.into_iter().find_map(|[body, place]| {
            let (body, t) = (body as usize, place as usize - bodies);
            let way = [&before[body], &now[body]].map(|place| place.position);
            let ends = [&self.before, &self.now].map(|places| corners(t, places));
            let free = !self.is_joined(body as u32, self.triangles[t], &state.broken);
            (free && crosses(way, ends)).then(|| [body, self.triangles[t][0] as usize])
        })
    }

    fn is_joined(&self, body: u32, corners: [u32; 3], broken: &[bool]) -> bool {
        corners.into_iter().any(|corner| {
            let pair = [body, corner];
            let first = self.joined.partition_point(|(other, _)| *other < pair);
            let mut joints = self.joined[first..].iter().take_while(|(other, _)| *other == pair);
            let whole = |joint: u32| !broken.get(joint as usize).is_some_and(|&broken| broken);
            joints.any(|(_, joint)| joint.is_none_or(whole))
        })
    }
}

fn places(state: &State) -> impl Iterator<Item = Vec3> {
    state.particles.iter().map(|particle| particle.position)
}

/// Whether a point went through a triangle, both from their first to their second places.
fn crosses(way: [Vec3; 2], ends: [[Vec3; 3]; 2]) -> bool {
    let height = |k: usize| solid::normal(&ends[k]).dot(&(way[k] - ends[k][0]));
    let [from, to] = [height(0), height(1)];
    // A number that is not one has no sign.
    if from * to >= 0.0 || !(from * to).is_finite() {
        return false;
    }
    let share = from / (from - to);
    let at = |k: usize| ends[0][k] + (ends[1][k] - ends[0][k]) * share;
    let corners = [at(0), at(1), at(2)];
    let point = way[0] + (way[1] - way[0]) * share;
    let normal = solid::normal(&corners);
    barycentric(&corners, &(point - normal * normal.dot(&(point - corners[0])))).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_crosses_where_the_moving_triangle_is() {
        let corners = |height: f64| {
            [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, height))
        };
        let down = |x: f64| [Vec3::new(x, 0.2, 1.0), Vec3::new(x, 0.2, -1.0)];
        assert!(crosses(down(0.2), [corners(0.0), corners(0.1)]));
        assert!(!crosses(down(0.9), [corners(0.0), corners(0.1)]), "beside it");
        assert!(!crosses(down(0.2), [corners(0.0), corners(-2.0)]), "it is ahead");
        // The triangle moves past a point that rests.
        let still = [Vec3::new(0.2, 0.2, 0.5); 2];
        assert!(crosses(still, [corners(0.0), corners(1.0)]));
    }
}
