//! Colours: one for each method, told apart by readers with any of the common colour visions.

pub use taut_draw::colour::{FAILURE, FAINT_INK, INK, PAGE, Rgb, hex, mixed};

/// Curves that are there for comparison only.
pub const CONTEXT: Rgb = (181, 181, 181);
/// Lines to compare with.
pub const REFERENCE_LINE: Rgb = (120, 120, 120);
/// Methods that the list below does not know, and engines of others.
pub const OTHER: Rgb = (77, 77, 77);
/// Lines behind a plot.
pub const GRID: Rgb = (230, 230, 230);
/// Behind the strip of claims.
pub const STRIP_PAGE: Rgb = (243, 243, 243);
/// Behind the crosses of runs that failed.
pub const FAILED_PAGE: Rgb = (250, 242, 241);
/// A claim that holds.
pub const HOLDS: Rgb = (0x2D, 0x6A, 0x4F);
/// A claim that is known not to.
pub const DEVIATES: Rgb = (0xB3, 0x6B, 0x00);

/// The page at night.
pub const DARK_PAGE: Rgb = (0x14, 0x17, 0x1A);
/// What the colours above turn into on it, methods apart.
const ON_DARK: [(Rgb, Rgb); 11] = [
    (PAGE, DARK_PAGE),
    (INK, (0xE6, 0xE8, 0xEA)),
    (FAINT_INK, (0xAD, 0xB4, 0xBB)),
    (CONTEXT, (0x5E, 0x65, 0x6C)),
    (FAILURE, (0xFF, 0x6B, 0x6B)),
    (REFERENCE_LINE, (0x8E, 0x96, 0x9E)),
    (GRID, (0x2B, 0x30, 0x35)),
    (STRIP_PAGE, (0x1E, 0x22, 0x26)),
    (FAILED_PAGE, (0x2A, 0x1C, 0x1D)),
    (HOLDS, (0x5F, 0xBF, 0x93)),
    (DEVIATES, (0xE0, 0xA0, 0x40)),
];

/// What a method is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodStyle {
    /// Name of the method.
    pub method: &'static str,
    /// On a white page.
    pub light: Rgb,
    /// On a dark page.
    pub dark: Rgb,
    /// Its marker.
    pub marker: Marker,
}

/// ItemShape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A filled circle.
    Circle,
    /// A square.
    Square,
    /// A triangle on its base.
    TriangleUp,
    /// A square on its corner.
    Diamond,
    /// A triangle on its tip.
    TriangleDown,
    /// Two crossed bars.
    Plus,
    /// Six corners.
    Hexagon,
    /// A lying bar.
    Bar,
    /// An open circle.
    Ring,
}

const fn method(method: &'static str, light: Rgb, dark: Rgb, marker: Marker) -> MethodStyle {
    MethodStyle { method, light, dark, marker }
}

/// Found by a search in LCh for pairs more than 20 apart (CIEDE2000) in normal vision, deuteranopia and protanopia;
/// the test below holds that.
pub const METHODS: [MethodStyle; 9] = [
    method("avbd", (0x02, 0x47, 0xF1), (0x49, 0x7E, 0xFC), Marker::Circle),
    method("vbd", (0xC4, 0x88, 0x15), (0xFA, 0xC1, 0x3F), Marker::Square),
    method("xpbd", (0x2D, 0x91, 0x79), (0x48, 0xB9, 0x9A), Marker::TriangleUp),
    method("impulse", (0x72, 0x34, 0x5E), (0x97, 0x4F, 0x61), Marker::Diamond),
    method("jacobi", (0x34, 0x9F, 0xC3), (0x92, 0xCA, 0xFE), Marker::TriangleDown),
    method("mabd", (0x93, 0x47, 0x06), (0xBF, 0x63, 0x1E), Marker::Plus),
    method("abd", (0xAC, 0x90, 0x59), (0xC8, 0xCD, 0x83), Marker::Hexagon),
    method("rigid", (0x22, 0x11, 0x6B), (0x85, 0x54, 0x7F), Marker::Bar),
    method("newton", (0x00, 0x00, 0x00), (0xFF, 0xFF, 0xFF), Marker::Circle),
];

/// Methods that are not in the list.
const UNKNOWN: MethodStyle = method("", OTHER, (0xB0, 0xB0, 0xB0), Marker::Ring);

/// The method of a backend: its name up to the last dash.
pub fn method_of(backend: &str) -> &str {
    backend.rsplit_once('-').map_or(backend, |(method, _)| method)
}

/// How the method of a backend is drawn; ink and a ring where it is none of [`METHODS`].
pub fn style_of(backend: &str) -> MethodStyle {
    let known = METHODS.iter().find(|style| style.method == method_of(backend)).copied();
    known.unwrap_or(UNKNOWN)
}

fn mixed_with(page: Rgb, colour: Rgb, share: f64) -> Rgb {
    let mix =
        |c: u8, page: u8| (f64::from(c) + share * (f64::from(page) - f64::from(c))).round() as u8;
    (mix(colour.0, page.0), mix(colour.1, page.1), mix(colour.2, page.2))
}

/// Shares of the page in the colours of smaller budgets, largest first.
pub const LIGHTNESS: [f64; 3] = [0.0, 0.35, 0.6];
/// Share of the page in what the numbers of a run did after it failed.
pub const TAIL: f64 = 0.45;

/// Every colour that a picture is drawn in, and what it turns into on a dark page.
pub fn on_dark() -> Vec<(Rgb, Rgb)> {
    let mut pairs = ON_DARK.to_vec();
    for style in METHODS.iter().chain([&UNKNOWN]) {
        for share in LIGHTNESS {
            for tail in [0.0, TAIL] {
                let twice = |page: Rgb, colour: Rgb| {
                    mixed_with(page, mixed_with(page, colour, share), tail)
                };
                let (light, dark) = (twice(PAGE, style.light), twice(DARK_PAGE, style.dark));
                if !pairs.iter().any(|(known, _)| *known == light) {
                    pairs.push((light, dark));
                }
            }
        }
    }
    pairs
}

/// How readers with some colour vision see, and how far apart colours are for them.
pub mod vision {
    use super::Rgb;

    /// Linear sRGB to what is seen, by rows (Machado, Oliveira, Fernandes 2009, severity 1).
    pub type VisionMatrix = [[f64; 3]; 3];

    /// Sees all colours.
    pub const NORMAL: VisionMatrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// Lacks cones for medium wavelengths.
    pub const DEUTERANOPIA: VisionMatrix = [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ];
    /// Lacks cones for long wavelengths.
    pub const PROTANOPIA: VisionMatrix = [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ];

    fn linear(c: u8) -> f64 {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }

    /// Relative luminance (WCAG 2).
    fn luminance((r, g, b): Rgb) -> f64 {
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    /// Contrast of two colours, from 1 to 21 (WCAG 2).
    pub fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// CIE L*a*b* under D65 of a colour as it is seen.
    pub fn lab((r, g, b): Rgb, vision: &VisionMatrix) -> [f64; 3] {
        let rgb = [r, g, b].map(linear);
        let seen =
            vision.map(|row| row.iter().zip(rgb).map(|(m, c)| m * c).sum::<f64>().clamp(0.0, 1.0));
        let xyz = [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ]
        .map(|row| row.iter().zip(seen).map(|(m, c)| m * c).sum::<f64>());
        let white = [0.950_47, 1.0, 1.088_83];
        let f = |t: f64| {
            if t > 216.0 / 24_389.0 { t.cbrt() } else { (24_389.0 / 27.0 * t + 16.0) / 116.0 }
        };
        let [x, y, z] = [0, 1, 2].map(|i| f(xyz[i] / white[i]));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// CIEDE2000 (Sharma, Wu, Dalal 2005).
    pub fn difference([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
        let power7 = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
        let mean_c = (a1.hypot(b1) + a2.hypot(b2)) / 2.0;
        let g = 0.5 * (1.0 - power7(mean_c));
        let (a1, a2) = ((1.0 + g) * a1, (1.0 + g) * a2);
        let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
        let hue = |a: f64, b: f64| {
            if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) }
        };
        let (h1, h2) = (hue(a1, b1), hue(a2, b2));
        let grey = c1 * c2 == 0.0;
        let turn = match h2 - h1 {
            _ if grey => 0.0,
            d if d > 180.0 => d - 360.0,
            d if d < -180.0 => d + 360.0,
            d => d,
        };
        let (dl, dc) = (l2 - l1, c2 - c1);
        let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
        let (l, c) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0);
        let h = match (h1 + h2, (h1 - h2).abs() > 180.0) {
            (sum, _) if grey => sum,
            (sum, false) => sum / 2.0,
            (sum, true) if sum < 360.0 => (sum + 360.0) / 2.0,
            (sum, true) => (sum - 360.0) / 2.0,
        };
        let cos = |angle: f64| angle.to_radians().cos();
        let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
            - 0.20 * cos(4.0 * h - 63.0);
        let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
        let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
        let bend = 30.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
        let rt = -(2.0 * bend).to_radians().sin() * 2.0 * power7(c);
        let (l, c, h) = (dl / sl, dc / sc, dh / sh);
        (l * l + c * c + h * h + rt * c * h).sqrt()
    }

    /// How far apart two colours are for whoever of the three tells them apart worst.
    pub fn least_difference(a: Rgb, b: Rgb) -> f64 {
        let apart = |vision| difference(lab(a, vision), lab(b, vision));
        [&NORMAL, &DEUTERANOPIA, &PROTANOPIA].map(apart).into_iter().fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::{vision::*, *};

    fn apart(names: &[&str]) {
        for (i, a) in names.iter().enumerate() {
            for b in &names[i + 1..] {
                let [a, b] = [a, b].map(|name| style_of(&format!("{name}-cpu")));
                let light = least_difference(a.light, b.light);
                assert!(light > 20.0, "{} {} {light}", a.method, b.method);
                let dark = least_difference(a.dark, b.dark);
                assert!(dark > 20.0, "{} {} {dark} on a dark page", a.method, b.method);
            }
        }
    }

    #[test]
    fn the_difference_is_that_of_the_published_pair() {
        let found = difference([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485]);
        assert!((found - 2.0425).abs() < 1e-4, "{found}");
    }

    #[test]
    fn methods_that_meet_in_a_panel_are_told_apart() {
        apart(&["avbd", "vbd", "xpbd", "impulse", "jacobi", "mabd", "newton"]);
        apart(&["mabd", "abd", "rigid", "newton"]);
        apart(&["avbd", "vbd", "xpbd", "jacobi", "rigid", "newton"]);
    }

    #[test]
    fn lines_stand_out_from_the_page_and_text_is_read() {
        for style in METHODS {
            assert!(contrast(style.light, PAGE) >= 3.0, "{}", style.method);
        }
        assert!([INK, FAINT_INK, FAILURE, OTHER].iter().all(|&c| contrast(c, PAGE) >= 4.5));
        for style in METHODS {
            assert!(contrast(style.dark, DARK_PAGE) >= 3.0, "{} on a dark page", style.method);
        }
        let pairs = on_dark();
        let dark = |light: Rgb| pairs.iter().find(|pair| pair.0 == light).unwrap().1;
        for text in [INK, FAINT_INK, FAILURE] {
            assert!(contrast(dark(text), dark(STRIP_PAGE)) >= 4.5, "{}", hex(text));
        }
        // Lightness tells budgets of one method apart: blue is the darkest, and least changed by it.
        let levels = LIGHTNESS.map(|share| mixed(METHODS[0].light, share));
        let step =
            |i: usize| difference(lab(levels[i], &DEUTERANOPIA), lab(levels[i + 1], &DEUTERANOPIA));
        assert!(step(0) > 8.2 && step(1) > 8.2);
    }

    #[test]
    fn a_backend_is_drawn_as_its_method() {
        assert_eq!(style_of("avbd-gpu"), style_of("avbd-cpu"));
        assert_eq!(style_of("rapier-f32").light, OTHER);
        assert_eq!(method_of("null"), "null");
    }
}
