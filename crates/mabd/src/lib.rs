//! Affine bodies that rotate with themselves, held together by a dual solve of all joints at once
//! (He et al., M-ABD, arXiv 2603.08079, 2026).
//!
//! A body is an affine map `x = A X + t`, elastic or in the limit of rigid ones. A step is one
//! linearised solve of implicit Euler: each body's 12x12 matrix, co-rotated, is constant and has a
//! closed inverse (Eq. 13 to 16); joints are rows `C` of the maps, and their forces solve
//! `G H^-1 G^T lambda = G H^-1 r + C` (Eq. 26 to 28), by block elimination along chains and trees, or
//! by other means for graphs with loops. By default a step is *one* such solve from the start of the
//! step, and frames stay as they come out: that keeps steady spin exactly, whereas more iterations
//! converge to implicit Euler, which damps it. Departures:
//! - Tension stiffens: the literal method has no geometric stiffness and blows up where
//!   `12 h^2 tension / (mass length) > 4`. Here the joint forces of the solve before add, along each
//!   principal axis, what they exceed a share of the inertia by ([`Geometric`]).
//! - The elastic load enters as the strain that it would undo, so that stiff and rigid bodies are one
//!   formula without cancellation.
//! - `-C` stands on the right-hand side, unless `feedback` is off, and gradients of joint rows are exact.
//! - Trees are eliminated joint by joint, not body by body: the paper's ABD-ABA (Alg. 2) condenses links as if
//!   they could not strain and hands them to parents whose frames differ, so its forces are not those of the
//!   system. It is there as `dual: aba_printed`, to show by how much.
//! - Where joints close loops, bodies stated as rigid are a billionth as soft as their inertia lets them be in
//!   a step (`rigid_softness`): forces in taut nets of strictly rigid bodies have no bound.
//! - A step in which turning stretches a body by more than `stretch_limit` is made again in shorter parts, by implicit
//!   Euler only where eight, or 32 beside contacts, do not do; how many solves that took is reported as the
//!   iterations used. Joints exert, and break by, what they do on average over the step; contact forces are told of the last part.
//! - What has sunk in is pushed out at `push_speed_max` at most: all at once, a bar that another has hit faster than
//!   its thickness per step would be thrown off.
//! - With `spin: arc` bodies that turn fast are predicted along the arc of their own spin, not along its tangent; beside
//!   contacts, what a solve turns them beyond is where it is made again about, with the contacts added that bodies come to
//!   by then, if they have sunk in there by more than a tenth of the distance from their centres.
//! - Contacts are an implicit penalty with Coulomb friction, whose springs last from step to step: folded into the body's own inverse where the other
//!   side does not move, which leaves chains and trees what they are. With contacts between bodies, each island
//!   is one sparse system of what touches and all joints, whatever `dual` says.
//! - Elastic material between particles (the paper's Fig. 18 has it without telling how) is solved for beside the bodies, by
//!   Newton's method on implicit Euler from where the step starts: the nodes it holds stay with what touches in the
//!   sparse systems of islands, the energy's second derivatives made positive element by element, and contacts and
//!   local matrices are renewed in every iteration. The same is done where particles touch.
//! - Chains of ball joints, and trees of them with angular springs, are solved four bodies at a time and on as many
//!   threads as there are, and so are islands of what touches; the bits do not depend on either. Other graphs of ball
//!   joints have bodies four at a time, too.
//! - Springs, compliant joints, dampers, limits and motors are rows with a compliance or bounded multipliers. Beside
//!   contacts limits and motors are springs a thousand times as stiff as these.
//!
//! A step whose bodies turn by much more than a tenth of a radian shows that much: frames stretch by
//! half its square, and joints other than balls part by as much of an angle.

mod affine;
mod algebra;
mod body;
mod chain;
mod contact;
mod cpu;
mod dual;
mod elastic;
mod free;
mod graph;
mod joint;
mod lane;
mod local;
mod node;
mod pages;
mod polar;
mod pulled;
mod settings;
mod simd;
mod system;
mod trees;

use taut_core::{
    Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver, Unsupported,
    constraint::locked_rows,
    scene::{Endpoint, SpringKind},
};

pub use settings::{Dual, Geometric, Integrator, MabdSettings, Polar};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "mabd-cpu",
        "co-rotated affine bodies: one linearised step, joint forces by a direct dual solve",
        "He, Guo, Guo, Zhao, Matusik, Su, Jiang, Chen, Yang, M-ABD, arXiv 2603.08079, 2026; \
         with geometric stiffness, exact gradients and a watchdog over stretch",
    ),
    takes: Needs::MULTIBODY
        .without(Needs::RESTITUTION)
        .with(Needs::ENERGIES.without(Needs::MATERIAL_DAMPING))
        .with(Needs::TOUCHING_PARTICLES)
        .with(Needs::TIMED)
        .with(Needs::DAMPING),
    refuses,
    build,
};

fn refuses(scene: &Scene) -> Result<(), Unsupported> {
    let refuse = |why: String| Err(Unsupported(why));
    for body in scene.bodies.iter().filter(|body| body.is_dynamic()) {
        if let Err(why) = body::BodyKind::of(body) {
            return refuse(why);
        }
    }
    let particle = |e| matches!(e, Endpoint::Particle(_));
    for joint in &scene.joints {
        let turns = locked_rows(joint).any(|(kind, _)| kind.is_angular());
        if turns && (particle(joint.a) || particle(joint.b)) {
            return refuse(format!("joint `{}` locks the rotation of a particle", joint.name));
        }
    }
    for spring in &scene.springs {
        let turns = matches!(spring.kind, SpringKind::Angular { .. });
        if turns && (particle(spring.a) || particle(spring.b)) {
            return refuse(format!("spring `{}` turns a particle", spring.name));
        }
    }
    elastic::unsupported(scene).map_or(Ok(()), refuse)
}

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let settings: MabdSettings = settings.parse()?;
    settings.check()?;
    BACKEND.supports(scene)?;
    simd::found().map_err(BuildError::NoDevice)?;
    let solver = cpu::Mabd::new(scene, settings).map_err(BuildError::Settings)?;
    Ok(Box::new(solver))
}
