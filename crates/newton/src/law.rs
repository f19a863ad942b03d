//! What a multiplier obeys: one equation per row, bounds included.
//!
//! A multiplier is the derivative of the constraint's energy, so the row pushes with `-lambda dC/dx`
//! and a positive multiplier pulls the coordinate down. Bounds are natural maps: piecewise linear
//! equations whose zero is exactly the complementarity condition, which Newton's method solves by
//! taking the slope of the piece it is on (a semismooth Newton method, or primal-dual active set).

/// The equation of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// `C - target = compliance * lambda`.
    Locked {
        /// Value held [m or rad].
        target: f64,
        /// Zero where hard [m/N or rad/(N m)].
        compliance: f64,
    },
    /// `C` changes in a step of length `h` by `h / damping` times its multiplier.
    Damped {
        /// [N s/m or N m s/rad]
        damping: f64,
    },
    /// `lower <= C <= upper`, with a multiplier only at a bound and only pushing inwards.
    Limit {
        /// Smallest value [m or rad].
        lower: f64,
        /// Largest value [m or rad].
        upper: f64,
    },
    /// `C` advances by `speed * h`, but not out of `range`, with `|lambda| <= max_effort`.
    Motor {
        /// Target rate [m/s or rad/s].
        speed: f64,
        /// Largest effort [N or N m].
        max_effort: f64,
        /// The joint's limits [m or rad]. Where it is at one, that and the motor hold rows with one
        /// gradient, which have multipliers only if they agree on where to be. How the two share the
        /// effort is left open and moves nothing.
        range: [f64; 2],
    },
}

/// Value of a row's equation [m or rad] and its slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Response {
    /// What must vanish.
    pub(crate) error: f64,
    /// Derivative with respect to the row's value: one where the row holds, zero where it lets go.
    pub(crate) by_value: f64,
    /// Derivative with respect to the multiplier; never positive.
    pub(crate) by_multiplier: f64,
}

impl Law {
    /// The equation at row value `value`, which was `start` when the step of length `h` [s] began.
    ///
    /// `softness` [m/N or rad/(N m)] is how far a unit multiplier moves the row in one step. It
    /// balances the two pieces of a bound; the solution does not depend on it.
    pub(crate) fn respond(
        &self,
        value: f64,
        multiplier: f64,
        start: f64,
        softness: f64,
        h: f64,
    ) -> Response {
        let held = |error| Response { error, by_value: 1.0, by_multiplier: 0.0 };
        let free = |multiplier: f64| Response {
            error: -softness * multiplier,
            by_value: 0.0,
            by_multiplier: -softness,
        };
        match *self {
            Self::Locked { target, compliance } => Response {
                error: value - target - compliance * multiplier,
                by_value: 1.0,
                by_multiplier: -compliance,
            },
            Self::Damped { damping } => Response {
                error: value - start - (h / damping) * multiplier,
                by_value: 1.0,
                by_multiplier: -h / damping,
            },
            Self::Limit { lower, upper } => {
                let wished = value + softness * multiplier;
                if wished > upper {
                    held(value - upper)
                } else if wished < lower {
                    held(value - lower)
                } else {
                    free(multiplier)
                }
            }
            Self::Motor { speed, max_effort, range: [lower, upper] } => {
                let lead = value - (start + speed * h).max(lower).min(upper);
                let wished = multiplier + lead / softness;
                if wished.abs() < max_effort {
                    held(lead)
                } else {
                    free(multiplier - max_effort.copysign(wished))
                }
            }
        }
    }

    /// The equation of a row that exerts nothing.
    pub(crate) fn absent(multiplier: f64, softness: f64) -> Response {
        Response { error: -softness * multiplier, by_value: 0.0, by_multiplier: -softness }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_vanishes_only_at_complementary_points() {
        let limit = Law::Limit { lower: -0.5, upper: 1.0 };
        let error = |value, multiplier| limit.respond(value, multiplier, 0.0, 0.1, 0.01).error;
        assert_eq!(error(0.3, 0.0), 0.0, "inside without force");
        assert_eq!(error(1.0, 4.0), 0.0, "at the upper bound, pushed down");
        assert_eq!(error(-0.5, -4.0), 0.0, "at the lower bound, pushed up");
        assert!(error(1.0, -4.0) != 0.0, "a bound does not pull");
        assert!(error(1.2, 4.0) != 0.0, "beyond the bound");
        assert!(error(0.3, 4.0) != 0.0, "force away from the bounds");
    }

    const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

    #[test]
    fn a_motor_aims_no_further_than_its_limit() {
        let motor = Law::Motor { speed: 2.0, max_effort: 5.0, range: [-1.0, 0.7] };
        let error = |value, multiplier| motor.respond(value, multiplier, 0.1, 0.1, 0.5).error;
        assert!(error(0.7, -3.0).abs() < 1e-15, "it may rest there");
        assert!(error(0.7, 3.0).abs() < 1e-15, "or hold against what pulls it away");
        assert!(error(0.6, -3.0) != 0.0 && error(0.8, 3.0) != 0.0);
    }

    #[test]
    fn a_motor_saturates_at_its_effort() {
        let motor = Law::Motor { speed: 2.0, max_effort: 5.0, range: FREE };
        let error = |value, multiplier| motor.respond(value, multiplier, 0.1, 0.1, 0.5).error;
        assert!(error(1.1, 3.0).abs() < 1e-15, "on speed with effort to spare");
        assert_eq!(error(0.9, -5.0), 0.0, "too slow at full effort");
        assert_eq!(error(1.3, 5.0), 0.0, "too fast at full brake");
        assert!(error(0.9, 5.0) != 0.0, "too slow while braking");
        assert!(error(0.9, -3.0) != 0.0, "too slow with effort to spare");
    }
}
