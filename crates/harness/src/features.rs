//! What engines of others make of single features: a scene of one feature is compiled, audited and stepped for each cell.

use anyhow::{Context, bail};
use taut_core::{
    Backend, BuildError, Scene, Settings, State, Step, Table, load::load_str, metrics,
};

use crate::runner;

/// A feature, and what a scene of it has besides two boxes of 1 kg a metre apart along x.
struct SceneFeature(&'static str, &'static str);

const JOINED: &str = "a: \"a\", b: \"b\", at: (0.5, 0, 0)";

/// In the order of the table. `J` stands for the ends of a joint between the boxes.
const FEATURES: &[SceneFeature] = &[
    SceneFeature("ball", "joints: [ball(J)]"),
    SceneFeature("hinge", "joints: [hinge(J, axis: (0, 1, 0))]"),
    SceneFeature("universal", "joints: [universal(J, axis: (0, 1, 0), axis_b: (0, 0, 1))]"),
    SceneFeature("prismatic", "joints: [prismatic(J, axis: (1, 0, 0))]"),
    SceneFeature("cylindrical", "joints: [cylindrical(J, axis: (1, 0, 0))]"),
    SceneFeature("fixed", "joints: [fixed(J)]"),
    SceneFeature("distance", "joints: [distance(a: \"a\", b: \"b\")]"),
    SceneFeature(
        "loop of balls",
        "joints: [ball(J), ball(a: \"world\", b: \"a\", at: (0, 0, 0)), ball(a: \"world\", b: \"b\", at: (1, 0, 0))]",
    ),
    SceneFeature("limit", "joints: [hinge(J, axis: (0, 1, 0), limit: (-0.2, 0.3))]"),
    SceneFeature("motor", "joints: [hinge(J, axis: (0, 1, 0), motor: (speed: 1, max_effort: 5))]"),
    SceneFeature("damping of a joint", "joints: [hinge(J, axis: (0, 1, 0), damping: 1)]"),
    SceneFeature("compliance", "joints: [ball(J, compliance_linear: 1e-4)]"),
    SceneFeature("break", "joints: [ball(J, break_force: 1e6)]"),
    SceneFeature(
        "linear spring",
        "springs: [linear(a: \"a\", b: \"b\", stiffness: 100, rest_length: 1)]",
    ),
    SceneFeature(
        "damped spring",
        "springs: [linear(a: \"a\", b: \"b\", stiffness: 100, damping: 1, rest_length: 1)]",
    ),
    SceneFeature("angular spring", "springs: [angular(a: \"a\", b: \"b\", stiffness: 100)]"),
    SceneFeature("force", "forces: [force(on: \"a\", force: (1, 0, 0))]"),
    SceneFeature("contact of boxes", "contacts: (margin: 0.01)"),
    SceneFeature("restitution", "contacts: (margin: 0.01), BOUNCE"),
    SceneFeature("unequal friction", "contacts: (margin: 0.01), ROUGH"),
    SceneFeature("static friction of its own", "contacts: (margin: 0.01), PAIR"),
    SceneFeature("kinematic body", "DRIVEN"),
    SceneFeature("particle", "particles: [particle(name: \"p\", mass: 1, position: (0, 3, 0))]"),
];

impl SceneFeature {
    fn scene(&self) -> anyhow::Result<Scene> {
        let Self(name, text) = self;
        let mut text = text.replace('J', JOINED);
        let mut extra = "";
        for (word, field) in [
            ("BOUNCE", ", restitution: 0.5"),
            ("ROUGH", ", friction: 0.9"),
            ("PAIR", ", friction: (0.7, 0.5)"),
            ("DRIVEN", ", motion: kinematic"),
        ] {
            if text.contains(word) {
                text = text.replace(word, "");
                extra = field;
            }
        }
        let contacts = if text.contains("contacts") { "" } else { "contacts: false," };
        let mass = if extra.contains("kinematic") { "" } else { ", mass: 1" };
        let size = "shape: box(size: (0.4, 0.3, 0.2))";
        let text = format!(
            "(dt: \"1/60\", {contacts} bodies: [body(name: \"a\", {size}, mass: 1), \
             body(name: \"b\", {size}, position: (1, 0, 0){mass}{extra})], {text})"
        );
        let loaded = load_str(&text, name, &[]);
        Ok(loaded.map_err(|error| anyhow::anyhow!("{error}")).context(*name)?.scene)
    }

    /// `yes` where the engine means what the scene says, `own` where it has a law of its own, `no` where it refuses.
    fn cell(&self, backend: &dyn Backend) -> anyhow::Result<&'static str> {
        let scene = self.scene()?;
        if backend.supports(&scene).is_err() {
            return Ok("no");
        }
        let mut solver = match runner::build(backend, &scene, &Settings::default()) {
            Err(BuildError::Unsupported(_)) => return Ok("no"),
            built => built?,
        };
        solver.load(&scene.initial_state())?;
        solver.advance(Step { dt: scene.dt, iterations: 10 }, 10)?;
        let mut state = State::default();
        solver.read(&mut state)?;
        let open = metrics::joint_errors(&scene, &state).max_m;
        anyhow::ensure!(state.is_finite() && open < 0.01, "a joint is {open} m open");
        let laws = solver.audit().map(|audit| audit.laws).unwrap_or_default();
        Ok(if laws.iter().all(|law| law == "coordinates") { "yes" } else { "own" })
    }
}

/// A Markdown table of the engines of a table by features.
///
/// # Errors
/// An engine that is not here: its column cannot be asked.
pub(crate) fn markdown(table: &Table) -> anyhow::Result<String> {
    let engines: Vec<_> = table.iter().filter(|backend| backend.is_peer()).collect();
    let names: Vec<&str> = engines.iter().map(|backend| &*backend.info().name).collect();
    let mut out =
        format!("| feature | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    for engine in &engines {
        if let Err(why) = engine.version() {
            bail!("{} cannot be asked: {why}", engine.info().name);
        }
    }
    for feature in FEATURES {
        let cells = engines.iter().map(|engine| {
            feature
                .cell(&***engine)
                .with_context(|| format!("{}: {}", engine.info().name, feature.0))
        });
        let cells = cells.collect::<anyhow::Result<Vec<_>>>()?;
        out += &format!("| {} | {} |\n", feature.0, cells.join(" | "));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_a_scene() {
        for feature in FEATURES {
            let scene = feature.scene().unwrap_or_else(|error| panic!("{error:#}"));
            assert_eq!(scene.bodies.len(), 2);
        }
    }
}
