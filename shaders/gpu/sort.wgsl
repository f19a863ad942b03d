// One pass of a stable radix sort of keys with values, four bits at a time: `count` counts the digits of each
// block, a scan over the counts (digit by digit, block by block) gives every block its places, and `scatter`
// puts each key there, in the order in which it was found.

struct Pass {
    count: u32,
    // Lowest bit of the digit.
    shift: u32,
    blocks: u32,
    pad: u32,
}

@group(0) @binding(0) var<uniform> pass_: Pass;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(5) var<storage, read_write> values_out: array<u32>;

const THREADS: u32 = 128u;
const EACH: u32 = 8u;
const DIGITS: u32 = 16u;

// Per thread its counts of the sixteen digits, in four parts.
var<workgroup> seen: array<array<vec4<u32>, 4>, THREADS>;

fn digit(key: u32) -> u32 {
    return (key >> pass_.shift) & (DIGITS - 1u);
}

// Counts of the digits of this thread's keys.
fn own_counts(first: u32) -> array<vec4<u32>, 4> {
    var own: array<vec4<u32>, 4>;
    for (var i = 0u; i < EACH; i++) {
        if first + i < pass_.count {
            let d = digit(keys[first + i]);
            own[d / 4u][d % 4u] += 1u;
        }
    }
    return own;
}

// Sums the counts of all threads up to each.
fn sum_up(local: u32) {
    workgroupBarrier();
    for (var step = 1u; step < THREADS; step = step * 2u) {
        var before: array<vec4<u32>, 4>;
        if local >= step {
            before = seen[local - step];
        }
        workgroupBarrier();
        for (var part = 0u; part < 4u; part++) {
            seen[local][part] += before[part];
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(THREADS)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    seen[local] = own_counts((block * THREADS + local) * EACH);
    sum_up(local);
    if local < DIGITS && block < pass_.blocks {
        counts[local * pass_.blocks + block] = seen[THREADS - 1u][local / 4u][local % 4u];
    }
}

@compute @workgroup_size(THREADS)
fn scatter(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    let first = (block * THREADS + local) * EACH;
    let own = own_counts(first);
    seen[local] = own;
    sum_up(local);
    var place: array<vec4<u32>, 4>;
    for (var part = 0u; part < 4u; part++) {
        place[part] = seen[local][part] - own[part];
    }
    for (var i = 0u; i < EACH; i++) {
        if first + i < pass_.count {
            let key = keys[first + i];
            let d = digit(key);
            let target_ = counts[d * pass_.blocks + block] + place[d / 4u][d % 4u];
            place[d / 4u][d % 4u] += 1u;
            keys_out[target_] = key;
            values_out[target_] = values[first + i];
        }
    }
}
