//! What engines of others make of single features: for each cell a scene of one feature is compiled, audited, and followed beside
//! what is trusted here.

use anyhow::{Context, bail, ensure};
use taut_core::{
    Backend, BuildError, Scene, Settings, Solver, State, Step, Table, Vec3, load::load_str, metrics,
};

use crate::runner;

/// A feature: its name, two bodies of 1 kg a metre apart along x, and what else the scene has.
struct SceneFeature(&'static str, [&'static str; 2], &'static str);

/// Which solves what, the first that takes it: all but contacts in coordinates of joints, and contacts by impulses.
const TRUSTED: [&str; 2] = ["newton", "impulse-cpu"];
/// Steps of a scene, sub-steps of an engine in each, and steps of the trusted solution in each.
const STEPS: [u32; 3] = [30, 16, 16];
/// How far bodies may be from it at the end; they move by 0.1 to 1.5 m [m].
const OFF_MOST: f64 = 0.03;

/// Engines that take a scene and end elsewhere, and why.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    (
        "drake",
        "contact of boxes",
        "its convex law of friction lifts what slides, by more the faster it is, and so brings it to rest early",
    ),
    (
        "box3d",
        "restitution",
        "it lets bodies bounce once, at the end of a frame, and so up to a frame late",
    ),
    ("mujoco", "contact of boxes", CREEPS),
    ("mujoco", "unequal friction", CREEPS),
];
const CREEPS: &str = "its friction is soft: what gravity pulls sideways creeps";

const BOX: &str = "shape: box(size: (0.4, 0.3, 0.2)), mass: 1";
const HELD: &str = "shape: box(size: (0.4, 0.3, 0.2)), motion: static";
const FLOOR: &str =
    "shape: box(size: (20, 20, 1)), position: (0, 0, -0.5), motion: static, friction: 0.5";
/// Of joints between the bodies.
const ENDS: &str = "a: \"a\", b: \"b\", at: (0.5, 0, 0)";

/// In the order of the table. `ENDS` stands for the ends of a joint between the bodies, `b` is a box where nothing is said.
const FEATURES: &[SceneFeature] = &[
    SceneFeature("ball", [HELD, ""], "joints: [ball(ENDS)]"),
    SceneFeature("hinge", [HELD, ""], "joints: [hinge(ENDS, axis: (0, 1, 0))]"),
    SceneFeature(
        "universal",
        [HELD, ""],
        "joints: [universal(ENDS, axis: (0, 1, 0), axis_b: (0, 0, 1))]",
    ),
    SceneFeature("prismatic", [HELD, ""], "joints: [prismatic(ENDS, axis: (1, 0, -1))]"),
    SceneFeature("cylindrical", [HELD, ""], "joints: [cylindrical(ENDS, axis: (1, 0, -1))]"),
    SceneFeature("fixed", [HELD, ""], "joints: [fixed(ENDS)]"),
    SceneFeature("distance", [HELD, ""], "joints: [distance(a: \"a\", b: \"b\")]"),
    SceneFeature(
        "loop of balls",
        [BOX, ""],
        "joints: [ball(ENDS), ball(a: \"world\", b: \"a\", at: (0, 0, 0.5)), \
         ball(a: \"world\", b: \"b\", at: (1, 0, 0.5))]",
    ),
    SceneFeature("limit", [HELD, ""], "joints: [hinge(ENDS, axis: (0, 1, 0), limit: (-0.2, 0.3))]"),
    SceneFeature(
        "motor",
        [HELD, ""],
        "joints: [hinge(ENDS, axis: (0, 1, 0), motor: (speed: 1, max_effort: 20))]",
    ),
    SceneFeature(
        "damping of a joint",
        [HELD, ""],
        "joints: [hinge(ENDS, axis: (0, 1, 0), damping: 1)]",
    ),
    SceneFeature("compliance", [HELD, ""], "joints: [ball(ENDS, compliance_linear: 1e-4)]"),
    SceneFeature("break", [HELD, ""], "joints: [ball(ENDS, break_force: 1e6)]"),
    SceneFeature(
        "linear spring",
        [HELD, ""],
        "springs: [linear(a: \"a\", b: \"b\", stiffness: 100, rest_length: 0.5)]",
    ),
    SceneFeature(
        "damped spring",
        [HELD, ""],
        "springs: [linear(a: \"a\", b: \"b\", stiffness: 100, damping: 1, rest_length: 0.5)]",
    ),
    SceneFeature(
        "angular spring",
        [HELD, "omega: (0, 3, 0)"],
        "springs: [angular(a: \"a\", b: \"b\", stiffness: 10)]",
    ),
    SceneFeature("force", [HELD, ""], "forces: [force(on: \"b\", force: (1, 0, 0))]"),
    SceneFeature(
        "contact of boxes",
        [FLOOR, "position: (0, 0, 0.102), velocity: (1, 0, 0), friction: 0.5"],
        "contacts: (margin: 0.01)",
    ),
    SceneFeature(
        "restitution",
        [FLOOR, "position: (0, 0, 0.102), velocity: (0, 0, -3), restitution: 0.9, friction: 0"],
        "contacts: (margin: 0.01)",
    ),
    SceneFeature(
        "unequal friction",
        [FLOOR, "position: (0, 0, 0.102), velocity: (1, 0, 0), friction: 0.9"],
        "contacts: (margin: 0.01)",
    ),
    SceneFeature(
        "static friction of its own",
        [FLOOR, "position: (0, 0, 0.102), velocity: (1, 0, 0), friction: (0.7, 0.5)"],
        "contacts: (margin: 0.01)",
    ),
    SceneFeature("kinematic body", [HELD, "motion: kinematic, velocity: (0, 0, 1)"], ""),
    SceneFeature(
        "particle",
        [HELD, ""],
        "particles: [particle(name: \"p\", mass: 1, position: (0, 3, 0))]",
    ),
];

impl SceneFeature {
    fn scene(&self) -> anyhow::Result<Scene> {
        let Self(name, [a, b], rest) = self;
        let own = if b.contains("kinematic") {
            HELD.replace(", motion: static", "")
        } else {
            BOX.to_owned()
        };
        let place = if b.contains("position") { "" } else { "position: (1, 0, 0), " };
        let contacts = if rest.contains("contacts") { "" } else { "contacts: false, " };
        let text = format!(
            "(dt: \"1/60\", gravity: (0, 3, -9), {contacts}bodies: [body(name: \"a\", {a}), \
             body(name: \"b\", {own}, {place}{b})], {})",
            rest.replace("ENDS", ENDS)
        );
        let loaded = load_str(&text, name, &[]);
        Ok(loaded.map_err(|error| anyhow::anyhow!("{error}")).context(*name)?.scene)
    }

    /// `yes` where the engine means what the scene says, `own` where it has a law of its own, `off` where that is known to lead
    /// elsewhere, `no` where it refuses.
    fn cell(
        &self,
        backend: &dyn Backend,
        trusted: &[&dyn Backend],
    ) -> anyhow::Result<&'static str> {
        let scene = self.scene()?;
        if backend.supports(&scene).is_err() {
            return Ok("no");
        }
        let mut solver = match runner::build(backend, &scene, &Settings::default()) {
            Err(BuildError::Unsupported(_)) => return Ok("no"),
            built => built?,
        };
        let found = end_of(&mut *solver, &scene, [STEPS[1], 1])?;
        let open = metrics::joint_errors(&scene, &found).max_m;
        ensure!(open < 0.01, "a joint is {open} m open");
        let expected = self.expected(&scene, trusted)?;
        let off = places(&found).zip(places(&expected)).map(|(own, place)| (own - place).norm());
        let off = off.fold(0.0, f64::max);
        match (off <= OFF_MOST, self.reason(backend)) {
            (true, None) => {}
            (false, Some(_)) => return Ok("off"),
            (false, None) => bail!("something ends {off} m from where it should be"),
            (true, Some(_)) => bail!("it ends where it should be: take it off the list"),
        }
        let laws = solver.audit().map(|audit| audit.laws).unwrap_or_default();
        Ok(if laws.iter().all(|law| law == "coordinates") { "yes" } else { "own" })
    }

    /// Why an engine is known to end elsewhere.
    fn reason(&self, backend: &dyn Backend) -> Option<&'static str> {
        let is_it = |row: &&(&str, &str, &str)| (row.0, row.1) == (&*backend.info().name, self.0);
        ELSEWHERE.iter().find(is_it).map(|row| row.2)
    }

    /// Where the scene ends by the first of the trusted ones that takes it.
    fn expected(&self, scene: &Scene, trusted: &[&dyn Backend]) -> anyhow::Result<State> {
        let takes = trusted.iter().find(|backend| backend.supports(scene).is_ok());
        let backend = takes.with_context(|| format!("{}: nothing solves it here", self.0))?;
        let mut solver = runner::build(*backend, scene, &Settings::default())?;
        end_of(&mut *solver, scene, [1, STEPS[2]])
    }
}

/// Where bodies and particles are [m].
fn places(state: &State) -> impl Iterator<Item = Vec3> {
    let bodies = state.bodies.iter().map(|body| body.position);
    bodies.chain(state.particles.iter().map(|particle| particle.position))
}

/// Where a scene ends with so many iterations, and so many steps, in each of its own.
fn end_of(
    solver: &mut dyn Solver,
    scene: &Scene,
    [iterations, parts]: [u32; 2],
) -> anyhow::Result<State> {
    solver.load(&scene.initial_state())?;
    let dt = scene.dt / f64::from(parts);
    solver.advance(Step { dt, iterations }, STEPS[0] * parts)?;
    let mut state = State::default();
    solver.read(&mut state)?;
    ensure!(state.is_finite(), "what it ends with is not finite");
    Ok(state)
}

/// A Markdown table of the engines of a table by features.
///
/// # Errors
/// An engine that is not here: its column cannot be asked. Cells whose engine takes a scene and does something else.
pub(crate) fn markdown(table: &Table) -> anyhow::Result<String> {
    let engines: Vec<_> = table.iter().filter(|backend| backend.is_peer()).collect();
    let names: Vec<&str> = engines.iter().map(|backend| &*backend.info().name).collect();
    let mut out =
        format!("| feature | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    for engine in &engines {
        if let Err(why) = engine.introduction() {
            bail!("{} cannot be asked: {why}", engine.info().name);
        }
    }
    let trusted = trusted(table)?;
    let mut wrong = Vec::new();
    for feature in FEATURES {
        let mut cells = Vec::new();
        for engine in &engines {
            match feature.cell(&***engine, &trusted) {
                Ok(cell) => cells.push(cell),
                Err(why) => wrong.push(format!("{}: {}: {why:#}", engine.info().name, feature.0)),
            }
        }
        out += &format!("| {} | {} |\n", feature.0, cells.join(" | "));
    }
    out += "\n";
    for (engine, feature, why) in ELSEWHERE {
        out += &format!("- {engine}, {feature}: {why}.\n");
    }
    ensure!(wrong.is_empty(), "engines do not mean what they take:\n{}", wrong.join("\n"));
    Ok(out)
}

fn trusted(table: &Table) -> anyhow::Result<Vec<&dyn Backend>> {
    let of = |name| table.get(name).with_context(|| format!("there is no `{name}`"));
    TRUSTED.into_iter().map(|name| Ok(&**of(name)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_a_scene_in_which_something_happens() {
        let table = crate::backends::table();
        let trusted = trusted(&table).unwrap();
        for feature in FEATURES {
            let scene = feature.scene().unwrap_or_else(|error| panic!("{error:#}"));
            let end = feature.expected(&scene, &trusted).unwrap();
            let start = scene.initial_state();
            let moved = places(&end).zip(places(&start)).map(|(end, start)| (end - start).norm());
            let most = moved.fold(0.0, f64::max);
            assert_eq!(most > 2.0 * OFF_MOST, feature.0 != "fixed", "{}: {most} m", feature.0);
        }
    }

    #[test]
    fn an_engine_that_means_something_else_has_no_cell() {
        let table = crate::backends::table();
        let trusted = trusted(&table).unwrap();
        let hinge = FEATURES.iter().find(|feature| feature.0 == "hinge").unwrap();
        assert_eq!(hinge.cell(trusted[0], &trusted).unwrap(), "yes");
        let still = table.get("null").unwrap();
        let why = hinge.cell(&**still, &trusted).unwrap_err().to_string();
        assert!(why.contains("from where it should be"), "{why}");
    }
}
