//! A scene as a world of Box3D.

use box3d_sys as b3;

use crate::{
    joints,
    scene::{Body, End, Motion, Scene},
    settings::Settings,
    shapes,
    springs::Spring,
    vector::{Vector, to_matrix, to_quat, to_vec3},
    wire::{BodyState, Refusal},
};

/// A world of the engine, destroyed with all that is in it.
pub(crate) struct World {
    pub(crate) id: b3::b3WorldId,
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: the world was created by `World::new` and is destroyed once.
        unsafe { b3::b3DestroyWorld(self.id) };
    }
}

impl World {
    fn new(gravity: Vector, settings: &Settings) -> Self {
        // SAFETY: the definition is the engine's own, filled with plain numbers.
        unsafe {
            let mut def = b3::b3DefaultWorldDef();
            def.gravity = to_vec3(gravity);
            def.contactHertz = settings.contact_hertz as f32;
            def.contactDampingRatio = settings.contact_damping as f32;
            def.contactSpeed = settings.contact_speed as f32;
            def.enableContinuous = settings.continuous;
            // The scene's meaning, whatever the preset.
            def.maximumLinearSpeed = f32::MAX;
            def.restitutionThreshold = 0.0;
            def.enableSleep = false;
            def.workerCount = 1;
            let id = b3::b3CreateWorld(&raw const def);
            b3::b3World_SetContactRecycleDistance(id, settings.recycle_m as f32);
            Self { id }
        }
    }
}

/// What was built of a scene, by its indices.
pub(crate) struct Model {
    pub(crate) bodies: Vec<b3::b3BodyId>,
    /// None where it is broken.
    pub(crate) joints: Vec<Option<b3::b3JointId>>,
    pub(crate) springs: Vec<Spring>,
    pub(crate) world: World,
}

impl Model {
    pub(crate) fn new(
        scene: &Scene,
        settings: &Settings,
        state: &[BodyState],
        broken: &[usize],
    ) -> Result<Self, Refusal> {
        let world = World::new(scene.gravity, settings);
        let added = scene.bodies.iter().zip(state).map(|(body, at)| add_body(&world, body, at));
        let bodies: Vec<_> = added.collect();
        for (i, (body, &id)) in scene.bodies.iter().zip(&bodies).enumerate() {
            if scene.contacts.is_some() {
                shapes::add(id, body, settings)
                    .map_err(|why| Refusal::unsupported(format!("body {i} {why}")))?;
            }
            if body.motion == Motion::Dynamic {
                weigh(id, body);
            }
        }
        let mut model = Self { bodies, joints: Vec::new(), springs: Vec::new(), world };
        let ground = model.ground();
        for (k, joint) in scene.joints.iter().enumerate() {
            let made = if broken.contains(&k) {
                None
            } else {
                let ends = [model.end(joint.a, ground)?, model.end(joint.b, ground)?];
                let made = joints::add(model.world.id, joint, ends, settings);
                Some(made.map_err(|why| Refusal::unsupported(format!("joint {k} {why}")))?)
            };
            model.joints.push(made);
        }
        for (k, spring) in scene.springs.iter().enumerate() {
            let ends = [model.end(spring.a, ground)?, model.end(spring.b, ground)?];
            let made = Spring::add(model.world.id, spring, ends)
                .map_err(|why| Refusal::unsupported(format!("spring {k} {why}")))?;
            model.springs.push(made);
        }
        Ok(model)
    }

    /// What joints to the world hold on to: a body without shapes that never moves, at the origin.
    fn ground(&self) -> b3::b3BodyId {
        // SAFETY: the world lives as long as the model, and the definition is the engine's own.
        unsafe {
            let def = b3::b3DefaultBodyDef();
            b3::b3CreateBody(self.world.id, &raw const def)
        }
    }

    fn end(&self, end: End, ground: b3::b3BodyId) -> Result<b3::b3BodyId, Refusal> {
        match end {
            End::World => Ok(ground),
            End::Body(i) => Ok(self.bodies[i]),
            End::Particle(i) => {
                Err(Refusal::unsupported(format!("particle {i} is held by a joint")))
            }
        }
    }
}

/// Its origin is its centre of mass, as in the scene.
fn add_body(world: &World, body: &Body, state: &BodyState) -> b3::b3BodyId {
    let three = |k: usize| to_vec3([state[k], state[k + 1], state[k + 2]]);
    // SAFETY: the world lives as long as its model, and the definition is the engine's own.
    unsafe {
        let mut def = b3::b3DefaultBodyDef();
        def.type_ = match body.motion {
            Motion::Dynamic => b3::b3BodyType_b3_dynamicBody,
            Motion::Static => b3::b3BodyType_b3_staticBody,
            Motion::Kinematic => b3::b3BodyType_b3_kinematicBody,
        };
        let x = three(0);
        def.position = b3::b3Pos { x: x.x, y: x.y, z: x.z };
        def.rotation = to_quat([state[3], state[4], state[5], state[6]]);
        if body.motion != Motion::Static {
            def.linearVelocity = three(7);
            def.angularVelocity = three(10);
        }
        // Else it may turn by no more than an eighth of a turn in a step.
        def.allowFastRotation = true;
        def.enableSleep = false;
        b3::b3CreateBody(world.id, &raw const def)
    }
}

/// Mass and inertia are those of the scene, not of the shapes.
fn weigh(id: b3::b3BodyId, body: &Body) {
    let data = b3::b3MassData {
        mass: body.mass_kg as f32,
        center: to_vec3([0.0; 3]),
        inertia: to_matrix(&body.inertia_kg_m2),
    };
    // SAFETY: the body was created by the caller.
    unsafe { b3::b3Body_SetMassData(id, data) };
}
