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
    Known { backend: "null", check, scene, reason: DOES_NOTHING }
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

const STARTS_SLIDING: &str = "between the two coefficients both sticking and sliding solve its step, and its rounds \
                              find sliding";

const ROUNDS_PENALTIES: &str = "single precision keeps a metre to 6e-8 m, which its penalty makes a force of a fifth \
                                of the weight";

pub(super) const KNOWN: &[Known] = &[
    Known {
        backend: "vbd-gpu",
        check: "ropes_are_slack_or_taut",
        scene: "weight",
        reason: ROUNDS_PENALTIES,
    },
    Known {
        backend: "jacobi-cpu",
        check: "open_joints_close",
        scene: "apart",
        reason: KEEPS_ERRORS,
    },
    Known {
        backend: "jacobi-gpu",
        check: "open_joints_close",
        scene: "apart",
        reason: KEEPS_ERRORS,
    },
    Known {
        backend: "vbd-cpu",
        check: "static_friction_holds_more",
        scene: "slope",
        reason: ONE_COEFFICIENT,
    },
    Known {
        backend: "vbd-gpu",
        check: "static_friction_holds_more",
        scene: "slope",
        reason: ONE_COEFFICIENT,
    },
    Known {
        backend: "mabd-cpu",
        check: "static_friction_holds_more",
        scene: "slope",
        reason: STARTS_SLIDING,
    },
    Known {
        backend: "jacobi-cpu",
        check: "approaches_newton",
        scene: "chain",
        reason: FREE_TO_DRIFT,
    },
    Known {
        backend: "jacobi-gpu",
        check: "approaches_newton",
        scene: "chain",
        reason: FREE_TO_DRIFT,
    },
    Known {
        backend: "vbd-cpu",
        check: "linear_momentum",
        scene: "free-pair",
        reason: FINDS_SLOWLY,
    },
    Known {
        backend: "vbd-gpu",
        check: "linear_momentum",
        scene: "free-pair",
        reason: FINDS_SLOWLY,
    },
    Known { backend: "vbd-cpu", check: "approaches_newton", scene: "chain", reason: SPRINGY },
    Known { backend: "vbd-gpu", check: "approaches_newton", scene: "chain", reason: SPRINGY },
    Known {
        backend: "avbd-gpu",
        check: "approaches_newton",
        scene: "two-springs",
        reason: "single precision ends a micrometre away, where more sweeps change nothing",
    },
    Known { backend: "vbd-cpu", check: "friction_angle", scene: "incline", reason: CREEPS },
    Known { backend: "vbd-gpu", check: "friction_angle", scene: "incline", reason: CREEPS },
    Known {
        backend: "abd-cpu",
        check: "free_spin",
        scene: "free-fall",
        reason: "implicit Euler on affine coordinates takes h w^2 of a spin w per second, eight times \
                 what the check allows: 1.3 of 5 rad/s in a second at h = 1/60 s",
    },
    Known {
        backend: "abd-cpu",
        check: "approaches_newton",
        scene: "chain",
        reason: "eight iterations solve its step; what is left, 2.5e-4 m, is that its joints are \
                 penalties and that an affine spin is damped more than a rigid one",
    },
    Known {
        backend: "mabd-cpu",
        check: "approaches_newton",
        scene: "chain",
        reason: "a step is one linearised solve whatever the budget, which loses less energy than \
                 implicit Euler; with `integrator: implicit_euler` iterations converge to that",
    },
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
    null("joints_break", "hanging"),
    null("approaches_newton", "chain"),
    null("approaches_newton", "two-springs"),
    null("comes_to_rest", "drop"),
    null("every_shape_rests", "shapes"),
    null("friction_angle", "incline"),
    null("stopping_distance", "friction-slide"),
    null("sliding_becomes_rolling", "ball"),
    null("restitution", "drop"),
    null("momentum_of_a_collision", "colliding-pair"),
    null("a_stack_stands", "stack"),
    null("no_energy_is_gained", "pyramid"),
    null("nothing_creeps", "pyramid"),
    null("limits_hold_and_let_go", "hinged-bar"),
    null("ropes_are_slack_or_taut", "weight"),
    null("motors_turn", "hinged-bar"),
    null("motors_lift", "hinged-bar"),
    null("motors_meet_limits", "hinged-bar"),
    null("sliders_are_driven", "slider"),
    null("break_thresholds", "bar"),
    null("friction_has_no_direction", "slider"),
    null("static_friction_holds_more", "slope"),
    null("a_belt_takes_along", "belt"),
    null("a_column_tips", "slope"),
    null("equal_balls_exchange", "two-balls"),
    null("some_pairs_do_not_touch", "overlapping-pair"),
];

/// Why a check is known to fail for a backend, if it is.
pub(super) fn reason(backend: &str, check: &str, scene: &str) -> Option<&'static str> {
    let row = KNOWN
        .iter()
        .find(|row| row.backend == backend && row.check == check && row.scene == scene)?;
    Some(row.reason)
}
