// The start of a step: free velocities, then what the joints need. Twin: crates/jacobi/src/step.rs.

//#use jacobi/types.wgsl
//#use shared/body.wgsl

@compute @workgroup_size(THREADS)
fn prepare_bodies(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if i >= constants.bodies {
        return;
    }
    var out = VelocityData(motions[i].velocity, 0.0, motions[i].omega, 0.0);
    var inertia = sym_zero();
    if bodies[i].motion == DYNAMIC {
        let turned = quat_matrix(motions[i].rotation);
        out.linear = out.linear + constants.gravity * constants.h;
        if constants.gyroscopic != 0u {
            out.angular = free_omega(out.angular, sym_rotated(sym_of(bodies[i].inertia), turned), constants.h);
        }
        inertia = sym_rotated(sym_of(bodies[i].inverse_inertia), turned);
    }
    inertias[i] = sym_array(inertia);
    free[i] = out;
    velocities[i] = out;
}

// Inverse by cofactors; zero where there is none.
fn inverse(s: Sym3) -> Sym3 {
    let c00 = s.d.y * s.d.z - s.o.z * s.o.z;
    let c01 = s.o.y * s.o.z - s.o.x * s.d.z;
    let c02 = s.o.x * s.o.z - s.o.y * s.d.y;
    let determinant = s.d.x * c00 + s.o.x * c01 + s.o.y * c02;
    if determinant > 0.0 {
        let d = vec3<f32>(c00, s.d.x * s.d.z - s.o.y * s.o.y, s.d.x * s.d.y - s.o.x * s.o.x);
        let o = vec3<f32>(c01, c02, s.o.x * s.o.y - s.d.x * s.o.z);
        return sym_times(Sym3(d, o), 1.0 / determinant);
    }
    return sym_zero();
}

// A_ll = J_l M^-1 J_l^T inverted.
@compute @workgroup_size(THREADS)
fn prepare_joints(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let l = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if l >= constants.joints {
        return;
    }
    let a = joints[l].a;
    let b = joints[l].b;
    let arm_a = quat_rotate(motions[a].rotation, vec_of(joints[l].anchor_a));
    let arm_b = quat_rotate(motions[b].rotation, vec_of(joints[l].anchor_b));
    var block_inverse = sym_zero();
    var bias = vec3<f32>(0.0);
    if joints[l].holds != 0u {
        let mass = bodies[a].inverse_mass + bodies[b].inverse_mass;
        let lever_a = sym_rotated(sym_of(inertias[a]), skew(arm_a));
        let lever_b = sym_rotated(sym_of(inertias[b]), skew(arm_b));
        let block = sym_plus(Sym3(vec3<f32>(mass), vec3<f32>(0.0)), sym_plus(lever_a, lever_b));
        let apart = (motions[a].position - motions[b].position) + (arm_a - arm_b);
        block_inverse = inverse(block);
        bias = apart * constants.drift;
    }
    prepared[l] = PreparedData(vec_array(arm_a), vec_array(arm_b), sym_array(block_inverse), vec_array(bias));
    if constants.warm == 0u {
        multipliers[l] = array<f32, 3>(0.0, 0.0, 0.0);
    }
}
