//! What is taken as it is, though it may not be what was meant.

use taut_core::{Scene, Vec3, scene::Body};

/// Share of the thinnest body above which a barrier is thick [1].
const THICK: f64 = 0.2;

/// Sentences on the contacts of a scene, given the barrier's reach [m] and half extents of bodies in their own axes [m].
pub(crate) fn of_contacts(scene: &Scene, d_hat: f64, half: impl Fn(usize) -> Vec3) -> Vec<String> {
    let name = |i: usize| match scene.bodies[i].name.as_str() {
        "" => format!("bodies[{i}]"),
        name => format!("`{name}`"),
    };
    let mut told = Vec::new();
    let dynamic = scene.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic());
    let thickness = dynamic.map(|(i, _)| (i, 2.0 * half(i).min()));
    if let Some((i, thin)) = thickness.min_by(|a, b| a.1.total_cmp(&b.1))
        && d_hat > THICK * thin
    {
        told.push(format!(
            "the barrier reaches {d_hat:.3e} m, more than a fifth of {}, which is {thin:.3e} m thick: it floats and \
             catches; lower `contacts.margin` or set `d_hat`",
            name(i)
        ));
    }
    let differs = |body: &Body| body.material.friction_static != body.material.friction_dynamic;
    if let Some(i) = scene.bodies.iter().position(differs) {
        let material = &scene.bodies[i].material;
        let (at_rest, sliding) = (material.friction_static, material.friction_dynamic);
        told.push(format!(
            "friction has one coefficient here, that of sliding: {} has {sliding}, and {at_rest} at rest",
            name(i)
        ));
    }
    told
}
