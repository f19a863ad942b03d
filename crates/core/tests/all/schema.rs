//! Every scene of the repository is what the published schema says: whoever writes a solver from it can read what is
//! sent.
//!
//! The words of JSON Schema that ours uses are judged here, and any other is a failure: a library for all of them would
//! bring thirty packages.

use std::{fs, path::Path};

use serde_json::{Value, json};
use taut_core::{Scene, load::load_file, protocol::SceneForm};

/// Words that say nothing of a value.
const TOLD: [&str; 4] = ["$schema", "$defs", "title", "description"];

/// What is wrong with a value, and where.
fn mistake(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let rules = schema.as_object().expect("a schema is an object").iter();
    let mut judged = rules.filter(|(word, _)| !TOLD.contains(&word.as_str()));
    judged.find_map(|(word, rule)| broken(root, schema, (word, rule), value))
}

fn broken(
    root: &Value,
    schema: &Value,
    (word, rule): (&str, &Value),
    value: &Value,
) -> Option<String> {
    let number = || rule.as_f64().unwrap();
    let unless = |good: bool| (!good).then(|| format!("{value} against {word}: {rule}"));
    let (items, keys) = (value.as_array(), value.as_object());
    let below = |schema: &Value, value: &Value, place: &dyn std::fmt::Display| {
        mistake(root, schema, value).map(|what| format!("{place}: {what}"))
    };
    match word {
        "type" => {
            let is = |name: &Value| is_of(name.as_str().unwrap(), value);
            unless(rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is)))
        }
        "required" => {
            let mut names = rule.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
            let keys = keys?;
            let missing = names.find(|key| !keys.contains_key(*key));
            missing.map(|key| format!("{key} is missing"))
        }
        "const" => unless(rule == value),
        "enum" => unless(rule.as_array().unwrap().contains(value)),
        "$ref" => {
            let at = rule.as_str().unwrap().strip_prefix('#').expect("a place in the file");
            mistake(root, root.pointer(at).unwrap_or_else(|| panic!("no {at}")), value)
        }
        "oneOf" => {
            let all = rule.as_array().unwrap();
            unless(all.iter().filter(|one| mistake(root, one, value).is_none()).count() == 1)
        }
        "properties" => keys?.iter().find_map(|(key, value)| below(rule.get(key)?, value, key)),
        "additionalProperties" => {
            let known = |key: &str| schema["properties"].get(key).is_some();
            let mut others = keys?.iter().filter(|(key, _)| !known(key));
            let judged = |(key, value): (&String, &Value)| match rule {
                Value::Bool(true) => None,
                Value::Bool(false) => Some(format!("{key} is not known")),
                rule => below(rule, value, key),
            };
            others.find_map(judged)
        }
        "items" => items?.iter().enumerate().find_map(|(place, value)| below(rule, value, &place)),
        "minItems" => unless(items.is_none_or(|items| items.len() as f64 >= number())),
        "maxItems" => unless(items.is_none_or(|items| items.len() as f64 <= number())),
        "minProperties" => unless(keys.is_none_or(|keys| keys.len() as f64 >= number())),
        "maxProperties" => unless(keys.is_none_or(|keys| keys.len() as f64 <= number())),
        "minimum" => unless(value.as_f64().is_none_or(|x| x >= number())),
        "maximum" => unless(value.as_f64().is_none_or(|x| x <= number())),
        "exclusiveMinimum" => unless(value.as_f64().is_none_or(|x| x > number())),
        "uniqueItems" => {
            let repeats =
                |items: &Vec<Value>| (1..items.len()).any(|i| items[..i].contains(&items[i]));
            unless(!items.is_some_and(repeats))
        }
        other => panic!("the schema uses `{other}`, which is not judged here"),
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => {
            assert_eq!(other, format!("{}", Value::Null), "a type");
            value.is_null()
        }
    }
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../src/protocol/scene-1.schema.json")).unwrap()
}

fn document(scene: &Scene) -> Value {
    serde_json::to_value(SceneForm::from(scene)).unwrap()
}

#[test]
fn every_scene_is_what_the_schema_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (schema, mut seen) = (schema(), 0);
    for path in files.filter(|path| path.extension().is_some_and(|kind| kind == "ron")) {
        let document = document(&load_file(&path, &[]).unwrap().scene);
        assert_eq!(mistake(&schema, &schema, &document), None, "{}", path.display());
        seen += 1;
    }
    assert!(seen > 50, "{seen} scenes");
}

#[test]
fn what_is_no_scene_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let whole = document(&load_file(&folder.join("pendulum.ron"), &[]).unwrap().scene);
    let schema = schema();
    for (place, wrong) in [
        ("/dt_s", json!(0.0)),
        ("/steps", json!(-1)),
        ("/gravity", json!([0.0, 1.0])),
        ("/bodies/1/mass_kg", json!("heavy")),
        ("/bodies/1/shape", json!({ "teapot": {} })),
        ("/joints/0/a", json!(null)),
        ("/bodies/0", json!({})),
    ] {
        let mut document = whole.clone();
        *document.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = wrong;
        assert_ne!(mistake(&schema, &schema, &document), None, "{place}");
    }
}
