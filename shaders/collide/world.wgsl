// Bodies as collision detection sees them on a device, and what all stages are bound to.

//#use shared/index.wgsl
//#use collide/types.wgsl

// What was found of a pair: up to four points with one normal.
struct Found {
    normal: vec3<f32>,
    count: u32,
}

const BOX: u32 = 0u;
const SPHERE: u32 = 1u;
const CAPSULE: u32 = 2u;
const PLANE: u32 = 3u;
const MESH: u32 = 4u;

// Stands for infinity, and for the boxes of what has none.
const HUGE: f32 = 3e38;

const THREADS: u32 = 64u;

struct Task {
    bodies: u32,
    planes: u32,
    points_max: u32,
    pairs_room: u32,
    // Bodies closer than this are in contact [m].
    margin: f32,
    // How far ahead to look [s].
    dt: f32,
    manifolds_room: u32,
    triangles_room: u32,
}

struct Body {
    // Half extents of a box; half the length of a capsule in z [m].
    half: vec3<f32>,
    // Radius of the rounding [m].
    round: f32,
    // Middle of the box around it, in body coordinates [m].
    middle: vec3<f32>,
    // Radius of a sphere about its origin [m]; below zero for half-spaces, which have none.
    reach: f32,
    // Half extents of the box around it [m].
    extent: vec3<f32>,
    // Smallest extent [m].
    size: f32,
    kind: u32,
    dynamic: u32,
    // Bodies of one group do not touch, but zero is no group.
    group: u32,
    // First node of its mesh's tree.
    mesh: u32,
    // Whom joints keep it from touching, in `joined`.
    joined_first: u32,
    joined_last: u32,
    friction_static: f32,
    friction_dynamic: f32,
    restitution: f32,
    // How large it is compared with the others, in factors of four.
    rank: u32,
    // How many triangles its mesh has, and the first of them.
    triangle_count: u32,
    triangle_first: u32,
}

// A box of a tree over bodies or triangles, with the index of a leaf's.
struct Node {
    low: vec3<f32>,
    body: u32,
    high: vec3<f32>,
    pad: u32,
}

// A rotation and a translation, from local to outer coordinates.
struct Place {
    position: vec3<f32>,
    turn: mat3x3<f32>,
}

@group(0) @binding(0) var<uniform> task: Task;
@group(0) @binding(1) var<storage, read> bodies: array<Body>;
@group(0) @binding(2) var<storage, read> poses: array<Pose>;

fn rotation(q: vec4<f32>) -> mat3x3<f32> {
    let s = q * q;
    let ij = q.x * q.y * 2.0;
    let ik = q.x * q.z * 2.0;
    let jk = q.y * q.z * 2.0;
    let wi = q.w * q.x * 2.0;
    let wj = q.w * q.y * 2.0;
    let wk = q.w * q.z * 2.0;
    return mat3x3<f32>(
        vec3<f32>(s.w + s.x - s.y - s.z, wk + ij, ik - wj),
        vec3<f32>(ij - wk, s.w - s.x + s.y - s.z, wi + jk),
        vec3<f32>(wj + ik, jk - wi, s.w - s.x - s.y + s.z),
    );
}

fn point(place: Place, inner: vec3<f32>) -> vec3<f32> {
    return place.position + place.turn * inner;
}

fn local(place: Place, outer: vec3<f32>) -> vec3<f32> {
    return (outer - place.position) * place.turn;
}

fn largest(v: vec3<f32>) -> f32 {
    return max(v.x, max(v.y, v.z));
}

fn smallest(v: vec3<f32>) -> f32 {
    return min(v.x, min(v.y, v.z));
}

// The manifold of a pair, without its points.
fn manifold_of(a: u32, b: u32, normal: vec3<f32>, count: u32) -> Manifold {
    let p = bodies[a];
    let q = bodies[b];
    return Manifold(
        a, b, count, 0u, normal, sqrt(p.friction_static * q.friction_static),
        sqrt(p.friction_dynamic * q.friction_dynamic), max(p.restitution, q.restitution), 0u, 0u,
    );
}
