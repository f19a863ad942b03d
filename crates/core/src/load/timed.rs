//! From paths and forces as written to functions of time.

use super::{
    author::{self, ForceEntry, MotionSpec},
    body::Blank,
    error::{At, Result, SceneError},
    expand::{Builder, full_name, unused},
    expression::{Formula, Scope, vector, vector_in_time},
};
use crate::{
    formula::TimeFormula,
    math::{Quat, Vec3},
    scene::{AppliedForce, Drive, DrivePath, Endpoint, ForceKind, Motion, TimeTurn},
};

impl Builder<'_> {
    /// The path of a body with its authored origin at `origin` [m], if it follows one.
    pub(super) fn path(
        &self,
        spec: &author::BodySpec,
        blank: &Blank,
        origin: Vec3,
        scope: &Scope,
    ) -> Result<Option<DrivePath>> {
        let MotionSpec::Path { position, rotation } = &spec.motion else {
            return during(spec, blank, origin, scope).at("during");
        };
        let given = [
            ("position", position.is_some() && spec.position.is_some()),
            ("rotation", rotation.is_some() && spec.rotation.is_some()),
            ("velocity", spec.velocity.is_some()),
            ("omega", spec.omega.is_some()),
            ("during", spec.during.is_some()),
        ];
        if let Some((field, _)) = given.iter().find(|(_, given)| *given) {
            return Err(SceneError::new("the path of the body says so already")).at(field);
        }
        let (turned, _) = blank.motion();
        let position = match position {
            Some(position) => vector_in_time(position, scope).at("position").at("motion")?,
            None => [origin.x, origin.y, origin.z].map(TimeFormula::constant),
        };
        let mut turns = Vec::new();
        match rotation {
            Some(rotation) => add_turns(rotation, scope, &mut turns).at("rotation").at("motion")?,
            None => turns.push(steady(&turned)),
        }
        Ok(Some(DrivePath::Along { position, rotation: turns, centre: blank.centre }))
    }

    /// Has a body follow a path, from where that begins.
    pub(super) fn drive(&mut self, index: usize, path: DrivePath) {
        let body = &mut self.scene.bodies[index];
        (body.position, body.rotation) = path.pose(0.0);
        [body.velocity, body.omega] = path.rates_at(0.0);
        self.scene.drives.push(Drive { body: index, path });
    }

    /// One force of `forces`.
    pub(super) fn add_single_force(&mut self, entry: &ForceEntry, scope: &Scope) -> Result<()> {
        let (name, kind) = match entry {
            ForceEntry::Repeat(_) => {
                return Err(SceneError::new("expected one force, found `repeat`"));
            }
            ForceEntry::Force(spec) => {
                let body = self.moved(&spec.on, scope).at("on")?;
                let origin = self.origin(Endpoint::Body(body));
                let at = spec.at.as_ref().map(|at| vector(at, scope));
                let at = at.transpose().at("at")?.map_or(Vec3::zeros(), |at| at + origin);
                let force = vector_in_time(&spec.force, scope).at("force")?;
                (&spec.name, ForceKind::Force { body, at, force })
            }
            ForceEntry::Torque(spec) => {
                let body = self.moved(&spec.on, scope).at("on")?;
                let torque = vector_in_time(&spec.torque, scope).at("torque")?;
                (&spec.name, ForceKind::Torque { body, torque })
            }
            ForceEntry::Effort(spec) => {
                let joint = self.hinge_or_slider(&spec.joint, scope).at("joint")?;
                let effort = spec.effort.in_time(scope).at("effort")?;
                (&spec.name, ForceKind::Effort { joint, effort })
            }
        };
        let name = full_name(name, scope).at("name")?;
        unused(&mut self.force_names, &name).at("name")?;
        self.reserve("forces", 1.0)?;
        self.scene.forces.push(AppliedForce { name, kind });
        Ok(())
    }

    /// A body that a force can move.
    fn moved(&self, name: &str, scope: &Scope) -> Result<usize> {
        match self.names.resolve(name, scope)? {
            Endpoint::Body(body) if self.scene.bodies[body].is_dynamic() => Ok(body),
            Endpoint::Body(_) => {
                Err(SceneError::new(format!("`{name}` is not dynamic, and no force moves it")))
            }
            Endpoint::World | Endpoint::Particle(_) => {
                Err(SceneError::new(format!("expected a body, `{name}` is none")))
            }
        }
    }

    /// A joint that has a coordinate to push, between bodies or the world.
    fn hinge_or_slider(&self, name: &str, scope: &Scope) -> Result<usize> {
        let full = full_name(name, scope)?;
        let joints = &self.scene.joints;
        let Some(index) = joints.iter().position(|j| !full.is_empty() && j.name == full) else {
            let known = joints.iter().map(|joint| joint.name.as_str());
            return Err(SceneError::unknown("joint", &full, known.filter(|name| !name.is_empty())));
        };
        let joint = &joints[index];
        let particle = |end| matches!(end, Endpoint::Particle(_));
        if !joint.kind.is_driven() {
            let message = format!("expected a hinge or a slider, `{full}` is neither");
            return Err(SceneError::new(message));
        }
        if particle(joint.a) || particle(joint.b) {
            let message = format!("expected a joint between bodies, `{full}` holds a particle");
            return Err(SceneError::new(message));
        }
        Ok(index)
    }
}

/// The path of a body that keeps its velocities within an interval.
fn during(
    spec: &author::BodySpec,
    blank: &Blank,
    origin: Vec3,
    scope: &Scope,
) -> Result<Option<DrivePath>> {
    let Some((from, to)) = &spec.during else { return Ok(None) };
    if spec.motion.kind() != Motion::Kinematic {
        return Err(SceneError::new("only a kinematic body moves by its own clock"));
    }
    let (from_s, to_s) = (from.evaluate(scope)?, to.evaluate(scope)?);
    if from_s < 0.0 {
        let message = format!("expected a time after the start, found {from_s}");
        return Err(SceneError::new(message)).at("during");
    }
    if from_s >= to_s {
        return Err(SceneError::new(format!("expected (from, to), found {from_s} and {to_s}")));
    }
    let (rotation, [velocity, omega]) = blank.motion();
    let position = origin + rotation * blank.centre;
    Ok(Some(DrivePath::During { from_s, to_s, position, rotation, velocity, omega }))
}

/// A rotation that stays.
fn steady(rotation: &Quat) -> TimeTurn {
    let [x, y, z, w]: [f64; 4] = rotation.coords.into();
    TimeTurn::Quaternion([x, y, z, w].map(TimeFormula::constant))
}

/// Adds the turns that a rotation as written is made of.
fn add_turns(spec: &author::RotationSpec, scope: &Scope, out: &mut Vec<TimeTurn>) -> Result<()> {
    match spec {
        author::RotationSpec::AxisAngle { axis, degrees } => {
            let axis = vector_in_time(axis, scope).at("axis")?;
            if axis.iter().all(|part| part.at(0.0) == 0.0) {
                return Err(SceneError::new("expected an axis, found the zero vector")).at("axis");
            }
            out.push(TimeTurn::AxisAngle { axis, degrees: degrees.in_time(scope).at("degrees")? });
        }
        author::RotationSpec::Quaternion(x, y, z, w) => {
            let in_time = |part: &Formula| part.in_time(scope);
            let parts = [in_time(x)?, in_time(y)?, in_time(z)?, in_time(w)?];
            let norm = parts.iter().map(|part| part.at(0.0).powi(2)).sum::<f64>().sqrt();
            if (norm - 1.0).abs() > 1e-6 {
                let message =
                    format!("expected a unit quaternion (x, y, z, w), its norm is {norm}");
                return Err(SceneError::new(message));
            }
            out.push(TimeTurn::Quaternion(parts));
        }
        author::RotationSpec::EulerDegrees(x, y, z) => {
            for (axis, degrees) in [(Vec3::x(), x), (Vec3::y(), y), (Vec3::z(), z)] {
                let axis = [axis.x, axis.y, axis.z].map(TimeFormula::constant);
                out.push(TimeTurn::AxisAngle { axis, degrees: degrees.in_time(scope)? });
            }
        }
        author::RotationSpec::Sequence(turns) => {
            for (i, turn) in turns.iter().enumerate() {
                add_turns(turn, scope, out).at_index("sequence", i)?;
            }
        }
    }
    Ok(())
}
