//! Shapes of a body. What a body weighs does not come from them.

use box3d_sys as b3;

use crate::{
    scene::{Body, Motion, Shape},
    settings::Settings,
    vector::{Place, to_transform, to_vec3},
};

/// The least half of a box, of which the engine makes thinner ones: a fifth of its tolerance of length [m].
const THINNEST_M: f64 = 0.001;

/// Adds all shapes of a body; says why it cannot.
pub(crate) fn add(id: b3::b3BodyId, body: &Body, settings: &Settings) -> Result<(), String> {
    let mut def = definition(body);
    add_shape(id, &mut def, body, (&body.shape, Place::HERE), settings)
}

fn definition(body: &Body) -> b3::b3ShapeDef {
    // SAFETY: the function has no arguments.
    let mut def = unsafe { b3::b3DefaultShapeDef() };
    // The engine takes the geometric mean of two, as the scene does.
    def.baseMaterial.friction = body.friction[0] as f32;
    def.baseMaterial.restitution = body.restitution as f32;
    def.baseMaterial.rollingResistance = 0.0;
    def.density = 0.0;
    def.updateBodyMass = false;
    // Those of one negative number never touch, those of others do.
    def.filter.groupIndex = body.group.map_or(0, |group| -1 - group);
    def
}

fn add_shape(
    id: b3::b3BodyId,
    def: &mut b3::b3ShapeDef,
    body: &Body,
    (shape, place): (&Shape, Place),
    settings: &Settings,
) -> Result<(), String> {
    let along = |z: f64| to_vec3(place.point([0.0, 0.0, z]));
    match *shape {
        Shape::Box { half_m } => add_box(id, def, half_m, &place)?,
        Shape::HalfSpace {} if body.motion == Motion::Dynamic => {
            return Err("is a half space that moves".to_owned());
        }
        // A box whose upper face is the boundary.
        Shape::HalfSpace {} => {
            let half = settings.half_space_m;
            let below = Place { q: place.q, x: place.point([0.0, 0.0, -half]) };
            add_box(id, def, [half; 3], &below)?;
        }
        Shape::Sphere { radius_m } => {
            let sphere = b3::b3Sphere { center: along(0.0), radius: radius_m as f32 };
            // SAFETY: the body exists, and the engine copies both structures.
            unsafe { b3::b3CreateSphereShape(id, def, &raw const sphere) };
        }
        Shape::Capsule { radius_m, half_length_m } => {
            let [center1, center2] = [along(-half_length_m), along(half_length_m)];
            let capsule = b3::b3Capsule { center1, center2, radius: radius_m as f32 };
            // SAFETY: as above.
            unsafe { b3::b3CreateCapsuleShape(id, def, &raw const capsule) };
        }
        Shape::Cylinder { radius_m, half_length_m } => {
            let sides = settings.cylinder_sides;
            let points = (0..2 * sides).map(|k| {
                let angle = std::f64::consts::TAU * (k / 2) as f64 / sides as f64;
                let z = if k % 2 == 0 { -half_length_m } else { half_length_m };
                place.point([radius_m * angle.cos(), radius_m * angle.sin(), z])
            });
            add_hull(id, def, points.map(to_vec3).collect())?;
        }
        Shape::Hull { ref points_m } => {
            add_hull(id, def, points_m.iter().map(|&x| to_vec3(place.point(x))).collect())?;
        }
        Shape::Compound { ref parts } => {
            for part in parts {
                add_shape(id, def, body, (&part.shape, place.of(&part.place())), settings)?;
            }
        }
        Shape::Mesh {} => return Err("is a mesh".to_owned()),
    }
    Ok(())
}

fn add_box(
    id: b3::b3BodyId,
    def: &mut b3::b3ShapeDef,
    half: [f64; 3],
    place: &Place,
) -> Result<(), String> {
    if half.iter().any(|&h| h < THINNEST_M) {
        return Err(format!("is thinner than {} mm, the least that Box3D takes", 2e3 * THINNEST_M));
    }
    let [x, y, z] = half.map(|h| h as f32);
    // SAFETY: the body exists; the engine copies the hull, of which `base` is the head and the rest follows it.
    unsafe {
        let hull = b3::b3MakeTransformedBoxHull(x, y, z, to_transform(place));
        b3::b3CreateHullShape(id, def, (&raw const hull).cast());
    }
    Ok(())
}

fn add_hull(
    id: b3::b3BodyId,
    def: &mut b3::b3ShapeDef,
    points: Vec<b3::b3Vec3>,
) -> Result<(), String> {
    let count = i32::try_from(points.len()).map_err(|error| error.to_string())?;
    // SAFETY: there are `count` points; the hull is the caller's until it is destroyed, and the engine copies it.
    unsafe {
        let hull = b3::b3CreateHull(points.as_ptr(), count, b3::B3_MAX_HULL_VERTICES as i32);
        if hull.is_null() {
            return Err(format!("is a hull of {count} points, which Box3D does not make"));
        }
        b3::b3CreateHullShape(id, def, hull);
        b3::b3DestroyHull(hull);
    }
    Ok(())
}
