//! A scene as flat lists: bodies with the range of their joints, and joints with their anchors.

use taut_core::{
    Mat3, Scene, State, Vec3,
    scene::{Endpoint, Motion},
};
use taut_descent::node::Base;
use taut_math::{Q4, Real, Sym3, V3};

/// What is true of a body in every step. The world is the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<R> {
    /// Inverse mass [1/kg]; zero for what forces do not move.
    pub(crate) inverse_mass: R,
    /// Inertia in body axes [kg m^2], and its inverse.
    pub(crate) inertia: Sym3<R>,
    pub(crate) inverse_inertia: Sym3<R>,
    /// Its range among the ends of joints; empty for what forces do not move.
    pub(crate) ends: [u32; 2],
    pub(crate) motion: Motion,
}

/// A ball joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint<R> {
    /// Bodies A and B.
    pub(crate) bodies: [u32; 2],
    /// Anchors in their coordinates [m].
    pub(crate) anchors: [V3<R>; 2],
    /// Whether it holds; a broken one exerts nothing.
    pub(crate) active: bool,
}

/// Bodies, joints, and which joints each body has.
#[derive(Clone, Debug)]
pub(crate) struct Model<R> {
    pub(crate) bodies: Vec<Body<R>>,
    pub(crate) joints: Vec<Joint<R>>,
    /// Ends of joints, body by body and in joint order: twice the joint, plus one for B.
    pub(crate) ends: Vec<u32>,
    pub(crate) gravity: V3<R>,
}

impl<R: Real> Model<R> {
    pub(crate) fn new(scene: &Scene) -> Self {
        let world = scene.bodies.len();
        let slot = |endpoint| match endpoint {
            Endpoint::Body(i) => i,
            Endpoint::World | Endpoint::Particle(_) => world,
        };
        let joint = |joint: &taut_core::scene::Joint| Joint {
            bodies: [joint.a, joint.b].map(|end| narrow(slot(end))),
            anchors: [V3::of(&joint.anchor_a), V3::of(&joint.anchor_b)],
            active: true,
        };
        let joints: Vec<Joint<R>> = scene.joints.iter().map(joint).collect();
        let mut bodies: Vec<Body<R>> = scene.bodies.iter().map(body).collect();
        bodies.push(Body {
            motion: Motion::Static,
            ..body(&taut_core::scene::Body::solid_box(Vec3::repeat(1.0), 0.0).fixed())
        });
        let ends = connect(&mut bodies, &joints);
        Self { bodies, joints, ends, gravity: V3::of(&scene.gravity) }
    }

    /// Bodies at rest at the origin, for all of them and the world.
    pub(crate) fn resting(&self) -> Vec<Base<R>> {
        vec![Base::resting(); self.bodies.len()]
    }

    /// Takes over motions and broken joints; the counts have been checked.
    pub(crate) fn load(&mut self, state: &State, bases: &mut [Base<R>]) {
        for (base, body) in bases.iter_mut().zip(&state.bodies) {
            base.load_body(body);
        }
        for (joint, &broken) in self.joints.iter_mut().zip(&state.broken) {
            joint.active = !broken;
        }
    }
}

/// How a body with a prescribed motion turns within a step of length `h` [s].
pub(crate) fn driven_turn<R: Real>(base: &Base<R>, h: R) -> Q4<R> {
    taut_model::driven_turn(base.omega.to_f64() * h.to_f64())
}

fn body<R: Real>(body: &taut_core::scene::Body) -> Body<R> {
    let dynamic = body.is_dynamic();
    let inertia = if dynamic { body.inertia } else { Mat3::zeros() };
    let inverse = inertia.try_inverse().unwrap_or_default();
    Body {
        inverse_mass: if dynamic { R::of(1.0 / body.mass) } else { R::ZERO },
        inertia: Sym3::of(&inertia),
        inverse_inertia: Sym3::of(&inverse),
        ends: [0, 0],
        motion: body.motion,
    }
}

/// The document's `compute_connectivity`: lists every joint with both bodies that it could move.
fn connect<R: Real>(bodies: &mut [Body<R>], joints: &[Joint<R>]) -> Vec<u32> {
    let sides = || {
        let both = |(l, joint): (usize, &Joint<R>)| {
            let [a, b] = joint.bodies;
            [(a, narrow(2 * l)), (b, narrow(2 * l + 1))]
        };
        joints.iter().enumerate().flat_map(both)
    };
    let mut counts = vec![0; bodies.len()];
    for (body, _) in sides() {
        counts[body as usize] += 1;
    }
    let mut total = 0;
    for (body, count) in bodies.iter_mut().zip(&counts) {
        let count = if body.motion == Motion::Dynamic { *count } else { 0 };
        body.ends = [total, total];
        total += count;
    }
    let mut ends = vec![0; total as usize];
    for (body, end) in sides() {
        let body = &mut bodies[body as usize];
        if body.motion == Motion::Dynamic {
            ends[body.ends[1] as usize] = end;
            body.ends[1] += 1;
        }
    }
    ends
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^31 bodies and joints")
}
