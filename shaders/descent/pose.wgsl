// Where bodies are, for the search for contacts.

//#use descent/types.wgsl
//#use collide/types.wgsl

// The node of a body, and its smallest extent [m].
struct Member {
    node: u32,
    length: f32,
}

@group(0) @binding(23) var<storage, read> members: array<Member>;
@group(0) @binding(24) var<storage, read_write> poses: array<Pose>;

@compute @workgroup_size(THREADS)
fn pose(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let body = thread_index(group, groups, THREADS, local);
    if body < arrayLength(&members) {
        let base = bases[members[body].node];
        poses[body] = Pose(base.position, 0u, base.rotation, base.velocity, 0u, base.omega, 0u);
    }
}
