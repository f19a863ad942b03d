// What all kinds of pairs have in common: points in the making, those that matter in this step, the few that
// are kept, and where they go. Twins: crates/collide/src/narrow.rs, crates/collide/src/reduce.rs.

//#use collide/world.wgsl

// Sorts of points, as in crates/collide/src/region.rs.
const CORNER_A: u32 = 0u;
const CORNER_B: u32 = 1u;
const CROSSING: u32 = 2u;
const CLOSEST: u32 = 3u;
const LINE: u32 = 4u;

// Sorted pairs: the lower index, and where the higher one is in `highs`.
@group(0) @binding(3) var<storage, read> pair_keys: array<u32>;
@group(0) @binding(4) var<storage, read> slots: array<u32>;
@group(0) @binding(5) var<storage, read> highs: array<u32>;
@group(0) @binding(6) var<storage, read_write> found: array<Found>;
@group(0) @binding(7) var<storage, read_write> near_found: array<Near>;
// The last member is the feature.
@group(0) @binding(8) var<storage, read_write> far_found: array<Far>;
// How many manifolds each pair has; after a scan, where they go.
@group(0) @binding(9) var<storage, read_write> numbers: array<u32>;

const MOST: u32 = 8u;
// `numbers` of box pairs that are close, but pass each other, until somebody treats them.
const PASSING: u32 = 2u;

// Points of contact with world axes and A's position as origin, so that precision does not depend on where
// the pair is; with B's position where A is a half-space or a surface, which may be far away.
var<private> points_a: array<vec3<f32>, MOST>;
var<private> points_b: array<vec3<f32>, MOST>;
var<private> gaps: array<f32, MOST>;
var<private> names: array<u32, MOST>;
var<private> points: u32;
// Order of the points that are kept.
var<private> kept: array<u32, LANES>;

struct Pair {
    a: u32,
    b: u32,
    // How far apart surfaces may be to matter [m].
    reach: f32,
    place_a: Place,
    place_b: Place,
    // Smaller of the sizes [m].
    size: f32,
}

const NO_KINDS: u32 = 0xffffffffu;

// Both kinds in one number.
fn kinds(a: u32, b: u32) -> u32 {
    return a * 8u + b;
}

fn name(sort: u32, a: u32, b: u32) -> u32 {
    return sort << 29u | a << 18u | b;
}

fn push(a: vec3<f32>, b: vec3<f32>, gap: f32, id: u32) {
    if points < MOST {
        points_a[points] = a;
        points_b[points] = b;
        gaps[points] = gap;
        names[points] = id;
        points += 1u;
    }
}

// Takes A for B.
fn flip(first: u32) {
    for (var i = first; i < points; i++) {
        let a = points_a[i];
        points_a[i] = points_b[i];
        points_b[i] = a;
    }
}

fn swing(speed: f32, own: f32, other: f32, apart: f32) -> f32 {
    // No point of an infinite body is of interest beyond the far side of the other.
    let arm = select(own, apart + other, own < 0.0);
    if speed > 0.0 {
        return speed * arm;
    }
    return 0.0;
}

// The kinds of pair `k` of all pairs: as the digits of a number, or none where there is no pair.
fn kinds_at(k: u32) -> u32 {
    if k >= task.pairs_room || pair_keys[k] >= task.bodies {
        return NO_KINDS;
    }
    return kinds(bodies[pair_keys[k]].kind, bodies[highs[slots[k]]].kind);
}

// Pair `k`, which is one.
fn pair_at(k: u32) -> Pair {
    var pair: Pair;
    pair.a = pair_keys[k];
    pair.b = highs[slots[k]];
    let a = pair.a;
    let b = pair.b;
    pair.size = min(bodies[a].size, bodies[b].size);
    let pose_a = poses[a];
    let pose_b = poses[b];
    let between = pose_b.position - pose_a.position;
    pair.place_a = Place(vec3<f32>(0.0), rotation(pose_a.rotation));
    pair.place_b = Place(between, rotation(pose_b.rotation));
    if bodies[a].kind >= PLANE {
        pair.place_a.position = -between;
        pair.place_b.position = vec3<f32>(0.0);
    }
    let distance = length(between);
    let approach = length(pose_a.velocity - pose_b.velocity)
        + swing(length(pose_a.omega), bodies[a].reach, bodies[b].reach, distance)
        + swing(length(pose_b.omega), bodies[b].reach, bodies[a].reach, distance);
    pair.reach = task.margin + approach * task.dt;
    return pair;
}

// Drops the points that the step cannot bring into touch: those farther than the margin and what they
// approach along the normal.
fn drop_distant(pair: Pair, normal: vec3<f32>) {
    let pose_a = poses[pair.a];
    let pose_b = poses[pair.b];
    var left = 0u;
    for (var i = 0u; i < points; i++) {
        let arm_a = points_a[i] - pair.place_a.position;
        let speed_a = pose_a.velocity + cross(pose_a.omega, arm_a);
        let arm_b = points_b[i] - pair.place_b.position;
        let speed_b = pose_b.velocity + cross(pose_b.omega, arm_b);
        let closing = max(dot(normal, speed_b - speed_a), 0.0);
        if gaps[i] <= task.margin + closing * task.dt {
            points_a[left] = points_a[i];
            points_b[left] = points_b[i];
            gaps[left] = gaps[i];
            names[left] = names[i];
            left += 1u;
        }
    }
    points = left;
}

// Points deeper than the others by less than this share of the size are not preferred.
const LEVEL: f32 = 1e-3;
// By how much a later candidate must be better. More than on the CPU: below it is rounding.
const TIE: f32 = 1.00001;

// What the choice of a point compares: its side of A, flattened along the normal from another point's.
fn flat(normal: vec3<f32>, p: vec3<f32>, q: vec3<f32>) -> vec3<f32> {
    let between = p - q;
    return between - normal * dot(normal, between);
}

// How much point `p` adds to those kept so far.
fn score(normal: vec3<f32>, chosen: array<vec3<f32>, LANES>, count: u32, p: vec3<f32>) -> f32 {
    let a = chosen[0];
    let b = chosen[1];
    let c = chosen[2];
    if count == 2u {
        return length(cross(flat(normal, p, a), flat(normal, p, b)));
    }
    if count == 3u {
        // What a fourth corner adds is the triangle beyond the edge that it is outside of.
        let area = dot(cross(flat(normal, b, a), flat(normal, c, a)), normal);
        let turn = select(-1.0, 1.0, area >= 0.0);
        let ab = -dot(cross(flat(normal, a, p), flat(normal, b, p)), normal) * turn;
        let bc = -dot(cross(flat(normal, b, p), flat(normal, c, p)), normal) * turn;
        let ca = -dot(cross(flat(normal, c, p), flat(normal, a, p)), normal) * turn;
        return max(max(ab, bc), ca);
    }
    let between = flat(normal, p, a);
    return dot(between, between);
}

fn is_better(found: bool, score: f32, highest: f32) -> bool {
    return !found || (score > highest && (score > highest * TIE || highest <= 0.0));
}

// A direction that is fixed to A, and along no edge of anything usual.
fn forward(place: Place) -> vec3<f32> {
    return place.turn * vec3<f32>(0.62, 0.55, 0.56);
}

// Chooses what is kept: the deepest, and those that span the largest area. Says how many they are.
fn reduce(pair: Pair, normal: vec3<f32>) -> u32 {
    if points <= task.points_max {
        for (var i = 0u; i < points; i++) {
            kept[i] = i;
        }
        return points;
    }
    let along = forward(pair.place_a);
    var deepest = HUGE;
    for (var i = 0u; i < points; i++) {
        deepest = min(deepest, gaps[i]);
    }
    let level = select(LEVEL * pair.size, 0.0, task.points_max == 1u);
    var chosen: array<vec3<f32>, LANES>;
    var used = 0u;
    var count = 0u;
    while count < task.points_max {
        var best = 0u;
        var highest = 0.0;
        var any_ = false;
        for (var i = 0u; i < points; i++) {
            if (used >> i & 1u) == 1u || (count == 0u && gaps[i] > deepest + level) {
                continue;
            }
            var value = 0.0;
            if count == 0u {
                value = dot(points_a[i] - points_a[0], along);
            } else {
                value = score(normal, chosen, count, points_a[i]);
            }
            if is_better(any_, value, highest) {
                best = i;
                highest = value;
                any_ = true;
            }
        }
        if !any_ {
            break;
        }
        used |= 1u << best;
        chosen[count] = points_a[best];
        kept[count] = best;
        count += 1u;
    }
    return count;
}

// Ends a pair without triangles: writes what matters of its points.
fn finish(k: u32, pair: Pair, normal: vec3<f32>) {
    drop_distant(pair, normal);
    let count = reduce(pair, normal);
    numbers[k] = u32(count > 0u);
    found[k] = Found(normal, count);
    for (var i = 0u; i < count; i++) {
        let p = kept[i];
        near_found[LANES * k + i] = Near(local(pair.place_a, points_a[p]), gaps[p]);
        far_found[LANES * k + i] = Far(local(pair.place_b, points_b[p]), names[p]);
    }
}
