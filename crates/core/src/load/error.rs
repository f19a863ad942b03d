//! The one error of the loader: where in the file, which field, what was expected, and a near name.

use std::fmt;

use crate::settings::nearest;

/// Why a scene file was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SceneError {
    /// The file as the caller named it.
    pub file: String,
    /// Line and column of the mistake, or of the entry it is in, counted from one.
    pub position: Option<(u32, u32)>,
    /// Path of the field, such as `joints[3].b`; empty where the text itself cannot be read.
    pub field: String,
    /// What was expected and what was found.
    pub message: String,
    /// A known name close to the one found.
    pub nearest: Option<String>,
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.nearest {
            Some(name) => write!(f, " (did you mean `{name}`?)"),
            None => Ok(()),
        }
    }
}

/// What the parts of the loader return; file and place are added on the way up.
pub(super) type Result<T> = std::result::Result<T, SceneError>;

impl SceneError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            position: None,
            field: String::new(),
            message: message.into(),
            nearest: None,
        }
    }

    /// An unknown name, with the nearest of the known ones.
    pub(super) fn unknown<'a>(
        what: &str,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let mut error = Self::new(format!("unknown {what} `{found}`"));
        error.nearest = nearest(found, &known).map(str::to_owned);
        // A short list says more than a guess.
        if error.nearest.is_none() && (1..=12).contains(&known.len()) {
            error.message += &format!(", expected one of `{}`", known.join("`, `"));
        }
        error
    }

    /// This error one level further in: `outer.field`, or `outer[i]` where `field` starts with a bracket.
    pub(super) fn within(mut self, outer: &str) -> Self {
        let separator = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{outer}{separator}{}", self.field);
        self
    }
}

/// Adds the name of a field to an error on its way up.
pub(super) trait At<T> {
    fn at(self, field: &str) -> Result<T>;
    fn at_index(self, field: &str, index: usize) -> Result<T>;
}

impl<T> At<T> for Result<T> {
    fn at(self, field: &str) -> Self {
        self.map_err(|error| error.within(field))
    }

    fn at_index(self, field: &str, index: usize) -> Self {
        self.map_err(|error| error.within(&format!("{field}[{index}]")))
    }
}
