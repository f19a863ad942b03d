//! Failures that are understood. A row that starts to pass fails the suite until it is removed.

/// One known failure.
pub(super) struct Known {
    pub(super) backend: &'static str,
    pub(super) check: &'static str,
    pub(super) scene: &'static str,
    pub(super) reason: &'static str,
}

const DOES_NOTHING: &str = "it does nothing";

/// A check that the null backend cannot pass.
const fn null(check: &'static str, scene: &'static str) -> Known {
    row("null", check, scene, DOES_NOTHING)
}

const CREEPS: &str = "its friction is a function of the slip speed that holds nothing at rest; what \
                      it carries creeps at less than `friction_speed`, 0.01 m/s by default";

const FINDS_SLOWLY: &str = "two bodies on a stiff penalty k find their common motion by a share m/(k h^2) per \
                 sweep, 1e-4 by default; with `stiffness_scale: 100` it is exact after 20000 sweeps";

const SPRINGY: &str = "its hard joints are springs of finite stiffness, so it tends to another motion, \
                 and slowly";

const KEEPS_ERRORS: &str =
    "as published it holds velocities only; `drift: baumgarte` closes what is open";

const FREE_TO_DRIFT: &str = "it holds the joints' velocities where a step starts and, as published, no positions, \
                            so it tends to another motion, a first-order distance of 6e-3 m away";

const ONE_COEFFICIENT: &str = "it takes the dynamic coefficient of friction for both";

const ROUNDS_PENALTIES: &str = "single precision keeps a metre to 6e-8 m, which its penalty makes a force of a fifth \
                                of the weight";

const CATCHES_UP: &str = "its stiffness starts at 1 N/m whatever there is to bear, so that loads fall before \
                          they are borne";

const BRAKES_LATE: &str =
    "its dynamic friction slows velocities after positions have moved by a whole frame";

const LOSES_SUBSTEPS: &str =
    "in sub-steps as short as these bodies move by less than single precision tells";

const COMPLETES: &str = "with `complete: true` it goes on until its step is solved when that ends";

const CORNERS: &str = "the corners of what lands flat bounce one after the other";

const SOFT: &str = "the engine's contacts are springs";

const TURNS: &str = "its limits know an angle up to full turns only";
const YIELDS: &str = "its motors yield under load";

const EXPLICIT: &str =
    "its springs are explicit: eight sub-steps in a frame are too long for the stiffer one";
const SOFT_LIMIT: &str = "its limits are springs and dampers of 0.02 s that give way to what hits them; `timeconst_s` stiffens them";
const SOFT_CONTACT: &str = "its contacts are springs and dampers: with coefficients above 1 a block stops up to 5 % too early";
const PYRAMID: &str = "its friction is a pyramid as delivered; with `cone: elliptic` the fault is a sixtieth, as soft \
                       contacts still bounce";
const TROTS: &str = "a sliding box bounces from corner to corner on soft contacts, so that friction acts aslant of its way: 0.6 % less \
                     brakes it in some directions than in others";
const TWO_SWEEPS: &str =
    "the two sweeps in a sub-step that it comes with leave 1.3 % of a slide open";
const SLIPS: &str =
    "with the two sweeps in a sub-step that it comes with, what sticks creeps by 7 mm in 2 s";
const LIGHTLY_DAMPED: &str = "by joints as stiff as that, with the damping ratio of 2 that it comes with, 7 % of a ball's error \
                              is left; with 5 it closes";
const TOO_LONG: &str = "it factors the inertia of all coordinates, in single precision: a chain of 150 links is too long for that";
const ONE_STIFFNESS: &str =
    "its joints are springs of 1e5 N/m whatever they carry, which a thousandfold mass stretches";
const SLIPS_SLOWLY: &str = "its friction grows with the speed of slip up to `friction_epsilon`, 0.01 m/s, so that what it \
                            carries creeps";
const LONG_TO_MAKE: &str =
    "the model of a chain of 150 links is not made within the two minutes that a scene has";
const FLUNG: &str = "a constraint takes back what is open within a step or two, and bodies keep that speed: it leaves \
                     them spinning at 30 rad/s";
const FOOT: &str =
    "under an edge its field of pressure yields: what leans to a degree of its balance tips";
const UNBALANCED: &str = "the two rows of a neo-Hookean tetrahedron are far from zero at rest, where they balance each other; from \
                          multipliers of zero, as published, a sweep over stiff material of many cells does not find that \
                          balance and throws them apart";
const BEST: &str = "mujoco (preset: best)";

/// A check that some backend or variant does not pass.
const fn row(
    backend: &'static str,
    check: &'static str,
    scene: &'static str,
    reason: &'static str,
) -> Known {
    Known { backend, check, scene, reason }
}

const RATIOS: &str = "a spring 10,000 times as stiff as the next holds back what the weaker one asks for, sweep by sweep \
                      (AVBD paper, 3.4)";
const PAPER: &str = "avbd-cpu (profile: paper)";
const SWEEPS: &str = "xpbd-cpu (mode: iterations)";
const SINGLE: &str = "xpbd-cpu (precision: f32)";

pub(super) const KNOWN: &[Known] = &[
    row("xpbd-cpu", "material_falls", "block", UNBALANCED),
    row(PAPER, "compliance_gives_way", "weight", CATCHES_UP),
    row(PAPER, "compliance_gives_way", "bar", CATCHES_UP),
    row(PAPER, "springs_bear", "weight", CATCHES_UP),
    row(PAPER, "joints_carry_the_load", "chain", CATCHES_UP),
    row(PAPER, "comes_to_rest", "drop", CATCHES_UP),
    row(PAPER, "a_stack_stands", "stack", CATCHES_UP),
    row(SWEEPS, "friction_angle", "incline", BRAKES_LATE),
    row(SWEEPS, "stopping_distance", "friction-slide", BRAKES_LATE),
    row(SWEEPS, "friction_has_no_direction", "slider", BRAKES_LATE),
    row(SINGLE, "pendulum_time", "bar-pendulum", LOSES_SUBSTEPS),
    row(SINGLE, "pressure_carries_the_weight", "stack", LOSES_SUBSTEPS),
    row(SINGLE, "friction_has_no_direction", "slider", LOSES_SUBSTEPS),
    row("xpbd-cpu", "bounces_level", "drop", CORNERS),
    row("rapier-f64", "bounces_level", "drop", CORNERS),
    row("rapier-f32", "bounces_level", "drop", CORNERS),
    row("box3d", "bounces_level", "drop", CORNERS),
    row("rapier-f64", "turns_are_counted", "hinged-bar", TURNS),
    row("rapier-f32", "turns_are_counted", "hinged-bar", TURNS),
    row("rapier-f64", "motors_lift", "hinged-bar", YIELDS),
    row("rapier-f32", "motors_lift", "hinged-bar", YIELDS),
    row("rapier-f64", "a_heavy_top_is_borne", "stack", SOFT),
    row("rapier-f32", "a_heavy_top_is_borne", "stack", SOFT),
    row("box3d", "a_heavy_top_is_borne", "stack", SOFT),
    row("mujoco", "approaches_newton", "two-springs", EXPLICIT),
    row("mujoco", "limits_hold_and_let_go", "hinged-bar", SOFT_LIMIT),
    row("mujoco", "turns_are_counted", "hinged-bar", SOFT_LIMIT),
    row("mujoco", "stopping_distance", "friction-slide", SOFT_CONTACT),
    row("mujoco", "friction_has_no_direction", "slider", PYRAMID),
    row("drake", "open_joints_close", "apart", FLUNG),
    row("drake", "a_column_tips", "slope", FOOT),
    row(BEST, "stopping_distance", "friction-slide", SOFT_CONTACT),
    row(BEST, "friction_has_no_direction", "slider", PYRAMID),
    row("box3d (preset: best)", "open_joints_close", "apart", LIGHTLY_DAMPED),
    row("newton-xpbd", "open_joints_close", "apart", TWO_SWEEPS),
    row("newton-xpbd", "friction_angle", "incline", SLIPS),
    row("newton-featherstone", "threads_do_not_matter", "chains", TOO_LONG),
    row("newton-mujoco", "threads_do_not_matter", "chains", LONG_TO_MAKE),
    row("newton-mujoco", "linear_momentum", "free-pair", LOSES_SUBSTEPS),
    row("newton-mujoco", "limits_hold_and_let_go", "hinged-bar", SOFT_LIMIT),
    row("newton-mujoco", "friction_has_no_direction", "slider", TROTS),
    row("newton-vbd", "free_fall", "free-fall", LOSES_SUBSTEPS),
    row("newton-vbd", "pendulum_time", "bar-pendulum", LOSES_SUBSTEPS),
    row("newton-vbd", "linear_momentum", "free-pair", LOSES_SUBSTEPS),
    row("newton-vbd", "angular_momentum", "free-pair", LOSES_SUBSTEPS),
    row("newton-vbd", "approaches_newton", "chain", LOSES_SUBSTEPS),
    row("newton-vbd", "stopping_distance", "friction-slide", LOSES_SUBSTEPS),
    row("newton-vbd", "friction_has_no_direction", "slider", LOSES_SUBSTEPS),
    row("newton-vbd", "masses_scale", "chain", ONE_STIFFNESS),
    row("newton-vbd", "a_pyramid_settles", "pyramid", SLIPS_SLOWLY),
    row("vbd-cpu", "approaches_newton", "two-springs", RATIOS),
    row("vbd-gpu", "approaches_newton", "two-springs", RATIOS),
    row("newton", "last_reads_are_ends", "joint-zoo", COMPLETES),
    row("newton", "last_reads_are_ends", "pyramid", COMPLETES),
    row(
        "mabd-cpu (integrator: implicit_euler)",
        "approaches_newton",
        "chain",
        "eight iterations solve its step; what is left, 1.3e-4 m, is that an affine spin is damped more \
         than a rigid one",
    ),
    row(
        "impulse-cpu (variant: pgs)",
        "compliance_gives_way",
        "bar",
        "whatever the sweeps, one long step holds a bent weld a tenth of its angle away from balance; \
         sub-steps do not",
    ),
    row(
        "impulse-cpu (contact_stabilisation: baumgarte, joint_stabilisation: baumgarte)",
        "a_stack_stands",
        "stack",
        "the speed that takes overlap back stays with the bodies: a stack goes on trembling by 3 cm/s",
    ),
    row("vbd-gpu", "ropes_are_slack_or_taut", "weight", ROUNDS_PENALTIES),
    row("jacobi-cpu", "open_joints_close", "apart", KEEPS_ERRORS),
    row("jacobi-gpu", "open_joints_close", "apart", KEEPS_ERRORS),
    row("vbd-cpu", "static_friction_holds_more", "slope", ONE_COEFFICIENT),
    row("vbd-gpu", "static_friction_holds_more", "slope", ONE_COEFFICIENT),
    row("jacobi-cpu", "approaches_newton", "chain", FREE_TO_DRIFT),
    row("jacobi-gpu", "approaches_newton", "chain", FREE_TO_DRIFT),
    row("vbd-cpu", "linear_momentum", "free-pair", FINDS_SLOWLY),
    row("vbd-gpu", "linear_momentum", "free-pair", FINDS_SLOWLY),
    row("vbd-cpu", "approaches_newton", "chain", SPRINGY),
    row("vbd-gpu", "approaches_newton", "chain", SPRINGY),
    row("vbd-cpu", "friction_angle", "incline", CREEPS),
    row("vbd-gpu", "friction_angle", "incline", CREEPS),
    row(
        "abd-cpu",
        "free_spin",
        "free-fall",
        "implicit Euler on affine coordinates takes h w^2 of a spin w per second, eight times \
                 what the check allows: 1.3 of 5 rad/s in a second at h = 1/60 s",
    ),
    row(
        "abd-cpu",
        "approaches_newton",
        "chain",
        "eight iterations solve its step; what is left, 2.5e-4 m, is that its joints are \
                 penalties and that an affine spin is damped more than a rigid one",
    ),
    row(
        "mabd-cpu",
        "approaches_newton",
        "chain",
        "a step is one linearised solve whatever the budget, which loses less energy than \
                 implicit Euler; with `integrator: implicit_euler` iterations converge to that",
    ),
    null("free_fall", "free-fall"),
    null("free_fall", "particles"),
    null("pendulum_time", "rod-pendulum"),
    null("pendulum_time", "bar-pendulum"),
    null("spring_period", "oscillator"),
    null("spring_period", "particles"),
    null("torsion_period", "torsion"),
    null("kinematic_bodies_follow", "carrier"),
    null("kinematic_bodies_follow", "carried"),
    null("every_joint_holds", "joint-zoo"),
    null("open_joints_close", "apart"),
    null("joints_carry_the_load", "bar"),
    null("joints_carry_the_load", "chain"),
    null("joints_break", "hanging"),
    null("approaches_newton", "chain"),
    null("approaches_newton", "two-springs"),
    null("comes_to_rest", "drop"),
    null("every_shape_rests", "shapes"),
    null("friction_angle", "incline"),
    null("stopping_distance", "friction-slide"),
    null("sliding_becomes_rolling", "ball"),
    null("restitution", "drop"),
    null("bounces_level", "drop"),
    null("momentum_of_a_collision", "colliding-pair"),
    null("a_stack_stands", "stack"),
    null("a_pyramid_settles", "pyramid"),
    null("particles_rest_and_slide", "particles-on-ramp"),
    null("limits_hold_and_let_go", "hinged-bar"),
    null("ropes_are_slack_or_taut", "weight"),
    null("motors_turn", "hinged-bar"),
    null("motors_lift", "hinged-bar"),
    null("motors_meet_limits", "hinged-bar"),
    null("turns_are_counted", "hinged-bar"),
    null("sliders_are_driven", "slider"),
    null("break_thresholds", "bar"),
    null("friction_has_no_direction", "slider"),
    null("static_friction_holds_more", "slope"),
    null("a_belt_takes_along", "belt"),
    null("a_column_tips", "slope"),
    null("equal_balls_exchange", "two-balls"),
    null("some_pairs_do_not_touch", "overlapping-pair"),
    null("dampers_slow_oscillations", "oscillator"),
    null("dampers_slow_joints", "hinged-bar"),
    null("forces_accelerate", "pushed-box"),
    null("efforts_turn_hinges", "hinged-bar"),
    null("paths_are_followed", "driven-box"),
    null("drives_balance", "driven-pendulum"),
    null("material_rings", "bar-of-tetrahedra"),
    null("material_rings", "strip-of-triangles"),
    null("material_falls", "block"),
    null("material_falls", "sheet"),
];

/// Why a check is known to fail for a backend, if it is.
pub(super) fn reason(backend: &str, check: &str, scene: &str) -> Option<&'static str> {
    let row = KNOWN
        .iter()
        .find(|row| row.backend == backend && row.check == check && row.scene == scene)?;
    Some(row.reason)
}
