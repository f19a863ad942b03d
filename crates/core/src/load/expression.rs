//! Numbers of a scene file: literals, or expressions over its parameters and a generator's indices.

use std::{cell::Cell, fmt};

use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::{
    error::{Result, SceneError},
    mesh_folder::MeshFolder,
};
use crate::{
    formula::{Expression, FUNCTIONS, TIME, TimeFormula},
    math::Vec3,
};

/// Index variables of generators, outermost first.
pub(super) const INDICES: [&str; 4] = ["i", "j", "k", "l"];

/// What counts the vertices around and the rings along a tube.
pub(super) const RING: [&str; 2] = ["u", "v"];

/// A number as written.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Literal(f64),
    Expression(Box<Expression>),
}

/// The values that names have while a number is evaluated.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    parameters: &'a [(String, f64)],
    indices: Vec<usize>,
    /// Whether an index was looked up since the scope was made.
    index_used: Cell<bool>,
    /// What [`RING`] counts, while vertices are evaluated.
    ring: Cell<Option<[usize; 2]>>,
    /// Where meshes of bodies are.
    files: Option<&'a MeshFolder>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(parameters: &'a [(String, f64)]) -> Self {
        Self {
            parameters,
            indices: Vec::new(),
            index_used: Cell::new(false),
            ring: Cell::new(None),
            files: None,
        }
    }

    /// This scope with files that bodies may name.
    pub(super) fn with_files(self, files: &'a MeshFolder) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Where meshes of bodies are, if anywhere.
    pub(super) fn files(&self) -> Option<&'a MeshFolder> {
        self.files
    }

    /// This scope with further index variables, the next free ones of [`INDICES`].
    pub(super) fn indexed(&self, indices: &[usize]) -> Self {
        let indices: Vec<usize> = self.indices.iter().chain(indices).copied().collect();
        Self {
            parameters: self.parameters,
            indices,
            index_used: Cell::new(false),
            ring: Cell::new(None),
            files: self.files,
        }
    }

    /// The vector that a triple is for a vertex of a tube, at this place around and along it. Unlike indices these
    /// end within the shape: they do not make it differ from member to member.
    pub(super) fn at_vertex(&self, triple: &Triple, place: [usize; 2]) -> Result<Vec3> {
        self.ring.set(Some(place));
        let found = vector(triple, self);
        self.ring.set(None);
        found
    }

    /// Whether a parameter has this name.
    pub(super) fn has_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|(known, _)| known == name)
    }

    /// Refuses a generator with this many indices inside others where it is too deep.
    pub(super) fn check_depth(&self, indices: usize) -> Result<()> {
        if self.indices.len() + indices <= INDICES.len() {
            return Ok(());
        }
        let names = INDICES.join("`, `");
        Err(SceneError::new(format!("too many generators within each other, only `{names}` count")))
    }

    /// Whether any number evaluated in this scope so far depends on an index.
    pub(super) fn index_used(&self) -> bool {
        self.index_used.get()
    }

    fn value(&self, name: &str) -> Option<f64> {
        if name == "pi" {
            return Some(std::f64::consts::PI);
        }
        if let Some((_, value)) = self.parameters.iter().find(|(known, _)| known == name) {
            return Some(*value);
        }
        if let (Some(place), Some(k)) = (self.ring.get(), RING.iter().position(|own| *own == name))
        {
            return Some(place[k] as f64);
        }
        let place = INDICES.iter().position(|&index| index == name)?;
        let value = *self.indices.get(place)?;
        self.index_used.set(true);
        Some(value as f64)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter().map(|(name, _)| name.as_str());
        let ring = self.ring.get().iter().flat_map(|_| RING).collect::<Vec<_>>();
        parameters.chain(INDICES[..self.indices.len()].iter().copied()).chain(ring).chain(["pi"])
    }
}

/// Whether a parameter may have this name without hiding a function, an index or `pi`.
pub(super) fn is_parameter_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "pi"
        && !INDICES.contains(&name)
        && FUNCTIONS.iter().all(|(function, _)| *function != name)
}

/// The value of an expression, whose names all have one.
fn evaluate(expression: &Expression, scope: &Scope) -> Result<f64> {
    let mut values = Vec::with_capacity(expression.names().len());
    for name in expression.names() {
        values.push(scope.value(name).ok_or_else(|| unknown(name, expression, scope))?);
    }
    let wrong = |why| SceneError::new(format!("`{}`: {why}", expression.text()));
    expression.evaluate(&values).map_err(wrong)
}

/// Why a name of an expression has no value.
fn unknown(name: &str, expression: &Expression, scope: &Scope) -> SceneError {
    if name == TIME {
        let message =
            format!("`{}` depends on the time `t`, and this field cannot", expression.text());
        return SceneError::new(message);
    }
    let mut error = SceneError::unknown("parameter", name, scope.names());
    error.message += &format!(" in the expression `{}`", expression.text());
    error
}

impl Formula {
    /// The number that an expression stands for.
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        Ok(Self::Expression(Box::new(Expression::parse(text)?)))
    }

    /// The value, which is finite.
    pub(super) fn evaluate(&self, scope: &Scope) -> Result<f64> {
        let value = match self {
            Self::Literal(value) => *value,
            Self::Expression(expression) => evaluate(expression, scope)?,
        };
        if value.is_finite() {
            return Ok(value);
        }
        Err(SceneError::new(match self {
            Self::Literal(_) => format!("expected a finite number, found {value}"),
            Self::Expression(e) => format!("expected a finite number, `{}` is {value}", e.text()),
        }))
    }

    /// The function of time that it is, with all names but `t` bound to their values; finite at time zero.
    pub(super) fn in_time(&self, scope: &Scope) -> Result<TimeFormula> {
        let expression = match self {
            Self::Expression(expression) if expression.names().iter().any(|name| name == TIME) => {
                expression
            }
            _ => return Ok(TimeFormula::constant(self.evaluate(scope)?)),
        };
        if scope.value(TIME).is_some() {
            return Err(SceneError::new("`t` is the time here: give the parameter another name"));
        }
        for name in expression.names().iter().filter(|name| *name != TIME) {
            scope.value(name).ok_or_else(|| unknown(name, expression, scope))?;
        }
        let formula = TimeFormula::bound(expression, |name| scope.value(name));
        let formula = formula.map_err(SceneError::new)?;
        match formula.at(0.0) {
            value if value.is_finite() => Ok(formula),
            value => {
                let text = expression.text();
                let message = format!("expected a finite number, `{text}` is {value} at time zero");
                Err(SceneError::new(message))
            }
        }
    }

    /// The value, which is above zero.
    pub(super) fn positive(&self, scope: &Scope) -> Result<f64> {
        match self.evaluate(scope)? {
            value if value > 0.0 => Ok(value),
            value => Err(SceneError::new(format!("expected a positive number, found {value}"))),
        }
    }

    /// The value, which is not below zero.
    pub(super) fn non_negative(&self, scope: &Scope) -> Result<f64> {
        match self.evaluate(scope)? {
            value if value >= 0.0 => Ok(value),
            value => Err(SceneError::new(format!("expected zero or more, found {value}"))),
        }
    }

    /// The value, which is a whole number from `least` to [`COUNT_MAX`].
    pub(super) fn whole(&self, scope: &Scope, least: usize) -> Result<usize> {
        to_whole(self.evaluate(scope)?, least)
    }
}

/// Whole numbers above this are refused wherever they count something.
pub(super) const COUNT_MAX: f64 = 1e15;

fn to_whole(value: f64, least: usize) -> Result<usize> {
    if value.fract() != 0.0 || value < least as f64 || value > COUNT_MAX {
        let message = format!("expected a whole number of at least {least}, found {value}");
        return Err(SceneError::new(message));
    }
    Ok(value as usize)
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(FormulaVisitor)
    }
}

struct FormulaVisitor;

impl Visitor<'_> for FormulaVisitor {
    type Value = Formula;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an expression in quotes")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Formula, E> {
        Ok(Formula::Literal(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Formula, E> {
        Ok(Formula::Literal(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Formula, E> {
        Ok(Formula::Literal(value as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Formula, E> {
        Formula::parse(text).map_err(E::custom)
    }
}

/// A vector as written.
pub(super) type Triple = [Formula; 3];

/// The value of a vector.
pub(super) fn vector(triple: &Triple, scope: &Scope) -> Result<Vec3> {
    let [x, y, z] = triple;
    Ok(Vec3::new(x.evaluate(scope)?, y.evaluate(scope)?, z.evaluate(scope)?))
}

/// A vector that depends on time.
pub(super) fn vector_in_time(triple: &Triple, scope: &Scope) -> Result<[TimeFormula; 3]> {
    let [x, y, z] = triple;
    Ok([x.in_time(scope)?, y.in_time(scope)?, z.in_time(scope)?])
}

/// Splits `link[i+1][2]` into its base and the values of each bracket, or tells why it cannot.
pub(super) fn split_name(name: &str, scope: &Scope) -> Result<(String, Vec<Vec<usize>>)> {
    let Some((base, rest)) = name.split_once('[') else {
        return Ok((name.to_owned(), Vec::new()));
    };
    let malformed =
        || SceneError::new(format!("expected a name such as `link[3]`, found `{name}`"));
    let inside = rest.strip_suffix(']').ok_or_else(malformed)?;
    let mut brackets = Vec::new();
    for bracket in inside.split("][") {
        let mut values = Vec::new();
        for text in bracket.split(',') {
            let text = text.trim();
            // Plain indices are most of what large scenes have, and need no parser.
            if let Ok(value) = text.parse::<u32>() {
                values.push(value as usize);
                continue;
            }
            let number = Formula::parse(text).map_err(SceneError::new)?;
            values.push(number.whole(scope, 0).map_err(|mut error| {
                error.message += &format!(" in the name `{name}`");
                error
            })?);
        }
        brackets.push(values);
    }
    Ok((base.to_owned(), brackets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let parameters = [("links".to_owned(), 50.0), ("minimum".to_owned(), 2.0)];
        let scope = Scope::new(&parameters).indexed(&[7]);
        Formula::parse(text).unwrap().evaluate(&scope).unwrap()
    }

    #[test]
    fn a_power_that_may_be_read_in_two_ways_is_refused() {
        let signs = ["-2^2", "- links ^2", "3*-2^2", "(-(1 + 2)^2)", "-sin(links)^2", "2^-3^2"];
        let powers = ["2^3^2", "2^(1 + 2)^2", "-+2^2", "-1.5e-3^2", "1 - -links^2", "2^+3^2"];
        for text in signs.into_iter().chain(powers) {
            let error = Formula::parse(text).unwrap_err();
            assert!(error.contains("in two ways"), "{text}: {error}");
        }
        assert_eq!(value("(-2)^2 + 1 - 2^2"), 1.0);
        assert_eq!(value("-(2^2)"), -4.0);
        assert_eq!(value("links - (1 + 1)^2 - links^1"), -4.0);
        assert_eq!(value("2^(-1)"), 0.5);
        assert_eq!(value("(2^3)^2 - 2^(3^2)"), -448.0);
        assert_eq!(value("2e3^2 - +1^2"), 3_999_999.0);
        assert_eq!(value("(1 + 1)^2*3 - abs(links)^1"), -38.0);
    }

    #[test]
    fn operators_bind_as_usual() {
        assert_eq!(value("1 - 2 + 3"), 2.0);
        assert_eq!(value("12/3*2"), 8.0);
        assert_eq!(value("2*7 % 4"), 2.0);
        assert_eq!(value("1 + 2*3^2"), 19.0);
        assert_eq!(value("-(1 + 2)"), -3.0);
        assert_eq!(value("3 - -2"), 5.0);
        assert_eq!(value("-1 % 4"), 3.0);
        assert_eq!(value("links - 2 - 3 + 1"), 46.0);
    }

    #[test]
    fn names_and_literals_are_read_whole() {
        // Begins like a function of exmex.
        assert_eq!(value("minimum + i"), 9.0);
        assert_eq!(value("1.5e-3*links"), 0.075);
        assert_eq!(value("2E2 + .5"), 200.5);
        assert_eq!(value("cos(pi) + sqrt(abs(-4))"), 1.0);
        assert_eq!(value("floor(links/8)"), 6.0);
    }

    #[test]
    fn hashes_scatter_evenly_and_repeat() {
        assert_eq!(value("hash(3*i)"), value("hash(21)"));
        assert_eq!(value("hash(0)"), value("hash(-0)"));
        let samples: Vec<f64> = (0..4096).map(|n| value(&format!("hash({n})"))).collect();
        assert!(samples.iter().all(|x| (0.0..1.0).contains(x)));
        // Of 4096 even samples the mean lies within 4/sqrt(12 * 4096) of a half but once in 16,000
        // draws, and so do the products of neighbours, whose mean is a quarter.
        let mean = samples.iter().sum::<f64>() / 4096.0;
        assert!((mean - 0.5).abs() < 4.0 / (12.0 * 4096.0_f64).sqrt(), "{mean}");
        let pairs = samples.windows(2).map(|w| (w[0] - 0.5) * (w[1] - 0.5)).sum::<f64>() / 4095.0;
        assert!(pairs.abs() < 4.0 / (144.0 * 4095.0_f64).sqrt(), "{pairs}");
    }

    #[test]
    fn a_name_is_its_base_and_its_brackets() {
        let scope = Scope::new(&[]).indexed(&[2]);
        let split = split_name("block[i][1, 2*i]", &scope).unwrap();
        assert_eq!(split, ("block".to_owned(), vec![vec![2], vec![1, 4]]));
    }
}
