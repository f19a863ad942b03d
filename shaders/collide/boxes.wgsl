// Contacts of two boxes: separating axes, then the incident face clipped to the reference face. Twins:
// crates/collide/src/boxes.rs, crates/collide/src/clip.rs.

//#use collide/touch.wgsl
//#use collide/segments.wgsl

const FACE_BIAS: f32 = 1e-3;
const EDGE_SHARE: f32 = 5e-3;
const EDGE_DEPTH: f32 = 0.1;
const SLACK: f32 = 1e-6;

const APART: u32 = 0u;
const FACE_A: u32 = 1u;
const FACE_B: u32 = 2u;
const EDGES: u32 = 3u;

// The axis to use: of face `i` of A, of face `j` of B, or across edges `i` and `j`.
struct Best {
    axis: u32,
    i: u32,
    j: u32,
    // From B to A.
    normal: vec3<f32>,
}

// Index of the first of the largest components.
fn first_largest(v: vec3<f32>) -> u32 {
    if v.x >= v.y && v.x >= v.z {
        return 0u;
    }
    return select(2u, 1u, v.y >= v.z);
}

fn separate(pair: Pair, half_a_: vec3<f32>, half_b_: vec3<f32>) -> Best {
    var none: Best;
    var half_a = half_a_;
    var half_b = half_b_;
    let a = pair.place_a;
    let b = pair.place_b;
    // B in A's coordinates: `turn[j]` is B's axis j.
    var centre = local(a, b.position);
    var turn = mat3x3<f32>(b.turn[0] * a.turn, b.turn[1] * a.turn, b.turn[2] * a.turn);
    var size = mat3x3<f32>(abs(turn[0]), abs(turn[1]), abs(turn[2]));
    var apart_a = abs(centre) - half_a - size * half_b;
    var apart_b = abs(centre * turn) - half_b - half_a * size;
    let i = first_largest(apart_a);
    let j = first_largest(apart_b);
    if max(apart_a[i], apart_b[j]) > pair.reach {
        return none;
    }
    let extent = 2.0 * min(smallest(half_a), smallest(half_b));
    var best = Best(FACE_A, i, j, vec3<f32>(0.0));
    var separation = apart_a[i];
    if apart_b[j] > apart_a[i] + FACE_BIAS * extent {
        best.axis = FACE_B;
        separation = apart_b[j];
    }
    let bar = separation + max(EDGE_SHARE * extent, EDGE_DEPTH * abs(separation));
    var highest = -HUGE;
    var edge_i = 0u;
    var edge_j = 0u;
    for (var m = 0u; m < 3u; m++) {
        let m1 = (m + 1u) % 3u;
        let m2 = (m + 2u) % 3u;
        for (var n = 0u; n < 3u; n++) {
            let square = 1.0 - turn[n][m] * turn[n][m];
            // Parallel edges: their faces say the same.
            if square < 1e-6 {
                continue;
            }
            let n1 = (n + 1u) % 3u;
            let n2 = (n + 2u) % 3u;
            let between = centre[m2] * turn[n][m1] - centre[m1] * turn[n][m2];
            let reaches = half_a[m1] * size[n][m2] + half_a[m2] * size[n][m1]
                + half_b[n1] * size[n2][m] + half_b[n2] * size[n1][m];
            let apart = (abs(between) - reaches) / sqrt(square);
            if apart > pair.reach {
                return none;
            }
            if apart > highest {
                highest = apart;
                edge_i = m;
                edge_j = n;
            }
        }
    }
    if highest > bar {
        best.axis = EDGES;
        best.i = edge_i;
        best.j = edge_j;
    }
    var turn_a = a.turn;
    var turn_b = b.turn;
    var line = turn_a[best.i];
    if best.axis == FACE_B {
        line = turn_b[best.j];
    } else if best.axis == EDGES {
        line = normalize(cross(turn_a[best.i], turn_b[best.j]));
    }
    best.normal = select(line, -line, dot(line, -b.position) < 0.0);
    return best;
}

// An edge along axis `along` of a box, farthest towards a direction, and its number.
struct Edge {
    from_: vec3<f32>,
    to: vec3<f32>,
    id: u32,
}

fn edge_of(place: Place, half: vec3<f32>, along: u32, towards: vec3<f32>) -> Edge {
    let inner = towards * place.turn;
    var middle = select(-half, half, inner >= vec3<f32>(0.0));
    middle[along] = 0.0;
    var arm = vec3<f32>(0.0);
    var whole = half;
    arm[along] = whole[along];
    let bits = select(vec3<u32>(0u), vec3<u32>(1u, 2u, 4u), middle > vec3<f32>(0.0));
    let id = (bits.x | bits.y | bits.z) << 2u | along;
    return Edge(point(place, middle - arm), point(place, middle + arm), id);
}

// Corners of the polygon: coordinates in the plane of the rectangle and the height above it, which corner or
// which two edges meet in it, and which edge leads to the next.
var<private> corner_at: array<vec3<f32>, MOST>;
var<private> corner_id: array<u32, MOST>;
var<private> corner_edge: array<u32, MOST>;
var<private> corners: u32;

const SIDES: u32 = 64u;
const MEETING: u32 = 65536u;

fn add_corner(at: vec3<f32>, id: u32, edge: u32) {
    // Slack can let a thin polygon cross a side more often than twice.
    if corners < MOST {
        corner_at[corners] = at;
        corner_id[corners] = id;
        corner_edge[corners] = edge;
        corners += 1u;
    }
}

// Keeps what is between `-half` and `half` along x (axis 0) or y (axis 1).
fn clip_side(axis: u32, side: u32, half: f32, slack: f32) {
    let sign = select(1.0, -1.0, side == 1u);
    var beyond: array<f32, MOST>;
    var outside = false;
    for (var k = 0u; k < corners; k++) {
        beyond[k] = select(corner_at[k].x, corner_at[k].y, axis == 1u) * sign - half;
        outside = outside || !(beyond[k] <= slack);
    }
    if !outside {
        return;
    }
    let label = SIDES + 2u * axis + side;
    let old_at = corner_at;
    let old_id = corner_id;
    let old_edge = corner_edge;
    var at = old_at;
    var ids = old_id;
    var edges = old_edge;
    let old = corners;
    corners = 0u;
    for (var k = 0u; k < old; k++) {
        let next = (k + 1u) % old;
        let inside = beyond[k] <= slack;
        if inside {
            add_corner(at[k], ids[k], edges[k]);
        }
        if inside != (beyond[next] <= slack) {
            // A corner inside by its slack only is where the edge ends, not where its line meets the side.
            let share = clamp(beyond[k] / (beyond[k] - beyond[next]), 0.0, 1.0);
            let met = at[k] + (at[next] - at[k]) * share;
            let id = MEETING | min(edges[k], label) << 8u | max(edges[k], label);
            add_corner(met, id, select(edges[k], label, inside));
        }
    }
}

// Clips the incident face to the face of the box at `place` across its axis `i`; `inward` is that face's
// normal turned into the box.
fn clip(
    side: u32, place: Place, half_: vec3<f32>, other: Place, other_half_: vec3<f32>,
    i: u32, inward: vec3<f32>, reach: f32, extent: f32,
) {
    var half = half_;
    var other_half = other_half_;
    var axes = place.turn;
    let sign = select(1.0, -1.0, dot(axes[i], inward) > 0.0);
    let u = (i + 1u) % 3u;
    let v = (i + 2u) % 3u;
    // The face of the other box that looks along the direction the most.
    var towards = inward * other.turn;
    let k = first_largest(abs(towards));
    let p = (k + 1u) % 3u;
    let q = (k + 2u) % 3u;
    corners = 0u;
    for (var c = 0u; c < 4u; c++) {
        var corner = other_half;
        corner[k] = select(-corner[k], corner[k], towards[k] >= 0.0);
        corner[p] = select(corner[p], -corner[p], c == 1u || c == 2u);
        corner[q] = select(corner[q], -corner[q], c >= 2u);
        let bits = select(vec3<u32>(0u), vec3<u32>(1u, 2u, 4u), corner > vec3<f32>(0.0));
        var at = local(place, point(other, corner));
        add_corner(vec3<f32>(at[u], at[v], at[i] * sign - half[i]), bits.x | bits.y | bits.z, 0u);
    }
    for (var c = 0u; c < 4u; c++) {
        let next = corner_id[(c + 1u) % 4u];
        corner_edge[c] = min(corner_id[c], next) << 3u | max(corner_id[c], next);
    }
    let slack = SLACK * extent;
    clip_side(0u, 0u, half[u], slack);
    clip_side(0u, 1u, half[u], slack);
    clip_side(1u, 0u, half[v], slack);
    clip_side(1u, 1u, half[v], slack);
    let face = side * 6u + i * 2u + u32(sign > 0.0);
    for (var c = 0u; c < corners; c++) {
        let height = corner_at[c].z;
        if height > reach {
            continue;
        }
        var inner = vec3<f32>(0.0);
        inner[u] = corner_at[c].x;
        inner[v] = corner_at[c].y;
        inner[i] = sign * half[i];
        let reference = point(place, inner);
        let met = reference - inward * height;
        let id = name(CORNER_A, face, corner_id[c]);
        if side == 0u {
            push(reference, met, height, id);
        } else {
            push(met, reference, height, id);
        }
    }
}

@compute @workgroup_size(THREADS)
fn boxes(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if kinds_at(k) != kinds(BOX, BOX) {
        return;
    }
    let pair = pair_at(k);
    let half_a = bodies[pair.a].half;
    let half_b = bodies[pair.b].half;
    let best = separate(pair, half_a, half_b);
    if best.axis == APART {
        return;
    }
    let extent = 2.0 * min(smallest(half_a), smallest(half_b));
    points = 0u;
    if best.axis == EDGES {
        let a = edge_of(pair.place_a, half_a, best.i, -best.normal);
        let b = edge_of(pair.place_b, half_b, best.j, best.normal);
        let closest = segments(a.from_, a.to, b.from_, b.to);
        let gap = dot(best.normal, closest.a - closest.b);
        push(closest.a, closest.b, gap, name(CROSSING, a.id | 256u, b.id));
    } else if best.axis == FACE_A {
        clip(0u, pair.place_a, half_a, pair.place_b, half_b, best.i, best.normal, pair.reach, extent);
    } else {
        clip(1u, pair.place_b, half_b, pair.place_a, half_a, best.j, -best.normal, pair.reach, extent);
    }
    if points == 0u {
        numbers[k] = PASSING;
        return;
    }
    finish(k, pair, best.normal);
}
