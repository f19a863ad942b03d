//! Settings in RON as controls: numbers, switches and choices.

use taut_core::{Backend, Scene, Settings};

use crate::{runner::build, spec::split_outside};

/// How a setting is set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Knob {
    /// A number.
    Number(f64),
    /// On or off.
    Switch(bool),
    /// One of some words.
    Choice(Vec<String>),
    /// Anything else, as it is written.
    Words,
}

/// One setting in force.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SettingKnob {
    /// Its name.
    pub(crate) key: String,
    /// Its value in RON.
    pub(crate) value: String,
    /// How it is set.
    pub(crate) knob: Knob,
}

/// Names and values of a struct in RON, in order.
pub(crate) fn fields(ron: &str) -> Vec<(String, String)> {
    let inner = ron.trim().split_once('(').map_or("", |(_, rest)| rest);
    let inner = inner.trim_end().strip_suffix(')').unwrap_or(inner);
    let parts = split_outside(inner).into_iter();
    let pairs = parts.filter_map(|part| part.split_once(':'));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// The controls of the settings in force of a backend.
pub(crate) fn knobs(backend: &dyn Backend, scene: &Scene, resolved: &str) -> Vec<SettingKnob> {
    let knob = |(key, value): (String, String)| {
        let knob = match value.as_str() {
            "true" => Knob::Switch(true),
            "false" => Knob::Switch(false),
            number if number.parse::<f64>().is_ok() => {
                Knob::Number(number.parse().unwrap_or_default())
            }
            word if word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                match choices(backend, scene, &key) {
                    words if words.contains(&value) => Knob::Choice(words),
                    _ => Knob::Words,
                }
            }
            _ => Knob::Words,
        };
        SettingKnob { key, value, knob }
    };
    fields(resolved).into_iter().map(knob).collect()
}

/// The words that a setting may be, which a backend tells when it refuses one that is none of them.
fn choices(backend: &dyn Backend, scene: &Scene, key: &str) -> Vec<String> {
    const NO_WORD: &str = "no_such_choice";
    let settings = Settings::from_ron(format!("({key}: {NO_WORD})"));
    let Err(refusal) = build(backend, scene, &settings) else { return vec![] };
    let message = refusal.to_string();
    // `.. variant named .., expected one of `a`, `b`, or `c` instead in ..`.
    let Some((_, expected)) = message.split_once(", expected ") else { return vec![] };
    let words = expected.split(" instead").next().unwrap_or_default();
    words.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use taut_core::load::load_str;

    use super::*;
    use crate::backends;

    #[test]
    fn fields_keep_nested_values_together() {
        let expected = [("a", "1.0"), ("b", "Some((c: 2, d: [1, 2]))"), ("e", "x(omega: 0.5)")];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(fields("(a:1.0, b: Some((c: 2, d: [1, 2])), e:x(omega: 0.5))"), expected);
        assert!(fields("()").is_empty());
    }

    #[test]
    fn settings_are_numbers_switches_and_choices() {
        let table = backends::table();
        let backend = table.get("xpbd-cpu").expect("a backend");
        let scene = "(contacts: false, bodies: [body(shape: sphere(radius: 1), mass: 1)])";
        let scene = load_str(scene, "test", &[]).expect("a scene").scene;
        let resolved = "(mode: substeps, relaxation: 1.0, gyroscopic: true)";
        let knobs: Vec<Knob> =
            knobs(&**backend, &scene, resolved).into_iter().map(|k| k.knob).collect();
        let modes = vec!["substeps".to_owned(), "iterations".to_owned()];
        assert_eq!(knobs, [Knob::Choice(modes), Knob::Number(1.0), Knob::Switch(true)]);
    }
}
