//! What the interface promises, whatever the method.

use taut_core::{
    BuildError, Determinism, Iteration, Scene, Settings, Solver, SolverError, State,
    scene::{Contacts, JointKind},
};

use super::{
    Property,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
    timed,
};
use crate::runner::{self, advance};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "equal_runs", scene: "free-fall", test: |s| equal_runs(s, &falling(), PLAN) },
    Property { name: "equal_runs", scene: "joint-zoo", test: |s| equal_runs(s, &zoo(), PLAN) },
    Property {
        name: "reads_are_neutral",
        scene: "free-fall",
        test: |s| neutral_reads(s, &falling(), PLAN),
    },
    Property {
        name: "reads_are_neutral",
        scene: "joint-zoo",
        test: |s| neutral_reads(s, &zoo(), PLAN),
    },
    Property {
        name: "load_resets",
        scene: "free-fall",
        test: |s| load_resets(s, &falling(), PLAN),
    },
    Property { name: "load_resets", scene: "joint-zoo", test: |s| load_resets(s, &zoo(), PLAN) },
    Property {
        name: "load_resets",
        scene: "driven-pendulum",
        test: |s| load_resets(s, &timed::driven_pendulum(), PLAN),
    },
    Property {
        name: "last_reads_are_ends",
        scene: "joint-zoo",
        test: |s| last_reads(s, &zoo(), PLAN),
    },
    Property {
        name: "threads_do_not_matter",
        scene: "chains",
        test: |s| threads(s, &scenes::chains(150, 8), Plan::new(2, 4)),
    },
    Property { name: "unsupported_is_an_error", scene: "all", test: unsupported },
    Property { name: "nothing_to_do", scene: "empty", test: nothing_to_do },
    Property { name: "bad_settings_are_errors", scene: "settings", test: bad_settings },
    Property { name: "bad_state_is_an_error", scene: "free-fall", test: bad_state },
];

/// Frames and iterations of the runs that are compared bit by bit.
const PLAN: Plan = Plan { frames: 6, substeps: 1, iterations: 5 };

fn falling() -> Scene {
    embedded("free-fall", &[])
}

fn zoo() -> Scene {
    embedded("joint-zoo", &[])
}

/// Skips what promises no equal bits.
pub(super) fn bitwise(subject: &Subject<'_>) -> Result<(), Stop> {
    match subject.backend.determinism() {
        Determinism::Bitwise => Ok(()),
        Determinism::None => Err(Stop::Skip("does not promise equal bits".to_owned())),
    }
}

pub(super) fn equal_runs(subject: &Subject<'_>, scene: &Scene, plan: Plan) -> Result<(), Stop> {
    bitwise(subject)?;
    let hashes = [subject.end(scene, plan)?, subject.end(scene, plan)?].map(|state| state.hash());
    ensure(hashes[0] == hashes[1], || "two equal runs end in different states".to_owned())
}

pub(super) fn neutral_reads(subject: &Subject<'_>, scene: &Scene, plan: Plan) -> Result<(), Stop> {
    bitwise(subject)?;
    let undisturbed = subject.end(scene, plan)?;
    let mut solver = subject.build(scene)?;
    let mut state = State::default();
    for _ in 0..plan.frames {
        solver.begin_step(plan.step(scene))?;
        solver.read(&mut state)?;
        for _ in 0..plan.iterations {
            solver.iterate()?;
            solver.read(&mut state)?;
            ensure(state.is_finite(), || "an iterate is not finite".to_owned())?;
        }
        solver.end_step()?;
        solver.read(&mut state)?;
    }
    let again = state.clone();
    solver.read(&mut state)?;
    ensure(state == again, || "two reads in a row differ".to_owned())?;
    ensure(state.hash() == undisturbed.hash(), || "reading changes the run".to_owned())
}

/// Where iterations refine a step, the motion after the last of them is that which the step ends in.
pub(super) fn last_reads(subject: &Subject<'_>, scene: &Scene, plan: Plan) -> Result<(), Stop> {
    let mut solver = subject.build(scene)?;
    let skip = |why: &str| Err(Stop::Skip(why.to_owned()));
    match solver.iteration() {
        Iteration::Refine => {}
        Iteration::Rerun => return skip("its iterations are read at the end of the step only"),
        Iteration::Substep => return skip("its iterations are sub-steps"),
    }
    // Some rotations are made unit length again at the end.
    let allowed = subject.allowed("last_reads_are_ends", 1e-12);
    let [mut within, mut after] = [State::default(), State::default()];
    for frame in 1..=plan.frames {
        solver.begin_step(plan.step(scene))?;
        (0..plan.iterations).try_for_each(|_| solver.iterate())?;
        solver.read(&mut within)?;
        solver.end_step()?;
        solver.read(&mut after)?;
        let bodies = within.bodies.iter().zip(&after.bodies).map(|(a, b)| {
            let (place, rate) = (a.position - b.position, a.velocity - b.velocity);
            let (frame, frame_rate) = (a.frame - b.frame, a.frame_rate - b.frame_rate);
            place.norm().max(rate.norm()).max(frame.norm()).max(frame_rate.norm())
        });
        let off = bodies.fold(0.0, f64::max);
        ensure(off < allowed, || format!("frame {frame} ends {off:.2e} off its last iteration"))?;
    }
    Ok(())
}

pub(super) fn load_resets(subject: &Subject<'_>, scene: &Scene, plan: Plan) -> Result<(), Stop> {
    bitwise(subject)?;
    let mut solver = subject.build(scene)?;
    let initial = scene.initial_state();
    let mut hashes = Vec::new();
    let mut state = State::default();
    for _ in 0..2 {
        solver.load(&initial)?;
        solver.read(&mut state)?;
        let same = state.time_s == initial.time_s && state.broken == initial.broken;
        ensure(same, || "time or breaks survive a load".to_owned())?;
        for _ in 0..plan.frames {
            advance(&mut *solver, plan.step(scene))?;
        }
        solver.read(&mut state)?;
        hashes.push(state.hash());
    }
    ensure(hashes[0] == hashes[1], || "a run after `load` differs from the first".to_owned())
}

/// Equal bits on one, two and four threads, in a scene large enough to be worth several.
pub(super) fn threads(subject: &Subject<'_>, scene: &Scene, plan: Plan) -> Result<(), Stop> {
    bitwise(subject)?;
    let mut hashes = Vec::new();
    for count in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.map_err(|error| Stop::Skip(format!("cannot start threads: {error}")))?;
        hashes.push(pool.install(|| subject.end(scene, plan).map(|state| state.hash()))?);
    }
    ensure(hashes.iter().all(|&hash| hash == hashes[0]), || {
        "the number of threads changes the result".to_owned()
    })
}

/// Every kind of scene is either taken by both `supports` and `build`, or refused by both.
fn unsupported(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut touching = falling();
    touching.contacts = Some(Contacts::default());
    let named = [
        ("free-fall", falling()),
        ("free-fall with contacts", touching),
        ("joint-zoo", zoo()),
        ("two-springs", embedded("two-springs", &[])),
        ("a kinematic carrier", scenes::carried()),
        ("a breakable joint", scenes::hanging(JointKind::Fixed, 1e6)),
        ("a torsion spring", scenes::torsion(2.0)),
        ("a damped spring", timed::damped()),
        ("a force", timed::pushed()),
        ("a driven body", timed::driven_pendulum()),
    ];
    for (name, scene) in named {
        let declared = subject.backend.supports(&scene);
        let built = runner::build(subject.backend, &scene, &subject.settings());
        let found = match (&declared, built) {
            (Ok(()), Ok(_)) | (Err(_), Err(BuildError::Unsupported(_))) => continue,
            (_, Err(BuildError::NoDevice(why))) => return Err(Stop::Skip(why)),
            (Ok(()), Err(error)) => format!("declared supported, but: {error}"),
            (Err(_), Ok(_)) => "declared unsupported, but builds".to_owned(),
            (Err(_), Err(error)) => format!("refused as another error: {error}"),
        };
        return Err(Stop::Fail(format!("{name}: {found}")));
    }
    Ok(())
}

/// A scene without anything in it, and one in which nothing moves.
fn nothing_to_do(subject: &Subject<'_>) -> Result<(), Stop> {
    let mut still = scenes::empty(scenes::G);
    still.bodies.push(scenes::cube().fixed());
    for scene in [scenes::empty(scenes::G), still] {
        let end = subject.end(&scene, Plan::new(3, 2))?;
        let moved = end.bodies.iter().zip(scene.initial_state().bodies).any(|(a, b)| *a != b);
        ensure(!moved, || "something moved that is static".to_owned())?;
    }
    Ok(())
}

/// Unknown keys, wrong syntax, and for every setting a value that is no number: errors, not panics.
/// Absurd numbers may be refused or taken, but must not panic either.
fn bad_settings(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = falling();
    let build = |text: &str| runner::build(subject.backend, &scene, &Settings::from_ron(text));
    let resolved = subject.build(&scene)?.resolved_settings();
    let mut refused = vec!["(no_such_setting: 1)".to_owned(), "(".to_owned(), "7".to_owned()];
    let mut absurd = Vec::new();
    for name in setting_names(&resolved) {
        refused.push(format!("({name}: NaN)"));
        absurd
            .extend(["inf", "-inf", "1e300", "-1", "0"].map(|value| format!("({name}: {value})")));
    }
    for text in refused {
        match build(&text) {
            Err(BuildError::Settings(message)) if !message.is_empty() => {}
            Err(error) => return Err(Stop::Fail(format!("`{text}` gives: {error}"))),
            Ok(_) => return Err(Stop::Fail(format!("`{text}` is taken"))),
        }
    }
    for text in absurd {
        let Ok(mut solver) = build(&text) else { continue };
        solver.load(&scene.initial_state())?;
        // Whether it diverges is its own matter; that it returns is not.
        if let Err(error @ SolverError::StateMismatch { .. }) = advance_two(&mut *solver, &scene) {
            return Err(Stop::Fail(format!("`{text}` gives: {error}")));
        }
    }
    Ok(())
}

fn advance_two(solver: &mut dyn Solver, scene: &Scene) -> Result<(), SolverError> {
    let step = Plan::new(1, 2).step(scene);
    advance(solver, step)?;
    advance(solver, step)
}

/// Names of the fields of a struct written in RON, not of those nested in it.
fn setting_names(ron: &str) -> Vec<&str> {
    let inner = ron.trim().split_once('(').map_or("", |(_, rest)| rest);
    let (mut depth, mut start, mut names) = (0_u32, 0, Vec::new());
    for (i, c) in inner.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => start = i + 1,
            ':' if depth == 0 => names.push(inner[start..i].trim()),
            _ => {}
        }
    }
    names
}

/// A state of another scene is refused, and the solver still works afterwards.
fn bad_state(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = falling();
    let mut solver = subject.build(&scene)?;
    let mut wrong = scene.initial_state();
    wrong.bodies.pop();
    match solver.load(&wrong) {
        Err(SolverError::StateMismatch { .. }) => {}
        Err(error) => return Err(Stop::Fail(format!("refused as another error: {error}"))),
        Ok(()) => return Err(Stop::Fail("a state with a body too few is taken".to_owned())),
    }
    solver.load(&scene.initial_state())?;
    advance(&mut *solver, PLAN.step(&scene))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::setting_names;

    #[test]
    fn names_of_settings_are_those_of_the_outer_struct() {
        assert_eq!(setting_names("(a:1,b:Some((c:2,d:[1,2])), e : robust)"), ["a", "b", "e"]);
        assert_eq!(setting_names("Settings(x: 1)"), ["x"]);
        assert!(setting_names("()").is_empty() && setting_names("").is_empty());
    }
}
