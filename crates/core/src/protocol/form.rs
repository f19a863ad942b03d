//! A whole scene under the names of schema 1.

use serde::{Deserialize, Serialize};

use super::{
    parts::{BodyRecord, JointRecord, ParticleRecord, SpringRecord},
    words::words_of,
};
use crate::{
    Scene, Vec3,
    energy::{FoldEnergy, SheetEnergy, WeightedSum},
    scene::{AppliedForce, Contacts, Drive, ElasticPart, MaterialDamping, Tetrahedron},
    wire,
};

/// Version of the names of a scene and of what they mean.
pub const SCENE_SCHEMA: u32 = 1;

/// A scene as programs outside read it: indices for names, `null` for none, free and never, SI units with z up.
///
/// Lists that a scene has no element of are left out where only few programs know that kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneForm {
    schema: u32,
    name: String,
    #[serde(default)]
    about: String,
    #[serde(with = "wire::numbers")]
    gravity: Vec3,
    dt_s: f64,
    steps: u32,
    contacts: Option<ContactsRecord>,
    watch: Vec<usize>,
    #[serde(default)]
    needs: Vec<String>,
    bodies: Vec<BodyRecord>,
    particles: Vec<ParticleRecord>,
    joints: Vec<JointRecord>,
    springs: Vec<SpringRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    triangles: Vec<ElasticPart<SheetEnergy, 3>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bends: Vec<ElasticPart<FoldEnergy, 4>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tetrahedra: Vec<Tetrahedron>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ties: Vec<ElasticPart<WeightedSum<f64>, 4>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    material_damping: Vec<MaterialDamping>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drives: Vec<Drive>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forces: Vec<AppliedForce>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContactsRecord {
    margin_m: f64,
    points_max: u32,
}

impl From<&Scene> for SceneForm {
    fn from(scene: &Scene) -> Self {
        let contacts =
            scene.contacts.map(|c| ContactsRecord { margin_m: c.margin, points_max: c.points_max });
        Self {
            schema: SCENE_SCHEMA,
            name: scene.name.clone(),
            about: scene.about.clone(),
            gravity: scene.gravity,
            dt_s: scene.dt,
            steps: scene.steps,
            contacts,
            watch: scene.watch.clone(),
            needs: words_of(scene).into_iter().map(|need| need.word.to_owned()).collect(),
            bodies: scene.bodies.iter().map(BodyRecord::from).collect(),
            particles: scene.particles.iter().map(ParticleRecord::from).collect(),
            joints: scene.joints.iter().map(JointRecord::from).collect(),
            springs: scene.springs.iter().map(SpringRecord::from).collect(),
            triangles: scene.triangles.clone(),
            bends: scene.bends.clone(),
            tetrahedra: scene.tetrahedra.clone(),
            ties: scene.ties.clone(),
            material_damping: scene.material_damping.clone(),
            drives: scene.drives.clone(),
            forces: scene.forces.clone(),
        }
    }
}

impl TryFrom<SceneForm> for Scene {
    type Error = String;

    /// The same scene, bit for bit. That its indices point at something is not checked.
    fn try_from(form: SceneForm) -> Result<Self, String> {
        if form.schema != SCENE_SCHEMA {
            return Err(format!(
                "a scene of schema {}, but this program reads {SCENE_SCHEMA}",
                form.schema
            ));
        }
        let contacts = form.contacts;
        let joints = form.joints.into_iter().map(JointRecord::into_joint);
        let springs = form.springs.into_iter().map(SpringRecord::into_spring);
        Ok(Self {
            name: form.name,
            about: form.about,
            gravity: form.gravity,
            dt: form.dt_s,
            steps: form.steps,
            contacts: contacts.map(|c| Contacts { margin: c.margin_m, points_max: c.points_max }),
            watch: form.watch,
            bodies: form.bodies.into_iter().map(Into::into).collect(),
            particles: form.particles.into_iter().map(Into::into).collect(),
            joints: joints.collect::<Result<_, String>>()?,
            springs: springs.collect::<Result<_, String>>()?,
            triangles: form.triangles,
            bends: form.bends,
            tetrahedra: form.tetrahedra,
            ties: form.ties,
            material_damping: form.material_damping,
            drives: form.drives,
            forces: form.forces,
        })
    }
}
