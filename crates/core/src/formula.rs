//! Expressions over named numbers, and functions of time made of them.

use std::{fmt, sync::Arc};

use exmex::{
    BinOp, Express, FlatEx, MakeOperators, MatchLiteral, Operator, literal_matcher_from_pattern,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use crate::math::Vec3;

/// Longer expressions are a mistake, and deep ones would recurse deeply in the parser.
const LENGTH_MAX: usize = 400;
const DEPTH_MAX: usize = 24;

/// The time [s] in expressions that may depend on it.
pub(crate) const TIME: &str = "t";
/// Most numbers that a function of time is made of: so many are worked on without allocating.
const NUMBERS_MAX: usize = 32;

type Function = fn(f64) -> f64;

/// Functions that an expression may call, besides `+ - * / % ^`.
pub(crate) const FUNCTIONS: [(&str, Function); 13] = [
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sqrt", f64::sqrt),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("abs", f64::abs),
    ("floor", f64::floor),
    ("round", f64::round),
    ("hash", hash),
];

/// A number in \[0, 1\) that depends on every bit of `x` and looks random, equal for equal `x`.
///
/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), so scattered bodies need no generator
/// with a state and are the same on every machine.
fn hash(x: f64) -> f64 {
    // Minus zero counts as zero.
    let mut bits = (x + 0.0).to_bits().wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    // The 53 highest bits fill a fraction exactly.
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// The operators, without those of exmex whose names could begin a parameter's (`min`, `max`).
#[derive(Clone, Debug)]
struct Operators;

impl MakeOperators<f64> for Operators {
    fn make<'a>() -> Vec<Operator<'a, f64>> {
        let binary =
            |apply: fn(f64, f64) -> f64, prio| BinOp { apply, prio, is_commutative: false };
        // Equal ranks are applied from the left, as in the usual notation.
        let mut operators = vec![
            Operator::make_bin("^", binary(f64::powf, 2)),
            Operator::make_bin("*", binary(|a, b| a * b, 1)),
            Operator::make_bin("/", binary(|a, b| a / b, 1)),
            Operator::make_bin("%", binary(f64::rem_euclid, 1)),
            Operator::make_bin_unary("+", binary(|a, b| a + b, 0), |a| a),
            Operator::make_bin_unary("-", binary(|a, b| a - b, 0), |a| -a),
        ];
        operators.extend(FUNCTIONS.map(|(name, function)| Operator::make_unary(name, function)));
        operators
    }
}

literal_matcher_from_pattern!(Literal, r"^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?");

/// Names, numbers, operators, parentheses and spaces, one after the other.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if is_word(first) {
            rest.find(|c: char| !is_word(c) && !c.is_ascii_digit()).unwrap_or(rest.len())
        } else if first.is_ascii_digit() || first == '.' {
            literal_length(rest)
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

/// Whether a name can begin with it.
fn is_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// The power that may be read in two ways, if any: one whose base has a sign before it, which here binds more tightly
/// than `^` and in mathematics less, or is a power itself, which here is raised first and in mathematics last.
fn unclear_power(text: &str) -> Option<String> {
    let tokens: Vec<&str> = tokens(text).filter(|token| *token != " ").collect();
    let binary = |at: usize| matches!(tokens[at], "+" | "-" | "*" | "/" | "%" | "^");
    for place in tokens.iter().enumerate().filter(|(_, token)| **token == "^").map(|(at, _)| at) {
        let mut start = place.checked_sub(1)?;
        if tokens[start] == ")" {
            let mut open = 1;
            while open > 0 {
                start = start.checked_sub(1)?;
                open += i32::from(tokens[start] == ")") - i32::from(tokens[start] == "(");
            }
            let called = start.checked_sub(1).is_some_and(|at| tokens[at].starts_with(is_word));
            start -= usize::from(called);
        }
        let base = start;
        // After a number, a name or a parenthesis a sign is a sum or a difference.
        while start > 0
            && matches!(tokens[start - 1], "+" | "-")
            && (start == 1 || tokens[start - 2] == "(" || binary(start - 2))
        {
            start -= 1;
        }
        if tokens[start..base].contains(&"-") {
            return Some(tokens[start..=place].concat());
        }
        if start > 0 && tokens[start - 1] == "^" {
            return Some(tokens[start - 1..=place].concat());
        }
    }
    None
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    text: String,
    compiled: FlatEx<f64, Operators, Literal>,
}

impl Expression {
    /// An expression of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let depth = text.chars().filter(|&c| c == '(').count();
        if text.len() > LENGTH_MAX || depth > DEPTH_MAX {
            return Err(format!(
                "expression of {} characters and {depth} parentheses is too long, at most \
                 {LENGTH_MAX} and {DEPTH_MAX}",
                text.len()
            ));
        }
        Self::compile(text)
    }

    fn compile(text: &str) -> Result<Self, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_+-*/%^(). ".contains(c);
        if let Some(c) = text.chars().find(|&c| !allowed(c)) {
            return Err(format!("bad expression `{text}`: unexpected character `{c}`"));
        }
        if let Some(power) = unclear_power(text) {
            return Err(format!(
                "`{power}` in `{text}` may be read in two ways: write `(-a)^b` or `-(a^b)`, `(a^b)^c` or `a^(b^c)`"
            ));
        }
        // Folding constants reorders operators of equal rank, so it is left out.
        let compiled = FlatEx::parse_wo_compile(text).map_err(|error| {
            // Some messages go on with the operators' function pointers.
            let message = error.msg().split(", Operator").next().unwrap_or_default();
            format!("bad expression `{text}`: {message}")
        })?;
        Ok(Self { text: text.to_owned(), compiled })
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The names in it that have no value of their own, in the order in which [`Self::evaluate`] takes these.
    pub(crate) fn names(&self) -> &[String] {
        self.compiled.var_names()
    }

    /// Its value where its names have these.
    pub(crate) fn evaluate(&self, values: &[f64]) -> Result<f64, String> {
        self.compiled.eval(values).map_err(|error| error.msg().to_owned())
    }

    /// Its text with the names that have a value replaced by it, and how many numbers that is made of.
    fn substituted(&self, value: impl Fn(&str) -> Option<f64>) -> (String, usize) {
        let (mut out, mut numbers) = (String::new(), 0);
        for token in tokens(&self.text) {
            let word = token.starts_with(is_word);
            match value(token).filter(|_| word) {
                // In parentheses, as it may be negative.
                Some(value) => out.push_str(&format!("({value:?})")),
                None => out.push_str(token),
            }
            let function = FUNCTIONS.iter().any(|(name, _)| *name == token);
            let number = word || token.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            numbers += usize::from(number && !function);
        }
        (out, numbers)
    }
}

/// How many bytes of a text, which begins with a digit or a point, are one number.
fn literal_length(text: &str) -> usize {
    let digits = |from: usize| {
        let end = text[from..].find(|c: char| !c.is_ascii_digit());
        end.map_or(text.len(), |end| from + end)
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    let Some(exponent) = text[end..].strip_prefix(['e', 'E']) else { return end.max(1) };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    let from = end + 1 + sign;
    if text[from..].starts_with(|c: char| c.is_ascii_digit()) { digits(from) } else { end.max(1) }
}

/// A number that may depend on the time `t` [s], as a scene keeps it: an expression in nothing else.
///
/// Written as text where it depends on time and as a number where not. Where an expression has no value, as a
/// quotient by zero, it is no number.
#[derive(Clone, Debug)]
pub struct TimeFormula(BoundFormula);

#[derive(Clone, Debug)]
enum BoundFormula {
    Constant(f64),
    Function(Arc<Expression>),
}

impl TimeFormula {
    /// The same number at all times.
    pub fn constant(value: f64) -> Self {
        Self(BoundFormula::Constant(value))
    }

    /// A function of time from its text, such as `0.1*sin(2*t)`.
    ///
    /// # Errors
    /// Tells where the text is no expression in `t`.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::bound(&Expression::parse(text)?, |_| None)
    }

    /// An expression whose names but `t` have these values.
    pub(crate) fn bound(
        expression: &Expression,
        value: impl Fn(&str) -> Option<f64>,
    ) -> Result<Self, String> {
        let (text, numbers) = expression.substituted(value);
        if numbers > NUMBERS_MAX {
            return Err(format!(
                "`{}` is made of {numbers} numbers, at most {NUMBERS_MAX} can depend on time together",
                expression.text()
            ));
        }
        let bound = Expression::compile(&text)?;
        match bound.names() {
            [] => Ok(Self::constant(bound.evaluate(&[])?)),
            [name] if name == TIME => Ok(Self(BoundFormula::Function(Arc::new(bound)))),
            names => Err(format!("`{text}` has the unknown `{}` beside `t`", names.join("`, `"))),
        }
    }

    /// Its value at a time [s].
    pub fn at(&self, time_s: f64) -> f64 {
        match &self.0 {
            BoundFormula::Constant(value) => *value,
            BoundFormula::Function(expression) => {
                expression.evaluate(&[time_s]).unwrap_or(f64::NAN)
            }
        }
    }

    /// The vector with these entries at a time [s].
    pub(crate) fn vector(of: &[Self; 3], time_s: f64) -> Vec3 {
        Vec3::new(of[0].at(time_s), of[1].at(time_s), of[2].at(time_s))
    }

    /// Whether it is the same at all times.
    pub fn is_constant(&self) -> bool {
        matches!(self.0, BoundFormula::Constant(_))
    }
}

/// Equal if they read the same.
impl PartialEq for TimeFormula {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (BoundFormula::Constant(a), BoundFormula::Constant(b)) => a == b,
            (BoundFormula::Function(a), BoundFormula::Function(b)) => a.text == b.text,
            _ => false,
        }
    }
}

impl Serialize for TimeFormula {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            BoundFormula::Constant(value) => to.serialize_f64(*value),
            BoundFormula::Function(expression) => to.serialize_str(&expression.text),
        }
    }
}

impl<'de> Deserialize<'de> for TimeFormula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = TimeFormula;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or an expression in `t`")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<TimeFormula, E> {
                Ok(TimeFormula::constant(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<TimeFormula, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<TimeFormula, E> {
                self.visit_f64(value as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<TimeFormula, E> {
                let expression = Expression::compile(text).map_err(E::custom)?;
                TimeFormula::bound(&expression, |_| None).map_err(E::custom)
            }
        }
        from.deserialize_any(NumberOrText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bound_and_time_is_kept() {
        let expression = Expression::parse("a*sin(2e-1*t) - at^2 + 1.5E+0*t").unwrap();
        let value = |name: &str| match name {
            "a" => Some(-3.0),
            "at" => Some(1e-7),
            _ => None,
        };
        let formula = TimeFormula::bound(&expression, value).unwrap();
        let exact = |t: f64| -3.0 * (2e-1 * t).sin() - 1e-7_f64.powf(2.0) + 1.5 * t;
        for t in [0.0, 0.3, 7.0] {
            assert_eq!(formula.at(t), exact(t));
        }
        let text = ron::to_string(&formula).unwrap();
        assert_eq!(text, "\"(-3.0)*sin(2e-1*t) - (1e-7)^2 + 1.5E+0*t\"");
        assert_eq!(ron::from_str::<TimeFormula>(&text).unwrap(), formula);
    }

    #[test]
    fn what_is_no_function_of_time_is_told() {
        assert!(TimeFormula::parse("t + b").unwrap_err().contains("`b`"));
        let long = vec!["t"; 33].join("+");
        assert!(TimeFormula::parse(&long).unwrap_err().contains("33 numbers"));
        let constant = TimeFormula::parse("2*3").unwrap();
        assert!(constant.is_constant() && constant.at(9.0) == 6.0);
        assert!(TimeFormula::parse("1/(t - 1)").unwrap().at(1.0).is_infinite());
    }
}
