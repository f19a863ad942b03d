// What counting sorts add to scans and sorts.

//#use shared/index.wgsl

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> starts: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;
@group(0) @binding(3) var<uniform> extent: vec4<u32>;

const THREADS: u32 = 256u;

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
