//! Whether the forces of a step explain the motion over it: what a method leaves unsolved, without a reference.

use crate::{
    Multipliers, Scene, State, Vec3,
    applied::AppliedForces,
    constraint::{Geometry, Pose, RowKind, spring_rows},
    energy::{ENDS_MAX, Energy},
    scene::{Anchor, SpringKind, points},
};

/// Whatever carries less than this share of the largest load is judged as if it carried it [1].
const LEAST: f64 = 1e-3;

/// Largest share of the load on anything that one step leaves without a change of momentum, or the other way
/// round [1].
///
/// Of each body and particle `|m (v1 - v0) / dt - m g - r - s|` over the sum of the magnitudes of what acts on it and of that change:
/// `r` are the forces of joints and contacts that the solver reports and those that are applied, `s` is the nearest point of the segment
/// between the forces of springs and elastic parts at the start and at the end, so that no integrator is blamed
/// for the place where it asks for them. Angular momentum is not looked at. `None` where joints or contacts act
/// and the solver does not report them, or where nothing is dynamic.
pub fn imbalance_share_max(
    scene: &Scene,
    before: &State,
    after: &State,
    dt: f64,
    forces: Option<&Multipliers>,
) -> Option<f64> {
    let constrained = !scene.joints.is_empty() || scene.contacts.is_some();
    let count = scene.bodies.len() + scene.particles.len();
    let mut reported = Acting::none(count);
    if constrained {
        reported.add_reported(scene, forces.filter(|f| f.joint_force.len() == scene.joints.len())?);
    }
    reported.add_applied(scene, before, dt);
    let [start, end] = [before, after].map(|state| elastic(scene, state));
    let start = start.with_dampers(scene, [before, after], dt);
    let end = end.with_dampers(scene, [before, after], dt);
    let mut found = Vec::new();
    for (node, mass, change) in momenta(scene, before, after, dt) {
        let weight = scene.gravity * mass;
        let open = change - weight - reported.sum[node];
        let (from, span) = (start.sum[node], end.sum[node] - start.sum[node]);
        let along = (open - from).dot(&span) / span.norm_squared().max(f64::MIN_POSITIVE);
        let left = (open - from - span * along.clamp(0.0, 1.0)).norm();
        let elastic = start.load[node].max(end.load[node]);
        found.push((left, change.norm() + weight.norm() + reported.load[node] + elastic));
    }
    let largest = found.iter().map(|&(_, load)| load).fold(0.0, f64::max);
    let least = LEAST * largest;
    let share = |&(left, load): &(f64, f64)| if left > 0.0 { left / load.max(least) } else { 0.0 };
    found.iter().map(share).reduce(f64::max)
}

/// What acts on each body, then on each particle.
struct Acting {
    /// [N].
    sum: Vec<Vec3>,
    /// Sum of the magnitudes [N].
    load: Vec<f64>,
}

impl Acting {
    fn none(count: usize) -> Self {
        Self { sum: vec![Vec3::zeros(); count], load: vec![0.0; count] }
    }

    fn add(&mut self, node: Option<usize>, force: Vec3) {
        if let Some(node) = node {
            self.sum[node] += force;
            self.load[node] += force.norm();
        }
    }

    /// Forces from outside; of an effort that is in no joint's report.
    fn add_applied(&mut self, scene: &Scene, before: &State, dt: f64) {
        let pose = |end| Pose::of(end, before);
        let forces = AppliedForces::of(scene);
        forces.each(before.time_s + 0.5 * dt, &before.broken, pose, |action| {
            self.add(Some(action.body), action.force);
        });
    }

    /// The forces of linear springs' dampers and of damped material in a step, along where those are when it ends.
    fn with_dampers(mut self, scene: &Scene, [before, after]: [&State; 2], dt: f64) -> Self {
        for spring in scene.springs.iter().filter(|spring| spring.damping > 0.0) {
            let geometry = Geometry::from(spring);
            let rows = [before, after].map(|state| {
                let (a, b) = (Pose::of(spring.a, state), Pose::of(spring.b, state));
                RowKind::Distance.evaluate(&geometry, &a, &b)
            });
            if matches!(spring.kind, SpringKind::Linear { .. }) {
                let pull = spring.damping * (rows[1].value - rows[0].value) / dt;
                self.add(scene.node(spring.a), rows[1].gradient[0] * -pull);
                self.add(scene.node(spring.b), rows[1].gradient[2] * -pull);
            }
        }
        for (mut energy, anchors) in scene.dampings() {
            energy.begin(&points(&anchors, before), dt);
            self.add_energy(scene, &energy, &anchors, after);
        }
        self
    }

    fn add_energy(
        &mut self,
        scene: &Scene,
        energy: &Energy<f64>,
        anchors: &[Anchor; ENDS_MAX],
        state: &State,
    ) {
        let x = points(anchors, state);
        for (i, anchor) in anchors.iter().enumerate().take(energy.ends().min(ENDS_MAX)) {
            self.add(scene.node(anchor.end), energy.force(&x, i).to_f64());
        }
    }

    fn add_reported(&mut self, scene: &Scene, forces: &Multipliers) {
        for (joint, &force) in scene.joints.iter().zip(&forces.joint_force) {
            self.add(scene.node(joint.a), -force);
            self.add(scene.node(joint.b), force);
        }
        for contact in &forces.contacts {
            contact.acting().for_each(|(node, force)| self.add(Some(node), force));
        }
    }
}

/// The forces of springs and elastic parts in a state.
fn elastic(scene: &Scene, state: &State) -> Acting {
    let mut acting = Acting::none(scene.bodies.len() + scene.particles.len());
    for spring in &scene.springs {
        let (a, b) = (Pose::of(spring.a, state), Pose::of(spring.b, state));
        let geometry = Geometry::from(spring);
        for (row, rest) in spring_rows(spring) {
            let row = row.evaluate(&geometry, &a, &b);
            let pull = spring.stiffness * (row.value - rest);
            acting.add(scene.node(spring.a), row.gradient[0] * -pull);
            acting.add(scene.node(spring.b), row.gradient[2] * -pull);
        }
    }
    for (energy, anchors) in scene.energies() {
        acting.add_energy(scene, &energy, &anchors, state);
    }
    acting
}

/// Of what forces move: its number, its mass [kg] and the change of its momentum [N].
fn momenta<'a>(
    scene: &'a Scene,
    before: &'a State,
    after: &'a State,
    dt: f64,
) -> impl Iterator<Item = (usize, f64, Vec3)> + 'a {
    let bodies = scene.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic());
    let bodies = bodies.map(move |(i, body)| {
        let change = after.bodies[i].velocity - before.bodies[i].velocity;
        (i, body.mass, change * (body.mass / dt))
    });
    let particles = scene.particles.iter().enumerate().filter(|(_, p)| p.mass > 0.0);
    let particles = particles.map(move |(i, particle)| {
        let change = after.particles[i].velocity - before.particles[i].velocity;
        (scene.bodies.len() + i, particle.mass, change * (particle.mass / dt))
    });
    bodies.chain(particles)
}
