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

const SINGLE: &[&str] = &["jacobi-gpu", "vbd-gpu", "avbd-gpu", "rapier-f32"];
const ROUNDING: &str = "it computes in single precision";
const CONVERGED: &str = "it solves its step to rounding";

pub(super) const TOLERANCES: &[Tolerance] = &[
    row(SINGLE, "free_fall", "", 5e-3, ROUNDING),
    row(SINGLE, "spring_period", "", 1e-4, ROUNDING),
    row(SINGLE, "kinematic_bodies_follow", "place", 1e-5, ROUNDING),
    row(SINGLE, "kinematic_bodies_follow", "turn", 1e-3, ROUNDING),
    row(SINGLE, "kinematic_bodies_follow", "velocity", 1e-4, ROUNDING),
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
