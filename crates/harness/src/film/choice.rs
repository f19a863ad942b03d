//! What one chooses of a film: where it is seen from, and what its colours tell.

use std::str::FromStr;

use serde::Deserialize;
use taut_core::{Scene, Vec3, metrics::measured_joints};
use taut_draw::{
    camera::{Camera, FOV_DEG, Facing, MotionReach},
    colour::{ColourSteps, Rgb},
    film::{ColourKey, short_length, short_speed},
    portrait::Tint,
};

/// Width over height of the cells of a film whose camera is given.
const GIVEN_ASPECT: f64 = 1.4;

/// Where a film is seen from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CameraChoice {
    /// Facing the plane of motion where there is one, else in perspective from above.
    #[default]
    Auto,
    /// Along y, without depth.
    Front,
    /// In perspective from above.
    Iso,
    /// From a point to another.
    Between {
        /// What is in the middle [m].
        at: [f64; 3],
        /// Where the eye is [m].
        from: [f64; 3],
        /// Vertical angle of view [deg].
        fov: f64,
    },
}

impl CameraChoice {
    /// Whether it says itself where a film is seen from, whatever moves.
    pub(super) fn is_given(&self) -> bool {
        matches!(self, Self::Between { .. })
    }

    /// The camera, and width over height of what it is made for.
    pub(super) fn camera(&self, reach: &MotionReach, aspect: Option<f64>) -> (Camera, f64) {
        let (facing, given) = match self {
            Self::Auto => (Facing::Fitting, None),
            Self::Front => (Facing::Front, None),
            Self::Iso => (Facing::Usual, None),
            Self::Between { at, from, fov } => {
                (Facing::Fitting, Camera::between(Vec3::from(*at), Vec3::from(*from), *fov))
            }
        };
        // What a given camera sees has the shape of whatever it is drawn in.
        let fitted = || if self.is_given() { GIVEN_ASPECT } else { reach.aspect(facing) };
        let aspect = aspect.unwrap_or_else(fitted);
        (given.unwrap_or_else(|| reach.camera(facing, aspect)), aspect)
    }

    /// Width over height of what is seen.
    pub(super) fn aspect(&self, reach: &MotionReach) -> f64 {
        self.camera(reach, None).1
    }
}

impl FromStr for CameraChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            "expected `auto`, `front`, `iso` or `at=(x,y,z) from=(x,y,z) fov=30`";
        match text {
            "auto" => return Ok(Self::Auto),
            "front" => return Ok(Self::Front),
            "iso" => return Ok(Self::Iso),
            _ => {}
        }
        let (mut at, mut from, mut fov) = (None, None, FOV_DEG);
        for part in text.split_whitespace() {
            let (key, value) = part.split_once('=').ok_or(EXPECTED)?;
            match key {
                "at" => at = Some(point(value)?),
                "from" => from = Some(point(value)?),
                "fov" => fov = value.parse().map_err(|_| format!("`{value}` is no angle"))?,
                _ => return Err(format!("unknown `{key}`: {EXPECTED}")),
            }
        }
        let (at, from) = at.zip(from).ok_or(EXPECTED)?;
        if !(fov > 0.0 && fov < 180.0) {
            return Err(format!("fov={fov}: the angle of view is between 0 and 180 degrees"));
        }
        if at == from {
            return Err("`at` and `from` are one point: the eye must be apart from it".to_owned());
        }
        Ok(Self::Between { at, from, fov })
    }
}

/// Three numbers in brackets.
fn point(text: &str) -> Result<[f64; 3], String> {
    let wrong = || format!("`{text}` is no point: expected (x,y,z) without blanks");
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).ok_or_else(wrong)?;
    let numbers: Vec<f64> =
        inner.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let finite = numbers.iter().all(|x| x.is_finite());
    <[f64; 3]>::try_from(numbers).ok().filter(|_| finite).ok_or_else(wrong)
}

/// What the colours of bodies tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FilmColour {
    /// Errors of joints [m], of the range given.
    JointError {
        /// Least.
        min: f64,
        /// Most.
        max: f64,
    },
    /// Speeds [m/s].
    Speed {
        /// Least.
        min: f64,
        /// Most.
        max: f64,
    },
    /// Depths to which bodies are inside each other [m].
    Penetration {
        /// Least.
        min: f64,
        /// Most.
        max: f64,
    },
    /// The method.
    Method,
    /// Nothing.
    #[default]
    Plain,
}

impl FilmColour {
    /// Errors of joints where any count, else nothing.
    pub(crate) fn fitting(scene: &Scene) -> Self {
        if measured_joints(scene).linear { Self::joint_error() } else { Self::Plain }
    }

    const fn joint_error() -> Self {
        Self::JointError { min: 1e-3, max: 1.0 }
    }

    /// Whether contacts have to be looked for.
    pub(crate) fn needs_contacts(&self) -> bool {
        matches!(self, Self::Penetration { .. })
    }

    /// How a run is tinted whose method has a colour.
    pub(crate) fn tint(&self, method: Rgb) -> Tint {
        let steps = |&low, &high| ColourSteps { low, high };
        match self {
            Self::JointError { min, max } => Tint::JointError(steps(min, max)),
            Self::Speed { min, max } => Tint::Speed(steps(min, max)),
            Self::Penetration { min, max } => Tint::Penetration(steps(min, max)),
            Self::Method => Tint::Uniform(method),
            Self::Plain => Tint::Plain,
        }
    }

    /// Its name, as it is given on the command line.
    #[cfg(feature = "view")]
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::JointError { .. } => "joint_error",
            Self::Speed { .. } => "speed",
            Self::Penetration { .. } => "penetration",
            Self::Method => "method",
            Self::Plain => "plain",
        }
    }

    /// What stands in the key.
    pub(crate) fn key(&self) -> Option<ColourKey> {
        let (name, low, high, write): (_, _, _, fn(f64) -> String) = match *self {
            Self::JointError { min, max } => ("joint error", min, max, short_length),
            Self::Penetration { min, max } => ("penetration", min, max, short_length),
            Self::Speed { min, max } => ("speed", min, max, short_speed),
            Self::Method | Self::Plain => return None,
        };
        Some(ColourKey { name: name.to_owned(), steps: ColourSteps { low, high }, write })
    }

    /// Why it cannot be used, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        match *self {
            Self::JointError { min, max }
            | Self::Speed { min, max }
            | Self::Penetration { min, max } => {
                let good = min > 0.0 && min < max && max.is_finite();
                (!good).then(|| format!("colours from {min} to {max}: expected 0 < min < max"))
            }
            Self::Method | Self::Plain => None,
        }
    }
}

impl FromStr for FilmColour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const NAMES: [&str; 5] = ["joint_error", "speed", "penetration", "method", "plain"];
        match text {
            "joint_error" => Ok(Self::joint_error()),
            "speed" => Ok(Self::Speed { min: 1e-2, max: 10.0 }),
            "penetration" => Ok(Self::Penetration { min: 1e-5, max: 1e-2 }),
            "method" => Ok(Self::Method),
            "plain" => Ok(Self::Plain),
            _ => Err(taut_core::settings::instead(text, &NAMES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_read_as_they_are_written() {
        let camera: CameraChoice = "at=(0,0,1.5) from=(3,-4,2)".parse().unwrap();
        let expected =
            CameraChoice::Between { at: [0.0, 0.0, 1.5], from: [3.0, -4.0, 2.0], fov: FOV_DEG };
        assert_eq!(camera, expected);
        assert_eq!("front".parse(), Ok(CameraChoice::Front));
        for bad in ["top", "at=(0,0,1)", "at=(0,0) from=(1,1,1)", "at=(0,0,0) from=(0,0,0)"] {
            assert!(bad.parse::<CameraChoice>().is_err(), "{bad}");
        }
        assert!("at=(0,0,0) from=(1,0,0) fov=180".parse::<CameraChoice>().is_err());
    }

    #[test]
    fn a_colour_that_does_not_exist_is_answered_by_one_that_does() {
        assert_eq!(
            "joint_eror".parse::<FilmColour>(),
            Err("did you mean `joint_error`?".to_owned())
        );
        assert!(FilmColour::Speed { min: 1.0, max: 1.0 }.fault().is_some());
    }
}
