//! Extended position based dynamics (Macklin et al. 2016) for rigid bodies (Müller et al. 2020).
//!
//! A step moves everything as if it were free, then repairs one joint after another by moving its
//! two bodies, and takes velocities from the distance travelled. A repair is one scalar Newton step
//! along the direction of the error: each side gives way by its generalised inverse mass, so that no
//! momentum is made. Compliance `alpha` enters as `alpha / h^2` beside those inverse masses, and a
//! multiplier remembers what has been applied so far; springs are joints with `alpha = 1/k`. By
//! default an iteration is a whole sub-step of `dt / iterations` with one sweep (Macklin et al.
//! 2019), which converges faster than as many sweeps of one long step. Joints correct angles first,
//! then limits and motors, then positions, so that the anchors are left where they should be.
//! Zero sets, signs and energies are those of [`taut_core::constraint`]. Departures: compliant
//! blocks keep their multiplier as a vector instead of a length, compliant rotations use the exact
//! gradient of their energy, motors drive a rate with bounded effort, and joints report (and break
//! by) their mean force over the sub-steps of a step. Joints are coloured so that those of one colour
//! share no moving body and can be repaired at once.
//!
//! Contacts are found once per step and repaired after the joints, pair by pair, in colours of their own,
//! four pairs of one colour side by side, which changes nothing since they share no moving body. A point
//! that would overlap is pushed apart; friction holds it along the surfaces; and a pass over velocities at
//! the end of each step or sub-step lets it bounce with its restitution if it approached faster than
//! gravity makes in two of them, else takes away the speed of being pushed apart. Departures: the approach
//! decides what bounces instead of the speed after the repair, which is zero at a perfect repair; the bound
//! of dynamic friction is an impulse, as its equation must mean; opposite impulses act at one point midway
//! between the anchors; balls and cylinders are followed to first order, so that they roll; and friction is
//! by default that of [`FrictionRule::Net`], since the published one lets bodies at rest creep.
//!
//! A hinge is repaired there and back, rotations, points, rotations ([`RowOrder::Symmetric`]); published is once. One
//! repair of a block is the projection `P` of the positions, in the metric of the masses, onto where the block holds.
//! A sub-step makes `x_next = S (2 x - x_before)` with the product `S` of all projections, so that a mode to which `S`
//! gives the eigenvalue `s` grows by a root of `z^2 = s (2 z - 1)`. For real `s` in [0, 1] these have `|z|^2 = s`. They
//! are real where `S` is a product of two symmetric maps: two joints that are corrected symmetrically, or the two
//! colours of a chain or tree of such. The product of three or four projections has complex ones, and for these a root
//! lies outside of the unit circle: two hinges in series gain energy from rounding alone, by as much in every
//! sub-step, so that shorter ones are worse.
//!
//! Energies of points are repaired between joints and contacts, all rows of one at once. Dampers are springs of
//! compliance `h / c` that are at rest where a step or sub-step begins.
//!
//! What remains is owed to one sweep per sub-step: stacks give way by about `n^2 g h^2` and sway where it is
//! large, and overlap at the start of a step is pushed out at once, which makes angular momentum.
//! Contacts are found once per step for all of its sub-steps, where Müller et al. look for them in each one among pairs
//! that are collected once. What gets deep between two searches is pushed out within one sub-step, the faster the shorter
//! that is: from 16 sub-steps on a heap of boxes that fall 15 cm in a frame gains energy. Steps within the frame look each
//! time. Normals stay as they were found while bodies turn. In single precision velocities are differences of
//! rounded places: with sub-steps of 1/600 s a box that slides 20 m stops 8 % early.

mod body;
mod colours;
mod contact;
mod correct;
mod cpu;
mod damp;
mod elastic;
mod exchange;
mod layout;
mod settings;
mod sweep;

use taut_core::{Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver};
use taut_model::Precision;

pub use settings::{FrictionRule, Mode, PointRule, XpbdSettings};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "xpbd-cpu",
        "extended position based dynamics: one joint after another, by sub-steps or iterations",
        "Macklin, Müller, Chentanez, XPBD, MIG 2016; Macklin et al., Small Steps, SCA 2019; \
         Müller et al., Detailed Rigid Body Simulation with XPBD, CGF 39(8), 2020",
    ),
    takes: Needs::MULTIBODY
        .with(Needs::ENERGIES)
        .with(Needs::TOUCHING_PARTICLES)
        .with(Needs::SOFT_CONTACTS)
        .with(Needs::TIMED)
        .with(Needs::DAMPING),
    refuses: |_| Ok(()),
    build,
};

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let settings: XpbdSettings = settings.parse()?;
    settings.check()?;
    BACKEND.supports(scene)?;
    Ok(match settings.precision {
        Precision::F32 => Box::new(cpu::Xpbd::<f32>::new(scene, settings)),
        Precision::F64 => Box::new(cpu::Xpbd::<f64>::new(scene, settings)),
    })
}
