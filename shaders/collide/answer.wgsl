// From what was found of each pair to the answer, and what of it continues the answer before. Twin of the
// latter: crates/collide/src/matching.rs.

//#use collide/world.wgsl

@group(0) @binding(3) var<storage, read> pair_keys: array<u32>;
@group(0) @binding(4) var<storage, read> slots: array<u32>;
@group(0) @binding(5) var<storage, read> highs: array<u32>;
@group(0) @binding(6) var<storage, read> found: array<Found>;
@group(0) @binding(7) var<storage, read> near_found: array<Near>;
@group(0) @binding(8) var<storage, read> far_found: array<Far>;
// Where the manifolds of each pair go, and how many there are.
@group(0) @binding(9) var<storage, read> numbers: array<u32>;
@group(0) @binding(10) var<storage, read> manifolds_total: array<u32>;
@group(0) @binding(11) var<storage, read_write> counts: Counts;
@group(0) @binding(12) var<storage, read_write> groups_out: array<u32>;
@group(0) @binding(13) var<storage, read_write> manifolds: array<Manifold>;
@group(0) @binding(14) var<storage, read_write> near: array<Near>;
@group(0) @binding(15) var<storage, read_write> far: array<Far>;
@group(0) @binding(16) var<storage, read_write> features: array<vec2<u32>>;
@group(0) @binding(17) var<storage, read> counts_before: Counts;
@group(0) @binding(18) var<storage, read> manifolds_before: array<Manifold>;
@group(0) @binding(19) var<storage, read> near_before: array<Near>;
@group(0) @binding(20) var<storage, read> features_before: array<vec2<u32>>;
// Which points of each manifold before are continued already.
@group(0) @binding(21) var<storage, read_write> taken: array<u32>;

// Points that carry no known feature continue the nearest old one within this share of the pair's size.
const NEAR_SHARE: f32 = 0.05;
// Least cosine between the normals of contacts that continue each other without a common feature.
const ALIKE: f32 = 0.7;

@compute @workgroup_size(1)
fn admit() {
    let needed = manifolds_total[0];
    if needed > task.manifolds_room {
        counts.short |= 2u;
    }
    counts.manifolds_needed = needed;
    counts.manifolds = select(needed, 0u, counts.short != 0u);
    groups_out[0] = (counts.manifolds + THREADS - 1u) / THREADS;
    groups_out[1] = 1u;
    groups_out[2] = 1u;
}

@compute @workgroup_size(THREADS)
fn emit(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if k >= task.pairs_room || counts.short != 0u {
        return;
    }
    let a = pair_keys[k];
    let m = numbers[k];
    var next = counts.manifolds;
    if k + 1u < task.pairs_room {
        next = numbers[k + 1u];
    }
    if a >= task.bodies || m == next {
        return;
    }
    let b = highs[slots[k]];
    // Those of surfaces of triangles are elsewhere.
    if bodies[a].kind == MESH || bodies[b].kind == MESH {
        return;
    }
    manifolds[m] = manifold_of(a, b, found[k].normal, found[k].count);
    for (var i = 0u; i < found[k].count; i++) {
        let from_ = far_found[LANES * k + i];
        near[LANES * m + i] = near_found[LANES * k + i];
        far[LANES * m + i] = Far(from_.anchor, NONE);
        features[LANES * m + i] = vec2<u32>(from_.previous, 0u);
    }
}

fn is_before(m: u32, a: u32, b: u32) -> bool {
    let other = manifolds_before[m];
    return other.a < a || (other.a == a && other.b < b);
}

// The first manifold before that is not of an earlier pair.
fn first_before(a: u32, b: u32) -> u32 {
    var low = 0u;
    var high = counts_before.manifolds;
    while low < high {
        let middle = (low + high) / 2u;
        if is_before(middle, a, b) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

fn is_of(m: u32, a: u32, b: u32) -> bool {
    return manifolds_before[m].a == a && manifolds_before[m].b == b;
}

// The place of an old point with this feature that nothing continues yet.
fn same_feature(first: u32, last: u32, feature: vec2<u32>) -> u32 {
    for (var m = first; m < last; m++) {
        for (var i = 0u; i < manifolds_before[m].count; i++) {
            let place = LANES * m + i;
            if (taken[m] >> i & 1u) == 0u && all(features_before[place] == feature) {
                return place;
            }
        }
    }
    return NONE;
}

fn nearest_point(first: u32, last: u32, anchor: vec3<f32>, normal: vec3<f32>, size: f32) -> u32 {
    var best = NONE;
    var least = (NEAR_SHARE * size) * (NEAR_SHARE * size);
    for (var m = first; m < last; m++) {
        if dot(manifolds_before[m].normal, normal) <= ALIKE {
            continue;
        }
        for (var i = 0u; i < manifolds_before[m].count; i++) {
            let place = LANES * m + i;
            let between = near_before[place].anchor - anchor;
            let square = dot(between, between);
            if (taken[m] >> i & 1u) == 0u && square < least {
                best = place;
                least = square;
            }
        }
    }
    return best;
}

fn continue_(place: u32, old: u32) {
    if old != NONE {
        taken[old / LANES] |= 1u << (old % LANES);
        far[place].previous = old;
    }
}

// One thread treats all manifolds of a pair, so that nobody else takes its old points.
@compute @workgroup_size(THREADS)
fn look_back(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let m = thread_index(group, groups, THREADS, lane);
    if m >= counts.manifolds {
        return;
    }
    let a = manifolds[m].a;
    let b = manifolds[m].b;
    if m > 0u && manifolds[m - 1u].a == a && manifolds[m - 1u].b == b {
        return;
    }
    let first = first_before(a, b);
    var last = first;
    while last < counts_before.manifolds && is_of(last, a, b) {
        last += 1u;
    }
    if first == last {
        return;
    }
    var end = m + 1u;
    while end < counts.manifolds && manifolds[end].a == a && manifolds[end].b == b {
        end += 1u;
    }
    for (var n = m; n < end; n++) {
        for (var i = 0u; i < manifolds[n].count; i++) {
            let place = LANES * n + i;
            continue_(place, same_feature(first, last, features[place]));
        }
    }
    let size = min(bodies[a].size, bodies[b].size);
    for (var n = m; n < end; n++) {
        for (var i = 0u; i < manifolds[n].count; i++) {
            let place = LANES * n + i;
            if far[place].previous == NONE {
                let anchor = near[place].anchor;
                continue_(place, nearest_point(first, last, anchor, manifolds[n].normal, size));
            }
        }
    }
}
