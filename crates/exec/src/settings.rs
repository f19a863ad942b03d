//! Settings are RON on this side and JSON on the other.

use std::{collections::BTreeMap, fmt};

use ron::value::RawValue;
use serde::{
    Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value};

/// Settings as JSON.
pub(crate) type JsonSettings = Map<String, Value>;

/// The fields of a struct, each as it is written.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = BTreeMap<String, Box<RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("settings such as `(gain: 3)`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            fields.insert(key, map.next_value()?);
        }
        Ok(fields)
    }
}

/// The RON text of a struct as JSON. A bare word is a text.
///
/// # Errors
/// What JSON cannot say, and what is no struct, in words.
pub(crate) fn to_json(ron: &str) -> Result<JsonSettings, String> {
    let said = |error: &dyn fmt::Display| format!("{error} in `{ron}`");
    let mut deserializer = ron::Deserializer::from_str(ron).map_err(|error| said(&error.code))?;
    let fields = deserializer.deserialize_struct("", &[], Fields).map_err(|error| said(&error))?;
    deserializer.end().map_err(|error| said(&error))?;
    let pairs = fields.into_iter().map(|(key, value)| {
        let json = value_to_json(value.get_ron().trim());
        Ok((key.clone(), json.map_err(|why| format!("setting `{key}` {why}"))?))
    });
    pairs.collect()
}

fn value_to_json(text: &str) -> Result<Value, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if text == "None" {
        return Ok(Value::Null);
    }
    if starts && text.chars().all(word) && !["true", "false", "inf", "NaN"].contains(&text) {
        return Ok(Value::String(text.to_owned()));
    }
    let value: ron::Value =
        ron::from_str(text).map_err(|error| format!("cannot be read: {}", error.code))?;
    nested(&value).ok_or_else(|| {
        format!("is `{text}`, but takes finite numbers, texts, booleans, lists and maps of these")
    })
}

fn nested(value: &ron::Value) -> Option<Value> {
    Some(match value {
        ron::Value::Bool(truth) => Value::Bool(*truth),
        ron::Value::Char(letter) => Value::String(letter.to_string()),
        ron::Value::String(text) => Value::String(text.clone()),
        ron::Value::Number(number) => number_to_json(number.into_f64())?,
        ron::Value::Option(None) => Value::Null,
        ron::Value::Option(Some(inner)) => nested(inner)?,
        ron::Value::Seq(list) => Value::Array(list.iter().map(nested).collect::<Option<_>>()?),
        ron::Value::Map(map) => {
            let pair = |(key, value): (&ron::Value, &ron::Value)| match key {
                ron::Value::String(key) => Some((key.clone(), nested(value)?)),
                _ => None,
            };
            Value::Object(map.iter().map(pair).collect::<Option<_>>()?)
        }
        // A bare word within a list would be one of these, and get lost.
        ron::Value::Bytes(_) | ron::Value::Unit => return None,
    })
}

/// Whole numbers without a point, as programs that count expect them.
fn number_to_json(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some(Value::from(number as i64));
    }
    serde_json::Number::from_f64(number).map(Value::Number)
}

/// Settings in force as the RON text of a struct.
pub(crate) fn to_ron(settings: &JsonSettings) -> String {
    let fields: Vec<String> =
        settings.iter().map(|(key, value)| format!("{key}: {}", value_to_ron(value))).collect();
    format!("({})", fields.join(", "))
}

fn value_to_ron(value: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(value_to_ron).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Array(items) => format!("[{}]", list(items)),
        Value::Object(map) => {
            let pair =
                |(key, value): (&String, &Value)| format!("{key:?}: {}", value_to_ron(value));
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        // Booleans, numbers and texts are written alike.
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_sent_as_json() {
        let json = |ron: &str| to_json(ron).map(|map| Value::Object(map).to_string());
        let cases = [
            ("()", "{}"),
            ("(gain: 3, mode: fast)", r#"{"gain":3,"mode":"fast"}"#),
            ("(drag: 0.5, on: true, x: None)", r#"{"drag":0.5,"on":true,"x":null}"#),
            (r#"(name: "a b", list: [1, 2.5])"#, r#"{"list":[1,2.5],"name":"a b"}"#),
            (r#"(map: {"a": 1})"#, r#"{"map":{"a":1}}"#),
        ];
        for (ron, expected) in cases {
            assert_eq!(json(ron).as_deref(), Ok(expected));
            let there = to_json(ron).unwrap();
            assert_eq!(to_json(&to_ron(&there)), Ok(there), "{ron}");
        }
        for wrong in ["(", "7", "(drag: NaN)", "(drag: inf)", "(a: [fast])", "(a: )", "() x"] {
            assert!(json(wrong).is_err_and(|said| !said.is_empty()), "{wrong}");
        }
    }
}
