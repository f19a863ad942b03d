//! What comes into a scene and what leaves it between two states: the work of forces and drives, the heat of dampers.

use taut_math::V3;

use crate::{
    Multipliers, Quat, Scene, State, Vec3,
    applied::{Action, AppliedForces, advance_of, turn_between},
    constraint::{Geometry, Pose, free_coordinate, spring_rows},
    energy::ENDS_MAX,
    formula::TimeFormula,
    scene::{Anchor, Endpoint, Joint, Motor, Spring, SpringKind, points},
};

use super::energy::{damped_j, distance};

/// Energy that a scene is given and that it gives away.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkDone {
    /// By forces, torques and efforts [J].
    pub forces_j: f64,
    /// By motors, and by bodies that follow a path on all that they hold and touch [J].
    pub drives_j: f64,
    /// Lost in dampers [J]; never negative.
    pub dampers_j: f64,
}

impl WorkDone {
    /// What all of it adds to the mechanical energy [J].
    pub fn net_j(&self) -> f64 {
        self.forces_j + self.drives_j - self.dampers_j
    }

    /// Both one after the other.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            forces_j: self.forces_j + other.forces_j,
            drives_j: self.drives_j + other.drives_j,
            dampers_j: self.dampers_j + other.dampers_j,
        }
    }
}

/// Whether a scene has anything whose work [`work`] tells.
pub fn has_work(scene: &Scene) -> bool {
    let damped = scene.springs.iter().any(|spring| spring.damping > 0.0)
        || scene.joints.iter().any(|joint| joint.damping > 0.0)
        || !scene.material_damping.is_empty();
    damped || !scene.forces.is_empty() || !scene.drives.is_empty() || motors(scene).next().is_some()
}

/// Joints that are driven, by their places in the scene.
fn motors(scene: &Scene) -> impl Iterator<Item = (usize, &Joint, &Motor)> {
    let joints = scene.joints.iter().enumerate();
    joints.filter_map(|(i, joint)| Some((i, joint, joint.motor.as_ref()?)))
}

/// The work from one state to a later one.
///
/// Forces are those of the middle of the time between, dampers see the mean rate over it, and so the error falls with
/// the square of that time. Drives act through what they hold: joints, whose forces are those that the solver
/// `reports` of its last step, contacts likewise, and springs and material, by the mean of their pulls before and after.
/// A motor gives what its joint is reported to exert along its free coordinate, without its damper and within its
/// `max_effort`. `None` where there is a motor, or a driven body holds anything by a joint or may touch, and nothing is
/// reported.
pub fn work(
    scene: &Scene,
    before: &State,
    after: &State,
    reports: Option<&Multipliers>,
) -> Option<WorkDone> {
    let dt = after.time_s - before.time_s;
    if dt <= 0.0 {
        return Some(WorkDone::default());
    }
    let reports = reports.filter(|told| told.joint_force.len() == scene.joints.len());
    let mut drives_j = 0.0;
    if !scene.drives.is_empty() {
        drives_j += paths_j(scene, before, after, reports)?;
    }
    if motors(scene).next().is_some() {
        drives_j += motors_j(scene, before, after, reports?);
    }
    let forces_j = forces_work_j(scene, before, after);
    Some(WorkDone { forces_j, drives_j, dampers_j: dampers_j(scene, before, after, dt) })
}

/// Rotation of a body from one state to another, as a vector in world axes [rad].
fn turned(body: usize, before: &State, after: &State) -> Vec3 {
    let [from, to]: [Quat; 2] = [before, after].map(|state| state.bodies[body].rotation());
    (to * from.inverse()).scaled_axis()
}

fn poses(ends: [Endpoint; 2], state: &State) -> [Pose; 2] {
    ends.map(|end| Pose::of(end, state))
}

/// Work of forces, torques and efforts [J].
pub(crate) fn forces_work_j(scene: &Scene, before: &State, after: &State) -> f64 {
    let middle_s = 0.5 * (before.time_s + after.time_s);
    let mut sum = 0.0;
    for force in &scene.forces {
        use crate::scene::ForceKind::{Effort, Force, Torque};
        let vector = |of| TimeFormula::vector(of, middle_s);
        sum += match &force.kind {
            Force { body, at, force } => {
                let way = after.bodies[*body].point(at) - before.bodies[*body].point(at);
                vector(force).dot(&way)
            }
            Torque { body, torque } => vector(torque).dot(&turned(*body, before, after)),
            Effort { joint, .. } if after.broken[*joint] => 0.0,
            Effort { joint, effort } => {
                let joint = &scene.joints[*joint];
                let ends = [joint.a, joint.b];
                effort.at(middle_s) * advance_of(joint, poses(ends, before), poses(ends, after))
            }
        };
    }
    sum
}

/// Heat of all dampers over `dt` [s], by their mean rates [J].
fn dampers_j(scene: &Scene, before: &State, after: &State, dt: f64) -> f64 {
    let springs = scene.springs.iter().filter(|spring| spring.damping > 0.0);
    let springs = springs.map(|spring| spring.damping * change_square(spring, before, after));
    let joints = scene.joints.iter().zip(&after.broken);
    let joints = joints.filter(|(joint, broken)| joint.damping > 0.0 && !**broken);
    let joints = joints.map(|(joint, _)| {
        let ends = [joint.a, joint.b];
        joint.damping * advance_of(joint, poses(ends, before), poses(ends, after)).powi(2)
    });
    springs.chain(joints).sum::<f64>() / dt + 2.0 * damped_j(scene, before, after, dt)
}

/// Square of how far a spring's length, or the rotation between its bodies, changes [m^2 or rad^2].
fn change_square(spring: &Spring, before: &State, after: &State) -> f64 {
    let ends = [spring.a, spring.b];
    match spring.kind {
        SpringKind::Linear { .. } => {
            let geometry = Geometry::from(spring);
            let length = |state| distance(spring.a, spring.b, &geometry, state);
            (length(after) - length(before)).powi(2)
        }
        SpringKind::Angular { .. } => {
            turn_between(poses(ends, before), poses(ends, after)).norm_squared()
        }
    }
}

/// Work of motors [J].
fn motors_j(scene: &Scene, before: &State, after: &State, reports: &Multipliers) -> f64 {
    let dt = after.time_s - before.time_s;
    let whole = motors(scene).filter(|(i, ..)| !after.broken[*i]);
    whole
        .filter_map(|(i, joint, motor)| {
            let ends = [joint.a, joint.b];
            let [from, to] = [before, after].map(|state| poses(ends, state));
            let (row, [a, b]) = (free_coordinate(joint.kind)?, &to);
            let [.., slides, turns] = row.evaluate(&Geometry::from(joint), a, b).gradient;
            let along = match row.is_angular() {
                true => reports.joint_torque[i].dot(&turns),
                false => reports.joint_force[i].dot(&slides),
            };
            let advance = advance_of(joint, from, to);
            let effort = along + joint.damping * advance / dt;
            Some(effort.clamp(-motor.max_effort, motor.max_effort) * advance)
        })
        .sum()
}

/// Work of the bodies that follow paths [J].
fn paths_j(
    scene: &Scene,
    before: &State,
    after: &State,
    reports: Option<&Multipliers>,
) -> Option<f64> {
    let driven = |end: Endpoint| match end {
        Endpoint::Body(body) => scene.drives.iter().any(|drive| drive.body == body).then_some(body),
        Endpoint::World | Endpoint::Particle(_) => None,
    };
    let holds = |[a, b]: [Endpoint; 2]| driven(a).is_some() || driven(b).is_some();
    let jointed = scene.joints.iter().any(|joint| holds([joint.a, joint.b]));
    let dt = after.time_s - before.time_s;
    let mut sum = materials_j(scene, before, after, dt, |end| driven(end).is_some());
    // What acts on a driven body is held by its drive, and the opposite is what the drive gives.
    let mut act = |action: Action| {
        if let Some(body) = driven(Endpoint::Body(action.body)) {
            let centre = before.bodies[body].position;
            let way = after.bodies[body].position - centre;
            let turn = turned(body, before, after);
            sum -= action.force.dot(&way) + action.torque_about(&centre).dot(&turn);
        }
    };
    if jointed || scene.contacts.is_some() {
        let reports = reports?;
        add_reported(scene, before, reports, &mut act);
    }
    for spring in scene.springs.iter().filter(|spring| holds([spring.a, spring.b])) {
        add_spring(spring, [before, after], dt, &mut act);
    }
    let middle_s = before.time_s + 0.5 * dt;
    let pose = |end| Pose::of(end, before);
    AppliedForces::of(scene).each(middle_s, &after.broken, pose, &mut act);
    Some(sum)
}

/// What is done against the pull of elastic material, and of its damping, where it is held by what is `driven` [J].
fn materials_j(
    scene: &Scene,
    before: &State,
    after: &State,
    dt: f64,
    driven: impl Fn(Endpoint) -> bool,
) -> f64 {
    let mut sum = 0.0;
    let mut add = |anchors: &[Anchor; ENDS_MAX], ends, force: &dyn Fn(usize) -> V3<f64>| {
        for (i, anchor) in anchors[..ends].iter().enumerate().filter(|(_, one)| driven(one.end)) {
            let way = anchor.position(after) - anchor.position(before);
            sum -= force(i).to_f64().dot(&way);
        }
    };
    for (energy, anchors) in scene.energies() {
        let [from, to] = [before, after].map(|state| points(&anchors, state));
        let mean = |i| (energy.force(&from, i) + energy.force(&to, i)) * 0.5;
        add(&anchors, energy.ends(), &mean);
    }
    for (mut energy, anchors) in scene.dampings() {
        energy.begin(&points(&anchors, before), dt);
        let to = points(&anchors, after);
        add(&anchors, energy.ends(), &|i| energy.force(&to, i));
    }
    sum
}

/// The forces of joints and contacts that a solver reports.
fn add_reported(
    scene: &Scene,
    before: &State,
    reports: &Multipliers,
    act: &mut impl FnMut(Action),
) {
    let loads = reports.joint_force.iter().zip(&reports.joint_torque);
    for (joint, (&force, &torque)) in scene.joints.iter().zip(loads) {
        let point = match joint.b {
            Endpoint::World => joint.anchor_b,
            Endpoint::Body(body) => before.bodies[body].point(&joint.anchor_b),
            Endpoint::Particle(i) => before.particles[i].position,
        };
        for (end, sign) in [(joint.a, -1.0), (joint.b, 1.0)] {
            if let Endpoint::Body(body) = end {
                act(Action { body, point, force: force * sign, torque: torque * sign });
            }
        }
    }
    for contact in &reports.contacts {
        for (body, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            let (body, force) = (body as usize, contact.force * sign);
            act(Action { body, point: contact.point, force, torque: Vec3::zeros() });
        }
    }
}

/// The mean pull of a spring and its damper from one state to another.
fn add_spring(
    spring: &Spring,
    [before, after]: [&State; 2],
    dt: f64,
    act: &mut impl FnMut(Action),
) {
    let (geometry, ends) = (Geometry::from(spring), [spring.a, spring.b]);
    let [start, end] = [before, after].map(|state| poses(ends, state));
    let turn = turn_between(start, end);
    for (row, rest) in spring_rows(spring) {
        let rows = [start, end].map(|[a, b]| row.evaluate(&geometry, &a, &b));
        let mean = 0.5 * (rows[0].value + rows[1].value) - rest;
        let linear = matches!(spring.kind, SpringKind::Linear { .. });
        let rate = if linear { (rows[1].value - rows[0].value) / dt } else { 0.0 };
        let pull = spring.stiffness * mean + spring.damping * rate;
        for (side, end) in ends.into_iter().enumerate() {
            let Endpoint::Body(body) = end else { continue };
            let [force, torque] = [2 * side, 2 * side + 1].map(|k| rows[0].gradient[k] * -pull);
            act(Action { body, point: start[side].position, force, torque });
        }
    }
    if matches!(spring.kind, SpringKind::Angular { .. }) {
        let torque = start[0].rotation * turn * (spring.damping / dt);
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let Endpoint::Body(body) = ends[side] else { continue };
            let (point, force) = (start[side].position, Vec3::zeros());
            act(Action { body, point, force, torque: torque * sign });
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Rotation3;

    use super::*;
    use crate::{load::load_str, metrics::energy};

    fn scene(lists: &str) -> Scene {
        let text = format!("(contacts: false, {lists})");
        load_str(&text, "test", &[]).unwrap_or_else(|error| panic!("{error}")).scene
    }

    /// The initial state and one after `dt` [s], changed.
    fn pair(scene: &Scene, dt: f64, change: impl Fn(&mut State)) -> [State; 2] {
        let before = scene.initial_state();
        let mut after = State { time_s: dt, ..before.clone() };
        change(&mut after);
        [before, after]
    }

    const BOX: &str = "body(name: \"box\", shape: box(size: (1, 1, 1)), mass: 1)";

    #[test]
    fn forces_work_along_ways_and_torques_along_turns() {
        let scene = scene(&format!(
            "bodies: [{BOX}], forces: [
                force(on: \"box\", at: (0.5, 0, 0), force: (0, \"10*t\", 0)), torque(on: \"box\", torque: (0, 0, 2))]"
        ));
        let turn = Quat::from_scaled_axis(Vec3::z() * 0.2);
        let [before, after] = pair(&scene, 0.4, |state| {
            let frame = turn.to_rotation_matrix().into_inner();
            (state.bodies[0].position, state.bodies[0].frame) = (Vec3::y() * 3.0, frame);
        });
        let found = work(&scene, &before, &after, None).expect("nothing is hidden");
        // 2 N in the middle of the time.
        let expected = 2.0 * (3.0 + 0.5 * 0.2_f64.sin()) + 2.0 * 0.2;
        assert!((found.forces_j - expected).abs() < 1e-12, "{found:?}");
        assert_eq!((found.drives_j, found.dampers_j), (0.0, 0.0));
        assert!(has_work(&scene));
    }

    #[test]
    fn dampers_heat_by_the_square_of_their_rate() {
        let scene = scene(&format!(
            "bodies: [{BOX}], joints: [
                cylindrical(name: \"pin\", a: \"world\", b: \"box\", at: (0, 0, 0), axis: (1, 0, 0), damping: 3)],
            springs: [linear(a: \"world\", b: \"box\", anchor_a: (-1, 0, 0), stiffness: 0, damping: 5),
                angular(a: \"world\", b: \"box\", stiffness: 0, damping: 7)],
            forces: [effort(joint: \"pin\", effort: 4)]"
        ));
        let [before, after] = pair(&scene, 0.5, |state| {
            let turn = Quat::from_scaled_axis(Vec3::x() * 0.1);
            state.bodies[0].position.x = 0.2;
            state.bodies[0].frame = turn.to_rotation_matrix().into_inner();
        });
        let found = work(&scene, &before, &after, None).expect("nothing is hidden");
        let heat = ((3.0 + 5.0) * 0.2 * 0.2 + 7.0 * 0.1 * 0.1) / 0.5;
        assert!((found.dampers_j - heat).abs() < 1e-12, "{found:?}");
        assert!((found.forces_j - 4.0 * 0.2).abs() < 1e-12, "{found:?}");
        assert!((found.net_j() - (0.8 - heat)).abs() < 1e-12);
    }

    #[test]
    fn a_drive_gives_what_its_joint_holds() {
        let scene = scene(&format!(
            "bodies: [body(name: \"lift\", shape: sphere(radius: 1), motion: path(position: (0, 0, \"t\"))), {BOX}],
            joints: [fixed(a: \"lift\", b: \"box\", at: (0, 0, 0))]"
        ));
        let [before, after] = pair(&scene, 0.5, |state| {
            state.bodies.iter_mut().for_each(|body| body.position.z = 0.5);
        });
        assert_eq!(work(&scene, &before, &after, None), None);
        let (joint_force, joint_torque) = (vec![Vec3::z() * 9.81], vec![Vec3::zeros()]);
        let reports = Multipliers { joint_force, joint_torque, contacts: vec![] };
        let found = work(&scene, &before, &after, Some(&reports)).expect("it is told");
        assert!((found.drives_j - 0.5 * 9.81).abs() < 1e-12, "{found:?}");
    }

    /// A joint exerts its motor's effort less what its damper takes, and a limit that stops it is no motor's work.
    #[test]
    fn motors_give_their_effort_along_the_way() {
        let scene = scene(
            "bodies: [body(name: \"bar\", shape: box(size: (1, 1, 1)), mass: 6)],
            joints: [hinge(a: \"world\", b: \"bar\", at: (0, 0, 0), axis: (0, 0, 1), damping: 0.3,
                motor: (speed: 5, max_effort: 0.2))]",
        );
        assert!(has_work(&scene));
        let [before, after] = pair(&scene, 0.01, |state| {
            state.bodies[0].frame = Rotation3::new(Vec3::z() * 0.05).into_inner();
        });
        assert_eq!(work(&scene, &before, &after, None), None);
        let told = |torque: f64| {
            let (joint_force, joint_torque) = (vec![Vec3::zeros()], vec![Vec3::z() * torque]);
            let reports = Multipliers { joint_force, joint_torque, contacts: vec![] };
            work(&scene, &before, &after, Some(&reports)).expect("it is told")
        };
        let heat = 0.3 * 0.05 * 0.05 / 0.01;
        let found = told(0.2 - 0.3 * 5.0);
        assert!((found.drives_j - 0.2 * 0.05).abs() < 1e-15, "{found:?}");
        assert!((found.dampers_j - heat).abs() < 1e-15, "{found:?}");
        let stopped = told(-100.0);
        assert!((stopped.drives_j + 0.2 * 0.05).abs() < 1e-15, "{stopped:?}");
    }

    /// What a driven body strains stores what the drive gives.
    #[test]
    fn drives_give_what_material_stores() {
        let scene = scene(
            "bodies: [body(name: \"lift\", shape: sphere(radius: 1), motion: path(position: (0, 0, \"t\")))],
            particles: [particle(name: \"p\", mass: 1, position: (1, 0, 0)), particle(name: \"q\", mass: 1, position: (0, 1, 0))],
            triangles: [triangle(nodes: (\"lift\", \"p\", \"q\"), thickness: 0.01, membrane: (young: 1e6, poisson: 0.3))]",
        );
        let mut total = 0.0;
        let at = |height: f64| {
            let mut state = State { time_s: height, ..scene.initial_state() };
            state.bodies[0].position.z = height;
            state
        };
        let steps = 200;
        for i in 0..steps {
            let [before, after] = [i, i + 1].map(|k| at(0.3 * f64::from(k) / f64::from(steps)));
            total += work(&scene, &before, &after, None).expect("nothing is hidden").drives_j;
        }
        let stored = energy(&scene, &at(0.3)).material_j;
        assert!(stored > 10.0, "{stored}");
        assert!((total / stored - 1.0).abs() < 1e-4, "{total} of {stored}");
    }
}
