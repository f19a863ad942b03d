//! Which particles are around each on the triangles of particles.

use super::TouchingFace;
use crate::contact::NONE;

/// Of each particle with triangles all around it, those that edges join it to.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    /// How many bodies are before the particles.
    first: usize,
    /// Of each particle, where in `nodes` its own start, and at last where they end.
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Rings {
    /// Of `count` particles after `first` bodies.
    pub(crate) fn new(faces: &[TouchingFace], first: usize, count: usize) -> Self {
        let mut at_rim = vec![false; count];
        let mut pairs: Vec<[u32; 2]> = vec![];
        for face in faces {
            for k in 0..3 {
                let ends = [face.corners[k], face.corners[(k + 1) % 3]];
                pairs.extend([ends, [ends[1], ends[0]]]);
                // Where more than two triangles meet none is across, and nothing is all around.
                for end in ends {
                    at_rim[end as usize - first] |= face.across[k] == NONE;
                }
            }
        }
        pairs.retain(|[node, _]| !at_rim[*node as usize - first]);
        pairs.sort_unstable();
        pairs.dedup();
        let start =
            |i: usize| pairs.partition_point(|[node, _]| (*node as usize) < first + i) as u32;
        Self {
            first,
            starts: (0..=count).map(start).collect(),
            nodes: pairs.iter().map(|[_, other]| *other).collect(),
        }
    }

    /// Those around a particle; none where it is at a rim or at no triangle.
    pub(crate) fn around(&self, node: u32) -> &[u32] {
        let i = node as usize - self.first;
        &self.nodes[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::face::faces;

    #[test]
    fn what_is_inside_a_sheet_has_a_ring() {
        // A hexagon about particle 3, after two bodies; particle 2 is apart.
        let rim = [4, 5, 6, 7, 8, 9];
        let fan: Vec<[u32; 3]> = (0..6).map(|k| [3, rim[k], rim[(k + 1) % 6]]).collect();
        let rings = Rings::new(&faces(&fan), 2, 8);
        assert_eq!(rings.around(3), rim);
        assert!([2, 4, 9].iter().all(|&node| rings.around(node).is_empty()));
        // With a triangle missing it is at the rim, too.
        assert!(Rings::new(&faces(&fan[1..]), 2, 8).around(3).is_empty());
    }
}
