//! By which numbers shaders know how rows are computed.

use taut_core::constraint::RowKind;
use taut_gpu::constants::kinds;
use taut_model::{Form, narrow};

/// The number by which shaders know a block or a row; `None` for what they cannot compute.
pub fn number(form: Form) -> Option<u32> {
    match form {
        Form::Point => Some(kinds::POINT),
        Form::Twist => Some(kinds::TWIST),
        Form::Turn => Some(kinds::TURN),
        Form::Row(RowKind::Distance) => Some(kinds::DISTANCE),
        Form::Row(RowKind::Angle) => Some(kinds::ANGLE),
        Form::Row(RowKind::Slide(axis)) => Some(kinds::SLIDE + narrow(axis)),
        Form::Row(RowKind::Dot(a, b)) => Some(kinds::DOT + 3 * narrow(a) + narrow(b)),
        Form::Line
        | Form::Axis
        | Form::Row(RowKind::Point(_) | RowKind::Twist(_) | RowKind::Turn(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_have_one_number() {
        let rows = (0..3).flat_map(|i| {
            let dots = (0..3).map(move |j| RowKind::Dot(i, j));
            dots.chain([RowKind::Point(i), RowKind::Slide(i), RowKind::Twist(i)])
        });
        let rows = rows.chain([RowKind::Distance, RowKind::Angle]).map(Form::Row);
        let forms = rows.chain([Form::Point, Form::Line, Form::Axis, Form::Twist, Form::Turn]);
        let mut numbers: Vec<u32> = forms.filter_map(number).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!((count, numbers.len()), (17, 17));
    }
}
