// Where patches attach: their ends, node by node, in the order of the patches. Twin: `ContactStore::arrange` in
// crates/descent/src/contacts.rs.

//#use descent/types.wgsl
//#use descent/patches.wgsl

// Ends per node, and after their sum the first place of each.
@group(0) @binding(29) var<storage, read_write> degrees: array<atomic<u32>>;
@group(0) @binding(30) var<storage, read_write> filled: array<atomic<u32>>;
@group(0) @binding(31) var<storage, read_write> ends_out: array<u32>;

@compute @workgroup_size(THREADS)
fn count_ends(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    if p < extent.patches {
        let a = patches[p].node_a;
        let b = patches[p].node_b;
        // Nodes that no force moves need not know what touches them.
        if a < constants.moving {
            atomicAdd(&degrees[a], 1u);
        }
        if b < constants.moving {
            atomicAdd(&degrees[b], 1u);
        }
    }
}

fn put_end(n: u32, end: u32) {
    if n < constants.moving {
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
    if p < extent.patches {
        put_end(patches[p].node_a, 2u * p);
        put_end(patches[p].node_b, 2u * p + 1u);
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
    if n >= constants.moving {
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
