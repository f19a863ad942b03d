//! From the text of a file to the text of its answers.

use serde_json::{Map, Value, json};
use taut_ipc::{
    ccd::{Features, PairSweep, additive::safe_share},
    distance::{self, Proximity},
    friction::SlidingPair,
    intersect::triangles_intersect,
    mollifier::{Mollifier, threshold},
    pair::BarrierPair,
    tangents,
};
use taut_math::V3;

use super::{
    input::{list, number, numbers, points, positive},
    mesh,
};

type Answer = Result<Value, String>;

/// The answers to a file, or what is wrong with it.
pub(crate) fn answers(text: &str) -> Answer {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if file.get("schema").and_then(Value::as_u64) != Some(1) {
        return Err("`schema` is not 1".to_owned());
    }
    let kind = file.get("kind").and_then(Value::as_str).ok_or("no text `kind`")?;
    let answer: fn(&Value) -> Answer = match kind {
        "point_triangle" => point_triangle,
        "edge_edge" => edge_edge,
        "ccd_point_triangle" => |case| impact(case, Features::PointTriangle),
        "ccd_edge_edge" => |case| impact(case, Features::EdgeEdge),
        "friction" => friction,
        "intersection" => intersection,
        "mesh" => mesh::answer,
        other => return Err(format!("unknown kind `{other}`")),
    };
    let cases = list(&file, "cases")?.iter().enumerate();
    let results: Result<Vec<Value>, String> =
        cases.map(|(i, case)| answer(case).map_err(|error| format!("case {i}: {error}"))).collect();
    Ok(json!({"schema": 1, "kind": kind, "results": results?}))
}

/// The lower triangle row by row.
fn lower(h: &[[f64; 12]; 12]) -> Vec<f64> {
    (0..12).flat_map(|i| h[i][..=i].iter().copied()).collect()
}

fn distances(points: &[V3<f64>; 4], near: &Proximity) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("kinds".to_owned(), json!([near.kind.name()]));
    out.insert("distance_squared".to_owned(), json!(near.squared));
    out.insert("gradient".to_owned(), json!(distance::gradient(near)));
    out.insert("hessian_lower".to_owned(), json!(lower(&distance::hessian(points, near))));
    out
}

fn barrier(pair: &BarrierPair) -> Value {
    json!({
        "value": pair.value(),
        "gradient": pair.gradient(),
        "hessian_lower": lower(&pair.hessian()),
        "hessian_psd_lower": lower(&pair.hessian_psd()),
    })
}

/// Cases of no area come without `d_hat`, and are asked for the distance alone.
fn point_triangle(case: &Value) -> Answer {
    let points = points(case, "points")?;
    let near = distance::point_triangle(&points);
    let mut out = distances(&points, &near);
    if case.get("d_hat").is_some() {
        let pair = BarrierPair::new(&points, near, positive(case, "d_hat")?, None);
        out.insert("barrier".to_owned(), barrier(&pair));
    }
    Ok(Value::Object(out))
}

fn edge_edge(case: &Value) -> Answer {
    let points = points(case, "points")?;
    let near = distance::edge_edge(&points);
    let mut out = distances(&points, &near);
    if case.get("rest_lengths").is_some() {
        let [a, b] = numbers(case, "rest_lengths")?;
        let eps_x = threshold(a, b);
        let mollifier = Mollifier::new(&points, eps_x);
        let answer = json!({
            "eps_x": eps_x,
            "cross_squared": mollifier.cross_squared,
            "value": mollifier.value,
            "gradient": mollifier.gradient(),
            "hessian_lower": lower(&mollifier.hessian()),
        });
        out.insert("mollifier".to_owned(), answer);
        if case.get("d_hat").is_some() {
            let pair = BarrierPair::edge_edge(&points, eps_x, positive(case, "d_hat")?);
            out.insert("barrier".to_owned(), barrier(&pair));
        }
    }
    Ok(Value::Object(out))
}

fn impact(case: &Value, features: Features) -> Answer {
    let (start, end) = (points(case, "start")?, points::<4>(case, "end")?);
    let moves = [0, 1, 2, 3].map(|i| end[i] - start[i]);
    let sweep = PairSweep::new(features, &start, &moves);
    Ok(json!({"impact": safe_share(&sweep, 0.0, 1.0, mesh::NEAR)}))
}

fn friction(case: &Value) -> Answer {
    let weights = numbers(case, "weights")?;
    let normal = V3(numbers(case, "normal")?);
    if (normal.dot(normal) - 1.0).abs() > 1e-9 {
        return Err("`normal` is not of unit length".to_owned());
    }
    let displacements = points(case, "displacements")?;
    let strength = number(case, "mu")? * number(case, "normal_force")?;
    let eps = positive(case, "eps")?;
    let pair = SlidingPair::new(&weights, &tangents(normal), &displacements, strength, eps);
    Ok(json!({
        "sliding": pair.way(),
        "value": pair.value(),
        "gradient": pair.gradient(),
        "hessian_lower": lower(&pair.hessian()),
    }))
}

fn intersection(case: &Value) -> Answer {
    let corners = |name| points::<3>(case, name).map(|corners| corners.map(|corner| corner.0));
    Ok(json!({"intersect": triangles_intersect(&corners("a")?, &corners("b")?)}))
}
