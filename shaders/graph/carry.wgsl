// How much mass hangs or rests on each node's links to what holds it: the shares of crates/model/src/supported.rs,
// by rounds in which every node asks its neighbours. Depths and loads spread by one link per round.
//
// Depths lag behind links that come and go, and where nothing holds nodes any more they rise without end, now on one
// side of a link and now on the other. Mass must not be handed to and fro there and counted anew each time. So only
// nodes whose depths have stayed in the last round give and take: of two such neighbours one is deeper by one at
// most, gives its load in as many shares as nodes were before it, and no others take one. With every round mass comes
// one link nearer to what holds it or is dropped, and where depths change it is too little, not too much.

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

fn look_around(n: u32) -> Around {
    let own = carry[n].depth;
    var around = Around(UNREACHED, UNREACHED, 0u, 0.0);
    for (var i = hold_starts[n]; i < hold_starts[n + 1u]; i++) {
        meet(&around, own, holds[i]);
    }
    for (var i = end_starts[n]; i < end_starts[n + 1u]; i++) {
        meet(&around, own, across(ends[i]));
    }
    return around;
}

// What a node is to carry: `load`, if its depth stays as it is.
fn carry_on(n: u32, around: Around, load: f32) {
    var depth = UNREACHED;
    // What is no longer held by anything moves away from it without end.
    if around.nearest < size.nodes {
        depth = around.nearest + 1u;
    }
    if depth == carry[n].depth && depth != UNREACHED {
        carry_out[n] = Carry(depth, load, load / f32(around.before));
    } else {
        carry_out[n] = Carry(depth, 0.0, 0.0);
    }
}

// The first round over new pairs. Shares were made for the neighbours of the step before, so none is taken yet.
@compute @workgroup_size(THREADS)
fn share(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n < size.moving {
        carry_on(n, look_around(n), max(carry[n].load, masses[n]));
    }
}

@compute @workgroup_size(THREADS)
fn spread(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n < size.moving {
        let around = look_around(n);
        let taken = select(0.0, around.load, carry[n].share > 0.0);
        carry_on(n, around, masses[n] + taken);
    }
}

@compute @workgroup_size(THREADS)
fn forget(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n < size.moving {
        carry_out[n] = Carry(UNREACHED, 0.0, 0.0);
    }
}
