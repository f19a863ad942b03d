//! From a body as written to a body as simulated: shape, mass, pose about the centre of mass.

use super::{
    author, closed,
    error::{At, Result, SceneError},
    expression::{Formula, Scope, Triple, vector},
    mesh_shape,
};
use crate::{
    math::{Mat3, Quat, Vec3},
    scene::{Body, Elasticity, Material, Motion, Part, Shape, Skin, mass},
};

/// Hulls are small by nature; a list this long is a mistake.
const HULL_POINTS_MAX: usize = 2000;

/// A body whose authored origin is still to be placed.
#[derive(Clone, Debug)]
pub(super) struct Blank {
    body: Body,
    /// Centre of mass in authored coordinates [m].
    pub(super) centre: Vec3,
}

impl Blank {
    /// How it is turned, and how fast it moves [m/s] and turns [rad/s].
    pub(super) fn motion(&self) -> (Quat, [Vec3; 2]) {
        (self.body.rotation, [self.body.velocity, self.body.omega])
    }

    /// The body with its authored origin at `origin` [m].
    pub(super) fn placed(&self, name: String, origin: Vec3) -> Body {
        let position = origin + self.body.rotation * self.centre;
        Body { name, position, ..self.body.clone() }
    }

    /// The body turned once more, about world axes.
    pub(super) fn turned(mut self, turn: &Quat) -> Self {
        self.body.rotation = turn * self.body.rotation;
        self
    }

    /// A point in the body's own coordinates, given from the authored origin in the axes of the surroundings [m].
    ///
    /// By this, what is alike is alike to the last bit, wherever it is put.
    pub(super) fn own_point(&self, from_origin: &Vec3) -> Vec3 {
        self.body.rotation.inverse() * from_origin - self.centre
    }

    /// From the authored origin to the top and to the bottom along z, turned as it is [m].
    pub(super) fn reach(&self) -> [f64; 2] {
        let up = self.body.rotation.inverse() * Vec3::z();
        let centre = up.dot(&self.centre);
        let [top, bottom] = [up, -up].map(|direction| self.body.shape.support(&direction));
        [top + centre, bottom - centre]
    }

    /// The same body made immovable.
    pub(super) fn held(&self) -> Self {
        let body = Body { velocity: Vec3::zeros(), omega: Vec3::zeros(), ..self.body.clone() };
        Self { body: body.fixed(), centre: self.centre }
    }
}

/// Evaluates a body but for its name and position.
pub(super) fn blank(spec: &author::BodySpec, scope: &Scope) -> Result<Blank> {
    let mut turn = Quat::identity();
    let motion = spec.motion.kind();
    let shape = shape(&spec.shape, scope).map_err(|error| of_mesh(spec, error)).at("shape")?;
    let solid = solid(&shape, motion).map_err(|error| of_file(spec, error)).at("shape")?;
    if let Some(rotation) = &spec.rotation {
        turn = self::rotation(rotation, scope).at("rotation")?;
    }
    if motion == Motion::Dynamic && matches!(shape, Shape::HalfSpace) {
        let message = "a half-space has no mass; expected `motion: static` or `kinematic`";
        return Err(SceneError::new(message)).at("motion");
    }
    let (mass, inertia) = masses(spec, &solid, motion, scope)?;
    let constants =
        |spec: &author::ElasticitySpec| elastic_constants(&spec.young, &spec.poisson, scope);
    let elasticity = spec.elasticity.as_ref().map(constants).transpose().at("elasticity")?;
    if elasticity.is_some() && motion == Motion::Dynamic {
        check_second_moments(&inertia).at("elasticity")?;
    }
    let speed = |field: &Option<Triple>, name| match field {
        Some(_) if motion == Motion::Static => {
            Err(SceneError::new("a static body does not move")).at(name)
        }
        Some(triple) => vector(triple, scope).at(name),
        None => Ok(Vec3::zeros()),
    };
    let body = Body {
        name: String::new(),
        shape: mass::recentred(shape, &solid.centre),
        motion,
        mass,
        inertia,
        material: material(spec, scope)?,
        elasticity,
        group: group(spec.group.as_ref(), scope).at("group")?,
        position: Vec3::zeros(),
        rotation: turn,
        velocity: speed(&spec.velocity, "velocity")?,
        omega: speed(&spec.omega, "omega")?,
    };
    Ok(Blank { body, centre: solid.centre })
}

/// What a body of this shape weighs for unit density. A mesh that forces do not move is a surface alone, and need
/// not be closed.
fn solid(shape: &Shape, motion: Motion) -> Result<mass::MassProperties> {
    if matches!(shape, Shape::Mesh { .. }) && motion != Motion::Dynamic {
        return Ok(mass::SURFACE);
    }
    closed::check_solid(shape)?;
    mass::properties(shape).ok_or_else(|| SceneError::new("expected points that span a volume"))
}

/// An error in the mesh of a body, with the body's name: meshes come from files, and many bodies from one entry.
fn of_mesh(spec: &author::BodySpec, error: SceneError) -> SceneError {
    let meshed = matches!(spec.shape, author::ShapeSpec::Mesh(_) | author::ShapeSpec::Tube(_));
    if !meshed || spec.name.is_empty() {
        return error;
    }
    let message = format!("{} (of body `{}`)", error.message, spec.name);
    SceneError { message, ..error }
}

/// An error in the whole of a body's mesh, with the file that the mesh is from, if any.
fn of_file(spec: &author::BodySpec, error: SceneError) -> SceneError {
    let error = of_mesh(spec, error);
    match &spec.shape {
        author::ShapeSpec::Mesh(mesh) => match &mesh.file {
            Some(file) => {
                let message = format!("{file}: {}", error.message);
                SceneError { message, ..error }.within("file")
            }
            None => error,
        },
        _ => error,
    }
}

/// Mass [kg] and inertia [kg m^2], zero for what forces do not move.
fn masses(
    spec: &author::BodySpec,
    solid: &mass::MassProperties,
    motion: Motion,
    scope: &Scope,
) -> Result<(f64, Mat3)> {
    // What a body that is not dynamic says of its mass is checked, then of no use.
    let density = spec.density.as_ref().map(|d| d.positive(scope)).transpose().at("density")?;
    let mass = spec.mass.as_ref().map(|m| m.positive(scope)).transpose().at("mass")?;
    let inertia = spec.inertia.as_ref().map(|i| principal(i, scope)).transpose().at("inertia")?;
    let mass = match (density, mass) {
        (Some(_), Some(_)) => {
            return Err(SceneError::new("expected `density` or `mass`, found both"));
        }
        (Some(density), None) => density * solid.volume,
        (None, Some(mass)) => mass,
        (None, None) if motion == Motion::Dynamic => {
            return Err(SceneError::new("expected `density` [kg/m^3] or `mass` [kg]"));
        }
        (None, None) => 0.0,
    };
    if motion != Motion::Dynamic {
        return Ok((0.0, Mat3::zeros()));
    }
    let inertia = inertia.unwrap_or(solid.inertia * (mass / solid.volume));
    // Extreme but positive sizes overflow or vanish once multiplied.
    if !(mass.is_finite() && mass > 0.0 && inertia.iter().all(|x| x.is_finite())) {
        return Err(SceneError::new(format!("mass of {mass} kg cannot be simulated")));
    }
    if !mass::is_inertia(&inertia) {
        return Err(SceneError::new("moments of inertia vanish next to the mass")).at("shape");
    }
    Ok((mass, inertia))
}

/// An inertia tensor from its moments along the body axes.
fn principal(triple: &Triple, scope: &Scope) -> Result<Mat3> {
    for (moment, axis) in triple.iter().zip(["x", "y", "z"]) {
        moment.positive(scope).at(axis)?;
    }
    let tensor = Mat3::from_diagonal(&vector(triple, scope)?);
    if mass::is_inertia(&tensor) {
        Ok(tensor)
    } else {
        Err(SceneError::new("no moment of inertia can exceed the sum of the other two"))
    }
}

/// What a particle touches with, where it has a radius.
pub(super) fn skin_or_none(
    radius: Option<&Formula>,
    friction: Option<&author::FrictionSpec>,
    number: Option<&Formula>,
    scope: &Scope,
) -> Result<Option<Skin>> {
    let Some(radius) = radius else {
        let idle = |field: &str| {
            let message = "a particle without `radius` touches nothing; `radius: 0` makes it touch";
            Err(SceneError::new(message)).at(field)
        };
        return match (friction, number) {
            (Some(_), _) => idle("friction"),
            (None, Some(_)) => idle("group"),
            (None, None) => Ok(None),
        };
    };
    skin(radius.non_negative(scope).at("radius")?, friction, number, scope).map(Some)
}

/// What a particle of this radius [m] touches with.
pub(super) fn skin(
    radius: f64,
    friction: Option<&author::FrictionSpec>,
    number: Option<&Formula>,
    scope: &Scope,
) -> Result<Skin> {
    let material = rough(friction, scope)?;
    Ok(Skin { radius, material, group: group(number, scope).at("group")? })
}

/// A material that does not bounce, with this friction, equal for both kinds where one number is given.
fn rough(friction: Option<&author::FrictionSpec>, scope: &Scope) -> Result<Material> {
    let mut material = Material::default();
    if let Some(author::FrictionSpec(first, second)) = friction {
        material.friction_static = first.non_negative(scope).at("friction")?;
        material.friction_dynamic = match second {
            Some(second) => second.non_negative(scope).at("friction")?,
            None => material.friction_static,
        };
    }
    Ok(material)
}

fn material(spec: &author::BodySpec, scope: &Scope) -> Result<Material> {
    let mut material = rough(spec.friction.as_ref(), scope)?;
    if let Some(restitution) = &spec.restitution {
        material.restitution = restitution.non_negative(scope).at("restitution")?;
        if material.restitution > 1.0 {
            let found = material.restitution;
            let message = format!("expected at most 1, found {found}");
            return Err(SceneError::new(message)).at("restitution");
        }
    }
    Ok(material)
}

/// Elastic constants; of a material that resists both shear and change of volume.
pub(super) fn elastic_constants(
    young: &Formula,
    poisson: &Formula,
    scope: &Scope,
) -> Result<Elasticity> {
    let young = young.positive(scope).at("young")?;
    let poisson = poisson.evaluate(scope).at("poisson")?;
    if -1.0 < poisson && poisson < 0.5 {
        return Ok(Elasticity { young, poisson });
    }
    let advice = if poisson == 0.5 { "; use 0.49 for what keeps its volume" } else { "" };
    let message = format!("expected a Poisson ratio between -1 and 0.5, found {poisson}{advice}");
    Err(SceneError::new(message)).at("poisson")
}

/// A body that can strain has mass to strain in every direction: with a second moment of zero, as of a
/// flat plate, one column of its frame would have no inertia. A rigid body needs its moments of
/// inertia alone.
fn check_second_moments(inertia: &Mat3) -> Result<()> {
    let moments = mass::second_of(inertia).symmetric_eigenvalues();
    // Rounding leaves a zero moment this far from zero at most.
    if moments.min() > 1e-9 * moments.max() {
        return Ok(());
    }
    let found = moments.min();
    Err(SceneError::new(format!(
        "expected positive second moments of mass, as (Iy + Iz - Ix)/2; one is {found} kg m^2, \
         so that its column of the frame would have no inertia"
    )))
}

fn group(number: Option<&Formula>, scope: &Scope) -> Result<Option<u32>> {
    let Some(number) = number else { return Ok(None) };
    let group = number.whole(scope, 0)?;
    match u32::try_from(group) {
        Ok(group) => Ok(Some(group)),
        Err(_) => Err(SceneError::new(format!("expected at most {}, found {group}", u32::MAX))),
    }
}

fn shape(spec: &author::ShapeSpec, scope: &Scope) -> Result<Shape> {
    let half = |length: &Formula, name| length.positive(scope).map(|length| length / 2.0).at(name);
    Ok(match spec {
        author::ShapeSpec::Box { size: [x, y, z] } => {
            let half = Vec3::new(
                half(x, "x").at("size")?,
                half(y, "y").at("size")?,
                half(z, "z").at("size")?,
            );
            Shape::Box { half }
        }
        author::ShapeSpec::Sphere { radius } => {
            Shape::Sphere { radius: radius.positive(scope).at("radius")? }
        }
        author::ShapeSpec::Capsule { radius, length } => Shape::Capsule {
            radius: radius.positive(scope).at("radius")?,
            half_length: half(length, "length")?,
        },
        author::ShapeSpec::Cylinder { radius, length } => Shape::Cylinder {
            radius: radius.positive(scope).at("radius")?,
            half_length: half(length, "length")?,
        },
        author::ShapeSpec::Hull { points } => hull(points, scope)?,
        author::ShapeSpec::Compound { parts } => compound(parts, scope)?,
        author::ShapeSpec::HalfSpace => Shape::HalfSpace,
        author::ShapeSpec::Mesh(spec) => mesh_shape::mesh(spec, scope)?,
        author::ShapeSpec::Tube(spec) => mesh_shape::tube(spec, scope)?,
    })
}

fn hull(points: &[Triple], scope: &Scope) -> Result<Shape> {
    if !(4..=HULL_POINTS_MAX).contains(&points.len()) {
        let count = points.len();
        let message = format!("expected 4 to {HULL_POINTS_MAX} points, found {count}");
        return Err(SceneError::new(message)).at("points");
    }
    let evaluate = |(i, point)| vector(point, scope).at_index("points", i);
    // Points inside the hull stay: they cost little and change nothing.
    Ok(Shape::Hull { points: points.iter().enumerate().map(evaluate).collect::<Result<_>>()? })
}

fn compound(parts: &[author::PartSpec], scope: &Scope) -> Result<Shape> {
    if parts.is_empty() {
        return Err(SceneError::new("expected at least one part")).at("parts");
    }
    let evaluate = |spec: &author::PartSpec| {
        let what = match spec.shape {
            author::ShapeSpec::Compound { .. } => "another compound",
            author::ShapeSpec::HalfSpace => "a half-space",
            author::ShapeSpec::Mesh(_) | author::ShapeSpec::Tube(_) => "a mesh",
            _ => "",
        };
        if !what.is_empty() {
            return Err(SceneError::new(format!("a compound cannot hold {what}"))).at("shape");
        }
        let shape = shape(&spec.shape, scope).at("shape")?;
        let position = match &spec.position {
            Some(position) => vector(position, scope).at("position")?,
            None => Vec3::zeros(),
        };
        let rotation = match &spec.rotation {
            Some(turn) => rotation(turn, scope).at("rotation")?,
            None => Quat::identity(),
        };
        Ok(Part { shape, position, rotation })
    };
    let parts: Result<Vec<Part>> =
        parts.iter().enumerate().map(|(i, part)| evaluate(part).at_index("parts", i)).collect();
    Ok(Shape::Compound { parts: parts?.into() })
}

/// Evaluates a rotation.
pub(super) fn rotation(spec: &author::RotationSpec, scope: &Scope) -> Result<Quat> {
    let about = |axis: Vec3, degrees: f64| Quat::from_scaled_axis(axis * degrees.to_radians());
    match spec {
        author::RotationSpec::AxisAngle { axis, degrees } => {
            let axis = direction(axis, scope).at("axis")?;
            Ok(about(axis, degrees.evaluate(scope).at("degrees")?))
        }
        author::RotationSpec::Quaternion(x, y, z, w) => {
            let [x, y, z, w] = [x, y, z, w].map(|part| part.evaluate(scope));
            // nalgebra takes the scalar part first.
            let quaternion = nalgebra::Quaternion::new(w?, x?, y?, z?);
            let norm = quaternion.norm();
            if (norm - 1.0).abs() > 1e-6 {
                let message =
                    format!("expected a unit quaternion (x, y, z, w), its norm is {norm}");
                return Err(SceneError::new(message));
            }
            Ok(Quat::from_quaternion(quaternion))
        }
        author::RotationSpec::EulerDegrees(x, y, z) => {
            let [x, y, z] = [x, y, z].map(|part| part.evaluate(scope));
            Ok(about(Vec3::z(), z?) * about(Vec3::y(), y?) * about(Vec3::x(), x?))
        }
        author::RotationSpec::Sequence(turns) => {
            turns.iter().enumerate().try_fold(Quat::identity(), |so_far, (i, turn)| {
                Ok(rotation(turn, scope).at_index("sequence", i)? * so_far)
            })
        }
    }
}

/// Evaluates an axis, which need not be of unit length.
pub(super) fn direction(axis: &Triple, scope: &Scope) -> Result<Vec3> {
    let axis = vector(axis, scope)?;
    // Scaled first, so that neither tiny nor huge components are lost in their squares.
    let largest = axis.amax();
    if largest > 0.0 {
        Ok((axis / largest).normalize())
    } else {
        Err(SceneError::new("expected an axis, found the zero vector"))
    }
}
