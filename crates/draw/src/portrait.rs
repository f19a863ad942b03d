//! What is drawn of a scene: bodies by their colours, springs, joints that gape, contacts, trails, and signs for what
//! cannot be seen.

mod signs;

use std::sync::Arc;

use taut_core::{
    Scene, State, Vec3,
    metrics::{anchors, joint_error_m},
    scene::{Endpoint, Motion, Shape, Spring, SpringKind},
};

use crate::{
    camera::{Camera, Projection},
    colour::{
        ColourSteps, FAILED_GROUND, FAILURE, FAINT_INK, FIXED, GAP, GHOST, INK, PAGE, PLAIN, QUIET,
        Rgb, STEPS, blend,
    },
    list::{BodyLook, DrawList, Instance, Layer, PlaneCut, SpaceDot, SpaceLine, SpacePlane},
    shape::{AffinePose, Polyhedron, grid},
};

/// What the colour of a body tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tint {
    /// Nothing.
    Plain,
    /// Who computed it.
    Uniform(Rgb),
    /// The errors of its joints [m], at either half that of the joint there.
    JointError(ColourSteps),
    /// Its speed [m/s].
    Speed(ColourSteps),
    /// How deep others are inside it [m].
    Penetration(ColourSteps),
}

/// Strain of springs, by the same five colours [1].
pub const STRAIN: ColourSteps = ColourSteps { low: 0.01, high: 1.0 };

/// How a scene is drawn, whatever the moment.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// What colours tell.
    pub tint: Tint,
    /// Anchors of a joint farther apart than this are joined by a red line [m]; `None` for never.
    pub gaps_m: Option<f64>,
    /// Whether contacts are drawn.
    pub contacts: bool,
}

/// A point at which two bodies, or a body and a particle, touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The two bodies or particles, A first, bodies counted before particles.
    pub bodies: [usize; 2],
    /// Where [m].
    pub at: Vec3,
    /// Unit vector from B to A.
    pub normal: Vec3,
    /// How deep they are inside each other [m]; negative where they are apart.
    pub depth: f64,
}

/// One run at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Exposure<'a> {
    /// Number of the run.
    pub run: u32,
    /// Where everything is.
    pub state: &'a State,
    /// Where it is in the reference.
    pub ghost: Option<&'a State>,
    /// What touches.
    pub touches: &'a [Touch],
    /// Paths of bodies up to now, oldest points first [m].
    pub trails: &'a [Vec<Vec3>],
    /// What has become of the run, in words, where it has failed by now.
    pub failed: Option<&'a str>,
    /// Whether the state is older than the moment, as nothing later is finite.
    pub stale: bool,
}

/// A piece of a body, with its place in it.
type PlacedPiece = (Arc<Polyhedron>, AffinePose);

/// A scene made ready to be drawn.
#[derive(Debug)]
pub struct Portrait<'a> {
    scene: &'a Scene,
    /// The pieces of every body; equal shapes share theirs.
    pieces: Vec<Arc<[PlacedPiece]>>,
    /// Joints of every body, each with the anchor in its coordinates [m].
    joints: Vec<Vec<(usize, Vec3)>>,
    /// Outer faces of what is made of tetrahedra, by particles.
    solid_faces: Vec<[usize; 3]>,
}

impl<'a> Portrait<'a> {
    /// Of a scene.
    pub fn new(scene: &'a Scene) -> Self {
        let mut known: Vec<(&Shape, Arc<[_]>)> = Vec::new();
        let pieces = scene.bodies.iter().map(|body| {
            let found = known.iter().find(|(shape, _)| **shape == body.shape);
            if let Some((_, pieces)) = found {
                return Arc::clone(pieces);
            }
            let pieces: Arc<[_]> = Polyhedron::pieces(&body.shape).into();
            known.push((&body.shape, Arc::clone(&pieces)));
            pieces
        });
        let pieces = pieces.collect();
        let mut joints = vec![Vec::new(); scene.bodies.len()];
        for (number, joint) in scene.joints.iter().enumerate() {
            for (end, anchor) in [(joint.a, joint.anchor_a), (joint.b, joint.anchor_b)] {
                if let Endpoint::Body(body) = end {
                    joints[body].push((number, anchor));
                }
            }
        }
        Self { scene, pieces, joints, solid_faces: scene.solid_faces() }
    }

    /// The picture of a moment.
    pub fn list(
        &self,
        camera: Camera,
        size: (f64, f64),
        manner: &Manner,
        moment: &Exposure<'_>,
    ) -> DrawList {
        let mut list = DrawList::new(camera, size);
        list.border = Some(match moment.failed {
            Some(_) => (FAILURE, 2.0),
            None => (QUIET, 1.0),
        });
        list.background = if moment.failed.is_some() { FAILED_GROUND } else { PAGE };
        list.hatched = moment.stale;
        self.ground(&mut list, moment.state);
        if let Some(ghost) = moment.ghost {
            self.ghost(&mut list, ghost);
        }
        self.bodies(&mut list, manner, moment);
        self.surfaces(&mut list, manner, moment);
        self.springs(&mut list, moment.state);
        self.anchors(&mut list, manner, moment.state);
        if manner.contacts {
            touches(&mut list, self.scene, moment.touches);
        }
        trails(&mut list, moment.trails);
        signs::add(&mut list, self.scene, moment);
        list
    }

    /// Half-spaces as grids below everything, and as one line where they are seen edge-on.
    fn ground(&self, list: &mut DrawList, state: &State) {
        let bodies = self.scene.bodies.iter().zip(&state.bodies);
        for (_, motion) in bodies.filter(|(body, _)| matches!(body.shape, Shape::HalfSpace)) {
            let pose = AffinePose { frame: motion.frame, origin: motion.position };
            let normal = pose.normal(&Vec3::z());
            list.planes.push(SpacePlane { point: pose.origin, normal });
            let lens = list.lens();
            let half = reach(&list.camera, list.size);
            let middle = lens.target - normal * normal.dot(&(lens.target - pose.origin));
            let line = |points: Vec<Vec3>, width: f64, colour: Rgb| SpaceLine {
                points,
                width,
                dash: &[],
                colour,
                layer: Layer::Below,
            };
            if lens.distance.is_none() && normal.dot(&lens.towards).abs() < 1e-6 {
                let along = normal.cross(&lens.towards) * (2.0 * half);
                list.lines.push(line(vec![middle - along, middle + along], 1.2, FAINT_INK));
                continue;
            }
            // A square in the plane whose sides are along its own axes.
            let (x, y) = (motion.frame.column(0) * half, motion.frame.column(1) * half);
            let corners = [middle - x - y, middle + x - y, middle - x + y, middle + x + y];
            let grid = grid(&pose, &corners).into_iter();
            list.lines.extend(grid.map(|ends| line(ends.to_vec(), 0.6, QUIET)));
        }
    }

    fn ghost(&self, list: &mut DrawList, state: &State) {
        let bodies = self.scene.bodies.iter().enumerate();
        for (body, _) in bodies.filter(|(_, body)| body.motion == Motion::Dynamic) {
            self.add(list, state, body, (GHOST, None), (BodyLook::Outlined, 0));
        }
    }

    fn bodies(&self, list: &mut DrawList, manner: &Manner, moment: &Exposure<'_>) {
        let state = moment.state;
        let errors: Vec<f64> = match manner.tint {
            Tint::JointError(_) => {
                let joints = self.scene.joints.iter().zip(&state.broken);
                let error = |joint| joint_error_m(self.scene, joint, state).unwrap_or(0.0);
                joints.map(|(joint, broken)| if *broken { 0.0 } else { error(joint) }).collect()
            }
            _ => Vec::new(),
        };
        let mut depths = vec![0.0_f64; self.scene.bodies.len()];
        for touch in moment.touches {
            // Particles, which are counted after the bodies, have no colour.
            for body in touch.bodies {
                if let Some(depth) = depths.get_mut(body) {
                    *depth = depth.max(touch.depth);
                }
            }
        }
        for (number, body) in self.scene.bodies.iter().enumerate() {
            let motion = &state.bodies[number];
            let colours = match manner.tint {
                _ if body.motion == Motion::Static => (FIXED, None),
                Tint::Plain => (PLAIN, None),
                Tint::Uniform(colour) => (colour, None),
                Tint::Speed(steps) => (steps.of(motion.velocity.norm()), None),
                Tint::Penetration(steps) => (steps.of(depths[number]), None),
                Tint::JointError(steps) => self.halves(number, &steps, &errors, state),
            };
            self.add(list, state, number, colours, (BodyLook::Shaded, moment.run));
        }
    }

    /// The colour of a body by the errors of its joints. A body of two has two halves; one of more has one colour, that
    /// of the worst.
    fn halves(
        &self,
        body: usize,
        steps: &ColourSteps,
        errors: &[f64],
        state: &State,
    ) -> (Rgb, Option<PlaneCut>) {
        let joints: Vec<(f64, Vec3)> = self.joints[body]
            .iter()
            .filter(|(joint, _)| !state.broken[*joint])
            .map(|(joint, anchor)| (errors[*joint], *anchor))
            .collect();
        let round = matches!(self.scene.bodies[body].shape, Shape::Sphere { .. });
        if let [(first, a), (second, b)] = joints[..]
            && !round
            && steps.of(first) != steps.of(second)
            && let Some(normal) = (b - a).try_normalize(1e-12)
        {
            let offset = normal.dot(&((a + b) * 0.5));
            let cut = PlaneCut { normal, offset, colour: steps.of(second) };
            return (steps.of(first), Some(cut));
        }
        let worst = joints.iter().map(|(error, _)| *error).fold(0.0, |worst: f64, error| {
            // No number is worse than any.
            if error.is_nan() { f64::INFINITY } else { worst.max(error) }
        });
        (steps.of(worst), None)
    }

    fn add(
        &self,
        list: &mut DrawList,
        state: &State,
        body: usize,
        (colour, cut): (Rgb, Option<PlaneCut>),
        (look, run): (BodyLook, u32),
    ) {
        let motion = &state.bodies[body];
        let whole = AffinePose { frame: motion.frame, origin: motion.position };
        for (piece, place) in self.pieces[body].iter() {
            let own = |cut: PlaneCut| PlaneCut {
                normal: place.frame.transpose() * cut.normal,
                offset: cut.offset - cut.normal.dot(&place.origin),
                ..cut
            };
            let instance = Instance {
                shape: list.shape(piece),
                pose: whole.of(place),
                colour,
                cut: cut.map(own),
                look,
                run,
                body: body as u32,
            };
            list.instances.push(instance);
        }
    }

    /// Elastic material, sheets and the faces of solids as one, and particles where there is none.
    fn surfaces(&self, list: &mut DrawList, manner: &Manner, moment: &Exposure<'_>) {
        let (scene, state) = (self.scene, moment.state);
        if scene.triangles.is_empty() && scene.tetrahedra.is_empty() {
            let colour = if let Tint::Uniform(colour) = manner.tint { colour } else { INK };
            list.dots.extend(state.particles.iter().map(|particle| SpaceDot {
                at: particle.position,
                radius: 1.6,
                colour,
                normal: None,
            }));
            return;
        }
        let mut vertices: Vec<Vec3> = state.particles.iter().map(|p| p.position).collect();
        let mut corner = |anchor: &taut_core::scene::Anchor| match anchor.end {
            Endpoint::Particle(i) => i as u32,
            _ => {
                vertices.push(anchor.position(state));
                vertices.len() as u32 - 1
            }
        };
        let faces = scene.triangles.iter().map(|part| part.ends.iter().map(&mut corner).collect());
        let mut faces: Vec<Vec<u32>> = faces.collect();
        faces.extend(self.solid_faces.iter().map(|face| face.map(|n| n as u32).to_vec()));
        let sheet = Arc::new(Polyhedron::new(vertices, faces, true));
        let colour = match manner.tint {
            Tint::Uniform(colour) => colour,
            _ => PLAIN,
        };
        let instance = Instance {
            shape: list.shape(&sheet),
            pose: AffinePose::world(),
            colour,
            cut: None,
            look: BodyLook::Shaded,
            run: moment.run,
            body: scene.bodies.len() as u32,
        };
        list.instances.push(instance);
    }

    fn springs(&self, list: &mut DrawList, state: &State) {
        let towards = list.lens().towards;
        for spring in &self.scene.springs {
            let SpringKind::Linear { anchor_a, anchor_b, rest_length } = spring.kind else {
                continue;
            };
            let [a, b] = [(spring.a, anchor_a), (spring.b, anchor_b)]
                .map(|(end, local)| taut_core::scene::Anchor { end, local }.position(state));
            let strain = ((b - a).norm() - rest_length).abs() / rest_length;
            let colour = if strain.is_finite() { STRAIN.of(strain) } else { STEPS[2] };
            let points = if in_lattice(spring) { vec![a, b] } else { zigzag(a, b, towards) };
            let line = SpaceLine { points, width: 1.2, dash: &[], colour, layer: Layer::Among };
            list.lines.push(line);
        }
    }

    /// Joints that have come apart, and where joints hold on to the world.
    fn anchors(&self, list: &mut DrawList, manner: &Manner, state: &State) {
        let joints = self.scene.joints.iter().zip(&state.broken).filter(|(_, broken)| !**broken);
        for (joint, _) in joints {
            let [a, b] = anchors(joint, state);
            let dot = |at, radius, colour| SpaceDot { at, radius, colour, normal: None };
            if manner.gaps_m.is_some_and(|gap| {
                joint_error_m(self.scene, joint, state).is_some_and(|error| error > gap)
            }) {
                let points = vec![a, b];
                let layer = Layer::Above;
                list.lines.push(SpaceLine { points, width: 1.2, dash: &[], colour: GAP, layer });
                list.dots.extend([dot(a, 1.6, GAP), dot(b, 1.6, GAP)]);
            }
            for (end, at) in [(joint.a, a), (joint.b, b)] {
                if end == Endpoint::World {
                    list.dots.push(dot(at, 2.2, INK));
                }
            }
        }
    }
}

/// Half of what a camera sees in its longer direction, with some room [m].
fn reach(camera: &Camera, (width, height): (f64, f64)) -> f64 {
    let half = match camera.projection {
        Projection::Orthographic { height_m } => 0.5 * height_m,
        Projection::Perspective { fov_deg, distance_m } => {
            distance_m * (0.5 * fov_deg.to_radians()).tan()
        }
    };
    1.2 * half * (width / height).max(1.0)
}

/// Whether a spring is one of a body made of particles.
fn in_lattice(spring: &Spring) -> bool {
    let on_particle = |end: Endpoint| matches!(end, Endpoint::Particle(_));
    on_particle(spring.a) && on_particle(spring.b)
}

/// A spring as it is drawn on paper: straight ends, and teeth across the line of sight.
fn zigzag(a: Vec3, b: Vec3, towards: Vec3) -> Vec<Vec3> {
    const TEETH: u32 = 8;
    const WIDTH: f64 = 0.05;
    let along = b - a;
    let across = along.cross(&towards).try_normalize(1e-12).unwrap_or_default();
    let across = across * (WIDTH * along.norm());
    let at = |share: f64| a + along * share;
    let tooth = |i: u32| {
        let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        at(0.15 + 0.7 * (f64::from(i) + 0.5) / f64::from(TEETH)) + across * side
    };
    let teeth = (0..TEETH).map(tooth);
    [a, at(0.15)].into_iter().chain(teeth).chain([at(0.85), b]).collect()
}

fn touches(list: &mut DrawList, scene: &Scene, touches: &[Touch]) {
    let margin = scene.contacts.map_or(0.0, |contacts| contacts.margin);
    list.dots.extend(touches.iter().map(|touch| SpaceDot {
        at: touch.at,
        radius: 1.5,
        colour: if touch.depth > margin { GAP } else { INK },
        normal: Some(touch.normal),
    }));
}

/// Paths that fade towards their beginning.
fn trails(list: &mut DrawList, trails: &[Vec<Vec3>]) {
    const SHADES: usize = 5;
    for trail in trails {
        let segments = trail.len().saturating_sub(1);
        for shade in 0..SHADES {
            let (from, to) = (segments * shade / SHADES, segments * (shade + 1) / SHADES);
            if from == to {
                continue;
            }
            let fading = 0.8 * (1.0 - (shade + 1) as f64 / SHADES as f64);
            list.lines.push(SpaceLine {
                points: trail[from..=to].to_vec(),
                width: 1.2,
                dash: &[],
                colour: blend(FAINT_INK, list.background, fading),
                layer: Layer::Above,
            });
        }
    }
}
