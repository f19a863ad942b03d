// Patches of triangles that form one surface are joined, and reduced. A thread looks at all triangles of one
// pair at most, and not at all pairs of them: software Vulkan ends a thread's loops after 65535 turns. Twins: `merge` in
// crates/collide/src/narrow.rs, crates/collide/src/reduce.rs.

//#use collide/mesh/types.wgsl

@group(0) @binding(21) var<storage, read_write> manifolds: array<Manifold>;
@group(0) @binding(22) var<storage, read_write> near: array<Near>;
@group(0) @binding(23) var<storage, read_write> far: array<Far>;
@group(0) @binding(24) var<storage, read_write> features: array<vec2<u32>>;

// Patches whose normals differ by less are one [1 - cosine]; about a milliradian.
const SAME_NORMAL: f32 = 5e-7;
// Points of different triangles closer than this share of the size are one.
const SAME_POINT: f32 = 1e-4;

fn size_of(c: u32) -> u32 {
    return patches[c].count & (PATCH - 1u);
}

fn are_alike(c: u32, d: u32) -> bool {
    let turn = patches[c].normal - patches[d].normal;
    return patches[c].count != 0u && patches[d].count != 0u && 0.5 * dot(turn, turn) < SAME_NORMAL;
}

fn has_earlier(c: u32, first: u32) -> bool {
    for (var d = first; d < c; d++) {
        if are_alike(c, d) {
            return true;
        }
    }
    return false;
}

// Finds the first patch with each patch's normal, of those that none before is like.
@compute @workgroup_size(THREADS)
fn find_first(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c = thread_index(group, groups, THREADS, lane);
    if c >= min(meetings_total[0], task.triangles_room) {
        return;
    }
    firsts[c] = NONE;
    if patches[c].count == 0u {
        return;
    }
    let range = meetings_of(meetings[c].x);
    var first = c;
    for (var d = range.x; d < c; d++) {
        if are_alike(c, d) && !has_earlier(d, range.x) {
            first = d;
            break;
        }
    }
    firsts[c] = first;
}

// Whether a point of the patch from `first` on comes before point `i` of triangle `c` and is at the same place.
fn is_double(first: u32, c: u32, i: u32, near_: f32) -> bool {
    let a = patch_near[MOST * c + i].anchor;
    for (var d = first; d <= c; d++) {
        if firsts[d] != first {
            continue;
        }
        let last = select(size_of(d), i, d == c);
        for (var j = 0u; j < last; j++) {
            let between = patch_near[MOST * d + j].anchor - a;
            if dot(between, between) <= near_ {
                return true;
            }
        }
    }
    return false;
}

// Marks the points that others of their patch have already, and measures all along the patch's normal.
@compute @workgroup_size(THREADS)
fn mark_doubles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c = thread_index(group, groups, THREADS, lane);
    if c >= min(meetings_total[0], task.triangles_room) || firsts[c] == NONE {
        return;
    }
    let first = firsts[c];
    let size = SAME_POINT * pair_at(meetings[c].x).size;
    var bits = 0u;
    for (var i = 0u; i < size_of(c); i++) {
        let place = MOST * c + i;
        let between = patch_near[place].anchor - patch_far[place].anchor;
        patch_near[place].gap = dot(patches[first].normal, between);
        bits |= u32(is_double(first, c, i, size * size)) << i;
    }
    doubles[c] = bits;
}

// Places and triangles of the points to keep.
var<private> chosen_places: array<u32, LANES>;
var<private> chosen_triangles: array<u32, LANES>;

fn is_kept(first: u32, c: u32, i: u32) -> bool {
    return firsts[c] == first && (doubles[c] >> i & 1u) == 0u;
}

// As `reduce` in collide/touch.wgsl, over all triangles of the patch.
fn choose_points(first: u32, end: u32, pair: Pair) -> u32 {
    let normal = patches[first].normal;
    let forward_ = forward(pair.place_a);
    var deepest = HUGE;
    var start = vec3<f32>(0.0);
    var count = 0u;
    for (var c = first; c < end; c++) {
        for (var i = 0u; i < size_of(c); i++) {
            if is_kept(first, c, i) {
                let it = patch_near[MOST * c + i];
                start = select(start, it.anchor, count == 0u);
                deepest = min(deepest, it.gap);
                count += 1u;
            }
        }
    }
    let all_ = count <= task.points_max;
    let level = select(LEVEL * pair.size, 0.0, task.points_max == 1u);
    var chosen: array<vec3<f32>, LANES>;
    var taken = 0u;
    while taken < min(count, task.points_max) {
        var best = NONE;
        var triangle = 0u;
        var highest = 0.0;
        for (var c = first; c < end; c++) {
            for (var i = 0u; i < size_of(c); i++) {
                let place = MOST * c + i;
                let it = patch_near[place];
                if !is_kept(first, c, i) || is_chosen(place, taken) {
                    continue;
                }
                if !all_ && taken == 0u && it.gap > deepest + level {
                    continue;
                }
                var value = 0.0;
                if taken == 0u {
                    value = dot(it.anchor - start, forward_);
                } else {
                    value = score(normal, chosen, taken, it.anchor);
                }
                // All of a few are kept in their order.
                if best == NONE || (!all_ && is_better(true, value, highest)) {
                    best = place;
                    triangle = meetings[c].y;
                    highest = value;
                }
            }
        }
        if best == NONE {
            break;
        }
        chosen[taken] = patch_near[best].anchor;
        chosen_places[taken] = best;
        chosen_triangles[taken] = triangle;
        taken += 1u;
    }
    return taken;
}

fn is_chosen(place: u32, taken: u32) -> bool {
    var result = false;
    for (var n = 0u; n < taken; n++) {
        result = result || chosen_places[n] == place;
    }
    return result;
}

// Writes what is kept of a patch to the places of its first triangle, in the frames of the bodies.
fn keep_chosen(first: u32, pair: Pair, count: u32) {
    var anchors_a: array<vec3<f32>, LANES>;
    var anchors_b: array<vec3<f32>, LANES>;
    var distances: array<f32, LANES>;
    var ids: array<u32, LANES>;
    for (var i = 0u; i < count; i++) {
        let place = chosen_places[i];
        anchors_a[i] = local(pair.place_a, patch_near[place].anchor);
        anchors_b[i] = local(pair.place_b, patch_far[place].anchor);
        distances[i] = patch_near[place].gap;
        ids[i] = patch_far[place].previous;
    }
    for (var i = 0u; i < count; i++) {
        patch_near[MOST * first + i] = Near(anchors_a[i], distances[i]);
        patch_far[MOST * first + i] = Far(anchors_b[i], ids[i]);
        patch_triangles[LANES * first + i] = chosen_triangles[i];
    }
}

// Reduces the patch of each first triangle.
@compute @workgroup_size(THREADS)
fn choose(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c = thread_index(group, groups, THREADS, lane);
    if c >= min(meetings_total[0], task.triangles_room) || firsts[c] != c {
        return;
    }
    let k = meetings[c].x;
    let pair = pair_at(k);
    let count = choose_points(c, meetings_of(k).y, pair);
    keep_chosen(c, pair, count);
    patches[c].count = PATCH | count;
}

// Counts the manifolds of each pair.
@compute @workgroup_size(THREADS)
fn number(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if k >= task.pairs_room {
        return;
    }
    let range = meetings_of(k);
    var count = 0u;
    for (var c = range.x; c < range.y; c++) {
        count += u32(firsts[c] == c && size_of(c) > 0u);
    }
    if count > 0u {
        numbers[k] = count;
    }
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
    let range = meetings_of(k);
    var m = numbers[k];
    for (var c = range.x; c < range.y; c++) {
        let count = size_of(c);
        if firsts[c] != c || count == 0u {
            continue;
        }
        manifolds[m] = manifold_of(pair_keys[k], highs[slots[k]], patches[c].normal, count);
        for (var i = 0u; i < count; i++) {
            let from_ = patch_far[MOST * c + i];
            near[LANES * m + i] = patch_near[MOST * c + i];
            far[LANES * m + i] = Far(from_.anchor, NONE);
            let triangle = patch_triangles[LANES * c + i];
            features[LANES * m + i] = vec2<u32>(from_.previous, triangle + 1u);
        }
        m += 1u;
    }
}
