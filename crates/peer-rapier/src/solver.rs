//! The solver, compiled once for each precision: `super` says which Rapier and which number.

#[path = "audit.rs"]
mod audit;
#[path = "convert.rs"]
mod convert;
#[path = "joint.rs"]
mod joint;
#[path = "parameters.rs"]
mod parameters;
#[path = "shape.rs"]
mod shape;

use taut_core::{
    AuditFacts, BuildError, Devices, Iteration, Pull, Scene, Settings, Solver, SolverError, Stage,
    StageTime, State, Step, Unsupported,
    scene::{Body, Motion},
    state::BodyState,
};
use taut_model::Slots;

use self::{
    convert::{rotation_out, vector, vector_out},
    shape::Piece,
};
use super::{
    rapier::{
        dynamics::{
            CoefficientCombineRule, ImpulseJointHandle, MassProperties, RigidBodyBuilder,
            RigidBodyHandle,
        },
        geometry::{ColliderBuilder, Group, InteractionGroups, InteractionTestMode},
        math::{Matrix, Real},
        pipeline::PhysicsWorld,
    },
    real,
};
use crate::{
    RapierSettings, TAKES,
    supports::{check, groups},
};

/// Refuses what Rapier cannot express.
pub(crate) fn refuses(scene: &Scene) -> Result<(), Unsupported> {
    check(scene)?;
    pieces(scene).map(|_| ())
}

/// Makes a solver.
pub(crate) fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let settings: RapierSettings = settings.parse()?;
    settings.check()?;
    TAKES.refuse(scene)?;
    check(scene)?;
    let mut solver = Rapier {
        pieces: pieces(scene)?,
        groups: groups(scene),
        slots: Slots::new(scene),
        scene: scene.clone(),
        settings,
        world: PhysicsWorld::new(),
        bodies: Vec::new(),
        joints: Vec::new(),
        facts: AuditFacts::default(),
        state: State::default(),
        pulls: Vec::new(),
        step: Step { dt: 0.0, iterations: 1 },
        pending: 0,
        collide_s: Vec::new(),
    };
    solver.load(&scene.initial_state())?;
    solver.audited()?;
    Ok(Box::new(solver))
}

/// What each body consists of; nothing where bodies pass through each other.
fn pieces(scene: &Scene) -> Result<Vec<Vec<Piece>>, Unsupported> {
    let named = |(i, body): (usize, &Body)| {
        shape::pieces(&body.shape).map_err(|reason| Unsupported(format!("body {i} {reason}")))
    };
    match scene.contacts {
        Some(_) => scene.bodies.iter().enumerate().map(named).collect(),
        None => Ok(vec![Vec::new(); scene.bodies.len()]),
    }
}

struct Rapier {
    scene: Scene,
    settings: RapierSettings,
    pieces: Vec<Vec<Piece>>,
    /// Sorted; the place of a group is its bit.
    groups: Vec<u32>,
    world: PhysicsWorld,
    slots: Slots,
    /// By slot: of each body, and last of the world, which joints may hold on to.
    bodies: Vec<RigidBodyHandle>,
    /// Joints of the scene that are not broken.
    joints: Vec<ImpulseJointHandle>,
    facts: AuditFacts,
    /// The state after the last step, or as loaded.
    state: State,
    pulls: Vec<Pull>,
    step: Step,
    /// How many iterations the step still owes.
    pending: u32,
    /// Time that Rapier spent on collision detection in each step since it was asked [s].
    collide_s: Vec<f64>,
}

impl Rapier {
    fn insert_bodies(&mut self) {
        self.bodies.clear();
        for (i, (body, motion)) in self.scene.bodies.iter().zip(&self.state.bodies).enumerate() {
            let handle = self.world.insert_body(rigid_body(body, motion));
            self.bodies.push(handle);
            for piece in &self.pieces[i] {
                let material = &body.material;
                let collider = ColliderBuilder::new(piece.shape.clone())
                    .position(piece.pose)
                    .density(0.0)
                    .friction(real(material.friction_dynamic))
                    .friction_combine_rule(CoefficientCombineRule::GeometricMean)
                    .restitution(real(material.restitution))
                    .restitution_combine_rule(CoefficientCombineRule::Max)
                    .collision_groups(self.interactions(body.group));
                self.world.insert_collider(collider, Some(handle));
            }
        }
        self.bodies.push(self.world.insert_body(RigidBodyBuilder::fixed()));
    }

    /// Everything touches everything, but not the bodies of its own group.
    fn interactions(&self, group: Option<u32>) -> InteractionGroups {
        let place = group.and_then(|group| self.groups.binary_search(&group).ok());
        match place {
            Some(place) => {
                let own = Group::from_bits_retain(1 << place);
                InteractionGroups::new(own, !own, InteractionTestMode::And)
            }
            None => InteractionGroups::all(),
        }
    }

    /// Compares what the world holds with the scene, and makes it anew.
    fn audited(&mut self) -> Result<(), SolverError> {
        parameters::apply(self.settings, 1.0, &mut self.world.integration_parameters);
        let compiled = audit::compiled(&mut self.world, &self.bodies, &self.joints);
        let known = audit::deviations();
        let mut facts = compiled.agree(&self.scene, &known).map_err(SolverError::Audit)?;
        facts.effective = audit::in_force(&self.world.integration_parameters);
        self.facts = facts;
        self.load(&self.scene.initial_state())
    }

    fn insert_joints(&mut self) {
        self.joints.clear();
        let end = |end| self.bodies[self.slots.of(end) as usize];
        let held = self.scene.joints.iter().zip(&self.state.broken).filter(|(_, broken)| !**broken);
        for (held, _) in held {
            let [a, b] = [held.a, held.b].map(end);
            self.joints.push(self.world.insert_impulse_joint(a, b, joint::joint(held)));
        }
        for spring in &self.scene.springs {
            let [a, b] = [spring.a, spring.b].map(end);
            if let Some(made) = joint::spring(spring) {
                self.world.insert_impulse_joint(a, b, made);
            }
        }
    }

    /// Makes the whole step and takes the state.
    fn advance(&mut self) {
        self.pending = 0;
        let parameters = &mut self.world.integration_parameters;
        parameters.dt = real(self.step.dt);
        parameters.num_solver_iterations = self.step.iterations.max(1) as usize;
        let bodies = self.scene.bodies.len();
        let pulled = || self.pulls.iter().filter(|pull| pull.body < bodies);
        for pull in pulled() {
            let body = &mut self.world.bodies[self.bodies[pull.body]];
            // Its own centre of mass in the world is not known to a body before the first step.
            let torque = pull.torque(&self.state.bodies[pull.body].position);
            body.add_force(vector(&pull.force), true);
            body.add_torque(vector(&torque), true);
        }
        self.world.step();
        // The engine's forces last until they are reset.
        for pull in pulled() {
            let body = &mut self.world.bodies[self.bodies[pull.body]];
            body.reset_forces(true);
            body.reset_torques(true);
        }
        let stages = &self.world.physics_pipeline.counters.stages;
        self.collide_s.push(stages.collision_detection_time.time().as_secs_f64());
        for (handle, out) in self.bodies.iter().zip(&mut self.state.bodies) {
            let body = &self.world.bodies[*handle];
            *out = BodyState::rigid(
                vector_out(body.translation()),
                rotation_out(body.rotation()),
                vector_out(body.linvel()),
                vector_out(body.angvel()),
            );
        }
    }
}

fn rigid_body(body: &Body, motion: &BodyState) -> RigidBodyBuilder {
    let builder = match body.motion {
        Motion::Dynamic => {
            let i = body.inertia.map(real);
            let [x, y, z] = [0, 1, 2].map(|c| [i[(0, c)], i[(1, c)], i[(2, c)]]);
            let inertia = Matrix::from_cols_array_2d(&[x, y, z]);
            let mass = MassProperties::with_inertia_matrix(
                vector(&taut_core::Vec3::zeros()),
                real(body.mass),
                inertia,
            );
            RigidBodyBuilder::dynamic().additional_mass_properties(mass)
        }
        Motion::Static => return RigidBodyBuilder::fixed().pose(convert::pose_of(motion)),
        Motion::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
    };
    builder
        .pose(convert::pose_of(motion))
        .linvel(vector(&motion.velocity))
        .angvel(vector(&motion.omega()))
        .can_sleep(false)
        .allow_fast_rotation(true)
}

impl Solver for Rapier {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.state.clone_from(state);
        self.pulls.clear();
        self.world = PhysicsWorld::new();
        self.world.gravity = vector(&self.scene.gravity);
        // The scene bounds no speed; the engine's own word for that.
        self.world.integration_parameters.normalized_max_linear_velocity = Real::MAX;
        self.insert_bodies();
        self.insert_joints();
        self.pending = 0;
        self.collide_s.clear();
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.step = step;
        self.pending = step.iterations.max(1);
        let h = step.dt / f64::from(self.pending);
        parameters::apply(self.settings, h, &mut self.world.integration_parameters);
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        match self.pending {
            0 => {}
            1 => self.advance(),
            _ => self.pending -= 1,
        }
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.pending > 0 {
            self.advance();
        }
        self.state.time_s += self.step.dt;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.pulls.clear();
        self.pulls.extend_from_slice(pulls);
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        let time = |seconds| StageTime { stage: Stage::Collide, pass: "collide", seconds };
        out.extend(self.collide_s.drain(..).map(time));
    }

    fn iteration(&self) -> Iteration {
        Iteration::Substep
    }

    fn audit(&self) -> Option<AuditFacts> {
        Some(self.facts.clone())
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings.resolved()).unwrap_or_default()
    }
}
