// One colour of a sweep: its nodes do not see each other and move at once. Twin: crates/descent/src/sweep.rs.

//#use descent/block.wgsl

@compute @workgroup_size(THREADS)
fn sweep(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if place < colour.count {
        let n = colour.first + place;
        advance(n, newton_step(n));
    }
}
