//! How far off single backends may be in a check, where that is not what all are allowed.

/// One bound for some backends.
pub(super) struct Tolerance {
    pub(super) backends: &'static [&'static str],
    pub(super) check: &'static str,
    /// Which number of the check, where there are several.
    part: &'static str,
    allowed: f64,
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the table"))]
    pub(super) reason: &'static str,
}

const fn row(
    backends: &'static [&'static str],
    check: &'static str,
    part: &'static str,
    allowed: f64,
    reason: &'static str,
) -> Tolerance {
    Tolerance { backends, check, part, allowed, reason }
}

const SINGLE: &[&str] = &["jacobi-gpu", "vbd-gpu", "avbd-gpu", "rapier-f32", "jolt"];
const BOX3D: &[&str] = &["box3d"];
const NEWTON: &[&str] = &["newton-xpbd", "newton-featherstone", "newton-steel", "newton-mujoco"];
const ROUNDING: &str = "it computes in single precision";
const CONVERGED: &str = "it solves its step to rounding";
const IMPULSE_SINGLE: &str = "impulse-cpu (precision: f32)";
const OPPOSITE: &str = "what it gives to one body it takes from the other";

pub(super) const TOLERANCES: &[Tolerance] = &[
    row(SINGLE, "free_fall", "", 5e-3, ROUNDING),
    row(SINGLE, "pulls_move_bodies", "", 1e-4, ROUNDING),
    row(
        &["mabd-cpu (integrator: bdf2)"],
        "pulls_move_bodies",
        "",
        3.4e-4,
        "its first step is one of implicit Euler and leads too far by a h^2 / 2, three halves of which stay",
    ),
    row(&[IMPULSE_SINGLE], "pulls_move_bodies", "", 1e-4, ROUNDING),
    row(SINGLE, "spring_period", "", 1e-4, ROUNDING),
    row(SINGLE, "kinematic_bodies_follow", "place", 1e-5, ROUNDING),
    row(SINGLE, "kinematic_bodies_follow", "turn", 1e-3, ROUNDING),
    row(SINGLE, "kinematic_bodies_follow", "velocity", 1e-4, ROUNDING),
    row(
        &["avbd-gpu", "vbd-gpu"],
        "last_reads_are_ends",
        "",
        1e-6,
        "graphics cards may round a product and a sum at once in one program and not in another: rates differ in their \
         last place, by 3.5e-7 at most on an H100, and not at all on software Vulkan",
    ),
    row(BOX3D, "free_fall", "", 1e-4, ROUNDING),
    row(NEWTON, "free_fall", "", 1e-4, ROUNDING),
    row(BOX3D, "kinematic_bodies_follow", "place", 1e-6, ROUNDING),
    row(BOX3D, "kinematic_bodies_follow", "turn", 1e-5, ROUNDING),
    row(
        BOX3D,
        "kinematic_bodies_follow",
        "velocity",
        1e-4,
        "it turns rates into the body's axes and back in each sub-step, in single precision",
    ),
    row(
        &["xpbd-cpu"],
        "joints_carry_the_load",
        "",
        0.03,
        "its forces are those of the last sub-step, in which bodies still sway",
    ),
    row(
        &["xpbd-cpu"],
        "motors_lift",
        "",
        0.1,
        "one sweep per sub-step leaves a share of what the weight takes from the speed",
    ),
    row(
        &["vbd-cpu", "vbd-gpu"],
        "a_heavy_top_is_borne",
        "",
        0.1,
        "its contacts are springs of finite stiffness",
    ),
    row(&["avbd-cpu"], "comes_to_rest", "deepest", 1e-5, "its points press before they overlap"),
    row(
        &["mabd-cpu"],
        "comes_to_rest",
        "",
        2e-5,
        "what rests sinks in by g h^2 over its stiffness of contacts, 1000",
    ),
    row(
        &["mabd-cpu"],
        "friction_angle",
        "",
        2e-4,
        "what sticks creeps by a share of g h^2 over its stiffness of contacts in a step",
    ),
    row(&["mabd-cpu"], "joints_carry_the_load", "", 1e-6, CONVERGED),
    row(&["impulse-cpu"], "joints_carry_the_load", "", 1e-3, "its sub-steps warm start"),
    row(&["xpbd-cpu", "impulse-cpu"], "linear_momentum", "", 1e-9, OPPOSITE),
    row(&["impulse-cpu"], "momentum_of_a_collision", "linear", 1e-12, OPPOSITE),
    row(&["xpbd-cpu"], "momentum_of_a_collision", "linear", 1e-11, OPPOSITE),
    row(&[IMPULSE_SINGLE], "linear_momentum", "", 1e-6, ROUNDING),
    row(&[IMPULSE_SINGLE], "momentum_of_a_collision", "linear", 1e-6, ROUNDING),
    row(
        &["avbd-cpu (profile: compliant)"],
        "linear_momentum",
        "",
        2e-5,
        "its fixed penalty leaves more after 200 sweeps",
    ),
    row(
        &["avbd-cpu (profile: compliant)"],
        "comes_to_rest",
        "deepest",
        1e-4,
        "its penalty does not grow, so that ten sweeps leave more",
    ),
    row(
        &["xpbd-cpu (mode: iterations)"],
        "sliders_are_driven",
        "spin",
        0.03,
        "as published, spin decays by the share (h w)^2 / 8 in a step",
    ),
    row(
        &["rapier-f64"],
        "kinematic_bodies_follow",
        "turn",
        1e-6,
        "the engine turns driven bodies from sub-step to sub-step",
    ),
    row(
        &["dart", "mujoco", "pybullet", "newton-featherstone", "newton-steel"],
        "linear_momentum",
        "",
        1e-4,
        "Euler's step in coordinates of joints keeps momentum to first order of its length only",
    ),
    row(&["xpbd-cpu"], "equal_balls_exchange", "", 1e-9, OPPOSITE),
    row(&["newton"], "linear_momentum", "", 1e-9, CONVERGED),
    row(&["newton"], "open_joints_close", "", 1e-9, CONVERGED),
    row(&["newton"], "joints_carry_the_load", "", 1e-6, CONVERGED),
    row(&["newton"], "limits_hold_and_let_go", "", 1e-9, CONVERGED),
    row(&["newton"], "ropes_are_slack_or_taut", "", 1e-9, CONVERGED),
    row(&["newton"], "motors_meet_limits", "", 1e-8, CONVERGED),
    row(&["newton"], "break_thresholds", "", 1e-3, CONVERGED),
    row(&["newton"], "friction_angle", "", 1e-7, CONVERGED),
    row(&["newton"], "friction_has_no_direction", "", 1e-6, CONVERGED),
    row(&["newton"], "a_belt_takes_along", "", 1e-6, CONVERGED),
    row(&["newton"], "a_column_tips", "", 0.3, CONVERGED),
    row(&["newton"], "a_heavy_top_is_borne", "", 1e-7, CONVERGED),
    row(&["newton"], "momentum_of_a_collision", "linear", 1e-10, CONVERGED),
    row(&["newton"], "momentum_of_a_collision", "angular", 1e-10, CONVERGED),
];

/// What a backend is allowed, if that is not what all are.
pub(super) fn of(backend: &str, check: &str, part: &str) -> Option<f64> {
    let row = TOLERANCES
        .iter()
        .find(|row| row.backends.contains(&backend) && row.check == check && row.part == part)?;
    Some(row.allowed)
}
