//! Affine body dynamics as first published: the slow baseline that co-rotated variants are measured against.
//!
//! A body is an affine map `x = A X + t` of twelve numbers `q`, the columns of `A` and then `t`, so that
//! every point is linear in them: four control points move a whole embedded mesh ([`EmbeddedMesh`]). A step of
//! implicit Euler minimises
//!
//! ```text
//!   E(q) = |q - q_n - h q'_n - h^2 g|_M^2 / (2 h^2)  +  sum kappa V |A A^T - 1|^2  +  sum k/2 |x_a - x_b|^2
//! ```
//!
//! by Newton's method with a line search. The second term makes a body nearly rigid; because its Hessian
//! follows the body's turns, the system is assembled and factorised anew in every iteration, and where it
//! is not positive definite the Hessian of each body is projected. Joints are coinciding points, linear
//! in `q`, held by a penalty: one for a ball joint, two for a hinge, four for a weld. They therefore give
//! way a little, by the load over the stiffness.
//!
//! Implicit Euler on affine coordinates damps rotation: a spin `w` loses `h w^2` of itself per second, twice as
//! much as a rigid body would.
//!
//! A body may be a closed mesh of any number of triangles: nothing in a step looks at those that nothing comes near.
//!
//! Contact is an incremental potential (`contact: ipc`): a barrier between the polygonal surfaces and lagged friction
//! are more terms of `E`, and no first guess or Newton step goes farther along its straight line than surfaces stay
//! apart. So no state that is ever accepted has an intersection, whatever the step and the speeds are. The barrier begins at the
//! scene's contact margin, `d_hat`, and its stiffness follows from masses and lengths. Surfaces that touch at the start
//! are refused, and so is restitution. Friction has one coefficient, the dynamic one, with normal forces of the step's start
//! (`friction_lags` renews them); below a small speed it is smooth, so that what rests creeps. A step that has not
//! converged when its iterations are used up is as free of intersections as any other. Driven bodies are held up by what
//! does not give way.
//!
//! Two things depart from the sources. The stiffness of the barrier is the least that their rule allows (`stiffness:
//! balanced` is the rule): raised while the barrier is strained, it brings energy in. And the search for the end of a step
//! begins where inertia takes bodies, as far as that is not above the step's start, where the search of IPC begins; of gravity
//! it takes that share which a body followed in the step before (`first_guess: inertia` takes all, however high it leads):
//! where much rests, that saves four of five iterations. Islands, bodies that touch or are joined with each other and no
//! others, go as far along each direction as they can, settle by themselves, and take no part in the later iterations of a
//! step.
//!
//! With `hessian: kept`, off unless asked for, steps that are short beside the barrier's reach use the factor of an earlier
//! iterate for as long as they shrink fast: what rests then is seldom factorised at all. Steps end by the same lengths, but
//! where several minima are as good as each other, as when cubes land flat, another of them may be found.
//!
//! Sources: Lan et al., "Affine Body Dynamics" (SIGGRAPH 2022), for the energy; Chen et al., "A Unified
//! Newton Barrier Method for Multibody Dynamics" (SIGGRAPH 2022), for the joints, without their change
//! of variables; Li et al., "Incremental Potential Contact" (SIGGRAPH 2020), Ferguson et al., "Intersection-free
//! Rigid Body Dynamics" (SIGGRAPH 2021) and Li et al., "Codimensional Incremental Potential Contact" (SIGGRAPH 2021) for
//! contact. `iterate` is one Newton iteration, and does nothing once converged.

mod body;
mod contact;
mod control;
mod energy;
mod islands;
mod joint;
mod matrix;
mod settings;
mod solver;
#[cfg(test)]
mod solver_tests;
mod warnings;

pub use control::{ControlTetrahedron, EmbeddedMesh};
pub use settings::{
    AbdSettings, ContactModel, FirstGuess, HessianProjection, HessianUse, StiffnessRule,
};
use solver::Abd;
use taut_collide::{Surface, SurfaceProbe};
use taut_core::{
    Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver, Unsupported,
    scene::{Body, JointKind, Motion, Shape},
};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "abd-cpu",
        "affine bodies with an orthogonality energy, full Newton, penalty joints and barrier contact",
        "Lan et al., Affine Body Dynamics (SIGGRAPH 2022); joints as penalties, contact as in IPC (2020)",
    )
    .promising_no_intersection(),
    takes: Needs::POINTS
        .with(Needs::DOTS)
        .with(Needs::TWISTS)
        .with(Needs::DRIVEN)
        .with(Needs::PATHS)
        .with(Needs::CONTACTS)
        .with(Needs::DYNAMIC_MESHES),
    refuses,
    build,
};

/// Share of the margin below which surfaces touch at the start: no barrier begins there, and rounding does.
const TOUCHING: f64 = 1e-6;

/// Features are counted by numbers of 32 bits.
const FEATURES_MAX: u64 = 1 << 31;

fn refuses(scene: &Scene) -> Result<(), Unsupported> {
    let made_of_points =
        |kind| matches!(kind, JointKind::Ball | JointKind::Hinge | JointKind::Fixed);
    if let Some(i) = scene.joints.iter().position(|joint| !made_of_points(joint.kind)) {
        return Err(Unsupported(format!("joint {i} is not made of coinciding points")));
    }
    let drives =
        |body: &Body| body.motion == Motion::Kinematic && matches!(body.shape, Shape::HalfSpace);
    if scene.contacts.is_none() {
        return Ok(());
    }
    if let Some(i) = scene.bodies.iter().position(drives) {
        return Err(Unsupported(format!("body {i} is a half-space that moves; make it a box")));
    }
    check_count(scene.bodies.iter().map(|body| features(&body.shape)).sum())?;
    check_gaps(scene, Surface::SEGMENTS)
}

/// Refuses a scene in which surfaces of so many sides touch when it begins.
fn check_gaps(scene: &Scene, segments: u32) -> Result<(), Unsupported> {
    let touching = touching_at_start(scene, segments);
    if touching.is_empty() {
        return Ok(());
    }
    let name = |body: u32| match &scene.bodies[body as usize].name {
        name if name.is_empty() => format!("body {body}"),
        name => format!("\"{name}\""),
    };
    let pairs: Vec<String> = touching.iter().map(|pair| pair.map(name).join(" and ")).collect();
    Err(Unsupported(format!(
        "surfaces touch or intersect at the start, such as {}; open the gap, which no barrier can",
        pairs.join(", "),
    )))
}

/// Vertices, edges and triangles of a mesh, if it is closed.
fn features(shape: &Shape) -> u64 {
    match shape {
        Shape::Mesh { vertices, triangles, .. } => {
            (vertices.len() + triangles.len() * 5 / 2) as u64
        }
        _ => 0,
    }
}

fn check_count(features: u64) -> Result<(), Unsupported> {
    if features <= FEATURES_MAX {
        return Ok(());
    }
    Err(Unsupported(format!(
        "meshes of {features} vertices, edges and triangles, more than the {FEATURES_MAX} that can be told apart; make \
         them coarser"
    )))
}

/// Pairs of bodies whose surfaces touch or intersect when a scene begins: the first three.
fn touching_at_start(scene: &Scene, segments: u32) -> Vec<[u32; 2]> {
    let near = TOUCHING * scene.contacts.unwrap_or_default().margin;
    let probe = SurfaceProbe::with_segments(scene, segments);
    probe.map_or(vec![], |mut probe| probe.touching(&scene.initial_state(), near, 3))
}

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    BACKEND.supports(scene)?;
    let settings: AbdSettings = settings.parse()?;
    settings.check().map_err(BuildError::Settings)?;
    if let (Some(contacts), ContactModel::Ipc) = (scene.contacts, settings.contact) {
        if settings.d_hat == 0.0 && contacts.margin <= 0.0 {
            let message = "d_hat: expected a positive distance, since the scene's `margin` is 0";
            return Err(BuildError::Settings(message.to_owned()));
        }
        if settings.segments != Surface::SEGMENTS {
            check_gaps(scene, settings.segments)?;
        }
    }
    Ok(Box::new(Abd::new(scene, settings)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_features_than_can_be_counted_are_refused() {
        assert_eq!(check_count(FEATURES_MAX), Ok(()));
        let Unsupported(told) = check_count(FEATURES_MAX + 1).unwrap_err();
        assert!(told.contains("2147483649") && told.contains("coarser"), "{told}");
        let tetrahedron = Shape::Mesh {
            vertices: [taut_core::Vec3::zeros(); 4].into(),
            triangles: [[0; 3]; 4].into(),
            control: None,
        };
        assert_eq!(features(&tetrahedron), 4 + 6 + 4);
    }
}
