//! What a scene asks of a solver in another program, in words that the solver lists.
//!
//! Finer than the flags of [`crate::Needs`], since a program outside knows kinds of elements, not kinds of rows.

use crate::{
    Scene,
    energy::{SheetEnergy, SolidEnergy},
    scene::{Body, Endpoint, ForceKind, Joint, JointKind, Motion, Shape, Spring, SpringKind},
};

/// Every word there is, in the order in which a scene is asked for them.
pub const WORDS: &[&str] = &[
    "body.dynamic",
    "body.static",
    "body.kinematic",
    "body.elastic",
    "body.mesh",
    "particle",
    "particle.touch",
    "joint.ball",
    "joint.hinge",
    "joint.universal",
    "joint.prismatic",
    "joint.cylindrical",
    "joint.fixed",
    "joint.distance",
    "joint.limit",
    "joint.motor",
    "joint.damping",
    "joint.compliance",
    "joint.break",
    "joint.loop",
    "spring.linear",
    "spring.angular",
    "spring.damping",
    "triangle",
    "triangle.neo_hookean",
    "bend",
    "tetrahedron",
    "tetrahedron.neo_hookean_log",
    "tie",
    "material.damping",
    "drive",
    "force.body",
    "force.joint",
    "contact",
    "contact.restitution",
    "contact.friction_pair",
    "contact.groups",
    "contact.soft",
    "shape.box",
    "shape.sphere",
    "shape.capsule",
    "shape.cylinder",
    "shape.hull",
    "shape.compound",
    "shape.half_space",
    "shape.mesh",
];

/// One thing that a scene asks for, and the first that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedWord {
    /// One of [`WORDS`].
    pub word: &'static str,
    /// What asks for it, such as `joint 18`.
    pub witness: String,
}

/// Everything that a scene asks for, each word once, in the order of [`WORDS`].
pub fn words_of(scene: &Scene) -> Vec<NeedWord> {
    let mut found = FoundWords(vec![None; WORDS.len()]);
    for (i, body) in scene.bodies.iter().enumerate() {
        found.all("body", i, &of_body(body, scene.contacts.is_some()));
    }
    for (i, particle) in scene.particles.iter().enumerate() {
        let skin = particle.touch.filter(|_| scene.contacts.is_some());
        found.all("particle", i, &["particle"]);
        found.some("particle", i, skin.is_some(), "particle.touch");
        if let Some(skin) = skin {
            let material = skin.material;
            let pair = material.friction_static != material.friction_dynamic;
            found.some("particle", i, material.restitution > 0.0, "contact.restitution");
            found.some("particle", i, pair, "contact.friction_pair");
            found.some("particle", i, skin.group.is_some(), "contact.groups");
        }
    }
    for (i, joint) in scene.joints.iter().enumerate() {
        found.all("joint", i, &of_joint(joint));
    }
    if let Some(joint) = closes_a_loop(scene) {
        found.all("joint", joint, &["joint.loop"]);
    }
    for (i, spring) in scene.springs.iter().enumerate() {
        found.all("spring", i, &of_spring(spring));
    }
    of_materials(scene, &mut found);
    for (i, force) in scene.forces.iter().enumerate() {
        let effort = matches!(force.kind, ForceKind::Effort { .. });
        found.all("force", i, &[if effort { "force.joint" } else { "force.body" }]);
    }
    found.some("drive", 0, !scene.drives.is_empty(), "drive");
    if scene.contacts.is_some() {
        found.note("contact", || "the scene".to_owned());
    }
    if scene.touches_itself() {
        found.note("contact.soft", || "the scene".to_owned());
    }
    let words = WORDS.iter().zip(found.0);
    words.filter_map(|(word, witness)| Some(NeedWord { word, witness: witness? })).collect()
}

/// The first witness of each word.
struct FoundWords(Vec<Option<String>>);

impl FoundWords {
    fn note(&mut self, word: &str, witness: impl Fn() -> String) {
        if let Some(place) = WORDS.iter().position(|known| *known == word) {
            self.0[place].get_or_insert_with(witness);
        }
    }

    fn all(&mut self, what: &str, index: usize, words: &[&str]) {
        words.iter().for_each(|word| self.note(word, || format!("{what} {index}")));
    }

    fn some(&mut self, what: &str, index: usize, asks: bool, word: &str) {
        if asks {
            self.all(what, index, &[word]);
        }
    }
}

fn of_body(body: &Body, touch: bool) -> Vec<&'static str> {
    let mut words = vec![match body.motion {
        Motion::Dynamic => "body.dynamic",
        Motion::Static => "body.static",
        Motion::Kinematic => "body.kinematic",
    }];
    words.extend(body.elasticity.map(|_| "body.elastic"));
    let meshed = body.is_dynamic() && matches!(body.shape, Shape::Mesh { .. });
    words.extend(meshed.then_some("body.mesh"));
    if touch {
        let material = body.material;
        let pair = material.friction_static != material.friction_dynamic;
        words.extend((material.restitution > 0.0).then_some("contact.restitution"));
        words.extend(pair.then_some("contact.friction_pair"));
        words.extend(body.group.map(|_| "contact.groups"));
        of_shape(&body.shape, &mut words);
    }
    words
}

fn of_shape(shape: &Shape, words: &mut Vec<&'static str>) {
    words.push(match shape {
        Shape::Box { .. } => "shape.box",
        Shape::Sphere { .. } => "shape.sphere",
        Shape::Capsule { .. } => "shape.capsule",
        Shape::Cylinder { .. } => "shape.cylinder",
        Shape::Hull { .. } => "shape.hull",
        Shape::Compound { .. } => "shape.compound",
        Shape::HalfSpace => "shape.half_space",
        Shape::Mesh { .. } => "shape.mesh",
    });
    if let Shape::Compound { parts } = shape {
        parts.iter().for_each(|part| of_shape(&part.shape, words));
    }
}

fn of_joint(joint: &Joint) -> Vec<&'static str> {
    let mut words = vec![match joint.kind {
        JointKind::Ball => "joint.ball",
        JointKind::Hinge => "joint.hinge",
        JointKind::Universal => "joint.universal",
        JointKind::Prismatic => "joint.prismatic",
        JointKind::Cylindrical => "joint.cylindrical",
        JointKind::Fixed => "joint.fixed",
        JointKind::Distance { .. } => "joint.distance",
    }];
    let compliant = joint.compliance_linear > 0.0 || joint.compliance_angular > 0.0;
    words.extend(joint.limit.map(|_| "joint.limit"));
    words.extend(joint.motor.map(|_| "joint.motor"));
    words.extend((joint.damping > 0.0).then_some("joint.damping"));
    words.extend(compliant.then_some("joint.compliance"));
    words.extend(joint.can_break().then_some("joint.break"));
    words
}

fn of_spring(spring: &Spring) -> Vec<&'static str> {
    let mut words = vec![match spring.kind {
        SpringKind::Linear { .. } => "spring.linear",
        SpringKind::Angular { .. } => "spring.angular",
    }];
    words.extend((spring.damping > 0.0).then_some("spring.damping"));
    words
}

fn of_materials(scene: &Scene, found: &mut FoundWords) {
    let log = |energy: &SheetEnergy| matches!(energy, SheetEnergy::NeoHookean(_));
    found.some("triangle", 0, !scene.triangles.is_empty(), "triangle");
    if let Some(i) = scene.triangles.iter().position(|part| log(&part.energy)) {
        found.all("triangle", i, &["triangle.neo_hookean"]);
    }
    found.some("bend", 0, !scene.bends.is_empty(), "bend");
    found.some("tetrahedron", 0, !scene.tetrahedra.is_empty(), "tetrahedron");
    let log = |energy: &SolidEnergy| matches!(energy, SolidEnergy::NeoHookeanLog(_));
    if let Some(i) = scene.tetrahedra.iter().position(|part| log(&part.energy)) {
        found.all("tetrahedron", i, &["tetrahedron.neo_hookean_log"]);
    }
    found.some("tie", 0, !scene.ties.is_empty(), "tie");
    found.some("damped element", 0, !scene.material_damping.is_empty(), "material.damping");
}

/// The first joint both ends of which joints before it connect already. What no force moves is one ground.
fn closes_a_loop(scene: &Scene) -> Option<usize> {
    let ground = scene.bodies.len() + scene.particles.len();
    let mut parent: Vec<usize> = (0..=ground).collect();
    let root = |parent: &mut [usize], mut node: usize| {
        while parent[node] != node {
            // Halving the path keeps later searches short.
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    };
    let node = |end: Endpoint| scene.node(end).filter(|_| scene.is_dynamic(end)).unwrap_or(ground);
    scene.joints.iter().position(|joint| {
        let [a, b] = [joint.a, joint.b].map(|end| root(&mut parent, node(end)));
        parent[a] = b;
        a == b
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Vec3,
        scene::{Contacts, Limit},
    };

    fn words(scene: &Scene) -> Vec<&'static str> {
        words_of(scene).into_iter().map(|need| need.word).collect()
    }

    #[test]
    fn a_scene_asks_for_what_it_has() {
        let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
        let (a, b) = (Endpoint::Body(0), Endpoint::Body(1));
        let mut scene = Scene { bodies: vec![cube.clone(), cube.fixed()], ..Scene::default() };
        assert_eq!(words(&scene), ["body.dynamic", "body.static"]);
        let mut hinge = Joint::new(JointKind::Hinge, a, b);
        hinge.limit = Some(Limit { lower: 0.0, upper: 1.0 });
        scene.joints = vec![hinge, Joint::new(JointKind::Ball, Endpoint::World, a)];
        let asked = words_of(&scene);
        let last = asked.last().unwrap();
        assert_eq!((last.word, last.witness.as_str()), ("joint.loop", "joint 1"));
        assert_eq!(asked.len(), 6);
        scene.joints.clear();
        scene.contacts = Some(Contacts::default());
        assert_eq!(words(&scene), ["body.dynamic", "body.static", "contact", "shape.box"]);
        scene.bodies[0].material.friction_static = 0.7;
        assert!(words(&scene).contains(&"contact.friction_pair"));
    }

    #[test]
    fn no_word_is_listed_twice() {
        let mut sorted = WORDS.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), WORDS.len());
    }
}
