// The two passes of an iteration. Twin: crates/jacobi/src/step.rs.

//#use jacobi/types.wgsl

// lambda += A_ll^-1 (J_l V + bias) / h, one thread per joint.
@compute @workgroup_size(THREADS)
fn solve_multipliers(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let l = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if l >= constants.joints {
        return;
    }
    let a = velocities[joints[l].a];
    let b = velocities[joints[l].b];
    let turned_a = cross3(a.angular, vec_of(prepared[l].arm_a));
    let turned_b = cross3(b.angular, vec_of(prepared[l].arm_b));
    let closing = (a.linear - b.linear) + (turned_a - turned_b);
    let step = sym_apply(sym_of(prepared[l].inverse), closing + vec_of(prepared[l].bias)) * constants.rate;
    multipliers[l] = vec_array(vec_of(multipliers[l]) + step);
}

// V = V* - h M^-1 J^T lambda, one thread per body, its joints in their order.
@compute @workgroup_size(THREADS)
fn solve_velocities(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if i >= constants.bodies {
        return;
    }
    var force = vec3<f32>(0.0);
    var torque = vec3<f32>(0.0);
    let last = bodies[i].last;
    for (var e = bodies[i].first; e < last; e++) {
        let l = ends[e] / 2u;
        var push = vec_of(multipliers[l]);
        var arm = vec_of(prepared[l].arm_b);
        if ends[e] % 2u == 0u {
            push = -push;
            arm = vec_of(prepared[l].arm_a);
        }
        force = force + push;
        torque = torque + cross3(arm, push);
    }
    let h = constants.h;
    velocities[i].linear = free[i].linear + force * (h * bodies[i].inverse_mass);
    velocities[i].angular = free[i].angular + sym_apply(sym_of(inertias[i]), torque) * h;
}
