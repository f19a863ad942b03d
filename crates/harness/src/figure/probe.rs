//! Quantities that one figure looks at: heights, stretches, distances.

use serde::Deserialize;
use taut_core::{
    Scene, State,
    constraint::{Geometry, Pose, RowKind, locked_rows},
    math::Vec3,
    scene::{Endpoint, Spring, SpringKind},
};

/// A number read off a state. Bodies and particles go by their names, joints and springs
/// by those of what they join.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Probe {
    /// Coordinate of the centre of mass of a body, or of a particle [m].
    Coordinate {
        /// The body or particle.
        of: String,
        /// Which one.
        axis: Coordinate,
    },
    /// Distance of the centres of two bodies or particles [m].
    Distance {
        /// One.
        a: String,
        /// The other.
        b: String,
    },
    /// Largest length beyond its rest length of the linear springs between two groups [m].
    StretchMax {
        /// Start of the names on one side; empty takes all.
        #[serde(default)]
        a: String,
        /// Start of the names on the other.
        #[serde(default)]
        b: String,
    },
    /// Largest violation of the position rows of the joints between two groups [m].
    JointErrorMax {
        /// Start of the names on one side, `world` for the world; empty takes all.
        #[serde(default)]
        a: String,
        /// Start of the names on the other.
        #[serde(default)]
        b: String,
    },
    /// Angle by which a body is turned against the reference trajectory [rad].
    TurnError {
        /// The body.
        of: String,
    },
    /// Largest distance of a body or particle from its place in the reference trajectory [m].
    ReferenceDistance {
        /// Start of the names of bodies and particles; empty takes all.
        prefix: String,
    },
}

/// A coordinate axis of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordinate {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z, up.
    Z,
}

/// The probes of a figure, resolved for one scene.
#[derive(Debug)]
pub struct Probes<'a> {
    scene: &'a Scene,
    probes: Vec<(String, Resolved)>,
}

#[derive(Debug)]
enum Resolved {
    Coordinate(Mass, usize),
    Distance(Mass, Mass),
    /// Springs, by index.
    StretchMax(Vec<usize>),
    /// Joints, by index.
    JointErrorMax(Vec<usize>),
    TurnError(usize),
    ReferenceDistance(Vec<Mass>),
}

#[derive(Clone, Copy, Debug)]
enum Mass {
    Body(usize),
    Particle(usize),
}

impl Mass {
    fn position(self, state: &State) -> Vec3 {
        match self {
            Self::Body(i) => state.bodies[i].position,
            Self::Particle(i) => state.particles[i].position,
        }
    }
}

impl<'a> Probes<'a> {
    /// Looks up what the probes name. Those that name something another scene has are left out: a
    /// figure of several scenes lists the probes of all.
    pub fn new<'p>(
        scene: &'a Scene,
        probes: impl IntoIterator<Item = (&'p String, &'p Probe)>,
    ) -> Self {
        let found = probes.into_iter();
        let probes = found.filter_map(|(name, p)| Some((name.clone(), resolve(scene, p)?)));
        Self { scene, probes: probes.collect() }
    }

    /// Names, in the order of [`Probes::measure`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.probes.iter().map(|(name, _)| name.as_str())
    }

    /// All values; NaN for those that need a reference where there is none.
    pub fn measure(&self, state: &State, reference: Option<&State>) -> Vec<f64> {
        self.probes.iter().map(|(_, probe)| self.value(probe, state, reference)).collect()
    }

    fn value(&self, probe: &Resolved, state: &State, reference: Option<&State>) -> f64 {
        match probe {
            Resolved::Coordinate(mass, axis) => mass.position(state)[*axis],
            Resolved::Distance(a, b) => (a.position(state) - b.position(state)).norm(),
            Resolved::StretchMax(springs) => {
                let stretches = springs.iter().map(|&i| self.stretch(i, state));
                stretches.fold(f64::NEG_INFINITY, largest)
            }
            Resolved::JointErrorMax(joints) => {
                joints.iter().map(|&i| self.joint_error(i, state)).fold(0.0, largest)
            }
            Resolved::TurnError(body) => reference.map_or(f64::NAN, |reference| {
                let [now, then] = [state, reference].map(|s| s.bodies[*body].rotation());
                now.angle_to(&then)
            }),
            Resolved::ReferenceDistance(masses) => reference.map_or(f64::NAN, |reference| {
                let off = |m: &Mass| (m.position(state) - m.position(reference)).norm();
                masses.iter().map(off).fold(0.0, largest)
            }),
        }
    }

    fn stretch(&self, index: usize, state: &State) -> f64 {
        let spring = &self.scene.springs[index];
        let SpringKind::Linear { rest_length, .. } = spring.kind else { return f64::NAN };
        let (a, b) = (Pose::of(spring.a, state), Pose::of(spring.b, state));
        RowKind::Distance.evaluate(&Geometry::from(spring), &a, &b).value - rest_length
    }

    /// Norm of the position rows; those that hold angles are not lengths.
    fn joint_error(&self, index: usize, state: &State) -> f64 {
        let joint = &self.scene.joints[index];
        if state.broken[index] {
            return 0.0;
        }
        let (a, b) = (Pose::of(joint.a, state), Pose::of(joint.b, state));
        let geometry = Geometry::from(joint);
        let squares = locked_rows(joint)
            .filter(|(row, _)| !row.is_angular())
            .map(|(row, target)| (row.evaluate(&geometry, &a, &b).value - target).powi(2));
        squares.sum::<f64>().sqrt()
    }
}

/// The larger one; NaN stays NaN, unlike with `f64::max`.
fn largest(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

fn resolve(scene: &Scene, probe: &Probe) -> Option<Resolved> {
    let mass = |name: &str| {
        let body = scene.bodies.iter().position(|b| b.name == name).map(Mass::Body);
        body.or_else(|| scene.particles.iter().position(|p| p.name == name).map(Mass::Particle))
    };
    let between = |ends: (Endpoint, Endpoint), (a, b): (&str, &str)| {
        let (first, second) = (name(scene, ends.0), name(scene, ends.1));
        let forward = first.starts_with(a) && second.starts_with(b);
        forward || (first.starts_with(b) && second.starts_with(a))
    };
    Some(match probe {
        Probe::Coordinate { of, axis } => Resolved::Coordinate(mass(of)?, *axis as usize),
        Probe::Distance { a, b } => Resolved::Distance(mass(a)?, mass(b)?),
        Probe::StretchMax { a, b } => {
            let linear = |spring: &Spring| matches!(spring.kind, SpringKind::Linear { .. });
            let springs = scene.springs.iter().enumerate();
            let found = springs.filter(|(_, s)| linear(s) && between((s.a, s.b), (a, b)));
            Resolved::StretchMax(some(found.map(|(i, _)| i).collect())?)
        }
        Probe::JointErrorMax { a, b } => {
            let joints = scene.joints.iter().enumerate();
            let found = joints.filter(|(_, joint)| between((joint.a, joint.b), (a, b)));
            Resolved::JointErrorMax(some(found.map(|(i, _)| i).collect())?)
        }
        Probe::TurnError { of } => match mass(of)? {
            Mass::Body(i) => Resolved::TurnError(i),
            Mass::Particle(_) => return None,
        },
        Probe::ReferenceDistance { prefix } => {
            let named = |name: &String| name.starts_with(prefix);
            let bodies = (0..scene.bodies.len()).filter(|&i| named(&scene.bodies[i].name));
            let particles = (0..scene.particles.len()).filter(|&i| named(&scene.particles[i].name));
            let all = bodies.map(Mass::Body).chain(particles.map(Mass::Particle));
            Resolved::ReferenceDistance(some(all.collect())?)
        }
    })
}

fn name(scene: &Scene, endpoint: Endpoint) -> &str {
    match endpoint {
        Endpoint::World => "world",
        Endpoint::Body(i) => &scene.bodies[i].name,
        Endpoint::Particle(i) => &scene.particles[i].name,
    }
}

/// `None` for an empty list: nothing is called so.
fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use taut_core::scene::{Joint, JointKind, Particle};

    fn scene() -> Scene {
        let particle = |name: &str, z: f64| Particle {
            name: name.to_owned(),
            mass: 1.0,
            position: Vec3::new(0.0, 0.0, z),
            velocity: Vec3::zeros(),
        };
        let (zero, a, b) = (Vec3::zeros(), Endpoint::Particle(0), Endpoint::Particle(1));
        let kind = SpringKind::Linear { anchor_a: zero, anchor_b: zero, rest_length: 2.0 };
        let spring = Spring { name: String::new(), kind, a, b, stiffness: 1.0 };
        let joint = Joint { ..Joint::new(JointKind::Ball, a, b) };
        Scene {
            particles: vec![particle("top", 5.0), particle("low", 2.0)],
            springs: vec![spring],
            joints: vec![joint],
            ..Scene::default()
        }
    }

    fn measure(probe: Probe) -> Option<f64> {
        let (scene, name) = (scene(), "p_m".to_owned());
        let state = scene.initial_state();
        let mut moved = state.clone();
        moved.particles[1].position.x = 4.0;
        let probes = Probes::new(&scene, [(&name, &probe)]);
        probes.measure(&state, Some(&moved)).first().copied()
    }

    #[test]
    fn probes_read_the_state() {
        let (low, top) = ("low".to_owned(), "top".to_owned());
        let coordinate = Probe::Coordinate { of: low.clone(), axis: Coordinate::Z };
        assert_eq!(measure(coordinate), Some(2.0));
        let (a, b) = (low.clone(), top.clone());
        assert_eq!(measure(Probe::Distance { a, b }), Some(3.0));
        let (a, b) = (low, top);
        assert_eq!(measure(Probe::StretchMax { a: a.clone(), b: b.clone() }), Some(1.0));
        assert_eq!(measure(Probe::JointErrorMax { a, b }), Some(3.0));
        assert_eq!(measure(Probe::ReferenceDistance { prefix: String::new() }), Some(4.0));
    }

    #[test]
    fn what_the_scene_does_not_have_is_left_out() {
        let (a, b) = ("low".to_owned(), "world".to_owned());
        assert_eq!(measure(Probe::StretchMax { a, b }), None);
    }
}
