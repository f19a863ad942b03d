//! `taut compare`: where two recordings part.

use anyhow::{Context, ensure};
use serde::Serialize;
use taut_core::{load::load_str, settings::instead};
use taut_recording::{About, Parting, Recording, Split, part};

use super::{Outcome, Session, json, print};
use crate::{
    args::CompareArgs,
    record::{SCHEMA, number},
};

/// The `--json` document.
#[derive(Serialize)]
struct CompareDocument {
    schema: u32,
    verb: &'static str,
    /// The pairs of runs, in the order in which they were compared.
    pairs: Vec<Compared>,
}

/// Two runs and how they compare.
#[derive(Serialize)]
struct Compared {
    /// Labels of the two runs.
    runs: [String; 2],
    /// Name of what differs first; empty where it has none.
    name: String,
    #[serde(flatten)]
    parting: Parting,
}

pub(crate) fn main(session: &Session<'_>, args: &CompareArgs) -> anyhow::Result<Outcome> {
    let mut a = Recording::open(&args.a)?;
    let mut b = Recording::open(&args.b)?;
    check_comparable(&a.about, &b.about)?;
    let mut compared = Vec::new();
    let mut uneven = None;
    for runs in pairs(&a.about, &b.about, &args.run)? {
        let labels = [&a.about.runs[runs[0]].label, &b.about.runs[runs[1]].label].map(Clone::clone);
        let frames = [a.about.runs[runs[0]].frames, b.about.runs[runs[1]].frames];
        let parting = part([&mut a, &mut b], runs, args.tolerance)?;
        let is_whole = frames == [parting.frames; 2] && parting.frames > 0;
        if parting.split.is_none() && !is_whole {
            uneven = uneven.or(Some((labels.clone(), frames)));
        }
        let name = parting.split.as_ref().map(|split| name(&mut a, split)).unwrap_or_default();
        compared.push(Compared { runs: labels, name, parting });
    }
    let parted = compared.iter().any(|compared| compared.parting.split.is_some());
    if let Some(([label, other], [a, b])) = uneven.filter(|_| !parted) {
        anyhow::bail!(
            "`{label}` has {a} frames and `{other}` {b}, of which those that both have are equal: \
             record both with the same --steps"
        );
    }
    if session.common.json {
        print(&json(&CompareDocument { schema: SCHEMA, verb: "compare", pairs: compared })?)?;
    } else {
        print(&compared.iter().map(describe).collect::<String>())?;
    }
    Ok(if parted { Outcome::CheckFailed } else { Outcome::Good })
}

fn check_comparable(a: &About, b: &About) -> anyhow::Result<()> {
    ensure!(
        a.scene_hash == b.scene_hash && a.parameters == b.parameters,
        "the recordings are of different scenes, `{}` and `{}`, or of different parameters: record both of one scene",
        a.scene,
        b.scene
    );
    ensure!(
        a.dt_s == b.dt_s,
        "frames are {} s long in one recording and {} s in the other: record both with one dt",
        a.dt_s,
        b.dt_s
    );
    ensure!(
        a.every == b.every,
        "one recording has every {}. frame, the other every {}.: record both with the same --every",
        a.every,
        b.every
    );
    Ok(())
}

/// The runs to compare, as numbers: those asked for, or all in their order.
fn pairs(a: &About, b: &About, asked: &[String]) -> anyhow::Result<Vec<[usize; 2]>> {
    if asked.is_empty() {
        ensure!(
            a.runs.len() == b.runs.len(),
            "one recording has {} runs, the other {}: name two by --run X=Y",
            a.runs.len(),
            b.runs.len()
        );
        return Ok((0..a.runs.len()).map(|run| [run, run]).collect());
    }
    let find = |about: &About, label: &str| {
        let labels: Vec<&str> = about.runs.iter().map(|run| run.label.as_str()).collect();
        labels
            .iter()
            .position(|known| *known == label)
            .with_context(|| format!("no run `{label}`: {}", instead(label, &labels)))
    };
    let pair = |text: &String| {
        // Labels may hold an equals sign, so each place of one is tried.
        let splits: Vec<(&str, &str)> =
            text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..])).collect();
        let found = splits.iter().find_map(|(x, y)| Some([find(a, x).ok()?, find(b, y).ok()?]));
        match (found, splits.first()) {
            (Some(found), _) => Ok(found),
            (None, Some((x, y))) => Ok([find(a, x)?, find(b, y)?]),
            (None, None) => anyhow::bail!("--run {text}: expected X=Y, labels of two runs"),
        }
    };
    asked.iter().map(pair).collect()
}

/// The name of what differs first, from the recorded scene; empty where that cannot be read any more.
fn name(recording: &mut Recording, split: &Split) -> String {
    let parameters: Vec<(String, f64)> =
        recording.about.parameters.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let text = recording.scene_text().unwrap_or_default();
    let Ok(loaded) = load_str(&text, &recording.about.scene, &parameters) else {
        return String::new();
    };
    let (scene, index) = (loaded.scene, split.item.index);
    let name = match split.item.kind {
        "body" => scene.bodies.get(index).map(|body| &body.name),
        "particle" => scene.particles.get(index).map(|particle| &particle.name),
        _ => scene.joints.get(index).map(|joint| &joint.name),
    };
    name.cloned().unwrap_or_default()
}

/// Lines for people.
fn describe(compared: &Compared) -> String {
    let Compared { runs: [a, b], name, parting } = compared;
    let Some(split) = &parting.split else {
        return format!("{a} and {b}: equal in {} frames\n", parting.frames);
    };
    let Split { frame, iterate, item, differing } = split;
    let at = iterate.map(|spent| format!(", iterate {spent}")).unwrap_or_default();
    let [x, y] = item.values.map(number);
    let (kind, index, component, ulp) = (item.kind, item.index, &item.component, item.ulp);
    let mut text = format!(
        "{a} and {b}: part at frame {frame}{at}\n  {kind} {index} `{name}`, {component}: {x} and {y}, {ulp} ulp\n  \
         differing there: {differing} ({kind})\n"
    );
    for (distance, frame) in &parting.growth.passed {
        text += &format!("  largest distance over {distance:e} m: frame {frame}\n");
    }
    if let Some(time) = parting.growth.doubling_time_s {
        text += &format!("  doubling time: {time:.3e} s\n");
    }
    text
}
