// The start of a step: inertial targets, lever arms, and what the rows aim at. Twins: `predict`,
// `System::begin`, `System::aim` in crates/descent/src/system.rs.

//#use descent/rows.wgsl
//#use shared/body.wgsl

// The share of gravity that the last acceleration followed.
fn followed(base: Base) -> f32 {
    if constants.followed == 0.0 {
        return 0.0;
    }
    let share = dot3(base.velocity - base.previous, constants.gravity) / constants.followed;
    if share > 0.0 {
        return smaller(share, 1.0);
    }
    return 0.0;
}

@compute @workgroup_size(THREADS)
fn predict(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let n = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if n >= constants.nodes {
        return;
    }
    let base = bases[n];
    let h = constants.h;
    let coast = keep(base.velocity * h);
    if base.kinematic != 0u {
        nodes[n].step = coast;
        nodes[n].turn = base.drive;
    } else if nodes[n].kind != FIXED {
        let fall = keep(constants.gravity * constants.square);
        nodes[n].mass = base.mass * constants.inverse_square;
        let aim = coast + fall;
        nodes[n].target_step = aim;
        nodes[n].step = aim;
        if constants.adaptive != 0u {
            nodes[n].step = coast + fall * followed(base);
        }
        if nodes[n].kind == BODY {
            var inertia = sym_of(base.inertia);
            if constants.world_inertia != 0u {
                inertia = sym_rotated(inertia, quat_matrix(base.rotation));
            }
            var omega = base.omega;
            if constants.gyroscopic != 0u {
                omega = free_omega(omega, inertia, h);
            }
            nodes[n].inertia = sym_array(sym_times(inertia, constants.inverse_square));
            let turn = quat_advanced(vec4<f32>(0.0, 0.0, 0.0, 1.0), omega * h);
            nodes[n].target_turn = turn;
            nodes[n].turn = turn;
        }
    }
    let turn = nodes[n].turn;
    for (var i = nodes[n].first; i < nodes[n].last; i++) {
        let arm = quat_rotate(base.rotation, incidences[i].anchor);
        incidences[i].arm = arm;
        incidences[i].arm_change = quat_displacement(turn, arm);
    }
}

// Value of the rows at the step's start, without shift.
fn start_value(e: u32, pair: Pair) -> vec3<f32> {
    let kind = elements[e].kind;
    if kind == POINT {
        return pair.offset;
    }
    if kind == TWIST {
        return relative(pair).xyz * 2.0;
    }
    if kind == TURN {
        return turning(pair).phi;
    }
    let value = counted(e, gradient(kind, pair, false).value);
    return vec3<f32>(value - elements[e].rest, 0.0, 0.0);
}

// Sets what the rows of an element aim at: a share `kept` of the error at the step's start is left.
fn aim_at(e: u32, kept: f32) {
    let a = elements[e].node_a;
    let b = elements[e].node_b;
    let arm_a = incidences[elements[e].end_a].arm;
    let arm_b = incidences[elements[e].end_b].arm;
    let offset = (bases[a].position - bases[b].position) + (arm_a - arm_b);
    let basis_a = quat_times(bases[a].rotation, elements[e].local_a);
    let basis_b = quat_times(bases[b].rotation, elements[e].local_b);
    elements[e].basis_a = basis_a;
    elements[e].basis_b = basis_b;
    elements[e].offset = offset;
    let start = start_value(e, Pair(arm_a, arm_b, offset, basis_a, basis_b));
    let kind = elements[e].kind;
    elements[e].counted = start.x;
    if elements[e].role == LIMIT {
        let value = start.x;
        let least = elements[e].least;
        let most = elements[e].most;
        let above = (most - value) < (value - least);
        let bound = select(least, most, above);
        let violated = select((value < least), (value > most), above);
        var excess = 0.0;
        if violated {
            excess = (value - bound) * kept;
        }
        elements[e].shift.x = bound + excess;
        // Finite numbers that no force exceeds.
        elements[e].lower = select(-3.4e38, 0.0, above);
        elements[e].upper = select(0.0, 3.4e38, above);
        elements[e].lambda.x = smaller(larger(elements[e].lambda.x, elements[e].lower), elements[e].upper);
    } else if elements[e].role == MOTOR {
        elements[e].shift.x = start.x + elements[e].least * constants.h;
        elements[e].lower = -elements[e].most;
        elements[e].upper = elements[e].most;
    } else if kind == POINT {
        elements[e].offset = start * (1.0 - kept);
    } else if is_rotation(kind) {
        elements[e].shift = start * kept;
    } else {
        elements[e].shift.x = elements[e].rest + start.x * kept;
    }
}

@compute @workgroup_size(THREADS)
fn aim(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let e = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if e < constants.elements {
        aim_at(e, elements[e].kept);
    }
}

// For a last sweep that corrects all of the error.
@compute @workgroup_size(THREADS)
fn aim_at_all(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let e = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if e < constants.elements {
        aim_at(e, 0.0);
    }
}
