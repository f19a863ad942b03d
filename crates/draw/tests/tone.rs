//! The two writers held to one another: pixels of a graphics adapter and areas of SVG have the same tones.

use taut_core::{Mat3, Vec3, scene::Shape};
use taut_draw::{
    camera::{Camera, FOV_DEG},
    colour,
    device::{Painted, Painter},
    list::{BodyLook, DrawList, Instance, SpacePlane},
    shape::{AffinePose, Polyhedron},
    svg,
};
use taut_gpu::Gpu;

type Point = (f64, f64);

/// What of an SVG tells the colour of a body.
enum Area {
    Polygon(Vec<Point>, [f64; 3]),
    /// Middle, radius, and colours at shares of the gradient's radius.
    Disc(Point, f64, Vec<(f64, [f64; 3])>),
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let start = element.find(&format!(" {name}=\""))? + name.len() + 3;
    element[start..].split('"').next()
}

fn rgb(hex: &str) -> [f64; 3] {
    let part = |i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("a colour"));
    [part(1), part(3), part(5)]
}

/// `M x y l dx dy ...`, with signs in place of blanks.
fn polygon(path: &str) -> Vec<Point> {
    let spaced = path.replace('-', " -").replace(['M', 'l', 'Z'], " ");
    let numbers: Vec<f64> =
        spaced.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    let mut at = (0.0, 0.0);
    let step = |pair: &[f64]| {
        at = (at.0 + pair[0], at.1 + pair[1]);
        at
    };
    numbers.chunks_exact(2).map(step).collect()
}

fn areas(svg: &str) -> Vec<Area> {
    let stops: Vec<(f64, [f64; 3])> = svg
        .split("<stop")
        .skip(1)
        .map(|stop| {
            let offset = attribute(stop, "offset").and_then(|o| o.parse().ok()).expect("an offset");
            (offset, rgb(attribute(stop, "stop-color").expect("its colour")))
        })
        .collect();
    let bodies = svg.split("stroke-opacity=\"0.45\"").nth(1).expect("bodies");
    let number = |element: &str, name: &str| -> f64 {
        attribute(element, name).and_then(|n| n.parse().ok()).expect("a number")
    };
    let area = |element: &str| match attribute(element, "fill")? {
        fill if fill.starts_with('#') => {
            Some(Area::Polygon(polygon(attribute(element, "d")?), rgb(fill)))
        }
        _ => {
            let middle = (number(element, "cx"), number(element, "cy"));
            Some(Area::Disc(middle, number(element, "r"), stops.clone()))
        }
    };
    bodies.split('<').filter_map(area).collect()
}

fn inside(corners: &[Point], (x, y): Point) -> bool {
    let next = corners.iter().cycle().skip(1);
    let crosses = |(a, b): (&Point, &Point)| {
        (a.1 > y) != (b.1 > y) && x < a.0 + (y - a.1) / (b.1 - a.1) * (b.0 - a.0)
    };
    corners.iter().zip(next).filter(|sides| crosses(*sides)).count() % 2 == 1
}

fn colour_at(areas: &[Area], (x, y): Point) -> Option<[f64; 3]> {
    areas.iter().rev().find_map(|area| match area {
        Area::Polygon(corners, colour) => inside(corners, (x, y)).then_some(*colour),
        Area::Disc(middle, radius, stops) => {
            let (dx, dy) = ((x - middle.0) / radius, (y - middle.1) / radius);
            if dx.hypot(dy) > 1.0 {
                return None;
            }
            // From where the sun stands overhead, in widths of the circle.
            let share = (0.5 * dx + 0.18).hypot(0.5 * dy + 0.4) / 0.68;
            let pair = stops.windows(2).find(|pair| share <= pair[1].0);
            let Some([(s0, c0), (s1, c1)]) = pair else { return stops.last().map(|stop| stop.1) };
            let t = (share - s0) / (s1 - s0);
            Some([0, 1, 2].map(|i| c0[i] + t * (c1[i] - c0[i])))
        }
    })
}

fn scene(shape: &Shape) -> DrawList {
    let target = Vec3::new(0.0, 0.0, 0.4);
    let camera = Camera::between(target, Vec3::new(1.5, -5.0, 2.5), FOV_DEG).expect("two points");
    let mut list = DrawList::new(camera, (480.0, 360.0));
    list.planes.push(SpacePlane { point: Vec3::zeros(), normal: Vec3::z() });
    let (piece, _) = Polyhedron::pieces(shape).remove(0);
    let (sin, cos) = 0.4_f64.sin_cos();
    let frame = Mat3::new(cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0);
    let pose = AffinePose { frame, origin: Vec3::new(0.0, 0.0, 0.5) };
    let colour = colour::STEPS[2];
    let shape = list.shape(&piece);
    let look = BodyLook::Shaded;
    list.instances.push(Instance { shape, pose, colour, cut: None, look, run: 0, body: 0 });
    list
}

/// Means of a body in both, and of what is around it.
fn means(shape: &Shape) -> Option<[[[f64; 3]; 2]; 2]> {
    let gpu = Gpu::for_test()?;
    let list = scene(shape);
    let Painted { bitmap, numbers } =
        Painter::new(&gpu).unwrap().paint(&list, 1.0).expect("a picture");
    let areas = areas(&svg::picture(&list, "", ""));
    let width = bitmap.size()[0] as usize;
    let mut sums = [[[0.0; 3]; 2]; 2];
    let mut counts = [0.0; 2];
    for (i, pixel) in bitmap.pixels().iter().enumerate() {
        let at = ((i % width) as f64 + 0.5, (i / width) as f64 + 0.5);
        let svg = colour_at(&areas, at);
        // Where both see the same, which on the outline they need not.
        let place = match (numbers[i], svg) {
            (0, None) => 1,
            (1, Some(_)) => 0,
            _ => continue,
        };
        counts[place] += 1.0;
        for c in 0..3 {
            sums[place][0][c] += f64::from(pixel[c]);
            sums[place][1][c] += svg.map_or(255.0, |colour| colour[c]);
        }
    }
    assert!(counts.iter().all(|count| *count > 5000.0), "{counts:?}");
    let mean = |place: usize| sums[place].map(|sum| sum.map(|c: f64| c / counts[place]));
    Some([mean(0), mean(1)])
}

#[test]
fn box_sphere_and_ground_have_the_tones_of_the_other_writer() {
    let cube = Shape::Box { half: Vec3::new(0.5, 0.4, 0.5) };
    for (name, shape) in [("box", cube), ("sphere", Shape::Sphere { radius: 0.5 })] {
        let Some(means) = means(&shape) else { return };
        for (what, [pixels, areas]) in [name, "ground"].into_iter().zip(means) {
            println!("{what}: {pixels:?} and {areas:?}");
            let apart = pixels.iter().zip(areas).map(|(a, b)| (a - b).abs());
            let worst = apart.fold(0.0, f64::max);
            assert!(worst <= 6.0, "{what}: {pixels:?} by pixels, {areas:?} by areas");
        }
    }
}
