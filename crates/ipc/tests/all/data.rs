//! The example's answers to files of pairs, held to bounds that differ by how hard a case is.

#[path = "../../examples/pairs/answer.rs"]
mod answer;
#[path = "../../examples/pairs/input.rs"]
mod input;
#[path = "../../examples/pairs/mesh.rs"]
mod mesh;

use std::path::Path;

use serde_json::Value;

/// Cases with their answers, in order.
fn answered(file: &str) -> Vec<(Value, Value)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let answers = answer::answers(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let known: Value = serde_json::from_str(&text).expect("JSON");
    let list = |value: &Value, name: &str| value[name].as_array().expect("a list").clone();
    assert_eq!(known["kind"], answers["kind"]);
    let (cases, results) = (list(&known, "cases"), list(&answers, "results"));
    assert_eq!(cases.len(), results.len());
    cases.into_iter().zip(results).collect()
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().map(|x| x.as_f64().expect("a number")).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

/// Largest difference relative to the largest entry of what is known.
fn error(found: &Value, known: &Value) -> f64 {
    let (found, known) = (flat(found), flat(known));
    assert_eq!(found.len(), known.len());
    let scale = known.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let off = found.iter().zip(&known).fold(0.0_f64, |a, (x, y)| a.max((x - y).abs()));
    if scale > 0.0 { off / scale } else { off }
}

fn category(case: &Value) -> &str {
    case["category"].as_str().unwrap_or("")
}

struct Bounds {
    distance: f64,
    /// Of the gradient of the distance; none where its kind is not unique.
    gradient: Option<f64>,
    hessian: f64,
    /// Of the mollifier, and of the barrier times it, with their derivatives.
    sums: f64,
    /// Of the barrier's gradient, where it is worse than the rest.
    push: f64,
}

impl Bounds {
    fn of(category: &str) -> Self {
        let all = |distance, derivatives, sums| Self {
            distance,
            gradient: Some(derivatives),
            hessian: derivatives,
            sums,
            push: sums,
        };
        match category {
            "region" | "border" | "scaled" | "far" | "short" => all(1e-10, 1e-10, 1e-9),
            "sliver" => Self { gradient: Some(1e-3), push: 1e-3, ..all(1e-8, 1e-8, 1e-8) },
            "close" => all(1e-6, 1e-6, 1e-6),
            "near_parallel" => Self { gradient: None, ..all(1e-6, 0.0, 1e-6) },
            "parallel" | "degenerate" => Self { gradient: None, ..all(1e-10, 0.0, 1e-9) },
            // Those of the nasty files.
            "needle" | "cap" | "common" => all(1e-12, 1e-10, 1e-10),
            "skew" => Self { gradient: None, ..all(1e-12, 0.0, 1e-7) },
            "mollified" => all(1e-12, 1e-11, 1e-11),
            other => panic!("no bounds for `{other}`"),
        }
    }
}

fn hold_distances(file: &str) {
    for (i, (case, found)) in answered(file).iter().enumerate() {
        let category = category(case);
        let bounds = Bounds::of(category);
        let check = |what: &str, found: &Value, known: &Value, bound: f64| {
            let error = error(found, known);
            assert!(
                error <= bound,
                "{file} case {i}, {category}, {what}: {error:e} over {bound:e}"
            );
        };
        let name = "distance_squared";
        check(name, &found[name], &case[name], bounds.distance);
        if category != "parallel" && category != "near_parallel" {
            let kinds = case["kinds"].as_array().expect("a list");
            assert!(kinds.contains(&found["kinds"][0]), "{file} case {i}: {}", found["kinds"]);
        }
        if let (Some(bound), Some(known)) = (bounds.gradient, case.get("gradient")) {
            check("gradient", &found["gradient"], known, bound);
            check("hessian_lower", &found["hessian_lower"], &case["hessian_lower"], bounds.hessian);
        }
        for name in ["eps_x", "cross_squared", "value", "gradient", "hessian_lower"] {
            if let Some(known) = case.get("mollifier").map(|mollifier| &mollifier[name]) {
                check(name, &found["mollifier"][name], known, bounds.sums);
            }
        }
        let Some(known) = case.get("barrier") else { continue };
        check("push", &found["barrier"]["gradient"], &known["gradient"], bounds.push);
        for name in ["value", "hessian_lower", "hessian_psd_lower"] {
            check(name, &found["barrier"][name], &known[name], bounds.sums);
        }
        hold_positive(&flat(&found["barrier"]["hessian_psd_lower"]), &format!("{file} case {i}"));
    }
}

/// The least eigenvalue is not below zero by more than rounding.
fn hold_positive(lower: &[f64], what: &str) {
    let entry = |i: usize, j: usize| lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    let h = nalgebra::SMatrix::<f64, 12, 12>::from_fn(entry);
    let least = h.symmetric_eigenvalues().min();
    assert!(least >= -1e-12 * h.amax(), "{what}: {least:e} of {:e}", h.amax());
}

#[test]
fn points_and_triangles() {
    hold_distances("point_triangle.json");
    hold_distances("nasty/point_triangle.json");
}

#[test]
fn edges() {
    hold_distances("edge_edge.json");
    hold_distances("nasty/edge_edge.json");
}

/// Never late, rarely early, and apart for all of the told share.
fn hold_impacts(file: &str) {
    let (mut shares, mut hits) = (Vec::new(), Vec::new());
    for (i, (case, found)) in answered(file).iter().enumerate() {
        let (category, told) = (category(case), found["impact"].as_f64());
        let what = format!("{file} case {i}, {category}: {told:?} of {}", case["impact"]);
        match (case["impact"].as_f64(), told) {
            (Some(exact), Some(told)) => {
                assert!(0.0 < told && told <= exact && told >= 0.04 * exact, "{what}");
                shares.push(told / exact);
                if category == "hit" {
                    hits.push(told / exact);
                }
            }
            (Some(_), None) => panic!("{what}: late"),
            (None, None) => {}
            (None, Some(_)) => {
                assert!(category != "miss" && category != "still", "{what}");
                let [start, least] = ["distance_start", "distance_min"]
                    .map(|name| case[name].as_f64().expect("a number"));
                assert!(least < 0.35 * start, "{what}: it has stopped where nothing is near");
            }
        }
    }
    let good = shares.iter().filter(|share| **share >= 0.5).count();
    assert!(10 * good >= 9 * shares.len(), "{file}: {good} of {}", shares.len());
    hits.sort_by(f64::total_cmp);
    assert!(hits.is_empty() || hits[hits.len() / 2] >= 0.8, "{file}: {hits:?}");
}

#[test]
fn impacts_of_points_and_triangles() {
    hold_impacts("ccd_point_triangle.json");
    hold_impacts("nasty/ccd_point_triangle.json");
}

#[test]
fn impacts_of_edges() {
    hold_impacts("ccd_edge_edge.json");
    hold_impacts("nasty/ccd_edge_edge.json");
}

#[test]
fn friction() {
    for (i, (case, found)) in answered("friction.json").iter().enumerate() {
        for name in ["sliding", "value", "gradient", "hessian_lower"] {
            let error = error(&found[name], &case[name]);
            assert!(error <= 1e-9, "case {i}, {name}: {error:e}");
        }
    }
}

#[test]
fn intersections() {
    for file in ["intersection.json", "nasty/intersection.json"] {
        for (i, (case, found)) in answered(file).iter().enumerate() {
            assert_eq!(
                case["intersect"],
                found["intersect"],
                "{file} case {i}: {}",
                category(case)
            );
        }
    }
}

#[test]
fn meshes() {
    for (i, (case, found)) in answered("mesh.json").iter().enumerate() {
        let known = &case["expected"];
        let sums = [
            ("distance_min", 1e-9),
            ("barrier", 1e-8),
            ("gradient", 1e-8),
            ("hessian_psd_times_direction", 1e-6),
        ];
        for (name, bound) in sums {
            let error = error(&found[name], &known[name]);
            assert!(error <= bound, "case {i}, {name}: {error:e}");
        }
        for name in ["pairs_point_triangle", "pairs_edge_edge", "intersections_after_full_step"] {
            assert_eq!(found[name], known[name], "case {i}: {name}");
        }
        let what = format!("case {i}: {} of {}", found["step_max"], known["step_max"]);
        match (known["step_max"].as_f64(), found["step_max"].as_f64()) {
            (Some(exact), Some(told)) => {
                assert!(0.0 < told && told <= exact && told >= 0.3 * exact, "{what}");
            }
            (None, None) => {}
            _ => panic!("{what}"),
        }
    }
}

fn refused(text: &str) -> String {
    answer::answers(text).expect_err("something is wrong with it")
}

#[test]
fn bad_input_is_told_in_words() {
    let told = [
        ("", "not JSON"),
        ("[1, 2]", "`schema` is not 1"),
        (r#"{"schema":2,"kind":"mesh","cases":[]}"#, "`schema` is not 1"),
        (r#"{"schema":1,"cases":[]}"#, "no text `kind`"),
        (r#"{"schema":1,"kind":"sphere","cases":[]}"#, "unknown kind `sphere`"),
        (r#"{"schema":1,"kind":"edge_edge"}"#, "no field `cases`"),
        (r#"{"schema":1,"kind":"edge_edge","cases":3}"#, "`cases` is not a list"),
        (r#"{"schema":1,"kind":"edge_edge","cases":[{}]}"#, "case 0: no field `points`"),
        (
            r#"{"schema":1,"kind":"edge_edge","cases":[{"points":[[0,0,0]]}]}"#,
            "1 points instead of 4",
        ),
        (
            r#"{"schema":1,"kind":"edge_edge","cases":[{"points":[[0,0]]}]}"#,
            "2 numbers instead of 3",
        ),
        (r#"{"schema":1,"kind":"edge_edge","cases":[{"points":[[0,0,NaN]]}]}"#, "not JSON"),
        (r#"{"schema":1,"kind":"edge_edge","cases":[{"points":[[0,0,1e999]]}]}"#, "not JSON"),
        (
            r#"{"schema":1,"kind":"edge_edge","cases":[{"points":[[0,0,null]]}]}"#,
            "null is not a finite number",
        ),
        (
            r#"{"schema":1,"kind":"mesh","cases":[{"d_hat":1,"bodies":[{"vertices":[[0,0,0]],"triangles":[[0,0,7]]}]}]}"#,
            "case 0: body 0: `triangles`[0]: 7 is not the index of one of 1 vertices",
        ),
        (
            r#"{"schema":1,"kind":"mesh","cases":[{"d_hat":0}]}"#,
            "`d_hat` is 0, and has to be above 0",
        ),
    ];
    for (text, part) in told {
        let error = refused(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}
