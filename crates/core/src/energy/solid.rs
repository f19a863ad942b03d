//! Whichever material a tetrahedron is made of.

use serde::{Deserialize, Serialize};

use super::{Corotated, Elasticity, Energy, LogNeoHookean, NeoHookean, StVenantKirchhoff};
use crate::Vec3;

/// What a solid's stress is made of its strain by; all are Hooke's law for small strains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolidModel {
    /// [`NeoHookean`].
    #[default]
    NeoHookean,
    /// [`StVenantKirchhoff`].
    Stvk,
    /// [`Corotated`].
    Corotated,
    /// [`LogNeoHookean`].
    NeoHookeanLog,
}

/// The energy of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SolidEnergy {
    /// See [`NeoHookean`].
    NeoHookean(NeoHookean<f64>),
    /// See [`StVenantKirchhoff`].
    Stvk(StVenantKirchhoff<f64>),
    /// See [`Corotated`].
    Corotated(Corotated<f64>),
    /// See [`LogNeoHookean`].
    NeoHookeanLog(LogNeoHookean<f64>),
}

impl SolidEnergy {
    /// A tetrahedron with the corners `rest` [m] at rest, its first three counter-clockwise seen from the last;
    /// `None` where its volume is not positive.
    pub fn new(model: SolidModel, rest: &[Vec3; 4], material: Elasticity) -> Option<Self> {
        Some(match model {
            SolidModel::NeoHookean => Self::NeoHookean(NeoHookean::new(rest, material)?),
            SolidModel::Stvk => Self::Stvk(StVenantKirchhoff::new(rest, material)?),
            SolidModel::Corotated => Self::Corotated(Corotated::new(rest, material)?),
            SolidModel::NeoHookeanLog => Self::NeoHookeanLog(LogNeoHookean::new(rest, material)?),
        })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::NeoHookean(solid) => solid.is_finite(),
            Self::Stvk(solid) => solid.is_finite(),
            Self::Corotated(solid) => solid.is_finite(),
            Self::NeoHookeanLog(solid) => solid.is_finite(),
        }
    }
}

impl From<SolidEnergy> for Energy<f64> {
    fn from(solid: SolidEnergy) -> Self {
        match solid {
            SolidEnergy::NeoHookean(solid) => Self::NeoHookean(solid),
            SolidEnergy::Stvk(solid) => Self::StVenantKirchhoff(solid),
            SolidEnergy::Corotated(solid) => Self::Corotated(solid),
            SolidEnergy::NeoHookeanLog(solid) => Self::LogNeoHookean(solid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{check, points, tetrahedron},
        *,
    };

    const MODELS: [SolidModel; 4] = [
        SolidModel::NeoHookean,
        SolidModel::Stvk,
        SolidModel::Corotated,
        SolidModel::NeoHookeanLog,
    ];
    const MATERIAL: Elasticity = Elasticity { young: 300.0, poisson: 0.3 };

    #[test]
    fn all_are_energies() {
        for model in MODELS {
            check(
                &SolidEnergy::new(model, &tetrahedron(), MATERIAL).unwrap().into(),
                &points(tetrahedron()),
            );
        }
    }

    #[test]
    fn small_strains_of_all_cost_what_hooke_says() {
        let [mu, lambda] = MATERIAL.lame();
        let volume =
            crate::Mat3::from_columns(&[1, 2, 3].map(|i| tetrahedron()[i] - tetrahedron()[0]))
                .determinant()
                / 6.0;
        let strain = crate::Mat3::new(1.0, 0.3, -0.2, 0.3, -0.5, 0.4, -0.2, 0.4, 0.7) * 1e-5;
        let expected =
            volume * (mu * strain.norm_squared() + 0.5 * lambda * strain.trace().powi(2));
        for model in MODELS {
            let energy: Energy<f64> =
                SolidEnergy::new(model, &tetrahedron(), MATERIAL).unwrap().into();
            let strained = points(tetrahedron().map(|x| x + strain * x));
            let found = energy.energy(&strained);
            assert!((found / expected - 1.0).abs() < 1e-4, "{model:?} {found} {expected}");
        }
    }

    #[test]
    fn a_bar_of_neo_hookean_material_is_pulled_as_its_closed_form_says() {
        // Sides free: J = 1 + (mu/l)(1 - 1/L), side sqrt(J/L), P = mu (L - J/L^2).
        let material = Elasticity { young: 1e6, poisson: 0.3 };
        let [mu, lambda] = material.lame();
        for (stretch, volume, side, pull) in
            [(2.0, 1.2, 0.774597, 0.653846), (0.5, 0.6, 1.095445, -0.730769)]
        {
            let j: f64 = 1.0 + mu / (lambda + mu) * (1.0 - 1.0 / stretch);
            let across = (j / stretch).sqrt();
            assert!((j - volume).abs() < 1e-12 && (across - side).abs() < 1e-6);
            let edges = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
            let energy: Energy<f64> =
                SolidEnergy::new(SolidModel::NeoHookean, &edges, material).unwrap().into();
            let x = points(edges.map(|x| x.component_mul(&Vec3::new(stretch, across, across))));
            // On a corner acts V P b.
            let force = energy.force(&x, 1).to_f64() * 6.0;
            let expected = mu * (stretch - j / (stretch * stretch));
            assert!((expected / material.young - pull).abs() < 1e-6);
            assert!((force.x + expected).abs() < 1e-9 * material.young, "{force}");
            assert!(force.y.abs() + force.z.abs() < 1e-9 * material.young, "{force}");
            let sideways = energy.force(&x, 2).norm();
            assert!(sideways < 1e-9 * material.young, "{sideways}");
        }
    }

    #[test]
    fn what_is_flat_or_inside_out_at_rest_has_no_energy() {
        let [a, b, c, d] = tetrahedron();
        let flat = (a + b + c) / 3.0;
        for model in MODELS {
            assert_eq!(SolidEnergy::new(model, &[a, c, b, d], MATERIAL), None);
            assert_eq!(SolidEnergy::new(model, &[a, b, c, flat], MATERIAL), None);
            assert_eq!(SolidEnergy::new(model, &[a; 4], MATERIAL), None);
            let huge = Elasticity { young: 1e308, ..MATERIAL };
            let huge = SolidEnergy::new(model, &[a, b, c, d].map(|x| x * 1e3), huge);
            assert!(huge.is_some_and(|solid| !solid.is_finite()));
        }
    }
}
