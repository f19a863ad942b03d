//! Names of types that have more than one definition, and why they may.

/// Name and reason.
pub(crate) const SHARED: &[(&str, &str)] = &[
    // The Rust side of a structure in a shader bears the shader's name, which is that of what it stands for.
    ("Base", "what of a node changes only from step to step, on the host and as shaders read it"),
    ("Body", "a body of a scene, and what shaders of contacts read of it"),
    ("Child", "another process, and what stands for one where none can be started"),
    ("Cone", "the law of contact of avbd, and its parameters as shaders read them"),
    ("Element", "rows of one kind, in a model and as shaders read them"),
    ("Incidence", "one end of an element, on the host and as shaders read it"),
    ("Manifold", "contacts with one normal, on the host and as shaders read them"),
    (
        "Node",
        "what rows act on, in a model and as shaders read it; in collide-gpu one of a tree of boxes",
    ),
    ("Patch", "up to four contacts of one pair, on the host and as shaders read them"),
    ("Penalty", "the law of contact of vbd, and its parameters as shaders read them"),
    ("Pose", "place and rotation: of the core in f64, of a method in its precision, of a shader"),
    ("Ramp", "what governs a stiffness: of avbd, of vbd, and of either as shaders read it"),
    ("Start", "how contacts start, as the shaders of avbd and of vbd read it"),
    ("Triangle", "a triangle of a mesh, on the host and as shaders read it"),
    ("Joint", "a joint of a scene, and what the kernel of breaking reads of it"),
    // What each method has in a form of its own, as its hot loops need it.
    ("ContactPoint", "one point of contact during a step, of newton and of mabd"),
    ("Integrator", "the choices that rigid and mabd each offer"),
    ("System", "all bodies and joints of a scene as descent and as mabd solve them"),
];
