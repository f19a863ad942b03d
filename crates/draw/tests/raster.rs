//! Pictures by a graphics adapter, held to those on file in `golden`; `BLESS=1` writes them anew.

use std::{fs, path::PathBuf, sync::Arc};

use taut_core::{
    Mat3, Quat, Vec3,
    scene::{Part, Shape},
};
use taut_draw::{
    bitmap::Bitmap,
    camera::{Camera, FOV_DEG},
    colour,
    device::Painter,
    flat::{ItemShape, TextAnchor},
    list::{BodyLook, DrawList, Instance, Layer, PlaneCut, SpaceDot, SpaceLine, SpacePlane},
    shape::{AffinePose, Polyhedron, grid},
};
use taut_gpu::Gpu;

const SIZE: (f64, f64) = (320.0, 200.0);

fn painter() -> Option<Painter> {
    Gpu::for_test().map(|gpu| Painter::new(&gpu).expect("shaders that the adapter takes"))
}

fn pose(x: f64, y: f64, z: f64, turn_deg: f64) -> AffinePose {
    let (sin, cos) = turn_deg.to_radians().sin_cos();
    let frame = Mat3::new(cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0);
    AffinePose { frame, origin: Vec3::new(x, y, z) }
}

fn scene(target: Vec3, from: Vec3) -> DrawList {
    let camera = Camera::between(target, from, FOV_DEG).expect("two points");
    let mut list = DrawList::new(camera, SIZE);
    list.planes.push(SpacePlane { point: Vec3::zeros(), normal: Vec3::z() });
    let corners = [Vec3::new(-3.0, -2.0, 0.0), Vec3::new(3.0, 2.0, 0.0)];
    for ends in grid(&AffinePose::world(), &corners) {
        list.lines.push(SpaceLine {
            points: ends.to_vec(),
            width: 0.7,
            dash: &[],
            colour: colour::QUIET,
            layer: Layer::Below,
        });
    }
    list
}

fn add(list: &mut DrawList, shape: &Shape, pose: AffinePose, colour: colour::Rgb) {
    for (piece, place) in Polyhedron::pieces(shape) {
        let shape = list.shape(&piece);
        list.instances.push(Instance {
            shape,
            pose: pose.of(&place),
            colour,
            cut: None,
            look: BodyLook::Shaded,
            run: 0,
            body: list.instances.len() as u32,
        });
    }
}

fn shapes() -> DrawList {
    let mut list = scene(Vec3::new(0.0, 0.0, 0.4), Vec3::new(3.0, -8.0, 4.0));
    let cube = Shape::Box { half: Vec3::new(0.4, 0.3, 0.5) };
    add(&mut list, &cube, pose(-2.2, 0.0, 0.5, 20.0), colour::STEPS[2]);
    add(&mut list, &Shape::Sphere { radius: 0.5 }, pose(-1.0, 0.3, 0.5, 0.0), (196, 136, 21));
    let capsule = Shape::Capsule { radius: 0.25, half_length: 0.35 };
    add(&mut list, &capsule, pose(0.1, 0.0, 0.6, 0.0), (45, 145, 121));
    let cylinder = Shape::Cylinder { radius: 0.35, half_length: 0.4 };
    add(&mut list, &cylinder, pose(1.2, 0.2, 0.4, 0.0), colour::PLAIN);
    let points: Vec<Vec3> = (0..12)
        .map(|i| {
            let (angle, height) = (f64::from(i) * 2.4, f64::from(i) / 11.0);
            Vec3::new(0.45 * angle.cos(), 0.45 * angle.sin(), height)
        })
        .collect();
    add(&mut list, &Shape::Hull { points: points.into() }, pose(2.3, 0.0, 0.0, 0.0), (114, 52, 94));
    let part = |x: f64, shape| Part {
        shape,
        position: Vec3::new(x, 0.0, 0.0),
        rotation: Quat::identity(),
    };
    let (bar, knob) = (Vec3::new(0.4, 0.1, 0.1), Shape::Sphere { radius: 0.2 });
    let parts = [part(0.0, Shape::Box { half: bar }), part(0.4, knob)];
    let compound = Shape::Compound { parts: Arc::new(parts) };
    add(&mut list, &compound, pose(-1.0, -1.4, 0.2, 15.0), (171, 144, 89));
    let ridge = [(-0.5, -0.4, 0.0), (0.5, -0.4, 0.0), (0.5, 0.4, 0.0), (-0.5, 0.4, 0.0)];
    let top = [(-0.2, 0.0, 0.4), (0.2, 0.1, 0.3)];
    let vertices: Vec<Vec3> =
        ridge.iter().chain(&top).map(|&(x, y, z)| Vec3::new(x, y, z)).collect();
    // Seen from both sides, so that some triangles may face downwards.
    let triangles = [[0, 1, 4], [1, 5, 4], [1, 2, 5], [2, 3, 5], [3, 4, 5], [3, 4, 0]];
    let mesh =
        Shape::Mesh { vertices: vertices.into(), triangles: Arc::new(triangles), control: None };
    add(&mut list, &mesh, pose(1.0, -1.4, 0.0, -10.0), colour::PLAIN);
    list
}

fn lines() -> DrawList {
    let mut list = scene(Vec3::new(0.0, 0.0, 0.6), Vec3::new(1.0, -7.0, 2.5));
    let cube = Shape::Box { half: Vec3::repeat(0.3) };
    add(&mut list, &cube, pose(-0.8, 0.0, 0.3, 10.0), colour::STEPS[1]);
    add(&mut list, &cube, pose(0.6, 0.0, 1.1, 30.0), colour::STEPS[1]);
    list.instances[1].cut =
        Some(PlaneCut { normal: Vec3::x(), offset: 0.0, colour: colour::STEPS[4] });
    list.instances.push(Instance {
        look: BodyLook::Outlined,
        pose: pose(1.5, 0.0, 0.8, 0.0),
        colour: colour::GHOST,
        ..list.instances[0]
    });
    let zigzag = (0..=16).map(|i| {
        let t = f64::from(i) / 16.0;
        let side = if i % 2 == 0 { 0.06 } else { -0.06 };
        Vec3::new(-0.8 + 1.4 * t, side, 0.6 + 0.5 * t)
    });
    let line = |points, layer, colour, dash| SpaceLine { points, width: 1.2, dash, colour, layer };
    list.lines.push(line(zigzag.collect(), Layer::Among, colour::STEPS[3], &[]));
    let ends = vec![Vec3::new(-1.6, 0.6, 0.3), Vec3::new(1.8, 0.6, 0.3)];
    list.lines.push(line(ends, Layer::Among, colour::INK, &[6.0, 3.0]));
    let gap = vec![Vec3::new(0.6, 0.0, 0.8), Vec3::new(0.4, 0.0, 0.1)];
    list.lines.push(line(gap, Layer::Above, colour::GAP, &[]));
    for x in [-1.05, -0.55] {
        let normal = Some(Vec3::z());
        let at = Vec3::new(x, -0.3, 0.0);
        list.dots.push(SpaceDot { at, radius: 2.0, colour: colour::INK, normal });
    }
    list
}

fn failed() -> DrawList {
    let mut list = lines();
    list.background = colour::FAILED_GROUND;
    list.border = Some((colour::FAILURE, 2.0));
    list.hatched = true;
    list.tags.push(ItemShape::Text {
        text: "✕ falling".to_owned(),
        at: (8.0, 18.0),
        anchor: TextAnchor::Start,
        size: 12.0,
        bold: true,
        colour: colour::FAILURE,
        halo: true,
    });
    list
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn decoded(file: &[u8]) -> Bitmap {
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut buffer = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut buffer).expect("its pixels");
    let pixels = buffer.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    Bitmap::of(info.width, pixels)
}

/// What differs more than adapters may: over half a percent of the pixels by more than 8 levels, or the mean of a
/// block of 16 pixels by more than 4.
fn difference(found: &Bitmap, expected: &Bitmap) -> Option<String> {
    if found.size() != expected.size() {
        return Some(format!("sizes {:?} and {:?}", found.size(), expected.size()));
    }
    let apart = |(a, b): (&[u8; 3], &[u8; 3])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 8);
    let count = found.pixels().iter().zip(expected.pixels()).filter(|pair| apart(*pair)).count();
    let total = found.pixels().len();
    if 200 * count > total {
        return Some(format!("{count} of {total} pixels"));
    }
    let [width, height] = found.size().map(|length| length as usize);
    for (top, left) in
        (0..height).step_by(16).flat_map(|y| (0..width).step_by(16).map(move |x| (y, x)))
    {
        let mean = |bitmap: &Bitmap| {
            let rows = top..(top + 16).min(height);
            let block: Vec<[u8; 3]> = rows
                .flat_map(|y| {
                    &bitmap.pixels()[y * width + left..y * width + (left + 16).min(width)]
                })
                .copied()
                .collect();
            [0, 1, 2]
                .map(|c| block.iter().map(|p| f64::from(p[c])).sum::<f64>() / block.len() as f64)
        };
        let (found, expected) = (mean(found), mean(expected));
        if found.iter().zip(expected).any(|(a, b)| (a - b).abs() > 4.0) {
            return Some(format!("the block at {left}, {top}: {found:?} for {expected:?}"));
        }
    }
    None
}

fn check(name: &str, list: &DrawList) {
    let Some(mut painter) = painter() else { return };
    let found = painter.picture(list, 1.0).unwrap();
    let path = golden(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, found.to_png().unwrap()).unwrap();
    }
    let file =
        fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; BLESS=1 makes it", path.display()));
    if let Some(difference) = difference(&found, &decoded(&file)) {
        panic!("{name}: {difference}");
    }
}

/// A tolerance that lets everything pass holds nothing.
#[test]
fn another_place_shade_or_normal_is_seen() {
    let Some(mut painter) = painter() else { return };
    let before = painter.picture(&shapes(), 1.0).unwrap();
    let mut changed = [shapes(), shapes(), shapes(), shapes()];
    changed[0].instances[1].pose.origin.x += 0.05;
    changed[1].instances[0].colour.2 -= 20;
    let mut cube = changed[2].shapes[0].as_ref().clone();
    for face in &mut cube.faces {
        face.normal = -face.normal;
    }
    changed[2].shapes[0] = Arc::new(cube);
    // Without its plane there are no shadows on the ground.
    changed[3].planes.clear();
    for (i, list) in changed.iter().enumerate() {
        let after = painter.picture(list, 1.0).unwrap();
        assert!(difference(&after, &before).is_some(), "change {i}");
    }
}

#[test]
fn a_thin_rod_keeps_its_colour() {
    let Some(mut painter) = painter() else { return };
    let mut list = DrawList::new(shapes().camera, SIZE);
    let rod = Shape::Box { half: Vec3::new(1.0, 0.01, 0.01) };
    add(&mut list, &rod, pose(0.0, 0.0, 0.4, 0.0), (0, 0, 200));
    let bitmap = painter.picture(&list, 1.0).unwrap();
    let blue = |p: &&[u8; 3]| p[0] < 20 && p[2].abs_diff(200) < 20;
    assert!(bitmap.pixels().iter().filter(blue).count() > 60);
}

#[test]
fn what_is_seen_at_a_pixel_is_known() {
    let Some(mut painter) = painter() else { return };
    let list = shapes();
    let painted = painter.paint(&list, 1.5).unwrap();
    let [width, height] = painted.bitmap.size();
    assert_eq!([width, height], [480, 300]);
    let lens = list.lens();
    for body in [0, 1, 3] {
        let at = lens.project(&list.instances[body].pose.origin).at;
        let (x, y) = ((1.5 * at.0) as usize, (1.5 * at.1) as usize);
        assert_eq!(painted.numbers[y * width as usize + x], body as u32 + 1);
    }
    assert_eq!(painted.numbers[0], 0);
}

#[test]
fn pictures_of_nothing_and_of_no_size_are_no_panic() {
    let Some(mut painter) = painter() else { return };
    let mut list = DrawList::new(shapes().camera, (8.0, 6.0));
    assert_eq!(painter.picture(&list, 1.0).unwrap(), Bitmap::new([8, 6], [255; 3]));
    // A body that has no place is not drawn.
    add(&mut list, &Shape::Sphere { radius: 0.5 }, pose(f64::NAN, 0.0, 0.0, 0.0), (0, 0, 0));
    assert_eq!(painter.picture(&list, 1.0).unwrap(), Bitmap::new([8, 6], [255; 3]));
    list.size = (0.0, 6.0);
    assert!(painter.picture(&list, 1.0).is_err());
}

#[test]
fn shapes_on_the_ground_are_those_on_file() {
    check("shapes.png", &shapes());
}

#[test]
fn lines_and_outlines_are_those_on_file() {
    check("lines.png", &lines());
}

#[test]
fn a_failed_cell_is_that_on_file() {
    check("failed.png", &failed());
}
