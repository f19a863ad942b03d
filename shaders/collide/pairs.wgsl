// Which bodies are close. Every pair is found once, by the body that comes first in the order of the keys:
// it looks only at those behind it, so that a large body does not look at all the small ones.

//#use collide/world.wgsl

// A body that a joint keeps from touching, and the joint.
struct Joined {
    other: u32,
    joint: u32,
}

@group(0) @binding(3) var<storage, read> nodes: array<Node>;
@group(0) @binding(4) var<storage, read> planes: array<u32>;
@group(0) @binding(5) var<storage, read> joined: array<Joined>;
@group(0) @binding(6) var<storage, read> broken: array<u32>;
// How many pairs each body has found; after a scan, where they go.
@group(0) @binding(7) var<storage, read_write> starts: array<u32>;
@group(0) @binding(8) var<storage, read_write> lows: array<u32>;
@group(0) @binding(9) var<storage, read_write> highs: array<u32>;
@group(0) @binding(10) var<storage, read_write> pair_keys: array<u32>;
@group(0) @binding(11) var<storage, read_write> slots: array<u32>;
@group(0) @binding(12) var<storage, read> pairs_total: array<u32>;
@group(0) @binding(13) var<storage, read_write> counts: Counts;

// As in collide/bounds.wgsl [m].
const ROUNDING: f32 = 1e-6;

var<private> found: u32;
var<private> filling: bool;

fn allowed(a: u32, b: u32) -> bool {
    if bodies[a].dynamic == 0u && bodies[b].dynamic == 0u {
        return false;
    }
    if bodies[a].group != 0u && bodies[a].group == bodies[b].group {
        return false;
    }
    for (var k = bodies[a].joined_first; k < bodies[a].joined_last; k++) {
        if joined[k].other == b && broken[joined[k].joint] == 0u {
            return false;
        }
    }
    return true;
}

fn take(i: u32, j: u32) {
    let low = min(i, j);
    let high = max(i, j);
    if !allowed(low, high) {
        return;
    }
    if filling && found < task.pairs_room {
        lows[found] = low;
        highs[found] = high;
        pair_keys[found] = high;
    }
    found += 1u;
}

fn meets_plane(i: u32, node: Node, plane: u32) -> bool {
    let pose = poses[plane];
    let normal = rotation(pose.rotation)[2];
    let half = (node.high - node.low) * 0.5;
    let arm = (node.low + node.high) * 0.5 - pose.position;
    let height = dot(normal, arm) - dot(abs(normal), half);
    let turn = length(pose.omega) * task.dt * (length(arm) + length(half));
    let rounding = ROUNDING * (1.0 + largest(abs(pose.position)) + largest(abs(arm)));
    return height <= task.margin + rounding + length(pose.velocity) * task.dt + turn;
}

// Pairs of the body at place `p` with those behind it and with half-spaces.
fn look(p: u32) {
    let own = nodes[p];
    if own.low.x > own.high.x {
        return;
    }
    var first = 0u;
    var count = task.bodies;
    var level = 0u;
    var q = p + 1u;
    loop {
        if q >= count {
            break;
        }
        // What begins a node is seen from the node.
        while q % 4u == 0u && count > 1u {
            first += count;
            count = (count + 3u) / 4u;
            level += 1u;
            q = q / 4u;
        }
        if q >= count {
            break;
        }
        // Down to the first leaf, as long as boxes overlap.
        loop {
            let node = nodes[first + q];
            let overlap = all(node.low <= own.high) && all(own.low <= node.high);
            if overlap && level > 0u {
                level -= 1u;
                count = task.bodies;
                first = 0u;
                for (var k = 0u; k < level; k++) {
                    first += count;
                    count = (count + 3u) / 4u;
                }
                q = q * 4u;
                continue;
            }
            if overlap {
                take(own.body, node.body);
            }
            q += 1u;
            break;
        }
    }
    for (var k = 0u; k < task.planes; k++) {
        if meets_plane(own.body, own, planes[k]) {
            take(own.body, planes[k]);
        }
    }
}

@compute @workgroup_size(THREADS)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let p = thread_index(group, groups, THREADS, lane);
    if p < task.bodies {
        found = 0u;
        filling = false;
        look(p);
        starts[p] = found;
    }
}

@compute @workgroup_size(THREADS)
fn fill(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let p = thread_index(group, groups, THREADS, lane);
    if p < task.bodies {
        found = starts[p];
        filling = true;
        look(p);
    }
}

// No pair anywhere; these sort behind all others.
@compute @workgroup_size(THREADS)
fn blank(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if k == 0u {
        let needed = pairs_total[0];
        counts = Counts(0u, u32(needed > task.pairs_room), needed, 0u, 0u, 0u, 0u, 0u);
    }
    if k < task.pairs_room {
        lows[k] = task.bodies;
        highs[k] = task.bodies;
        pair_keys[k] = task.bodies;
        slots[k] = k;
    }
}

// Keys for the second sort.
@compute @workgroup_size(THREADS)
fn regroup(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    if k < task.pairs_room {
        pair_keys[k] = lows[slots[k]];
    }
}
