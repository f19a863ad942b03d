// The end of a step: velocities from the motion since its start (BDF1), then the motion itself. Twins:
// `rates` in crates/descent/src/motion.rs, `System::derive_velocities`, `System::commit` in crates/descent/src/system.rs.

//#use descent/types.wgsl

fn derive(n: u32) {
    if nodes[n].kind == FIXED {
        return;
    }
    let turn = nodes[n].turn;
    var rate = turn.xyz * 2.0;
    if constants.cayley != 0u {
        // Beyond a quarter turn a step resolves no rate; the tangent must not run off there.
        let sign = select(1.0, -1.0, turn.w < 0.0);
        rate = turn.xyz * (2.0 * sign / larger(abs(turn.w), 0.70710678118654752));
    }
    bases[n].previous = bases[n].velocity;
    bases[n].velocity = nodes[n].step * constants.inverse_h;
    bases[n].omega = rate * constants.inverse_h;
}

fn move_on(n: u32) {
    if nodes[n].kind != FIXED || bases[n].kinematic != 0u {
        bases[n].position = bases[n].position + nodes[n].step;
        bases[n].rotation = quat_normalised(quat_times(nodes[n].turn, bases[n].rotation));
    }
}

@compute @workgroup_size(THREADS)
fn finish(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if n < constants.nodes {
        derive(n);
        move_on(n);
    }
}

// The two halves of `finish`, for what comes between them.
@compute @workgroup_size(THREADS)
fn rates(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if n < constants.nodes {
        derive(n);
    }
}

@compute @workgroup_size(THREADS)
fn commit(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if n < constants.nodes {
        move_on(n);
    }
}
