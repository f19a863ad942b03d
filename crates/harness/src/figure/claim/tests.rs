//! Claims on rows made by hand.

use super::*;

fn rows() -> Vec<FigureRow> {
    let row = |label: &str, group: &str, status: &str, dt: f64, values: &[f64]| FigureRow {
        label: label.to_owned(),
        group: group.to_owned(),
        status: status.to_owned(),
        facts: vec![("dt_s".to_owned(), dt)],
        planned: 4,
        columns: vec![("e_m".to_owned(), values.to_vec())],
        ..FigureRow::default()
    };
    vec![
        row("low", "g", "ok", 0.1, &[3.0, 1.0, 1.0, 1.0]),
        row("high", "g", "ok", 0.2, &[2.0, 2.0, 2.0, 4.0]),
        row("gone", "h", "diverged", 0.2, &[2.0, f64::NAN]),
        FigureRow { label: "none".to_owned(), status: "failed".to_owned(), ..FigureRow::default() },
        FigureRow {
            label: "away".to_owned(),
            group: "gpu".to_owned(),
            status: "skipped".to_owned(),
            reason: Some("no adapter".to_owned()),
            ..FigureRow::default()
        },
    ]
}

fn judged(check: &str) -> Judged {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let check: ClaimCheck = options.from_str(check).unwrap();
    let claim = Claim { text: String::new(), check, known_deviation: None, full_only: false };
    judge(&[claim], &rows(), false).remove(0)
}

fn holds(check: &str) -> bool {
    judged(check).holds.unwrap()
}

#[test]
fn what_no_device_could_run_is_not_judged() {
    for check in [
        r#"less(metric: "e_m", a: "low", b: "away", at: mean)"#,
        r#"bound(metric: "e_m", run: "away", max: 1)"#,
        r#"within(metric: "e_m", run: "low", at: mean, of: run("away"), absolute: 1)"#,
        r#"order(metric: "e_m", at: mean, runs: ["low", "away"])"#,
        r#"slope(metric: "e_m", at: mean, versus: "dt_s", runs: "gpu", min: 0, max: 1)"#,
        r#"status(run: "away", is: ["ok"])"#,
    ] {
        let found = judged(check);
        assert_eq!(found.holds, None, "{check}");
        assert!(found.is_good() && found.verdict() == "not judged");
        assert_eq!(found.measured, "away skipped: no adapter");
    }
}

#[test]
fn less_looks_at_its_window() {
    assert!(!holds(r#"less(metric: "e_m", a: "low", b: "high", at: every_step)"#));
    assert!(holds(r#"less(metric: "e_m", a: "low", b: "high", at: every_step_after(1))"#));
    assert!(!holds(
        r#"less(metric: "e_m", a: "low", b: "high", at: every_step_after(1), factor: 0.4)"#
    ));
    assert!(holds(r#"less(metric: "e_m", a: "low", b: "high", at: final, factor: 0.3)"#));
    assert!(!holds(r#"less(metric: "e_m", a: "low", b: "high", at: every_step_after(4))"#));
}

#[test]
fn a_diverged_run_is_infinitely_bad_and_a_failed_one_cannot_be_compared() {
    assert!(holds(r#"less(metric: "e_m", a: "low", b: "gone", at: every_step_after(1))"#));
    assert!(!holds(r#"less(metric: "e_m", a: "gone", b: "gone", at: every_step_after(1))"#));
    assert!(!holds(r#"less(metric: "e_m", a: "low", b: "none", at: mean)"#));
    assert!(!holds(r#"never(metric: "e_m", run: "gone", above: 5)"#));
    assert!(!holds(r#"bound(metric: "e_m", run: "gone", min: 0, at: mean)"#));
}

#[test]
fn bounds_hold_at_every_step_unless_told_otherwise() {
    assert!(!holds(r#"bound(metric: "e_m", run: "low", max: 2)"#));
    assert!(holds(r#"bound(metric: "e_m", run: "low", max: 2, at: mean)"#));
    assert!(holds(r#"never(metric: "e_m", run: "low", below: 0.5, above: 3.5)"#));
    assert!(!holds(r#"never(metric: "e_m", run: "low", below: 1.5)"#));
}

#[test]
fn order_slope_within_and_status() {
    assert!(holds(r#"order(metric: "e_m", at: mean, runs: ["low", "high", "gone"])"#));
    assert!(!holds(r#"order(metric: "e_m", at: mean, runs: ["high", "low"])"#));
    // From 1 at 0.1 to 4 at 0.2: second order.
    let slope = |min: f64, max: f64| {
        holds(&format!(
            r#"slope(metric: "e_m", at: final, versus: "dt_s", runs: "g", min: {min:?}, max: {max:?})"#
        ))
    };
    assert!(slope(1.99, 2.01));
    assert!(!slope(2.1, 3.0));
    assert!(holds(
        r#"within(metric: "e_m", run: "low", at: final, of: value(1.05), relative: 0.1)"#
    ));
    assert!(!holds(
        r#"within(metric: "e_m", run: "low", at: final, of: run("high"), absolute: 1)"#
    ));
    assert!(holds(r#"status(run: "gone", is: ["diverged", "exploded"])"#));
    assert!(!holds(r#"status(run: "gone", is: ["ok"])"#));
}

#[test]
fn needs_finds_the_smallest_budget_that_is_enough() {
    let row = |n: f64, end: f64| FigureRow {
        label: format!("A {n}"),
        group: "A".to_owned(),
        status: "ok".to_owned(),
        facts: vec![("iterations".to_owned(), n), (super::super::TIMED.to_owned(), 1e-3 * n)],
        planned: 1,
        columns: vec![("e_m".to_owned(), vec![end])],
        ..FigureRow::default()
    };
    // Two are enough by chance only: four are not.
    let rows = [row(1.0, 9.0), row(2.0, 1.0), row(4.0, 5.0), row(8.0, 1.0), row(16.0, 0.5)];
    let judged = |limits: &str, max: f64| {
        let text = format!(
            r#"needs(metric: "e_m", at: final, max: {max:?}, versus: "iterations", runs: "A", {limits})"#
        );
        let options = ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let check: ClaimCheck = options.from_str(&text).unwrap();
        let claim = Claim { text: String::new(), check, known_deviation: None, full_only: false };
        judge(&[claim], &rows, false).remove(0)
    };
    assert_eq!(judged("most: 8", 1.0).holds, Some(true));
    assert_eq!(judged("most: 8", 1.0).measured, "8 iterations, 8 ms per frame");
    assert_eq!(judged("most: 7", 1.0).holds, Some(false));
    assert_eq!(judged("least: 8", 1.0).holds, Some(true));
    let never = judged("least: 17", 0.1);
    assert_eq!((never.holds, never.measured.as_str()), (Some(true), "more than 16 iterations"));
}

#[test]
fn a_deviation_must_deviate() {
    let good = |holds, known: Option<&str>| {
        Judged {
            text: String::new(),
            holds,
            measured: String::new(),
            expected: String::new(),
            known_deviation: known.map(str::to_owned),
        }
        .is_good()
    };
    assert!(good(Some(true), None) && good(Some(false), Some("why")));
    assert!(!good(Some(false), None) && !good(Some(true), Some("why")));
    assert!(good(None, None) && good(None, Some("why")));
}

#[test]
fn numbers_are_short() {
    assert_eq!(number(0.25), "0.25");
    assert_eq!(number(1234.5), "1234");
    assert_eq!(number(1.5e-7), "1.500e-7");
    assert_eq!(number(-0.012341), "-0.01234");
}
