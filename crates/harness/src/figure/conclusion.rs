//! What a figure shows, as one sentence that cannot go stale.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Figure, VerdictFile, number};

/// Most characters of a conclusion on a picture.
pub(super) const LONGEST: usize = 84;

/// The title of a picture while every claim that it rests on holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conclusion {
    /// The sentence, with names of values in braces.
    pub text: String,
    /// Numbers that claims measured, by name.
    #[serde(default)]
    pub values: BTreeMap<String, MeasuredValue>,
    /// Ids of the claims that must hold.
    pub rests_on: Vec<String>,
}

/// One of the numbers that a claim measured: so it is on file, and the sentence says what was found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredValue {
    /// Id of the claim.
    pub claim: String,
    /// Which of its numbers, from 0.
    #[serde(default)]
    pub value: usize,
    /// Unit of the number; lengths and times get the prefix that suits.
    #[serde(default)]
    pub unit: String,
}

impl Conclusion {
    /// What is wrong with it, in words.
    pub(super) fn mistake(&self, ids: &[&str]) -> Option<String> {
        if self.rests_on.is_empty() {
            return Some("a conclusion rests on at least one claim".to_owned());
        }
        let named = self.rests_on.iter().chain(self.values.values().map(|value| &value.claim));
        if let Some(unknown) = named.into_iter().find(|id| !ids.contains(&id.as_str())) {
            return Some(format!("no claim has the id `{unknown}`"));
        }
        if let Some(unused) =
            self.values.keys().find(|key| !self.text.contains(&format!("{{{key}}}")))
        {
            return Some(format!("`{{{unused}}}` does not occur in the conclusion"));
        }
        // A value is no longer than `0.123 mm`.
        let names: usize = self.values.keys().map(|key| key.len() + 2).sum();
        let length = self.text.chars().count() + 8 * self.values.len() - names;
        (length > LONGEST).then(|| {
            format!(
                "a conclusion has at most {LONGEST} characters, with its values; this has {length}"
            )
        })
    }
}

/// The conclusion of a figure, if it has one and all that it rests on holds.
pub(super) fn sentence(figure: &Figure, verdicts: &VerdictFile) -> Option<String> {
    let conclusion = figure.conclusion.as_ref()?;
    // Verdicts are in the order of the definition.
    let found = |id: &str| {
        let place = figure.claims.iter().position(|claim| claim.id.as_deref() == Some(id))?;
        verdicts.claims.get(place)
    };
    let holds = |id: &String| found(id).is_some_and(|claim| claim.verdict == "holds");
    if !conclusion.rests_on.iter().all(holds) {
        return None;
    }
    let mut text = conclusion.text.clone();
    for (name, value) in &conclusion.values {
        let measured = (*found(&value.claim)?.values.get(value.value)?)?;
        text = text.replace(&format!("{{{name}}}"), &with_unit(measured, &value.unit));
    }
    Some(text)
}

/// What stands above a figure: its conclusion while that holds, else its title.
pub fn heading(figure: &Figure, verdicts: Option<&VerdictFile>) -> String {
    let concluded = verdicts.and_then(|verdicts| sentence(figure, verdicts));
    concluded.unwrap_or_else(|| figure.title.clone())
}

/// Two digits with a unit; lengths [m] and times [s] get the prefix that suits.
pub fn with_unit(value: f64, unit: &str) -> String {
    let digits = |v: f64| {
        let magnitude = 10f64.powi(v.abs().max(f64::MIN_POSITIVE).log10().floor() as i32 - 1);
        number((v / magnitude).round() * magnitude)
    };
    let size = value.abs();
    match unit {
        "" => digits(value),
        "m" | "s" if size >= 0.1 || (unit == "s" && size >= 1.0) => {
            format!("{} {unit}", digits(value))
        }
        "m" | "s" if size >= 1e-4 => format!("{} m{unit}", digits(1e3 * value)),
        "m" | "s" if size >= 1e-7 => format!("{} µ{unit}", digits(1e6 * value)),
        "m" | "s" if size >= 1e-11 => format!("{} n{unit}", digits(1e9 * value)),
        _ => format!("{} {unit}", digits(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_with_two_digits_and_their_unit() {
        assert_eq!(with_unit(0.023_456, "m"), "23 mm");
        assert_eq!(with_unit(1.26, "m"), "1.3 m");
        assert_eq!(with_unit(4.21e-5, "s"), "42 µs");
        assert_eq!(with_unit(5.8e-10, "m"), "0.58 nm");
        assert_eq!(with_unit(12.7, ""), "13");
    }

    #[test]
    fn a_conclusion_names_claims_that_there_are_and_fits() {
        let conclusion = |text: &str| -> Conclusion { ron::from_str(text).unwrap() };
        let good = conclusion(
            r#"(text: "within {a}", values: {"a": (claim: "c", unit: "m")}, rests_on: ["c"])"#,
        );
        assert_eq!(good.mistake(&["c"]), None);
        assert!(good.mistake(&["d"]).unwrap().contains("no claim has the id `c`"));
        let unused =
            conclusion(r#"(text: "within", values: {"a": (claim: "c")}, rests_on: ["c"])"#);
        assert!(unused.mistake(&["c"]).unwrap().contains("does not occur"));
        let long = Conclusion { text: "x".repeat(85), ..good.clone() };
        let long = Conclusion { values: BTreeMap::new(), ..long };
        assert!(long.mistake(&["c"]).unwrap().contains("at most 84"));
        assert!(Conclusion { rests_on: Vec::new(), ..good }.mistake(&["c"]).is_some());
    }
}
