//! Contacts of particles with triangles of particles, against closed forms.

use taut_collide::{Clearances, Contact, ContactList, ContactSet, Site, metrics::Probe};
use taut_core::{
    Placement, Scene, State, Vec3,
    energy::WeightedSum,
    load::load_str,
    scene::{Anchor, ElasticPart, Endpoint},
};

const DT: f64 = 1.0 / 60.0;

fn scene(particles: &str, triangles: &str) -> Scene {
    let text = format!(
        "(contacts: (margin: 0.02), bodies: [], particles: [{particles}], triangles: [{triangles}])"
    );
    load_str(&text, "test", &[]).expect("a good scene").scene
}

/// A particle 5 mm in radius.
fn dot(name: &str, [x, y, z]: [f64; 3], more: &str) -> String {
    format!("particle(name: \"{name}\", mass: 1, position: ({x}, {y}, {z}), radius: 5e-3, {more}),")
}

fn triangle(a: &str, b: &str, c: &str) -> String {
    format!(
        "triangle(nodes: (\"{a}\", \"{b}\", \"{c}\"), thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3)),"
    )
}

/// A triangle in the plane z = 0, and a particle over it.
fn over(point: [f64; 3], more: &str) -> Scene {
    let corners = [("a", [0.0, 0.0, 0.0]), ("b", [1.0, 0.0, 0.0]), ("c", [0.0, 1.0, 0.0])];
    let mut particles: String = corners.iter().map(|(name, at)| dot(name, *at, more)).collect();
    particles += &dot("p", point, more);
    scene(&particles, &triangle("a", "b", "c"))
}

fn list(set: &mut ContactSet, state: &State) -> ContactList {
    set.detect(state.placements(), &[], DT).clone()
}

fn contacts(scene: &Scene) -> Vec<Contact> {
    let mut set = ContactSet::new(scene).expect("contacts");
    list(&mut set, &scene.initial_state()).contacts
}

#[test]
fn a_particle_touches_a_triangle_from_either_side() {
    for z in [0.015, -0.015, 0.008, -0.008] {
        let found = contacts(&over([0.2, 0.3, z], ""));
        let [contact] = &found[..] else { panic!("{found:?}") };
        assert!((contact.gap - (z.abs() - 0.01)).abs() < 1e-15, "{contact:?}");
        assert!((contact.normal - Vec3::z() * z.signum()).norm() < 1e-15);
        assert_eq!(contact.sites[0], Site::Vertex { node: 3 });
        let Site::Triangle { corners, weights, .. } = contact.sites[1] else {
            panic!("{contact:?}")
        };
        assert_eq!(corners, [0, 1, 2]);
        let expected = [0.5, 0.2, 0.3];
        assert!(weights.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-15), "{weights:?}");
    }
    for beside in [[-0.1, 0.3, 0.0], [0.6, 0.6, 0.001], [0.2, 0.3, 0.04]] {
        assert!(contacts(&over(beside, "")).is_empty(), "{beside:?}");
    }
    assert!(contacts(&over([0.2, 0.3, 0.01], "group: 1")).is_empty(), "of one group");
}

#[test]
fn a_particle_does_not_touch_the_triangle_it_is_held_to() {
    let mut scene = over([0.2, 0.3, 0.0], "");
    assert_eq!(contacts(&scene).len(), 1);
    let ends = [3, 0, 1, 2].map(|i| Anchor::from(Endpoint::Particle(i)));
    let energy = WeightedSum::tie([0.5, 0.2, 0.3], 100.0).expect("shares of a positive sum");
    scene.ties.push(ElasticPart { name: "tie".to_owned(), ends, energy });
    assert!(contacts(&scene).is_empty());
}

#[test]
fn the_side_is_kept_while_a_pair_lasts() {
    let scene = over([0.2, 0.3, 0.008], "");
    let mut set = ContactSet::new(&scene).expect("contacts");
    let mut state = scene.initial_state();
    for (z, gap) in [(0.008, -0.002), (-0.004, -0.014), (-0.015, -0.025), (0.02, 0.01)] {
        state.particles[3].position.z = z;
        let found = list(&mut set, &state);
        assert!((found.contacts[0].gap - gap).abs() < 1e-15, "{z}: {found:?}");
        assert_eq!(found.contacts[0].normal.z, 1.0);
    }
    set.forget();
    state.particles[3].position.z = -0.015;
    assert_eq!(list(&mut set, &state).contacts[0].normal.z, -1.0, "nothing is remembered");
}

#[test]
fn the_side_goes_along_from_one_triangle_to_the_next() {
    let corners = [
        ("a", [0.0, 0.0, 0.0]),
        ("b", [1.0, 0.0, 0.0]),
        ("c", [0.0, 1.0, 0.0]),
        ("d", [1.0, 1.0, 0.0]),
    ];
    let mut particles: String = corners.iter().map(|(name, at)| dot(name, *at, "")).collect();
    particles += &dot("p", [0.4, 0.4, -0.008], "");
    // Their windings differ, which makes no second side.
    let scene = scene(&particles, &(triangle("a", "b", "c") + &triangle("b", "c", "d")));
    let mut set = ContactSet::new(&scene).expect("contacts");
    let mut state = scene.initial_state();
    assert_eq!(list(&mut set, &state).contacts[0].normal.z, -1.0);
    state.particles[4].position = Vec3::new(0.6, 0.6, 0.002);
    let found = list(&mut set, &state).contacts;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].normal.z, -1.0);
    assert!((found[0].gap + 0.012).abs() < 1e-15, "{found:?}");
}

/// Two narrow triangles that cross over the origin, the one along y so much higher.
fn crossed(height: f64) -> Scene {
    let corners = [
        ("a", [-1.0, 0.0, 0.0]),
        ("b", [1.0, 0.0, 0.0]),
        ("c", [0.0, 0.5, -1.0]),
        ("d", [0.0, -1.0, height]),
        ("e", [0.0, 1.0, height]),
        ("f", [0.5, 0.0, 1.0 + height]),
    ];
    let particles: String = corners.iter().map(|(name, at)| dot(name, *at, "")).collect();
    scene(&particles, &(triangle("a", "b", "c") + &triangle("d", "e", "f")))
}

#[test]
fn edges_touch_between_their_ends() {
    let found = contacts(&crossed(0.012));
    let [contact] = &found[..] else { panic!("{found:?}") };
    assert!((contact.gap - 0.002).abs() < 1e-15);
    assert!((contact.normal + Vec3::z()).norm() < 1e-15, "A is below: {contact:?}");
    for site in &contact.sites {
        let Site::Edge { weights, .. } = site else { panic!("{site:?}") };
        assert!(weights.iter().all(|w| (w - 0.5).abs() < 1e-15));
    }
    assert!(contacts(&crossed(0.04)).is_empty());
    // The next answer keeps the side.
    let scene = crossed(0.012);
    let mut set = ContactSet::new(&scene).expect("contacts");
    let mut state = scene.initial_state();
    list(&mut set, &state);
    for i in 3..6 {
        state.particles[i].position.z -= 0.02;
    }
    let kept = list(&mut set, &state).contacts;
    assert!((kept[0].gap + 0.018).abs() < 1e-15 && kept[0].previous == 0, "{kept:?}");
}

#[test]
fn crossed_edges_are_counted() {
    let crossings = |scene: &Scene| Probe::new(scene).measure(&scene.initial_state()).crossed_edges;
    assert_eq!(crossings(&crossed(0.012)), Some(0));
    // Either of the two long edges goes through the other triangle.
    assert_eq!(crossings(&crossed(-0.1)), Some(2));
    assert_eq!(crossings(&over([0.2, 0.3, 0.01], "group: 1")), None, "nothing could touch");
}

fn solids(gap: f64, more: &str) -> Scene {
    let text = format!(
        "(contacts: (margin: 0.02), bodies: [], particles: [
            solid(name: \"low\", shape: lattice(size: (1, 1, 1), counts: (2, 2, 2)), density: 1,
                elastic: (young: 1e5, poisson: 0.3), {more}),
            solid(name: \"high\", shape: lattice(size: (0.5, 0.5, 0.5), counts: (1, 1, 1)), density: 1,
                position: (0.13, 0.11, {}), elastic: (young: 1e5, poisson: 0.3), {more}),
        ])",
        0.75 + gap
    );
    load_str(&text, "test", &[]).expect("a good scene").scene
}

#[test]
fn solids_push_out_of_their_nearest_face() {
    for gap in [0.01, 0.0, -0.01, -0.1] {
        let scene = solids(gap, "");
        let placements: Vec<Placement> = scene.initial_state().placements().collect();
        let found = contacts(&scene);
        let faces = found.iter().filter(|c| matches!(c.sites[0], Site::Vertex { .. }));
        let mut count = 0;
        for contact in faces {
            count += 1;
            assert!((contact.gap - gap).abs() < 1e-12, "{contact:?}");
            let [a, b] = contact.sites.map(|site| site.point(&placements));
            let apart = contact.normal.dot(&(a - b));
            assert!((apart - gap).abs() < 1e-12 && contact.normal.z.abs() > 1.0 - 1e-12);
        }
        // The corners of the upper one, and the middle of the lower one's face.
        assert!(count >= 4, "{gap}: {found:?}");
        assert!(found.iter().all(|c| (c.gap - gap).abs() < 1e-9), "{gap}: {found:?}");
        let depth = Probe::new(&scene).measure(&scene.initial_state()).penetration_max_m;
        assert!((depth - (-gap).max(0.0)).abs() < 1e-12, "{gap}: {depth}");
    }
    assert!(contacts(&solids(0.3, "")).is_empty(), "nothing of one solid touches itself at rest");
}

/// Behind the faces in the middle of a solid are particles that touch nothing themselves.
#[test]
fn solids_are_touched_in_the_middle_of_a_face() {
    let text = "(contacts: (margin: 0.02), bodies: [], particles: [
        solid(name: \"low\", shape: lattice(size: (1, 1, 1), counts: (5, 5, 5)), density: 1,
            elastic: (young: 1e5, poisson: 0.3)),
        particle(name: \"p\", mass: 1, position: (0.03, 0.05, 0.51), radius: 5e-3),
    ])";
    let scene = load_str(text, "test", &[]).expect("a good scene").scene;
    let found = contacts(&scene);
    let [contact] = &found[..] else { panic!("{found:?}") };
    assert!((contact.gap - 0.005).abs() < 1e-12 && (contact.normal - Vec3::z()).norm() < 1e-12);
}

#[test]
fn bodies_are_touched_as_if_there_were_no_others() {
    let with = |more: &str| {
        let text = format!(
            "(contacts: (margin: 0.02), bodies: [body(name: \"box\", shape: box(size: (1, 1, 1)), motion: static)],
            particles: [
                cloth(name: \"low\", counts: (7, 7), start: (-0.6, -0.6, 0.51), along: (0.2, 0, 0), across: (0, 0.2, 0),
                    density: 1, thickness: 0.01, membrane: (young: 1e5, poisson: 0.3), {more}),
                cloth(name: \"high\", counts: (7, 7), start: (-0.55, -0.5, 0.525), along: (0.2, 0, 0), across: (0, 0.2, 0),
                    density: 1, thickness: 0.01, membrane: (young: 1e5, poisson: 0.3), {more}),
            ])"
        );
        let scene = load_str(&text, "test", &[]).expect("a good scene").scene;
        contacts(&scene)
    };
    let (alone, together) = (with("group: 1"), with(""));
    assert!(!alone.is_empty() && together.len() > alone.len());
    assert_eq!(alone, together[..alone.len()]);
}

#[test]
fn clearances_are_least_distances() {
    let scene = over([0.2, 0.3, 0.3], "");
    let places = || scene.particles.iter().map(|particle| particle.position);
    let mut clearances = Clearances::new(&scene).expect("a triangle");
    assert_eq!(clearances.measure(places(), 1.0), [0.3; 4]);
    assert_eq!(clearances.measure(places(), 0.1), [0.1; 4]);
    let scene = crossed(0.4);
    let places = scene.particles.iter().map(|particle| particle.position);
    let found = Clearances::new(&scene).expect("triangles").measure(places, 5.0).to_vec();
    assert!((found[0] - 0.4).abs() < 1e-15 && (found[4] - 0.4).abs() < 1e-15, "{found:?}");
}
