//! A tetrahedron of stable neo-Hookean material, which recovers from being turned inside out.
//!
//! The density of Smith, De Goes and Kim (Stable Neo-Hookean Flesh Simulation, 2018) without its logarithm,
//! with Lamé's constants `mu`, `lambda` and `l = lambda + mu`, which makes the shape at rest one of no stress
//! and the material that of linear elasticity for small strains:
//!
//! ```text
//!   W = V (mu/2 (|F|^2 - 3) - mu (J - 1) + l/2 (J - 1)^2)
//! ```
//!
//! Up to a constant it is `C^T K C / 2` of the two rows of Macklin and Müller (A Constraint-based Formulation of
//! Stable Neo-Hookean Materials, 2021), `C_0 = J - 1 - mu/l` with `K_00 = l V` and `C_1 = |F|` with
//! `K_11 = mu V`. In one corner `|F|^2` is quadratic and `J` affine, so that its second derivative
//! `V (mu |b|^2 1 + l v v^T)`, `v = cof(F) b`, is exact, positive and the same wherever the corner is: a minimum
//! over one corner is found by one step.

use serde::{Deserialize, Serialize};
use taut_math::{LANES, M3, Number, V3, Wide};

use super::{
    Blocks, Elasticity, Energy, PerRow, Points, ROWS_MAX, RowEnergy, Rows, SideBySide, SolidCorner,
    cell::{FACES, Gains, RestShape, bend_of_volume, cofactors, isotropic, square, times},
    spectrum::{PAIRS, Spectrum, Stiffnesses},
};
use crate::Vec3;

/// The energy of one tetrahedron.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeoHookean<N> {
    cell: RestShape<N>,
    /// `mu V` [J].
    shear: N,
    /// `l V` [J].
    bulk: N,
    /// `1 / (6 V)` [1/m^3].
    density: N,
}

impl NeoHookean<f64> {
    /// A tetrahedron with the corners `rest` [m] at rest; `None` where its volume is not positive.
    pub fn new(rest: &[Vec3; 4], material: Elasticity) -> Option<Self> {
        let (cell, volume) = RestShape::new(rest)?;
        let [mu, lambda] = material.lame();
        let (shear, bulk) = (mu * volume, (lambda + mu) * volume);
        Some(Self { cell, shear, bulk, density: 1.0 / (6.0 * volume) })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.cell.is_finite() && [self.shear, self.bulk].into_iter().all(is_sound)
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> NeoHookean<N> {
        NeoHookean {
            cell: self.cell.lower(),
            shear: N::of(self.shear),
            bulk: N::of(self.bulk),
            density: N::of(self.density),
        }
    }
}

impl<W: Wide> SideBySide<W> for NeoHookean<W> {
    fn side_by_side(energies: [&Energy<W::Lane>; LANES]) -> Option<Self> {
        let mut all = [NeoHookean::default(); LANES];
        for (own, energy) in all.iter_mut().zip(energies) {
            let Energy::NeoHookean(solid) = energy else { return None };
            *own = *solid;
        }
        Some(Self {
            cell: RestShape::side_by_side(all.map(|one| one.cell)),
            shear: W::gather(|lane| all[lane].shear),
            bulk: W::gather(|lane| all[lane].bulk),
            density: W::gather(|lane| all[lane].density),
        })
    }

    #[inline(always)]
    fn sized_rows<const SIZE: usize>(&self, x: &Points<W>) -> Rows<W, SIZE> {
        self.rows_at(x)
    }
}

impl<N: Number> NeoHookean<N> {
    /// What corner `i` needs: `F b_i` is a sum of its edges by `b_i . b_j`, and `dJ/dx_i` the area of the face opposite,
    /// over which `J` is the height.
    pub(super) fn corner(&self, i: usize) -> SolidCorner<N> {
        let b = self.cell.all_slopes();
        let pulls = FACES[i].map(|j| self.shear * b[i].dot(b[j]));
        SolidCorner { pulls, density: self.density, shear: self.shear, bulk: self.bulk }
    }
}

impl<N: Number> NeoHookean<N> {
    /// `F b_i`, `v_i` and `l (J - 1) - mu` times `V`, by the edges that end in corner `i`: `F b_i` is a sum of edges by
    /// `b_i . b_j`, and `v_i` the area of the face opposite, over which `J` is the height.
    #[inline(always)]
    fn at(&self, x: &Points<N>, i: usize) -> (V3<N>, V3<N>, N, N) {
        let ([j, k, l], b) = (FACES[i], self.cell.all_slopes());
        let (own, first) = (b[i], x[j] - x[i]);
        let w =
            first * own.dot(b[j]) + (x[k] - x[i]) * own.dot(b[k]) + (x[l] - x[i]) * own.dot(b[l]);
        let v = (x[k] - x[j]).cross(x[l] - x[j]) * self.density;
        let pull = self.bulk * (-first.dot(v) - N::ONE) - self.shear;
        (w, v, pull, own.dot(own))
    }

    /// Along the principal directions.
    fn stiffnesses(&self, spectrum: &Spectrum<N>) -> Stiffnesses<N> {
        let [a, b, c] = spectrum.s;
        let pull = self.bulk * (a * b * c - N::ONE) - self.shear;
        stiffnesses_by_volume(spectrum, [self.shear, self.bulk, pull])
    }

    /// In room for `SIZE` rows.
    #[inline(always)]
    fn rows_at<const SIZE: usize>(&self, x: &Points<N>) -> Rows<N, SIZE> {
        let f = self.cell.deformation(x);
        let c = cofactors(&f);
        let size = square(&f).sqrt();
        let inverse = size.inverse_or_zero();
        let mut rows = Rows::ZERO;
        rows.value[0] = f[0].dot(c[0]) - N::ONE - self.shear / self.bulk;
        rows.value[1] = size;
        for i in 0..4 {
            let b = self.cell.slope(i);
            rows.gradient[0][i] = times(&c, b);
            rows.gradient[1][i] = times(&f, b) * inverse;
        }
        rows
    }
}

/// Whether neither a stiffness nor its inverse overflows or vanishes.
pub(super) fn is_sound(k: f64) -> bool {
    k > 0.0 && k.is_finite() && (1.0 / k).is_finite()
}

/// Of two rows that do not know of each other.
#[inline]
pub(super) fn diagonal<N: Number>([first, second]: [N; 2]) -> [PerRow<N>; ROWS_MAX] {
    let mut matrix = [[N::ZERO; ROWS_MAX]; ROWS_MAX];
    (matrix[0][0], matrix[1][1]) = (first, second);
    matrix
}

/// Of a density that resists `|F|^2/2` by `shear`, `J` by `bulk` and is pulled at by `J` with `pull` [J], along the principal
/// directions.
pub(super) fn stiffnesses_by_volume<N: Number>(
    spectrum: &Spectrum<N>,
    [shear, bulk, pull]: [N; 3],
) -> Stiffnesses<N> {
    let [a, b, c] = spectrum.s;
    let pair = [b * c, a * c, a * b];
    let mut scale = [[N::ZERO; 3]; 3];
    for (k, row) in scale.iter_mut().enumerate() {
        row[k] = shear + bulk * (pair[k] * pair[k]);
    }
    for (k, [i, j]) in PAIRS.into_iter().enumerate() {
        let across = bulk * (pair[i] * pair[j]) + pull * spectrum.s[k];
        (scale[i][j], scale[j][i]) = (across, across);
    }
    Stiffnesses {
        scale,
        twist: spectrum.s.map(|s| shear + pull * s),
        flip: spectrum.s.map(|s| shear - pull * s),
    }
}

impl<N: Number> RowEnergy<N> for NeoHookean<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 2;

    fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        Some(self.cell.principal_stretches(x))
    }

    #[inline(always)]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        self.rows_at(x)
    }

    #[inline]
    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        let f = self.cell.deformation(x);
        let [bi, bj] = [i, j].map(|k| self.cell.slope(k));
        let inverse = square(&f).sqrt().inverse_or_zero();
        let along = M3::outer(times(&f, bi) * -(inverse * inverse), times(&f, bj));
        let size = isotropic(bi.dot(bj)).plus(along);
        bend_of_volume(&f, bi, bj).times(weights[0]).plus(size.times(weights[1] * inverse))
    }

    #[inline]
    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        diagonal([self.bulk, self.shear])
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(diagonal([self.bulk, self.shear].map(|k| N::ONE / k)))
    }

    /// Zero at rest.
    fn energy(&self, x: &Points<N>) -> N {
        let gains = Gains::of(&self.cell.deformation(x));
        N::HALF * (self.shear * gains.shape + self.bulk * (gains.volume * gains.volume))
    }

    /// Without the root of the second row, which has no gradient where the tetrahedron is a point.
    #[inline]
    fn force(&self, x: &Points<N>, i: usize) -> V3<N> {
        let (w, v, pull, _) = self.at(x, i);
        -(w * self.shear + v * pull)
    }

    fn block(&self, x: &Points<N>, i: usize, j: usize, bent: N) -> M3<N> {
        self.blocks(x, bent)[i][j]
    }

    fn blocks(&self, x: &Points<N>, bent: N) -> Blocks<N> {
        let spectrum = Spectrum::of(&self.cell.deformation(x));
        let stiffnesses = self.stiffnesses(&spectrum).bent_by(bent);
        spectrum.blocks(&stiffnesses, self.cell.all_slopes())
    }

    #[inline]
    fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        let (w, v, pull, square) = self.at(x, i);
        let block = M3::outer(v * self.bulk, v).plus(isotropic(self.shear * square));
        (-(w * self.shear + v * pull), block)
    }
}
