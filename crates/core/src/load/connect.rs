//! From joints and springs as written to their flat form: anchors and bases in the bodies' coordinates.

mod word;

use self::word::JointWord;
use super::{
    author::{self, JointEntry},
    body::{direction, rotation},
    error::{At, Result, SceneError},
    expand::{Builder, Meeting},
    expression::{Formula, Scope, Triple, vector},
};
use crate::{
    math::{Mat3, Quat, Vec3},
    scene::{Endpoint, Joint, Spring, SpringKind},
};

impl Builder<'_> {
    /// The joint that an entry of `joints` describes.
    pub(super) fn joint(&self, entry: &JointEntry, scope: &Scope) -> Result<Joint> {
        let Some((_, spec)) = JointWord::of(entry) else {
            return Err(SceneError::new("expected one joint, found several"));
        };
        let a = self.names.resolve(&spec.a, scope).at("a")?;
        let b = self.names.resolve(&spec.b, scope).at("b")?;
        self.joint_of(entry, [a, b], None, scope)
    }

    /// A joint of a generator.
    pub(super) fn joint_between(
        &self,
        entry: &JointEntry,
        ends: [Endpoint; 2],
        meeting: Meeting,
        scope: &Scope,
    ) -> Result<Joint> {
        if let Some((_, spec)) = JointWord::of(entry) {
            refuse_chosen([&spec.name, &spec.a, &spec.b])?;
        }
        self.joint_of(entry, ends, Some(meeting), scope)
    }

    fn joint_of(
        &self,
        entry: &JointEntry,
        [a, b]: [Endpoint; 2],
        meeting: Option<Meeting>,
        scope: &Scope,
    ) -> Result<Joint> {
        let Some((kind, spec)) = JointWord::of(entry) else {
            return Err(SceneError::new("expected one joint, found several"));
        };
        check_ends(a, b)?;
        kind.check(spec)?;
        if kind.has_basis() {
            check_turning([a, b], "use a ball or distance joint")?;
        }
        let [anchor_a, anchor_b] = self.anchors(kind, spec, [a, b], meeting, scope)?;
        let [basis_a, basis_b] = self.bases(kind, spec, [a, b], scope)?;
        let apart = (self.point(a, &anchor_a) - self.point(b, &anchor_b)).norm();
        let kind = kind.flat(spec, apart, scope)?;
        let or = |number: &Option<Formula>, default: f64, evaluate: Evaluate, name| match number {
            Some(number) => evaluate(number, scope).at(name),
            None => Ok(default),
        };
        let soft = |number, name| or(number, 0.0, Formula::non_negative, name);
        let breaks = |number, name| or(number, f64::INFINITY, Formula::positive, name);
        Ok(Joint {
            name: String::new(),
            kind,
            a,
            b,
            anchor_a,
            anchor_b,
            basis_a,
            basis_b,
            compliance_linear: soft(&spec.compliance_linear, "compliance_linear")?,
            compliance_angular: soft(&spec.compliance_angular, "compliance_angular")?,
            limit: word::limit(spec, kind, scope).at("limit")?,
            motor: word::motor(spec, scope).at("motor")?,
            damping: soft(&spec.damping, "damping")?,
            break_force: breaks(&spec.break_force, "break_force")?,
            break_torque: breaks(&spec.break_torque, "break_torque")?,
        })
    }

    /// Anchors in the coordinates of either side.
    fn anchors(
        &self,
        kind: JointWord,
        spec: &author::JointSpec,
        ends: [Endpoint; 2],
        meeting: Option<Meeting>,
        scope: &Scope,
    ) -> Result<[Vec3; 2]> {
        let given = [(&spec.anchor_a, "anchor_a"), (&spec.anchor_b, "anchor_b")];
        let own = self.given_anchors(ends, given, scope)?;
        if spec.at.is_some() && own.iter().any(Option::is_some) {
            return Err(SceneError::new("expected `at` or `anchor_a` and `anchor_b`, found both"));
        }
        // Its anchors are apart, so neither can follow from the other.
        if kind == JointWord::Distance {
            if spec.at.is_some() {
                return Err(SceneError::new("a distance joint has two anchors")).at("at");
            }
            return Ok([0, 1].map(|side| own[side].unwrap_or(self.origin(ends[side]))));
        }
        let particle = ends.into_iter().find(|end| matches!(end, Endpoint::Particle(_)));
        let meeting =
            meeting.or(particle.map(|end| Meeting::Point(self.point(end, &Vec3::zeros()))));
        let common = match (&spec.at, own, meeting) {
            (_, [Some(a), Some(b)], _) => return Ok([a, b]),
            // What is given stays exact; only the other side is computed.
            (_, [Some(a), None], _) => {
                return Ok([a, self.local(ends[1], &self.point(ends[0], &a))]);
            }
            (_, [None, Some(b)], _) => {
                return Ok([self.local(ends[0], &self.point(ends[1], &b)), b]);
            }
            (Some(at), ..) => vector(at, scope).at("at")?,
            (None, _, Some(Meeting::Anchors(both))) => return Ok(both),
            (None, _, Some(Meeting::Point(at))) => at,
            (None, _, Some(Meeting::HalfWay)) => {
                let [a, b] = ends.map(|end| self.point(end, &self.origin(end)));
                (a + b) * 0.5
            }
            (None, _, None) => {
                let message = "expected `at` (a world point), or `anchor_a` and `anchor_b`";
                return Err(SceneError::new(message));
            }
        };
        Ok(ends.map(|end| self.local(end, &common)))
    }

    /// Authored anchors moved to the coordinates of the centre of mass.
    fn given_anchors(
        &self,
        ends: [Endpoint; 2],
        given: [(&Option<Triple>, &str); 2],
        scope: &Scope,
    ) -> Result<[Option<Vec3>; 2]> {
        let mut anchors = [None; 2];
        for (side, (triple, name)) in given.into_iter().enumerate() {
            let Some(triple) = triple else { continue };
            if matches!(ends[side], Endpoint::Particle(_)) {
                return Err(SceneError::new("a particle is its own anchor")).at(name);
            }
            let authored = vector(triple, scope).at(name)?;
            anchors[side] = Some(authored + self.origin(ends[side]));
        }
        Ok(anchors)
    }

    /// Rotations of the joint basis on either side, from the initial pose unless given.
    fn bases(
        &self,
        kind: JointWord,
        spec: &author::JointSpec,
        ends: [Endpoint; 2],
        scope: &Scope,
    ) -> Result<[Quat; 2]> {
        if !kind.has_basis() {
            return Ok([Quat::identity(); 2]);
        }
        let given = [(&spec.basis_a, "basis_a"), (&spec.basis_b, "basis_b")];
        let [given_a, given_b] = given_bases(given, scope)?;
        let world = match (kind.has_axis(), &spec.axis) {
            (true, Some(axis)) => {
                let axis = direction(axis, scope).at("axis")?;
                let second = match (&spec.axis_b, kind) {
                    (Some(second), _) => Some(direction(second, scope).at("axis_b")?),
                    (None, _) => None,
                };
                basis(&axis, second.as_ref())?
            }
            (true, None) if given_a.is_none() || given_b.is_none() => {
                return Err(SceneError::new("expected an axis in world coordinates")).at("axis");
            }
            _ => Quat::identity(),
        };
        let [a, b] = ends.map(|end| self.turn(end).inverse() * world);
        Ok([given_a.unwrap_or(a), given_b.unwrap_or(b)])
    }

    /// The spring that an entry of `springs` describes.
    pub(super) fn spring(&self, entry: &author::SpringEntry, scope: &Scope) -> Result<Spring> {
        let (a, b) = match entry {
            author::SpringEntry::Linear(spec) => (&spec.a, &spec.b),
            author::SpringEntry::Angular(spec) => (&spec.a, &spec.b),
            author::SpringEntry::VertexTriangle(_) | author::SpringEntry::Repeat(_) => {
                let message = "expected one spring of two ends, `linear` or `angular`";
                return Err(SceneError::new(message));
            }
        };
        let a = self.names.resolve(a, scope).at("a")?;
        let b = self.names.resolve(b, scope).at("b")?;
        self.spring_of(entry, [a, b], scope)
    }

    /// A spring of a generator.
    pub(super) fn spring_between(
        &self,
        entry: &author::SpringEntry,
        ends: [Endpoint; 2],
        scope: &Scope,
    ) -> Result<Spring> {
        match entry {
            author::SpringEntry::Linear(spec) => refuse_chosen([&spec.name, &spec.a, &spec.b])?,
            author::SpringEntry::Angular(spec) => refuse_chosen([&spec.name, &spec.a, &spec.b])?,
            author::SpringEntry::VertexTriangle(_) | author::SpringEntry::Repeat(_) => {}
        }
        self.spring_of(entry, ends, scope)
    }

    fn spring_of(
        &self,
        entry: &author::SpringEntry,
        [a, b]: [Endpoint; 2],
        scope: &Scope,
    ) -> Result<Spring> {
        check_ends(a, b)?;
        let (stiffness, damping, kind) = match entry {
            author::SpringEntry::Linear(spec) => {
                (&spec.stiffness, &spec.damping, self.linear(spec, [a, b], scope)?)
            }
            author::SpringEntry::Angular(spec) => {
                (&spec.stiffness, &spec.damping, self.angular(spec, [a, b], scope)?)
            }
            author::SpringEntry::VertexTriangle(_) | author::SpringEntry::Repeat(_) => {
                let message = "expected one spring of two ends, `linear` or `angular`";
                return Err(SceneError::new(message));
            }
        };
        let stiffness = stiffness.non_negative(scope).at("stiffness")?;
        let damping = damping.as_ref().map_or(Ok(0.0), |number| number.non_negative(scope));
        let damping = damping.at("damping")?;
        Ok(Spring { name: String::new(), kind, a, b, stiffness, damping })
    }

    fn linear(
        &self,
        spec: &author::LinearSpring,
        ends: [Endpoint; 2],
        scope: &Scope,
    ) -> Result<SpringKind> {
        let given = [(&spec.anchor_a, "anchor_a"), (&spec.anchor_b, "anchor_b")];
        let own = self.given_anchors(ends, given, scope)?;
        let [anchor_a, anchor_b] = [0, 1].map(|side| own[side].unwrap_or(self.origin(ends[side])));
        let rest_length = match &spec.rest_length {
            Some(length) => length.non_negative(scope).at("rest_length")?,
            None => (self.point(ends[0], &anchor_a) - self.point(ends[1], &anchor_b)).norm(),
        };
        Ok(SpringKind::Linear { anchor_a, anchor_b, rest_length })
    }

    fn angular(
        &self,
        spec: &author::AngularSpring,
        ends: [Endpoint; 2],
        scope: &Scope,
    ) -> Result<SpringKind> {
        check_turning(ends, "an angular spring needs bodies")?;
        let given = [(&spec.basis_a, "basis_a"), (&spec.basis_b, "basis_b")];
        let [given_a, given_b] = given_bases(given, scope)?;
        let [a, b] = ends.map(|end| self.turn(end).inverse());
        Ok(SpringKind::Angular { basis_a: given_a.unwrap_or(a), basis_b: given_b.unwrap_or(b) })
    }

    /// The authored origin in the coordinates of the centre of mass.
    pub(super) fn origin(&self, end: Endpoint) -> Vec3 {
        match end {
            Endpoint::Body(i) => self.centres.get(&i).map_or(Vec3::zeros(), |centre| -centre),
            Endpoint::World | Endpoint::Particle(_) => Vec3::zeros(),
        }
    }

    /// World point of a point in an end's coordinates, at the initial pose.
    pub(super) fn point(&self, end: Endpoint, local: &Vec3) -> Vec3 {
        match end {
            Endpoint::World => *local,
            Endpoint::Body(i) => {
                self.scene.bodies[i].position + self.scene.bodies[i].rotation * local
            }
            Endpoint::Particle(i) => self.scene.particles[i].position,
        }
    }

    pub(super) fn local(&self, end: Endpoint, world: &Vec3) -> Vec3 {
        match end {
            Endpoint::World => *world,
            Endpoint::Body(i) => {
                let body = &self.scene.bodies[i];
                body.rotation.inverse() * (world - body.position)
            }
            Endpoint::Particle(_) => Vec3::zeros(),
        }
    }

    fn turn(&self, end: Endpoint) -> Quat {
        match end {
            Endpoint::Body(i) => self.scene.bodies[i].rotation,
            Endpoint::World | Endpoint::Particle(_) => Quat::identity(),
        }
    }
}

fn check_ends(a: Endpoint, b: Endpoint) -> Result<()> {
    if a != b {
        return Ok(());
    }
    Err(SceneError::new(match a {
        Endpoint::World => "both sides are the world",
        Endpoint::Body(_) => "both sides are the same body",
        Endpoint::Particle(_) => "both sides are the same particle",
    }))
    .at("b")
}

/// Refuses particles where a rotation is needed.
fn check_turning(ends: [Endpoint; 2], needed: &str) -> Result<()> {
    match ends.iter().position(|end| matches!(end, Endpoint::Particle(_))) {
        Some(side) => {
            Err(SceneError::new(format!("a particle does not turn: {needed}"))).at(["a", "b"][side])
        }
        None => Ok(()),
    }
}

/// Refuses a name or ends of what a generator makes.
fn refuse_chosen([name, a, b]: [&String; 3]) -> Result<()> {
    for (given, field, message) in [
        (name, "name", "a generator makes many of it, and none has a name"),
        (a, "a", "the generator chooses `a` and `b`"),
        (b, "b", "the generator chooses `a` and `b`"),
    ] {
        if !given.is_empty() {
            return Err(SceneError::new(message)).at(field);
        }
    }
    Ok(())
}

fn given_bases(
    given: [(&Option<author::RotationSpec>, &str); 2],
    scope: &Scope,
) -> Result<[Option<Quat>; 2]> {
    let mut bases = [None; 2];
    for (side, (turn, name)) in given.into_iter().enumerate() {
        bases[side] = turn.as_ref().map(|turn| rotation(turn, scope)).transpose().at(name)?;
    }
    Ok(bases)
}

/// A rotation taking x to `axis` and y to `second`, or to some perpendicular that depends on `axis` alone.
fn basis(axis: &Vec3, second: Option<&Vec3>) -> Result<Quat> {
    let y = match second {
        Some(second) => {
            let cosine = axis.dot(second);
            // Rounding of written components is forgiven and removed below.
            if cosine.abs() > 1e-6 {
                let message =
                    format!("expected an axis perpendicular to `axis`, their cosine is {cosine}");
                return Err(SceneError::new(message)).at("axis_b");
            }
            (second - axis * cosine).normalize()
        }
        None => {
            // The world axis least along it, so that the product cannot vanish.
            let least = Vec3::ith(axis.iamin(), 1.0);
            (least - axis * axis.dot(&least)).normalize()
        }
    };
    let columns = Mat3::from_columns(&[*axis, y, axis.cross(&y)]);
    let rotation = nalgebra::Rotation3::from_matrix_unchecked(columns);
    Ok(Quat::from_rotation_matrix(&rotation))
}

/// A way to evaluate a number and bound it.
type Evaluate = fn(&Formula, &Scope) -> Result<f64>;
