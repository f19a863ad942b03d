// Exclusive prefix sums in blocks of 1024: `blocks` sums within each block and leaves its total, which the
// next level sums in turn; `add` hands the totals before a block down to its values.

//#use shared/index.wgsl

struct Extent {
    // How many values there are at this level.
    count: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

@group(0) @binding(0) var<uniform> extent: Extent;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

const THREADS: u32 = 256u;
const EACH: u32 = 4u;

var<workgroup> partial: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn blocks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    let first = (block * THREADS + local) * EACH;
    var own: array<u32, EACH>;
    var sum = 0u;
    for (var i = 0u; i < EACH; i++) {
        own[i] = sum;
        if first + i < extent.count {
            sum += values[first + i];
        }
    }
    partial[local] = sum;
    workgroupBarrier();
    for (var step = 1u; step < THREADS; step = step * 2u) {
        var before = 0u;
        if local >= step {
            before = partial[local - step];
        }
        workgroupBarrier();
        partial[local] += before;
        workgroupBarrier();
    }
    let start = partial[local] - sum;
    for (var i = 0u; i < EACH; i++) {
        if first + i < extent.count {
            values[first + i] = start + own[i];
        }
    }
    // Groups beyond the last block have no total to leave.
    if local == THREADS - 1u && block * THREADS * EACH < extent.count {
        totals[block] = partial[local];
    }
}

@compute @workgroup_size(THREADS)
fn add(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    if i < extent.count {
        values[i] += totals[i / (THREADS * EACH)];
    }
}
