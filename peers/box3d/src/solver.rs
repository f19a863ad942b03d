//! One scene: a state is loaded into a world made anew, since nothing else forgets what contacts and joints remember.

use box3d_sys as b3;
use serde_json::{Value, json};

use crate::{
    audit::audit,
    model::Model,
    scene::{Motion, Scene},
    settings::Settings,
    vector::{from_quat, from_vec3},
    wire::{BodyState, Refusal},
};

pub(crate) struct Solver {
    scene: Scene,
    settings: Settings,
    model: Model,
    loaded: Vec<BodyState>,
}

const TAKES: &[&str] = &[
    "body.dynamic",
    "body.static",
    "body.kinematic",
    "joint.ball",
    "joint.hinge",
    "joint.prismatic",
    "joint.fixed",
    "joint.distance",
    "joint.limit",
    "joint.motor",
    "joint.damping",
    "joint.loop",
    "spring.linear",
    "spring.damping",
    "contact",
    "contact.restitution",
    "contact.groups",
    "shape.box",
    "shape.sphere",
    "shape.capsule",
    "shape.cylinder",
    "shape.hull",
    "shape.compound",
    "shape.half_space",
];

impl Solver {
    pub(crate) fn hello() -> Value {
        // SAFETY: the function has no arguments and reads constants.
        let version = unsafe { b3::b3GetVersion() };
        json!({
            "protocol": 1,
            "name": "box3d",
            "version": format!("{}.{}.{}", version.major, version.minor, version.revision),
            "summary": "Box3D: soft constraints by impulses, one sweep and one without bias in each sub-step",
            "reference": "Catto: Solver2D (2024), https://box2d.org/posts/2024/02/solver2d/",
            "iteration": "substep",
            "determinism": "bitwise",
            "state": "rigid",
            "contacts": "own",
            "audit": true,
            "takes": TAKES,
            "settings": Settings::default().told(),
        })
    }

    pub(crate) fn new(scene: Scene, settings: Settings) -> Result<Self, Refusal> {
        let loaded: Vec<BodyState> = scene.bodies.iter().map(crate::scene::Body::start).collect();
        let model = Model::new(&scene, &settings, &loaded, &[])?;
        Ok(Self { scene, settings, model, loaded })
    }

    pub(crate) fn bodies(&self) -> usize {
        self.scene.bodies.len()
    }

    pub(crate) fn load(&mut self, bodies: Vec<BodyState>, broken: &[usize]) -> Result<(), Refusal> {
        if let Some(i) = bodies.iter().position(|body| body.iter().any(|x| !x.is_finite())) {
            return Err(Refusal::new("state", format!("body {i} is not finite")));
        }
        self.model = Model::new(&self.scene, &self.settings, &bodies, broken)?;
        self.loaded = bodies;
        Ok(())
    }

    pub(crate) fn step(&mut self, dt: f64, iterations: i32) {
        self.model.springs.iter().for_each(crate::springs::Spring::tune);
        // SAFETY: the world lives as long as the model.
        unsafe { b3::b3World_Step(self.model.world.id, dt as f32, iterations) };
    }

    pub(crate) fn read(&self) -> Vec<BodyState> {
        let mut out = self.loaded.clone();
        let bodies = self.scene.bodies.iter().zip(&self.model.bodies);
        for (told, (body, &id)) in out.iter_mut().zip(bodies) {
            // What never moves is told as it was loaded.
            if body.motion == Motion::Static {
                continue;
            }
            // SAFETY: the body lives as long as the model; its origin is its centre of mass.
            let (x, q, v, w) = unsafe {
                (
                    b3::b3Body_GetPosition(id),
                    b3::b3Body_GetRotation(id),
                    b3::b3Body_GetLinearVelocity(id),
                    b3::b3Body_GetAngularVelocity(id),
                )
            };
            told[0..3].copy_from_slice(&[x.x, x.y, x.z].map(f64::from));
            told[3..7].copy_from_slice(&from_quat(q));
            told[7..10].copy_from_slice(&from_vec3(v));
            told[10..13].copy_from_slice(&from_vec3(w));
        }
        out
    }

    pub(crate) fn audit(&self) -> Value {
        audit(&self.model)
    }
}
