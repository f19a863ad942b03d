//! What one corner needs of an energy, for methods that move one point at a time: a part of what all corners need,
//! so that it can be kept with the point.

use taut_math::{LANES, M3, Number, Real, V3, Wide};

use super::{ENDS_MAX, Energy, cell::FACES, cell::isotropic};

/// A corner of a neo-Hookean tetrahedron, which its edges pull and which resists a change of volume.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolidCorner<N> {
    /// By which each edge pulls [N/m]; minus their sum is the stiffness.
    pub(super) pulls: [N; 3],
    /// `1 / (6 V)` [1/m^3].
    pub(super) density: N,
    /// Tension of the volume at `J = 1`, negative [J].
    pub(super) shear: N,
    /// Stiffness of the volume [J].
    pub(super) bulk: N,
}

/// A corner of a triangle of St. Venant-Kirchhoff material.
#[derive(Clone, Copy, Debug, Default)]
pub struct SheetCorner<N> {
    /// `b_j` of the two others [1/m].
    pub(super) slopes: [[N; 2]; 2],
    /// `K_00`, `K_01` and `K_22` [J].
    pub(super) stiffness: [N; 3],
}

/// Force on a corner [N] and its positive second derivative [N/m], as of [`super::RowEnergy::vertex`].
pub type CornerSystem<N> = (V3<N>, M3<N>);

/// A kind of corner with so many others, and as many of them at a time as there are lanes of `W`.
pub trait CornerLanes<W: Wide, const OTHERS: usize>: Copy + Default + Send + Sync {
    /// One alone.
    type One: Copy + Default;

    /// Corner `i` of an energy; `None` where that is none of this kind.
    fn of(energy: &Energy<W::Lane>, i: usize) -> Option<Self::One>;
    /// The other points of corner `i` in the order in which their edges are asked for.
    fn others(i: usize) -> [usize; OTHERS];
    /// One in each lane.
    fn side_by_side(corners: [Self::One; LANES]) -> Self;
    /// The systems of corners whose edges to the others are these [m].
    fn systems(&self, edges: [V3<W>; OTHERS]) -> CornerSystem<W>;
}

impl<W: Wide> CornerLanes<W, 3> for SolidCorner<W> {
    type One = SolidCorner<W::Lane>;

    fn of(energy: &Energy<W::Lane>, i: usize) -> Option<Self::One> {
        SolidCorner::of(energy, i)
    }

    fn others(i: usize) -> [usize; 3] {
        SolidCorner::<W>::others(i)
    }

    fn side_by_side(corners: [Self::One; LANES]) -> Self {
        Self {
            pulls: [0, 1, 2].map(|k| W::gather(|lane| corners[lane].pulls[k])),
            density: W::gather(|lane| corners[lane].density),
            shear: W::gather(|lane| corners[lane].shear),
            bulk: W::gather(|lane| corners[lane].bulk),
        }
    }

    #[inline(always)]
    fn systems(&self, edges: [V3<W>; 3]) -> CornerSystem<W> {
        self.system(edges)
    }
}

impl<W: Wide> CornerLanes<W, 2> for SheetCorner<W> {
    type One = SheetCorner<W::Lane>;

    fn of(energy: &Energy<W::Lane>, i: usize) -> Option<Self::One> {
        SheetCorner::of(energy, i)
    }

    fn others(i: usize) -> [usize; 2] {
        SheetCorner::<W>::others(i)
    }

    fn side_by_side(corners: [Self::One; LANES]) -> Self {
        let slope = |j: usize, c: usize| W::gather(|lane| corners[lane].slopes[j][c]);
        Self {
            slopes: [0, 1].map(|j| [0, 1].map(|c| slope(j, c))),
            stiffness: [0, 1, 2].map(|k| W::gather(|lane| corners[lane].stiffness[k])),
        }
    }

    #[inline(always)]
    fn systems(&self, edges: [V3<W>; 2]) -> CornerSystem<W> {
        self.system(edges)
    }
}

impl<N: Real> SolidCorner<N> {
    /// Of corner `i` of an energy; `None` where that is none of this kind.
    pub fn of(energy: &Energy<N>, i: usize) -> Option<Self> {
        match energy {
            Energy::NeoHookean(solid) => Some(solid.corner(i)),
            _ => None,
        }
    }
}

impl<N: Number> SolidCorner<N> {
    /// The other points in the order in which their edges are asked for.
    pub fn others(i: usize) -> [usize; ENDS_MAX - 1] {
        FACES[i]
    }

    /// The system of the corner whose edges to the others are these [m].
    #[inline(always)]
    pub fn system(&self, [e, f, g]: [V3<N>; 3]) -> CornerSystem<N> {
        let [a, b, c] = self.pulls;
        let pull = e * a + f * b + g * c;
        let v = (f - e).cross(g - e) * self.density;
        let tension = self.bulk * (-e.dot(v) - N::ONE) - self.shear;
        let block = M3::outer(v * self.bulk, v).plus(isotropic(-(a + b + c)));
        (-(pull + v * tension), block)
    }
}

impl<N: Real> SheetCorner<N> {
    /// Of corner `i` of an energy; `None` where that is none of this kind.
    pub fn of(energy: &Energy<N>, i: usize) -> Option<Self> {
        match energy {
            Energy::Membrane(membrane) => Some(membrane.corner(i)),
            _ => None,
        }
    }
}

impl<N: Number> SheetCorner<N> {
    /// The other corners in the order in which their edges are asked for.
    pub fn others(i: usize) -> [usize; 2] {
        [(i + 1) % 3, (i + 2) % 3]
    }

    /// The system of the corner whose edges to the others are these [m]: with `s = S b` and `w = F b`, the force
    /// `-F s` and `(b.s)^+ 1 + (K_01 + K_22) w w^T + K_22 |b|^2 F F^T`.
    #[inline(always)]
    pub fn system(&self, [e, f]: [V3<N>; 2]) -> CornerSystem<N> {
        let ([[a1, a2], [b1, b2]], [direct, across, shear]) = (self.slopes, self.stiffness);
        let (first, second) = (e * a1 + f * b1, e * a2 + f * b2);
        let (own1, own2) = (-(a1 + b1), -(a2 + b2));
        let along = (first.dot(first) - N::ONE) * N::HALF;
        let beside = (second.dot(second) - N::ONE) * N::HALF;
        let twist = shear * first.dot(second);
        let (s1, s2) = (direct * along + across * beside, across * along + direct * beside);
        let (s1, s2) = (s1 * own1 + twist * own2, twist * own1 + s2 * own2);
        let w = first * own1 + second * own2;
        let bent = (own1 * s1 + own2 * s2).max(N::ZERO);
        let spread = shear * (own1 * own1 + own2 * own2);
        let block = M3::outer(w * (across + shear), w)
            .plus(M3::outer(first * spread, first))
            .plus(M3::outer(second * spread, second))
            .plus(isotropic(bent));
        (-(first * s1 + second * s2), block)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Elasticity, Membrane, NeoHookean, Points,
            tests::{points, tetrahedron},
        },
        *,
    };
    use crate::Vec3;

    type Four = <f64 as Real>::Wide;

    fn close((force, block): CornerSystem<f64>, (expected, exact): CornerSystem<f64>) {
        let size = exact.0.iter().map(|row| row.norm()).fold(0.0, f64::max);
        assert!(
            (force - expected).norm() < 1e-12 * (1.0 + expected.norm()),
            "{force:?} {expected:?}"
        );
        for (row, exact) in block.0.iter().zip(exact.0) {
            assert!((*row - exact).norm() < 1e-12 * size.max(1.0), "{block:?}");
        }
    }

    fn moved(rest: [Vec3; 4]) -> Points<f64> {
        let shifts = [[0.3, -0.2, 0.1], [-0.1, 0.4, 0.2], [0.2, 0.1, -0.5], [-0.3, 0.2, 0.4]];
        points([0, 1, 2, 3].map(|i| rest[i] + Vec3::from(shifts[i])))
    }

    #[test]
    fn corners_have_the_systems_of_their_energies() {
        let rest = tetrahedron();
        let material = Elasticity { young: 300.0, poisson: 0.3 };
        let solid: Energy<f64> = Energy::NeoHookean(NeoHookean::new(&rest, material).unwrap());
        let x = moved(rest);
        for i in 0..4 {
            let corner = SolidCorner::of(&solid, i).unwrap();
            let edges = SolidCorner::<f64>::others(i).map(|j| x[j] - x[i]);
            close(corner.system(edges), (solid.force(&x, i), solid.block(&x, i, i, 1.0)));
        }
        let corners = [0, 1, 2, 3].map(|i| SolidCorner::of(&solid, i).unwrap());
        let edges = [0, 1, 2, 3].map(|i| SolidCorner::<f64>::others(i).map(|j| x[j] - x[i]));
        as_one_by_one::<Four, SolidCorner<Four>, 3>(corners, edges, |one, edges| one.system(edges));
        let [a, b, c, _] = rest;
        let membrane = Energy::Membrane(Membrane::new(&[a, b, c], 0.1, 300.0, 0.3).unwrap());
        for i in 0..3 {
            let corner = SheetCorner::of(&membrane, i).unwrap();
            let edges = SheetCorner::<f64>::others(i).map(|j| x[j] - x[i]);
            close(corner.system(edges), membrane.vertex(&x, i));
            assert!(SolidCorner::of(&membrane, i).is_none());
        }
        let corners = [0, 1, 2, 1].map(|i| SheetCorner::of(&membrane, i).unwrap());
        let edges = [0, 1, 2, 1].map(|i| SheetCorner::<f64>::others(i).map(|j| x[j] - x[i]));
        as_one_by_one::<Four, SheetCorner<Four>, 2>(corners, edges, |one, edges| one.system(edges));
        assert!(SheetCorner::of(&solid, 0).is_none());
    }

    /// Systems of corners side by side, exactly as one by one.
    fn as_one_by_one<W, C, const OTHERS: usize>(
        corners: [C::One; LANES],
        edges: [[V3<f64>; OTHERS]; LANES],
        alone: impl Fn(C::One, [V3<f64>; OTHERS]) -> CornerSystem<f64>,
    ) where
        W: Wide<Lane = f64>,
        C: CornerLanes<W, OTHERS>,
    {
        let mut abreast = [V3::<W>::ZERO; OTHERS];
        for (k, edge) in abreast.iter_mut().enumerate() {
            *edge = V3([0, 1, 2].map(|c| W::gather(|lane| edges[lane][k].0[c])));
        }
        let (force, block) = C::side_by_side(corners).systems(abreast);
        for lane in 0..LANES {
            let (own, exact) = alone(corners[lane], edges[lane]);
            assert_eq!(own.0, force.0.map(|x| x.lane(lane)));
            assert_eq!(exact.0.map(|row| row.0), block.0.map(|row| row.0.map(|x| x.lane(lane))));
        }
    }
}
