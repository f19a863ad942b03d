//! Contacts of particles and of triangles of particles with bodies, against closed forms.

use taut_collide::{Contact, ContactList, ContactSet, Passages, Site, metrics::Probe};
use taut_core::{
    Placement, Quat, Scene, Vec3,
    energy::Membrane,
    scene::{Anchor, Body, Contacts, ElasticPart, Endpoint, Part, Particle, Shape, Skin},
};

const DT: f64 = 1.0 / 60.0;
const RADIUS: f64 = 0.01;

fn dot(position: Vec3) -> Particle {
    let touch = Some(Skin { radius: RADIUS, ..Skin::default() });
    Particle { name: String::new(), mass: 1.0, position, velocity: Vec3::zeros(), touch }
}

fn body(shape: Shape) -> Body {
    Body { shape, ..Body::solid_box(Vec3::repeat(1.0), 1.0).fixed() }
}

fn scene(bodies: Vec<Body>, particles: Vec<Particle>) -> Scene {
    let contacts = Some(Contacts { margin: 0.02, points_max: 4 });
    Scene { bodies, particles, contacts, ..Scene::default() }
}

fn places(scene: &Scene) -> Vec<Placement> {
    scene.initial_state().placements().collect()
}

fn contacts(scene: &Scene) -> ContactList {
    ContactSet::new(scene).expect("contacts").detect(places(scene), &[], DT).clone()
}

/// The only contact of a particle with a shape at the origin: its gap and the direction to the particle.
fn only(shape: Shape, position: Vec3) -> (f64, Vec3) {
    let scene = scene(vec![body(shape)], vec![dot(position)]);
    let list = contacts(&scene);
    assert_eq!(list.contacts.len(), 1, "{list:?}");
    let contact = &list.contacts[0];
    assert_eq!(contact.sites[1], Site::Vertex { node: 1 });
    assert_eq!((contact.nodes(), list.manifolds[0].owners), ([0, 1], [0, 1]));
    let places = places(&scene);
    for site in &contact.sites {
        assert!((site.point(&places) - position).norm() < 1e-15, "a particle has no lever");
    }
    (contact.gap, -contact.normal)
}

fn none(shape: Shape, position: Vec3) {
    let list = contacts(&scene(vec![body(shape)], vec![dot(position)]));
    assert!(list.contacts.is_empty(), "{list:?}");
}

fn near(found: (f64, Vec3), gap: f64, up: Vec3) {
    assert!((found.0 - gap).abs() < 1e-12 && (found.1 - up).norm() < 1e-9, "{found:?}");
}

#[test]
fn every_shape_pushes_a_particle_along_the_shortest_way() {
    let cube = || Shape::Box { half: Vec3::new(1.0, 1.0, 0.5) };
    near(only(Shape::HalfSpace, Vec3::new(3.0, 4.0, 0.02)), 0.01, Vec3::z());
    near(only(Shape::HalfSpace, Vec3::new(3.0, 4.0, -2.0)), -2.01, Vec3::z());
    near(only(cube(), Vec3::new(0.3, 0.2, 0.515)), 0.005, Vec3::z());
    near(only(cube(), Vec3::new(0.95, 0.0, 0.1)), -0.06, Vec3::x());
    let corner = Vec3::new(1.0, 1.0, 0.5);
    near(
        only(cube(), corner + Vec3::repeat(0.01)),
        3f64.sqrt() * 0.01 - 0.01,
        Vec3::repeat(1.0).normalize(),
    );
    near(
        only(Shape::Sphere { radius: 0.5 }, Vec3::new(0.0, 0.3, 0.4)),
        -0.01,
        Vec3::new(0.0, 0.6, 0.8),
    );
    let capsule = Shape::Capsule { radius: 0.2, half_length: 0.5 };
    near(only(capsule, Vec3::new(0.215, 0.0, 0.3)), 0.005, Vec3::x());
    let cylinder = Shape::Cylinder { radius: 0.2, half_length: 0.5 };
    near(only(cylinder, Vec3::new(0.1, 0.0, 0.52)), 0.01, Vec3::z());
    none(cube(), Vec3::new(0.0, 0.0, 0.54));
}

#[test]
fn a_fast_particle_is_seen_ahead_of_time() {
    let mut fast = scene(vec![body(Shape::HalfSpace)], vec![dot(Vec3::z())]);
    assert!(contacts(&fast).contacts.is_empty());
    fast.particles[0].velocity.z = -1.0 / DT;
    assert_eq!(contacts(&fast).contacts.len(), 1);
}

#[test]
fn a_seam_between_pieces_is_no_edge() {
    let half = |x: f64| Part {
        shape: Shape::Box { half: Vec3::new(0.5, 0.5, 0.5) },
        position: Vec3::new(x, 0.0, 0.0),
        rotation: Quat::identity(),
    };
    let plate = Shape::Compound { parts: [half(-0.5), half(0.5)].into() };
    for (x, z) in [(0.003, 0.505), (0.003, 0.495), (-0.004, 0.5), (0.0, 0.505), (0.0, 0.499)] {
        near(only(plate.clone(), Vec3::new(x, 0.1, z)), z - 0.51, Vec3::z());
    }
}

/// Two triangles that meet at the y axis; both rise away from it by `slope`, or fall.
fn fold(slope: f64) -> Shape {
    let corner = |x: f64, y: f64| Vec3::new(x, y, slope * x.abs());
    let vertices = [corner(0.0, -1.0), corner(0.0, 1.0), corner(1.0, 0.0), corner(-1.0, 0.0)];
    Shape::Mesh {
        vertices: vertices.into(),
        triangles: [[0, 2, 1], [0, 1, 3]].into(),
        control: None,
    }
}

#[test]
fn surfaces_push_to_their_front_also_from_a_little_behind() {
    for (x, z) in [(0.2, 0.015), (0.2, -0.01), (0.0, 0.015), (0.0, -0.01), (1e-3, 0.02)] {
        near(only(fold(0.0), Vec3::new(x, 0.1, z)), z - RADIUS, Vec3::z());
    }
    none(fold(0.0), Vec3::new(0.2, 0.1, -0.05));
    // Over a ridge, and under the ditch that its mirror image makes, the edge is nearest.
    near(only(fold(-1.0), Vec3::new(0.0, 0.1, 0.02)), 0.01, Vec3::z());
    near(only(fold(1.0), Vec3::new(0.0, 0.1, -0.005)), -0.015, Vec3::z());
    let ditch = scene(vec![body(fold(1.0))], vec![dot(Vec3::new(0.0, 0.1, 0.02))]);
    assert_eq!(contacts(&ditch).contacts.len(), 2, "both sides of a ditch push");
}

#[test]
fn the_back_of_a_thin_plate_does_not_pull() {
    let corner = |i: u32| {
        let side = |bit: u32, size: f64| if i >> bit & 1 == 1 { size } else { -size };
        Vec3::new(side(0, 1.0), side(1, 1.0), side(2, 0.005))
    };
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> =
        quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let vertices: Vec<Vec3> = (0..8).map(corner).collect();
    let plate = || Shape::Mesh {
        vertices: vertices.clone().into(),
        triangles: triangles.clone().into(),
        control: None,
    };
    near(only(plate(), Vec3::new(0.3, 0.2, 0.01)), -0.005, Vec3::z());
    near(only(plate(), Vec3::new(0.3, 0.2, 0.004)), -0.011, Vec3::z());
    near(only(plate(), Vec3::new(0.3, 0.2, -0.004)), -0.011, -Vec3::z());
}

/// A triangle in the plane z = 0 with a body.
fn sheet(body: Body) -> Scene {
    let corners =
        [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(2.0, -1.0, 0.0), Vec3::new(-1.0, 2.0, 0.0)];
    let triangle = ElasticPart {
        name: String::new(),
        ends: [0, 1, 2].map(|i| Anchor::from(Endpoint::Particle(i))),
        energy: Membrane::new(&corners, 1e-3, 1e5, 0.3).expect("a triangle").into(),
    };
    Scene { triangles: vec![triangle], ..scene(vec![body], corners.map(dot).into()) }
}

/// Gaps, normals and points of the contacts of a scene with triangles, all of which are in the plane z = 0.
fn touched(set: &mut ContactSet, scene: &Scene) -> Vec<(f64, Vec3, Vec3)> {
    let places = places(scene);
    let list = set.detect(places.iter().copied(), &[], DT);
    let of = |c: &taut_collide::Contact| {
        let Site::Triangle { weights, .. } = c.sites[1] else { panic!("{c:?}") };
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let [a, b] = c.sites.map(|site| site.point(&places));
        assert!((a - b).norm() < 1e-12 && b.z.abs() < 1e-15);
        (c.gap, c.normal, b)
    };
    list.contacts.iter().map(of).collect()
}

fn cube_at(z: f64) -> Body {
    Body::solid_box(Vec3::repeat(0.2), 1.0).at(Vec3::new(0.0, 0.0, z))
}

#[test]
fn corners_meet_a_triangle_from_either_side() {
    for side in [1.0, -1.0] {
        let scene = sheet(cube_at(side * 0.115));
        let found = touched(&mut ContactSet::new(&scene).expect("contacts"), &scene);
        assert_eq!(found.len(), 4, "{found:?}");
        for (gap, normal, point) in found {
            assert!((gap - 0.005).abs() < 1e-12 && (normal.z - side).abs() < 1e-12);
            assert!((point.x.abs() - 0.1).abs() < 1e-12 && (point.y.abs() - 0.1).abs() < 1e-12);
        }
    }
}

#[test]
fn the_side_of_the_step_before_is_kept_while_the_triangle_cuts_the_body() {
    let mut scene = sheet(cube_at(0.1));
    let mut set = ContactSet::new(&scene).expect("contacts");
    assert_eq!(touched(&mut set, &scene).len(), 4);
    // Its middle is through, but nobody has let it.
    scene.bodies[0].position.z = -0.05;
    let kept = touched(&mut set, &scene);
    assert!(kept.iter().all(|(gap, n, _)| (gap + 0.16).abs() < 1e-12 && n.z > 0.9), "{kept:?}");
    set.forget();
    let anew = touched(&mut set, &scene);
    assert!(anew.iter().all(|(gap, n, _)| (gap + 0.06).abs() < 1e-12 && n.z < -0.9), "{anew:?}");
}

#[test]
fn edges_cross_where_no_corner_is_over_the_triangle() {
    let mut beam = Body::solid_box(Vec3::new(0.2, 9.0, 0.2), 1.0);
    beam.rotation = Quat::from_axis_angle(&Vec3::y_axis(), std::f64::consts::FRAC_PI_4);
    let height = 0.02_f64.sqrt();
    for overlap in [-0.005, 0.005, 0.02] {
        beam.position = Vec3::new(0.0, 0.0, height + RADIUS - overlap);
        let scene = sheet(beam.clone());
        let found = touched(&mut ContactSet::new(&scene).expect("contacts"), &scene);
        assert_eq!(found.len(), 2, "{found:?}");
        for (gap, normal, point) in found {
            assert!((gap + overlap).abs() < 1e-12 && (normal - Vec3::z()).norm() < 1e-9);
            assert!(point.x.abs() < 1e-12 && ((point.y + 1.0).abs() < 1e-9 || point.y > 0.9));
        }
    }
    let mut ball = cube_at(0.0);
    ball.shape = Shape::Sphere { radius: 0.1 };
    ball.position = Vec3::new(0.3, -1.06, 0.08);
    let found = {
        let scene = sheet(ball);
        touched(&mut ContactSet::new(&scene).expect("contacts"), &scene)
    };
    assert_eq!(found.len(), 1);
    assert!(
        (found[0].0 + 0.01).abs() < 1e-12 && (found[0].1 - Vec3::new(0.0, -0.6, 0.8)).norm() < 1e-9
    );
}

#[test]
fn a_probe_sees_how_deep_particles_and_triangles_are() {
    let sunk = scene(vec![body(Shape::HalfSpace)], vec![dot(Vec3::new(0.0, 0.0, -0.2))]);
    let found = Probe::new(&sunk).measure(&sunk.initial_state());
    assert!((found.penetration_max_m - 0.21).abs() < 1e-12);
    let overlap = found.overlap.expect("it is inside");
    // Beyond ten margins and its radius, which is 0.21 m.
    assert!(overlap.bodies == [0, 1] && (overlap.share - 0.5).abs() < 1e-12, "{overlap:?}");
    let cut = sheet(cube_at(0.09));
    let mut state = cut.initial_state();
    state.bodies[0].velocity = Vec3::new(3.0, 4.0, 12.0);
    let found = Probe::new(&cut).measure(&state);
    assert!((found.penetration_max_m - 0.02).abs() < 1e-12 && found.contact_count == 4);
    assert!((found.slip_speed_max_m_s - 5.0).abs() < 1e-12);
    assert_eq!(found.overlap.expect("it is inside").bodies, [0, 1]);
}

#[test]
fn who_has_fallen_through_a_sheet_is_found() {
    let scene = sheet(cube_at(0.3));
    let mut state = scene.initial_state();
    let mut passages = Passages::new(&scene, &state).expect("contacts");
    let mut at = |z: f64| {
        state.bodies[0].position.z = z;
        passages.observe(&state)
    };
    assert_eq!([at(0.1), at(0.01)], [None, None]);
    assert_eq!(at(-0.4), Some([0, 1]), "and a corner of the sheet, after the body");
    assert_eq!(at(-0.5), None);
}

#[test]
fn many_particles_find_their_bodies_among_many() {
    let bodies = (0..20_000).map(|i| {
        let at = Vec3::new(f64::from(i % 200), f64::from(i / 200), 0.5);
        Body::solid_box(Vec3::repeat(0.9), 1.0).at(at)
    });
    let particles = (0..10_000)
        .map(|i| dot(Vec3::new(2.0 * f64::from(i % 100) + 0.2, f64::from(i / 100) + 0.1, 0.965)));
    let scene = scene(bodies.collect(), particles.collect());
    // To look at all pairs would take minutes, which whoever waits for this sees.
    let list = contacts(&scene);
    assert_eq!(list.contacts.len(), 10_000);
    let own = |contact: &Contact| {
        let [Site::Body { node: body, .. }, Site::Vertex { node }] = contact.sites else {
            return false;
        };
        let i = node - 20_000;
        body == 200 * (i / 100) + 2 * (i % 100)
    };
    assert!(list.contacts.iter().all(own));
}
