// Contacts of boxes that pass each other, and of boxes with capsules. Twin: crates/collide/src/convex.rs.

//#use collide/features.wgsl

@compute @workgroup_size(THREADS)
fn convex(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    let both = kinds_at(k);
    let passing = both == kinds(BOX, BOX) && numbers[k] == PASSING;
    if !passing && both != kinds(BOX, CAPSULE) && both != kinds(CAPSULE, BOX) {
        return;
    }
    let pair = pair_at(k);
    points = 0u;
    numbers[k] = 0u;
    let normal = touch(core_of(pair.a), pair.place_a, core_of(pair.b), pair.place_b, pair.size, pair.reach);
    finish(k, pair, normal);
}
