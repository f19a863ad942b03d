// One colour of a sweep: its nodes do not see each other and move at once. Twin: crates/descent/src/sweep.rs.

//#use descent/lanes.wgsl

fn touches(n: u32) -> u32 {
    return 0u;
}

fn add_touches(b: ptr<function, Block>, n: u32, first: u32, stride: u32) {}

@compute @workgroup_size(THREADS)
fn sweep(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    move_nodes(colour.first + place, place < colour.count, local);
}
