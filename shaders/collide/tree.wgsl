// A tree over boxes in the order of their keys: four to a node, level by level, without pointers.

//#use shared/index.wgsl

struct Node {
    low: vec3<f32>,
    body: u32,
    high: vec3<f32>,
    pad: u32,
}

// Where a level's nodes are, and those of the level below.
struct Level {
    first: u32,
    count: u32,
    first_below: u32,
    count_below: u32,
}

@group(0) @binding(0) var<uniform> level: Level;
@group(0) @binding(1) var<storage, read> boxes: array<Node>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> nodes: array<Node>;

const THREADS: u32 = 64u;

@compute @workgroup_size(THREADS)
fn leaves(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let p = thread_index(group, groups, THREADS, lane);
    if p < level.count {
        nodes[p] = boxes[order[p]];
    }
}

@compute @workgroup_size(THREADS)
fn gather(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let q = thread_index(group, groups, THREADS, lane);
    if q >= level.count {
        return;
    }
    let first = level.first_below + 4u * q;
    let last = min(first + 4u, level.first_below + level.count_below);
    var low = nodes[first].low;
    var high = nodes[first].high;
    for (var k = first + 1u; k < last; k++) {
        low = min(low, nodes[k].low);
        high = max(high, nodes[k].high);
    }
    nodes[level.first + q] = Node(low, 0u, high, 0u);
}
