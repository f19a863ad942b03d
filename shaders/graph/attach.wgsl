// Where pairs attach: their ends, node by node, in the order of the pairs. Twin: `Csr::fill` in
// crates/model/src/csr.rs.

//#use graph/pairs.wgsl

// Ends per node, and after their sum the first place of each.
@group(0) @binding(5) var<storage, read_write> degrees: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> filled: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> ends_out: array<u32>;

@compute @workgroup_size(THREADS)
fn count_ends(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    if p < count.x {
        let pair = pairs[p];
        // Nodes that no force moves need not know what they are paired with.
        if pair.x < size.moving {
            atomicAdd(&degrees[pair.x], 1u);
        }
        if pair.y < size.moving {
            atomicAdd(&degrees[pair.y], 1u);
        }
    }
}

fn put_end(n: u32, end: u32) {
    if n < size.moving {
        ends_out[atomicLoad(&degrees[n]) + atomicAdd(&filled[n], 1u)] = end;
    }
}

@compute @workgroup_size(THREADS)
fn fill_ends(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    if p < count.x {
        put_end(pairs[p].x, 2u * p);
        put_end(pairs[p].y, 2u * p + 1u);
    }
}

// Which thread came first must not matter.
@compute @workgroup_size(THREADS)
fn sort_ends(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    if n >= size.moving {
        return;
    }
    let first = atomicLoad(&degrees[n]);
    let last = atomicLoad(&degrees[n + 1u]);
    for (var i = first + 1u; i < last; i++) {
        let end = ends_out[i];
        var place = i;
        while place > first && ends_out[place - 1u] > end {
            ends_out[place] = ends_out[place - 1u];
            place--;
        }
        ends_out[place] = end;
    }
}
