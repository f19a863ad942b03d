// How much mass hangs or rests on each node's links to what holds it: the shares of crates/model/src/supported.rs,
// by rounds in which every node asks its neighbours. Depths and loads spread by one link per round.

//#use graph/pairs.wgsl
//#use graph/carried.wgsl

const UNREACHED: u32 = 0xffffffffu;

@group(0) @binding(5) var<storage, read> carry: array<Carry>;
@group(0) @binding(6) var<storage, read_write> carry_out: array<Carry>;
// Masses of the nodes that forces move [kg].
@group(0) @binding(7) var<storage, read> masses: array<f32>;
// Nodes at the other ends of the links that hold, node by node.
@group(0) @binding(8) var<storage, read> holds: array<u32>;
@group(0) @binding(9) var<storage, read> hold_starts: array<u32>;

struct Around {
    last: u32,
    nearest: u32,
    before: u32,
    load: f32,
}

fn depth_of(n: u32) -> u32 {
    if n >= size.moving {
        return 0u;
    }
    return carry[n].depth;
}

// Links of one pair follow each other.
fn meet(around: ptr<function, Around>, own: u32, other: u32) {
    if other == (*around).last {
        return;
    }
    (*around).last = other;
    let depth = depth_of(other);
    (*around).nearest = min((*around).nearest, depth);
    if depth < own {
        (*around).before += 1u;
    } else if depth > own && depth != UNREACHED {
        (*around).load += carry[other].share;
    }
}

@compute @workgroup_size(THREADS)
fn spread(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n >= size.moving {
        return;
    }
    let own = carry[n].depth;
    var around = Around(UNREACHED, UNREACHED, 0u, masses[n]);
    for (var i = hold_starts[n]; i < hold_starts[n + 1u]; i++) {
        meet(&around, own, holds[i]);
    }
    for (var i = end_starts[n]; i < end_starts[n + 1u]; i++) {
        meet(&around, own, across(ends[i]));
    }
    var depth = UNREACHED;
    // What is no longer held by anything moves away from it without end.
    if around.nearest < size.nodes {
        depth = around.nearest + 1u;
    }
    let share = select(around.load / f32(max(around.before, 1u)), 0.0, own == UNREACHED);
    carry_out[n] = Carry(depth, share);
}

@compute @workgroup_size(THREADS)
fn forget(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n < size.moving {
        carry_out[n] = Carry(UNREACHED, 0.0);
    }
}
