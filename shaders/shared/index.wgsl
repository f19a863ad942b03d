// The number of a thread in a dispatch that may have two dimensions of workgroups, all of `size` threads.
fn thread_index(group: vec3<u32>, groups: vec3<u32>, size: u32, local: u32) -> u32 {
    return (group.y * groups.x + group.x) * size + local;
}
