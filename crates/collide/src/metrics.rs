//! What contacts are judged by: pure functions of states, and of forces where a solver knows them.
//!
//! Where bodies touch comes from a collision query of the metric's own, on the state read back, never
//! from what a solver detected.

use taut_core::{
    Mat3, Multipliers, Placement, Scene, State, Vec3,
    labels::Intrusion,
    scene::{Body, Particle, Shape},
    solver::ContactForce,
};

use crate::{crossing::Crossings, detect::ContactSet};

/// Slip below which static friction holds [m].
const STICK_M: f64 = 1e-6;

/// A particle so many margins inside something, beside its radius, is half inside as the labels see it.
const MARGINS: f64 = 10.0;

/// What the contacts of one state say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactMeasures {
    /// Depth of the deepest overlap [m]; zero where nothing overlaps.
    pub penetration_max_m: f64,
    /// The two bodies, or body and particle, that are farthest inside each other for their size.
    pub overlap: Option<Intrusion>,
    /// Number of points closer than the scene's margin, after reduction.
    pub contact_count: usize,
    /// Largest relative speed across the normal at these points [m/s].
    pub slip_speed_max_m_s: f64,
    /// Number of pairs of an edge between particles and a triangle of others that it goes through; `None` in scenes
    /// where no particle may touch a triangle of others.
    pub crossed_edges: Option<usize>,
}

/// Measures the contacts of the states of one scene; keeps its buffers from state to state, and
/// nothing else.
#[derive(Clone, Debug)]
pub struct Probe {
    contacts: Option<ContactSet>,
    crossings: Option<Crossings>,
    placements: Vec<Placement>,
    extents: Vec<f64>,
    points_max: usize,
}

impl Probe {
    /// A probe for states of a scene. Scenes without contacts measure as zero.
    pub fn new(scene: &Scene) -> Self {
        // Reduction may pass over the deepest point, so it is done when counting only.
        let mut whole = scene.clone();
        let points_max = scene.contacts.map_or(0, |contacts| contacts.points_max as usize);
        if let Some(contacts) = &mut whole.contacts {
            contacts.points_max = u32::MAX;
        }
        Self {
            contacts: ContactSet::new(&whole),
            crossings: Crossings::new(scene),
            placements: vec![],
            extents: extents(scene),
            points_max,
        }
    }

    /// The contacts of a state.
    pub fn measure(&mut self, state: &State) -> ContactMeasures {
        self.placements.clear();
        self.placements.extend(state.placements());
        let crossings = self.crossings.as_mut();
        let mut measures = ContactMeasures {
            crossed_edges: crossings.map(|crossings| crossings.count(state)),
            ..ContactMeasures::default()
        };
        let Some(contacts) = &mut self.contacts else { return measures };
        contacts.forget();
        // Nothing is looked at ahead of time: where bodies are counts, not where they go.
        let list = contacts.detect(self.placements.iter().copied(), &state.broken, 0.0);
        for manifold in &list.manifolds {
            let sites = &list.contacts[manifold.range().start].sites;
            // A triangle is as thick as its first corner.
            let [a, b] = [0, 1].map(|k| sites[k].shares().next().map_or(0, |(n, _)| n as usize));
            let smaller = self.extents[a].min(self.extents[b]);
            measures.contact_count += manifold.range().len().min(self.points_max);
            for contact in &list.contacts[manifold.range()] {
                let depth = -contact.gap;
                measures.penetration_max_m = measures.penetration_max_m.max(depth);
                let share = depth / smaller;
                if share > measures.overlap.map_or(0.0, |overlap| overlap.share) {
                    measures.overlap = Some(Intrusion { bodies: [a, b], depth_m: depth, share });
                }
                let [speed_a, speed_b] = contact.sites.map(|site| site.velocity(&self.placements));
                let slip = speed_a - speed_b;
                let across = slip - contact.normal * contact.normal.dot(&slip);
                measures.slip_speed_max_m_s = measures.slip_speed_max_m_s.max(across.norm());
            }
        }
        measures
    }
}

/// What overlaps are shares of, by body and particle [m]. A particle has no thickness that could be
/// pierced; in one that is deeper than some margins, contact has failed.
fn extents(scene: &Scene) -> Vec<f64> {
    let margin = scene.contacts.map_or(0.0, |contacts| contacts.margin);
    let particle = |particle: &Particle| {
        let reach = particle.touch.map_or(0.0, |skin| skin.radius + MARGINS * margin);
        if reach > 0.0 { 2.0 * reach } else { f64::INFINITY }
    };
    let bodies = scene.bodies.iter().map(smallest_extent);
    bodies.chain(scene.particles.iter().map(particle)).collect()
}

/// Smallest extent along the body axes [m]; infinite for half-spaces, and for surfaces, which have no thickness that
/// something could be inside of.
fn smallest_extent(body: &Body) -> f64 {
    let extent = body.shape.extent();
    let thick = !matches!(body.shape, Shape::Mesh { .. }) && extent.iter().all(|x| x.is_finite());
    if thick { extent.min() } else { f64::INFINITY }
}

/// By how much the force of any contact leaves the cone of static friction [N]: the larger of
/// `|F_t| - mu F_n` and `-F_n`, zero where all are inside.
pub fn friction_cone_violation_n(multipliers: &Multipliers) -> f64 {
    let violation = |contact: &ContactForce| {
        let pressure = contact.normal.dot(&contact.force);
        let across = (contact.force - contact.normal * pressure).norm();
        let friction = contact.friction[0].max(contact.friction[1]);
        (across - friction * pressure.max(0.0)).max(-pressure)
    };
    multipliers.contacts.iter().map(violation).fold(0.0, f64::max)
}

/// How far a step is from solving its contact problem with Coulomb friction [m]: the largest residual
/// of the natural map over all contacts, in the sense of
///
/// `r_n = |l_n - max(0, l_n - g)|` and `r_t = |l_t - P(l_t - d_t)|`,
///
/// with `l = rho F` and `rho = dt^2 / m`, where `F` is the force on A and `m` the effective mass of the
/// pair along the normal at the point; `g` the gap at the end of the step and `d_t` the tangential
/// displacement of A against B in the step, both linearised with the arms at its start; and `P` the
/// projection onto the disc of radius `mu l_n`. `mu` is the dynamic coefficient, or the static one where
/// the slip is below a micrometre. Zero means that the forces press where the gap is closed only, stick
/// where nothing slips, and oppose the slip with the whole friction elsewhere. Intrusion that was there
/// before counts as a gap that the step left open.
pub fn contact_residual_max_m(
    scene: &Scene,
    before: &State,
    after: &State,
    dt: f64,
    multipliers: &Multipliers,
) -> f64 {
    let residual = |contact: &ContactForce| residual_m(scene, before, after, dt, contact);
    multipliers.contacts.iter().map(residual).fold(0.0, f64::max)
}

fn residual_m(
    scene: &Scene,
    before: &State,
    after: &State,
    dt: f64,
    contact: &ContactForce,
) -> f64 {
    let normal = &contact.normal;
    let mut yielding = 0.0;
    let mut step = Vec3::zeros();
    let sides = [0, 1].into_iter().flat_map(|k| {
        let own = contact.bodies[k];
        let sign = if k == 0 { -1.0 } else { 1.0 };
        let shares = contact.corners[k].unwrap_or([(own, 1.0), (own, 0.0), (own, 0.0)]);
        shares.map(|(node, share)| (node, sign * share))
    });
    for (node, share) in sides {
        if share == 0.0 {
            continue;
        }
        if let Some(particle) = (node as usize).checked_sub(scene.bodies.len()) {
            let [from, to] = [before, after].map(|state| state.particles[particle].position);
            step -= (to - from) * share;
            let mass = scene.particles[particle].mass;
            yielding += if mass > 0.0 { share * share / mass } else { 0.0 };
            continue;
        }
        let body = node as usize;
        let (from, to) = (&before.bodies[body], &after.bodies[body]);
        let arm = contact.point - from.position;
        let turn = (to.rotation() * from.rotation().inverse()).scaled_axis();
        step -= (to.position - from.position + turn.cross(&arm)) * share;
        yielding += inverse_mass(&scene.bodies[body], &from.rotation(), &arm, normal);
    }
    if yielding <= 0.0 {
        return 0.0;
    }
    let lambda = contact.force * (dt * dt * yielding);
    let (pressure, slip) = (normal.dot(&lambda), step - normal * normal.dot(&step));
    let gap = contact.gap + normal.dot(&step);
    let open = (pressure - (pressure - gap).max(0.0)).abs();
    let [fixed, sliding] = contact.friction;
    let friction = if slip.norm() < STICK_M { fixed } else { sliding };
    let across = lambda - normal * pressure;
    let held = (across - slip).cap_magnitude(friction * pressure.max(0.0));
    open.max((across - held).norm())
}

/// Velocity along a direction that a unit impulse along it at an arm gives a body [1/kg].
fn inverse_mass(body: &Body, rotation: &taut_core::Quat, arm: &Vec3, direction: &Vec3) -> f64 {
    if !body.is_dynamic() {
        return 0.0;
    }
    let lever = rotation.inverse() * arm.cross(direction);
    let inverse = body.inertia.try_inverse().unwrap_or_else(Mat3::zeros);
    1.0 / body.mass + lever.dot(&(inverse * lever))
}

#[cfg(test)]
mod tests {
    use taut_core::scene::Contacts;

    use super::*;

    const DT: f64 = 1.0 / 60.0;

    /// A cube of 2 kg on a half-space.
    fn block(height: f64) -> Scene {
        let mut ground = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
        ground.shape = Shape::HalfSpace;
        let cube = Body::solid_box(Vec3::repeat(1.0), 2.0).at(Vec3::z() * height);
        Scene {
            bodies: vec![ground, cube],
            contacts: Some(Contacts::default()),
            ..Scene::default()
        }
    }

    #[test]
    fn a_probe_sees_depth_and_slip() {
        let scene = block(0.49);
        let mut state = scene.initial_state();
        state.bodies[1].velocity = Vec3::new(3.0, 4.0, 12.0);
        let measures = Probe::new(&scene).measure(&state);
        assert!((measures.penetration_max_m - 0.01).abs() < 1e-15);
        let overlap = measures.overlap.expect("they overlap");
        assert!((overlap.share - 0.01).abs() < 1e-15 && overlap.bodies == [0, 1]);
        assert_eq!(measures.contact_count, 4);
        assert!((measures.slip_speed_max_m_s - 5.0).abs() < 1e-14);
    }

    #[test]
    fn what_is_near_counts_but_does_not_overlap() {
        let (mut probe, near, far) = (Probe::new(&block(0.0)), block(0.505), block(0.515));
        let measures = probe.measure(&near.initial_state());
        assert_eq!((measures.contact_count, measures.penetration_max_m), (4, 0.0));
        let mut falling = far.initial_state();
        falling.bodies[1].velocity.z = -100.0;
        assert_eq!(probe.measure(&falling), ContactMeasures::default());
        let without = Scene { contacts: None, ..block(0.3) };
        assert_eq!(
            Probe::new(&without).measure(&without.initial_state()),
            ContactMeasures::default()
        );
    }

    /// A force on the cube at a point of its lower face; A is the ground, the normal points to it.
    fn force(point: Vec3, on_cube: Vec3) -> ContactForce {
        ContactForce {
            bodies: [0, 1],
            corners: [None; 2],
            point,
            normal: -Vec3::z(),
            gap: 0.0,
            friction: [0.8, 0.5],
            force: -on_cube,
        }
    }

    fn multipliers(contacts: Vec<ContactForce>) -> Multipliers {
        Multipliers { contacts, ..Multipliers::default() }
    }

    #[test]
    fn cones_are_left_by_pull_and_by_too_much_friction() {
        let violation = |x: f64, z: f64| {
            let force = force(Vec3::zeros(), Vec3::new(x, 0.0, z));
            friction_cone_violation_n(&multipliers(vec![force]))
        };
        assert_eq!(violation(8.0, 10.0), 0.0);
        assert!((violation(9.0, 10.0) - 1.0).abs() < 1e-14);
        assert_eq!(violation(0.0, -3.0), 3.0);
        assert_eq!(friction_cone_violation_n(&Multipliers::default()), 0.0);
    }

    /// Sliding to a stop, as implicit Euler with Coulomb friction has it in closed form.
    #[test]
    fn the_exact_step_leaves_nothing() {
        let scene = block(0.5);
        let before = scene.initial_state();
        let weight = 2.0 * 9.81;
        let residual = |slide: f64, lift: f64, force_on_cube: Vec3| {
            let mut after = before.clone();
            after.bodies[1].position += Vec3::new(slide, 0.0, lift);
            let contacts = multipliers(vec![force(Vec3::zeros(), force_on_cube)]);
            contact_residual_max_m(&scene, &before, &after, DT, &contacts)
        };
        // At rest, within the static cone; sliding, on the dynamic one; apart, without force.
        assert_eq!(residual(0.0, 0.0, Vec3::new(0.8 * weight, 0.0, weight)), 0.0);
        assert!(residual(0.01, 0.0, Vec3::new(-0.5 * weight, 0.0, weight)) < 1e-17);
        assert_eq!(residual(0.01, 0.02, Vec3::zeros()), 0.0);
        // rho = dt^2 / m, with the mass alone: the force passes through the centre.
        let rho = DT * DT / 2.0;
        let open = residual(0.0, 0.003, Vec3::z() * weight);
        assert!((open - 0.003_f64.min(rho * weight)).abs() < 1e-15);
        let sunk = residual(0.0, -0.002, Vec3::z() * weight);
        assert!((sunk - 0.002).abs() < 1e-15);
        let slack = residual(0.01, 0.0, Vec3::new(-0.3 * weight, 0.0, weight));
        assert!((slack - rho * 0.2 * weight).abs() < 1e-15);
        let pulled = residual(0.0, 0.0, -Vec3::z() * weight);
        assert!((pulled - rho * weight).abs() < 1e-15);
    }

    /// At an edge the cube yields by turning, too: 1/m + r^2/I with I = m/6.
    #[test]
    fn the_scale_is_the_effective_mass() {
        let scene = block(0.5);
        let before = scene.initial_state();
        let push = force(Vec3::x() * 0.5, Vec3::z());
        let found = contact_residual_max_m(
            &scene,
            &before,
            &before,
            DT,
            &multipliers(vec![ContactForce { gap: 1.0, ..push }]),
        );
        let yielding = 1.0 / 2.0 + 0.25 / (2.0 / 6.0);
        assert!((found - DT * DT * yielding).abs() < 1e-17);
    }
}
