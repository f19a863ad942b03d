//! Settings with the engine's defaults, and what each may be.

use serde_json::{Map, Value, json};

use crate::wire::Refusal;

/// Those in force. Frequencies, ratios and distances have the engine's own meaning, see README.md.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) contact_hertz: f64,
    pub(crate) contact_damping: f64,
    pub(crate) contact_speed: f64,
    pub(crate) joint_hertz: f64,
    pub(crate) joint_damping: f64,
    pub(crate) recycle_m: f64,
    pub(crate) continuous: bool,
    pub(crate) cylinder_sides: usize,
    pub(crate) half_space_m: f64,
}

impl Default for Settings {
    /// As the engine is delivered; the last two are of this program.
    fn default() -> Self {
        Self {
            contact_hertz: 30.0,
            contact_damping: 10.0,
            contact_speed: 3.0,
            joint_hertz: 60.0,
            joint_damping: 2.0,
            recycle_m: 0.05,
            continuous: true,
            cylinder_sides: 32,
            half_space_m: 1000.0,
        }
    }
}

impl Settings {
    /// The defaults, with what is given in their places.
    pub(crate) fn new(given: &Map<String, Value>) -> Result<Self, Refusal> {
        let mut out = Self::default();
        for (key, value) in given {
            let number = |lowest: f64, highest: f64| {
                let found = value.as_f64().filter(|x| (lowest..=highest).contains(x));
                let words = || format!("`{key}` is {value}, expected {lowest} to {highest}");
                found.ok_or_else(|| Refusal::new("settings", words()))
            };
            match key.as_str() {
                "contact_hertz" => out.contact_hertz = number(0.0, 1e9)?,
                "contact_damping" => out.contact_damping = number(0.0, 1e6)?,
                "contact_speed" => out.contact_speed = number(0.0, 1e9)?,
                "joint_hertz" => out.joint_hertz = number(0.0, 1e9)?,
                "joint_damping" => out.joint_damping = number(0.0, 1e6)?,
                "recycle_m" => out.recycle_m = number(0.0, 1e3)?,
                "half_space_m" => out.half_space_m = number(1.0, 1e4)?,
                "cylinder_sides" => {
                    // A hull has at most 128 edges, and a prism three for each side.
                    let sides = value.as_u64().filter(|sides| (3..=42).contains(sides));
                    let words = || format!("`{key}` is {value}, expected a whole number, 3 to 42");
                    out.cylinder_sides =
                        sides.ok_or_else(|| Refusal::new("settings", words()))? as usize;
                }
                "continuous" => {
                    let words = || format!("`{key}` is {value}, expected true or false");
                    let found = value.as_bool();
                    out.continuous = found.ok_or_else(|| Refusal::new("settings", words()))?;
                }
                _ => {
                    let words = format!("there is no setting `{key}`");
                    return Err(Refusal::new("settings", words));
                }
            }
        }
        Ok(out)
    }

    pub(crate) fn told(&self) -> Value {
        json!({
            "contact_hertz": self.contact_hertz,
            "contact_damping": self.contact_damping,
            "contact_speed": self.contact_speed,
            "joint_hertz": self.joint_hertz,
            "joint_damping": self.joint_damping,
            "recycle_m": self.recycle_m,
            "continuous": self.continuous,
            "cylinder_sides": self.cylinder_sides,
            "half_space_m": self.half_space_m,
        })
    }
}
