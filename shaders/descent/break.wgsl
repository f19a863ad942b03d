// Joints whose locked rows pull harder than they bear let go. Twin: `System::break_joints` in
// crates/descent/src/readout.rs.

//#use descent/rows.wgsl

struct Joint {
    // Its elements.
    first: u32,
    last: u32,
    // What it bears [N, N m].
    force: f32,
    torque: f32,
}

@group(0) @binding(6) var<storage, read> joints: array<Joint>;
// Not zero for joints that have let go.
@group(0) @binding(7) var<storage, read_write> broken: array<u32>;

@compute @workgroup_size(THREADS)
fn let_go(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let j = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if j >= arrayLength(&joints) {
        return;
    }
    let joint = joints[j];
    var linear = 0.0;
    var angular = 0.0;
    for (var e = joint.first; e < joint.last; e++) {
        if elements[e].role != HOLD || (elements[e].flags & ACTIVE) == 0u {
            continue;
        }
        let pull = force_of(e);
        let square = dot3(pull, pull);
        let kind = elements[e].kind;
        if is_rotation(kind) || kind == ANGLE || kind >= DOT {
            angular = keep1(angular + square);
        } else {
            linear = keep1(linear + square);
        }
    }
    if sqrt(linear) > joint.force || sqrt(angular) > joint.torque {
        broken[j] = 1u;
        for (var e = joint.first; e < joint.last; e++) {
            elements[e].flags = elements[e].flags & ~ACTIVE;
            elements[e].lambda = vec3<f32>(0.0);
        }
    }
}
