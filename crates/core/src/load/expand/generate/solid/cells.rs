//! Cells of a lattice split into tetrahedra, and their outer corners moved onto a surface.

use crate::{energy::volume, load::author::CellSplit, math::Vec3};

/// No tetrahedron may keep less than this share of its volume as corners move onto the surface [1].
const VOLUME_SHARE_MIN: f64 = 0.2;

/// How often every corner is tried.
const PASSES: usize = 4;

/// A part of what is filled, along the axes.
pub(super) struct Ellipsoid {
    pub(super) centre: Vec3,
    pub(super) radii: Vec3,
}

/// Corners and tetrahedra, each with its first three counter-clockwise seen from the last.
pub(super) struct CutLattice {
    pub(super) points: Vec<Vec3>,
    pub(super) tetrahedra: Vec<[usize; 4]>,
}

impl Ellipsoid {
    /// Distance from the centre over that of the surface in this direction [1].
    fn level(&self, x: &Vec3) -> f64 {
        (x - self.centre).component_div(&self.radii).norm()
    }

    /// Where the ray from the centre through `x` meets the surface.
    fn surface(&self, x: &Vec3) -> Vec3 {
        self.centre + (x - self.centre) / self.level(x)
    }
}

/// The ellipsoid that `x` is deepest in.
fn deepest<'a>(parts: &'a [Ellipsoid], x: &Vec3) -> Option<&'a Ellipsoid> {
    parts.iter().min_by(|a, b| a.level(x).total_cmp(&b.level(x)))
}

/// Corners of a cell by the bits of their number: 1 along x, 2 along y, 4 along z.
const FIVE: [[usize; 4]; 5] =
    [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 6, 3], [4, 0, 5, 6], [7, 3, 6, 5]];
/// Around the diagonal from corner 0 to corner 7: one for each order of the axes.
const SIX: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

/// Cuts what is inside `parts`, or all where there are none, from a lattice with this corner and these sides
/// of a cell [m]. All nodes of a whole lattice are in the order of its indices, the last fastest.
pub(super) fn cut(
    counts: [usize; 3],
    corner: Vec3,
    side: Vec3,
    parts: &[Ellipsoid],
    split: CellSplit,
) -> CutLattice {
    let [nx, ny, nz] = counts;
    let place = |at: [f64; 3]| corner + side.component_mul(&Vec3::from(at));
    let node = |[i, j, k]: [usize; 3]| (i * (ny + 1) + j) * (nz + 1) + k;
    let all = (0..nx).flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| [i, j, k])));
    let inside = |cell: &[usize; 3]| {
        let middle = place(cell.map(|i| i as f64 + 0.5));
        deepest(parts, &middle).is_none_or(|part| part.level(&middle) < 1.0)
    };
    let mut fours = Vec::new();
    // How many cells each node is a corner of, by its number in the lattice.
    let mut shared = vec![0_u8; (nx + 1) * (ny + 1) * (nz + 1)];
    for cell in all.filter(inside) {
        let [i, j, k] = cell;
        let numbers: [usize; 8] = std::array::from_fn(|bits| {
            node([i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2)])
        });
        numbers.iter().for_each(|&n| shared[n] += 1);
        let mirrored = (i + j + k) % 2;
        match split {
            // Odd cells are mirrored along x, so that faces of neighbours have the same diagonals.
            CellSplit::Five => {
                fours.extend(FIVE.map(|four| four.map(|bits| numbers[bits ^ mirrored])));
            }
            CellSplit::Six => fours.extend(SIX.map(|four| four.map(|bits| numbers[bits]))),
        }
    }
    let used: Vec<usize> = (0..shared.len()).filter(|&n| shared[n] > 0).collect();
    let points: Vec<Vec3> = used
        .iter()
        .map(|&n| {
            let [i, j, k] = [n / ((ny + 1) * (nz + 1)), n / (nz + 1) % (ny + 1), n % (nz + 1)];
            place([i, j, k].map(|i| i as f64))
        })
        .collect();
    let mut index = vec![0; shared.len()];
    used.iter().enumerate().for_each(|(i, &n)| index[n] = i);
    let tetrahedra = fours.into_iter().map(|four| oriented(four.map(|n| index[n]), &points));
    let mut mesh = CutLattice { tetrahedra: tetrahedra.collect(), points };
    let outer = (0..used.len()).filter(|&n| !parts.is_empty() && shared[used[n]] < 8);
    mesh.round(&outer.collect::<Vec<_>>(), parts);
    mesh
}

fn oriented([a, b, c, d]: [usize; 4], points: &[Vec3]) -> [usize; 4] {
    if volume(&[a, b, c, d].map(|n| points[n])) > 0.0 { [a, b, c, d] } else { [a, b, d, c] }
}

impl CutLattice {
    /// Moves outer corners onto the surface, each as far as leaves every tetrahedron enough of its volume.
    fn round(&mut self, outer: &[usize], parts: &[Ellipsoid]) {
        let mut around: Vec<Vec<usize>> = vec![vec![]; self.points.len()];
        for (t, four) in self.tetrahedra.iter().enumerate() {
            four.iter().for_each(|&n| around[n].push(t));
        }
        let corners = |points: &[Vec3], t: usize| self.tetrahedra[t].map(|n| points[n]);
        let least: Vec<f64> = (0..self.tetrahedra.len())
            .map(|t| VOLUME_SHARE_MIN * volume(&corners(&self.points, t)))
            .collect();
        let whole: Vec<Vec3> = outer.iter().map(|&n| self.way(n, parts)).collect();
        let start: Vec<Vec3> = outer.iter().map(|&n| self.points[n]).collect();
        let mut shares = vec![0.0; outer.len()];
        // Where one corner has no room yet, there may be some once its neighbours have moved.
        for _ in 0..PASSES {
            for (k, &n) in outer.iter().enumerate() {
                let room = |points: &[Vec3]| {
                    around[n].iter().all(|&t| volume(&corners(points, t)) >= least[t])
                };
                let before = shares[k];
                for part in [1.0, 0.75, 0.5, 0.25, 0.0] {
                    shares[k] = before + (1.0 - before) * part;
                    self.points[n] = start[k] + whole[k] * shares[k];
                    if room(&self.points) {
                        break;
                    }
                }
            }
        }
    }

    /// From a corner to the surface [m]; nowhere from the very centre of a part.
    fn way(&self, corner: usize, parts: &[Ellipsoid]) -> Vec3 {
        let start = self.points[corner];
        let part = deepest(parts, &start).filter(|part| part.level(&start) > 0.0);
        part.map_or(Vec3::zeros(), |part| part.surface(&start) - start)
    }
}
