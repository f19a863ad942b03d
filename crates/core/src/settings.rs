//! Settings of a backend: RON text that only the backend itself understands.

use serde::de::DeserializeOwned;

use crate::BuildError;

/// The settings given to one backend, as the RON text of a struct such as `(beta: 10.0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings(String);

impl Default for Settings {
    fn default() -> Self {
        Self("()".to_owned())
    }
}

impl Settings {
    /// Settings from the RON text of a struct, parentheses included.
    pub fn from_ron(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The RON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses into a backend's own struct, which should carry `deny_unknown_fields`.
    ///
    /// `None` of an optional field may be left out and `Some` need not be written.
    ///
    /// # Errors
    /// [`BuildError::Settings`] with the place and, for an unknown key, the nearest known one.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, BuildError> {
        let options = ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        options.from_str(&self.0).map_err(|error| {
            let hint = match &error.code {
                ron::Error::NoSuchStructField { expected, found, .. } => nearest(found, expected),
                ron::Error::NoSuchEnumVariant { expected, found, .. } => nearest(found, expected),
                _ => None,
            };
            let hint = hint.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
            BuildError::Settings(format!("{} in `{}`{hint}", error.code, self.0))
        })
    }
}

/// The candidate most like `found`, if any is close enough to be a typing mistake.
pub fn nearest<'a>(found: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .map(|&name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|&(distance, name)| distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}

/// Names told at most where none is like what was asked for.
const NAMES_MAX: usize = 12;

/// What to name instead of `found`, to go on after a colon: the candidate most like it, or what there is.
pub fn instead(found: &str, candidates: &[&str]) -> String {
    if let Some(near) = nearest(found, candidates) {
        return format!("did you mean `{near}`?");
    }
    let (told, others) = candidates.split_at(candidates.len().min(NAMES_MAX));
    let told = format!("there are `{}`", told.join("`, `"));
    if others.is_empty() { told } else { format!("{told} and {} others", others.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_name_instead_is_near_or_some_of_what_there_is() {
        let names: Vec<String> = (0..20).map(|n| format!("row{n:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(instead("row3", &names[3..5]), "did you mean `row03`?");
        assert_eq!(instead("sphere", &names[..2]), "there are `row00`, `row01`");
        let told = instead("sphere", &names);
        assert!(told.ends_with("`row11` and 8 others"), "{told}");
    }
}
