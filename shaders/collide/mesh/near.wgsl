// Which triangles of a surface are near a solid. Twin: `near` in crates/collide/src/mesh.rs.

//#use collide/mesh/types.wgsl

// Boxes are larger by this share of the distance from the surface's origin.
const ROUNDING: f32 = 1e-6;

var<private> met: u32;
var<private> filling: bool;

// Visits the triangles whose boxes overlap that of the solid `s` at `place`, on the surface `m` at `own`.
fn visit(k: u32, s: u32, place: Place, m: u32, own: Place, reach: f32) {
    let centre = local(own, place.position);
    let half = bodies[s].half;
    let x = abs(place.turn[0] * own.turn);
    let y = abs(place.turn[1] * own.turn);
    let z = abs(place.turn[2] * own.turn);
    let pad = bodies[s].round + reach + ROUNDING * (1.0 + largest(abs(centre)));
    let extent = x * half.x + y * half.y + z * half.z + vec3<f32>(pad);
    let low = centre - extent;
    let high = centre + extent;
    let leaves = bodies[m].triangle_count;
    // From the root down, as collide/pairs.wgsl does from a leaf.
    var level = 0u;
    var first = bodies[m].mesh;
    var count = leaves;
    while count > 1u {
        first += count;
        count = (count + 3u) / 4u;
        level += 1u;
    }
    var q = 0u;
    loop {
        if q >= count {
            break;
        }
        let node = mesh_nodes[first + q];
        let overlap = all(node.low <= high) && all(low <= node.high);
        if overlap && level > 0u {
            level -= 1u;
            count = leaves;
            first = bodies[m].mesh;
            for (var l = 0u; l < level; l++) {
                first += count;
                count = (count + 3u) / 4u;
            }
            q = q * 4u;
            continue;
        }
        if overlap {
            if filling && met < task.triangles_room {
                found_meetings[met] = vec2<u32>(k, node.body);
            }
            met += 1u;
        }
        q += 1u;
        while q % 4u == 0u && count > 1u {
            first += count;
            count = (count + 3u) / 4u;
            level += 1u;
            q = q / 4u;
        }
    }
}

fn look(k: u32, pair: Pair) {
    if bodies[pair.a].kind == MESH {
        visit(k, pair.b, pair.place_b, pair.a, pair.place_a, pair.reach);
    } else {
        visit(k, pair.a, pair.place_a, pair.b, pair.place_b, pair.reach);
    }
}

@compute @workgroup_size(THREADS)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if k >= task.pairs_room {
        return;
    }
    met = 0u;
    filling = false;
    if is_mesh(k) {
        look(k, pair_at(k));
    }
    meeting_starts[k] = met;
}

@compute @workgroup_size(THREADS)
fn fill(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if k == 0u {
        counts.triangles_needed = meetings_total[0];
        if meetings_total[0] > task.triangles_room {
            counts.short |= 4u;
        }
    }
    if k >= task.pairs_room {
        return;
    }
    let range = meetings_of(k);
    if range.x == range.y {
        return;
    }
    met = range.x;
    filling = true;
    look(k, pair_at(k));
}

// Puts the triangles of each pair in the order of their numbers, whatever that of the tree.
@compute @workgroup_size(THREADS)
fn arrange(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c = thread_index(group, groups, THREADS, lane);
    if c >= min(meetings_total[0], task.triangles_room) {
        return;
    }
    let own = found_meetings[c];
    let range = meetings_of(own.x);
    var place = range.x;
    for (var d = range.x; d < range.y; d++) {
        place += u32(found_meetings[d].y < own.y);
    }
    meetings[place] = own;
}
