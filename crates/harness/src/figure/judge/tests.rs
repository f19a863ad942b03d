//! Claims on rows made by hand.

use super::*;
use crate::figure::{LONGEST, MEAN_TIME, TIMED};

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

/// A claim from its fields in RON.
fn claim(fields: &str) -> Claim {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&format!("(text: \"c\", {fields})")).unwrap()
}

fn judged(check: &str) -> Judged {
    judged_with(check, "")
}

fn judged_with(check: &str, more: &str) -> Judged {
    judge_one(&claim(&format!("check: {check}, {more}")), &rows())
}

fn holds(check: &str) -> bool {
    judged(check).holds.unwrap()
}

#[test]
fn an_order_is_that_of_the_last_values_that_fall() {
    let of = |values: &[f64], order: f64| {
        let mut rows = rows();
        rows[0].columns[0].1 = values.to_vec();
        let check = format!(r#"check: converges(metric: "e_m", run: "low", order: {order})"#);
        judge_one(&claim(&check), &rows)
    };
    let quadratic = of(&[1e-1, 1e-2, 1e-4, 1e-8, 1e-8], 1.9);
    assert_eq!((quadratic.holds, quadratic.values), (Some(true), vec![2.0]));
    assert_eq!(of(&[1e-1, 1e-2, 1e-4, 1e-8], 2.1).holds, Some(false));
    assert_eq!(of(&[8.0, 4.0, 2.0, 1.0], 1.5).holds, Some(false));
    for nothing in [&[1.0, 1.0, 1.0][..], &[2.0, 1.0], &[1.0, 2.0, 1.0], &[1.0, 0.0]] {
        assert_eq!(of(nothing, 1.0).verdict, Verdict::Void, "{nothing:?}");
    }
}

#[test]
fn what_never_rises_is_seen_step_by_step() {
    assert!(holds(r#"never_rises(metric: "e_m", run: "low", by: 0)"#));
    assert!(holds(r#"never_rises(metric: "e_m", run: "high", by: 2)"#));
    assert!(!holds(r#"never_rises(metric: "e_m", run: "high", by: 1.9)"#));
}

#[test]
fn motions_are_followed_until_rounding_parts_them() {
    let mut rows = rows();
    let mut follows = claim(
        r#"check: less(metric: "e_m", a: "low", b: "high", at: every_step_after(1), factor: 1)"#,
    );
    follows.follows_motion = true;
    rows[0].columns[0].1 = vec![3.0, 1.0, 9.0, 9.0];
    assert_eq!(judge_one(&follows, &rows).verdict, Verdict::Fails);
    rows[1].horizon = Some(3);
    let found = judge_one(&follows, &rows);
    assert_eq!(found.verdict, Verdict::Holds, "{}", found.measured);
    assert!(found.measured.ends_with("up to step 2, after which rounding parts the runs"));
    rows[0].horizon = Some(2);
    assert_eq!(judge_one(&follows, &rows).verdict, Verdict::Unclear, "no step is left");
    follows.follows_motion = false;
    assert_eq!(judge_one(&follows, &rows).verdict, Verdict::Fails, "a statistic is of all steps");
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
        assert_eq!(found.verdict, Verdict::NotJudged);
        assert_eq!(found.measured, "away skipped: no adapter");
    }
}

#[test]
fn more_iterations_than_were_given_are_told() {
    let told = |used: &[f64]| {
        let mut rows = rows();
        rows[0].set_fact("iterations", 1.0);
        rows[0].columns.push((crate::ruler::ITERATIONS_USED.to_owned(), used.to_vec()));
        let check = r#"bound(metric: "e_m", run: "low", max: 9)"#;
        judge_one(&claim(&format!("check: {check}")), &rows).measured
    };
    assert!(
        told(&[1.0, 4.0, 1.0, 2.0])
            .ends_with("; low took 2 iterations a step on average and 4 at most")
    );
    assert!(!told(&[1.0; 4]).contains("took"));
}

#[test]
fn less_looks_at_its_window() {
    assert!(!holds(r#"less(metric: "e_m", a: "low", b: "high", at: every_step)"#));
    assert!(holds(r#"less(metric: "e_m", a: "low", b: "high", at: every_step_after(1))"#));
    assert!(!holds(
        r#"less(metric: "e_m", a: "low", b: "high", at: every_step_after(1), factor: 0.4)"#
    ));
    assert!(holds(r#"less(metric: "e_m", a: "low", b: "high", at: final, factor: 0.3)"#));
    let beyond = r#"less(metric: "e_m", a: "low", b: "high", at: every_step_after(4))"#;
    assert_eq!(judged(beyond).verdict, Verdict::Void, "there is no such step");
}

#[test]
fn a_claim_on_a_run_that_ended_badly_is_void() {
    for check in [
        r#"less(metric: "e_m", a: "low", b: "gone", at: every_step_after(1))"#,
        r#"less(metric: "e_m", a: "low", b: "none", at: mean)"#,
        r#"bound(metric: "e_m", run: "gone", min: 0, at: mean)"#,
        r#"never(metric: "e_m", run: "gone", below: 0)"#,
        r#"order(metric: "e_m", at: mean, runs: ["low", "gone"])"#,
        r#"slope(metric: "e_m", at: final, versus: "dt_s", runs: "h", min: 0, max: 9)"#,
        r#"needs(metric: "e_m", at: mean, max: 1, versus: "dt_s", runs: "h", least: 0)"#,
        r#"within(metric: "e_m", run: "low", at: mean, of: run("gone"), absolute: 9)"#,
        r#"follows(metric: "e_m", run: "low", of: "gone", absolute: 9)"#,
        r#"status(run: "none", is: ["ok"])"#,
    ] {
        let (found, marked) = (judged(check), judged_with(check, "known_deviation: \"w\""));
        assert_eq!((found.verdict, found.holds), (Verdict::Void, None), "{check}");
        assert_eq!(marked.verdict, Verdict::Void, "no deviation was measured: {check}");
        assert!(!found.verdict.is_good());
    }
}

#[test]
fn a_run_may_end_as_told_beforehand() {
    let against_gone = r#"less(metric: "e_m", a: "low", b: "gone", at: every_step_after(1))"#;
    let told = judged_with(against_gone, r#"ends: {"gone": ["exploded", "diverged"]}"#);
    assert_eq!(told.verdict, Verdict::Holds);
    assert!(told.measured.ends_with("; gone diverged, as told"), "{}", told.measured);
    let by_entry = judged_with(against_gone, r#"ends: {"h": ["diverged"]}"#);
    assert_eq!(by_entry.verdict, Verdict::Holds);
    let otherwise = judged_with(against_gone, r#"ends: {"gone": ["exploded"]}"#);
    assert_eq!(otherwise.verdict, Verdict::Void);
    let against_low = r#"less(metric: "e_m", a: "low", b: "high", at: final)"#;
    let well = judged_with(against_low, r#"ends: {"low": ["exploded"]}"#);
    assert_eq!(well.verdict, Verdict::Void, "it was to explode");
    let crashed = r#"less(metric: "e_m", a: "low", b: "none", at: mean)"#;
    assert_eq!(judged_with(crashed, r#"ends: {"none": ["failed"]}"#).verdict, Verdict::Void);
    assert!(!holds_with(r#"never(metric: "e_m", run: "gone", above: 5)"#));
    assert!(!holds_with(r#"less(metric: "e_m", a: "gone", b: "gone", at: every_step_after(1))"#));
}

/// Of a claim that says how the run that diverges ends.
fn holds_with(check: &str) -> bool {
    judged_with(check, r#"ends: {"gone": ["diverged"]}"#).holds.unwrap()
}

#[test]
fn curves_follow_each_other_step_by_step() {
    // 1, -1, -1 and -3 apart.
    let follows = |limit: &str| {
        judged(&format!(r#"follows(metric: "e_m", run: "low", of: "high", {limit})"#))
    };
    assert_eq!(follows("absolute: 1.8").verdict, Verdict::Holds);
    assert_eq!(follows("absolute: 1.7").verdict, Verdict::Fails);
    assert!((follows("absolute: 1").values[0] - 3.0_f64.sqrt()).abs() < 1e-12);
    // The other's root of the mean square is the root of 7.
    assert_eq!(follows("relative: 0.66").verdict, Verdict::Holds);
    assert_eq!(follows("relative: 0.65").verdict, Verdict::Fails);
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
    assert!(holds_with(r#"order(metric: "e_m", at: mean, runs: ["low", "high", "gone"])"#));
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
        facts: vec![("iterations".to_owned(), n), (TIMED.to_owned(), 1e-3 * n)],
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
        judge_one(&claim(&format!("check: {text}")), &rows)
    };
    assert_eq!(judged("most: 8", 1.0).holds, Some(true));
    assert_eq!(judged("most: 8", 1.0).measured, "8 iterations, 8 ms per frame");
    assert_eq!(judged("most: 7", 1.0).holds, Some(false));
    assert_eq!(judged("least: 8", 1.0).holds, Some(true));
    let never = judged("least: 17", 0.1);
    assert_eq!((never.holds, never.measured.as_str()), (Some(true), "more than 16 iterations"));
}

#[test]
fn budgets_that_end_badly_are_not_enough_and_the_largest_must_end_well() {
    let row = |n: f64, status: &str| FigureRow {
        label: format!("A {n}"),
        group: "A".to_owned(),
        status: status.to_owned(),
        facts: vec![("iterations".to_owned(), n)],
        planned: 1,
        columns: vec![("e_m".to_owned(), vec![0.0])],
        ..FigureRow::default()
    };
    let check =
        r#"needs(metric: "e_m", at: final, max: 1, versus: "iterations", runs: "A", least: 2)"#;
    let judged = |rows: &[FigureRow]| judge_one(&claim(&format!("check: {check}")), rows);
    let found = judged(&[row(1.0, "exploded"), row(2.0, "ok")]);
    assert_eq!((found.verdict, found.values), (Verdict::Holds, vec![2.0]));
    assert_eq!(judged(&[row(1.0, "ok"), row(2.0, "frozen")]).verdict, Verdict::Void);
    assert_eq!(judged(&[row(1.0, "failed"), row(2.0, "ok")]).verdict, Verdict::Void);
}

#[test]
fn a_deviation_must_deviate() {
    let verdict = |below: f64, more: &str| {
        let check = format!(r#"bound(metric: "e_m", run: "low", at: final, max: {below:?})"#);
        judged_with(&check, more).verdict
    };
    let mark = r#"known_deviation: "w""#;
    assert_eq!(verdict(2.0, ""), Verdict::Holds);
    assert_eq!(verdict(0.5, ""), Verdict::Fails);
    assert_eq!(verdict(0.5, mark), Verdict::Deviation);
    assert_eq!(verdict(2.0, mark), Verdict::Fails);
    assert!(Verdict::Deviation.is_good() && !Verdict::Fails.is_good());
}

#[test]
fn numbers_are_short() {
    assert_eq!(number(0.25), "0.25");
    assert_eq!(number(1234.5), "1234");
    assert_eq!(number(1.5e-7), "1.500e-7");
    assert_eq!(number(-0.012341), "-0.01234");
}

#[test]
fn a_faster_run_is_so_by_its_whole_interval() {
    let row = |label: &str, times: &[f64]| FigureRow {
        label: label.to_owned(),
        status: "ok".to_owned(),
        block_times_s: times.to_vec(),
        facts: [(TIMED, 0), (MEAN_TIME, 2), (LONGEST, 3)]
            .into_iter()
            .filter_map(|(name, at)| Some((name.to_owned(), *times.get(at)?)))
            .collect(),
        ..FigureRow::default()
    };
    let rows = [
        row("one", &[1.0, 1.0, 1.0, 1.0, 1.0]),
        row("two", &[2.0, 1.9, 2.1, 2.2, 1.8]),
        row("untimed", &[]),
    ];
    let verdict = |check: &str| judge_one(&claim(&format!("check: {check}")), &rows).verdict;
    assert_eq!(verdict(r#"faster(a: "one", b: "two")"#), Verdict::Holds);
    assert_eq!(verdict(r#"faster(a: "one", b: "two", by: 3)"#), Verdict::Fails);
    assert_eq!(verdict(r#"faster(a: "one", b: "two", by: 2)"#), Verdict::Unclear);
    assert_eq!(verdict(r#"faster(a: "two", b: "one")"#), Verdict::Fails);
    assert_eq!(verdict(r#"faster(a: "one", b: "two", most: 3)"#), Verdict::Holds);
    assert_eq!(verdict(r#"faster(a: "one", b: "two", most: 2)"#), Verdict::Unclear);
    assert_eq!(verdict(r#"faster(a: "one", b: "two", most: 1.5)"#), Verdict::Fails);
    assert_eq!(verdict(r#"faster(a: "one", b: "untimed")"#), Verdict::Void);
    assert!(Verdict::Unclear.is_good());
    let published =
        claim(r#"check: published(run: "two", step_s: 0.5, on: "P"), known_deviation: "w""#);
    let told = judge_one(&published, &rows);
    assert_eq!(told.verdict, Verdict::NotJudged);
    assert_eq!(
        told.measured,
        "published 500 ms (P), here 2100 ms on average over all steps, 2000 ms in the median, 2200 ms at most"
    );
}
