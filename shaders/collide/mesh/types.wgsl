// What the stages that treat surfaces of triangles share.

//#use collide/touch.wgsl

// As `Triangle` in crates/collide-gpu/src/layout.rs.
struct Triangle {
    origin: vec3<f32>,
    sine_0: f32,
    b: vec3<f32>,
    sine_1: f32,
    c: vec3<f32>,
    sine_2: f32,
    outward_0: vec3<f32>,
    cosine_0: f32,
    outward_1: vec3<f32>,
    cosine_1: f32,
    outward_2: vec3<f32>,
    cosine_2: f32,
}

// Trees over the triangles of each surface, and the triangles.
@group(0) @binding(10) var<storage, read> mesh_nodes: array<Node>;
@group(0) @binding(11) var<storage, read> triangles: array<Triangle>;
// Where the triangles near each pair's solid begin in the list of all, after a scan of their numbers.
@group(0) @binding(12) var<storage, read_write> meeting_starts: array<u32>;
@group(0) @binding(13) var<storage, read> meetings_total: array<u32>;
// Which pair meets which triangle of its surface: as found, and with those of a pair rising.
@group(0) @binding(25) var<storage, read_write> found_meetings: array<vec2<u32>>;
@group(0) @binding(14) var<storage, read_write> meetings: array<vec2<u32>>;
// The patch of each meeting; `PATCH` in the count says that there is one, even without points.
@group(0) @binding(15) var<storage, read_write> patches: array<Found>;
// Its points, `MOST` places each. On A and B in the frame of the pair, later in those of the bodies.
@group(0) @binding(16) var<storage, read_write> patch_near: array<Near>;
@group(0) @binding(17) var<storage, read_write> patch_far: array<Far>;
// The first meeting of the same pair with the same normal.
@group(0) @binding(18) var<storage, read_write> firsts: array<u32>;
// Which points of a patch others of its kind have already, bit by bit.
@group(0) @binding(26) var<storage, read_write> doubles: array<u32>;
// The triangles of the points that are kept of a patch, `LANES` places each.
@group(0) @binding(19) var<storage, read_write> patch_triangles: array<u32>;
@group(0) @binding(20) var<storage, read_write> counts: Counts;

const PATCH: u32 = 256u;

fn is_mesh(k: u32) -> bool {
    let both = kinds_at(k);
    let a = both / 8u;
    let b = both % 8u;
    return (a == MESH && b <= CAPSULE) || (b == MESH && a <= CAPSULE);
}

// The meetings of pair `k`: the first, and one past the last, as far as there is room.
fn meetings_of(k: u32) -> vec2<u32> {
    var end = meetings_total[0];
    if k + 1u < task.pairs_room {
        end = meeting_starts[k + 1u];
    }
    return min(vec2<u32>(meeting_starts[k], end), vec2<u32>(task.triangles_room));
}
