// Colours by hashed priorities, as crates/model/src/colour.rs gives them: in each round every uncoloured node
// whose uncoloured neighbours all come after it takes the smallest colour that those before it have left. Threads
// may see a neighbour's colour a round early; that changes when a node is coloured, but not how.

//#use graph/pairs.wgsl

const UNCOLOURED: u32 = 0xffffffffu;
// The last group of the sort, for all colours from this one on.
const MIXED: u32 = 254u;
// Colours that get a dispatch of their own.
const DISPATCHED: u32 = 16u;
const WIDEST: u32 = 65535u;

@group(0) @binding(5) var<storage, read_write> colours: array<atomic<u32>>;
// Places of the nodes in the order of falling priority.
@group(0) @binding(6) var<storage, read> ranks: array<u32>;
// How many nodes have no colour yet.
@group(0) @binding(7) var<storage, read_write> left: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> keys: array<u32>;
// Workgroups of each dispatched colour, three numbers each.
@group(0) @binding(9) var<storage, read_write> widths: array<u32>;
// First place of each colour in the order of nodes, and one past the last.
@group(0) @binding(10) var<storage, read> colour_starts: array<u32>;
// Nodes at the other ends of the links that stay, node by node.
@group(0) @binding(11) var<storage, read> fixed: array<u32>;
@group(0) @binding(12) var<storage, read> fixed_starts: array<u32>;

var<workgroup> left_now: u32;

@compute @workgroup_size(THREADS)
fn forget(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n == 0u {
        atomicStore(&left[0], size.moving);
    }
    if n < size.moving {
        atomicStore(&colours[n], UNCOLOURED);
    }
}

// The colour of a neighbour that comes before, or what is no colour where it comes after.
fn colour_before(other: u32, rank: u32) -> u32 {
    if other >= size.moving || ranks[other] >= rank {
        return UNCOLOURED - 1u;
    }
    return atomicLoad(&colours[other]);
}

fn waits(n: u32, rank: u32) -> bool {
    for (var i = fixed_starts[n]; i < fixed_starts[n + 1u]; i++) {
        if colour_before(fixed[i], rank) == UNCOLOURED {
            return true;
        }
    }
    for (var i = end_starts[n]; i < end_starts[n + 1u]; i++) {
        if colour_before(across(ends[i]), rank) == UNCOLOURED {
            return true;
        }
    }
    return false;
}

// Which of the 32 colours from `base` on neighbours before have taken.
fn taken_from(n: u32, rank: u32, base: u32) -> u32 {
    var taken = 0u;
    for (var i = fixed_starts[n]; i < fixed_starts[n + 1u]; i++) {
        let c = colour_before(fixed[i], rank) - base;
        taken |= select(0u, 1u << (c & 31u), c < 32u);
    }
    for (var i = end_starts[n]; i < end_starts[n + 1u]; i++) {
        let c = colour_before(across(ends[i]), rank) - base;
        taken |= select(0u, 1u << (c & 31u), c < 32u);
    }
    return taken;
}

fn try_to_colour(n: u32) {
    if atomicLoad(&colours[n]) != UNCOLOURED || waits(n, ranks[n]) {
        return;
    }
    var base = 0u;
    var taken = taken_from(n, ranks[n], base);
    while taken == 0xffffffffu {
        base += 32u;
        taken = taken_from(n, ranks[n], base);
    }
    atomicStore(&colours[n], base + firstTrailingBit(~taken));
    atomicSub(&left[0], 1u);
}

@compute @workgroup_size(THREADS)
fn round(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n < size.moving && atomicLoad(&left[0]) > 0u {
        try_to_colour(n);
    }
}

// As many rounds as it takes, by a single workgroup: usually none.
@compute @workgroup_size(THREADS)
fn rest(@builtin(local_invocation_index) local: u32) {
    loop {
        if local == 0u {
            left_now = atomicLoad(&left[0]);
        }
        if workgroupUniformLoad(&left_now) == 0u {
            break;
        }
        for (var n = local; n < size.moving; n += THREADS) {
            try_to_colour(n);
        }
        storageBarrier();
    }
}

@compute @workgroup_size(THREADS)
fn key(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n < size.moving {
        keys[n] = min(atomicLoad(&colours[n]), MIXED);
    }
}

@compute @workgroup_size(THREADS)
fn widen(@builtin(local_invocation_index) local: u32) {
    if local < DISPATCHED {
        let count = colour_starts[local + 1u] - colour_starts[local];
        let wide = (count + THREADS - 1u) / THREADS;
        widths[3u * local] = min(wide, WIDEST);
        widths[3u * local + 1u] = (wide + WIDEST - 1u) / WIDEST;
        widths[3u * local + 2u] = 1u;
    }
}
