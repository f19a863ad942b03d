//! Judging claims on rows.

mod evaluate;
mod words;

use serde::{Deserialize, Serialize};

pub use self::words::number;
use self::{
    evaluate::{Finding, Missing, evaluate},
    words::expectation,
};
use super::{Basis, Claim, FigureRow};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so.
    Holds,
    /// It is not so, or it is so although it is marked as a known deviation.
    Fails,
    /// It is measured not to be so, as it is marked.
    Deviation,
    /// Part of what was measured says so, part does not: of a time's interval, or of starts that rounding cannot
    /// tell apart.
    Unclear,
    /// A run that it names did not end as it should: there is nothing to judge.
    Void,
    /// This size of the figure, or a machine without an adapter, cannot tell.
    NotJudged,
}

impl Verdict {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Deviation => "deviation",
            Self::Unclear => "unclear",
            Self::Void => "void",
            Self::NotJudged => "not judged",
        }
    }

    /// Whether this is what the definition leads one to expect.
    pub fn is_good(self) -> bool {
        !matches!(self, Self::Fails | Self::Void)
    }
}

/// From how many of some starts a check is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartCount {
    /// From so many.
    pub met: u32,
    /// Of so many, the scene's own among them.
    pub of: u32,
}

impl StartCount {
    /// Whether some bear it out and some do not.
    pub(super) fn disagree(self) -> bool {
        0 < self.met && self.met < self.of
    }
}

/// A claim after the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The sentence.
    pub text: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Whether the check is met; `None` where there was nothing to judge.
    pub holds: Option<bool>,
    /// What was found, in words and numbers.
    pub measured: String,
    /// The numbers in `measured`, in the metric's unit.
    pub values: Vec<f64>,
    /// What should be so.
    pub expected: String,
    /// Where the numbers come from that it is held against.
    pub basis: Option<Basis>,
    /// Why it is known not to hold.
    pub known_deviation: Option<String>,
    /// From how many starts that rounding cannot tell apart the check is met; `None` where nobody has looked.
    pub starts: Option<StartCount>,
}

/// Judges all claims; those for the other size are left open, and those on rows that this machine has no device for.
pub fn judge(claims: &[Claim], rows: &[FigureRow], quick: bool) -> Vec<Judged> {
    let one = |claim: &Claim| match quick {
        true if claim.full_only => Judged::open(claim, "needs the full size".to_owned()),
        false if claim.quick_only => Judged::open(claim, "is of the quick size".to_owned()),
        _ => judge_one(claim, rows),
    };
    claims.iter().map(one).collect()
}

/// Judges a claim, whatever the size.
pub(super) fn judge_one(claim: &Claim, rows: &[FigureRow]) -> Judged {
    match evaluate(claim, rows) {
        Err(Missing::Skipped(why)) => Judged::open(claim, why),
        Err(Missing::Unclear(what)) => {
            Judged { verdict: Verdict::Unclear, ..Judged::open(claim, what) }
        }
        Err(Missing::Void(why)) => Judged { verdict: Verdict::Void, ..Judged::open(claim, why) },
        Ok(Finding { holds, mut measured, values }) => {
            let verdict = match (holds, claim.known_deviation.is_some()) {
                (true, false) => Verdict::Holds,
                (false, true) => Verdict::Deviation,
                (false, false) => Verdict::Fails,
                (true, true) => {
                    measured += "; it holds, against its mark";
                    Verdict::Fails
                }
            };
            Judged { verdict, holds: Some(holds), values, ..Judged::open(claim, measured) }
        }
    }
}

impl Judged {
    /// Whether it counts as a claim, as [`Claim::is_claim`].
    pub fn is_claim(&self) -> bool {
        self.basis != Some(Basis::Regression)
    }

    /// A claim of which nothing is known but why.
    fn open(claim: &Claim, measured: String) -> Self {
        Self {
            text: claim.text.clone(),
            verdict: Verdict::NotJudged,
            holds: None,
            measured,
            values: Vec::new(),
            expected: expectation(&claim.check),
            basis: claim.basis,
            known_deviation: claim.known_deviation.clone(),
            starts: None,
        }
    }
}

#[cfg(test)]
mod tests;
