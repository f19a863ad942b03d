// The end of a step: velocities move the bodies. Twin: crates/jacobi/src/step.rs.

//#use jacobi/types.wgsl

@compute @workgroup_size(THREADS)
fn move_bodies(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if i >= constants.bodies {
        return;
    }
    var motion = motions[i];
    if bodies[i].motion == KINEMATIC {
        motion.position = motion.position + motion.velocity * constants.h;
        motion.rotation = quat_normalised(quat_times(turns[i], motion.rotation));
    } else if bodies[i].motion == DYNAMIC {
        motion.velocity = velocities[i].linear;
        motion.omega = velocities[i].angular;
        motion.position = motion.position + motion.velocity * constants.h;
        motion.rotation = quat_advanced(motion.rotation, motion.omega * constants.h);
    }
    motions[i] = motion;
}
