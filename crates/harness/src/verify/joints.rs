//! Joints: that they hold, break and let go, and that more work brings a solver nearer the reference.

use taut_core::{
    Iteration, Scene, State,
    labels::{Evidence, Judge, Label},
    metrics,
    scene::JointKind,
};

use super::{
    Property,
    scenes::{self, embedded},
    subject::{Plan, Stop, Subject, ensure},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property { name: "every_joint_holds", scene: "joint-zoo", test: every_joint_holds },
    Property { name: "open_joints_close", scene: "apart", test: open_joints_close },
    Property { name: "broken_joints_let_go", scene: "chain", test: broken_joints_let_go },
    Property { name: "joints_break", scene: "hanging", test: joints_break },
    Property { name: "more_work_is_no_worse", scene: "chain", test: more_work_is_no_worse },
    Property {
        name: "approaches_newton",
        scene: "chain",
        test: |s| approaches(s, &scenes::chain(4)),
    },
    Property {
        name: "approaches_newton",
        scene: "two-springs",
        test: |s| approaches(s, &embedded("two-springs", &[])),
    },
];

/// Name of the backend that others are compared with.
const REFERENCE: &str = "newton";

/// Every kind of joint for a second: no label, errors below a twentieth of a link.
fn every_joint_holds(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = embedded("joint-zoo", &[]);
    let path = subject.path(&scene, Plan::new(60, 50))?;
    let mut judge = Judge::new(&scene, &path[0]);
    path.iter().skip(1).for_each(|state| judge.observe(state, &Evidence::default()));
    ensure(judge.label() == Label::Ok, || format!("{}: {}", judge.label(), judge.reason()))?;
    let errors = path.iter().map(|state| metrics::joint_errors(&scene, state));
    let (length, angle) = errors.fold((0.0_f64, 0.0_f64), |(length, angle), error| {
        (length.max(error.max_m), angle.max(error.angle_max_rad))
    });
    ensure(length < 0.05, || format!("a joint is {length:.2e} m open"))?;
    ensure(angle < 0.05, || format!("a joint is turned {angle:.2e} rad too far"))
}

/// Joints of every kind that a backend takes close from half a metre and half a turn apart, within two
/// seconds and to a hundredth of what it was.
fn open_joints_close(subject: &Subject<'_>) -> Result<(), Stop> {
    let kinds = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Fixed,
        JointKind::Distance { length: 0.7 },
    ];
    let mut refused = None;
    let mut taken = 0;
    for kind in kinds {
        let scene = scenes::apart(kind);
        let end = match subject.end(&scene, Plan::new(120, 10)) {
            Err(skip @ Stop::Skip(_)) => {
                refused = Some(skip);
                continue;
            }
            end => end.map_err(|stop| stop.about(&format!("{kind:?}")))?,
        };
        taken += 1;
        let error = |state: &State| {
            let error = metrics::joint_errors(&scene, state);
            error.max_m.max(error.angle_max_rad)
        };
        let left = error(&end) / error(&scene.initial_state());
        ensure(left < subject.allowed("open_joints_close", 0.01), || {
            format!("{kind:?}: {left:.2e} of its error is left")
        })?;
    }
    refused.filter(|_| taken == 0).map_or(Ok(()), Err)
}

/// With all joints broken from the start, the scene falls as one without joints.
fn broken_joints_let_go(subject: &Subject<'_>) -> Result<(), Stop> {
    let tied = scenes::chain(3);
    let free = Scene { joints: Vec::new(), ..tied.clone() };
    let mut start = tied.initial_state();
    start.broken.fill(true);
    let plan = Plan::new(30, 10);
    let let_go = subject.end_from(&tied, &start, plan)?;
    let falling = subject.end(&free, plan)?;
    let distance = metrics::pose_distance_rms_m(&tied, &let_go, &falling).unwrap_or(0.0);
    ensure(distance < 1e-9, || format!("{distance:.2e} m from where it falls without joints"))?;
    ensure(let_go.broken.iter().all(|&broken| broken), || "a broken joint has healed".to_owned())
}

/// A joint that bears three times the weight holds it; one that bears half of it breaks in time.
fn joints_break(subject: &Subject<'_>) -> Result<(), Stop> {
    for kind in [JointKind::Ball, JointKind::Fixed] {
        let plan = Plan::new(60, 50);
        let weight = scenes::cube().mass * scenes::G;
        let strong = subject.end(&scenes::hanging(kind, 3.0 * weight), plan)?;
        ensure(!strong.broken[0], || format!("{kind:?} breaks below its strength"))?;
        let fallen = strong.bodies[0].position.norm();
        ensure(fallen < 0.05, || format!("{kind:?} lets its load sink by {fallen:.2e} m"))?;
        let weak = subject.end(&scenes::hanging(kind, 0.5 * weight), plan)?;
        ensure(weak.broken[0], || format!("{kind:?} holds twice its strength"))?;
        // Half a second is left to fall in, whatever its first frames were like.
        let fallen = weak.bodies[0].position.norm();
        ensure(fallen > 0.5, || {
            format!("{kind:?} is broken but its load fell only {fallen:.2e} m")
        })?;
    }
    Ok(())
}

/// The mean joint error over half a second does not grow when the budget doubles, beyond a tenth for
/// curves that swing, and the error a solver promises anyway.
fn more_work_is_no_worse(subject: &Subject<'_>) -> Result<(), Stop> {
    let scene = scenes::chain(6);
    let mean = |iterations| -> Result<f64, Stop> {
        let path = subject.path(&scene, Plan::new(30, iterations))?;
        let sum: f64 = path.iter().map(|state| metrics::joint_errors(&scene, state).rms_m).sum();
        Ok(sum / path.len() as f64)
    };
    let mut before = mean(5)?;
    for iterations in [10, 20, 40, 80] {
        let now = mean(iterations)?;
        ensure(now <= 1.1 * before + 1e-7, || {
            format!("{before:.2e} m becomes {now:.2e} m at {iterations} iterations")
        })?;
        before = now;
    }
    Ok(())
}

/// Ever closer to the reference as the budget grows, and within a hundredth of a metre at the end.
///
/// A refining solver tends to the implicit Euler step, a substepping one to the exact motion.
fn approaches(subject: &Subject<'_>, scene: &Scene) -> Result<(), Stop> {
    let Some(reference) = subject.table.get(REFERENCE) else {
        return Err(Stop::Skip(format!("there is no `{REFERENCE}`")));
    };
    let fine = match subject.iteration(scene)? {
        Iteration::Refine | Iteration::Rerun => 1,
        Iteration::Substep => 64,
    };
    let target = Subject::new(&**reference, subject.table, "")
        .end(scene, Plan::new(20, 1).substeps(fine))?;
    let distance =
        |end: &State| metrics::pose_distance_rms_m(scene, end, &target).unwrap_or(f64::INFINITY);
    let [few, many] = [8, 256].map(|iterations| subject.end(scene, Plan::new(20, iterations)));
    let (few, many) = (distance(&few?), distance(&many?));
    ensure(many < 0.01 && (many < 0.5 * few || many < 1e-6), || {
        format!("{few:.2e} m from it after 8 iterations, {many:.2e} m after 256")
    })
}
