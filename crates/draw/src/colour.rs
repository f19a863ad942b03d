//! Colours of what is drawn. Those of methods are the caller's: this crate names none.

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// The page.
pub const PAGE: Rgb = (255, 255, 255);
/// Text and axes.
pub const INK: Rgb = (40, 40, 40);
/// Text that comes second.
pub const FAINT_INK: Rgb = (85, 85, 85);
/// Frame of what failed, and what is said of it.
pub const FAILURE: Rgb = (192, 0, 0);
/// Ground of a cell whose run has failed.
pub const FAILED_GROUND: Rgb = (255, 244, 242);
/// A joint that has come apart, and penetration.
pub const GAP: Rgb = (224, 0, 0);
/// Outline of the reference.
pub const GHOST: Rgb = (187, 187, 187);
/// Frame of a cell whose run is fine, and the grid of a half-space.
pub const QUIET: Rgb = (214, 214, 214);
/// Bodies of which nothing is told by colour.
pub const PLAIN: Rgb = (200, 204, 210);
/// Bodies that nothing moves.
pub const FIXED: Rgb = (150, 150, 150);

/// From none to much, dark and blue upwards: neighbours differ by at least 11 (CIEDE2000) for readers with any of the
/// common colour visions, and all by at least 34 from [`GAP`].
pub const STEPS: [Rgb; 5] = [
    (0xCF, 0xCF, 0xCF),
    (0x9F, 0xC5, 0xDE),
    (0x4A, 0x90, 0xC2),
    (0x1B, 0x4F, 0x9C),
    (0x3F, 0x00, 0x7D),
];

/// Which of [`STEPS`] a value has: steps are equally wide in its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourSteps {
    /// Values below it have the first colour.
    pub low: f64,
    /// Values above it have the last colour.
    pub high: f64,
}

impl ColourSteps {
    /// The colour of a value; of one that is not a number the last.
    pub fn of(&self, value: f64) -> Rgb {
        if value.is_nan() {
            return STEPS[STEPS.len() - 1];
        }
        let inner = STEPS.len() - 2;
        let share = (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln();
        let step = match share {
            s if s < 0.0 => 0,
            s if s < 1.0 => 1 + ((s * inner as f64) as usize).min(inner - 1),
            _ => STEPS.len() - 1,
        };
        STEPS[step]
    }

    /// Values between neighbouring steps, one fewer than there are steps.
    pub fn bounds(&self) -> [f64; STEPS.len() - 1] {
        let last = (STEPS.len() - 2) as f64;
        std::array::from_fn(|i| self.low * (self.high / self.low).powf(i as f64 / last))
    }
}

/// A colour mixed with another, from 0 (itself) to 1 (the other).
pub fn blend(colour: Rgb, other: Rgb, share: f64) -> Rgb {
    let mix = |c: u8, o: u8| (f64::from(c) + share * (f64::from(o) - f64::from(c))).round() as u8;
    (mix(colour.0, other.0), mix(colour.1, other.1), mix(colour.2, other.2))
}

/// A colour mixed with the page, from 0 (itself) to 1 (the page).
pub fn mixed(colour: Rgb, share: f64) -> Rgb {
    blend(colour, PAGE, share)
}

/// A colour as `#RRGGBB`.
pub fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Light on a face that the sun does not reach, where 1 shows a colour as it is.
pub const AMBIENT: f64 = 0.70;
/// Where the sun stands, seen by the camera: right, up and towards the eye; of unit length.
pub const SUN: [f64; 3] = [-0.36, 0.80, 0.48];
/// Levels of light that are told apart.
pub const LEVELS: u32 = 16;

/// Light on a face, in [`LEVELS`] levels, by Lambert's law; `facing` is the cosine of the angle between the face's
/// normal and the direction of the sun. A face towards the eye has light 1, so that bodies look like the key.
pub fn light(facing: f64) -> f64 {
    let steps = f64::from(LEVELS - 1);
    // Rounded relative to the face towards the eye, whose light is then exactly 1.
    let level = ((facing.clamp(0.0, 1.0) - SUN[2]) * steps).round() / steps;
    1.0 + (1.0 - AMBIENT) * level / SUN[2]
}

/// A colour under some light: darker below 1, mixed with white above.
pub fn lit(colour: Rgb, light: f64) -> Rgb {
    if light <= 1.0 { blend((0, 0, 0), colour, light) } else { blend(colour, PAGE, light - 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_even_in_the_logarithm() {
        let steps = ColourSteps { low: 1e-4, high: 1e-1 };
        let of = |value| STEPS.iter().position(|&c| c == steps.of(value)).expect("a step");
        assert_eq!([0.0, 5e-5, 2e-4, 2e-3, 2e-2, 0.2].map(of), [0, 0, 1, 2, 3, 4]);
        assert_eq!(of(f64::NAN), 4);
        let bounds = steps.bounds();
        assert!((bounds[1] - 1e-3).abs() < 1e-12 && (bounds[3] - 0.1).abs() < 1e-12);
    }

    #[test]
    fn light_has_levels_and_leaves_faces_towards_the_eye() {
        let grey = (120, 130, 140);
        assert_eq!(lit(grey, light(SUN[2])), grey);
        assert_eq!(light(-1.0), light(0.0));
        assert!(light(0.0) < 0.75 && light(1.0) > 1.2);
        let levels: std::collections::BTreeSet<u64> =
            (0..1000).map(|i| light(f64::from(i) / 999.0).to_bits()).collect();
        assert_eq!(levels.len(), LEVELS as usize);
        let sun: f64 = SUN.iter().map(|s| s * s).sum();
        assert!((sun - 1.0).abs() < 1e-3, "{sun}");
    }

    #[test]
    fn colours_are_written_as_on_the_web() {
        assert_eq!(hex((2, 71, 241)), "#0247F1");
        assert_eq!(mixed((0, 0, 0), 1.0), PAGE);
    }
}
