//! Kelvin-Voigt damping of elastic material: what resists the rate of Green's strain.
//!
//! Stress `2 eta dG/dt` beside the elastic one, in the coordinates at rest. An implicit Euler step of length `h` from
//! `x_n` sees it as the energy
//!
//! ```text
//!   W = V (eta / h) |G(x) - G(x_n)|^2
//! ```
//!
//! whose gradient at the step's end is that of the damping's force, and twice of which is the heat of the step.
//! Rigid motion leaves Green's strain as it is and costs nothing. This is St. Venant-Kirchhoff material with
//! `mu = eta / h` and `lambda = 0` that is at rest where the step begins: its rows less what they are there, with a
//! stiffness over `h`.

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number};

use super::{
    Elasticity, Energy, Membrane, PerRow, Points, ROWS_MAX, RowEnergy, Rows, StVenantKirchhoff,
};
use crate::Vec3;

/// The damping of one element: an energy with rows of strain and a stiffness [J s] in place of [J].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Viscous<N, E> {
    strain: E,
    /// Rows at the start of the step.
    start: PerRow<N>,
    /// Length of the step [s].
    h: N,
    /// Its inverse [1/s]; zero before the first step.
    rate: N,
}

/// Damping of a tetrahedron.
pub type SolidDamping<N> = Viscous<N, StVenantKirchhoff<N>>;
/// Damping of a triangle in its plane.
pub type SheetDamping<N> = Viscous<N, Membrane<N>>;

impl<E> Viscous<f64, E> {
    fn new(strain: E) -> Self {
        Self { strain, start: [0.0; ROWS_MAX], h: 0.0, rate: 0.0 }
    }

    fn lowered<N: Number, F>(&self, strain: F) -> Viscous<N, F> {
        let start = self.start.map(N::of);
        Viscous { strain, start, h: N::of(self.h), rate: N::of(self.rate) }
    }
}

impl SheetDamping<f64> {
    /// A triangle with the corners `rest` [m] at rest, of a thickness [m] and a viscosity `eta` [Pa s]; `None`
    /// where the corners are on one line.
    pub fn of_sheet(rest: &[Vec3; 3], thickness: f64, viscosity: f64) -> Option<Self> {
        Membrane::new(rest, thickness, 2.0 * viscosity, 0.0).map(Self::new)
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.strain.is_finite()
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> SheetDamping<N> {
        self.lowered(self.strain.lower())
    }
}

impl SolidDamping<f64> {
    /// A tetrahedron with the corners `rest` [m] at rest and a viscosity `eta` [Pa s]; `None` where its volume is
    /// not positive.
    pub fn of_solid(rest: &[Vec3; 4], viscosity: f64) -> Option<Self> {
        let material = Elasticity { young: 2.0 * viscosity, poisson: 0.0 };
        StVenantKirchhoff::new(rest, material).map(Self::new)
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.strain.is_finite()
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> SolidDamping<N> {
        self.lowered(self.strain.lower())
    }
}

/// The damping of one element, whatever its kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DampingEnergy {
    /// Of a triangle.
    Sheet(SheetDamping<f64>),
    /// Of a tetrahedron.
    Solid(SolidDamping<f64>),
}

impl From<DampingEnergy> for Energy<f64> {
    fn from(damping: DampingEnergy) -> Self {
        match damping {
            DampingEnergy::Sheet(sheet) => Self::SheetDamping(sheet),
            DampingEnergy::Solid(solid) => Self::SolidDamping(solid),
        }
    }
}

impl<N: Number, E: RowEnergy<N>> RowEnergy<N> for Viscous<N, E> {
    const ENDS: usize = E::ENDS;
    const ROWS: usize = E::ROWS;

    #[inline]
    fn begin(&mut self, x: &Points<N>, h: N) {
        self.start = self.strain.rows(x).value;
        (self.h, self.rate) = (h, h.inverse_or_zero());
    }

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        let mut rows = self.strain.rows(x);
        for (value, &start) in rows.value.iter_mut().zip(&self.start) {
            *value += -start;
        }
        rows
    }

    #[inline]
    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        self.strain.curvature(x, weights, i, j)
    }

    #[inline]
    fn stiffness(&self, rows: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        self.strain.stiffness(rows).map(|row| row.map(|k| k * self.rate))
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(self.strain.compliance()?.map(|row| row.map(|a| a * self.h)))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{check, points, tetrahedron},
        *,
    };
    use crate::Quat;

    const VISCOSITY: f64 = 30.0;
    const STEP: f64 = 0.02;

    #[test]
    fn both_are_energies_of_a_step() {
        let [a, b, c, _] = tetrahedron();
        let sheet = SheetDamping::of_sheet(&[a, b, c], 0.1, VISCOSITY).unwrap();
        let solid = SolidDamping::of_solid(&tetrahedron(), VISCOSITY).unwrap();
        for mut energy in [Energy::SheetDamping(sheet), Energy::SolidDamping(solid)] {
            // Not at rest where the step begins.
            let start =
                points(tetrahedron().map(|x| x + Vec3::new(0.2 * x.y, -0.1 * x.x, 0.3 * x.z)));
            energy.begin(&start, STEP);
            check(&energy, &start);
        }
    }

    #[test]
    fn it_costs_the_square_of_what_the_strain_changes_by() {
        let mut solid = SolidDamping::of_solid(&tetrahedron(), VISCOSITY).unwrap();
        let turn = Quat::from_scaled_axis(Vec3::new(0.4, -0.2, 1.0));
        let at = |stretch: f64| {
            points(tetrahedron().map(|x| turn * x.component_mul(&Vec3::new(stretch, 1.0, 1.0))))
        };
        solid.begin(&at(1.1), STEP);
        let change = 0.5 * (1.3_f64.powi(2) - 1.1_f64.powi(2));
        let expected = crate::energy::volume(&tetrahedron()) * VISCOSITY / STEP * change * change;
        let found = solid.energy(&at(1.3));
        assert!((found - expected).abs() < 1e-12 * expected, "{found} {expected}");
    }
}
