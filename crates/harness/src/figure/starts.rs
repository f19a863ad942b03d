//! Claims over starts that rounding cannot tell apart: what some of them bear out and some do not is neither so nor
//! not so.

use super::{Claim, FigureRow, Judged, StartCount, Verdict, VerdictFile, judge};

/// Counts from how many starts each claim is met, and tells where they disagree. Times are not of the start.
pub(super) fn judge_all(
    claims: &[Claim],
    judged: &mut [Judged],
    moved_rows: &[Vec<FigureRow>],
    quick: bool,
) {
    let moved: Vec<Vec<Judged>> =
        moved_rows.iter().map(|rows| judge(claims, rows, quick)).collect();
    for (i, one) in judged.iter_mut().enumerate() {
        if moved.is_empty() || claims[i].check.is_timed() || one.holds.is_none() {
            continue;
        }
        let all = moved.iter().map(|claims| &claims[i]).chain([&*one]);
        let met = all.filter(|claim| claim.holds == Some(true)).count() as u32;
        tell(one, StartCount { met, of: moved.len() as u32 + 1 });
    }
}

/// Takes from the file what starts said when it was made, of claims that have not changed since.
pub(super) fn recall(judged: &mut [Judged], file: &VerdictFile) {
    for one in judged.iter_mut().filter(|one| one.holds.is_some()) {
        let same = |old: &&super::ClaimVerdict| old.text == one.text && old.check == one.expected;
        if let Some(starts) = file.claims.iter().find(same).and_then(|old| old.starts) {
            tell(one, starts);
        }
    }
}

fn tell(judged: &mut Judged, starts: StartCount) {
    judged.starts = Some(starts);
    if starts.disagree() {
        let StartCount { met, of } = starts;
        judged.verdict = Verdict::Unclear;
        judged.measured +=
            &format!("; met from {met} of {of} starts that rounding cannot tell apart");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(holds: Option<bool>) -> Judged {
        Judged {
            text: "it falls".to_owned(),
            verdict: if holds.is_none() { Verdict::Void } else { Verdict::Holds },
            holds,
            measured: "1".to_owned(),
            values: Vec::new(),
            expected: "below".to_owned(),
            basis: None,
            known_deviation: None,
            starts: None,
        }
    }

    #[test]
    fn what_some_starts_bear_out_is_unclear() {
        for (met, verdict) in [(9, Verdict::Holds), (4, Verdict::Unclear), (0, Verdict::Holds)] {
            let mut one = judged(Some(true));
            tell(&mut one, StartCount { met, of: 9 });
            assert_eq!(one.verdict, verdict, "{met} of 9");
        }
    }
}
