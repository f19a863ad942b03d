//! The logarithmic barrier of squared distances ([I] Eq. 5 in `D = d²`).

/// A barrier's value and derivatives by the squared distance; all zero for `D >= D̂`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    /// `b(D) = -(D - D̂)² ln(D/D̂)` [m⁴]; infinite for `D <= 0`.
    pub value: f64,
    /// `b'(D)` [m²], never positive.
    pub slope: f64,
    /// `b''(D)`, never negative.
    pub curvature: f64,
}

/// The barrier at the squared distance `squared` with support below `squared_hat` = `d̂²` [m²].
///
/// Written in `y = D̂/D - 1`, where no digits cancel as the barrier begins:
/// `b = (D̂ - D)² ln(1 + y)`, `b' = -(D̂ - D)(y + 2 ln(1 + y))`, `b'' = y (4 + y) + 2 ln(1 + y)`.
/// At `D <= 0` the value is infinite, and so are the derivatives: a step must not end there.
#[inline]
pub fn barrier(squared: f64, squared_hat: f64) -> Barrier {
    if squared >= squared_hat {
        return Barrier { value: 0.0, slope: 0.0, curvature: 0.0 };
    }
    if squared <= 0.0 {
        let (value, slope) = (f64::INFINITY, f64::NEG_INFINITY);
        return Barrier { value, slope, curvature: f64::INFINITY };
    }
    let gap = squared_hat - squared;
    let y = gap / squared;
    let log = y.ln_1p();
    Barrier {
        value: gap * gap * log,
        slope: -gap * (y + 2.0 * log),
        curvature: y * (4.0 + y) + 2.0 * log,
    }
}

/// `k` of the Hessian `k n nᵀ` of `b(s²)` for a point at the height `s` over a half-space with the normal `n`;
/// its gradient is `2 s b' n`.
///
/// `4 b'' D + 2 b'` is positive below `d̂`, so that nothing is to be clamped.
#[inline]
pub fn plane_stiffness(height: f64, d_hat: f64) -> f64 {
    let squared = height * height;
    let b = barrier(squared, d_hat * d_hat);
    4.0 * b.curvature * squared + 2.0 * b.slope
}
