//! Settings of an engine that go together: as it is delivered, and as good as is known for what a scene holds.

use taut_core::{BuildError, Scene, settings::instead};

/// The setting that picks one.
pub(crate) const PRESET: &str = "preset";
const NAMES: [&str; 2] = ["default", "best"];

/// Settings under two names, each as the RON text of a struct. What a row sets besides comes before these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presets {
    /// As delivered, apart from defaults that would change the physics of a scene in silence.
    pub default: String,
    /// For scenes of joints without contacts.
    pub best_joints: String,
    /// For scenes of contacts without joints.
    pub best_contacts: String,
    /// For scenes of both.
    pub best_both: String,
}

impl Presets {
    /// The settings under a name for a scene.
    ///
    /// # Errors
    /// An unknown name, with the nearest or all of them.
    pub(crate) fn of(&self, name: &str, scene: &Scene) -> Result<&str, BuildError> {
        match (name, scene.contacts.is_some(), scene.joints.is_empty()) {
            ("default", ..) => Ok(&self.default),
            ("best", false, _) => Ok(&self.best_joints),
            ("best", true, true) => Ok(&self.best_contacts),
            ("best", true, false) => Ok(&self.best_both),
            _ => {
                let hint = instead(name, &NAMES);
                Err(BuildError::Settings(format!("unknown preset `{name}`: {hint}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::scene::{Contacts, Endpoint, Joint, JointKind};

    use super::*;

    #[test]
    fn the_best_depends_on_what_a_scene_holds() {
        let [default, best_joints, best_contacts, best_both] =
            ["d", "j", "c", "b"].map(str::to_owned);
        let presets = Presets { default, best_joints, best_contacts, best_both };
        let mut scene = Scene::default();
        assert_eq!(presets.of("default", &scene), Ok("d"));
        assert_eq!(presets.of("best", &scene), Ok("j"));
        scene.contacts = Some(Contacts::default());
        assert_eq!(presets.of("best", &scene), Ok("c"));
        scene.joints = vec![Joint::new(JointKind::Ball, Endpoint::World, Endpoint::World)];
        assert_eq!(presets.of("best", &scene), Ok("b"));
        let told = presets.of("bets", &scene).unwrap_err().to_string();
        assert!(told.contains("unknown preset `bets`: did you mean `best`?"), "{told}");
    }
}
