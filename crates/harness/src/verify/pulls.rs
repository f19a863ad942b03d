//! What pulls from outside do to bodies, and that without any nothing changes.

use taut_core::{Pull, Scene, State, Vec3, scene::Body, scene::Motion};

use super::{
    Property,
    contract::bitwise,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};
use crate::runner::advance;

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "pulls_move_bodies", scene: "free-boxes", test: moved },
    Property { name: "pulls_turn_bodies", scene: "free-boxes", test: turned },
    Property {
        name: "no_pulls_change_nothing",
        scene: "joint-zoo",
        test: |s| unchanged(s, &embedded("joint-zoo", &[])),
    },
    Property {
        name: "no_pulls_change_nothing",
        scene: "free-fall",
        test: |s| unchanged(s, &embedded("free-fall", &[])),
    },
];

/// Steps per frame at which an integrator of first order is good for one percent here.
const SUBSTEPS: u32 = 8;

/// [N]
const FORCE: Vec3 = Vec3::new(-60.0, 120.0, 90.0);

/// From the centre of the second box to where it is pulled [m]; along with `FORCE_ACROSS` it turns about z.
const ARM: Vec3 = Vec3::new(0.5, 0.0, 0.0);
/// [N]
const FORCE_ACROSS: Vec3 = Vec3::new(0.0, 20.0, 0.0);

/// Two unlike boxes without gravity, and one that moves as prescribed.
fn boxes() -> Scene {
    let mut scene = scenes::empty(0.0);
    for (i, size) in
        [Vec3::repeat(1.0), Vec3::new(1.0, 0.6, 0.4), Vec3::repeat(0.5)].iter().enumerate()
    {
        let place = Vec3::new(0.0, 0.0, 2.0 * i as f64);
        scene.bodies.push(Body::solid_box(*size, 100.0).at(place));
    }
    scene.bodies[2].motion = Motion::Kinematic;
    scene
}

/// Runs the boxes for a second, all of them pulled, the last of them by far the hardest.
fn pulled(subject: &Subject<'_>, scene: &Scene, plan: Plan) -> Result<State, Stop> {
    let mut solver = subject.build(scene)?;
    let mut state = scene.initial_state();
    for _ in 0..plan.frames * plan.substeps {
        let [one, other, driven] = [0, 1, 2].map(|body| state.bodies[body].position);
        let taken = solver.set_pulls(&[
            Pull { body: 0, point: one, force: FORCE },
            Pull { body: 1, point: other + ARM, force: FORCE_ACROSS },
            Pull { body: 2, point: driven, force: 1e6 * FORCE },
            Pull { body: scene.bodies.len(), point: one, force: FORCE },
        ]);
        if !taken {
            return Err(Stop::Skip("it cannot be pulled".to_owned()));
        }
        advance(&mut *solver, plan.step(scene))?;
        solver.read(&mut state)?;
    }
    ensure(state.is_finite(), || "not finite".to_owned())?;
    Ok(state)
}

/// A body pulled at its centre follows `x = F t^2 / 2 m`, or is where Euler's methods put it, `F t h / 2 m`
/// further; a driven one does not care.
fn moved(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = boxes();
    let allowed = subject.allowed("pulls_move_bodies", 1e-7);
    for substeps in [1, SUBSTEPS] {
        let plan = Plan::new(60, 4).substeps(substeps);
        let end = pulled(subject, &scene, plan)?;
        let (t, acceleration) = (60.0 * scene.dt, FORCE / scene.bodies[0].mass);
        let exact = acceleration * (0.5 * t * t);
        let late = acceleration * (0.5 * t * subject.integrated(&scene, plan)?);
        let found = end.bodies[0].position;
        let off = (found - exact).norm().min((found - exact - late).norm());
        ensure(off < allowed, || format!("{off:.2e} m off with {substeps} steps a frame"))?;
        let off = (end.bodies[0].velocity - acceleration * t).norm();
        ensure(off < allowed, || format!("{off:.2e} m/s too fast or slow"))?;
        let spin = end.bodies[0].omega().norm();
        ensure(spin < allowed, || format!("a pull at the centre turns it by {spin:.2e} rad/s"))?;
        let strayed = (end.bodies[2].position - scene.bodies[2].position).norm();
        ensure(strayed == 0.0, || format!("a driven body moves by {strayed:.2e} m"))?;
    }
    Ok(())
}

/// A body pulled beside its centre goes along as far, and turns by `T t^2 / 2 I` about the axis of the torque,
/// within one percent.
fn turned(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = boxes();
    let end = pulled(subject, &scene, Plan::new(60, 4).substeps(SUBSTEPS))?;
    let (body, t) = (&scene.bodies[1], 60.0 * scene.dt);
    let torque = ARM.cross(&FORCE_ACROSS);
    let expected = torque * (0.5 * t * t / body.inertia.m33);
    let found = end.bodies[1].rotation().scaled_axis();
    let off = (found - expected).norm() / expected.norm();
    ensure(off < 0.01, || {
        format!("turns by {:.4} rad about z, {:.4} expected", found.z, expected.z)
    })?;
    let expected = FORCE_ACROSS * (0.5 * t * t / body.mass);
    let off = (end.bodies[1].position - body.position - expected).norm() / expected.norm();
    ensure(off < 0.01, || format!("moves {:.2} % off", 100.0 * off))
}

/// No pulls are as good as none ever set, as are some that were taken back or forgotten with the state.
fn unchanged(subject: &Subject<'_>, scene: &Scene) -> Result<(), Stop> {
    bitwise(subject)?;
    let plan = Plan::new(6, 5);
    let never = subject.end(scene, plan)?.hash();
    let pull = Pull { body: 0, point: Vec3::x(), force: FORCE };
    let mut solver = subject.build(scene)?;
    if !solver.set_pulls(&[]) {
        return Err(Stop::Skip("it cannot be pulled".to_owned()));
    }
    let mut state = State::default();
    for (case, before) in [("empty", None), ("taken back", Some(pull)), ("forgotten", None)] {
        solver.load(&scene.initial_state())?;
        for _ in 0..plan.frames {
            before.iter().for_each(|&pull| _ = solver.set_pulls(&[pull]));
            if case != "forgotten" {
                solver.set_pulls(&[]);
            }
            advance(&mut *solver, plan.step(scene))?;
        }
        solver.read(&mut state)?;
        ensure(state.hash() == never, || format!("pulls that are {case} change the run"))?;
        solver.set_pulls(&[pull]);
        advance(&mut *solver, plan.step(scene))?;
    }
    Ok(())
}
