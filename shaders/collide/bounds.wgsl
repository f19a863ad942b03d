// Boxes around bodies and where they may be within the step, and keys that put neighbours side by side.
// Twin of the boxes: `swept` in crates/collide/src/detect.rs.

//#use collide/world.wgsl

@group(0) @binding(3) var<storage, read_write> boxes: array<Node>;
// Sums over shares of the bodies: first of their places, then of their distances from the middle.
@group(0) @binding(4) var<storage, read_write> partial: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> order: array<u32>;

// Boxes are larger by this, for bodies that touch exactly [m, and share of the distance from the origin].
const ROUNDING: f32 = 1e-6;
// Bodies farther away than this are lost and touch nothing [m].
const FAR_AWAY: f32 = 1e12;
// What is farther away does not count for where the middle is [m].
const AROUND: f32 = 1e5;

@compute @workgroup_size(THREADS)
fn enclose(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = thread_index(group, groups, THREADS, lane);
    if i >= task.bodies {
        return;
    }
    let body = bodies[i];
    let pose = poses[i];
    var node = Node(vec3<f32>(HUGE), i, vec3<f32>(-HUGE), 0u);
    if body.kind != PLANE {
        let turn = rotation(pose.rotation);
        var middle = pose.position;
        var half = vec3<f32>(body.round);
        if body.kind == CAPSULE {
            half += abs(turn[2]) * body.half.z;
        } else if body.kind != SPHERE {
            middle += turn * body.middle;
            half = abs(turn[0]) * body.extent.x + abs(turn[1]) * body.extent.y
                + abs(turn[2]) * body.extent.z;
        }
        let step = pose.velocity * (task.dt * 0.5);
        // No point turns farther than along a circle about the centre of mass.
        let swing = min(length(pose.omega) * task.dt * body.reach, 2.0 * body.reach);
        let rounding = ROUNDING * (1.0 + largest(abs(middle)));
        half += abs(step) + vec3<f32>(task.margin * 0.5 + swing + rounding);
        middle += step;
        // Comparisons with numbers that are none do not hold.
        if largest(abs(middle)) < FAR_AWAY && largest(half) < FAR_AWAY
            && abs(middle.x + middle.y + middle.z + half.x + half.y + half.z) < 6.0 * FAR_AWAY {
            node.low = middle - half;
            node.high = middle + half;
        }
    }
    boxes[i] = node;
}

// Bodies are summed in so many shares, each by so many threads.
const SHARES: u32 = 64u;
const SUMMERS: u32 = 64u;

var<workgroup> sums: array<vec4<f32>, SUMMERS>;

fn is_box(i: u32) -> bool {
    return boxes[i].low.x <= boxes[i].high.x;
}

fn middle_of(i: u32) -> vec3<f32> {
    let around = vec3<f32>(AROUND);
    return clamp((boxes[i].low + boxes[i].high) * 0.5, -around, around);
}

fn sum_up(lane: u32, share: u32, own: vec4<f32>, first: u32) {
    sums[lane] = own;
    workgroupBarrier();
    if lane == 0u {
        var sum = vec4<f32>(0.0);
        for (var k = 0u; k < SUMMERS; k++) {
            sum += sums[k];
        }
        partial[first + share] = sum;
    }
}

// The mean of what lies from `first` on.
fn mean(first: u32) -> vec3<f32> {
    var sum = vec4<f32>(0.0);
    for (var k = 0u; k < SHARES; k++) {
        sum += partial[first + k];
    }
    return sum.xyz / max(sum.w, 1.0);
}

@compute @workgroup_size(SUMMERS)
fn centre(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    var own = vec4<f32>(0.0);
    for (var i = group.x * SUMMERS + lane; i < task.bodies; i += SHARES * SUMMERS) {
        if is_box(i) {
            own += vec4<f32>(middle_of(i), 1.0);
        }
    }
    sum_up(lane, group.x, own, 0u);
}

@compute @workgroup_size(SUMMERS)
fn spread(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let from_ = mean(0u);
    var own = vec4<f32>(0.0);
    for (var i = group.x * SUMMERS + lane; i < task.bodies; i += SHARES * SUMMERS) {
        if is_box(i) {
            own += vec4<f32>(abs(middle_of(i) - from_), 1.0);
        }
    }
    sum_up(lane, group.x, own, SHARES);
}

// Nine bits, two places apart.
fn apart(x: u32) -> u32 {
    var v = x & 0x1ffu;
    v = (v | (v << 16u)) & 0x030000ffu;
    v = (v | (v << 8u)) & 0x0300f00fu;
    v = (v | (v << 4u)) & 0x030c30c3u;
    v = (v | (v << 2u)) & 0x09249249u;
    return v;
}

// By size first, so that a few large bodies do not widen the boxes of the small ones; then along the curve
// of Morton. Far from the middle the cells widen, so that stragglers do not take the room of all others.
@compute @workgroup_size(THREADS)
fn key(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = thread_index(group, groups, THREADS, lane);
    if i >= task.bodies {
        return;
    }
    order[i] = i;
    keys[i] = 0x3fffffffu;
    if is_box(i) {
        let arm = middle_of(i) - mean(0u);
        let scale = max(largest(mean(SHARES)), 1e-6);
        let share = arm / (abs(arm) + 2.0 * scale);
        let cell = vec3<u32>(clamp((share * 0.5 + 0.5) * 512.0, vec3<f32>(0.0), vec3<f32>(511.0)));
        keys[i] = bodies[i].rank << 27u | apart(cell.x) << 2u | apart(cell.y) << 1u | apart(cell.z);
    }
}
