//! Quantities that one figure looks at: heights, stretches, distances.

use serde::Deserialize;
use taut_core::{
    Scene, State,
    constraint::{Geometry, Pose, RowKind},
    math::Vec3,
    metrics,
    scene::{Endpoint, Spring, SpringKind},
};

/// A number read off a state. Bodies and particles go by their names, joints and springs
/// by those of what they join.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProbeSpec {
    /// Coordinate of the centre of mass of a body, or of a particle [m].
    Coordinate {
        /// The body or particle.
        of: String,
        /// Which one.
        axis: WorldAxis,
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
    /// Largest error of the hard joints between two groups, as the core measures it [m].
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
    /// Angle between a body's z axis and the vertical [rad].
    Tilt {
        /// The body.
        of: String,
    },
    /// Rate at which a body's z axis turns about the vertical [rad/s]; not a number while it is upright.
    Precession {
        /// The body.
        of: String,
    },
    /// Component of a body's angular velocity along one of its own axes [rad/s].
    Spin {
        /// The body.
        of: String,
        /// Which axis of the body.
        axis: WorldAxis,
    },
    /// How much another probe is above its value in the reference trajectory.
    Off(Box<ProbeSpec>),
    /// Largest distance of a body or particle from its place in the reference trajectory [m].
    ReferenceDistance {
        /// Start of the names of bodies and particles; empty takes all.
        prefix: String,
    },
    /// How far the objective of implicit Euler after the first step is above that after the reference's [J]; not a
    /// number later, where the two do not start from the same state, nor where bodies touch or joints are hard.
    FirstStepGap(),
    /// Smallest coordinate among the centres of bodies and particles [m].
    CoordinateMin {
        /// Start of their names.
        prefix: String,
        /// Which one.
        axis: WorldAxis,
    },
    /// Largest distance of a body or particle from where it started [m].
    TravelMax {
        /// Start of their names.
        prefix: String,
    },
    /// Largest speed of the centre of a body or particle [m/s].
    SpeedMax {
        /// Start of their names.
        prefix: String,
    },
    /// How many bodies and particles are where they started.
    InPlace {
        /// Start of their names.
        prefix: String,
        /// Who has come no farther is in place [m].
        within: f64,
    },
    /// Largest distance between the centres of two bodies that start as neighbours [m]. It grows
    /// without bound where what links them gives way.
    NeighbourDistanceMax {
        /// Start of the names on one side.
        a: String,
        /// Start of the names on the other.
        b: String,
        /// Bodies that start no farther apart are neighbours [m].
        within: f64,
    },
    /// How many joints between two groups have broken.
    BrokenJoints {
        /// Start of the names on one side, `world` for the world; empty takes all.
        #[serde(default)]
        a: String,
        /// Start of the names on the other.
        #[serde(default)]
        b: String,
    },
}

impl ProbeSpec {
    /// Whether it tells where something is, or how far that is from the reference.
    pub(super) fn is_of_motion(&self) -> bool {
        let compares =
            matches!(self, Self::TurnError { .. } | Self::Off(_) | Self::ReferenceDistance { .. });
        compares || self.is_of_place()
    }

    /// Whether it tells where something is, so that its mean says little of a motion.
    pub fn is_of_place(&self) -> bool {
        matches!(
            self,
            Self::Coordinate { .. }
                | Self::Distance { .. }
                | Self::Tilt { .. }
                | Self::Spin { .. }
                | Self::CoordinateMin { .. }
        )
    }
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorldAxis {
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
    probes: Vec<(String, ResolvedProbe)>,
}

#[derive(Debug)]
enum ResolvedProbe {
    Coordinate(MassPoint, usize),
    Distance(MassPoint, MassPoint),
    /// Springs, by index.
    StretchMax(Vec<usize>),
    /// Joints, by index, and a scene of these joints alone.
    JointErrorMax(Vec<usize>, Box<Scene>),
    TurnError(usize),
    Tilt(usize),
    Precession(usize),
    Spin(usize, usize),
    Off(Box<ResolvedProbe>),
    ReferenceDistance(Vec<MassPoint>),
    /// Where the first step starts.
    FirstStepGap(Box<State>),
    CoordinateMin(Vec<MassPoint>, usize),
    /// Masses with where they started.
    TravelMax(Vec<(MassPoint, Vec3)>),
    SpeedMax(Vec<MassPoint>),
    /// Masses with where they started, and how far is in place.
    InPlace(Vec<(MassPoint, Vec3)>, f64),
    /// Pairs of bodies, by index.
    NeighbourDistanceMax(Vec<[usize; 2]>),
    /// Joints, by index.
    BrokenJoints(Vec<usize>),
}

#[derive(Clone, Copy, Debug)]
enum MassPoint {
    Body(usize),
    Particle(usize),
}

impl MassPoint {
    fn position(self, state: &State) -> Vec3 {
        match self {
            Self::Body(i) => state.bodies[i].position,
            Self::Particle(i) => state.particles[i].position,
        }
    }

    fn velocity(self, state: &State) -> Vec3 {
        match self {
            Self::Body(i) => state.bodies[i].velocity,
            Self::Particle(i) => state.particles[i].velocity,
        }
    }
}

impl<'a> Probes<'a> {
    /// Looks up what the probes name. Those that name something another scene has are left out: a
    /// figure of several scenes lists the probes of all.
    pub fn new<'p>(
        scene: &'a Scene,
        probes: impl IntoIterator<Item = (&'p String, &'p ProbeSpec)>,
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

    fn value(&self, probe: &ResolvedProbe, state: &State, reference: Option<&State>) -> f64 {
        match probe {
            ResolvedProbe::Coordinate(mass, axis) => mass.position(state)[*axis],
            ResolvedProbe::Distance(a, b) => (a.position(state) - b.position(state)).norm(),
            ResolvedProbe::StretchMax(springs) => {
                let stretches = springs.iter().map(|&i| self.stretch(i, state));
                stretches.fold(f64::NEG_INFINITY, largest)
            }
            ResolvedProbe::JointErrorMax(joints, alone) => {
                let broken = joints.iter().map(|&i| state.broken[i]).collect();
                metrics::joint_errors(alone, &State { broken, ..state.clone() }).max_m
            }
            ResolvedProbe::TurnError(body) => reference.map_or(f64::NAN, |reference| {
                let [now, then] = [state, reference].map(|s| s.bodies[*body].rotation());
                now.angle_to(&then)
            }),
            ResolvedProbe::Tilt(body) => {
                let up = state.bodies[*body].rotation() * Vec3::z();
                up.xy().norm().atan2(up.z)
            }
            ResolvedProbe::Precession(body) => {
                let up = state.bodies[*body].rotation() * Vec3::z();
                let rate = state.bodies[*body].omega().cross(&up);
                (up.x * rate.y - up.y * rate.x) / up.xy().norm_squared()
            }
            ResolvedProbe::Spin(body, axis) => {
                let axis = state.bodies[*body].rotation() * Vec3::ith(*axis, 1.0);
                axis.dot(&state.bodies[*body].omega())
            }
            ResolvedProbe::Off(probe) => reference.map_or(f64::NAN, |reference| {
                let at = |state| self.value(probe, state, None);
                at(state) - at(reference)
            }),
            ResolvedProbe::ReferenceDistance(masses) => reference.map_or(f64::NAN, |reference| {
                let off = |m: &MassPoint| (m.position(state) - m.position(reference)).norm();
                masses.iter().map(off).fold(0.0, largest)
            }),
            ResolvedProbe::FirstStepGap(start) => self.first_step_gap(start, state, reference),
            ResolvedProbe::CoordinateMin(masses, axis) => {
                // The largest of the negative ones, so that NaN stays NaN.
                let down = masses.iter().map(|mass| -mass.position(state)[*axis]);
                -down.fold(f64::NEG_INFINITY, largest)
            }
            ResolvedProbe::TravelMax(masses) => {
                masses.iter().map(|mass| travel(mass, state)).fold(0.0, largest)
            }
            ResolvedProbe::SpeedMax(masses) => {
                masses.iter().map(|mass| mass.velocity(state).norm()).fold(0.0, largest)
            }
            ResolvedProbe::InPlace(masses, within) => {
                masses.iter().filter(|mass| travel(mass, state) <= *within).count() as f64
            }
            ResolvedProbe::NeighbourDistanceMax(pairs) => {
                let apart = |pair: &[usize; 2]| {
                    let [a, b] = pair.map(|i| state.bodies[i].position);
                    (a - b).norm()
                };
                pairs.iter().map(apart).fold(0.0, largest)
            }
            ResolvedProbe::BrokenJoints(joints) => {
                joints.iter().filter(|&&i| state.broken[i]).count() as f64
            }
        }
    }

    fn first_step_gap(&self, start: &State, state: &State, reference: Option<&State>) -> f64 {
        let dt = self.scene.dt;
        let is_first = state.time_s - start.time_s < 1.5 * dt;
        let gap = reference.filter(|_| is_first).and_then(|reference| {
            metrics::objective_gap_j(self.scene, start, state, reference, dt)
        });
        gap.unwrap_or(f64::NAN)
    }

    fn stretch(&self, index: usize, state: &State) -> f64 {
        let spring = &self.scene.springs[index];
        let SpringKind::Linear { rest_length, .. } = spring.kind else { return f64::NAN };
        let (a, b) = (Pose::of(spring.a, state), Pose::of(spring.b, state));
        RowKind::Distance.evaluate(&Geometry::from(spring), &a, &b).value - rest_length
    }
}

/// The larger one; NaN stays NaN, unlike with `f64::max`.
fn largest(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

fn resolve(scene: &Scene, probe: &ProbeSpec) -> Option<ResolvedProbe> {
    let body = |name: &str| scene.bodies.iter().position(|body| body.name == name);
    let mass = |name: &str| {
        let body = scene.bodies.iter().position(|b| b.name == name).map(MassPoint::Body);
        body.or_else(|| {
            scene.particles.iter().position(|p| p.name == name).map(MassPoint::Particle)
        })
    };
    Some(match probe {
        ProbeSpec::Coordinate { of, axis } => ResolvedProbe::Coordinate(mass(of)?, *axis as usize),
        ProbeSpec::Distance { a, b } => ResolvedProbe::Distance(mass(a)?, mass(b)?),
        ProbeSpec::StretchMax { a, b } => {
            let linear = |spring: &Spring| matches!(spring.kind, SpringKind::Linear { .. });
            let springs = scene.springs.iter().enumerate();
            let found = springs.filter(|(_, s)| linear(s) && between(scene, (s.a, s.b), (a, b)));
            ResolvedProbe::StretchMax(some(found.map(|(i, _)| i).collect())?)
        }
        ProbeSpec::JointErrorMax { a, b } => {
            let joints = joints(scene, (a, b))?;
            let alone = joints.iter().map(|&i| scene.joints[i].clone()).collect();
            ResolvedProbe::JointErrorMax(joints, Box::new(Scene { joints: alone, ..scene.clone() }))
        }
        ProbeSpec::TurnError { of } => ResolvedProbe::TurnError(body(of)?),
        ProbeSpec::Tilt { of } => ResolvedProbe::Tilt(body(of)?),
        ProbeSpec::Precession { of } => ResolvedProbe::Precession(body(of)?),
        ProbeSpec::Spin { of, axis } => ResolvedProbe::Spin(body(of)?, *axis as usize),
        ProbeSpec::Off(probe) => ResolvedProbe::Off(Box::new(resolve(scene, probe)?)),
        ProbeSpec::ReferenceDistance { prefix } => {
            ResolvedProbe::ReferenceDistance(masses(scene, prefix)?)
        }
        ProbeSpec::FirstStepGap() => ResolvedProbe::FirstStepGap(Box::new(scene.initial_state())),
        ProbeSpec::CoordinateMin { prefix, axis } => {
            ResolvedProbe::CoordinateMin(masses(scene, prefix)?, *axis as usize)
        }
        ProbeSpec::TravelMax { prefix } => ResolvedProbe::TravelMax(placed(scene, prefix)?),
        ProbeSpec::SpeedMax { prefix } => ResolvedProbe::SpeedMax(masses(scene, prefix)?),
        ProbeSpec::InPlace { prefix, within } => {
            ResolvedProbe::InPlace(placed(scene, prefix)?, *within)
        }
        ProbeSpec::NeighbourDistanceMax { a, b, within } => {
            ResolvedProbe::NeighbourDistanceMax(neighbours(scene, (a, b), *within)?)
        }
        ProbeSpec::BrokenJoints { a, b } => ResolvedProbe::BrokenJoints(joints(scene, (a, b))?),
    })
}

/// Whether a connection runs between two groups, either way round.
fn between(scene: &Scene, ends: (Endpoint, Endpoint), (a, b): (&str, &str)) -> bool {
    let (first, second) = (name(scene, ends.0), name(scene, ends.1));
    let forward = first.starts_with(a) && second.starts_with(b);
    forward || (first.starts_with(b) && second.starts_with(a))
}

/// The joints between two groups, by index.
fn joints(scene: &Scene, groups: (&str, &str)) -> Option<Vec<usize>> {
    let joints = scene.joints.iter().enumerate();
    let found = joints.filter(|(_, joint)| between(scene, (joint.a, joint.b), groups));
    some(found.map(|(i, _)| i).collect())
}

/// Bodies and particles whose names start so.
fn masses(scene: &Scene, prefix: &str) -> Option<Vec<MassPoint>> {
    let named = |name: &String| name.starts_with(prefix);
    let bodies = (0..scene.bodies.len()).filter(|&i| named(&scene.bodies[i].name));
    let particles = (0..scene.particles.len()).filter(|&i| named(&scene.particles[i].name));
    some(bodies.map(MassPoint::Body).chain(particles.map(MassPoint::Particle)).collect())
}

/// The same with where they start.
fn placed(scene: &Scene, prefix: &str) -> Option<Vec<(MassPoint, Vec3)>> {
    let start = |mass: MassPoint| match mass {
        MassPoint::Body(i) => scene.bodies[i].position,
        MassPoint::Particle(i) => scene.particles[i].position,
    };
    Some(masses(scene, prefix)?.into_iter().map(|mass| (mass, start(mass))).collect())
}

/// Distance from where it started [m].
fn travel((mass, start): &(MassPoint, Vec3), state: &State) -> f64 {
    (mass.position(state) - start).norm()
}

/// Pairs of one body of each group that start within a distance of each other.
fn neighbours(scene: &Scene, (a, b): (&str, &str), within: f64) -> Option<Vec<[usize; 2]>> {
    let named = |prefix: &str| {
        let all = (0..scene.bodies.len()).filter(|&i| scene.bodies[i].name.starts_with(prefix));
        all.collect::<Vec<usize>>()
    };
    let (first, second) = (named(a), named(b));
    let near = |i: usize, j: usize| {
        i != j && (scene.bodies[i].position - scene.bodies[j].position).norm() <= within
    };
    let pairs = first.iter().flat_map(|&i| second.iter().map(move |&j| [i, j]));
    some(pairs.filter(|&[i, j]| near(i, j)).collect())
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
mod tests;
