//! How far elastic elements are from their shape at rest.

use crate::{Scene, State, scene::points};

/// What of all triangles and tetrahedra is furthest from rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialStrain {
    /// Largest difference of a principal stretch from one [1].
    pub strain_max: f64,
    /// Least volume over that at rest [1], negative where a tetrahedron is inside out; none without tetrahedra.
    pub volume_ratio_min: Option<f64>,
    /// How many tetrahedra have no positive volume.
    pub inverted: usize,
}

/// The strain of `state`; `None` for a scene without triangles and tetrahedra.
pub fn material_strain(scene: &Scene, state: &State) -> Option<MaterialStrain> {
    if scene.triangles.is_empty() && scene.tetrahedra.is_empty() {
        return None;
    }
    let mut found = MaterialStrain { strain_max: 0.0, volume_ratio_min: None, inverted: 0 };
    for (energy, anchors) in scene.energies() {
        let Some(stretches) = energy.principal_stretches(&points(&anchors, state)) else {
            continue;
        };
        // The maximum of two numbers skips what is none.
        for stretch in stretches.iter().map(|stretch| (stretch - 1.0).abs()) {
            if stretch > found.strain_max || stretch.is_nan() {
                found.strain_max = stretch;
            }
        }
        if energy.ends() == 4 {
            let ratio: f64 = stretches.iter().product();
            found.inverted += usize::from(ratio <= 0.0 || ratio.is_nan());
            let least = found.volume_ratio_min.unwrap_or(f64::INFINITY);
            found.volume_ratio_min = Some(least.min(ratio));
        }
    }
    Some(found)
}
