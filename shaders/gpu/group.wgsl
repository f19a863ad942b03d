// What compaction and counting sorts add to scans and sorts.

//#use shared/index.wgsl

@group(0) @binding(0) var<storage, read> flags: array<u32>;
@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> kept: array<u32>;
@group(0) @binding(3) var<storage, read> keys: array<u32>;
@group(0) @binding(4) var<storage, read_write> starts: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> order: array<u32>;
@group(0) @binding(6) var<uniform> extent: vec4<u32>;

const THREADS: u32 = 256u;

// Writes the index of every raised flag to its place.
@compute @workgroup_size(THREADS)
fn keep(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    if i < extent.x && flags[i] != 0u {
        kept[places[i]] = i;
    }
}

// One for every raised flag, whatever its value.
@compute @workgroup_size(THREADS)
fn raise(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    if i < extent.x {
        order[i] = select(0u, 1u, flags[i] != 0u);
    }
}

// Counts keys. The sums do not depend on the order in which the threads come.
@compute @workgroup_size(THREADS)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    if i < extent.x {
        atomicAdd(&starts[keys[i]], 1u);
    }
}

// Numbers everything.
@compute @workgroup_size(THREADS)
fn number(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    if i < extent.x {
        order[i] = i;
    }
}
