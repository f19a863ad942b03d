//! Settings other than the defaults under which backends are verified, and what is asked of them there.

/// A backend with some of its settings.
pub(super) struct SettingsVariant {
    pub(super) backend: &'static str,
    /// In RON.
    pub(super) settings: &'static str,
    /// Groups of the names of the checks that these settings bear on.
    pub(super) asked: &'static [&'static [&'static str]],
}

const fn row(
    backend: &'static str,
    settings: &'static str,
    asked: &'static [&'static [&'static str]],
) -> SettingsVariant {
    SettingsVariant { backend, settings, asked }
}

const BITS: &[&str] = &[
    "equal_runs",
    "reads_are_neutral",
    "load_resets",
    "last_reads_are_ends",
    "no_pulls_change_nothing",
];
const MOTION: &[&str] = &[
    "pendulum_time",
    "linear_momentum",
    "angular_momentum",
    "pulls_move_bodies",
    "pulls_turn_bodies",
];
const CLOSING: &[&str] = &["every_joint_holds", "open_joints_close"];
const BEARING: &[&str] = &["compliance_gives_way", "springs_bear", "joints_carry_the_load"];
const DRIVES: &[&str] = &["limits_hold_and_let_go", "motors_turn", "sliders_are_driven"];
const RESTING: &[&str] = &["comes_to_rest", "pressure_carries_the_weight", "a_stack_stands"];
const BOUNCING: &[&str] = &["restitution", "momentum_of_a_collision", "equal_balls_exchange"];
const FRICTION: &[&str] = &[
    "friction_angle",
    "stopping_distance",
    "friction_has_no_direction",
    "sliding_becomes_rolling",
    "a_belt_takes_along",
];

/// All that is asked of a way of iterating that is unlike the default.
const ALL: &[&[&str]] =
    &[&["free_fall"], BITS, MOTION, CLOSING, BEARING, DRIVES, RESTING, BOUNCING, FRICTION];

pub(super) const VARIANTS: &[SettingsVariant] = &[
    row(
        "avbd-cpu",
        "(profile: compliant)",
        &[BITS, MOTION, CLOSING, BEARING, DRIVES, RESTING, &["masses_scale"]],
    ),
    row("avbd-cpu", "(profile: paper)", &[BITS, BEARING, RESTING]),
    row("avbd-cpu", "(order: creation)", &[BITS, MOTION, CLOSING]),
    row("xpbd-cpu", "(mode: iterations)", ALL),
    row("xpbd-cpu", "(mode: iterations, blocks: matrix)", &[CLOSING, BEARING]),
    row("xpbd-cpu", "(mode: iterations, order: reverse_creation)", &[BITS, BEARING, RESTING]),
    row("xpbd-cpu", "(order: reverse_creation)", &[BITS, RESTING]),
    row("xpbd-cpu", "(blocks: matrix)", &[BITS, MOTION]),
    row("xpbd-cpu", "(precision: f32)", &[BITS, RESTING, FRICTION, &["pendulum_time"]]),
    row("xpbd-cpu", "(rotation: cayley)", &[BITS, MOTION, BOUNCING, &["free_spin"]]),
    row("xpbd-cpu", "(friction: published)", &[BITS, &["sliding_becomes_rolling"]]),
    row("xpbd-cpu", "(rotation: cayley, friction: published)", &[&["momentum_of_a_collision"]]),
    row("impulse-cpu", "(variant: pgs)", ALL),
    row(
        "impulse-cpu",
        "(contact_stabilisation: baumgarte, joint_stabilisation: baumgarte)",
        &[BITS, CLOSING, RESTING, BOUNCING, FRICTION],
    ),
    row("impulse-cpu", "(precision: f32)", &[BITS, MOTION, RESTING, BOUNCING, FRICTION]),
    row("impulse-cpu", "(order: list)", &[BITS, RESTING, BOUNCING, FRICTION]),
    row(
        "mabd-cpu",
        "(integrator: implicit_euler)",
        &[BITS, MOTION, CLOSING, RESTING, &["approaches_newton"]],
    ),
    row("mabd-cpu", "(integrator: bdf2)", &[BITS, MOTION, CLOSING]),
    row("mabd-cpu", "(polar: newton_schulz)", &[BITS, CLOSING, RESTING]),
    row("mabd-cpu", "(general: true)", &[BITS, MOTION, BEARING]),
    row("mabd-cpu", "(geometric: none)", &[MOTION, CLOSING, BEARING]),
    row("mabd-cpu", "(dual: direct)", &[BITS, CLOSING, BEARING, DRIVES]),
    row("rapier-f64", "(preset: best)", &[BITS]),
    row("rapier-f32", "(preset: best)", &[BITS]),
    row("mujoco", "(preset: best)", ALL),
    row("box3d", "(preset: best)", ALL),
    row("newton", "(complete: false)", &[BITS]),
    row("jacobi-cpu", "(drift: baumgarte(0.2))", &[BITS, &["open_joints_close"]]),
];

/// Those of a backend.
pub(super) fn of(backend: &str) -> impl Iterator<Item = &'static SettingsVariant> {
    VARIANTS.iter().filter(move |variant| variant.backend == backend)
}
