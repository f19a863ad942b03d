// What the stages of collision detection share, and what they answer. Twins: crates/collide-gpu/src/layout.rs.

// Stands for "no contact" where an index is expected.
const NONE: u32 = 0xffffffffu;

// Points of one manifold at most; point `i` of manifold `m` is at `LANES * m + i`.
const LANES: u32 = 4u;

// Where a body is and how it moves.
struct Pose {
    position: vec3<f32>,
    pad_0: u32,
    rotation: vec4<f32>,
    velocity: vec3<f32>,
    pad_1: u32,
    // In world axes [rad/s].
    omega: vec3<f32>,
    pad_2: u32,
}

// How much there is; see `Counts` in Rust.
struct Counts {
    manifolds: u32,
    short: u32,
    pairs_needed: u32,
    manifolds_needed: u32,
    triangles_needed: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

// Up to four points of one pair of bodies that share a normal, which points from B to A.
struct Manifold {
    a: u32,
    b: u32,
    count: u32,
    pad_0: u32,
    normal: vec3<f32>,
    friction_static: f32,
    friction_dynamic: f32,
    restitution: f32,
    pad_1: u32,
    pad_2: u32,
}

// The side of A of a point, in A's coordinates, and the distance of the surfaces along the normal [m].
struct Near {
    anchor: vec3<f32>,
    gap: f32,
}

// The side of B, in B's coordinates, and the point of the answer before that this one continues.
struct Far {
    anchor: vec3<f32>,
    previous: u32,
}
